"""What a cloud is like, as wishes that it fulfils."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping

from osc_traitsched.core.change.model import Value
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.metadata import (
    REQUIRED,
    ZONE_KEY,
    in_group,
    isolated_by,
    key_of,
)
from osc_traitsched.core.inventory.snapshot import Nova
from osc_traitsched.core.inventory.tenant_keys import is_id, projects_in
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.lines.grouping import grouped
from osc_traitsched.core.wanted.lines.requirements import FORBIDDEN
from osc_traitsched.core.wanted.model import Part, Wanted, Wish, is_trait, is_zone
from osc_traitsched.core.wanted.undo import wish
from osc_traitsched.text import listed, quoted, visible


@dataclasses.dataclass(frozen=True)
class Export:
    """The wishes, and lines on what they leave out."""

    wanted: Wanted
    unsaid: tuple[str, ...]


def export_of(found: FoundCloud) -> Export:
    """Return what an operator could have wanted of a cloud, by exact names.

    A plan made of it has nothing to write.
    """
    exporting = _Exporting(found)
    wishes = (
        *exporting.traits(),
        *exporting.aggregates(),
        *exporting.flavors(),
        *exporting.images(),
    )
    return Export(grouped(wishes), tuple(exporting.unsaid))


class _Exporting:
    def __init__(self, found: FoundCloud) -> None:
        self._found = found
        self._nova = found.snapshot.nova or Nova()
        self.unsaid: list[str] = []

    def traits(self) -> Iterator[Wish]:
        """Yield the operator's own traits of hosts and of nested providers."""
        snapshot = self._found.snapshot
        for holding in self._found.holdings.values():
            provider = holding.provider
            names = sorted(filter(_is_operators, holding.traits))
            if not names or trait.made_by_others(holding.traits):
                continue
            if provider.root in self._nova.ironic:
                node = f"Ironic node {visible(provider.name)}"
                self.unsaid.append(f"{node} has {listed(names)} in Ironic")
                continue
            is_host = snapshot.is_host(provider)
            part = Part.TRAIT_HOSTS if is_host else Part.TRAIT_PROVIDERS
            for name in names:
                yield wish(part, name, provider.name)

    def aggregates(self) -> Iterator[Wish]:
        """Yield zones, hosts, projects and isolation of aggregates."""
        for body in sorted(self._found.aggregates, key=lambda each: each["name"]):
            name, metadata = body["name"], body["metadata"]
            this = f"aggregate {quoted(name)}"
            zone = metadata.get(ZONE_KEY, "")
            if is_zone(zone):
                yield wish(Part.ZONE, name, zone)
            elif zone:
                odd = f"zone {quoted(zone)}, which nobody can ask for"
                self.unsaid.append(f"{this} has the {odd}")
            for host in sorted(body["hosts"]):
                if host in self._nova.by_service_host:
                    yield wish(Part.MEMBERS, name, host)
                else:
                    gone = f"{visible(host)}, a host that Nova does not list"
                    self.unsaid.append(f"{this} has {gone}")
            for project in sorted(projects_in(metadata)):
                if is_id(project):
                    yield wish(Part.TENANTS, name, project)
                else:
                    self.unsaid.append(
                        f"{this} is for project {quoted(project)}, which is no ID as "
                        "Keystone makes them: Nova takes no name"
                    )
            for isolating in sorted(isolated_by(metadata, self._found.collation)):
                yield from self._isolation(body, isolating)

    def _isolation(self, body: Body, isolating: str) -> Iterator[Wish]:
        if isolating not in self._found.traits or not is_trait(isolating):
            self._unknown("aggregate", body["name"], isolating)
        elif lacking := self._found.lacking(body, isolating):
            self.unsaid.append(
                f"aggregate {quoted(body['name'])} is isolated for {isolating}, and "
                f"Placement does not have that of all its hosts: {listed(lacking)}"
            )
        else:
            yield wish(Part.ISOLATION, body["name"], isolating)

    def flavors(self) -> Iterator[Wish]:
        """Yield the traits that flavors require and forbid."""
        parts = {REQUIRED: Part.FLAVOR_REQUIRES, FORBIDDEN: Part.FLAVOR_FORBIDS}
        ids = {body["id"] for body in self._found.flavors}
        for body in self._found.flavors:
            name = body["id"] if body["name"] in ids else body["name"]
            specs = body.get("extra_specs") or {}
            yield from self._keys("flavor", name, specs, parts)
            grouped = {key: v for key, v in sorted(specs.items()) if in_group(key)}
            if pairs := [f"{k}={v}" for k, v in grouped.items() if v in parts]:
                self.unsaid.append(
                    f"flavor {quoted(name)} has {listed(map(visible, pairs))}, for a "
                    "numbered or named group, of which no file says anything"
                )

    def images(self) -> Iterator[Wish]:
        """Yield the traits that images require; those of one name go by their IDs."""
        names = Counter(body["name"] for body in self._found.images)
        for body in self._found.images:
            is_only = body["name"] and names[body["name"]] == 1
            name = body["name"] if is_only else body["id"]
            yield from self._keys("image", name, body, {REQUIRED: Part.IMAGE_REQUIRES})

    def _keys(
        self, kind: str, name: str, pairs: Body, parts: Mapping[str, Part]
    ) -> Iterator[Wish]:
        for key, value in sorted(pairs.items()):
            named = key.partition(":")[2]
            if key != key_of(named):
                continue
            part: Part | None = parts.get(_text(value))
            if part is None:
                pair = visible(f"{key}={value}")
                ignored = f"has {pair}, a value that Nova ignores"
                self.unsaid.append(f"{kind} {quoted(name)} {ignored}")
            elif named in self._found.traits and is_trait(named):
                yield wish(part, name, named)
            else:
                self._unknown(kind, name, named)

    def _unknown(self, kind: str, name: str, named: str) -> None:
        unknown = f"{quoted(named)}, a trait that Placement does not know"
        self.unsaid.append(f"{kind} {quoted(name)} names {unknown}")


def _text(value: Value) -> str:
    return value if isinstance(value, str) else ""


def _is_operators(name: str) -> bool:
    """Tell whether only an operator gives a trait to a host."""
    is_own = trait.ownership(name) is trait.Ownership.OPERATOR
    return is_own and name not in trait.ROLES and is_trait(name)
