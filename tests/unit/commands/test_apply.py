"""Files that are applied: order, failures, moves of hosts, zones."""

from __future__ import annotations

import sys

import pytest

from osc_traitsched.app import desired
from osc_traitsched.cloud import servers
from osc_traitsched.commands import base, write_args
from osc_traitsched.core.errors import CloudBroke
from tests.functional import shell
from tests.unit.app.living import HOSTS
from tests.unit.app.zoned import ZonedCloud
from tests.unit.commands.desired import (
    GOLD,
    SILVER,
    broken_for,
    keystone,
    second,
    statuses,
    stranded,
    unlisted,
    with_servers,
)

# A cloud is made as files want it: what is written, in which order, what is not.


def test_a_person_is_told_what_became_of_how_many_units(apply, cloud, golden):
    cloud.gives(SILVER, "cmp03")
    broken_for(cloud, HOSTS["cmp00"])
    cloud.rivals[HOSTS["cmp01"]] = lambda: cloud.gives(GOLD, "cmp01")
    done = apply(
        """
        hold: [cmp02]
        traits:
          CUSTOM_GOLD: {hosts: ["*"]}
          CUSTOM_SILVER: {absent: {hosts: [cmp03, cmp01]}}
        flavors: {golden: {requires: [CUSTOM_GOLD], forbids: [CUSTOM_SILVER]}}
        """,
        *("-f", "text"),
    )
    assert done.code == 1
    golden("apply/some-failed", done.out + done.err)


def test_an_aggregate_changes_for_its_hosts_on_hold_and_that_is_told(
    apply, cloud, golden
):
    done = apply("hold: [cmp01]\naggregates: {gold: {isolated_for: [CUSTOM_GOLD]}}")
    assert done.code == 0
    assert cloud.having(GOLD) == {"cmp00"}
    assert cloud.metadata == {f"trait:{GOLD}": "required"}
    golden("apply/hosts-on-hold", done.err)


def test_an_aggregate_that_is_not_written_is_not_said_to_change(
    apply, trait_sched, cloud
):
    text = """
        hold: [cmp01]
        aggregates: {gold: {zone: az1, isolated_for: [CUSTOM_GOLD]}}
    """
    planned = trait_sched("plan", "w.yaml", "-f", "json", w=text)
    done = apply(text)
    for found in (planned, done):
        assert statuses(found)["aggregate", "gold", "availability_zone"] == "failed"
        assert statuses(found)["aggregate", "gold", f"trait:{GOLD}"] == "not done"
        assert "on hold, too" not in found.err
    assert cloud.metadata == {}


def test_servers_are_on_the_side_where_their_hosts_go(
    apply, cloud, monkeypatch, golden
):
    requiring, plain = {f"trait:{GOLD}": "required"}, {}
    with_servers(
        cloud,
        monkeypatch,
        cmp01={"leaving": plain, "leaving-golden": requiring},
        cmp02={"joining": plain, "joining-golden": requiring},
    )
    cloud.gives(GOLD, "cmp00", "cmp01", "cmp02")
    isolated = "isolated_for: [CUSTOM_GOLD]"
    done = apply(
        f"aggregates: {{gold: {{{isolated}, absent: {{hosts: [cmp01]}}}}, "
        f"new: {{{isolated}, hosts: [cmp02]}}}}"
    )
    assert done.code == 0, done.err
    # Those on cmp02 are right where they are, in another aggregate for the same.
    golden("apply/servers-that-stay", done.err)


def test_servers_on_hosts_that_join_a_closed_aggregate_are_told(
    apply, trait_sched, cloud, monkeypatch, golden
):
    requiring, plain = {f"trait:{GOLD}": "required"}, {}
    with_servers(
        cloud,
        monkeypatch,
        cmp00={"old": plain},
        cmp02={"plain": plain, "golden": requiring},
        cmp03={"plain-too": plain, "golden-too": requiring},
    )
    cloud.gives(GOLD, "cmp00", "cmp01", "cmp02", "cmp03")
    cloud.aggregates["1"]["metadata"] = {f"trait:{GOLD}": "required"}
    trait_sched("plan", "one.yaml", one="aggregates: {gold: {hosts: [cmp02]}}")
    asked_for_one = cloud.asked.count(("images",))
    cloud.asked.clear()
    done = apply("aggregates: {gold: {hosts: [cmp01, cmp02, cmp03]}}", "--force")
    assert done.code == 0, done.err
    golden("apply/servers-on-hosts-that-join", done.err)
    assert cloud.asked.count(("images",)) == asked_for_one


