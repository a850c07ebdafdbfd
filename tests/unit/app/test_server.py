"""Servers that exist: explained, and where one could go, of recorded answers."""

from __future__ import annotations

import dataclasses
import datetime
from types import SimpleNamespace

import pytest

from osc_traitsched.app import server as app_server
from osc_traitsched.app.server import AskedMove
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.commands.server import exit_code_of_failure
from osc_traitsched.core.answer import Answer
from osc_traitsched.core.errors import (
    BadUsage,
    CloudBroke,
    Forbidden,
    Hidden,
    NotInCatalog,
)
from osc_traitsched.core.nova.question import MoveKind, ServerSpec
from osc_traitsched.core.servers.failure import (
    Changes,
    FailedKind,
    FailedServer,
    FailedServers,
    Stage,
)
from osc_traitsched.core.servers.misplaced import of_own_host
from osc_traitsched.core.servers.moves import Because
from osc_traitsched.core.servers.state import Name, Source
from osc_traitsched.views import destinations, server_explain
from osc_traitsched.views.server_explain import Seen
from osc_traitsched.views.terminal import Tone
from tests.schemas import closed
from tests.unit.app.recorded import (
    CMP01,
    IMAGE,
    KNOWN_OFF,
    OWN,
    ROCKY,
    TRAITS,
    RecordedCloud,
    RecordedService,
)

# Servers that exist, explained of recorded answers.


ID = "5e000000-0000-4000-8000-000000000001"
PORT, NETWORK, VOLUME = (f"b000000{n}-0000-4000-8000-000000000000" for n in "123")
THEN = "2026-11-22T12:00:00Z"
NOW = datetime.datetime(2026, 11, 22, 13, tzinfo=datetime.timezone.utc)
SINCE = f"changes-since={THEN}&limit=100"
ACTIONS = f"/servers/{ID}/os-instance-actions"
SOURCES = SettingsSources(nova_release=33, options=KNOWN_OFF)
NOTHING = ServerSpec()
GOLD = {
    "original_name": "gold",
    "vcpus": 4,
    "ram": 4096,
    "disk": 20,
    "ephemeral": 0,
    "swap": 0,
    "extra_specs": {"trait:CUSTOM_GOLD": "required"},
}
EGRESS = "NET_BW_EGR_KILOBIT_PER_SEC"
BOUND = {
    "/ports?device_id=" + ID: {
        "ports": [
            {
                "id": PORT,
                "name": "eth0",
                "network_id": NETWORK,
                "device_id": ID,
                "fixed_ips": [],
                "ip_allocation": "none",
                "resource_request": {"resources": {EGRESS: 1000}, "required": []},
            }
        ]
    },
    f"/networks/{NETWORK}": {"network": {"id": NETWORK, "name": "n", "subnets": []}},
    f"/subnets?network_id={NETWORK}": {"subnets": []},
}
UNBOUND = {"/ports?device_id=" + ID: {"ports": []}}
ROOT = {
    f"/volumes/{VOLUME}": {
        "volume": {
            "id": VOLUME,
            "name": "root",
            "size": 20,
            "status": "in-use",
            "availability_zone": "nova",
            "bootable": "true",
            "volume_image_metadata": {"trait:CUSTOM_SILVER": "required"},
        }
    }
}


def body(**more):
    return {
        "id": ID,
        "name": "web-3",
        "status": "ERROR",
        "tenant_id": OWN,
        "created": THEN,
        "flavor": GOLD,
        "image": {"id": IMAGE, "properties": {}},
        "fault": {"message": "No valid host was found. ", "code": 500, "created": THEN},
        **more,
    }


ACTION = {"action": "create", "request_id": "req-1", "start_time": THEN}


def cloud(found, image=ROCKY, **more):
    compute = {
        f"/servers/{ID}": {"server": found},
        f"{ACTIONS}?limit=20": {"instanceActions": [ACTION]},
        f"{ACTIONS}/req-1": {"instanceAction": {**ACTION, "events": []}},
        "/os-services": {"services": []},
        f"/servers/detail?{SINCE}&all_tenants=1": {"servers": []},
        f"/os-migrations?{SINCE}": {"migrations": []},
        f"/servers/{ID}/os-volume_attachments": {
            "volumeAttachments": [{"volumeId": VOLUME, "device": "/dev/vda"}]
        },
        **more,
    }
    has = RecordedCloud(compute=compute, image={f"/images/{IMAGE}": image})
    # What a failed build was to get is bound to it no more, in most cases.
    is_lost = found["status"] == "ERROR" and "OS-SRV-USG:launched_at" not in found
    has.network = RecordedService("network", UNBOUND if is_lost else BOUND)
    has.block_storage = RecordedService("block-storage", ROOT)
    return has


