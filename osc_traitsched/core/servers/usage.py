"""What needs a trait, and what a host has and could take."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from osc_traitsched.core.answer import Answer, Reason
from osc_traitsched.core.change.effects import Server
from osc_traitsched.core.change.traits import Requirer
from osc_traitsched.core.difference import Since, of_flavor
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.snapshot import (
    Aggregate,
    Compute,
    Nova,
    Provider,
    Selectors,
    Snapshot,
)
from osc_traitsched.core.inventory.trait import AggregatePolicy, Collation
from osc_traitsched.core.judge.capacity import FlavorFit, suited
from osc_traitsched.core.judge.judgement import Judgement, RefusedRequest, RequestResult
from osc_traitsched.core.judge.reasons import Stranded
from osc_traitsched.core.placement import facts as amounts
from osc_traitsched.core.placement.facts import Facts, Figures, Room, Stock
from osc_traitsched.core.servers.drain import Drain

# How many more servers fit: what is asked, and the whole answer.


#: How rooms can be divided.
GROUPINGS = ("zone", "aggregate", "host")


@dataclasses.dataclass(frozen=True)
class CapacityQuery:
    """What to count.

    :ivar flavors: names or IDs; if empty, all public flavors
    :ivar with_private: without names, private flavors too
    :ivar by: one of :data:`GROUPINGS`, or None
    :ivar without: hosts to take away
    :ivar added: how many more hosts like a host, by its name
    :ivar set_then: the other settings of ``after``: files, options with values, and
        allocation ratios
    :ivar at_least: so many servers of each flavor are to fit
    :ivar all_enabled: as if all compute services were enabled and up
    :ivar lose: hosts, zones or aggregates, or globs, to lose one at a time; or
        ``any-host``, ``any-zone`` and ``any-aggregate``
    :ivar host: to count on this host alone
    """

    flavors: tuple[str, ...] = ()
    with_private: bool = False
    by: str | None = None
    without: Selectors = dataclasses.field(default_factory=Selectors)
    added: Mapping[str, int] = dataclasses.field(default_factory=dict)
    set_then: tuple[str, ...] = ()
    at_least: int = 0
    all_enabled: bool = False
    lose: tuple[str, ...] = ()
    host: str = ""


@dataclasses.dataclass(frozen=True)
class Capacity:
    """How many more servers fit.

    :ivar flavors: in the order of the names; those that Nova or Placement rejects are
        in ``rejected``
    :ivar removed: names of the hosts that are taken away
    :ivar drain: where the servers of these hosts would go; None if none are taken away
    :ivar empty_unread: hosts whose capacity was not read
    :ivar facts: the reading; None if no flavor could be judged
    :ivar since: the hosts of the only flavor when a snapshot was saved; else None
    """

    query: CapacityQuery
    flavors: tuple[FlavorFit, ...]
    rejected: tuple[RefusedRequest, ...] = ()
    stranded: tuple[Stranded, ...] = ()
    removed: tuple[str, ...] = ()
    drain: Drain | None = None
    empty_unread: int = 0
    facts: Facts | None = None
    since: Since | None = None

    @property
    def judgements(self) -> tuple[RequestResult, ...]:
        """Of all flavors, the rejected ones last."""
        return (*(each.judgement for each in self.flavors), *self.rejected)

    def names(self, roots: Collection[str]) -> list[str]:
        """Names of hosts."""
        return sorted(self.facts.snapshot.names_of(roots)) if self.facts else []

    @property
    def is_change(self) -> bool:
        """Whether there is a before and an after."""
        return bool(self.removed or self.query.added or self.query.set_then)

    @property
    def enough(self) -> Answer:
        """Whether as many servers of each flavor fit as are wanted, or any of one."""
        wanted = self.query.at_least
        if not wanted:
            return Answer.best(each.answer for each in self.flavors)
        rooms = [(each, each.after or each.room) for each in self.flavors]
        if self.rejected or any(
            room.most < wanted and not each.may_gain for each, room in rooms
        ):
            return Answer.NO
        is_sure = all(room.least >= wanted for _, room in rooms)
        return Answer.YES if is_sure else Answer.UNKNOWN

    @property
    def reason(self) -> Reason | None:
        """The first reason of the flavors that are short, or of all if none is."""
        judged = [
            each.judgement
            for each in self.flavors
            if (each.after or each.room).least < self.query.at_least
        ]
        judged += self.rejected if self.query.at_least else ()
        several = judged or (each.judgement for each in self.flavors)
        return Reason.first(each.reason for each in several)

    @property
    def room_for_all(self) -> Answer:
        """Whether there is room for a server of each flavor."""
        full = [each.answer for each in self.flavors if not each.room.most]
        return Answer.worst([*full, *([Answer.NO] if self.rejected else ())])

    @property
    def answer(self) -> Answer:
        """Whether :attr:`enough` fit, and all servers of lost hosts find another.

        Without a flavor of interest, the servers alone count.
        """
        if self.drain is None:
            return self.enough
        wanted = [self.enough] if self.query.flavors else []
        return Answer.worst([self.drain.answer, *wanted])

    def compared(self, then: Capacity) -> Capacity:
        """The numbers with those of the same flavors with other settings."""
        later = {each.judgement.question.flavor["id"]: each for each in then.flavors}
        flavors, ids = [], {each["id"] for each in map(_flavor, then.flavors)}
        rescued = [e for e in self.rejected if e.question.flavor["id"] in ids]
        for fit in (*self.flavors, *(FlavorFit(e, {}, Room(0, 0)) for e in rescued)):
            other = later.get(fit.judgement.question.flavor["id"])
            room = (other.after or other.room) if other else Room(0, 0)
            flavors.append(dataclasses.replace(fit, then=other, after=room))
        rejected = tuple(each for each in self.rejected if each not in rescued)
        return dataclasses.replace(self, flavors=tuple(flavors), rejected=rejected)


def _flavor(fit: FlavorFit) -> Mapping[str, object]:
    return fit.judgement.question.flavor


# What would be lost with a host, a zone or an aggregate.


@dataclasses.dataclass(frozen=True)
class Loss:
    """What becomes of servers and flavors if hosts are lost together.

    :ivar kind: one of :data:`GROUPINGS`
    :ivar drain: where the servers would go
    :ivar full: flavors that have room now, and would have none
    """

    kind: str
    name: str
    drain: Drain
    full: tuple[str, ...] = ()

    @property
    def stay(self) -> Room:
        """How many servers would find no host."""
        sure = len(self.drain.stuck) - len(self.drain.dependent)
        return Room(sure, len(self.drain.stuck) + len(self.drain.uncertain))

    @property
    def staying(self) -> tuple[str, ...]:
        """Names of these servers."""
        moves = [each.server_move for each in self.drain.stuck]
        moves += [each.server_move for each in self.drain.uncertain]
        return tuple(move.state.name for move in moves)


@dataclasses.dataclass(frozen=True)
class Losses:
    """What becomes of a cloud if one of several hosts, zones or aggregates is lost.

    :ivar now: how many servers of the flavors fit now
    :ivar several: the worst first
    """

    now: Capacity
    several: tuple[Loss, ...]

    @property
    def answer(self) -> Answer:
        """Whether any one of them can be lost."""
        return Answer.worst(each.drain.answer for each in self.several)

    @property
    def worst(self) -> tuple[Loss, ...]:
        """Those that decide about the answer."""
        answer = self.answer
        return tuple(each for each in self.several if each.drain.answer is answer)


# What needs a trait, and what a host has and could take.


# Who has a trait, and who needs it.


@dataclasses.dataclass(frozen=True)
class TraitUse:
    """A trait of a cloud.

    :ivar holders: providers that have it, nested ones too
    :ivar requiring: flavors, images and aggregates that require it
    :ivar servers: existing servers that require it, or why they can't be read
    """

    name: str
    snapshot: Snapshot
    holders: tuple[Provider, ...] = ()
    requiring: tuple[Requirer, ...] = ()
    forbidding: tuple[Requirer, ...] = ()
    servers: tuple[Server, ...] | CloudBroke = ()

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names of the hosts that have it in their tree."""
        roots = {provider.root for provider in self.holders}
        return tuple(each.name for each in self.snapshot.hosts if each.uuid in roots)

    @property
    def others(self) -> tuple[str, ...]:
        """Names of the holders that belong to no host, such as storage pools."""
        roots = {host.uuid for host in self.snapshot.hosts}
        return tuple(each.name for each in self.holders if each.root not in roots)

    def of_kind(self, kind: str) -> tuple[Requirer, ...]:
        """What requires it, of one kind: ``flavor``, ``image`` or ``aggregate``."""
        return tuple(each for each in self.requiring if each.kind == kind)

    @property
    def misplaced(self) -> tuple[Server, ...]:
        """Servers that require it on a host without it."""
        if isinstance(self.servers, CloudBroke):
            return ()
        names = set(self.hosts)
        nodes = self.snapshot.nova.computes
        having = {each.service_host for each in nodes if each.node in names}
        on_hosts = (each for each in self.servers if each.host)
        return tuple(each for each in on_hosts if each.host not in having)


