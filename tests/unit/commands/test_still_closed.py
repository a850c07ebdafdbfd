"""What keeps others from hosts stays where others open what was to go on doing so."""

from __future__ import annotations

import pytest

from osc_traitsched.app.wanted import planning
from tests.unit.app.living import HOSTS
from tests.unit.commands.wanted import GOLD, SILVER, keystone, second, statuses

P1, P2 = "1" * 32, "2" * 32
KEY = "filter_tenant_id"
#: The compute API of releases before 30, where each project that comes gets into the
#: key without a suffix, and of later ones.
APIS = pytest.mark.parametrize("api", ["2.95", "2.100"])
LEFT = ("member", "gold", "cmp00")
OPENED = f"'{KEY}' of aggregate 'rack' changed meanwhile"


@pytest.fixture(autouse=True)
def closed(cloud, monkeypatch):
    """Let gold be closed to who has no flavor for it, and rack to other projects."""
    keystone(cloud, monkeypatch, P1, P2)
    cloud.metadata[f"trait:{GOLD}"] = "required"
    cloud.gives(GOLD, "cmp00", "cmp01")
    second(cloud, "cmp00", "cmp01", filter_tenant_id=P1)


def opened_right_after(cloud, written):
    """Let others take the projects' keys from rack right after a write of a kind."""
    write = cloud.compute_post

    def compute_post(parts, body):
        write(parts, body)
        if written in body:
            rack = cloud.aggregates["2"]
            kept = {k: v for k, v in rack["metadata"].items() if KEY not in k}
            rack["metadata"] = kept

    cloud.compute_post = compute_post


@APIS
def test_a_host_stays_where_others_open_what_a_project_was_just_added_to(
    apply, cloud, api
):
    cloud.compute_maximum = api
    opened_right_after(cloud, "set_metadata")
    done = apply(f"""
        aggregates:
          rack: {{tenants: ['{P2}']}}
          gold: {{absent: {{hosts: [cmp00]}}}}
    """)
    assert statuses(done)[LEFT] == "failed"
    assert done.json[-1]["detail"].startswith(OPENED)
    assert "cmp00" in cloud.aggregates["1"]["hosts"]


@APIS
def test_a_host_stays_where_others_open_what_a_project_is_added_to_later(
    apply, cloud, api
):
    cloud.compute_maximum = api
    cloud.metadata["availability_zone"] = "az1"
    opened_right_after(cloud, "add_host")
    done = apply(
        f"""
        aggregates:
          new: {{hosts: [cmp03]}}
          other: {{zone: az2, hosts: [cmp00]}}
          gold: {{absent: {{hosts: [cmp00]}}}}
          rack: {{tenants: ['{P2}']}}
        """,
        "--force",
    )
    assert statuses(done)[LEFT] == "failed"
    assert "cmp00" in cloud.aggregates["1"]["hosts"]


@APIS
def test_an_aggregate_stays_closed_where_others_open_what_a_project_is_added_to_with_it(
    apply, cloud, api
):
    cloud.compute_maximum = api
    # The first write: by then the plan is made.
    cloud.rivals[HOSTS["cmp03"]] = cloud.aggregates["2"]["metadata"].clear
    done = apply(f"""
        traits: {{CUSTOM_SILVER: {{hosts: [cmp03]}}}}
        aggregates:
          gold: {{absent: {{isolated_for: [CUSTOM_GOLD]}}}}
          rack: {{tenants: ['{P2}']}}
    """)
    assert statuses(done)["aggregate", "gold", f"trait:{GOLD}"] == "failed"
    assert cloud.metadata == {f"trait:{GOLD}": "required"}


@APIS
def test_a_project_that_can_not_be_added_yet_keeps_no_host_where_it_is(
    apply, cloud, monkeypatch, api
):
    cloud.compute_maximum = api
    monkeypatch.setattr(planning.servers, "counted", lambda cloud, hosts: {"cmp01": 3})
    done = apply(f"""
        aggregates:
          zoned: {{zone: az1, hosts: [cmp01], tenants: ['{P1}']}}
          rack: {{tenants: ['{P2}']}}
          gold: {{absent: {{hosts: [cmp00]}}}}
    """)
    assert statuses(done)["aggregate", "rack", f"{KEY}_{P2}"] == "not done"
    assert statuses(done)[LEFT] == "changed"
    assert cloud.aggregates["2"]["metadata"] == {KEY: P1}


def test_a_key_that_the_plan_takes_away_is_not_missed(apply, cloud):
    cloud.aggregates["2"]["metadata"] = {f"trait:{SILVER}": "required"}
    done = apply("""
        aggregates:
          rack: {absent: {isolated_for: [CUSTOM_SILVER]}}
          gold: {absent: {hosts: [cmp00]}}
    """)
    assert (done.code, cloud.aggregates["1"]["hosts"]) == (0, ["cmp01"])
