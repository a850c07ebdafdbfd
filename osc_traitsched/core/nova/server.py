"""A server as flavor and image describe it, with its ports, volumes and devices."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Union

from osc_traitsched.core.errors import CloudBroke, Refusal
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.nova import properties
from osc_traitsched.core.nova.clause import (
    Clause,
    MemberOf,
    Origin,
    Resource,
    RootTrait,
    Trait,
)
from osc_traitsched.core.nova.image import Image

# Parts of a server: networks, ports, volumes and device profiles.


#: The aggregates of the segment of each subnet of a routed network; a segment that
#: Placement does not know has none.
Segments = tuple[frozenset[str], ...]

_NORMAL = "normal"
#: The first release that takes ports which are made to have no address.
_WITHOUT_ADDRESS_SINCE = 25
#: The first release that refuses a port which is named twice.
_ONCE_SINCE = 24
#: Of ports that are a PCI device (nova/network/model.py, ``VNIC_TYPES_SRIOV``).
_DEVICES = frozenset(
    [
        "direct",
        "macvtap",
        "direct-physical",
        "virtio-forwarder",
        "vdpa",
        "remote-managed",
    ]
)


@dataclasses.dataclass(frozen=True)
class Network:
    """A network, as far as nova-scheduler reads it.

    :ivar segments: empty if the network is not routed
    :ivar has_subnets: its ports get an address
    :ivar project: owner; None if every project may use it
    """

    id: str
    name: str = ""
    segments: Segments = ()
    has_subnets: bool = True
    project: str | None = None

    @property
    def label(self) -> str:
        """Name or ID for messages."""
        return self.name or self.id


@dataclasses.dataclass(frozen=True)
class Port:
    """An existing port.

    :ivar vnic_type: ``normal``, ``direct``...
    :ivar resource_request: of Neutron, or None
    :ivar is_request_shown: Neutron shows ``resource_request``
    :ivar device_profile: of Cyborg; empty for none
    :ivar segments: of the subnet of its first address; None without an address
    :ivar in_use: bound to another server or device
    :ivar lacks_address: has none, and gets none with a host
    :ivar needs_no_address: created without addresses
    """

    id: str
    network: Network
    name: str = ""
    vnic_type: str = _NORMAL
    resource_request: Mapping[str, Any] | None = None
    is_request_shown: bool = True
    device_profile: str = ""
    segments: Segments | None = None
    project: str | None = None
    in_use: bool = False
    lacks_address: bool = False
    needs_no_address: bool = False

    def can_be_used(self, release: int) -> bool:
        """Whether it has an address, if the release requires one."""
        is_free = self.needs_no_address and release >= _WITHOUT_ADDRESS_SINCE
        return is_free or not self.lacks_address

    @property
    def needs_device(self) -> bool:
        """Whether it needs a PCI device of the host."""
        return self.vnic_type in _DEVICES

    @property
    def label(self) -> str:
        """Name or ID for messages."""
        return self.name or self.id


@dataclasses.dataclass(frozen=True)
class Volume:
    """An existing volume.

    :ivar size: in GB
    :ivar image_metadata: ``volume_image_metadata``
    :ivar status: of Cinder; empty if the server has the volume already
    """

    id: str
    zone: str
    name: str = ""
    size: int = 0
    is_bootable: bool = False
    is_multiattach: bool = False
    image_metadata: Mapping[str, str] = dataclasses.field(default_factory=dict)
    project: str | None = None
    status: str = ""

    @property
    def can_be_reserved(self) -> bool:
        """Whether Cinder can attach it to one more server.

        cinder/volume/api.py, ``attachment_create`` and ``_attachment_reserve``
        """
        free = ("", "available", "downloading")
        return self.status in free or (self.is_multiattach and self.status == "in-use")

    @property
    def label(self) -> str:
        """Name or ID for messages."""
        return self.name or self.id


#: The groups of a device profile, each with keys such as ``resources:FPGA``.
ProfileGroups = tuple[Mapping[str, str], ...]


@dataclasses.dataclass(frozen=True)
class Parts:
    """Parts of one server.

    :ivar networks: to create ports in
    :ivar boots_from: ID of the root volume, or None
    :ivar device_profiles: by name; None for a missing profile
    :ivar profiles_unread: why profiles could not be read, or None
    """

    ports: tuple[Port, ...] = ()
    networks: tuple[Network, ...] = ()
    volumes: tuple[Volume, ...] = ()
    boots_from: str | None = None
    device_profiles: Mapping[str, ProfileGroups | None] = dataclasses.field(
        default_factory=dict
    )
    profiles_unread: CloudBroke | None = None

    @property
    def root_volume(self) -> Volume | None:
        """The root volume, if any."""
        found = (each for each in self.volumes if each.id == self.boots_from)
        return next(found, None)

    def check_networks(self, release: int) -> None:
        """Reject unusable ports and networks.

        nova/network/neutron.py, ``API._ports_needed_per_instance``

        :raises Refusal: for a port in use or without an address, and a network without
            subnets
        """
        for port in self.ports:
            if port.in_use:
                raise Refusal("PortInUse", "port-in-use", (port.label,))
            if not port.can_be_used(release):
                keys = (port.label,)
                raise Refusal("PortRequiresFixedIP", "port-without-address", keys)
        for network in self.networks:
            if not network.has_subnets:
                keys = (network.label,)
                raise Refusal("NetworkRequiresSubnet", "network-without-subnets", keys)

    def check_volumes(self) -> None:
        """Reject volumes not free in Cinder (``_validate_bdm``)."""
        for each in self.volumes:
            if not each.can_be_reserved:
                keys = (f"{each.label} ({each.status})",)
                raise Refusal("InvalidVolume", "volume-not-available", keys)

    def check_once(self, release: int) -> None:
        """Reject a repeated port (``_get_requested_networks``)."""
        found = [each.id for each in self.ports]
        twice = (each for each in self.ports if found.count(each.id) > 1)
        first = next(twice, None)
        if first is not None and release >= _ONCE_SINCE:
            raise Refusal("HTTPBadRequest", "port-twice", (first.label,), "api", 400)

    def check_count(self, count: int) -> None:
        """Reject several servers with the same ports or volumes.

        nova/compute/api.py, ``_check_multiple_instances_with_neutron_ports`` and
        ``_check_and_transform_bdm``
        """
        for found, exception, reason in (
            (self.ports, "MultiplePortsNotApplicable", "port-of-several-servers"),
            (self.volumes, "InvalidRequest", "volume-of-several-servers"),
        ):
            if found and count > 1:
                keys = tuple(each.label for each in found)
                raise Refusal(exception, reason, keys, "api", 400)


NO_PARTS = Parts()


# A server as flavor and image describe it.


# A flavor of Nova's API, parsed once.


EPHEMERAL = "OS-FLV-EXT-DATA:ephemeral"


@dataclasses.dataclass(frozen=True)
class Flavor:
    """A flavor: ``ram`` and ``swap`` in MB, ``disk`` and ``ephemeral`` in GB.

    :ivar is_running: a server with these extra specs is active
    """

    vcpus: int
    ram: int
    disk: int
    ephemeral: int
    swap: int
    specs: Mapping[str, str]
    is_running: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for flavors that Nova treats the same."""
        sizes = (self.vcpus, self.ram, self.disk, self.ephemeral, self.swap)
        return (*sizes, *self.specs.items())

    def origin(self, key: str) -> Origin:
        """The origin of a clause from this key, an extra spec or e.g. ``vcpus``."""
        return Origin("flavor", key)

    def flag(self, key: str) -> bool | None:
        """A boolean extra spec; None if it is not set."""
        value = self.specs.get(key)
        return None if value is None else properties.boolean(value)


