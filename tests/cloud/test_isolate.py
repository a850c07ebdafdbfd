"""isolate and unisolate where a real Nova, Placement and Glance answer."""

from __future__ import annotations

import openstack as sdk
import pytest

from osc_traitsched.app import desired
from osc_traitsched.app.desired import plan_desired
from osc_traitsched.cloud import write
from osc_traitsched.cloud.connection import HttpCloud
from osc_traitsched.cloud.write import Patience
from osc_traitsched.core.change.model import ObjectKind, Status
from osc_traitsched.core.nova.options import SchedulerSettings
from tests.cloud.factory import PLACEMENT, factory
from tests.cloud.proxied import services
from tests.functional import shell
from tests.services.release import chosen

GOLD = "CUSTOM_GOLD"
REQUIRED = {f"trait:{GOLD}": "required"}
INSIDE, OUTSIDE = {"cmp00", "cmp01"}, {"cmp02", "cmp03"}
EVERYWHERE = INSIDE | OUTSIDE
ISOLATING = SchedulerSettings.of(
    chosen().number, enable_isolated_aggregate_filtering=True
)


@pytest.fixture
def make(admin):
    """Makes what one test needs."""
    with factory(admin) as maker:
        yield maker


@pytest.fixture
def raw(make):
    return make.image("raw")


@pytest.fixture
def small(make):
    return make.flavor("small")


@pytest.fixture
def golden(make):
    return make.flavor("golden")


@pytest.fixture
def aggregate(make, small, golden, raw):
    make.traits(GOLD)
    return make.aggregate("gold", *sorted(INSIDE))


@pytest.fixture(scope="module")
def openstack(cloud):
    """Runs a verb, with the very file that the scheduler runs with if it reads one."""
    file = ("--nova-conf", str(cloud.nova_conf))

    def run(*arguments, variables=cloud.environment):
        return shell.run(variables, "trait-sched", *arguments, *file)

    return run


ISOLATE = ("isolate", "gold", GOLD, "--flavor", "golden", "-f", "json")
UNISOLATE = ("unisolate", "gold", GOLD, "--remove-traits", "-f", "json")


def rows(run):
    return [(row["step"], row["object"], row["status"]) for row in run.json]


def specs(admin, flavor):
    return admin.compute.get_flavor(flavor.id).extra_specs


def metadata(admin, aggregate):
    return admin.compute.get_aggregate(aggregate.id).metadata


def hosts_with(admin, name=GOLD):
    return _providers(admin, f"required={name}")


def inside(admin, aggregate):
    return _providers(admin, f"member_of={aggregate.uuid}")


def _providers(admin, query):
    path = "/resource_providers"
    found = admin.placement.get(f"{path}?{query}", microversion=PLACEMENT).json()
    return {each["name"] for each in found["resource_providers"]}


@pytest.fixture
def proxied(cloud):
    """Proxies before Placement and Nova, and the variables that lead there."""
    with services(cloud, "placement", "compute") as found:
        yield found


@pytest.mark.short
def test_one_command_isolates_and_one_opens_again(
    aggregate, admin, openstack, make, small, golden
):
    make.unmirrored("cmp01", aggregate)
    wanted = [
        ("trait", GOLD, "unchanged"),
        ("host", "cmp00", "changed"),
        ("host", "cmp01", "changed"),
        ("mirror", "cmp00", "unchanged"),
        ("mirror", "cmp01", "changed"),
        ("flavor", "golden", "changed"),
        ("image", "raw", "changed"),
        ("aggregate", "gold", "changed"),
    ]
    run = openstack(*ISOLATE, "--image", "raw")
    assert (run.code, rows(run)) == (0, wanted)
    assert hosts_with(admin) == INSIDE
    assert inside(admin, aggregate) == INSIDE
    assert specs(admin, golden) == REQUIRED
    assert specs(admin, small) == {}
    assert metadata(admin, aggregate) == REQUIRED
    again = openstack(*ISOLATE, "--image", "raw")
    assert {status for _, _, status in rows(again)} == {"unchanged"}

    run = openstack("unisolate", "gold", "--remove-traits", "-f", "json")
    objects = ["gold", "golden", "raw", "cmp00", "cmp01"]
    assert run.code == 0
    assert [row[1:] for row in rows(run)] == [(name, "changed") for name in objects]
    assert not hosts_with(admin)
    assert specs(admin, golden) == metadata(admin, aggregate) == {}
    assert inside(admin, aggregate) == INSIDE


