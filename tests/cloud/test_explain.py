"""explain and candidates where a real Nova, Placement and Glance answer."""

from __future__ import annotations

import functools

import pytest
import yaml

from tests.cloud import logs
from tests.cloud.factory import PLACEMENT, factory, providers
from tests.cloud.proxied import services
from tests.functional import shell
from tests.schemas import closed

GOLD = "CUSTOM_GOLD"
HOSTS = [f"cmp{number:02d}" for number in range(6)]


@pytest.fixture(scope="module")
def admin(prefiltering):
    return prefiltering.admin()


@pytest.fixture(scope="module")
def lasting(admin):
    """Makes what all tests of this module share."""
    with factory(admin) as maker:
        yield maker


@pytest.fixture(scope="module")
def small(lasting):
    """A flavor that every compute has room for."""
    return lasting.flavor("small")


@pytest.fixture(scope="module")
def raw(lasting):
    """An image of the only format that the fake computes support."""
    return lasting.image("raw")


@pytest.fixture
def make(admin):
    """Makes what one test needs."""
    with factory(admin) as maker:
        yield maker


@pytest.fixture
def gold(make):
    """A flavor that requires a trait which cmp00 and cmp01 have."""
    make.traits(GOLD, "cmp00", "cmp01")
    return make.flavor("gold", {f"trait:{GOLD}": "required"})


@pytest.fixture(scope="module")
def openstack(prefiltering):
    """Runs a verb with the very file that the scheduler runs with."""
    file = str(prefiltering.nova_conf)

    def run(verb, *arguments, variables=prefiltering.environment):
        options = ("trait-sched", verb, *arguments, "--nova-conf", file)
        return shell.run(variables, *options)

    return run


@pytest.fixture(scope="module")
def explain(openstack, small, raw):
    """Explains as JSON, which has to be as the schema says."""

    def run(flavor="small", image="raw", *options, code, **more):
        done = openstack("explain", flavor, image, *options, "-f", "json", **more)
        assert (done.code, done.err) == (code, "")
        closed("explain").validate(done.json)
        return done.json

    return run


def host_of(found, name):
    (host,) = (host for host in found["hosts"] if host["host"] == name)
    return host


def failing(found):
    """Return the conditions that each host fails, by its name."""
    return {host["host"]: host["failing"] for host in found["hosts"]}


# Why there is no host


def test_every_host_is_a_candidate_for_what_all_have_room_for(explain):
    found = explain(code=0)
    assert (found["verdict"], found["candidates"]) == ("candidates", HOSTS)
    assert (found["total_hosts"], found["conflicts"], found["fixes"]) == (6, [], [])


def test_what_memory_there_is_is_told_as_placement_has_it(make, admin, explain, raw):
    half = make.flavor("half", ram=4096)
    make.used("cmp03", half, raw)
    make.flavor("large", ram=8000)
    found = explain("large", "raw", "--host", "cmp0*", code=3)
    assert found["conflicts"] == [["resources:MEMORY_MB"]]
    for host in HOSTS:
        path = f"/resource_providers/{providers(admin)[host]}"
        get = functools.partial(admin.placement.get, microversion=PLACEMENT)
        inventory = get(f"{path}/inventories").json()["inventories"]["MEMORY_MB"]
        del inventory["allocation_ratio"]
        used = get(f"{path}/usages").json()["usages"]["MEMORY_MB"]
        assert used == (4096 if host == "cmp03" else 0)
        (figures,) = (
            each
            for each in host_of(found, host)["inventories"]
            if each["resource_class"] == "MEMORY_MB"
        )
        free = inventory["total"] - inventory["reserved"] - used
        assert figures == {
            **figures,
            **inventory,
            "asked": 8000,
            "free": free,
            "used": used,
        }


def test_a_disabled_service_is_named_with_its_reason(make, gold, explain):
    make.disabled("cmp00", "disk is dying")
    make.disabled("cmp01", "")
    found = explain("gold", code=3)
    assert failing(found)["cmp00"] == ["root_required:!COMPUTE_STATUS_DISABLED"]
    assert host_of(found, "cmp00")["service"] == {
        "host": "cmp00",
        "up": True,
        "enabled": False,
        "disabled_reason": "disk is dying",
    }
    assert host_of(found, "cmp01")["service"]["disabled_reason"] is None
    enabling = {
        fix["text"]: (fix["gained_hosts"], fix["commands"])
        for fix in found["fixes"]
        if "enable" in fix["text"]
    }
    enable = "openstack compute service set --enable {} nova-compute".format
    assert enabling == {"enable nova-compute on cmp01": (["cmp01"], [enable("cmp01")])}
    assert found["fixes"][-1]["text"] == "cmp00 is disabled: disk is dying"
    assert found["fixes"][-1]["commands"] == []


