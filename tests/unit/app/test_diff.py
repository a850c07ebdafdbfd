"""What each change did alone, what several did together, and what servers use."""

from __future__ import annotations

import copy
import json
import pathlib

import pytest

from osc_traitsched.app.diff import compare
from osc_traitsched.app.snapshot import Snapshot

PATH = pathlib.Path(__file__).parents[3] / "examples" / "cloud.json"
OLD = json.loads(PATH.read_text(encoding="utf-8"))
PROVIDERS, FLAVORS = ("placement", "providers"), ("compute", "flavors")


def named(document, lists, name):
    service, kind = lists
    return next(each for each in document[service][kind] if each["name"] == name)


def fill(new):
    """Use all RAM of the hosts that a small server fits on."""
    for each in new["placement"]["providers"]:
        if "MEMORY_MB" in each["inventories"]:
            ram = each["inventories"]["MEMORY_MB"]
            ram["used"] = int(ram["total"] * ram["allocation_ratio"])


def give(new):
    named(new, PROVIDERS, "cmp00")["traits"].append("CUSTOM_GIVEN")


def rename(new):
    new["compute"]["aggregates"][0]["name"] = "renamed"


def require(new):
    """A flavor requires one trait more, and another size."""
    flavor = named(new, FLAVORS, "m1.small")
    flavor["extra_specs"] = {**flavor["extra_specs"], "trait:CUSTOM_SSD": "required"}


def enlarge(new):
    named(new, FLAVORS, "m1.small")["ram"] = 10**6


def compared(*changes):
    new = copy.deepcopy(OLD)
    for make in changes:
        make(new)
    found = compare(Snapshot("old", OLD), Snapshot("new", new))
    return found, {e.change.text: e.flavors for e in found.lasting}


def test_what_is_given_or_renamed_is_not_blamed_for_what_servers_use():
    found, lasting = compared(give, rename, fill)
    assert len(lasting) == 2
    assert not any(lasting.values())
    assert not any(each.flavors for each in found.daily)
    assert found.use
    assert all(each.now == 0 for each in found.use)
    assert not found.together


def test_each_of_two_changes_that_take_the_same_host_is_blamed():
    found, lasting = compared(require, enlarge, rename)
    counts = {text: flavors for text, flavors in lasting.items() if flavors}
    assert {text.partition(":")[0] for text in counts} == {"+ trait", "ram"}
    for (each,) in counts.values():
        assert each.flavor == "m1.small"
        assert each.now < each.before
    assert not found.together
    assert not found.use


def test_what_only_two_changes_take_is_nobody_elses():
    """A trait that no host has is given to one host, and a flavor forbids it."""
    given = {name for e in OLD["placement"]["providers"] for name in e["traits"]}
    unused = min({*OLD["placement"]["traits"]} - given)

    def trait(new):
        named(new, PROVIDERS, "cmp00")["traits"].append(unused)

    def forbid(new):
        flavor = named(new, FLAVORS, "m1.small")
        specs = {**flavor["extra_specs"], f"trait:{unused}": "forbidden"}
        flavor["extra_specs"] = specs

    found, lasting = compared(trait, forbid, rename)
    assert f"+ trait:{unused}=forbidden" in lasting
    assert [each.flavor for each in found.together] == ["m1.small"]
    (each,) = found.together
    assert each.before - each.now == 1
    assert not any(lasting.values())


@pytest.mark.parametrize("makes", [(), (rename,)])
def test_no_change_of_hosts_has_no_effects(makes):
    found, lasting = compared(*makes)
    assert len(lasting) == len(makes)
    assert not any(lasting.values())
    assert not found.use
    assert not found.together