def test_a_trait_that_is_new_has_to_be_said_to_be(make, openstack, admin):
    # Other tests of the same cloud know GOLD.
    new = f"{GOLD}_NEW"
    isolate, undone = (
        [new if word == GOLD else word for word in words]
        for words in (ISOLATE, UNISOLATE)
    )
    make.aggregate("gold", "cmp00")
    make.flavor("golden")
    make.after(admin.placement.delete, f"/traits/{new}", microversion=PLACEMENT)
    make.after(openstack, *undone)
    run = openstack(*isolate)
    assert (run.code, run.out) == (1, "")
    run = openstack(*isolate, "--create")
    assert (run.code, rows(run)[0]) == (0, ("trait", new, "changed"))


def test_a_dry_run_says_the_same_and_writes_nothing(
    aggregate, admin, openstack, proxied, golden
):
    variables, proxies = proxied
    dry = openstack(*ISOLATE, "--dry-run", variables=variables)
    assert dry.code == 0
    assert openstack(*ISOLATE, "--dry-run", "--exit-code").code == 6
    assert not [request for proxy in proxies for request in proxy.writes]
    run = openstack(*ISOLATE, variables=variables)
    assert run.err == dry.err
    changed = {"would change": "changed"}
    assert rows(run) == [(s, o, changed.get(t, t)) for s, o, t in rows(dry)]
    assert openstack(*ISOLATE, "--dry-run", "--exit-code").code == 0
    # To open it alone leaves the traits everywhere.
    for status in ("changed", "unchanged"):
        run = openstack("unisolate", "gold", "-f", "json")
        assert (run.code, rows(run)) == (0, [("aggregate", "gold", status)])
    assert hosts_with(admin) == INSIDE
    assert specs(admin, golden) == REQUIRED


@pytest.fixture(scope="module")
def core(cloud):
    """The cloud as the commands use it, to do by one step what they do at once."""
    variables = cloud.environment.items()
    login = {key[len("OS_") :].lower(): value for key, value in variables}
    return HttpCloud(sdk.connect(load_yaml_config=False, **login))


def closing(core):
    return desired.isolate(core, "gold", desired.Isolation([GOLD], ["golden"]))[1]


def opening(core):
    wanted = desired.Unisolation([GOLD], remove_traits=True)
    opened = desired.unisolate(core, "gold", wanted, ISOLATING)
    return opened.shorthand


def test_after_every_step_there_and_back_servers_land_where_they_may(
    aggregate, admin, core, make, small, golden, raw
):
    make.unmirrored("cmp01", aggregate)

    def land(flavor, count):
        """Boot servers that are there together, and return where they were."""
        boots = [make.boot(flavor, raw) for _ in range(count)]
        for boot in boots:
            make.delete(boot)
        assert {boot.status for boot in boots} == {"ACTIVE"}
        return {boot.host for boot in boots}

    def check(count):
        isolated = metadata(admin, aggregate) == REQUIRED
        requiring = specs(admin, golden) == REQUIRED
        assert not isolated or requiring
        # Four servers are put on as many hosts as there are for them.
        landed = {flavor.name: land(flavor, count) for flavor in (small, golden)}
        assert landed["small"] <= (OUTSIDE if isolated else EVERYWHERE)
        assert landed["golden"] <= (INSIDE if requiring else EVERYWHERE)
        if count == 4:
            assert (landed["small"], landed["golden"]) == (OUTSIDE, INSIDE)
        return isolated, requiring

    seen = [check(1)]
    for planner in (closing, opening):
        todo = plan_desired(core, planner(core).desired, ISOLATING)
        for change in todo.plan.changes:
            assert write.apply(core, change, Patience()).status is Status.CHANGED
            closed = planner is closing and change.object.kind is ObjectKind.AGGREGATE
            seen.append(check(4 if closed else 1))
    assert list(dict.fromkeys(seen)) == [(False, False), (False, True), (True, True)]
    assert seen[-1] == (False, False)
    assert land(golden, 4) == EVERYWHERE


def test_nobody_is_left_without_a_host_unless_forced(
    aggregate, openstack, proxied, admin
):
    variables, proxies = proxied
    for host in sorted(OUTSIDE):
        admin.compute.add_host_to_aggregate(aggregate, host)
    for dry in ((), ("--dry-run",)):
        run = openstack(*ISOLATE, *dry, variables=variables)
        assert (run.code, run.out) == (5, "")
        refusal = "Refused: no host would be left for flavor 'small'; --force"
        assert run.err.splitlines()[-1] == f"{refusal} overrides this"
    assert not [request for proxy in proxies for request in proxy.writes]
    assert openstack(*ISOLATE, "--force", variables=variables).code == 0


