"""A plan that empties a host, in words, in commands and as a document."""

from __future__ import annotations

import dataclasses
import json

import pytest

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.nova.question import Kind, Question
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting
from osc_traitsched.core.servers.drain import (
    Drain,
    ServerMove,
    Step,
    Stuck,
    StuckReason,
)
from osc_traitsched.core.servers.failure import ServerState
from osc_traitsched.core.servers.parts import Name, Part, Source
from osc_traitsched.core.servers.refusals import MoveRefusal
from osc_traitsched.paste import Option
from osc_traitsched.views.drain import document, prose
from tests.schemas import closed
from tests.unit.core.weigher import host

LIVE, COLD, EVACUATION = Kind.LIVE_MIGRATION, Kind.MIGRATION, Kind.EVACUATION
SETTINGS = SchedulerSettings(34, {}, "a test")
HOME, THERE = host("cmp00").compute, host("cmp05").compute
FLAVOR = {"name": "m1", "vcpus": 1, "ram": 512, "disk": 1, "extra_specs": {}}
OPTIONS = (Option("--os-cloud", "my cloud"),)


def server_move(name="web", kind=LIVE, state="active", **more):
    group = more.pop("group", None)
    question = Question(FLAVOR, None, (), SETTINGS, group=group)
    question = question.with_spec(hints=dict(hints))
    status = {"stopped": "SHUTOFF"}.get(state, state.upper())
    found = ServerState(
        f"id-of-{name}", name, status, "p", "cmp00", "cmp00", vm_state=state
    )
    return ServerMove(found, kind, question, **more)


def step(*given, unknown=(), **more):
    return Step(server_move(*given, **more), THERE, unknown)


def drain(steps=(), stuck=(), settings=SETTINGS, **more):
    nodes = (dataclasses.replace(HOME, **more.pop("node", {})),)
    return Drain("cmp00", nodes, 100, settings, tuple(steps), tuple(stuck), **more)


def no_room(name="full"):
    return Stuck(resident(name), Why.NO_ROOM)


def no_host(name, **more):
    return Stuck(resident(name, **more), Why.NO_HOST)


def refused(name, **more):
    return Stuck(resident(name, COLD, **more), Why.REFUSED)


def text(found, options=()):
    closed("host drain").validate(document.document(found, options))
    return [line.text for line in prose.lines(found, options)]


REFUSAL = MoveRefusal(
    "state", "InstanceInvalidState", "it is suspended, and would have to be active"
)
ASLEEP = Stuck(
    server_move("asleep", COLD, "suspended", refusals=(REFUSAL,)), StuckReason.REFUSED
)
FULL = Stuck(server_move("full"), StuckReason.NO_ROOM)


@pytest.mark.parametrize(
    ("found", "summary"),
    [
        (drain(), "No server is on cmp00."),
        (drain([step()]), "The only server of cmp00 can be moved: 1 live."),
        (drain(stuck=[FULL]), "The only server of cmp00 cannot be moved."),
        (drain(stuck=[FULL, FULL]), "None of the 2 servers of cmp00 can be moved."),
        (
            drain([step(), step(kind=COLD), step()]),
            "All 3 servers of cmp00 can be moved: 2 live, 1 cold.",
        ),
        (
            drain([step(kind=EVACUATION), step(kind=EVACUATION)]),
            "All 2 servers of cmp00 can be moved: 2 by evacuation.",
        ),
        (
            drain([step(), step(unknown=("JsonFilter",))]),
            "All 2 servers of cmp00 can be moved, 1 of them perhaps: 2 live.",
        ),
        (
            drain([step()], [FULL]),
            "1 of 2 servers of cmp00 can be moved: 1 live; 1 is stuck.",
        ),
    ],
)
HERE = ServerGroup("g", "affinity", members=frozenset("ab"), hosts={"cmp00"})
ELSEWHERE = dataclasses.replace(HERE, hosts={"cmp00", "cmp03"})
FOLLOWS = {"same_host": ("id-of-web",)}
SAME_HOST = dataclasses.replace(
    SETTINGS,
    settings={options.ENABLED_FILTERS: Setting(("SameHostFilter",), "a test")},
)
def test_a_move_waits_only_where_the_client_sees_its_end(kind, state, commands):
    found = drain([step(kind=kind, state=state)])
    (one,) = document.document(found)["steps"]
    assert one["commands"] == commands
    assert [line[2:] for line in text(found) if line.endswith("id-of-web")] == commands


