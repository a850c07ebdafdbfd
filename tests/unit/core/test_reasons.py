"""One word for why a request finds no host: what would have to change."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.answer import Reason
from osc_traitsched.core.inventory.snapshot import Compute, NodeReport
from osc_traitsched.core.judge.judge import judge
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.building import zone_refusal
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.views.terminal import Line, Tone
from tests.cases.reading import Case
from tests.property.building import identity
from tests.unit.core.asking import asking
from tests.unit.core.test_cases import facts_of

ROOMY = {"VCPU": 8, "MEMORY_MB": 4096, "DISK_GB": 9}
FULL = {**ROOMY, "VCPU": {"total": 8, "used": 8}}
GOLD = {"trait:CUSTOM_GOLD": "required"}
DISABLED = ["COMPUTE_STATUS_DISABLED"]
ISOLATED = {
    "cloud": {"cmp00": {"traits": ["CUSTOM_GOLD"], "aggregates": ["gold"]}},
    "aggregates": {"gold": {"hosts": ["cmp00"], "metadata": GOLD}},
    "options": {"enable_isolated_aggregate_filtering": True},
}
OTHERS = {
    "cloud": {"cmp00": {}},
    "aggregates": {
        "theirs": {"hosts": ["cmp00"], "metadata": {"filter_tenant_id": "ff" * 16}}
    },
    "project": "0a" * 16,
}
REPORT = NodeReport(8, 0, 4096, 4096, 9, 9, 9, None, 0, 0, "QEMU", 8000000, None)
#: A cloud, and the reason that a server of 1 VCPU, 512 MB and 1 GB finds no host.
CLOUDS = {
    "a host has room": ({"cloud": {"cmp00": {}}}, Reason.FITS),
    "all is in use": ({"cloud": {"cmp00": {"inventories": FULL}}}, Reason.FULL),
    "the amount is above what an empty host has": (
        {"cloud": {"cmp00": {}}, "flavor": {"ram": 8192}},
        Reason.MISCONFIGURED,
    ),
    "no host has the trait": (
        {"cloud": {"cmp00": {"inventories": FULL}}, "flavor": GOLD},
        Reason.MISCONFIGURED,
    ),
    "one is full, and another one lacks the trait": (
        {
            "cloud": {
                "cmp00": {"inventories": FULL, "traits": ["CUSTOM_GOLD"]},
                "cmp01": {},
            },
            "flavor": GOLD,
        },
        Reason.FULL,
    ),
    "a host with room is disabled, and another one is full": (
        {"cloud": {"cmp00": {"traits": DISABLED}, "cmp01": {"inventories": FULL}}},
        Reason.DISABLED,
    ),
    "the only host is disabled and full": (
        {"cloud": {"cmp00": {"inventories": FULL, "traits": DISABLED}}},
        Reason.FULL,
    ),
    "the only host is isolated": (ISOLATED, Reason.ISOLATED),
    "the only host is isolated, full and disabled": (
        {
            **ISOLATED,
            "cloud": {
                "cmp00": {
                    "inventories": FULL,
                    "traits": ["CUSTOM_GOLD", *DISABLED],
                    "aggregates": ["gold"],
                }
            },
        },
        Reason.ISOLATED,
    ),
    "the only host is isolated and lacks a trait": (
        {**ISOLATED, "flavor": {"trait:CUSTOM_SSD": "required"}},
        Reason.MISCONFIGURED,
    ),
    "the only host is of another project": (
        {**OTHERS, "filters": [special.PROJECT]},
        Reason.ISOLATED,
    ),
    "the project is kept to a host without the trait": (
        {
            "cloud": {
                "cmp00": {"aggregates": ["own"]},
                "cmp01": {"traits": ["CUSTOM_GOLD"]},
            },
            "aggregates": {
                "own": {"hosts": ["cmp00"], "metadata": {"filter_tenant_id": "0a" * 16}}
            },
            "project": "0a" * 16,
            "flavor": GOLD,
            "options": {"limit_tenants_to_placement_aggregate": True},
        },
        Reason.ISOLATED,
    ),
}


def judged(body, report=REPORT, filters=(), **changes):
    """The judgement on a case; all hosts have a compute node with the same report.

    :param filters: enabled ones besides Nova's own
    """
    case = Case({"name": "a case", **body})
    given = dict(case.question.assumptions.settings)
    enabled = (*special.UPSTREAM_LIST, *filters)
    given[options.ENABLED_FILTERS] = Setting(enabled, "given", True)
    given[options.MAX_INSTANCES] = Setting(body.get("most", 50), "given", True)
    question = asking(
        case.question, assumptions=SchedulerSettings(33, given), **changes
    )
    request = question.request()
    computes = [
        Compute(identity(name), name, name, report=report) for name in body["cloud"]
    ]
    facts = facts_of(case.cloud, [request])
    return judge(question, request, facts, {each.uuid: each for each in computes})


@pytest.mark.parametrize(("body", "reason"), CLOUDS.values(), ids=CLOUDS)
def test_the_reason_is_what_has_to_change_first(body, reason):
    assert judged(body, filters=body.get("filters", ())).reason is reason


@pytest.mark.parametrize(
    ("count", "reason"),
    [(5, Reason.FULL), (8, Reason.FULL), (9, Reason.MISCONFIGURED)],
)
def test_several_servers_are_full_only_if_all_fit_into_empty_hosts(count, reason):
    used = {**ROOMY, "VCPU": {"total": 8, "used": 4}}
    assert (
        judged({"cloud": {"cmp00": {"inventories": used}}}, count=count).reason
        is reason
    )


def test_an_anti_affinity_group_needs_as_many_hosts_as_servers():
    group = ServerGroup("db", "anti-affinity", 1, frozenset("s"), frozenset({"cmp00"}))
    body = {"cloud": {"cmp00": {}}}
    full = {"group": group, "servers": {"s": ("cmp00", "cmp00")}}
    assert judged(body, **full).reason is Reason.FULL
    assert judged(body, **full, count=2).reason is Reason.MISCONFIGURED


@pytest.mark.parametrize(
    ("limit", "reason"), [(1, Reason.FULL), (0, Reason.MISCONFIGURED)]
)
def test_a_limit_of_servers_is_lifted_by_empty_hosts_unless_it_is_none(limit, reason):
    report = dataclasses.replace(REPORT, running_vms=1)
    body = {"cloud": {"cmp00": {}}, "most": limit}
    assert judged(body, report, ["NumInstancesFilter"]).reason is reason


@pytest.mark.parametrize(
    ("tone", "text"), [(Tone.NO, "full: 0 of 3"), (Tone.YES, "0 of 3")]
)
def test_only_the_line_of_a_no_begins_with_its_reason(tone, text):
    assert Line("0 of 3", tone, Reason.FULL).alone.text == text


def test_a_host_can_be_full_for_a_flavor_while_another_one_is_only_disabled():
    hosts = {"cmp00": {"inventories": FULL}, "cmp01": {"traits": DISABLED}}
    found = judged({"cloud": hosts})
    assert found.reason is Reason.DISABLED
    assert found.reason_of(identity("cmp00")) is Reason.FULL
    assert found.reason_of(identity("cmp01")) is Reason.DISABLED


@pytest.mark.parametrize(
    ("zones", "reason"), [({"az": False}, Reason.DISABLED), ({}, Reason.REJECTED)]
)
def test_a_zone_is_refused_while_its_hosts_are_disabled_or_if_it_does_not_exist(
    zones, reason
):
    found = judged({"cloud": {"cmp00": {"traits": DISABLED}}})
    refusal = zone_refusal("az", zones)
    assert dataclasses.replace(found, refusal=refusal).reason is reason
