"""How many more servers fit, on one screen and as metrics."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.trait import DISABLED
from osc_traitsched.core.judge.capacity import (
    FlavorFit,
    HostFit,
    KeptAway,
    Largest,
    Never,
)
from osc_traitsched.core.judge.judgement import RefusedRequest
from osc_traitsched.core.judge.reasons import Stranded
from osc_traitsched.core.nova.clause import RootTrait
from osc_traitsched.core.placement.facts import Room
from osc_traitsched.core.servers.usage import Capacity, CapacityQuery
from osc_traitsched.views import capacity as capacity_views
from tests.golden import screens
from tests.schemas import closed
from tests.unit.core.test_explanation import explained
from tests.unit.views.test_words import of_flavor

UP = RootTrait(DISABLED, True, ())


def fit(name, servers, least=None, empty=40, is_sure=True, **more):
    """Return a flavor with room on four hosts, half of it on the first."""
    judgement = of_flavor(name, 4, is_sure)
    roots = [host.uuid for host in judgement.candidates]
    sizes = [servers - servers // 2, servers // 2, 0, 0]
    hosts = {
        root: HostFit(Room(size, size), "MEMORY_MB")
        for root, size in zip(roots, sizes)
        if size
    }
    room = Room(servers if least is None else least, servers)
    return FlavorFit(judgement, hosts, room, Room(empty, empty), **more)


def found(*flavors, **more):
    return Capacity(more.pop("query", CapacityQuery()), flavors, **more)


def without_room(name, host, **more):
    """Return a flavor that none of three equal hosts can take."""
    sizes = {"VCPU": 8, "MEMORY_MB": 8192, "DISK_GB": 99}
    kind = {**host, "inventories": {**sizes, **host.get("inventories", {})}}
    flavor = more.pop("flavor", {})
    hosts = dict.fromkeys(("cmp00", "cmp01", "cmp02"), kind)
    judgement = explained({"cloud": hosts, "flavor": flavor})
    body = {**judgement.question.flavor, "name": name}
    question = dataclasses.replace(judgement.question, flavor=body)
    judgement = dataclasses.replace(judgement, question=question)
    roots = (host.uuid for host in judgement.facts.snapshot.hosts)
    suited = frozenset(roots if "empty" in more else ())
    return FlavorFit(judgement, {}, Room(0, 0), suited=suited, **more)


def rejected(name):
    judgement = of_flavor(name, 1)
    keys = ("hw:numa_cpus.0", "hw:numa_cpus.1")
    refusal = Refusal("ImageNUMATopologyCPUDuplicates", "cpu-twice", keys, "api")
    return RefusedRequest(judgement.question, refusal, judgement.request)


def text(capacity, encoding="utf-8", **terminal):
    return [line.text for line in capacity_views.lines(capacity, encoding, **terminal)]


GROUPS = {"east": (2, Room(7, 7), 2), "west": (0, Room(0, 0), 1)}
KEPT = KeptAway(UP, ("cmp04", "cmp05"), 40)
SMALL = {"inventories": {"MEMORY_MB": 128}}
FULL = {"inventories": {"MEMORY_MB": {"total": 8192, "used": 8064}}}
NO_DISK = {"inventories": {"DISK_GB": {"total": 99, "used": 99}}}
VCPUS = Never("VCPU", 16, 8)
EMPTY = {"empty": Room(21, 21)}
FREE = {"largest_free": Largest(128, "cmp01"), **EMPTY}
WITHOUT_ROOM = (
    *(without_room(f"full-of-ram-{n:02d}", FULL, **FREE) for n in range(9)),
    without_room("of-disk", NO_DISK, **EMPTY),
    without_room("too-large", SMALL),
    without_room("huge", {}, flavor={"resources:VCPU": "16"}, never=VCPUS),
    without_room("gold", {}, flavor={"trait:CUSTOM_GOLD": "required"}),
    without_room("gold-too", {}, flavor={"trait:CUSTOM_GOLD": "required"}),
    without_room("stopped", {"traits": [DISABLED]}),
)
SCREENS = {
    "no room": found(*WITHOUT_ROOM, fit("small", 13), rejected=(rejected("odd"),)),
    "one flavor": found(fit("small", 13)),
    "none fits": found(WITHOUT_ROOM[0], stranded=()),
    "never fits": found(WITHOUT_ROOM[10]),
    "a range and at most": found(
        fit("card", 5, least=1), fit("numa", 9, least=0, is_sure=False)
    ),
    "kept away, stranded, rejected": found(
        fit("small", 13, kept_away=(KEPT,)),
        fit("large", 1),
        rejected=(rejected("odd"),),
        stranded=(
            Stranded(("MEMORY_MB",), ("cmp06", "cmp07"), {"VCPU": 39, "DISK_GB": 900}),
            Stranded(("VCPU",), ("cmp08",), {"MEMORY_MB": 4096}),
        ),
        empty_unread=2,
    ),
    "by zone": found(
        fit("small", 7, groups=GROUPS),
        fit("large", 7, groups=GROUPS),
        without_room(
            "huge", FULL, groups=dict.fromkeys(GROUPS, (0, Room(0, 0), 0)), **EMPTY
        ),
        query=CapacityQuery(by="zone"),
    ),
    "without hosts and with more": found(
        fit("small", 13, after=Room(9, 9)),
        fit("large", 2, after=Room(3, 3)),
        removed=("cmp01", "cmp02", "cmp03"),
        query=CapacityQuery(added={"cmp00": 2}),
    ),
}


def test_the_answer_is_the_first_line_and_then_a_table(golden):
    shown = {name: text(each) for name, each in SCREENS.items()}
    shown["a terminal"] = text(SCREENS["no room"], width=60, height=24)
    shown["--full"] = [
        each.text for each in capacity_views.full(SCREENS["no room"], 80)
    ]
    shown["CSV"] = [
        capacity_views.rows(SCREENS[name]) for name in ("one flavor", "by zone")
    ]
    shown["ASCII"] = text(SCREENS["one flavor"], "latin-1")
    golden("capacity/screens", screens(shown))


def test_fifty_flavors_are_one_screen():
    many = [
        (fit if n else without_room)(
            f"a-flavor-with-a-long-name-{n:02d}", n or FULL, groups=GROUPS
        )
        for n in range(50)
    ]
    changed = CapacityQuery(set_then=("scheduler.max_attempts=3",))
    for query in (CapacityQuery(), CapacityQuery(by="zone"), changed):
        answer = found(*many, query=query)
        lines = text(answer, width=80, height=24)
        assert 12 < len(lines) <= 21
        assert max(map(len, lines)) <= 80
        assert "a-flavor-with-a-long-name-49" in " ".join(lines)
        names = [each.split()[0] for each in text(answer) if each.startswith("  a-")]
        assert sorted(names) == sorted(each.name for each in many)


@pytest.mark.parametrize(
    ("rooms", "said"),
    [
        ([2, 3], ""),
        ([1, 3, 4], "f0 is short: 1 of 2 (f1, f2 fit)."),
        ([1, 3, 0], "f0 is short: 1 of 2; f2: 0 of 2 (f1 fits)."),
        ([1], "f0 is short: 1 of 2."),
    ],
)
def test_the_first_line_names_what_is_short(rooms, said):
    fits = [
        fit(f"f{number}", room) if room else without_room(f"f{number}", FULL)
        for number, room in enumerate(rooms)
    ]
    first = text(found(*fits, query=CapacityQuery(at_least=2)))[0]
    assert first == (said or text(found(*fits))[0])


def test_what_may_be_rejected_may_be_short():
    answer = found(fit("f", 9, least=0), query=CapacityQuery(at_least=2))
    assert text(answer)[0] == "f may be short as counted: at most 9 of 2."


@pytest.mark.parametrize("name", SCREENS)
def test_the_document_is_of_its_schema(name):
    document = capacity_views.CapacityDocument.of(SCREENS[name])
    assert [*closed("capacity").iter_errors(document)] == []


def test_metrics_are_gauges_with_escaped_labels(golden):
    odd = fit('a"b\\c\nd', 3, groups={"zone": (1, Room(0, 3), 1)})
    by = found(odd, query=CapacityQuery(by="zone"))
    plain = found(fit("small", 13), rejected=(rejected("odd"),))
    both = (capacity_views.metrics(plain), capacity_views.metrics(by))
    golden("capacity/metrics", "\n".join(both))


@pytest.mark.parametrize(
    ("part", "whole", "shown", "ascii_shown"),
    [
        (0, 40, "··········", ".........."),
        (1, 1000, "▏·········", "#........."),
        (20, 40, "█████·····", "#####....."),
        (33, 40, "████████▎·", "########.."),
        (50, 40, "██████████", "##########"),
        (0, 0, "", ""),
    ],
)
def test_a_bar_is_the_share_that_is_left(part, whole, shown, ascii_shown):
    assert capacity_views.bar(part, whole, is_unicode=True) == shown
    assert capacity_views.bar(part, whole, is_unicode=False) == ascii_shown
