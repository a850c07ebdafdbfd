"""isolate and unisolate where a real Nova, Placement and Glance answer."""

from __future__ import annotations

import os
import shlex
import signal
import threading

import openstack as sdk
import pytest
from osc_traitsched.core.change.isolation.isolate import isolate_plan
from osc_traitsched.core.change.isolation.unisolate import unisolate_plan

from osc_traitsched.app.effects import foresee, looks
from osc_traitsched.cloud import lookup, write
from osc_traitsched.cloud.aggregate_state import aggregate_state, holders
from osc_traitsched.cloud.connection import HttpCloud
from osc_traitsched.cloud.retry import Patience
from osc_traitsched.core.change.impact import Impact
from osc_traitsched.core.change.model import Kind
from osc_traitsched.core.change.outcome import Status
from osc_traitsched.core.nova.settings import SchedulerSettings
from tests.cloud.factory import PLACEMENT, factory, providers
from tests.cloud.proxied import services
from tests.functional import shell
from tests.functional.proxy import CutBefore, Instead
from tests.services.release import chosen

GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"
REQUIRED = {f"trait:{GOLD}": "required"}
INSIDE, OUTSIDE = {"cmp00", "cmp01"}, {"cmp02", "cmp03"}
EVERYWHERE = INSIDE | OUTSIDE
ISOLATING = SchedulerSettings.of(
    chosen().number, enable_isolated_aggregate_filtering=True
)
UNFILTERED = "scheduler.enable_isolated_aggregate_filtering"
AS_IN_NOVA_CONF = "[scheduler]enable_isolated_aggregate_filtering"


@pytest.fixture
def make(admin):
    """Makes what one test needs."""
    with factory(admin) as maker:
        yield maker


@pytest.fixture
def gold(make):
    """A trait that the test may give to hosts; nobody has it before and after."""
    make.traits(GOLD)


@pytest.fixture
def raw(make):
    return make.image("raw")


@pytest.fixture
def small(make):
    """A flavor that asks for nothing special, and stays as it is."""
    return make.flavor("small")


@pytest.fixture
def golden(make):
    """A flavor that is to require the trait."""
    return make.flavor("golden")


@pytest.fixture
def aggregate(make, gold, small, golden, raw):
    return make.aggregate("gold", *sorted(INSIDE))


@pytest.fixture(scope="module")
def openstack(cloud):
    """Runs a verb, with the very file that the scheduler runs with if it reads one."""
    file = ("--nova-conf", str(cloud.nova_conf))

    def run(*arguments, variables=cloud.environment):
        more = () if arguments[0] in ("add", "remove") else file
        return shell.run(variables, "trait-sched", *arguments, *more)

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
    path = f"/resource_providers?required={name}"
    found = admin.placement.get(path, microversion=PLACEMENT).json()
    return {each["name"] for each in found["resource_providers"]}


def in_placement(admin, host, aggregate):
    path = f"/resource_providers/{providers(admin)[host]}/aggregates"
    found = admin.placement.get(path, microversion=PLACEMENT).json()
    return aggregate.uuid in found["aggregates"]


# There and back


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
    assert in_placement(admin, "cmp01", aggregate)
    assert specs(admin, golden) == REQUIRED
    assert specs(admin, small) == {}
    assert metadata(admin, aggregate) == REQUIRED
    again = openstack(*ISOLATE, "--image", "raw")
    assert {status for _, _, status in rows(again)} == {"unchanged"}

    run = openstack("unisolate", "gold", "--remove-traits", "-f", "json")
    assert run.code == 0
    assert rows(run) == [
        ("aggregate", "gold", "changed"),
        ("flavor", "golden", "changed"),
        ("image", "raw", "changed"),
        ("host", "cmp00", "changed"),
        ("host", "cmp01", "changed"),
    ]
    assert not hosts_with(admin)
    assert specs(admin, golden) == metadata(admin, aggregate) == {}
    assert all(in_placement(admin, host, aggregate) for host in INSIDE)


