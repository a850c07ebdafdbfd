"""The words of the area servers' rules."""

from __future__ import annotations

from osc_traitsched.core.check.rules.servers import ServersMisplaced
from osc_traitsched.views.check.wording import Words, word
from osc_traitsched.views.commands import Option, openstack
from osc_traitsched.views.text import count, ranges


@word.register
def _(finding: ServersMisplaced) -> Words:
    unknown = f"; not known of {finding.unknown:,} more" if finding.unknown else ""
    their = "its host" if finding.misplaced == 1 else "their hosts"
    return Words(
        f"{count(finding.misplaced, 'server')} could not be given {their} today: "
        f"{ranges(finding.hosts, 'host')}{unknown}",
        openstack("trait-sched server list", Option("--misplaced")),
        "to list them, with why",
    )
