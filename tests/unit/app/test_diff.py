"""What each change did alone, what several did together, and what servers use."""

from __future__ import annotations

import copy
import json
import pathlib
from typing import ClassVar

import pytest

from osc_traitsched.app import diff, explain, request
from osc_traitsched.app.diff import compare, dated, since
from osc_traitsched.app.snapshot import Snapshot
from osc_traitsched.core.answer import Answer
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.filter.state import Fails, Passes
from osc_traitsched.core.nova.own import NovaPythonFails
from osc_traitsched.core.nova.question import ServerSpec

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


def test_a_cloud_without_changes_is_not_judged(monkeypatch):
    monkeypatch.setattr(diff, "by_flavor", None)
    assert compared()[0].effects == ()


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


def isolate(new):
    """Create an isolated aggregate with two hosts, as Nova and Placement have it."""
    aggregate = {"id": 31, "uuid": "31a0b2fe-0000-4000-8000-0000000031a0"}
    aggregate |= {"name": "solid", "metadata": {"trait:CUSTOM_SOLID": "required"}}
    new["placement"]["traits"].append("CUSTOM_SOLID")
    new["compute"]["aggregates"].append({**aggregate, "hosts": ["cmp00", "cmp01"]})
    for host in ("cmp00", "cmp01"):
        named(new, PROVIDERS, host)["aggregates"].append(aggregate["uuid"])


def test_a_new_isolated_aggregate_is_blamed_for_all_that_it_takes():
    found, _ = compared(isolate, rename)
    (aggregate,) = (e for e in found.effects if e.change.name == "solid")
    assert aggregate.takes_hosts
    assert "m1.small" in {each.flavor for each in aggregate.flavors}
    assert not found.together
    kinds = {(e.change.kind, e.change.name) for e in found.lasting}
    assert len(kinds) == len(found.lasting) == 3


def test_what_servers_use_in_a_large_cloud_is_no_work_of_several_changes(monkeypatch):
    monkeypatch.setattr(diff, "_MOST_PROVIDERS", 7)
    found, lasting = compared(fill)
    assert found.daily
    assert not lasting
    assert not found.together


@pytest.mark.parametrize("makes", [(), (rename,)])
def test_no_change_of_hosts_has_no_effects(makes):
    found, lasting = compared(*makes)
    assert len(lasting) == len(makes)
    assert not any(lasting.values())
    assert not found.use
    assert not found.together


# The night of a folder after which a request had another answer.


class Night:
    """An answer, and nothing to compare."""

    candidates = hosts = ()

    def __init__(self, works):
        self.answer = Answer.YES if works else Answer.NO


@pytest.mark.parametrize("works", [False, True])
@pytest.mark.parametrize("last", range(-1, 14))
def test_the_last_of_14_nights_is_found_with_four_answers_more(last, works):
    nights = [f"2026-11-{number:02}T06:00:00Z" for number in range(1, 16)]
    asked = []

    def opened(time):
        return Snapshot(time, {**OLD, "time": time})

    def ask(snapshot):
        asked.append(snapshot.path)
        is_before = nights.index(snapshot.path) <= last
        if is_before is works:
            raise Refusal("NoValidHost", "gone", (), "scheduler")
        return Night(True)

    *paths, now = nights
    found = since(paths, opened(now), ask, opened)
    assert len(asked) <= 1 + 4
    if last < 0:
        assert found.answers == (works, works)
        assert (found.time, found.later) == (opened(paths[0]).time, found.asked)
    else:
        assert found.answers == (not works, works)
        after = opened(nights[last + 1]).time
        assert (found.time, found.later) == (opened(paths[last]).time, after)
    assert found.asked == opened(now).time


def test_a_change_is_dated_by_the_first_night_that_has_it_ever_since():
    """One change came, went and came back, with something else in it."""
    changes = [(), (require,), (give,), (give, require), (give, rename, require)]
    nights = {}
    for number, makes in enumerate(changes, 20):
        new = copy.deepcopy(OLD)
        new["time"] = f"2026-11-{number}T06:00:00Z"
        for make in makes:
            make(new)
        nights[str(number)] = Snapshot(str(number), new)
    oldest, *paths, newest = nights
    found = dated(compare(nights[oldest], nights[newest]), paths, nights.get)
    days = {each.change.text: f"{each.since:%d}" for each in found.lasting}
    assert days == {
        "+ CUSTOM_GIVEN": "22",
        "+ trait:CUSTOM_SSD=required": "23",
        next(text for text in days if text.startswith("name: ")): "24",
    }


