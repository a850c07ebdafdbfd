"""Where a server failed, and its request put together again."""

from __future__ import annotations

import pytest

from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.core.servers import failure as servers_failure
from osc_traitsched.core.servers import state
from osc_traitsched.core.servers.failure import Stage, failure
from osc_traitsched.core.servers.state import (
    Name,
    Source,
    failed_action,
    moment,
    read_action,
    read_state,
)

# From faults and events, as Nova's API shows them, to where a server failed.
#
# The cloud's tests make a real Nova fail in these ways.


BURIED = "conductor_schedule_and_build_instances"
BUILD = "compute__do_build_and_run_instance"
CHECK = "compute_check_can_live_migrate_destination"
NO_HOST = "No valid host was found. "
NOT_ENOUGH = f"{NO_HOST}There are not enough hosts available."


def event(name, host="", result="Success", details=None, second=0):
    start = f"2026-11-22T12:00:{second:02d}.000001"
    return {
        "event": name,
        "host": host,
        "result": result,
        "details": details,
        "start_time": start,
    }


def action(name, *events, request="req-1", minute=0):
    is_error = any(each["result"] == "Error" for each in events)
    return {
        "action": name,
        "request_id": request,
        "start_time": f"2026-11-22T12:{minute:02d}:00.000001",
        "message": "Error" if is_error else None,
        "events": list(events),
    }


def server(fault=None, **more):
    body = {"id": "s1", "name": "web", "status": "ERROR", "tenant_id": "p", **more}
    if fault is not None:
        created = "2026-11-22T12:00:30Z"
        body["fault"] = {"message": fault, "code": 500, "created": created}
    return read_state(body)


def failed(fault, *events, name="create", **more):
    return failure(server(fault, **more), read_action(action(name, *events)))


@pytest.mark.parametrize(
    ("text", "stage"),
    [
        (NO_HOST, Stage.NO_CANDIDATES),
        (NOT_ENOUGH, Stage.NO_HOST_LEFT),
        (f"{NO_HOST}No hosts available for tenant", Stage.REJECTED),
        (f"{NO_HOST}No such host - host: cmp09 node: None ", Stage.REJECTED),
        ("ServerGroup policy is not supported: no filter", Stage.REJECTED),
        ("Requested CPU policy is not allowed.", Stage.REJECTED),
        ("RemoteError", Stage.SERVICE),
        ("MessagingTimeout", Stage.SERVICE),
    ],
)
def test_a_build_that_gets_no_host_says_where_it_ended(text, stage):
    found = failed(text, event(BURIED, "controller", "Error", text))
    assert (found.stage, found.attempts, found.is_fault) == (stage, (), True)
    assert (found.action, found.text) == ("create", text.strip())
    assert found.when == moment("2026-11-22T12:00:30Z")


@pytest.mark.parametrize(
    "text",
    [
        "Exceeded maximum number of retries. Exhausted all hosts available for "
        "retrying build failures for instance s1.",
        "Exceeded maximum number of retries. Exceeded max scheduling attempts 3 for "
        "instance s1. Last exception: no disk",
    ],
)
def test_hosts_that_were_tried_are_told_in_their_order(text):
    """Nova calls each attempt a success that is followed by another one."""
    tried = [event(BUILD, host, second=n) for n, host in enumerate(("b", "a", "c"))]
    found = failed(text, *reversed(tried))
    assert (found.stage, found.attempts) == (Stage.RETRIES, ("b", "a", "c"))
    assert found.steps == ()


def test_a_build_that_is_given_up_is_its_last_hosts():
    """A build that is not tried elsewhere ends its step like a good one."""
    found = failed(
        "Build of instance s1 aborted: no port",
        event(BUILD, "a", second=1),
        event(BUILD, "b", second=2),
    )
    assert (found.stage, found.host) == (Stage.COMPUTE, "b")


def test_without_any_step_a_fault_of_other_words_is_not_explained():
    assert failed("something").stage is Stage.UNKNOWN
    assert failure(server(), None).stage is Stage.UNKNOWN