def test_servers_on_joining_hosts_need_what_isolates_already_and_what_comes(
    apply, cloud, monkeypatch, golden
):
    gold, silver = ({f"trait:{name}": "required"} for name in (GOLD, SILVER))
    with_servers(
        cloud,
        monkeypatch,
        cmp00={"both": {**gold, **silver}},
        cmp02={"silver": silver},
        cmp03={"silver-outside": silver},
    )
    cloud.gives(GOLD, *HOSTS)
    cloud.gives(SILVER, *HOSTS)
    cloud.aggregates["1"]["metadata"] = {**gold}
    isolated = "isolated_for: [CUSTOM_GOLD, CUSTOM_SILVER]"
    done = apply(f"aggregates: {{gold: {{{isolated}, hosts: [cmp02]}}}}")
    assert done.code == 0, done.err
    golden("apply/servers-that-need-two-traits", done.err)


def test_what_loses_one_host_and_gains_another_is_told_both(apply, cloud, golden):
    cloud.gives(SILVER, "cmp00")
    cloud.flavor("vip", CUSTOM_SILVER="required")
    move = "traits: {CUSTOM_SILVER: {hosts: [cmp01], absent: {hosts: [cmp00]}}}"
    done = apply(move)
    assert done.code == 0
    golden("apply/other-hosts", done.err)


@pytest.mark.parametrize("option", ["--undo", "--reviewed", "--inventory"])
def test_standard_input_is_for_the_files_alone(apply, cloud, tmp_path, option):
    done = apply("traits: {CUSTOM_GOLD: {hosts: [cmp00]}}", option, "-")
    assert (done.code, cloud.written) == (shell.USAGE, [])
    assert (
        f"argument {option}: name a file; - stands for standard input among the FILEs "
        "alone\n"
    ) in done.err
    assert not (tmp_path / "-").exists()


def test_a_plan_that_would_do_harm_is_refused_unless_forced(apply, cloud, golden):
    text = "flavors: {small: {requires: [CUSTOM_GOLD]}}"
    done = apply(text)
    assert (done.code, done.out, cloud.written) == (5, "", [])
    forced = apply(text, "--force")
    assert forced.code == 0
    golden("apply/refused-then-forced", done.err + forced.err)


@pytest.mark.parametrize(
    "text",
    [
        "traits: {CUSTOM_GOLD: {hosts: [cmp00]}}",
        "flavors: {small: {requires: [CUSTOM_GOLD]}}",
        "traits: {CUSTOM_GOLD: {hosts: [cmp99]}}",
    ],
)
def test_a_dry_run_is_the_plan(trait_sched, apply, cloud, tmp_path, text):
    dry = apply(text, "--dry-run", "--exit-code", "--undo", "undo.yaml")
    assert not (tmp_path / "undo.yaml").exists()
    planned = trait_sched("plan", "w.yaml", "-f", "json", "--exit-code")
    assert (dry.code, dry.out, dry.err) == (planned.code, planned.out, planned.err)
    assert cloud.written == []


def test_a_dry_run_takes_what_is_forced_and_what_was_reviewed(
    trait_sched, apply, cloud, tmp_path
):
    harm = "flavors: {small: {requires: [CUSTOM_GOLD]}}"
    forced = apply(harm, "--dry-run", "--force")
    assert (forced.code, len(forced.json)) == (0, 1)
    assert stranded(forced) == "flavor 'small'"
    (tmp_path / "plan.json").write_text("[]", encoding="utf-8")
    unreviewed = apply(harm, "--dry-run", "--reviewed", "plan.json")
    assert (unreviewed.code, unreviewed.out, cloud.written) == (5, "", [])


def test_a_trait_keeps_its_last_host_while_nobody_knows_what_requires_it(
    trait_sched, apply, cloud, monkeypatch
):
    def image_get(parts, params):
        raise CloudBroke("image", "HTTP 503", 503, passing=True)

    monkeypatch.setattr(cloud, "image_get", image_get)
    cloud.gives(GOLD, "cmp00", "cmp01")
    assert apply("traits: {CUSTOM_GOLD: {absent: {hosts: [cmp01]}}}").code == 0
    cloud.written.clear()
    planned = trait_sched(
        "plan",
        "w.yaml",
        "-f",
        "json",
        w="traits: {CUSTOM_GOLD: {absent: {hosts: [cmp00]}}}",
    )
    assert (planned.code, len(planned.json)) == (5, 1)
    assert "whether a flavor, image or aggregate still requires it" in planned.err
    done = trait_sched("apply", "w.yaml")
    assert (done.code, done.out, cloud.written) == (5, "", [])
    assert trait_sched("apply", "w.yaml", "--force").code == 0
    assert cloud.having(GOLD) == set()


