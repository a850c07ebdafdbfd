"""Explanations with --set, host filters and weighers, and --since."""

from __future__ import annotations

import copy
import dataclasses
import types

import pytest

from osc_traitsched.app import explain, request
from osc_traitsched.app.diff import since
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.app.snapshot import Snapshot
from osc_traitsched.commands.explain import exit_code
from osc_traitsched.config import saved, sources
from osc_traitsched.core.answer import Answer
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.judge.judgement import RefusedRequest
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.state import Unknown
from osc_traitsched.core.nova.options import Setting
from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.views.explain import document as explain_document
from osc_traitsched.views.explain import reasons, text
from tests.schemas import closed
from tests.services.nova import FIGURES, NO_FIGURES
from tests.unit.app import recorded
from tests.unit.app.recorded import CMP01, CMP02, CMP03, KNOWN_OFF, RecordedCloud
from tests.unit.core.scheduled import COMPUTE, OWN, SPECS, SSD
from tests.unit.core.test_difference import HOST, OLD, delete, of

# Candidates and explanations where host filters and weighers have a say.


IO = "IoOpsFilter"
LESS = {**recorded.NEEDED, "MEMORY_MB": 512}
SMALLER = (
    "/allocation_candidates?root_required=!COMPUTE_STATUS_DISABLED"
    "&resources=DISK_GB:20,MEMORY_MB:512,VCPU:4"
)
NO_TRAIT = {"trait:CUSTOM_GOLD": ""}


def cloud(builds=(), **nodes):
    """Return the recorded cloud; some nodes are otherwise.

    :param builds: what Nova answers when it is asked where servers are being built
    """
    listed = recorded.BODIES["compute"]["/os-hypervisors/detail"]["hypervisors"]
    found = [{**each, **nodes.get(each["hypervisor_hostname"], {})} for each in listed]
    return RecordedCloud(
        compute={"/os-hypervisors/detail": {"hypervisors": found}, **dict(builds)},
        placement={SMALLER: recorded.candidates(LESS, CMP01, CMP02, CMP03)},
    )


def ask(cloud, *filters, weighers=(), specs=None, given=None, **asked):
    """Return the question whether a server without CUSTOM_GOLD has a host."""
    asked = ServerSpec(
        "gold", "rocky", flavor_properties={**NO_TRAIT, **(specs or {})}, **asked
    )
    question = request.question(cloud, asked, SettingsSources(options=KNOWN_OFF))
    given = {options.ENABLED_FILTERS: filters, **(given or {})}
    if weighers:
        given[options.WEIGHT_CLASSES] = weighers
    return dataclasses.replace(question, assumptions=with_settings(question, given))


def with_settings(question, given):
    """The settings of a question with others on top of its own."""
    known = question.assumptions
    given = {
        name: Setting(value, "a test", given=True) for name, value in given.items()
    }
    return dataclasses.replace(known, settings={**known.settings, **given})


def explained(cloud, question, **options):
    """An explanation, and the judgement in it."""
    explanation = explain.explain(cloud, question, **options)
    return explanation, explanation.judgement


def names(found):
    return [each.host.name for each in found]


def test_candidates_are_those_that_filters_pass_and_the_others_are_named():
    down = cloud(cmp02={"state": "down"})
    found = explain.candidates(down, ask(down, COMPUTE))
    assert (names(found.hosts), names(found.kept_out)) == (["cmp01"], ["cmp02"])
    assert not found.judgement.candidates.is_uncertain


def test_candidates_are_in_the_order_in_which_they_are_tried():
    free = cloud(cmp02={**FIGURES, "free_ram_mb": 60000})
    found = explain.candidates(free, ask(free))
    assert names(found.hosts) == ["cmp02", "cmp01"]
    assert found.judgement.ranking.first == {CMP02}


