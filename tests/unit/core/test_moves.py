"""Moves: which is due, what refuses one, and what it demands of hosts."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.answer import Answer
from osc_traitsched.core.judge.doubts import Alternatives
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import MoveRule
from osc_traitsched.core.nova.filter import state as reasons
from osc_traitsched.core.nova.filter.state import PASSES, Fails, Unknown
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.nova.question import Move, MoveKind, hypervisor, source
from osc_traitsched.core.nova.server import Network, Parts, Port, Volume
from osc_traitsched.core.releases import RELEASES
from osc_traitsched.core.servers import state as servers_state
from osc_traitsched.core.servers.moves import (
    Because,
    Planned,
    due,
    hidden_minimum,
    rebuild,
    refusals,
)
from osc_traitsched.core.servers.state import ServerState, read_state
from tests.property.building import identity
from tests.unit.core.filter.asked import REPORT
from tests.unit.core.scheduled import (
    COMPUTE,
    OWN,
    SPECS,
    SSD,
    asking,
    computes,
    judgement_of,
)
from tests.unit.core.scheduled import question as asked_by

A, B, C = map(identity, "abc")
CLOUD = {"cloud": {"a": {}, "b": {}, "c": {}}}
STAYS, SKIPS = options.RESIZE_TO_SAME_HOST, options.SKIP_VERSION_CHECK
LIVE, COLD, RESIZE = MoveKind.LIVE_MIGRATION, MoveKind.MIGRATION, MoveKind.RESIZE
EVACUATION, UNSHELVE, REBUILD = MoveKind.EVACUATION, MoveKind.UNSHELVE, MoveKind.REBUILD


def with_option(release, name, value):
    return SchedulerSettings(release, {name: Setting(value, "a test", True)}, "a test")


def node(name="a", **report):
    found = dataclasses.replace(REPORT, **report)
    return dataclasses.replace(computes(CLOUD)[identity(name)], report=found)


# Which hosts a move leaves out before the filters


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("kind", MoveKind)
@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize("may_stay", [False, True])
def test_the_source_is_left_out_unless_the_release_lets_the_server_stay(
    release, kind, stays, may_stay
):
    """nova/compute/api.py, _allow_resize_to_same_host: an option, from 21 a trait."""
    by_option = kind is RESIZE or (kind is COLD and release == 20)
    by_trait = kind is COLD and release >= 21
    never = kind in (UNSHELVE, REBUILD)
    is_kept = never or (by_option and stays) or (by_trait and may_stay)
    move = Move(kind, "s1", "cmp1", None, may_stay)
    found = move.ignored_host(with_option(release, STAYS, stays))
    assert found == ("" if is_kept else "cmp1")


def test_names_of_hosts_are_compared_without_case():
    """nova/scheduler/host_manager.py, _strip_ignore_hosts"""
    move = Move(EVACUATION, "s1", "A")
    failed = Fails(reasons.SERVER_IS_HERE, origin=move.origin)
    assert source(move, node("a"), SchedulerSettings(34)) == failed
    assert source(move, node("b"), SchedulerSettings(34)) == PASSES


def test_a_server_that_is_on_no_host_leaves_none_out():
    move = Move(LIVE, "s1")
    assert source(move, node("a"), SchedulerSettings(34)) == PASSES


# What nova-conductor compares before a live migration


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("skips", [False, True])
def test_a_server_does_not_migrate_live_to_an_older_hypervisor(release, skips):
    """From 25 on an option lets it: _check_compatible_with_source_hypervisor."""
    move = Move(LIVE, "s1", "a", node("a", hypervisor_version=7000))
    asked = with_option(release, SKIPS, skips)
    wrong = (reasons.HYPERVISOR_OLDER, "", "7000", ("6999",), move.origin)
    answer = hypervisor(move, node("b", hypervisor_version=6999), asked)
    assert answer == (PASSES if skips and release >= 25 else Fails(*wrong))
    for version in (7000, 7001):
        there = node("b", hypervisor_version=version)
        assert hypervisor(move, there, asked) == PASSES


def test_a_server_does_not_migrate_live_to_another_hypervisor():
    there = node("b", hypervisor_type="ironic", hypervisor_version=9)
    answer = hypervisor(Move(LIVE, "s1", "a", node("a")), there, SchedulerSettings(34))
    assert (answer.reason, answer.found) == (reasons.HYPERVISOR_TYPE, ("ironic",))


@pytest.mark.parametrize("kind", [each for each in MoveKind if each is not LIVE])
def test_other_moves_go_to_any_hypervisor(kind):
    there = node("b", hypervisor_type="ironic")
    move = Move(kind, "s1", "a", node("a"))
    assert hypervisor(move, there, SchedulerSettings(34)) == PASSES


def test_a_hypervisor_that_has_not_reported_is_unknown():
    silent = dataclasses.replace(node("b"), report=None)
    for here, there in ((node("a"), silent), (silent, node("b")), (None, node("b"))):
        found = hypervisor(Move(LIVE, "s1", "a", here), there, SchedulerSettings(34))
        assert isinstance(found, Unknown)


# Beside the filters, so that the numbers still add up


def moving(body, *filters, kind=LIVE, **asked):
    nodes = {uuid: node(n) for uuid, n in zip((A, B, C), "abc")}
    move = Move(kind, "s1", "a", nodes[A])
    asked = asked_by(body, *filters, move=move, is_kept=True, **asked)
    return judgement_of(asked, body, "abc", nodes)


def test_the_source_is_a_condition_before_the_filters():
    found = moving({**CLOUD, "flavor": SSD}, COMPUTE, SPECS)
    after = found.verdict.counts[-2:]
    assert [(c.clause.name, c.alone, c.only, c.left) for c in after] == [
        ("move:source", 2, 0, 2),
        (SPECS, 0, 2, 0),
    ]
    assert isinstance(after[0].clause, MoveRule)
    assert found.filtering.filters == (COMPUTE, SPECS)
    assert found.filtering.without_effect == (COMPUTE,)


def test_a_filter_that_would_raise_on_the_source_alone_does_not():
    """Nova leaves the source out first."""
    metadata = {"ssd": "false"}
    body = {
        **CLOUD,
        "flavor": {"aggregate_instance_extra_specs:ssd": ">= many"},
        "aggregates": {"slow": {"hosts": ["a"], "metadata": metadata}},
    }
    found = moving(body, SPECS)
    assert found.candidates.failure is None
    assert moving(body, SPECS, kind=UNSHELVE).candidates.failure is not None


def test_an_unknown_filter_leaves_the_source_out_for_sure():
    found = moving(CLOUD, OWN)
    assert [host.name for host in found.candidates] == ["b", "c"]
    assert found.candidates.uncertain == found.candidates.hosts


def test_the_option_that_lets_a_server_stay_is_tried_for_its_resize_alone():
    for kind, expected in ((RESIZE, {STAYS}), (LIVE, set()), (UNSHELVE, set())):
        asked = moving(CLOUD, kind=kind).question
        assert options_tried(asked) & {STAYS} == expected, kind
    assert STAYS not in options_tried(asked_by(CLOUD))


def options_tried(asked):
    tried = Alternatives.of(asked, asked.request()).variations
    return {each.name for each in tried}


# Which move is due


@pytest.mark.parametrize(
    ("vm_state", "host", "is_up", "expected"),
    [
        ("active", "a", True, (LIVE, Because.STATE)),
        ("paused", "a", True, (LIVE, Because.STATE)),
        ("stopped", "a", True, (COLD, Because.STATE)),
        ("error", "a", True, (COLD, Because.STATE)),
        ("active", "a", False, (EVACUATION, Because.HOST_DOWN)),
        ("error", "a", False, (EVACUATION, Because.HOST_DOWN)),
        ("shelved_offloaded", "", False, (UNSHELVE, Because.OFFLOADED)),
        ("building", "", False, (COLD, Because.STATE)),
    ],
)
def test_the_move_that_is_due_follows_from_the_server(vm_state, host, is_up, expected):
    assert due(state(vm_state=vm_state, host=host), is_up) == expected


def state(**more):
    given = {"host": "a", "launched": True, "vm_state": "active", "power_state": 1}
    return ServerState("s1", "web-1", "ACTIVE", "p1", **{**given, **more})


def test_what_a_server_is_is_read_of_its_body():
    body = {
        "id": "s1",
        "name": "web-1",
        "status": "SHUTOFF",
        "tenant_id": "p1",
        "OS-EXT-STS:vm_state": "stopped",
        "OS-EXT-STS:task_state": None,
        "OS-EXT-STS:power_state": 4,
        "locked": True,
    }
    found = read_state(body)
    assert (found.vm_state, found.task_state, found.power_state) == ("stopped", "", 4)
    assert found.is_locked


# What refuses a move before nova-scheduler is asked


def planned(kind, release=34, is_up=True, flavor=None, new=None, ports=(), **more):
    body = {**CLOUD, "flavor": flavor or {}}
    before = asked_by(body, release=release)
    before = dataclasses.replace(
        before,
        image={"id": "i1", **more.pop("image", {})},
        parts=Parts(ports=tuple(ports)),
        move=Move(kind, "s1", "a"),
        group=more.pop("group", None),
    )
    asked = dataclasses.replace(before, flavor={**before.flavor, **(new or {})})
    return Planned(kind, state(**more), is_up, before, asked)


def why(*args, **more):
    return [each.reason for each in refusals(planned(*args, **more))]


STATES = {
    LIVE: {"active", "paused"},
    COLD: {"active", "stopped"},
    RESIZE: {"active", "stopped"},
    EVACUATION: {"active", "stopped", "error"},
    UNSHELVE: {"shelved", "shelved_offloaded"},
    REBUILD: {"active", "stopped", "error"},
}
NOVAS = (
    *("active", "building", "paused", "suspended", "stopped", "rescued", "resized"),
    *("soft-delete", "deleted", "error", "shelved", "shelved_offloaded"),
)


@pytest.mark.parametrize("kind", MoveKind)
@pytest.mark.parametrize("vm_state", NOVAS)
def test_each_move_is_for_some_states(kind, vm_state):
    """nova/compute/api.py, check_instance_state"""
    is_refused = "state" in why(kind, vm_state=vm_state)
    assert is_refused is (vm_state not in STATES[kind])


#: The disks of the server's flavor and of the new one, whether it was resized before,
#: boots from a volume, has a changed image and gets less RAM; the answer.
RESIZES = [
    (20, 30, {}, "yes"),
    (20, 20, {}, "yes"),
    (20, 19, {}, "no"),
    (20, 1, {}, "no"),
    (20, 19, {"was_resized": True}, "hidden"),
    (20, 19, {"was_resized": True, "is_image_newer": True}, "hidden"),
    (20, 20, {"was_resized": True}, "yes"),
    (20, 0, {}, "zero"),
    (0, 5, {}, "yes"),
    (20, 19, {"boot_from_volume": True}, "yes"),
    (20, 20, {"ram": 512}, "yes"),
    (20, 20, {"ram": 512, "is_image_newer": True}, "hidden"),
    (20, 20, {"ram": 8192, "is_image_newer": True}, "yes"),
]


@pytest.mark.parametrize(("had", "disk", "more", "answer"), RESIZES)
def test_a_root_disk_is_not_made_smaller_than_it_was_created(had, disk, more, answer):
    """nova/compute/api.py, _validate_flavor_image_nostatus"""
    more = dict(more)
    old, new = {"disk": had, "ram": 2048}, {"disk": disk, "ram": more.pop("ram", 2048)}
    from_volume = more.pop("boot_from_volume", False)
    found = planned(RESIZE, flavor=old, new={"name": "other", **new})
    asked = found.question.with_spec(boot_from_volume=from_volume)
    found = dataclasses.replace(found, question=asked, **more)
    reasons = [each.reason for each in refusals(found)]
    expected = {"no": ["smaller disk"], "zero": ["zero disk"]}
    assert reasons == expected.get(answer, [])
    assert bool(hidden_minimum(found)) is (answer == "hidden")


@pytest.mark.parametrize("disk", [0, 20])
def test_a_flavor_with_a_disk_stands_for_the_images_min_disk(disk):
    """nova/utils.py, get_system_metadata_from_image"""
    image = {"id": "i1", "min_disk": 30, "min_ram": 5, "size": 7, "status": "queued"}
    left = {"id": "i1", "min_ram": 5}
    assert servers_state.kept(image, disk) == (
        left if disk else {**left, "min_disk": 30}
    )


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("kind", MoveKind)
def test_only_an_evacuation_from_wallaby_on_may_interrupt_something(kind, release):
    """Nova's change db919aa15f: in 26.0.0, and in 23.2.2, 24.2.0 and 25.1.0"""
    found = why(kind, release, task_state="rebooting")
    assert ("task under way" in found) is not (kind is EVACUATION and release >= 23)


