"""From the lines of files to claims about a cloud."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterable, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.change.model import PRESENT, Object, ObjectKind
from osc_traitsched.core.change.traits import provider_object, unprovided_object
from osc_traitsched.core.desired import units
from osc_traitsched.core.desired.hosts import FoundCloud, Hosts
from osc_traitsched.core.desired.model import (
    Claim,
    Claims,
    DesiredState,
    Entry,
    EntryError,
    Only,
    Part,
    Text,
)
from osc_traitsched.core.desired.units import leaving_nobody
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.metadata import (
    REQUIRED,
    ZONE_KEY,
    key_of,
)
from osc_traitsched.core.inventory.snapshot import Aggregate, Compute, Nova, Provider
from osc_traitsched.core.names import near_names

#: Namespace for the names of new aggregates, until Nova assigns an ID.
_NEW = uuid.UUID("6c0d1c5e-93a4-4c0f-9d5b-6f1f5a9f5d0e")


def claims_of(desired: DesiredState, found: FoundCloud, hosts: Hosts) -> Claims:
    """The claims of all lines; raises Mistakes with all wrong ones."""
    claiming = _Claiming(desired, found, hosts)
    claiming.traits()
    claiming.aggregates()
    claiming.isolations()
    mistakes = [*units.claim_requirements(claiming.claims, desired, found)]
    claiming.existing()
    claiming.rest_of_traits()
    mistakes += [*claiming.mistakes, *claiming.claims.mistakes, *hosts.mistakes]
    if mistakes:
        raise errors.Mistakes(_sorted(mistakes))
    return claiming.claims


def _sorted(mistakes: Iterable[EntryError]) -> list[EntryError]:
    found = {(each.place, str(each.error)): each for each in mistakes}
    return sorted(found.values(), key=lambda w: (w.place.path, w.place.line))


@dataclasses.dataclass
class _Claiming:
    desired: DesiredState
    found: FoundCloud
    hosts: Hosts

    def __post_init__(self) -> None:
        self.claims = Claims()
        self.mistakes: list[EntryError] = []
        self._lines: dict[str, list[Entry]] = {}
        for entry in self.desired.entries:
            if entry.part.section == "aggregates":
                self._lines.setdefault(entry.of.text, []).append(entry)
        self._only: dict[str, list[Only]] = {}
        for only in self.desired.only:
            if only.section == "aggregates":
                self._only.setdefault(only.of.text, []).append(only)
        self._hold()

    def _hold(self) -> None:
        held = [self.hosts.providers(text) for text in self.desired.hold]
        self._held_roots = {p.uuid for each in held for p in each.providers}
        names = {host for each in held for host in each.without_provider}
        inside = frozenset(
            host for each in self.found.aggregates for host in each.hosts
        )
        for text in self.desired.hold:
            names |= self.hosts.named(text, inside)
        nodes = [c for c in self._nova.computes if c.uuid in self._held_roots]
        self._held_hosts = frozenset(names | {node.service_host for node in nodes})
        self.claims.held_hosts = self._held_hosts

    @property
    def _nova(self) -> Nova:
        return self.found.snapshot.nova

    # Traits

    def traits(self) -> None:
        for entry in self.desired.of_part(Part.TRAIT_HOSTS, Part.TRAIT_PROVIDERS):
            self._check_trait(entry.of, entry.absent)
            is_nested = entry.part is Part.TRAIT_PROVIDERS
            find = self.hosts.nested if is_nested else self.hosts.providers
            selected = find(entry.value)
            for provider in selected.providers:
                self._trait(provider, entry.of.text, Claim.of(entry))
            for host in selected.without_provider if not entry.absent else ():
                self._without(host, entry.of.text, entry.value)

    def _check_trait(self, name: Text, absent: bool) -> None:
        if name.text in trait.ROLES:
            reason = (
                "says what a provider is, so no file gives or takes it; trait-sched "
                "add and remove do, with --force"
            )
        elif absent and trait.ownership(name.text) is not trait.Ownership.OPERATOR:
            reason = (
                "is nova-compute's own, which puts it back: it is never taken away; "
                "trait-sched remove --force does, if it must be"
            )
        else:
            return
        error = errors.BadQuestion(f"{name.text} {reason}")
        self.mistakes.append(EntryError(name.place, error))

    def _trait(self, provider: Provider, name: str, claim: Claim) -> None:
        unit = provider_object(self.found.snapshot, provider), name
        self.claims.add(unit, claim, provider.root in self._held_roots)

    def _without(self, host: str, name: str, text: Text) -> None:
        """Its row gets a problem."""
        unit = unprovided_object(host), name
        self.claims.add(unit, Claim(PRESENT, text.place), host in self._held_hosts)

    def rest_of_traits(self) -> None:
        """Claim that no other provider has the traits with ``only``."""
        kind = ObjectKind.PROVIDER_TRAITS
        given = {key for target, key in self.claims.desired() if target.kind is kind}
        # No line can name a host that Nova does not list at present.
        left = self._held_roots | self.found.snapshot.unlisted
        for only in self.desired.only:
            if only.section == "traits":
                self._check_trait(only.of, absent=True)
                name = only.of.text
                self.mistakes += leaving_nobody(only, name in given, self.hosts)
                for holder in sorted(self.found.holders.get(name, ())):
                    provider = self.found.holdings[holder].provider
                    unit = provider_object(self.found.snapshot, provider), name
                    is_left = provider.root in left
                    self.claims.add_rest([unit], only.of.place, is_left)

    def existing(self) -> None:
        named = [
            (entry.of if entry.part.section == "traits" else entry.value)
            for entry in self.desired.entries
            if not entry.absent
            and (entry.part.section == "traits" or entry.part.names_traits)
        ]
        known = self.found.traits
        for name in {text.text: text for text in reversed(named)}.values():
            if trait.is_custom(name.text):
                unit = Object(ObjectKind.TRAIT, name.text, name.text), name.text
                self.claims.add(unit, Claim(PRESENT, name.place))
                continue
            try:
                trait.check_exist([name.text], known)
            except errors.UnknownTrait as exc:
                self.mistakes.append(EntryError(name.place, exc))

    # Aggregates

    def aggregates(self) -> None:
        for name, lines in self._lines.items():
            aggregate = self._aggregate(name)
            if not self._exists(name) and not self._make(name, lines):
                continue
            self._zone(name, lines)
            inside = frozenset(aggregate.hosts)
            target = self._object(ObjectKind.AGGREGATE_HOSTS, name)
            said = lines, self._only.get(name, ())
            self.mistakes += units.claim_members(
                self.claims, target, inside, *said, self.hosts
            )
            target = self._object(ObjectKind.AGGREGATE, name)
            self.mistakes += units.claim_projects(
                self.claims, target, aggregate.metadata, *said, self.found
            )

    def _exists(self, name: str) -> bool:
        return name in self.found.find_aggregate

    def _aggregate(self, name: str) -> Aggregate:
        if self._exists(name):
            return self.found.find_aggregate[name]
        identity = str(uuid.uuid5(_NEW, name))
        return Aggregate(identity, identity, name)

    def _object(self, kind: ObjectKind, name: str) -> Object:
        is_new = not self._exists(name)
        return Object(kind, self._aggregate(name).id, name, is_new=is_new)

    def _make(self, name: str, lines: Sequence[Entry]) -> bool:
        """Absent entries do not create an aggregate."""
        wanting = [entry for entry in lines if not entry.absent]
        if not wanting:
            near = near_names(name, self.found.find_aggregate)
            error = errors.NothingMatches("aggregate", name, near)
            self.claims.missing.append(EntryError(lines[0].of.place, error))
            return False
        if refusal := self.found.no_new_aggregate(name):
            self.mistakes.append(EntryError(wanting[0].of.place, refusal))
        unit = self._object(ObjectKind.NEW_AGGREGATE, name), "name"
        self.claims.add(unit, Claim(name, wanting[0].of.place))
        return True

    def _zone(self, name: str, lines: Iterable[Entry]) -> None:
        kind = ObjectKind.AGGREGATE if self._exists(name) else ObjectKind.NEW_AGGREGATE
        for entry in lines:
            if entry.part is Part.ZONE:
                unit = self._object(kind, name), ZONE_KEY
                self.claims.add(unit, Claim(entry.value.text, entry.value.place))

    # Isolation

    def isolations(self) -> None:
        """The key, the hosts' traits, and the sync to Placement."""
        for entry in self.desired.of_part(Part.ISOLATION):
            if entry.absent and not self._exists(entry.of.text):
                continue
            self._isolating_key(entry)
            self._check_trait(entry.value, absent=False)
            if entry.absent:
                continue
            for host in self._hosts_after(entry.of.text):
                self._isolated_host(entry, host)

    def _isolating_key(self, entry: Entry) -> None:
        """In the spelling that the database may already have."""
        aggregate = self._aggregate(entry.of.text)
        metadata = aggregate.metadata
        key, collation = key_of(entry.value.text), self.found.collation
        own = {collation.folded(each): each for each in metadata}
        isolating = aggregate.isolated_by(collation).get(entry.value.text)
        if entry.absent and isolating is None:
            # A key with another value does not isolate, and belongs to others.
            return
        unit = (
            self._object(ObjectKind.AGGREGATE, entry.of.text),
            isolating or own.get(collation.folded(key), key),
        )
        is_right = isolating is not None and not entry.absent
        value = metadata[isolating] if is_right and isolating else REQUIRED
        self.claims.add(unit, Claim(None if entry.absent else value, entry.value.place))

    def _hosts_after(self, name: str) -> list[str]:
        target = self._object(ObjectKind.AGGREGATE_HOSTS, name)
        inside = set(self._aggregate(name).hosts)
        for host, claim in self.claims.of(target).items():
            (inside.discard if claim.value is None else inside.add)(host)
        return sorted(inside)

    def _isolated_host(self, entry: Entry, host: str) -> None:
        claim = Claim(PRESENT, entry.value.place)
        nodes = self._nova.by_service_host.get(host, ())
        roots = [self._root(node) for node in nodes]
        if not roots or None in roots:
            self._without(host, entry.value.text, entry.value)
        for root in filter(None, roots):
            self._trait(root, entry.value.text, claim)
            self._mirror(entry.of.text, root, host, claim)

    def _root(self, node: Compute) -> Provider | None:
        return self.found.snapshot.by_uuid.get(node.uuid)

    def _mirror(self, name: str, root: Provider, host: str, claim: Claim) -> None:
        """Nova adds new members to Placement's aggregate itself."""
        aggregate = self._aggregate(name)
        if host in aggregate.hosts:
            target = Object(ObjectKind.PROVIDER_AGGREGATES, root.uuid, root.name, host)
            is_held = root.uuid in self._held_roots
            self.claims.add((target, aggregate.uuid), claim, is_held)