def test_of_candidates_that_one_filter_alone_may_keep_out_none_is_sure():
    recorded_cloud = cloud()
    found = explain.candidates(recorded_cloud, ask(recorded_cloud, OWN))
    assert names(found.hosts) == ["cmp01", "cmp02"]
    assert found.judgement.candidates.is_uncertain
    none = explain.candidates(
        recorded_cloud, ask(recorded_cloud, OWN, SPECS, specs=SSD)
    )
    assert (none.hosts, none.judgement.candidates.is_uncertain) == ((), False)


def test_a_filter_that_raises_refuses_candidates_and_is_the_explanation():
    wanted = {"availability_zone": ">= many"}
    recorded_cloud = cloud()
    question = ask(recorded_cloud, SPECS, specs=wanted)
    with pytest.raises(Refusal, match="a host filter ends the request"):
        explain.candidates(recorded_cloud, question)
    explanation, found = explained(recorded_cloud, question)
    assert (found.refusal.exception, explanation.fixes) == ("ValueError", ())


def test_a_scheduler_that_does_not_start_is_the_explanation():
    recorded_cloud = cloud()
    gone = ask(recorded_cloud, weighers=("nova.scheduler.weights.ram.OldWeigher",))
    explanation, found = explained(recorded_cloud, gone)
    assert found.refusal.reason == "weigher-not-in-release"
    assert explain_document.document(explanation)["verdict"] == "rejected"
    with pytest.raises(Refusal):
        explain.candidates(recorded_cloud, gone)


def test_a_host_that_a_filter_keeps_out_is_explained_with_what_helps():
    wanted = {"aggregate_instance_extra_specs:trait:CUSTOM_GOLD": "required"}
    recorded_cloud = cloud()
    question = ask(recorded_cloud, COMPUTE, SPECS, specs=wanted)
    explanation, found = explained(recorded_cloud, question, want_fixes=True)
    assert [host.name for host in found.candidates] == ["cmp01"]
    (rejection,) = {found.rejections[CMP02]}
    assert [each.name for each in rejection.failing] == [SPECS]
    whole = explain_document.document(explanation)
    joined = [each for each in whole["fixes"] if each["target"] == "hosts"]
    assert not any(each["commands"] for each in joined)
    assert [(each["text"], each["gained_hosts"]) for each in joined] == [
        ("cmp02 is not in aggregate gold", ["cmp02"])
    ]


BUILDING = "/servers/detail?all_tenants=1&limit=1000&status=BUILD"
SINCE = "2026-01-01T00:00:05Z"
CHANGED = f"/servers/detail?all_tenants=1&limit=1000&changes-since={SINCE}"
BUILDS = {
    "/os-services?binary=nova-compute": {
        "services": [{"updated_at": "2026-01-01T00:03:05.000000"}]
    },
    BUILDING: {"servers": []},
    CHANGED: {"servers": [{"id": "s1", "OS-EXT-SRV-ATTR:host": "cmp02"}]},
    f"/os-migrations?changes-since={SINCE}&limit=1000": {"migrations": []},
}


def with_servers(**servers):
    """Return a cloud whose hosts have so many servers, and one that may be building."""
    reports = {name: {**FIGURES, "running_vms": n} for name, n in servers.items()}
    return cloud(builds=BUILDS, **reports)


@pytest.mark.parametrize("asking", [explain.candidates, explain.explain])
def test_a_host_that_may_be_building_servers_is_not_sure(asking):
    busy = with_servers(cmp01=8, cmp02=8)
    question = ask(busy, COMPUTE, IO, given={options.MAX_IO_OPS: 1})
    filtering = asking(busy, question).judgement.filtering
    assert not filtering.doubts(CMP01)
    assert filtering.unknown(CMP02) == (
        (IO, Unknown("num_io_ops", options.MAX_IO_OPS, "1 at most")),
    )