def test_a_trait_that_something_requires_moves_to_another_host(apply, cloud):
    cloud.flavor("golden", CUSTOM_GOLD="required")
    cloud.gives(GOLD, "cmp00")
    done = apply("traits: {CUSTOM_GOLD: {hosts: [cmp01], absent: {hosts: [cmp00]}}}")
    assert (done.code, cloud.having(GOLD)) == (0, {"cmp01"}), done.err
    # Placement rejects the host that was to get it: it stays where it was.
    cloud.rivals[HOSTS["cmp02"]] = lambda: cloud.deletes_provider("cmp02")
    done = apply("traits: {CUSTOM_GOLD: {hosts: [cmp02], absent: {hosts: [cmp01]}}}")
    assert (done.code, cloud.having(GOLD)) == (1, {"cmp01"})


def test_only_takes_nothing_from_hosts_that_nova_does_not_list_for_now(
    apply, cloud, monkeypatch
):
    unlisted(cloud, monkeypatch, "cmp02", "cmp03")
    cloud.gives(GOLD, "cmp00", "cmp01", "cmp03")
    cloud.joins("cmp02")
    cloud.joins("cmp03")
    text = """
        groups: {all: ["cmp0*"]}
        traits: {CUSTOM_GOLD: {hosts: ["@all"], only: true}}
        aggregates: {gold: {hosts: ["@all"], only: true}}
    """
    assert (apply(text).json, cloud.written) == ([], [])
    cloud.joins("gone")
    text = """
        hold: ["cmp0[123]"]
        aggregates: {gold: {hosts: [cmp00], only: true}}
    """
    assert [row["key"] for row in apply(text).json] == ["gone"]


def test_a_host_that_nova_does_not_list_hides_no_other_of_its_name(
    apply, cloud, monkeypatch
):
    unlisted(cloud, monkeypatch, "cmp03")
    cloud.aggregates["1"]["hosts"] = ["cmp03"]
    done = apply("aggregates: {gold: {hosts: ['cmp0[23]']}}")
    assert [row["key"] for row in done.json] == ["cmp02"], done.err


def test_a_name_of_two_projects_is_not_taken_for_one_that_is_gone(
    apply, cloud, monkeypatch
):
    cloud.metadata["filter_tenant_id"] = "1" * 32
    keystone(cloud, monkeypatch, "1" * 32, "2" * 32)
    done = apply("aggregates: {gold: {absent: {projects: [demo]}}}")
    assert (done.code, done.out, cloud.written) == (1, "", [])
    assert done.err.startswith("w.yaml:2: ")
    assert "demo" in done.err


def test_hosts_that_come_later_are_waited_for(apply, cloud, monkeypatch, golden):
    traits = cloud.traits.pop("cmp03")
    naps = []

    def sleep(seconds):
        # What the rest of the plan does to flavors is not asked yet.
        assert ("allocation_candidates",) not in cloud.asked
        naps.append(seconds)
        cloud.traits["cmp03"] = traits

    monkeypatch.setattr(desired.time, "sleep", sleep)
    text = """
        traits: {CUSTOM_SILVER: {hosts: [cmp03]}}
        aggregates: {gold: {isolated_for: [CUSTOM_GOLD]}}
    """
    done = apply(text, "--wait", "60")
    assert (done.code, naps) == (0, [5.0])
    golden("apply/waits", done.err)
    assert cloud.having(SILVER) == {"cmp03"}
    # A name that is no host's is waited for as well; one of a flavor is not.
    done = apply("flavors: {none: {requires: [CUSTOM_GOLD]}}", "--wait", "60")
    assert (done.code, len(naps)) == (1, 1)


@pytest.mark.parametrize("verb", ["plan", "apply"])
def test_a_host_that_never_comes_is_named_before_it_is_waited_for(
    trait_sched, monkeypatch, verb, golden
):
    said, sleep = [], desired.time.sleep

    def recorded(seconds):
        said.append(sys.stderr.getvalue())
        sleep(seconds / 3)

    monkeypatch.setattr(desired.time, "sleep", recorded)
    text = "traits: {CUSTOM_GOLD: {hosts: [cmp0e]}}"
    done = trait_sched(verb, "w.yaml", "--wait", "1", w=text)
    # At once, and once; what is printed at the end is the error.
    assert (done.code, len(said) > 1) == (1, True)
    assert {*said} == {done.err.splitlines(keepends=True)[0]}
    golden("apply/waits-in-vain", done.err)