#: Extra specs of an active server of a flavor, in the flavor's body.
RUNNING = "extra_specs of an active server"


def read(body: Mapping[str, object]) -> Flavor:
    """Parse a flavor of the compute API; an empty or missing number is 0."""

    def number(key: str) -> int:
        return properties.integer(body.get(key) or 0) or 0

    found = body.get("extra_specs")
    specs = found if isinstance(found, Mapping) else {}
    return Flavor(
        vcpus=number("vcpus"),
        ram=number("ram"),
        disk=number("disk"),
        # A server's own copy of its flavor uses the short name.
        ephemeral=number(EPHEMERAL) or number("ephemeral"),
        swap=number("swap"),
        is_running=body.get(RUNNING) == specs,
        specs={str(key): str(value) for key, value in specs.items()},
    )


# Unknown conditions, and input that Nova drops.


#: Groups of the flavor or the image whose contents another service has.
PCI_ALIAS = "pci alias"
PCI_ALIAS_IN_PLACEMENT = "pci alias in placement"
DEVICE_PROFILE = "device profile"

#: Conditions of nova-api that depend on more than flavor and image.
ZERO_DISK = "zero disk needs a policy"
VOLUME_SIZE = "volume size"
VOLUME_ZONE = "volume zone"
KERNEL_IMAGE = "kernel image"
MIXED_COMPUTES = "mixed policy needs computes of victoria"
SOUND_COMPUTES = "sound model needs computes of 2025.2"
REQUESTED_HOST = "requested host"
FORCED_HOST = "named host needs a policy"
REQUESTED_DESTINATION = "asked host needs a policy"
PROJECT = "project not given"

