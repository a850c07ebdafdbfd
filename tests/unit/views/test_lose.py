"""What would be lost with a host, a zone or an aggregate: text, document, metrics."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.servers.usage import Loss, Losses
from osc_traitsched.views import lose
from tests.golden import screens
from tests.schemas import closed
from tests.unit.views import test_capacity
from tests.unit.views.test_drain import drain, no_host, no_room, refused, step

NUMA = ("NUMATopologyFilter",)


def loss(name, steps=(), stuck=(), full=(), kind="host"):
    hosts = (name,) if kind == "host" else (f"{name}-1", f"{name}-2")
    plan = dataclasses.replace(drain(steps, stuck), hosts=hosts)
    return Loss(kind, name, plan, tuple(full))


def losses(*several):
    return Losses(test_capacity.found(test_capacity.fit("small", 13)), several)


STUCK = (no_host("db"), no_room("web"), refused("gpu"), no_room("app"))
BAD = loss("cmp03", [step()], STUCK, [f"flavor-{n}" for n in range(6)])
PERHAPS = loss("cmp04", [step("numa-1", unknown=NUMA), step()], full=["huge"])
FINE = loss("cmp05", [step()])
ZONE = loss("east", [step("a")], [no_room()], kind="zone")
MANY = [loss(f"compute-{n:03d}", stuck=STUCK[: 1 + n % 2]) for n in range(40)]
SCREENS = {
    "one": losses(FINE),
    "fine": losses(FINE, loss("cmp06"), loss("gold", kind="aggregate")),
    "perhaps": losses(PERHAPS, FINE),
    "no": losses(BAD, ZONE, PERHAPS, FINE),
    "one server": losses(loss("cmp07", stuck=STUCK[:1])),
    "many": losses(*MANY),
}


def text(found, *terminal):
    closed("capacity --lose").validate(lose.LossesDocument.of(found))
    return [line.text for line in lose.lines(found, *terminal)]


def test_the_answer_is_the_first_line_and_then_a_row_for_each(golden):
    shown = {name: text(each) for name, each in SCREENS.items() if name != "many"}
    shown["a terminal"] = text(SCREENS["no"], 60, 24)
    shown["CSV"] = [lose.rows(SCREENS["no"])]
    shown["metrics"] = [lose.metrics(SCREENS["no"])]
    golden("capacity/lose", screens(shown))


@pytest.mark.parametrize("name", SCREENS)
def test_any_number_of_hosts_is_one_screen(name):
    shown = text(SCREENS[name], 80, 24)
    assert len(shown) <= 22
    assert max(map(len, shown)) <= 80
    assert len(text(SCREENS["many"])) > 40
