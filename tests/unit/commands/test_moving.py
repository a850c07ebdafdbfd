"""Hosts that change their aggregate or zone: out, in, and never open between."""

from __future__ import annotations

import pytest

from osc_traitsched.app.wanted import planning
from osc_traitsched.core.errors import CloudBroke
from tests.unit.app.living import HOSTS
from tests.unit.commands.wanted import GOLD, SILVER, broken_for, second, statuses


def test_no_host_on_hold_gets_into_another_zone(apply, cloud):
    done = apply("hold: [cmp01]\naggregates: {gold: {zone: az1}}")
    assert (done.code, cloud.written) == (1, [])
    said = "cmp01 on hold would get from the default zone to zone 'az1'"
    assert done.json[0]["detail"] == said
    assert apply("aggregates: {gold: {zone: az1}}").code == 0


def test_no_host_leaves_for_one_that_can_not_join(apply, cloud):
    def broken():
        raise CloudBroke("compute", "no", 403)

    cloud.gives(SILVER, "cmp00", "cmp03")
    cloud.rivals["action"] = broken
    swap = """
        traits: {CUSTOM_SILVER: {absent: {hosts: [cmp00, cmp03]}}}
        aggregates: {gold: {hosts: [cmp02], absent: {hosts: [cmp00]}}}
    """
    assert {k: v for k, v in statuses(apply(swap)).items() if k[0] == "member"} == {
        ("member", "gold", "cmp02"): "failed",
        ("member", "gold", "cmp00"): "not done",
    }
    assert cloud.having(SILVER) == {"cmp00", "cmp03"}
    assert apply(swap).code == 0
    assert cloud.having(SILVER) == set()


def test_a_host_moves_from_zone_to_zone_out_first(apply, cloud):
    cloud.aggregates["1"]["metadata"] = {"availability_zone": "az1"}
    text = """
        aggregates:
          gold: {absent: {hosts: [cmp01]}}
          other: {zone: az2, hosts: [cmp01]}
    """
    done = apply(text)
    assert done.code == 0, done.err
    assert [(r["change"], r["object"], r["key"]) for r in done.json][2:] == [
        ("remove", "gold", "cmp01"),
        ("add", "other", "cmp01"),
    ]
    done = apply("aggregates: {gold: {hosts: [cmp01]}}")
    assert (done.code, done.json[0]["detail"]) == (
        1,
        "cmp01 would be in two zones: aggregate 'other' of zone 'az2'",
    )


def test_lines_that_put_a_host_into_two_zones_fail_for_that_host(apply, cloud):
    cloud.metadata["availability_zone"] = "az1"
    second(cloud, availability_zone="az2")
    done = apply("""
        aggregates:
          gold:
            hosts: [cmp00, cmp02]
          other:
            zone: az1
            hosts: [cmp02]
          rack:
            hosts: ["cmp0[23]"]
    """)
    assert (done.code, statuses(done)["member", "rack", "cmp03"]) == (1, "changed")
    failed = [row for row in done.json if row["status"] == "failed"]
    assert [(row["key"], row["detail"]) for row in failed] == [
        (
            "cmp02",
            "cmp02 would be in two zones: aggregate 'gold' of zone 'az1', 'other' of "
            "zone 'az1'",
        )
    ]


def test_an_undo_file_brings_back_all_but_what_would_be_in_two_zones(
    apply, trait_sched, cloud
):
    cloud.flavors.clear()
    second(cloud, "cmp01", availability_zone="az2")
    text = """
        traits:
          CUSTOM_SILVER: {hosts: [cmp03]}
        aggregates:
          gold: {zone: az3, absent: {hosts: [cmp01]}}
          rack: {absent: {hosts: [cmp01]}}
    """
    apply(text, "--undo", "undo.yaml")
    assert apply(text).code == 0
    assert cloud.metadata["availability_zone"] == "az3"
    # Both put cmp01 back, and no zone is given: gold stays in az3.
    undone = trait_sched("apply", "undo.yaml", "-f", "json")
    assert (undone.code, statuses(undone)) == (
        1,
        {
            ("host", "cmp03", SILVER): "changed",
            ("member", "gold", "cmp01"): "changed",
            ("member", "rack", "cmp01"): "failed",
        },
    )


def test_a_host_with_servers_moves_within_its_zone(apply, cloud, monkeypatch):
    cloud.metadata["availability_zone"] = "az1"
    monkeypatch.setattr(planning.servers, "counted", lambda cloud, hosts: {"cmp01": 3})
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


def test_a_host_that_can_not_join_another_zone_stays_in_its_own(apply, cloud):
    cloud.metadata["availability_zone"] = "az1"
    second(cloud, "cmp01", availability_zone="az1")
    done = apply(
        """
        aggregates:
          gold: {absent: {hosts: [cmp01]}}
          other: {zone: az2, hosts: [cmp01]}
        """
    )
    assert done.code == 1
    found = [(r["change"], r["status"], r["detail"]) for r in done.json][2:]
    why = "cmp01 would be in two zones: aggregate 'rack' of zone 'az1'"
    assert found == [("remove", "failed", why), ("add", "failed", why)]
    assert cloud.aggregates["1"]["hosts"] == ["cmp00", "cmp01"]


