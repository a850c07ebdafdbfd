"""check on a real cloud: each fault is made, found, and found by one rule alone."""

from __future__ import annotations

import shlex
import urllib.parse
import uuid

import pytest
from keystoneauth1.session import Session

from tests.cloud.factory import factory, providers
from tests.functional import shell

GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"
QCOW2 = "COMPUTE_IMAGE_TYPE_QCOW2"
IMAGE_TYPE = "scheduler.query_placement_for_image_type_support=true"
NO_ISOLATION = "scheduler.enable_isolated_aggregate_filtering=false"
SECURE_BOOT = {"os_secure_boot": "required", "hw_firmware_type": "uefi"}
NEEDS_GOLD = {f"trait:{GOLD}": "required"}


@pytest.fixture
def make(admin):
    """Makes what one test needs."""
    with factory(admin) as maker:
        yield maker


@pytest.fixture(scope="module")
def check(cloud):
    """Checks with the very file that the scheduler runs with."""
    file = str(cloud.nova_conf)

    def run(*arguments, variables=cloud.environment):
        command = ("trait-sched", "check", *arguments, "--nova-conf", file)
        return shell.run(variables, *command)

    return run


def isolated(make, *hosts, **metadata):
    """Make an aggregate that is isolated by gold, unless something else is said."""
    return make.aggregate("isolated", *hosts, **(metadata or NEEDS_GOLD))


# Each makes one fault.


def no_host_for_a_format(make):
    make.image("vmdk", "vmdk")


def few_hosts_for_a_format(make):
    make.image("qcow2", "qcow2")
    make.gives(QCOW2, "cmp00")


def a_flavor_without_a_host_for_a_format(make):
    make.image("qcow2", "qcow2")
    make.gives(QCOW2, "cmp00")
    make.traits(GOLD, "cmp00")
    make.flavor("base", {f"trait:{GOLD}": "forbidden"})


def an_unknown_trait(make):
    make.flavor("gold", {"trait:CUSTOM_GOLT": "required"})


def a_name_that_no_trait_can_have(make):
    make.flavor("gold", {f"trait:{GOLD} ": "required"})


def a_value_that_nova_ignores(make):
    make.traits(GOLD, "cmp00")
    make.image("gold", **{f"trait:{GOLD}": "forbidden"})


def a_trait_on_no_host(make):
    make.traits(GOLD)
    make.flavor("gold", NEEDS_GOLD)


def a_trait_on_few_hosts(make):
    make.traits(GOLD, "cmp00")
    make.flavor("gold", NEEDS_GOLD)


def traits_on_different_hosts(make):
    make.traits(GOLD, "cmp00")
    make.traits(SILVER, "cmp01")
    make.flavor("both", {**NEEDS_GOLD, f"trait:{SILVER}": "required"})


def a_flavor_that_forbids_what_an_image_requires(make):
    make.traits(GOLD, "cmp00")
    make.flavor("base", {f"trait:{GOLD}": "forbidden"})
    make.image("gold", **NEEDS_GOLD)


def a_flavor_against_an_image(make):
    make.flavor("plain")
    make.flavor("shared", {"hw:cpu_policy": "shared"})
    make.image("pinned", hw_cpu_policy="dedicated")


def a_trait_that_nobody_names(make):
    make.traits(GOLD, "cmp00")


def a_member_without_the_trait(make):
    make.traits(GOLD, "cmp00")
    make.flavor("gold", NEEDS_GOLD)
    isolated(make, "cmp00", "cmp01")


def hosts_in_two_isolated_aggregates(make):
    make.traits(GOLD, "cmp00", "cmp01")
    make.traits(SILVER, "cmp01", "cmp02")
    make.flavor("both", {**NEEDS_GOLD, f"trait:{SILVER}": "required"})
    isolated(make, "cmp00", "cmp01")
    make.aggregate("silver", "cmp01", "cmp02", **{f"trait:{SILVER}": "required"})


def an_isolated_aggregate(make):
    make.traits(GOLD, "cmp00")
    make.flavor("gold", NEEDS_GOLD)
    isolated(make, "cmp00")


def an_aggregate_that_nobody_gets_into(make):
    make.traits(GOLD, "cmp00")
    isolated(make, "cmp00")


def a_trait_outside_its_aggregate(make):
    an_isolated_aggregate(make)
    make.gives(GOLD, "cmp03")


def a_flavor_that_is_shut_out(make):
    hosts = ("cmp00", "cmp01", "cmp02", "cmp03")
    make.traits(GOLD, *hosts)
    make.flavor("gold", NEEDS_GOLD)
    make.flavor("plain")
    isolated(make, *hosts)


