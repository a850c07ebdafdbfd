"""What surprises in filters and weighers: named cases, and what Nova says to them."""

from __future__ import annotations

import copy
import dataclasses
import pathlib
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.weighers import WEIGHERS
from tests.fidelity.scheduling import comparing, ours, values
from tests.fidelity.scheduling.generator import Body

PATH = pathlib.Path(__file__).with_name("traps.yaml")

_LIBVIRT = "QEMU"
_HOST: Body = {
    "state": "up",
    "status": "enabled",
    "vcpus": 8,
    "vcpus_used": 2,
    "memory_mb": 8192,
    "free_ram_mb": 4096,
    "local_gb": 100,
    "local_gb_used": 40,
    "free_disk_gb": 60,
    "disk_available_least": 50,
    "running_vms": 3,
    "current_workload": 0,
    "hypervisor_version": 8002001,
    "host_ip": "10.0.0.5",
    "cpu_info": {
        "arch": "x86_64",
        "features": ["vmx", "aes"],
        "topology": {"cells": 1, "cores": 4},
    },
}
_SIZE = {"name": "m1.small", "vcpus": 2, "ram": 1024, "disk": 20}
_OF_SERVERS = ("same_host", "different_host")


@dataclasses.dataclass(frozen=True)
class Trap:
    """One surprise; traps.yaml says what its parts are.

    :ivar of: the filter or the weigher
    :ivar case: as generator.py describes it
    :ivar says: what Nova answers by the first release that does so: of a filter the
        words, a host each; of a weigher the normalized weights
    :ivar ours: what the core says of each host where that is not Nova's answer
    :ivar multipliers: a weigher's, a host each; None where they are of no matter
    """

    trap: str
    of: str
    case: Body
    says: Mapping[int, Sequence[Any]]
    ours: str | None = None
    multipliers: Sequence[float] | None = None

    def is_in(self, release: int) -> bool:
        """Tell whether a release has the filter or weigher."""
        return (FILTERS.get(self.of) or WEIGHERS[self.of]).is_in(release)

    def said_in(self, release: int) -> Sequence[Any]:
        """Return what Nova answers in a release."""
        return self.says[max(since for since in self.says if since <= release)]

    def is_shown_by(self, answer: Mapping[str, Any], release: int) -> bool:
        """Tell whether Nova's answer is the expected one, where it has the filter."""
        if not self.is_in(release):
            return True
        if self.of in FILTERS:
            return bool(answer["filters"][self.of] == self.said_in(release))
        found = answer["weighers"][self.of]
        return self._weighs(found["normalized"], found["multipliers"], release)

    def is_ours(self, release: int) -> bool:
        """Tell whether the core answers so, or says that it does not know."""
        if self.of in FILTERS:
            found = list(map(comparing.word, ours.judged(self.case, release)[self.of]))
            said = self.said_in(release)
            return found == ([self.ours] * len(said) if self.ours else said)
        columns = ours.ranked(self.case, release).columns
        (column,) = (each for each in columns if each.weigher == self.of)
        return self._weighs(column.normalized, column.multipliers, release)

    def _weighs(
        self, weights: Sequence[float], multipliers: Sequence[float], release: int
    ) -> bool:
        pairs = [*zip(weights, self.said_in(release))]
        pairs += zip(multipliers, self.multipliers or multipliers)
        return all(comparing.near(one, other) for one, other in pairs)


def read() -> list[Trap]:
    """Return all of them."""
    return list(map(_trap, yaml.safe_load(PATH.read_text())))


def _trap(row: Body) -> Trap:
    said = row.pop("says", None) or row.pop("weights")
    by_release = said if isinstance(said, dict) else {0: said}
    return Trap(
        trap=row.pop("trap"),
        of=row.pop("of"),
        ours=row.pop("ours", None),
        multipliers=row.pop("multipliers", None),
        says={
            since: each if isinstance(each, list) else [each]
            for since, each in by_release.items()
        },
        case=_case(**row),
    )


def _case(
    hosts: Sequence[Body] = ({},),
    aggregates: Sequence[Mapping[str, str]] = (),
    flavor: Mapping[str, str] | None = None,
    image: Mapping[str, str] | None = None,
    hints: Mapping[str, list[str]] | None = None,
    group: Body | None = None,
    **asked: Any,
) -> Body:
    inside = asked.pop("in", [range(len(hosts))] * len(aggregates))
    instance = asked.pop("instance_uuid", None)
    return {
        "hosts": [_host(number, host) for number, host in enumerate(hosts)],
        "aggregates": [
            {
                "id": number + 1,
                "uuid": _uuid(f"aggregate {number}"),
                "name": f"aggregate {number}",
                "metadata": metadata,
                "hosts": [f"host{each}" for each in inside[number]],
            }
            for number, metadata in enumerate(aggregates)
        ],
        "flavor": {**_SIZE, "extra_specs": flavor or {}},
        "image": {"id": "image", **(image or {})},
        "hints": {
            name: list(map(_uuid, given)) if name in _OF_SERVERS else given
            for name, given in (hints or {}).items()
        },
        "group": group and _group(**group),
        "instance_uuid": instance and _uuid(instance),
        "project_id": "project",
        "availability_zone": None,
        "boot_from_volume": False,
        "options": {},
        **asked,
    }


def _host(number: int, other: Body) -> Body:
    """Return a host of a case from what is otherwise than of a plain one."""
    rest = dict(other)
    kind = rest.pop("kind", _LIBVIRT)
    instances, hidden = rest.pop("instances", ()), rest.pop("hidden", {})
    ratio, cpu_info = rest.pop("ratio", 4.0), rest.pop("cpu_info", {})
    body = copy.deepcopy(_HOST)
    body["cpu_info"].update(cpu_info)
    return {
        "body": {
            **body,
            "id": _uuid(f"host {number}"),
            "hypervisor_hostname": f"host{number}",
            "service": {"id": _uuid(f"service {number}"), "host": f"host{number}"},
            "hypervisor_type": kind,
            **rest,
        },
        "ratios": {"VCPU": ratio, "MEMORY_MB": 1.0, "DISK_GB": 1.0},
        "instances": list(map(_uuid, instances)),
        "hidden": {
            "pci": [],
            "metrics": {},
            "stats": {"io_workload": 0},
            "supported_instances": [each.split() for each in values.SUPPORTED[kind]],
            **hidden,
        },
    }


def _group(policy: str, members: Sequence[str], rules: Body | None = None) -> Body:
    found = {"name": "group", "policy": policy, "rules": rules or {}}
    return {**found, "members": list(map(_uuid, members))}


def _uuid(name: str) -> str:
    """Return a UUID that stands for a name."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))
