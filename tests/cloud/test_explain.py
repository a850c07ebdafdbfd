"""explain and candidates where a real Nova, Placement and Glance answer."""

from __future__ import annotations

import functools
import json
import pathlib

import jsonschema
import pytest
import yaml

from osc_traitsched.views.explain import document
from tests.cloud import logs
from tests.cloud.making import PLACEMENT, making, providers
from tests.functional import shell

GOLD = "CUSTOM_GOLD"
HOSTS = [f"cmp{number:02d}" for number in range(6)]
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((pathlib.Path(document.__file__).parent / "schema.json").read_text())
)


@pytest.fixture(scope="module")
def admin(prefiltering):
    return prefiltering.admin()


@pytest.fixture(scope="module")
def lasting(admin):
    """Makes what all tests of this module share."""
    with making(admin) as maker:
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
    with making(admin) as maker:
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
        SCHEMA.validate(done.json)
        return done.json

    return run


def host_of(found, name):
    (host,) = (host for host in found["hosts"] if host["host"] == name)
    return host


def clause_of(found, name):
    (clause,) = (clause for clause in found["clauses"] if clause["id"] == name)
    return clause


def failing(found):
    """Return the conditions that each host fails, by its name."""
    return {host["host"]: host["failing"] for host in found["hosts"]}


# Why there is no host


def test_every_host_is_a_candidate_for_what_all_have_room_for(explain):
    found = explain(code=0)
    assert (found["verdict"], found["candidates"]) == ("candidates", HOSTS)
    assert (found["total"], found["conflicts"], found["fixes"]) == (6, [], [])


def test_a_trait_that_nobody_has_keeps_all_out_and_can_be_added(make, explain):
    make.traits(GOLD)
    make.flavor("gold", {f"trait:{GOLD}": "required"})
    found = explain("gold", code=3)
    assert found["conflicts"] == [[f"required:{GOLD}"]]
    assert failing(found) == dict.fromkeys(HOSTS, [f"required:{GOLD}"])
    clause = clause_of(found, f"required:{GOLD}")
    assert (clause["alone"], clause["only"], clause["left"]) == (0, 6, 0)
    assert [(each["kind"], each["key"]) for each in clause["origins"]] == [
        ("flavor", f"trait:{GOLD}")
    ]
    fixes = {fix["commands"][0]: fix["hosts"] for fix in found["fixes"]}
    everywhere = " ".join(f"--host {host}" for host in HOSTS)
    assert fixes == {
        f"openstack trait-sched add {GOLD} {everywhere}": HOSTS,
        f"openstack flavor unset --property trait:{GOLD} gold": HOSTS,
    }


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
            for each in host_of(found, host)["figures"]
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


def test_the_largest_size_that_fits_is_offered_and_no_larger_one(make, explain, raw):
    half = make.flavor("half", ram=4096)
    for host in HOSTS:
        make.used(host, half, raw)
    make.flavor("large", ram=4000)
    found = explain("large", code=3)
    (fix,) = (fix for fix in found["fixes"] if "memory" in fix["text"])
    # 8192 MB, of which Nova reserves 512 and the servers take 4096.
    assert fix["text"] == "a flavor with 3584 MB of memory"
    make.flavor("fits", ram=3584)
    make.flavor("does-not", ram=3585)
    assert explain("fits", code=0)["candidates"] == fix["hosts"] == HOSTS
    explain("does-not", code=3)


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
    (fix,) = (fix for fix in found["fixes"] if "enable" in fix["text"])
    assert fix["commands"] == [
        "openstack compute service set --enable cmp00 nova-compute",
        "openstack compute service set --enable cmp01 nova-compute",
    ]


def test_a_zone_that_is_full_is_a_conflict_of_place_and_size(make, explain, raw):
    make.aggregate("east", "cmp04", "cmp05", availability_zone="az-east")
    most = make.flavor("most", ram=7680)
    for host in ("cmp04", "cmp05"):
        make.used(host, most, raw)
    found = explain("small", "raw", "--availability-zone", "az-east", code=3)
    (conflict,) = found["conflicts"]
    zone, memory = conflict
    assert clause_of(found, zone)["text"] == "in aggregate east"
    assert memory == "resources:MEMORY_MB"
    assert failing(found)["cmp00"] == [zone]
    assert failing(found)["cmp04"] == [memory]


