"""apply that ends early, and is run again: with nothing forced it ends the same."""

from __future__ import annotations

import copy

import pytest

from osc_traitsched.commands import base
from osc_traitsched.core.errors import CloudBroke
from tests.unit.app.living import HOSTS
from tests.unit.app.zoned import OWNER, ZONE, ZonedCloud
from tests.unit.commands.test_kept_hosts import PROJECTS
from tests.unit.commands.wanted import GOLD, SILVER, keystone, second, whole

NOBODY = "2" * 32
CLOSED = "isolated_for: [CUSTOM_GOLD]"


@pytest.fixture
def cloud(monkeypatch):
    found = ZonedCloud()
    keystone(found, monkeypatch, OWNER, NOBODY)
    found.flavor("small")
    return found


@pytest.fixture
def on(monkeypatch):
    """Has commands run on a cloud."""

    def use(found):
        monkeypatch.setattr(base.Command, "cloud", lambda command: found)
        return found

    return use


@pytest.fixture
def goes_on(apply, on, cloud):
    """Applies a file, killed before each of its writes, and then again.

    Returns what the whole run said, and how many runs were killed.
    """

    def run(text, *options):
        done = on(copy.deepcopy(cloud))
        said = apply(text, *options)
        assert said.code == 0, said.err
        # Between two of them another run finds something that is half done.
        assert len(done.written) > 1
        for writes in range(len(done.written)):
            killed = on(copy.deepcopy(cloud))
            killed.dies_after(writes)
            assert apply(text, *options).code == 1
            again = on(cloud.with_state_of(killed))
            found = apply(text, *options)
            assert found.code == 0, (writes, found.err)
            assert whole(again) == whole(done), writes
        return said, len(done.written)

    return run


@pytest.fixture
def is_refused(apply, on, cloud):
    """Tells whether a file is refused before anything is written, and what is said."""

    def run(text, *options):
        there = on(copy.deepcopy(cloud))
        found = apply(text, *options)
        assert (found.code == 5) is not bool(there.written), found.err
        return found.code == 5, found.err

    return run


def third(cloud, *hosts):
    """Make an aggregate that no line names."""
    uuid = "a0000009-0000-4000-8000-000000000000"
    made = {"id": 9, "uuid": uuid, "name": "ssd", "hosts": [*hosts], "metadata": {}}
    cloud.aggregates["9"] = made
    cloud.mirror[uuid] = {*hosts}


def test_a_new_zone_with_a_closed_aggregate_beside_an_open_one(goes_on):
    _, writes = goes_on(
        f"""
        aggregates:
          pinned: {{zone: az1, hosts: [cmp02], {CLOSED}}}
          shared: {{zone: az1, hosts: [cmp03]}}
        """
    )
    assert writes == 6


def test_a_new_zone_that_is_closed(goes_on):
    goes_on(f"aggregates: {{pinned: {{zone: az1, hosts: [cmp02, cmp03], {CLOSED}}}}}")


def test_a_zone_for_hosts_that_an_aggregate_has(goes_on):
    goes_on(f"aggregates: {{gold: {{zone: az1, {CLOSED}}}}}")


@pytest.mark.parametrize("disabled", [False, True])
def test_a_host_that_is_added_to_a_zone_and_closed_by_another_aggregate(
    goes_on, cloud, disabled
):
    cloud.metadata[ZONE] = "az1"
    if disabled:
        cloud.gives("COMPUTE_STATUS_DISABLED", "cmp00", "cmp01")
    goes_on(
        f"""
        aggregates:
          gold: {{hosts: [cmp02]}}
          pinned: {{hosts: [cmp02], {CLOSED}}}
        """
    )


@pytest.mark.parametrize("pinned", ["", "isolated_for: [CUSTOM_GOLD]"])
def test_a_host_that_gets_a_trait_and_moves_to_another_zone(goes_on, cloud, pinned):
    cloud.metadata[ZONE] = "az1"
    second(cloud, "cmp02", availability_zone="az2")
    cloud.flavor("gpu", CUSTOM_GOLD="required")
    goes_on(
        f"""
        traits: {{CUSTOM_GOLD: {{hosts: [cmp01]}}}}
        aggregates:
          gold: {{absent: {{hosts: [cmp01]}}}}
          pinned: {{zone: az2, hosts: [cmp01], {pinned}}}
        """
    )


