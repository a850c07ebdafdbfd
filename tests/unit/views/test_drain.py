"""A plan that empties a host, in words, in commands and as a document."""

from __future__ import annotations

import dataclasses
import subprocess

import pytest

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.nova.question import MoveKind, Question
from osc_traitsched.core.servers.drain import (
    Drain,
    ServerMove,
    Step,
    Stuck,
    StuckReason,
)
from osc_traitsched.core.servers.state import (
    MoveRefusal,
    Name,
    Part,
    ServerState,
    Source,
)
from osc_traitsched.paste import Option
from osc_traitsched.views import drain as drain_views
from osc_traitsched.views import moves
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
    closed("host drain").validate(drain_views.DrainDocument.of(found, options))
    return [line.text for line in drain_views.lines(found, options, everything)]


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
        assert drain_views.DrainDocument.of(found)["summary"] in shown[state][:2]


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
    assert drain_views.DrainDocument.of(STATES[state])["before"] == []


#: Names that a shell would obey if they were not quoted.
SLY = ("cmp$(touch gone)`touch gone`", '"; touch gone; "', "'; touch gone; '", "a\nb")


#: Says in turn where a server is; its commands fail if a file has a reason.
FAKE = """#!/bin/sh
echo "$@" >> asked
for server; do :; done
case "$*" in
*"server show"*)
    set -- $(head -n 1 "$server")
    [ "$1" != unread ] || { sed -i 1d "$server"; exit 1; }
    printf '%s\\n' "$@"
    [ "$(wc -l < "$server")" = 1 ] || sed -i 1d "$server"
    ;;
*"server migrat"* | *"server evac"* | *"service set"*)
    [ ! -e "$server-$3" ] || { cat "$server-$3" >&2; exit 1; }
    ;;
esac
"""


def run_script(folder, found, states=(), errors=(), **variables):
    """Run the script with an ``openstack`` that says where each server is.

    :param states: what it says in turn of each server: host, task and status
    :param errors: of commands, by the name of the file that the program looks for
    """
    written = {
        f"id-of-{name}": "\n".join(rows) + "\n" for name, rows in dict(states).items()
    }
    for name, text in {
        **written,
        **dict(errors),
        "openstack": FAKE,
        "sleep": "",
    }.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return run_shell(folder, drain_views.script(found), **variables)


