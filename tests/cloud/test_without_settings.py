"""Without nova.conf, no sure verdict is one that Nova's own scheduler contradicts.

Each cloud turns on options that explain is not told. TRAITSCHED_BOOTS is the number of
servers that are asked for on each.
"""

from __future__ import annotations

import collections
import os

import pytest

from tests.cloud.cloud import ISOLATION, Cloud
from tests.cloud.conftest import PREFILTERS
from tests.cloud.scenario import Asked, different_hosts, requests
from tests.services.release import NEWEST, chosen

BOOTS = int(os.environ.get("TRAITSCHED_BOOTS", "30"))
SEED = 36
FILTERS = (
    "ComputeFilter,ComputeCapabilitiesFilter,ImagePropertiesFilter,"
    "ServerGroupAntiAffinityFilter,ServerGroupAffinityFilter,"
    "AggregateInstanceExtraSpecsFilter,AggregateMultiTenancyIsolation,"
    "AggregateImagePropertiesIsolation,PciPassthroughFilter,NUMATopologyFilter"
)
#: What a deployment may turn on.
OPTIONS = {
    "nothing": (),
    "isolation": (ISOLATION,),
    "tenants": ("scheduler.limit_tenants_to_placement_aggregate=true",),
    "image types": ("scheduler.query_placement_for_image_type_support=true",),
    "prefilters": PREFILTERS,
    "filters": (f"filter_scheduler.enabled_filters={FILTERS}",),
}
#: A sure yes, a sure no, and what depends on nova.conf.
YES, NO, DEPENDS = 0, 3, 8


@pytest.fixture(scope="module", params=OPTIONS)
def scenario(request):
    if chosen() != NEWEST:
        pytest.skip("the options of the newest release")
    options = OPTIONS[request.param]
    with (
        Cloud(computes=6, nova_options=options) as cloud,
        different_hosts(cloud) as scenario,
    ):
        key = "aggregate_instance_extra_specs:ssd"
        scenario.flavors["fast"] = scenario.maker.flavor("fast", {key: "true"})
        scenario.maker.aggregate("fast", "cmp00", ssd="true")
        yield scenario


def test_no_boot_contradicts_a_sure_verdict(scenario, record_property):
    wrong, codes = [], collections.Counter()
    fast = (Asked("fast"), Asked("fast", zone="az-west"))
    for asked in (*requests(BOOTS, SEED), *fast):
        said = scenario.run("trait-sched", "explain", *asked.options, "-f", "json")
        boot = scenario.boot(asked)
        codes[said.code] += 1
        is_up = boot.status == "ACTIVE"
        may_be_more = any(
            each["otherwise"] > each["hosts"] for each in said.json["dependences"]
        )
        is_named = boot.host in said.json["candidates"] or may_be_more
        if (said.code == YES and not (is_up and is_named)) or (
            said.code == NO and is_up
        ):
            wrong.append(f"{asked}: {said.json['summary']} {boot}")
    record_property("table", f"verdicts without settings: {dict(codes)}")
    assert not wrong, "\n".join(wrong)
    assert codes.keys() <= {YES, NO, DEPENDS}
    assert codes[YES]
    assert codes[NO]
