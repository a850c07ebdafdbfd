"""The two filters that read image properties."""

import pytest

from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter import compute
from osc_traitsched.core.nova.filter.state import Fails, Raises, Unknown
from osc_traitsched.core.nova.filter.table import judge
from tests.unit.core.filter.asked import host, says, settings, spec

NAME, ISOLATION = "ImagePropertiesFilter", "AggregateImagePropertiesIsolation"
FAKE = {"hypervisor_type": "fake", "hypervisor_version": 1000000}
VMWARE = {"hypervisor_type": "VMware vCenter Server"}


def test_nothing_is_asked_by_a_version_or_by_bits_alone():
    asked = spec({}, {"img_hv_requested_version": "<1.0", "hw_maxphysaddr_bits": "48"})
    assert says(NAME, host(), asked) == "yes"


@pytest.mark.parametrize(
    ("properties", "answer"),
    [
        ({"hw_architecture": "x86_64"}, "yes"),
        ({"architecture": "AMD64"}, "yes"),
        # Another may be emulated.
        ({"hw_architecture": "ppc64le"}, "unknown: supported_instances"),
        ({"hw_architecture": "i686"}, "unknown: supported_instances"),
        ({"hw_vm_mode": "hvm"}, "yes"),
        ({"hw_vm_mode": "xen"}, "no: unsupported-image"),
        ({"img_hv_type": "kvm"}, "unknown: supported_instances"),
        ({"img_hv_type": "vmware"}, "no: unsupported-image"),
        ({"hw_architecture": "x86_64", "img_hv_type": "xen"}, "unknown"),
    ],
)
def test_of_libvirt_its_own_architecture_and_type_tell_what_it_runs(properties, answer):
    assert says(NAME, host(), spec({}, properties)).startswith(answer)


@pytest.mark.parametrize(
    ("report", "evidence"), [({}, "QEMU, x86_64"), ({"cpu_info": None}, "QEMU")]
)
def test_what_is_seen_of_a_hypervisor_is_the_evidence(report, evidence):
    asked = spec({}, {"hw_architecture": "ppc64le"})
    answer = judge(NAME, host(report=report), asked, settings())
    assert answer == Unknown("supported_instances", "hw_architecture", evidence)


@pytest.mark.parametrize(
    ("report", "properties", "answer"),
    [
        (FAKE, {"hw_architecture": "x86_64", "img_hv_type": "fake"}, "yes"),
        (FAKE, {"hw_architecture": "aarch64"}, "no: unsupported-image"),
        (VMWARE, {"hw_architecture": "i686", "img_hv_type": "vmware"}, "yes"),
        (VMWARE, {"img_hv_type": "kvm"}, "no: unsupported-image"),
        ({"hypervisor_type": "zvm"}, {"hw_architecture": "s390x"}, "yes"),
        ({"hypervisor_type": "ironic"}, {"hw_architecture": "x86_64"}, "unknown"),
    ],
)
def test_of_other_drivers_it_is_known_what_they_run(report, properties, answer):
    assert says(NAME, host(report=report), spec({}, properties)).startswith(answer)


def test_what_the_host_does_not_run_is_said_of_the_images_own_key():
    asked = spec({}, {"vm_mode": "hv", "hypervisor_type": "kvm"})
    answer = judge(NAME, host(report=FAKE), asked, settings())
    origin = Origin("image", "hypervisor_type")
    expected = Fails("unsupported-image", "hypervisor_type", "kvm", ("fake",), origin)
    assert answer == expected


def test_an_image_without_an_architecture_has_that_of_the_option():
    option = "filter_scheduler.image_properties_default_architecture"
    given = settings(**{option: "aarch64"})
    answer = judge(NAME, host(report=FAKE), spec(), given)
    origin = Origin("option", option)
    assert answer == Fails("unsupported-image", option, "aarch64", ("fake",), origin)
    asked = spec({}, {"hw_architecture": "x86_64"})
    assert says(NAME, host(report=FAKE), asked, **{option: "aarch64"}) == "yes"


