"""explain against Nova's own query of the same Placement, in time and memory."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from osc_traitsched.cloud.connection import Cloud
from osc_traitsched.commands import explaining
from osc_traitsched.core import fix
from osc_traitsched.core import verdict as verdicts
from osc_traitsched.core.assumption import Assumptions
from osc_traitsched.core.clause import Origin, RootTrait
from osc_traitsched.core.explanation import Explanation
from osc_traitsched.core.judge import Judge
from osc_traitsched.core.question import Question
from osc_traitsched.views.explain import document, prose
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
_IMAGE = {"name": "image", "disk_format": "qcow2"}


def report(server: PlacementServer, hosts: int) -> None:
    """Measure, and print seconds and ratios."""
    fill(server.database, hosts)
    cloud = HalfCloud(server.url, MadeUpNova())
    print(f"explain, {hosts} hosts")
    for name, value, remark in _figures(cloud):
        print(f"  {name:36}{value:10.2f}  {remark}".rstrip())


def _figures(cloud: Cloud) -> Iterator[tuple[str, float, str]]:
    for flavor in (_PLAIN, _PICKY):
        options = {"query_placement_for_image_type_support": True}
        # The hosts here have no OWNER_NOVA, which 2026.2 would ask for.
        assumptions = Assumptions.of(release=33, **options)
        question = Question(flavor, _IMAGE, (), assumptions)
        query = f"/allocation_candidates?{question.request().query()}"
        nova, _ = _timed(lambda path=query: cloud.placement.get(path))
        for form in ("text", "json"):
            sent = cloud.placement.requests
            ours, found = _timed(lambda q=question, f=form: _explain(cloud, q, f))
            label = f"{flavor['name']} flavor, {form}"
            remark = f"{cloud.placement.requests - sent} requests to Placement"
            yield f"{label}: seconds", ours, remark
            yield f"{label} / Nova's own query", ours / nova, f"Nova: {nova:.2f} s"
    yield "thinking: CPU seconds", *_thinking(found)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield "peak memory: MB", peak, "this process"


def _explain(cloud: Cloud, question: Question, form: str) -> Explanation:
    found = explaining.explain(
        cloud,
        question,
        named=(),
        want_figures=form != "text",
        want_fixes=False,
    )
    if form == "text":
        "\n".join(prose.lines(found, (), False))
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
    judge = Judge(clauses, None, found.facts)
    verdict = verdicts.reach(judge, found.facts)
    fix.on_hosts(judge, verdict, found.question, found.computes)
    return time.process_time() - start, f"{len(clauses)} clauses, at most 0.5"


def _timed(work: Callable[[], _T]) -> tuple[float, _T]:
    start = time.perf_counter()
    done = work()
    return time.perf_counter() - start, done
