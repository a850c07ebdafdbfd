"""Hosts and aggregates that change their zone, in a cloud that keeps Nova's rules."""

from __future__ import annotations

import pytest

from osc_traitsched.commands import base
from tests.unit.app.living import HOSTS
from tests.unit.app.zoned import ZonedCloud
from tests.unit.commands.wanted import broken_for, second, statuses


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
        "cmp00 has 1 server, which can't get from zone 'az1' to zone 'az2'; move them "
        "to other hosts first"
    )
    done = apply(text)
    assert cloud.written == []
    assert members(done) == {
        ("set", "gold", "availability_zone"): ("failed", servers),
        ("add", "rack", "cmp01"): (
            "failed",
            "cmp01 would be in two zones: aggregate 'gold' of zone 'az1'",
        ),
        ("remove", "gold", "cmp01"): ("not done", "waits for member 'rack' cmp01"),
    }
    assert done.err.endswith(f"; the same command again would end with: {servers}\n")
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


@pytest.mark.parametrize("busy", [False, True])
def test_a_zone_that_only_leaving_hosts_stand_against_is_set_by_the_next_run(
    apply,
    cloud,
    busy,
):
    second(cloud, "cmp00", **({} if busy else {"availability_zone": "az2"}))
    cloud.busy = {"cmp00"} if busy else set()
    text = "aggregates: {gold: {zone: az1, absent: {hosts: [cmp00]}}}"
    done = apply(text)
    why = "cmp00 would be in two zones: aggregate 'rack' of zone 'az2'"
    if busy:
        why = (
            "cmp00 has 1 server, which can't get from the default zone to zone 'az1'; "
            "move them to other hosts first"
        )
    again = "it leaves 'gold' only later: the same command again goes on then"
    assert members(done) == {
        ("add", "gold", "availability_zone"): ("failed", f"{why}; {again}"),
        ("remove", "gold", "cmp00"): ("changed", ""),
    }
    assert done.err == "1 of 2 failed; the same command again goes on\n"
    assert apply(text).code == 0
    assert cloud.metadata == {"availability_zone": "az1"}


def test_hosts_that_wait_for_the_zone_that_they_stand_against_do_not_go_on(
    apply, cloud
):
    cloud.metadata["trait:CUSTOM_GOLD"] = "required"
    cloud.gives("CUSTOM_GOLD", *HOSTS)
    cloud.gives("CUSTOM_SILVER", *HOSTS)
    cloud.busy = {"cmp00"}
    done = apply(
        """
        aggregates:
          gold: {zone: az1, isolated_for: [CUSTOM_SILVER], absent: {hosts: [cmp00]}}
        """
    )
    why = (
        "cmp00 has 1 server, which can't get from the default zone to zone 'az1'; move "
        "them to other hosts first"
    )
    waits = "waits for aggregate 'gold' availability_zone"
    assert members(done) == {
        ("add", "gold", "availability_zone"): ("failed", why),
        ("add", "gold", "trait:CUSTOM_SILVER"): ("not done", waits),
        ("remove", "gold", "cmp00"): ("not done", waits),
    }
    assert done.err.endswith(f"; the same command again would end with: {why}\n")


def test_a_zone_that_staying_hosts_stand_against_names_them_alone(apply, cloud):
    second(cloud, "cmp00", "cmp01", availability_zone="az2")
    cloud.joins("cmp03")
    done = apply("aggregates: {gold: {zone: az1, absent: {hosts: [cmp00]}}}")
    why = "cmp01 would be in two zones: aggregate 'rack' of zone 'az2'"
    assert members(done)["add", "gold", "availability_zone"] == ("failed", why)
    assert f"the same command again would end with: {why}" in done.err


