"""A write fails: flavors keep their hosts then, and hosts what keeps others out."""

from __future__ import annotations

import pytest

from osc_traitsched.app.wanted import planning
from tests.unit.commands.wanted import (
    GOLD,
    SILVER,
    broken_for,
    second,
    statuses,
    ungained,
)


@pytest.fixture
def required(cloud):
    """Has one flavor, which requires GOLD; cmp00 alone has it, in az1."""
    cloud.flavors = {}
    cloud.flavor("g", **{GOLD: "required"})
    cloud.gives(GOLD, "cmp00")
    cloud.metadata["availability_zone"] = "az1"
    return cloud


def test_a_host_keeps_its_traits_where_it_could_not_leave(
    required, apply, cloud, monkeypatch
):
    monkeypatch.setattr(planning.servers, "counted", lambda cloud, hosts: {"cmp01": 3})
    cloud.metadata[f"trait:{GOLD}"] = "required"
    cloud.gives(GOLD, "cmp01")
    second(cloud, availability_zone="az2")
    done = apply("""
        traits: {CUSTOM_GOLD: {absent: {hosts: [cmp01]}}}
        aggregates: {gold: {absent: {hosts: [cmp01]}}, rack: {hosts: [cmp01]}}
    """)
    assert statuses(done) == {
        ("member", "gold", "cmp01"): "failed",
        ("member", "rack", "cmp01"): "not done",
        ("host", "cmp01", GOLD): "not done",
    }


def test_what_is_not_begun_says_what_it_waits_for_in_the_end(required, apply, cloud):
    second(cloud, availability_zone="az2")
    ungained(cloud, "cmp01")
    done = apply("""
        traits: {CUSTOM_GOLD: {hosts: [cmp01]}}
        aggregates: {gold: {absent: {hosts: [cmp00]}}, rack: {hosts: [cmp00]}}
    """)
    told = {
        (row["step"], row["object"]): row["detail"]
        for row in done.json
        if row["status"] == "not done"
    }
    waits = f"waits for host 'cmp01' {GOLD}"
    assert told == {("member", "gold"): waits, ("member", "rack"): waits}


def test_a_trait_stays_where_a_flavor_could_not_come_to_forbid_it(apply, cloud):
    cloud.flavors = {}
    cloud.flavor("g", **{SILVER: "required"})
    cloud.gives(SILVER, "cmp00", "cmp02")
    broken_for(cloud, "os-extra_specs")
    done = apply("""
        traits: {CUSTOM_SILVER: {absent: {hosts: [cmp02]}}}
        flavors: {g: {forbids: [CUSTOM_SILVER]}}
    """)
    assert statuses(done) == {
        ("flavor", "g", f"trait:{SILVER}"): "failed",
        ("host", "cmp02", SILVER): "not done",
    }


@pytest.mark.parametrize(
    ("gains", "text", "row"),
    [
        (
            "cmp02",
            "flavors: {g: {requires: [CUSTOM_SILVER]}}",
            ("flavor", "g", f"trait:{SILVER}"),
        ),
        (
            "cmp01",
            "aggregates: {gold: {absent: {hosts: [cmp00]}}}",
            ("member", "gold", "cmp00"),
        ),
        (
            "cmp01",
            "aggregates: {gold: {absent: {hosts: [cmp00]}}, rack: {hosts: [cmp00]}}",
            ("member", "gold", "cmp00"),
        ),
    ],
    ids=["requires", "leaves", "changes its zone"],
)
def test_a_flavor_keeps_its_host_where_another_did_not_get_what_it_requires(
    required, apply, cloud, gains, text, row
):
    second(cloud, availability_zone="az2")
    cloud.gives(SILVER, "cmp02")
    ungained(cloud, gains)
    done = statuses(apply(f"traits: {{CUSTOM_GOLD: {{hosts: [{gains}]}}}}\n{text}"))
    assert (done["host", gains, GOLD], done[row]) == ("failed", "not done")
    assert {*done.values()} == {"failed", "not done"}