@pytest.mark.parametrize(
    ("wanted", "version", "answer"),
    [
        (">=8.0,<9", 8002001, "yes"),
        (">=9", 8002001, "no: hypervisor-version"),
        (">=9", 0, "yes"),
    ],
)
def test_the_hypervisors_version_matters_where_something_is_asked(
    wanted, version, answer
):
    asked = spec({}, {"hw_vm_mode": "hvm", "img_hv_requested_version": wanted})
    assert says(NAME, host(report={"hypervisor_version": version}), asked) == answer


def test_a_version_says_no_also_where_the_rest_is_unknown():
    asked = spec({}, {"img_hv_type": "kvm", "hypervisor_version_requires": ">=9"})
    key = "hypervisor_version_requires"
    origin = Origin("image", key)
    answer = judge(NAME, host(), asked, settings())
    assert answer == Fails("hypervisor-version", key, ">=9", ("8.2.1",), origin)


@pytest.mark.parametrize(
    ("release", "answer"), [(30, "raises: ValueError"), (31, "yes")]
)
def test_until_30_a_version_of_one_number_raises(release, answer):
    properties = {"hw_vm_mode": "hvm", "img_hv_requested_version": ">=1.0"}
    asked = spec({}, properties, release=release)
    assert says(NAME, host(report={"hypervisor_version": 7}), asked, release) == answer


@pytest.mark.parametrize(
    ("properties", "release", "answer"),
    [
        ({"hw_vm_mode": "hvm"}, 28, "yes"),
        ({"hw_vm_mode": "hvm"}, 29, "raises: AttributeError"),
        ({"hw_vm_mode": "hvm"}, 34, "raises: AttributeError"),
        ({"hw_vm_mode": "xen"}, 34, "no: unsupported-image"),
        ({"img_hv_type": "kvm"}, 34, "unknown: supported_instances"),
        ({}, 34, "yes"),
    ],
)
def test_address_bits_of_an_image_raise_where_the_rest_is_met(
    properties, release, answer
):
    asked = spec({}, {**properties, "hw_maxphysaddr_bits": "40"}, release=release)
    assert says(NAME, host(), asked, release) == answer


def test_bits_that_raise_are_said():
    asked = spec({}, {"hw_vm_mode": "hvm", "hw_maxphysaddr_bits": "40"})
    origin = Origin("image", "hw_maxphysaddr_bits")
    expected = Raises("AttributeError", "hw_maxphysaddr_bits", "40", origin)
    assert judge(NAME, host(), asked, settings()) == expected


def test_what_is_unknown_says_whether_it_may_raise():
    properties = {"hypervisor_type": "kvm", "hw_maxphysaddr_bits": "40"}
    answer = judge(NAME, host(), spec({}, properties), settings())
    seen = "QEMU, x86_64"
    expected = Unknown("supported_instances", "hypervisor_type", seen, True)
    assert answer == expected


@pytest.mark.parametrize(
    ("wanted", "holds"),
    [
        ("==2.5", True),
        ("==2.5.0", True),
        ("!=2.5", False),
        (">2.5rc1", True),
        ("<2.5.post1", True),
        (">2.5.dev1", True),
        ("<2.5+local", True),
        ("<1!1.0", True),
        (">2.5a1.post2", True),
        ("> 2.4 , < 2.6", True),
        (">=2.5,<2.5", False),
        ("<=2.5.0.0", True),
    ],
)
def test_a_version_is_compared_part_by_part(wanted, holds):
    assert compute.satisfies(2005000, wanted) is holds


@pytest.mark.parametrize(
    ("number", "text"), [(8002001, "8.2.1"), (2005000, "2.5.0"), (7, "7"), (0, "")]
)
def test_a_version_that_is_one_number_has_parts(number, text):
    assert compute.text_of(number) == text