@pytest.mark.parametrize("asking", [explain.candidates, explain.explain])
@pytest.mark.parametrize(
    ("filters", "limit", "requests"),
    [((COMPUTE, IO), 1, 5), ((COMPUTE, IO), 9, 0), ((COMPUTE,), 1, 0)],
)
def test_who_is_being_built_is_asked_after_the_nodes_where_a_filter_needs_it(
    asking, filters, limit, requests
):
    busy = with_servers(cmp01=8, cmp02=8)
    question = ask(busy, *filters, given={options.MAX_IO_OPS: limit})
    busy.compute.asked.clear()
    asking(busy, question)
    paths = [path for path, _ in busy.compute.asked]
    nodes = paths.index("/os-hypervisors/detail")
    builds = ("/os-services", "/servers/detail", "/os-migrations")
    asked = [number for number, path in enumerate(paths) if path in builds]
    assert len(asked) == requests
    assert all(number > nodes for number in asked)


def gold(cloud, *filters):
    """Return the question whether a server with CUSTOM_GOLD has a host."""
    question = ask(cloud, *filters)
    return question.with_flavor({"trait:CUSTOM_GOLD": "required"})


def test_a_change_of_the_request_that_a_filter_decides_about_is_no_certain_help(golden):
    recorded_cloud = cloud()
    question = gold(recorded_cloud, OWN)
    explanation, _ = explained(recorded_cloud, question, want_fixes=True)
    of_request = [each for each in explanation.fixes if hasattr(each, "lost")]
    assert {each.deciding for each in of_request} == {(OWN,)}
    assert {host for each in of_request for host in each.hosts} == {CMP03}
    assert all(each.lost == () for each in of_request)
    golden("explain/fixes-that-filters-decide", words(explanation, everything=True))
    whole = explain_document.document(explanation)
    assert {tuple(each["deciding_filters"]) for each in whole["fixes"]} == {(OWN,)}


def test_a_candidate_that_a_filter_may_keep_out_is_not_lost_by_a_change():
    unsure = cloud(cmp01=NO_FIGURES)
    question = gold(unsure, "NumInstancesFilter")
    explanation, found = explained(unsure, question, want_fixes=True)
    assert [host.name for host in found.candidates.uncertain] == ["cmp01"]
    of_request = [each for each in explanation.fixes if hasattr(each, "lost")]
    assert [(each.hosts, each.lost) for each in of_request] == [((CMP03,), ())]


def test_cpus_are_weighed_by_the_ratio_that_placement_has():
    """By the release's own ratio of 4 there would be 252 and 32 CPUs free."""
    many = {**FIGURES, "vcpus_used": 4}
    few = {**FIGURES, "vcpus": 8, "free_ram_mb": 60000}
    for found in both_orders(cloud(cmp01=many, cmp02=few)):
        assert found.first == {CMP02}
        (cpus,) = [each for each in found.columns if each.weigher == "CPUWeigher"]
        assert sorted(cpus.raw) == [60.0, 64.0]
        unreserved = [each for each in found.assumed if each.weigher == "CPUWeigher"]
        assert [(each.missing, each.hosts) for each in unreserved] == [
            ("reserved_host_cpus", {CMP01, CMP02})
        ]


def test_a_host_on_which_the_build_failed_is_tried_last():
    many = cloud(cmp02={"free_ram_mb": 2 * FIGURES["free_ram_mb"]})
    for tried, first in ((), CMP02), (("cmp02",), CMP01), (("cmp01",) * 2, CMP02):
        question = dataclasses.replace(ask(many), tried=tried)
        assert explain.explain(many, question).judgement.ranking.first == {first}
    failed_on_both = dataclasses.replace(ask(many), tried=("cmp01", "cmp02"))
    assert explain.explain(many, failed_on_both).judgement.ranking.first == {CMP02}


