"""The request of a server, put together from bodies of the compute API."""

from __future__ import annotations

import pytest

from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.core.servers import failure, state
from osc_traitsched.core.servers.state import Name, Source, moment

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
    assert failure.down(services, since) == (("went",), ("was",))


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
    assert failure.servers(bodies, since, but="itself") == (("a",), ("c",))


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
    assert failure.moves(bodies, but="itself") == (("a", "b"),)