def test_a_trait_that_is_new_has_to_be_said_to_be(make, openstack, admin):
    make.aggregate("gold", "cmp00")
    make.flavor("golden")
    make.after(admin.placement.delete, f"/traits/{GOLD}", microversion=PLACEMENT)
    make.after(openstack, *UNISOLATE)
    run = openstack(*ISOLATE)
    assert (run.code, run.err) == (
        1,
        f"no trait {GOLD} in this cloud (--create creates it)\n",
    )
    run = openstack(*ISOLATE, "--create")
    assert (run.code, rows(run)[0]) == (0, ("trait", GOLD, "changed"))


def test_a_dry_run_says_the_same_and_writes_nothing(aggregate, openstack, proxied):
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


# Servers


@pytest.fixture(scope="module")
def core(cloud):
    """The cloud as the commands use it, to do by one step what they do at once."""
    return HttpCloud(sdk.connect(load_yaml_config=False, **login(cloud.environment)))


def login(variables):
    return {key[len("OS_") :].lower(): value for key, value in variables.items()}


def closing(core):
    state = aggregate_state(core, "gold")
    golden = lookup.flavor_among(state.flavors, "golden")
    return state, isolate_plan(state, [GOLD], (), [golden], ())


def opening(core):
    state = aggregate_state(core, "gold")
    held = {GOLD: holders(core.placement, state, GOLD)}
    return state, unisolate_plan(state, [GOLD], held, ())


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
        _, plan = planner(core)
        for change in plan.changes:
            if change.is_needed:
                assert write.apply(core, change, Patience()).status is Status.CHANGED
                closed = planner is closing and change.object.kind is Kind.AGGREGATE
                seen.append(check(4 if closed else 1))
    assert list(dict.fromkeys(seen)) == [(False, False), (False, True), (True, True)]
    assert seen[-1] == (False, False)
    assert land(golden, 4) == EVERYWHERE


def test_what_is_said_before_is_what_explain_says_before_and_after(
    aggregate, core, openstack, make, small, golden, raw
):
    make.flavor("large", {f"trait:{GOLD}": "required"}, ram=7000)
    make.used("cmp01", golden, raw)
    names = {uuid: name for name, uuid in providers(make.admin).items()}

    def explained():
        found = {}
        for flavor in ("small", "golden", "large"):
            run = openstack("explain", flavor, "raw", "--no-fixes", "-f", "json")
            found[flavor] = set(run.json["candidates"])
        return found

    before = explained()
    for planner, command in ((closing, ISOLATE), (opening, UNISOLATE)):
        state, plan = planner(core)
        impact = Impact(looks(state, plan), ISOLATING)
        said = {e.flavor: e.room for e in foresee(core.placement, impact)}
        now = {name: {names[uuid] for uuid in room.now} for name, room in said.items()}
        then = {n: {names[uuid] for uuid in room.then} for n, room in said.items()}
        assert {**before, **now} == before
        assert openstack(*command, "--force").code == 0
        after = explained()
        assert {**before, **then} == after
        assert before != after
        before = after


# Trouble on the way


@pytest.fixture
def proxied(cloud):
    """Proxies before Placement and Nova, and the variables that lead there."""
    with services(cloud, "placement", "compute") as found:
        yield found


@pytest.mark.parametrize("command", [ISOLATE, UNISOLATE], ids=["isolate", "unisolate"])
def test_killed_after_any_write_everybody_has_a_host_and_the_next_run_goes_on(
    aggregate, admin, openstack, make, proxied, cloud, tmp_path, command
):
    variables, proxies = proxied
    if command is ISOLATE:
        make.unmirrored("cmp01", aggregate)
    else:
        assert openstack(*ISOLATE).code == 0
    file = ("--nova-conf", str(cloud.nova_conf))
    killed = 0
    while True:
        written = []
        second = threading.Event()

        def one_write(request, written=written, second=second):
            if request.is_write:
                written.append(request.path)
                if len(written) == 2:
                    second.set()
                    return CutBefore()
            return None

        for proxy in proxies:
            proxy.fault = one_write
        out = tmp_path / f"run-{killed}.json"
        process = shell.Background(variables, ("trait-sched", *command, *file), out)
        while process.runs and not second.wait(0.05):
            pass
        process.kill()
        for flavor in ("small", "golden"):
            assert openstack("candidates", flavor, "raw").code == 0
        if not second.is_set():
            break
        killed += 1
    for proxy in proxies:
        proxy.fault = lambda request: None
    assert killed == (4 if command is ISOLATE else 3)
    run = openstack(*command)
    assert {status for _, _, status in rows(run)} == {"unchanged"}
    assert bool(metadata(admin, aggregate)) is (command is ISOLATE)


