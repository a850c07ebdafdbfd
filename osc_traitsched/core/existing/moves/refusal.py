"""Why Nova does not begin with a move: the values of ``refusals.py``."""

from __future__ import annotations

import dataclasses
import enum


class Why(enum.Enum):
    """Why a move is refused; the values are those of documents."""

    VM_STATE = "state"
    TASK = "task under way"
    NEVER_RAN = "never ran"
    NO_HOST = "on no host"
    SOURCE_UP = "source up"
    SOURCE_DOWN = "source down"
    POWER_STATE = "power state"
    ACCELERATOR = "accelerator"
    PORT_ACCELERATOR = "port accelerator"
    VDPA = "vdpa port"
    TPM = "virtual tpm"
    MEMORY_ENCRYPTION = "memory encryption"
    PCI_DEVICE = "pci device"
    SAME_HOST = "same host"
    SAME_FLAVOR = "same flavor"
    DISABLED_FLAVOR = "disabled flavor"
    ZERO_DISK = "zero disk"
    VOLUME = "volume"
    NUMA = "numa nodes"


@dataclasses.dataclass(frozen=True)
class MoveRefusal:
    """Why Nova does not begin with a move.

    :ivar exception: the class of Nova's exception
    :ivar values: what the server has or is instead, and what it may be
    :ivar by: the service that refuses it
    """

    why: Why
    exception: str
    values: tuple[str, ...] = ()
    by: str = "nova-api"
