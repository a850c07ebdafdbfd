"""Hosts and aggregates that change their zone, in a cloud that keeps Nova's rules."""

from __future__ import annotations

import pytest

from osc_traitsched.commands import base
from tests.unit.app.zoned import ZonedCloud
from tests.unit.commands.wanted import second, stranded


@pytest.fixture
def cloud(monkeypatch):
    found = ZonedCloud()
    monkeypatch.setattr(base.Command, "cloud", lambda command: found)
    return found


def members(found):
    return {
        (row["change"], row["object"], row["key"]): (row["status"], row["detail"])
        for row in found.json
    }


def test_what_follows_a_zone_that_is_refused_is_foreseen(apply, plan, cloud):
    cloud.metadata["availability_zone"] = "az1"
    second(cloud, availability_zone="az2")
    cloud.busy = {"cmp00"}
    text = """
        aggregates:
          gold: {zone: az2, absent: {hosts: [cmp01]}}
          rack: {hosts: [cmp01]}
    """
    servers = (
        "cmp00 has 1 server, and Nova rejects the change from zone 'az1' to zone "
        "'az2'; move all servers to other hosts first"
    )
    done = apply(text)
    assert cloud.written == []
    assert members(done) == {
        ("set", "gold", "availability_zone"): ("failed", servers),
        ("add", "rack", "cmp01"): (
            "failed",
            "cmp01 would be in two zones: aggregate 'gold' of zone 'az1'",
        ),
        ("remove", "gold", "cmp01"): (
            "not done",
            "an earlier row of the same aggregate or trait fails",
        ),
    }
    assert done.err.endswith(f"; the same command again would fail: {servers}\n")
    assert members(plan()) == members(done)


def test_two_aggregates_of_one_host_change_their_zone_neither_before_the_other(
    apply,
    cloud,
):
    cloud.metadata["availability_zone"] = "az1"
    second(cloud, "cmp01", availability_zone="az1")
    done = apply("aggregates: {gold: {zone: az2}, rack: {zone: az2}}")
    said = "cmp01 would be in two zones: aggregate '{}' of zone 'az1'"
    assert members(done) == {
        ("set", "gold", "availability_zone"): ("failed", said.format("rack")),
        ("set", "rack", "availability_zone"): ("failed", said.format("gold")),
    }
    assert cloud.written == []


def test_zones_that_change_their_places_lose_what_they_had(apply, cloud):
    cloud.flavors = {}
    cloud.flavor("f", CUSTOM_SILVER="required")
    cloud.gives("CUSTOM_SILVER", "cmp02")
    cloud.metadata["availability_zone"] = "az1"
    second(cloud, "cmp02", availability_zone="az2")
    done = apply("aggregates: {gold: {zone: az2}, rack: {zone: az1}}")
    assert (done.code, cloud.written) == (5, [])
    assert stranded(done) == "flavor 'f' in zone 'az2'"
