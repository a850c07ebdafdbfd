"""Names of traits, who sets one, and metadata of aggregates: zones, projects."""

from __future__ import annotations

import dataclasses
import enum
import functools
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping

import os_traits

from osc_traitsched.core import errors
from osc_traitsched.text import LIKE, LIKE_SHORT, did_you_mean, near_names, quoted

# Trait names, the traits of a cloud, and who sets a trait on a host.


#: The trait that marks a provider whose inventory others share (a storage
#: pool, say): such a provider is a tree's root, and no host.
SHARING = os_traits.MISC_SHARES_VIA_AGGREGATE

#: The trait of each provider that nova-compute makes for a compute node
#: (nova/compute/resource_tracker.py, ``_get_traits``).
COMPUTE_NODE = os_traits.COMPUTE_NODE

#: The trait of the provider of a compute node whose service is disabled
#: (nova/scheduler/request_filter.py, ``compute_status_filter``).
DISABLED = os_traits.COMPUTE_STATUS_DISABLED

#: The trait of a provider that nova-compute makes for PCI devices, all of
#: whose traits it sets again from ``[pci]device_spec`` in every cycle
#: (nova/compute/pci_placement_translator.py, ``update_provider_tree``).
PCI_DEVICE = "COMPUTE_MANAGED_PCI_DEVICE"

#: The traits by which Placement and Nova tell what a root provider is: a pool whose
#: inventory others share, a compute node, a compute node that takes no servers
#: (placement/objects/resource_provider.py, ``get_sharing_providers``).
ROLES = frozenset({SHARING, COMPUTE_NODE, DISABLED})

#: What Neutron gives to the providers that it makes for its agents and their devices
#: (neutron_lib/placement/utils.py).
_OF_NEUTRON = (
    "CUSTOM_VNIC_TYPE_",
    "CUSTOM_PHYSNET_",
    "CUSTOM_NETWORK_TUNNEL_PROVIDER",
)

_OF_NOVA = re.compile(r"COMPUTE_\w+|OWNER_NOVA")
#: Of these only what few of a cloud's providers have.
_OF_SOME = frozenset({DISABLED, PCI_DEVICE})

_NAME = re.compile(r"[A-Z0-9_]{1,255}", re.ASCII)
_CUSTOM = os_traits.CUSTOM_NAMESPACE
#: A name in lower case or with hyphens; "compute-1" is a host.
_WRITTEN_OTHERWISE = re.compile(
    r"(CUSTOM[_-]|(HW|COMPUTE|STORAGE|MISC|OWNER)_)[A-Z0-9_-]+", re.ASCII | re.I
)


#: Letters of a name of which a third may differ.
_SHORT = 4


class Ownership(enum.Enum):
    """Who sets a trait on the provider of a compute node."""

    #: Only the operator does.
    OPERATOR = "operator"
    #: nova-compute gives it back when it is missing, and never takes it away.
    NOVA_SETS = "nova sets"
    #: nova-compute gives it to hosts that can do it and takes it from others.
    NOVA_SETS_AND_CLEARS = "nova sets and clears"


# nova/compute/resource_tracker.py (``_get_traits``), nova/virt/driver.py
# (``CAPABILITY_TRAITS_MAP``) and nova/virt/libvirt/driver.py
# (``static_traits``) as of Nova 34.0.0.
_NOVA_ONLY_SETS = re.compile(
    r"COMPUTE_NODE|OWNER_NOVA|HW_ARCH_\w+|COMPUTE_ARCH_\w+"
    r"|COMPUTE_NET_VIRTIO_PACKED|COMPUTE_SECURITY_TPM_SECRET_SECURITY_\w+"
    r"|COMPUTE_SOUND_MODEL_(?!VIRTIO)\w+"
)
_NOVA_NEVER_TOUCHES = re.compile(
    r"COMPUTE_(SHARE_LOCAL_FS|CONFIG_DRIVE_REGENERATION|MIGRATE_\w+|FIRMWARE_\w+"
    r"|USB_MODEL_\w+|EPHEMERAL_ENCRYPTION_LUKSV2)"
    r"|HW_CPU_X86_(TSX|ASF|PDPE1GB|STIBP|SGX|AMD_IBPB|AMD_NO_SSB|AMD_SSBD"
    r"|AMD_VIRT_SSBD|AMD_SEV_SNP"
    r"|INTEL_(MD_CLEAR|PCID|SPEC_CTRL|SSBD|TDX))"
)
_NOVA_SETS_AND_CLEARS = re.compile(r"COMPUTE_\w+|HW_CPU_X86_\w+|HW_CPU_HYPERTHREADING")


