"""What of a move is only found out when it is tried, as far as it applies to it."""

from __future__ import annotations

import enum
from collections.abc import Iterator

from osc_traitsched.core.existing.moves.planned import Planned
from osc_traitsched.core.nova.question import Kind
from osc_traitsched.core.nova.server import cpu, pci


class Unseen(enum.Enum):
    """What no API shows before; the values are those of documents."""

    CPU = "cpu comparison"
    """Whether the CPU of the host has all that the guest was started with."""

    LIVE_STORAGE = "live storage"
    """Whether the disks are shared, or have room to be copied to."""

    LOST_STORAGE = "lost storage"
    """Whether the disks are where the other host can reach them."""

    COLD_STORAGE = "cold storage"
    """Whether the disks can be copied from host to host."""

    SMALLER_DISK = "smaller disk"
    """nova-api keeps the size that it was made with as the least that its image needs
    (nova/utils.py, ``get_system_metadata_from_image``), and no API shows that; libvirt
    makes no disk smaller."""

    SHELVED_IMAGE = "shelved image"
    """Whether the image is there that it was shelved as."""

    LIVE_DEVICE = "live device"
    """Whether the alias of its PCI device is one of devices that move live."""

    CLAIM = "claim"
    """Whether the host has the NUMA nodes or the devices that it then claims."""

    PORTS = "port bindings"
    """Whether Neutron binds its ports on the host."""

    GROUP = "group policy"
    """Whether other servers of its group come to the host meanwhile."""

    QUOTA = "quota"
    """Whether the project may use more."""

    SHARES = "shares"
    """Whether it has shares, with which Nova refuses it."""

    CELL = "cell"
    """Which hosts are of the cell that the server stays in."""

    OTHER_CELL = "other cell"
    """Which hosts are of its cell, and whether a policy lets it leave that."""

    TASK = "task under way"
    """Whether this Nova evacuates a server that something is being done with."""


_HARD = frozenset(["affinity", "anti-affinity"])
#: The first release in which a server can have shares, and that moves it with them.
_SHARES_SINCE, _SHARES_MOVE_SINCE = 31, 34
#: The first release that lets some PCI devices of flavors migrate live.
_LIVE_DEVICES_SINCE = 31
_COLD = frozenset([Kind.MIGRATION, Kind.RESIZE])
#: The first release that can move a server to another cell.
_OTHER_CELLS_SINCE = 21
#: In these a later minor release brought that an evacuation may interrupt a task.
_TASK_BY_MINOR = range(23, 26)


def unseen(planned: Planned) -> tuple[Unseen, ...]:
    """Return what can't be known of a move before, in the order of its course."""
    return (*_before(planned), *_of_disks(planned), *_on_the_host(planned))


def _before(planned: Planned) -> Iterator[Unseen]:
    kind, release = planned.kind, planned.release
    if kind is Kind.RESIZE or kind is Kind.UNSHELVE:
        yield Unseen.QUOTA
    refuses_shares = kind is not Kind.UNSHELVE and release >= _SHARES_SINCE
    if refuses_shares and not (kind in _COLD and release >= _SHARES_MOVE_SINCE):
        yield Unseen.SHARES
    if kind in _COLD and _may_leave_cell(planned):
        yield Unseen.OTHER_CELL
    elif kind is not Kind.REBUILD:
        yield Unseen.CELL
    is_busy = bool(planned.state.task_state)
    if kind is Kind.EVACUATION and is_busy and release in _TASK_BY_MINOR:
        yield Unseen.TASK


def _may_leave_cell(planned: Planned) -> bool:
    """Tell whether a policy could let a server go to another cell.

    nova/compute/api.py, ``_allow_cross_cell_resize``
    """
    ports = planned.question.parts.ports
    asks = any(each.resource_request for each in ports)
    return planned.release >= _OTHER_CELLS_SINCE and not asks


def _of_disks(planned: Planned) -> Iterator[Unseen]:
    kind, question = planned.kind, planned.question
    is_local = not question.spec.boot_from_volume
    if kind is Kind.LIVE_MIGRATION:
        yield Unseen.CPU
        yield Unseen.LIVE_STORAGE
    elif kind is Kind.EVACUATION and is_local:
        yield Unseen.LOST_STORAGE
    elif kind in _COLD and is_local:
        yield Unseen.COLD_STORAGE
    elif kind is Kind.UNSHELVE and is_local:
        yield Unseen.SHELVED_IMAGE
    is_smaller = question.flavor["disk"] < planned.old_flavor["disk"]
    if kind is Kind.RESIZE and is_local and is_smaller:
        yield Unseen.SMALLER_DISK


def _on_the_host(planned: Planned) -> Iterator[Unseen]:
    kind, server, question = planned.kind, planned.server, planned.question
    if kind is Kind.REBUILD:
        return
    devices = bool(server and pci.ALIAS in server.flavor.specs)
    is_live = kind is Kind.LIVE_MIGRATION
    if devices and is_live and planned.release >= _LIVE_DEVICES_SINCE:
        yield Unseen.LIVE_DEVICE
    on_ports = any(each.needs_device for each in question.parts.ports)
    if devices or on_ports or (server and cpu.asked_by(server)):
        yield Unseen.CLAIM
    if question.parts.ports:
        yield Unseen.PORTS
    if question.group is not None and question.group.policy in _HARD:
        yield Unseen.GROUP