def test_a_trait_that_a_server_requires_is_not_removed_from_the_last_hosts(
    aggregate, openstack, admin, make, golden, raw
):
    assert openstack(*ISOLATE).code == 0
    boot = make.boot(golden, raw)
    make.after(make.delete, boot)
    assert boot.host in INSIDE
    run = openstack(*UNISOLATE)
    assert (run.code, run.out) == (5, "")
    assert f"({boot.server}, on {boot.host})" in run.err
    assert hosts_with(admin) == INSIDE
    assert openstack(*UNISOLATE, "--force").code == 0
    assert not hosts_with(admin)


def test_a_trait_is_renamed_everywhere_and_back(
    aggregate, admin, openstack, make, golden, raw, tmp_path
):
    new = f"{GOLD}_RENAMED"
    make.forgotten(new)
    assert openstack(*ISOLATE, "--image", "raw").code == 0
    undo = str(tmp_path / "undo.yaml")
    words = ("trait", "rename", GOLD, new, "-f", "json")
    dry = openstack(*words, "--dry-run")
    assert (dry.code, hosts_with(admin)) == (0, INSIDE)

    run = openstack(*words, "--undo", undo)
    assert run.code == 0, run.err
    # Placement has the hosts in the aggregate already.
    stay = {row["step"] for row in run.json if row["status"] != "changed"}
    assert stay == {"mirror"}
    assert (hosts_with(admin), hosts_with(admin, new)) == (set(), INSIDE)
    renamed = {f"trait:{new}": "required"}
    assert specs(admin, golden) == metadata(admin, aggregate) == renamed
    boot = make.boot(golden, raw)
    make.after(make.delete, boot)
    assert boot.host in INSIDE, boot

    # A server requires the new name by its own copy of the flavor.
    refused = openstack("apply", undo)
    assert refused.code == 5
    make.delete(boot)
    assert openstack("apply", undo).code == 0
    assert (hosts_with(admin), hosts_with(admin, new)) == (INSIDE, set())
    assert specs(admin, golden) == metadata(admin, aggregate) == REQUIRED


def test_a_retired_trait_is_required_by_nothing_and_on_no_host(
    aggregate, admin, openstack, golden
):
    assert openstack(*ISOLATE, "--image", "raw").code == 0
    run = openstack("trait", "retire", GOLD, "-f", "json")
    assert run.code == 0, run.err
    assert not hosts_with(admin)
    assert specs(admin, golden) == metadata(admin, aggregate) == {}
    assert openstack("trait", "retire", GOLD, "-f", "json").json == []


def test_a_host_gets_the_traits_and_aggregates_of_a_peer(
    aggregate, admin, openstack, cloud
):
    assert openstack(*ISOLATE).code == 0
    like = ("add", "--like", "cmp00", "cmp02", "--aggregates", "-f", "json")
    for status in ("changed", "unchanged"):
        run = shell.run(cloud.environment, "trait-sched", *like)
        assert run.code == 0, run.err
        assert {row["status"] for row in run.json} <= {status, "unchanged"}
        assert hosts_with(admin) == INSIDE | {"cmp02"}
        assert inside(admin, aggregate) == INSIDE | {"cmp02"}


def test_who_gets_in_where_an_aggregate_opens_is_told_and_true(
    aggregate, openstack, make, small, raw
):
    def lands():
        boots = [make.boot(small, raw) for _ in range(4)]
        for boot in boots:
            make.delete(boot)
        return {boot.host for boot in boots}

    assert openstack(*ISOLATE).code == 0
    assert lands() == OUTSIDE
    line = "gold (cmp00, cmp01): any server may land here, 1 more flavor"
    for dry in (("--dry-run",), ()):
        run = openstack("unisolate", "gold", "-f", "json", *dry)
        assert line in run.err.splitlines()
        assert [row["lets_in"] for row in run.json] == [line]
    assert lands() == EVERYWHERE
    assert openstack("trait", "retire", GOLD).err.splitlines() == [
        f"{GOLD}: flavor 'golden' may land on any host",
        f"The name stays in Placement: openstack trait delete {GOLD}",
    ]
