"""A plan that empties a host, in words, in commands and as a document."""

from __future__ import annotations

import dataclasses
import subprocess

import pytest

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.nova.question import MoveKind, Question
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting
from osc_traitsched.core.servers.drain import (
    Drain,
    ServerMove,
    Step,
    Stuck,
    StuckReason,
)
from osc_traitsched.core.servers.parts import Name, Part, Source
from osc_traitsched.core.servers.state import MoveRefusal, ServerState
from osc_traitsched.paste import Option
from osc_traitsched.views.drain import document, prose, script
from tests.golden import screens
from tests.schemas import closed
from tests.unit.core.weigher import host

LIVE, COLD, EVACUATION = (
    MoveKind.LIVE_MIGRATION,
    MoveKind.MIGRATION,
    MoveKind.EVACUATION,
)
SETTINGS = SchedulerSettings(34, {}, "a test")
HOME, THERE = host("cmp00").compute, host("cmp05").compute
OTHER = host("cmp01").compute
FLAVOR = {"name": "m1", "vcpus": 1, "ram": 512, "disk": 1, "extra_specs": {}}
OPTIONS = (Option("--os-cloud", "my cloud"),)


def server_move(
    name="web", kind=LIVE, state="active", hints=(), group=None, host="cmp00", **more
):
    question = Question(FLAVOR, None, (), SETTINGS, group=group)
    question = question.with_spec(hints=dict(hints))
    status = {"stopped": "SHUTOFF"}.get(state, state.upper())
    found = ServerState(f"id-of-{name}", name, status, "p", host, host, vm_state=state)
    return ServerMove(found, kind, question, **more)


def step(*given, unknown=(), **more):
    return Step(server_move(*given, **more), THERE, unknown)


def drain(steps=(), stuck=(), settings=SETTINGS, **more):
    nodes = (dataclasses.replace(HOME, **more.pop("node", {})),)
    return Drain(("cmp00",), nodes, 100, settings, tuple(steps), tuple(stuck), **more)


def no_room(name="full"):
    return Stuck(server_move(name), StuckReason.NO_ROOM)


def no_host(name, **more):
    return Stuck(server_move(name, **more), StuckReason.NO_HOST)


def refused(name, **more):
    return Stuck(server_move(name, COLD, **more), StuckReason.REJECTED)


def text(found, options=(), everything=False):
    closed("host drain").validate(document.document(found, options))
    return [line.text for line in prose.lines(found, options, everything)]


def of(number):
    return MoveRefusal("state", "InstanceInvalidState", f"reason {number}")


