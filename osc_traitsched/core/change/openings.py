"""What may land where once a plan is carried out, and may not now.

Both come from the effects on flavors. A flavor or an image that changes is told by the
trait that it stops or begins to name; others by the aggregate that opens, or by the
trait that hosts get or lose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from osc_traitsched.core.change.cloud_model import CloudModel
from osc_traitsched.core.change.impact import Effect
from osc_traitsched.core.change.model import Change
from osc_traitsched.core.inventory.metadata import (
    REQUIRED,
    Collation,
    requires,
)
from osc_traitsched.core.nova.filter import special
from osc_traitsched.text import listed, quoted, ranges, visible

_NONE: frozenset[str] = frozenset()

#: A noun and a name, such as a flavor's; or what needs no name.
_Who = tuple[str, str]
_ANY_SERVER: _Who = "", "any server"
_OF_PROJECTS: _Who = "", f"any server, with {special.PROJECT} of its projects,"
_ANY_PROJECT: _Who = "", "servers of any project"


def lets_in(
    effects: Sequence[Effect], now: CloudModel, then: CloudModel, collation: Collation
) -> dict[str, str]:
    """A line for each aggregate or trait that lets servers in, by its name."""
    view = _View(now, then, collation)
    effects = [effect for effect in effects if effect.asked.is_general]
    alone = {e.flavor: e.ever.gained for e in effects if e.asked.image is None}
    for effect in effects:
        # An image adds nothing to what the flavor gains alone.
        if not effect.asked.image or effect.ever.gained - alone.get(
            effect.flavor, _NONE
        ):
            view.add(effect)
    return {subject: view.line(subject) for subject in sorted(view.found)}


def lines_on(change: Change, lines: Mapping[str, str]) -> str:
    """The lines on the aggregate or the traits of a change."""
    keys = (key.rpartition(":")[2] for key in change.added | change.removed)
    names = {change.object.name, *keys}
    return "; ".join(line for name, line in lines.items() if name in names)


class _View:
    """Roots of hosts, by aggregate or trait, and by who may land there.

    :ivar opened: of each aggregate, those that its isolation keeps others out of no
        longer
    """

    def __init__(self, now: CloudModel, then: CloudModel, collation: Collation) -> None:
        self.found: dict[str, dict[_Who, frozenset[str]]] = {}
        self._now, self._then, self._isolated = now, then, _NONE
        self._opened: dict[str, frozenset[str]] = {}
        self._any: dict[str, _Who] = {}
        nodes = now.snapshot.nova.by_service_host
        there = frozenset(now.snapshot.by_uuid)
        for aggregate in then.aggregates:
            both, name = (now.aggregate(aggregate.id), aggregate), aggregate.name
            before, after = (
                there.intersection(
                    n.uuid for host in a.hosts for n in nodes.get(host, ())
                )
                for a in both
            )
            traits, left = ({*a.isolated_by(collation)} for a in both)
            if traits:
                stay = _NONE if traits - left else after
                self._opened[name] = before - stay
            if left:
                self._isolated |= after
            named, names = (a.project_ids for a in both)
            self._any[name] = _OF_PROJECTS if names else _ANY_SERVER
            if named and not names:
                self._keep(name, _ANY_PROJECT, after)
            for project in sorted(names - named) if named else ():
                self._keep(name, ("servers of project", project), after)
        self._named = {
            body["name"]: {requires(key, REQUIRED) for key in body["extra_specs"]}
            for body in then.flavors
        }

    def _keep(self, subject: str, who: _Who, roots: frozenset[str]) -> None:
        if roots:
            hosts = self.found.setdefault(subject, {})
            hosts[who] = hosts.get(who, _NONE) | roots

    def add(self, effect: Effect) -> None:
        """Add what lets a flavor or an image in."""
        asked, gained = effect.asked, effect.ever.gained
        named = self._named[asked.flavor]
        who = ("image", asked.image) if asked.image else ("flavor", asked.flavor)
        if effect.own:
            for name in (effect.own - named or effect.own) if gained else ():
                self._keep(name, who, effect.ever.then)
            return
        for name, opened in self._opened.items():
            theirs = gained & opened
            self._keep(
                name, who if theirs & self._isolated else self._any[name], theirs
            )
            gained -= theirs
        for uuid, keys in self._then.changed.items():
            for name in keys.keys() & named:
                root = self._now.snapshot.by_uuid[uuid].root
                self._keep(name, who, gained & {root})

    def line(self, subject: str) -> str:
        """A line such as ``gold (cmp00): any server may land here``."""
        whom = self.found[subject]
        whom = {w: whom[w] for w in (_ANY_SERVER, _OF_PROJECTS) if w in whom} or whom
        by_hosts: dict[tuple[frozenset[str], str], list[str]] = {}
        for (noun, name), roots in whom.items():
            by_hosts.setdefault((roots, noun), []).append(name)
        said = [
            (listed(map(quoted, names), noun) if noun else names[0], self._where(roots))
            for (roots, noun), names in by_hosts.items()
        ]
        if subject in self._any:
            hosts = ranges(self._now.snapshot.names_of(_NONE.union(*whom.values())))
            who = listed(who for who, _ in said)
            return f"{visible(subject)} ({hosts}): {who} may land here"
        parts = (f"{who} may land on {where}" for who, where in said)
        return f"{visible(subject)}: {'; '.join(parts)}"

    def _where(self, roots: frozenset[str]) -> str:
        hosts = frozenset(host.uuid for host in self._now.snapshot.hosts)
        if roots >= hosts:
            return "any host"
        if roots >= hosts - self._isolated:
            return "any host that is not isolated"
        return ranges(self._now.snapshot.names_of(roots))