# What a flavor needs, and where it fits.


@dataclasses.dataclass(frozen=True)
class FlavorView:
    """A flavor: hosts that suit it, its servers, and images that can't go with it.

    :ivar capacity: of this flavor alone, by zone
    :ivar servers: names by state, or why they can't be read
    :ivar images: the flavor judged with public images, by name; or why they can't be
        read
    :ivar unjudged: how many images were not judged
    :ivar projects: that may use it, by name; None for all
    """

    capacity: Capacity
    servers: Mapping[str, tuple[str, ...]] | CloudBroke
    projects: tuple[str, ...] | CloudBroke | None
    images: Mapping[str, RequestResult] | CloudBroke = dataclasses.field(
        default_factory=dict
    )
    unjudged: int = 0

    @property
    def judgement(self) -> RequestResult:
        """Of the request's image."""
        return self.capacity.judgements[0]

    @property
    def fit(self) -> FlavorFit | None:
        """None if Nova or Placement rejects the flavor."""
        return next(iter(self.capacity.flavors), None)

    @property
    def answer(self) -> Answer:
        """Whether another server fits."""
        return self.fit.answer if self.fit else Answer.NO

    @property
    def unusable_images(self) -> Mapping[str, RequestResult]:
        """Images with which no host suits the flavor, or Nova rejects it, by name."""
        images = {} if isinstance(self.images, CloudBroke) else self.images
        return {
            name: judgement
            for name, judgement in sorted(images.items())
            if judgement.refusal or not (suited(judgement) or judgement.open.gained)
        }