@pytest.mark.parametrize(("multiplier", "is_told"), [(9.0, True), (0.0, False)])
def test_failed_builds_that_no_api_shows_are_a_condition(multiplier, is_told):
    many = cloud(cmp02={"free_ram_mb": 2 * FIGURES["free_ram_mb"]})
    question = ask(many, given={options.BUILD_FAILURE: multiplier})
    judgement = explain.explain(many, question).judgement
    assert ("failed builds" in reasons.pick(judgement)) == is_told
    assert "failed builds" not in reasons.pick(judgement, everything=False)


def both_orders(found):
    question = ask(found)
    yield explain.candidates(found, question).judgement.ranking
    yield explain.explain(found, question).judgement.ranking


def on_second(**asked):
    """Return what is explained of a server on cmp02, which is down."""
    tree = (
        "/allocation_candidates?root_required=!COMPUTE_STATUS_DISABLED"
        f"&resources=DISK_GB:20,MEMORY_MB:4096,VCPU:4&in_tree={CMP02}"
    )
    given = recorded.candidates(recorded.NEEDED, CMP02)
    down = cloud(cmp02={"state": "down"})
    down.placement.now_has(tree, given)
    for trait in ("COMPUTE_IMAGE_TYPE_QCOW2", "COMPUTE_STATUS_DISABLED"):
        path = f"/resource_providers?required={trait}"
        down.placement.now_has(path, {"resource_providers": []})
    question = ask(down, COMPUTE, **asked)
    return explain.explain(down, question), explain.candidates(down, question)


def words(explanation, everything=False):
    return [each.text for each in text.lines(explanation, (), everything)]


@pytest.mark.parametrize("option", ["on_host", "on_node"])
def test_host_filters_run_on_the_host_that_is_asked_for_beside_the_zone(golden, option):
    explanation, listed = on_second(**{option: "cmp02"})
    found = explanation.judgement
    assert (found.total_hosts, *found.candidates) == (1,)
    assert found.filtering.kept_out == {COMPUTE: {CMP02}}
    assert [*found.filtering.judgment.answers[COMPUTE]] == [CMP02]
    assert (names(listed.hosts), names(listed.kept_out)) == ([], ["cmp02"])
    golden(f"explain/{option}", words(explanation))
    whole = explain_document.document(explanation)
    assert closed("explain").is_valid(whole)
    key = "host" if option == "on_host" else "hypervisor_hostname"
    assert whole["request"][key] == "cmp02"
    assert [each["kind"] for each in whole["not_evaluated"]] == [
        "ports",
        "asked host needs a policy",
    ]


def test_a_host_that_is_named_twice_or_not_there_is_refused(golden):
    recorded_cloud = cloud()
    for asked, exception, state in (
        ({"on_host": "cmp02", "zone": "nova:cmp02"}, "HTTPBadRequest", "host-twice"),
        ({"on_host": "cmp09"}, "ComputeHostNotFound", "asked-host-not-there"),
    ):
        question = ask(recorded_cloud, **asked)
        explanation = explain.explain(recorded_cloud, question)
        found = explanation.judgement
        assert isinstance(found, RefusedRequest)
        assert found.refusal.exception == exception
        golden(f"explain/{state}", words(explanation))
        with pytest.raises(Refusal, match=exception):
            explain.candidates(recorded_cloud, question)


def test_a_filter_that_is_only_assumed_to_be_off_is_in_the_document():
    two = cloud()
    specs = {**NO_TRAIT, "GOLD": "required"}
    asked = ServerSpec("gold", "rocky", flavor_properties=specs)
    explanation = explain.explain(
        two, request.question(two, asked, SettingsSources(options=KNOWN_OFF))
    )
    off = explain_document.document(explanation)["filters_assumed_off"]
    assert {"filter": SPECS, "hosts": ["cmp01", "cmp02"]} in off
    explanation = explain.explain(two, ask(two, COMPUTE, specs=specs))
    assert explain_document.document(explanation)["filters_assumed_off"] == []