def test_the_host_is_disabled_first_and_the_global_options_are_repeated():
    options = (Option("--os-cloud", "my cloud"),)
    found = text(drain([step()]), options)
    number = found.index("Paste this, in this order:")
    assert found[number + 1 : number + 3] == [
        "  openstack --os-cloud 'my cloud' compute service set --disable "
        "--disable-reason 'to be emptied' cmp00 nova-compute",
        "  openstack --os-cloud 'my cloud' --os-compute-api-version 2.30 server "
        "migrate --live-migration --host cmp05 --wait id-of-web",
    ]
    disabled = drain([step()], node={"is_enabled": False})
    assert document.document(disabled)["before"] == []
    assert document.document(drain([], [FULL]))["before"] == []
    assert "Paste this, in this order:" not in text(drain([], [FULL]))


def test_what_ends_the_state_that_keeps_a_server_is_a_command():
    found = text(drain([step()], [ASLEEP]))
    start = found.index("Stuck:")
    assert found[start + 1 : start + 4] == [
        "  asleep (1 VCPU, 512 MB, 1 GB):",
        "    nova-api refuses the cold migration: it is suspended, and would have to "
        "be active.",
        "    First: openstack server resume id-of-asleep",
    ]


def test_servers_of_one_reason_are_named_together():
    found = text(drain([], [FULL, Stuck(server_move("other"), StuckReason.NO_ROOM)]))
    start = found.index("Stuck:")
    assert found[start + 1 : start + 3] == [
        "  full (1 VCPU, 512 MB, 1 GB), other (1 VCPU, 512 MB, 1 GB):",
        "    Those that could take it are full once the others have moved, in each "
        "order that was tried.",
    ]


def test_a_group_that_stays_together_is_said_to_and_what_to_do():
    group = ServerGroup("g", "affinity", members=frozenset("ab"), hosts={"cmp00"})
    stays = Stuck(server_move(group=group), StuckReason.NO_HOST)
    found = "\n".join(text(drain([], [stays])))
    assert "Its server group g keeps its servers on one host (affinity)" in found
    assert "Shelved and offloaded" in found
    down = Stuck(server_move(group=group, kind=Kind.EVACUATION), StuckReason.NO_HOST)
    found = "\n".join(text(drain([], [down])))
    assert "Shelved and offloaded" not in found
    assert "unshelved elsewhere, once nova-compute is up." in found
    elsewhere = dataclasses.replace(group, hosts={"cmp00", "cmp03"})
    stays = Stuck(server_move(group=elsewhere), StuckReason.NO_HOST)
    assert "affinity" not in "\n".join(text(drain([], [stays])))


@pytest.mark.parametrize("filters", [("SameHostFilter",), ("ComputeFilter",)])
def test_a_server_that_is_to_be_with_one_that_leaves_may_follow_it(filters):
    on = {options.ENABLED_FILTERS: Setting(filters, "a test")}
    alone = server_move("db")
    hints = {"same_host": ("id-of-web",)}
    question = dataclasses.replace(alone.question, hints=hints)
    stays = Stuck(dataclasses.replace(alone, question=question), StuckReason.NO_HOST)
    settings = dataclasses.replace(SETTINGS, settings=on)
    found = dataclasses.replace(drain([step()], [stays]), settings=settings)
    said = any("Its hint same_host names web" in line for line in text(found))
    assert said is ("SameHostFilter" in filters)


def test_a_refusal_of_the_request_is_said_in_its_words():
    refusal = Refusal(
        "UnsupportedPolicyException", "group-policy-off", ("a", "F"), "scheduler"
    )
    found = text(drain([], [Stuck(server_move(refusal=refusal), StuckReason.REFUSED)]))
    assert any("UnsupportedPolicyException" in line for line in found)
    # A cold migration leaves the server as it is.
    assert not any("goes to ERROR" in line for line in found)


