"""add, remove and list on a real Placement."""

from __future__ import annotations

import csv
import io
import re

import pytest
import yaml

from tests.functional.placement import STANDARD

# openstack trait-sched add, on a real Placement.


@pytest.fixture
def hosts(placement):
    placement.create_traits("CUSTOM_GOLD", "CUSTOM_SSD")
    return {name: placement.add_host(name) for name in ("cmp1", "cmp2", "ctl1")}


def test_it_adds_to_what_a_host_has_and_says_what_it_did(hosts, placement, openstack):
    run = openstack("add", "CUSTOM_GOLD", "CUSTOM_SSD", "--host", "cmp1", "-f", "json")
    assert run.code == 0
    assert run.json == [
        {
            "host": "cmp1",
            "provider": hosts["cmp1"],
            "added": ["CUSTOM_GOLD", "CUSTOM_SSD"],
            "status": "changed",
            "detail": "",
        }
    ]
    assert placement.traits(hosts["cmp1"]) == {*STANDARD, "CUSTOM_GOLD", "CUSTOM_SSD"}
    assert placement.traits(hosts["cmp2"]) == set(STANDARD)


def test_the_same_again_changes_nothing_and_writes_nothing(hosts, proxy, openstack):
    openstack("add", "CUSTOM_GOLD", "--all")
    written = len(proxy.writes)
    run = openstack("add", "CUSTOM_GOLD", "--all", "-f", "json")
    assert run.statuses == dict.fromkeys(["cmp1", "cmp2", "ctl1"], "unchanged")
    assert len(proxy.writes) == written == 3


def test_selectors_join_and_the_filter_narrows(hosts, placement, openstack):
    placement.set_traits(hosts["cmp2"], [*STANDARD, "CUSTOM_SSD"])
    run = openstack(
        *("add", "CUSTOM_GOLD", "-f", "json"),
        *("--host", "cmp*", "--provider", hosts["ctl1"]),
        *("--without-trait", "CUSTOM_SSD"),
    )
    assert run.statuses == {"cmp1": "changed", "ctl1": "changed"}


def test_hosts_come_from_a_file_or_from_standard_input(hosts, openstack, tmp_path):
    names = "# rack 1\ncmp1\n\n  cmp2\n"
    (tmp_path / "hosts").write_text(names)
    file = str(tmp_path / "hosts")
    run = openstack("add", "CUSTOM_GOLD", "--host-file", file, "-f", "json")
    assert run.statuses == {"cmp1": "changed", "cmp2": "changed"}
    run = openstack("add", "CUSTOM_SSD", "--host-file", "-", "-f", "json", stdin=names)
    assert run.statuses == {"cmp1": "changed", "cmp2": "changed"}


def test_a_nested_provider_can_be_named_and_is_shown_by_its_name(
    hosts, placement, openstack
):
    gpu = placement.add_host("cmp1_gpu", ["HW_GPU_API_VULKAN"], parent=hosts["cmp1"])
    run = openstack("add", "CUSTOM_GOLD", "--provider", "cmp1_gpu", "-f", "json")
    assert [(row["host"], row["detail"]) for row in run.json] == [("cmp1", "cmp1_gpu")]
    assert placement.traits(gpu) == {"HW_GPU_API_VULKAN", "CUSTOM_GOLD"}
    assert placement.traits(hosts["cmp1"]) == set(STANDARD)


def test_all_means_hosts_and_neither_children_nor_shared_providers(
    hosts, placement, openstack
):
    placement.add_host("cmp1_gpu", [], parent=hosts["cmp1"])
    placement.add_host("pool", ["MISC_SHARES_VIA_AGGREGATE"])
    run = openstack("add", "CUSTOM_GOLD", "--all", "-f", "json")
    assert set(run.statuses) == {"cmp1", "cmp2", "ctl1"}