@pytest.mark.parametrize(
    ("properties", "metadata", "answer"),
    [
        ({"os_type": "linux"}, {"os_type": "linux"}, "yes"),
        ({"os_type": "linux"}, {"os_type": "windows"}, "no: image-differs"),
        ({"os_type": "linux"}, {"os_type": "windows, linux"}, "yes"),
        # What the image does not have may be anything.
        ({}, {"os_type": "windows"}, "yes"),
        # Only Nova's own properties are compared, under their current names.
        ({"custom": "a"}, {"custom": "b"}, "yes"),
        ({"architecture": "x86_64"}, {"architecture": "i686"}, "yes"),
        (
            {"architecture": "x86_64"},
            {"hw_architecture": "i686"},
            "no: image-differs",
        ),
        # They are compared as Python writes them.
        ({"hw_pmu": "true"}, {"hw_pmu": "true"}, "no: image-differs"),
        ({"hw_pmu": "yes"}, {"hw_pmu": "True"}, "yes"),
        ({"hw_pmu": "false"}, {"hw_pmu": "True"}, "yes"),
        ({"hw_boot_menu": "1"}, {"hw_boot_menu": "1"}, "no: image-differs"),
        ({"hw_cpu_cores": "04"}, {"hw_cpu_cores": "4"}, "yes"),
        ({"hw_cpu_cores": "0"}, {"hw_cpu_cores": "4"}, "yes"),
        ({"os_distro": "debian"}, {"os_distro": "rhel"}, "no: image-differs"),
        ({"vmware_ostype": "debian"}, {"os_distro": "debian"}, "yes"),
        ({"hw_vif_model": "VirtualE1000"}, {"hw_vif_model": "e1000"}, "yes"),
        (
            {"trait:CUSTOM_A": "required"},
            {"traits_required": "['CUSTOM_A']"},
            "yes",
        ),
        (
            {"hw_numa_mem.0": "512", "hw_numa_cpus.0": "0"},
            {"hw_numa_mem": "[512]", "hw_numa_cpus": "[CoercedSet({0})]"},
            "yes",
        ),
        (
            {"hw_numa_cpus.0": "0-1"},
            {"hw_numa_cpus": "[CoercedSet({0, 1})]"},
            "no: image-differs",
        ),
        (
            {"block_device_mapping": '[{"boot_index": 0}]'},
            {"img_block_device_mapping": "[{'boot_index': '0'}]"},
            "yes",
        ),
        ({"mappings": '[{"a": 1}]'}, {"img_mappings": "x"}, "no: image-differs"),
        ({"img_owner_id": "a", "owner_id": "b"}, {"img_owner_id": "a"}, "yes"),
    ],
)
def test_metadata_keeps_out_images_that_have_another_value(
    properties, metadata, answer
):
    assert says(ISOLATION, host(metadata=[metadata]), spec({}, properties)) == answer


def test_a_property_counts_from_its_release_on():
    properties, metadata = {"hw_sound_model": "usb"}, [{"hw_sound_model": "sb16"}]
    for release, answer in ((31, "yes"), (32, "no: image-differs")):
        asked = spec({}, properties, release=release)
        assert says(ISOLATION, host(metadata=metadata), asked, release) == answer


def test_the_image_that_is_kept_out_is_said_by_its_own_key():
    state = host(metadata=[{"hw_architecture": "i686"}, {"hw_architecture": "ppc"}])
    answer = judge(ISOLATION, state, spec({}, {"architecture": "x86_64"}), settings())
    origin = Origin("image", "architecture")
    found = ("i686", "ppc")
    assert answer == Fails("image-differs", "architecture", "x86_64", found, origin)


def test_with_a_namespace_no_property_is_compared():
    state = host(metadata=[{"os_type": "windows", "ns.os_type": "windows"}])
    asked = spec({}, {"os_type": "linux"})
    option = "filter_scheduler__aggregate_image_properties_isolation_namespace"
    assert says(ISOLATION, state, asked) == "no: image-differs"
    assert says(ISOLATION, state, asked, **{option: "ns"}) == "yes"


def test_a_namespace_and_a_separator_can_begin_nova_s_own_properties():
    state = host(metadata=[{"os_type": "windows"}])
    start = "filter_scheduler__aggregate_image_properties_isolation_"
    options = {f"{start}namespace": "os", f"{start}separator": "_"}
    asked = spec({}, {"os_type": "linux"})
    assert says(ISOLATION, state, asked, **options) == "no: image-differs"