def test_after_a_failure_nothing_later_is_done_and_the_same_again_finishes(
    aggregate, admin, openstack, proxied, golden
):
    variables, (placement, _) = proxied
    second = providers(admin)["cmp01"]
    placement.fault = lambda request: (
        Instead(403) if request.is_write and second in request.path else None
    )
    run = openstack(*ISOLATE, variables=variables)
    assert run.code == 1
    assert rows(run) == [
        ("trait", GOLD, "unchanged"),
        ("host", "cmp00", "changed"),
        ("host", "cmp01", "failed"),
        ("mirror", "cmp00", "unchanged"),
        ("mirror", "cmp01", "unchanged"),
        ("flavor", "golden", "not done"),
        ("aggregate", "gold", "not done"),
    ]
    assert run.json[2]["detail"].startswith("placement: as the test wants it")
    assert run.err.splitlines()[-1] == (
        "1 of 7 failed, 2 not done; the same command again goes on once no service "
        "refuses what failed"
    )
    assert specs(admin, golden) == metadata(admin, aggregate) == {}
    placement.fault = lambda request: None
    assert openstack(*ISOLATE, variables=variables).code == 0
    assert metadata(admin, aggregate) == REQUIRED


def _interrupting(request):
    os.kill(os.getpid(), signal.SIGINT)
    return Instead(403)


@pytest.mark.parametrize(
    ("trouble", "code", "said"),
    [
        (lambda request: Instead(403), 1, "1 of 4 failed, 2 not done"),
        (_interrupting, 130, "interrupted after 1 of 4"),
    ],
    ids=["failed", "interrupted"],
)
def test_what_goes_on_with_the_way_back_can_be_pasted_and_removes_what_was_to_go(
    cloud, aggregate, admin, openstack, proxied, golden, trouble, code, said
):
    variables, (_, nova) = proxied
    assert openstack(*ISOLATE).code == 0
    nova.fault = lambda request: (
        trouble(request)
        if request.is_write and "os-extra_specs" in request.path
        else None
    )
    run = openstack("unisolate", "gold", "--remove-traits", variables=variables)
    nova.fault = lambda request: None
    assert run.code == code
    again = f"unisolate --remove-traits gold {GOLD}"
    printed = f"openstack trait-sched {again} --nova-conf {cloud.nova_conf}"
    assert run.err.splitlines()[-1] == (
        f"{said}; {printed} goes on once no service refuses what failed"
    )
    assert (metadata(admin, aggregate), specs(admin, golden)) == ({}, REQUIRED)
    assert openstack(*again.split()).code == 0
    assert (hosts_with(admin), specs(admin, golden)) == (set(), {})


def test_passing_trouble_of_nova_is_got_over_in_one_run(
    aggregate, openstack, proxied, golden, admin
):
    variables, (_, compute) = proxied
    compute.fault = lambda request: (
        Instead(503) if request.is_write and request.number % 2 else None
    )
    for command, spec in ((ISOLATE, REQUIRED), (UNISOLATE, {})):
        run = openstack(*command, variables=variables)
        assert run.code == 0
        assert "failed" not in {status for _, _, status in rows(run)}
        assert specs(admin, golden) == metadata(admin, aggregate) == spec
    assert len(compute.writes) >= 8


def test_a_host_that_joins_meanwhile_is_not_closed_in_without_its_trait(
    aggregate, admin, openstack, proxied
):
    variables, (_, compute) = proxied

    def join(request):
        if request.is_write and request.number == 1:
            admin.compute.add_host_to_aggregate(aggregate, "cmp02")

    compute.fault = join
    run = openstack(*ISOLATE, variables=variables)
    assert run.code == 1
    assert run.json[-1]["status"] == "failed"
    assert run.json[-1]["detail"] == (
        "cmp02 joined the aggregate meanwhile; run the command again"
    )
    assert metadata(admin, aggregate) == {}
    compute.fault = lambda request: None
    assert openstack(*ISOLATE, variables=variables).code == 0
    assert hosts_with(admin) == {*INSIDE, "cmp02"}