def a_host_that_placement_still_calls_disabled(make):
    make.gives("COMPUTE_STATUS_DISABLED", "cmp00")


def memory_of_a_server_that_is_gone(make):
    placement, path = make.admin.placement, f"/allocations/{uuid.uuid4()}"
    root = providers(make.admin)["cmp02"]
    body = {
        "allocations": {root: {"resources": {"MEMORY_MB": 6500}}},
        "consumer_generation": None,
        "project_id": "gone",
        "user_id": "gone",
    }
    assert placement.put(path, json=body, microversion="1.28").status_code == 204
    make.after(placement.delete, path, microversion="1.28")


def a_flavor_that_pins_cpus(make):
    make.flavor("pinned", {"hw:cpu_policy": "dedicated"})


def an_unknown_resource_class(make):
    make.flavor("gpu", {"resources:CUSTOM_GPU": "1"})


def an_amount_that_nova_ignores(make):
    make.flavor("gpu", {"resources:CUSTOM_GPU": "some"})


def groups_without_a_policy(make):
    make.flavor("two", {"resources1:VCPU": "1", "resources2:VCPU": "1"})


def a_flavor_that_asks_for_nothing(make):
    classes = ("VCPU", "MEMORY_MB", "DISK_GB")
    make.flavor("none", {f"resources:{name}": "0" for name in classes})


def a_flavor_above_every_host(make):
    make.flavor("big", ram=16384)


def a_flavor_above_the_cpus_of_a_host(make):
    # Four servers' CPUs for each of a host, and no server more than a host has.
    make.flavor("wide", vcpus=11)


def a_flavor_above_the_disk_of_a_host(make):
    # The cloud has no Cinder.
    make.flavor("deep", disk=100000)


def an_image_above_every_flavor(make):
    make.flavor("plain")
    make.image("large", min_ram=65536)


def a_flavor_for_bare_metal(make):
    make.flavor("metal", {"capabilities:hypervisor_type": "ironic"})


def an_image_of_another_architecture(make):
    make.flavor("plain")
    make.image("arm", hw_architecture="aarch64")


def an_image_that_needs_secure_boot(make):
    make.flavor("plain")
    make.image("uefi", **SECURE_BOOT)


def hosts_of_a_project_that_nothing_enforces(make):
    make.aggregate("mine", "cmp00", filter_tenant_id=make.admin.current_project_id)


def a_number_against_an_aggregates_word(make):
    make.flavor("large", {"aggregate_instance_extra_specs:mem": ">= 10"})
    make.aggregate("odd", "cmp00", mem="lots")


def a_number_that_is_none(make):
    make.flavor("large", {"capabilities:free_ram_mb": ">= lots"})


def a_flavor_that_no_aggregate_matches(make):
    make.flavor("large", {"aggregate_instance_extra_specs:gpu": "a100"})
    make.aggregate("gpu", "cmp00", gpu="l4")


def a_key_without_a_scope(make):
    make.flavor("gold", {"service": "gold"})


def a_server_group(make):
    make.group("affinity")


def an_image_with_address_bits(make):
    make.image("wide", hw_maxphysaddr_bits="42", hw_architecture="x86_64")


def enabled(*names):
    """Return the option with these filters and ComputeFilter."""
    return f"filter_scheduler.enabled_filters={','.join(('ComputeFilter', *names))}"