def test_of_steps_of_one_name_the_end_that_is_kept_is_the_last_ones():
    """Nova writes the end of each into the first of them."""
    outer = event("conductor_live_migrate_instance", "x", "Error", NOT_ENOUGH)
    found = failed(
        None,
        event(CHECK, "a", "Error", "no", second=1),
        event(CHECK, "b", None, second=2),
        outer,
        name="live-migration",
        status="ACTIVE",
    )
    assert (found.stage, found.attempts) == (Stage.CHECKS, ("a", "b"))
    assert (found.check.host, found.check.details, found.host) == ("b", "no", "b")
    assert (found.text, found.is_fault) == (NOT_ENOUGH, False)


def test_a_live_migration_without_checks_got_no_host():
    outer = event("conductor_live_migrate_instance", "x", "Error", NO_HOST)
    found = failed(None, outer, name="live-migration", status="ACTIVE")
    assert (found.stage, found.check) == (Stage.NO_CANDIDATES, None)


@pytest.mark.parametrize("what", ["cold migrate", "resize"])
def test_of_a_cold_move_nova_keeps_no_reason(what):
    text = f"{NO_HOST}No valid host found for {what}"
    steps = (
        event("conductor_migrate_server", "x", "Error", text),
        event("cold_migrate", "x", "Error", text, second=1),
    )
    found = failed(None, *steps, name="migrate", status="ACTIVE")
    assert (found.stage, found.text) == (Stage.NOT_KEPT, text)


def test_a_step_of_a_compute_is_its_hosts():
    step = event("compute_prep_resize", "c", "Error", "Host 'c' has no room", second=1)
    found = failed(None, step, name="resize", status="ACTIVE")
    assert (found.stage, found.host) == (Stage.COMPUTE, "c")
    assert found.text == "Host 'c' has no room"


def test_before_2_84_the_steps_do_not_say_what_they_raised():
    step = event("schedule_instances", "x", "Error")
    found = failed(None, step, name="unshelve", status="SHELVED_OFFLOADED")
    assert (found.stage, found.text) == (Stage.UNKNOWN, "")
    outer = event("conductor_live_migrate_instance", "x", "Error")
    steps = (outer, event(CHECK, "a", "Error", second=1))
    found = failed(None, *steps, name="live-migration", status="ACTIVE")
    assert (found.stage, found.attempts) == (Stage.CHECKS, ("a",))


def test_a_server_that_did_not_fail_has_no_failure():
    assert failure(server(status="ACTIVE"), None) is None


# Which action it was


def chosen(state, *actions):
    return failed_action(state, map(read_action, actions))


def test_of_a_server_in_error_it_is_the_last_action_before_its_fault():
    actions = [
        action("resize", request="later", minute=5),
        action("create", request="first", minute=0),
    ]
    assert chosen(server(NO_HOST), *actions).request == "first"
    assert chosen(server(NO_HOST)) is None


def test_of_another_one_it_is_its_last_request_for_a_host_if_that_failed():
    create = action("create", minute=0)
    bad = action("resize", event("cold_migrate", "x", "Error"), minute=1)
    stop = action("stop", minute=2)
    good = action("live-migration", minute=3)
    state = server(status="ACTIVE")
    assert chosen(state, stop, bad, create).name == "resize"
    assert chosen(state, create, stop, bad, good) is None
    assert chosen(state, create, stop) is None


@pytest.mark.parametrize("text", ["2026-11-22T12:00:30Z", "2026-11-22T12:00:30.000000"])
def test_times_are_of_utc(text):
    assert moment(text).isoformat() == "2026-11-22T12:00:30+00:00"


@pytest.mark.parametrize("digits", ["5", "50", "500", "5000", "500000", "500000000"])
def test_a_fraction_of_a_second_may_have_any_number_of_digits(digits):
    expected = "2026-11-22T12:00:30.500000+00:00"
    assert moment(f"2026-11-22T12:00:30.{digits}Z").isoformat() == expected


