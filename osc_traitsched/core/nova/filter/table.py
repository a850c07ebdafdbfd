"""All host filters by release, and their answers for hosts."""

from __future__ import annotations

import dataclasses
import enum
import functools
import re
from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import overload

from osc_traitsched.core.errors import BadUsage, Refusal
from osc_traitsched.core.nova import attachments, options
from osc_traitsched.core.nova.filter import compute, groups, special, state
from osc_traitsched.core.nova.filter.compute import (
    MAX_INSTANCES,
    MAX_IO_OPS,
    by_option,
    lowest,
    most_io_ops,
)
from osc_traitsched.core.nova.filter.groups import REBUILD, REBUILD_HINT
from osc_traitsched.core.nova.filter.state import (
    CLAIMED,
    NO_NUMA_TOPOLOGY,
    NUMA_CELLS,
    PASSES,
    Fails,
    FilterResult,
    HostState,
    Passes,
    Raises,
    RequestSpec,
    Unknown,
)
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.nova.server import NO_PARTS, Flavor
from osc_traitsched.core.releases import NEWEST, OLDEST, release
from osc_traitsched.text import ALMOST, by_key, did_you_mean, listed, near_names, quoted

# What the code knows of one host filter of Nova, and what filters read.


#: What a filter's answer varies by: the host, what hosts often have in common, its
#: aggregates, or the request alone.
HOST, MODEL, AGGREGATES, REQUEST = "host", "model", "aggregates", "request"

_KEYS: Mapping[str, Callable[[HostState], Hashable]] = {
    HOST: lambda host: host.compute.uuid,
    MODEL: lambda host: host.model,
    AGGREGATES: lambda host: tuple(a.uuid for a in host.aggregates if a.metadata),
    REQUEST: lambda host: None,
}

Judge = Callable[[HostState, RequestSpec, SchedulerSettings], FilterResult]


class Reads(enum.Enum):
    """Parts of a request or a host that callers can lack, or must treat apart."""

    #: Other servers: of a group or a hint.
    SERVERS = "servers"
    IMAGE = "image"
    FLAVOR_NAME = "flavor name"
    #: What is used or free on the host, in which a server on it has its part.
    USE = "use"
    #: The state of nova-compute.
    SERVICE = "service"


@dataclasses.dataclass(frozen=True)
class NovaFilter:
    """A host filter of Nova.

    :ivar name: class, as in ``enabled_filters``
    :ivar wants: what it requires of hosts, in words; may be empty
    :ivar until: first release that lacks it again
    :ivar successor: for :attr:`until`: what does its work now, in words
    :ivar options: of nova.conf that it reads
    :ivar reads: for callers that ask for a running server, or lack a part
    :ivar varies_by: hosts that are equal in it get the same answer
    :ivar is_asked: whether a request makes it look at the host; always if None
    :ivar on_rebuild: it also runs for a rebuild with another image
    :ivar hints: scheduler hints that only this filter reads
    :ivar aggregate_keys: metadata keys of aggregates that only this filter reads
    :ivar counts: :data:`MAX_INSTANCES` or :data:`MAX_IO_OPS`, if it limits servers or
        tasks by its first option
    :ivar is_claimed: nova-compute or Cyborg checks the same without the filter, so an
        unknown answer is one of free amounts
    :ivar isolates: it keeps hosts for some projects, flavors or images
    """

    name: str
    judge: Judge
    wants: str = ""
    since: int = OLDEST
    until: int = NEWEST + 1
    successor: str = ""
    options: tuple[str, ...] = ()
    reads: tuple[Reads, ...] = ()
    varies_by: str = HOST
    is_asked: Callable[[RequestSpec, SchedulerSettings], bool] | None = None
    on_rebuild: bool = False
    hints: tuple[str, ...] = ()
    aggregate_keys: tuple[str, ...] = ()
    counts: str = ""
    is_claimed: bool = False
    isolates: bool = False

    def is_in(self, release: int) -> bool:
        """Whether a release has the filter."""
        return self.since <= release < self.until

    def varies(self, spec: RequestSpec, settings: SchedulerSettings) -> str:
        """What its answer varies by for one request."""
        is_asked = self.is_asked is None or self.is_asked(spec, settings)
        return self.varies_by if is_asked else REQUEST

    def shown(self, hosts: AlikeHosts, spec: RequestSpec) -> AlikeHosts:
        """Hosts whose aggregates, or a request, may show that a cloud uses it."""
        is_unseen = not (self.hints or self.aggregate_keys or self.counts)
        if is_unseen or not spec.hints.keys().isdisjoint(self.hints):
            return hosts
        keys = frozenset(self.aggregate_keys)
        groups = hosts.alike(AGGREGATES) if keys else ()
        shown = [u for h, u in groups if not keys.isdisjoint(h.metadata)]
        uuids = frozenset[str]().union(*shown)
        return (
            AlikeHosts(h for h in hosts if h.compute.uuid in uuids)
            if uuids
            else _NO_HOSTS
        )


