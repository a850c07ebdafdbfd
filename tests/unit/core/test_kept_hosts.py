"""The hosts that flavors have to keep: in zones, for projects, and for all others.

A case is what aggregates are before and after, and who is left without a host. After
an aggregate's name come its hosts, its zone, its projects (1, 2) and whether it is
closed. Of the hosts h1, h2 and h3, all have the trait that closes; silver is on h3.
"""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.app.impact import looks
from osc_traitsched.core.change.effects import LeavesNoHost
from osc_traitsched.core.change.impact import Hosts, ImpactAnalysis
from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    Object,
    ObjectKind,
    State,
    ordered,
)
from osc_traitsched.core.change.traits import present
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.special import PROJECT
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from tests.aggregates import aggregate
from tests.unit.core.test_impact import GOLD, NAMES, SILVER, cloud, facts
from tests.unit.core.test_impact import flavor as flavor_of

KEY = "filter_tenant_id"
BOTH = "flavors 'golden', 'small'"
SUFFIX = {f"{KEY}_x": "1"}

LIMITED = {"limit_tenants_to_placement_aggregate": True}
OPTIONS = {
    "limited": LIMITED,
    "required": {**LIMITED, "placement_aggregate_required_for_tenants": True},
    "zones": {"query_placement_for_availability_zone": True},
}

IN_ZONES_AND_FOR_PROJECTS = """
closing the hosts of a zone
    gold h1 h2, other h1 h2 az1 -> gold h1 h2 closed: both in zone 'az1'
closing other hosts
    gold h1, other h2 h3 az1 -> gold h1 closed: none
closing the hosts of a project
    gold h1 h2, other h1 h2 2 -> gold h1 h2 closed: both for project '2' | limited
closing the hosts of a project that may use others
    gold h1 h2, other h1 h2 2 -> gold h1 h2 closed: none
a zone that gets another name
    other h1 h2 az1 -> other h1 h2 az2: both in zone 'az1'
a zone in other letters
    other h1 h2 az1 -> other h1 h2 AZ1: none
zones that change their places
    gold h1 az1, rack h3 az2 -> gold h1 az2, rack h3 az1: silver in zone 'az2' | silver
all hosts that no aggregate puts into a zone
    gold h1 h2, rack h3 az1 -> gold h1 h2 closed: both in the default zone | old zones
one of the hosts that no aggregate puts into a zone
    gold h1, rack h3 az1 -> gold h1 closed: none | old zones
a host in any zone is one of the default zone without the filter
    gold h1 h2, rack h3 az1 -> gold h1 h2 closed: none | zones
a project that an aggregate without hosts names
    -> new 1: both for project '1' | limited
a project that may use others
    -> new 1: none
a project that is named with a host
    -> new h3 1: none | limited
a project that is named for the first time
    other h1 -> other h1 1: silver for project '1' | limited silver
a project that comes to the hosts of another one
    gold h1 1 -> gold h1 1 2: silver for project '2' | limited silver
projects that change their places
    gold h1 1, rack h3 2 -> gold h1 2, rack h3 1: silver for project '2' | limited silver
a project that is named in one zone loses the hosts of others
    gold h1 az1, other h2 h3 az2 -> gold h1 az1 1: both in zone 'az2' for project '1' | limited
a project that no aggregate names any more
    gold h1 az1, other h1 h2 1 -> other h1 h2: none | limited
a project that no aggregate names any more where Nova rejects it
    gold h1 az1, other h1 h2 1 -> other h1 h2: both for project '1' | required
"""  # noqa: E501

WITH_THE_FILTER = """
all hosts are reserved
    -> new h1 h2 h3 1: others
one host is reserved
    -> new h1 1: none
the last hosts join
    gold h1 2 -> gold h1 h2 h3 2: others
hosts that a project has already
    gold h1 h2 2 -> new h1 1: none
hosts that come are enough
    gold h1 2 -> gold h1, new h2 h3 2: none
a project loses its last aggregate
    gold h1 2, rack h2 h3 1 -> gold h1 1: both for project '2'
a project keeps a host that is open to all
    gold h1 2, rack h2 1 -> gold h1 1: none
a project moves to another aggregate
    gold h1 1 2, rack h2 h3 2 -> gold h1 2, rack h2 h3 1 2: none
a project stays in one of two
    gold h1 1 2, rack h2 h3 1 2 -> gold h1 2: none
a host stays while others leave
    gold h1 h2 h3 1, rack h1 h2 h3 2 -> gold h3 1: none
all hosts leave
    gold h1 h2 1, rack h1 h2 h3 2 -> gold 1: both for project '1'
"""


def cases(text):
    """The cases of a text, by title: before, after, who is stranded, the options."""
    lines = iter(text.strip().splitlines())
    for title, case in zip(lines, lines):
        states, _, more = case.partition(":")
        stranded, _, asked = more.partition("|")
        yield pytest.param(
            *map(aggregates, states.split("->")),
            stranded.strip().replace("none", "").replace("both", BOTH),
            asked.split(),
            id=title,
        )


