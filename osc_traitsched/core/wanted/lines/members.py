"""Which hosts the lines about an aggregate put into it, and take out of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from osc_traitsched.core.change.model import Object
from osc_traitsched.core.wanted.claims import Claim, Claims
from osc_traitsched.core.wanted.lines.hosts import Hosts
from osc_traitsched.core.wanted.lines.rest import leaving_nobody
from osc_traitsched.core.wanted.model import Only, Part, Wish, Wrong


def claim(
    claims: Claims,
    target: Object,
    inside: Set[str],
    wishes: Sequence[Wish],
    only: Sequence[Only],
    hosts: Hosts,
) -> Iterator[Wrong]:
    """Claim the hosts that an aggregate shall have, and those that it shall not.

    No claim is about those that lines take and that are not in it, nor put into it by
    others: it would be hosts times aggregates. Yield each ``only`` that leaves nobody.

    :param target: the aggregate's hosts
    :param inside: those that it has now
    :param wishes: the lines about the aggregate
    :param only: those that say it of the aggregate
    """
    lines = [
        (wish, hosts.service_hosts(wish.value, inside))
        for wish in wishes
        if wish.part is Part.MEMBERS
    ]
    given = frozenset[str]().union(*(found for wish, found in lines if not wish.absent))
    concerned = given | inside
    for wish, found in lines:
        for host in sorted(found & concerned):
            is_held = host in claims.held_hosts
            claims.add((target, host), Claim.of(wish), is_held)
    is_about_hosts = any(not wish.absent for wish, _ in lines)
    for each in only if is_about_hosts else ():
        yield from leaving_nobody(each, bool(given), hosts)
        for host in sorted(inside):
            is_held = host in claims.held_hosts
            claims.add_rest([(target, host)], each.of.place, is_held)
