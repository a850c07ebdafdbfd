"""What else Nova would look at, that a flavor and an image do not tell."""

from __future__ import annotations

from collections.abc import Iterator

from osc_traitsched.core.nova import filter_options, options
from osc_traitsched.core.nova.server import cpu, features, not_evaluated, pci
from osc_traitsched.core.nova.server.not_evaluated import NotEvaluated
from osc_traitsched.core.nova.server.server import Server
from osc_traitsched.core.nova.settings import SchedulerSettings


def of(server: Server, assumptions: SchedulerSettings) -> Iterator[NotEvaluated]:
    """Yield it; the request is right if none of it is in the way."""
    yield from _pci_alias(server, assumptions)
    yield from _disk(server)
    yield from _volume_zone(server, assumptions)
    yield from _kernel(server)
    yield from _computes(server)


def _pci_alias(
    server: Server, assumptions: SchedulerSettings
) -> Iterator[NotEvaluated]:
    """Yield an alias, which only nova.conf explains (nova/pci/request.py)."""
    alias = server.flavor.specs.get(pci.ALIAS)
    if alias is None or server.aliases is not None:
        return
    asked = server.release >= pci.IN_PLACEMENT_SINCE and assumptions.value(
        options.PCI_IN_PLACEMENT
    )
    kind = not_evaluated.PCI_ALIAS_IN_PLACEMENT if asked else not_evaluated.PCI_ALIAS
    yield NotEvaluated(kind, pci.ALIAS, alias)


def _disk(server: Server) -> Iterator[NotEvaluated]:
    """Yield what nova/compute/api.py, ``_validate_flavor_image_nostatus``, looks at.

    A disk of 0 takes a policy that by default only admins have; a volume must be
    as large as the image says.
    """
    if not server.image.body:
        return
    if server.boot_from_volume:
        size = server.image.amount("min_disk")
        if size:
            yield NotEvaluated(not_evaluated.VOLUME_SIZE, "min_disk", str(size))
    elif not server.flavor.disk and not server.root_disk_is_a_volume:
        yield NotEvaluated(not_evaluated.ZERO_DISK, "disk", "0")


def _volume_zone(
    server: Server, assumptions: SchedulerSettings
) -> Iterator[NotEvaluated]:
    """Yield a volume whose zone nova-compute looks at, and nova-api does not ask for.

    It does when it attaches one that the server does not have yet
    (nova/volume/cinder.py, ``check_availability_zone``).
    """
    if server.zone or assumptions.value(options.CROSS_AZ_ATTACH):
        return
    default = assumptions.value(filter_options.DEFAULT_HOST_ZONE)
    for each in server.parts.volumes:
        if each.status and each.zone == default:
            yield NotEvaluated(not_evaluated.VOLUME_ZONE, each.label, each.zone)


def _kernel(server: Server) -> Iterator[NotEvaluated]:
    """Yield the images of an image, which must exist too."""
    body = server.image.body
    if body.get("kernel_id") == "nokernel":
        return
    for key in ("kernel_id", "ramdisk_id"):
        if body.get(key) is not None:
            yield NotEvaluated(not_evaluated.KERNEL_IMAGE, key, str(body[key]))


def _computes(server: Server) -> Iterator[NotEvaluated]:
    """Yield what takes every compute service of the cloud to be new enough."""
    if cpu.policy(server).value == "mixed":
        yield NotEvaluated(not_evaluated.MIXED_COMPUTES, cpu.POLICY, "mixed")
    if server.release >= 32:
        model = features.sound_model(server)
        if model.value:
            yield NotEvaluated(
                not_evaluated.SOUND_COMPUTES, model.origins[0].key, model.value
            )
