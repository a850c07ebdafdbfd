"""openstack trait-sched list, on a real Placement."""

from __future__ import annotations

import csv
import io

import pytest
import yaml

from tests.functional.placement import STANDARD


@pytest.fixture
def hosts(placement):
    return {
        "cmp1": placement.add_host("cmp1", [*STANDARD, "CUSTOM_GOLD"]),
        "cmp2": placement.add_host("cmp2", [*STANDARD, "CUSTOM_GOLD", "CUSTOM_SSD"]),
        "ctl1": placement.add_host("ctl1"),
    }


def traits_of(run):
    return {row["host"]: row["traits"] for row in run.json}


def test_a_person_sees_custom_traits_and_the_count_of_the_others(hosts, openstack):
    lines = openstack("list").out.splitlines()
    assert any("cmp1" in line and "CUSTOM_GOLD" in line for line in lines)
    assert sum("(3 standard)" in line for line in lines) == 3
    assert not any("HW_CPU_X86_AVX2" in line for line in lines)


def test_long_shows_a_person_every_trait(hosts, openstack):
    out = openstack("list", "--long").out
    assert out.count("HW_CPU_X86_AVX2") == 3
    assert "standard" not in out


def test_json_and_yaml_have_every_trait_as_a_real_list(hosts, openstack):
    rows = openstack("list", "-f", "json").json
    assert rows[0] == {
        "host": "cmp1",
        "provider": hosts["cmp1"],
        "traits": sorted([*STANDARD, "CUSTOM_GOLD"]),
    }
    assert yaml.safe_load(openstack("list", "-f", "yaml").out) == rows


def test_csv_and_value_have_the_traits_in_one_field(hosts, openstack):
    joined = ",".join(sorted([*STANDARD, "CUSTOM_GOLD"]))
    table = list(csv.DictReader(io.StringIO(openstack("list", "-f", "csv").out)))
    assert table[0]["traits"] == joined
    value = openstack("list", "-f", "value", "-c", "host", "-c", "traits").out
    assert value.splitlines()[0] == f"cmp1 {joined}"


def test_custom_leaves_the_standard_traits_out_of_json_too(hosts, openstack):
    assert traits_of(openstack("list", "--custom", "-f", "json")) == {
        "cmp1": ["CUSTOM_GOLD"],
        "cmp2": ["CUSTOM_GOLD", "CUSTOM_SSD"],
        "ctl1": [],
    }


def test_rows_can_be_sorted_by_a_column(hosts, openstack):
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
def test_selectors_join_and_filters_narrow(hosts, openstack, options, expected):
    run = openstack("list", "-f", "json", *options)
    assert [row["host"] for row in run.json] == expected


def test_a_host_can_be_named_by_its_uuid_in_either_case(hosts, openstack):
    run = openstack("list", "-f", "json", "--host", hosts["cmp2"].upper())
    assert [row["host"] for row in run.json] == ["cmp2"]


def test_a_trait_that_nobody_can_have_is_an_error_with_the_nearest_one(
    hosts, openstack
):
    run = openstack("list", "--with-trait", "CUSTOM_GOLDD")
    assert run.code == 1
    assert run.err == (
        "no trait CUSTOM_GOLDD in this cloud; did you mean CUSTOM_GOLD?\n"
    )


def test_by_trait_has_one_row_a_trait_with_its_hosts(hosts, placement, openstack):
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