@pytest.mark.parametrize("kind", MoveKind)
def test_a_source_that_nova_does_not_list_is_neither_up_nor_down(kind):
    assert why(kind, is_up=None, vm_state=min(STATES[kind])) == why(
        kind, is_up=kind is not EVACUATION, vm_state=min(STATES[kind])
    )
    assert due(state(vm_state="active"), None) == (LIVE, Because.STATE)


@pytest.mark.parametrize("kind", MoveKind)
def test_the_source_must_be_up_for_some_and_down_for_an_evacuation(kind):
    needs_up = kind in (LIVE, COLD, RESIZE)
    assert ("source down" in why(kind, is_up=False)) is needs_up
    assert ("source up" in why(kind, is_up=True)) is (kind is EVACUATION)


def test_no_server_is_evacuated_to_where_it_is():
    """nova/api/openstack/compute/evacuate.py"""
    asked = planned(EVACUATION, is_up=False)
    for host, whys in ((asked.state.host, ["same host"]), ("elsewhere", [])):
        question = asked.question.with_spec(on_host=host)
        found = refusals(dataclasses.replace(asked, question=question))
        assert [each.reason for each in found] == whys


def test_a_live_migration_to_where_it_is_is_left_to_the_scheduler():
    """nova/conductor/tasks/live_migrate.py, _execute: only a forced host is refused"""
    asked = planned(LIVE)
    question = asked.question.with_spec(on_host=asked.state.host)
    assert refusals(dataclasses.replace(asked, question=question)) == ()


