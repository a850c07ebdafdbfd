"""Host filters that read the compute node (nova/scheduler/filters)."""

from __future__ import annotations

import dataclasses
import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova import attachments, building, options, properties
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter import state
from osc_traitsched.core.nova.filter.state import (
    PASSES,
    Fails,
    FilterResult,
    HostState,
    NotVisible,
    Raises,
    RequestSpec,
    Unknown,
    attribute,
    exists,
    in_turn,
    statistic,
)
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.server import Server, keys

# Host filters that compare values or JSON (nova/scheduler/filters).


# How the value of an extra spec is compared with what a host has.


#: What :func:`match` can raise.
ERRORS = (ValueError, IndexError)

_NUMBERS: Mapping[str, Callable[[float, float], bool]] = {
    "=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
}
_TEXTS: Mapping[str, Callable[[str, str], bool]] = {
    "s==": operator.eq,
    "s!=": operator.ne,
    "s<": operator.lt,
    "s<=": operator.le,
    "s>": operator.gt,
    "s>=": operator.ge,
    "<in>": operator.contains,
}


def match(value: str, wanted: str) -> bool:
    """Whether a host's value matches an extra spec (``match``).

    The first word can be an operator; ``=`` means "at least". An operator without an
    operand matches nothing.

    :raises ValueError: if numbers are compared and one is invalid
    :raises IndexError: for ``<or>`` alone
    """
    op, *operands = wanted.split() or [""]
    if op == "<or>":
        return _is_one_of(value, operands)
    if op == "<all-in>":
        return bool(operands) and all(each in value for each in operands)
    if op not in _NUMBERS and op not in _TEXTS:
        return value == wanted
    if not operands:
        return False
    if op in _TEXTS:
        return _TEXTS[op](value, operands[0])
    return _NUMBERS[op](float(value), float(operands[0]))


def may_raise(wanted: str) -> bool:
    """Whether :func:`match` raises an exception for some values."""
    op, *operands = wanted.split() or [""]
    return op in _NUMBERS if operands else op == "<or>"


def can_match(wanted: str) -> bool:
    """Whether any metadata value can match.

    Nova splits values at commas (``aggregate_metadata_get_by_host``).
    """
    if is_plain(wanted):
        return "," not in wanted and wanted == wanted.strip()
    return len(wanted.split()) > 1


def is_plain(wanted: str) -> bool:
    """Whether the whole text is compared, without an operator."""
    op = next(iter(wanted.split()), "")
    return op not in _NUMBERS and op not in _TEXTS and op not in ("<or>", "<all-in>")


def _is_one_of(value: str, words: list[str]) -> bool:
    """Compare with every second word, whatever separates them."""
    if not words:
        raise IndexError
    return value in words[::2]


# The filters that count what is on a host, and what an aggregate's metadata allows.


Number = TypeVar("Number", int, float)

MAX_IO_OPS, MAX_INSTANCES = "max_io_ops_per_host", "max_instances_per_host"