@pytest.mark.parametrize("beside", [(), ("cmp01",)])
@pytest.mark.parametrize("leaves", ["absent: {hosts: ['cmp01*']}", "only: true"])
def test_a_host_that_moves_from_one_closed_zone_to_another(
    goes_on, cloud, leaves, beside
):
    # On its way it is open: no other host is.
    third(cloud, *beside)
    cloud.metadata.update({ZONE: "az1", "trait:CUSTOM_GOLD": "required"})
    second(cloud, "cmp02", "cmp03", availability_zone="az2", CUSTOM_SILVER="required")
    cloud.gives(GOLD, "cmp00", "cmp01")
    cloud.gives(SILVER, "cmp02", "cmp03")
    goes_on(
        f"""
        aggregates:
          gold: {{hosts: [cmp00], {leaves}}}
          rack: {{hosts: [cmp01], isolated_for: [CUSTOM_SILVER]}}
        """
    )


@pytest.fixture
def zones_of_projects(cloud):
    cloud.metadata.update({ZONE: "az1", "filter_tenant_id": OWNER})
    second(cloud, "cmp02", "cmp03", availability_zone="az2", filter_tenant_id=OWNER)


@pytest.mark.usefixtures("zones_of_projects")
def test_a_host_that_moves_from_one_zone_of_projects_to_another(goes_on):
    goes_on(
        """
        aggregates:
          gold: {absent: {hosts: [cmp01]}}
          rack: {hosts: [cmp01]}
        """
    )


def test_hosts_that_are_first_closed_are_not_between_zones(is_refused):
    # All of a new cloud: no line takes them from an aggregate that is there.
    hosts = "hosts: [cmp00, cmp01, cmp02, cmp03]"
    found, said = is_refused(
        f"aggregates: {{new: {{zone: az1, {hosts}, {CLOSED}, only: true}}}}"
    )
    assert found
    assert "no host would be left for flavor 'small'; --force" in said


@pytest.mark.usefixtures("zones_of_projects")
def test_a_host_of_a_project_that_moves_as_no_line_names_it_gets_others_on_its_way(
    is_refused,
):
    # In between nothing would show that it was not open to all.
    text = "aggregates: {gold: {hosts: [cmp00], only: true}, rack: {hosts: [cmp01]}}"
    found, said = is_refused(text)
    assert found
    assert "projects that no aggregate names, which" in said
    assert "would get host cmp01 between two zones" in said
    assert "name it under absent" in said


def test_projects_keep_a_host_though_others_of_theirs_may_be_between_zones(
    is_refused, cloud
):
    cloud.leaves("cmp00")
    cloud.metadata.update({ZONE: "az2", "filter_tenant_id": OWNER})
    second(cloud, availability_zone="az1")
    text = """
        aggregates:
          gold: {hosts: [cmp00, cmp01, cmp02], absent: {hosts: [cmp03]}}
          rack: {hosts: [cmp03]}
    """
    assert not is_refused(text)[0]


@pytest.mark.parametrize("taken", ["only: true", "absent: {hosts: ['cmp0[23]']}"])
@pytest.mark.parametrize("closed", ["trait", "project"])
def test_hosts_that_were_open_all_the_time_are_not_between_zones(
    is_refused, cloud, taken, closed
):
    by = {"filter_tenant_id": OWNER}
    first = by if closed == "project" else {"trait:CUSTOM_GOLD": "required"}
    then = by if closed == "project" else {"CUSTOM_SILVER": "required"}
    cloud.metadata.update({ZONE: "az1", **first})
    second(cloud, availability_zone="az2", **then)
    cloud.gives(GOLD, "cmp00", "cmp01")
    cloud.gives(SILVER, "cmp02", "cmp03")
    found, said = is_refused(
        f"""
        aggregates:
          gold: {{hosts: [cmp00, cmp01], {taken}}}
          rack: {{hosts: [cmp02, cmp03]}}
        """
    )
    assert found
    assert "no host would be left" in said


