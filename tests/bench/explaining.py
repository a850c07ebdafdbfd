"""explain against Nova's own query of the same Placement, in time and memory."""

from __future__ import annotations

import dataclasses
import functools
import json
import resource
import time
from collections.abc import Callable, Iterator, Sequence

from osc_traitsched.app import explain, gc_paused
from osc_traitsched.core.judge import fix
from osc_traitsched.core.judge import verdict as verdicts
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.nova.clause import Origin, RootTrait
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.placement.matcher import Matcher
from osc_traitsched.views.explain import document, text
from osc_traitsched.views.terminal import painted
from tests.services.nova import HalfCloud, MadeUpNova
from tests.services.placement import PlacementServer

_PLAIN = {"name": "plain", "vcpus": 2, "ram": 2048, "disk": 10, "extra_specs": {}}
_PICKY = {
    **_PLAIN,
    "name": "picky",
    "ram": 65536,
    "extra_specs": {
        "trait:CUSTOM_GPU_NODE": "required",
        "trait:HW_CPU_X86_AVX512F": "required",
    },
}
# Three in a hundred hosts have both traits, and none has such a disk.
_IMPOSSIBLE = {**_PICKY, "name": "impossible", "disk": 100_000}
_FORMS = ("text", "json")
_ROUNDS = 3
_IMAGE = {"name": "image", "disk_format": "qcow2"}


def report(server: PlacementServer, what: str) -> None:
    """Measure, and print seconds and ratios.

    :param what: the hosts that the server has
    """
    cloud = HalfCloud(server.url, MadeUpNova())
    print(f"explain, {what}")
    for name, value, remark in _figures(cloud, server):
        print(f"  {name:36}{value:10.2f}  {remark}".rstrip())


def _figures(
    cloud: HalfCloud, server: PlacementServer
) -> Iterator[tuple[str, float, str]]:
    for flavor in (_PLAIN, _PICKY, _IMPOSSIBLE):
        options = {"query_placement_for_image_type_support": True}
        # The hosts here have no OWNER_NOVA, which 2026.2 would ask for.
        assumptions = SchedulerSettings.of(release=33, **options)
        question = Question(flavor, _IMAGE, (), assumptions)
        found, best = _compared(cloud, server, question)
        name, (nova, text, whole) = flavor["name"], best
        for form, each in zip(_FORMS, (text, whole)):
            label, share = f"{name} flavor, {form}", each.seconds / nova.seconds
            yield f"{label}: seconds", each.seconds, f"{each.requests} requests"
            yield f"{label} / Nova's own query", share, f"Nova: {nova.seconds:.2f} s"
        yield f"{name} flavor, json / text", whole.seconds / text.seconds, "at most 1.3"
        # No work of ours is in this: with one worker it can't be quicker.
        yield (
            f"{name} flavor, Placement's own CPU",
            text.placement / nova.placement,
            f"times Nova's query, {nova.placement:.2f} s",
        )
    yield "thinking: CPU seconds", *_thinking(found)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield "peak memory: MB", peak, "this process"


@dataclasses.dataclass(frozen=True)
class _Cost:
    """Of one question: how long it took, how long Placement worked, and requests."""

    seconds: float
    placement: float
    requests: int


def _compared(
    cloud: HalfCloud, server: PlacementServer, question: Question
) -> tuple[Judgement, list[_Cost]]:
    """Return the least that Nova's query and each form cost, taken in turn."""
    query = f"/allocation_candidates?{question.request().query()}"
    found = explain.explain(cloud, question).judgement
    works: list[Callable[[], object]] = [lambda: cloud.placement.get(query)]
    works += [functools.partial(_explain, cloud, question, form) for form in _FORMS]
    rounds = [[_cost(cloud, server, work) for work in works] for _ in range(_ROUNDS)]
    return found, [_least(costs) for costs in zip(*rounds)]


def _cost(
    cloud: HalfCloud, server: PlacementServer, work: Callable[[], object]
) -> _Cost:
    before, worked = cloud.placement.requests, server.cpu_seconds()
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    worked = server.cpu_seconds() - worked
    return _Cost(seconds, worked, cloud.placement.requests - before)


def _least(costs: Sequence[_Cost]) -> _Cost:
    return _Cost(*map(min, zip(*map(dataclasses.astuple, costs))))


@gc_paused()
def _explain(cloud: HalfCloud, question: Question, form: str) -> None:
    """Do what the command does."""
    found = explain.explain(cloud, question)
    if form == "text":
        "\n".join(painted(line, 0) for line in text.lines(found, (), False))
    else:
        json.dumps(document.document(found))


def _thinking(found: Judgement) -> tuple[float, str]:
    """Judge all hosts by 15 clauses, with what to do about them."""
    names = sorted({name for traits in found.facts.traits.values() for name in traits})
    wanted = [each for each in names if each.startswith("HW_CPU")]
    more = [RootTrait(name, False, (Origin("flavor", name),)) for name in wanted]
    clauses = (*found.clauses, *more)[:15]
    start = time.process_time()
    matcher = Matcher(clauses, None, found.facts)
    verdict = verdicts.evaluate(matcher, found.facts)
    fix.on_hosts(matcher, verdict, found.question, found.computes)
    return time.process_time() - start, f"{len(clauses)} clauses, at most 0.5"
