"""What explain prints: the answer, why, what would help, and what it rests on."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys

import pytest

from osc_traitsched.core.errors import TraitMissing
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.judge import filtering, fix
from osc_traitsched.core.judge.doubts import Doubts, OptionImpact
from osc_traitsched.core.judge.fix import (
    Advice,
    HostAction,
    HostChange,
    HostFix,
    RequestChange,
    RequestFix,
    Topic,
)
from osc_traitsched.core.judge.judge import Explanation
from osc_traitsched.core.judge.judgement import RefusedRequest
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova import server as kinds
from osc_traitsched.core.nova.building import zone_refusal
from osc_traitsched.core.nova.clause import HostFilter, Resource, Trait
from osc_traitsched.core.nova.filter import state
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.nova.filter.table import FilterAnswers
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.nova.question import MoveKind, Question
from osc_traitsched.core.nova.server import NotEvaluated
from osc_traitsched.core.placement.facts import Room, Stock
from osc_traitsched.core.servers.drain import RoomPlan
from osc_traitsched.views.explain import document, verdict, words
from osc_traitsched.views.explain import text as explain_text
from osc_traitsched.views.terminal import Tone
from tests.aggregates import aggregate
from tests.cases.reading import Case
from tests.unit.core import scheduled
from tests.unit.core import test_fixes as fixes
from tests.unit.core.filter.asked import REPORT
from tests.unit.core.scheduled import asking
from tests.unit.core.test_explanation import explained
from tests.unit.views.test_drain import step

RAW = RequestChange("image", "disk_format", "raw")
GOLD = aggregate("gold")
SMALL = RequestChange("size", "vcpus", 2), RequestChange("size", "ram", 496)
BUS = RequestChange("image", "hw_disk_bus", None)
TOGETHER = (
    RequestFix((RAW, *SMALL)),
    RequestFix((BUS,)),
    HostFix(
        (
            HostChange(HostAction.ENABLE_SERVICE),
            HostChange(HostAction.SYNC_AGGREGATE, "gold"),
        ),
        (),
    ),
)
ALIAS = NotEvaluated(kinds.PCI_ALIAS, "pci_passthrough:alias", "a1:1")
REFUSED_BY_API = (
    ALIAS,
    dataclasses.replace(ALIAS, kind=kinds.PCI_ALIAS_IN_PLACEMENT),
    NotEvaluated(kinds.FORCED_HOST, "availability_zone", "cmp01"),
    NotEvaluated(kinds.REQUESTED_DESTINATION, "host", "cmp01"),
)
ASSUMED = Setting(False, "the default of 2026.1")
GIVEN = Setting(False, "nova.conf:3", given=True)

FULL = {
    "inventories": {"VCPU": 8, "MEMORY_MB": {"total": 1024, "used": 768}, "DISK_GB": 9}
}
HAS = {"traits": ["CUSTOM_GOLD"]}
FULL_OF_GOLD = {**FULL, **HAS}
DISABLED = {"traits": ["COMPUTE_STATUS_DISABLED"]}


def text(found, shown=(), everything=False, width=0):
    """Return what is printed of a judgement or an explanation."""
    explanation = found if isinstance(found, Explanation) else Explanation(found)
    lines = explain_text.lines(explanation, shown, everything, width=width)
    return [line.text for line in lines]


def gold(candidates=(), **cloud):
    flavor = {"trait:CUSTOM_GOLD": "required"}
    return explained({"cloud": cloud, "flavor": flavor}, candidates)


def test_a_leftover_provider_is_no_host_and_has_a_row_of_its_own():
    found = gold(a={}, b=FULL_OF_GOLD, old={})
    facts = found.facts
    stray = {host.uuid for host in found.hosts if host.name == "old"}
    snapshot = dataclasses.replace(facts.snapshot, unmanaged_roots=frozenset(stray))
    facts = dataclasses.replace(facts, snapshot=snapshot)
    told = text(dataclasses.replace(found, facts=facts))
    assert told[0] == "No host can take it now: 0 of 2."
    assert "  Not listed by Nova, and so not counted: old" in told
    assert not any("old" in line for line in told if "Not listed" not in line)


def helping(*fixes, **more):
    found = explained({"cloud": {"a": {}}, "flavor": {"trait:X": "required"}})
    found = asked(found, aggregates=(GOLD,), **more)
    hosts = tuple(host.uuid for host in found.hosts)
    each_of_hosts = tuple(dataclasses.replace(each, hosts=hosts) for each in fixes)
    return Explanation(found, fixes=each_of_hosts)


def asked(found, **more):
    question = asking(found.question, **more)
    return dataclasses.replace(found, question=question)


def with_impact(setting=ASSUMED, gained=()):
    found = gold(["a"], a=HAS)
    lost = frozenset(host.uuid for host in found.candidates)
    name = options.ISOLATION
    impact = OptionImpact(frozenset(gained), lost, False, name, setting, other=True)
    return dataclasses.replace(found, doubts=Doubts((impact,)))


def down():
    found = gold(["a"], a=HAS)
    (host,) = found.candidates
    node = Compute(host.uuid, "a", "a", is_up=False)
    return dataclasses.replace(found, computes={host.uuid: node})


def disabled(**reasons):
    found = explained({"cloud": dict.fromkeys(reasons, DISABLED)})
    for host in found.hosts:
        why = {"is_enabled": False, "disabled_reason": reasons[host.name]}
        found.computes[host.uuid] = Compute(host.uuid, host.name, host.name, **why)
    return found


def isolated():
    option = {"scheduler.enable_isolated_aggregate_filtering": True}
    metadata = {"trait:CUSTOM_GOLD": "required"}
    return explained(
        {
            "cloud": {"a": {"aggregates": ["gold"]}},
            "aggregates": {"gold": {"metadata": metadata, "hosts": ["a"]}},
            "options": option,
        }
    )


def card(trait):
    return {"inventories": {"VGPU": 1}, "traits": [f"CUSTOM_{trait}"]}


def lost_by_placement():
    zone = {"aggregates": {"east": IN_ZONE}, "zone": "az-east"}
    found = explained({"cloud": {"a": {}, "b": {}}, **zone})
    for host in found.hosts:
        found.computes[host.uuid] = Compute(host.uuid, host.name, host.name)
    return found


def apart():
    """Three servers of a new group that are to be on different hosts, of two hosts."""
    found = gold(["a"], a=HAS, b=FULL_OF_GOLD)
    for host in found.hosts:
        found.computes[host.uuid] = Compute(host.uuid, host.name, host.name)
    group = ServerGroup("new", "anti-affinity")
    question = asking(found.question, count=3)
    question = dataclasses.replace(question, group=group, servers={})
    return dataclasses.replace(found, question=question)


def moving(*steps, **more):
    plan = RoomPlan(("a", "b"), steps, ("a",) if steps else (), **more)
    return Explanation(gold(a=FULL_OF_GOLD, b=FULL_OF_GOLD), make_room=plan)


def one_trait_less_each(*hosts):
    traits = {host: f"CUSTOM_{host.upper()}" for host in hosts}
    cloud = {
        host: {"traits": [*({*traits.values()} - {traits[host]})]} for host in hosts
    }
    flavor = {f"trait:{trait}": "required" for trait in traits.values()}
    return explained({"cloud": cloud, "flavor": flavor})


def not_evaluated():
    found = gold(["a"], a=HAS)
    request = dataclasses.replace(found.request, not_evaluated=REFUSED_BY_API)
    return dataclasses.replace(found, request=request)


#: A format is called as an operator calls it, if it is lacking.
FORMATS = {
    "trait:COMPUTE_IMAGE_TYPE_QCOW2": "required",
    "trait:COMPUTE_IMAGE_TYPE_ISO": "forbidden",
    "trait:CUSTOM_GOLD": "required",
}
QCOW2 = "COMPUTE_IMAGE_TYPE_QCOW2"
IN_ZONE = {"metadata": {"availability_zone": "az-east"}, "hosts": ["a"]}

STATES = {
    "no-host": lambda: gold(a={}, b={}, c=FULL_OF_GOLD),
    "candidates": lambda: gold(
        tuple(f"cmp{n:03}" for n in range(1, 13)),
        **{f"cmp{n:03}": HAS for n in range(1, 13)},
        cmp013={},
    ),
    "hosts-of-one-reason": lambda: gold(
        **{f"cmp{n}": FULL_OF_GOLD for n in range(1, 5)}
    ),
    "one-host-full": lambda: gold(a=FULL_OF_GOLD),
    "one-host-with-two-reasons": lambda: gold(a=FULL),
    "formats": lambda: explained(
        {
            "cloud": {
                "a": HAS,
                "b": HAS,
                "c": {"traits": [QCOW2]},
                "d": {"traits": [QCOW2, "CUSTOM_GOLD", "COMPUTE_IMAGE_TYPE_ISO"]},
            },
            "flavor": FORMATS,
        }
    ),
    "outside-of-the-zone": lambda: explained(
        {
            "cloud": {"a": {"aggregates": ["east"]}, "b": {}, "c": {}},
            "aggregates": {"east": IN_ZONE},
            "zone": "az-east",
        },
        ["a"],
    ),
    "full-zone": lambda: explained(
        {
            "cloud": {
                "a": {**FULL_OF_GOLD, "aggregates": ["east"]},
                "b": FULL_OF_GOLD,
                "c": FULL_OF_GOLD,
            },
            "aggregates": {"east": IN_ZONE},
            "zone": "az-east",
        }
    ),
    "outside-of-the-projects-aggregate": lambda: explained(
        {
            "cloud": {"a": {}, "b": {"aggregates": ["ours"]}},
            "aggregates": {"ours": {"metadata": {"filter_tenant_id": "us"}}},
            "project": "us",
            "options": {"limit_tenants_to_placement_aggregate": True},
        },
        ["b"],
    ),
    "only-candidate-is-down": down,
    "too-many-servers": lambda: asked(gold(["a"], a=HAS), count=900),
    "more-servers-than-hosts": apart,
    "disabled": lambda: disabled(a=""),
    "disabled-with-reason": lambda: disabled(a="new DIMMs"),
    "disabled-with-reasons": lambda: disabled(a="reason a", b="reason b"),
    "option-that-decides": with_impact,
    "isolated": isolated,
    "fixes-together": lambda: helping(*TOGETHER),
    "lost-by-placement": lost_by_placement,
    "many-reasons": lambda: one_trait_less_each(*"abcdefg"),
    "not-together": lambda: explained(
        {
            "cloud": {"a": {"children": [card("FAST"), card("WIDE")]}},
            "flavor": {
                "resources1:VGPU": 1,
                "trait1:CUSTOM_FAST": "required",
                "trait1:CUSTOM_WIDE": "required",
            },
        }
    ),
}


@pytest.mark.parametrize("state", STATES)
def test_the_answer_fits_a_screen(golden, state):
    shown = text(STATES[state]())
    golden(f"explain/{state}", shown)
    assert len(shown) <= 15
    own = (each for each in shown if not each.startswith("ASSUMED"))
    assert not [each for each in own if len(each) > 80 and "more host" not in each]


def test_moves_that_make_room_come_with_their_commands(golden):
    perhaps = step("db", MoveKind.MIGRATION, host="b", unknown=("OurFilter",))
    answers = (
        moving(step("web")),
        moving(step("web", host="a"), perhaps, deciding=("NUMATopologyFilter",)),
        moving(),
        dataclasses.replace(moving(), make_room=RoomPlan(())),
    )
    golden("explain/make-room", [line for each in answers for line in text(each)])


def test_all_of_it_begins_with_the_answer_and_ends_with_what_it_rests_on(golden):
    golden("explain/no-host-long", text(STATES["no-host"](), everything=True))
    golden("explain/candidates-long", text(STATES["candidates"](), everything=True))


def test_what_is_not_looked_at_is_at_the_end(golden):
    *_, last = "\n".join(text(not_evaluated(), everything=True)).split("\n\n")
    golden("explain/not-evaluated", last)


@pytest.mark.parametrize(("project", "line"), [("demo", 1), (None, 0)])
def test_the_second_line_says_what_nova_api_refuses_to_a_plain_user(project, line):
    found = gold(["a"], a=HAS)
    kept = NotEvaluated(kinds.ZERO_DISK, "disk", "0")
    request = dataclasses.replace(found.request, not_evaluated=(kept,))
    asked = found.question.with_spec(project=project)
    found = dataclasses.replace(found, request=request, question=asked)
    lines = [each for each in text(found) if "zero_disk_flavor" in each]
    assert lines == [text(found)[1]] * line
    assert "HTTP 403" in "".join(lines) or not line
    of_server = dataclasses.replace(found, question=kept_server(asked))
    assert not any("403" in each for each in text(of_server))


def test_the_second_line_says_how_large_a_volume_has_to_be():
    found = gold(["a"], a=HAS)
    size = NotEvaluated(kinds.VOLUME_SIZE, "min_disk", "40")
    request = dataclasses.replace(found.request, not_evaluated=(size,))
    found = dataclasses.replace(found, request=request)
    assert "less than 40 GB (HTTP 400)" in text(found)[1]


def kept_server(question):
    return dataclasses.replace(question, is_kept=True)


def test_a_change_with_another_one_added_is_shown_when_all_is_asked_for(golden):
    found = helping(
        RequestFix((RAW,)), RequestFix((RAW, *SMALL)), RequestFix((BUS, RAW))
    )
    golden("explain/fixes-combined", text(found))
    golden("explain/fixes-combined-long", text(found, everything=True))


def test_a_change_that_others_feel_or_that_claims_something_has_a_caution(golden):
    of_request = (fixes.REQUEST, fixes.FORMAT, fixes.FLAVOR, fixes.IMAGE)
    found = helping(*of_request, fixes.TRAIT, fixes.LESS, fixes.ENABLE)
    golden("explain/fixes-with-cautions", text(found, everything=True))


def decision(action, name, **more):
    return HostFix((HostChange(action, name),), (), **more)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            decision(HostAction.ENABLE_SERVICE, "DIMM errors, TICKET-4711"),
            "a is disabled: DIMM errors, TICKET-4711; it would add 1 host",
        ),
        (
            decision(HostAction.ENABLE_SERVICE, "AUTO: Connection to libvirt lost: 1"),
            "a is disabled: AUTO: Connection to libvirt lost: 1 (nova-compute enables "
            "it again once libvirt answers); it would add 1 host",
        ),
        (
            decision(HostAction.JOIN_AGGREGATE, "gold"),
            "a is not in aggregate gold; it would add 1 host",
        ),
        (
            decision(HostAction.JOIN_AGGREGATE, "gold", deciding=("OurFilter",)),
            "a is not in aggregate gold; it would add 1 host; then OurFilter decides, "
            "which can't be seen from here",
        ),
    ],
)
def test_what_somebody_has_to_decide_is_a_sentence_without_a_command(change, said):
    found = helping(change)
    shown = text(found)
    assert shown[2:4] == ["Only by undoing somebody's decision:", f"  {said}"]
    assert "openstack" not in "".join(shown)
    (listed,) = document.document(found)["fixes"]
    assert listed["commands"] == []


def test_a_fix_for_several_servers_says_how_many_it_adds():
    less = dataclasses.replace(fixes.LESS, room=Room(5, 5))
    zone = dataclasses.replace(fixes.ZONE, room=Room(3, 6))
    enabled = decision(HostAction.ENABLE_SERVICE, "x", room=less.room)
    assert text(helping(less, zone, enabled, count=20))[2:] == [
        "No single fix makes room for 20. Nearest:",
        "  remove X from a (if the host lacks it): would add 5 (5 of 20)",
        "    openstack trait-sched remove X --host a",
        "  ask for availability zone a: would add 3 to 6 (3 to 6 of 20)",
        "  a is disabled: x; it would add 5 (5 of 20)",
        "--long shows conditions, all hosts and assumptions.",
    ]
    assert text(helping(less, zone, enabled, count=2))[2:4] == [
        "Fixes that would work, safest first:",
        "  remove X from a (if the host lacks it): would make room for 5",
    ]


@pytest.mark.parametrize(("version", "trait"), [("2.0", "2_0"), ("1.2", "1_2")])
def test_the_trait_that_the_version_of_a_tpm_names_is_the_reason(version, trait):
    flavor = {"hw:tpm_version": version}
    found = explained({"cloud": {"a": {}, "b": {}}, "flavor": flavor})
    assert text(found)[1].startswith(f"  2 lack trait COMPUTE_SECURITY_TPM_{trait} ")


def test_a_line_of_which_nothing_fits_says_why_without_figures():
    names = ", ".join(f"host{n}-of-rack-{n}" for n in range(0, 40, 7))
    reason = f"are short of RAM (need 4096 MB) ({names}: 512 MB free of 65024)"
    fitted = verdict.fitted(f"  {names} ", [reason, "lack trait X"], "are short of RAM")
    assert fitted.endswith(" are short of RAM, ...")


def test_advice_is_a_sentence_with_where_to_look(golden):
    found = gold(a={}, b={})
    uuids = tuple(host.uuid for host in found.hosts)
    unreported = (
        "COMPUTE_SECURITY_UEFI_SECURE_BOOT",
        "COMPUTE_SECURITY_TPM_2_0",
        "HW_CPU_X86_AMD_SEV",
        "COMPUTE_IMAGE_TYPE_QCOW2",
        "VGPU",
        "HW_ARCH_AARCH64",
        "HW_CPU_X86_AVX512F",
        "COMPUTE_VOLUME_EXTEND",
        "aarch64",
    )
    told = (
        *(Advice(Topic.NOT_REPORTED, each) for each in unreported),
        Advice(Topic.GROUP, "db-ha", amount=2),
        Advice(Topic.STALE_TRAIT, "COMPUTE_STATUS_DISABLED", uuids),
        Advice(Topic.LEAKED, "MEMORY_MB", uuids[:1]),
    )
    golden("explain/advice", text(Explanation(found, advice=told)))


def test_a_misspelled_trait_has_the_commands_that_correct_it(golden):
    typo = {"trait:CUSTOM_GLOD": "required"}
    case = Case({"name": "typo", "cloud": {}, "flavor": typo, "image": typo})
    request, known = case.question.request(), ("COMPUTE_STATUS_DISABLED", "CUSTOM_GOLD")
    refusal, told = fix.misspelled(case.question, request, known)
    found = RefusedRequest(case.question, refusal, request)
    golden("explain/misspelled-trait", text(Explanation(found, advice=told)))


def test_a_program_gets_the_query_of_a_rejected_request_and_no_hosts():
    silver = {"trait:CUSTOM_SILVER": "required"}
    case = Case({"name": "silver", "cloud": {"a": {}}, "flavor": silver})
    request = case.question.request()
    refusal = TraitMissing("flavor", "silver", "CUSTOM_SILVER", ())
    found = RefusedRequest(case.question, refusal, request, total_hosts=7)
    whole = document.document(Explanation(found))
    assert (whole["verdict"], whole["reason"]) == ("rejected", "rejected")
    assert (whole["query"], whole["total_hosts"]) == (request.query(), 7)
    assert [each["id"] for each in whole["clauses"]] == [
        *document.clause_ids(request.clauses)
    ]
    assert {each["alone"] for each in whole["clauses"]} == {None}
    for key in ("hosts", "candidates", "dependences", "conflicts", "filters", "fixes"):
        assert whole[key] == []
    assert (whole["min_servers"], whole["max_servers"], whole["depends"]) == (
        0,
        0,
        False,
    )


def test_what_a_host_fails_stands_above_what_it_meets(golden):
    found = gold(a=FULL)
    golden("explain/on-host", text(found, found.hosts))
    golden("explain/on-host-long", text(found, found.hosts, everything=True))


@pytest.mark.parametrize(
    ("candidates", "tone"), [((), Tone.NO), (("a",), Tone.YES), (("b",), Tone.DOUBT)]
)
def test_yes_no_and_doubt_can_be_told_at_a_glance(candidates, tone):
    cloud = {"a": HAS, "b": {}} if candidates == ("a",) else {"b": {}}
    first, *_ = verdict.lines(gold(candidates, **cloud))
    assert first.tone is tone


def test_a_no_alone_has_its_reason_and_why_each_host_is_out():
    first, *_ = verdict.lines(disabled(a="", b=""))
    assert first.alone.text == (
        "disabled: No host can take it now: 0 of 2. 2 are disabled."
    )


@pytest.mark.parametrize(
    ("host", "project", "said"),
    [("a", "us", " (theirs: for other projects)"), ("a", "them", ""), ("b", "us", "")],
)
def test_a_host_for_other_projects_is_named_so(host, project, said):
    theirs = aggregate("theirs", "a", filter_tenant_id="them")
    question = asking(gold().question, aggregates=(theirs,), project=project)
    assert words.for_others(Compute(host, host, host), question) == said


@pytest.mark.parametrize(
    ("setting", "gained", "said"),
    [
        (
            ASSUMED,
            "",
            [
                "Depends on nova.conf: 1 of 1 host if isolation is off, "
                "0 of 1 if it is on.",
                "Unknown options: counted as if isolation is off (the default of "
                "2026.1).",
            ],
        ),
        (
            ASSUMED,
            "b",
            [
                "1 of 1 host can take it.",
                "Depends on nova.conf: 1 of 1 host if isolation is on.",
            ],
        ),
        (GIVEN, "", ["1 of 1 host can take it.", "Candidates: a"]),
    ],
)
def test_an_assumed_option_that_turns_the_verdict_is_the_verdict(setting, gained, said):
    assert text(with_impact(setting, gained))[:2] == said


@pytest.mark.parametrize("place", ["~/.config/osc-traitsched/prod.yaml", None])
def test_a_program_gets_where_the_settings_are_from(place):
    flavor = {"id": "f", "name": "f", "vcpus": 1, "ram": 1, "disk": 1}
    settings = dataclasses.replace(SchedulerSettings(), place=place)
    question = Question({**flavor, "extra_specs": {}}, None, (), settings)
    found = RefusedRequest(question, TraitMissing("flavor", "gold", "CUSTOM_GOLD", ()))
    assert document.document(Explanation(found))["settings_from"] == place
    shown = text(found, everything=True)
    assert place is None or f"  settings: {place}" in shown


def test_a_unit_is_named_only_if_it_is_in_the_way(golden):
    stocks = [
        Stock(7680, 6144),
        Stock(65536, 0, 65536, 0, 1.0, 1, 2048, 1),
        Stock(65536, 0, 65536, 0, 1.0, 8192, 65536, 1),
        Stock(65536, 0, 65536, 0, 1.0, 1, 65536, 3),
    ]
    memory = Resource("", "MEMORY_MB", 4096, ())
    golden("explain/shortages", [verdict.shortage(memory, each) for each in stocks])


def test_a_zone_without_an_enabled_host_is_not_taken_for_a_typo():
    zones = {"az-south": False, "az-north": True}
    assert zone_refusal("az-south", zones).nearest == ()
    assert zone_refusal("az-suoth", zones).nearest[0] == "az-south"
    assert zone_refusal("az-north", zones) is None


@pytest.mark.parametrize(
    ("name", "said"),
    [("", "project a00e"), ("demo", "project demo"), ("a00e", "project a00e")],
)
def test_a_project_is_called_as_the_user_called_it(name, said):
    question = helping(project="a00e").judgement.question.with_spec(project=name)
    assert words.request(question).endswith(f", {said}")


def test_the_projects_name_stands_for_its_id_and_for_nothing_else():
    judgement = helping(project="a").judgement
    unread = (NotEvaluated(kinds.TENANT, "a"),)
    asked = dataclasses.replace(judgement.request, not_evaluated=unread)
    judgement = dataclasses.replace(judgement, request=asked)
    found = Explanation(judgement, project="acme")
    plain = text(dataclasses.replace(found, project=""), everything=True)
    shown = text(found, everything=True)
    request = next(line for line in shown if line.startswith("Request: "))
    assert request.endswith(", project acme")
    told = "  No aggregate is for project {}; it is not restricted."
    assert told.format("acme") in shown
    others = [line for line in plain if "project a" not in line]
    assert [line for line in shown if "project acme" not in line] == others


@pytest.mark.parametrize("value", ["raid (need battery)", "a. b"])
def test_a_value_that_looks_like_our_words_is_said_in_full(value):
    differs = state.Fails(state.METADATA_DIFFERS, "disk", "ssd", (value,))
    found = gold(a={}, b={})
    answers = {"F": {host.uuid: differs for host in found.hosts}}
    answered = filtering.Filtering(FilterAnswers(("F",), answers))
    found = dataclasses.replace(found, filtering=answered)
    clause = verdict.said(HostFilter("F"), found, found.hosts)
    assert clause.what == f"are in aggregates with disk={value}, not ssd"


def test_an_amount_and_an_origin_are_parts_of_their_own():
    found = explained({"cloud": {"a": FULL}, "flavor": {"trait:CUSTOM_A": "required"}})
    clauses = {type(each): each for each in found.clauses}
    short, lacks = (
        verdict.said(clauses[kind], found, found.hosts) for kind in (Resource, Trait)
    )
    assert short.what == "is short of disk"
    assert f"{short}" == f"{short.what} ({short.need})"
    assert lacks == ("lacks trait CUSTOM_A", "", "")
    assert f"{lacks._replace(origin='flavor big')}" == f"{lacks.what} (flavor big)"


def test_a_name_with_a_full_stop_is_not_cut_off():
    found = gold(a={})
    missing = TraitMissing("image", "win. 2025", "CUSTOM_X", ("CUSTOM_Y",))
    found = dataclasses.replace(found, refusal=missing)
    problem = "Image win. 2025 requires trait CUSTOM_X, which does not exist"
    assert verdict.rejected(found, has_remedy=False) == problem
    assert verdict.rejected(found) == str(missing)
    of_flavor = TraitMissing("flavor", "a. b", "CUSTOM_X", ())
    found = dataclasses.replace(found, refusal=of_flavor)
    problem = "requires trait CUSTOM_X, which does not exist"
    assert verdict.rejected(found, has_remedy=False) == problem


def test_a_table_is_no_wider_than_the_terminal():
    shown = text(isolated(), everything=True, width=80)
    rows = [line for line in shown if line.startswith(("|", "+"))]
    assert rows
    assert max(map(len, rows)) <= 80
    wide = [x for x in text(isolated(), everything=True) if x.startswith("|")]
    assert max(map(len, wide)) > 80


@pytest.mark.parametrize(
    ("width", "environment", "shown"),
    [
        (80, {"FORCE_COLOR": "1"}, "\x1b[1m\x1b[31mNo\\x1b[2J\x1b[0m"),
        (80, {"NO_COLOR": "1"}, r"No\x1b[2J"),
        (0, {"FORCE_COLOR": "1"}, r"No\x1b[2J"),
    ],
)
def test_only_a_terminal_with_color_is_painted(width, environment, shown):
    code = (
        "from osc_traitsched.views.terminal import Line, Tone, painted;"
        f"print(painted(Line('No\\x1b[2J', Tone.NO), {width}), end='')"
    )
    # termcolor looks at the environment once.
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**kept, **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == shown


def test_a_misspelled_key_and_the_one_it_stands_for_are_on_the_second_line():
    flavor = {"hw:cpu_polcy": "dedicated", "resources:CUSTOM_X": "one"}
    found = explained({"cloud": {"cmp01": FULL_OF_GOLD}, "flavor": flavor})
    shown = text(found)
    assert (
        "hw:cpu_polcy=dedicated: ignored by Nova; did you mean hw:cpu_policy?"
        in (shown[1:3])
    )
    assert "resources:CUSTOM_X=one: ignored by Nova, not an amount." in shown[1:3]


GROUP = ServerGroup("web", "soft-anti-affinity")
IRONIC = dataclasses.replace(REPORT, hypervisor_type="ironic")
PLAIN = {"VCPU": 8, "MEMORY_MB": 8192, "DISK_GB": 100}


def of_cloud(flavor, given=(), states=None, **inventories):
    body = {
        "cloud": {name: {"inventories": each} for name, each in inventories.items()},
        "flavor": {"vcpus": 1, "ram": 512, "disk": 1, **flavor},
    }
    return scheduled.explained(body, given, **(states or {}))


def test_bare_metal_lacks_the_sizes_of_a_flavor():
    metal = {"b": {"report": IRONIC}}
    flavor = {"resources:CUSTOM_BM": 1}
    found = of_cloud(flavor, states=metal, a=PLAIN, b={"CUSTOM_BM": 1})
    (line,) = (each for each in text(found) if "bare metal" in each)
    assert line == (
        "b: bare metal has no VCPU, RAM, disk at all; set resources:VCPU=0, "
        "resources:MEMORY_MB=0, resources:DISK_GB=0 on the flavor."
    )
    half = {**flavor, "resources:VCPU": 0, "resources:DISK_GB": 0}
    found = of_cloud(half, states=metal, a=PLAIN, b={"CUSTOM_BM": 1})
    assert "no RAM at all; set resources:MEMORY_MB=0" in "".join(text(found))
    # A flavor of sizes alone is for virtual machines.
    found = of_cloud({"vcpus": 99}, states=metal, a=PLAIN, b={"CUSTOM_BM": 1})
    assert "bare metal" not in "".join(text(found))


def test_an_inventory_that_is_reserved_as_a_whole_is_not_said_to_be_in_use():
    device = {"total": 2, "reserved": 2}
    found = of_cloud({"resources:CUSTOM_X": 1}, a={**PLAIN, "CUSTOM_X": device})
    (host,) = found.hosts
    stock = {host.uuid: {"CUSTOM_X": Stock(0, 0, **device, ratio=1.0)}}
    facts = dataclasses.replace(found.facts, stock=stock)
    lines = "\n".join(text(dataclasses.replace(found, facts=facts)))
    assert "all of it is reserved (2 of 2)" in lines
    assert "0 free" not in lines


def test_no_host_has_a_trait_that_older_computes_do_not_report():
    body = {"cloud": {"a": {}}, "image": {"hw_architecture": "aarch64"}}
    settings = SchedulerSettings.of(33, image_metadata_prefilter=True)
    asked = dataclasses.replace(scheduled.question(body), assumptions=settings)
    found = scheduled.judgement_of(asked, body)
    (line,) = (each for each in text(found) if "prefilter can be off" in each)
    assert line.startswith("No host has HW_ARCH_AARCH64, which libvirt reports from")


@pytest.mark.parametrize("policy", ["soft-affinity", "soft-anti-affinity", "affinity"])
def test_a_soft_policy_promises_no_hosts(policy):
    found = of_cloud({}, ["a", "b"], a=PLAIN, b=PLAIN)
    group = dataclasses.replace(GROUP, policy=policy)
    asked = dataclasses.replace(found.question, group=group)
    lines = "".join(text(dataclasses.replace(found, question=asked)))
    assert ("is likely, not promised" in lines) is policy.startswith("soft")