@pytest.mark.parametrize("text", [None, "", "yesterday"])
def test_what_is_no_time_is_not_known(text):
    assert moment(text) is None


# The request of a server, put together from bodies of the compute API.


NOW = {
    "id": "i1",
    "name": "rocky",
    "disk_format": "qcow2",
    "trait:CUSTOM_GOLD": "required",
    "hw_disk_bus": "scsi",
    "os_hash_algo": "sha512",
    "mine": "x",
}
HOST = "OS-EXT-SRV-ATTR:host"


def body(**more):
    return {
        "flavor": {"original_name": "gold", "vcpus": 1, "extra_specs": {"a": "b"}},
        "image": {"id": "i1", "properties": {"hw_disk_bus": "virtio"}},
        "tenant_id": "p1",
        "OS-EXT-AZ:availability_zone": "shown",
        "pinned_availability_zone": "pinned",
        "scheduler_hints": {"same_host": ["s2", "s3"], "query": "x", "group": ["g1"]},
        "server_groups": ["g1"],
        **more,
    }


NOTHING = ServerSpec()


def sources(minor=100, now=NOW, given=NOTHING, placed=True, **more):
    found = state.parts(body(**more), minor, now, given, not placed)
    return {each.name: each for each in found}


def test_the_flavor_is_the_servers_own_under_its_name():
    assert state.flavor(body()) == {**body()["flavor"], "name": "gold"}


def test_the_newest_api_shows_all_but_a_named_host():
    found = sources()
    not_shown = {name for name, each in found.items() if not each.is_known}
    assert not_shown == {Name.HOST, Name.PORTS}
    assert found[Name.ZONE].value == "pinned"
    assert found[Name.HINTS].value == "same_host=s2, same_host=s3, query=x"
    assert found[Name.GROUP].value == "g1"


@pytest.mark.parametrize(
    ("minor", "hidden"),
    [
        (79, {Name.ZONE, Name.HINTS}),
        (96, {Name.HINTS}),
        (99, {Name.HINTS}),
        (100, set()),
    ],
)
def test_an_older_api_hides_what_it_does_not_show(minor, hidden):
    found = sources(minor)
    not_shown = {n for n, each in found.items() if each.source is Source.NOT_SHOWN}
    assert not_shown - {Name.HOST} == hidden
    is_kept = found[Name.PROPERTIES].source is Source.SERVER
    assert is_kept == (minor >= 98)


def test_a_server_that_was_on_no_host_shows_the_zone_that_it_was_asked_for_in():
    assert state.zone(body(), 79, never_placed=True) == "shown"
    assert state.zone(body(), 79, never_placed=False) is None
    assert state.zone(body(), 96, never_placed=True) == "pinned"
    assert sources(79, placed=False)[Name.ZONE].source is Source.SERVER


def test_what_the_user_says_goes_first():
    given = ServerSpec(
        zone="east:cmp01",
        hints={"query": ("y",)},
        group="web",
        flavor_properties={"a": ""},
        image_properties={"b": "c"},
    )
    found = sources(79, given=given)
    said = {name for name, each in found.items() if each.source is Source.GIVEN}
    assert said == {
        Name.FLAVOR,
        Name.PROPERTIES,
        Name.MORE,
        Name.ZONE,
        Name.HOST,
        Name.HINTS,
        Name.GROUP,
    }


def test_standard_properties_are_the_servers_and_the_others_glances():
    """Nova shows no traits with a server's image."""
    found = state.image(body(), NOW)
    assert found == {**NOW, "hw_disk_bus": "virtio"}
    shown = body(image={"id": "i1", "properties": {}})
    assert "hw_disk_bus" not in state.image(shown, NOW)
    assert state.image(body(image={"id": "i1"}), NOW) == NOW


