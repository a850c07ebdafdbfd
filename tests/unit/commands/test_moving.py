"""Hosts that change their aggregate or zone: out, in, and never open between."""

from __future__ import annotations

from osc_traitsched.app.wanted import planning
from tests.unit.commands.wanted import SILVER, second, statuses


def test_no_host_on_hold_gets_into_another_zone(apply, cloud, golden):
    text = "hold: [cmp01]\naggregates: {gold: {zone: az1}}"
    done = apply(text, "-f", "text")
    assert (done.code, cloud.written) == (1, [])
    golden("apply/zone-of-a-host-on-hold", done.out + done.err)
    assert apply("aggregates: {gold: {zone: az1}}").code == 0


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
    assert (done.code, [*statuses(done).values()]) == (1, ["failed"])


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
    # Nova can't unset the first zone of gold: cmp01 comes back to rack alone.
    undone = trait_sched("apply", "undo.yaml", "-f", "json")
    assert (undone.code, statuses(undone)) == (
        0,
        {
            ("host", "cmp03", SILVER): "changed",
            ("member", "rack", "cmp01"): "changed",
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
    rows = [(r["change"], r["status"]) for r in done.json][2:]
    assert rows == [("remove", "failed"), ("add", "failed")]
    assert cloud.aggregates["1"]["hosts"] == ["cmp00", "cmp01"]
