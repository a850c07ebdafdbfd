"""Parts of a server: networks, ports, volumes and device profiles."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from osc_traitsched.core.errors import CloudBroke, Refusal

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