#: Input that Nova drops, at most with a line in its log.
BAD_GROUP_POLICY = "invalid group policy"
UNKNOWN_RESOURCE_CLASS = "unknown resource class"
BAD_AMOUNT = "invalid amount"
BAD_TRAIT_VALUE = "trait value neither required nor forbidden"
BAD_SUFFIX = "suffix of no group"
MISSPELLED_KEY = "misspelled key"
MISREAD_KEY = "misspelled key with another meaning"
OVERWRITTEN = "overwritten"
STATELESS_WITHOUT_UEFI = "stateless firmware without uefi"

#: An enabled prefilter that adds nothing.
IMAGE_TYPE = "image type unknown trait"
IMAGE_METADATA = "image metadata prefilter adds nothing"
ZONE = "zone has no aggregate, so no restriction"
TENANT = "tenant has no aggregate, so no restriction"


@dataclasses.dataclass(frozen=True)
class NotEvaluated:
    """An unknown condition, or dropped input.

    :ivar kind: one of this module's constants
    :ivar key: the flavor's key or the image's property; a zone's or project's name if a
        prefilter found no aggregate for it
    :ivar meant: the key that a misspelled or misread one stands for; of an unknown
        class, all keys with a similar one
    """

    kind: str
    key: str
    value: str = ""
    meant: str = ""


# One new server, with all its data.


@dataclasses.dataclass(frozen=True)
class Server:
    """A requested server.

    :ivar zone: the availability zone, without a host, maybe the default; empty for any
    :ivar boot_from_volume: the root disk is a volume made of the image
    :ivar release: Nova's major version
    :ivar aliases: texts of ``[pci]alias``; None if unknown
    :ivar pci_in_placement: Nova asks Placement for the devices of aliases
    """

    flavor: Flavor
    image: Image
    aggregates: tuple[Aggregate, ...]
    zone: str
    project_id: str | None
    boot_from_volume: bool
    release: int
    parts: Parts = NO_PARTS
    aliases: tuple[str, ...] | None = None
    #: No host filter reads it.
    pci_in_placement: bool = dataclasses.field(default=False, compare=False)

    @property
    def root_disk_is_a_volume(self) -> bool:
        """Whether the flavor's disk is unused (nova: ``is_bfv``)."""
        return self.boot_from_volume or self.image.root_volume is not None


@dataclasses.dataclass(frozen=True)
class Choice:
    """A setting by flavor, image or both; None if neither has it."""

    value: str | None
    origins: tuple[Origin, ...] = ()


@dataclasses.dataclass(frozen=True)
class Switch:
    """A boolean setting by flavor, image or both."""

    on: bool
    origins: tuple[Origin, ...] = ()


def origins(
    server: Server, key: str, by_flavor: object, by_image: object
) -> tuple[Origin, ...]:
    """The flavor's key and the image's property, if each counts."""
    found = [server.flavor.origin(key)] if by_flavor else []
    if by_image:
        found.append(server.image.origin(image_name(key)))
    return tuple(found)


def image_name(key: str) -> str:
    """The image property for a flavor's key, by Nova's naming."""
    return key.replace(":", "_")


def keys(server: Server, *flavor_keys: str) -> tuple[str, ...]:
    """Those keys that are set in the flavor, and in the image."""
    names = [key for key in flavor_keys if key in server.flavor.specs]
    for name in map(image_name, flavor_keys):
        if name in server.image.values:
            names.append(server.image.key(name))
    return tuple(names)


