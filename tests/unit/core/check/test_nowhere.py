"""Flavors and images that no host could ever take, each by one finding."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.check import analysis
from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.rules import traits
from osc_traitsched.core.check.survey import SubjectKind
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.placement.facts import Stock
from tests.unit.core.check.surveys import (
    assert_told,
    findings,
    flavor,
    identity,
    image,
    survey,
)
from tests.unit.core.check.test_filters import (
    BITS,
    DEFAULT,
    cloud,
    given,
    with_computes,
)
from tests.unit.core.check.test_images import others_of as of_others
from tests.unit.core.filter.asked import REPORT

SECURE_BOOT = "COMPUTE_SECURITY_UEFI_SECURE_BOOT"
SECURE = "i os_secure_boot=required hw_firmware_type=uefi"
BIG, SMALL = "big ram=16384", "VCPU=4 MEMORY_MB=2048 DISK_GB=100"
ENCRYPTED = "e hw_mem_encryption=true hw_firmware_type=uefi; plain"
PINNED = "f hw:cpu_policy=dedicated; g; h"
GROUPS = "f resources1:VCPU=1 resources2:VCPU=1 group_policy="
NUMA = "NUMATopologyFilter"
CAPS, TYPES = "ComputeCapabilitiesFilter", "AggregateTypeAffinityFilter"
IMAGES = "ImagePropertiesFilter"
QEMU = {"hypervisor_type": "QEMU", "cpu_info": {"topology": {"cells": 2}}}
FAKE = {"hypervisor_type": "fake"}
WITHOUT_NUMA = {"hypervisor_type": "QEMU", "cpu_info": None}
FALLBACK_OFF = DEFAULT.changed(options.NO_PCPU_FALLBACK, True)
COMPLETE = dataclasses.replace(DEFAULT, files=("nova.conf",))
METADATA = SchedulerSettings(34).changed(options.IMAGE_METADATA, True)
IRONIC = {"report": dataclasses.replace(REPORT, hypervisor_type="ironic")}
ASKS_IRONIC = "f capabilities:hypervisor_type=ironic"
NO_AMOUNTS = "resources:VCPU=0 resources:MEMORY_MB=0 resources:DISK_GB=0"
ARM = "arm hw_architecture=aarch64"
PERSONAL = {"os_secure_boot": "required", "hw_firmware_type": "uefi"}


def classes(of, *more):
    return dataclasses.replace(of, known_classes=of.known_classes.union(more))


def lacking(specs, **more):
    return classes(survey("a", f"f {specs}", ENCRYPTED, **more), "VGPU")


def without_cinder(of):
    return dataclasses.replace(of, has_volumes=False)


def with_units(of, name, **units):
    stock = {**of.stock[identity(name)]}
    stock["VCPU"] = dataclasses.replace(stock["VCPU"], **units)
    return dataclasses.replace(of, stock={**of.stock, identity(name): stock})


def with_stock(of, **stock):
    stocks = {**of.stock, identity("a"): {**of.stock[identity("a")], **stock}}
    return dataclasses.replace(classes(of, *stock), stock=stocks)


def in_use():
    of = survey("a", "f ram=8192")
    sizes = of.stock[identity("a")]
    return with_stock(
        of, **{name: Stock(s.capacity, s.capacity) for name, s in sizes.items()}
    )


def of_ironic(flavors, *known):
    """The node b is one of bare metal, and of no known size."""
    of = classes(survey("a; b ?", flavors), *known)
    return with_computes(of, lambda c: IRONIC if c.node == "b" else {})


def reported(hosts, flavors):
    of = survey(hosts, flavors, assumptions=given("ComputeFilter", CAPS))
    return with_computes(of, lambda _: {"report": REPORT})


def isolated(flavors):
    """The host b is closed to flavors that do not require gold."""
    settings = given("ComputeFilter", CAPS).changed(options.ISOLATION, True)
    gold = "gold b trait:CUSTOM_GOLD=required"
    of = survey("a; b CUSTOM_GOLD", flavors, (), gold, assumptions=settings)
    return with_computes(of, lambda _: {"report": REPORT})


def judged(specs, *filters, report=QEMU):
    """What a flavor asks of hosts of which this is reported."""
    return cloud(given("ComputeFilter", *filters), f"f vcpus=4 {specs}; g", **report)


def arms(hypervisor, settings=None, cpu="x86_64", arch="aarch64"):
    report = {"hypervisor_type": hypervisor, "cpu_info": cpu and {"arch": cpu}}
    settings = settings or given("ComputeFilter", IMAGES)
    return cloud(settings, "f", f"arm hw_architecture={arch}; plain", **report)


EIGHT = survey("a; b", "f vcpus=8")
SMALLER = with_units(EIGHT, "a", max_unit=4)
VGPU = survey("a; b", "f resources:VGPU=1")
SECURE_OF_OTHERS = of_others(
    {**image("i", **PERSONAL), "visibility": "private", "owner": "x"}
)
FAULTS = {
    "error resources-no-host resource class MEMORY_MB (flavor big, flavor huge): "
    "flavors big, huge need 16384 to 65536 MB on one host; the largest has 8192 -> use "
    "a smaller...": survey("a", f"{BIG}; huge ram=65536 vcpus=32; small"),
    "~error resources-no-host resource class VGPU (flavor f): flavor f needs 1; no "
    "host has any -> check [devices]enabled_mdev_types on the hosts,...": lacking(
        "resources:VGPU=1", assumptions=FALLBACK_OFF
    ),
    "~error resources-no-host resource class PCPU (flavor f): flavor f needs 1; no "
    "host has any -> check [compute]cpu_dedicated_set on the hosts,...": lacking(
        "hw:cpu_policy=dedicated", assumptions=FALLBACK_OFF
    ),
    "~error resources-no-host resource class MEM_ENCRYPTION_CONTEXT (flavor f): flavor "
    "f needs 1; no host has any -> check SEV or TDX in BIOS and...": lacking(
        "hw:mem_encryption=true"
    ),
    "~error resources-no-host resource class MEM_ENCRYPTION_CONTEXT (image e): image e "
    "needs it; no host has any -> check SEV or TDX in BIOS and...": survey(
        "a", "f", ENCRYPTED
    ),
    # Servers that boot from a volume need no disk.
    "warning resources-no-host resource class DISK_GB (flavor f): flavor f needs 200 "
    "GB on one host; the largest has 100; only servers that boot from a volume fit -> "
    "use a smaller...": survey("a", "f disk=200"),
    "error resources-no-host resource class DISK_GB (flavor f): flavor f needs 200 GB "
    "on one host; the largest has 100 -> use a smaller...": without_cinder(
        survey("a", "f disk=200")
    ),
    "error resources-no-host resource class DISK_GB (flavor f)...": survey(
        "a", [flavor("f", {"OS-FLV-EXT-DATA:ephemeral": 200})]
    ),
    # The unit counts, and not only the capacity.
    "error resources-no-host resource class VCPU (flavor f): flavor f needs 8 on one "
    "host; the largest has 4 -> use a smaller flavor or add a...": with_units(
        SMALLER, "b", max_unit=4
    ),
    "error resources-no-host resource class VCPU (flavor f): flavor f needs 8 on one "
    "host; min_unit and step_size of the hosts do not allow it -> use a "
    "smaller...": with_units(SMALLER, "b", max_unit=16, step_size=5),
    # Its free VCPU are not for servers that it pins.
    "error resources-no-host resource class PCPU (flavor f): flavor f needs 4 on one "
    "host; the largest has 3 -> use a smaller...": survey(
        f"a {SMALL} PCPU=2; b {SMALL} PCPU=3", "f vcpus=4 hw:cpu_policy=dedicated"
    ),
    # Bare metal takes no virtual server, and has no class that this lacks.
    "error resources-no-host resource class MEMORY_MB (flavor big)...": of_ironic(BIG),
    **{
        f"error resources-no-host resource class {name} (flavor f): flavor f needs 1; "
        "no host has any...": of_ironic(f"f resources:{name}=1", name)
        for name in ("VGPU", "PCPU")
    },
    # A node that was not read may have it.
    "error resources-not-together flavor f: no host can give all of 1 CUSTOM_GPU, 1 "
    "VCPU, 512 MEMORY_MB, 1 DISK_GB, even if it is empty -> use a smaller...": (
        of_ironic("f resources:CUSTOM_GPU=1", "CUSTOM_GPU")
    ),
    "error resources-no-host resource class VGPU (flavor f): flavor f needs 1; all of "
    "it is reserved (1 of 1) -> look at who...": with_stock(
        VGPU, VGPU=Stock(0, 0, total=1, reserved=1, ratio=1.0)
    ),
    "error resources-no-host resource class VGPU (flavor f): flavor f needs 1; all of "
    "it is reserved -> look at who...": with_stock(VGPU, VGPU=Stock(0, 0)),
    # What another rule reports is reported once.
    "error resources-unknown resource class CUSTOM_GPU (flavor f)...": survey(
        "a", "f resources:CUSTOM_GPU=1"
    ),
    "error resources-no-policy flavor f (group 1, group 2)...\n"
    "error resources-no-host resource class VCPU (flavor f)...": survey(
        "a", "f resources1:VCPU=99 resources2:VCPU=1"
    ),
    "error traits-unknown trait CUSTOM_GOLD (flavor f)...": survey(
        "a", "f trait:CUSTOM_GOLD=required"
    ),
    "error traits-no-host trait CUSTOM_GOLD (flavor f)...": survey(
        "a",
        "f hw:cpu_policy=dedicated trait:CUSTOM_GOLD=required",
        known=["CUSTOM_GOLD", "HW_CPU_HYPERTHREADING"],
    ),
    "error traits-few-hosts flavor f...": survey(
        f"a CUSTOM_GOLD {SMALL}; b", "f ram=4096 trait:CUSTOM_GOLD=required"
    ),
    "warning resources-no-pcpu resource class PCPU (flavor f): flavor f: pinned CPUs, "
    "and no host has dedicated CPUs; hosts with [compute]cpu_shared_set reject such "
    "servers -> set [compute]...": survey("a; b", PINNED),
    "error resources-not-together flavor f: no host can give all of 32 VCPU, 4096 "
    "MEMORY_MB, 1 DISK_GB, even if it is empty -> use a smaller...": survey(
        "a VCPU=64 MEMORY_MB=2048 DISK_GB=100; b", "f vcpus=32 ram=4096"
    ),
    "error resources-not-together flavor f: no host can give all of 1 VCPU, 1 VCPU, "
    "512 MEMORY_MB, 1 DISK_GB, each group from another provider,...": survey(
        "a", f"{GROUPS}isolate"
    ),
    "error traits-no-host trait COMPUTE_SECURITY_UEFI_SECURE_BOOT (image i): no host "
    "has it, and it is required by image i -> check OVMF and libvirt on the hosts, or "
    "add hosts that have it": survey("a", "f", SECURE, known=[SECURE_BOOT]),
    "error traits-unknown trait COMPUTE_SECURITY_UEFI_SECURE_BOOT (image i): Placement "
    "rejects every request that names it; named by image i -> upgrade the "
    "os...": survey("a", "f", SECURE),
    "~note traits-no-host image i (..., owner x) (image i (..., "
    "owner x))...": dataclasses.replace(
        SECURE_OF_OTHERS,
        flavors=(flavor("f"),),
        known_traits=SECURE_OF_OTHERS.known_traits | {SECURE_BOOT},
    ),
    "error filters-flavor-no-host flavor f (host a, host b): no host is left: "
    "ComputeCapabilitiesFilter rejects the hosts a, b:...": judged(
        "capabilities:hypervisor_type=ironic", CAPS
    ),
    "error filters-flavor-no-host flavor f (host a, host b): no host is left: "
    "ComputeCapabilitiesFilter rejects the hosts a, b: "
    "capabilities:cpu_info:features=<in> avx512, which they do not report -> correct "
    "...": cloud(
        given("ComputeFilter", CAPS),
        [flavor("f", capabilities__cpu_info__features="<in> avx512")],
        **QEMU,
    ),
    "error filters-flavor-no-host flavor f (host a, host b): no host is left: "
    "ComputeCapabilitiesFilter rejects the hosts a, b: hw:maxphysaddr_bits=>= 46, and "
    "they have 40 -> correct ...": judged(
        "hw:maxphysaddr_bits=46",
        CAPS,
        report={**QEMU, "cpu_info": {"maxphysaddr": {"bits": 40}}},
    ),
    "error filters-flavor-no-host flavor f (host a, host b): no host is left: "
    "NUMATopologyFilter rejects the hosts a, b: hw:numa_nodes=4, and they have 2 NUMA "
    "nodes -> correct ...": judged("hw:numa_nodes=4", CAPS),
    "error filters-flavor-no-host flavor f (host a, host b): no host is left: "
    "NUMATopologyFilter rejects the hosts a, b: a NUMA node has 1537 MB, which pages "
    "of 2 MB (hw:mem_page_size) do not divide -> use a flavor with 1536 or 1538 MB of "
    "RAM": judged("ram=1537 hw:mem_page_size=2MB"),
    "error filters-flavor-no-host flavor f (host a, host b): no host is left: "
    "NUMATopologyFilter rejects the hosts a, b: hw:mem_page_size, and they have no "
    "NUMA nodes (fake) -> correct ...": judged(
        "hw:mem_page_size=1GB", CAPS, NUMA, report=FAKE
    ),
    "error filters-flavor-no-host flavor f (host a, host b)...": [
        cloud(
            given("ComputeFilter", TYPES), "f; big", (), "b a b instance_type=big,huge"
        ),
        cloud(COMPLETE, ASKS_IRONIC, **QEMU),
    ],
    # The host that the filter passes must fit the flavor, too.
    "error filters-flavor-no-host flavor big (host b): no host is left: "
    "ComputeCapabilitiesFilter rejects the host b:...": reported(
        "a; b MEMORY_MB=65536 VCPU=16 DISK_GB=100",
        f"{BIG} capabilities:hypervisor_hostname=a",
    ),
    # Isolation and sizes leave the hosts that the filter rejects.
    "error filters-flavor-no-host flavor f (host a): no host is left: "
    "ComputeCapabilitiesFilter rejects the host a: capabilities:hypervisor_hostname=b, "
    "and they have a; isolation keeps it off the host b...": (
        isolated("f capabilities:hypervisor_hostname=b"),
        "filters-flavor-no-host",
    ),
    "error filters-flavor-no-host flavor f (host b): no host is left: "
    "ComputeCapabilitiesFilter rejects the host b: capabilities:hypervisor_hostname=a, "
    "and they have b -> ...": reported(
        "a; b MEMORY_MB=8192 VCPU=64 DISK_GB=100",
        "f vcpus=32 capabilities:hypervisor_hostname=a",
    ),
    "warning filters-flavor-no-host flavor f (host a, host b)...": cloud(
        DEFAULT, ASKS_IRONIC, **QEMU
    ),
    "error traits-rejected flavor f: Nova rejects every server of it: [pci]alias does "
    "not define the PCI alias, by pci_passthrough:alias, a1:1...": survey(
        "a", "f pci_passthrough:alias=a1:1", assumptions=COMPLETE
    ),
    "error filters-image-no-host image arm (image arm): hw_architecture=aarch64, and "
    "no host is of that kind (hosts: x86_64) -> add hosts that match, or correct "
    "hw_architecture if the image is not aarch64": arms("fake"),
    "warning filters-image-no-host image arm (image arm): hw_architecture=aarch64, and "
    "no host is of that kind (hosts: x86_64); a server boots only if QEMU emulates it "
    "-> add hosts that match, or correct hw_architecture if the image is not "
    "aarch64": arms("QEMU"),
    "warning filters-image-no-host image arm (image arm)...": arms("fake", DEFAULT),
    # It is found before its bits raise.
    "warning filters-image-no-host image i (image i)...": cloud(
        DEFAULT, [], [image("i", img_hv_type="vmware", **BITS)], hypervisor_type="QEMU"
    ),
    "error traits-no-host trait HW_ARCH_AARCH64 (image arm): no host's root provider "
    "has it, and it is required by image arm -> check hw_architecture of the image, or "
    "add hosts that have it": dataclasses.replace(
        arms("fake", METADATA), known_traits=frozenset({"HW_ARCH_AARCH64"})
    ),
}


@pytest.mark.parametrize(("text", "surveys"), FAULTS.items())
def test_a_fault_is_told_once(text, surveys):
    assert_told(text, surveys)


SECURE_RULES = "traits-no-host", "traits-unknown"
HEALTHY = [
    SMALLER,
    EIGHT,
    survey("a; b VCPU=64 MEMORY_MB=65536 DISK_GB=9", BIG),
    # Nobody knows how large it is.
    survey("a; full ?", BIG),
    in_use(),
    dataclasses.replace(
        of_ironic(f"bm resources:CUSTOM_BM=1 {NO_AMOUNTS}", "CUSTOM_BM"),
        stock={},
    ),
    survey(f"a; b {SMALL} PCPU=4", PINNED),
    survey(f"a {SMALL} PCPU=2; b", "f vcpus=4 hw:cpu_policy=dedicated"),
    survey("a; b ?", PINNED),
    survey("a", f"{GROUPS}none"),
    (survey(f"a {SECURE_BOOT}", "f", SECURE), *SECURE_RULES),
    (survey("a", "f", "i os_secure_boot=optional", known=[SECURE_BOOT]), *SECURE_RULES),
    # Nova rejects the image with all flavors: another rule's.
    (survey("a", (), SECURE, known=[SECURE_BOOT]), *SECURE_RULES),
    reported("a; b", "f capabilities:hypervisor_hostname=a"),
    (isolated("f capabilities:hypervisor_hostname=a"), "filters-flavor-no-host"),
    (
        isolated("f capabilities:hypervisor_hostname=b trait:CUSTOM_GOLD=required"),
        "filters-flavor-no-host",
    ),
    judged("capabilities:hypervisor_type=QEMU", CAPS),
    # nova-compute claims no NUMA nodes on a host without any.
    judged("hw:mem_page_size=1GB", report=FAKE),
    # Other servers come and go.
    cloud(
        given("ComputeFilter", CAPS),
        [flavor("f", capabilities__free_ram_mb=">= 10000000")],
        **QEMU,
    ),
    judged("capabilities:hypervisor_type=ironic"),
    judged("hw:numa_nodes=2", CAPS),
    judged("hw:numa_nodes=4", CAPS, report=WITHOUT_NUMA),
    judged("ram=1024 hw:mem_page_size=1GB", CAPS),
    judged("capabilities:hypervisor_type=ironic", CAPS, report={}),
    # Nova's pci.alias may be given.
    survey("a", "f pci_passthrough:alias=a1:1", assumptions=DEFAULT),
    arms("QEMU", DEFAULT, cpu="aarch64"),
    arms("fake", DEFAULT, arch="x86_64"),
    # A CPU of 64 bits runs programs of 32.
    arms("QEMU", DEFAULT, arch="i686"),
    # Nobody knows what such hosts run.
    arms("QEMU", DEFAULT, cpu=None),
    cloud(DEFAULT, (), ARM),
    arms("fake", given("ComputeFilter")),
]


@pytest.mark.parametrize("surveys", HEALTHY)
def test_what_some_host_may_take_is_no_finding(surveys):
    assert_told("", surveys)


def test_each_of_the_images_that_no_host_runs_is_what_the_finding_is_about():
    of = arms("fake")
    of = dataclasses.replace(
        of,
        images=(
            image("arm", hw_architecture="aarch64"),
            image("arm2", hw_architecture="aarch64"),
        ),
    )
    (found,) = findings(of)
    assert found.images == ("arm", "arm2")
    assert found.is_about(SubjectKind.IMAGE, ["arm2"])


def test_traits_that_users_give_their_images_take_no_more_requests(monkeypatch):
    """Only properties that Nova reads are tried with each flavor."""
    flavors = [flavor(f"f{n}") for n in range(10)]

    def built(number):
        questions = []

        def counting(*given):
            questions.append(given)
            return Question(*given)

        monkeypatch.setattr(analysis, "Question", counting)
        images = [
            image(f"i{n}", **{f"trait:CUSTOM_{n}": "required"}, **PERSONAL)
            for n in range(number)
        ]
        found = Analysis(survey("a", flavors, images, known=[SECURE_BOOT]))
        for demand in found.images:
            assert traits.has_no_host(found, demand)
        return len(questions) - number

    assert built(2) == built(50)
