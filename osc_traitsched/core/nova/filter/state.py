"""Requests and hosts as host filters see them, and the answers of filters."""

from __future__ import annotations

import dataclasses
import functools
import ipaddress
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Union

from osc_traitsched.core.inventory.snapshot import Aggregate, Compute, NodeReport
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.server import Server
from osc_traitsched.text import by_key

# What a host filter says of one host: yes, no, unknown, or an exception.


@dataclasses.dataclass(frozen=True)
class Passes:
    """The filter passes the host."""


@dataclasses.dataclass(frozen=True)
class Fails:
    """The filter rejects the host.

    :ivar reason: one of the constants of this module
    :ivar key: empty if the filter has only one condition
    :ivar wanted: may be empty, as ``found``
    :ivar origin: of the key; None for the filter's own condition
    :ivar claim_passes: nova-compute takes the server if the filter does not run
    """

    reason: str
    key: str = ""
    wanted: str = ""
    found: tuple[str, ...] = ()
    origin: Origin | None = None
    claim_passes: bool = False


#: What :class:`Unknown` misses of NUMA cells.
NUMA_CELLS = "numa_topology"


@dataclasses.dataclass(frozen=True)
class Unknown:
    """The filter reads something that the API does not show.

    :ivar missing: Nova's name of it, such as ``numa_topology``
    :ivar key: that makes the filter read it; empty if it always does
    :ivar evidence: related facts for a person, in one line
    :ivar may_raise: some values would raise an exception
    """

    missing: str
    key: str = ""
    evidence: str = ""
    may_raise: bool = False


@dataclasses.dataclass(frozen=True)
class Raises:
    """The filter raises an exception, which fails the whole request."""

    exception: str
    key: str
    value: str
    origin: Origin | None = None


FilterResult = Union[Passes, Fails, Unknown, Raises]

PASSES = Passes()


def in_turn(answers: Iterable[FilterResult]) -> FilterResult:
    """Combined answer of conditions that Nova checks in order.

    Nova stops at the first that fails or raises. A failure after an unknown condition
    is certain unless that one may raise; an exception is not.
    """
    unknown: Unknown | None = None
    for answer in answers:
        if isinstance(answer, Unknown):
            unknown = answer if unknown is None or answer.may_raise else unknown
        elif isinstance(answer, Raises):
            return unknown or answer
        elif isinstance(answer, Fails):
            return unknown if unknown and unknown.may_raise else answer
    return unknown or PASSES


# Reasons of :class:`Fails`, with their words.
#
# In the words are ``key``, ``wanted`` and ``found``.


#: The words by reason, of one host; ``agreed`` makes them those of several.
SAID: dict[str, tuple[str, str]] = {}


def _reason(reason: str, words: str, need: str = "") -> str:
    SAID[reason] = words, need
    return reason


