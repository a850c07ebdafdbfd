"""What nova-api refuses at once, check by check, in its order.

nova/compute/api.py, ``_create_instance``: ``_validate_and_build_base_options`` and
``_checks_for_create_and_rebuild``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from osc_traitsched.core.nova.request import check_cpu, check_image, check_numa
from osc_traitsched.core.nova.server import cpu, features, numa, outside, pci
from osc_traitsched.core.nova.server.server import Server
from osc_traitsched.core.releases import NEWEST, OLDEST

_STATUS: Mapping[str, int] = {
    "BootFromVolumeRequiredForZeroDiskFlavor": 403,
    "ImagePCINUMAPolicyForbidden": 403,
    "MixedInstanceNotSupportByComputeService": 409,
    "PortInUse": 409,
    # These are on none of the API's lists: the user is shown a failure of Nova's.
    "Invalid": 500,
    "InvalidPCINUMAAffinity": 500,
    "JSONDecodeError": 500,
    "KeyError": 500,
    "OverflowError": 500,
    "RecursionError": 500,
    "ValueError": 500,
}
_STATUS_UNTIL_33: Mapping[str, int] = {
    "FlavorImageLockedMemoryConflict": 500,
    "LockMemoryForbidden": 403,
}


@dataclasses.dataclass(frozen=True)
class Check:
    """One check: it returns, or raises Refusal.

    :ivar since: the first release that has it at this place
    :ivar until: the first one that does not any more
    :ivar of_image: it is left out for a server without an image
    """

    function: Callable[[Server], object]
    since: int = OLDEST
    until: int = NEWEST + 1
    of_image: bool = False


def check(server: Server) -> None:
    """Go through all checks of the server's release.

    :raises Refusal: at the first that fails
    """
    for each in CHECKS:
        skipped = each.of_image and not server.image.body
        if each.since <= server.release < each.until and not skipped:
            each.function(server)


def http_status(exception: str, release: int) -> int:
    """Return the status of the API's answer for one of Nova's exceptions.

    nova/api/openstack/compute/servers.py, ``ServersController.create``.
    """
    if release < 34 and exception in _STATUS_UNTIL_33:
        return _STATUS_UNTIL_33[exception]
    return _STATUS.get(exception, 400)


CHECKS: tuple[Check, ...] = (
    # nova/virt/hardware.py, numa_get_constraints; 22 turned its order round
    Check(numa.nodes, until=22),
    Check(numa.page_size, until=22),
    Check(check_numa.layout, until=22),
    Check(cpu.policy),
    Check(cpu.thread_policy),
    Check(cpu.realtime_cpus, since=22),
    Check(cpu.dedicated_cpus, since=22),
    Check(cpu.emulator_policy),
    Check(check_cpu.explicit_cpus),
    Check(check_cpu.explicit_threads),
    Check(check_cpu.not_pinned),
    Check(check_cpu.not_mixed, since=22),
    Check(check_cpu.mixed, since=22),
    Check(check_cpu.realtime_has_a_mask, until=22),
    Check(check_cpu.pinned_threads_are_named, until=22),
    Check(numa.nodes, since=22),
    Check(numa.page_size, since=22),
    Check(check_numa.locked_memory, since=26),
    Check(check_numa.encrypted_or_locked, since=34),
    Check(check_numa.layout, since=22),
    Check(check_numa.threads_of_cells_are_named, since=22),
    # _validate_and_build_base_options, the rest
    Check(features.pci_numa_policy, since=21),
    Check(pci.check),
    Check(outside.check_requests, until=24),
    Check(outside.check_devices),
    Check(features.ephemeral_encryption, since=26),
    # _validate_flavor_image and _validate_flavor_image_nostatus
    Check(check_image.bootable, of_image=True),
    Check(check_image.active, of_image=True),
    Check(check_image.memory, of_image=True),
    Check(check_image.packed_ring, since=29, of_image=True),
    Check(check_image.disk, of_image=True),
    Check(features.memory_encryption, of_image=True),
    Check(check_image.performance_monitoring, of_image=True),
    Check(check_image.serial_ports, of_image=True),
    Check(check_cpu.realtime_leaves_some, until=22, of_image=True),
    Check(check_cpu.topology, of_image=True),
    Check(check_image.multiqueue, since=25, of_image=True),
    Check(features.sound_model, since=32, of_image=True),
)