def test_what_nova_itself_adds_when_it_starts_a_server_was_never_asked_for():
    kept = {"id": "i1", "properties": {"hw_machine_type": "pc", "hw_disk_bus": "scsi"}}
    started = {"image": kept, "OS-SRV-USG:launched_at": "2026-11-22T12:00:00.0"}
    assert "hw_machine_type" not in state.image(body(**started), NOW)
    assert state.image(body(**started), NOW)["hw_disk_bus"] == "scsi"
    assert state.image(body(image=kept), NOW)["hw_machine_type"] == "pc"
    assert state.image(body(**started), None)["hw_machine_type"] == "pc"


def test_of_a_deleted_image_the_standard_properties_are_left():
    found = sources(now=None)
    assert state.image(body(), None) == {
        "id": "i1",
        "name": None,
        "hw_disk_bus": "virtio",
    }
    assert found[Name.IMAGE].source is Source.GONE
    assert found[Name.PROPERTIES].source is Source.SERVER
    assert found[Name.MORE].source is Source.GONE
    assert sources(97, now=None)[Name.PROPERTIES].source is Source.GONE


def test_a_server_on_a_volume_has_no_image():
    found = sources(image="", now=None)
    assert state.image(body(image=""), None) is None
    assert (found[Name.IMAGE].value, found[Name.IMAGE].is_known) == (None, True)
    assert Name.PROPERTIES not in found
    assert found[Name.VOLUME].source is Source.NOT_READ
    read = state.parts(body(image=""), 100, None, NOTHING, False, ["p"], "v1")
    bound = {each.name: each.value for each in read if each.source is Source.BOUND}
    assert bound == {Name.PORTS: "p", Name.VOLUME: "v1"}
    said = sources(image="", now=None, given=ServerSpec(networks=("n",), volume="v2"))
    assert [said[each].value for each in (Name.PORTS, Name.VOLUME)] == ["n", "v2"]


def test_a_server_that_has_no_ports_asks_for_none():
    (found,) = (
        each
        for each in state.parts(body(), 100, NOW, NOTHING, False, [])
        if each.name is Name.PORTS
    )
    assert (found.is_known, found.value) == (True, None)


# What changed since


def test_a_service_that_is_down_went_down_when_it_was_last_heard_of():
    since = moment("2026-11-22T12:00:00Z")
    services = [
        {"binary": binary, "host": host, "state": state, "updated_at": heard}
        for binary, host, state, heard in (
            ("nova-compute", "up", "up", "2026-11-22T13:00:00.0"),
            ("nova-compute", "went", "down", "2026-11-22T12:30:00.0"),
            ("nova-compute", "was", "down", "2026-11-22T11:30:00.0"),
            ("nova-compute", "never", "down", None),
            ("nova-scheduler", "other", "down", "2026-11-22T12:30:00.0"),
        )
    ]
    assert servers_failure.down(services, since) == (("went",), ("was",))


def test_servers_made_and_deleted_since_then_are_counted_where_they_are():
    since = moment("2026-11-22T12:00:00Z")
    before, after = "2026-11-22T11:00:00Z", "2026-11-22T13:00:00Z"
    bodies = [
        {"id": name, "created": created, "status": status, HOST: host}
        for name, created, status, host in (
            ("new", after, "ACTIVE", "a"),
            ("old", before, "ACTIVE", "b"),
            ("gone", before, "DELETED", "c"),
            ("brief", after, "DELETED", "d"),
            ("buried", after, "ERROR", None),
            ("itself", after, "ACTIVE", "e"),
        )
    ]
    assert servers_failure.servers(bodies, since, but="itself") == (("a",), ("c",))


def test_moves_that_ended_well_count_and_no_others():
    bodies = [
        {"instance_uuid": i, "status": s, "source_compute": "a", "dest_compute": d}
        for i, s, d in (
            ("s1", "completed", "b"),
            ("s2", "error", "b"),
            ("s3", "completed", None),
            ("itself", "confirmed", "c"),
        )
    ]
    assert servers_failure.moves(bodies, but="itself") == (("a", "b"),)