#: The service is disabled; found: the reason that was given, if any.
SERVICE_DISABLED = _reason("service-disabled", "is disabled")
SERVICE_DOWN = _reason("service-down", "has nova-compute down")
NO_METADATA = _reason("no-metadata", "is in no aggregate with {key}", "need {wanted}")
METADATA_DIFFERS = _reason(
    "metadata-differs", "is in aggregates with {key}={found}, not {wanted}"
)
IMAGE_DIFFERS = _reason(
    "image-differs", "is for images with {key}={found}, not {wanted}"
)
OTHER_PROJECTS = _reason("other-projects", "is reserved for other projects by {key}")
OTHER_FLAVORS = _reason("other-flavors", "is reserved for flavors {found} by {key}")
OTHER_ZONE = _reason("other-zone", "is in zone {found}, not {wanted}")
NO_CAPABILITY = _reason("no-capability", "lacks capability {key}", "need {wanted}")
CAPABILITY_DIFFERS = _reason("capability-differs", "has {key}={found}, not {wanted}")
UNSUPPORTED_IMAGE = _reason("unsupported-image", "does not support {key}={wanted}")
HYPERVISOR_VERSION = _reason(
    "hypervisor-version", "has hypervisor version {found}, not {wanted}"
)
ISOLATED_HOST = _reason("isolated-host", "is reserved for isolated images by {key}")
ISOLATED_IMAGE = _reason(
    "isolated-image", "is not reserved for isolated images by {key}"
)
GROUP_ELSEWHERE = _reason(
    "group-elsewhere", "runs no member of group {group}, which is on {found}"
)
GROUP_HERE = _reason(
    "group-here", "already runs a member of group {group} (max {wanted})"
)
GROUP_LEAVING = _reason(
    "group-leaving", "counts {found} of group {group} until that move is confirmed"
)
NOT_WITH_SERVERS = _reason("not-with-servers", "runs no server of hint {key}")
WITH_SERVERS = _reason("with-servers", "runs a server of hint {key}")
OUTSIDE_NETWORK = _reason("outside-network", "is outside {wanted}: {found}")
QUERY_IS_FALSE = _reason("query-is-false", "does not match hint {key}")
AT_LIMIT = _reason("at-limit", "is at the limit: {found} of {wanted} ({key})")
LARGER_THAN_HOST = _reason(
    "larger-than-host", "has only {found} {key} in all", "need {wanted}"
)
TOO_LITTLE_FREE = _reason("too-little-free", "has {found} {key} free", "need {wanted}")
NO_NUMA_TOPOLOGY = _reason(
    "no-numa-topology", "has no NUMA nodes ({found}; {key} needs some)"
)
TOO_FEW_NUMA_NODES = _reason(
    "too-few-numa-nodes", "has only {found} NUMA nodes ({key} needs {wanted})"
)
TOO_FEW_DEDICATED_CPUS = _reason(
    "too-few-dedicated-cpus", "has only {found} PCPU in all", "need {wanted}"
)
PAGES_DO_NOT_DIVIDE = _reason(
    "pages-do-not-divide", "can't give a NUMA node {found} MB in pages of {wanted}"
)
#: Nova says so; wanted and found are in its words.
CLAIM_FAILS = _reason("claim-fails", "fails nova-compute's claim", "{wanted}; {found}")
#: nova-compute rejects these even without a filter (nova/compute/claims.py,
#: ``_test_numa_topology``).
CLAIMED = frozenset(
    [TOO_FEW_NUMA_NODES, TOO_FEW_DEDICATED_CPUS, PAGES_DO_NOT_DIVIDE, CLAIM_FAILS]
)
SERVER_IS_HERE = _reason("server-is-here", "is where the server already runs")
HYPERVISOR_TYPE = _reason("hypervisor-type", "has the hypervisor {found}, not {wanted}")
HYPERVISOR_OLDER = _reason(
    "hypervisor-older", "has hypervisor version {found}, older than {wanted}"
)
#: A filter of one's own, or one that was run in Nova; found: what it logged.
OWN = "custom-filter"


# What filters and weighers are given: a host's state and what is asked for.


@dataclasses.dataclass(frozen=True)
class HostState:
    """A compute node as nova-scheduler sees it, as far as the API shows.

    nova/scheduler/host_manager.py, ``HostState``

    :ivar aggregates: of its service host, in Nova
    :ivar instances: UUIDs of servers on its service host, at least those that the
        request names; None if not read
    :ivar allocation_ratios: by resource class, from Placement, or set in thought; None
        if not read
    :ivar failed_builds: those that were read
    :ivar num_io_ops: from Nova's database, as all of its failed builds; None if not
        read
    :ivar free_devices: PCI devices, from there, too
    """

    compute: Compute
    aggregates: tuple[Aggregate, ...] = ()
    instances: frozenset[str] | None = None
    allocation_ratios: Mapping[str, float] | None = None
    failed_builds: int = 0
    num_io_ops: int | None = None
    free_devices: int | None = None

    @property
    def host(self) -> str:
        """Service host."""
        return self.compute.service_host

    @property
    def node(self) -> str:
        """Hypervisor hostname."""
        return self.compute.node

    @functools.cached_property
    def model(self) -> str:
        """Service and hardware as far as other hosts can have the same."""
        node, report = self.compute, self.compute.report
        service = (node.is_up, node.is_enabled, node.disabled_reason)
        return repr(
            (
                service,
                report
                and (
                    report.hypervisor_type,
                    report.hypervisor_version,
                    report.cpu_info,
                ),
            )
        )

    @functools.cached_property
    def metadata(self) -> Mapping[str, frozenset[str]]:
        """Values of its aggregates by key; Nova splits them at commas.

        nova/scheduler/filters/utils.py, ``aggregate_metadata_get_by_host``
        """
        merged: dict[str, set[str]] = {}
        for aggregate in self.aggregates:
            for key, value in aggregate.metadata.items():
                values = (part.strip() for part in value.split(","))
                merged.setdefault(key, set()).update(values)
        return {key: frozenset(values) for key, values in merged.items()}


@dataclasses.dataclass(frozen=True)
class MemberMove:
    """A migration of a group's member that is neither confirmed nor over.

    :ivar server: its UUID
    :ivar hosts: source and destination; nova-compute counts the server on both
    :ivar is_finished: it waits for somebody to confirm or revert it
    """

    server: str
    name: str
    hosts: frozenset[str]
    is_finished: bool