def test_a_dry_run_writes_nothing_and_tells_a_script_when_asked(
    hosts, proxy, openstack
):
    dry = ("add", "CUSTOM_GOLD", "--host", "cmp1", "--dry-run")
    run = openstack(*dry, "-f", "json")
    assert (run.code, run.statuses) == (0, {"cmp1": "would change"})
    assert openstack(*dry, "--exit-code").code == 6
    assert not proxy.writes
    openstack("add", "CUSTOM_GOLD", "--host", "cmp1")
    assert openstack(*dry, "--exit-code").code == 0


def test_a_typo_does_not_become_a_trait(hosts, placement, proxy, openstack):
    run = openstack("add", "CUSTOM_GOLF", "--all")
    assert run.code == 1
    assert run.err == (
        "no trait CUSTOM_GOLF in this cloud (--create creates it); did you mean "
        "CUSTOM_GOLD?\n"
    )
    assert not proxy.writes
    assert not placement.knows("CUSTOM_GOLF")


def test_create_makes_the_trait_but_not_in_a_dry_run(hosts, placement, openstack):
    run = openstack(
        "add", "CUSTOM_NEW", "--all", "--create", "--dry-run", "--exit-code"
    )
    assert run.code == 6
    assert run.err == "would create the trait CUSTOM_NEW\n"
    assert not placement.knows("CUSTOM_NEW")
    assert openstack("add", "CUSTOM_NEW", "--all", "--create").code == 0
    assert "CUSTOM_NEW" in placement.traits(hosts["ctl1"])


def test_create_makes_no_standard_trait(hosts, proxy, openstack):
    run = openstack("add", "HW_CPU_X86_AVX51", "--all", "--create")
    assert run.code == 1
    assert re.match(r"no trait HW_CPU_X86_AVX51 in this cloud; did you mean", run.err)
    assert not proxy.writes


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("HW_CPU_X86_AVX", "takes the trait away again"),
        ("COMPUTE_STORAGE_BUS_USB", "takes the trait away again"),
        ("HW_ARCH_S390X", "never takes a wrong one away"),
    ],
)
def test_a_trait_that_nova_compute_owns_gets_a_warning(
    hosts, openstack, name, expected
):
    run = openstack("add", name, "--host", "cmp1", "-f", "json")
    assert run.statuses == {"cmp1": "changed"}
    assert f"{name} is nova-compute's own" in run.err
    assert expected in run.err


@pytest.mark.parametrize("name", ["CUSTOM_GOLD", "STORAGE_DISK_SSD", "COMPUTE_NODE"])
def test_no_warning_for_the_operators_traits_nor_for_what_is_there(
    hosts, openstack, name
):
    assert openstack("add", name, "--host", "cmp1").err == ""


def test_a_pci_device_is_warned_of_whatever_the_trait(hosts, placement, openstack):
    placement.add_host(
        "cmp1_0000:81:00.0", ["COMPUTE_MANAGED_PCI_DEVICE"], parent=hosts["cmp1"]
    )
    run = openstack("add", "CUSTOM_GOLD", "--provider", "cmp1_0000:81:00.0")
    assert "CUSTOM_GOLD on cmp1 is nova-compute's own" in run.err


def test_several_jobs_do_what_one_does(placement, openstack):
    placement.create_traits("CUSTOM_GOLD")
    for number in range(20):
        placement.add_host(f"cmp{number:02d}")
    run = openstack("add", "CUSTOM_GOLD", "--all", "--jobs", "4", "-f", "json")
    assert run.code == 0
    assert list(run.statuses.values()) == ["changed"] * 20
    assert [row["host"] for row in run.json] == sorted(run.statuses)


def test_without_a_host_to_give_it_to_no_trait_is_created(hosts, placement, openstack):
    filters = ("--with-trait", "COMPUTE_NODE", "--without-trait", "COMPUTE_NODE")
    add = ("add", "CUSTOM_NEW", "--all", "--create", *filters, "-f", "json")
    assert openstack(*add, "--dry-run", "--exit-code").code == 0
    run = openstack(*add)
    assert (run.code, run.json) == (0, [])
    assert not placement.knows("CUSTOM_NEW")