@pytest.mark.parametrize("zone", [{}, {"availability_zone": "az2"}])
def test_a_host_leaves_only_once_it_may_join_what_is_isolated(apply, cloud, zone):
    cloud.metadata["availability_zone"] = "az1"
    second(cloud, CUSTOM_SILVER="required", **zone)
    broken_for(cloud, HOSTS["cmp01"])
    move = """
        aggregates:
          gold: {absent: {hosts: [cmp01]}}
          rack: {hosts: [cmp01], isolated_for: [CUSTOM_SILVER]}
    """
    assert statuses(apply(move)) == {
        ("host", "cmp01", SILVER): "failed",
        ("member", "rack", "cmp01"): "not done",
        ("member", "gold", "cmp01"): "not done",
    }
    assert cloud.aggregates["1"]["hosts"] == ["cmp00", "cmp01"]
    assert apply(move).code == 0
    assert [cloud.aggregates[n]["hosts"] for n in "12"] == [["cmp00"], ["cmp01"]]


SHELTERED = """
    aggregates:
      gold: {absent: {hosts: [cmp01]}}
      new: {%shosts: [cmp01], isolated_for: [CUSTOM_SILVER]}
    flavors: {golden: {requires: [CUSTOM_SILVER]}}
"""


def test_a_host_leaves_a_closed_aggregate_only_for_one_that_is_closed(apply, cloud):
    cloud.metadata[f"trait:{GOLD}"] = "required"
    cloud.gives(SILVER, "cmp02")
    broken_for(cloud, "golden-id")
    failed = apply(SHELTERED % "")
    assert statuses(failed)["member", "gold", "cmp01"] == "not done"
    assert cloud.aggregates["1"]["hosts"] == ["cmp00", "cmp01"]
    assert cloud.aggregates["2"]["hosts"] == ["cmp01"]
    done = apply(SHELTERED % "")
    assert (done.code, list(statuses(done))[-2:]) == (
        0,
        [("aggregate", "new", f"trait:{SILVER}"), ("member", "gold", "cmp01")],
    )


def test_a_host_moves_from_a_closed_zone_only_to_one_that_is_closed(apply, cloud):
    cloud.metadata.update({f"trait:{GOLD}": "required", "availability_zone": "az1"})
    move = SHELTERED % "zone: az2, "
    broken_for(cloud, "action")
    failed = statuses(apply(move))
    assert failed["aggregate", "new", f"trait:{SILVER}"] == "failed"
    assert failed["member", "gold", "cmp01"] == "not done"
    assert cloud.aggregates["1"]["hosts"] == ["cmp00", "cmp01"]
    done = apply(move)
    assert done.code == 0, done.err
    assert list(statuses(done)) == [
        ("aggregate", "new", f"trait:{SILVER}"),
        ("member", "gold", "cmp01"),
        ("member", "new", "cmp01"),
        ("flavor", "golden", f"trait:{SILVER}"),
    ]


def test_hosts_are_closed_by_another_aggregate_before_theirs_is_opened(apply, cloud):
    cloud.metadata[f"trait:{GOLD}"] = "required"
    move = """
        aggregates:
          gold: {absent: {isolated_for: [CUSTOM_GOLD]}}
          new: {hosts: [cmp00, cmp01], isolated_for: [CUSTOM_SILVER]}
        flavors: {golden: {requires: [CUSTOM_SILVER]}}
    """
    cloud.gives(SILVER, "cmp02")
    broken_for(cloud, "golden-id")
    assert apply(move).code == 1
    assert cloud.metadata == {f"trait:{GOLD}": "required"}
    done = apply(move)
    assert (done.code, list(statuses(done))[-2:]) == (
        0,
        [
            ("aggregate", "new", f"trait:{SILVER}"),
            ("aggregate", "gold", f"trait:{GOLD}"),
        ],
    )


def test_a_host_that_has_left_arrives_though_another_can_not_leave(apply, cloud):
    cloud.metadata["availability_zone"] = "az1"
    second(cloud, availability_zone="az2")
    move = """
        aggregates:
          gold: {absent: {hosts: [cmp00, cmp01]}}
          rack: {hosts: [cmp00, cmp01]}
    """
    broken_for(cloud, "action")
    assert statuses(apply(move, "--force")) == {
        ("member", "gold", "cmp00"): "failed",
        ("member", "gold", "cmp01"): "changed",
        ("member", "rack", "cmp00"): "not done",
        ("member", "rack", "cmp01"): "changed",
    }
    assert [cloud.aggregates[n]["hosts"] for n in "12"] == [["cmp00"], ["cmp01"]]


def test_an_aggregate_stays_closed_while_its_hosts_can_not_join_a_closed_one(
    apply, cloud
):
    cloud.metadata[f"trait:{GOLD}"] = "required"
    second(cloud, CUSTOM_GOLD="required")
    cloud.gives(GOLD, "cmp00", "cmp01")
    broken_for(cloud, "action")
    failed = apply(
        """
        aggregates:
          gold: {absent: {isolated_for: [CUSTOM_GOLD]}}
          rack: {hosts: [cmp00]}
        """
    )
    assert statuses(failed) == {
        ("member", "rack", "cmp00"): "failed",
        ("aggregate", "gold", f"trait:{GOLD}"): "not done",
    }
    assert cloud.metadata == {f"trait:{GOLD}": "required"}
