"""The words of the area servers' rules."""

from __future__ import annotations

from osc_traitsched.core.check.rules.servers import ServersMisplaced, ServersNotKnown
from osc_traitsched.paste import Option, openstack
from osc_traitsched.text import count, ranges
from osc_traitsched.views.check.wording import Words, word


@word.register
def _(finding: ServersMisplaced) -> Words:
    their = "its host" if finding.misplaced == 1 else "their hosts"
    return Words(
        f"{count(finding.misplaced, 'server')} could not be given {their} today: "
        f"{ranges(finding.hosts, 'host')}",
        openstack("trait-sched server list", Option("--misplaced")),
        "to list them, with why",
    )


@word.register
def _(finding: ServersNotKnown) -> Words:
    found = []
    if finding.unknown:
        their = "its host" if finding.unknown == 1 else "their hosts"
        servers = count(finding.unknown, "server")
        found.append(f"not known of {servers} if {their} could be given to a new one")
    if finding.hosts:
        hosts = ranges(finding.hosts, "host")
        found.append(f"not read: the servers of {hosts}, whose cell does not answer")
    return Words(
        "; ".join(found),
        openstack("trait-sched server list", Option("--misplaced")),
        "to list why",
    )
