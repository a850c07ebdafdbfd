"""check of a large cloud: requests, and CPU seconds of reading and of thinking."""

from __future__ import annotations

import time
from collections.abc import Iterator

from osc_traitsched.app.check import survey
from osc_traitsched.core import check
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.views import check as views
from tests.bench import clouds, lists
from tests.services.placement import PlacementServer

#: The lists that any check has to read: all providers, those that others share, the
#: traits and the resource classes.
_LISTS = (
    ("/resource_providers", None),
    ("/resource_providers", {"required": trait.SHARING}),
    ("/traits", None),
    ("/resource_classes", None),
)


def report(server: PlacementServer, hosts: int) -> None:
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
