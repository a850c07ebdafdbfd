"""A host and what it could take, and hosts by zone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple, Optional

from osc_traitsched.core.answer import Answer, Reason
from osc_traitsched.core.errors import CloudBroke, NothingMatches
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import Aggregate, Provider
from osc_traitsched.core.inventory.trait import (
    Collation,
    Ownership,
    is_project_id,
    isolated_by,
)
from osc_traitsched.core.judge.judgement import RefusedRequest, RequestResult
from osc_traitsched.core.judge.reasons import blamed, worst
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.placement.facts import Room, Stock
from osc_traitsched.core.servers.usage import HostUse, HostView
from osc_traitsched.documents import JsonObject, field
from osc_traitsched.paste import Option, line, openstack
from osc_traitsched.text import (
    and_more,
    between,
    by_key,
    count,
    led,
    listed,
    near_names,
    ranges,
)
from osc_traitsched.views import capacity
from osc_traitsched.views.capacity import ServerRange
from osc_traitsched.views.explain import reasons as explain_reasons
from osc_traitsched.views.explain import verdict as explain_verdict
from osc_traitsched.views.explain import words
from osc_traitsched.views.explain.document import if_read
from osc_traitsched.views.listing import Cell, Names, Table, table
from osc_traitsched.views.terminal import LABEL, Line, Tone

# One host.


_MOST_REASONS = 6
#: Flavors that a terminal shows for one reason.
_MOST_NAMES = 2

#: What decides on a host and no API shows.
UNSEEN = "Not on any API: provider.yaml, the host's nova.conf"


def host(
    view: HostView,
    everything: bool = False,
    options: Sequence[Option] = (),
    width: int = 0,
) -> Iterator[Line]:
    """One host: the first line says what it could take now.

    :param everything: all traits by name
    :param width: of the terminal, on which few flavors are named; 0 for all
    """
    fits, total = view.fits, len(view.capacity.flavors) + len(view.capacity.rejected)
    state = state_of(view)
    sure, unsure = view.sure, len(fits) - len(view.sure) + len(view.open)
    number, can, more = led(len(sure), unsure)
    flavors = f"{number} of {count(total, 'flavor')}"
    verdict = f"{view.host.name} {can}take {flavors} now"
    if view.if_enabled:
        verdict = f"If enabled, {view.host.name} {can}take {flavors}"
    every = view.reasons.values()
    # A flavor that no host is tried for says nothing of this one.
    reason = Reason.first({*every} - {Reason.REJECTED} or every)
    yield Line(f"{verdict}{more}; {state}.", Tone.of(view.answer), reason)
    yield from (Line(text, Tone.DOUBT) for text in capacity.assumed(view.capacity))
    for name, text in _about(view, everything):
        yield Line(f"  {name:<{LABEL - 1}} {text}")
    if fits:
        yield Line(explain_verdict.fitted(f"  {'fits':<{LABEL}}", _numbers(fits)))
    if view.deciding:
        deciding = listed(map(explain_reasons.name, view.deciding))
        yield Line(f"  {'at most':<{LABEL}}{deciding} may reject it")
    reasons = reasons_of(view)
    for why, names in list(reasons.items())[:_MOST_REASONS]:
        label = "may" if why.is_open else "not"
        few = listed(names, most=_MOST_NAMES if width else len(names))
        yield Line(f"  {label:<{LABEL}}{few}: {why}")
    if len(reasons) > _MOST_REASONS:
        yield Line(f"  {and_more(len(reasons) - _MOST_REASONS, 'reason', '-f json')}")
    if not view.aggregates:
        yield Line(
            f"In no zone and no aggregate.{f' Like {view.peer}?' * bool(view.peer)}"
        )
    if view.peer:
        flags = Option("--like", view.peer), Option("--aggregates")
        command = openstack("trait-sched add", *flags, view.host.name)
        yield Line(f"  {line(command, options)}")
    claims = view.capacity.judgements[0].question.assumptions.claims
    is_asked = claims is not None and view.host.uuid in claims.counts
    yield Line(f"{UNSEEN}{'' if is_asked else ', its NUMA cells and PCI use'}.")


def state_of(view: HostView) -> str:
    """Whether its nova-compute is up and enabled."""
    compute = view.compute
    if compute is None:
        return "Nova does not list it"
    if not compute.is_up:
        time = view.down_since[:16].replace("T", " ")
        since = f" since {time} UTC" * bool(time)
        service = f" on {compute.service_host}" * (view.nodes > 1)
        return f"nova-compute{service} is down{since} ({count(view.nodes, 'node')})"
    if compute.is_enabled:
        return "up and enabled"
    reason = compute.disabled_reason
    return f"disabled: {reason}" if reason else "disabled"


def _about(view: HostView, everything: bool) -> Iterator[tuple[str, str]]:
    yield "zone", ", ".join(zones_of(view)) or "none of its own (the default zone)"
    if view.aggregates:
        named = (_aggregate(each, view.projects) for each in view.aggregates)
        yield "aggregates", listed(named)
    ids = frozenset[str]().union(*(each.project_ids for each in view.aggregates))
    wrong = sorted(each for each in ids if not is_project_id(each))
    projects = [each for each in view.own_projects if each not in wrong]
    if projects:
        others = "" if view.is_exclusive else f"; others too: {special.PROJECT} is off"
        yield "projects", f"{listed(projects)}{others or ' alone'}"
    for each in wrong:
        yield "projects", f"none: filter_tenant_id={each} is not a project's ID"
    for provider in view.tree:
        where = "" if provider.uuid == view.host.uuid else f" on {provider.name}"
        for resource_class, stock in view.stock.get(provider.uuid, {}).items():
            if not resource_class.startswith(_OF_NETWORK):
                yield words.noun(resource_class), f"{_inventory(stock)}{where}"
    if network := ", ".join(_network(view)):
        yield "network", network
    if view.leaked:
        text = f"{view.leaked} MB RAM in use of no server: nova-manage placement audit"
        yield "leaked", text
    for odd in view.oddities:
        noun = words.noun(odd.resource_class)
        peers = count(odd.peers, "equal host")
        yield "unusual", f"{noun} {odd.figure} {odd.value:g}, {odd.usual:g} on {peers}"
    yield from _traits(view, everything)
    if isinstance(view.servers, CloudBroke):
        yield "servers", f"unknown: {view.servers!s}"
    else:
        number = f"{len(view.servers)}: " if view.servers else "none"
        yield "servers", f"{number}{listed(view.servers)}"
    report = view.compute.report if view.compute else None
    if report is not None:
        yield (
            "weighers",
            f"nova-compute's count: {report.free_ram_mb} MB RAM, "
            f"{report.free_disk_mb // 1024} GB disk, "
            f"{report.vcpus - report.vcpus_used} of {report.vcpus} CPUs free",
        )


def zones_of(view: HostView) -> list[str]:
    """The availability zones of its aggregates."""
    return sorted({each.zone for each in view.aggregates if each.zone})


def _aggregate(found: Aggregate, names: Mapping[str, str]) -> str:
    """Its name, and what it means for a server.

    :param names: of projects, by ID
    """
    projects = sorted(names.get(each, each) for each in {*found.projects.values()})
    traits = sorted(isolated_by(found.metadata, Collation.CASE_INSENSITIVE))
    parts = [
        *([f"zone {found.zone}"] if found.zone else []),
        *([f"isolated by {', '.join(traits)}"] if traits else []),
        *([listed(projects, "project")] if projects else []),
    ]
    return f"{found.name} ({'; '.join(parts)})" if parts else found.name


#: How Neutron's resource classes begin.
_OF_NETWORK = "NET_"


def _network(view: HostView) -> Iterator[str]:
    """Bandwidth of each bridge or device, and packet rates of agents.

    Both directions are told if they differ.
    """
    for provider in reversed(view.tree):
        ways: dict[str, list[str]] = {}
        for name, stock in view.stock.get(provider.uuid, {}).items():
            if name.startswith(_OF_NETWORK):
                size, unit = (1_000_000, "Gbit/s") if "_BW_" in name else (1, "kpps")
                rate = f"{stock.used / size:g} of {stock.capacity / size:g} {unit}"
                way = " out" * ("_EGR_" in name) or " in" * ("_IGR_" in name)
                ways.setdefault(rate, []).append(way)
        bridge = f"{provider.name.rpartition(':')[2]} "
        for rate, found in ways.items():
            place = bridge * rate.endswith("Gbit/s")
            yield f"{place}{rate}{found[0] if len(found) == 1 else ''}"


def _inventory(stock: Stock) -> str:
    used = f"{stock.used} of {stock.capacity} in use"
    if stock.total is None:
        return used
    reserved = f", {stock.reserved} reserved" if stock.reserved else ""
    ratio = f" x {stock.ratio:g}" if stock.ratio != 1 else ""
    return f"{used} ({stock.total}{reserved}){ratio}"


def _traits(view: HostView, everything: bool) -> Iterator[tuple[str, str]]:
    """By who sets them; standard ones are counted."""
    names = sorted(frozenset[str]().union(*view.traits.values()))
    yours = [n for n in names if trait.ownership(n) is Ownership.OPERATOR]
    neutrons = [n for n in yours if trait.is_of_neutron(n)]
    novas = [n for n in names if n not in yours]
    yours = [n for n in yours if n not in neutrons]
    join = ", ".join if everything else listed
    yield "your traits", join(yours) if yours else "none"
    if everything:
        yield from (("of Neutron", join(neutrons)),) if neutrons else ()
        yield "of Nova", join(novas)
    else:
        also = f", {len(neutrons)} of Neutron" if neutrons else ""
        yield "other traits", f"{len(novas)} of Nova{also}"


def _numbers(fits: Mapping[str, Room]) -> list[str]:
    return [f"{name} {between(room.least, room.most)}" for name, room in fits.items()]


class FirstObstacle(NamedTuple):
    """The first thing in the way; if it is open, an unknown option decides."""

    what: str
    is_open: bool = False

    def __str__(self) -> str:
        return f"{'depends on nova.conf: ' * self.is_open}{self.what}"


def reasons_of(view: HostView) -> dict[FirstObstacle, list[str]]:
    """Why flavors do not fit on the host, with their names, the most first."""
    without: tuple[RequestResult, ...] = (*view.unfit, *view.capacity.rejected)
    found = by_key(
        (_obstacle(each, view.host), each.question.flavor["name"]) for each in without
    )
    return dict(sorted(found.items(), key=lambda pair: -len(pair[1])))


def _obstacle(found: RequestResult, host: Provider) -> FirstObstacle:
    """For flavors of any size, so without amounts."""
    if isinstance(found, RefusedRequest):
        return FirstObstacle(explain_verdict.rejected(found, has_remedy=False))
    rejection = found.rejections.get(host.uuid)
    clauses = blamed(rejection) if rejection else ()
    if not clauses:
        return FirstObstacle("it meets each condition, but not all of them together")
    why = explain_verdict.said(worst(found, clauses), found, [host])
    return FirstObstacle(why.what, found.answer_of(host.uuid) is Answer.DEPENDS)


# Zones.


class ValueCell(Cell):
    """A value for programs, and its text for a person."""

    def __init__(self, value: object, text: str) -> None:
        super().__init__(value)
        self._text = text

    def lines(self) -> Iterable[str]:
        """The text."""
        return [self._text]


def zones(uses: Iterable[HostUse], chosen: Sequence[str] = ()) -> Table:
    """One row a zone, of these or of all; raises NothingMatches."""
    hosts = by_key((zone, use) for use in uses for zone in use.zones)
    columns = {
        "zone": lambda zone: zone,
        "hosts": lambda zone: len(hosts[zone]),
        "RAM used": lambda zone: _ram_used(hosts[zone]),
        "largest free": lambda zone: _largest_free(hosts[zone]),
        "notes": lambda zone: Names(_notes(hosts[zone])),
    }
    for name in chosen:
        if name not in hosts:
            near = near_names(name, hosts)
            raise NothingMatches("availability zone", name, near)
    return table(columns, sorted(chosen or hosts))


def _ram_used(uses: Iterable[HostUse]) -> ValueCell:
    stock = [each for use in uses for each in use.ram]
    total = sum(each.capacity for each in stock)
    if not total:
        return ValueCell(None, "-")
    percent = round(100 * sum(each.used for each in stock) / total)
    return ValueCell(percent, f"{percent} %")


def _largest_free(uses: Iterable[HostUse]) -> ValueCell:
    free = [(e.free, use.name) for use in uses if not use.unusable for e in use.ram]
    if not free:
        return ValueCell(None, "-")
    most, name = max(free)
    return ValueCell({"host": name, "ram": most}, f"{most} {name}")


def _notes(uses: Iterable[HostUse]) -> list[str]:
    notes = by_key(
        (use.unusable or ("full" if use.is_full else ""), use.name) for use in uses
    )
    return [f"{ranges(names)} {note}" for note, names in sorted(notes.items()) if note]


def _inventories(view: HostView) -> Iterator[tuple[str, str, Stock]]:
    for provider in view.tree:
        for resource_class, stock in view.stock.get(provider.uuid, {}).items():
            yield provider.name, resource_class, stock


class HostInventory(JsonObject):
    """An inventory of a provider of the host, in the class's own unit."""

    provider: str = field(lambda row: row[0])
    """The provider's name."""
    resource_class: str = field(lambda row: row[1])
    """The resource class."""
    used: int = field(lambda row: row[2].used)
    """In use."""
    capacity: int = field(lambda row: row[2].capacity)
    """(total - reserved) x allocation ratio, rounded down."""
    total: Optional[int] = field(lambda row: row[2].total)
    """The total; null, like the next two, if it was not read."""
    reserved: Optional[int] = field(lambda row: row[2].reserved)
    """Not for servers."""
    allocation_ratio: Optional[float] = field(lambda row: row[2].ratio)
    """The factor of overcommitment."""


