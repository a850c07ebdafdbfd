"""A Placement that fails half way, and a command that is killed."""

from __future__ import annotations

import functools
import os
import random
import signal

import pytest

from tests.functional.placement import STANDARD
from tests.functional.proxy import CutAfter, CutBefore, Instead

HOSTS = 15
KILLED_HOSTS = 100


@pytest.fixture
def hosts(placement):
    placement.create_traits("CUSTOM_GOLD")
    return {
        name: placement.add_host(name, [*STANDARD, f"CUSTOM_OWN_{number}"])
        for number, name in enumerate(f"cmp{n:02d}" for n in range(HOSTS))
    }


def every_fifth_write(fault):
    return lambda request: (
        fault if request.is_write and request.number % 5 == 0 else None
    )


@pytest.mark.parametrize(
    "fault",
    [
        Instead(409, "placement.concurrent_update"),
        Instead(503),
        CutBefore(),
        CutAfter(),
    ],
    ids=["409", "503", "cut before", "cut after"],
)
def test_passing_trouble_is_got_over_in_one_run(
    hosts, placement, proxy, openstack, fault
):
    proxy.fault = every_fifth_write(fault)
    run = openstack("add", "CUSTOM_GOLD", "--all", "-f", "json")
    assert run.code == 0
    assert set(run.statuses.values()) == {"changed"}
    for number, provider in enumerate(hosts.values()):
        assert placement.traits(provider) == {
            *STANDARD,
            "CUSTOM_GOLD",
            f"CUSTOM_OWN_{number}",
        }


@pytest.mark.full
@pytest.mark.parametrize(
    "fault",
    [
        Instead(403),
        Instead(409, "placement.undefined_code"),
    ],
    ids=["403", "409 of another kind"],
)
def test_a_final_answer_fails_the_row_and_the_same_again_finishes(
    hosts, placement, proxy, openstack, fault
):
    proxy.fault = every_fifth_write(fault)
    run = openstack("add", "CUSTOM_GOLD", "--all", "-f", "json")
    assert run.code == 1
    failed = [row for row in run.json if row["status"] == "failed"]
    assert len(failed) == HOSTS // 5
    assert all(row["detail"].startswith("placement: as the test") for row in failed)
    assert all(row["added"] == [] for row in failed)
    assert len(proxy.writes) == HOSTS
    proxy.fault = lambda request: None
    run = openstack("add", "CUSTOM_GOLD", "--all", "-f", "json")
    assert run.code == 0
    assert list(run.statuses.values()).count("changed") == HOSTS // 5
    assert all("CUSTOM_GOLD" in placement.traits(p) for p in hosts.values())


def test_trouble_that_does_not_pass_ends_after_ten_tries(hosts, proxy, openstack):
    proxy.fault = lambda request: (
        Instead(409, "placement.concurrent_update") if request.is_write else None
    )
    run = openstack("add", "CUSTOM_GOLD", "--host", "cmp01", "-f", "json")
    assert run.statuses == {"cmp01": "failed"}
    assert "others changed this provider during every try" in run.json[0]["detail"]
    assert len(proxy.writes) == 10


def test_a_write_of_which_every_answer_is_lost_is_no_failure(
    hosts, placement, proxy, openstack
):
    def lose(request):
        if request.is_write:
            return CutAfter()
        return Instead(503) if proxy.writes else None

    proxy.fault = lose
    run = openstack("add", "CUSTOM_GOLD", "--host", "cmp01", "-f", "json")
    assert (run.code, run.statuses) == (1, {"cmp01": "unknown"})
    assert run.err == "1 of 1 unknown; to continue, run the same command again\n"
    assert run.json[0]["added"] == []
    assert "CUSTOM_GOLD" in placement.traits(hosts["cmp01"])


def test_a_provider_that_vanishes_half_way_fails_alone(
    hosts, placement, proxy, openstack
):
    def vanish(request):
        if request.is_write and request.number == 3:
            placement.call("DELETE", f"/resource_providers/{hosts['cmp02']}")

    proxy.fault = vanish
    run = openstack("add", "CUSTOM_GOLD", "--all", "-f", "json")
    assert run.code == 1
    assert [h for h, status in run.statuses.items() if status == "failed"] == ["cmp02"]


def test_a_rival_who_does_the_same_first_leaves_the_row_unchanged(
    hosts, placement, proxy, openstack
):
    def overtake(request):
        if request.is_write and request.number == 1:
            placement.set_traits(hosts["cmp00"], [*STANDARD, "CUSTOM_GOLD"])

    proxy.fault = overtake
    run = openstack("add", "CUSTOM_GOLD", "--host", "cmp00", "-f", "json")
    assert (run.code, run.statuses) == (0, {"cmp00": "unchanged"})


def test_ctrl_c_is_no_failure_even_if_the_write_that_it_hits_fails(
    hosts, proxy, openstack
):
    def interrupt(request):
        if request.is_write and request.number == 1:
            os.kill(os.getpid(), signal.SIGINT)
            return Instead(403)
        return None

    proxy.fault = interrupt
    run = openstack("add", "CUSTOM_GOLD", "--all", "-f", "json")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert run.code == 130
    assert run.statuses["cmp00"] in ("failed", "unknown")
    assert run.statuses["cmp14"] == "not done"
    assert run.err.splitlines()[-1].startswith("interrupted after ")


@pytest.mark.full
@pytest.mark.parametrize("kills", [5, pytest.param(15, marks=pytest.mark.full)])
def test_killed_at_any_moment_no_host_has_fewer_traits_and_the_next_run_finishes(
    placement, proxy, background, openstack, kills
):
    hosts = [placement.add_host(f"cmp{n:03d}") for n in range(KILLED_HOSTS)]
    moments = random.Random(20)
    part_way = 0
    names: list[str] = []
    for kill in range(kills):
        name = f"CUSTOM_K{kill}"
        names.append(name)
        placement.create_traits(name)
        before = placement.all_traits()
        start = functools.partial(background, "add", name, "--all", "--jobs", "2")
        proxy.kill_after(moments.randrange(KILLED_HOSTS), start)
        after = placement.all_traits()
        assert all(after[provider] >= before[provider] for provider in hosts)
        assert all(after[provider] <= {*STANDARD, *names} for provider in hosts)
        part_way += 0 < sum(name in after[provider] for provider in hosts) < len(hosts)
    assert part_way > kills // 2
    assert openstack("add", *names, "--all").code == 0
    after = placement.all_traits()
    assert all(after[provider] == {*STANDARD, *names} for provider in hosts)