def paths(service):
    return [path for path, _ in service.asked]


def sources(found):
    return {each.name: each.source for each in found.parts}


def test_a_failed_build_is_explained_as_it_was_asked_for():
    has = cloud(body())
    found = app_server.answer(has, ID, NOTHING, SOURCES)
    assert found.failure.stage is Stage.NO_CANDIDATES
    assert [host.name for host in found.judgement.candidates] == ["cmp01"]
    assert (found.is_flavor_changed, found.problem) == (False, None)
    ports = next(each for each in found.parts if each.name is Name.PORTS)
    assert not ports.is_known


def test_a_port_that_a_failed_build_still_has_is_judged():
    has = cloud(body())
    has.network = RecordedService("network", BOUND)
    found = app_server.read_server(has, ID, NOTHING)
    assert sources(found)[Name.PORTS] is Source.BOUND
    question, _ = app_server.question_of(has, found, SOURCES)
    assert f"{EGRESS}%3A1000" in question.request().query()
    has.network = RecordedService(
        "network", {f"/ports?device_id={ID}": NotInCatalog("network")}
    )
    assert app_server.read_server(has, ID, NOTHING).unread == {}


NO_ACTIONS = Hidden("compute", f"the snapshot has no {ACTIONS}")


def test_hidden_actions_leave_a_build_judged_and_other_actions_unknown():
    has = cloud(body(), **{f"{ACTIONS}?limit=20": NO_ACTIONS})
    found = app_server.answer(has, ID, NOTHING, SOURCES)
    assert found.failure.action == "create"
    assert found.failure.stage is Stage.NO_CANDIDATES
    assert text(found)[0].startswith("web-3: build failed 60 min ago")
    assert f"Not read: its actions ({NO_ACTIONS})" in text(found)

    has = failed("", **{f"{ACTIONS}?limit=20": NO_ACTIONS})
    found = app_server.answer(has, ID, NOTHING, SOURCES)
    assert exit_code_of_failure(found) is ExitCode.UNKNOWN
    assert text(found)[:2] == [
        "web-3 failed (Nova records no reason). Which action failed is not known. "
        "A new server: 1 of 3 hosts can take it.",
        f"Not read: its actions ({NO_ACTIONS})",
    ]
    lines = list(server_explain.lines(Seen(found, NOW), everything=True))
    assert not [each for each in lines if "set its state by hand" in each.text]


def failed(action, host="cmp02", **more):
    """A server whose last action found no host, and that runs as before."""
    step = {
        "event": "conductor",
        "result": "Error",
        "start_time": THEN,
        "details": "No valid host was found. There are not enough hosts available.",
    }
    begun = {**ACTION, "action": action, "message": "Error"}
    where = "OS-EXT-SRV-ATTR"
    alive = {
        "status": "ACTIVE",
        "fault": None,
        "OS-EXT-STS:vm_state": "active",
        "OS-EXT-STS:power_state": 1,
        f"{where}:host": host,
        f"{where}:hypervisor_hostname": host,
        "OS-SRV-USG:launched_at": THEN,
    }
    lists = {
        f"{ACTIONS}?limit=20": {"instanceActions": [begun]},
        f"{ACTIONS}/req-1": {"instanceAction": {**begun, "events": [step]}},
        f"/os-migrations?instance_uuid={ID}&limit=20": {"migrations": []},
    }
    has = cloud(body(**alive), **{**lists, **more})
    has.network = RecordedService("network", {f"/ports?device_id={ID}": {"ports": []}})
    return has


def text(found):
    return [
        each.text for each in server_explain.lines(Seen(found, NOW), everything=False)
    ]


UNKNOWN_CAUSE = (
    "Cause unknown: fixed since (traits, metadata, aggregates, disabled hosts and "
    "nova.conf leave no record), or a named host, a port, or a server group deleted "
    "since."
)
FAILED = "web-3: build failed 60 min ago (Placement returned no hosts)."


def on(host):
    return {"OS-EXT-SRV-ATTR:host": host}