def test_a_host_does_not_become_a_pool_by_mistake(hosts, placement, proxy, openstack):
    add = ("add", "MISC_SHARES_VIA_AGGREGATE", "--host", "cmp1")
    run = openstack(*add)
    assert (run.code, run.out) == (5, "")
    assert run.err == (
        "Refused: MISC_SHARES_VIA_AGGREGATE says what a provider is, here "
        "cmp1: Placement treats it as a pool that others share, not as a host; "
        "--force overrides this\n"
    )
    assert not proxy.writes
    assert openstack(*add, "--force").code == 0
    assert "MISC_SHARES_VIA_AGGREGATE" in placement.traits(hosts["cmp1"])


@pytest.mark.parametrize(
    "words",
    [
        ["CUSTOM_GOLD", "cmp1", "cmp2"],
        ["cmp[12]", "CUSTOM_GOLD"],
        ["CUSTOM_GOLD", "cmp[1,2]"],
        ["CUSTOM_GOLD", "cmp1,cmp2"],
        ["CUSTOM_GOLD", "--dry-run", "cmp2", "--host", "cmp1"],
        ["CUSTOM_GOLD", "--host", "cmp1,cmp2"],
        ["CUSTOM_GOLD,CUSTOM_SSD", "cmp*"],
    ],
    ids=" ".join,
)
def test_hosts_may_stand_beside_the_traits(hosts, openstack, words):
    run = openstack("add", *words, "-f", "json")
    assert set(run.statuses) == {"cmp1", "cmp2"}
    added = {"CUSTOM_GOLD", *(["CUSTOM_SSD"] if "SSD" in words[0] else [])}
    assert all(set(row["added"]) == added for row in run.json)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["custom_ssd", "cmp1"], "CUSTOM_SSD"),
        (["CUSTOM_GOLD", "custom_ssd", "cmp1"], "CUSTOM_SSD"),
        (["custom-ssd", "--all"], "CUSTOM_SSD"),
        (["SSD", "cmp1"], "CUSTOM_SSD"),
        (["CUSTOM_GOLD", "cpm1"], "cmp1"),
    ],
    ids=" ".join,
)
def test_what_is_nearly_right_is_named(hosts, proxy, openstack, words, meant):
    run = openstack("add", *words)
    assert run.code == 1
    assert f"did you mean {meant}" in run.err
    assert not proxy.writes


# openstack trait-sched remove, on a real Placement that has no Nova beside it.


@pytest.fixture
def remove_hosts(placement):
    gold = [*STANDARD, "CUSTOM_GOLD", "CUSTOM_SSD"]
    return {name: placement.add_host(name, gold) for name in ("cmp1", "cmp2", "cmp3")}


def test_it_takes_what_is_named_and_nothing_else(remove_hosts, placement, openstack):
    run = openstack("remove", "CUSTOM_GOLD", "--host", "cmp1", "-f", "json")
    assert run.json[0]["removed"] == ["CUSTOM_GOLD"]
    assert run.statuses == {"cmp1": "changed"}
    assert placement.traits(remove_hosts["cmp1"]) == {*STANDARD, "CUSTOM_SSD"}
    assert placement.traits(remove_hosts["cmp2"]) == {
        *STANDARD,
        "CUSTOM_GOLD",
        "CUSTOM_SSD",
    }


def test_what_is_not_there_is_unchanged(remove_hosts, placement, proxy, openstack):
    placement.set_traits(remove_hosts["cmp1"], STANDARD)
    run = openstack("remove", "CUSTOM_GOLD", "--host", "cmp1", "-f", "json")
    assert (run.code, run.statuses) == (0, {"cmp1": "unchanged"})
    assert not proxy.writes


def test_a_custom_trait_that_the_cloud_does_not_have_is_unchanged_with_a_hint(
    remove_hosts, openstack
):
    run = openstack("remove", "CUSTOM_GOLT", "--host", "cmp1", "-f", "json")
    assert (run.code, run.statuses) == (0, {"cmp1": "unchanged"})
    assert run.err == "no trait CUSTOM_GOLT in this cloud; did you mean CUSTOM_GOLD?\n"


