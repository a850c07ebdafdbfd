"""What a server is asked for with besides its flavor and its image.

These are plain values: who reads them of a cloud, or of a server that exists, does not
matter to what Nova makes of them (``outside.py``, ``volume.py``).
"""

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
    """A network, as far as nova-scheduler looks at it.

    :ivar physical_network: None for one that no physical network carries
    :ivar segments: empty for one that is not routed
    :ivar has_subnets: a port of it can get an address
    :ivar project: whose it is; None if every project may use it
    """

    id: str
    name: str = ""
    physical_network: str | None = None
    segments: Segments = ()
    has_subnets: bool = True
    project: str | None = None

    @property
    def label(self) -> str:
        """What a person calls it."""
        return self.name or self.id


@dataclasses.dataclass(frozen=True)
class Port:
    """A port that exists.

    :ivar vnic_type: ``normal``, ``direct`` …
    :ivar resource_request: Neutron's own; None for none
    :ivar is_request_shown: Neutron says whether there is one
    :ivar device_profile: what Cyborg gives the port; empty for nothing
    :ivar segments: of the subnet of its first address; None if it has no address
    :ivar project: whose it is
    :ivar in_use: another server, or something else, has it
    :ivar lacks_address: it has none, and does not get one with a host
    :ivar needs_no_address: it is made to have none
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
        """Tell whether it has the address that a release wants of a port."""
        is_free = self.needs_no_address and release >= _WITHOUT_ADDRESS_SINCE
        return is_free or not self.lacks_address

    @property
    def needs_device(self) -> bool:
        """Whether it takes a PCI device of the host's."""
        return self.vnic_type in _DEVICES

    @property
    def label(self) -> str:
        """What a person calls it."""
        return self.name or self.id


@dataclasses.dataclass(frozen=True)
class Volume:
    """A volume that exists.

    :ivar zone: Cinder's availability zone
    :ivar size: in GB
    :ivar image_metadata: ``volume_image_metadata``, that of the image it is made of
    :ivar project: whose it is
    :ivar status: Cinder's; empty of one that the server has already
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
        """Whether Cinder lets one more server have it.

        cinder/volume/api.py, ``attachment_create`` and ``_attachment_reserve``
        """
        free = ("", "available", "downloading")
        return self.status in free or (self.is_multiattach and self.status == "in-use")

    @property
    def label(self) -> str:
        """What a person calls it."""
        return self.name or self.id


#: The groups of a device profile, each with keys such as ``resources:FPGA``.
ProfileGroups = tuple[Mapping[str, str], ...]


@dataclasses.dataclass(frozen=True)
class Parts:
    """All that comes with one server.

    :ivar networks: that a port is to be made of
    :ivar volumes: in the order in which they are given
    :ivar boots_from: the ID of that volume which is the root disk; None for none
    :ivar device_profiles: those that were read, by name; None for one that there is not
    :ivar profiles_unread: why others could not be read; None if nothing is wrong
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
        """The volume that is the root disk, if one is."""
        found = (each for each in self.volumes if each.id == self.boots_from)
        return next(found, None)

    def check_networks(self, release: int) -> None:
        """Accept only ports and networks that a server can be made with.

        nova/network/neutron.py, ``API._ports_needed_per_instance``

        :raises Refusal: for a port that is in use or without an address, and for a
            network without subnets
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
        """Accept only volumes that Cinder reserves for a server.

        nova/compute/api.py, ``_validate_bdm``

        :raises Refusal: for one whose status does not let it
        """
        for each in self.volumes:
            if not each.can_be_reserved:
                keys = (f"{each.label} ({each.status})",)
                raise Refusal("InvalidVolume", "volume-not-available", keys)

    def check_once(self, release: int) -> None:
        """Accept a port only once.

        nova/api/openstack/compute/servers.py, ``_get_requested_networks``

        :raises Refusal: for one that is named twice
        """
        found = [each.id for each in self.ports]
        twice = (each for each in self.ports if found.count(each.id) > 1)
        first = next(twice, None)
        if first is not None and release >= _ONCE_SINCE:
            raise Refusal("HTTPBadRequest", "port-twice", (first.label,), "api", 400)

    def check_count(self, count: int) -> None:
        """Accept only one server with ports or volumes of its own.

        nova/compute/api.py, ``_check_multiple_instances_with_neutron_ports`` and
        ``_check_and_transform_bdm``

        :raises Refusal: for more
        """
        for found, exception, reason in (
            (self.ports, "MultiplePortsNotApplicable", "port-of-several-servers"),
            (self.volumes, "InvalidRequest", "volume-of-several-servers"),
        ):
            if found and count > 1:
                keys = tuple(each.label for each in found)
                raise Refusal(exception, reason, keys, "api", 400)


NO_PARTS = Parts()
