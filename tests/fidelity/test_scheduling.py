"""The cases of filters and weighers, and how they are compared, can be relied on."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.nova.filter.state import PASSES, Raises, Unknown
from osc_traitsched.core.nova.options import OPTIONS
from tests.fidelity import __main__ as command
from tests.fidelity import asking
from tests.fidelity.scheduling import command as scheduling
from tests.fidelity.scheduling import (
    comparing,
    generator,
    ours,
    recorded,
    traps,
    values,
)

CASES = [generator.case(f"0-{number}") for number in range(300)]


def test_a_seed_gives_the_same_hosts_and_request_every_time():
    assert generator.case("a-1") == generator.case("a-1")
    assert generator.case("a-1") != generator.case("a-2")


def test_three_hundred_cases_have_every_key_that_a_filter_or_weigher_reads():
    aggregates = [each for case in CASES for each in case["aggregates"]]
    held = {key for each in aggregates for key in each["metadata"]}
    assert held >= values.METADATA.keys()
    assert held >= {f"{name}_weight_multiplier" for name in values.MULTIPLIERS}
    asked = {key for case in CASES for key in case["flavor"]["extra_specs"]}
    assert asked >= {*values.BARE, *values.SCOPED, "hw:maxphysaddr_bits"}
    assert {key for case in CASES for key in case["image"]} >= values.IMAGE.keys()
    assert {key for case in CASES for key in case["options"]} >= values.OPTIONS.keys()
    assert len({case["group"] and case["group"]["policy"] for case in CASES}) == 5


def test_options_of_weighers_that_cases_set_are_options_of_nova():
    set_ = {name for case in CASES for name in case["options"] if "weight" in name}
    assert len(set_) > 10
    assert set_ <= OPTIONS.keys()


def of_two_hosts(release=34):
    """A case of two hosts about which nothing is hidden, and its ranking."""
    for case in CASES:
        ranking = ours.ranked(case, release)
        if len(ranking.places) == 2 and not any(
            host["hidden"]["stats"]["io_workload"] or host["hidden"]["pci"]
            for host in case["hosts"]
        ):
            return case, ranking
    raise AssertionError("no such case")


def as_nova(ranking):
    """An answer of Nova's that is the core's own."""
    names = ("raw", "normalized", "multipliers")
    columns = ranking.columns
    return {
        "filters": {},
        "weighers": {
            c.weigher: {n: list(getattr(c, n)) for n in names} for c in columns
        },
        "order": [uuid for place in ranking.places for uuid in place],
        "totals": dict(zip(ranking.hosts, ranking.totals)),
        "first": sorted(ranking.first),
    }


def as_words(case, release):
    """The core's own answers of filters as Nova's."""
    own = ours.judged(case, release)
    return {name: list(map(comparing.word, judged)) for name, judged in own.items()}


def differing(case, ranking, nova):
    found = comparing.weighed(case, ranking, nova)
    return [each.name for each in found if each.is_known and not each.is_equal]


def test_a_weight_that_is_off_by_a_millionth_is_a_difference():
    case, ranking = of_two_hosts()
    nova = as_nova(ranking)
    assert differing(case, ranking, nova) == []
    nova["weighers"]["RAMWeigher"]["normalized"][0] += 1e-6
    nova["weighers"]["DiskWeigher"]["multipliers"][1] += 1e-6
    assert differing(case, ranking, nova) == ["DiskWeigher", "RAMWeigher"]


def test_another_order_and_another_total_are_differences():
    case, ranking = of_two_hosts()
    nova = as_nova(ranking)
    nova["order"].reverse()
    assert differing(case, ranking, nova) == ["order"]
    nova = as_nova(ranking)
    nova["totals"][ranking.hosts[0]] += 1e-6
    assert differing(case, ranking, nova) == ["order"]


def test_a_host_that_should_not_be_first_and_is_tried_first_is_a_difference():
    case, ranking = of_two_hosts()
    nova = {**as_nova(ranking), "first": [ranking.places[1][0]]}
    assert differing(case, ranking, nova) == ["first"]


def test_a_weigher_that_only_nova_has_and_one_that_raises_are_differences():
    case, ranking = of_two_hosts()
    nova = as_nova(ranking)
    nova["weighers"].update(NewWeigher={"raw": []}, RAMWeigher={"raises": "KeyError"})
    assert differing(case, ranking, nova) == ["NewWeigher", "RAMWeigher"]


def test_hosts_of_one_place_may_come_in_any_order_and_places_may_not():
    places = (("a",), ("b", "c"), ("d",))
    assert comparing.follows(["a", "c", "b", "d"], places)
    assert not comparing.follows(["b", "a", "c", "d"], places)
    assert not comparing.follows(["a", "b", "c"], places)
    assert not comparing.follows(None, places)


def test_what_the_core_assumes_and_is_not_so_can_not_be_compared():
    case, ranking = of_two_hosts()
    case["hosts"][0]["hidden"]["stats"]["failed_builds"] = 3
    found = {
        each.name: each for each in comparing.weighed(case, ranking, as_nova(ranking))
    }
    assert not found["BuildFailureWeigher"].is_known
    assert not found["order"].is_known
    assert found["RAMWeigher"].is_known
    del case["hosts"][0]["hidden"]["stats"]["failed_builds"]


def compared(judged, nova, name="NUMATopologyFilter"):
    """One answer of a filter of the core's beside one of Nova's."""
    (found,) = comparing.filtered({name: [judged]}, {name: [nova]})
    return found


def test_another_answer_of_a_filter_is_a_difference():
    assert compared(PASSES, "yes").is_equal
    assert not compared(PASSES, "no").is_equal
    assert not compared(PASSES, "KeyError").is_equal
    assert compared(Raises("KeyError", "a", "b"), "KeyError").is_equal
    assert not compared(Raises("KeyError", "a", "b"), "ValueError").is_equal


def test_an_unknown_about_what_the_api_shows_is_a_difference():
    assert not compared(Unknown("numa_topology"), "yes").is_known
    shown = compared(Unknown("free_ram_mb"), "yes")
    assert shown.is_known
    assert not shown.is_equal


def test_a_filter_that_only_nova_has_is_a_difference():
    (found,) = comparing.filtered({}, {"NewFilter": ["yes"]})
    assert found.is_known
    assert not found.is_equal


@pytest.fixture
def nova_as_the_core(monkeypatch):
    """Nova's filters and weighers answer as the core's, and queries are left out."""

    def ask_scheduling(release, cases, processes):
        return [
            {**as_nova(ours.ranked(case, release)), "filters": as_words(case, release)}
            for case in cases
        ]

    monkeypatch.setattr(command, "_cases", lambda options: [])
    monkeypatch.setattr(asking, "ask", lambda *given: [])
    monkeypatch.setattr(asking, "ask_scheduling", ask_scheduling)
    known = [trap for trap in traps.read() if not trap.ours]
    monkeypatch.setattr(traps, "read", lambda: known)


GIVEN = ["--releases", "34", "--cases", "0", "--scheduling-cases"]


def test_a_filter_or_weigher_that_differs_fails_the_command(
    nova_as_the_core, monkeypatch, capsys
):
    equal = asking.ask_scheduling

    def other_weights(*given):
        return [{**each, "totals": {}, "order": []} for each in equal(*given)]

    monkeypatch.setattr(asking, "ask_scheduling", other_weights)
    assert command.main([*GIVEN, "20"]) == 1
    assert "order: Nova" in capsys.readouterr().out


def test_figures_are_by_filter_and_weigher(nova_as_the_core, capsys):
    assert scheduling.compare([34], 30, "0", processes=1) == 0
    said = capsys.readouterr().out
    number = len(traps.read())
    assert f"on the hosts of {number} named cases\nand of 30 by chance" in said
    assert f"{number} of {number} named surprises are seen" in said
    (line,) = (each for each in said.splitlines() if each.startswith("RAMWeigher "))
    assert line.split()[2:] == ["0", "%", "0"]


def test_a_surprise_that_nova_does_not_show_fails_the_command(
    nova_as_the_core, monkeypatch, capsys
):
    one = dataclasses.replace(traps.read()[0], says={0: ["yes", "no", "yes"]})
    monkeypatch.setattr(traps, "read", lambda: [one])
    assert command.main([*GIVEN, "1"]) == 1
    said = capsys.readouterr().out
    assert "0 of 1 named surprises are seen in all of these releases" in said
    assert f"  not in 34: {one.of}: {one.trap}" in said


def test_a_filter_that_a_release_lacks_has_no_surprise_there():
    retry = next(trap for trap in traps.read() if trap.of == "RetryFilter")
    assert retry.is_shown_by({"filters": {}}, 22)
    assert not retry.is_shown_by({"filters": {"RetryFilter": ["no"]}}, 21)


def test_recorded_answers_are_kept_by_name_and_rounded(tmp_path, monkeypatch):
    monkeypatch.setattr(recorded, "PATH", tmp_path / "scheduling.json")
    case = {"name": "one", "answers": {}}
    old = {"filters": {"A": ["yes"], "B": ["no"]}, "weighers": {}, "order": ["x"]}
    new = {"filters": {"A": ["yes"]}, "weighers": {"W": {"raw": [0.1 + 0.2]}}}

    recorded.write([case], {20: [old], 21: [old], 22: [{**new, "order": ["x"]}]})
    recorded.write(recorded.read(), {22: [{**new, "order": ["y"]}]})

    (kept,) = recorded.read()
    assert kept["answers"]["filters"] == {
        "A": {"20-22": ["yes"]},
        "B": {"20-21": ["no"]},
    }
    assert kept["answers"]["weighers"] == {"W": {"22": {"raw": [0.3]}}}
    assert recorded.answers(kept)[21] == old
    assert recorded.answers(kept)[22]["order"] == ["y"]
    assert recorded.questions() == [{"name": "one"}]