def test_a_dry_run_writes_nothing(remove_hosts, proxy, openstack):
    dry = ("remove", "CUSTOM_GOLD", "--host", "cmp1", "--dry-run", "--exit-code")
    run = openstack(*dry, "-f", "json")
    assert (run.code, run.statuses) == (6, {"cmp1": "would change"})
    assert not proxy.writes


def test_what_nova_compute_owns_is_refused_and_force_overrides(
    remove_hosts, placement, proxy, openstack
):
    refused = openstack("remove", "COMPUTE_NODE", "--host", "cmp1")
    assert (refused.code, refused.out) == (5, "")
    assert refused.err.startswith(
        "Refused: COMPUTE_NODE is nova-compute's own (libvirt): where it is "
        "true of the host, it puts the trait back"
    )
    assert not proxy.writes
    forced = openstack("remove", "COMPUTE_NODE", "--host", "cmp1", "--force")
    assert forced.code == 0
    assert "puts the trait back" in forced.err
    assert "COMPUTE_NODE" not in placement.traits(remove_hosts["cmp1"])


def test_the_last_host_is_refused_when_nobody_can_say_who_requires_the_trait(
    remove_hosts, placement, proxy, openstack
):
    # No Nova answers here, so that flavors and aggregates can't be read.
    refused = openstack("remove", "CUSTOM_GOLD", "--all")
    assert (refused.code, refused.out) == (5, "")
    assert refused.err.startswith(
        "Refused: no host would have CUSTOM_GOLD any more, and whether a "
        "flavor, image or aggregate still requires it can't be read"
    )
    assert not proxy.writes
    assert openstack("remove", "CUSTOM_GOLD", "--all", "--force").code == 0
    assert "CUSTOM_GOLD" not in placement.traits(remove_hosts["cmp1"])


def test_a_nested_provider_that_keeps_the_trait_counts_as_one_that_has_it(
    remove_hosts, placement, openstack
):
    placement.add_host("cmp1_gpu", ["CUSTOM_GOLD"], parent=remove_hosts["cmp1"])
    run = openstack("remove", "CUSTOM_GOLD", "--all", "-f", "json")
    assert (run.code, set(run.statuses.values())) == (0, {"changed"})


def test_a_host_may_stand_beside_the_trait(placement, openstack):
    placement.create_traits("CUSTOM_GOLD")
    uuids = {n: placement.add_host(n, ["CUSTOM_GOLD"]) for n in ("cmp1", "cmp2")}
    run = openstack("remove", "CUSTOM_GOLD", "cmp1", "-f", "json")
    assert run.statuses == {"cmp1": "changed"}
    assert "CUSTOM_GOLD" in placement.traits(uuids["cmp2"])


# openstack trait-sched list, on a real Placement.


@pytest.fixture
def list_hosts(placement):
    return {
        "cmp1": placement.add_host("cmp1", [*STANDARD, "CUSTOM_GOLD"]),
        "cmp2": placement.add_host("cmp2", [*STANDARD, "CUSTOM_GOLD", "CUSTOM_SSD"]),
        "ctl1": placement.add_host("ctl1"),
    }


def traits_of(run):
    return {row["host"]: row["traits"] for row in run.json}


def test_a_person_sees_custom_traits_and_the_count_of_the_others(list_hosts, openstack):
    lines = openstack("list").out.splitlines()
    assert any("cmp1" in line and "CUSTOM_GOLD" in line for line in lines)
    assert sum("(3 standard)" in line for line in lines) == 3
    assert not any("HW_CPU_X86_AVX2" in line for line in lines)


def test_long_shows_a_person_every_trait(list_hosts, openstack):
    out = openstack("list", "--long").out
    assert out.count("HW_CPU_X86_AVX2") == 3
    assert "standard" not in out


def test_json_and_yaml_have_every_trait_as_a_real_list(list_hosts, openstack):
    rows = openstack("list", "-f", "json").json
    assert rows[0] == {
        "host": "cmp1",
        "provider": list_hosts["cmp1"],
        "traits": sorted([*STANDARD, "CUSTOM_GOLD"]),
    }
    assert yaml.safe_load(openstack("list", "-f", "yaml").out) == rows


