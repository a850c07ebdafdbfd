"""From a server to clauses: its own requirements, and Nova's prefilters."""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait import (
    TENANT_KEY,
    ZONE_KEY,
    isolating_keys,
    key_of,
)
from osc_traitsched.core.nova import attachments, extra_specs, options
from osc_traitsched.core.nova.clause import (
    Clause,
    MemberOf,
    Origin,
    Resource,
    RootTrait,
    Trait,
)
from osc_traitsched.core.nova.options import OPTIONS, SchedulerSettings
from osc_traitsched.core.nova.server import (
    DEVICE_PROFILE,
    EPHEMERAL,
    IMAGE_METADATA,
    IMAGE_TYPE,
    PROJECT,
    STATELESS_WITHOUT_UEFI,
    TENANT,
    ZONE,
    Choice,
    Found,
    NotEvaluated,
    Segments,
    Server,
    SoFar,
    Switch,
)
from osc_traitsched.core.releases import OLDEST

# Translation of a server into clauses, mostly of the unsuffixed group.
#
# Functions in parentheses are of nova/scheduler/utils.py, ``ResourceRequest``.


_HYPERTHREADING = "HW_CPU_HYPERTHREADING"
_MB_A_GB = 1024
_NOT_A_CLASS = re.compile(r"[^0-9A-Za-z]+")


@dataclasses.dataclass(frozen=True)
class TranslationRule:
    """A translation rule.

    :ivar since: first release that has it
    :ivar pins: left out of the fallback query of a pinned server
    """

    function: Callable[[SoFar, Server], Iterable[Found]]
    since: int = OLDEST
    pins: bool = False


def translate(server: Server, so_far: SoFar, pinned: bool = True) -> SoFar:
    """Add the clauses of flavor, image and parts to those of the prefilters.

    :param pinned: False for Nova's fallback query, for hosts from before 20
    :raises Refusal: for requests that nova-scheduler rejects
    """
    for rule in RULES:
        if server.release >= rule.since and (pinned or not rule.pins):
            so_far = so_far.with_all(rule.function(so_far, server))
    return so_far.without_zeros()


