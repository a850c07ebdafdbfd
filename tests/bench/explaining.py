"""explain against Nova's own query of the same Placement, in time and memory."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from osc_traitsched.app import explain
from osc_traitsched.core.explain import fix
from osc_traitsched.core.explain import verdict as verdicts
from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.nova.clause import Origin, RootTrait
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.placement.matcher import Matcher
from osc_traitsched.views.explain import document, prose
from osc_traitsched.views.terminal import painted
from tests.services.fill import fill
from tests.services.nova import HalfCloud, MadeUpNova
from tests.services.placement import PlacementServer

_T = TypeVar("_T")

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


def report(server: PlacementServer, hosts: int) -> None:
    """Measure, and print seconds and ratios."""
    fill(server.database, hosts)
    cloud = HalfCloud(server.url, MadeUpNova())
    print(f"explain, {hosts} hosts")
    for name, value, remark in _figures(cloud):
        print(f"  {name:36}{value:10.2f}  {remark}".rstrip())


def _figures(cloud: HalfCloud) -> Iterator[tuple[str, float, str]]:
    for flavor in (_PLAIN, _PICKY, _IMPOSSIBLE):
        options = {"query_placement_for_image_type_support": True}
        # The hosts here have no OWNER_NOVA, which 2026.2 would ask for.
        assumptions = SchedulerSettings.of(release=33, **options)
        question = Question(flavor, _IMAGE, (), assumptions)
        found, seconds, sent = _compared(cloud, question)
        for form in _FORMS:
            label, nova = f"{flavor['name']} flavor, {form}", seconds["Nova"]
            yield f"{label}: seconds", seconds[form], f"{sent[form]} requests"
            yield (
                f"{label} / Nova's own query",
                seconds[form] / nova,
                f"Nova: {nova:.2f} s",
            )
    yield "thinking: CPU seconds", *_thinking(found)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield "peak memory: MB", peak, "this process"


def _compared(
    cloud: HalfCloud, question: Question
) -> tuple[Explanation, dict[str, float], dict[str, int]]:
    """Return the shortest of a few times each, taken in turn, and the requests."""
    query = f"/allocation_candidates?{question.request().query()}"
    seconds: dict[str, list[float]] = {}
    sent: dict[str, int] = {}
    for _ in range(_ROUNDS):
        nova, _answer = _timed(lambda: cloud.placement.get(query))
        seconds.setdefault("Nova", []).append(nova)
        for form in _FORMS:
            before = cloud.placement.requests
            ours, found = _timed(lambda f=form: _explain(cloud, question, f))
            seconds.setdefault(form, []).append(ours)
            sent[form] = cloud.placement.requests - before
    return found, {what: min(each) for what, each in seconds.items()}, sent


def _explain(cloud: HalfCloud, question: Question, form: str) -> Explanation:
    found = explain.explain(cloud, question)
    if form == "text":
        "\n".join(painted(line, 0) for line in prose.lines(found, (), False))
    else:
        json.dumps(document.document(found, found.hosts))
    return found


def _thinking(found: Explanation) -> tuple[float, str]:
    """Judge all hosts by 15 clauses, with what to do about them."""
    assert found.facts is not None
    names = sorted({name for traits in found.facts.traits.values() for name in traits})
    wanted = [each for each in names if each.startswith("HW_CPU")]
    more = [RootTrait(name, False, (Origin("flavor", name),)) for name in wanted]
    clauses = (*found.clauses, *more)[:15]
    start = time.process_time()
    matcher = Matcher(clauses, None, found.facts)
    verdict = verdicts.reach(matcher, found.facts)
    fix.on_hosts(matcher, verdict, found.question, found.computes)
    return time.process_time() - start, f"{len(clauses)} clauses, at most 0.5"


def _timed(work: Callable[[], _T]) -> tuple[float, _T]:
    start = time.perf_counter()
    done = work()
    return time.perf_counter() - start, done