#: Extra specs that no filter reads.
_TRAIT = re.compile(r"trait[^:]*:")
#: The first release without filters of amounts.
_WITHOUT_SIZES = 22
_NO_FLAVOR = Flavor(0, 0, 0, 0, 0, {})


def _has_numa_nodes(spec: RequestSpec, settings: SchedulerSettings) -> bool:
    return bool(attachments.cpu_origins(spec.server))


def _has_group(spec: RequestSpec, settings: SchedulerSettings) -> bool:
    return spec.group is not None


def _has_capabilities(spec: RequestSpec, settings: SchedulerSettings) -> bool:
    return any(compute.wanted_of(spec.server.flavor.specs, settings.release))


def _has_isolated_hosts(spec: RequestSpec, settings: SchedulerSettings) -> bool:
    return bool(settings.items(options.ISOLATED_HOSTS))


def read_of(spec: RequestSpec) -> tuple[object, ...]:
    """What filters read of a request: equal requests get equal answers.

    Filters read the sizes of a flavor until 21, and later for NUMA nodes.
    """
    server = spec.server
    specs = {k: v for k, v in server.flavor.specs.items() if not _TRAIT.match(k)}
    is_sized = server.release < _WITHOUT_SIZES or attachments.cpu_origins(server)
    keys = {key for each in server.aggregates for key in each.metadata}
    has_projects = any(groups.names_projects(key, server.release) for key in keys)
    project = server.project_id if has_projects else None
    ports = server.parts.ports
    server = dataclasses.replace(
        server, flavor=_NO_FLAVOR, parts=NO_PARTS, project_id=project
    )
    return (
        dataclasses.replace(spec.server.flavor, specs=specs).key
        if is_sized
        else tuple(specs.items()),
        frozenset(each.vnic_type for each in ports) - {"normal"},
        any(each.device_profile for each in ports),
        dataclasses.replace(
            spec,
            server=server,
            flavor_name=spec.flavor_name if groups.FLAVOR_KEY in keys else "",
            instance_uuid=spec.instance_uuid if spec.group else None,
        ),
    )


# All host filters by release, and their answers for hosts.


# Nova's host filters by their names: all that the code knows of one is in its row.


def _of_ratio(name: str, judge: Judge, kind: str) -> NovaFilter:
    return NovaFilter(
        name,
        judge,
        until=22,
        successor="the allocation ratios of Placement's inventories do its work",
        reads=(Reads.USE,),
        aggregate_keys=(f"{kind}_allocation_ratio",),
    )


