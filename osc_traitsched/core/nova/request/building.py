"""From flavor and image to nova-scheduler's request to Placement."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova import options, prefilter
from osc_traitsched.core.nova.request import checks, model
from osc_traitsched.core.nova.request.model import Request
from osc_traitsched.core.nova.server import attachments, cpu, extra_specs, translation
from osc_traitsched.core.nova.server.server import (
    FORCED_HOST,
    KERNEL_IMAGE,
    MIXED_COMPUTES,
    PCI_ALIAS,
    PCI_ALIAS_IN_PLACEMENT,
    REQUESTED_DESTINATION,
    REQUESTED_HOST,
    SOUND_COMPUTES,
    VOLUME_SIZE,
    VOLUME_ZONE,
    ZERO_DISK,
    NotEvaluated,
    Server,
    SoFar,
)
from osc_traitsched.core.nova.settings import SchedulerSettings

# Conditions of Nova's that flavor and image do not decide.


def of(server: Server, assumptions: SchedulerSettings) -> Iterator[NotEvaluated]:
    """Yield conditions that may still prevent the request."""
    yield from _pci_alias(server, assumptions)
    yield from _disk(server)
    yield from _volume_zone(server, assumptions)
    yield from _kernel(server)
    yield from _computes(server)


def _pci_alias(
    server: Server, assumptions: SchedulerSettings
) -> Iterator[NotEvaluated]:
    """An alias that only nova.conf explains (nova/pci/request.py)."""
    alias = server.flavor.specs.get(attachments.PCI_ALIAS)
    if alias is None or server.aliases is not None:
        return
    asked = server.release >= attachments.IN_PLACEMENT_SINCE and assumptions.value(
        options.PCI_IN_PLACEMENT
    )
    kind = PCI_ALIAS_IN_PLACEMENT if asked else PCI_ALIAS
    yield NotEvaluated(kind, attachments.PCI_ALIAS, alias)


def _disk(server: Server) -> Iterator[NotEvaluated]:
    """Conditions of nova/compute/api.py, ``_validate_flavor_image_nostatus``.

    A disk of 0 needs a policy, by default only for admins; a volume must be as large as
    the image says.
    """
    if not server.image.body:
        return
    if server.boot_from_volume and server.image.root_volume is None:
        size = server.image.amount("min_disk")
        if size:
            yield NotEvaluated(VOLUME_SIZE, "min_disk", str(size))
    elif not server.flavor.disk and not server.root_disk_is_a_volume:
        yield NotEvaluated(ZERO_DISK, "disk", "0")


def _volume_zone(
    server: Server, assumptions: SchedulerSettings
) -> Iterator[NotEvaluated]:
    """Volumes in a zone that nova-compute checks without nova-api asking for it.

    It checks volumes that the server does not have yet (nova/volume/cinder.py,
    ``check_availability_zone``).
    """
    if server.zone or assumptions.value(options.CROSS_AZ_ATTACH):
        return
    default = assumptions.value(options.DEFAULT_HOST_ZONE)
    for each in server.parts.volumes:
        if each.status and each.zone == default:
            yield NotEvaluated(VOLUME_ZONE, each.label, each.zone)


def _kernel(server: Server) -> Iterator[NotEvaluated]:
    body = server.image.body
    if body.get("kernel_id") == "nokernel":
        return
    for key in ("kernel_id", "ramdisk_id"):
        if body.get(key) is not None:
            yield NotEvaluated(KERNEL_IMAGE, key, str(body[key]))


def _computes(server: Server) -> Iterator[NotEvaluated]:
    if cpu.policy(server).value == "mixed":
        yield NotEvaluated(MIXED_COMPUTES, cpu.POLICY, "mixed")
    if server.release >= 32:
        model = extra_specs.sound_model(server)
        if model.value:
            yield NotEvaluated(SOUND_COMPUTES, model.origins[0].key, model.value)


# From a flavor and an image to the request, or to the refusal.


API, SCHEDULER, NO_VALID_HOST = "api", "scheduler", "no valid host"


def build(
    server: Server,
    destination: model.Destination,
    computes: Sequence[Compute] | None,
    assumptions: SchedulerSettings,
) -> Request:
    """The request of nova-scheduler for a server that nova-api accepts.

    :param computes: all compute nodes, if the user names a host; without them
        ``not_evaluated`` says that the request is not limited
    :raises Refusal: if Nova rejects the server
    """
    with at(API, server.release):
        if computes is not None:
            model.check(destination, computes)
    with at(SCHEDULER, server.release):
        so_far = prefilter.run(server, assumptions)
        request = _request(server, so_far, assumptions)
        return _restricted(request, destination, computes)


def provisioned(asked: Server, assumptions: SchedulerSettings) -> Server:
    """The server of ``_provision_instances``; 34 asks Cyborg first."""
    if asked.release >= 34:
        attachments.check_profile(asked)
    asked = dataclasses.replace(
        asked, zone=attachments.zone_with_volumes(asked, assumptions)
    )
    attachments.check_profile(asked)
    attachments.check_pci_groups(asked)
    asked.parts.check_volumes()
    return asked


def aliases(assumptions: SchedulerSettings) -> tuple[str, ...] | None:
    """The PCI aliases; None if no setting has any."""
    found = assumptions.setting(options.PCI_ALIAS)
    return found.value if found.given and isinstance(found.value, tuple) else None


def microversion(release: int) -> str:
    """A release's Placement microversion for allocation candidates.

    nova/scheduler/client/report.py, ``get_allocation_candidates``
    """
    if release < 21:
        return "1.32"
    return "1.35" if release < 24 else "1.36"


def _request(server: Server, so_far: SoFar, assumptions: SchedulerSettings) -> Request:
    found = translation.translate(server, so_far)
    limit = assumptions.value(options.MAX_RESULTS)
    request = Request(
        clauses=found.clauses,
        group_policy=_group_policy(server, found),
        limit=limit if isinstance(limit, int) else None,
        microversion=microversion(server.release),
        not_evaluated=(*found.not_evaluated, *of(server, assumptions)),
        same_subtree=attachments.same_subtree(server),
    )
    if not _asks_twice(server, assumptions):
        return request
    unpinned = translation.translate(server, so_far, pinned=False)
    second = dataclasses.replace(request, clauses=unpinned.clauses)
    return dataclasses.replace(request, fallback=second)


def _group_policy(server: Server, found: SoFar) -> str | None:
    """The flavor's policy, or Nova's own for several groups of ports or devices.

    nova/scheduler/utils.py, ``resources_from_request_spec``
    """
    given = extra_specs.group_policy(server)
    groups = {getattr(clause, "group", "") for clause in found.clauses} - {""}
    if given is None and len(groups) > 1 >= len(extra_specs.suffixes(server)):
        return "none"
    return given


def _restricted(
    request: Request,
    named: model.Destination,
    computes: Sequence[Compute] | None,
) -> Request:
    """Naming a host needs a policy.

    nova/api/openstack/compute/servers.py, ``create`` and ``_process_hosts_for_create``
    """
    if not named.is_named:
        return request
    host = ":".join(filter(None, (named.host, named.node)))
    kinds = [FORCED_HOST if named.is_forced else REQUESTED_DESTINATION]
    key = "availability_zone" if named.is_forced else "host"
    if computes is None:
        kinds.append(REQUESTED_HOST)
    else:
        request = model.restricted(request, named, computes)
    unknown = (NotEvaluated(kind, key, host) for kind in kinds)
    not_evaluated = (*request.not_evaluated, *unknown)
    return dataclasses.replace(request, not_evaluated=not_evaluated)


def _asks_twice(server: Server, assumptions: SchedulerSettings) -> bool:
    """Nova also asks for hosts from before 20.

    nova/scheduler/manager.py, ``select_destinations``.
    """
    if assumptions.value(options.NO_PCPU_FALLBACK):
        return False
    return cpu.policy(server).value == "dedicated"


@contextlib.contextmanager
def at(stage: str, release: int) -> Iterator[None]:
    """Add the stage to a refusal."""
    try:
        yield
    except Refusal as refusal:
        name = refusal.exception
        if name in ("RequestFilterFailed", "NoValidHost"):
            stage = NO_VALID_HOST
        status = checks.http_status(name, release) if stage == API else None
        raise Refusal(
            name,
            refusal.reason,
            refusal.keys,
            stage,
            status,
            refusal.nearest,
            refusal.allowed,
        ) from None