class FlavorDifference(NamedTuple):
    """A size or an extra spec that differs.

    :ivar values: of each flavor; None if it has none
    """

    key: str
    values: tuple[object, ...]
    is_extra_spec: bool


@dataclasses.dataclass(frozen=True)
class FlavorsView:
    """Flavors side by side.

    :ivar capacity: of these flavors alone
    """

    capacity: Capacity

    @property
    def fits(self) -> tuple[FlavorFit, ...]:
        """In the order in which they were named; without hosts if rejected."""
        found = self.capacity
        rejected = (FlavorFit(each, {}, Room(0, 0)) for each in found.rejected)
        bodies = [(_flavor(fit), fit) for fit in (*found.flavors, *rejected)]
        known = {str(body["id"]): fit for body, fit in bodies}
        return tuple(known[identity] for identity in dict.fromkeys(found.query.flavors))

    @property
    def differences(self) -> tuple[FlavorDifference, ...]:
        """What differs: sizes, then extra specs, which may be named like sizes."""
        sizes = [dict(of_flavor(_flavor(fit))) for fit in self.fits]
        specs = [own.pop("extra_specs") for own in sizes]
        return (*_differing(sizes, False), *_differing(specs, True))

    @property
    def answer(self) -> Answer:
        """Whether another server of each fits."""
        return Answer.worst(fit.answer for fit in self.fits)