_ROWS = (
    NovaFilter("AllHostsFilter", compute.all_hosts, varies_by=REQUEST),
    NovaFilter(
        special.COMPUTE,
        compute.compute,
        "nova-compute up",
        reads=(Reads.SERVICE,),
        varies_by=MODEL,
    ),
    NovaFilter(
        special.CAPABILITIES,
        compute.compute_capabilities,
        "capabilities as the flavor asks",
        is_asked=_has_capabilities,
    ),
    NovaFilter(
        special.IMAGE_PROPERTIES,
        groups.image_properties,
        "a hypervisor for the image",
        options=(options.DEFAULT_ARCHITECTURE,),
        reads=(Reads.IMAGE,),
        varies_by=MODEL,
        on_rebuild=True,
    ),
    NovaFilter(
        special.ANTI_AFFINITY,
        groups.anti_affinity,
        "away from the servers of the group",
        reads=(Reads.SERVERS,),
        is_asked=_has_group,
    ),
    NovaFilter(
        special.AFFINITY,
        groups.affinity,
        "with the servers of the group",
        reads=(Reads.SERVERS,),
        is_asked=_has_group,
    ),
    NovaFilter(
        "SameHostFilter",
        groups.same_host,
        "with a server of the hint",
        reads=(Reads.SERVERS,),
        hints=(groups.SAME_HOST,),
    ),
    NovaFilter(
        "DifferentHostFilter",
        groups.different_host,
        "away from the servers of the hint",
        reads=(Reads.SERVERS,),
        hints=(groups.DIFFERENT_HOST,),
    ),
    NovaFilter(
        "SimpleCIDRAffinityFilter",
        groups.simple_cidr,
        "in the network of the hint",
        hints=(groups.NEAR_ADDRESS, groups.PREFIX),
    ),
    NovaFilter(
        special.EXTRA_SPECS,
        groups.extra_specs,
        "aggregate metadata as the flavor asks",
        varies_by=AGGREGATES,
    ),
    NovaFilter(
        special.IMAGE_ISOLATION,
        groups.isolation,
        "image properties as the aggregates have them",
        options=(options.IMAGE_NAMESPACE, options.IMAGE_SEPARATOR),
        reads=(Reads.IMAGE,),
        varies_by=AGGREGATES,
        on_rebuild=True,
        isolates=True,
    ),
    NovaFilter(
        special.PROJECT,
        groups.multi_tenancy,
        "no aggregate of other projects alone",
        varies_by=AGGREGATES,
        isolates=True,
    ),
    NovaFilter(
        "AggregateTypeAffinityFilter",
        groups.type_affinity,
        "no aggregate of other flavors alone",
        reads=(Reads.FLAVOR_NAME,),
        varies_by=AGGREGATES,
        aggregate_keys=(groups.FLAVOR_KEY,),
        isolates=True,
    ),
    NovaFilter(
        special.ISOLATED_HOSTS,
        compute.isolated_hosts,
        "isolated hosts for isolated images",
        is_asked=_has_isolated_hosts,
        options=(
            options.ISOLATED_IMAGES,
            options.ISOLATED_HOSTS,
            options.RESTRICT_ISOLATED_HOSTS,
        ),
        reads=(Reads.IMAGE,),
        on_rebuild=True,
        isolates=True,
    ),
    NovaFilter(
        "IoOpsFilter",
        compute.io_ops,
        "few tasks under way",
        options=(options.MAX_IO_OPS,),
        reads=(Reads.USE,),
        counts=compute.MAX_IO_OPS,
    ),
    NovaFilter(
        "AggregateIoOpsFilter",
        compute.aggregate_io_ops,
        "few tasks under way",
        options=(options.MAX_IO_OPS,),
        reads=(Reads.USE,),
        aggregate_keys=(compute.MAX_IO_OPS,),
        counts=compute.MAX_IO_OPS,
    ),
    NovaFilter(
        "NumInstancesFilter",
        compute.num_instances,
        "few servers",
        options=(options.MAX_INSTANCES,),
        reads=(Reads.USE,),
        counts=compute.MAX_INSTANCES,
    ),
    NovaFilter(
        "AggregateNumInstancesFilter",
        compute.aggregate_num_instances,
        "few servers",
        options=(options.MAX_INSTANCES,),
        reads=(Reads.USE,),
        aggregate_keys=(compute.MAX_INSTANCES,),
        counts=compute.MAX_INSTANCES,
    ),
    NovaFilter(
        special.NUMA_TOPOLOGY,
        compute.numa_topology,
        "NUMA nodes as the server asks",
        varies_by=MODEL,
        is_asked=_has_numa_nodes,
        is_claimed=True,
    ),
    NovaFilter(
        "PciPassthroughFilter",
        compute.pci_passthrough,
        varies_by=REQUEST,
        is_claimed=True,
    ),
    NovaFilter(special.JSON, compute.json_filter, hints=(compute.QUERY,)),
    NovaFilter(
        "MetricsFilter", state.metrics, options=(options.METRICS,), varies_by=REQUEST
    ),
    NovaFilter(
        special.ZONE,
        groups.availability_zone,
        "in the availability zone",
        until=28,
        successor="Placement looks up zones",
        options=(options.DEFAULT_HOST_ZONE,),
        varies_by=AGGREGATES,
    ),
    _of_ratio("AggregateCoreFilter", compute.aggregate_core, "cpu"),
    _of_ratio("AggregateRamFilter", compute.aggregate_ram, "ram"),
    _of_ratio("AggregateDiskFilter", compute.aggregate_disk, "disk"),
    NovaFilter(
        "RetryFilter",
        compute.retry,
        until=22,
        successor="the alternate hosts that Nova chooses at once do its work",
        varies_by=REQUEST,
    ),
)

