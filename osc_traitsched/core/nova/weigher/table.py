"""Nova's own weighers, under their names, and those that are enabled."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.core.errors import WeighersNotInRelease
from osc_traitsched.core.nova import weigher_options as options
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.nova.weigher import weighing
from osc_traitsched.core.nova.weigher.weight import Weigher

_ROWS = (
    Weigher(
        "BuildFailureWeigher",
        "compute",
        weighing.build_failure,
        options.BUILD_FAILURE,
        is_negated=True,
    ),
    Weigher("CPUWeigher", "cpu", weighing.cpu, options.CPU, minimum=0),
    Weigher(
        "CrossCellWeigher",
        "cross_cell",
        weighing.cross_cell,
        options.CROSS_CELL,
        since=21,
    ),
    Weigher("DiskWeigher", "disk", weighing.disk, options.DISK, minimum=0),
    Weigher(
        "HypervisorVersionWeigher",
        "hypervisor_version",
        weighing.hypervisor_version,
        options.HYPERVISOR_VERSION,
        since=28,
    ),
    Weigher(
        "ImagePropertiesWeigher",
        "image_props",
        weighing.image_properties,
        options.IMAGE_PROPERTIES,
        since=31,
    ),
    Weigher("IoOpsWeigher", "io_ops", weighing.io_ops, options.IO_OPS, minimum=0),
    Weigher("MetricsWeigher", "metrics", weighing.metrics, options.METRICS),
    Weigher(
        "NumInstancesWeigher",
        "num_instances",
        weighing.num_instances,
        options.NUM_INSTANCES,
        since=28,
    ),
    Weigher("PCIWeigher", "pci", weighing.pci, options.PCI),
    Weigher("RAMWeigher", "ram", weighing.ram, options.RAM, minimum=0),
    Weigher(
        "ServerGroupSoftAffinityWeigher",
        "affinity",
        weighing.soft_affinity,
        options.SOFT_AFFINITY,
    ),
    Weigher(
        "ServerGroupSoftAntiAffinityWeigher",
        "affinity",
        weighing.soft_anti_affinity,
        options.SOFT_ANTI_AFFINITY,
    ),
)

#: All of them by their names.
WEIGHERS: Mapping[str, Weigher] = {weigher.name: weigher for weigher in _ROWS}

_BY_PATH = {weigher.path: weigher for weigher in _ROWS}
_OWN = "nova.scheduler.weights."


def enabled(settings: SchedulerSettings) -> tuple[tuple[Weigher, ...], tuple[str, ...]]:
    """Return Nova's own weighers that run, and the names of others.

    One that is named twice weighs twice.

    nova/loadables.py, ``get_matching_classes``

    :raises WeighersNotInRelease: for names that :func:`not_loadable` returns
    """
    lacking = not_loadable(settings)
    if lacking:
        source = settings.setting(options.WEIGHT_CLASSES).source
        raise WeighersNotInRelease(lacking, settings.release, source)
    found: list[Weigher] = []
    others: list[str] = []
    for name in _listed(settings):
        weighers = _named(name, settings.release)
        found += weighers
        if not weighers:
            others.append(name)
    return tuple(found), tuple(others)


def not_loadable(settings: SchedulerSettings) -> tuple[str, ...]:
    """Return the listed names with which nova-scheduler does not start, each once.

    They are names of Nova's own that the release lacks, and names without a module:
    each is imported, and so has to be a path.
    """
    return tuple(
        name
        for name in dict.fromkeys(_listed(settings))
        if (name.startswith(_OWN) or "." not in name)
        and not _named(name, settings.release)
    )


def has_own(settings: SchedulerSettings) -> bool:
    """Tell whether the list has names that are none of Nova's."""
    return any(not name.startswith(_OWN) for name in _listed(settings))


def paths(release: int) -> tuple[str, ...]:
    """Return all names of Nova's own that a release can be given."""
    own = (each.path for each in _ROWS if each.is_in(release))
    return (options.ALL_WEIGHERS, *own)


def _listed(settings: SchedulerSettings) -> tuple[str, ...]:
    value = settings.value(options.WEIGHT_CLASSES)
    return value if isinstance(value, tuple) else ()


def _named(name: str, release: int) -> tuple[Weigher, ...]:
    rows = _ROWS if name == options.ALL_WEIGHERS else [_BY_PATH.get(name)]
    return tuple(each for each in rows if each and each.is_in(release))