def _differing(
    several: Sequence[Mapping[str, object]], are_extra_specs: bool
) -> Iterator[FlavorDifference]:
    for key in dict.fromkeys(itertools.chain.from_iterable(several)):
        values = tuple(own.get(key) for own in several)
        if any(value != values[0] for value in values):
            yield FlavorDifference(key, values, are_extra_specs)


@dataclasses.dataclass(frozen=True)
class ImageView:
    """An image: the hosts that could run it with some flavor, and its servers.

    :ivar capacity: of all flavors with the image
    :ivar servers: names by state, or why they can't be read
    :ivar since: the hosts when a snapshot was saved; None without one
    """

    capacity: Capacity
    servers: Mapping[str, tuple[str, ...]] | CloudBroke
    since: Since | None = None

    @property
    def image(self) -> Mapping[str, object]:
        """Its body."""
        return self.capacity.judgements[0].question.image or {}

    @functools.cached_property
    def now(self) -> frozenset[str]:
        """Roots of the hosts with room for some flavor."""
        return frozenset[str]().union(*(fit.hosts for fit in self.capacity.flavors))

    @functools.cached_property
    def suited(self) -> frozenset[str]:
        """Roots of the hosts that some flavor suits, also if they are full."""
        return self.now.union(*(fit.suited for fit in self.capacity.flavors))


# What a host has, and what it could take.


@dataclasses.dataclass(frozen=True)
class Oddity:
    """A figure of a host's inventory that differs from most equal hosts.

    :ivar figure: ``total``, ``reserved`` or ``allocation ratio``
    :ivar peers: how many hosts with the same hardware have the usual value
    """

    resource_class: str
    figure: str
    value: float
    usual: float
    peers: int