def agreed(
    server: Server,
    key: str,
    allowed: Iterable[str],
    conflict: str = "FlavorImageConflict",
    unknown: str = "Invalid",
) -> Choice:
    """The value on which flavor and image agree; an empty text counts as unset.

    nova/virt/hardware.py, ``_get_unique_flavor_image_meta`` and its callers

    :raises Refusal: ``conflict`` if they differ; ``unknown`` for a value that is not
        allowed
    """
    spec = server.flavor.specs.get(key)
    prop = server.image.text(image_name(key))
    if spec and prop and spec != prop:
        raise Refusal(conflict, "values-differ", keys(server, key))
    value = spec or prop
    allowed = tuple(allowed)
    if value is not None and value not in allowed:
        names = keys(server, key)
        raise Refusal(unknown, "unknown-value", names, allowed=allowed)
    return Choice(value, origins(server, key, spec, prop))


def switched(
    server: Server, key: str, exception: str = "FlavorImageConflict"
) -> Switch:
    """Whether flavor or image turn a boolean setting on (``check_hw_boolean``).

    :raises Refusal: ``exception`` if one says yes and the other no
    """
    spec = server.flavor.flag(key)
    prop = server.image.flag(image_name(key))
    if spec is not None and prop is not None and spec != prop:
        raise Refusal(exception, "values-differ", keys(server, key))
    return Switch(bool(spec or prop), origins(server, key, spec, prop))


# Adding conditions to a request.


#: Result of a rule.
Found = Union[Clause, NotEvaluated]


@dataclasses.dataclass(frozen=True)
class SoFar:
    """The conditions so far, in Nova's order."""

    clauses: tuple[Clause, ...] = ()
    not_evaluated: tuple[NotEvaluated, ...] = ()

    def with_all(self, found: Iterable[Found]) -> SoFar:
        """The conditions with those of one more rule.

        An amount replaces the group's amount of the same class, as in Nova
        (``RequestGroup.add_resource``). A repeated trait gets one more origin.
        """
        found = tuple(found)
        if not found:
            return self
        clauses = {_identity(c, n): c for n, c in enumerate(self.clauses)}
        not_evaluated = list(self.not_evaluated)
        for each in found:
            if isinstance(each, NotEvaluated):
                not_evaluated.append(each)
            else:
                not_evaluated += _put(clauses, each)
        once = dict.fromkeys(not_evaluated)
        return SoFar(tuple(clauses.values()), tuple(once))

    def without_zeros(self) -> SoFar:
        """The conditions without amounts of 0 (``ResourceRequest.strip_zeros``)."""
        left = [c for c in self.clauses if not isinstance(c, Resource) or c.amount]
        return dataclasses.replace(self, clauses=tuple(left))


def _put(clauses: dict[tuple[object, ...], Clause], new: Clause) -> list[NotEvaluated]:
    """Return the amounts that the clause overwrites."""
    key = _identity(new, len(clauses))
    old = clauses.setdefault(key, new)
    if old is new:
        return []
    if isinstance(new, Resource) and isinstance(old, Resource):
        clauses[key] = new
        lost = [origin for origin in old.origins if origin not in new.origins]
        return [
            NotEvaluated(OVERWRITTEN, origin.key, str(old.amount)) for origin in lost
        ]
    clauses[key] = dataclasses.replace(old, origins=_both(old, new))
    return []


def _identity(clause: Clause, place: int) -> tuple[object, ...]:
    """Equal for clauses to be merged; clauses on aggregates never are."""
    if isinstance(clause, Resource):
        return Resource, clause.group, clause.resource_class
    if isinstance(clause, MemberOf):
        return MemberOf, place
    group = () if isinstance(clause, RootTrait) else (clause.group,)
    return type(clause), clause.name, clause.forbidden, *group


def _both(old: Clause, new: Clause) -> tuple[Origin, ...]:
    return tuple(dict.fromkeys((*old.origins, *new.origins)))


# A request group that flavor and image do not contain.


@dataclasses.dataclass(frozen=True)
class Group:
    """A request group (nova/objects/request_spec.py, ``RequestGroup``).

    :ivar suffix: unique by owner
    :ivar amounts: by resource class; may be 0
    """

    suffix: str
    amounts: Mapping[str, int]
    origin: Origin
    required: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()

    @property
    def is_empty(self) -> bool:
        """Whether it has neither amounts, not even of 0, nor traits."""
        return not (self.amounts or self.required or self.forbidden)

    def clauses(self) -> Iterator[Resource | Trait]:
        """Yield the clauses of the group."""
        origins = (self.origin,)
        for name, amount in self.amounts.items():
            yield Resource(self.suffix, name, amount, origins)
        for forbidden, names in ((False, self.required), (True, self.forbidden)):
            for name in sorted(names):
                yield Trait(self.suffix, name, forbidden, origins)