def test_a_trait_stays_if_it_is_known_to_go_on_isolating_an_aggregate(apply, cloud):
    cloud.metadata["trait:CUSTOM_GOLD"] = "required"
    second(cloud, CUSTOM_SILVER="required", availability_zone="az1")
    cloud.gives("CUSTOM_GOLD", *HOSTS)
    cloud.gives("CUSTOM_SILVER", *HOSTS)
    cloud.busy = {"cmp00"}
    done = apply(
        """
        traits: {CUSTOM_GOLD: {absent: {hosts: [cmp02]}}}
        aggregates:
          gold: {absent: {isolated_for: [CUSTOM_GOLD]}}
          rack: {hosts: [cmp00]}
        """
    )
    assert statuses(done) == {
        ("member", "rack", "cmp00"): "failed",
        ("aggregate", "gold", "trait:CUSTOM_GOLD"): "not done",
        ("host", "cmp02", "CUSTOM_GOLD"): "not done",
    }
    assert cloud.written == []


@pytest.mark.parametrize(
    ("others", "where"), [("", "the default zone"), ("new", "zone 'az2'")]
)
def test_a_host_that_could_not_join_all_is_said_to_be_where_it_is(
    apply, cloud, others, where
):
    cloud.metadata["availability_zone"] = "az1"
    second(cloud, availability_zone="az2")
    broken_for(cloud, "2")
    new = "new: {zone: az2, hosts: [cmp01]}" if others else ""
    done = apply(
        f"""
        aggregates:
          gold: {{absent: {{hosts: [cmp01]}}}}
          plain: {{hosts: [cmp01]}}
          rack: {{hosts: [cmp01]}}
          {new}
        """
    )
    found = members(done)
    assert found["add", "plain", "cmp01"] == ("changed", "")
    status, detail = found["add", "rack", "cmp01"]
    said = f"the host has left 'gold', and is in {where}"
    assert (status, detail.endswith(f"; {said}")) == ("failed", True)


def test_zones_that_change_their_places_lose_what_they_had(apply, cloud):
    cloud.flavors = {}
    cloud.flavor("f", CUSTOM_SILVER="required")
    cloud.gives("CUSTOM_SILVER", "cmp02")
    cloud.metadata["availability_zone"] = "az1"
    second(cloud, "cmp02", availability_zone="az2")
    done = apply("aggregates: {gold: {zone: az2}, rack: {zone: az1}}")
    assert (done.code, cloud.written) == (5, [])
    assert "no host would be left for flavor 'f' in zone 'az2'" in done.err


SWAP = "aggregates: {gold: {zone: az2}, rack: {zone: az1}}"


def one_flavor(cloud, **of_rack):
    """Let there be one flavor, for any host, and two aggregates."""
    cloud.flavors = {}
    cloud.flavor("f")
    cloud.metadata["availability_zone"] = "az1"
    second(cloud, "cmp02", **of_rack)


@pytest.mark.parametrize(
    ("of_rack", "lost"),
    [
        ({"availability_zone": "az2"}, "zone 'az1'; flavor 'f' in zone 'az2'"),
        ({}, "zone 'az1'"),
    ],
)
def test_a_zone_that_may_have_no_aggregate_between_two_writes_takes_force(
    apply, plan, cloud, of_rack, lost
):
    one_flavor(cloud, **of_rack)
    done = apply(SWAP)
    assert (done.code, cloud.written) == (5, [])
    said = f"for a moment no host would be left for flavor 'f' in {lost}; --force"
    assert said in done.err
    assert apply(SWAP, "--force").code == 0
    again = plan()
    assert (again.code, again.json, again.err) == (0, [], "")


@pytest.mark.parametrize(("hosts", "code"), [(["cmp03"], 0), ([], 5)])
def test_a_zone_is_never_without_an_aggregate_that_has_room_if_one_keeps_it(
    apply, cloud, hosts, code
):
    one_flavor(cloud)
    cloud.aggregates["3"] = {
        "id": 3,
        "uuid": "a0000003-0000-4000-8000-000000000000",
        "name": "third",
        "hosts": hosts,
        "metadata": {"availability_zone": "az1"},
    }
    cloud.mirror[cloud.aggregates["3"]["uuid"]] = {*hosts}
    done = apply(SWAP)
    assert (done.code, "for a moment no host" in done.err) == (code, bool(code))