@pytest.fixture
def unmirrored(make):
    """An aggregate in a zone of its own, of which Placement has lost one host."""
    east = make.aggregate("east", "cmp04", "cmp05", availability_zone="az-east")
    make.unmirrored("cmp04", east)
    return east


def test_a_host_that_placement_lost_from_an_aggregate_says_who_has_it(
    unmirrored, openstack, explain
):
    zone = ("--availability-zone", "az-east")
    found = explain("small", "raw", *zone, code=0)
    assert found["candidates"] == ["cmp05"]
    assert host_of(found, "cmp04")["out_of_sync_aggregates"] == [
        {"aggregate": "east", "in_nova": True, "in_placement": False}
    ]
    assert host_of(found, "cmp00")["out_of_sync_aggregates"] == []
    text = openstack("explain", "small", "raw", *zone, "--long").out
    assert "Nova has it in aggregate east, Placement does not" in text


def test_a_lost_host_is_synced_and_no_other_host_changes_its_zone(
    unmirrored, make, explain
):
    make.disabled("cmp05", "")
    found = explain("small", "raw", "--availability-zone", "az-east", code=3)
    fixes = {tuple(fix["gained_hosts"]): fix["commands"] for fix in found["fixes"]}
    assert fixes[("cmp04",)] == ["openstack trait-sched mirror repair"]
    assert [hosts for hosts in fixes if "cmp00" in hosts] == []


# What Nova or Placement rejects


def test_a_zone_that_is_not_there_is_refused_though_placement_has_hosts(
    make, openstack, explain, small, raw
):
    make.aggregate("east", "cmp04", availability_zone="az-east")
    found = explain("small", "raw", "--availability-zone", "az-eats", code=3)
    assert (found["verdict"], found["candidates"]) == ("rejected", [])
    assert (found["rejection"]["stage"], found["rejection"]["keys"]) == (
        "api",
        ["az-eats"],
    )
    boot = make.boot(small, raw, availability_zone="az-eats")
    assert boot.refused == "The requested availability zone is not available"
    done = openstack("candidates", "small", "raw", "--availability-zone", "az-eats")
    assert (done.code, done.out) == (3, "")
    assert "in the zone az-eats (InvalidRequest)" in done.err
    assert "did you mean az-east?" in done.err


def test_the_zone_of_novas_own_services_restricts_nothing_though_nova_takes_it(
    make, explain, small, raw
):
    found = explain("small", "raw", "--availability-zone", "internal", code=0)
    boot = make.boot(small, raw, availability_zone="internal")
    make.delete(boot)
    assert boot.status == "ACTIVE"
    assert boot.host in found["candidates"]


def test_a_zone_whose_hosts_are_all_disabled_is_refused_with_what_would_help(
    make, explain, small, raw
):
    make.aggregate("east", "cmp04", availability_zone="az-east")
    make.disabled("cmp04", "")
    found = explain("small", "raw", "--availability-zone", "az-east", code=3)
    assert (found["verdict"], found["rejection"]["by"]) == ("rejected", "nova")
    assert make.boot(small, raw, availability_zone="az-east").refused
    commands = [fix["commands"] for fix in found["fixes"] if fix["commands"]]
    assert ["openstack compute service set --enable cmp04 nova-compute"] in commands


# What is asked


def test_a_private_flavor_is_refused_to_those_who_may_not_use_it(
    make, prefiltering, admin, explain, raw
):
    private = make.flavor("private", is_public=False)
    theirs = ("private", "raw", "--project", "demo")
    found = explain(*theirs, code=3)
    assert (found["verdict"], found["rejection"]["by"]) == ("rejected", "nova")
    assert "private" in found["rejection"]["text"]
    user = prefiltering.connection_of("demo")
    assert private.id in make.boot(private, raw, user).refused
    assert explain("private", code=0)["candidates"] == HOSTS
    demo = admin.identity.find_project("demo").id
    admin.compute.flavor_add_tenant_access(private, demo)
    assert explain(*theirs, code=0)["candidates"] == HOSTS
    boot = make.boot(private, raw, user)
    assert boot.status == "ACTIVE"
    make.delete(boot)


# An image or a flavor alone, and the verdict alone


def test_an_image_alone_has_the_hosts_of_each_flavor(
    make, gold, small, openstack, explain
):
    make.flavor("too-large", ram=80_000)
    make.flavor("unknown", {"trait:CUSTOM_NOWHERE": "forbidden"})
    make.disabled("cmp05", "maintenance")
    make.image("windows", hw_machine_type="q35")
    done = openstack("explain", "--image", "windows", "-f", "json")
    assert (done.code, done.err) == (0, "")
    closed("image show").validate(done.json)
    flavors = {each["flavor"]["name"]: each for each in done.json["flavors"]}
    assert flavors.keys() >= {"gold", "small", "too-large"}
    for name, each in flavors.items():
        code = 0 if each["candidates"] else 3
        one = explain(name, "windows", "--no-fixes", code=code)
        assert one["candidates"] == each["candidates"]
    assert flavors["gold"]["candidates"] == ["cmp00", "cmp01"]
    assert flavors["small"]["candidates"] == HOSTS[:5]
    text = openstack("explain", "--image", "windows").out.splitlines()
    assert text[0].startswith("windows: 5 of 6 hosts now (cmp[00-04])")
    assert "  now          gold, small" in text
    assert len(text) <= 24


