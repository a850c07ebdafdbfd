"""Hosts and aggregates that change their zone, in a cloud that keeps Nova's rules."""

from __future__ import annotations

import pytest

from osc_traitsched.commands import base
from tests.unit.app.zoned import ZonedCloud
from tests.unit.commands.desired import second, statuses


@pytest.fixture
def cloud(monkeypatch):
    found = ZonedCloud()
    monkeypatch.setattr(base.Command, "cloud", lambda command: found)
    return found


def test_what_follows_a_zone_that_is_refused_is_foreseen(apply, plan, cloud, golden):
    cloud.metadata["availability_zone"] = "az1"
    second(cloud, availability_zone="az2")
    cloud.busy = {"cmp00"}
    text = """
        aggregates:
          gold: {zone: az2, absent: {hosts: [cmp01]}}
          rack: {hosts: [cmp01]}
    """
    done = apply(text)
    assert cloud.written == []
    assert statuses(done) == {
        ("aggregate", "gold", "availability_zone"): "failed",
        ("member", "rack", "cmp01"): "failed",
        ("member", "gold", "cmp01"): "not done",
    }
    assert plan().json == done.json
    shown = apply(text, "-f", "text")
    golden("apply/zone-with-servers", shown.out + shown.err)


def test_two_aggregates_of_one_host_change_their_zone_neither_before_the_other(
    apply, cloud, golden
):
    cloud.metadata["availability_zone"] = "az1"
    second(cloud, "cmp01", availability_zone="az1")
    text = "aggregates: {gold: {zone: az2}, rack: {zone: az2}}"
    done = apply(text, "-f", "text")
    assert (done.code, cloud.written) == (1, [])
    golden("apply/two-aggregates-change-zone", done.out + done.err)