def test_csv_and_value_have_the_traits_in_one_field(list_hosts, openstack):
    joined = ",".join(sorted([*STANDARD, "CUSTOM_GOLD"]))
    table = list(csv.DictReader(io.StringIO(openstack("list", "-f", "csv").out)))
    assert table[0]["traits"] == joined
    value = openstack("list", "-f", "value", "-c", "host", "-c", "traits").out
    assert value.splitlines()[0] == f"cmp1 {joined}"


def test_custom_leaves_the_standard_traits_out_of_json_too(list_hosts, openstack):
    assert traits_of(openstack("list", "--custom", "-f", "json")) == {
        "cmp1": ["CUSTOM_GOLD"],
        "cmp2": ["CUSTOM_GOLD", "CUSTOM_SSD"],
        "ctl1": [],
    }


def test_rows_can_be_sorted_by_a_column(list_hosts, openstack):
    run = openstack("list", "-f", "json", "--sort-column", "host", "--sort-descending")
    assert [row["host"] for row in run.json] == ["ctl1", "cmp2", "cmp1"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--host", "cmp1"], ["cmp1"]),
        (["--host", "cmp*"], ["cmp1", "cmp2"]),
        (["--host", "cmp[2-9]", "--host", "ctl1"], ["cmp2", "ctl1"]),
        (["--with-trait", "CUSTOM_GOLD"], ["cmp1", "cmp2"]),
        (["--with-trait", "CUSTOM_GOLD", "--with-trait", "CUSTOM_SSD"], ["cmp2"]),
        (["--without-trait", "CUSTOM_SSD"], ["cmp1", "ctl1"]),
        (["--host", "cmp*", "--without-trait", "CUSTOM_SSD"], ["cmp1"]),
        (["--with-trait", "HW_CPU_X86_AVX512F"], []),
    ],
)
def test_selectors_join_and_filters_narrow(list_hosts, openstack, options, expected):
    run = openstack("list", "-f", "json", *options)
    assert [row["host"] for row in run.json] == expected


def test_a_host_can_be_named_by_its_uuid_in_either_case(list_hosts, openstack):
    run = openstack("list", "-f", "json", "--host", list_hosts["cmp2"].upper())
    assert [row["host"] for row in run.json] == ["cmp2"]


def test_a_trait_that_nobody_can_have_is_an_error_with_the_nearest_one(
    list_hosts, openstack
):
    run = openstack("list", "--with-trait", "CUSTOM_GOLDD")
    assert run.code == 1
    assert run.err == (
        "no trait CUSTOM_GOLDD in this cloud; did you mean CUSTOM_GOLD?\n"
    )


def test_by_trait_has_one_row_a_trait_with_its_hosts(list_hosts, placement, openstack):
    placement.create_traits("CUSTOM_UNUSED")
    rows = openstack("list", "--by-trait", "-f", "json").json
    assert rows[:3] == [
        {"trait": "CUSTOM_GOLD", "hosts": ["cmp1", "cmp2"], "count": 2},
        {"trait": "CUSTOM_SSD", "hosts": ["cmp2"], "count": 1},
        {"trait": "CUSTOM_UNUSED", "hosts": [], "count": 0},
    ]
    assert [row["trait"] for row in rows[3:]] == sorted(STANDARD)


def test_by_trait_a_host_has_what_a_provider_in_its_tree_has(placement, openstack):
    for name in ("cmp1", "cmp2"):
        root = placement.add_host(name, ["CUSTOM_GOLD"])
        for number in range(2):
            placement.add_host(f"{name}_gpu{number}", ["CUSTOM_GPU"], parent=root)
    placement.add_host("cmp3", ["CUSTOM_GPU"])

    def hosts_by_trait(*options):
        rows = openstack("list", "--by-trait", "-f", "json", *options).json
        return {row["trait"]: (row["hosts"], row["count"]) for row in rows}

    gold = (["cmp1", "cmp2"], 2)
    assert hosts_by_trait() == {
        "CUSTOM_GOLD": gold,
        "CUSTOM_GPU": (["cmp1", "cmp2", "cmp3"], 3),
    }
    both = ["--with-trait", "CUSTOM_GPU", "--with-trait", "CUSTOM_GOLD"]
    assert hosts_by_trait(*both) == {"CUSTOM_GOLD": gold, "CUSTOM_GPU": gold}
    assert hosts_by_trait("--without-trait", "CUSTOM_GOLD") == {
        "CUSTOM_GOLD": ([], 0),
        "CUSTOM_GPU": (["cmp3"], 1),
    }


