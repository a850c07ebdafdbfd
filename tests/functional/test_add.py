"""openstack trait-sched add, on a real Placement."""

from __future__ import annotations

import re

import pytest

from tests.functional.placement import STANDARD


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
        "nothing written: MISC_SHARES_VIA_AGGREGATE says what a provider is, here "
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