def test_of_two_who_isolate_it_at_once_the_second_looks_again_whom_that_strands(
    aggregate, admin, openstack, proxied, cloud, golden
):
    variables, (_, compute) = proxied
    silver = {f"trait:{SILVER}": "required"}

    def isolate(request):
        if request.is_write and request.number == 1:
            admin.compute.set_aggregate_metadata(aggregate, silver)

    compute.fault = isolate
    run = openstack(*ISOLATE, variables=variables)
    assert run.code == 1
    assert run.json[-1]["status"] == "failed"
    assert run.json[-1]["detail"] == (
        f"'trait:{SILVER}' came to isolate the aggregate meanwhile; run "
        "the command again"
    )
    assert metadata(admin, aggregate) == silver
    compute.fault = lambda request: None
    # What is printed to take it back does, with openstack's own commands, too.
    said = run.err.splitlines()
    assert "the same command again goes on" in "".join(said)
    for command in said[said.index(next(s for s in said if "take it back" in s)) + 1 :]:
        assert shell.run(cloud.environment, *shlex.split(command)[1:]).code == 0
    assert (hosts_with(admin), specs(admin, golden)) == (set(), {})
    assert metadata(admin, aggregate) == silver


def test_a_trait_that_others_take_before_the_aggregate_is_closed_is_said(
    aggregate, admin, openstack, proxied, make
):
    variables, (_, compute) = proxied

    def take(request):
        if request.is_write and request.number == 1:
            make.takes(GOLD, "cmp01")

    compute.fault = take
    run = openstack(*ISOLATE, variables=variables)
    mends = f"openstack trait-sched add {GOLD} --provider cmp01"
    assert (run.code, {status for _, _, status in rows(run)} - {"unchanged"}) == (
        1,
        {"changed"},
    )
    assert run.json[2]["differs"] == {"overwritten": [mends]}
    assert run.err.splitlines()[-1] == (
        f"host cmp01 lacks {GOLD}: others changed it meanwhile; {mends} mends it"
    )
    assert openstack(*shlex.split(mends)[2:]).code == 0
    assert hosts_with(admin) == INSIDE


def test_without_a_flavor_that_is_deleted_before_its_step_it_goes_on(
    aggregate, admin, openstack, proxied, make
):
    variables, (placement, _) = proxied
    gone = admin.compute.create_flavor(name="gone", vcpus=1, ram=512, disk=1)

    def delete(request):
        if request.is_write and request.number == 1:
            admin.compute.delete_flavor(gone)

    placement.fault = delete
    run = openstack(*ISOLATE, "--flavor", "gone", variables=variables)
    assert run.code == 1
    assert [row["differs"] for row in run.json if row["object"] == "gone"] == [
        {"gone": []}
    ]
    on = f"openstack trait-sched isolate gold {GOLD} --flavor golden --nova-conf"
    assert f"without flavor 'gone', deleted meanwhile, {on}" in run.err
    assert openstack(*ISOLATE).code == 0
    assert metadata(admin, aggregate) == REQUIRED


def test_a_flavor_that_comes_to_forbid_the_trait_meanwhile_is_not_turned_round(
    aggregate, admin, openstack, proxied, golden
):
    variables, (placement, _) = proxied
    forbidden = {f"trait:{GOLD}": "forbidden"}

    def forbid(request):
        if request.is_write and request.number == 1:
            admin.compute.create_flavor_extra_specs(golden, forbidden)

    placement.fault = forbid
    run = openstack(*ISOLATE, variables=variables)
    assert (run.code, run.json[-2]["status"], run.json[-1]["status"]) == (
        1,
        "failed",
        "not done",
    )
    assert run.json[-2]["detail"].startswith(f"flavor 'golden' forbids {GOLD}")
    assert specs(admin, golden) == forbidden