def test_an_isolated_host_is_closed_to_those_who_do_not_require_its_trait(
    make, explain
):
    make.traits(GOLD, *HOSTS)
    make.aggregate("gold", *HOSTS, **{f"trait:{GOLD}": "required"})
    found = explain(code=3)
    (conflict,) = found["conflicts"]
    assert clause_of(found, conflict[0])["text"] == "outside aggregate gold"
    assert clause_of(found, conflict[0])["origins"] == [
        {
            "kind": "prefilter",
            "key": "isolate_aggregates",
            "name": None,
            "option": "scheduler.enable_isolated_aggregate_filtering",
        },
        {
            "kind": "aggregate",
            "key": f"trait:{GOLD}",
            "name": "gold",
            "option": None,
        },
    ]
    assert [fix["commands"] for fix in found["fixes"]] == [
        [f"openstack flavor set --property trait:{GOLD}=required small"]
    ]


def test_an_image_type_that_no_hypervisor_supports_names_the_option(make, explain):
    make.image("qcow", "qcow2")
    found = explain("small", "qcow", code=3)
    assert found["conflicts"] == [["root_required:COMPUTE_IMAGE_TYPE_QCOW2"]]
    (option,) = (
        each
        for each in found["assumptions"]
        if each["option"] == "scheduler.query_placement_for_image_type_support"
    )
    # nova-compute owns the trait: to add it by hand is not offered.
    assert [fix["text"] for fix in found["fixes"]] == ["an image in the format raw"]
    assert (option["value"], option["given"]) == (True, True)
    assert option["matters"] == {"gained": 6, "lost": 0, "refused": False}


def test_the_source_of_an_option_is_the_line_of_the_file_that_nova_reads(
    prefiltering, explain
):
    for each in explain(code=0)["assumptions"]:
        if not each["given"]:
            continue
        file, _, line = each["source"].rpartition(":")
        assert file == str(prefiltering.nova_conf)
        written = prefiltering.nova_conf.read_text().splitlines()[int(line) - 1]
        assert written == f"{each['option'].partition('.')[2]} = true"


def test_a_project_with_an_aggregate_of_its_own_is_kept_to_it(make, admin, explain):
    demo = admin.identity.find_project("demo").id
    make.aggregate("theirs", "cmp02", filter_tenant_id=demo)
    assert explain("small", "raw", "--project", "demo", code=0)["candidates"] == [
        "cmp02"
    ]
    assert explain(code=0)["candidates"] == HOSTS


def test_conditions_that_hosts_meet_apart_and_not_together_are_a_conflict(
    make, explain
):
    make.traits(GOLD, "cmp00")
    make.traits("CUSTOM_SILVER", "cmp01")
    properties = {f"trait:{GOLD}": "required", "trait:CUSTOM_SILVER": "required"}
    make.flavor("both", properties)
    found = explain("both", code=3)
    assert found["conflicts"] == [[f"required:{GOLD}", "required:CUSTOM_SILVER"]]
    assert {host: len(each) for host, each in failing(found).items()} == {
        **dict.fromkeys(HOSTS, 2),
        "cmp00": 1,
        "cmp01": 1,
    }


@pytest.fixture
def unmirrored(make, admin):
    """An aggregate in a zone of its own, of which Placement has lost one host."""
    east = make.aggregate("east", "cmp04", "cmp05", availability_zone="az-east")
    path = f"/resource_providers/{providers(admin)['cmp04']}/aggregates"
    found = admin.placement.get(path, microversion=PLACEMENT).json()
    assert found["aggregates"] == [east.uuid]
    body = {**found, "aggregates": []}
    answer = admin.placement.put(path, json=body, microversion=PLACEMENT)
    assert answer.status_code == 200


def test_a_host_that_placement_lost_from_an_aggregate_says_who_has_it(
    unmirrored, openstack, explain
):
    zone = ("--availability-zone", "az-east")
    found = explain("small", "raw", *zone, code=0)
    assert found["candidates"] == ["cmp05"]
    assert host_of(found, "cmp04")["mirror"] == [
        {"aggregate": "east", "nova": True, "placement": False}
    ]
    assert host_of(found, "cmp00")["mirror"] == []
    text = openstack("explain", "small", "raw", *zone).out
    assert "Nova has it in aggregate east, Placement has not" in text


