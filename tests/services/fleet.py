"""Compute nodes as values: what a large, busy cloud's hosts look like to Placement."""

from __future__ import annotations

import random
import uuid
from dataclasses import dataclass

# What nova-compute reports for a common libvirt host.
LIBVIRT_TRAITS = (
    "COMPUTE_NODE",
    "COMPUTE_ACCELERATORS",
    "COMPUTE_DEVICE_TAGGING",
    "COMPUTE_GRAPHICS_MODEL_VGA",
    "COMPUTE_GRAPHICS_MODEL_VIRTIO",
    "COMPUTE_IMAGE_TYPE_ISO",
    "COMPUTE_IMAGE_TYPE_QCOW2",
    "COMPUTE_IMAGE_TYPE_RAW",
    "COMPUTE_NET_ATTACH_INTERFACE",
    "COMPUTE_NET_VIF_MODEL_E1000",
    "COMPUTE_NET_VIF_MODEL_VIRTIO",
    "COMPUTE_RESCUE_BFV",
    "COMPUTE_SOCKET_PCI_NUMA_AFFINITY",
    "COMPUTE_STORAGE_BUS_SCSI",
    "COMPUTE_STORAGE_BUS_VIRTIO",
    "COMPUTE_TRUSTED_CERTS",
    "COMPUTE_VOLUME_EXTEND",
    "COMPUTE_VOLUME_MULTI_ATTACH",
    "HW_ARCH_X86_64",
    "HW_CPU_X86_AESNI",
    "HW_CPU_X86_AVX",
    "HW_CPU_X86_AVX2",
    "HW_CPU_X86_BMI",
    "HW_CPU_X86_BMI2",
    "HW_CPU_X86_FMA3",
    "HW_CPU_X86_MMX",
    "HW_CPU_X86_SSE",
    "HW_CPU_X86_SSE2",
    "HW_CPU_X86_SSE41",
    "HW_CPU_X86_SSE42",
    "HW_CPU_X86_VMX",
)
# A trait and how many hosts there are for each one that has it.
SOME_TRAITS = (
    ("HW_CPU_X86_AVX512F", 3),
    ("CUSTOM_GPU_NODE", 20),
    ("COMPUTE_STATUS_DISABLED", 50),
)
# A trait that the server knows and no host has.
NO_HOST_HAS = "CUSTOM_NEVER"
NUMA_TRAIT = "HW_NUMA_ROOT"
# VCPU, MEMORY_MB and DISK_GB of the three models of host.
SIZES = ((64, 262144, 2000), (128, 524288, 4000), (256, 1048576, 8000))
ZONES = 3
HOSTS_IN_A_RACK = 50


@dataclass(frozen=True)
class Inventory:
    """How much of one resource class a provider has, and how much is used of it."""

    resource_class: str
    total: int
    used: int
    reserved: int = 0
    allocation_ratio: float = 1.0


@dataclass(frozen=True)
class Provider:
    """One resource provider."""

    uuid: str
    name: str
    traits: tuple[str, ...]
    inventories: tuple[Inventory, ...]


@dataclass(frozen=True)
class Host:
    """A root provider, its children and its aggregates; full: no VCPU, no memory."""

    root: Provider
    children: tuple[Provider, ...]
    aggregates: tuple[str, ...]
    full: bool

    @property
    def name(self) -> str:
        return self.root.name

    @property
    def uuid(self) -> str:
        return self.root.uuid


def draw(
    count: int, first: int = 1, seed: int = 1, full: int = 0, nested: float = 0.0
) -> tuple[Host, ...]:
    """Return hosts numbered from ``first``; the same arguments give the same hosts."""
    dice = random.Random(f"{seed}/{first}/{count}")
    numbers = range(first, first + count)
    are_full = set(dice.sample(numbers, full))
    are_nested = set(dice.sample(numbers, round(count * nested)))
    zones = [_uuid(dice) for _ in range(ZONES)]
    racks = [_uuid(dice) for _ in range(max(1, count // HOSTS_IN_A_RACK))]
    return tuple(
        Host(
            root=_root(dice, n, n in are_full),
            children=_numa_nodes(dice, n) if n in are_nested else (),
            aggregates=(zones[n % len(zones)], racks[n % len(racks)]),
            full=n in are_full,
        )
        for n in numbers
    )


def _name(number: int) -> str:
    return f"cmp{number:05d}.example.org"


def _root(dice: random.Random, number: int, full: bool) -> Provider:
    vcpus, memory, disk = dice.choice(SIZES)
    busy = dice.random()
    in_use = 1.0 if full else busy
    some = tuple(name for name, each in SOME_TRAITS if number % each == 0)
    inventories = (
        Inventory("VCPU", vcpus, int(vcpus * 4 * in_use), 0, 4.0),
        Inventory("MEMORY_MB", memory, int((memory - 512) * in_use), 512),
        Inventory("DISK_GB", disk, int(disk * busy)),
    )
    return Provider(_uuid(dice), _name(number), LIBVIRT_TRAITS + some, inventories)


def _numa_nodes(dice: random.Random, number: int) -> tuple[Provider, ...]:
    return tuple(
        Provider(
            uuid=_uuid(dice),
            name=f"{_name(number)}_NUMA{node}",
            traits=(NUMA_TRAIT,),
            inventories=(Inventory("PCPU", 16, dice.randrange(16)),),
        )
        for node in range(2)
    )


def _uuid(dice: random.Random) -> str:
    return str(uuid.UUID(int=dice.getrandbits(128), version=4))