def test_a_live_migration_is_refused_by_the_conductor_where_the_source_is_down():
    (found,) = refusals(planned(LIVE, is_up=False))
    assert (found.by, found.exception) == (
        "nova-conductor",
        "ComputeServiceUnavailable",
    )


def test_a_server_without_a_host_is_unshelved_and_nothing_else():
    for kind in MoveKind:
        found = why(kind, host="", vm_state="shelved_offloaded", is_up=False)
        assert ("on no host" in found) is (kind is not UNSHELVE)
    assert why(UNSHELVE, host="", vm_state="shelved_offloaded", is_up=False) == []


def test_a_guest_that_died_does_not_migrate_live():
    assert why(LIVE, power_state=4) == ["power state"]
    assert why(LIVE, power_state=3) == why(COLD, power_state=4) == []


#: The releases in which each move is refused for each thing, by nova/compute/api.py.
ALWAYS = range(20, 35)
NEVER = range(0)
REFUSED = {
    "accelerator": {
        LIVE: range(21, 35),
        COLD: range(21, 35),
        RESIZE: range(21, 35),
        EVACUATION: range(21, 22),
        UNSHELVE: NEVER,
        REBUILD: range(21, 22),
    },
    "port accelerator": {
        **dict.fromkeys((LIVE, COLD, RESIZE, EVACUATION), range(24, 35)),
        **dict.fromkeys((UNSHELVE, REBUILD), NEVER),
    },
    "vdpa port": {
        LIVE: range(23, 26),
        **dict.fromkeys((COLD, RESIZE, EVACUATION), range(23, 24)),
        **dict.fromkeys((UNSHELVE, REBUILD), NEVER),
    },
    "virtual tpm": {
        **dict.fromkeys((LIVE, EVACUATION, REBUILD), range(22, 35)),
        **dict.fromkeys((COLD, RESIZE, UNSHELVE), NEVER),
    },
    "memory encryption": {
        LIVE: ALWAYS,
        **dict.fromkeys((COLD, RESIZE, EVACUATION, UNSHELVE, REBUILD), NEVER),
    },
    "pci device": {
        LIVE: range(20, 31),
        **dict.fromkeys((COLD, RESIZE, EVACUATION, UNSHELVE, REBUILD), NEVER),
    },
}
NETWORK = Network("n1")
HAVING = {
    "accelerator": {"flavor": {"accel:device_profile": "gpu"}},
    "port accelerator": {
        "ports": [Port("p1", NETWORK, vnic_type="accelerator-direct")]
    },
    "vdpa port": {"ports": [Port("p1", NETWORK, vnic_type="vdpa")]},
    "virtual tpm": {"flavor": {"hw:tpm_version": "2.0"}},
    "memory encryption": {
        "flavor": {"hw:mem_encryption": "true"},
        "image": {"hw_firmware_type": "uefi", "hw_machine_type": "q35"},
    },
    "pci device": {"flavor": {"pci_passthrough:alias": "gpu:1"}},
}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("kind", MoveKind)
@pytest.mark.parametrize("what", REFUSED)
def test_what_a_server_has_refuses_some_moves_in_some_releases(what, kind, release):
    found = what in why(kind, release, **HAVING[what])
    assert found is (release in REFUSED[what][kind])


