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
    Stranded,
)
from osc_traitsched.core.nova.clause import RootTrait
from osc_traitsched.core.placement.facts import Room
from osc_traitsched.core.servers.usage import Capacity, CapacityQuery
from osc_traitsched.views.capacity import document, prose
from tests.golden import screens
from tests.schemas import closed
from tests.unit.views.test_by_flavor import of_flavor

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


def rejected(name):
    judgement = of_flavor(name, 1)
    keys = ("hw:numa_cpus.0", "hw:numa_cpus.1")
    refusal = Refusal("ImageNUMATopologyCPUDuplicates", "cpu-twice", keys, "api")
    return dataclasses.replace(judgement, refusal=refusal, facts=None)


def text(capacity, encoding="utf-8"):
    return [line.text for line in prose.lines(capacity, encoding)]


GROUPS = {"east": (2, Room(7, 7), 2), "west": (0, Room(0, 0), 1)}
KEPT = KeptAway(UP, ("cmp04", "cmp05"), 40)
SCREENS = {
    "one flavor": found(fit("small", 13)),
    "none fits": found(fit("large", 0), stranded=()),
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
        fit("huge", 0, groups=dict.fromkeys(GROUPS, (0, Room(0, 0), 0))),
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
    shown["ASCII"] = text(SCREENS["one flavor"], "latin-1")
    golden("capacity/screens", screens(shown))


def test_fifty_flavors_are_one_screen():
    many = [
        fit(f"a-flavor-with-a-long-name-{n:02d}", n, groups=GROUPS) for n in range(50)
    ]
    for query in (CapacityQuery(), CapacityQuery(by="zone")):
        lines = text(found(*many, query=query))
        assert len(lines) <= 22
        assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("name", SCREENS)
def test_the_document_is_of_its_schema(name):
    closed("capacity").validate(document.document(SCREENS[name]))


def test_metrics_are_gauges_with_escaped_labels(golden):
    odd = fit('a"b\\c\nd', 3, groups={"zone": (1, Room(0, 3), 1)})
    by = found(odd, query=CapacityQuery(by="zone"))
    plain = found(fit("small", 13), rejected=(rejected("odd"),))
    both = (document.metrics(plain), document.metrics(by))
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
    assert prose.bar(part, whole, is_unicode=True) == shown
    assert prose.bar(part, whole, is_unicode=False) == ascii_shown