#: All of them by their names.
FILTERS: Mapping[str, NovaFilter] = {row.name: row for row in _ROWS}

_BARE_METAL = "resource classes of bare metal nodes do its work"
_AMOUNTS = "Placement does its work"

#: Filters that were gone before Train: the first release without each, its successor.
_GONE_BEFORE: Mapping[str, tuple[int, str]] = {
    "TrustedFilter": (17, "traits can do its work"),
    "TypeAffinityFilter": (17, "nothing does its work"),
    "ExactCoreFilter": (18, _BARE_METAL),
    "ExactDiskFilter": (18, _BARE_METAL),
    "ExactRamFilter": (18, _BARE_METAL),
    "CoreFilter": (20, _AMOUNTS),
    "DiskFilter": (20, _AMOUNTS),
    "RamFilter": (20, _AMOUNTS),
}

_SERVICES = (
    NovaFilter("Cyborg", compute.accelerators, varies_by=REQUEST, is_claimed=True),
    NovaFilter("Neutron", compute.port_bindings, varies_by=REQUEST, is_claimed=True),
)


def without_filter() -> Mapping[str, NovaFilter]:
    """What decides without a filter: nova/compute/claims.py, Cyborg and Neutron."""
    rows = (row for row in (*FILTERS.values(), *_SERVICES) if row.is_claimed)
    return {row.name: row for row in rows}


def reading(*parts: Reads) -> tuple[str, ...]:
    """Names of the filters that read any of these parts."""
    wanted = {*parts}
    return tuple(name for name, row in FILTERS.items() if wanted & {*row.reads})


def readers(option: str, release: int) -> tuple[str, ...]:
    """Names of a release's filters that read an option."""
    rows = (row for row in FILTERS.values() if option in row.options)
    return tuple(row.name for row in rows if row.is_in(release))


def hint_readers() -> Mapping[str, str]:
    """The filter that reads each hint."""
    return {hint: row.name for row in FILTERS.values() for hint in row.hints}


def successor(name: str, release: int) -> str | None:
    """What does the work of a removed filter; None if the release has it.

    A removed filter keeps nova-scheduler from starting (nova/scheduler/host_manager.py,
    ``_choose_host_filters``).
    """
    row = FILTERS.get(name)
    until, words = _GONE_BEFORE.get(name, (release + 1, ""))
    if row is not None:
        until, words = row.until, row.successor
    return words if release >= until else None


# What the host filters that are on make of hosts: each of them of each host.


#: The options that enable and disable one filter.
FLAGS = {True: "--enable-filter", False: "--disable-filter"}

#: What is not visible of a filter that is off only by Nova's default.
MAYBE_ON = "enabled_filters"

#: What is not visible of a filter that is none of Nova's.
OWN_FILTER = Unknown("custom filter")


#: Hosts, by UUID, with the same answer.
Group = tuple[FilterResult, Collection[str]]