@pytest.mark.parametrize(("release", "is_refused"), [(32, True), (33, False)])
def test_a_tpm_whose_secret_the_host_keeps_migrates_live_from_2026_1_on(
    release, is_refused
):
    flavor = {"hw:tpm_version": "2.0", "hw:tpm_secret_security": "host"}
    assert ("virtual tpm" in why(LIVE, release, flavor=flavor)) is is_refused
    assert "virtual tpm" in why(EVACUATION, release, flavor=flavor)


def test_a_resize_is_to_another_flavor_that_is_there():
    other = {"name": "other"}
    assert why(RESIZE) == ["same flavor"]
    assert why(RESIZE, new=other) == []
    # Made anew by the same name: no flavor is given another size.
    assert why(RESIZE, new={"ram": 12345}) == []
    disabled = {**other, "OS-FLV-DISABLED:disabled": True}
    assert why(RESIZE, new=disabled) == ["disabled flavor"]
    profile = {**other, "extra_specs": {"accel:device_profile": "gpu"}}
    assert why(RESIZE, new=profile) == ["accelerator"]


def test_only_a_server_of_a_volume_gets_a_flavor_without_a_disk():
    asked = planned(RESIZE, new={"name": "other", "disk": 0})
    assert [each.reason for each in refusals(asked)] == ["zero disk"]
    of_volume = asked.question.with_spec(boot_from_volume=True)
    assert refusals(dataclasses.replace(asked, question=of_volume)) == ()