def cpu_pinning(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Pinned CPUs and thread policy (``_translate_pinning_policies``)."""
    policy, threads = attachments.policy(server), attachments.thread_policy(server)
    isolated = attachments.emulator_policy(server) == "isolate"
    emulator = (server.flavor.origin(attachments.EMULATOR),) if isolated else ()
    own = (server.flavor.origin("vcpus"),)
    if policy.value == "dedicated":
        amount = server.flavor.vcpus + isolated
        yield Resource("", "PCPU", amount, (*policy.origins, *own, *emulator))
    if policy.value == "mixed":
        pinned, mask = _pinned_of_mixed(server)
        rest = server.flavor.vcpus - pinned
        yield Resource("", "VCPU", rest, (*policy.origins, *mask, *own))
        amount = pinned + isolated
        yield Resource("", "PCPU", amount, (*policy.origins, *mask, *emulator))
    if threads.value in ("isolate", "require"):
        forbidden = threads.value == "isolate"
        yield Trait("", _HYPERTHREADING, forbidden, threads.origins)


def _pinned_of_mixed(server: Server) -> tuple[int, tuple[Origin, ...]]:
    by_mask = attachments.dedicated_cpus(server)
    if by_mask:
        return by_mask.size, (server.flavor.origin(attachments.DEDICATED_MASK),)
    mask = attachments.realtime_mask(server)
    origins = [server.flavor.origin(attachments.REALTIME)]
    if mask:
        kind = "flavor" if mask[1] == attachments.REALTIME_MASK else "image"
        origins.append(Origin(kind, mask[1]))
    return attachments.realtime_cpus(server).size, tuple(origins)


def own_amounts(so_far: SoFar, server: Server) -> Iterator[Found]:
    """The flavor's CPUs, RAM and disk.

    A class that any group names is left out, even with an amount of 0
    (nova/scheduler/utils.py, ``from_request_spec``).
    """
    flavor = server.flavor
    named = {c.resource_class for c in so_far.clauses if isinstance(c, Resource)}
    if not named & {"VCPU", "PCPU"}:
        yield Resource("", "VCPU", flavor.vcpus, (flavor.origin("vcpus"),))
    if "MEMORY_MB" not in named:
        yield Resource("", "MEMORY_MB", flavor.ram, (flavor.origin("ram"),))
    if "DISK_GB" not in named:
        parts = {
            "disk": 0 if server.root_disk_is_a_volume else flavor.disk,
            EPHEMERAL: flavor.ephemeral,
            "swap": -(-flavor.swap // _MB_A_GB),
        }
        origins = tuple(flavor.origin(key) for key, size in parts.items() if size)
        yield Resource("", "DISK_GB", sum(parts.values()), origins)


def memory_encryption(so_far: SoFar, server: Server) -> Iterator[Found]:
    """An encryption context, and from 32 on the trait of the model.

    ``_translate_mem_encryption_request``
    """
    wanted, model = extra_specs.memory_encryption(server)
    if wanted.on:
        yield Resource("", "MEM_ENCRYPTION_CONTEXT", 1, wanted.origins)
    if model.value:
        name, _ = extra_specs.ENCRYPTION_TRAITS[model.value]
        yield Trait("", name, False, (*wanted.origins, *model.origins))


def persistent_memory(so_far: SoFar, server: Server) -> Iterator[Found]:
    """A namespace for each ``hw:pmem`` (``_translate_vpmems_request``)."""
    classes = [
        "CUSTOM_" + _NOT_A_CLASS.sub("_", f"PMEM_NAMESPACE_{label}").upper()
        for label in extra_specs.pmem_labels(server)
    ]
    for name, count in collections.Counter(classes).items():
        origins = (server.flavor.origin(extra_specs.PMEM),)
        yield Resource("", name, count, origins)


def tpm(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Version and, from 30, model of a TPM (``_translate_vtpm_request``)."""
    version, model = extra_specs.tpm(server)
    if version.value is None:
        return
    if server.release >= 30:
        crb = model.value == "tpm-crb"
        name = f"COMPUTE_SECURITY_TPM_{'CRB' if crb else 'TIS'}"
        yield Trait("", name, False, (*version.origins, *model.origins))
    number = version.value.replace(".", "_")
    yield Trait("", f"COMPUTE_SECURITY_TPM_{number}", False, version.origins)


def pci_numa_policy(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Trait of the policy ``socket`` (``_translate_pci_numa_affinity_policy``)."""
    policy = extra_specs.pci_numa_policy(server)
    yield from _where_chosen(policy, "socket", "COMPUTE_SOCKET_PCI_NUMA_AFFINITY")


def secure_boot(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Trait of required secure boot (``_translate_secure_boot_request``)."""
    policy = extra_specs.secure_boot(server)
    yield from _where_chosen(policy, "required", "COMPUTE_SECURITY_UEFI_SECURE_BOOT")


def address_mode(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Trait of the address mode (``_translate_maxphysaddr_request``)."""
    mode = extra_specs.address_mode(server)
    yield from _where_chosen(mode, "passthrough", "COMPUTE_ADDRESS_SPACE_PASSTHROUGH")
    yield from _where_chosen(mode, "emulate", "COMPUTE_ADDRESS_SPACE_EMULATED")


def stateless_firmware(so_far: SoFar, server: Server) -> Iterator[Found]:
    """Trait of stateless firmware (``_translate_stateless_firmware_request``)."""
    wanted = extra_specs.stateless_firmware(server)
    if wanted.on:
        name = "COMPUTE_SECURITY_STATELESS_FIRMWARE"
        yield Trait("", name, False, wanted.origins)
    elif server.image.flag("hw_firmware_stateless"):
        yield NotEvaluated(STATELESS_WITHOUT_UEFI, "hw_firmware_stateless", "true")


def _where_chosen(choice: Choice, value: str, trait: str) -> Iterator[Found]:
    if choice.value == value:
        yield Trait("", trait, False, choice.origins)


#: In Nova's order.
RULES: tuple[TranslationRule, ...] = (
    TranslationRule(extra_specs.bad_group_policy),
    TranslationRule(extra_specs.flavor_specs),
    TranslationRule(extra_specs.image_traits),
    TranslationRule(extra_specs.misspelled),
    TranslationRule(cpu_pinning, pins=True),
    TranslationRule(attachments.requested_resources),
    TranslationRule(own_amounts),
    TranslationRule(memory_encryption),
    TranslationRule(persistent_memory),
    TranslationRule(tpm, since=22),
    TranslationRule(pci_numa_policy, since=23),
    TranslationRule(secure_boot, since=23),
    TranslationRule(address_mode, since=29),
    TranslationRule(stateless_firmware, since=30),
)


# Nova's prefilters (request filters), and the clauses that each adds.


# The prefilters that look at aggregates: by project, by zone, by trait.
#
# nova/scheduler/request_filter.py, in the functions of the same names. What they look
# for is compared by the database, but for the beginning of a project's key.


def require_tenant_aggregate(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Restrict a project to the aggregates that name it in ``filter_tenant_id*``."""
    if server.project_id is None:
        yield NotEvaluated(PROJECT, "project_id")
        return
    equal = assumptions.collation.equal
    origins, uuids = [], set()
    for aggregate in server.aggregates:
        for key, value in aggregate.metadata.items():
            if key.startswith(TENANT_KEY) and equal(value, server.project_id):
                origins.append(Origin.of_aggregate(aggregate, key))
                uuids.add(aggregate.uuid)
    if uuids:
        yield MemberOf(frozenset(uuids), False, tuple(origins))
    elif assumptions.value(options.TENANT_REQUIRED):
        raise Refusal("RequestFilterFailed", "tenant-without-aggregate", ())
    else:
        yield NotEvaluated(TENANT, server.project_id)


def map_az_to_placement_aggregate(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Restrict the request to the aggregates of its availability zone, if any exist."""
    zone = server.zone
    if not zone:
        return
    equal = assumptions.collation.equal
    found = [
        (aggregate, key)
        for aggregate in server.aggregates
        for key, value in aggregate.metadata.items()
        if equal(key, ZONE_KEY) and equal(value, zone)
    ]
    if found:
        uuids = frozenset(aggregate.uuid for aggregate, _ in found)
        yield MemberOf(
            uuids, False, tuple(Origin.of_aggregate(a, key) for a, key in found)
        )
    else:
        yield NotEvaluated(ZONE, zone)


def isolate_aggregates(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Forbid aggregates that are isolated by a trait that the request does not require.

    Traits of all groups count, including those derived from flavor and image. Traits of
    the root do not.
    """
    asked = translate(server, so_far).clauses
    required = (c.name for c in asked if isinstance(c, Trait) and not c.forbidden)
    collation = assumptions.collation
    own = {collation.folded(key_of(name)) for name in required}
    for aggregate in server.aggregates:
        keys = isolating_keys(aggregate.metadata, collation)
        missing = [key for key in keys if collation.folded(key) not in own]
        if missing:
            origins = tuple(Origin.of_aggregate(aggregate, key) for key in missing)
            yield MemberOf(frozenset({aggregate.uuid}), True, origins)


# The prefilter that looks at the devices and architectures of an image.


@dataclasses.dataclass(frozen=True)
class _TraitProperty:
    """An image property that :func:`transform_image_metadata` turns into a trait.

    :ivar without: values that have no trait in os-traits
    :ivar only: the only values that have one; empty for all
    """

    name: str
    prefix: str
    since: int
    without: frozenset[str] = frozenset()
    only: frozenset[str] | None = None

    def has_trait(self, value: str) -> bool:
        known = self.only is None or value in self.only
        return known and value not in self.without


_TRAIT_PROPERTIES = (
    _TraitProperty("hw_cdrom_bus", "COMPUTE_STORAGE_BUS", 21),
    _TraitProperty("hw_disk_bus", "COMPUTE_STORAGE_BUS", 21),
    _TraitProperty("hw_video_model", "COMPUTE_GRAPHICS_MODEL", 21),
    _TraitProperty("hw_vif_model", "COMPUTE_NET_VIF_MODEL", 21),
    _TraitProperty("hw_architecture", "HW_ARCH", 25, without=frozenset({"armv7l"})),
    _TraitProperty(
        "hw_emulation_architecture",
        "COMPUTE_ARCH",
        25,
        only=frozenset({"aarch64", "mipsel", "ppc64le", "s390x", "x86_64"}),
    ),
    # os-traits calls them COMPUTE_VIOMMU_MODEL_*, and Nova looks for COMPUTE_VIOMMU_*.
    _TraitProperty("hw_viommu_model", "COMPUTE_VIOMMU", 26, only=frozenset()),
)

_NAMES = frozenset(told.name for told in _TRAIT_PROPERTIES)


def transform_image_metadata(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Require the traits of the image's devices and architectures.

    If one value has no trait, none is required (nova/scheduler/request_filter.py,
    ``transform_image_metadata``).
    """
    clauses = []
    for told in _TRAIT_PROPERTIES:
        value = server.image.text(told.name)
        if value is None or server.release < told.since:
            continue
        if not told.has_trait(value):
            key = server.image.key(told.name)
            yield NotEvaluated(IMAGE_METADATA, key, value)
            return
        trait = f"{told.prefix}_{value.replace('-', '_').upper()}"
        clauses.append(RootTrait(trait, False, (server.image.origin(told.name),)))
    yield from clauses


# The prefilters that look at ports and networks.
#
# nova/scheduler/request_filter.py, in the functions of the same names.


def routed_networks_filter(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Restrict the request to hosts that reach a segment of each routed network.

    For a port with an address, the segment of its first address counts.
    """
    for port in server.parts.ports:
        origin = Origin("port", "network_id", name=port.label)
        if port.segments is None:
            yield from _in_any(port.network.segments, origin)
        else:
            own = Origin("port", "fixed_ips", name=port.label)
            yield from _in_any(port.segments, own)
    for network in server.parts.networks:
        origin = Origin("network", "segments", name=network.label)
        yield from _in_any(network.segments, origin)


def remote_managed_ports_filter(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Require hosts for remote-managed ports, if the request has one."""
    for port in server.parts.ports:
        if port.vnic_type == "remote-managed":
            origin = Origin("port", "binding:vnic_type", name=port.label)
            yield RootTrait("COMPUTE_REMOTE_MANAGED_PORTS", False, (origin,))


def _in_any(segments: Segments, origin: Origin) -> Iterator[Found]:
    """Nova repeats the aggregates for each subnet."""
    if not all(segments):
        keys = (origin.name,)
        raise Refusal("RequestFilterFailed", "segment-without-aggregate", keys)
    if segments:
        named = collections.Counter(uuid for each in segments for uuid in each)
        repeated = named - collections.Counter(set(named))
        again = tuple(repeated.elements())
        yield MemberOf(frozenset(named), False, (origin,), again)


# The prefilters that ask something of a tree's root.
#
# nova/scheduler/request_filter.py, in the functions of the same names.


#: The disk formats that os-traits has a trait for, each with the release of Nova
#: that came with such an os-traits.
_IMAGE_TYPES: Mapping[str, int] = {
    **dict.fromkeys(
        ["AKI", "AMI", "ARI", "ISO", "QCOW2", "RAW", "VDI", "VHD", "VHDX", "VMDK"],
        OLDEST,
    ),
    "PLOOP": 21,
}


def require_image_type_support(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Require the image's disk format, unless the server boots from a volume."""
    if server.root_disk_is_a_volume or not server.image.body:
        return
    given = str(server.image.body.get("disk_format") or "")
    if server.release >= _IMAGE_TYPES.get(given.upper(), server.release + 1):
        trait = f"COMPUTE_IMAGE_TYPE_{given.upper()}"
        yield _on_the_root(server, trait, False, server.image.origin("disk_format"))
    else:
        yield NotEvaluated(IMAGE_TYPE, "disk_format", given)


def compute_status_filter(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Exclude hosts with a disabled compute service."""
    yield _on_the_root(server, trait.DISABLED, True)


def _on_the_root(
    server: Server, trait: str, forbidden: bool, *origins: Origin
) -> Clause:
    """A condition on the root; 20 writes it into the flavor (request_filter.py)."""
    if server.release < 21:
        return Trait("", trait, forbidden, origins)
    return RootTrait(trait, forbidden, origins)


def accelerators_filter(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Require accelerator support for a device profile; Cyborg defines its groups."""
    key = attachments.PROFILE
    profile = server.flavor.specs.get(key)
    if profile:
        if profile not in server.parts.device_profiles:
            yield NotEvaluated(DEVICE_PROFILE, key, profile)
        yield RootTrait("COMPUTE_ACCELERATORS", False, (server.flavor.origin(key),))


def packed_virtqueue_filter(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Require packed virtqueues."""
    yield from _where(extra_specs.packed_ring(server), "COMPUTE_NET_VIRTIO_PACKED")


def ephemeral_encryption_filter(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Require encryption of local disks, and its format if specified."""
    wanted, form = extra_specs.ephemeral_encryption(server)
    trait = "COMPUTE_EPHEMERAL_ENCRYPTION"
    yield from _where(wanted, trait)
    if form.value:
        origins = (*wanted.origins, *form.origins)
        yield RootTrait(f"{trait}_{form.value.upper()}", False, origins)


def virtio_sound_filter(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Require the virtio sound device; every host has the other models."""
    model = extra_specs.sound_model(server)
    if model.value == "virtio":
        yield RootTrait("COMPUTE_SOUND_MODEL_VIRTIO", False, model.origins)


def tpm_secret_security_filter(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Require the secret security of a virtual TPM."""
    version, _ = extra_specs.tpm(server)
    if version.value is None:
        return
    key = "hw:tpm_secret_security"
    security = server.flavor.specs.get(key) or "user"
    if security not in ("user", "host", "deployment"):
        raise Refusal("RequestFilterFailed", "unknown-value", (key,))
    said = (server.flavor.origin(key),) if server.flavor.specs.get(key) else ()
    trait = f"COMPUTE_SECURITY_TPM_SECRET_SECURITY_{security.upper()}"
    yield RootTrait(trait, False, (*version.origins, *said))


def owner_nova_filter(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Require OWNER_NOVA once every compute service is new enough to set it.

    Groups of PCI devices require it too.
    """
    if assumptions.all_computes_new is not False:
        yield RootTrait("OWNER_NOVA", False, ())
        for group in attachments.pci_groups(server):
            yield Trait(group.suffix, "OWNER_NOVA", False, (group.origin,))


def _where(wanted: Switch, trait: str) -> Iterator[Found]:
    if wanted.on:
        yield RootTrait(trait, False, wanted.origins)


# Nova's prefilters: what the scheduler adds to every request before it asks.
#
# nova/scheduler/request_filter.py, ``ALL_REQUEST_FILTERS``.


@dataclasses.dataclass(frozen=True)
class Prefilter:
    """One of Nova's request filters.

    :ivar function: clauses for a request so far, a server and settings; origins exclude
        the prefilter
    :ivar option: that enables it; empty if it always runs
    :ivar place: its aggregates in words, with {names} and the requested {zone}
    :ivar objection: what is wrong with a server outside, with {names} and {traits}
    :ivar is_passing: its clauses depend on a host's service, or every host meets them
    :ivar isolates: it keeps hosts for some projects or requests
    """

    name: str
    function: Callable[[SoFar, Server, SchedulerSettings], Iterable[Found]]
    since: int = OLDEST
    option: str = ""
    place: str = "aggregate {names}"
    objection: str = ""
    is_passing: bool = False
    isolates: bool = False

    def option_in(self, release: int) -> str:
        """The option, or empty in a release that lacks it."""
        gone = self.option and release >= OPTIONS[self.option].until
        return "" if gone else self.option

    def is_on(self, assumptions: SchedulerSettings) -> bool:
        """Whether it runs with these settings."""
        option = self.option_in(assumptions.release)
        exists = assumptions.release >= self.since
        return exists and (not option or bool(assumptions.value(option)))

    def may_add(self, server: Server, assumptions: SchedulerSettings) -> bool:
        """Whether it would add a clause, or reject the request, if it ran."""
        try:
            found = self.function(SoFar(), server, assumptions)
            return not all(isinstance(each, NotEvaluated) for each in found)
        except Refusal:
            return True

    def add(
        self, so_far: SoFar, server: Server, assumptions: SchedulerSettings
    ) -> SoFar:
        """Add this prefilter's clauses; raises Refusal if it rejects the request."""
        origin = Origin("prefilter", self.name, option=self.option_in(server.release))
        found = self.function(so_far, server, assumptions)
        return so_far.with_all(_come_from(origin, each) for each in found)


def run(server: Server, assumptions: SchedulerSettings) -> SoFar:
    """Add the clauses of all enabled prefilters, in Nova's order; raises Refusal."""
    so_far = SoFar()
    for prefilter in PREFILTERS:
        if prefilter.is_on(assumptions):
            so_far = prefilter.add(so_far, server, assumptions)
    return so_far


def _come_from(origin: Origin, found: Found) -> Found:
    if isinstance(found, NotEvaluated):
        return found
    return dataclasses.replace(found, origins=(origin, *found.origins))


#: The prefilters that other code treats by name.
PROJECTS, ZONES = "require_tenant_aggregate", "map_az_to_placement_aggregate"
IMAGE_TYPES, IMAGES = "require_image_type_support", "transform_image_metadata"
ISOLATION = "isolate_aggregates"

#: In Nova's order.
PREFILTERS: tuple[Prefilter, ...] = (
    Prefilter(
        PROJECTS,
        require_tenant_aggregate,
        option=options.TENANT,
        place="the project's aggregate {names}",
        objection="is outside the project's aggregate {names}",
        isolates=True,
    ),
    Prefilter(
        ZONES,
        map_az_to_placement_aggregate,
        option=options.AZ_QUERY,
        place="zone {zone} (aggregate {names})",
        objection="is outside the availability zone of aggregate {names}",
    ),
    Prefilter(
        IMAGE_TYPES,
        require_image_type_support,
        option=options.IMAGE_TYPE,
    ),
    Prefilter("compute_status_filter", compute_status_filter, is_passing=True),
    Prefilter(
        ISOLATION,
        isolate_aggregates,
        option=options.ISOLATION,
        place="the isolated aggregate {names}",
        objection="is in aggregate {names}, isolated for {traits}",
        isolates=True,
    ),
    Prefilter(
        IMAGES,
        transform_image_metadata,
        since=21,
        option=options.IMAGE_METADATA,
    ),
    Prefilter("accelerators_filter", accelerators_filter, since=21),
    Prefilter("packed_virtqueue_filter", packed_virtqueue_filter, since=29),
    Prefilter(
        "routed_networks_filter",
        routed_networks_filter,
        since=23,
        option=options.ROUTED_NETWORKS,
    ),
    Prefilter("remote_managed_ports_filter", remote_managed_ports_filter, since=25),
    Prefilter("ephemeral_encryption_filter", ephemeral_encryption_filter, since=26),
    Prefilter("virtio_sound_filter", virtio_sound_filter, since=32),
    Prefilter("tpm_secret_security_filter", tpm_secret_security_filter, since=33),
    Prefilter("owner_nova_filter", owner_nova_filter, since=34, is_passing=True),
)


def name_of(clause: Clause) -> str:
    """Name of the prefilter that adds a clause; empty if none does."""
    first = clause.origins[0] if clause.origins else None
    return first.key if first is not None and first.kind == "prefilter" else ""


def row_of(clause: Clause) -> Prefilter | None:
    """The prefilter that adds a clause."""
    name = name_of(clause)
    return next((row for row in PREFILTERS if row.name == name), None)
