"""Rules on existing servers, which need all servers and so run on demand."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import Finding, Severity, SubjectKind, Words
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.paste import Option, openstack
from osc_traitsched.text import count, ranges


@dataclasses.dataclass(frozen=True)
class ServersMisplaced(Finding):
    """Servers on hosts that Nova would not choose for them today.

    Servers stay if traits, aggregates, groups or filters change. After a move they
    could not come back. ``server misplaced`` lists them.

    :ivar hosts: their service hosts
    """

    rule = "servers-misplaced"
    severity = Severity.WARNING
    kind = SubjectKind.SERVERS
    name: str
    hosts: tuple[str, ...]
    misplaced: int
    looked_at: int

    def words(self) -> Words:
        their = "its host" if self.misplaced == 1 else "their hosts"
        return Words(
            f"{count(self.misplaced, 'server')} could not be given {their} today: "
            f"{ranges(self.hosts, 'host')}",
            openstack("trait-sched server list", Option("--misplaced")),
            "to list them, with why",
        )


@dataclasses.dataclass(frozen=True)
class ServersNotKnown(Finding):
    """Servers that could not be judged against their hosts.

    Nova does not show a part of their request, or their cell does not answer.

    :ivar hosts: service hosts whose cell is silent, so that their servers were not read
    :ivar unknown: number of servers that were read
    """

    rule = "servers-not-known"
    severity = Severity.NOTE
    kind = SubjectKind.SERVERS
    name: str
    hosts: tuple[str, ...]
    unknown: int
    looked_at: int

    def words(self) -> Words:
        found = []
        if self.unknown:
            their = "its host" if self.unknown == 1 else "their hosts"
            servers = count(self.unknown, "server")
            found.append(
                f"not known of {servers} if {their} could be given to a new one"
            )
        if self.hosts:
            hosts = ranges(self.hosts, "host")
            found.append(
                f"not read: the servers of {hosts}, whose cell does not answer"
            )
        return Words(
            "; ".join(found),
            openstack("trait-sched server list", Option("--misplaced")),
            "to list why",
        )


def misplaced(analysis: Analysis) -> Iterator[ServersMisplaced]:

    found = analysis.survey.servers
    if found is not None and found.misplaced:
        yield ServersMisplaced(
            name=f"{found.misplaced} of {found.looked_at}",
            hosts=found.hosts,
            misplaced=found.misplaced,
            looked_at=found.looked_at,
        )


def not_known(analysis: Analysis) -> Iterator[ServersNotKnown]:
    """Count the servers that could not be judged, and name the hosts not read."""
    found = analysis.survey.servers
    if found is not None and (found.unknown or found.silent):
        yield ServersNotKnown(
            name=f"{found.unknown} of {found.looked_at}",
            hosts=found.silent,
            unknown=found.unknown,
            looked_at=found.looked_at,
        )


RULES: tuple[Rule, ...] = (
    Rule(ServersMisplaced, misplaced, SubjectKind.SERVERS, reads_servers=True),
    Rule(ServersNotKnown, not_known, SubjectKind.SERVERS, reads_servers=True),
)