def news(**more):
    """Another server that was made or deleted on a host since the failure."""
    other = body(id="other", **more)
    return {f"/servers/detail?{SINCE}&all_tenants=1": {"servers": [other]}}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        news(created=NOW.isoformat(), status="ACTIVE", **on("cmp01")),
        # A server that left a host which can't take this one made no room for it.
        news(created="2026-11-22T11:00:00Z", status="DELETED", **on("cmp02")),
    ],
)
def test_a_fix_that_leaves_no_record_is_neither_named_nor_confused_with_news(changes):
    found = app_server.answer(cloud(body(), **changes), ID, NOTHING, SOURCES)
    assert found.is_unexplained
    assert exit_code_of_failure(found) is ExitCode.UNKNOWN
    first, *_ = server_explain.lines(Seen(found, NOW), everything=False)
    assert first.tone is Tone.DOUBT
    assert text(found)[:4] == [
        f"{FAILED} Now 1 of 3 hosts may take it; why it failed is not known.",
        UNKNOWN_CAUSE,
        "  named host: pass --availability-zone ZONE:HOST or --on-host",
        "  original ports (unbound after a failed build): pass --port or --network",
    ]


@pytest.mark.parametrize(
    ("deleted", "moves", "is_explained"),
    [
        (("cmp01",), (), False),
        (("cmp01", "cmp02"), (), True),
        (("cmp02",), (("cmp01", "cmp02"),), True),
        ((), (("cmp01", "cmp02"),), False),
    ],
)
def test_a_host_that_no_server_left_could_take_it_before(deleted, moves, is_explained):
    found = app_server.answer(cloud(body()), ID, NOTHING, SOURCES)
    judgement, (one,) = found.judgement, found.judgement.candidates
    other = dataclasses.replace(judgement.computes[one.uuid], service_host="cmp02")
    two = SimpleNamespace(
        candidates=[one, SimpleNamespace(uuid="other")],
        computes={**judgement.computes, "other": other},
        has_room=True,
    )
    found = dataclasses.replace(
        found,
        explanation=SimpleNamespace(judgement=two, since=None),
        changes=Changes(deleted=deleted, moves=moves),
    )
    assert found.is_unexplained is not is_explained


def test_a_server_that_left_the_host_since_is_said():
    gone = news(created="2026-11-22T11:00:00Z", status="DELETED", **on("cmp01"))
    found = app_server.answer(cloud(body(), **gone), ID, NOTHING, SOURCES)
    assert not found.is_unexplained
    assert text(found)[:2] == [
        f"{FAILED} Now cmp01 can take it.",
        "Since the failure: 1 server deleted on cmp01.",
    ]


TRIED = {"event": "compute__do_build_and_run_instance", "host": "cmp01"}
RETRIES = "Exceeded maximum number of retries. Exceeded max scheduling attempts 3"
NUMA = "Requested instance NUMA topology cannot fit the given host NUMA topology"
CLAIM = f"{RETRIES}. Last exception: Insufficient compute resources: {NUMA}."


@pytest.mark.parametrize(
    ("message", "freed_helps"),
    [
        (CLAIM, True),
        ("Insufficient compute resources: Claim pci failed.", True),
        (f"{RETRIES}. Last exception: libvirt error", False),
        ("PCI alias a1 is not defined", False),
        ("Failed to allocate the network(s), not rescheduling.", False),
        ("Binding failed for port p1, please check neutron logs", False),
    ],
)
@pytest.mark.parametrize("is_freed", [False, True])
def test_no_verdict_is_sure_against_a_failure_that_it_does_not_judge(
    message, freed_helps, is_freed
):
    failed = body(fault={"message": message, "code": 500, "created": THEN})
    events = {"instanceAction": {**ACTION, "events": [{**TRIED, "start_time": THEN}]}}
    gone = news(created="2026-11-22T11:00:00Z", status="DELETED", **on("cmp01"))
    has = cloud(failed, **{f"{ACTIONS}/req-1": events}, **(gone if is_freed else {}))
    found = app_server.answer(has, ID, NOTHING, SOURCES)
    assert found.judgement.question.tried == ("cmp01",)
    is_sure = is_freed and freed_helps
    assert found.may_fail_alike is not is_sure
    assert exit_code_of_failure(found) is (
        ExitCode.DONE if is_sure else ExitCode.UNKNOWN
    )
    first, second, *_ = server_explain.lines(Seen(found, NOW), everything=False)
    assert first.tone is (Tone.YES if is_sure else Tone.DOUBT)
    end = (
        "cmp01 can take it."
        if is_sure
        else "1 of 3 hosts may take it, unless it fails like that again."
    )
    assert first.text.endswith(f" Now {end}")
    assert second.text == f"Nova: {message}"