def test_others_that_change_it_meanwhile_are_not_overwritten_and_are_told(
    apply, cloud, golden
):
    cloud.rivals[HOSTS["cmp01"]] = lambda: cloud.gives(SILVER, "cmp01")
    done = apply("traits: {CUSTOM_GOLD: {hosts: [cmp01]}}")
    assert done.code == 0
    assert cloud.traits["cmp01"] >= {GOLD, SILVER}

    def rival():
        cloud.takes(GOLD, "cmp01")
        cloud.asked.clear()

    cloud.rivals["golden-id"] = rival
    done = apply(
        """
        traits: {CUSTOM_GOLD: {hosts: [cmp00, cmp01]}}
        flavors: {golden: {requires: [CUSTOM_GOLD]}}
        """
    )
    assert done.code == 1
    # It is compared, and what flavors would find is not asked once more.
    assert ("os-aggregates",) in cloud.asked
    assert ("allocation_candidates",) not in cloud.asked
    golden("apply/changed-by-others", done.err)


def test_what_another_run_is_just_writing_is_no_difference(apply, cloud, monkeypatch):
    waited = []

    def sleep(seconds):
        waited.append(seconds)
        cloud.gives(GOLD, "cmp01")

    cloud.rivals["golden-id"] = lambda: cloud.takes(GOLD, "cmp01")
    monkeypatch.setattr(write_args.time, "sleep", sleep)
    done = apply(
        """
        traits: {CUSTOM_GOLD: {hosts: [cmp00, cmp01]}}
        flavors: {golden: {requires: [CUSTOM_GOLD]}}
        """
    )
    assert (done.code, len(waited), "by now" in done.err) == (0, 1, False), done.err


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("golld", "new; did you mean gold?"),
        ("GOLD", "new; did you mean gold?"),
        ("gold2", ""),
        ("silver", ""),
    ],
)
def test_a_new_aggregate_may_be_meant_as_another_one(apply, cloud, name, detail):
    done = apply(f"aggregates: {{{name}: {{hosts: [cmp00]}}}}")
    assert [r["detail"] for r in done.json if r["key"] == "name"] == [detail]


@pytest.mark.parametrize("name", ["silv*d?", "gpu[a100]"])
def test_an_aggregate_that_is_called_as_a_pattern_is_found(apply, cloud, name):
    text = f"aggregates: {{'{name}': {{zone: az1, hosts: [cmp03]}}}}"
    second(cloud, called=name)
    assert apply(text).code == 0
    assert cloud.aggregates["2"]["hosts"] == ["cmp03"]
    assert cloud.aggregates["2"]["metadata"] == {"availability_zone": "az1"}
    assert apply(text).json == []


def test_what_can_not_be_read_again_loses_no_row(apply, cloud, golden):
    cloud.rivals[HOSTS["cmp00"]] = lambda: cloud.flavors.pop("golden-id")
    done = apply(
        """
        traits: {CUSTOM_GOLD: {hosts: [cmp00]}}
        flavors: {golden: {absent: {requires: [CUSTOM_GOLD]}}}
        """
    )
    assert (done.code, list(statuses(done).values())) == (1, ["changed"])
    golden("apply/not-read-again", done.err)


def test_a_keystone_that_dies_while_it_is_written_costs_no_row(
    apply, cloud, monkeypatch
):
    def address(command):
        assert not cloud.written, "asked once all is written"
        return "http://here"

    monkeypatch.setattr(base.Command, "endpoint", property(address))
    done = apply("traits: {CUSTOM_GOLD: {hosts: [cmp00]}}")
    assert (done.code, [row["status"] for row in done.json]) == (0, ["changed"])
    assert {row["cloud"] for row in done.json} == {"http://here"}


def test_two_files_of_two_teams_are_one_state(trait_sched, cloud):
    done = trait_sched(
        "apply",
        "one.yaml",
        "two.yaml",
        one="traits: {CUSTOM_GOLD: {hosts: [cmp00]}}",
        two="traits: {CUSTOM_GOLD: {hosts: [cmp01], only: true}}",
    )
    assert done.code == 0, done.err
    assert cloud.having(GOLD) == {"cmp00", "cmp01"}


# Rows that are known to fail: what they keep from being written, and what not.


