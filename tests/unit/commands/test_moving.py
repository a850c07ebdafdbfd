"""Hosts that change their aggregate or zone: out, in, and never open between."""

from __future__ import annotations

from osc_traitsched.cloud import servers
from tests.unit.commands.desired import second


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
