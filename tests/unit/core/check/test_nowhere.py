"""Flavors and images that no host could ever take, each by one finding."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.check import builder
from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import Severity, SubjectKind
from osc_traitsched.core.check.rules import traits_requests
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.placement.facts import Stock
from osc_traitsched.views import check
from tests.unit.core.check.surveys import (
    aggregate,
    findings,
    flavor,
    host,
    identity,
    ids,
    image,
    survey,
)
from tests.unit.core.check.test_filters import (
    BITS,
    DEFAULT,
    REPORT,
    cloud,
    given,
    with_computes,
)
from tests.unit.core.check.test_others import of as of_others

SECURE_BOOT = "COMPUTE_SECURITY_UEFI_SECURE_BOOT"
SECURE = {"os_secure_boot": "required", "hw_firmware_type": "uefi"}
BIG = flavor("big", {"ram": 16384})
ARM = image("arm", hw_architecture="aarch64")
SMALL = {"VCPU": 4, "MEMORY_MB": 2048, "DISK_GB": 100}
MANY_CPUS = {"VCPU": 64, "MEMORY_MB": 2048, "DISK_GB": 100}


def only(of):
    (found,) = findings(of)
    return found


def words(of):
    _, (row,) = check.rows(findings(of))
    return row[3], row[4]


# resources-no-host


def test_flavors_that_are_too_large_are_one_finding_for_each_class():
    flavors = [BIG, flavor("huge", {"ram": 65536, "vcpus": 32}), flavor("small")]
    found = findings(survey([host("a"), host("b")], flavors))
    assert [(f.rule, f.severity, f.kind, f.name) for f in found] == [
        ("resources-no-host", Severity.ERROR, SubjectKind.RESOURCE_CLASS, "MEMORY_MB"),
    ]
    assert found[0].flavors == ("big", "huge")
    problem, fix = words(survey([host("a")], flavors))
    assert problem == (
        "flavors big, huge need 16384 to 65536 MB on one host; the largest has 8192"
    )
    assert fix.startswith("use a smaller flavor or add a larger host; ")


@pytest.mark.parametrize(
    ("specs", "name"),
    [
        ({"resources__VGPU": "1"}, "VGPU"),
        ({"hw__cpu_policy": "dedicated"}, "PCPU"),
        ({"hw__mem_encryption": "true"}, "MEM_ENCRYPTION_CONTEXT"),
    ],
)
def test_a_class_that_no_host_has_is_found_with_where_to_look(specs, name):
    flavors = [flavor("f", **specs)]
    images = [image("i", hw_firmware_type="uefi")]
    known = {"VGPU", "PCPU", "VCPU", "MEMORY_MB", "DISK_GB", "MEM_ENCRYPTION_CONTEXT"}
    settings = DEFAULT.changed(options.NO_PCPU_FALLBACK, True)
    of = survey([host("a")], flavors, images, known_classes=known, assumptions=settings)
    found = [f for f in findings(of) if f.rule == "resources-no-host"]
    assert [f.name for f in found] == [name]
    assert "no host has any" in found[0].words().problem
    assert "on the hosts" in found[0].words().fix or "BIOS" in found[0].words().fix


def test_a_disk_that_is_too_large_is_a_warning_since_volumes_need_none():
    of = survey([host("a")], [flavor("f", {"disk": 200})])
    assert (only(of).name, only(of).severity) == ("DISK_GB", Severity.WARNING)
    assert "only servers that boot from a volume fit" in words(of)[0]
    without_cinder = dataclasses.replace(of, has_volumes=False)
    assert only(without_cinder).severity is Severity.ERROR
    assert "volume" not in words(without_cinder)[0]
    of = survey([host("a")], [flavor("f", {"OS-FLV-EXT-DATA:ephemeral": 200})])
    assert only(of).severity is Severity.ERROR


def test_an_image_with_encrypted_memory_is_found_where_no_host_has_it():
    images = [
        image("e", hw_mem_encryption="true", hw_firmware_type="uefi"),
        image("plain"),
    ]
    of = survey([host("a")], [flavor("f")], images)
    found = [f for f in findings(of) if f.rule == "resources-no-host"]
    assert [(f.name, f.images, f.severity) for f in found] == [
        ("MEM_ENCRYPTION_CONTEXT", ("e",), Severity.ERROR)
    ]


def with_units(of, name, **units):
    stock = {**of.stock[identity(name)]}
    stock["VCPU"] = dataclasses.replace(stock["VCPU"], **units)
    return dataclasses.replace(of, stock={**of.stock, identity(name): stock})


def test_the_unit_counts_and_not_only_the_capacity():
    of = survey([host("a"), host("b")], [flavor("f", {"vcpus": 8})])
    assert ids(of) == []
    of = with_units(of, "a", max_unit=4)
    assert ids(of) == []
    of = with_units(of, "b", max_unit=4)
    assert words(of)[0] == "flavor f needs 8 on one host; the largest has 4"
    of = with_units(of, "b", max_unit=16, step_size=5)
    assert "step_size of the hosts do not allow it" in words(of)[0]


@pytest.mark.parametrize(
    "hosts",
    [
        [host("a"), host("b", size={"VCPU": 64, "MEMORY_MB": 65536, "DISK_GB": 9})],
        # Nobody knows how large it is.
        [host("a"), host("full", size=None)],
    ],
)
def test_a_host_that_is_or_may_be_large_enough_is_no_finding(hosts):
    assert ids(survey(hosts, [BIG])) == []


def test_a_host_in_use_counts_as_empty():
    of = survey([host("a")], [flavor("f", {"ram": 8192})])
    sizes = of.stock[identity("a")]
    used = {name: Stock(each.capacity, each.capacity) for name, each in sizes.items()}
    assert ids(dataclasses.replace(of, stock={identity("a"): used})) == []


def test_bare_metal_nodes_of_no_known_size_take_no_virtual_server():
    ironic = dataclasses.replace(REPORT, hypervisor_type="ironic")
    of = with_computes(
        survey([host("a"), host("b", size=None)], [BIG]),
        lambda each: {"report": ironic} if each.node == "b" else {},
    )
    assert ids(of) == ["resources-no-host"]
    own = [flavor("bm", resources__CUSTOM_BM="1", **dict.fromkeys(NOTHING, "0"))]
    known = of.known_classes | {"CUSTOM_BM"}
    of = dataclasses.replace(of, flavors=tuple(own), stock={}, known_classes=known)
    assert ids(of) == []


@pytest.mark.parametrize("name", ["VGPU", "PCPU", "CUSTOM_GPU"])
def test_a_bare_metal_node_does_not_have_the_class_that_a_virtual_server_lacks(name):
    ironic = dataclasses.replace(REPORT, hypervisor_type="ironic")
    of = with_computes(
        survey(
            [host("a"), host("b", size=None)],
            [flavor("f", **{f"resources:{name}": "1"})],
        ),
        lambda each: {"report": ironic} if each.node == "b" else {},
    )
    of = dataclasses.replace(of, known_classes=of.known_classes | {name})
    assert [(f.rule, f.name) for f in findings(of)] == [("resources-no-host", name)]
    assert words(of)[0] == "flavor f needs 1; no host has any"


def test_a_class_that_is_all_reserved_is_said_to_be_reserved():
    vgpu = Stock(0, 0, total=1, reserved=1, ratio=1.0)
    of = survey([host("a"), host("b")], [flavor("f", resources__VGPU="1")])
    for stock, said in ((vgpu, " (1 of 1)"), (Stock(0, 0), "")):
        stocks = {**of.stock, identity("a"): {**of.stock[identity("a")], "VGPU": stock}}
        reserved = dataclasses.replace(
            of, stock=stocks, known_classes=of.known_classes | {"VGPU"}
        )
        problem, fix = words(reserved)
        assert problem == f"flavor f needs 1; all of it is reserved{said}"
        assert "openstack resource provider inventory list" in fix


NOTHING = ("resources__VCPU", "resources__MEMORY_MB", "resources__DISK_GB")


@pytest.mark.parametrize(
    ("specs", "rule"),
    [
        ({"resources__CUSTOM_GPU": "1"}, "resources-unknown"),
        ({"resources1__VCPU": "99", "resources2__VCPU": "1"}, "resources-no-policy"),
        ({"trait__CUSTOM_GOLD": "required"}, "traits-unknown"),
    ],
)
def test_a_flavor_that_another_rule_reports_is_reported_once(specs, rule):
    found = ids(survey([host("a")], [flavor("f", **specs)]))
    assert [each for each in found if not each.endswith("no-host")] == [rule]
    assert len(found) == (2 if "99" in specs.values() else 1)


def test_a_trait_that_is_missing_does_not_make_the_cpus_too_many():
    flavors = [
        flavor("f", hw__cpu_policy="dedicated", trait__CUSTOM_GOLD="required"),
    ]
    of = survey([host("a")], flavors, known=["CUSTOM_GOLD", "HW_CPU_HYPERTHREADING"])
    assert ids(of) == ["traits-no-host"]


# resources-no-pcpu


PINNED = [flavor("f", hw__cpu_policy="dedicated"), flavor("g"), flavor("h")]


def test_pinned_cpus_are_a_warning_if_no_host_has_dedicated_ones():
    found = only(survey([host("a"), host("b")], PINNED))
    assert (found.rule, found.severity) == ("resources-no-pcpu", Severity.WARNING)
    assert (found.name, found.flavors) == ("PCPU", ("f",))
    assert "cpu_shared_set" in found.words().problem


@pytest.mark.parametrize("size", [{**SMALL, "PCPU": 4}, None])
def test_one_host_that_may_have_dedicated_cpus_is_enough(size):
    assert ids(survey([host("a"), host("b", size=size)], PINNED)) == []


# resources-not-together


def test_amounts_that_hosts_have_one_by_one_are_found():
    hosts = [host("a", size=MANY_CPUS), host("b")]
    of = survey(hosts, [flavor("f", {"vcpus": 32, "ram": 4096})])
    assert (only(of).rule, only(of).severity) == (
        "resources-not-together",
        Severity.ERROR,
    )
    assert "no host can give all of 32 VCPU, 4096 MEMORY_MB, 1 DISK_GB" in words(of)[0]


def test_groups_that_need_a_provider_each_are_found():
    groups = {"resources1__VCPU": "1", "resources2__VCPU": "1"}
    of = survey([host("a")], [flavor("f", **groups, group_policy="isolate")])
    assert only(of).rule == "resources-not-together"
    assert "each group from another provider" in words(of)[0]
    of = survey([host("a")], [flavor("f", **groups, group_policy="none")])
    assert ids(of) == []


def test_traits_that_leave_only_small_hosts_are_the_traits_rules_matter():
    hosts = [host("a", "CUSTOM_GOLD", size=SMALL), host("b")]
    of = survey(hosts, [flavor("f", {"ram": 4096}, trait__CUSTOM_GOLD="required")])
    assert ids(of) == ["traits-few-hosts"]


# traits-no-host, of an image


@pytest.mark.parametrize("known", [[SECURE_BOOT], []])
def test_an_image_that_needs_secure_boot_which_no_host_has_is_found(known):
    of = survey([host("a")], [flavor("f")], [image("i", **SECURE)], known=known)
    found = only(of)
    assert found.rule == ("traits-no-host" if known else "traits-unknown")
    assert (found.name, found.images) == (SECURE_BOOT, ("i",))
    assert found.severity is Severity.ERROR
    fix = words(of)[1]
    assert ("OVMF" if known else "os-traits") in fix
    assert "unset" not in fix
    assert "key" not in fix


@pytest.mark.parametrize(
    ("hosts", "flavors", "images"),
    [
        ([host("a", SECURE_BOOT)], [flavor("f")], [image("i", **SECURE)]),
        ([host("a")], [flavor("f")], [image("i", os_secure_boot="optional")]),
        # Nova refuses the image with all flavors: another rule's.
        ([host("a")], [], [image("i", **SECURE)]),
    ],
)
def test_an_image_that_some_host_takes_is_no_finding(hosts, flavors, images):
    of = survey(hosts, flavors, images, known=[SECURE_BOOT])
    assert ids(of, "traits-no-host", "traits-unknown") == []


def test_an_image_of_another_project_is_a_note():
    of = of_others({**image("i", **SECURE), "visibility": "private", "owner": "x"})
    of = dataclasses.replace(of, flavors=(flavor("f"),))
    of = dataclasses.replace(of, known_traits=of.known_traits | {SECURE_BOOT})
    assert [f.severity for f in findings(of, "traits-no-host")] == [Severity.NOTE]


# filters-flavor-no-host


NUMA = "NUMATopologyFilter"
CAPS, TYPES = "ComputeCapabilitiesFilter", "AggregateTypeAffinityFilter"
QEMU = {"hypervisor_type": "QEMU", "cpu_info": {"topology": {"cells": 2}}}
NUMA_HOSTS = {"hypervisor_type": "QEMU", "cpu_info": None}


@pytest.mark.parametrize(
    ("specs", "report", "part"),
    [
        (
            {"capabilities__hypervisor_type": "ironic"},
            QEMU,
            "ComputeCapabilitiesFilter rejects the hosts a, b: "
            "capabilities:hypervisor_type=ironic, and they have QEMU",
        ),
        (
            {"capabilities__cpu_info__features": "<in> avx512"},
            QEMU,
            "capabilities:cpu_info:features=<in> avx512, which they do not report",
        ),
        (
            {"hw__maxphysaddr_bits": "46"},
            {**QEMU, "cpu_info": {"maxphysaddr": {"bits": 40}}},
            "hw:maxphysaddr_bits=>= 46, and they have 40",
        ),
        ({"hw__numa_nodes": "4"}, QEMU, "hw:numa_nodes=4, and they have 2 NUMA nodes"),
        (
            {"hw__mem_page_size": "1GB"},
            {"hypervisor_type": "fake"},
            "hw:mem_page_size, and they have no NUMA nodes (fake)",
        ),
    ],
)
def test_a_flavor_that_filters_reject_on_every_host_is_found(specs, report, part):
    flavors = [flavor("f", {"vcpus": 4}, **specs), flavor("g")]
    filters = [CAPS, *([NUMA] if report["hypervisor_type"] == "fake" else [])]
    of = cloud(given("ComputeFilter", *filters), flavors, **report)
    assert (only(of).rule, only(of).name) == ("filters-flavor-no-host", "f")
    assert only(of).severity is Severity.ERROR
    assert part in words(of)[0]
    assert only(of).hosts == ("a", "b")


def test_a_flavor_of_other_aggregates_is_found():
    aggregates = [aggregate("big", "a", "b", instance_type="big,huge")]
    of = cloud(
        given("ComputeFilter", TYPES), [flavor("f"), flavor("big")], [], aggregates
    )
    assert (only(of).rule, only(of).name) == ("filters-flavor-no-host", "f")


def test_the_host_that_a_filter_passes_must_fit_the_flavor():
    of = cloud(
        given("ComputeFilter", CAPS),
        [flavor("f", capabilities__hypervisor_hostname="a")],
    )
    of = with_computes(of, lambda _: {"report": REPORT})
    assert ids(of) == []
    large = {"VCPU": 16, "MEMORY_MB": 65536, "DISK_GB": 100}
    big = flavor("f", {"ram": 16384}, capabilities__hypervisor_hostname="a")
    of = survey(
        [host("a"), host("b", size=large)],
        [big],
        assumptions=given("ComputeFilter", CAPS),
    )
    of = with_computes(of, lambda _: {"report": REPORT})
    assert ids(of) == ["filters-flavor-no-host"]
    assert "rejects the host b" in words(of)[0]


@pytest.mark.parametrize(
    ("settings", "specs", "report"),
    [
        (given("ComputeFilter", CAPS), {"capabilities__hypervisor_type": "QEMU"}, QEMU),
        # nova-compute claims no NUMA nodes on a host without any.
        (
            given("ComputeFilter"),
            {"hw__mem_page_size": "1GB"},
            {"hypervisor_type": "fake"},
        ),
        # Other servers come and go.
        (
            given("ComputeFilter", CAPS),
            {"capabilities__free_ram_mb": ">= 10000000"},
            QEMU,
        ),
        (given("ComputeFilter"), {"capabilities__hypervisor_type": "ironic"}, QEMU),
        (given("ComputeFilter", CAPS), {"hw__numa_nodes": "2"}, QEMU),
        (given("ComputeFilter", CAPS), {"hw__numa_nodes": "4"}, NUMA_HOSTS),
        (given("ComputeFilter", CAPS), {"hw__mem_page_size": "1GB"}, QEMU),
        (given("ComputeFilter", CAPS), {"capabilities__hypervisor_type": "ironic"}, {}),
    ],
)
def test_a_flavor_that_some_host_may_pass_is_no_finding(settings, specs, report):
    of = cloud(settings, [flavor("f", {"vcpus": 4}, **specs)], **report)
    assert ids(of) == []


def test_filters_that_are_assumed_are_a_warning_and_a_complete_file_an_error():
    flavors = [flavor("f", capabilities__hypervisor_type="ironic")]
    of = cloud(DEFAULT, flavors, **QEMU)
    assert only(of).severity is Severity.WARNING
    complete = dataclasses.replace(DEFAULT, files=("nova.conf",))
    assert only(cloud(complete, flavors, **QEMU)).severity is Severity.ERROR


def test_an_alias_is_an_error_if_a_complete_nova_conf_lacks_it():
    flavors = [flavor("f", pci_passthrough__alias="a1:1")]
    assert ids(survey([host("a")], flavors, assumptions=DEFAULT)) == []
    complete = dataclasses.replace(DEFAULT, files=("nova.conf",))
    of = survey([host("a")], flavors, assumptions=complete)
    assert ids(of) == ["traits-refused"]
    assert "a1" in words(of)[0]


# filters-image-no-host


@pytest.mark.parametrize(
    ("hypervisor", "severity"),
    [("fake", Severity.ERROR), ("QEMU", Severity.WARNING)],
)
def test_an_architecture_that_no_host_has_is_found(hypervisor, severity):
    images = [ARM, image("arm2", hw_architecture="aarch64"), image("plain")]
    of = cloud(
        given("ComputeFilter", "ImagePropertiesFilter"),
        [flavor("f")],
        images,
        hypervisor_type=hypervisor,
        cpu_info={"arch": "x86_64"},
    )
    found = only(of)
    assert (found.rule, found.severity) == ("filters-image-no-host", severity)
    assert found.images == ("arm", "arm2")
    assert found.is_about(SubjectKind.IMAGE, ["arm2"])
    problem, fix = words(of)
    assert problem.startswith(
        "hw_architecture=aarch64, and no host is of that kind (hosts: x86_64)"
    )
    assert ("QEMU emulates it" in problem) is (severity is Severity.WARNING)
    assert "unset" not in fix
    of = dataclasses.replace(of, assumptions=DEFAULT)
    assert only(of).severity is Severity.WARNING


@pytest.mark.parametrize(
    ("settings", "arch", "wanted", "hypervisor"),
    [
        (DEFAULT, "aarch64", "aarch64", "QEMU"),
        (DEFAULT, "x86_64", "x86_64", "fake"),
        # A CPU of 64 bits runs programs of 32.
        (DEFAULT, "x86_64", "i686", "QEMU"),
        # Nobody knows what such hosts run.
        (DEFAULT, None, "aarch64", "QEMU"),
        (DEFAULT, "x86_64", "aarch64", "Hyper-V-like"),
        (given("ComputeFilter"), "x86_64", "aarch64", "fake"),
    ],
)
def test_an_architecture_that_a_host_may_have_is_no_finding(
    settings, arch, wanted, hypervisor
):
    images = [image("i", hw_architecture=wanted)]
    cpu_info = {"arch": arch} if arch else None
    of = cloud(settings, [], images, hypervisor_type=hypervisor, cpu_info=cpu_info)
    if hypervisor == "Hyper-V-like":
        of = cloud(settings, [], images)
    assert ids(of) == []


def test_another_hypervisor_is_found_before_its_bits_raise():
    images = [image("i", img_hv_type="vmware", **BITS)]
    of = cloud(DEFAULT, [], images, hypervisor_type="QEMU")
    assert ids(of) == ["filters-image-no-host"]


def test_an_architecture_whose_trait_is_missing_is_found_once():
    on = {options.IMAGE_METADATA: True}
    settings = SchedulerSettings(34).changed(*next(iter(on.items())))
    of = cloud(settings, [flavor("f")], [ARM], hypervisor_type="fake")
    known = of.known_traits | {"HW_ARCH_AARCH64"}
    of = dataclasses.replace(of, known_traits=known)
    assert ids(of) == ["traits-no-host"]
    assert "check hw_architecture of the image, or add hosts" in words(of)[1]


def test_traits_that_users_give_their_images_take_no_more_requests(monkeypatch):
    """Only properties that Nova reads are tried with each flavor."""
    flavors = [flavor(f"f{n}") for n in range(10)]

    def built(number):
        questions = []

        def counting(*given):
            questions.append(given)
            return Question(*given)

        monkeypatch.setattr(builder, "Question", counting)
        images = [
            image(f"i{n}", **{f"trait:CUSTOM_{n}": "required"}, **SECURE)
            for n in range(number)
        ]
        found = Analysis(survey([host("a")], flavors, images, known=[SECURE_BOOT]))
        for demand in found.images:
            assert traits_requests.has_no_host(found, demand)
        return len(questions) - number

    assert built(2) == built(50)
