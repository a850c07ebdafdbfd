"""What judging a plan costs: flavors times projects, with nothing to read."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Iterator

from osc_traitsched.app.check import survey
from osc_traitsched.core import check
from osc_traitsched.core.change.cloud_model import CloudModel
from osc_traitsched.core.change.impact import ImpactAnalysis, RowHosts
from osc_traitsched.core.change.model import Change, Object, ObjectKind, State
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import Compute, Nova, Provider, Snapshot
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.views import check as views
from tests.aggregates import aggregate
from tests.bench import clouds, lists
from tests.services.placement import PlacementServer

FLAVORS, PROJECTS, HOSTS = 300, 300, 1000
_TRAIT = "CUSTOM_GOLD"
_SETTINGS = SchedulerSettings.of(
    33,
    enable_isolated_aggregate_filtering=True,
    limit_tenants_to_placement_aggregate=True,
)


def report() -> None:
    """Measure a plan that closes an aggregate, in a process of its own."""
    print(f"impact, {FLAVORS} flavors x {PROJECTS} projects x {HOSTS} hosts")
    process = multiprocessing.get_context("spawn").Process(target=_measure)
    process.start()
    process.join()
    assert process.exitcode == 0


def _measure() -> None:
    now, facts, changes = cloud(FLAVORS, PROJECTS, HOSTS)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    impact = ImpactAnalysis([now, now.after(changes)], _SETTINGS)
    room = RowHosts(impact, facts)
    ever = RowHosts(impact, facts)
    unsure = len(tuple(impact.doubtful(room, ever)))
    effects = tuple(impact.effects(room, ever, ever))
    seconds = time.process_time() - start
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert len(impact.rows) == FLAVORS
    assert len(impact.contexts) >= PROJECTS
    assert any(effect.asked.context.project for effect in effects)
    print(f"  {'CPU seconds':36}{seconds:10.2f}  at most 2; {unsure} pairs looked into")
    print(f"  {'more memory: MB':36}{peak:10.2f}  at most 150")


def cloud(
    flavors: int, projects: int, hosts: int
) -> tuple[CloudModel, Facts, list[Change]]:
    """Return a cloud with an aggregate for each project, and changes of all hosts."""
    uuids = [f"uuid-{number}" for number in range(hosts)]
    names = [f"cmp{number}" for number in range(hosts)]
    aggregates = tuple(
        aggregate(f"a{n}", *names[n::projects], filter_tenant_id=f"{n:032x}")
        for n in range(projects)
    )
    computes = tuple(Compute(u, n, n) for u, n in zip(uuids, names))
    providers = tuple(Provider(u, n, 1, u) for u, n in zip(uuids, names))
    offers = {
        ("VCPU", 1): frozenset(uuids),
        **{("MEMORY_MB", 512 + n): frozenset(uuids[n % 7 :]) for n in range(flavors)},
    }
    inside = {
        each.uuid: frozenset(uuids[number::projects])
        for number, each in enumerate(aggregates)
    }
    now = CloudModel(
        snapshot=Snapshot(providers).with_nova(Nova(computes)),
        aggregates=aggregates,
        flavors=tuple(
            {
                "id": f"f{number}",
                "name": f"f{number}",
                "vcpus": 1,
                "ram": 512 + number,
                "disk": 0,
                "extra_specs": {},
            }
            for number in range(flavors)
        ),
        traits=frozenset({_TRAIT, "COMPUTE_STATUS_DISABLED"}),
        classes=frozenset({"VCPU", "MEMORY_MB"}),
        inside=inside,
    )
    facts = Facts(
        snapshot=now.snapshot,
        traits=dict.fromkeys(uuids, frozenset()),
        offers=offers,
        members={frozenset({uuid}): found for uuid, found in inside.items()},
        shared={},
        stock={},
        candidates=frozenset(uuids),
    )
    found = State(aggregates[0].metadata, hosts=frozenset(aggregates[0].hosts))
    target = Object(ObjectKind.AGGREGATE, "a0", "a0")
    closed = Change(target, found, {f"trait:{_TRAIT}": "required"})
    given = (
        Change(Object(ObjectKind.PROVIDER_TRAITS, uuid, uuid), State({}), {_TRAIT: ""})
        for uuid in uuids
    )
    return now, facts, [closed, *given]


# check of a large cloud: requests, and CPU seconds of reading and of thinking.


#: The lists that any check has to read: all providers, those that others share, the
#: traits and the resource classes.
_LISTS = (
    ("/resource_providers", None),
    ("/resource_providers", {"required": trait.SHARING}),
    ("/traits", None),
    ("/resource_classes", None),
)


def report_check(server: PlacementServer, hosts: int) -> None:
    """Measure, and print requests and seconds."""
    large = clouds.made(server, hosts, lists.AGGREGATES, lists.flavors(clouds.SOME))
    cloud = large.cloud
    print(
        f"check, {hosts} hosts, {lists.FLAVORS} flavors, {lists.IMAGES} images, "
        f"{len(large.aggregates)} aggregates"
    )
    for name, value, remark in _figures(cloud):
        print(f"  {name:36}{value:10.2f}  {remark}".rstrip())


def _figures(cloud: clouds.BenchCloud) -> Iterator[tuple[str, float, str]]:
    options = {
        "enable_isolated_aggregate_filtering": True,
        "query_placement_for_image_type_support": True,
    }
    wall, start = time.perf_counter(), time.process_time()
    found = survey(cloud, SchedulerSettings.of(33, **options))  # type: ignore[arg-type]
    reading = time.process_time() - start
    yield "reading: seconds", time.perf_counter() - wall, f"{reading:.2f} of CPU"
    beyond = [each for each in cloud.placement.paths if each not in _LISTS]
    yield "requests beyond the lists", len(beyond), "less than 20"
    start = time.process_time()
    findings, _ = check.run(check.RULES, found)
    views.rows(findings)
    thinking = time.process_time() - start
    yield "thinking: CPU seconds", thinking, f"{len(findings)} findings; less than 5"