FAULTS = [
    ("image-type-no-host", no_host_for_a_format, "error", (IMAGE_TYPE,)),
    ("image-type-few-hosts", few_hosts_for_a_format, "note", (IMAGE_TYPE,)),
    (
        "image-type-flavor-no-host",
        a_flavor_without_a_host_for_a_format,
        "warning",
        (IMAGE_TYPE,),
    ),
    ("traits-unknown", an_unknown_trait, "error", ()),
    ("traits-malformed", a_name_that_no_trait_can_have, "error", ()),
    ("traits-bad-value", a_value_that_nova_ignores, "warning", ()),
    ("traits-no-host", a_trait_on_no_host, "error", ()),
    ("traits-few-hosts", a_trait_on_few_hosts, "note", ()),
    ("traits-not-together", traits_on_different_hosts, "error", ()),
    (
        "traits-contradiction",
        a_flavor_that_forbids_what_an_image_requires,
        "note",
        (),
    ),
    ("traits-rejected", a_flavor_against_an_image, "note", ()),
    ("traits-unused", a_trait_that_nobody_names, "note", ()),
    ("mirror-status", a_host_that_placement_still_calls_disabled, "error", ()),
    ("resources-leaked", memory_of_a_server_that_is_gone, "warning", ()),
    ("resources-no-pcpu", a_flavor_that_pins_cpus, "warning", ()),
    ("resources-unknown", an_unknown_resource_class, "error", ()),
    ("resources-ignored", an_amount_that_nova_ignores, "error", ()),
    ("resources-no-policy", groups_without_a_policy, "error", ()),
    ("resources-none", a_flavor_that_asks_for_nothing, "error", ()),
    ("resources-no-host", a_flavor_above_every_host, "error", ()),
    ("resources-no-host", a_flavor_above_the_cpus_of_a_host, "error", ()),
    ("resources-no-host", a_flavor_above_the_disk_of_a_host, "error", ()),
    ("images-no-flavor", an_image_above_every_flavor, "error", ()),
    (
        "filters-flavor-no-host",
        a_flavor_for_bare_metal,
        "error",
        (enabled("ComputeCapabilitiesFilter"),),
    ),
    (
        "filters-image-no-host",
        an_image_of_another_architecture,
        "error",
        (enabled("ImagePropertiesFilter"),),
    ),
    ("traits-no-host", an_image_that_needs_secure_boot, "error", ()),
    ("project-off", hosts_of_a_project_that_nothing_enforces, "warning", ()),
    ("isolation-member-lacks-trait", a_member_without_the_trait, "error", ()),
    ("isolation-overlap", hosts_in_two_isolated_aggregates, "note", ()),
    ("isolation-off", an_isolated_aggregate, "error", (NO_ISOLATION,)),
    ("isolation-not-required", an_aggregate_that_nobody_gets_into, "warning", ()),
    ("isolation-trait-outside", a_trait_outside_its_aggregate, "warning", ()),
    ("isolation-shuts-out", a_flavor_that_is_shut_out, "error", ()),
    (
        "filters-raises",
        a_number_against_an_aggregates_word,
        "error",
        (enabled("AggregateInstanceExtraSpecsFilter"),),
    ),
    ("filters-image-raises", an_image_with_address_bits, "error", ()),
    (
        "filters-no-aggregate",
        a_flavor_that_no_aggregate_matches,
        "error",
        (enabled("AggregateInstanceExtraSpecsFilter"),),
    ),
    ("filters-unscoped", a_key_without_a_scope, "warning", ()),
    ("filters-group-policy", a_server_group, "error", (enabled(),)),
]


#: The first release with the fault, where older ones do not have it.
SINCE = {
    # Older ones have no image property for the bits of addresses.
    "filters-image-raises": 29,
}
#: The first release that asks for a trait for secure boot.
SECURE_BOOT_SINCE = 23


@pytest.mark.short
def test_a_cloud_without_faults_has_one_line_and_an_empty_list(check):
    done = check()
    assert (done.code, done.err) == (0, "")
    nothing, settings = done.out.splitlines()
    assert nothing.startswith("Nothing found: ")
    assert "4 hosts" in nothing
    assert settings == "Settings: the command line"
    done = check("-f", "json")
    assert (done.code, done.json, done.err) == (0, [], "")


@pytest.mark.parametrize(
    ("rule", "fault", "severity", "options"),
    FAULTS,
    ids=[f"{each[0]}-{each[1].__name__}" for each in FAULTS],
)
def test_a_fault_is_found_by_one_rule_and_no_other(
    cloud, make, check, rule, fault, severity, options
):
    fault(make)
    given = [word for option in options for word in ("--set", option)]
    done = check("--pedantic", *given, "-f", "json")
    since = SINCE.get(rule, 0)
    if fault is an_image_that_needs_secure_boot:
        since = SECURE_BOOT_SINCE
    if cloud.release.number < since:
        assert (done.json, done.code, done.err) == ([], 0, "")
        return
    assert [(row["id"], row["severity"]) for row in done.json] == [(rule, severity)]
    assert (done.code, done.err) == (7 if severity == "error" else 0, "")
    (row,) = done.json
    print(row["object"], "|", row["problem"], "|", row["fix"])
    assert row["problem"]


@pytest.mark.parametrize(
    ("fault", "flavor"),
    [
        (a_name_that_no_trait_can_have, "gold"),
        (a_flavor_that_is_shut_out, "plain"),
        (an_unknown_resource_class, "gpu"),
        (groups_without_a_policy, "two"),
        (a_flavor_that_asks_for_nothing, "none"),
        (a_key_without_a_scope, "gold"),
        (a_flavor_above_every_host, "big"),
        (a_flavor_above_the_cpus_of_a_host, "wide"),
        (a_flavor_above_the_disk_of_a_host, "deep"),
        (a_flavor_for_bare_metal, "metal"),
    ],
)
def test_nova_finds_no_host_where_check_says_that_there_is_none(
    make, admin, fault, flavor
):
    fault(make)
    boot = make.boot(admin.compute.find_flavor(flavor), make.image("raw"))
    make.delete(boot)
    assert boot.status == "ERROR"
    assert "No valid host was found" in boot.fault


