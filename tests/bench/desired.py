"""plan and apply against Nova's own query, check, and the bare writes."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from osc_traitsched.app import gc_paused
from osc_traitsched.app.check import survey
from osc_traitsched.app.desired import DesiredPlan, export_desired, judged, plan_desired
from osc_traitsched.app.execute import execute
from osc_traitsched.config import desired
from osc_traitsched.core.change.model import Status
from osc_traitsched.core.desired.model import DesiredState
from osc_traitsched.core.nova.options import SchedulerSettings
from tests.bench import adding, clouds, lists
from tests.functional.placement import Placement
from tests.services import fleet
from tests.services.placement import PlacementServer

HOSTS, AGGREGATES, FLAVORS = 10_000, 500, 1000
_ROUNDS = 3
_ASSUMED = SchedulerSettings.of(33, enable_isolated_aggregate_filtering=True)
#: What Nova asks for a flavor that most hosts can take.
_QUERY = "/allocation_candidates?resources=VCPU:2,MEMORY_MB:2048,DISK_GB:10"
_EVERYWHERE = 'version: 1\ntraits: {%s: {hosts: ["*"]}}\n'
_CHANGES = """
version: 1
traits: {CUSTOM_WANTED: {hosts: ["cmp0000[0-4]*"]}}
aggregates:
  wanted: {hosts: ["cmp0000[0-4]*"], isolated_for: [CUSTOM_WANTED]}
flavors: {"f1?": {requires: [CUSTOM_WANTED]}}
"""


def report(server: PlacementServer, hosts: int) -> None:
    """Measure a cloud that is as desired, and writes to all its hosts."""
    large = clouds.made(server, hosts, lists.AGGREGATES, _flavors(lists.FLAVORS))
    print(f"plan and apply, {hosts} hosts, {len(large.aggregates)} aggregates")
    for figures in (_nothing_to_do(large.cloud), _writes(server, large.cloud, hosts)):
        for name, value, remark in figures:
            print(f"  {name:36}{value:10.2f}  {remark}".rstrip())


def report_large(server: PlacementServer) -> None:
    """Measure a plan of a large cloud, in a process of its own."""
    clouds.made(server, HOSTS, AGGREGATES, ())
    flavors = f"{FLAVORS} flavors of 120 kinds"
    print(f"plan, {HOSTS} hosts, {AGGREGATES} aggregates, {flavors}")
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_plan_large, args=(server.url,))
    process.start()
    process.join()
    assert process.exitcode == 0


def _nothing_to_do(cloud: clouds.BenchCloud) -> Iterator[tuple[str, float, str]]:
    text = desired.text(export_desired(cloud, _ASSUMED.collation).desired)
    works: tuple[Callable[[], Any], ...] = (
        lambda: cloud.placement.get(_QUERY),
        lambda: _plan(cloud, text),
        lambda: survey(cloud, _ASSUMED),
    )
    rounds = [[_cost(cloud, work) for work in works] for _ in range(_ROUNDS)]
    nova, ours, check = (min(costs) for costs in zip(*rounds))
    assert not _plan(cloud, text).draft.claims
    yield "as wanted: requests", ours[1], f"check: {check[1]}"
    yield "as wanted: seconds", ours[0], f"check: {check[0]:.2f}"
    yield "as wanted / Nova's own query", ours[0] / nova[0], "at most 3"


def _writes(
    server: PlacementServer, cloud: clouds.BenchCloud, hosts: int
) -> Iterator[tuple[str, float, str]]:
    """Measure both in turn: the machine may become slower meanwhile."""
    placement = Placement(server.url)
    bare, ours = [], []
    for number in range(_ROUNDS):
        mine, theirs = f"CUSTOM_{number}_A", f"CUSTOM_{number}_B"
        placement.create_traits(mine, theirs)
        bare.append(_cost(cloud, partial(adding.bare_loop, placement, theirs)))
        ours.append(_cost(cloud, partial(_apply, cloud, _EVERYWHERE % mine)))
    (loop, _), (seconds, requests) = min(bare), min(ours)
    yield "apply: requests", requests, f"{hosts} writes, {requests - hosts} others"
    yield "apply: seconds", seconds, f"bare loop: {loop:.1f}; of {_ROUNDS} each"
    yield "apply / bare loop", seconds / loop, "at most 1.25"


def _apply(cloud: clouds.BenchCloud, text: str) -> None:
    """Write, and read again as the command does."""
    todo = _plan(cloud, text)
    done = execute(cloud, todo.plan)  # type: ignore[arg-type]
    assert {each.status for each in done.outcomes} <= {Status.CHANGED, Status.UNCHANGED}
    assert not _plan(cloud, text).draft.claims


def _plan_large(url: str) -> None:
    """Plan an export of a large cloud, and changes of it; print the figures."""
    hosts = fleet.draw(HOSTS)
    cloud = clouds.over(url, hosts, AGGREGATES, _flavors(FLAVORS)).cloud
    text = desired.text(export_desired(cloud, _ASSUMED.collation).desired)
    for name, document in (("as desired", text), ("changes", _CHANGES)):
        start = time.process_time()
        wanted = _read(document)
        reading = time.process_time() - start
        wall, cpu, inside = time.perf_counter(), time.process_time(), cloud.cpu
        before = cloud.requests
        todo = _planned(cloud, wanted)
        wall = time.perf_counter() - wall
        cpu, inside = time.process_time() - cpu, cloud.cpu - inside
        more = f"{reading:.2f} for the file; {cloud.requests - before} requests"
        print(f"  {name + ': CPU seconds':36}{cpu - inside:10.2f}  at most 3; {more}")
        print(f"  {name + ': seconds':36}{wall:10.2f}")
        assert bool(todo.draft.claims) is (document == _CHANGES)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {'peak memory: MB':36}{peak:10.2f}  at most 500")


def _plan(cloud: clouds.BenchCloud, text: str) -> DesiredPlan:
    return _planned(cloud, _read(text))


def _planned(cloud: Any, wanted: DesiredState) -> DesiredPlan:
    return judged(cloud, plan_desired(cloud, wanted, _ASSUMED))


@gc_paused()
def _read(text: str) -> DesiredState:
    wanted, mistakes = desired.read_text("desired.yaml", text)
    assert not mistakes
    return wanted


def _cost(cloud: clouds.BenchCloud, work: Callable[[], Any]) -> tuple[float, int]:
    """Return seconds and requests."""
    before, start = cloud.requests, time.perf_counter()
    work()
    return time.perf_counter() - start, cloud.requests - before


def _flavors(count: int) -> Sequence[Mapping[str, Any]]:
    """Return flavors of 120 kinds, some for isolated aggregates."""
    return [
        {
            "id": str(number),
            "name": f"f{number}",
            "vcpus": 1 + number % 8,
            "ram": 1024 * (1 + number % 12),
            "disk": 10 * (number % 5),
            "extra_specs": (
                {f"trait:{lists.isolation_trait(number)}": "required"}
                if number % 5 == 0
                else {}
            ),
        }
        for number in range(count)
    ]