@dataclasses.dataclass(frozen=True)
class ServerGroup:
    """A server group in its current state.

    :ivar members: UUIDs of its servers
    :ivar hosts: service hosts of its servers
    :ivar is_placed: ``hosts`` is complete: every cell of its servers answered
    :ivar project: owner; None if unknown
    :ivar moves: of its members; None if this user may not list them
    """

    name: str
    policy: str
    max_server_per_host: int = 1
    members: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    is_placed: bool = True
    project: str | None = None
    moves: tuple[MemberMove, ...] | None = ()


@dataclasses.dataclass(frozen=True)
class RequestSpec:
    """A request as filters see it (nova/objects/request_spec.py, ``RequestSpec``).

    :ivar image_id: also of a root volume's image (nova/block_device.py,
        ``get_bdm_image_metadata``); empty for none
    :ivar hints: scheduler hints; a hint that occurs once has one value
    :ivar instance_uuid: of an existing server; None for a new one
    :ivar remote_address: client address in the request context (nova/api/auth.py,
        ``NovaKeystoneContext``); None if unknown
    """

    server: Server
    flavor_name: str
    image_id: str = ""
    hints: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    group: ServerGroup | None = None
    instance_uuid: str | None = None
    remote_address: str | None = None
    num_instances: int = 1


def host_states(
    computes: Iterable[Compute],
    aggregates: Iterable[Aggregate],
    servers: Mapping[str, tuple[str, str]] | None = None,
) -> tuple[HostState, ...]:
    """States of compute nodes with their aggregates.

    :param servers: service host and node by UUID; None if not read
    """
    on_host: dict[str, set[str]] = {}
    for server, (host, _) in (servers or {}).items():
        on_host.setdefault(host, set()).add(server)
    of_host = by_key(
        (host, aggregate) for aggregate in aggregates for host in aggregate.hosts
    )
    return tuple(
        HostState(
            each,
            tuple(of_host.get(each.service_host, ())),
            None if servers is None else frozenset(on_host.get(each.service_host, ())),
            each.report.ratios if each.report else None,
        )
        for each in computes
    )


# The filter that wants the metrics which hosts are weighed by.


