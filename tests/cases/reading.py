"""Named cases: a cloud, a request and what is assumed, and the verdict on it.

Each file has a list of cases. Of a case there are

``name``
    a sentence that says what holds
``cloud``
    providers by name, each with ``inventories`` (a total, or what Placement takes, and
    ``used``), ``traits``, ``aggregates`` that Placement has it in, and ``children``
``aggregates``
    Nova's, by name, each with ``metadata`` and ``hosts``, where it matters
``flavor``, ``image``, ``zone``, ``project``
    what is asked for; a flavor has 1 VCPU, 512 MB and 1 GB unless it says otherwise
``options``, ``release``
    of nova-scheduler, by the names of their section ``scheduler``; 33 without a word
``candidates``, ``correction_sets``, ``conflicts``
    the verdict: the hosts that can take it, of each other host the minimal sets of
    conditions without which it could, and those that no host meets together
``drops``
    the sets of keys that are suggested to be dropped, where it matters
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.judge import fix
from osc_traitsched.core.judge.verdict import ClauseSet, Verdict, evaluate
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Question, ServerSpec
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import Matcher
from osc_traitsched.views.explain import document
from tests.property.building import identity
from tests.property.clouds import Inventory, Node

ROOM = pathlib.Path(__file__).parent
FLAVOR = {"id": "1", "name": "flavor", "vcpus": 1, "ram": 512, "disk": 1}
IMAGE = {"id": "2", "name": "image", "disk_format": "raw"}
INVENTORIES = {"VCPU": 8, "MEMORY_MB": 4096, "DISK_GB": 100}


@dataclasses.dataclass(frozen=True)
class Case:
    """One case, as the file has it and as the core takes it."""

    body: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.body["name"])

    @property
    def cloud(self) -> dict[str, Node]:
        """The trees, by the names of their roots."""
        return {name: _node(name, body) for name, body in self.body["cloud"].items()}

    @property
    def question(self) -> Question:
        given = self.body.get("flavor", {})
        specs = {key: str(value) for key, value in given.items() if ":" in key}
        specs.update({k: given[k] for k in given if k == "group_policy"})
        size = {key: value for key, value in given.items() if key not in specs}
        return Question(
            flavor={**FLAVOR, **size, "extra_specs": specs},
            image={**IMAGE, **self.body.get("image", {})},
            aggregates=tuple(self._aggregates()),
            assumptions=self._assumptions(),
            spec=ServerSpec(zone=self.body.get("zone")),
            project=self.body.get("project"),
        )

    def _assumptions(self) -> SchedulerSettings:
        options = self.body.get("options", {})
        return SchedulerSettings.of(self.body.get("release", 33), **options)

    def _aggregates(self) -> Iterator[Aggregate]:
        for number, (name, body) in enumerate(self.body.get("aggregates", {}).items()):
            hosts, metadata = body.get("hosts", ()), body.get("metadata", {})
            yield Aggregate(str(number), identity(name), name, tuple(hosts), metadata)

    @property
    def expected(self) -> dict[str, Any]:
        """The verdict, with all names as the file has them."""
        parts = {"candidates": [], "correction_sets": {}, "conflicts": []}
        parts.update({name: [] for name in ("drops",) if name in self.body})
        return {name: self.body.get(name, none) for name, none in parts.items()}

    def said(self, request: Request, found: Facts) -> dict[str, Any]:
        """Return the verdict by facts in the form of what is expected."""
        first = Matcher(request.clauses, request.group_policy, found)
        second = request.fallback and Matcher(
            request.fallback.clauses, request.group_policy, found
        )
        verdict = evaluate(first, found, second)
        assert verdict.agrees, (verdict, request.query())
        said = self._worded(verdict, found)
        if "drops" in self.body:
            proposals = fix.on_request(self.question, found, verdict)
            said["drops"] = [
                [change.key for change in each.changes]
                for each in proposals
                if all(change.value is None for change in each.changes)
            ]
        return said

    def _worded(self, verdict: Verdict, found: Facts) -> dict[str, Any]:
        ids = document.clause_ids(verdict.clauses)
        for aggregate in self.question.aggregates:
            ids = tuple(each.replace(aggregate.uuid, aggregate.name) for each in ids)
        by_clause = dict(zip(verdict.clauses, ids))
        hosts = found.snapshot.hosts

        def named(clauses: ClauseSet) -> list[str]:
            return [by_clause[clause] for clause in clauses]

        return {
            "candidates": [h.name for h in hosts if h.uuid not in verdict.rejections],
            "correction_sets": {
                host.name: [
                    named(each)
                    for each in verdict.rejections[host.uuid].correction_sets
                ]
                for host in hosts
                if host.uuid in verdict.rejections
            },
            "conflicts": [named(conflict) for conflict in verdict.conflicts],
        }


def _node(name: str, body: Mapping[str, Any] | None) -> Node:
    body = body or {}
    given = body.get("inventories", INVENTORIES)
    return Node(
        inventories={key: _inventory(each) for key, each in given.items()},
        traits=frozenset(body.get("traits", ())),
        aggregates=frozenset(map(identity, body.get("aggregates", ()))),
        children=tuple(
            _node(f"{name}-{number}", each)
            for number, each in enumerate(body.get("children", ()))
        ),
    )


def _inventory(given: int | Mapping[str, Any]) -> Inventory:
    body: Mapping[str, Any] = {"total": given} if isinstance(given, int) else given
    total = body["total"]
    return Inventory(
        total=total,
        reserved=body.get("reserved", 0),
        ratio=body.get("allocation_ratio", 1.0),
        min_unit=body.get("min_unit", 1),
        max_unit=body.get("max_unit", total),
        step_size=body.get("step_size", 1),
        used=body.get("used", 0),
    )


def cases() -> list[Case]:
    """Return all cases of all files."""
    files = sorted(ROOM.glob("*.yaml"))
    return [Case(body) for file in files for body in yaml.safe_load(file.read_text())]