# What it refuses, and what it says


def test_nobody_is_left_without_a_host_unless_forced(
    aggregate, openstack, proxied, admin
):
    variables, proxies = proxied
    for host in sorted(OUTSIDE):
        admin.compute.add_host_to_aggregate(aggregate, host)
    for dry in ((), ("--dry-run",)):
        run = openstack(*ISOLATE, *dry, variables=variables)
        assert (run.code, run.out) == (5, "")
        assert run.err == (
            "nothing written: no host would be left for flavor 'small'; --force "
            "overrides this\n"
        )
    assert not [request for proxy in proxies for request in proxy.writes]
    run = openstack(*ISOLATE, "--force", variables=variables)
    assert run.code == 0
    assert "flavor 'small' will lose 4 of 4 hosts, 4 of them in the aggregate" in (
        run.err
    )


def test_a_zone_that_would_have_no_host_left_is_named(aggregate, openstack, make):
    make.aggregate("zone", *sorted(INSIDE), availability_zone="az-gold")
    run = openstack(*ISOLATE)
    assert (run.code, run.out) == (5, "")
    assert run.err == (
        "nothing written: no host would be left for flavor 'small' in zone 'az-gold'; "
        "--force overrides this\n"
    )


def test_a_flavor_that_can_be_nowhere_with_the_trait_is_not_made_to_require_it(
    aggregate, openstack, make
):
    make.flavor("away", {f"trait:{SILVER}": "required"})
    make.traits(SILVER, "cmp03")
    run = openstack(*ISOLATE, "--flavor", "away")
    assert (run.code, run.out) == (5, "")
    assert "no host would be left for flavor 'away'" in run.err


def test_a_flavor_that_forbids_the_trait_is_an_error_and_nothing_is_written(
    aggregate, admin, openstack, golden
):
    admin.compute.create_flavor_extra_specs(golden, {f"trait:{GOLD}": "forbidden"})
    run = openstack(*ISOLATE)
    assert (run.code, run.out) == (1, "")
    assert run.err == (
        f"flavor 'golden' forbids {GOLD}; unset that first, or leave the flavor out\n"
    )
    assert not hosts_with(admin)


def test_it_says_who_loses_which_hosts(aggregate, openstack):
    run = openstack(*ISOLATE, "--image", "raw", "--dry-run")
    assert run.err.splitlines() == [
        "flavor 'golden' will lose 2 of 4 hosts, none of them in the aggregate, and "
        "keep 2",
        "flavors 'golden', 'small' with image 'raw' will lose 2 of 4 hosts, none of "
        "them in the aggregate, and keep 2",
        "flavor 'small' will lose 2 of 4 hosts, 2 of them in the aggregate, and keep 2",
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            (),
            f"nothing says that {{}} is on (the default of {chosen().taken_for}): ",
        ),
        (("--set", f"{UNFILTERED}=false"), "{} is off (--set"),
        (("--set", f"{UNFILTERED}=true"), ""),
    ],
)
def test_it_says_that_nothing_is_isolated_while_the_scheduler_does_not_do_it(
    aggregate, cloud, options, said
):
    arguments = ("trait-sched", *ISOLATE, "--dry-run", *options)
    run = shell.run(cloud.environment, *arguments)
    first, *others = run.err.splitlines()
    if said:
        assert first.startswith(said.format(AS_IN_NOVA_CONF))
        first = others[0]
    # Of flavors it says what will be when the option is on.
    assert first.endswith("and keep 2")


def test_it_says_where_other_traits_are_needed_too(aggregate, make, openstack):
    make.traits(SILVER, "cmp01")
    make.aggregate("silver", "cmp01", **{f"trait:{SILVER}": "required"})
    run = openstack(*ISOLATE, "--dry-run")
    assert f"cmp01 is also in aggregate 'silver': a request needs {SILVER}, too\n" in (
        run.err
    )


def test_it_says_that_nobody_could_use_the_hosts(aggregate, openstack):
    run = openstack("isolate", "gold", GOLD, "--dry-run")
    assert f"no flavor requires {GOLD}: none could use these hosts" in run.err