LOST = "flavor 'small' in zone 'az1' will lose 2 of 2 hosts and keep none"
UNMISSED = (
    "no host will be left for flavor 'small' in zone 'az1', which is not refused: only "
    "these files have hosts cmp00, cmp01 found, or move them between zones, and no "
    "server would miss them"
)


@pytest.mark.parametrize(
    "wanted",
    [
        "{isolated_for: [CUSTOM_GOLD]}",
        "{hosts: [cmp00], isolated_for: [CUSTOM_GOLD]}",
        "{zone: az2, hosts: [cmp00, cmp01]}",
        "{zone: az1, absent: {hosts: [cmp00, cmp01]}}",
    ],
)
def test_hosts_of_a_zone_that_others_put_there_are_missed(is_refused, cloud, wanted):
    cloud.metadata[ZONE] = "az1"
    found, said = is_refused(f"aggregates: {{gold: {wanted}}}")
    assert found
    assert LOST in said
    assert UNMISSED not in said


@pytest.mark.parametrize("names", ["hosts: [cmp00, cmp01]", "zone: az1"])
@pytest.mark.parametrize("busy", [(), ("cmp01",)])
def test_hosts_that_files_put_into_a_zone_are_missed_by_who_has_a_server_there(
    is_refused, cloud, names, busy
):
    cloud.metadata[ZONE] = "az1"
    cloud.busy = frozenset(busy)
    found, said = is_refused(f"aggregates: {{gold: {{{names}, {CLOSED}}}}}")
    assert found is bool(busy), said
    assert LOST in said
    assert (UNMISSED in said) is not found


def test_a_host_of_a_zone_is_missed_if_its_servers_can_not_be_read(
    is_refused, cloud, monkeypatch
):
    cloud.metadata[ZONE] = "az1"
    text = f"aggregates: {{gold: {{hosts: [cmp00, cmp01], {CLOSED}}}}}"
    assert not is_refused(text)[0]
    read = ZonedCloud.compute_get

    def compute_get(found, parts, params):
        if params.get("limit") == "1":
            raise CloudBroke("compute", "no", 403)
        return read(found, parts, params)

    monkeypatch.setattr(ZonedCloud, "compute_get", compute_get)
    assert is_refused(text)[0]


def test_servers_that_can_not_be_read_are_asked_for_once(
    is_refused, cloud, monkeypatch
):
    cloud.metadata[ZONE] = "az1"
    for number in range(5):
        cloud.flavor(f"small{number}")
    asked = []
    read = ZonedCloud.compute_get

    def compute_get(found, parts, params):
        if params.get("limit") == "1":
            asked.append(params["host"])
            raise CloudBroke("compute", "no", 403)
        return read(found, parts, params)

    monkeypatch.setattr(ZonedCloud, "compute_get", compute_get)
    assert is_refused(f"aggregates: {{gold: {{hosts: [cmp00, cmp01], {CLOSED}}}}}")[0]
    assert len(asked) == 1


def test_a_zone_is_missed_by_a_server_that_may_come_back_from_its_resize(
    is_refused, cloud
):
    cloud.metadata[ZONE] = "az1"
    cloud.claimed = frozenset(["cmp01"])
    assert is_refused(f"aggregates: {{gold: {{hosts: [cmp00, cmp01], {CLOSED}}}}}")[0]


@pytest.mark.parametrize("zone", ["az1", "az2", None])
def test_a_zone_is_missed_by_servers_that_are_shelved_and_asked_for_in_it(
    is_refused, cloud, zone
):
    cloud.metadata[ZONE] = "az1"
    cloud.shelved = (zone,)
    found, _ = is_refused(f"aggregates: {{gold: {{hosts: [cmp00, cmp01], {CLOSED}}}}}")
    assert found is (zone == "az1")


@pytest.mark.parametrize(
    ("project", "busy", "is_missed"),
    [(NOBODY, "cmp02", False), (OWNER, "cmp02", True), (OWNER, "cmp03", True)],
)
def test_hosts_that_files_put_into_a_projects_aggregate_are_missed_by_its_servers(
    is_refused, cloud, project, busy, is_missed
):
    # Of the hosts that the project is limited to, only cmp02 has the trait.
    cloud.metadata["filter_tenant_id"] = project
    cloud.flavors.pop("small-id")
    cloud.flavor("silver", CUSTOM_SILVER="required")
    cloud.gives(SILVER, "cmp02", "cmp03")
    cloud.joins("cmp02")
    cloud.busy = frozenset([busy])
    text = f"""
        aggregates:
          gold: {{hosts: [cmp02]}}
          pinned: {{hosts: [cmp02], {CLOSED}}}
    """
    found, said = is_refused(text, *PROJECTS)
    assert f"for project '{project}' will lose 1 of 1 host and keep none" in said
    assert found is is_missed, said