def test_what_decides_about_a_move_is_named():
    unknown = (
        "NUMATopologyFilter",
        "move:hypervisor",
        "availability zone",
        "OurFilter",
    )
    found = text(drain([step(unknown=unknown)]))
    assert found[1:5] == [
        "Not visible from outside: whether it has what NUMATopologyFilter wants: "
        "web to cmp05.",
        "Not visible from outside: whether it has all that the move wants: "
        "web to cmp05.",
        "Not visible from outside: whether it is in the zone that the server was asked "
        "for with: web to cmp05.",
        "OurFilter is none of Nova's, and is not run here: web to cmp05 (server "
        "destinations --nova-python runs it for one server).",
    ]
    assert any("cmp05 (perhaps)" in line for line in found)


def test_a_host_that_is_down_may_not_run_its_servers_any_more():
    node = {"is_up": False}
    found = text(drain([step(kind=EVACUATION)], node=node))
    assert any("make sure that the host is off" in line for line in found)
    assert not any("new servers may come" in line for line in found)


@pytest.mark.parametrize(("kind", "said"), [(LIVE, False), (EVACUATION, True)])
def test_an_error_of_older_clients_that_is_none_is_told(kind, said):
    found = "\n".join(text(drain([step(kind=kind)])))
    assert ("though the evacuation has begun" in found) is said


@pytest.mark.parametrize(
    ("unconfirmed", "said"),
    [
        ((), False),
        (("id-1",), "1 server left cmp00 and may still be reverted to it"),
        (None, "this user may not list them"),
    ],
)
SHORT = Shortage("MEMORY_MB", NEEDING, 4096, 2, 2)
APART = dataclasses.replace(SHORT, resource_class=None, group="g", hosts=1, room=1)

STATES = {
    "empty": drain(),
    # A command waits for its end if the client sees it.
    "all-move": drain(
        [
            step(),
            step("paused", state="paused"),
            step("stopped", COLD, "stopped"),
        ]
    ),
    "one-moves-disabled": drain([step()], node={"is_enabled": False}),
    "perhaps": drain([step(), step("odd", unknown=UNKNOWN)], unconfirmed=None),
    "not-known-of-servers": drain(
        [step(name, parts=NOT_SHOWN, unseen=(Unseen.CPU,)) for name in ("a", "b")],
        unconfirmed=("id-1",),
    ),
    "down": drain(
        [step("a", EVACUATION), step("b", EVACUATION)],
        [no_host("grouped", kind=EVACUATION, group=HERE)],
        node={"is_up": False},
    ),
    "one-stuck": drain(stuck=[no_room()]),
    "no-room": drain(stuck=[no_room(), no_room("other")]),
    "proof-of-no-room": drain(stuck=[no_room()], shortage=SHORT),
    "proof-of-no-room-apart": drain(stuck=[no_room()], shortage=APART),
    "some-stuck": drain(
        [step()],
        [
            Stuck(
                resident("asleep", COLD, "suspended", refusals=(ASLEEP,)), Why.REFUSED
            ),
            # A cold migration leaves the server as it is, whatever refuses it.
            refused("policy", refusal=POLICY),
            no_host("together", group=HERE),
            no_host("apart-already", group=ELSEWHERE),
            no_host("follower", hints=FOLLOWS),
        ],
        settings=SAME_HOST,
    ),
    "hint-that-no-filter-reads": drain([step()], [no_host("db", hints=FOLLOWS)]),
}


def test_what_is_not_known_and_what_shows_later_is_counted():
    parts = (
        Part(Name.ZONE, Source.NOT_SHOWN, None, 96),
        Part(Name.HOST, Source.NOT_SHOWN),
    )
    steps = [step(parts=parts) for _ in range(2)]
    found = text(drain(steps))
    assert (
        "  2 servers: availability zone: taken for none; the compute API shows it from "
        "2.96, and was read with 2.100"
    ) in found
    assert (
        "  2 servers: the CPU: nova-compute compares the guest's with the host's"
    ) in found
    assert not any("named host" in line for line in found)


def test_a_program_gets_the_commands_of_each_server(golden):
    found = document.document(STATES["some-stuck"], OPTIONS)
    golden("drain/document", json.dumps(found, indent=1))


@pytest.mark.parametrize("state", ["one-moves-disabled", "one-stuck"])
def test_no_host_is_disabled_twice_or_for_nothing(state):
    assert document.document(STATES[state])["before"] == []