def test_by_trait_counts_the_hosts_that_do_not_fit_on_a_terminal(placement, openstack):
    for number in range(12):
        placement.add_host(f"cmp{number:02d}", ["CUSTOM_GOLD"])
    out = openstack("list", "--by-trait").out
    assert "cmp09" in out
    assert "cmp10" not in out
    assert "(2 more)" in out
    assert "cmp11" in openstack("list", "--by-trait", "--long").out


def test_tree_shows_nested_providers_below_their_parents(placement, openstack):
    root = placement.add_host("cmp1")
    numa = placement.add_host("cmp1_numa0", ["HW_NUMA_ROOT"], parent=root)
    placement.add_host("cmp1_gpu", ["CUSTOM_GPU"], parent=numa)
    rows = openstack("list", "--tree", "-f", "json").json
    assert [(row["host"], row["name"], row["parent"]) for row in rows] == [
        ("cmp1", "cmp1", ""),
        ("cmp1", "cmp1_numa0", root),
        ("cmp1", "cmp1_gpu", numa),
    ]
    assert "|     cmp1_gpu" in openstack("list", "--tree").out
    without = openstack("list", "-f", "json").json
    assert [row["host"] for row in without] == ["cmp1"]


def test_a_provider_that_others_share_is_no_host(placement, openstack):
    placement.add_host("cmp1")
    placement.add_host("pool", ["MISC_SHARES_VIA_AGGREGATE"])
    assert list(traits_of(openstack("list", "-f", "json"))) == ["cmp1"]


def test_full_hosts_and_hosts_without_inventory_have_their_traits_too(
    placement, openstack
):
    # Neither is in any allocation candidate, which is where traits are read in bulk.
    for number in range(9):
        placement.add_host(f"cmp{number}")
    full = placement.add_host("full", ["CUSTOM_FULL"])
    placement.allocate(full, VCPU=16, MEMORY_MB=65536)
    for number in range(12):
        placement.add_host(f"ironic{number:02d}", ["CUSTOM_IRON"], inventories={})
    found = traits_of(openstack("list", "-f", "json"))
    assert found["cmp0"] == sorted(STANDARD)
    assert found["full"] == ["CUSTOM_FULL"]
    assert found["ironic11"] == ["CUSTOM_IRON"]
    assert len(found) == 22


def test_the_number_of_requests_does_not_grow_with_the_hosts(
    placement, proxy, openstack
):
    for number in range(10):
        placement.add_host(f"cmp{number:02d}")
    openstack("list")
    few = len(proxy.requests)
    for number in range(10, 40):
        placement.add_host(f"cmp{number:02d}")
    openstack("list")
    assert len(proxy.requests) - few == few
    assert not proxy.writes


@pytest.mark.parametrize("count", [3, 12])
def test_a_provider_that_is_deleted_meanwhile_is_left_out_and_said(
    placement, proxy, openstack, count
):
    names = [f"cmp{number:02d}" for number in range(count)]
    # None of them is in the answers for many: they have no inventory.
    providers = {
        name: placement.add_host(name, [f"CUSTOM_OF_{number}"], inventories={})
        for number, name in enumerate(names)
    }
    path = f"/resource_providers/{providers['cmp01']}"

    def vanish(request):
        if request.path == f"{path}/traits":
            placement.call("DELETE", path)

    proxy.fault = vanish
    run = openstack("list", "-f", "json")
    assert run.code == 0
    assert [row["host"] for row in run.json] == [n for n in names if n != "cmp01"]
    assert run.err == "left out, since they were deleted meanwhile: cmp01\n"
