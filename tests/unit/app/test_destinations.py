"""Where a server could go, of recorded answers."""

from __future__ import annotations

import pytest

from osc_traitsched.app import server as app_server
from osc_traitsched.app.server import Asked
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.core.answer import Answer
from osc_traitsched.core.errors import BadUsage, CloudBroke
from osc_traitsched.core.nova.question import MoveKind, ServerSpec
from osc_traitsched.core.servers.moves import Because
from osc_traitsched.core.servers.state import Name
from osc_traitsched.views import destinations
from tests.schemas import closed
from tests.unit.app.recorded import CMP01, IMAGE, KNOWN_OFF, ROCKY, TRAITS
from tests.unit.app.test_server import (
    ACTION,
    ACTIONS,
    GOLD,
    ID,
    NOTHING,
    SOURCES,
    body,
    cloud,
    paths,
)

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
    return app_server.destinations(has, ID, Asked(kind, **more), given, sources), has


def names(answer):
    return [host.name for host in answer.judgement.candidates]


def text(answer):
    return [
        each.text for each in destinations.destination_lines(answer, everything=False)
    ]


def test_the_host_of_the_server_is_none_for_it():
    answer, _ = found(running("cmp02"))
    assert (answer.kind, answer.because) == (LIVE, Because.STATE)
    assert (names(answer), answer.ignored) == (["cmp01"], "cmp02")
    answer, _ = found(running("cmp01"))
    assert (names(answer), answer.ignored) == ([], "cmp01")
    assert text(answer)[0] == (
        "Live migration of web-3 from cmp01: no host can take it now: 0 of 3."
    )


def test_the_best_hosts_come_first_and_then_what_blocks_the_others():
    answer, _ = found(running("cmp02"))
    first, best, title, *others = text(answer)
    assert first == "Live migration of web-3 from cmp02: 1 of 3 hosts can take it."
    assert (best, title) == ("Best first: cmp01", "Other hosts:")
    assert "  1 is where the server already runs: cmp02" in others
    assert not any("powered off" in each for each in others)
    # cmp01 has the room, but is where the server runs.
    full, _ = found(running("cmp03"))
    assert "  1 is where the server already runs: cmp03" in text(full)


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
    assert (line in text(answer)) is (host == "cmp01")


def test_what_nova_refuses_comes_first_and_hosts_follow():
    answer, _ = found(running("cmp02"), EVACUATION)
    assert text(answer) == [
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
    has, asked = there(running("cmp02"), image=gone), Asked(MoveKind.RESIZE, "gold")
    answer = app_server.destinations(has, ID, asked, NOTHING, SOURCES)
    assert answer.judgement.refusal is None
    assert names(answer) == ["cmp01"]


def test_an_image_that_wants_more_memory_now_does_not_refuse_a_move():
    """nova-conductor takes flavor and image as they are kept with the server."""
    has = there(running("cmp02"), image={**ROCKY, "min_ram": 99999})
    asked = Asked(LIVE)
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
    answer = app_server.destinations(has, ID, Asked(), NOTHING, SOURCES)
    assert any(line.startswith("Its last rebuild failed, ") for line in text(answer))
    answer, _ = found(running("cmp02"))
    assert not any("rebuild" in line for line in text(answer))


OTHER = "1a000002-0000-4000-8000-000000000000"


def rebuilt(server, given=NOTHING, **properties):
    has = there(server)
    image = {**ROCKY, "id": OTHER, "name": "other", **properties}
    has.image.now_has(f"/images/{OTHER}", image)
    used = {CMP01: {"resources": {"VCPU": 4}}}
    has.placement.now_has(f"/allocations/{ID}", {"allocations": used})
    holding = {"traits": TRAITS[CMP01], "resource_provider_generation": 3}
    has.placement.now_has(f"/resource_providers/{CMP01}/traits", holding)
    asked = Asked(MoveKind.REBUILD, image=OTHER)
    answer = app_server.destinations(has, ID, asked, given, SOURCES)
    closed("server destinations").validate(destinations.destinations(answer))
    return answer, has


def test_a_rebuild_asks_placement_for_no_host():
    answer, has = rebuilt(running("cmp01"))
    assert answer.hosts == (("cmp01", Answer.YES),)
    assert [path for path in paths(has.placement) if "candidates" in path] == []
    assert text(answer)[:2] == [
        "Rebuild of web-3 on cmp01: its host can take it.",
        "Placement is not asked; host filters that judge a rebuild: "
        "ImagePropertiesFilter.",
    ]


def test_a_rebuild_is_kept_from_by_traits_that_the_server_does_not_use():
    answer, _ = rebuilt(running("cmp01"), **{"trait:CUSTOM_SILVER": "required"})
    assert answer.hosts == (("cmp01", Answer.NO),)
    first, second, *_ = text(answer)
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
    assert text(answer)[1] == document["hosts"][0]["reasons"][0]


def test_a_server_that_is_on_no_host_is_rebuilt_nowhere():
    shelved = running("", **{"OS-EXT-STS:vm_state": "shelved_offloaded"})
    answer, _ = rebuilt(shelved)
    assert (answer.rebuild, answer.hosts) == (None, ())
    assert "on no host" in {each.reason for each in answer.refusals}
    assert text(answer)[0].startswith("Nova rejects the rebuild of web-3: ")


def test_a_host_that_nova_does_not_list_may_take_a_rebuild():
    answer, _ = rebuilt(running("gone"))
    assert destinations.destinations(answer)["verdict"] == "unknown"
    assert text(answer)[0] == (
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
    answer = app_server.destinations(has, ID, Asked(), NOTHING, SOURCES)
    assert text(answer)[0] == (
        "Live migration of web-3 from cmp02: 1 of 3 hosts can take it unless its "
        "deleted image requires a trait."
    )
    document = destinations.destinations(answer)
    assert (document["verdict"], document["destinations"]) == ("unknown", [])
    assert document["uncertain_destinations"] == ["cmp01"]
    given = ServerSpec(image_properties={"disk_format": "qcow2"})
    answer = app_server.destinations(has, ID, Asked(), given, SOURCES)
    assert destinations.destinations(answer)["destinations"] == ["cmp01"]
