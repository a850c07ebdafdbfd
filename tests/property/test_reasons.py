"""The reason of a no holds on drawn clouds, once they are enabled, emptied and open."""

from __future__ import annotations

import collections
import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st

from osc_traitsched.core.answer import Reason
from osc_traitsched.core.inventory.trait import DISABLED
from osc_traitsched.core.judge.judge import judge
from osc_traitsched.core.placement.facts import Stock
from tests.cases.reading import Case
from tests.property.building import identity
from tests.unit.core.test_cases import facts_of

PROJECT, OTHER = "0a" * 16, "0b" * 16
GOLD = "CUSTOM_GOLD"
METADATA = (
    {},
    {f"trait:{GOLD}": "required"},
    {"filter_tenant_id": PROJECT},
    {"filter_tenant_id": OTHER},
)
OPTIONS = {
    "enable_isolated_aggregate_filtering": True,
    "limit_tenants_to_placement_aggregate": True,
    "placement_aggregate_required_for_tenants": False,
}
NAMES = st.sets(st.sampled_from(["gold", "acme"]))


@st.composite
def inventories(draw):
    """What a host has, often in use and sometimes in units that do not fit."""
    total = draw(st.sampled_from([2, 4, 8]))
    return {
        "VCPU": {
            "total": total,
            "used": draw(st.sampled_from([0, total // 2, total])),
            "max_unit": draw(st.sampled_from([2, total])),
            "step_size": draw(st.sampled_from([1, 1, 2])),
        },
        "MEMORY_MB": 4096,
        "DISK_GB": 9,
    }


@st.composite
def bodies(draw):
    """A cloud of up to four hosts in up to two aggregates, and a request."""
    hosts = {
        name: {
            "inventories": draw(inventories()),
            "traits": sorted(draw(st.sets(st.sampled_from([GOLD, DISABLED])))),
            "aggregates": sorted(draw(NAMES)),
        }
        for name in "abcd"[: draw(st.integers(1, 4))]
    }
    aggregates = {
        name: {
            "metadata": draw(st.sampled_from(METADATA)),
            "hosts": [host for host in hosts if name in hosts[host]["aggregates"]],
        }
        for name in ("gold", "acme")
    }
    flavor = {"vcpus": draw(st.sampled_from([1, 2, 3, 4]))}
    flavor.update(draw(st.sampled_from([{}, {}, {f"trait:{GOLD}": "required"}])))
    made = {"name": "drawn", "cloud": hosts, "aggregates": aggregates}
    return {**made, "flavor": flavor, "project": PROJECT, "options": OPTIONS}


def judged(body, count):
    case = Case(body)
    request = case.question.request()
    facts = facts_of(case.cloud, [request])
    stock = {identity(name): _stock(node) for name, node in case.cloud.items()}
    facts = dataclasses.replace(facts, stock=stock)
    return judge(case.question.with_spec(count=count), request, facts, {})


def _stock(node):
    return {
        name: Stock(
            int((each.total - each.reserved) * each.ratio),
            each.used,
            each.total,
            each.reserved,
            each.ratio,
            each.min_unit,
            each.max_unit,
            each.step_size,
        )
        for name, each in node.inventories.items()
    }


def changed(body, **parts):
    """The body with parts of each host changed by functions."""
    cloud = {
        name: {**host, **{part: change(host[part]) for part, change in parts.items()}}
        for name, host in body["cloud"].items()
    }
    return {**body, "cloud": cloud}


def enabled(body):
    return changed(body, traits=lambda traits: [t for t in traits if t != DISABLED])


def emptied(body):
    def unused(inventories):
        return {**inventories, "VCPU": {**inventories["VCPU"], "used": 0}}

    return changed(body, inventories=unused)


def opened(body):
    return {**body, "options": dict.fromkeys(OPTIONS, False)}


def test_each_reason_is_what_the_same_cloud_says_once_it_is_changed():
    seen = collections.Counter()

    @settings(max_examples=200, deadline=None, derandomize=True)
    @given(bodies(), st.sampled_from([1, 1, 1, 2, 5]))
    def holds(body, count):
        first = judged(body, count)
        # How many servers surely fit is not read.
        reason = Reason.FITS if first.has_room else first.reason
        seen[reason] += 1
        changes = {
            Reason.FITS: body,
            Reason.DISABLED: enabled(body),
            Reason.FULL: emptied(enabled(body)),
            Reason.ISOLATED: opened(emptied(enabled(body))),
        }
        room = (r for r, then in changes.items() if judged(then, count).has_room)
        assert reason is next(room, Reason.MISCONFIGURED)

    holds()
    assert seen.keys() == {*Reason} - {Reason.DEPENDS, Reason.UNKNOWN, Reason.REJECTED}