def aggregates(text):
    """Hosts and metadata of aggregates, by name."""
    found = {}
    for name, *words in filter(None, (one.split() for one in text.split(","))):
        zones = [word for word in words if word.lower().startswith("az")]
        metadata = {
            "availability_zone": zones and zones[0],
            **{f"{KEY}_{word}": word for word in words if word.isdecimal()},
            f"trait:{GOLD}": "required" if "closed" in words else "",
        }
        hosts = [word for word in words if word in NAMES]
        found[name] = hosts, {key: v for key, v in metadata.items() if v}
    return found


def changes(before, after):
    for name, (hosts, metadata) in after.items():
        was_in, was = before.get(name, ((), {}))
        if name not in before:
            new = Object(ObjectKind.NEW_AGGREGATE, name, name)
            yield Change(new, State({}), {"name": name})
        keys = {key: metadata.get(key) for key in {**was, **metadata}}
        differing = {key: v for key, v in keys.items() if was.get(key) != v}
        inside = frozenset(was_in)
        if differing:
            target = Object(ObjectKind.AGGREGATE, name, name)
            yield Change(target, State(was, hosts=inside), differing)
        target = Object(ObjectKind.AGGREGATE_HOSTS, name, name)
        for host in sorted(inside ^ {*hosts}):
            value = None if host in inside else PRESENT
            yield Change(target, State(present(inside), hosts=inside), {host: value})


def without_host(before, after, asked=(), filters=None, release=33):
    """Who is left without a host when aggregates change.

    :param asked: words of the cases
    :param filters: those that are enabled; None where nobody says it
    """
    flavors = [flavor_of("golden"), flavor_of("small")]
    if "silver" in asked:
        flavors = [flavor_of("silver", **{f"trait:{SILVER}": "required"})]
    bodies = tuple(aggregate(n, *hosts, **keys) for n, (hosts, keys) in before.items())
    model = cloud(*flavors, aggregates=bodies)
    given = {k: v for word in asked for k, v in OPTIONS.get(word, {}).items()}
    release = 23 if "zones" in asked else release
    settings = SchedulerSettings.of(
        release, enable_isolated_aggregate_filtering=True, **given
    )
    if "zones" in asked:
        filters = ("AvailabilityZoneFilter",) if "old" in asked else ()
    if filters is not None:
        enabled = Setting(filters, "given", given=True)
        settings.settings[options.ENABLED_FILTERS] = enabled
    plan = ordered(changes(before, after), bodies, settings.collation)
    impact = ImpactAnalysis(looks(model, plan), settings)
    known = facts(model, **dict.fromkeys(("h1", "h2"), (GOLD,)), h3=(GOLD, SILVER))
    # Placement is asked for the members of new aggregates, too.
    members = {**{frozenset({name}): frozenset() for name in after}, **known.members}
    hosts = Hosts(impact, dataclasses.replace(known, members=members))
    found = [e for e in impact.effects(hosts, hosts, hosts) if e.leaves_no_host]
    return LeavesNoHost(found).reasons.rpartition("be left for ")[2] if found else ""


@pytest.mark.parametrize(
    ("before", "after", "stranded", "asked"), cases(IN_ZONES_AND_FOR_PROJECTS)
)
def test_a_flavor_keeps_a_host_in_its_zone_and_for_its_project(
    before, after, stranded, asked
):
    expected = stranded.replace("silver", "flavor 'silver'")
    assert without_host(before, after, asked) == expected


OTHERS = f"{BOTH} for projects that no aggregate names ({PROJECT})"


@pytest.mark.parametrize(
    ("before", "after", "stranded", "asked"), cases(WITH_THE_FILTER)
)
def test_who_is_named_and_who_is_not_keep_a_host_if_the_filter_may_be_on(
    before, after, stranded, asked
):
    expected = stranded.replace("others", OTHERS)
    assert without_host(before, after, filters=(PROJECT,)) == expected
    assert without_host(before, after) == expected
    assert without_host(before, after, filters=("ComputeFilter",)) == ""


@pytest.mark.parametrize(("release", "is_read"), [(29, False), (30, True)])
def test_a_key_with_a_suffix_reserves_hosts_from_30_on(release, is_read):
    before = {"gold": ([*NAMES], SUFFIX)}
    after = {"gold": ([*NAMES], {**SUFFIX, KEY: "1,2"})}
    found = without_host(before, after, release=release)
    assert found == ("" if is_read else OTHERS)
    # The filter of 29 does not see that the project is named by the only aggregate.
    before, after = {"gold": (["h1"], SUFFIX)}, {"new": (["h1"], {KEY: "2"})}
    found = without_host(before, after, ["limited"], release=release)
    assert found == ("" if is_read else f"{BOTH} for project '1'")