def test_what_is_known_not_to_be_gained_keeps_no_aggregate_open(apply, cloud):
    cloud.gives(SILVER, "cmp00")
    cloud.deletes_provider("cmp03")
    done = apply("""
        traits: {CUSTOM_SILVER: {hosts: [cmp03]}}
        aggregates: {gold: {isolated_for: [CUSTOM_GOLD]}}
        flavors: {golden: {requires: [CUSTOM_GOLD]}}
    """)
    off = {row: became for row, became in statuses(done).items() if became != "changed"}
    assert off == {("host", "cmp03", SILVER): "failed"}
    assert cloud.metadata == {f"trait:{GOLD}": "required"}


def test_no_flavor_comes_to_require_what_no_host_can_gain(apply, cloud):
    cloud.deletes_provider("cmp03")
    text = """
        traits: {CUSTOM_GOLD: {hosts: [cmp03]}, CUSTOM_SILVER: {hosts: [cmp02]}}
        flavors: {small: {requires: [CUSTOM_GOLD]}}
    """
    assert statuses(apply(text, "--force")) == {
        ("host", "cmp03", GOLD): "failed",
        ("host", "cmp02", SILVER): "changed",
        ("flavor", "small", f"trait:{GOLD}"): "not done",
    }


# Hosts that change their aggregate or zone: out, in, and never open between.


def test_no_host_on_hold_gets_into_another_zone(apply, cloud, golden):
    text = "hold: [cmp01]\naggregates: {gold: {zone: az1}}"
    done = apply(text, "-f", "text")
    assert (done.code, cloud.written) == (1, [])
    golden("apply/zone-of-a-host-on-hold", done.out + done.err)
    assert apply("aggregates: {gold: {zone: az1}}").code == 0


def test_lines_that_put_a_host_into_two_zones_fail_for_that_host(apply, cloud, golden):
    cloud.metadata["availability_zone"] = "az1"
    second(cloud, availability_zone="az2")
    text = """
        aggregates:
          gold:
            hosts: [cmp00, cmp02]
          other:
            zone: az1
            hosts: [cmp02]
          rack:
            hosts: ["cmp0[23]"]
    """
    done = apply(text, "-f", "text")
    assert done.code == 1
    assert cloud.aggregates["2"]["hosts"] == ["cmp03"]
    golden("apply/host-in-two-zones", done.out + done.err)


def test_a_host_with_servers_moves_within_its_zone(apply, cloud, monkeypatch):
    cloud.metadata["availability_zone"] = "az1"
    monkeypatch.setattr(servers, "counted", lambda cloud, hosts: {"cmp01": 3})
    done = apply(
        """
        aggregates:
          gold: {absent: {hosts: [cmp01]}}
          other: {zone: az1, hosts: [cmp01]}
        """
    )
    assert done.code == 0, done.json
    assert [(r["change"], r["object"], r["key"]) for r in done.json][2:] == [
        ("add", "other", "cmp01"),
        ("remove", "gold", "cmp01"),
    ]


# Hosts and aggregates that change their zone, in a cloud that keeps Nova's rules.


@pytest.fixture
def zones_desired_cloud(monkeypatch):
    found = ZonedCloud()
    monkeypatch.setattr(base.Command, "cloud", lambda command: found)
    return found


def test_what_follows_a_zone_that_is_refused_is_foreseen(
    apply, plan, zones_desired_cloud, golden
):
    zones_desired_cloud.metadata["availability_zone"] = "az1"
    second(zones_desired_cloud, availability_zone="az2")
    zones_desired_cloud.busy = {"cmp00"}
    text = """
        aggregates:
          gold: {zone: az2, absent: {hosts: [cmp01]}}
          rack: {hosts: [cmp01]}
    """
    done = apply(text)
    assert zones_desired_cloud.written == []
    assert statuses(done) == {
        ("aggregate", "gold", "availability_zone"): "failed",
        ("member", "rack", "cmp01"): "failed",
        ("member", "gold", "cmp01"): "not done",
    }
    assert plan().json == done.json
    shown = apply(text, "-f", "text")
    golden("apply/zone-with-servers", shown.out + shown.err)


def test_two_aggregates_of_one_host_change_their_zone_neither_before_the_other(
    apply, zones_desired_cloud, golden
):
    zones_desired_cloud.metadata["availability_zone"] = "az1"
    second(zones_desired_cloud, "cmp01", availability_zone="az1")
    text = "aggregates: {gold: {zone: az2}, rack: {zone: az2}}"
    done = apply(text, "-f", "text")
    assert (done.code, zones_desired_cloud.written) == (1, [])
    golden("apply/two-aggregates-change-zone", done.out + done.err)