def test_an_image_may_not_change_whether_there_are_numa_nodes():
    """nova/compute/api.py, _validate_numa_rebuild"""
    nodes = {"id": "i2", "hw_numa_nodes": 1}
    for old, new, expected in (
        ({}, nodes, ["numa nodes"]),
        (nodes, {"id": "i3"}, ["numa nodes"]),
        (nodes, {**nodes, "id": "i3"}, []),
        ({}, {"id": "i3"}, []),
    ):
        asked = planned(REBUILD, image=old)
        question = dataclasses.replace(asked.before, image=new)
        asked = dataclasses.replace(asked, question=question)
        assert [each.reason for each in refusals(asked)] == expected


@pytest.mark.parametrize("release", RELEASES)
def test_a_volume_gets_another_image_from_zed_on(release):
    """Its own is that which it is made of; nova-scheduler is not asked for that."""
    metadata = {"image_id": "i1"}
    volume = Volume("v1", "nova", size=1, is_bootable=True, image_metadata=metadata)
    parts = Parts(volumes=(volume,), boots_from="v1")
    asked = planned(REBUILD, release)
    before = asking(asked.before, image=None, boot_from_volume=True, parts=parts)
    for image, expected in (("i1", []), ("i2", ["volume"] * (release < 26))):
        question = dataclasses.replace(before, image={"id": image})
        asked = dataclasses.replace(asked, before=before, question=question)
        assert asked.has_image is (image == "i1")
        assert [each.reason for each in refusals(asked)] == expected


