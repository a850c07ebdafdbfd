"""Which hosts and providers the lines of files mean."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Set

from osc_traitsched.core import errors
from osc_traitsched.core.errors import TraitSchedError
from osc_traitsched.core.inventory.selection import Selected, Selectors, select
from osc_traitsched.core.inventory.snapshot import Provider, Snapshot
from osc_traitsched.core.wanted.inventory import Inventory
from osc_traitsched.core.wanted.model import GROUP, Group, Source, Text, Wrong
from osc_traitsched.core.wanted.refusals import NoCompute, NoInventory

_NONE = Selected(())
_MOST_NEAR = 3


class Hosts:
    """Finds what is named; what is not there is kept as a mistake.

    :ivar mistakes: each line once, whatever asks for it
    """

    def __init__(
        self,
        snapshot: Snapshot,
        groups: Iterable[Group] = (),
        inventory: Inventory | None = None,
    ) -> None:
        self.mistakes: list[Wrong] = []
        self._snapshot = snapshot
        self._groups = {group.name.text: group for group in groups}
        self._inventory = inventory
        self._found: dict[tuple[str, bool], Selected] = {}
        self._by_label: dict[str, list[Provider]] = {}
        for host in snapshot.hosts:
            self._by_label.setdefault(host.name.partition(".")[0], []).append(host)
        nova = snapshot.nova
        self._service_hosts = (
            {c.uuid: c.service_host for c in nova.computes} if nova else {}
        )

    def providers(self, text: Text) -> Selected:
        """Return the providers of hosts: by name, UUID, glob, or as a group."""
        return self._once(text, is_host=True)

    def nested(self, text: Text) -> Selected:
        """Return providers anywhere in a tree: by name, UUID, or glob over names."""
        return self._once(text, is_host=False)

    def service_hosts(
        self, text: Text, among: Set[str] = frozenset()
    ) -> tuple[str, ...]:
        """Return hosts as Nova's aggregates name them.

        :param among: hosts that Nova may no longer have, and that count as well
        """
        there = self.named(text, among)
        if there and not self._is_known(text):
            return tuple(there)
        selected = self.providers(text)
        found = dict.fromkeys((*selected.without_provider, *there))
        for provider in selected.providers:
            if provider.uuid in self._service_hosts:
                found[self._service_hosts[provider.uuid]] = None
            else:
                self._wrong(text, NoCompute(provider.name))
        return tuple(sorted(found))

    def named(self, text: Text, among: Set[str]) -> list[str]:
        """Return those of some hosts that are named as they are, or by a glob.

        Nova may have them no more.
        """
        patterns: tuple[Text, ...] = (text,)
        if text.text.startswith(GROUP):
            group = self._groups[text.text[len(GROUP) :]]
            patterns = group.values if group.source is Source.NAMES else ()
        names = {each.text for each in patterns}
        globs = [name for name in names if any(c in name for c in "*?[")]
        matching = {
            host for glob in globs for host in among if fnmatch.fnmatchcase(host, glob)
        }
        return sorted(matching | (names & among))

    def _once(self, text: Text, is_host: bool) -> Selected:
        key = (text.text, is_host)
        if key not in self._found:
            try:
                found = self._host(text) if is_host else self._nested(text.text)
                self._found[key] = found
            except Wrong as exc:
                self.mistakes.append(exc)
                self._found[key] = _NONE
            except TraitSchedError as exc:
                self._wrong(text, exc)
                self._found[key] = _NONE
        return self._found[key]

    def _wrong(self, text: Text, error: TraitSchedError) -> None:
        self.mistakes.append(Wrong(text.place, error))

    def _host(self, text: Text) -> Selected:
        if text.text.startswith(GROUP):
            return self._group(self._groups[text.text[len(GROUP) :]])
        return self._named(text.text)

    def _named(self, pattern: str) -> Selected:
        labelled = [] if self._is_whole(pattern) else self._by_label.get(pattern, [])
        if not labelled:
            return select(Selectors(hosts=(pattern,)), self._snapshot)
        if len(labelled) > 1:
            near = tuple(host.name for host in labelled[:_MOST_NEAR])
            raise errors.NothingMatches("host", pattern, near)
        return Selected(tuple(labelled))

    def _is_known(self, text: Text) -> bool:
        """Tell whether Placement or Nova has any host that is named so."""
        try:
            self._host(text)
        except TraitSchedError:
            return False
        return True

    def _is_whole(self, name: str) -> bool:
        """Tell whether a host or a service host goes by just this name."""
        nova = self._snapshot.nova
        is_service = nova is not None and name in nova.by_service_host
        return name in self._snapshot.by_name or is_service

    def _group(self, group: Group) -> Selected:
        if group.source is Source.NAMES:
            return _together(self.providers(each) for each in group.values)
        (value,) = group.values
        try:
            if group.source is Source.AGGREGATE:
                return select(Selectors(aggregates=(value.text,)), self._snapshot)
            if group.source is Source.ZONE:
                return select(Selectors(zones=(value.text,)), self._snapshot)
            return _together(map(self._named, self._in_inventory(group)))
        except TraitSchedError as exc:
            raise Wrong(value.place, exc) from exc

    def _in_inventory(self, group: Group) -> tuple[str, ...]:
        if self._inventory is None:
            raise NoInventory()
        variable = group.variable.text if group.variable else None
        return self._inventory.of_group(group.values[0].text, variable)

    def _nested(self, pattern: str) -> Selected:
        by_name = self._snapshot.by_name
        exact = by_name.get(pattern) or self._snapshot.by_uuid.get(pattern.lower())
        if exact is not None or not any(c in pattern for c in "*?["):
            return select(Selectors(providers=(pattern,)), self._snapshot)
        found = [p for name, p in by_name.items() if fnmatch.fnmatchcase(name, pattern)]
        if not found:
            raise errors.NothingMatches("provider", pattern, ())
        return Selected(tuple(sorted(found, key=lambda p: p.name)))


def _together(parts: Iterable[Selected]) -> Selected:
    parts = tuple(parts)
    providers = dict.fromkeys(p for each in parts for p in each.providers)
    without = dict.fromkeys(h for each in parts for h in each.without_provider)
    return Selected(tuple(providers), tuple(without))