def test_of_many_those_fail_again_that_are_known_to():
    unread = cloud(body(), **{"/os-aggregates": Forbidden("compute", "index")})
    answer = app_server.answer(unread, ID, NOTHING, SOURCES)
    kinds = [FailedKind((FailedServer(ID, "web-3"),), answer)]
    first, *_ = server_explain.failed_lines(FailedServers(tuple(kinds)))
    assert first.text == "1 server failed, for 1 reason; 1 may fail again."


@pytest.mark.parametrize(
    ("action", "kind"),
    [("migrate", MoveKind.MIGRATION), ("live-migration", MoveKind.LIVE_MIGRATION)],
)
def test_a_failed_move_is_judged_as_that_move(action, kind):
    found = app_server.answer(failed(action), ID, NOTHING, SOURCES)
    assert found.kind is kind
    assert found.judgement.question.move.kind is kind
    assert found.is_unexplained
    assert text(found)[1:3] == [UNKNOWN_CAUSE, "  named host: pass --on-host"]
    with pytest.raises(BadUsage, match="ZONE:HOST"):
        app_server.answer(failed(action), ID, ServerSpec(zone="nova:cmp01"), SOURCES)


def test_what_nova_would_reject_now_is_said_first():
    found = app_server.answer(failed("evacuate"), ID, NOTHING, SOURCES)
    assert [each.reason for each in found.refusals] == ["source up"]
    (line,) = text(found)
    assert line.endswith("Now Nova would reject it: nova-compute is up on cmp02.")


@pytest.mark.parametrize(
    ("action", "part"), [("resize", "flavor"), ("rebuild", "image")]
)
def test_no_old_flavor_or_image_is_judged_for_a_new_one(action, part):
    found = app_server.answer(failed(action), ID, NOTHING, SOURCES)
    assert found.unrecorded == part
    first, second = text(found)
    assert first.endswith(f"Nova does not record the new {part}.")
    assert second.endswith(f"web-3 --for {action} --{part} <{part.upper()}>")


@pytest.mark.parametrize(
    ("host", "can", "said"),
    [
        (
            "cmp01",
            Answer.YES,
            "Nova would still allow cmp01 for it (room and service not judged).",
        ),
        (
            "cmp02",
            Answer.NO,
            "Nova would no longer allow cmp02: it lacks trait CUSTOM_GOLD.",
        ),
        # It has the trait, and no room but the server's own.
        (
            "cmp03",
            Answer.YES,
            "Nova would still allow cmp03 for it (room and service not judged).",
        ),
    ],
)
def test_a_server_that_runs_is_judged_on_its_own_host(host, can, said):
    none = {f"{ACTIONS}?limit=20": {"instanceActions": []}}
    found = app_server.answer(failed("create", host, **none), ID, NOTHING, SOURCES)
    assert of_own_host(found.judgement, host).can is can
    first, second, *_ = text(found)
    assert first == f"web-3 is ACTIVE on {host}; Nova records no failure."
    assert second == said


def test_beside_what_explain_reads_it_takes_a_few_requests():
    has = cloud(body())
    app_server.answer(has, ID, NOTHING, SOURCES)
    about = [p for p in paths(has.compute) if p.startswith(("/servers", "/os-mig"))]
    assert len(about) == 5
    assert paths(has.image) == [f"/images/{IMAGE}"]


def test_a_server_without_a_failure_is_not_asked_for_what_changed_since():
    has = cloud(body(status="ACTIVE", fault=None))
    has.network = RecordedService("network", {f"/ports?device_id={ID}": {"ports": []}})
    found = app_server.answer(has, ID, NOTHING, SOURCES)
    assert (found.failure, found.changes) == (None, None)
    assert "/os-migrations" not in paths(has.compute)


@pytest.mark.parametrize(
    "problem",
    [
        CloudBroke("network", "no connection to it: connection refused"),
        Forbidden("network", "no rights"),
        NotInCatalog("network"),
    ],
)
def test_ports_that_can_t_be_read_are_said_to_be_unknown(problem):
    has = cloud(body(status="ACTIVE", fault=None))
    has.network = RecordedService("network", {f"/ports?device_id={ID}": problem})
    found = app_server.answer(has, ID, NOTHING, SOURCES)
    (ports,) = (each for each in found.parts if each.name is Name.PORTS)
    assert not ports.is_known
    assert ports.problem is problem
    assert found.judgement is not None