class GroupedAnswers(Mapping[str, FilterResult]):
    """Answers of one filter by provider UUID, given once for equal hosts."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self.groups = groups

    def __getitem__(self, uuid: str) -> FilterResult:
        return self._by_uuid[uuid]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_uuid)

    def __len__(self) -> int:
        return sum(len(hosts) for _, hosts in self.groups)

    @functools.cached_property
    def _by_uuid(self) -> Mapping[str, FilterResult]:
        return {uuid: answer for answer, hosts in self.groups for uuid in hosts}


@dataclasses.dataclass(frozen=True)
class FilterAnswers:
    """Answers by filter and provider UUID; ``names`` in the order of the option."""

    names: tuple[str, ...]
    answers: Mapping[str, Mapping[str, FilterResult]]

    def groups(self, name: str) -> Sequence[Group]:
        """Answers of one filter, each with its hosts."""
        answers = self.answers[name]
        if isinstance(answers, GroupedAnswers):
            return answers.groups
        return [(answer, (uuid,)) for uuid, answer in answers.items()]

    def joined(self, other: FilterAnswers) -> FilterAnswers:
        """The answers with those of other filters."""
        answers = {**self.answers, **other.answers}
        return FilterAnswers((*self.names, *other.names), answers)

    def without(self, names: Collection[str]) -> FilterAnswers:
        """The answers of the other filters."""
        return FilterAnswers(
            tuple(name for name in self.names if name not in names), self.answers
        )


class AlikeHosts(Sequence[HostState]):
    """Hosts, and which of them filters cannot tell apart."""

    def __init__(self, hosts: Iterable[HostState]) -> None:
        self._hosts = tuple(hosts)
        self._alike: dict[str, Sequence[tuple[HostState, frozenset[str]]]] = {}

    @classmethod
    def of(cls, hosts: Iterable[HostState]) -> AlikeHosts:
        """The hosts, divided once if they are divided already."""
        return hosts if isinstance(hosts, cls) else cls(hosts)

    @overload
    def __getitem__(self, index: int) -> HostState: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[HostState]: ...

    def __getitem__(self, index: int | slice) -> HostState | Sequence[HostState]:
        return self._hosts[index]

    def __len__(self) -> int:
        return len(self._hosts)

    def alike(self, varies_by: str) -> Sequence[tuple[HostState, frozenset[str]]]:
        """One of the hosts that are equal in something, with the UUIDs of all."""
        if varies_by not in self._alike:
            found = by_key((_KEYS[varies_by](host), host) for host in self._hosts)
            self._alike[varies_by] = [
                (hosts[0], frozenset(each.compute.uuid for each in hosts))
                for hosts in found.values()
            ]
        return self._alike[varies_by]


_NO_HOSTS = AlikeHosts(())


def enabled(settings: SchedulerSettings) -> tuple[str, ...]:
    """Enabled filters in order, unique; raises Refusal, see :func:`not_loadable`."""
    setting = settings.setting(options.ENABLED_FILTERS)
    names = tuple(dict.fromkeys(setting.items))
    # Without available_filters, a name that is like none of Nova's may be one's own.
    is_known = settings.is_known(options.AVAILABLE_FILTERS)
    stopping = {
        name: near
        for name, near in not_loadable(settings).items()
        if is_known
        or _is_missing(name, settings.release)
        or near_names(name, FILTERS, ALMOST)
    }
    if stopping:
        nearest = tuple(name for near in stopping.values() for name in near)
        raise Refusal(
            "SchedulerHostFilterNotFound",
            "filter-not-in-release",
            tuple(stopping),
            "scheduler",
            nearest=nearest,
            text=f"nova-scheduler of {release(settings.release)} does not start with "
            f"{listed(stopping)} in enabled_filters ({setting.source}): it has no such "
            f"filter{did_you_mean(nearest)}",
        )
    return names


def is_list_known(settings: SchedulerSettings) -> bool:
    """Whether the enabled filters are known: who disables one by hand knows them."""
    is_known = settings.is_known(options.ENABLED_FILTERS)
    return is_known or FLAGS[False] in settings.setting(options.ENABLED_FILTERS).source


def has_cell_limits(settings: SchedulerSettings) -> bool | None:
    """Whether NUMATopologyFilter sets limits for claims; None if that is unknown."""
    if special.NUMA_TOPOLOGY in enabled(settings):
        return True
    return False if is_list_known(settings) else None


def not_loadable(settings: SchedulerSettings) -> Mapping[str, tuple[str, ...]]:
    """Enabled filters that keep nova-scheduler from starting, with near names.

    nova/scheduler/host_manager.py, ``_choose_host_filters``
    """
    available = loadable(settings)
    near = FILTERS.keys() if available is None else available
    return {
        name: near_names(re.sub(r"\W", "", name.rpartition(".")[2]), near)[:1]
        for name in dict.fromkeys(settings.items(options.ENABLED_FILTERS))
        if _is_missing(name, settings.release)
        or (available is not None and name not in available)
    }


def loadable(settings: SchedulerSettings) -> frozenset[str] | None:
    """Names of the filters that available_filters loads; None if that is unknown.

    It has paths of classes and functions (nova/loadables.py, ``get_matching_classes``).
    """
    names: set[str] = set()
    for path in settings.items(options.AVAILABLE_FILTERS):
        name = path.rpartition(".")[2]
        if not all(map(str.isidentifier, path.split("."))):
            continue
        if path == options.ALL_FILTERS:
            names.update(n for n, f in FILTERS.items() if f.is_in(settings.release))
        elif name[:1].islower():
            return None
        else:
            names.add(name)
    return frozenset(names)


def has_own(settings: SchedulerSettings) -> bool:
    """Whether available_filters has filters that are not Nova's, or may have some."""
    names = loadable(settings)
    return names is None or not names <= FILTERS.keys()