@pytest.mark.parametrize("properties", [{"hw_architecture": "aarch64"}, SECURE_BOOT])
def test_nova_finds_no_host_for_an_image_of_which_check_says_so(
    cloud, make, properties
):
    if properties is SECURE_BOOT and cloud.release.number < SECURE_BOOT_SINCE:
        pytest.skip("the release asks Placement for no secure boot")
    boot = make.boot(make.flavor("plain"), make.image("odd", **properties))
    make.delete(boot)
    assert boot.status == "ERROR"
    assert "No valid host was found" in boot.fault


@pytest.mark.parametrize(
    ("rule", "fault", "flavor", "image", "exception"),
    [
        ("filters-raises", a_number_that_is_none, "large", {}, "ValueError"),
        (
            "filters-image-raises",
            an_image_with_address_bits,
            "plain",
            {"hw_maxphysaddr_bits": "42", "hw_architecture": "x86_64"},
            "AttributeError",
        ),
    ],
)
def test_a_request_ends_with_novas_exception_where_check_says_that_a_filter_raises(
    cloud, make, check, admin, rule, fault, flavor, image, exception
):
    fault(make)
    if flavor == "plain":
        make.flavor(flavor)
    rows = check("filters", "--pedantic", "-f", "json").json
    boot = make.boot(admin.compute.find_flavor(flavor), make.image("asked", **image))
    make.delete(boot)
    if cloud.release.number < SINCE.get(rule, 0):
        assert (rows, boot.status) == ([], "ACTIVE")
        return
    (row,) = rows
    assert row["id"] == rule
    assert exception in row["problem"]
    assert boot.status == "ERROR"
    assert exception in boot.fault


def test_nova_takes_what_check_calls_a_note(make, admin):
    a_trait_on_few_hosts(make)
    boot = make.boot(admin.compute.find_flavor("gold"), make.image("raw"))
    make.delete(boot)
    assert (boot.status, boot.host) == ("ACTIVE", "cmp00")


@pytest.mark.parametrize(
    "fault", [a_member_without_the_trait, a_name_that_no_trait_can_have]
)
def test_the_command_that_mends_a_fault_mends_it(make, check, cloud, fault):
    fault(make)
    (row,) = check("-f", "json").json
    _, _, command = row["fix"].rpartition(": ")
    program, *words = shlex.split(command)
    assert program == "openstack"
    assert shell.run(cloud.environment, *words).code == 0
    assert check("-f", "json").json == []


@pytest.mark.short
def test_rules_are_run_by_id_or_area_and_findings_shown_by_flavor_or_image(make, check):
    a_trait_on_no_host(make)
    make.image("silver", **{"trait:CUSTOM_SILVR": "required"})

    def found(*arguments):
        return [row["id"] for row in check(*arguments, "-f", "json").json]

    assert found() == ["traits-unknown", "traits-no-host"]
    assert found("traits-no-host") == ["traits-no-host"]
    assert found("traits") == ["traits-unknown", "traits-no-host"]
    assert found("isolation", "image-type") == []
    assert found("--flavor", "gold") == ["traits-no-host"]
    assert found("--image", "silver") == ["traits-unknown"]
    assert found("--image", "silver", "--flavor", "gold") == found()


READING = [
    ("check",),
    ("check", "mirror"),
    ("list",),
    ("list", "--by-trait"),
    ("explain", "gold", "plain"),
    ("candidates", "gold", "plain"),
    ("aggregate", "list", "--long"),
    ("config", "show"),
]


def test_reading_commands_send_nothing_but_gets(make, cloud, monkeypatch):
    an_isolated_aggregate(make)
    make.image("plain")
    sent = []
    send = Session.request

    def recorded(session, url, method, **more):
        sent.append((method, urllib.parse.urlsplit(url).path))
        return send(session, url, method, **more)

    monkeypatch.setattr(Session, "request", recorded)
    for command in READING:
        sent.clear()
        done = shell.run(cloud.environment, "trait-sched", *command)
        assert done.code in (0, 3, 7), (command, done.err)
        asked = [each for each in sent if each != ("POST", "/v3/auth/tokens")]
        assert len(asked) > 1, command
        assert {method for method, _ in asked} == {"GET"}, command