@pytest.mark.parametrize("what", ["aggregates", "root volume"])
def test_what_can_t_be_read_leaves_the_failure_said(what):
    problem = Forbidden("compute", "no rights")
    if what == "aggregates":
        has = cloud(body(), **{"/os-aggregates": problem})
    else:
        has = cloud(body(image=""))
        has.block_storage.now_has(f"/volumes/{VOLUME}", problem)
    found = app_server.answer(has, ID, NOTHING, SOURCES)
    assert (found.judgement, found.problem) == (None, problem)
    assert found.failure.stage is Stage.NO_CANDIDATES


@pytest.mark.parametrize(
    "problem",
    [CloudBroke("image", "no connection to it: refused"), Forbidden("image", "no")],
)
def test_an_image_that_can_t_be_read_leaves_the_failure_said(problem):
    found = app_server.answer(cloud(body(), image=problem), ID, NOTHING, SOURCES)
    assert (found.problem, found.judgement) == (problem, None)
    assert found.failure.stage is Stage.NO_CANDIDATES
    parts = {each.name: (each.source, each.problem) for each in found.parts}
    # Nova keeps these with the server.
    assert parts[Name.IMAGE] == parts[Name.PROPERTIES] == (Source.SERVER, None)
    assert parts[Name.MORE] == (Source.NOT_READ, problem)


def test_extra_specs_that_a_policy_hides_are_not_taken_for_none():
    hidden = {key: value for key, value in GOLD.items() if key != "extra_specs"}
    found = app_server.answer(cloud(body(flavor=hidden)), ID, NOTHING, SOURCES)
    assert found.judgement is None
    assert found.problem.flavor == "gold"


def test_ports_and_root_volume_are_those_that_are_bound_to_it():
    more = {"status": "SHELVED_OFFLOADED", "fault": None, "image": ""}
    has = cloud(body(**more, **{"OS-SRV-USG:launched_at": THEN}))
    found = app_server.read_server(has, ID, NOTHING)
    assert sources(found)[Name.PORTS] is sources(found)[Name.VOLUME] is Source.BOUND
    question, _ = app_server.question_of(has, found, SOURCES)
    query = question.request().query()
    assert f"{EGRESS}%3A1000" in query
    assert "CUSTOM_SILVER" in query


def test_what_the_user_names_is_not_looked_for():
    given = ServerSpec(volume=VOLUME)
    has = cloud(body(image=""))
    found = app_server.read_server(has, ID, given)
    assert (found.volume, sources(found)[Name.VOLUME]) == (None, Source.GIVEN)
    question, _ = app_server.question_of(has, found, SOURCES)
    assert question.parts.boots_from == VOLUME


@pytest.mark.parametrize(
    ("image", "given"),
    [
        ("", ServerSpec(image_properties={"disk_format": "raw"})),
        ({"id": IMAGE}, ServerSpec(volume=VOLUME)),
    ],
)
def test_what_does_not_go_with_the_root_disk_is_refused(image, given):
    with pytest.raises(BadUsage, match="boots from a volume"):
        app_server.answer(cloud(body(image=image)), ID, given, SOURCES)


def test_a_server_that_is_kept_gets_no_change_of_its_flavor_suggested():
    other = {**GOLD, "extra_specs": {"trait:CUSTOM_SILVER": "required"}}
    has = cloud(body(flavor=other))
    found = app_server.read_server(has, ID, NOTHING)
    question, is_changed = app_server.question_of(has, found, SOURCES)
    assert (question.is_kept, is_changed) == (True, True)
    assert question.flavor["extra_specs"] == other["extra_specs"]


# Where a server could go, of recorded answers.


LIVE, COLD, EVACUATION = (
    MoveKind.LIVE_MIGRATION,
    MoveKind.MIGRATION,
    MoveKind.EVACUATION,
)
STAYS = (("DEFAULT.allow_resize_to_same_host", "true"),)


def running(host, **more):
    return body(
        **{
            "status": "ACTIVE",
            "fault": None,
            "OS-EXT-STS:vm_state": "active",
            "OS-EXT-STS:task_state": None,
            "OS-EXT-STS:power_state": 1,
            "OS-EXT-SRV-ATTR:host": host,
            "OS-EXT-SRV-ATTR:hypervisor_hostname": host,
            "OS-SRV-USG:launched_at": "2026-11-22T12:00:00Z",
            **more,
        }
    )


