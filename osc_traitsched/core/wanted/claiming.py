"""What the lines of files mean for a cloud."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterable, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.change.model import PRESENT, Kind, Object
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.metadata import (
    REQUIRED,
    ZONE_KEY,
    isolated_by,
    key_of,
)
from osc_traitsched.core.inventory.snapshot import Compute, Nova, Provider
from osc_traitsched.core.names import near_names
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.wanted import units
from osc_traitsched.core.wanted.hosts import FoundCloud, Hosts
from osc_traitsched.core.wanted.model import (
    Claim,
    Claims,
    Only,
    Part,
    Text,
    Wanted,
    Wish,
    Wrong,
)
from osc_traitsched.core.wanted.refusals import NotToTake, SaysWhatItIs
from osc_traitsched.core.wanted.units import leaving_nobody

#: What a new aggregate is called until Nova has given it an ID.
_NEW = uuid.UUID("6c0d1c5e-93a4-4c0f-9d5b-6f1f5a9f5d0e")


def claims_of(wanted: Wanted, found: FoundCloud, hosts: Hosts) -> Claims:
    """Return what the lines want of the cloud.

    :raises Mistakes: all lines that name what is not there, or can't be wanted
    """
    claiming = _Claiming(wanted, found, hosts)
    claiming.traits()
    claiming.aggregates()
    claiming.isolations()
    mistakes = [*units.claim_requirements(claiming.claims, wanted, found)]
    claiming.existing()
    claiming.rest_of_traits()
    mistakes += [*claiming.mistakes, *claiming.claims.mistakes, *hosts.mistakes]
    if mistakes:
        raise errors.Mistakes(_sorted(mistakes))
    return claiming.claims


def _sorted(mistakes: Iterable[Wrong]) -> list[Wrong]:
    found = {(each.place, str(each.error)): each for each in mistakes}
    return sorted(found.values(), key=lambda w: (w.place.path, w.place.line))


def provider_object(found: FoundCloud, provider: Provider) -> Object:
    """Return a provider's traits as an object to change."""
    host = found.snapshot.host_name(provider)
    return Object(Kind.PROVIDER_TRAITS, provider.uuid, provider.name, host)