def test_who_has_no_host_gets_none_for_a_while(is_refused, cloud):
    cloud.flavor("silver", CUSTOM_SILVER="required")
    text = f"""
        traits: {{CUSTOM_SILVER: {{hosts: [cmp00]}}}}
        aggregates: {{gold: {{{CLOSED}}}}}
    """
    found, said = is_refused(text)
    assert found
    last = said.splitlines()[-1]
    assert last.startswith(
        "nothing written: flavor 'silver' would get host cmp00 and then have none"
    )
    assert not is_refused(text, "--force")[0]


def test_a_project_that_has_no_host_gets_none_for_a_while(is_refused, cloud):
    cloud.leaves("cmp00")
    cloud.leaves("cmp01")
    cloud.metadata["filter_tenant_id"] = OWNER
    second(cloud, *HOSTS, filter_tenant_id=NOBODY)
    text = f"""
        aggregates:
          gold: {{hosts: [cmp00], absent: {{tenants: ['{OWNER}']}}}}
    """
    found, said = is_refused(text, "--nova-release", "34")
    assert found
    assert f"project {OWNER}, which AggregateMultiTenancyIsolation keeps out" in said
    assert not is_refused(text, "--nova-release", "34", "--force")[0]


def test_a_host_that_changes_the_aggregate_of_its_project_and_is_closed(goes_on, cloud):
    # Before it has left the one, the other may have it.
    cloud.metadata["filter_tenant_id"] = OWNER
    second(cloud, filter_tenant_id=OWNER)
    cloud.flavors.pop("small-id")
    cloud.flavor("silver", CUSTOM_SILVER="required")
    cloud.gives(SILVER, "cmp00", "cmp03")
    _, writes = goes_on(
        f"""
        traits: {{CUSTOM_SILVER: {{hosts: [cmp00]}}}}
        aggregates:
          gold: {{absent: {{hosts: [cmp00]}}}}
          rack: {{hosts: [cmp00], {CLOSED}}}
        """,
        *PROJECTS,
    )
    assert writes == 4


def test_a_host_that_moves_to_a_zone_for_one_more_project_before_nova_30(
    goes_on, cloud
):
    # The list, which these take alone, closes what the host moves to.
    cloud.metadata.update({ZONE: "az1", "trait:CUSTOM_GOLD": "required"})
    cloud.gives(GOLD, "cmp00", "cmp01")
    own = {f"filter_tenant_id_{OWNER}": OWNER}
    second(cloud, "cmp02", availability_zone="az2", **own)
    cloud.flavors.pop("small-id")
    cloud.flavor("gold", CUSTOM_GOLD="required")
    _, writes = goes_on(
        f"""
        aggregates:
          gold: {{absent: {{hosts: [cmp01]}}}}
          rack: {{hosts: [cmp01], tenants: ['{OWNER}', '{NOBODY}']}}
        """,
        "--nova-release",
        "29",
    )
    assert writes > 2


OPENED = 'absent: {hosts: ["*"], isolated_for: [CUSTOM_GOLD]}'


@pytest.fixture
def closed_zone(cloud):
    cloud.metadata.update({ZONE: "az1", "trait:CUSTOM_GOLD": "required"})
    cloud.gives(GOLD, "cmp00", "cmp01")


@pytest.mark.parametrize(
    "rest",
    [
        "",
        "traits: {CUSTOM_GOLD: {absent: {hosts: [cmp00, cmp01]}}}",
        "flavors: {small: {requires: [CUSTOM_SILVER]}}",
    ],
)
@pytest.mark.usefixtures("closed_zone")
def test_a_closed_zone_that_is_dissolved(goes_on, cloud, rest):
    cloud.gives(SILVER, "cmp00", "cmp02")
    goes_on(
        f"""
        aggregates: {{gold: {{{OPENED}}}}}
        {rest}
        """
    )