def ownership(name: str) -> Ownership:
    """Who sets a trait on a compute node's root provider, with libvirt.

    An unknown ``COMPUTE_`` name counts as nova-compute's: the namespace is Nova's.
    """
    if _NOVA_NEVER_TOUCHES.fullmatch(name):
        return Ownership.OPERATOR
    if _NOVA_ONLY_SETS.fullmatch(name):
        return Ownership.NOVA_SETS
    if _NOVA_SETS_AND_CLEARS.fullmatch(name):
        return Ownership.NOVA_SETS_AND_CLEARS
    return Ownership.OPERATOR


def made_by_others(names: Collection[str]) -> str | None:
    """Service that created a provider with these traits, or None."""
    if PCI_DEVICE in names:
        return "nova-compute"
    return "Neutron" if any(map(is_of_neutron, names)) else None


def is_of_neutron(name: str) -> bool:
    """Whether Neutron creates the trait at its agents' reports, and ports require it.

    neutron_lib/placement/utils.py, ``physnet_trait`` and ``vnic_type_trait``, and
    neutron_lib/placement/constants.py, ``TRAIT_NETWORK_TUNNEL``.
    """
    return name.startswith(_OF_NEUTRON)


def is_common(name: str) -> bool:
    """Whether nearly all compute nodes of a driver and release have a trait."""
    return bool(_OF_NOVA.fullmatch(name)) and name not in _OF_SOME


def is_standard(name: str) -> bool:
    """Whether a trait is of the installed os-traits library."""
    return name in os_traits.get_traits()


def is_custom(name: str) -> bool:
    """Whether a trait is ``CUSTOM_*``."""
    return name.startswith(_CUSTOM)


def is_wellformed(name: str) -> bool:
    """Whether Placement allows the trait name (placement/schemas/trait.py)."""
    return bool(_NAME.fullmatch(name)) and name != _CUSTOM


def is_no_trait(name: str) -> bool:
    """Whether a name is no trait, and not like one in lower case."""
    return not (_NAME.fullmatch(name) or _WRITTEN_OTHERWISE.fullmatch(name))


def parse(names: Iterable[str]) -> tuple[str, ...]:
    """Unique names in their order; raises BadQuestion for an invalid one."""
    unique = tuple(dict.fromkeys(names))
    for name in unique:
        if not is_wellformed(name):
            upper = name.upper().replace("-", "_")
            is_near = _WRITTEN_OTHERWISE.fullmatch(name)
            raise errors.BadQuestion(
                f"{quoted(name)} can't be a trait: a name has 1 to 255 of A-Z, 0-9 and "
                "_, and starts with CUSTOM_ unless os-traits defines it"
                f"{did_you_mean((upper,) if is_near else ())}"
            )
    return unique


def check_exist(names: Iterable[str], existing: Collection[str]) -> None:
    """Accept only traits of the cloud; raises UnknownTrait, with similar ones."""
    for name in names:
        if name not in existing:
            raise _unknown(name, existing)


def to_create(
    names: Iterable[str], existing: Collection[str], create: bool
) -> tuple[str, ...]:
    """Custom names that the cloud lacks; raises UnknownTrait without ``create``."""
    names = tuple(names)
    new = _new(names, existing)
    if new and not create:
        raise _unknown(new[0], existing, creatable=True)
    check_exist((name for name in names if name not in new), existing)
    return new


def _new(names: Iterable[str], existing: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in names if is_custom(name) and name not in existing)


def vanished(
    names: Iterable[str], existing: Collection[str]
) -> tuple[errors.UnknownTrait, ...]:
    """Errors for custom names that the cloud lacks, so that no host has them."""
    return tuple(_unknown(name, existing) for name in _new(names, existing))