def there(server, **more):
    has = cloud(server, **more)
    has.network.now_has(f"/ports?device_id={ID}", {"ports": []})
    return has


def found(server, kind=None, given=NOTHING, sources=SOURCES, **more):
    has = there(server)
    traits = [*TRAITS[CMP01], "COMPUTE_SAME_HOST_COLD_MIGRATE"]
    holding = {"traits": traits, "resource_provider_generation": 3}
    has.placement.now_has(f"/resource_providers/{CMP01}/traits", holding)
    return app_server.destinations(
        has, ID, AskedMove(kind, **more), given, sources
    ), has


def names(answer):
    return [host.name for host in answer.judgement.candidates]


def destinations_text(answer):
    return [
        each.text for each in destinations.destination_lines(answer, everything=False)
    ]


def test_the_host_of_the_server_is_none_for_it():
    answer, _ = found(running("cmp02"))
    assert (answer.kind, answer.because) == (LIVE, Because.STATE)
    assert (names(answer), answer.ignored) == (["cmp01"], "cmp02")
    answer, _ = found(running("cmp01"))
    assert (names(answer), answer.ignored) == ([], "cmp01")
    assert destinations_text(answer)[0] == (
        "Live migration of web-3 from cmp01: no host can take it now: 0 of 3."
    )


def test_the_best_hosts_come_first_and_then_what_blocks_the_others():
    answer, _ = found(running("cmp02"))
    first, best, title, *others = destinations_text(answer)
    assert first == "Live migration of web-3 from cmp02: 1 of 3 hosts can take it."
    assert (best, title) == ("Best first: cmp01", "Other hosts:")
    assert "  1 is where the server already runs: cmp02" in others
    assert not any("powered off" in each for each in others)
    # cmp01 has the room, but is where the server runs.
    full, _ = found(running("cmp03"))
    assert "  1 is where the server already runs: cmp03" in destinations_text(full)


def test_a_cold_migration_asks_placement_whether_the_server_may_stay():
    answer, has = found(running("cmp01"), COLD)
    assert names(answer) == ["cmp01"]
    asked = [path for path in paths(has.placement) if path.endswith("/traits")]
    assert asked.count(f"/resource_providers/{CMP01}/traits") == 1
    answer, has = found(running("cmp01"), LIVE)
    assert f"/resource_providers/{CMP01}/traits" not in paths(has.placement)


def test_a_resize_has_the_new_flavor_and_an_option_that_lets_it_stay():
    answer, _ = found(running("cmp01"), MoveKind.RESIZE, flavor="gold")
    assert names(answer) == []
    (impact,) = (
        each
        for each in answer.judgement.doubts.options
        if each.name == "DEFAULT.allow_resize_to_same_host"
    )
    assert (impact.gained, impact.lost) == (1, 0)
    assert [each.reason for each in answer.refusals] == ["same flavor"]
    stays = SettingsSources(nova_release=33, options=STAYS)
    answer, _ = found(running("cmp01"), MoveKind.RESIZE, sources=stays, flavor="gold")
    assert (names(answer), answer.ignored) == (["cmp01"], "")


@pytest.mark.parametrize("host", ["cmp01", "cmp03"])
def test_a_resize_that_only_the_own_host_has_room_for_names_the_option(host):
    """cmp03 has no room for both sizes."""
    given = (*KNOWN_OFF, ("DEFAULT.allow_resize_to_same_host", "false"))
    sources = SettingsSources(nova_release=33, options=given)
    server = running(host, flavor={**GOLD, "ram": 2048})
    answer, _ = found(server, MoveKind.RESIZE, sources=sources, flavor="gold")
    line = (
        f"{host}, where it runs, has room for its old and new size together: set "
        "[DEFAULT]allow_resize_to_same_host = true for nova-api and nova-compute."
    )
    assert (line in destinations_text(answer)) is (host == "cmp01")


def test_what_nova_refuses_comes_first_and_hosts_follow():
    answer, _ = found(running("cmp02"), EVACUATION)
    assert destinations_text(answer) == [
        "Nova rejects the evacuation of web-3 from cmp02: nova-compute is up on cmp02. "
        "Otherwise: 1 of 3 hosts can take it.",
        "Make sure cmp02 is powered off before you evacuate, or two guests write to "
        "one disk.",
        "--long shows what Nova checks only when the move is tried.",
    ]
    everything = [
        each.text for each in destinations.destination_lines(answer, everything=True)
    ]
    assert any("rejects it (ComputeServiceInUse): " in each for each in everything)
    document = destinations.destinations(answer)
    closed("server destinations").validate(document)
    assert document["verdict"] == "rejected"
    assert document["destinations"] == ["cmp01"]
    said = {
        each["host"]: (each["answer"], each["reasons"]) for each in document["hosts"]
    }
    assert said["cmp01"] == ("yes", [])
    assert said["cmp02"][1][-1] == "is where the server already runs"