NOT_SHOWN = (Part(Name.ZONE, Source.NOT_SHOWN, None, 96),)
NOT_SHOWN += (Part(Name.HOST, Source.NOT_SHOWN),)
ASLEEP = MoveRefusal(
    "state", "InstanceInvalidState", "it is suspended; it must be active"
)
POLICY = Refusal(
    "UnsupportedPolicyException", "group-policy-off", ("a", "F"), "scheduler"
)
HERE = ServerGroup("g", "affinity", members=frozenset("ab"), hosts={"cmp00"})
ELSEWHERE = dataclasses.replace(HERE, hosts={"cmp00", "cmp03"})
FOLLOWS = {"same_host": ("id-of-web",)}
SAME_HOST = dataclasses.replace(
    SETTINGS,
    settings={options.ENABLED_FILTERS: Setting(("SameHostFilter",), "a test")},
)
UNKNOWN = (
    "NUMATopologyFilter",
    "move:hypervisor",
    "availability zone",
    "image",
    "OurFilter",
)

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
        [step(name, parts=NOT_SHOWN) for name in ("a", "b")],
        unconfirmed=("id-1",),
    ),
    "down": drain(
        [step("a", EVACUATION), step("b", EVACUATION)],
        [no_host("grouped", kind=EVACUATION, group=HERE)],
        node={"is_up": False},
    ),
    "many-move": drain([step(f"web-{number}") for number in range(12)]),
    "many-stuck": drain(stuck=[refused(str(n), refusals=(of(n),)) for n in range(7)]),
    "several-hosts": dataclasses.replace(
        drain([step()], [no_host("db", kind=EVACUATION, host="cmp01")]),
        hosts=("cmp00", "cmp01"),
        nodes=(HOME, dataclasses.replace(OTHER, is_up=False)),
    ),
    "one-stuck": drain(stuck=[no_room()]),
    "no-room": drain(stuck=[no_room(), no_room("other")]),
    "some-stuck": drain(
        [step()],
        [
            Stuck(
                server_move("asleep", COLD, "suspended", refusals=(ASLEEP,)),
                StuckReason.REJECTED,
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


#: The states of which more is known than is shown.
WITH_MORE = ("down", "some-stuck", "not-known-of-servers")


def test_a_person_gets_the_answer_the_commands_and_what_keeps_servers(golden):
    shown = {state: text(found, OPTIONS) for state, found in STATES.items()}
    golden("drain/screens", screens(shown))
    for state, found in STATES.items():
        assert document.document(found)["summary"] in shown[state][:2]


def test_a_host_that_is_down_must_be_fenced_first():
    found = text(STATES["down"], OPTIONS)
    assert found[0].startswith("nova-compute on cmp00 is down: make sure the host is")
    commands = [number for number, each in enumerate(found) if "evacuate" in each][1:]
    evacuations = [n for n in commands if "server evacuate" in found[n]]
    assert len(evacuations) == 2
    assert all("only if cmp00 is powered off" in found[n - 1] for n in evacuations)
    assert not any("powered off" in each for each in text(STATES["all-move"]))


def test_everything_that_is_known_is_shown_on_demand(golden):
    whole = {state: text(STATES[state], OPTIONS, True) for state in WITH_MORE}
    golden("drain/long", screens(whole))


@pytest.mark.parametrize("state", ["one-moves-disabled", "one-stuck"])
def test_no_host_is_disabled_twice_or_for_nothing(state):
    assert document.document(STATES[state])["before"] == []


#: Names that a shell would obey if they were not quoted.
SLY = ("cmp$(touch gone)`touch gone`", '"; touch gone; "', "'; touch gone; '", "a\nb")


def run_script(folder, found, **variables):
    """Run the script with an ``openstack`` that says where each server is."""
    openstack = folder / "openstack"
    openstack.write_text('#!/bin/sh\necho "$@" >> asked\necho cmp05\n')
    openstack.chmod(0o755)
    path = {"PATH": f"{folder}:/usr/bin:/bin", **variables}
    return subprocess.run(
        ["sh", "-c", "\n".join(script.script(found))],
        cwd=folder,
        env=path,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_script_evacuates_only_if_somebody_says_that_the_host_is_off(tmp_path):
    found = STATES["down"]
    done = run_script(tmp_path, found)
    assert done.returncode == 1
    assert "make sure that cmp00 is powered off" in done.stderr
    assert not (tmp_path / "asked").exists()
    assert run_script(tmp_path, found, POWERED_OFF="yes").returncode == 0
    assert "server evacuate" in (tmp_path / "asked").read_text()


@pytest.mark.parametrize("name", SLY)
def test_no_name_is_obeyed_by_the_shell(tmp_path, name):
    moved = server_move(kind=EVACUATION, host=name)
    state = dataclasses.replace(moved.state, name=name)
    moved = dataclasses.replace(moved, state=state)
    node = {"is_up": False, "service_host": name, "node": name}
    found = drain([Step(moved, THERE, ())], [no_room()], node=node)
    found = dataclasses.replace(found, hosts=(name,))
    assert found.down == (name,)
    for variables in ({}, {"POWERED_OFF": "yes"}):
        run_script(tmp_path, found, **variables)
        assert not (tmp_path / "gone").exists()


def test_cyborg_is_no_filter_of_ones_own():
    (line,) = prose.deciding(drain([step("odd", unknown=("Cyborg",))]))
    assert line.endswith(": no API shows whether Cyborg rejects the host.")