def _unknown(
    name: str, existing: Collection[str], creatable: bool = False
) -> errors.UnknownTrait:
    near = nearest(name, existing)
    return errors.UnknownTrait(name, is_standard(name), near, creatable)


def nearest(name: str, existing: Collection[str]) -> tuple[str, ...]:
    """At most three traits with similar names, best first.

    A name with another number is no misspelling: CUSTOM_RACK_1 and CUSTOM_RACK_2.
    """
    prefix = _CUSTOM if is_custom(name) else ""
    rest = {k[len(prefix) :] for k in existing if k.startswith(prefix)}
    own = name[len(prefix) :]
    if _CUSTOM + name in existing:
        return (_CUSTOM + name,)
    others = {each for each in rest if _plain(each) != _plain(own)}
    near = near_names(own, others, LIKE if len(own) > _SHORT else LIKE_SHORT)
    return tuple(prefix + each for each in near)


def _plain(name: str) -> str:
    return re.sub("_?[0-9]+", "", name)


# Traits and resource classes that nova-compute reports, and what decides that.


_PCI = (
    "set [pci]report_in_placement on every compute first, then "
    "[filter_scheduler]pci_in_placement of nova-api and nova-conductor"
)

#: Where to look on the hosts, by the start of a name. Flavors and images ask for these
#: to protect servers: a fix never takes the key off.
_WHERE_TO_LOOK = (
    ("COMPUTE_SECURITY_UEFI_SECURE_BOOT", "check OVMF and libvirt on the hosts"),
    (
        "COMPUTE_SECURITY_STATELESS_FIRMWARE",
        "check libvirt on the hosts: stateless firmware needs 8.6.0",
    ),
    ("COMPUTE_SECURITY_TPM", "check swtpm and [libvirt]swtpm_enabled on the hosts"),
    (
        "HW_CPU_X86_AMD_SEV",
        "check SEV in BIOS and kernel (and [libvirt]num_memory_encrypted_guests before "
        "2026.2)",
    ),
    (
        "HW_CPU_X86_INTEL_TDX",
        "check TDX in BIOS and kernel, and [libvirt]num_intel_tdx_guests",
    ),
    (
        "MEM_ENCRYPTION_CONTEXT",
        "check SEV or TDX in BIOS and kernel, and [libvirt]num_intel_tdx_guests (for "
        "SEV before 2026.2: num_memory_encrypted_guests)",
    ),
    ("COMPUTE_IMAGE_TYPE_", "convert the image, or check [libvirt]images_type"),
    ("VGPU", "check [devices]enabled_mdev_types on the hosts"),
    ("PCPU", "check [compute]cpu_dedicated_set on the hosts"),
    ("CUSTOM_PCI_|COMPUTE_MANAGED_PCI", _PCI),
    ("CUSTOM_PMEM_NAMESPACE_", "check [libvirt]pmem_namespaces on the hosts"),
    ("HW_ARCH_|COMPUTE_ARCH_|[^A-Z]", "check hw_architecture of the image"),
    ("HW_", "check CPU and BIOS of the hosts, and [libvirt]cpu_mode"),
    ("COMPUTE_", "check libvirt, QEMU and the release of nova-compute on the hosts"),
    ("", "look at why no host reports it"),
)


def is_reported(name: str) -> bool:
    """Whether nova-compute alone reports a trait, as far as it describes hardware."""
    is_hardware = name.startswith(("HW_", "CUSTOM_PCI_"))
    return is_hardware or ownership(name) is not Ownership.OPERATOR


def where_to_look(name: str) -> str:
    """What to check if no host reports a trait, a resource class or an architecture."""
    return next(where for start, where in _WHERE_TO_LOOK if re.match(start, name))


# Metadata of aggregates: zones, traits, projects.


# How Nova's database compares the metadata of aggregates.
#
# nova/objects/aggregate.py compares keys and values in SQL, and so by the collation of
# the tables. Those of MariaDB and MySQL are ``utf8_general_ci`` where nobody chose
# otherwise (nova/db/api/migrations, ``mysql_charset``).


