"""Rules on existing servers, which need all servers and so run on demand."""

from __future__ import annotations

from collections.abc import Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import NOTE, WARNING, Fault, SubjectKind
from osc_traitsched.core.check.rule import rule
from osc_traitsched.paste import openstack
from osc_traitsched.text import count, ranges

_MISPLACED = openstack("trait-sched server misplaced")


@rule("servers-misplaced", SubjectKind.SERVERS, reads_servers=True)
def misplaced(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* Servers on hosts that Nova would not choose for them today.

    Servers stay if traits, aggregates, groups or filters change. After a move they
    could not come back. ``server misplaced`` lists them.
    """
    counts = analysis.survey.servers
    if counts is not None and counts.misplaced:
        yield WARNING(
            f"{counts.misplaced} of {counts.looked_at}",
            f"{count(counts.misplaced, 'server')} could not be given "
            f"{_their_hosts(counts.misplaced)} today: {ranges(counts.hosts, 'host')}",
            _MISPLACED,
            "to list them, with why",
            hosts=counts.hosts,
        )


@rule("servers-not-known", SubjectKind.SERVERS, reads_servers=True)
def not_known(analysis: Analysis) -> Iterator[Fault]:
    """*Note.* Servers that could not be judged against their hosts.

    Nova does not show a part of their request, or their cell does not answer.
    """
    counts = analysis.survey.servers
    if counts is None:
        return
    problems = []
    if counts.unknown:
        problems.append(
            f"not known of {count(counts.unknown, 'server')} if "
            f"{_their_hosts(counts.unknown)} could be given to a new one"
        )
    if counts.silent:
        problems.append(
            f"not read: the servers of {ranges(counts.silent, 'host')}, whose cell "
            "does not answer"
        )
    if problems:
        yield NOTE(
            f"{counts.unknown} of {counts.looked_at}",
            "; ".join(problems),
            _MISPLACED,
            "to list why",
            hosts=counts.silent,
        )


def _their_hosts(servers: int) -> str:
    return "its host" if servers == 1 else "their hosts"


RULES = (misplaced, not_known)
