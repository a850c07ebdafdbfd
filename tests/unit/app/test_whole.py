"""The page on Python, and what is said of answers that are not whole."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import re
import textwrap

import openstack
import pytest

from osc_traitsched.app import check, explain, listing, request, snapshot, trait
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud.connection import HttpCloud
from osc_traitsched.cloud.service import unread
from osc_traitsched.commands.overview import GROUPS
from osc_traitsched.core.inventory.snapshot import Selectors
from osc_traitsched.core.nova.question import ServerSpec
from tests.services import drawn
from tests.services.environment import REPOSITORY
from tests.unit.app.recorded import (
    CMP01,
    CMP02,
    CMP03,
    GPU,
    IMAGE,
    NAMED_ROCKY,
    ROCKY,
    RecordedCloud,
    flavor,
    providers,
)

# The page on Python: its examples run, and print what it says.


PAGE = REPOSITORY / "doc/source/reference/python.rst"
FUNCTION = re.compile(r"^(\w.*?)  +``([\w.]+)\.(\w+)\((.*)\)``$", re.M)


def blocks(language):
    found = re.finditer(
        rf"^\.\. code-block:: {language}\n\n((?:   .*\n|\n)+)", PAGE.read_text(), re.M
    )
    return [textwrap.dedent(each[1]).strip() + "\n" for each in found]


def printed(source, names):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(source, str(PAGE), "exec"), names)
    return out.getvalue()


def test_the_examples_print_what_the_page_says(monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    first, _, *more = blocks("python")
    names = {}
    found = [printed(example, names) for example in (first, *more)]
    assert found == blocks("text")


def test_a_cloud_is_made_from_a_connection_and_asks_nothing_yet(monkeypatch):
    wanted = []
    monkeypatch.setattr(openstack, "connect", lambda cloud: wanted.append(cloud))
    names = {}
    exec(blocks("python")[1], names)
    assert wanted == ["mycloud"]
    assert isinstance(names["cloud"], HttpCloud)


@pytest.mark.parametrize("row", FUNCTION.findall(PAGE.read_text()), ids=lambda r: r[0])
def test_a_function_takes_the_arguments_of_the_table(row):
    _, module, name, arguments = row
    function = getattr(importlib.import_module(f"osc_traitsched.app.{module}"), name)
    inspect.signature(function).bind(*arguments.split(", "))
    assert list(inspect.signature(function).parameters)[: arguments.count(",") + 1] == (
        arguments.split(", ")
    )


def test_the_table_has_all_commands_but_those_that_print_a_part_of_nova_conf():
    named = {
        command.partition(" --")[0]
        for row in FUNCTION.findall(PAGE.read_text())
        for command in row[0].split(", ")
    }
    every = {command for group in GROUPS.values() for command in group}
    assert every - named == {"config enable"}


# What was left out of an answer is said, and what was named is meant.


def ask(cloud):
    return request.question(cloud, ServerSpec("gold", "rocky"), SettingsSources())


def test_of_images_of_one_name_the_one_that_can_be_booted_is_meant():
    others = {"images": [{**ROCKY, "id": CMP01, "visibility": "private"}, ROCKY]}
    hidden = {"images": [{**ROCKY, "id": CMP02, "os_hidden": True}]}
    named = {
        f"{NAMED_ROCKY}&os_hidden=false": others,
        f"{NAMED_ROCKY}&os_hidden=true": hidden,
    }
    assert ask(RecordedCloud(image=named)).image["id"] == IMAGE


UNITS = {"total": 1, "min_unit": 1, "max_unit": 1, "step_size": 1, "used": 1}
UNITS["allocation_ratio"] = 1.0
GOLD_FLAVOR = {"flavors": [flavor("gold", **{"trait:CUSTOM_GOLD": "required"})]}


@pytest.mark.parametrize(
    ("private", "whole"), [({"flavors": []}, True), (GOLD_FLAVOR, False)]
)
def test_a_check_says_whether_private_flavors_were_looked_at(private, whole):
    groups = {"/os-server-groups?all_projects=true&offset=0": {"server_groups": []}}
    bodies = {"/flavors/detail?is_public=False": private, **groups}
    cloud = RecordedCloud(compute=bodies)
    off = (("ServerGroupAntiAffinityFilter", False),)
    found = check.check(cloud, SettingsSources(nova_release=33, filters=off))
    assert found.survey.has_private_flavors is whole
    # The findings say it.
    assert unread(cloud) == []
    assert ("the server groups of all projects" in found.unread) is not whole


@pytest.mark.parametrize(("reserved", "is_found"), [(1, True), (0, False)])
def test_a_check_reads_many_nodes_of_bare_metal_that_are_in_use(reserved, is_found):
    document = drawn.draw(132).document
    nodes = [e for e in document["placement"]["providers"] if "metal" in e["name"]]
    for each in nodes:
        each["inventories"] = {"CUSTOM_BAREMETAL": {**UNITS, "reserved": reserved}}
    saved = snapshot.Snapshot("cloud.json", document)
    rules = "resources-no-host", "resources-not-together"
    found = check.check(saved.cloud, saved.sources, rules).findings
    assert ("f4" in {name for each in found for name in each.flavors}) is is_found


def test_a_compute_node_that_nova_leaves_out_is_said_by_all_who_list_hosts():
    nodes = RecordedCloud().compute.get("/os-hypervisors/detail")["hypervisors"]
    marked = "/resource_providers?required=COMPUTE_NODE"
    cloud = RecordedCloud(
        compute={"/os-hypervisors/detail": {"hypervisors": nodes[1:]}},
        placement={marked: providers(CMP01, CMP02, CMP03)},
    )
    compared = listing.compare(cloud).snapshot
    assert (compared.unlisted, compared.listed) == ({CMP01}, 2)
    explained = explain.explain(cloud, ask(cloud), want_fixes=False).judgement
    assert [each.name for each in explained.unlisted_computes] == ["cmp01"]
    assert (explained.unmanaged_roots, explained.total_hosts) == ((), 2)


#: What is asked before a provider loses the last trait of its kind.
LAST_HOLDER = {
    "/resource_providers?required=CUSTOM_A100": providers(GPU),
}


@pytest.mark.parametrize(
    ("private", "whole"), [({"flavors": []}, True), (GOLD_FLAVOR, False)]
)
def test_the_last_provider_keeps_a_trait_that_a_hidden_flavor_may_require(
    private, whole
):
    required = "/images?limit=1000&trait:CUSTOM_A100=required&visibility=all&os_hidden="
    servers = "/servers/detail?all_tenants=1&limit=1000"
    cloud = RecordedCloud(
        placement=LAST_HOLDER,
        compute={"/flavors/detail?is_public=False": private, servers: {"servers": []}},
        image={
            f"{asked}{hidden}": {"images": []}
            for asked in (required, "/images?limit=1000&visibility=all&os_hidden=")
            for hidden in ("false", "true")
        },
    )
    gpu = Selectors(providers=("cmp01_gpu",))
    if whole:
        found = trait.plan_remove(cloud, trait.TraitSelection(["CUSTOM_A100"], gpu))
        assert found.plan.has_changes
        return
    (refusal,) = trait.plan_remove(
        cloud, trait.TraitSelection(["CUSTOM_A100"], gpu)
    ).refusals
    assert "requires it can't be read (compute: hides private flavors" in str(refusal)
