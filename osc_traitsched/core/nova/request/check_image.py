"""What else nova-api refuses of a flavor and an image (nova/compute/api.py)."""

from __future__ import annotations

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.server import features, reading
from osc_traitsched.core.nova.server.server import Server, switched

_BYTES_A_GB = 1024**3


def bootable(server: Server) -> None:
    """Refuse the image of an encrypted volume.

    ``_detect_nonbootable_image_from_properties``; a volume made of it may boot,
    except in 20.
    """
    key = "cinder_encryption_key_id"
    allowed = server.boot_from_volume and server.release >= 21
    if server.image.body.get(key) and not allowed:
        raise Refusal("ImageUnacceptable", "image-of-encrypted-volume", (key,))


def active(server: Server) -> None:
    """Refuse an image that is not ready (``_validate_flavor_image``)."""
    if server.image.body.get("status", "active") != "active":
        raise Refusal("ImageNotActive", "image-not-active", ("status",))


def memory(server: Server) -> None:
    """Refuse a flavor with less RAM than the image needs."""
    if server.flavor.ram < server.image.amount("min_ram"):
        raise Refusal("FlavorMemoryTooSmall", "flavor-too-small", ("ram", "min_ram"))


def packed_ring(server: Server) -> None:
    """Refuse where flavor and image differ about packed virtqueues.

    nova/virt/hardware.py, ``get_packed_virtqueue_constraint``. 29 compares a truth
    value with a text here, so that both may not say anything.
    """
    prop = "hw_virtio_packed_ring"
    both = features.PACKED_RING in server.flavor.specs and prop in server.image.values
    if both and server.release < 30:
        names = (features.PACKED_RING, prop)
        raise Refusal("FlavorImageConflict", "set-by-both", names)
    features.packed_ring(server)


def disk(server: Server) -> None:
    """Refuse a flavor whose disk is too small for the image.

    ``_validate_flavor_image_nostatus``. Of a volume only its own size would count,
    and a disk of 0 takes the size of the image.
    """
    room = server.flavor.disk * _BYTES_A_GB
    if server.root_disk_is_a_volume or not room:
        return
    if server.image.amount("size") > room:
        raise Refusal(
            "FlavorDiskSmallerThanImage", "flavor-too-small", ("disk", "size")
        )
    if server.image.amount("min_disk") * _BYTES_A_GB > room:
        names = ("disk", "min_disk")
        raise Refusal("FlavorDiskSmallerThanMinDisk", "flavor-too-small", names)


def performance_monitoring(server: Server) -> None:
    """Refuse where flavor and image differ about the PMU (``get_pmu_constraint``)."""
    old = server.release < 25
    exception = "ImagePMUConflict" if old else "FlavorImageConflict"
    switched(server, "hw:pmu", exception)


def serial_ports(server: Server) -> None:
    """Refuse an image with more serial ports than the flavor allows.

    nova/virt/hardware.py, ``get_number_of_serial_ports``.
    """
    key, prop = "hw:serial_port_count", "hw_serial_port_count"
    spec = server.flavor.specs.get(key)
    most = reading.integer(spec) if spec else 0
    if most is None:
        raise Refusal("ImageSerialPortNumberInvalid", "no-number", (key,))
    if most and (server.image.number(prop) or 0) > most:
        names = (key, prop)
        raise Refusal(
            "ImageSerialPortNumberExceedFlavorValue", "image-wants-more", names
        )


def multiqueue(server: Server) -> None:
    """Refuse where flavor and image differ about queues (two CPUs or more).

    nova/virt/hardware.py, ``get_vif_multiqueue_constraint``.
    """
    if server.flavor.vcpus >= 2:
        switched(server, "hw:vif_multiqueue_enabled")
