"""Host filters of server groups, hints, aggregates and images."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter import compute
from osc_traitsched.core.nova.filter.groups import (
    is_rebuild_by_hint,
    late_check,
    misshapen,
    servers_left,
    unsupported_policy,
)
from osc_traitsched.core.nova.filter.state import (
    Fails,
    MemberMove,
    Raises,
    ServerGroup,
    Unknown,
)
from osc_traitsched.core.nova.filter.table import judge
from tests.unit.core.filter.asked import host, says, settings, spec

# Server groups: their two filters, and a policy whose filter is off.


AFFINITY, ANTI = "ServerGroupAffinityFilter", "ServerGroupAntiAffinityFilter"


def group(policy, hosts=(), members=("s1", "s2"), most=1):
    return ServerGroup("g", policy, most, frozenset(members), frozenset(hosts))


@pytest.mark.parametrize(
    ("hosts", "answer"),
    [
        ([], "unknown: instance_group.hosts"),
        (["cmp2"], "unknown: instance_group.hosts"),
        (["cmp1"], "yes"),
    ],
)
def test_servers_in_a_silent_cell_leave_open_which_hosts_are_the_groups(hosts, answer):
    found = dataclasses.replace(group("affinity", hosts), is_placed=False)
    assert says(AFFINITY, host("cmp1"), spec(group=found)) == answer


def test_a_server_that_is_moved_holds_its_group_on_its_own_host():
    asked = spec(group=group("affinity", ["cmp2"], ["s1"]), instance_uuid="s1")
    assert says(AFFINITY, host("cmp1"), asked) == "no: group-elsewhere"
    assert says(AFFINITY, host("cmp2"), asked) == "yes"


def test_anti_affinity_says_that_the_group_is_on_the_host():
    state = host(instances=frozenset(["s1", "s2", "s9"]))
    asked = spec(group=group("anti-affinity", most=2))
    assert says(ANTI, state, asked) == "no: group-here"


@pytest.mark.parametrize(
    ("hosts", "most", "moved", "answer"),
    [
        (["cmp2"], 1, None, "yes"),
        (["cmp1"], 1, None, "no: group-here"),
        (["cmp1"], 2, None, "unknown: instances"),
        (["cmp1"], 1, "s1", "unknown: instances"),
    ],
)
def test_without_the_servers_of_hosts_the_groups_hosts_tell(hosts, most, moved, answer):
    asked = spec(group=group("anti-affinity", hosts, most=most), instance_uuid=moved)
    assert says(ANTI, host(), asked) == answer


@pytest.mark.parametrize(
    ("policy", "missing"),
    [
        ("affinity", AFFINITY),
        ("anti-affinity", ANTI),
        ("soft-affinity", "ServerGroupSoftAffinityWeigher"),
        ("soft-anti-affinity", "ServerGroupSoftAntiAffinityWeigher"),
    ],
)
def test_a_policy_whose_filter_or_weigher_is_off_is_refused(policy, missing):
    asked = spec(group=group(policy))
    assert unsupported_policy(asked, settings()) is None
    off = settings(
        filter_scheduler__enabled_filters=("ComputeFilter",),
        filter_scheduler__weight_classes=("nova.scheduler.weights.ram.RAMWeigher",),
    )
    assert unsupported_policy(asked, off) == missing
    assert unsupported_policy(spec(), off) is None


def test_a_weigher_counts_as_on_by_its_full_name():
    name = "nova.scheduler.weights.affinity.ServerGroupSoftAffinityWeigher"
    given = settings(filter_scheduler__weight_classes=(name,))
    assert unsupported_policy(spec(group=group("soft-affinity")), given) is None


#: Server s1 was resized from cmp1 to cmp2, and nobody has confirmed it.
RESIZED = MemberMove("s1", "web", frozenset(["cmp1", "cmp2"]), is_finished=True)


@pytest.mark.parametrize(
    ("here", "most", "moved", "moves", "reason"),
    [
        ((), 1, None, [RESIZED], "group-leaving"),
        ((), 2, None, [RESIZED], None),
        (("s2",), 2, None, [RESIZED], "group-leaving"),
        (("s1",), 1, None, [RESIZED], "group-here"),
        (("s1",), 2, None, [RESIZED], None),
        # What the filter passes, since the server is there itself.
        (("s1", "s2"), 1, "s1", [], "group-here"),
        (("s1",), 1, "s1", [RESIZED], None),
        # Of a server of no group, and on other hosts.
        ((), 1, None, [dataclasses.replace(RESIZED, server="s9")], None),
        ((), 1, None, [dataclasses.replace(RESIZED, hosts=frozenset(["c"]))], None),
    ],
)
def test_nova_compute_counts_members_that_move_on_both_hosts(
    here, most, moved, moves, reason
):
    found = dataclasses.replace(group("anti-affinity", most=most), moves=tuple(moves))
    asked = spec(group=found, instance_uuid=moved)
    answer = late_check(host("cmp1", instances=frozenset(here)), asked, {})
    assert (answer.reason if isinstance(answer, Fails) else None) == reason


def test_moves_that_may_not_be_listed_leave_a_group_open():
    hidden = dataclasses.replace(group("anti-affinity"), moves=None)
    state = host(instances=frozenset())
    assert late_check(state, spec(group=hidden), {}).missing == "migrations"
    alone = dataclasses.replace(hidden, members=frozenset(["s1"]))
    asked = spec(group=alone, instance_uuid="s1")
    assert not hasattr(late_check(state, asked, {}), "missing")


@pytest.mark.parametrize(
    ("servers", "is_out"),
    [
        ({"s1": "cmp1"}, False),
        ({"s1": "cmp1", "s2": "cmp2"}, True),
        ({"s1": "cmp1", "s2": "cmp1"}, False),
        ({"s2": "cmp2"}, True),
        ({}, False),
    ],
)
def test_affinity_is_checked_against_the_hosts_of_the_others(servers, is_out):
    """The filter counts the host of the moved server, and nova-compute does not."""
    asked = spec(group=group("affinity", servers.values()), instance_uuid="s1")
    nodes = {server: (name, name) for server, name in servers.items()}
    found = late_check(host("cmp1", instances=frozenset()), asked, nodes)
    assert isinstance(found, Fails) is is_out


def test_a_host_has_no_room_for_the_group_while_a_member_may_come_back():
    found = dataclasses.replace(group("anti-affinity", most=2), moves=(RESIZED,))
    servers = {"s1": ("cmp2", "cmp2"), "s2": ("cmp1", "cmp1")}
    left = servers_left(found, ["cmp1", "cmp2", "cmp3"], servers)
    assert left == {"cmp1": 0, "cmp2": 1, "cmp3": 2}


# The filters that read scheduler hints.


SAME, DIFFERENT = "SameHostFilter", "DifferentHostFilter"
NETWORK = "SimpleCIDRAffinityFilter"


@pytest.mark.parametrize(
    ("hint", "same", "different"),
    [
        (None, "yes", "yes"),
        ((), "yes", "yes"),
        (("",), "yes", "yes"),
        (("", "s1"), "yes", "no: with-servers"),
        (("", ""), "no: not-with-servers", "yes"),
        (("s1",), "yes", "no: with-servers"),
        (("s9", "s2"), "yes", "no: with-servers"),
        (("s9",), "no: not-with-servers", "yes"),
    ],
)
def test_a_hint_names_servers_to_be_with_or_not(hint, same, different):
    state = host(instances=frozenset(["s1", "s2"]))
    hints = {} if hint is None else {"same_host": hint, "different_host": hint}
    assert says(SAME, state, spec(hints=hints)) == same
    assert says(DIFFERENT, state, spec(hints=hints)) == different


def test_servers_that_were_not_read_are_unknown_where_a_hint_names_some():
    hints = {"same_host": ("s1",), "different_host": ("s1",)}
    for name in (SAME, DIFFERENT):
        assert says(name, host(), spec()) == "yes"
        assert says(name, host(), spec(hints=hints)) == "unknown: instances"


@pytest.mark.parametrize(
    ("near", "prefix", "answer"),
    [
        ("", None, "yes"),
        ("10.0.0.77", None, "yes"),
        ("10.0.1.77", None, "no: outside-network"),
        ("10.0.1.77", "/16", "yes"),
        ("10.0.1.77", "/255.255.0.0", "yes"),
        ("10.0.1.77", "/0.0.255.255", "yes"),
        ("10.0.1.77", "/ 16", "yes"),
        ("10.0.0.5", "", "yes"),
        ("10.0.0.6", "", "no: outside-network"),
        ("fd00::1", None, "no: outside-network"),
        ("fd00::1", "/ffff::", "no: outside-network"),
        ("x", None, "raises: AddrFormatError"),
        ("10.0.0.5", "/33", "raises: AddrFormatError"),
        ("10.0.0.5", "/255.0.255.0", "raises: AddrFormatError"),
        ("10.0.0.5", "/x", "raises: AddrFormatError"),
        ("10.0.0.5", "/24/8", "raises: ValueError"),
    ],
)
def test_the_hosts_address_has_to_be_in_the_hints_network(near, prefix, answer):
    hints = {"build_near_host_ip": (near,)}
    if prefix is not None:
        hints["cidr"] = (prefix,)
    assert says(NETWORK, host(), spec(hints=hints)) == answer


def test_a_prefix_alone_asks_for_nothing():
    assert says(NETWORK, host(), spec(hints={"cidr": ("/x",)})) == "yes"


def test_a_hint_of_an_address_that_is_given_twice_raises():
    hints = {"build_near_host_ip": ("10.0.0.1", "10.0.0.2")}
    assert says(NETWORK, host(), spec(hints=hints)) == "raises: TypeError"


def test_a_host_without_an_address_raises_and_one_without_figures_is_unknown():
    asked = spec(hints={"build_near_host_ip": ("10.0.0.1",)})
    nowhere = host(report={"host_ip": None})
    assert says(NETWORK, nowhere, asked) == "raises: TypeError"
    assert says(NETWORK, host(report=False), asked) == "unknown: host_ip"


SERVER = "5e000000-0000-4000-8000-000000000001"


@pytest.mark.parametrize(
    ("hints", "wrong"),
    [
        ({}, None),
        ({"different_host": (SERVER, SERVER.upper())}, None),
        ({"different_host": (SERVER.replace("-", ""),)}, None),
        ({"different_host": ("db1",)}, "different_host"),
        ({"same_host": ("db1",)}, None),
        ({"same_host": ("db1", SERVER)}, "same_host"),
        ({"build_near_host_ip": ("10.0.0.1",), "cidr": ("/24",)}, None),
        ({"build_near_host_ip": ("fe80::1",)}, None),
        ({"build_near_host_ip": ("10.0.0",)}, "build_near_host_ip"),
        ({"build_near_host_ip": ("10.0.0.1", "10.0.0.2")}, "build_near_host_ip"),
        ({"cidr": ("24",)}, "cidr"),
        ({"colour": ("red", "blue"), "query": ("no JSON",)}, None),
    ],
)
def test_nova_api_takes_hints_of_its_own_in_their_shape_only(hints, wrong):
    assert misshapen(hints) == wrong


@pytest.mark.parametrize(
    ("release", "values", "taken"),
    [
        (30, ("rebuild",), True),
        (31, ("rebuild",), False),
        (30, ("rebuild", "rebuild"), False),
        (30, ("other",), False),
    ],
)
def test_a_user_can_ask_for_the_filters_of_a_rebuild_until_2024_2(
    release, values, taken
):
    assert is_rebuild_by_hint({"_nova_check_type": values}, release) is taken


# The filters that read aggregates' metadata, trap by trap.


EXTRA_SPECS = "AggregateInstanceExtraSpecsFilter"
TENANCY = "AggregateMultiTenancyIsolation"
TYPE = "AggregateTypeAffinityFilter"
ZONE = "AvailabilityZoneFilter"


@pytest.mark.parametrize(
    ("specs", "metadata", "answer"),
    [
        ({}, [], "yes"),
        ({"aggregate_instance_extra_specs:ssd": "true"}, [{"ssd": "true"}], "yes"),
        ({"aggregate_instance_extra_specs:ssd": "true"}, [], "no: no-metadata"),
        (
            {"aggregate_instance_extra_specs:ssd": "true"},
            [{"ssd": "True"}],
            "no: metadata-differs",
        ),
        ({"ssd": "true"}, [{}], "no: no-metadata"),
        ({"hw:ssd": "true", "trait:X": "required"}, [{}], "yes"),
        ({"aggregate_instance_extra_specs:a:b": "1"}, [{"a:b": "1"}], "yes"),
        ({"ssd": "b"}, [{"ssd": "a, b ,c"}], "yes"),
        ({"ssd": "b"}, [{"ssd": "a"}, {"ssd": "b"}], "yes"),
        ({"n": ">= 4"}, [{"n": "3,5"}], "yes"),
        ({"n": ">= 4"}, [{"n": "x"}], "raises: ValueError"),
        ({"n": "<or>"}, [{"n": "x"}], "raises: IndexError"),
        ({}, [{"ssd": "true"}], "yes"),
    ],
)
def test_extra_specs_without_a_scope_or_in_the_filters_own_are_compared(
    specs, metadata, answer
):
    assert says(EXTRA_SPECS, host(metadata=metadata), spec(specs)) == answer


def test_what_a_flavor_wants_and_the_aggregates_have_is_said():
    asked = spec({"aggregate_instance_extra_specs:ssd": "<or> x <or> y"})
    answer = judge(EXTRA_SPECS, host(metadata=[{"ssd": "b,a"}]), asked, settings())
    key = "aggregate_instance_extra_specs:ssd"
    origin = Origin("flavor", key)
    differs = Fails("metadata-differs", "ssd", "<or> x <or> y", ("a", "b"), origin)
    assert answer == differs


def test_an_image_is_not_read_for_extra_specs():
    asked = spec({}, {"aggregate_instance_extra_specs:ssd": "true"})
    assert says(EXTRA_SPECS, host(), asked) == "yes"


def test_the_first_extra_spec_that_fails_keeps_a_later_one_from_raising():
    state = host(metadata=[{"n": "x", "ssd": "no"}])
    assert says(EXTRA_SPECS, state, spec({"ssd": "yes", "n": "> 1"})).startswith("no")
    asked = spec({"n": ">= 1", "ssd": "yes"})
    assert says(EXTRA_SPECS, state, asked) == "raises: ValueError"


def test_whether_one_of_two_values_raises_depends_on_the_order_of_a_set():
    answer = judge(
        EXTRA_SPECS, host(metadata=[{"n": "5,x"}]), spec({"n": ">= 4"}), settings()
    )
    assert answer == Unknown("the order of a set", "n", "ValueError: >= 4", True)


def test_a_value_that_raises_names_the_flavors_key():
    asked = spec({"n": ">= 4"})
    answer = judge(EXTRA_SPECS, host(metadata=[{"n": "x"}]), asked, settings())
    assert answer == Raises("ValueError", "n", ">= 4", Origin("flavor", "n"))


@pytest.mark.parametrize(
    ("metadata", "release", "answer"),
    [
        ([], 34, "yes"),
        ([{"ssd": "true"}], 34, "yes"),
        ([{"filter_tenant_id": "p1"}], 20, "yes"),
        ([{"filter_tenant_id": "p0, p1"}], 20, "yes"),
        ([{"filter_tenant_id": "p0"}], 20, "no: other-projects"),
        ([{"filter_tenant_id": ""}], 34, "no: other-projects"),
        ([{"filter_tenant_id_x": "p0"}], 29, "yes"),
        ([{"filter_tenant_id_x": "p0"}], 30, "no: other-projects"),
        ([{"filter_tenant_id": "p0", "filter_tenant_id9": "p1"}], 30, "yes"),
        (
            [{"filter_tenant_id": "p0", "filter_tenant_id9": "p1"}],
            29,
            "no: other-projects",
        ),
        ([{"filter_tenant_id": "p0"}, {"filter_tenant_id": "p1"}], 34, "yes"),
    ],
)
def test_aggregates_that_name_projects_are_for_them_by_suffixes_from_30(
    metadata, release, answer
):
    assert says(TENANCY, host(metadata=metadata), spec(), release) == answer


def test_the_aggregate_that_names_other_projects_is_said():
    state = host(metadata=[{}, {"filter_tenant_id": "p9,p8"}])
    origin = Origin("aggregate", "filter_tenant_id", name="agg1")
    answer = judge(TENANCY, state, spec(), settings())
    found = ("p8", "p9")
    assert answer == Fails("other-projects", "filter_tenant_id", "p1", found, origin)


def test_why_aggregates_of_flavors_and_zones_reject_is_said():
    state = host(metadata=[{"instance_type": "f0", "availability_zone": "az2"}])
    asked = spec(zone="az1", release=27)
    assert says(TYPE, state, asked, 27) == "no: other-flavors"
    assert says(ZONE, state, asked, 27) == "no: other-zone"


def test_the_default_zone_is_an_option():
    asked = spec(zone="az0", release=20)
    assert says(ZONE, host(), asked, 20) == "no: other-zone"
    found = says(ZONE, host(), asked, 20, DEFAULT__default_availability_zone="az0")
    assert found == "yes"


# The two filters that read image properties.


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
