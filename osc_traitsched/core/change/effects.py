"""What a plan does to flavors and to servers, in words."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.change.cloud_model import CloudModel
from osc_traitsched.core.change.impact import Effect, HostSets, most_general
from osc_traitsched.core.change.model import Change
from osc_traitsched.core.inventory.trait import REQUIRED, Collation, requires
from osc_traitsched.core.nova.filter import special
from osc_traitsched.text import (
    ALL,
    FEW,
    SCREEN,
    agreed,
    by_key,
    count,
    listed,
    quoted,
    ranges,
    visible,
)

# What becomes of the hosts that flavors can use, in words.


_MOMENT = "may find no host for a moment"


def losses(effects: Iterable[Effect]) -> list[str]:
    """A line for the flavors of each kind that lose hosts.

    Zones and projects only if they lose the last one.
    """
    found = tuple(effects)
    without_host = most_general([each for each in found if each.leaves_no_host])
    stranded = {each.asked for each in without_host}
    told = (e for e in found if e.asked.is_general or e.asked in stranded)
    losing = (each for each in told if each.room.loses_any or each.ever.loses_any)
    return [f"{_flavors(kind)}: {_hosts(kind[0])}" for kind in _kinds(losing)]


def moments(effects: Iterable[Effect]) -> list[str]:
    """Return a line for flavors that may lack a host while a plan is carried out."""
    found = most_general([each for each in effects if each.for_a_moment])
    return [
        f"{_flavors(kind)} {_MOMENT}, while this is written" for kind in _kinds(found)
    ]


def lines(effects: Sequence[Effect], folds: bool) -> list[str]:
    """The lines of :func:`losses` and :func:`moments`.

    :param folds: one of each if they don't fit on three lines of a terminal; flavors
        without a host are left to the refusal then
    """
    every = [*losses(effects), *moments(effects)]
    return [*_folded(effects)] if folds and sum(map(len, every)) > SCREEN else every


def _folded(effects: Iterable[Effect]) -> Iterator[str]:
    kinds: dict[str, dict[str, None]] = {"loses hosts": {}, _MOMENT: {}}
    for effect in effects:
        loses = effect.room.loses_any or effect.ever.loses_any
        if effect.asked.is_general and loses and not effect.leaves_no_host:
            kinds["loses hosts"][effect.flavor] = None
        if effect.for_a_moment:
            kinds[_MOMENT][effect.flavor] = None
    for clause, flavors in kinds.items():
        if flavors:
            who = count(len(flavors), "flavor")
            names = listed(map(quoted, flavors), most=FEW)
            yield f"{who} {agreed(clause, len(flavors))}: {names}"


def _hosts(effect: Effect) -> str:
    room, ever = _arrow(effect.room), _arrow(effect.ever)
    said = f"hosts with room {room}"
    return said if room == ever else f"{said}, all suitable hosts {ever}"


def _arrow(hosts: HostSets) -> str:
    new = f" ({len(hosts.gained)} new)" if hosts.gained else ""
    return f"{len(hosts.now)} -> {len(hosts.then)}{new}"


def _kinds(effects: Iterable[Effect]) -> list[list[Effect]]:
    kinds: dict[tuple[object, ...], list[Effect]] = {}
    for effect in effects:
        sets = (
            found
            for course in (effect.room, effect.ever)
            for found in (course.now, course.then, course.now & course.then)
        )
        numbers = tuple(map(len, sets))
        kinds.setdefault((_circumstances(effect), numbers), []).append(effect)
    return list(kinds.values())


def _flavors(effects: Sequence[Effect]) -> str:
    flavors = listed((quoted(effect.flavor) for effect in effects), "flavor", ALL)
    return f"{flavors}{_circumstances(effects[0])}"


def _circumstances(effect: Effect, folds: bool = False) -> str:
    return "".join(f" {each}" for each in _each_circumstance(effect, folds))


def _each_circumstance(effect: Effect, folds: bool) -> Iterator[str]:
    asked = effect.asked
    if asked.image is not None:
        yield "with an image" if folds else f"with image {quoted(asked.image)}"
    if asked.context.zone is not None:
        yield f"in zone {quoted(asked.context.zone)}"
    if asked.context.outside:
        yield "in the default zone"
    if asked.context.answer and asked.context.project is None:
        yield f"for projects that no aggregate names ({special.PROJECT})"
    if effect.projects:
        most = FEW if folds else ALL
        names = (quoted(effect.project_names.get(p, p)) for p in effect.projects)
        yield f"for {listed(names, 'project', most)}"


def _left_without(effects: Sequence[Effect], will: str) -> str:
    kinds = {
        f"no host {will} be left": [e for e in effects if e.is_for_good],
        f"no host that can take one now {will} be left": [
            e for e in effects if e.room.becomes_empty and not e.is_for_good
        ],
        f"no enabled host {will} be left": [
            e for e in effects if not (e.room.becomes_empty or e.is_for_good)
        ],
    }
    return "; ".join(f"{what} for {_stranded(of)}" for what, of in kinds.items() if of)


def _stranded(effects: Iterable[Effect]) -> str:
    kinds = _kinds(effects)
    return "; ".join(f"{_flavors(kind)}{_of_those(kind[0])}" for kind in kinds)


def _of_those(effect: Effect) -> str:
    room, ever = len(effect.room.now), len(effect.ever.now)
    if room == ever:
        return ""
    left = len((effect.ever.now & effect.ever.then) - effect.room.now)
    others = f"; {left} full or disabled would be left" if left else ""
    return f" ({count(ever, 'host')} could ever take one, {room or 'none'} now{others})"


class LeavesNoHost(errors.AnswerIsNo):
    """Flavors that have a host now would lose their last one."""

    def __init__(self, effects: Iterable[Effect]) -> None:
        self.effects = most_general(tuple(effects))

    @property
    def brief(self) -> str:
        """How many flavors, by what they lose; names of three at most."""
        kinds: dict[str, dict[str, set[str]]] = {}
        for effect in self.effects:
            kind = kinds.setdefault(_last_host(effect), {})
            where = _circumstances(effect, folds=True)
            kind.setdefault(where, set()).add(effect.flavor)
        return "; ".join(_counted(*kind) for kind in kinds.items())

    def __str__(self) -> str:
        reasons = _left_without(self.effects, "would")
        return f"Refused: {reasons}; --force overrides this"


def _last_host(effect: Effect) -> str:
    if effect.is_for_good:
        return "last host"
    return "last host with room" if effect.room.becomes_empty else "last enabled host"


def _counted(what: str, kinds: Mapping[str, set[str]]) -> str:
    (where, first), *others = sorted(kinds.items(), key=lambda kind: -len(kind[1]))
    who = count(len(first), "flavor")
    if len(first) <= FEW:
        who = listed(map(quoted, sorted(first)), "flavor")
    its = "its" if len(first) == 1 else "their"
    counts = ((len(flavors), also or " overall") for also, flavors in others)
    more = "".join(f", {number}{also}" for number, also in [*counts][: FEW - 1])
    if len(others) >= FEW:
        more += f" and {count(len(others) - FEW + 1, 'more case')}"
    return f"{who} would lose {its} {what}{where}{more}"


# Servers that exist, and what a plan does to them.


@dataclasses.dataclass(frozen=True)
class Server:
    """A server on a host.

    :ivar host: the service host; empty without one, as for a shelved server
    :ivar of_flavor: traits that its own flavor copy requires; None if a policy hides it
    :ivar of_image: traits that its image requires now; None without an image
    """

    id: str
    name: str
    host: str
    project: str
    of_flavor: frozenset[str] | None
    of_image: frozenset[str] | None = frozenset()

    @property
    def required(self) -> frozenset[str]:
        """The traits that it is known to require."""
        return (self.of_flavor or frozenset()) | (self.of_image or frozenset())

    @property
    def is_known_whole(self) -> bool:
        """Whether it is known to require no other traits."""
        return self.of_flavor is not None and self.of_image is not None


@dataclasses.dataclass(frozen=True)
class MisplacedServers:
    """Servers on the other side of an isolation than new ones would be.

    :ivar inside: those in the aggregate that do not require all of the traits
    :ivar outside: those that do, on other hosts with the traits
    :ivar unknown: those whose flavor's requirements a policy hides
    :ivar without_image: those whose image's requirements are not known
    """

    inside: tuple[Server, ...] = ()
    outside: tuple[Server, ...] = ()
    unknown: tuple[Server, ...] = ()
    without_image: tuple[Server, ...] = ()
    traits: tuple[str, ...] = ()


def misplaced(
    names: Iterable[str], inside: Iterable[Server], outside: Iterable[Server]
) -> MisplacedServers:
    """Servers that stay on the other side of an isolation than new ones would be."""
    names, inside, outside = tuple(names), tuple(inside), tuple(outside)
    wanted = frozenset(names)
    free = [s for s in (*inside, *outside) if not s.required >= wanted]
    return MisplacedServers(
        inside=tuple(
            s for s in inside if s.is_known_whole and not s.required >= wanted
        ),
        outside=tuple(s for s in outside if s.required >= wanted),
        unknown=tuple(s for s in free if s.of_flavor is None),
        without_image=tuple(
            s for s in free if s.of_flavor is not None and s.of_image is None
        ),
        traits=names,
    )


def image_unseen(found: Sequence[Server]) -> str:
    """A line on servers whose image may require traits that no API shows."""
    return (
        "what the image requires can't be seen, since it was deleted or the server "
        f"boots from a volume, of {count(len(found), 'server')}: "
        + listed(map(named, found), most=ALL)
    )


def brief_name(found: Server) -> str:
    """A server's name and host, without its ID."""
    return f"{quoted(found.name)} ({visible(found.host) or 'no host'})"


