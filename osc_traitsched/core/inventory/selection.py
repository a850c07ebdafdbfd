"""Selectors of commands, and the providers that match them."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Set

from osc_traitsched.core import errors
from osc_traitsched.core.inventory.snapshot import (
    HOW_TO_LIST,
    Aggregate,
    Compute,
    Holding,
    Nova,
    Provider,
    Snapshot,
)
from osc_traitsched.core.names import Namesake, is_pattern, near_names
from osc_traitsched.text import quoted, ranges


@dataclasses.dataclass(frozen=True)
class Selectors:
    """Options that select providers; selectors add up, trait options narrow.

    :ivar hosts: names, UUIDs or globs of providers or Nova service hosts
    :ivar providers: names or UUIDs of providers anywhere in a tree
    :ivar aggregates: names, IDs or UUIDs of Nova host aggregates
    """

    hosts: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    aggregates: tuple[str, ...] = ()
    zones: tuple[str, ...] = ()
    everything: bool = False
    having: frozenset[str] = frozenset()
    lacking: frozenset[str] = frozenset()

    @property
    def names_any(self) -> bool:
        """Whether any selector is set."""
        selectors = (self.hosts, self.providers, self.aggregates, self.zones)
        return self.everything or any(selectors)

    def admits(self, traits: frozenset[str]) -> bool:
        """Whether a provider with these traits stays selected."""
        return self.having <= traits and not self.lacking & traits


@dataclasses.dataclass(frozen=True)
class Selected:
    """Matches of selectors.

    :ivar providers: unique, sorted by host and name
    :ivar without_provider: matching Nova service hosts without a provider
    """

    providers: tuple[Provider, ...]
    without_provider: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Targets:
    """Selected providers with their traits.

    :ivar without_provider: selected hosts without a provider
    :ivar vanished: names of providers that were deleted during the reading
    """

    snapshot: Snapshot
    held: tuple[Holding, ...]
    without_provider: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()


def needs_nova(selectors: Selectors, snapshot: Snapshot) -> bool:
    """Whether the selectors need Nova's view of hosts."""
    return bool(
        selectors.aggregates
        or selectors.zones
        or any(not _hosts_named(p, snapshot) for p in selectors.hosts)
        or (snapshot.sharing and _takes_any_host(selectors))
    )


def _takes_any_host(selectors: Selectors) -> bool:
    """Sharing providers may match, if they are compute nodes."""
    return selectors.everything or any(map(is_pattern, selectors.hosts))


def select(selectors: Selectors, snapshot: Snapshot) -> Selected:
    """Match the selectors with the cloud.

    :raises NothingMatches: for the first selector without a match
    :raises BadQuestion: for a host that only Placement has
    :raises EmptyAggregate: for an aggregate without hosts
    :raises AmbiguousName: if several aggregates have the name
    """
    nova = snapshot.nova
    providers = set(snapshot.hosts if selectors.everything else ())
    computes: set[Compute] = set()
    for pattern in selectors.hosts:
        matches = _hosts_named(pattern, snapshot)
        providers.update(matches)
        if not matches:
            computes.update(_computes_named(pattern, snapshot, nova))
    for value in selectors.providers:
        providers.add(_provider(value, snapshot))
    without_provider: set[str] = set()
    for value in selectors.aggregates:
        found, hostless = _members(find_aggregate(value, nova), nova)
        computes.update(found)
        without_provider.update(hostless)
    for zone in selectors.zones:
        computes.update(_in_zone(zone, nova))
    for compute in computes:
        root = snapshot.by_uuid.get(compute.uuid)
        if root is None:
            without_provider.add(compute.service_host)
        else:
            providers.add(root)
    ordered = sorted(providers, key=lambda p: (snapshot.host_name(p), p.name, p.uuid))
    return Selected(tuple(ordered), tuple(sorted(without_provider)))


def only_host(name: str, snapshot: Snapshot) -> Provider:
    """The host of a name or a UUID; raises NothingMatches, BadUsage for several."""
    found = select(Selectors(hosts=(name,)), snapshot).providers
    if not found:
        raise errors.NothingMatches("resource provider", name, ())
    if len(found) != 1:
        names = [each.name for each in found]
        raise errors.BadUsage(
            f"{quoted(name)} matches {len(found)} hosts: {ranges(names)}. Name one of "
            f"them, such as {', '.join(names[:1])}"
        )
    return found[0]


def _hosts_named(pattern: str, snapshot: Snapshot) -> tuple[Provider, ...]:
    exact = snapshot.by_name.get(pattern) or snapshot.by_uuid.get(pattern.lower())
    if exact is not None and snapshot.is_host(exact):
        return (exact,)
    if not is_pattern(pattern):
        return ()
    return tuple(p for p in snapshot.hosts if fnmatch.fnmatchcase(p.name, pattern))


def _computes_named(
    pattern: str, snapshot: Snapshot, nova: Nova
) -> tuple[Compute, ...]:
    found = nova.by_service_host.get(pattern, ())
    if not found and is_pattern(pattern):
        found = tuple(
            c for c in nova.computes if fnmatch.fnmatchcase(c.service_host, pattern)
        )
    if not found:
        root = snapshot.by_name.get(pattern)
        if root and not root.parent and root.uuid not in snapshot.sharing:
            raise errors.BadQuestion(
                f"Nova lists no compute node {quoted(pattern)}, but Placement has it: "
                f"if the host exists, {HOW_TO_LIST}"
            )
        names = {p.name for p in snapshot.hosts} | set(nova.by_service_host)
        near = _near_hosts(pattern, names)
        raise errors.NothingMatches("host", pattern, near, nova.unasked)
    return found


def _near_hosts(name: str, names: Set[str]) -> tuple[str, ...]:
    label = name.partition(".")[0]
    return (label,) if label in names else near_names(name, names)


def _provider(value: str, snapshot: Snapshot) -> Provider:
    found = snapshot.by_name.get(value) or snapshot.by_uuid.get(value.lower())
    if found is None:
        near = near_names(value, snapshot.by_name)
        raise errors.NothingMatches("provider", value, near)
    return found


def find_aggregate(value: str, nova: Nova) -> Aggregate:
    """The aggregate of a name, ID or UUID; raises NothingMatches, AmbiguousName."""
    found = [a for a in nova.aggregates if value in (a.name, str(a.id), a.uuid)]
    if not found:
        names = {a.name for a in nova.aggregates}
        near = near_names(value, names)
        raise errors.NothingMatches("aggregate", value, near, nova.unasked)
    if len(found) > 1:
        namesakes = (Namesake(each.uuid) for each in found)
        raise errors.AmbiguousName("aggregate", value, namesakes)
    return found[0]


def _members(
    aggregate: Aggregate, nova: Nova
) -> tuple[tuple[Compute, ...], tuple[str, ...]]:
    if not aggregate.hosts:
        raise errors.EmptyAggregate(aggregate.name)
    nodes = nova.by_service_host
    found = (c for host in aggregate.hosts for c in nodes.get(host, ()))
    return tuple(found), tuple(h for h in aggregate.hosts if h not in nodes)


def _in_zone(zone: str, nova: Nova) -> tuple[Compute, ...]:
    found = tuple(c for c in nova.computes if zone in c.zones)
    if not found:
        names = {name for c in nova.computes for name in c.zones}
        near = near_names(zone, names)
        raise errors.NothingMatches("availability zone", zone, near, nova.unasked)
    return found
