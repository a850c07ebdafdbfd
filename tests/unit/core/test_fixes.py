"""Changes of hosts and of the request that would help."""

import dataclasses

from osc_traitsched.core.explain import fix
from osc_traitsched.core.explain.fix import (
    HostAction,
    HostChange,
    HostFix,
    RequestChange,
    RequestFix,
)
from osc_traitsched.core.explain.verdict import evaluate
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.placement.facts import Stock
from osc_traitsched.core.placement.matcher import Matcher
from tests.cases.reading import Case
from tests.property.building import identity
from tests.unit.core.test_cases import facts

INVENTORIES = {"VCPU": {"total": 40, "max_unit": 10}, "MEMORY_MB": 4096, "DISK_GB": 9}


def test_the_largest_size_is_one_that_is_known_to_be_given():
    """Of most hosts no largest unit was read, and all that is free looks usable."""
    hosts = {name: {"inventories": INVENTORIES} for name in ("cmp00", "cmp01")}
    case = Case({"name": "wide", "cloud": hosts, "flavor": {"vcpus": 11}})
    request = case.question.request()
    found = facts(case, request)
    read = {"VCPU": Stock(40, 0, max_unit=10, step_size=1)}
    stock = {**found.stock, identity("cmp00"): read}
    found = dataclasses.replace(found, stock=stock)
    matcher = Matcher(request.clauses, request.group_policy, found)

    proposed = fix.on_request(case.question, found, evaluate(matcher, found))

    assert [each.changes for each in proposed] == [
        (RequestChange("size", "vcpus", 10),)
    ]


def test_an_aggregate_that_is_wanted_twice_is_joined_once():
    """It is the only one of the project's, and one of several of the zone's."""
    zone, ours = {"availability_zone": "az-east"}, {"filter_tenant_id": "us"}
    case = Case(
        {
            "name": "twice",
            "cloud": {"cmp00": {}},
            "aggregates": {
                "east": {"metadata": zone},
                "ours": {"metadata": {**zone, **ours}},
            },
            "zone": "az-east",
            "project": "us",
            "options": {"limit_tenants_to_placement_aggregate": True},
        }
    )
    request = case.question.request()
    found = facts(case, request)
    matcher = Matcher(request.clauses, request.group_policy, found)
    root = identity("cmp00")
    computes = {root: Compute(root, "cmp00", "cmp00")}

    (helping,) = fix.on_hosts(
        matcher, evaluate(matcher, found), case.question, computes
    )

    assert helping.changes == (HostChange(HostAction.JOIN_AGGREGATE, identity("ours")),)
    assert helping.hosts == (root,)


def test_what_was_disabled_for_a_reason_is_not_to_be_enabled():
    disabled = {"traits": ["COMPUTE_STATUS_DISABLED"]}
    hosts = {"cmp00": disabled, "cmp01": disabled}
    case = Case({"name": "disabled", "cloud": hosts})
    request = case.question.request()
    found = facts(case, request)
    matcher = Matcher(request.clauses, request.group_policy, found)
    reasons = {identity("cmp00"): "new DIMMs", identity("cmp01"): ""}
    computes = {
        uuid: Compute(uuid, "", "", is_enabled=False, disabled_reason=reason)
        for uuid, reason in reasons.items()
    }

    (helping,) = fix.on_hosts(
        matcher, evaluate(matcher, found), case.question, computes
    )

    assert helping.changes == (HostChange(HostAction.ENABLE_SERVICE),)
    assert helping.hosts == (identity("cmp01"),)


REQUEST = RequestFix(
    (RequestChange("zone", "availability_zone", "a"), RequestChange("size", "ram", 9))
)
FORMAT = RequestFix((RequestChange("image", "disk_format", "raw"),))
FLAVOR = RequestFix(
    (RequestChange("size", "ram", 9), RequestChange("flavor", "trait:X", None))
)
IMAGE = RequestFix((RequestChange("image", "trait:X", None),))
TRAIT = HostFix(
    (HostChange(HostAction.ENABLE_SERVICE), HostChange(HostAction.ADD_TRAIT, "X")), ()
)
LESS = HostFix((HostChange(HostAction.REMOVE_TRAIT, "X"),), ())
ENABLE = HostFix((HostChange(HostAction.ENABLE_SERVICE),), ())


def test_what_touches_nobody_else_comes_first_and_hosts_come_last():
    found = [TRAIT, FLAVOR, ENABLE, REQUEST, IMAGE, FORMAT]
    safest = (REQUEST, FORMAT, FLAVOR, IMAGE, TRAIT, ENABLE)
    assert fix.safest_first(found) == safest


def test_who_is_let_in_requires_the_trait_and_not_the_key_as_it_is_written():
    case = Case(
        {
            "name": "odd letters",
            "cloud": {"cmp00": {"aggregates": ["gold"]}},
            "aggregates": {"gold": {"metadata": {"Trait:custom_gold": "Required"}}},
            "options": {"enable_isolated_aggregate_filtering": True},
        }
    )
    request = case.question.request()
    found = facts(case, request)
    matcher = Matcher(request.clauses, request.group_policy, found)

    (proposed,) = fix.on_request(case.question, found, evaluate(matcher, found))

    assert proposed.changes == (
        RequestChange("flavor", "trait:CUSTOM_GOLD", "required"),
    )