def named(found: Server) -> str:
    """Return how one server is named: its name can be any project's choice."""
    host = visible(found.host) if found.host else "no host"
    return f"{quoted(found.name)} ({found.id}, on {host})"


# What may land where once a plan is carried out, and may not now.


_NONE: frozenset[str] = frozenset()

#: A noun and a name, such as a flavor's; or what needs no name.
_Who = tuple[str, str]
_ANY_SERVER: _Who = "", "any server"
_OF_PROJECTS: _Who = "", f"any server, with {special.PROJECT} of its projects,"
_ANY_PROJECT: _Who = "", "servers of any project"


def lets_in(
    effects: Sequence[Effect],
    now: CloudModel,
    then: CloudModel,
    collation: Collation,
    most: int = ALL,
) -> dict[str, str]:
    """A line for each aggregate or trait that lets servers in, by its name.

    :param most: how many flavors, images or projects are named
    """
    view = _View(now, then, collation)
    effects = [effect for effect in effects if effect.asked.is_general]
    alone = {e.flavor: e.ever.gained for e in effects if e.asked.image is None}
    for effect in effects:
        # An image adds nothing to what the flavor gains alone.
        if not effect.asked.image or effect.ever.gained - alone.get(
            effect.flavor, _NONE
        ):
            view.add(effect)
    return {subject: view.line(subject, most) for subject in sorted(view.found)}