class Collation(enum.Enum):
    """Text comparison of Nova's database."""

    #: As in MariaDB and MySQL: neither case, nor accents, nor spaces at the end count.
    CASE_INSENSITIVE = "case-insensitive"
    #: As in SQLite: only equal texts are.
    CASE_SENSITIVE = "case-sensitive"

    def folded(self, text: str) -> str:
        """A key that is the same for all texts that the database treats as equal."""
        if self is Collation.CASE_SENSITIVE:
            return text
        return _folded(text)

    def equal(self, one: str, other: str) -> bool:
        """Whether the database treats two texts as equal."""
        return self.folded(one) == self.folded(other)

    def begins(self, text: str, prefix: str) -> bool:
        """Whether the text matches ``LIKE 'prefix%'``; SQLite ignores case here."""
        if self is Collation.CASE_SENSITIVE:
            return text.lower().startswith(prefix.lower())
        return self.folded(text).startswith(self.folded(prefix))


# Where utf8_general_ci is not as Unicode decomposes.
_ODD = {"ß": "S", "й": "Й", "Й": "Й"}


# The same few keys and values are compared for each flavor.
@functools.lru_cache(maxsize=2**14)
def _folded(text: str) -> str:
    return "".join(map(_weight, text.rstrip(" ")))


def _weight(character: str) -> str:
    if character in _ODD:
        return _ODD[character]
    base, *marks = list(unicodedata.normalize("NFD", character))
    if not marks or not all(map(unicodedata.combining, marks)):
        base = character
    upper = base.upper()
    return upper if len(upper) == 1 else base


# The key by which a host aggregate is an availability zone.


ZONE_KEY = "availability_zone"

#: The prefix of metadata keys that name a project each.
TENANT_KEY = "filter_tenant_id"


def zone_in(metadata: Mapping[str, str], collation: Collation) -> str | None:
    """Availability zone by metadata, or None (``_get_by_metadata_from_db``)."""
    zones = (zone for key, zone in metadata.items() if collation.equal(key, ZONE_KEY))
    return next(zones, None)


def zone_keys(metadata: Mapping[str, str], collation: Collation) -> tuple[str, ...]:
    """The key of the availability zone as Nova shows it, or none."""
    return tuple(key for key in metadata if key == ZONE_KEY)


# The keys by which flavors, images and aggregates require traits.


REQUIRED, FORBIDDEN = "required", "forbidden"

_PREFIX = "trait:"
_KEY = re.compile(r"trait[a-zA-Z0-9_-]{0,64}:(.+)")


def key_of(name: str) -> str:
    """The key that requires a trait: ``trait:NAME``."""
    return f"{_PREFIX}{name}"


def requires(key: str, value: str) -> str | None:
    """Trait that an extra spec requires, or None; ``trait_gpu:X`` has a suffix.

    nova/scheduler/utils.py, ``ResourceRequest.XS_KEYPAT``
    """
    found = _KEY.fullmatch(key)
    return found.group(1) if found and value == REQUIRED else None


def in_group(key: str) -> bool:
    """Whether an extra spec is about a trait of a suffixed group."""
    return bool(_KEY.fullmatch(key)) and not key.startswith(_PREFIX)


def required_by(specs: Mapping[str, str]) -> frozenset[str]:
    """Traits that extra specs require, in any group."""
    found = (requires(key, value) for key, value in specs.items())
    return frozenset(name for name in found if name)


def required_by_image(properties: Mapping[str, object]) -> frozenset[str]:
    """Traits that image properties require; images have no suffixed groups.

    nova/objects/image_meta.py, ``ImageMetaProps._set_attr_from_trait_names``
    """
    return frozenset(
        key[len(_PREFIX) :]
        for key, value in properties.items()
        if key.startswith(_PREFIX) and value == REQUIRED
    )


def names_trait(key: str, collation: Collation) -> bool:
    """Whether a metadata key of an aggregate names a trait.

    nova/objects/aggregate.py, ``_get_non_matching_by_metadata_keys_from_db``
    """
    return collation.begins(key, _PREFIX)


def isolating_keys(
    metadata: Mapping[str, str], collation: Collation
) -> tuple[str, ...]:
    """Metadata keys that isolate an aggregate: ``trait:X=required``."""
    return tuple(
        key
        for key, value in metadata.items()
        if names_trait(key, collation) and collation.equal(value, REQUIRED)
    )