def test_no_host_is_sure_where_novas_limit_may_leave_only_hosts_that_a_filter_rejects(
    golden,
):
    down = cloud(cmp02={"state": "down"})
    question = ask(down, COMPUTE, given={options.MAX_RESULTS: 1})
    explanation, found = explained(down, question)
    assert exit_code(found) == 8
    whole = explain_document.document(explanation)
    assert closed("explain").is_valid(whole)
    assert whole["uncertain_candidates"] == whole["candidates"] == ["cmp01"]
    assert explanation.fixes == ()
    golden("explain/limited", words(explanation))
    listed = explain.candidates(down, question)
    assert names(listed.hosts) == ["cmp01"]
    assert listed.judgement.candidates.is_uncertain


def test_a_request_that_takes_nothing_from_the_hosts_own_providers_is_refused(golden):
    nested = cloud()
    question = ask(nested)
    given = recorded.candidates(recorded.NEEDED, CMP01, CMP02)
    for each in given["allocation_requests"]:
        (needed,) = each["allocations"].values()
        each["allocations"] = {recorded.GPU: needed}
    stocks = [each["resources"] for each in given["provider_summaries"].values()]
    for each in stocks:
        each.update(max(stocks, key=len))
    query = dataclasses.replace(question.request(), limit=None).query()
    nested.placement.now_has(f"/allocation_candidates?{query}", given)
    explanation, found = explained(nested, question)
    assert (found.refusal.exception, exit_code(found)) == ("NoValidHost", 3)
    golden("explain/nothing-from-root", words(explanation))
    with pytest.raises(Refusal, match="nothing from the compute node"):
        explain.candidates(nested, question)


def test_without_a_higher_limit_that_is_set_no_host_is_sure():
    down = cloud(cmp02={"state": "down"})
    question = ask(down, COMPUTE, given={options.MAX_RESULTS: 1})
    now = with_settings(question, {options.MAX_RESULTS: 9})
    now = dataclasses.replace(now, without_set=question.assumptions)
    explanation, found = explained(down, dataclasses.replace(question, assumptions=now))
    before = explanation.without_set
    assert (exit_code(found), exit_code(before)) == (0, 8)
    assert [*before.candidates] == [*found.candidates]


def test_a_limit_that_always_leaves_a_host_that_passes_is_no_doubt():
    everything = cloud()
    question = ask(everything, COMPUTE, given={options.MAX_RESULTS: 1})
    found = explain.explain(everything, question).judgement
    assert (exit_code(found), len(found.candidates), found.is_cut) == (0, 2, True)


# What ``--set`` changes against the cloud's own settings.


GOLD = {"aggregate_instance_extra_specs:trait:CUSTOM_GOLD": "required"}
ODD = {"availability_zone": ">= many"}
FILTERS = options.ENABLED_FILTERS
RAM, DISK = options.RAM, options.DISK
SUBSET = options.HOST_SUBSET_SIZE
FREE = {
    "cmp01": {**FIGURES, "free_ram_mb": 60000},
    "cmp02": {**FIGURES, "free_disk_gb": 950},
}


def compared(own, now, specs=None, nodes=FREE):
    """Return the explanation with the settings as they are now, beside one's own."""
    recorded_cloud = cloud(**nodes)
    question = ask(recorded_cloud, COMPUTE, specs=specs)
    own = dataclasses.replace(with_settings(question, own), place="nova.conf")
    now = dataclasses.replace(with_settings(question, now), without_set=own)
    question = dataclasses.replace(question, assumptions=now)
    found = explain.explain(recorded_cloud, question, want_fixes=False)
    whole = explain_document.document(found)
    closed("explain").validate(whole)
    said = text.comparison_lines(found.judgement, found.without_set)
    return found, [line.text for line in said][1:], whole