def test_a_closed_aggregate_and_its_zone_that_are_dissolved(goes_on, cloud):
    cloud.metadata["trait:CUSTOM_GOLD"] = "required"
    second(cloud, "cmp00", "cmp01", availability_zone="az1")
    cloud.gives(GOLD, "cmp00", "cmp01")
    goes_on(
        f"""
        aggregates:
          gold: {{{OPENED}}}
          rack: {{absent: {{hosts: [cmp00, cmp01]}}}}
        """
    )


@pytest.mark.parametrize(
    "metadata", [{ZONE: "az1"}, {ZONE: "az1", "CUSTOM_SILVER": "required"}]
)
def test_a_host_leaves_its_zone_before_what_closes_it_there(goes_on, cloud, metadata):
    # By name, gold comes before rack.
    cloud.metadata["trait:CUSTOM_GOLD"] = "required"
    second(cloud, "cmp00", "cmp01", **metadata)
    cloud.gives(GOLD, "cmp00", "cmp01")
    cloud.gives(SILVER, "cmp00", "cmp01")
    cloud.flavor("silver", CUSTOM_SILVER="required")
    cloud.flavor("both", CUSTOM_GOLD="required", CUSTOM_SILVER="required")
    _, writes = goes_on(
        """
        aggregates:
          gold: {absent: {hosts: [cmp01]}}
          rack: {absent: {hosts: [cmp01]}}
        """
    )
    assert writes == 2


def test_a_flavor_that_comes_to_require_what_closed_a_zone_that_is_dissolved(
    goes_on, cloud
):
    cloud.metadata.update({ZONE: "az1", "trait:CUSTOM_GOLD": "required"})
    cloud.gives(GOLD, "cmp00", "cmp01")
    goes_on(
        f"""
        aggregates: {{gold: {{{OPENED}}}}}
        flavors: {{small: {{requires: [CUSTOM_GOLD]}}}}
        """
    )


def test_a_flavor_that_ceases_to_require_what_lines_give(goes_on, cloud):
    cloud.metadata[ZONE] = "az1"
    cloud.leaves("cmp01")
    cloud.flavors.pop("small-id")
    cloud.flavor("gold", CUSTOM_GOLD="required")
    cloud.gives(GOLD, "cmp03")
    goes_on(
        """
        traits: {CUSTOM_GOLD: {hosts: [cmp00]}}
        aggregates: {gold: {absent: {hosts: [cmp00]}}}
        flavors: {gold: {absent: {requires: [CUSTOM_GOLD]}}}
        """
    )


def test_a_host_leaves_several_closed_aggregates_of_a_zone(goes_on, cloud):
    cloud.metadata.update({ZONE: "az1", "trait:CUSTOM_GOLD": "required"})
    second(cloud, "cmp00", availability_zone="az1", CUSTOM_SILVER="required")
    cloud.gives(GOLD, "cmp00", "cmp01")
    cloud.gives(SILVER, "cmp00")
    cloud.flavor("silver", CUSTOM_SILVER="required")
    goes_on(
        """
        aggregates:
          gold: {absent: {hosts: [cmp00]}}
          rack: {absent: {hosts: [cmp00]}}
        """
    )


def test_a_host_joins_first_what_closes_it(goes_on, cloud):
    cloud.leaves("cmp00")
    cloud.leaves("cmp01")
    cloud.metadata[ZONE] = "az1"
    second(cloud, CUSTOM_SILVER="required")
    cloud.gives(SILVER, "cmp00")
    cloud.shelved = ("az1",)
    goes_on("aggregates: {gold: {hosts: [cmp00]}, rack: {hosts: [cmp00]}}")


def test_a_host_that_lacks_the_trait_of_the_zone_that_it_leaves(goes_on, cloud):
    cloud.metadata.update({ZONE: "az1", "trait:CUSTOM_GOLD": "required"})
    second(cloud, "cmp02", "cmp03", availability_zone="az2", CUSTOM_SILVER="required")
    cloud.gives(GOLD, "cmp00")
    cloud.gives(SILVER, "cmp02", "cmp03")
    goes_on(
        """
        aggregates:
          gold: {absent: {hosts: [cmp01]}}
          rack: {hosts: [cmp01]}
        """
    )