def run_shell(folder, lines, **variables):
    return subprocess.run(
        ["sh", "-c", "\n".join(lines)],
        cwd=folder,
        env={"PATH": f"{folder}:/usr/bin:/bin", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


MOVING, ARRIVED = "cmp00 migrating MIGRATING", "cmp05 None ACTIVE"
RESIZED = "cmp05 None VERIFY_RESIZE"
THREE = drain([step("web"), step("db", COLD, "stopped"), step("cache")])
LIVE_ARRIVES = (MOVING, MOVING, ARRIVED)
ALL_ARRIVE = {
    "web": LIVE_ARRIVES,
    "db": ("cmp00 resize_prep RESIZE", RESIZED, RESIZED, "cmp05 None SHUTOFF"),
    "cache": LIVE_ARRIVES,
}
NO_VALID_HOST = "No valid host was found. There are not enough hosts available."
REFUSED_BY_SDK = (
    "Some warning\nBadRequestException: 400: Client Error for url: "
    f"http://nova/v2.1/servers/7/action, {NO_VALID_HOST}\n"
)
REFUSED_BY_CLIENT = "Cannot migrate while it is rescued (HTTP 409)\n"
EXPLAIN = "Why: openstack trait-sched server explain"


def test_a_script_says_of_each_server_that_it_is_there(tmp_path):
    done = run_script(tmp_path, THREE, ALL_ARRIVE)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "web -> cmp05: there\ndb -> cmp05: there\ncache -> cmp05: there\n"
        "3 of 3 moved; cmp00 is disabled.\n"
    )
    asked = (tmp_path / "asked").read_text().splitlines()
    assert [line for line in asked if "show" not in line] == [
        "compute service set --disable --disable-reason to be emptied cmp00 "
        "nova-compute",
        "--os-compute-api-version 2.30 server migrate --live-migration --host cmp05 "
        "id-of-web",
        "--os-compute-api-version 2.56 server migrate --host cmp05 id-of-db",
        "server migration confirm id-of-db",
        "--os-compute-api-version 2.30 server migrate --live-migration --host cmp05 "
        "id-of-cache",
    ]


@pytest.mark.parametrize(
    ("server", "states", "errors", "why"),
    [
        pytest.param(
            "cache",
            ["cmp00 None ACTIVE"],
            {"id-of-cache-server": REFUSED_BY_SDK},
            f"refused by Nova ({NO_VALID_HOST[:-1]})",
            id="refused",
        ),
        pytest.param(
            "db",
            ["cmp00 None SHUTOFF"],
            {"id-of-db-server": REFUSED_BY_CLIENT},
            f"refused by Nova ({REFUSED_BY_CLIENT[:-1]})",
            id="refused-as-novaclient-says-it",
        ),
        pytest.param(
            "cache",
            ["unread"],
            {"id-of-cache-server": "Unable to establish connection\n"},
            "the command failed (Unable to establish connection)",
            id="no-cloud",
        ),
        pytest.param(
            "web",
            [MOVING, "cmp00 None ACTIVE"],
            {},
            "the move failed, it is on cmp00",
            id="rolled-back",
        ),
        pytest.param(
            "cache",
            [MOVING, "cmp07 None ACTIVE"],
            {},
            "the move failed, it is on cmp07",
            id="elsewhere",
        ),
        pytest.param(
            "db",
            ["cmp00 resize_migrating RESIZE", "cmp05 None ERROR"],
            {},
            "it went to ERROR on cmp05",
            id="error",
        ),
        pytest.param(
            "web",
            ["cmp00 migrating ERROR"],
            {},
            "it went to ERROR on cmp00",
            id="error-with-a-task",
        ),
        pytest.param(
            "web", ["unread"] * 61, {}, "its status is not readable", id="unread"
        ),
        pytest.param(
            "db",
            [RESIZED],
            {"id-of-db-confirm": "Instance has not been resized. (HTTP 409)\n"},
            "the move to cmp05 is not confirmed: refused by Nova (Instance has not "
            "been resized. (HTTP 409))",
            id="not-confirmed",
        ),
        pytest.param(
            "db", [RESIZED], {}, "its status is VERIFY_RESIZE", id="confirming-for-ever"
        ),
    ],
)
def test_a_script_stops_at_the_first_server_that_does_not_arrive(
    tmp_path, server, states, errors, why
):
    done = run_script(tmp_path, THREE, {**ALL_ARRIVE, server: states}, errors)
    moved = list(ALL_ARRIVE).index(server)
    assert done.returncode == 1
    assert done.stderr == (
        f"{server}: {why}.\nStopped: {moved} of 3 moved; cmp00 is disabled.\n"
        f"{EXPLAIN} id-of-{server}\n"
    )
    assert done.stdout.count("there\n") == moved
    asked = (tmp_path / "asked").read_text()
    assert all(f"id-of-{name}" not in asked for name in list(ALL_ARRIVE)[moved + 1 :])


@pytest.mark.parametrize(
    ("server", "states", "errors"),
    [
        pytest.param(
            "web",
            ["cmp00 migrating MIGRATING", *LIVE_ARRIVES],
            {"id-of-web-server": "no attribute to_dict\n"},
            id="begun-in-spite-of-an-error",
        ),
        pytest.param("db", [RESIZED, "cmp05 None SHUTOFF"], {}, id="soon-confirmed"),
        pytest.param("db", ["cmp05 None ACTIVE"], {}, id="confirmed-by-nova"),
        pytest.param("web", [*["unread"] * 59, ARRIVED], {}, id="read-in-the-end"),
        pytest.param("web", [*[MOVING] * 90, ARRIVED], {}, id="takes-long"),
    ],
)
def test_a_script_goes_on_with_servers_that_arrive_in_another_way(
    tmp_path, server, states, errors
):
    done = run_script(tmp_path, THREE, {**ALL_ARRIVE, server: states}, errors)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("there\n") == 3


def test_a_script_without_moves_has_no_functions(tmp_path):
    found = dataclasses.replace(STATES["down"], steps=())
    text = "\n".join(drain_views.script(found))
    assert "move()" not in text
    done = run_script(tmp_path, found, POWERED_OFF="yes")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "0 of 1 moved; grouped stays.\n"


def test_a_script_moves_nothing_if_a_host_cannot_be_disabled(tmp_path):
    done = run_script(tmp_path, THREE, ALL_ARRIVE, {"nova-compute-set": "no\n"})
    assert done.returncode == 1
    assert done.stderr.endswith(
        "Stopped: cmp00 can't be disabled, nothing was moved.\n"
    )
    assert "server" not in (tmp_path / "asked").read_text()


@pytest.mark.parametrize("end", ["completed", "confirmed", "error", "failed"])
def test_the_guard_of_a_move_waits_until_no_migration_is_in_progress(tmp_path, end):
    states = ["running", "post-migrating", "finished", end]
    fake = """#!/bin/sh
echo "$@" >> asked
case "$*" in
*migration*) printf 'completed\\n%s\\n' "$(head -n 1 states)"; sed -i 1d states ;;
*) echo cmp05 ;;
esac
"""
    (tmp_path / "states").write_text("\n".join(states) + "\n")
    for name, text in {"openstack": fake, "sleep": ""}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    done = run_shell(tmp_path, moves.guard(step("web"), OPTIONS))
    assert (done.returncode, done.stdout, done.stderr) == (0, "cmp05\n", "")
    *asked, last = (tmp_path / "asked").read_text().splitlines()
    assert len(asked) == len(states)
    assert set(asked) == {
        "--os-cloud my cloud server migration list --server id-of-web -f value -c "
        "Status"
    }
    assert last.endswith("server show -f value -c OS-EXT-SRV-ATTR:host id-of-web")


def test_a_script_evacuates_only_if_somebody_says_that_the_host_is_off(tmp_path):
    found = STATES["down"]
    states = dict.fromkeys("ab", ("cmp00 rebuilding REBUILD", ARRIVED))
    done = run_script(tmp_path, found, states)
    assert done.returncode == 1
    assert "make sure that cmp00 is powered off" in done.stderr
    assert not (tmp_path / "asked").exists()
    done = run_script(tmp_path, found, states, POWERED_OFF="yes")
    assert done.stdout == "a -> cmp05: there\nb -> cmp05: there\n"
    end = "2 of 3 moved; grouped stays; cmp00 is disabled.\n"
    assert (done.returncode, done.stderr) == (3, end)
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
    (line,) = drain_views.deciding(drain([step("odd", unknown=("Cyborg",))]))
    assert line.endswith(": no API shows whether Cyborg rejects the host.")