def test_a_lost_mirror_is_mended_by_nova_and_other_hosts_by_joining(
    unmirrored, make, explain
):
    make.disabled("cmp05", "")
    found = explain("small", "raw", "--availability-zone", "az-east", code=3)
    fixes = {tuple(fix["hosts"]): fix["commands"] for fix in found["fixes"]}
    assert fixes[("cmp04",)] == ["nova-manage placement sync_aggregates"]
    others = ("cmp00", "cmp01", "cmp02", "cmp03")
    assert fixes[others] == [
        f"openstack aggregate add host east {host}" for host in others
    ]


# What Nova or Placement refuses


def test_a_trait_that_placement_does_not_know_is_refused_by_name(
    make, prefiltering, explain, raw
):
    typo = make.flavor("typo", {"trait:CUSTOM_TYPO": "required"})
    found = explain("typo", code=3)
    assert (found["verdict"], found["hosts"]) == ("refused", [])
    assert found["refusal"]["by"] == "placement"
    assert "CUSTOM_TYPO" in found["refusal"]["text"]
    boot = make.boot(typo, raw)
    assert (boot.status, boot.fault) == ("ERROR", "No valid host was found. ")
    make.delete(boot)


def test_a_flavor_and_an_image_that_nova_refuses_together_name_their_keys(
    make, openstack, explain
):
    shared = make.flavor("shared", {"hw:cpu_policy": "shared"})
    image = make.image("pinned", hw_cpu_policy="dedicated")
    found = explain("shared", "pinned", code=3)
    assert found["verdict"] == "refused"
    assert (found["refusal"]["by"], found["refusal"]["stage"]) == ("nova", "api")
    assert set(found["refusal"]["keys"]) == {"hw:cpu_policy", "hw_cpu_policy"}
    boot = make.boot(shared, image)
    assert boot.server == ""
    assert "hw_cpu_policy" in boot.refused
    text = openstack("explain", "shared", "pinned").out
    assert "hw:cpu_policy" in text
    assert "hw_cpu_policy" in text


@pytest.mark.parametrize("verb", ["explain", "candidates"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("smal", "raw"), "no flavor matches 'smal'; did you mean small?\n"),
        (("small", "rav"), "no image matches 'rav'; did you mean raw?\n"),
    ],
)
def test_a_flavor_or_image_that_is_not_there_comes_with_the_nearest_name(
    openstack, small, raw, verb, arguments, message
):
    done = openstack(verb, *arguments)
    assert (done.code, done.out, done.err) == (1, "", message)


# What is asked


def test_a_private_flavor_is_found_and_who_may_use_it_is_told(
    make, admin, explain, openstack
):
    private = make.flavor("private", is_public=False)
    theirs = explain("private", "raw", "--project", "demo", code=0)
    assert theirs["request"]["flavor_is_usable"] is False
    text = openstack("explain", "private", "raw", "--project", "demo").out
    assert "The project may not use this flavor" in text
    demo = admin.identity.find_project("demo").id
    admin.compute.flavor_add_tenant_access(private, demo)
    theirs = explain("private", "raw", "--project", "demo", code=0)
    assert theirs["request"]["flavor_is_usable"] is True


def test_a_server_without_an_image_has_no_disk_on_the_host_and_no_image_type(
    explain,
):
    found = explain("small", "-", code=0)
    ids = {clause["id"] for clause in found["clauses"]}
    assert (found["request"]["image"], found["request"]["boot_from_volume"]) == (
        None,
        True,
    )
    assert {"resources:VCPU", "resources:MEMORY_MB"} < ids
    assert "resources:DISK_GB" not in ids
    assert not any("IMAGE_TYPE" in each for each in ids)


def test_properties_that_are_only_supposed_change_the_answer_and_nothing_else(
    gold, make, admin, explain
):
    make.image("plain")
    suppose = f"trait:{GOLD}"
    assert explain("gold", code=0)["candidates"] == ["cmp00", "cmp01"]
    less = ("--flavor-property", f"{suppose}=")
    assert explain("gold", "plain", *less, code=0)["candidates"] == HOSTS
    less = ("--flavor-property", f"{suppose}=forbidden")
    assert explain("gold", "plain", *less, code=0)["candidates"] == HOSTS[2:]
    more = ("--image-property", f"{suppose}=required")
    assert explain("small", "plain", *more, code=0)["candidates"] == ["cmp00", "cmp01"]
    vmdk = ("--image-property", "disk_format=vmdk")
    explain("small", "plain", *vmdk, code=3)
    kept = admin.compute.fetch_flavor_extra_specs(gold).extra_specs
    assert kept == {suppose: "required"}