def test_an_aggregate_without_hosts_is_isolated_and_said_to_have_none(
    make, gold, golden, openstack, admin
):
    empty = make.aggregate("gold")
    assert openstack(*ISOLATE).code == 5
    run = openstack("isolate", "gold", GOLD)
    assert run.code == 0
    assert "aggregate 'gold' has no hosts" in run.err
    assert metadata(admin, empty) == REQUIRED


# What the way back leaves as it is


def test_flavors_keep_a_trait_that_another_aggregate_is_isolated_by(
    aggregate, make, openstack, admin, golden
):
    make.aggregate("other", "cmp01", "cmp02", **REQUIRED)
    openstack("add", GOLD, "--host", "cmp02")
    assert openstack(*ISOLATE).code == 0
    run = openstack(*UNISOLATE)
    assert rows(run) == [
        ("aggregate", "gold", "changed"),
        ("flavor", "golden", "unchanged"),
        ("host", "cmp00", "changed"),
        ("host", "cmp01", "unchanged"),
    ]
    said = f"{GOLD} stays: it isolates 'other', too"
    assert [row["detail"] for row in run.json] == [
        f"without trait:{GOLD}=required",
        said,
        f"without {GOLD}",
        said,
    ]
    assert specs(admin, golden) == REQUIRED
    assert hosts_with(admin) == {"cmp01", "cmp02"}


def test_flavors_keep_a_trait_that_other_hosts_have(
    aggregate, openstack, admin, golden
):
    openstack("add", GOLD, "--host", "cmp03")
    assert openstack(*ISOLATE).code == 0
    run = openstack(*UNISOLATE)
    assert run.code == 0
    assert run.json[1]["detail"] == f"{GOLD} stays: cmp03 has it, too"
    assert "flavor 'golden' will lose 2 of 3 hosts" in run.err
    assert specs(admin, golden) == REQUIRED
    assert hosts_with(admin) == {"cmp03"}


def test_a_standard_trait_stays_on_hosts_and_in_flavors(make, openstack, admin):
    disk = "STORAGE_DISK_SSD"
    made = make.aggregate("gold", "cmp00")
    flavor = make.flavor("golden")
    make.after(openstack, "remove", disk, "--all", "--force")
    assert openstack("isolate", "gold", disk, "--flavor", "golden").code == 0
    run = openstack("unisolate", "gold", "--remove-traits", "-f", "json")
    assert rows(run) == [
        ("aggregate", "gold", "changed"),
        ("flavor", "golden", "unchanged"),
        ("host", "cmp00", "unchanged"),
    ]
    assert metadata(admin, made) == {}
    assert specs(admin, flavor) == {f"trait:{disk}": "required"}
    assert hosts_with(admin, disk) == {"cmp00"}


def test_opening_it_alone_leaves_the_traits_everywhere(
    aggregate, openstack, admin, golden
):
    assert openstack(*ISOLATE).code == 0
    for status in ("changed", "unchanged"):
        run = openstack("unisolate", "gold", "-f", "json")
        assert (run.code, rows(run)) == (0, [("aggregate", "gold", status)])
    assert metadata(admin, aggregate) == {}
    assert hosts_with(admin) == INSIDE
    assert specs(admin, golden) == REQUIRED


def test_a_trait_that_a_server_requires_is_not_removed_from_the_last_hosts(
    aggregate, openstack, admin, make, golden, raw
):
    assert openstack(*ISOLATE).code == 0
    boot = make.boot(golden, raw)
    make.after(make.delete, boot)
    assert boot.host in INSIDE
    for command in (UNISOLATE, ("remove", GOLD, "--all")):
        # Of a flavor that still requires it remove speaks before.
        if command is not UNISOLATE:
            admin.compute.delete_flavor_extra_specs_property(golden, f"trait:{GOLD}")
            admin.compute.set_aggregate_metadata(aggregate, {f"trait:{GOLD}": None})
        run = openstack(*command)
        assert (run.code, run.out) == (5, "")
        assert f"({boot.server}, on {boot.host})" in run.err
        assert hosts_with(admin) == INSIDE
    assert openstack(*UNISOLATE, "--force").code == 0
    assert not hosts_with(admin)


