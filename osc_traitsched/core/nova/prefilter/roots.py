"""The prefilters that ask something of a tree's root.

nova/scheduler/request_filter.py, in the functions of the same names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.nova.clause import Clause, Origin, RootTrait, Trait
from osc_traitsched.core.nova.server import device_profile, features, not_evaluated, pci
from osc_traitsched.core.nova.server.adding import Found, SoFar
from osc_traitsched.core.nova.server.not_evaluated import NotEvaluated
from osc_traitsched.core.nova.server.server import Server, Switch
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.releases import OLDEST

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
    """Require that a host can read the image's disk format, unless a volume boots."""
    if server.root_disk_is_a_volume or not server.image.body:
        return
    given = str(server.image.body.get("disk_format") or "")
    if server.release >= _IMAGE_TYPES.get(given.upper(), server.release + 1):
        trait = f"COMPUTE_IMAGE_TYPE_{given.upper()}"
        yield _on_the_root(server, trait, False, server.image.origin("disk_format"))
    else:
        yield NotEvaluated(not_evaluated.IMAGE_TYPE, "disk_format", given)


def compute_status_filter(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Leave out hosts whose compute service is disabled."""
    yield _on_the_root(server, trait.DISABLED, True)


def _on_the_root(
    server: Server, trait: str, forbidden: bool, *origins: Origin
) -> Clause:
    """Return a condition on the root; 20 writes it into the flavor's own traits.

    Placement had no such parameter then (nova 20, request_filter.py).
    """
    if server.release < 21:
        return Trait("", trait, forbidden, origins)
    return RootTrait(trait, forbidden, origins)


def accelerators_filter(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Require accelerators for a device profile; its groups are Cyborg's to say."""
    key = device_profile.PROFILE
    profile = server.flavor.specs.get(key)
    if profile:
        if profile not in server.parts.device_profiles:
            yield NotEvaluated(not_evaluated.DEVICE_PROFILE, key, profile)
        yield RootTrait("COMPUTE_ACCELERATORS", False, (server.flavor.origin(key),))


def packed_virtqueue_filter(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Require packed virtqueues."""
    yield from _where(features.packed_ring(server), "COMPUTE_NET_VIRTIO_PACKED")


def ephemeral_encryption_filter(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Require encryption of local disks, and of the format if one is said."""
    wanted, form = features.ephemeral_encryption(server)
    trait = "COMPUTE_EPHEMERAL_ENCRYPTION"
    yield from _where(wanted, trait)
    if form.value:
        origins = (*wanted.origins, *form.origins)
        yield RootTrait(f"{trait}_{form.value.upper()}", False, origins)


def virtio_sound_filter(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Require virtio's sound device; every host has the others."""
    model = features.sound_model(server)
    if model.value == "virtio":
        yield RootTrait("COMPUTE_SOUND_MODEL_VIRTIO", False, model.origins)


def tpm_secret_security_filter(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Require the way in which a virtual TPM's secret is to be kept."""
    version, _ = features.tpm(server)
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
    """Require Nova's own mark, once every compute service is new enough to set it.

    PCI devices need it as well.
    """
    if assumptions.all_computes_new is not False:
        yield RootTrait("OWNER_NOVA", False, ())
        for group in pci.groups(server):
            yield Trait(group.suffix, "OWNER_NOVA", False, (group.origin,))


def _where(wanted: Switch, trait: str) -> Iterator[Found]:
    if wanted.on:
        yield RootTrait(trait, False, wanted.origins)
