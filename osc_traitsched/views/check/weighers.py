"""The words of the area weighers' rules."""

from __future__ import annotations

from osc_traitsched.core.check.finding import Kind
from osc_traitsched.core.check.rules.weighers import (
    Cause,
    WeighersBadMultiplier,
    WeighersGone,
    WeighersKeyOff,
)
from osc_traitsched.core.nova.weigher_options import IMAGE_PROPERTIES
from osc_traitsched.core.releases import release
from osc_traitsched.paste import Placeholder
from osc_traitsched.text import did_you_mean, option, quoted
from osc_traitsched.views.check.wording import Words, aggregate_set, unset, word


@word.register
def _(finding: WeighersGone) -> Words:
    wrong = f"Nova {release(finding.release)} has no weigher {quoted(finding.weigher)}"
    if "." not in finding.weigher:
        wrong = f"{quoted(finding.weigher)} is a name without a module"
    return Words(
        f"{wrong}, and nova-scheduler does not start ({finding.setting.source})"
        f"{did_you_mean(finding.nearest)}",
        "name it by its module and class, or take it out of the list",
    )


@word.register
def _(finding: WeighersBadMultiplier) -> Words:
    setting = finding.setting
    return Words(
        f"{finding.key}={finding.value} is no number: {finding.weigher} logs a "
        f"warning, and goes by {option(finding.option)}, {setting.value} "
        f"({setting.source}), for the hosts of the aggregate",
        aggregate_set(finding.id, Placeholder(f"{finding.key}=NUMBER")),
    )


@word.register
def _(finding: WeighersKeyOff) -> Words:
    return Words(
        f"{finding.key}={finding.value} has no effect: {_why(finding)}",
        unset(Kind.AGGREGATE, [finding.key], str(finding.id)),
    )


def _why(finding: WeighersKeyOff) -> str:
    source = finding.setting.source
    if finding.cause is Cause.OFF:
        return f"{finding.weigher} is not on ({source})"
    if finding.cause is Cause.RELEASE:
        return f"Nova {release(finding.release)} has no {finding.weigher}"
    if finding.cause is Cause.OPTION:
        return (
            f"{finding.weigher} weighs nothing while {option(IMAGE_PROPERTIES)} is 0 "
            f"({source})"
        )
    return f"no weigher has such a multiplier{did_you_mean(finding.nearest)}"