def test_a_filter_that_is_set_on_keeps_hosts_out():
    _, said, whole = compared({}, {FILTERS: (COMPUTE, SPECS)}, GOLD)
    assert said == [
        "Without --set (settings: nova.conf):",
        f"  [filter_scheduler]enabled_filters: with {SPECS} (a test)",
        "  2 of 3 hosts can take it.",
        f"  kept out: cmp02 ({SPECS})",
        "  nova-scheduler picks cmp01 instead of cmp02.",
    ]
    assert whole["without_set"]["candidates"] == ["cmp01", "cmp02"]
    assert whole["without_set"]["kept_out"] == [{"host": "cmp02", "filters": [SPECS]}]
    assert whole["without_set"]["let_in"] == []


def test_a_filter_that_is_set_off_lets_hosts_in():
    _, said, whole = compared({FILTERS: (SPECS,)}, {FILTERS: (COMPUTE,)}, GOLD)
    assert said[1].endswith(f": with {COMPUTE}, without {SPECS} (a test)")
    assert said[2:4] == [
        "  1 of 3 hosts can take it.",
        f"  let in: cmp02 (else out by {SPECS})",
    ]
    assert whole["without_set"]["let_in"] == [{"host": "cmp02", "filters": [SPECS]}]


def test_a_multiplier_changes_whom_the_scheduler_picks():
    _, said, whole = compared({DISK: 0.0}, {DISK: 9.0})
    assert said[1:] == [
        "  [filter_scheduler]disk_weight_multiplier: 9.0 instead of 0.0 (a test)",
        "  2 of 3 hosts can take it.",
        "  The candidates are the same.",
        "  nova-scheduler picks cmp02 instead of cmp01.",
    ]
    assert (whole["picks"], whole["without_set"]["picks"]) == (["cmp02"], ["cmp01"])


def test_a_large_subset_is_the_scheduler_that_picked_by_chance():
    _, said, _ = compared({DISK: 0.0}, {DISK: 0.0, SUBSET: 999})
    assert said[-1] == ("  nova-scheduler picks one of cmp01, cmp02 instead of cmp01.")


def test_what_changes_nothing_is_said_to():
    _, said, _ = compared({RAM: 2.0}, {RAM: 3.0}, nodes={})
    assert said[-2:] == [
        "  The candidates are the same.",
        "  nova-scheduler picks one of cmp01, cmp02 with and without it.",
    ]


def test_a_request_that_only_one_of_both_refuses_is_compared_as_a_whole():
    found, said, whole = compared({}, {FILTERS: (SPECS,)}, ODD)
    assert found.judgement.refusal is not None
    assert said[-1] == "  2 of 3 hosts can take it."
    assert (whole["without_set"]["rejection"], whole["verdict"]) == (None, "rejected")
    _, said, whole = compared({FILTERS: (SPECS,)}, {}, ODD)
    assert said[-2] == "  Rejected; Placement alone would give 2 of 3 hosts."
    assert "ValueError" in said[-1]
    assert whole["without_set"]["let_in"] == []


def test_settings_with_which_the_scheduler_does_not_start_are_refused():
    old = {options.WEIGHT_CLASSES: ("nova.scheduler.weights.ram.OldWeigher",)}
    _, said, whole = compared(old, {})
    assert "Rejected before scheduling; no host was tried." in said[-2]
    assert "OldWeigher" in whole["without_set"]["rejection"]["text"]


def test_where_placement_is_asked_otherwise_hosts_are_matched_and_none_is_picked():
    forbidding = {options.ISOLATION: True}
    found, said, whole = compared(forbidding, {options.ISOLATION: False})
    assert [host.name for host in found.judgement.candidates] == ["cmp01", "cmp02"]
    assert said[2:] == [
        "  1 of 3 hosts can take it.",
        "  let in: cmp01 (else out by Placement)",
    ]
    assert whole["without_set"]["picks"] == []


def test_hosts_that_a_filter_may_keep_out_are_uncertain_there_too():
    _, said, whole = compared({FILTERS: (OWN,)}, {})
    assert said[2] == "  It is not known whether a host can take it: 2 of 3 may."
    assert said[-1].endswith(", if all filters pass them.")
    assert whole["without_set"]["uncertain_candidates"] == ["cmp01", "cmp02"]