def test_what_is_new_or_gone_is_dated_though_it_changed_since():
    old, night, new = (copy.deepcopy(OLD) for _ in range(3))
    group = {"id": "new", "name": "g", "policy": "affinity", "members": []}
    for number, each in enumerate((old, night, new), 1):
        each["time"] = f"2026-11-0{number}T06:00:00Z"
    for each in (night, new):
        each["compute"]["server_groups"].append(
            {**group, "rules": {"at": each["time"]}}
        )
        each["compute"]["flavors"].pop()
    last, opened = Snapshot("new", new), {"night": Snapshot("night", night)}
    found = dated(compare(Snapshot("old", old), last), ["night"], opened.get)
    assert {each.since.day for each in found.lasting} == {2}
    assert len(found.lasting) == 2


class Cells:
    """Stands for a Nova whose records have room on some hosts."""

    counts: ClassVar = {}
    #: It tells nothing of empty hosts.
    emptied = None

    def __init__(self, hosts, release=34):
        self.hosts, self.release = hosts.split(), release

    def ask(self, *arguments):
        pass

    def rooms(self, *arguments):
        return {}

    def answers(self, name, hosts, spec, settings):
        if self.release != settings.release:
            raise NovaPythonFails("nova", "upgraded", "34.1.0")
        return {
            each.compute.uuid: Passes() if each.host in self.hosts else Fails("cells")
            for each in hosts
        }


def stop(new):
    """Disable a host that has cells."""
    for each in new["compute"]["hypervisors"]:
        if each["hypervisor_hostname"] == "cmp03":
            each["status"] = "disabled"
    (cmp03,) = (e for e in new["placement"]["providers"] if e["name"] == "cmp03")
    cmp03["traits"].append("COMPUTE_STATUS_DISABLED")


def blamed(old, then, new, now):
    """The kinds of causes with their hosts, for a server that needs a cell."""
    for document in old, new:
        medium = named(document, FLAVORS, "m1.medium")
        medium["extra_specs"] = {"hw:numa_nodes": "1"}
        for each in document["compute"]["hypervisors"]:
            each["hypervisor_type"] = "QEMU"
    spec = ServerSpec("m1.medium", "ubuntu-24.04")

    def ask(saved):
        question = request.question(saved.cloud, spec, saved.sources)
        return explain.explain(saved.cloud, question, want_fixes=False).judgement

    saved = Snapshot("", {**new, "time": "2026-11-27T06:00:00Z"}, now)
    found = since(["old"], saved, ask, lambda path: Snapshot(path, old, then))
    return {(cause.kind, " ".join(sorted(hosts))) for cause, hosts in found.causes}


@pytest.mark.parametrize(
    ("then", "now", "change", "causes"),
    [
        ("cmp02 cmp03", "", None, {("record", "cmp02 cmp03")}),
        ("", "cmp03", None, {("record", "cmp03")}),
        ("cmp02 cmp03", "cmp02", stop, {("record", "cmp03"), ("host", "cmp03")}),
        ("cmp02 cmp03", "cmp03", stop, {("record", "cmp02"), ("host", "cmp03")}),
        ("cmp02 cmp03", "cmp02 cmp03", stop, {("host", "cmp03")}),
    ],
)
def test_records_of_cells_are_blamed_for_the_hosts_that_they_decide_about(
    then, now, change, causes
):
    old, new = copy.deepcopy(OLD), copy.deepcopy(OLD)
    if change:
        change(new)
    assert blamed(old, Cells(then), new, Cells(now)) == causes


def test_records_that_nova_can_not_judge_for_an_older_release_are_not_blamed():
    old, new = copy.deepcopy(OLD), copy.deepcopy(OLD)
    old["compute_maximum"] = "2.103"
    then, now = Cells("cmp02 cmp03", release=33), Cells("cmp02")
    assert blamed(old, then, new, now) == set()
