"""explain and candidates where a real Nova, Placement and Glance answer."""

from __future__ import annotations

import functools

import pytest
import yaml

from tests import scripts
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
    assert (found["total_hosts"], found["conflicts"], found["fixes"]) == (6, [], [])


def test_a_trait_that_nobody_has_keeps_all_out_and_can_be_added(make, explain):
    make.traits(GOLD)
    flavor = make.flavor("gold", {f"trait:{GOLD}": "required"})
    found = explain("gold", code=3)
    assert found["conflicts"] == [[f"required:{GOLD}"]]
    assert failing(found) == {host: [f"required:{GOLD}"] for host in HOSTS}
    clause = clause_of(found, f"required:{GOLD}")
    assert (clause["alone"], clause["only"], clause["left"]) == (0, 6, 0)
    assert [(each["kind"], each["key"]) for each in clause["origins"]] == [
        ("flavor", f"trait:{GOLD}")
    ]
    existing, *others = found["fixes"]
    without = f"flavor small (1 VCPU, 512 MB, 1 GB), without trait:{GOLD}"
    assert (existing["text"], existing["gained_hosts"]) == (without, HOSTS)
    fixes = {fix["commands"][0]: fix["gained_hosts"] for fix in others}
    everywhere = " ".join(f"--host {host}" for host in HOSTS)
    assert fixes == {
        f"openstack trait-sched add {GOLD} --create {everywhere}": HOSTS,
        f"openstack flavor unset --property trait:{GOLD} {flavor.id}": HOSTS,
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
    assert explain("fits", code=0)["candidates"] == fix["gained_hosts"] == HOSTS
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
    assert fix["gained_hosts"] == ["cmp01"]
    assert fix["commands"] == [
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
    assert clause_of(found, zone)["text"] == "in zone az-east (aggregate east)"
    assert memory == "resources:MEMORY_MB"
    assert failing(found)["cmp00"] == [zone]
    assert failing(found)["cmp04"] == [memory]


def test_an_isolated_host_is_closed_to_those_who_do_not_require_its_trait(
    make, explain, small
):
    make.traits(GOLD, *HOSTS)
    make.aggregate("gold", *HOSTS, **{f"trait:{GOLD}": "required"})
    found = explain(code=3)
    (conflict,) = found["conflicts"]
    assert (
        clause_of(found, conflict[0])["text"] == "outside the isolated aggregate gold"
    )
    assert clause_of(found, conflict[0])["origins"] == [
        {
            "kind": "prefilter",
            "key": "isolate_aggregates",
            "aggregate": None,
            "name": None,
            "option": "scheduler.enable_isolated_aggregate_filtering",
        },
        {
            "kind": "aggregate",
            "key": f"trait:{GOLD}",
            "aggregate": "gold",
            "name": "gold",
            "option": None,
        },
    ]
    assert [fix["commands"] for fix in found["fixes"]] == [
        [f"openstack flavor set --property trait:{GOLD}=required {small.id}"]
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
    assert option["impact"] == {"gained": 6, "lost": 0, "refused": False}


def test_the_source_of_an_option_is_the_line_of_the_file_that_nova_reads(
    prefiltering, explain
):
    for each in explain(code=0)["assumptions"]:
        if not each["given"]:
            continue
        file, _, line = each["source"].rpartition(":")
        assert file == str(prefiltering.nova_conf)
        written = prefiltering.nova_conf.read_text().splitlines()[int(line) - 1]
        key, _, value = written.partition(" = ")
        assert key == each["option"].partition(".")[2]
        # Wallaby's list of filters is given, too.
        assert (value == "true") == (each["value"] is True)


def test_metadata_in_other_letters_makes_the_database_matter(make, openstack):
    """The cloud's is SQLite, to which this isolates nothing."""
    make.traits(GOLD)
    make.aggregate("gold", "cmp00", **{f"trait:{GOLD}": "Required"})
    assumed = openstack("explain", "small", "raw")
    assert (
        "  database collation = case-insensitive (the default of MariaDB and MySQL, "
        "assumed); otherwise: 1 more host, 0 fewer\n"
    ) in assumed.out
    said = ("--set", "database_collation=case-sensitive")
    given = openstack("explain", "small", "raw", *said)
    assert (
        "  database collation = case-sensitive (--set); otherwise: 0 more hosts, "
        "1 fewer\n"
    ) in given.out
    assert "member_of" not in given.out


def test_where_metadata_is_in_the_usual_letters_the_database_is_not_named(
    make, openstack
):
    make.traits(GOLD)
    make.aggregate("gold", "cmp00", **{f"trait:{GOLD}": "required"})
    assert "database" not in openstack("explain", "small", "raw").out


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
    text = openstack("explain", "small", "raw", *zone).out
    assert "Nova has it in aggregate east, Placement does not" in text


def test_a_lost_mirror_is_mended_by_nova_and_other_hosts_by_joining(
    unmirrored, make, explain
):
    make.disabled("cmp05", "")
    found = explain("small", "raw", "--availability-zone", "az-east", code=3)
    fixes = {tuple(fix["gained_hosts"]): fix["commands"] for fix in found["fixes"]}
    assert fixes[("cmp04",)] == ["nova-manage placement sync_aggregates"]
    others = ("cmp00", "cmp01", "cmp02", "cmp03")
    assert fixes[others] == [
        f"openstack aggregate add host {unmirrored.id} {host}" for host in others
    ]


def test_no_host_is_asked_to_join_a_zone_that_nova_would_not_let_it_into(
    make, prefiltering, explain, small, raw
):
    make.aggregate("empty", availability_zone="az-empty")
    make.aggregate("west", "cmp03", availability_zone="az-west")
    make.used("cmp04", small, raw)
    found = explain("small", "raw", "--availability-zone", "az-empty", code=3)
    (fix,) = (fix for fix in found["fixes"] if fix["target"] == "hosts")
    # cmp03 is in another zone, cmp04 has a server that would change its zone. Before
    # 2024.1 Nova does change it; to do that to a server is not offered there either.
    assert fix["gained_hosts"] == ["cmp00", "cmp01", "cmp02", "cmp05"]
    for host, is_refused in (
        ("cmp03", True),
        ("cmp04", prefiltering.release.number >= 29),
    ):
        join = ("aggregate", "add", "host", "empty", host)
        done = shell.run(prefiltering.environment, *join)
        said = done.code, "availability zone" in done.err
        assert said == (int(is_refused), is_refused)


# What Nova or Placement refuses


def test_a_trait_that_placement_does_not_know_is_refused_by_name(
    make, prefiltering, explain, raw
):
    typo = make.flavor("typo", {"trait:CUSTOM_TYPO": "required"})
    found = explain("typo", code=3)
    assert (found["verdict"], found["hosts"]) == ("refused", [])
    assert (found["total_hosts"], found["computes_without_provider"]) == (6, [])
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


def test_an_image_with_a_list_of_very_many_cpus_is_refused_at_once(
    make, explain, openstack, small
):
    nodes = {"hw_numa_nodes": "1", "hw_numa_mem.0": "512"}
    large = make.image("large", **nodes, **{"hw_numa_cpus.0": "0-99999"})
    make.image("huge", **nodes, **{"hw_numa_cpus.0": "0-999999999"})
    for image in ("large", "huge"):
        refusal = explain("small", image, code=3)["refusal"]
        assert (refusal["by"], refusal["stage"]) == ("nova", "api")
        assert "hw_numa_cpus.0" in refusal["keys"]
    assert "CPU" in make.boot(small, large).refused
    found = {each["object"] for each in openstack("check", "-f", "json").json}
    assert {"image large", "image huge"} <= found


def test_a_gate_of_flavors_and_images_says_which_have_a_host(
    make, prefiltering, small, raw, tmp_path
):
    make.traits(GOLD)
    make.flavor("gold", {f"trait:{GOLD}": "required"})
    done = scripts.run(
        tmp_path,
        "flavors-have-hosts",
        stdin="small raw\n\ngold raw",
        variables=prefiltering.environment,
    )
    assert done.code == 1
    lines = done.out.splitlines()
    assert lines[:2] == ["ok    small raw", "FAIL  gold raw"]
    assert f"      would help: add the trait {GOLD}" in lines


def test_a_zone_that_is_not_there_is_refused_though_placement_has_hosts(
    make, openstack, explain, small, raw
):
    make.aggregate("east", "cmp04", availability_zone="az-east")
    found = explain("small", "raw", "--availability-zone", "az-eats", code=3)
    assert (found["verdict"], found["candidates"]) == ("refused", [])
    assert (found["refusal"]["stage"], found["refusal"]["keys"]) == ("api", ["az-eats"])
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
    assert (found["verdict"], found["refusal"]["by"]) == ("refused", "nova")
    assert make.boot(small, raw, availability_zone="az-east").refused
    commands = [fix["commands"] for fix in found["fixes"] if fix["commands"]]
    assert ["openstack compute service set --enable cmp04 nova-compute"] in commands


@pytest.mark.parametrize("verb", ["explain", "candidates"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("smal", "raw"), "no flavor matches 'smal'; did you mean small?\n"),
        (("small", "raww"), "no image matches 'raww'; did you mean raw?\n"),
    ],
)
def test_a_flavor_or_image_that_is_not_there_comes_with_the_nearest_name(
    openstack, small, raw, verb, arguments, message
):
    done = openstack(verb, *arguments)
    assert (done.code, done.out, done.err) == (1, "", message)


# What is asked


def test_a_private_flavor_is_refused_to_those_who_may_not_use_it(
    make, prefiltering, admin, explain, raw
):
    private = make.flavor("private", is_public=False)
    theirs = ("private", "raw", "--project", "demo")
    found = explain(*theirs, code=3)
    assert (found["verdict"], found["refusal"]["by"]) == ("refused", "nova")
    assert "private" in found["refusal"]["text"]
    user = prefiltering.connection_of("demo")
    assert private.id in make.boot(private, raw, user).refused
    assert explain("private", code=0)["candidates"] == HOSTS
    demo = admin.identity.find_project("demo").id
    admin.compute.flavor_add_tenant_access(private, demo)
    assert explain(*theirs, code=0)["candidates"] == HOSTS
    boot = make.boot(private, raw, user)
    assert boot.status == "ACTIVE"
    make.delete(boot)


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
    story = done.out[done.out.index("cmp05: cannot take it") :].split("\n\n")[0]
    answers = [line.split()[:2] for line in story.splitlines()[1:] if "(" in line]
    assert ["no", "trait"] in answers
    assert "yes  1 VCPU  (flavor vcpus)" in story
    assert "MEMORY_MB of cmp05: 7680 MB free of 7680" in story
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


def test_candidates_exits_three_when_there_is_none(make, openstack):
    make.flavor("huge", ram=9000)
    done = openstack("candidates", "huge", "raw", "-f", "json")
    assert (done.code, done.json) == (3, [])


@pytest.mark.parametrize("verb", ["explain", "candidates"])
def test_nothing_is_written_or_claimed(gold, raw, proxied, verb):
    done, requests = proxied(verb, "gold", "raw")
    assert done.code == 0
    paths = [request.path for request in requests["placement"]]
    assert any(path.startswith("/allocation_candidates?") for path in paths)
    sent = [each for service in requests.values() for each in service]
    assert {request.method for request in sent} == {"GET"}


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


# What it costs


def test_the_number_of_requests_does_not_grow_with_the_hosts(make, gold, raw, proxied):
    make.flavor("large", ram=8000)
    questions = {
        "candidates": ("candidates", "gold", "raw", "-f", "value", "-c", "host"),
        "explain, two hosts": ("explain", "gold", "raw"),
        "explain, two hosts, as JSON": ("explain", "gold", "raw", "-f", "json"),
        "explain, no host": ("explain", "large", "raw"),
    }

    def costs():
        return {name: cost(*proxied(*each)) for name, each in questions.items()}

    # One that Nova does not list makes a difference; thirty make no other.
    make.provider("one")
    few = costs()
    for number in range(30):
        make.provider(f"more{number:02d}")
    many = costs()
    for name, each in many.items():
        print(name, each)
    assert many == few
    # Up to twelve other flavors are tried where there is no host.
    assert max(sum(each.values()) for each in few.values()) <= 25 + 12


def cost(done, requests):
    """Return how many requests each service was sent."""
    # Nova does not list what only Placement knows, so that the verdict may be in doubt.
    assert done.code in (0, 3, 4)
    return {service: len(sent) for service, sent in requests.items()}