def lines_on(change: Change, lines: Mapping[str, str]) -> str:
    """The lines on the aggregate or the traits of a change."""
    keys = (key.rpartition(":")[2] for key in change.added | change.removed)
    names = {change.object.name, *keys}
    return "; ".join(line for name, line in lines.items() if name in names)


class _View:
    """Roots of hosts, by aggregate or trait, and by who may land there.

    :ivar opened: by aggregate, those that its isolation no longer closes to others
    """

    def __init__(self, now: CloudModel, then: CloudModel, collation: Collation) -> None:
        self.found: dict[str, dict[_Who, frozenset[str]]] = {}
        self._now, self._then, self._isolated = now, then, _NONE
        self._opened: dict[str, frozenset[str]] = {}
        self._any: dict[str, _Who] = {}
        self._gaining: dict[str, set[str]] = {}
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
        asked, gained = effect.asked, effect.ever.gained
        named = self._named[asked.flavor]
        who = ("image", asked.image) if asked.image else ("flavor", asked.flavor)
        if effect.own:
            for name in (effect.own - named or effect.own) if gained else ():
                self._keep(name, who, effect.ever.then)
            return
        for name, opened in self._opened.items():
            theirs = gained & opened
            if theirs:
                self._gaining.setdefault(name, set()).add(asked.flavor)
            self._keep(
                name, who if theirs & self._isolated else self._any[name], theirs
            )
            gained -= theirs
        for uuid, keys in self._then.changed.items():
            for name in keys.keys() & named:
                root = self._now.snapshot.by_uuid[uuid].root
                self._keep(name, who, gained & {root})

    def line(self, subject: str, most: int) -> str:
        """A line such as ``gold (h): any server may land here, 9 more flavors``."""
        whom = self.found[subject]
        whom = {w: whom[w] for w in (_ANY_SERVER, _OF_PROJECTS) if w in whom} or whom
        by_hosts = by_key(
            ((roots, noun), name) for ((noun, name), roots) in whom.items()
        )
        said = [
            (
                listed(map(quoted, names), noun, most) if noun else names[0],
                self._where(roots),
            )
            for (roots, noun), names in by_hosts.items()
        ]
        if subject in self._any:
            hosts = ranges(self._now.snapshot.names_of(_NONE.union(*whom.values())))
            who = listed(who for who, _ in said)
            new = self._gaining[subject] if self._any[subject] in whom else ()
            more = f", {count(len(new), 'more flavor')}" if new else ""
            return f"{visible(subject)} ({hosts}): {who} may land here{more}"
        parts = (f"{who} may land on {where}" for who, where in said)
        return f"{visible(subject)}: {'; '.join(parts)}"

    def _where(self, roots: frozenset[str]) -> str:
        hosts = frozenset(host.uuid for host in self._now.snapshot.hosts)
        if roots >= hosts:
            return "any host"
        if roots >= hosts - self._isolated:
            return "any host that is not isolated"
        return ranges(self._now.snapshot.names_of(roots))