def metrics(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Pass every host if no metric is weighed (``MetricsFilter``)."""
    names = weighed(settings)
    return Unknown("metrics", options.METRICS, ", ".join(names)) if names else PASSES


def weighed(settings: SchedulerSettings) -> tuple[str, ...]:
    """Metrics with a number as ratio (nova/scheduler/utils.py, ``parse_options``)."""
    found = []
    for item in settings.items(options.METRICS):
        name, _, ratio = item.partition("=")
        if name and _is_number(ratio):
            found.append(name)
    return tuple(found)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# What ``HostState`` has under which name, as far as it can be seen from outside.


#: What ``stats`` has of every other node (nova/compute/stats.py).
_STATS = ("io_workload", "failed_builds", "num_instances", "uptime")
_COUNTS = ("num_vm_", "num_task_", "num_os_type_", "num_proj_")

_OF_HOST: Mapping[str, Callable[[HostState], str]] = {
    "host": lambda host: host.host,
    "nodename": lambda host: host.node,
    "hypervisor_hostname": lambda host: host.node,
    "uuid": lambda host: host.compute.uuid,
}
_OF_REPORT: Mapping[str, Callable[[NodeReport], object]] = {
    "total_usable_ram_mb": lambda report: report.memory_mb,
    "total_usable_disk_gb": lambda report: report.local_gb,
    "disk_mb_used": lambda report: report.local_gb_used * 1024,
    "free_ram_mb": lambda report: report.free_ram_mb,
    "free_disk_mb": lambda report: report.free_disk_mb,
    "vcpus_total": lambda report: report.vcpus,
    "vcpus_used": lambda report: report.vcpus_used,
    "num_instances": lambda report: report.running_vms,
    "host_ip": lambda report: _address(report),
    "hypervisor_type": lambda report: report.hypervisor_type,
    "hypervisor_version": lambda report: report.hypervisor_version,
}
#: Those that no API shows, or not in the form that they are compared in.
_HIDDEN = frozenset(
    [
        "_lock_name",
        "aggregates",
        "allocation_candidates",
        "cell_uuid",
        "consume_from_request",
        "cpu_allocation_ratio",
        "cpu_info",
        "disk_allocation_ratio",
        "failed_builds",
        "instances",
        "limits",
        "metrics",
        "num_io_ops",
        "numa_topology",
        "pci_stats",
        "ram_allocation_ratio",
        "service",
        "stats",
        "supported_instances",
        "update",
        "updated",
    ]
)
#: Those that are no text, number or name in any release: what is written of them
#: equals nothing that anybody wants.
_OBJECTS = frozenset(
    [
        "aggregates",
        "consume_from_request",
        "instances",
        "limits",
        "metrics",
        "numa_topology",
        "pci_stats",
        "service",
        "stats",
        "supported_instances",
        "update",
    ]
)


#: Those that change with the servers of a host.
_OF_USE = frozenset(
    [
        "disk_mb_used",
        "free_disk_mb",
        "free_ram_mb",
        "num_instances",
        "num_io_ops",
        "vcpus_used",
    ]
)


def is_of_use(path: Sequence[str]) -> bool:
    """Whether a path leads to a value that changes with the host's servers."""
    first, *steps = path
    if first == "stats" and steps:
        first = steps[0]
    return first in _OF_USE or first in _STATS or first.startswith(_COUNTS)


def _address(report: NodeReport) -> object:
    try:
        return ipaddress.ip_address(report.host_ip or "")
    except ValueError:
        return None


@dataclasses.dataclass(eq=False)
class NotVisible(Exception):
    """A filter reads something, by Nova's name, that the API does not show."""

    name: str


def exists(name: str) -> bool:
    """Whether every host state has this attribute (``HostState``)."""
    return name in _OF_HOST or name in _OF_REPORT or name in _HIDDEN


def is_object(name: str) -> bool:
    """Whether an attribute is an object, which equals no text."""
    return name in _OBJECTS


def attribute(host: HostState, name: str) -> object:
    """An attribute of a host state, or None; raises NotVisible."""
    if name in _OF_HOST:
        return _OF_HOST[name](host)
    if name in _HIDDEN:
        raise NotVisible(name)
    if name not in _OF_REPORT:
        return None
    if host.compute.report is None:
        raise NotVisible(name)
    return _OF_REPORT[name](host.compute.report)


def statistic(host: HostState, name: str) -> object:
    """A statistic of a node, or None; Ironic's are its properties and capabilities.

    :raises NotVisible: if the API does not show it
    """
    report = host.compute.report
    if report is None or report.is_of_ironic:
        raise NotVisible("stats")
    if name == "num_instances" and report.running_vms > 0:
        return str(report.running_vms)
    if name in _STATS or name.startswith(_COUNTS):
        raise NotVisible("stats")
    return None


# Which servers a hypervisor runs, as far as its type and its CPUs tell.
#
# No API shows ``supported_instances``, the list of architecture, hypervisor type and
# mode that a driver reports. Of most drivers it is known.


ARCHITECTURE, TYPE, MODE = "hw_architecture", "img_hv_type", "hw_vm_mode"

#: By what the driver calls its hypervisor, from nova/virt/: fake.py,
#: vmwareapi/host.py and zvm/driver.py.
_FIXED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "fake": {ARCHITECTURE: ("x86_64",), TYPE: ("fake",), MODE: ("hvm",)},
    "VMware vCenter Server": {
        ARCHITECTURE: ("i686", "x86_64"),
        TYPE: ("vmware",),
        MODE: ("hvm",),
    },
    "zvm": {ARCHITECTURE: ("s390x",), TYPE: ("zvm",), MODE: ("hvm",)},
}
_LIBVIRT = "QEMU"
#: What libvirt's driver for QEMU may call a server's hypervisor.
_LIBVIRT_TYPES = ("kqemu", "kvm", "qemu", "xen")


def supports(host: HostState, asked: Mapping[str, str]) -> bool | None:
    """Whether a host supports these image properties; None if unknown."""
    report = host.compute.report
    if report is None:
        return None
    fixed = _FIXED.get(report.hypervisor_type)
    if fixed is not None:
        return all(value in fixed[name] for name, value in asked.items())
    if report.hypervisor_type != _LIBVIRT:
        return None
    found = {_OF_LIBVIRT[name](host, value) for name, value in asked.items()}
    if False in found:
        return False
    return None if None in found else True


def architecture(host: HostState) -> str:
    """The node's own architecture, by Nova's name; empty if unknown.

    Traits prove nothing, since nova-compute never removes them, and QEMU may emulate
    others (nova/virt/libvirt/driver.py, ``_get_cpu_info`` and
    ``_get_cpu_emulation_arch_traits``).
    """
    cpu_info = (host.compute.report and host.compute.report.cpu_info) or {}
    own = cpu_info.get("arch")
    return own if isinstance(own, str) else ""


def _has_architecture(host: HostState, value: str) -> bool | None:
    return True if value == architecture(host) else None


def _has_type(host: HostState, value: str) -> bool | None:
    """The API does not tell KVM from QEMU without KVM."""
    return None if value in _LIBVIRT_TYPES else False


def _has_mode(host: HostState, value: str) -> bool | None:
    return value == "hvm"


_OF_LIBVIRT: Mapping[str, Callable[[HostState, str], bool | None]] = {
    ARCHITECTURE: _has_architecture,
    TYPE: _has_type,
    MODE: _has_mode,
}