@pytest.mark.parametrize("jobs", [1, 3])
def test_no_more_hosts_are_between_zones_than_are_written_at_a_time(
    is_refused, cloud, jobs
):
    cloud.leaves("cmp01")
    cloud.metadata.update({ZONE: "az1", "trait:CUSTOM_GOLD": "required"})
    second(cloud, availability_zone="az2", CUSTOM_SILVER="required")
    cloud.gives(GOLD, *HOSTS)
    cloud.gives(SILVER, *HOSTS)
    text = """
        aggregates:
          gold: {hosts: [cmp00], only: true}
          rack: {hosts: [cmp01, cmp02, cmp03]}
    """
    found, said = is_refused(text, "--jobs", str(jobs))
    assert found is (jobs < 3), said


@pytest.mark.parametrize("name", ["cmp01", "cmp01*"])
def test_a_group_of_patterns_takes_no_host_by_its_name(is_refused, cloud, name):
    cloud.leaves("cmp01")
    cloud.metadata.update({ZONE: "az1", "filter_tenant_id": OWNER})
    second(cloud, "cmp02", "cmp03", availability_zone="az2", filter_tenant_id=OWNER)
    text = f"""
        groups: {{moved: ["{name}"]}}
        aggregates:
          gold: {{absent: {{hosts: ["@moved"]}}}}
          rack: {{hosts: [cmp01]}}
    """
    found, said = is_refused(text)
    assert found is (name != "cmp01"), said


def test_what_closes_the_hosts_that_an_opened_aggregate_gets_comes_first(
    is_refused, cloud
):
    # Another run finds these hosts there.
    cloud.leaves("cmp01")
    cloud.metadata["trait:CUSTOM_SILVER"] = "required"
    second(cloud, "cmp01", "cmp02", "cmp03")
    cloud.gives(SILVER, "cmp00")
    found, said = is_refused(
        f"""
        aggregates:
          gold: {{hosts: [cmp01], absent: {{isolated_for: [CUSTOM_SILVER]}}}}
          rack: {{{CLOSED}}}
        """
    )
    assert found
    assert "for a moment no host would be left for flavor 'small'" in said


def test_a_zone_that_was_not_closed_is_missed_whatever_lines_open(is_refused, cloud):
    cloud.metadata[ZONE] = "az1"
    found, said = is_refused(f"aggregates: {{gold: {{{OPENED}}}}}")
    assert found
    assert "no host would be left for flavor 'small' in zone 'az1'; --force" in said


def test_pools_of_which_one_needs_more_than_another(goes_on, cloud):
    cloud.metadata[ZONE] = "az1"
    second(cloud, "cmp02", "cmp03", availability_zone="az2")
    cloud.flavor("gpu", CUSTOM_GOLD="required")
    cloud.flavor("licensed", CUSTOM_GOLD="required", CUSTOM_SILVER="required")
    goes_on(
        f"""
        aggregates:
          gpu: {{hosts: [cmp01], {CLOSED}}}
          licensed: {{hosts: [cmp03], isolated_for: [CUSTOM_GOLD, CUSTOM_SILVER]}}
        """
    )


@pytest.mark.usefixtures("closed_zone")
def test_a_closed_zone_that_is_dissolved_is_missed_by_its_flavors(is_refused, cloud):
    cloud.flavor("gold", CUSTOM_GOLD="required")
    found, said = is_refused(f"aggregates: {{gold: {{{OPENED}}}}}")
    assert found
    assert "no host would be left for flavor 'gold' in zone 'az1'; --force" in said


@pytest.mark.usefixtures("closed_zone")
def test_a_closed_zone_that_is_dissolved_is_missed_by_its_images(is_refused, cloud):
    cloud.picture("windows", CUSTOM_GOLD="required")
    text = f"""
        aggregates: {{gold: {{{OPENED}}}}}
        images: {{windows: {{absent: {{requires: [CUSTOM_GOLD]}}}}}}
    """
    found, said = is_refused(text)
    assert found
    asked = "flavor 'small' with image 'windows' in zone 'az1'"
    assert f"no host would be left for {asked}; --force" in said