def with_filters(
    settings: SchedulerSettings, filters: Iterable[tuple[str, bool]]
) -> SchedulerSettings:
    """The settings with more or fewer host filters; ``filters`` has names and switches.

    :raises BadUsage: for a name that is neither Nova's nor enabled already
    """
    before = settings.setting(options.ENABLED_FILTERS)
    names = [*before.items]
    for name, is_on in filters:
        if name not in FILTERS and name not in names:
            near = did_you_mean(near_names(name, {*FILTERS, *names}, ALMOST))
            raise BadUsage(f"no host filter {quoted(name)}{near}")
        kept = [each for each in names if each != name]
        names = kept if not is_on else names if name in names else [*names, name]
    flags = " and ".join(dict.fromkeys(FLAGS[is_on] for _, is_on in filters))
    # The rest of the list is as sure as it was.
    made = Setting(tuple(names), f"{before.source}, {flags}", before.given)
    changed = {**settings.settings, options.ENABLED_FILTERS: made}
    return dataclasses.replace(settings, settings=changed)


def _is_missing(name: str, release: int) -> bool:
    known = FILTERS.get(name)
    is_gone = known is not None and not known.is_in(release)
    return not name.isidentifier() or is_gone or successor(name, release) is not None


def judge_all(
    hosts: Iterable[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> FilterAnswers:
    """Answers of every enabled filter for every host; Nova stops at the first failure.

    :raises Refusal: see :func:`enabled`; and for requests that nova-api rejects
    """
    hosts, names = AlikeHosts.of(hosts), enabled(settings)
    found = {name: answers(name, hosts, spec, settings) for name in names}
    for name, each in found.items():
        found[name] = with_novas(name, each, hosts, spec, settings)
    return FilterAnswers(names, found)


def with_late_check(
    judgment: FilterAnswers,
    hosts: Iterable[HostState],
    spec: RequestSpec,
    servers: Mapping[str, tuple[str, str]],
) -> FilterAnswers:
    """The answers, with :func:`groups.late_check` as one of the policy's filter."""
    name = groups.FILTERS.get(spec.group.policy if spec.group else "")
    if name is None:
        return judgment
    answers = {**judgment.answers.get(name, {})}
    for host in hosts:
        if isinstance(answers.get(host.compute.uuid, PASSES), Passes):
            answers[host.compute.uuid] = groups.late_check(host, spec, servers)
    names = tuple(dict.fromkeys((*judgment.names, name)))
    return FilterAnswers(names, {**judgment.answers, name: answers})


def unsettled(
    hosts: Iterable[HostState],
    spec: RequestSpec,
    settings: SchedulerSettings,
    is_forced: bool = False,
) -> FilterAnswers:
    """Doubts about hosts that no enabled filter looks at, and sure claims.

    They come from :func:`without_filter`, and from assumed filters whose data the
    request and the aggregates show. If the host is forced, no filter runs.
    """
    hosts = AlikeHosts.of(hosts)
    on = () if is_forced else enabled(settings)
    is_known = is_forced or is_list_known(settings)
    is_rebuild = spec.hints.get(REBUILD_HINT) == REBUILD
    rows = {**({} if is_known else FILTERS), **without_filter()}
    answers: dict[str, Mapping[str, FilterResult]] = {}
    for name, row in rows.items():
        is_run = row.is_in(settings.release) and (row.on_rebuild or not is_rebuild)
        if is_run and name not in on:
            doubts = _doubts(row, hosts, spec, settings, is_known)
            if doubts:
                answers[name] = doubts
    return FilterAnswers(tuple(answers), answers)


def _doubts(
    row: NovaFilter,
    hosts: AlikeHosts,
    spec: RequestSpec,
    settings: SchedulerSettings,
    is_known: bool,
) -> Mapping[str, FilterResult]:
    """Hosts that a disabled filter, or a service, may reject, by UUID.

    A host without NUMA nodes has none to claim: only an enabled filter rejects it. A
    host with too few, or with other pages, is sure to be rejected.
    """
    needs_no_filter = row.is_claimed
    doubts: list[Group] = []
    without_nodes: list[Collection[str]] = []
    shown = hosts if needs_no_filter else row.shown(hosts, spec)
    judged = _judged(
        row, shown, spec, settings, lambda host: row.judge(host, spec, settings)
    )
    for answer, uuids in judged:
        if needs_no_filter and isinstance(answer, Passes):
            # It depends on the request alone.
            return {}
        is_sure = isinstance(answer, Fails) and answer.reason in CLAIMED
        if needs_no_filter and (is_sure or isinstance(answer, Unknown)):
            doubts.append((answer, uuids))
        elif not is_known and not isinstance(answer, Passes):
            raises = isinstance(answer, Raises) or getattr(answer, "may_raise", False)
            doubts.append((Unknown(MAYBE_ON, answer.key, may_raise=raises), uuids))
        elif needs_no_filter:
            without_nodes.append(uuids)
    # Nova gives up after [scheduler]max_attempts hosts that reject a claim.
    doubt = next((each for each, _ in doubts if isinstance(each, Unknown)), None)
    if doubt is not None:
        doubts += [(doubt, uuids) for uuids in without_nodes]
    whole = GroupedAnswers(doubts)
    if settings.claims is None:
        return whole
    novas = _novas(row.name, whole, hosts, spec, settings)
    claims = {**whole, **{uuid: as_claim(each) for uuid, each in novas.items()}}
    # If one may reject it, those that fit stay in doubt.
    if spec.num_instances == 1 and all(isinstance(e, Passes) for e in claims.values()):
        maybe = Unknown(MAYBE_ON, doubt.key if doubt else "")
        rejected = [] if is_known else [u for u, e in novas.items() if e != PASSES]
        return dict.fromkeys(rejected, maybe)
    return {u: e if isinstance(e, Fails) else whole[u] for u, e in claims.items()}


def as_claim(answer: FilterResult) -> FilterResult:
    """What nova-compute's claim says without the filter, if Nova says this of both."""
    if not isinstance(answer, Fails) or answer.reason != state.OWN:
        return answer
    if answer.claim_passes:
        return PASSES
    return dataclasses.replace(answer, reason=state.CLAIM_FAILS)


def judge(
    name: str, host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Answer of one filter for one host; unknown for an operator's own filter.

    If a server of the flavor is active, some hosts have NUMA nodes, whatever is shown.
    """
    known = FILTERS.get(name)
    if known is None:
        return OWN_FILTER
    if spec.hints.get(REBUILD_HINT) == REBUILD and not known.on_rebuild:
        return PASSES
    answer = known.judge(host, spec, settings)
    if (
        spec.server.flavor.is_running
        and isinstance(answer, Fails)
        and answer.reason == NO_NUMA_TOPOLOGY
    ):
        return Unknown(NUMA_CELLS, answer.key)
    return answer


def answers(
    name: str,
    hosts: Iterable[HostState],
    spec: RequestSpec,
    settings: SchedulerSettings,
) -> Mapping[str, FilterResult]:
    """Answers of one filter, by provider UUID."""
    groups = _judged(
        FILTERS.get(name),
        *(AlikeHosts.of(hosts), spec, settings),
        lambda host: judge(name, host, spec, settings),
    )
    return GroupedAnswers(tuple(groups))


def _novas(
    name: str,
    found: Mapping[str, FilterResult],
    hosts: Iterable[HostState],
    spec: RequestSpec,
    settings: SchedulerSettings,
) -> Mapping[str, FilterResult]:
    """Nova's answers in place of unknown ones that are about claims, if it is asked."""
    row = FILTERS.get(name)
    if settings.claims is None or row is None or not row.is_claimed:
        return {}
    unknown = {u: a for u, a in found.items() if isinstance(a, Unknown)}
    there = [
        host
        for host in hosts
        if host.compute.uuid in unknown
        and unknown[host.compute.uuid].missing != MAYBE_ON
    ]
    return settings.claims.answers(name, there, spec, settings) if there else {}


def with_novas(
    name: str,
    found: Mapping[str, FilterResult],
    hosts: Iterable[HostState],
    spec: RequestSpec,
    settings: SchedulerSettings,
) -> Mapping[str, FilterResult]:
    """The answers of a filter, with Nova's in place of unknown ones."""
    novas = _novas(name, found, hosts, spec, settings)
    return {**found, **novas} if novas else found


def _judged(
    known: NovaFilter | None,
    hosts: AlikeHosts,
    spec: RequestSpec,
    settings: SchedulerSettings,
    judge_one: Callable[[HostState], FilterResult],
) -> Iterator[Group]:
    """Judge hosts once if the filter must answer the same for them."""
    varies_by = known.varies(spec, settings) if known else REQUEST
    for host, uuids in hosts.alike(varies_by):
        yield judge_one(host), uuids


# How many more servers the counting host filters allow.


def needs_builds(hosts: Iterable[HostState], settings: SchedulerSettings) -> bool:
    """Whether ``Compute.builds`` could prove that an enabled filter passes a host."""
    limits = [
        (report, limit)
        for host in hosts
        for key, limit in _limits(host, settings)
        if key == MAX_IO_OPS and (report := host.compute.report) is not None
    ]
    return any(r.current_workload < limit <= r.running_vms for r, limit in limits)


def servers_left(
    hosts: Iterable[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Mapping[str, tuple[int | None, int | None]]:
    """How many more servers counting filters and claims allow: at least, at most.

    By node UUID, without hosts that have no limit. None means unlimited.
    """
    claims = settings.claims.rooms(spec, settings) if settings.claims else {}
    if not claims and not _counting(settings):
        return {}
    found = {}
    for host in hosts:
        uuid, limits = host.compute.uuid, [_counted(host, settings)]
        report = host.compute.report
        if uuid in claims and report is not None and report.is_read:
            limits.append(claims[uuid])
        found[uuid] = _lowest(*limits)
    return {uuid: each for uuid, each in found.items() if each != (None, None)}


def servers_if_empty(
    hosts: Iterable[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Mapping[str, tuple[int | None, int | None]]:
    """As :func:`servers_left`, if nothing is on the hosts."""
    settings = settings.of_empty_hosts
    claims = settings.claims.rooms(spec, settings) if settings.claims else {}
    found = {}
    for host in hosts if claims or _counting(settings) else ():
        limits = _limits(host, settings)
        most = min((n for key, n in limits if key == MAX_INSTANCES), default=None)
        claim = claims.get(host.compute.uuid, (None, None))
        found[host.compute.uuid] = _lowest((most, most), claim)
    return {uuid: each for uuid, each in found.items() if each != (None, None)}


def _lowest(*limits: tuple[int | None, int | None]) -> tuple[int | None, int | None]:
    least, most = ([n for n in each if n is not None] for each in zip(*limits))
    return min(least, default=None), min(most, default=None)


def _counted(
    host: HostState, settings: SchedulerSettings
) -> tuple[int | None, int | None]:
    """No API shows how many tasks a new server counts as.

    nova/scheduler/host_manager.py, ``HostState.consume_from_request``
    """
    least: list[int] = []
    most: list[int] = []
    for key, limit in _limits(host, settings):
        report, io_ops = host.compute.report, most_io_ops(host)
        if report is None or io_ops is None:
            least.append(0)
            most.append(limit)
        elif key == MAX_IO_OPS:
            least.append(limit - io_ops)
            most.append(limit)
        else:
            least.append(limit - report.running_vms)
            most.append(limit - report.running_vms)
    return min(least, default=None), min(most, default=None)


def _counting(settings: SchedulerSettings) -> list[NovaFilter]:
    rows = map(FILTERS.get, settings.items(options.ENABLED_FILTERS))
    return [row for row in rows if row is not None and row.counts]


def _limits(host: HostState, settings: SchedulerSettings) -> Iterator[tuple[str, int]]:
    for row in _counting(settings):
        lowest_value = None
        if row.aggregate_keys:
            lowest_value = lowest(host, row.counts, int)
        limit, _ = lowest_value or by_option(settings, row.options[0])
        yield row.counts, limit
