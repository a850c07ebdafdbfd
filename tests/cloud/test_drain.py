"""Plans that empty a host, carried out as they are printed."""

from __future__ import annotations

import pytest

from tests.cloud.factory import factory
from tests.cloud.moving import (
    body,
    carry_out,
    enable,
    moves_of,
    openstack,
    run_script,
    settled,
)
from tests.schemas import closed

GOLD = "CUSTOM_GOLD"


@pytest.fixture(scope="module")
def admin(prefiltering):
    return prefiltering.admin()


@pytest.fixture
def make(admin):
    with factory(admin) as maker:
        maker.raw = maker.image("raw")
        maker.small = maker.flavor("small")
        yield maker


@pytest.fixture
def run(prefiltering, monkeypatch):
    return openstack(prefiltering, monkeypatch)


@pytest.fixture
def plan(prefiltering, run):
    def planned(*hosts, code=0):
        options = ("--nova-conf", str(prefiltering.nova_conf), "-f", "json")
        done = run("trait-sched", "host", "drain", *hosts, *options)
        assert (done.err, done.code) == ("", code)
        closed("host drain").validate(done.json)
        return done.json

    return planned


@pytest.fixture
def put(make):
    """Puts a server on a host."""

    def boot(name, flavor=None, host="cmp00", **more):
        found = make.boot(flavor or make.small, make.raw, name=name, host=host, **more)
        make.after(make.delete, found)
        assert found.host == host, found
        return found

    return boot


def carried_out(make, run, found):
    """Do all that a plan prints, and return where each of its servers is then."""
    carry_out(run, found["before"])
    if found["before"]:
        compute = make.admin.compute
        (service,) = compute.services(binary="nova-compute", host=found["host"]["name"])
        make.after(compute.enable_service, service)
    for step in found["steps"]:
        carry_out(run, step["commands"])
    return {
        step["server"]["name"]: settled(make, step["server"]["id"], step["host"])
        for step in found["steps"]
    }


def destinations(found):
    return {
        step["server"]["name"]: (step["host"], step["server"]["status"])
        for step in found["steps"]
    }


def stuck(found):
    return {each["server"]["name"]: each for each in found["stuck"]}


def test_every_server_arrives_where_the_plan_says(make, put, plan, run):
    make.traits(GOLD, "cmp00", "cmp02")
    east = ("cmp00", "cmp01", "cmp02")
    make.aggregate("east", *east, availability_zone="az-east")
    apart, together = make.group("anti-affinity"), make.group("affinity")
    half = make.flavor("half", ram=1024, vcpus=2)
    put("web-1")
    put("web-2")
    put("large-1", half)
    put("gold-1", make.flavor("gold", {f"trait:{GOLD}": "required"}))
    put("east-1", availability_zone="az-east")
    put("apart-1", hints={"group": apart})
    put("apart-2", host="cmp03", hints={"group": apart})
    put("apart-3", host="cmp04", hints={"group": apart})
    make.acts(put("off-1"), {"os-stop": None})
    make.acts(put("off-2", half), {"os-stop": None})
    make.acts(put("paused-1"), {"pause": None})
    make.acts(put("asleep-1"), {"suspend": None})
    put("together-1", hints={"group": together})
    found = plan("cmp00", code=3)
    assert found["summary"] == (
        "9 of 11 servers can move off cmp00 (7 live, 2 cold); asleep-1, together-1 "
        "can't."
    )
    where = destinations(found)
    assert where["gold-1"] == ("cmp02", "ACTIVE")
    assert where["east-1"][0] in east
    assert where["apart-1"][0] in ("cmp01", "cmp02", "cmp05")
    reasons = {name: each["why"] for name, each in stuck(found).items()}
    assert reasons == {"asleep-1": "rejected", "together-1": "no host"}
    assert carried_out(make, run, found) == where
    again = plan("cmp00", code=3)
    assert (again["steps"], again["host"]["enabled"]) == ([], False)
    for name, each in stuck(again).items():
        live = ("--live-migration",) if name == "together-1" else ()
        version = ("--os-compute-api-version", "2.30")
        done = run(*version, "server", "migrate", *live, each["server"]["id"])
        assert done.code == 1, name
        assert body(make, each["server"]["id"])["OS-EXT-SRV-ATTR:host"] == "cmp00"
    carry_out(run, [stuck(again)["asleep-1"]["first"]])
    server = stuck(again)["asleep-1"]["server"]["id"]
    assert settled(make, server, "cmp00") == ("cmp00", "ACTIVE")
    assert list(destinations(plan("cmp00", code=3))) == ["asleep-1"]