def test_a_server_is_on_no_host_only_if_nova_says_so():
    hidden = {k: v for k, v in running("cmp02").items() if not k.endswith(":host")}
    with pytest.raises(CloudBroke, match="this user may not see which host"):
        found(hidden)


def test_a_server_that_is_shelved_on_its_host_starts_there():
    """nova/conductor/manager.py, unshelve_instance"""
    on_host = running("cmp02", **{"OS-EXT-STS:vm_state": "shelved"})
    with pytest.raises(BadUsage, match="where it is on cmp02, and asks for no host"):
        found(on_host, MoveKind.UNSHELVE)
    gone = {"OS-EXT-STS:vm_state": "shelved_offloaded", "OS-EXT-STS:power_state": 4}
    answer, _ = found(running(None, **gone), MoveKind.UNSHELVE)
    assert (answer.refusals, names(answer)) == ((), ["cmp01"])


def test_a_host_that_was_named_at_its_creation_does_not_bind_a_move():
    answer, _ = found(running("cmp02"))
    assert Name.HOST not in {part.name for part in answer.parts}
    with pytest.raises(BadUsage, match="--on-host"):
        found(running("cmp02"), given=ServerSpec(zone="nova:cmp01"))


@pytest.mark.parametrize(
    ("option", "own", "other"),
    [("flavor", MoveKind.RESIZE, "gold"), ("image", MoveKind.REBUILD, "other")],
)
def test_a_flavor_goes_with_a_resize_and_an_image_with_a_rebuild(option, own, other):
    for kind, given in ((own, None), (None, other), (LIVE, other)):
        with pytest.raises(BadUsage, match=f"--{option} and --for {own.value}"):
            found(running("cmp02"), kind, **{option: given})


def test_an_image_that_is_not_ready_any_more_does_not_refuse_a_resize():
    """nova/compute/api.py, _validate_flavor_image_nostatus, of the image it keeps"""
    gone = {**ROCKY, "status": "deactivated", "size": 2**60}
    has, asked = there(running("cmp02"), image=gone), AskedMove(MoveKind.RESIZE, "gold")
    answer = app_server.destinations(has, ID, asked, NOTHING, SOURCES)
    assert answer.judgement.refusal is None
    assert names(answer) == ["cmp01"]


def test_an_image_that_wants_more_memory_now_does_not_refuse_a_move():
    """nova-conductor takes flavor and image as they are kept with the server."""
    has = there(running("cmp02"), image={**ROCKY, "min_ram": 99999})
    asked = AskedMove(LIVE)
    answer = app_server.destinations(has, ID, asked, NOTHING, SOURCES)
    assert answer.judgement.refusal is None
    assert names(answer) == ["cmp01"]


def test_a_rebuild_that_failed_leaves_its_image_in_the_request():
    failed = {**ACTION, "action": "rebuild", "message": "Error"}
    more = {
        f"{ACTIONS}?limit=20": {"instanceActions": [failed]},
        f"{ACTIONS}/req-1": {"instanceAction": {**failed, "events": []}},
    }
    has = there(running("cmp02"), **more)
    answer = app_server.destinations(has, ID, AskedMove(), NOTHING, SOURCES)
    assert any(
        line.startswith("Its last rebuild failed, ")
        for line in destinations_text(answer)
    )
    answer, _ = found(running("cmp02"))
    assert not any("rebuild" in line for line in destinations_text(answer))


OTHER = "1a000002-0000-4000-8000-000000000000"


def rebuilt(server, given=NOTHING, **properties):
    has = there(server)
    image = {**ROCKY, "id": OTHER, "name": "other", **properties}
    has.image.now_has(f"/images/{OTHER}", image)
    used = {CMP01: {"resources": {"VCPU": 4}}}
    has.placement.now_has(f"/allocations/{ID}", {"allocations": used})
    holding = {"traits": TRAITS[CMP01], "resource_provider_generation": 3}
    has.placement.now_has(f"/resource_providers/{CMP01}/traits", holding)
    asked = AskedMove(MoveKind.REBUILD, image=OTHER)
    answer = app_server.destinations(has, ID, asked, given, SOURCES)
    closed("server destinations").validate(destinations.destinations(answer))
    return answer, has


