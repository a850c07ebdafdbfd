"""What ``only`` takes away, and when that is too much to be meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from osc_traitsched.core.change.model import Kind, Object
from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.inventory.tenant_keys import projects_in
from osc_traitsched.core.wanted.claims import Claim, Unit
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.lines.hosts import Hosts
from osc_traitsched.core.wanted.lines.tenants import without
from osc_traitsched.core.wanted.model import Only, Place, Wrong
from osc_traitsched.core.wanted.refusals import OnlyNobody, TakesMost

#: A kind of objects, and the trait or the aggregate that somebody loses.
_What = tuple[Kind, str]

#: What is taken from whom a unit names, besides projects.
_TAKEN = (Kind.PROVIDER_TRAITS, Kind.AGGREGATE_HOSTS)


def leaving_nobody(only: Only, names_any: bool, hosts: Hosts) -> Iterator[Wrong]:
    """Yield an ``only`` that leaves nobody because a group is empty.

    :param names_any: a line names somebody of this cloud
    """
    if not names_any and not hosts.mistakes:
        yield Wrong(only.of.place, OnlyNobody(only.of.text))


def takes_most(claims: Mapping[Unit, Claim], found: FoundCloud) -> Iterator[TakesMost]:
    """Yield each ``only`` that would take something from most of those that have it.

    :param claims: the units that differ
    """
    rest: dict[tuple[_What, Place], set[str]] = {}
    for (target, key), claim in claims.items():
        is_trait = target.kind is Kind.PROVIDER_TRAITS
        what = target.kind, key if is_trait else target.name
        losing = _losing(target, key, claim, found)
        if claim.is_rest:
            rest.setdefault((what, claim.place), set()).update(losing)
    for (what, place), losers in rest.items():
        having = _having(what, found)
        if 2 * len(losers) > len(having):
            yield TakesMost(place, *what, len(losers), len(having))


def _losing(
    target: Object, key: str, claim: Claim, found: FoundCloud
) -> frozenset[str]:
    """Return who loses something by a unit: providers, hosts, or projects."""
    if target.kind is Kind.AGGREGATE and key.startswith(TENANT_KEY):
        # Several keys may name one project.
        body = found.aggregate_named.get(target.name, {})
        return without(body.get("metadata", {}).get(key), claim.value)
    if claim.value is not None or target.kind not in _TAKEN:
        return frozenset()
    return frozenset({target.id if target.kind is Kind.PROVIDER_TRAITS else key})


def _having(what: _What, found: FoundCloud) -> frozenset[str]:
    """Return who has it now."""
    kind, name = what
    if kind is Kind.PROVIDER_TRAITS:
        return found.holders[name]
    body = found.aggregate_named[name]
    inside = kind is Kind.AGGREGATE_HOSTS
    return frozenset(body["hosts"] if inside else projects_in(body["metadata"]))