def test_the_story_of_one_host_has_every_condition_with_yes_or_no(gold, openstack):
    done = openstack("explain", "gold", "raw", "--host", "cmp05")
    assert done.code == 0
    story = done.out[done.out.index("cmp05: can not take it") :].split("\n\n")[0]
    answers = [line.split()[:2] for line in story.splitlines()[1:] if "(" in line]
    assert ["no", GOLD] in answers
    assert "yes  1 VCPU  (flavor vcpus)" in story
    assert "asked 512, free 7680 of 7680 MB" in story
    can = openstack("explain", "gold", "raw", "--host", "cmp01").out
    story = can[can.index("cmp01: can take it") :].split("\n\n")[0]
    assert "\n  no " not in story


def test_a_host_that_is_not_there_is_an_error_with_the_nearest_name(
    small, raw, openstack
):
    done = openstack("explain", "small", "raw", "--host", "cmp99")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("no host matches 'cmp99'")


def test_json_and_yaml_are_the_same_document(gold, openstack, raw):
    done = {
        name: openstack("explain", "gold", "raw", "-f", name)
        for name in ("json", "yaml")
    }
    assert yaml.safe_load(done["yaml"].out) == done["json"].json
    assert {each.code for each in done.values()} == {0}


# candidates


def asked(prefiltering, run):
    """Run something, and return what it was and the requests Placement logged."""
    before = len(prefiltering.log("placement").read_text())
    done = run()
    return done, logs.asked_of_placement(prefiltering, before)


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


def test_candidates_exits_three_when_there_is_none(make, openstack):
    make.flavor("huge", ram=9000)
    done = openstack("candidates", "huge", "raw", "-f", "json")
    assert (done.code, done.json) == (3, [])


@pytest.mark.parametrize("verb", ["explain", "candidates"])
def test_nothing_is_written_or_claimed(gold, raw, prefiltering, openstack, verb):
    done, requests = asked(prefiltering, lambda: openstack(verb, "gold", "raw"))
    assert done.code == 0
    assert any("/allocation_candidates?" in path for _, path in requests)
    assert {method for method, _ in requests} == {"GET"}


def test_print_query_asks_placement_nothing(gold, raw, prefiltering, openstack):
    run = functools.partial(openstack, "candidates", "gold", "raw", "--print-query")
    done, requests = asked(prefiltering, run)
    assert (done.code, requests) == (0, [])


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


# What it costs


@pytest.fixture
def many_more(admin):
    """Thirty hosts more, which only Placement knows."""
    placement = admin.placement
    made = []
    for number in range(30):
        body = {"name": f"more{number:02d}"}
        answer = placement.post(
            "/resource_providers", json=body, microversion=PLACEMENT
        )
        uuid = answer.json()["uuid"]
        made.append(uuid)
        inventories = {
            "VCPU": {"total": 10, "allocation_ratio": 4.0},
            "MEMORY_MB": {"total": 8192, "reserved": 512},
            "DISK_GB": {"total": 1028},
        }
        placement.put(
            f"/resource_providers/{uuid}/inventories",
            json={"inventories": inventories, "resource_provider_generation": 0},
            microversion=PLACEMENT,
        )
    yield
    for uuid in made:
        placement.delete(f"/resource_providers/{uuid}")


def requests_of(prefiltering, openstack, *arguments):
    """Return how many requests the services are sent, and how many Placement is."""
    variables = prefiltering.environment
    done, requests = asked(prefiltering, lambda: openstack(*arguments))
    options = ("--nova-conf", str(prefiltering.nova_conf))
    debug = shell.run(variables, "--debug", "trait-sched", *arguments, *options)
    assert debug.out == done.out
    return debug.err.count("REQ: curl"), len(requests)


def test_the_number_of_requests_does_not_grow_with_the_hosts(
    make, prefiltering, openstack, raw, many_more, admin
):
    raise NotImplementedError