def trait_in(key: str, collation: Collation) -> str:
    """Trait in an aggregate's metadata key; upper case if case does not matter."""
    return collation.folded(key)[len(_PREFIX) :]


def isolated_by(metadata: Mapping[str, str], collation: Collation) -> dict[str, str]:
    """Metadata keys that isolate an aggregate, by trait."""
    keys = isolating_keys(metadata, collation)
    return {trait_in(key, collation): key for key in keys}


# The projects that the metadata of aggregates names.


_ID = re.compile("[0-9a-f]{32}")


def is_project_id(project: str) -> bool:
    """Whether a text is a project ID of Keystone: Nova compares no names."""
    return bool(_ID.fullmatch(project))


def projects_of(value: str) -> tuple[str, ...]:
    """Projects in a metadata value, a comma-separated list.

    nova/scheduler/filters/aggregate_multitenancy_isolation.py
    """
    return tuple(part.strip() for part in value.split(",") if part.strip())


def projects_in(metadata: Mapping[str, str]) -> frozenset[str]:
    """IDs of the projects that an aggregate's metadata names."""
    values = (v for key, v in metadata.items() if key.startswith(TENANT_KEY))
    return frozenset(project for value in values for project in projects_of(value))


def project_keys(metadata: Mapping[str, str], collation: Collation) -> tuple[str, ...]:
    """Sorted ``filter_tenant_id*`` keys; none if they name no project."""
    keys = sorted(key for key in metadata if key.startswith(TENANT_KEY))
    return tuple(keys) if projects_in(metadata) else ()


def single_project_values(metadata: Mapping[str, str]) -> Iterator[str]:
    """Values of ``filter_tenant_id*`` keys that are not comma-separated lists."""
    for key, value in metadata.items():
        if key.startswith(TENANT_KEY) and value and "," not in value:
            yield value


def placement_projects(metadata: Mapping[str, str]) -> frozenset[str]:
    """Projects for which the prefilter asks Placement for the aggregate.

    It compares whole values, so it ignores comma-separated lists
    (nova/scheduler/request_filter.py, ``require_tenant_aggregate``). MySQL ignores
    trailing spaces.
    """
    values = (value.rstrip(" ") for value in single_project_values(metadata))
    return frozenset(values) & projects_in(metadata)


def new_project_keys(
    projects: Iterable[str], keys: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """An unused ``filter_tenant_id_*`` key for each project, unique without case."""
    taken = {key.lower() for key in keys} | {TENANT_KEY}
    for project in projects:
        ends = (project, *map(str, range(2, len(taken) + 3)))
        possible = (f"{TENANT_KEY}_{end}" for end in ends)
        key = next(each for each in possible if each.lower() not in taken)
        taken.add(key.lower())
        yield key, project


# What the metadata of an aggregate means to Nova, read once.


@dataclasses.dataclass(frozen=True)
class AggregatePolicy:
    """Requests that an aggregate accepts.

    :ivar traits: that isolate it: ``trait:X=required``
    :ivar projects: IDs in ``filter_tenant_id*`` keys (AggregateMultiTenancyIsolation)
    """

    zone: str | None = None
    traits: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()

    @classmethod
    def read(
        cls,
        metadata: Mapping[str, str | None],
        collation: Collation = Collation.CASE_INSENSITIVE,
    ) -> AggregatePolicy:
        """Policy of an aggregate with this metadata; None means a missing key."""
        keys = {key: value for key, value in metadata.items() if value is not None}
        return cls(
            keys.get(ZONE_KEY),
            frozenset(isolated_by(keys, collation)),
            projects_in(keys),
        )

    @property
    def is_closed(self) -> bool:
        """Whether it keeps some requests off its hosts."""
        return bool(self.traits or self.projects)

    def loses_projects(self, then: AggregatePolicy) -> bool:
        """Whether the later policy excludes a project that this one admits."""
        is_open = not self.projects
        return bool(then.projects) and (is_open or bool(self.projects - then.projects))

    def gains_projects(self, then: AggregatePolicy) -> bool:
        """Whether the later policy admits a project that this one excludes."""
        return bool(self.projects) and (
            not then.projects or bool(then.projects - self.projects)
        )