@dataclasses.dataclass
class _Claiming:
    wanted: Wanted
    found: FoundCloud
    hosts: Hosts

    def __post_init__(self) -> None:
        self.claims = Claims()
        self.mistakes: list[Wrong] = []
        self._lines: dict[str, list[Wish]] = {}
        for wish in self.wanted.wishes:
            if wish.part.section == "aggregates":
                self._lines.setdefault(wish.of.text, []).append(wish)
        self._only: dict[str, list[Only]] = {}
        for only in self.wanted.only:
            if only.section == "aggregates":
                self._only.setdefault(only.of.text, []).append(only)
        self._hold()

    def _hold(self) -> None:
        """Find the hosts that are left as they are."""
        held = [self.hosts.providers(text) for text in self.wanted.hold]
        self._held_roots = {p.uuid for each in held for p in each.providers}
        names = {host for each in held for host in each.without_provider}
        inside = frozenset(h for body in self.found.aggregates for h in body["hosts"])
        for text in self.wanted.hold:
            names |= self.hosts.named(text, inside)
        nodes = [c for c in self._nova.computes if c.uuid in self._held_roots]
        self._held_hosts = frozenset(names | {node.service_host for node in nodes})
        self.claims.held_hosts = self._held_hosts

    @property
    def _nova(self) -> Nova:
        return self.found.snapshot.nova or Nova()

    # Traits

    def traits(self) -> None:
        """Claim traits of hosts and of providers."""
        for wish in self.wanted.of_part(Part.TRAIT_HOSTS, Part.TRAIT_PROVIDERS):
            self._check_trait(wish.of, wish.absent)
            is_nested = wish.part is Part.TRAIT_PROVIDERS
            find = self.hosts.nested if is_nested else self.hosts.providers
            selected = find(wish.value)
            for provider in selected.providers:
                self._trait(provider, wish.of.text, Claim.of(wish))
            for host in selected.without_provider if not wish.absent else ():
                self._without(host, wish.of.text, wish.value)

    def _check_trait(self, name: Text, absent: bool) -> None:
        """Refuse what no file may give or take."""
        if name.text in trait.ROLES:
            self.mistakes.append(Wrong(name.place, SaysWhatItIs(name.text)))
        elif absent and trait.ownership(name.text) is not trait.Ownership.OPERATOR:
            self.mistakes.append(Wrong(name.place, NotToTake(name.text)))

    def _trait(self, provider: Provider, name: str, claim: Claim) -> None:
        unit = provider_object(self.found, provider), name
        self.claims.add(unit, claim, provider.root in self._held_roots)

    def _without(self, host: str, name: str, text: Text) -> None:
        """Claim what can't be: Placement has no provider for the host."""
        unit = Object(Kind.PROVIDER_TRAITS, "", host, host), name
        self.claims.add(unit, Claim(PRESENT, text.place), host in self._held_hosts)

    def rest_of_traits(self) -> None:
        """Claim that nobody else has the traits of which that is said."""
        kind = Kind.PROVIDER_TRAITS
        given = {key for target, key in self.claims.wanted() if target.kind is kind}
        # No line can name a host that Nova does not list for now.
        left = self._held_roots | self.found.snapshot.unlisted
        for only in self.wanted.only:
            if only.section == "traits":
                self._check_trait(only.of, absent=True)
                name = only.of.text
                self.mistakes += leaving_nobody(only, name in given, self.hosts)
                for holder in sorted(self.found.holders.get(name, ())):
                    provider = self.found.holdings[holder].provider
                    unit = provider_object(self.found, provider), name
                    is_left = provider.root in left
                    self.claims.add_rest([unit], only.of.place, is_left)

    def existing(self) -> None:
        """Claim that all traits exist which something must have or name."""
        named = [
            (wish.of if wish.part.section == "traits" else wish.value)
            for wish in self.wanted.wishes
            if not wish.absent
            and (wish.part.section == "traits" or wish.part.names_traits)
        ]
        known = self.found.traits
        for name in {text.text: text for text in reversed(named)}.values():
            if trait.is_custom(name.text):
                unit = Object(Kind.TRAIT, name.text, name.text), name.text
                self.claims.add(unit, Claim(PRESENT, name.place))
                continue
            try:
                trait.check_known([name.text], known)
            except errors.UnknownTrait as exc:
                self.mistakes.append(Wrong(name.place, exc))

    # Aggregates

    def aggregates(self) -> None:
        """Claim that aggregates exist, their zones, their hosts and their projects."""
        for name, lines in self._lines.items():
            body = self._body(name)
            if body is None and not self._make(name, lines):
                continue
            self._zone(name, lines)
            inside = frozenset(body["hosts"] if body else ())
            metadata = body["metadata"] if body else {}
            target = self._object(Kind.AGGREGATE_HOSTS, name)
            said = lines, self._only.get(name, ())
            self.mistakes += units.claim_members(
                self.claims, target, inside, *said, self.hosts
            )
            target = self._object(Kind.AGGREGATE, name)
            self.mistakes += units.claim_projects(
                self.claims, target, metadata, *said, self.found
            )

    def _body(self, name: str) -> Body | None:
        return self.found.aggregate_named.get(name)

    def _object(self, kind: Kind, name: str) -> Object:
        body = self._body(name)
        if body is None:
            return Object(kind, str(uuid.uuid5(_NEW, name)), name, is_new=True)
        return Object(kind, str(body["id"]), name)

    def _make(self, name: str, lines: Sequence[Wish]) -> bool:
        """Claim an aggregate that is not there; what is to be absent makes none.

        That is as wanted: an undo file leads back from a plan that failed before.
        """
        wanting = [wish for wish in lines if not wish.absent]
        if not wanting:
            near = near_names(name, self.found.aggregate_named)
            error = errors.NothingMatches("aggregate", name, near)
            self.claims.missing.append(Wrong(lines[0].of.place, error))
            return False
        if refusal := self.found.no_new_aggregate(name):
            self.mistakes.append(Wrong(wanting[0].of.place, refusal))
        unit = self._object(Kind.NEW_AGGREGATE, name), "name"
        self.claims.add(unit, Claim(name, wanting[0].of.place))
        return True

    def _zone(self, name: str, lines: Iterable[Wish]) -> None:
        kind = Kind.NEW_AGGREGATE if self._body(name) is None else Kind.AGGREGATE
        for wish in lines:
            if wish.part is Part.ZONE:
                unit = self._object(kind, name), ZONE_KEY
                self.claims.add(unit, Claim(wish.value.text, wish.value.place))

    # Isolation

    def isolations(self) -> None:
        """Claim what isolates aggregates: the key, the hosts' traits, the mirror."""
        for wish in self.wanted.of_part(Part.ISOLATION):
            if self._body(wish.of.text) is None and wish.absent:
                continue
            self._isolating_key(wish)
            self._check_trait(wish.value, absent=False)
            if wish.absent:
                continue
            for host in self._hosts_after(wish.of.text):
                self._isolated_host(wish, host)

    def _isolating_key(self, wish: Wish) -> None:
        """Claim the key; to the database one in other letters may be the same."""
        body = self._body(wish.of.text)
        metadata = body["metadata"] if body else {}
        key, collation = key_of(wish.value.text), self.found.collation
        own = {collation.folded(each): each for each in metadata}
        isolating = isolated_by(metadata, collation).get(wish.value.text)
        if wish.absent and isolating is None:
            # A key of another value isolates nothing, and is somebody else's.
            return
        unit = (
            self._object(Kind.AGGREGATE, wish.of.text),
            isolating or own.get(collation.folded(key), key),
        )
        is_right = isolating is not None and not wish.absent
        value = metadata[isolating] if is_right and isolating else REQUIRED
        self.claims.add(unit, Claim(None if wish.absent else value, wish.value.place))

    def _hosts_after(self, name: str) -> list[str]:
        """Return the hosts that an aggregate will have."""
        body, target = self._body(name), self._object(Kind.AGGREGATE_HOSTS, name)
        inside = set(body["hosts"]) if body else set()
        for host, claim in self.claims.of(target).items():
            (inside.discard if claim.value is None else inside.add)(host)
        return sorted(inside)

    def _isolated_host(self, wish: Wish, host: str) -> None:
        claim = Claim(PRESENT, wish.value.place)
        nodes = self._nova.by_service_host.get(host, ())
        roots = [self._root(node) for node in nodes]
        if not roots or None in roots:
            self._without(host, wish.value.text, wish.value)
        for root in filter(None, roots):
            self._trait(root, wish.value.text, claim)
            self._mirror(wish.of.text, root, host, claim)

    def _root(self, node: Compute) -> Provider | None:
        return self.found.snapshot.by_uuid.get(node.uuid)

    def _mirror(self, name: str, root: Provider, host: str, claim: Claim) -> None:
        """Claim that Placement has a host in an aggregate; Nova puts new ones."""
        body = self._body(name)
        if body is not None and host in body["hosts"]:
            target = Object(Kind.PROVIDER_AGGREGATES, root.uuid, root.name, host)
            is_held = root.uuid in self._held_roots
            self.claims.add((target, body["uuid"]), claim, is_held)