@dataclasses.dataclass(frozen=True)
class HostView:
    """A host, from its providers in Placement to its servers.

    :ivar compute: None if Nova does not list the host
    :ivar tree: its providers, root first
    :ivar stock: their inventories, by provider UUID, as ``traits``
    :ivar servers: names, or why they can't be read
    :ivar capacity: of all flavors and hosts
    :ivar projects: names by ID, if Keystone tells those of its aggregates
    :ivar if_enabled: judged as if its service were enabled and up
    :ivar peer: a working host with as much hardware and aggregates, or empty
    :ivar is_exclusive: a filter keeps servers of other projects away
    :ivar down_since: when its service was last seen; empty if it is up
    """

    host: Provider
    compute: Compute | None
    aggregates: tuple[Aggregate, ...]
    tree: tuple[Provider, ...]
    stock: Figures
    traits: Mapping[str, frozenset[str]]
    servers: tuple[str, ...] | CloudBroke
    capacity: Capacity
    oddities: tuple[Oddity, ...] = ()
    projects: Mapping[str, str] = dataclasses.field(default_factory=dict)
    if_enabled: bool = False
    peer: str = ""
    is_exclusive: bool = False
    down_since: str = ""
    nodes: int = 1

    @property
    def own_projects(self) -> tuple[str, ...]:
        """Names of the projects that its aggregates are for."""
        ids = frozenset[str]().union(*(each.project_ids for each in self.aggregates))
        return tuple(sorted(self.projects.get(identity, identity) for identity in ids))

    @property
    def fits(self) -> Mapping[str, Room]:
        """How many more servers of a flavor fit, by its name, the most first."""
        found = [
            (fit.name, fit.hosts[self.host.uuid].room)
            for fit in self.capacity.flavors
            if self.host.uuid in fit.hosts and fit.judgement.refusal is None
        ]
        return dict(sorted(found, key=lambda each: (-each[1].most, each[0])))

    @property
    def sure(self) -> tuple[str, ...]:
        """The flavors of which a server fits whatever filters decide."""
        return tuple(name for name, room in self.fits.items() if room.least)

    @property
    def deciding(self) -> tuple[str, ...]:
        """Filters and unknown options that may reject the host for flavors that fit."""
        uuid, flavors = self.host.uuid, self.capacity.flavors
        fits = [
            each.judgement
            for each in flavors
            if uuid in each.hosts and isinstance(each.judgement, Judgement)
        ]
        names = (
            (*e.candidates.deciding([uuid]), *e.open.of_hosts([uuid])) for e in fits
        )
        return tuple(dict.fromkeys(itertools.chain.from_iterable(names)))

    @property
    def unfit(self) -> tuple[Judgement, ...]:
        """The other flavors that Nova accepts, each judged on all hosts."""
        fits = self.fits
        return tuple(
            each.judgement
            for each in self.capacity.flavors
            if each.name not in fits and isinstance(each.judgement, Judgement)
        )

    @property
    def reasons(self) -> Mapping[str, Reason]:
        """Why each other flavor does not fit on the host, by its name."""
        uuid, rejected = self.host.uuid, self.capacity.rejected
        of_hosts = {
            each.question.flavor["name"]: each.with_stock(self.stock).reason_of(uuid)
            for each in self.unfit
        }
        return of_hosts | {e.question.flavor["name"]: e.reason for e in rejected}

    @property
    def open(self) -> tuple[Judgement, ...]:
        """The flavors that fit if an unknown option has another value."""
        root = self.host.uuid
        return tuple(e for e in self.unfit if e.answer_of(root) is Answer.DEPENDS)

    @property
    def answer(self) -> Answer:
        """Whether a server of any flavor fits."""
        if self.sure:
            return Answer.YES
        root, fits = self.host.uuid, self.fits
        judgements = [e.judgement for e in self.capacity.flavors if e.name in fits]
        if self.open or any(each.open.of_hosts([root]) for each in judgements):
            return Answer.DEPENDS
        return Answer.UNKNOWN if fits else Answer.NO

    @property
    def leaked(self) -> int:
        """MB of memory that Placement counts there, and that no server uses."""
        own = self.stock.get(self.host.uuid, {})
        return amounts.leaked(self.compute, own) if self.compute else 0


def like(host: Compute, nova: Nova) -> str:
    """Name of the first working host with the same hardware and open aggregates.

    Empty if such hosts are not all in the same aggregates: any would be a guess.
    """
    policies = [(AggregatePolicy.read(e.metadata), e.hosts) for e in nova.aggregates]
    closed = {name for policy, hosts in policies if policy.is_closed for name in hosts}
    inside = {name for _, hosts in policies for name in hosts} - closed
    peers = [
        peer
        for peer in nova.computes
        if peer.service_host in inside and peer.is_up and peer.is_enabled
        if _hardware(peer) == _hardware(host)
    ]
    places = {
        tuple(peer.service_host in hosts for _, hosts in policies) for peer in peers
    }
    return min(peer.node for peer in peers) if len(places) == 1 else ""


def _hardware(host: Compute) -> list[object]:
    return [getattr(host.report, name, None) for name in _REPORTED.values()]