class UnusualFigure(JsonObject):
    """A figure of the host that differs from most hosts with as much hardware."""

    resource_class: str
    """The resource class."""
    figure: Annotated[str, ("total", "reserved", "allocation ratio")]
    """Which figure."""
    value: float
    """The host's."""
    usual: float
    """That of its peers."""
    peers: int
    """How many peers have the usual capacity."""


class FittingFlavor(JsonObject):
    """A flavor that fits on the host."""

    flavor: str = field(lambda item: item[0])
    """Its name."""
    servers: ServerRange = field(lambda item: item[1])
    """How many more servers of it fit on the host."""


class UnfitFlavors(JsonObject):
    """Flavors that do not fit on the host, for one reason."""

    reason: str = field(lambda item: str(item[0]))
    """The first thing in the way."""
    flavors: Iterable[str] = field(lambda item: item[1])
    """Their names."""


class HostDocument(JsonObject):
    """A host: what it has, and what it could take."""

    schema: Literal[1]
    """The version of the document."""
    host: str = field("host.name")
    """Its name in Placement."""
    state: str = field(state_of)
    """Whether its nova-compute is up and enabled, in words."""
    zones: Iterable[str] = field(zones_of)
    """The availability zones of its aggregates; none for the default one."""
    aggregates: Iterable[str] = field(
        lambda view: [aggregate.name for aggregate in view.aggregates]
    )
    """Its aggregates, by name."""
    inventories: Iterable[HostInventory] = field(_inventories)
    """The inventories of its providers."""
    unusual: Iterable[UnusualFigure] = field("oddities")
    """Figures that differ from those of its peers."""
    traits: dict[str, Iterable[str]] = field(
        lambda view: {one.name: sorted(view.traits[one.uuid]) for one in view.tree}
    )
    """Traits by the name of the provider."""
    servers: Optional[Iterable[str]] = field(lambda view: if_read(view.servers))
    """Names of its servers; null if this user may not list them."""
    fits: Iterable[FittingFlavor] = field(lambda view: view.fits.items())
    """Flavors that fit, the most servers first."""
    does_not_fit: Iterable[UnfitFlavors] = field(lambda view: reasons_of(view).items())
    """Flavors that do not."""
    reasons: dict[str, Reason]
    """Why each of these does not fit on this host, in one word of :ref:`reasons`."""
    if_enabled: bool
    """Whether it was judged as if its service were enabled and up."""
    like: Optional[str] = field(lambda view: view.peer or None)
    """A host whose traits and aggregates it could get; null if it is in an aggregate.
    """
    projects: Iterable[str] = field("own_projects")
    """Names of the projects that its aggregates are for."""
    other_projects: bool = field(
        lambda view: not (view.own_projects and view.is_exclusive)
    )
    """Whether servers of other projects may land there."""
    last_seen: Optional[str] = field(lambda view: view.down_since or None)
    """When its service was last up, if it is down."""
