"""What volumes that exist change about a server."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.server.parts import Parts
from osc_traitsched.core.nova.server.server import Server
from osc_traitsched.core.nova.settings import SchedulerSettings

_BYTES_A_GB = 1024**3
#: The first release that looks at the zones of volumes.
_ZONES_SINCE = 21

#: What Cinder keeps of an image and is not a property of it (nova/utils.py,
#: ``VIM_IMAGE_ATTRIBUTES``).
_NO_PROPERTIES = frozenset(
    [
        "image_id",
        "image_name",
        "size",
        "checksum",
        "container_format",
        "disk_format",
        "min_ram",
        "min_disk",
    ]
)


def image_of(parts: Parts) -> Mapping[str, object] | None:
    """Return what stands for the image of a server whose root disk is a volume.

    nova/utils.py, ``get_image_metadata_from_volume``

    :returns: as the image service gives an image; None without such a volume
    :raises Refusal: for a volume that can't be booted from
    """
    root = parts.root_volume
    if root is None:
        return None
    if not root.is_bootable:
        keys = (root.label,)
        raise Refusal("InvalidBDMVolumeNotBootable", "volume-not-bootable", keys)
    found = root.image_metadata
    return {
        **{key: value for key, value in found.items() if key not in _NO_PROPERTIES},
        "status": "active",
        "size": root.size * _BYTES_A_GB,
        "min_ram": found.get("min_ram") or 0,
        "min_disk": found.get("min_disk") or 0,
    }


def zone_of(server: Server, assumptions: SchedulerSettings) -> str:
    """Return the zone that a server is for, with that of its volumes; empty for any.

    Where Cinder's zones count, a server without a zone gets that of its volumes, but
    for the default one (nova/compute/api.py, ``_validate_vol_az_for_create``).

    :raises Refusal: for volumes of several zones, or of another one than the server's
    """
    volumes = server.parts.volumes
    counts = server.release >= _ZONES_SINCE and volumes
    if assumptions.value(options.CROSS_AZ_ATTACH) or not counts:
        return server.zone
    zones = {each.zone for each in volumes}
    keys = tuple(f"{each.label} ({each.zone})" for each in volumes)
    if len(zones) > 1:
        raise Refusal("MismatchVolumeAZException", "volumes-in-several-zones", keys)
    (zone,) = zones
    if not server.zone:
        default = assumptions.value(options.DEFAULT_HOST_ZONE)
        return "" if zone == default else zone
    if server.zone != zone:
        raise Refusal("MismatchVolumeAZException", "volume-in-another-zone", keys)
    return zone