def test_a_rebuild_asks_placement_for_no_host():
    answer, has = rebuilt(running("cmp01"))
    assert answer.hosts == (("cmp01", Answer.YES),)
    assert [path for path in paths(has.placement) if "candidates" in path] == []
    assert destinations_text(answer)[:2] == [
        "Rebuild of web-3 on cmp01: its host can take it.",
        "Placement is not asked; host filters that judge a rebuild: "
        "ImagePropertiesFilter.",
    ]


def test_a_rebuild_is_kept_from_by_traits_that_the_server_does_not_use():
    answer, _ = rebuilt(running("cmp01"), **{"trait:CUSTOM_SILVER": "required"})
    assert answer.hosts == (("cmp01", Answer.NO),)
    first, second, *_ = destinations_text(answer)
    assert first == "Rebuild of web-3 on cmp01: its host can't take it."
    assert second == "cmp01 lacks what the image requires: CUSTOM_SILVER."
    document = destinations.destinations(answer)
    assert (document["verdict"], document["explanation"]) == ("no host", None)
    assert document["hosts"][0]["reasons"] == [
        "lacks what the image requires: CUSTOM_SILVER"
    ]


def test_an_image_that_the_flavor_is_too_small_for_is_refused():
    answer, _ = rebuilt(running("cmp01"), min_ram=99999)
    document = destinations.destinations(answer)
    assert document["verdict"] == "rejected"
    assert document["hosts"][0]["reasons"] == [
        "nova-api rejects it (HTTP 400): the flavor has less than the image needs, by "
        "ram, min_ram (FlavorMemoryTooSmall); use a larger flavor"
    ]
    assert destinations_text(answer)[1] == document["hosts"][0]["reasons"][0]


def test_a_server_that_is_on_no_host_is_rebuilt_nowhere():
    shelved = running("", **{"OS-EXT-STS:vm_state": "shelved_offloaded"})
    answer, _ = rebuilt(shelved)
    assert (answer.rebuild, answer.hosts) == (None, ())
    assert "on no host" in {each.reason for each in answer.refusals}
    assert destinations_text(answer)[0].startswith(
        "Nova rejects the rebuild of web-3: "
    )


def test_a_host_that_nova_does_not_list_may_take_a_rebuild():
    answer, _ = rebuilt(running("gone"))
    assert destinations.destinations(answer)["verdict"] == "unknown"
    assert destinations_text(answer)[0] == (
        "Rebuild of web-3 on gone: can't tell if its host can take it."
    )


def test_what_the_user_says_of_a_new_flavor_or_image_counts():
    given = ServerSpec(flavor_properties={"hw:cpu_policy": "nonsense"})
    answer, _ = found(running("cmp02"), MoveKind.RESIZE, given, flavor="gold")
    assert answer.judgement.refusal.exception == "InvalidCPUAllocationPolicy"
    given = ServerSpec(image_properties={"trait:CUSTOM_SILVER": "required"})
    answer, _ = rebuilt(running("cmp01"), given=given)
    assert answer.rebuild.missing == ("CUSTOM_SILVER",)


def test_a_rebuild_goes_to_no_other_host():
    with pytest.raises(BadUsage, match="--on-host"):
        found(
            running("cmp02"),
            MoveKind.REBUILD,
            ServerSpec(on_host="cmp01"),
            image="other",
        )


def test_what_a_deleted_image_requires_is_not_known():
    """As "server misplaced" has it."""
    has = there(running("cmp02"))
    has.image.now_has(f"/images/{IMAGE}", CloudBroke("image", "no", 404))
    answer = app_server.destinations(has, ID, AskedMove(), NOTHING, SOURCES)
    assert destinations_text(answer)[0] == (
        "Live migration of web-3 from cmp02: 1 of 3 hosts can take it unless its "
        "deleted image requires a trait."
    )
    document = destinations.destinations(answer)
    assert (document["verdict"], document["destinations"]) == ("unknown", [])
    assert document["uncertain_destinations"] == ["cmp01"]
    given = ServerSpec(image_properties={"disk_format": "qcow2"})
    answer = app_server.destinations(has, ID, AskedMove(), given, SOURCES)
    assert destinations.destinations(answer)["destinations"] == ["cmp01"]
