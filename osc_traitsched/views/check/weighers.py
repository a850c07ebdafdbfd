"""The words of the area weighers' rules."""

from __future__ import annotations

from osc_traitsched.core.check.rules.weighers import WeighersGone
from osc_traitsched.views.check.wording import Words, word
from osc_traitsched.views.options import release
from osc_traitsched.views.text import did_you_mean, quoted


@word.register
def _(finding: WeighersGone) -> Words:
    return Words(
        f"Nova {release(finding.release)} has no weigher {quoted(finding.weigher)}, "
        f"and nova-scheduler does not start ({finding.setting.source})"
        f"{did_you_mean(finding.nearest)}",
        "name it by its module and class, or take it out of the list",
    )