def test_a_flavor_alone_has_the_hosts_for_an_image_without_properties(
    gold, openstack, explain
):
    done = openstack("explain", "--flavor", "gold", "-f", "json")
    assert (done.code, done.err.count("\n")) == (0, 1)
    assert done.json["candidates"] == explain("gold", code=0)["candidates"]
    assert done.json["request"]["image"] is None


def test_quiet_is_the_verdict_alone(make, prefiltering, raw):
    make.traits(GOLD, "cmp00", "cmp01")
    flavor = make.flavor("golden", {f"trait:{GOLD}": "required"})
    boot = make.boot(flavor, raw, name="calm")
    try:
        for arguments, verdict in (
            (("server", "explain", "calm"), "Nova would still allow "),
            (("server", "destinations", "calm"), "Live migration of calm from "),
            (("host", "drain", boot.host), "The only server can move off "),
            (("server", "misplaced"), "The only server"),
            (("config", "doctor"), "Unknown, and it matters on this cloud: "),
        ):
            done = shell.run(prefiltering.environment, "-q", "trait-sched", *arguments)
            assert done.out.startswith(verdict), done
            assert done.out.count("\n") == 1
    finally:
        make.delete(boot)


def test_json_and_yaml_are_the_same_document(gold, openstack, raw):
    done = {
        name: openstack("explain", "gold", "raw", "-f", name)
        for name in ("json", "yaml")
    }
    assert yaml.safe_load(done["yaml"].out) == done["json"].json
    assert {each.code for each in done.values()} == {0}


# candidates


@pytest.fixture
def proxied(prefiltering, openstack):
    """Runs a verb; returns how it ended, and what Placement and Nova were sent."""
    names = ("placement", "compute")
    with services(prefiltering, *names) as (variables, proxies):

        def run(*arguments):
            before = [len(proxy.requests) for proxy in proxies]
            done = openstack(*arguments, variables=variables)
            sent = (p.requests[n:] for p, n in zip(proxies, before))
            return done, dict(zip(names, sent))

        yield run


def test_candidates_are_what_placement_answers_to_novas_query(
    gold, raw, admin, openstack
):
    query = openstack("candidates", "gold", "raw", "--print-query", "-f", "value").out
    answer = admin.placement.get(
        f"/allocation_candidates?{query.strip()}", microversion=PLACEMENT
    ).json()
    names = {uuid: name for name, uuid in providers(admin).items()}
    rows = openstack("candidates", "gold", "raw", "-f", "json").json
    assert [row["host"] for row in rows] == sorted(
        names[uuid] for uuid in answer["provider_summaries"]
    )
    assert [row["host"] for row in rows] == ["cmp00", "cmp01"]
    assert rows[0]["provider"] == providers(admin)["cmp00"]
    assert "MEMORY_MB=7680 of 7680" in rows[0]["free"]


def test_print_query_asks_placement_for_no_candidates(gold, raw, proxied):
    done, requests = proxied("candidates", "gold", "raw", "--print-query")
    assert done.code == 0
    for request in requests["placement"]:
        assert "allocation_candidates" not in request.path


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {f"trait:{GOLD}": "required"},
        {"trait:HW_CPU_X86_AVX2": "forbidden", "resources:VCPU": "3"},
        {"resources1:VCPU": "2", f"trait1:{GOLD}": "required"},
        {"hw:cpu_policy": "dedicated"},
    ],
)
def test_the_printed_query_is_the_one_that_the_scheduler_sends(
    make, prefiltering, openstack, properties
):
    make.traits(GOLD, "cmp00", "cmp01")
    make.traits("CUSTOM_SILVER", "cmp02")
    make.aggregate("gold", "cmp00", **{f"trait:{GOLD}": "required"})
    make.aggregate("silver", "cmp02", **{"trait:CUSTOM_SILVER": "required"})
    make.aggregate("east", "cmp01", "cmp05", availability_zone="az-east")
    flavor = make.flavor("asking", properties)
    image = make.image("video", hw_video_model="virtio", hw_disk_bus="virtio")
    zone = ("--availability-zone", "az-east")
    printed = openstack(
        *("candidates", "asking", "video", *zone, "--print-query", "-f", "json")
    ).json
    boot = make.boot(flavor, image, availability_zone="az-east")
    make.delete(boot)
    sent = logs.queries(prefiltering, boot.request)
    assert [row["query"] for row in printed] == sent
    assert len(sent) == (2 if "hw:cpu_policy" in properties else 1)
