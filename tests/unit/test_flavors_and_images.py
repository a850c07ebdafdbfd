"""``flavor show`` and ``image show`` on the sample cloud, changed."""

from __future__ import annotations

import json

import pytest


def flavor(document, name):
    return next(f for f in document["compute"]["flavors"] if f["name"] == name)


# Flavors side by side.


def test_an_id_that_is_the_name_of_another_flavor_stays_an_id(asked):
    def change(document):
        flavor(document, "m1.small").update(id="1", name="2")
        flavor(document, "m1.medium").update(id="2")

    done = asked(change, "flavor show 1 2")
    assert done.out.splitlines()[1] == "2, m1.medium: 3 differences."


def test_extra_specs_named_like_sizes_do_not_hide_the_sizes(asked):
    def change(document):
        flavor(document, "m1.large")["extra_specs"] = {"ram": "no", "disk": "80"}

    command = "flavor show m1.large m1.small"
    found = asked(change, f"{command} -f json").json["differences"]
    assert [tuple(row.values()) for row in found] == [
        ("vcpus", False, ["4", "1"]),
        ("ram", False, ["8192", "2048"]),
        ("disk", False, ["80", "20"]),
        ("ram", True, ["no", None]),
        ("disk", True, ["80", None]),
    ]
    said = [line.split() for line in asked(change, command).out.splitlines()]
    assert ["ram", "8192", "2048"] in said
    assert ["ram", "(extra", "spec)", "no", "-"] in said


@pytest.mark.parametrize(
    ("names", "hosts"),
    [
        ("f0 f0", "host-of-a, host-of-b, host-of-c, host-of-d"),
        ("f0 f1", "host-of-a, host-of-b, ..."),
        ("f0 f1 f2", "host-of-a, ..."),
        ("f0 f1 f2 f3 f4", "host-of-a, ..."),
    ],
)
def test_hosts_of_flavors_are_cut_to_the_width(asked, names, hosts):
    def change(document):
        text = json.dumps(document)
        for place, letter in enumerate("abcd"):
            text = text.replace(f"cmp0{place}", f"host-of-{letter}")
        document.update(json.loads(text))
        one = flavor(document, "m1.small")
        document["compute"]["flavors"] += (
            {**one, "name": f"f{place}", "id": f"id-{place}"} for place in range(5)
        )

    rows = asked(change, f"flavor show {names}").out.splitlines()
    shown = [row for row in rows if row.startswith("  hosts now")]
    count = len(set(names.split()))
    # Four are beside each other, and the fifth is below.
    blocks = [4, 1] if count == 5 else [count]
    assert shown == [f"  hosts now{f'  {hosts}' * columns}" for columns in blocks]
    assert all(len(row) <= 80 for row in shown)


def test_flavors_that_do_not_fit_a_terminal_are_below_each_other(asked):
    names = [f"{letter * 30}.{number}" for number, letter in enumerate("abcde")]

    def change(document):
        one = flavor(document, "m1.small")
        document["compute"]["flavors"] += (
            {**one, "name": name, "id": name, "vcpus": 1 + place}
            for place, name in enumerate(names)
        )

    rows = asked(change, f"flavor show {' '.join(names)}").out.splitlines()
    heads = [row.split() for row in rows if row.startswith(" " * 12)]
    assert heads == [names[:2], names[2:4], names[4:]]
    vcpus = [row.split() for row in rows if row.startswith("  vcpus")]
    assert vcpus == [["vcpus", "1", "2"], ["vcpus", "3", "4"], ["vcpus", "5"]]


# Why a flavor has no room: capacity and image show say the same.


def all_disabled(document):
    for node in document["compute"]["hypervisors"]:
        node["status"] = "disabled"
    for provider in document["placement"]["providers"]:
        provider["traits"].append("COMPUTE_STATUS_DISABLED")


WITHOUT_TRAIT = "6 lack trait CUSTOM_SSD, 2"
OUTSIDE = "7 are outside the project's aggregate acme"
HUGE = "r1.huge needs 65536 MB of RAM, the largest host has 32256 MB"


@pytest.mark.parametrize(
    ("change", "options", "row"),
    [
        (
            all_disabled,
            "",
            f"full         ssd.medium: {WITHOUT_TRAIT} are short of RAM",
        ),
        (all_disabled, "", f"never        {HUGE}"),
        (all_disabled, "", "m1.large, m1.medium, m1.small, win.medium: 8 are disabled"),
        (
            dict,
            "--enable-filter NumInstancesFilter "
            "--set filter_scheduler.max_instances_per_host=2",
            f"full         ssd.medium: {WITHOUT_TRAIT} are at the limit: 3 of 2 (",
        ),
        (
            dict,
            "--project acme",
            "isolated     ssd.medium: 1 lacks trait CUSTOM_SSD, " + OUTSIDE,
        ),
    ],
)
def test_a_flavor_without_room_has_the_cause_that_is_left(asked, change, options, row):
    said = asked(change, f"image show ubuntu-24.04 {options}")
    assert row in said.out
    whole = asked(change, f"capacity --full --image ubuntu-24.04 {options}")
    assert row.split(None, 1)[1] in whole.out


def test_a_flavor_that_may_fit_has_a_row_of_its_own(asked):
    def change(document):
        flavor(document, "m1.small")["extra_specs"] = {"hw:numa_nodes": "1"}
        for node in document["compute"]["hypervisors"]:
            node["hypervisor_type"] = "QEMU"

    options = "--enable-filter NUMATopologyFilter"
    said = asked(change, f"image show ubuntu-24.04 {options}").out.splitlines()
    assert said[1].endswith("; 4 of 8 flavors can boot it, 1 more may.")
    assert said[3:5] == [
        "  now          acme.large, m1.large, m1.medium, win.medium",
        "  may          m1.small",
    ]


@pytest.mark.parametrize(
    ("options", "start"), [("--project acme", "of all projects: 2 A"), ("", "2 A")]
)
def test_servers_of_an_image_are_those_of_all_projects(asked, options, start):
    said = asked(dict, f"image show windows-2022 {options}").out
    assert f"  servers      {start}CTIVE: win-1, win-2\n" in said