# A rebuild is judged where the server is


IMAGES = "AggregateImagePropertiesIsolation"
DESKTOPS = {"desktops": {"hosts": ["a"], "metadata": {"os_type": "windows"}}}


def rebuilt(image, *filters, flavor=None, traits=(), has_image=False, **compute):
    body = {**CLOUD, "flavor": flavor or {}, "aggregates": DESKTOPS}
    asked = asked_by(body, *filters, move=Move(REBUILD, "s1", "a", node("a")))
    asked = dataclasses.replace(asked, image={"id": "i2", **image})
    host = dataclasses.replace(node("a"), **compute)
    return rebuild(asked, host, traits, has_image)


def test_only_filters_that_judge_a_rebuild_keep_a_host_from_an_image():
    down = rebuilt({}, COMPUTE, SPECS, flavor=SSD, is_up=False, is_enabled=False)
    assert down.can is Answer.YES
    assert down.filtering.filters_of_rebuild == ()
    other = rebuilt({"os_type": "linux"}, COMPUTE, IMAGES)
    assert (other.can, other.filtering.filters_of_rebuild) == (Answer.NO, (IMAGES,))
    assert rebuilt({"os_type": "windows"}, COMPUTE, IMAGES).can is Answer.YES
    # Whether one's own filter judges a rebuild is its own matter.
    assert rebuilt({}, OWN).can is Answer.UNKNOWN
    assert rebuilt({"os_type": "linux"}, OWN, IMAGES).can is Answer.NO


def test_the_traits_of_an_image_are_those_of_what_the_server_uses():
    """nova/conductor/manager.py, _validate_image_traits_for_rebuild"""
    wanted = {"trait:CUSTOM_A": "required", "trait:CUSTOM_B": "required"}
    found = rebuilt(wanted, traits=["CUSTOM_A"])
    assert (found.can, found.missing, found.forbidden) == (Answer.NO, ("CUSTOM_B",), ())
    assert rebuilt(wanted, traits=["CUSTOM_B", "CUSTOM_A", "X"]).can is Answer.YES
    for key in ("trait:CUSTOM_A", "trait1:CUSTOM_A", "trait_x:CUSTOM_A"):
        found = rebuilt(wanted, flavor={key: "forbidden"}, traits=["CUSTOM_B"])
        assert (found.can, found.forbidden) == (Answer.NO, ("CUSTOM_A",))


def test_the_image_that_a_server_has_is_not_scheduled():
    found = rebuilt({"trait:CUSTOM_A": "required"}, has_image=True)
    assert (found.can, found.is_asked, found.missing) == (Answer.YES, False, ())


def test_an_image_that_nova_api_does_not_take_is_refused():
    found = rebuilt({"min_ram": 99999})
    assert found.can is Answer.NO
    assert found.refusal.exception == "FlavorMemoryTooSmall"