def test_a_host_keeps_a_trait_of_a_flavor_that_found_no_other_one(
    required, apply, cloud
):
    cloud.flavor("g", **{GOLD: "required", SILVER: "required"})
    cloud.gives(SILVER, "cmp00", "cmp01")
    ungained(cloud, "cmp01")
    done = apply("""
        traits:
          CUSTOM_GOLD: {hosts: [cmp01]}
          CUSTOM_SILVER: {absent: {hosts: [cmp00]}}
    """)
    assert statuses(done) == {
        ("host", "cmp01", GOLD): "failed",
        ("host", "cmp00", SILVER): "not done",
    }


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


#: cmp01 is to join gold, which a trait isolates, and cmp03 to gain that trait as well.
JOINED = """
    traits: {CUSTOM_GOLD: {hosts: [cmp01, cmp03]}}
    aggregates: {gold: {hosts: [cmp01]}}
    flavors: {small: {requires: [CUSTOM_GOLD]}}
"""
JOINS = ("member", "gold", "cmp01")
REQUIRES = ("flavor", "small", f"trait:{GOLD}")


@pytest.fixture
def isolated(cloud):
    """Has cmp00 alone in an aggregate that GOLD isolates."""
    cloud.metadata[f"trait:{GOLD}"] = "required"
    cloud.gives(GOLD, "cmp00")
    cloud.aggregates["1"]["hosts"].remove("cmp01")
    cloud.mirror[cloud.aggregates["1"]["uuid"]].remove("cmp01")
    return cloud


@pytest.mark.parametrize("gains", [(), ("cmp01",)])
def test_a_host_without_a_provider_stops_no_other_host_and_no_flavor(
    isolated, apply, gains
):
    isolated.gives(GOLD, *{"cmp01"} - {*gains})
    isolated.deletes_provider("cmp03")
    done = apply(JOINED)
    assert statuses(done) == {
        **{("host", each, GOLD): "changed" for each in gains},
        ("host", "cmp03", GOLD): "failed",
        JOINS: "changed",
        REQUIRES: "changed",
    }


@pytest.mark.parametrize(
    ("fails", "joined"), [("cmp01", "not done"), ("cmp03", "changed")]
)
def test_a_host_joins_only_once_it_has_gained_what_isolates_the_aggregate(
    isolated, apply, fails, joined
):
    ungained(isolated, fails)
    done = statuses(apply(JOINED))
    assert (done["host", fails, GOLD], done[JOINS]) == ("failed", joined)
    # It was foreseen to find hosts there too.
    assert done[REQUIRES] == "not done"


def test_a_host_that_nova_calls_otherwise_joins_only_once_it_has_the_trait(
    isolated, apply, monkeypatch
):
    read = isolated.compute_get

    def compute_get(parts, params):
        body = read(parts, params)
        for node in body.get("hypervisors", ()):
            node["hypervisor_hostname"] += ".example.org"
        return body

    monkeypatch.setattr(isolated, "compute_get", compute_get)
    monkeypatch.setattr(
        isolated,
        "_provider",
        lambda host, provider=isolated._provider: {
            **provider(host),
            "name": f"{host}.example.org",
        },
    )
    ungained(isolated, "cmp01")
    done = statuses(apply(JOINED))
    assert done["host", "cmp01.example.org", GOLD] == "failed"
    assert done[JOINS] == "not done"


def test_no_flavor_comes_to_require_what_no_host_can_gain(apply, cloud):
    cloud.deletes_provider("cmp03")
    text = """
        traits: {CUSTOM_GOLD: {hosts: [cmp03]}, CUSTOM_SILVER: {hosts: [cmp02]}}
        flavors: {small: {requires: [CUSTOM_GOLD]}}
    """
    assert statuses(apply(text, "--force")) == {
        ("host", "cmp03", GOLD): "failed",
        ("host", "cmp02", SILVER): "changed",
        REQUIRES: "not done",
    }