def test_one_that_finds_no_room_after_the_others_is_refused_by_nova(
    make, put, plan, run
):
    large = make.flavor("large", ram=3500)
    for number in range(1, 6):
        used = make.flavor(f"used-{number}", ram=5000 if number > 1 else 3000)
        put(f"other-{number}", used, host=f"cmp0{number}")
    put("large-1", large)
    put("large-2", large)
    put("small-1")
    found = plan("cmp00", code=3)
    assert found["summary"].startswith("2 of 3 servers can move off cmp00")
    (stays,) = found["stuck"]
    assert stays["why"] == "no room left"
    assert carried_out(make, run, found) == destinations(found)
    moved = ("--os-compute-api-version", "2.30", "server", "migrate")
    for host in ((), ("--host", "cmp01")):
        done = run(*moved, "--live-migration", *host, stays["server"]["id"])
        assert done.code == 1
        assert "No valid host was found" in done.err
    assert body(make, stays["server"]["id"])["OS-EXT-SRV-ATTR:host"] == "cmp00"


@pytest.mark.short
def test_servers_of_a_host_that_is_down_are_evacuated(
    prefiltering, make, put, plan, run
):
    make.traits(GOLD, "cmp03", "cmp05")
    gold = make.flavor("gold", {f"trait:{GOLD}": "required"})
    put("lost-1", host="cmp05")
    put("lost-2", gold, host="cmp05")
    make.acts(put("off-1", host="cmp05"), {"os-stop": None})
    make.forced_down("cmp05")
    make.after(prefiltering.forget_evacuations)
    found = plan("cmp05")
    assert found["summary"] == "All 3 servers can move off cmp05 (3 evacuated)."
    assert "cmp05 is powered off" in found["remarks"][0].replace("the host", "cmp05")
    assert destinations(found)["lost-2"] == ("cmp03", "ACTIVE")
    assert carried_out(make, run, found) == destinations(found)


def test_a_host_without_servers_needs_no_plan(plan):
    found = plan("cmp04")
    assert (found["summary"], found["servers"]) == ("No server is on cmp04.", 0)


def test_hosts_that_are_drained_together_are_no_destinations(make, put, plan, run):
    make.traits(GOLD, "cmp00", "cmp01")
    gold = make.flavor("gold", {f"trait:{GOLD}": "required"})
    rack = ("cmp00", "cmp01", "cmp02", "cmp03")
    make.aggregate("rack", *rack)
    put("web-1")
    put("web-2", host="cmp01")
    put("gold-1", gold)
    (stays,) = plan(*rack, code=3)["stuck"]
    assert stays["server"]["name"] == "gold-1"
    assert stays["text"] == ["Only cmp01 could take it, and is drained, too."]
    found = plan("--aggregate", "rack", code=3)
    assert [each["name"] for each in found["hosts"]] == list(rack)
    assert {step["host"] for step in found["steps"]} <= {"cmp04", "cmp05"}
    assert {step["server"]["host"] for step in found["steps"]} == {"cmp00", "cmp01"}
    for step in found["steps"]:
        carry_out(run, step["commands"])
        settled(make, step["server"]["id"], step["host"])
    assert plan(*rack, code=3)["steps"] == []


def test_the_script_moves_servers_and_stops_at_the_first_failure(
    make, put, prefiltering, run, tmp_path
):
    for name in ("one", "two"):
        put(name)
    make.acts(put("three"), {"os-stop": None})
    words = ("trait-sched", "host", "drain", "cmp00", "--script")
    conf = ("--nova-conf", str(prefiltering.nova_conf))
    text = run(*words, *conf).out
    (name, server, host), *others = moves_of(text)
    second, identity, to = others[0]
    make.after(enable, make.admin.compute, "cmp00")

    assert f"--host {to} {identity}" in text
    wrong = text.replace(f"--host {to} {identity}", f"--host nowhere {identity}")
    done = run_script(prefiltering, wrong, tmp_path)
    assert done.returncode == 1, done
    assert done.stdout == f"{name} -> {host}: there\n"
    start, why = done.stderr.split(").\nStopped: ")
    assert start.startswith(f"{second}: refused by Nova (Compute host nowhere"), done
    assert why == (
        "1 of 3 moved; cmp00 is disabled.\n"
        f"Why: openstack trait-sched server explain {identity}\n"
    )
    assert settled(make, server, host)[0] == host
    for _, server, _ in others:
        assert settled(make, server, "cmp00")[0] == "cmp00"

    text = run(*words, *conf).out
    moves = moves_of(text)
    assert {name for name, _, _ in moves} == {name for name, _, _ in others}
    done = run_script(prefiltering, text, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        *(f"{name} -> {host}: there" for name, _, host in moves),
        "2 of 2 moved; cmp00 is disabled.",
    ]
    for name, server, host in moves:
        status = "SHUTOFF" if name == "three" else "ACTIVE"
        assert settled(make, server, host) == (host, status), done