def test_a_trait_that_a_server_needs_for_its_image_is_not_removed_while_that_shows(
    aggregate, openstack, admin, make, small
):
    image = make.image("golden", **REQUIRED)
    assert openstack(*ISOLATE).code == 0
    boot = make.boot(small, image)
    make.after(make.delete, boot)
    assert boot.host in INSIDE
    server = f"({boot.server}, on {boot.host})"
    run = openstack(*UNISOLATE)
    assert (run.code, run.out) == (5, "")
    assert f"it is still required by 1 server: 'asked' {server}" in run.err
    assert hosts_with(admin) == INSIDE
    admin.image.delete(f"/images/{image}")
    run = openstack(*UNISOLATE)
    assert run.code == 0
    assert "what the image requires can't be seen" in run.err
    assert server in run.err
    assert not hosts_with(admin)


def test_isolating_names_the_servers_that_stay_on_the_other_side(
    aggregate, openstack, make, small, raw
):
    boots = [make.boot(small, raw) for _ in range(4)]
    for boot in boots:
        make.after(make.delete, boot)
    run = openstack(*ISOLATE, "--dry-run")
    assert f"2 servers in the aggregate not requiring {GOLD}, left there" in run.err
    assert {b.server for b in boots if b.server in run.err} == {
        b.server for b in boots if b.host in INSIDE
    }


def test_without_traits_it_knows_none_when_the_metadata_names_none(
    aggregate, openstack
):
    openstack("add", GOLD, "--host", "cmp00", "--host", "cmp01")
    run = openstack("unisolate", "gold", "--remove-traits")
    assert run.code == 1
    assert run.err == (
        "no trait isolates aggregate 'gold', so that it is not known what to remove; "
        "if an earlier run was stopped half way, name the traits that it was to "
        f"remove; all of its hosts have {GOLD}, which may have other purposes\n"
    )


@pytest.mark.parametrize("verb", ["isolate", "unisolate"])
def test_what_is_not_there_and_what_may_not_be_read_is_one_line(
    aggregate, cloud, openstack, verb
):
    run = openstack(verb, "glod", GOLD)
    assert (run.code, run.err) == (
        1,
        "no aggregate matches 'glod'; did you mean gold?\n",
    )
    run = openstack(verb, "gold", GOLD, variables=cloud.environment_of("demo"))
    assert (run.code, run.out, len(run.err.splitlines())) == (1, "", 1)
    assert "roles are not enough: member, reader (by default it takes admin)" in run.err


# Removing looks ahead, and again


def test_a_trait_that_a_flavor_needs_beside_another_is_not_removed(
    make, openstack, admin
):
    make.traits(GOLD, "cmp00", "cmp01")
    make.traits(SILVER, "cmp00", "cmp02")
    both = {f"trait:{name}": "required" for name in (GOLD, SILVER)}
    make.flavor("both", both)
    run = openstack("remove", GOLD, "--host", "cmp00")
    assert (run.code, run.out) == (5, "")
    assert run.err == (
        "nothing written: no host would be left for flavor 'both'; --force overrides "
        "this\n"
    )
    assert hosts_with(admin) == INSIDE
    assert openstack("remove", GOLD, "--host", "cmp01").code == 0


def test_of_two_who_remove_a_trait_at_once_the_second_sees_that_no_host_has_it(
    make, openstack, admin, proxied
):
    make.traits(GOLD, *INSIDE)
    make.flavor("golden", REQUIRED)
    variables, (placement, _) = proxied

    def rival(request):
        if request.is_write and request.number == 1:
            make.takes(GOLD, "cmp01")

    placement.fault = rival
    arguments = ("remove", GOLD, "--host", "cmp00", "-f", "json")
    run = openstack(*arguments, variables=variables)
    assert (run.code, run.statuses) == (1, {"cmp00": "changed"})
    assert not hosts_with(admin)
    back = f"openstack trait-sched add {GOLD} --host cmp00"
    assert f"; {back} gives it back" in run.err
    assert openstack(*back.split()[2:]).code == 0
    assert hosts_with(admin) == {"cmp00"}