def test_no_flavor_comes_to_require_what_only_hosts_have_that_are_closed_to_it(
    isolated, apply
):
    isolated.gives(SILVER, "cmp00")
    isolated.deletes_provider("cmp03")
    done = apply("""
        traits: {CUSTOM_SILVER: {hosts: [cmp03]}}
        flavors: {small: {requires: [CUSTOM_SILVER]}}
    """)
    assert (done.code, isolated.written) == (5, [])
    assert "no host would be left for flavor 'small'" in done.err


def test_of_several_aggregates_of_a_zone_the_closed_one_is_left_last(
    apply, cloud, refused
):
    cloud.metadata.update({f"trait:{GOLD}": "required", "availability_zone": "az1"})
    cloud.gives(GOLD, "cmp00", "cmp01")
    second(cloud, "cmp01", availability_zone="az1")
    refused("remove_host", "2")
    text = """
        aggregates:
          gold: {absent: {hosts: [cmp01]}}
          rack: {absent: {hosts: [cmp01]}}
          new: {zone: az2, hosts: [cmp01], isolated_for: [CUSTOM_GOLD]}
    """
    done = apply(text)
    became = {row: status for row, status in statuses(done).items() if "cmp01" in row}
    assert became == {
        ("member", "rack", "cmp01"): "failed",
        ("member", "gold", "cmp01"): "not done",
        ("member", "new", "cmp01"): "not done",
    }
    assert "'gold' keeps nobody from it" in done.err
    assert cloud.aggregates["1"]["hosts"] == ["cmp00", "cmp01"]


def test_a_host_that_can_not_change_its_zone_joins_what_has_none(
    apply, cloud, monkeypatch
):
    monkeypatch.setattr(planning.servers, "counted", lambda cloud, hosts: {"cmp01": 3})
    cloud.metadata["availability_zone"] = "az1"
    second(cloud)
    done = apply("""
        aggregates:
          gold: {absent: {hosts: [cmp01]}}
          rack: {hosts: [cmp01]}
          new: {zone: az2, hosts: [cmp01]}
    """)
    became = {
        row[1]: status for row, status in statuses(done).items() if row[-1] == "cmp01"
    }
    assert became == {"gold": "failed", "rack": "changed", "new": "not done"}


def test_a_host_leaves_a_closed_zone_only_once_others_close_it(apply, cloud, refused):
    cloud.metadata.update({f"trait:{GOLD}": "required", "availability_zone": "az1"})
    cloud.gives(GOLD, "cmp00", "cmp01")
    cloud.gives(SILVER, "cmp01")
    second(cloud, CUSTOM_SILVER="required")
    refused("add_host", "2")
    done = apply("""
        aggregates:
          gold: {absent: {hosts: [cmp01]}}
          rack: {hosts: [cmp01]}
          new: {zone: az2, hosts: [cmp01]}
    """)
    became = {
        row[1]: status for row, status in statuses(done).items() if row[-1] == "cmp01"
    }
    assert became == {"rack": "failed", "gold": "not done", "new": "not done"}
    assert cloud.aggregates["1"]["hosts"] == ["cmp00", "cmp01"]


def test_an_aggregate_stays_closed_where_its_hosts_did_not_join_one_that_is_new(
    apply, cloud, refused
):
    cloud.metadata.update({f"trait:{GOLD}": "required", "availability_zone": "az2"})
    cloud.gives(GOLD, "cmp00", "cmp01", "cmp02")
    second(cloud, "cmp02", CUSTOM_SILVER="required")
    refused("add_host", "3")
    # What cmp01 moves to is closed before it does, and before cmp02 has joined it.
    done = apply(
        """
        aggregates:
          gold: {absent: {hosts: [cmp01]}}
          rack: {absent: {isolated_for: [CUSTOM_SILVER]}}
          new: {zone: az1, hosts: [cmp01, cmp02], isolated_for: [CUSTOM_GOLD]}
        """,
        "--force",
    )
    became = statuses(done)
    assert became["member", "new", "cmp02"] == "failed"
    assert became["aggregate", "rack", f"trait:{SILVER}"] == "not done"