def usual_peer(
    host: Compute, resource_class: str, computes: Iterable[Compute], stock: Figures
) -> tuple[str, int] | None:
    """A peer with the usual capacity of a class, if this host's is another one.

    :param computes: all; peers are those whose nova-compute reports as much hardware
    :returns: its root's UUID, and how many peers have that capacity
    """
    column = _REPORTED.get(resource_class)
    if column is None or host.report is None:
        return None
    size = getattr(host.report, column)
    peers: dict[int, list[str]] = {}
    for each in computes:
        known = stock.get(each.uuid, {}).get(resource_class)
        is_equal = getattr(each.report, column, None) == size
        if each.uuid != host.uuid and is_equal and known is not None:
            peers.setdefault(known.capacity, []).append(each.uuid)
    if not peers:
        return None
    usual = max(sorted(peers), key=lambda capacity: len(peers[capacity]))
    is_usual = len(peers[usual]) * 2 > sum(map(len, peers.values()))
    own = stock[host.uuid][resource_class].capacity
    if own == usual or not is_usual or len(peers[usual]) < _FEWEST_PEERS:
        return None
    return min(peers[usual]), len(peers[usual])


#: Columns of a hypervisor that say how much hardware of a class it has.
_REPORTED = {"VCPU": "vcpus", "MEMORY_MB": "memory_mb", "DISK_GB": "local_gb"}
#: One other host is no majority.
_FEWEST_PEERS = 2


def oddities(
    resource_class: str, own: Stock, usual: Stock, peers: int
) -> Iterator[Oddity]:
    """The figures in which an inventory differs from the usual one."""
    figures = {
        "total": (own.total, usual.total),
        "reserved": (own.reserved, usual.reserved),
        "allocation ratio": (own.ratio, usual.ratio),
    }
    for figure, (value, other) in figures.items():
        if value is not None and other is not None and value != other:
            yield Oddity(resource_class, figure, value, other, peers)


# How full hosts are, and what is odd about them.


class HostUse(NamedTuple):
    """The RAM of a host, and what is odd about it.

    :ivar ram: its inventories of RAM
    :ivar unusable: why most flavors can't use it: disabled, down, isolated; or empty
    :ivar is_full: no flavor fits, and one would if the host were empty
    """

    name: str
    zones: tuple[str, ...]
    ram: Sequence[Stock]
    unusable: str
    is_full: bool


def host_uses(
    room: Capacity, facts: Facts, held: Mapping[str, frozenset[str]], isolates: bool
) -> Iterator[HostUse]:
    """All hosts, by name.

    :param facts: with the zones of hosts
    :param held: roots that have a trait, by trait; all that isolate aggregates
    :param isolates: Nova isolates aggregates by traits
    """
    snapshot = facts.snapshot
    judgements = [
        each.judgement.with_stock(facts.stock)
        for each in room.flavors
        if isinstance(each.judgement, Judgement)
    ]
    for node in sorted(snapshot.nova.computes, key=lambda node: node.node):
        root = node.uuid
        tree = snapshot.host_trees.get(root, ())
        stock = (facts.stock.get(uuid, {}).get("MEMORY_MB") for uuid in tree)
        state = "" if node.is_enabled else "disabled"
        isolated = _isolated(node, snapshot.nova, held) if isolates else ""
        is_full = not any(root in fit.hosts for fit in room.flavors) and any(
            each.reason_of(root) is Reason.FULL for each in judgements
        )
        yield HostUse(
            node.node,
            node.zones,
            [*filter(None, stock)],
            ", ".join(filter(None, (state if node.is_up else "down", isolated))),
            is_full,
        )


def _isolated(node: Compute, nova: Nova, held: Mapping[str, frozenset[str]]) -> str:
    # What is held are the traits that isolate by the database's collation.
    isolating = {
        aggregate.name: {*aggregate.isolated_by(Collation.CASE_INSENSITIVE)} & {*held}
        for aggregate in nova.aggregates
        if node.service_host in aggregate.hosts
    }
    names = sorted(name for name, traits in isolating.items() if traits)
    lacks = any(
        node.uuid not in held.get(trait, ())
        for name in names
        for trait in isolating[name]
    )
    return f"isolated ({', '.join(names)}){', unusable' * lacks}" if names else ""