def test_nothing_is_compared_where_nothing_is_set_otherwise():
    found, said, whole = compared({RAM: 2.0}, {RAM: 2.0})
    assert (found.without_set, said, whole["without_set"]) == (None, [], None)
    printed = [line.text for line in text.lines(found, (), False)]
    assert not any("Without --set" in each for each in printed)


# Changes are blamed for hosts alone, or together without those that none needs.


SETTINGS = saved.to_json(sources.SettingsSources(nova_release=27))
HOSTS = {"cmp01": "p1", "cmp02": "p2"}


def document(day):
    own = {"settings": SETTINGS, "compute_maximum": None}
    return {**copy.deepcopy(OLD), **own, "time": f"2026-11-{day}T10:00:00Z"}


def has(document, host, trait="CUSTOM_SSD"):
    return trait in of(document, "placement", "providers", HOSTS[host], "traits")


def spec(document):
    return of(document, "compute", "flavors", "f1", "extra_specs")


def lose(document, host):
    of(document, "placement", "providers", HOSTS[host], "traits").remove("CUSTOM_SSD")


def boot(document):
    server = {"id": "v2", "name": "db", "status": "ACTIVE", HOST: "cmp02"}
    document["compute"]["servers"].append(server)
    of(document, "compute", "server_groups", "g1")["members"].append("v2")


def is_free(document, host):
    members = of(document, "compute", "server_groups", "g1", "members")
    servers = document["compute"]["servers"]
    return all(e[HOST] != host for e in servers if e["id"] in members)


#: What changes, which hosts could take the request, and the changes that are blamed.
CASES = {
    "alone": (
        lambda new: (lose(new, "cmp01"), spec(new).update(unread="1")),
        has,
        {("- CUSTOM_SSD", "cmp01")},
    ),
    "each of two": (
        lambda new: (lose(new, "cmp01"), lose(new, "cmp02")),
        has,
        {("- CUSTOM_SSD", "cmp01"), ("- CUSTOM_SSD", "cmp02")},
    ),
    "two together": (
        lambda new: (lose(new, "cmp01"), spec(new).update(unread="1", ssd="1")),
        lambda document, host: has(document, host) and "ssd" not in spec(document),
        # The spec alone gives the other host back.
        {("- CUSTOM_SSD", "cmp01"), ("+ ssd=1", "cmp01 cmp02")},
    ),
    "one alone, and two together": (
        lambda new: (lose(new, "cmp01"), spec(new).update(one="1", two="1")),
        lambda document, host: (
            has(document, host) and not {"one", "two"} <= spec(document).keys()
        ),
        {
            *(("- CUSTOM_SSD", "cmp01"), ("+ one=1", "cmp01 cmp02")),
            ("+ two=1", "cmp01 cmp02"),
        },
    ),
    "gained": (
        lambda new: (lose(new, "cmp01"), spec(new).update(unread="1")),
        lambda document, host: not has(document, host),
        {("- CUSTOM_SSD", "cmp01")},
    ),
    "a member of a group": (boot, is_free, {("is new", "cmp02")}),
    "a member that left its group": (delete, is_free, {("is gone", "cmp01")}),
}


@pytest.mark.parametrize("case", CASES)
def test_what_decides_is_blamed_and_nothing_else(case):
    change, can_take, blamed = CASES[case]
    old, new = document(25), document(26)
    change(new)

    def ask(snapshot):
        names = [name for name in HOSTS if can_take(snapshot.document, name)]
        hosts = [types.SimpleNamespace(name=name) for name in names]
        answer = Answer.YES if hosts else Answer.NO
        return types.SimpleNamespace(candidates=hosts, hosts=HOSTS, answer=answer)

    found = since(["old"], Snapshot("", new), ask, lambda path: Snapshot(path, old))
    assert {(c.text, " ".join(sorted(hosts))) for c, hosts in found.causes} == blamed