def num_instances(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Limit the servers on a host (``NumInstancesFilter``)."""
    return _few_servers(host, *by_option(settings, options.MAX_INSTANCES))


def aggregate_num_instances(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Limit servers; aggregates go first (``AggregateNumInstancesFilter``)."""
    limit = lowest(host, MAX_INSTANCES, int)
    return _few_servers(host, *(limit or by_option(settings, options.MAX_INSTANCES)))


def io_ops(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Limit concurrent builds, resizes and so on (``IoOpsFilter``)."""
    return _few_io_ops(host, *by_option(settings, options.MAX_IO_OPS))


def aggregate_io_ops(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Limit these tasks; aggregates go first (``AggregateIoOpsFilter``)."""
    limit = lowest(host, MAX_IO_OPS, int)
    return _few_io_ops(host, *(limit or by_option(settings, options.MAX_IO_OPS)))


def most_io_ops(host: HostState) -> int | None:
    """Upper bound of ``num_io_ops`` of a host; None without a report.

    Each server that Nova counts has a task in the report, or is one of
    ``Compute.builds``: a built server counts until the host's next report
    (nova/compute/stats.py, ``Stats.io_workload``).
    """
    report, builds = host.compute.report, host.compute.builds
    if report is None:
        return None
    if builds is None:
        return report.running_vms
    return min(report.running_vms, report.current_workload + builds)


def _few_servers(host: HostState, limit: int, origin: Origin) -> FilterResult:
    report = host.compute.report
    if report is None:
        return Unknown("num_instances", origin.key)
    if report.running_vms < limit:
        return PASSES
    count = (str(report.running_vms),)
    return Fails(state.AT_LIMIT, origin.key, str(limit), count, origin)


def _few_io_ops(host: HostState, limit: int, origin: Origin) -> FilterResult:
    if limit <= 0:
        return Fails(state.AT_LIMIT, origin.key, str(limit), origin=origin)
    most = most_io_ops(host)
    if most is None:
        return Unknown("num_io_ops", origin.key)
    if most < limit:
        return PASSES
    return Unknown("num_io_ops", origin.key, f"{most} at most")


def by_option(settings: SchedulerSettings, option: str) -> tuple[int, Origin]:
    """The limit that an option sets."""
    value = settings.value(option)
    return (value if isinstance(value, int) else 0), Origin("option", option)


def lowest(
    host: HostState, key: str, read: Callable[[str], Number]
) -> tuple[Number, Origin] | None:
    """The lowest value of the host's aggregates for a key, with its origin.

    None, and then the option counts, if no aggregate has the key or if a value is not a
    number (``validate_num_values``).
    """
    having = [each for each in host.aggregates if key in each.metadata]
    try:
        values = [(read(each.metadata[key]), each) for each in having]
    except ValueError:
        return None
    if not values:
        return None
    value, aggregate = min(values, key=lambda each: each[0])
    return value, Origin.of_aggregate(aggregate, key)


# The filter whose query a user writes as a hint, in JSON.


QUERY = "query"
_ERRORS = (AttributeError, KeyError, RecursionError, TypeError, ValueError)

_OPERATORS: Mapping[str, Callable[[Any, Any], object]] = {
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_JOINED: Mapping[str, Callable[[list[object]], object]] = {
    "not": lambda args: [not arg for arg in args],
    "or": any,
    "and": all,
}


def json_filter(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Require the query of the hint to hold (``JsonFilter``)."""
    texts = spec.hints.get(QUERY, ())
    if not any(texts):
        return PASSES
    text, origin = ", ".join(texts), Origin("hint", QUERY)
    try:
        if len(texts) > 1:
            raise TypeError
        found = _computed(json.loads(texts[0]), host)
    except NotVisible as hidden:
        return Unknown(hidden.name, QUERY)
    except _ERRORS as exc:
        return Raises(type(exc).__name__, QUERY, text, origin)
    holds = any(found) if isinstance(found, list) else found
    return PASSES if holds else Fails(state.QUERY_IS_FALSE, QUERY, text, (), origin)


def _computed(query: object, host: HostState) -> object:
    """Missing values are left out of comparisons."""
    if not query:
        return True
    if not isinstance(query, (list, str)):
        raise KeyError if isinstance(query, dict) else TypeError
    name, *written = list(query)
    if name not in _OPERATORS and name not in _JOINED and name != "in":
        raise KeyError
    values = (_value(each, host) for each in written)
    args = [value for value in values if value is not None]
    if name in _JOINED:
        return _JOINED[name](args)
    if len(args) < 2:
        return False
    if name == "in":
        return args[0] in args[1:]
    compare = _OPERATORS[name]
    results = [compare(args[0], each) for each in args[1:]]
    return all(results)


def _value(written: object, host: HostState) -> object:
    if isinstance(written, list):
        return _computed(written, host)
    if not isinstance(written, str):
        return written
    if not written.startswith("$"):
        return written or None
    return _looked_up(written[1:].split("."), host)


def _looked_up(path: list[str], host: HostState) -> object:
    first, *steps = path
    if first == "stats" and steps:
        found, steps = statistic(host, steps[0]), steps[1:]
    elif first == "cpu_info" and steps:
        raise AttributeError
    else:
        found = attribute(host, first)
    if found is not None and steps:
        raise AttributeError
    return found


# Host filters that read the compute node (nova/scheduler/filters).


# How the version of a hypervisor is compared with what an image wants.


_COMPARED = re.compile(r"\s*(<=|>=|<|>|!=|==)\s*(\S+)\s*")
_VERSION = re.compile(
    r"v?(?:(?P<epoch>\d+)!)?(?P<numbers>\d+(?:\.\d+)*)"
    r"(?P<pre>[-_.]?(?:alpha|beta|preview|pre|rc|a|b|c)[-_.]?\d*)?"
    r"(?P<post>-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?"
    r"(?P<dev>[-_.]?dev[-_.]?\d*)?"
    r"(?P<local>\+.*)?",
    re.ASCII | re.IGNORECASE,
)


def numbers_of(version: int) -> tuple[int, ...]:
    """Parts of a version number: 1002003 is 1.2.3 (``convert_version_to_str``)."""
    parts: list[int] = []
    while version > 0:
        version, part = divmod(version, 1000)
        parts.insert(0, part)
    return tuple(parts)


def text_of(version: int) -> str:
    """Version number as text."""
    return ".".join(map(str, numbers_of(version)))


def satisfies(version: int, wanted: str) -> bool:
    """Whether a hypervisor version meets an image's predicate, such as ``>=2.5,<3``."""
    found = numbers_of(version)
    return all(_holds(found, part) for part in wanted.split(","))


def _holds(found: tuple[int, ...], comparison: str) -> bool:
    compared = _COMPARED.fullmatch(comparison)
    other = _VERSION.fullmatch(compared[2]) if compared else None
    if not compared or not other:
        return False
    order = _order(found, other)
    return {
        "<": order < 0,
        "<=": order <= 0,
        ">": order > 0,
        ">=": order >= 0,
        "==": order == 0,
        "!=": order != 0,
    }[compared[1]]


def _order(found: tuple[int, ...], other: re.Match[str]) -> int:
    """-1, 0 or 1: order of a numeric version and any other of PEP 440."""
    if int(other["epoch"] or 0):
        return -1
    numbers = [int(part) for part in other["numbers"].split(".")]
    width = max(len(found), len(numbers))
    ours, theirs = ([*each, *[0] * (width - len(each))] for each in (found, numbers))
    if ours != theirs:
        return -1 if ours < theirs else 1
    if other["pre"]:
        return 1
    if other["post"]:
        return -1
    if other["dev"]:
        return 1
    return -1 if other["local"] else 0


# The filters that fit a server into NUMA nodes and PCI devices, which no API shows.


PCI_ALIAS = "pci_passthrough:alias"
#: What drivers call their hypervisor that report no NUMA topology: of nova/virt/ those
#: in fake.py, vmwareapi, ironic and zvm.
_WITHOUT_NODES = ("fake", "VMware vCenter Server", "ironic", "zvm")


def numa_topology(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Require NUMA nodes that fit those of the server, if it has any.

    ``NUMATopologyFilter``

    :raises Refusal: for requests that nova-api rejects
    """
    origins = attachments.cpu_origins(spec.server)
    if not origins:
        return PASSES
    report = host.compute.report
    if report is not None and report.hypervisor_type in _WITHOUT_NODES:
        found = (report.hypervisor_type,)
        key = origins[0].key
        return Fails(state.NO_NUMA_TOPOLOGY, key, found=found, origin=origins[0])
    page = undivided_page(spec.server, _architecture(host))
    if page:
        key = keys(spec.server, attachments.PAGES)[-1]
        memory = str(building.memory_of_cells(spec.server)[0])
        size = f"{page} kB" if page % 1024 else f"{page // 1024} MB"
        side = "flavor" if key == attachments.PAGES else "image"
        origin = Origin(side, key)
        return Fails(state.PAGES_DO_NOT_DIVIDE, key, size, (memory,), origin)
    # nova/virt/hardware.py, numa_fit_instance_to_host
    cells, nodes = _topology(host).get("cells"), attachments.nodes(spec.server)
    is_short = nodes is not None and isinstance(cells, int) and cells < nodes
    if is_short and not spec.server.flavor.is_running:
        key, wanted, found = origins[0].key, str(nodes), (str(cells),)
        return Fails(state.TOO_FEW_NUMA_NODES, key, wanted, found, origins[0])
    shown = ", ".join(f"{key}: {value}" for key, value in _topology(host).items())
    return Unknown(state.NUMA_CELLS, origins[0].key, shown)


def needs_claim(spec: RequestSpec) -> bool:
    """Whether nova-compute claims NUMA cells or PCI devices of a flavor or an image.

    False for what Nova rejects: it claims nothing.
    """
    server = spec.server
    try:
        has_cells = bool(attachments.cpu_origins(server))
    except Refusal:
        return False
    return has_cells or PCI_ALIAS in server.flavor.specs


#: Each large page of a host with this architecture is a multiple of this one.
_LARGE_PAGES = {"x86_64": 2048, "i686": 2048}


def undivided_page(server: Server, architecture: str = "x86_64") -> int:
    """KiB of a page that the server's first NUMA node is no multiple of; 0 for none.

    nova/objects/numa.py, ``can_fit_pagesize``. Nova's cache of cells that fit mixes up
    the other nodes of a server, so that it may accept them (``fit_cache`` of
    ``numa_fit_instance_to_host``).

    :param architecture: the host's, which tells what large pages are
    """
    page = int(attachments.page_size(server))
    if page == properties.PAGE_WORDS["large"]:
        page = _LARGE_PAGES.get(architecture, 0)
    is_odd = page > 0 and building.memory_of_cells(server)[0] * 1024 % page
    return page if is_odd else 0


def nearest_ram(server: Server) -> tuple[int, ...]:
    """MB of RAM that a flavor's pages divide; none if they divide its own, too."""
    page = undivided_page(server)
    return building.nearest_ram(server, page) if page else ()


def _architecture(host: HostState) -> str:
    report = host.compute.report
    return str((report.cpu_info or {}).get("arch")) if report else ""


def pci_passthrough(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Require free PCI devices that the server needs (``PciPassthroughFilter``)."""
    if PCI_ALIAS in spec.server.flavor.specs:
        return Unknown("pci_stats", PCI_ALIAS)
    if any(port.needs_device for port in spec.server.parts.ports):
        return Unknown("pci_stats", "binding:vnic_type")
    return PASSES


def accelerators(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Pass all hosts if the server has no device of Cyborg's.

    nova/conductor/manager.py, ``_create_and_bind_arq_for_instance``
    """
    is_of_port = any(port.device_profile for port in spec.server.parts.ports)
    if is_of_port or attachments.profile_name(spec.server):
        return Unknown("free devices", attachments.PROFILE)
    return PASSES


def port_bindings(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Pass all hosts if Neutron's drivers bind the ports anywhere: to virtual machines.

    Ports that need a device are those of :func:`pci_passthrough`.
    """
    is_bare = spec.server.flavor.specs.get("resources:VCPU") == "0"
    usual = ("normal", "baremetal") if is_bare else ("normal",)
    for port in spec.server.parts.ports:
        if port.vnic_type not in usual and not port.needs_device:
            return Unknown("port bindings", f"binding:vnic_type={port.vnic_type}")
    return PASSES


def _topology(host: HostState) -> Mapping[str, object]:
    """The topology of libvirt has the number of its NUMA cells."""
    report = host.compute.report
    topology = (report.cpu_info or {}).get("topology") if report else None
    return topology if isinstance(topology, dict) else {}


# The filters of before 22 that did sums of CPUs, memory and disk after Placement.


_MB_A_GB = 1024


@dataclasses.dataclass(frozen=True)
class RequiredAmount:
    """An amount that a filter requires, and the host's: pieces or MB.

    :ivar key: of the allocation ratio, in metadata and in Nova's compute node
    """

    asked: int
    total: int
    used: int
    key: str
    resource_class: str


def aggregate_core(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Require the CPUs; hosts that report none pass (``AggregateCoreFilter``)."""
    report, flavor = host.compute.report, spec.server.flavor
    if report is None:
        return Unknown("vcpus_total")
    if not report.vcpus:
        return PASSES
    amount = RequiredAmount(
        flavor.vcpus, report.vcpus, report.vcpus_used, "cpu_allocation_ratio", "VCPU"
    )
    return _has_room(host, amount)


def aggregate_ram(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Require the memory (``AggregateRamFilter``)."""
    report, flavor = host.compute.report, spec.server.flavor
    if report is None:
        return Unknown("free_ram_mb")
    total, used = report.memory_mb, report.memory_mb - report.free_ram_mb
    amount = RequiredAmount(
        flavor.ram, total, used, "ram_allocation_ratio", "MEMORY_MB"
    )
    return _has_room(host, amount)


def aggregate_disk(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Require the disk, even if the root disk is a volume (``AggregateDiskFilter``)."""
    report, flavor = host.compute.report, spec.server.flavor
    if report is None:
        return Unknown("free_disk_mb")
    asked = (flavor.disk + flavor.ephemeral) * _MB_A_GB + flavor.swap
    total = report.local_gb * _MB_A_GB
    used = total - report.free_disk_mb
    amount = RequiredAmount(asked, total, used, "disk_allocation_ratio", "DISK_GB")
    return _has_room(host, amount)


def _has_room(host: HostState, amount: RequiredAmount) -> FilterResult:
    """Require an amount within the host's total, and within the ratio's free part.

    Without a ratio in aggregates, Placement's counts as the ComputeNode's.
    """
    asked = str(amount.asked)
    if amount.asked > amount.total:
        total = (str(amount.total),)
        return Fails(state.LARGER_THAN_HOST, amount.key, asked, total)
    ratio, origin = lowest(host, amount.key, float) or (_ratio(host, amount), None)
    if ratio is None:
        return Unknown(amount.key)
    free = amount.total * ratio - amount.used
    if free >= amount.asked:
        return PASSES
    return Fails(state.TOO_LITTLE_FREE, amount.key, asked, (f"{free:g}",), origin)


def _ratio(host: HostState, amount: RequiredAmount) -> float | None:
    return (host.allocation_ratios or {}).get(amount.resource_class)


# The filters that look at the host's service, and those that never keep a host out.


def all_hosts(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Pass every host (``AllHostsFilter``)."""
    return PASSES


def retry(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Pass every host, since none was tried before (``RetryFilter``).

    Until 21 a failed build was rescheduled with the hosts tried so far.
    """
    return PASSES


def compute(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Require an enabled nova-compute that is up (``ComputeFilter``)."""
    found = host.compute
    if not found.is_enabled:
        reason = found.disabled_reason
        return Fails(state.SERVICE_DISABLED, found=(reason,) if reason else ())
    if not found.is_up:
        return Fails(state.SERVICE_DOWN)
    return PASSES


def isolated_hosts(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Reserve isolated hosts for isolated images (``IsolatedHostsFilter``)."""
    images = settings.items(options.ISOLATED_IMAGES)
    hosts = settings.items(options.ISOLATED_HOSTS)
    is_strict = bool(settings.value(options.RESTRICT_ISOLATED_HOSTS))
    of_image, of_host = spec.image_id in images, host.host in hosts
    if of_image and not of_host:
        return _kept_out(state.ISOLATED_IMAGE, options.ISOLATED_IMAGES, spec.image_id)
    if of_host and not of_image and is_strict:
        return _kept_out(state.ISOLATED_HOST, options.ISOLATED_HOSTS, host.host)
    return PASSES


def _kept_out(reason: str, option: str, wanted: str) -> Fails:
    return Fails(reason, option, wanted, origin=Origin("option", option))


# The filter that compares a flavor's extra specs with what a host is.


CAPABILITIES_SCOPE = "capabilities"
#: What stands for the third key, from the release on.
ADDRESS_BITS, ADDRESS_BITS_SINCE = "hw:maxphysaddr_bits", 29
_BITS_PATH = ("cpu_info", "maxphysaddr", "bits")


@dataclasses.dataclass(frozen=True)
class WantedCapability:
    """A capability that an extra spec requires; ``path`` is its lookup."""

    key: str
    path: tuple[str, ...]
    value: str


def compute_capabilities(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Require the capabilities that extra specs name (``ComputeCapabilitiesFilter``).

    An extra spec without a scope counts only if the host state has such an attribute or
    statistic.
    """
    wanted = wanted_of(spec.server.flavor.specs, settings.release)
    return in_turn(_judged(host, spec, each) for each in wanted)


def wanted_of(specs: Mapping[str, str], release: int) -> Iterator[WantedCapability]:
    """Capabilities that extra specs may require, in Nova's order."""
    bits = specs.get(ADDRESS_BITS) if release >= ADDRESS_BITS_SINCE else None
    for key, value in specs.items():
        scope, *path = key.split(":")
        if not path:
            yield WantedCapability(key, (key,), value)
        elif scope == CAPABILITIES_SCOPE and not (
            bits is not None and tuple(path) == _BITS_PATH
        ):
            yield WantedCapability(key, tuple(path), value)
    if bits is not None:
        yield WantedCapability(ADDRESS_BITS, _BITS_PATH, f">= {bits}")


def _judged(
    host: HostState, spec: RequestSpec, wanted: WantedCapability
) -> FilterResult:
    key, origin = wanted.key, spec.server.flavor.origin(wanted.key)
    try:
        if ":" not in key and not exists(key) and statistic(host, key) is None:
            return PASSES
        found = capability(host, wanted.path)
        if found is None:
            return Fails(state.NO_CAPABILITY, key, wanted.value, origin=origin)
        if match(str(found), wanted.value):
            return PASSES
    except NotVisible as hidden:
        is_unsure = may_raise(wanted.value)
        return Unknown(hidden.name, key, may_raise=is_unsure)
    except ERRORS as exc:
        return Raises(type(exc).__name__, key, wanted.value, origin)
    return Fails(state.CAPABILITY_DIFFERS, key, wanted.value, (str(found),), origin)


def capability(host: HostState, path: tuple[str, ...]) -> object:
    """Value at the end of a path, or None; texts on the way are JSON.

    ``_get_capabilities``

    :raises NotVisible: if the API does not show it
    """
    first, *steps = path
    found: object
    if first == "stats" and steps:
        found, steps = statistic(host, steps[0]), steps[1:]
    elif first == "cpu_info" and steps:
        found = _cpu_info(host)
    else:
        found = attribute(host, first)
        if found is None:
            found = statistic(host, first)
    for step in steps:
        found = _step(found, step)
    return found


def _cpu_info(host: HostState) -> object:
    if host.compute.report is None:
        raise NotVisible("cpu_info")
    return host.compute.report.cpu_info


def _step(found: object, step: str) -> object:
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except (ValueError, RecursionError):
            return None
    return found.get(step) if isinstance(found, Mapping) else None
