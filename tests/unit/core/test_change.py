"""Changes and plans, and the one order of all that is written."""

from __future__ import annotations

import dataclasses
import random

import pytest

from osc_traitsched.core.change import traits
from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    Object,
    ObjectKind,
    Outcome,
    Phase,
    State,
    Status,
    foreseen,
    not_done,
    ordered,
    plan_of,
)
from osc_traitsched.core.change.traits import gone, present
from osc_traitsched.core.errors import NoProvider
from osc_traitsched.core.inventory.snapshot import Holding, Provider, Snapshot, Targets
from osc_traitsched.core.inventory.trait import Ownership, key_of
from tests.aggregates import aggregate

# Changes and plans: what is added and removed, and what speaks against it.


def holding(name, *traits, of=None):
    top = f"uuid-{of or name}"
    parent = f"uuid-{of}" if of else None
    return Holding(Provider(f"uuid-{name}", name, 7, top, parent), frozenset(traits))


def targets(*held, around=()):
    snapshot = Snapshot(tuple(each.provider for each in (*held, *around)))
    return Targets(snapshot, held)


def addition(names, *held, **options):
    return traits.add_plan(names, targets(*held, **options)).changes


def removal(names, *held):
    return traits.remove_plan(names, targets(*held)).changes


def left(change):
    """Return the traits that a provider has after a change."""
    return set(change.applied_to(change.found.keys))


def test_adding_keeps_what_is_there_and_names_only_what_is_new():
    (change,) = addition(["X", "Y"], holding("a", "OLD", "X"))
    assert change.added == {"Y"}
    assert change.removed == frozenset()
    assert left(change) == {"OLD", "X", "Y"}


def test_removing_takes_only_what_is_named_and_there():
    (change,) = removal(["X", "Z"], holding("a", "OLD", "X"))
    assert change.removed == {"X"}
    assert left(change) == {"OLD"}


def test_a_change_names_its_object_its_keys_and_what_they_were():
    (change,) = addition(["X", "Y"], holding("a", "OLD", "X"))
    assert change.object == Object(ObjectKind.PROVIDER_TRAITS, "uuid-a", "a", "a")
    assert change.found.generation == 7
    assert change.before == {"X": PRESENT, "Y": None}
    assert change.after == {"X": PRESENT, "Y": PRESENT}


def test_a_provider_as_wanted_needs_no_change():
    plan = traits.add_plan(["X"], targets(holding("a", "X")))
    assert not plan.has_changes
    assert foreseen(plan.changes[0]).status is Status.UNCHANGED


def test_a_trait_to_create_comes_before_the_hosts_that_get_it():
    plan = traits.add_plan(["X"], targets(holding("a")), creates=("X",))
    assert [[c.object.kind for c in stage] for stage in plan.stages] == [
        [ObjectKind.TRAIT],
        [ObjectKind.PROVIDER_TRAITS],
    ]
    assert plan.has_changes


def test_a_nested_provider_goes_by_the_name_of_its_host():
    (change,) = addition(["X"], holding("gpu", of="a"), around=[holding("a")])
    assert (change.object.name, change.object.host) == ("gpu", "a")


def test_a_failed_change_says_that_it_changed_nothing():
    (change,) = addition(["X"], holding("a"))
    assert Outcome(change, Status.FAILED).added == frozenset()
    assert Outcome(change, Status.CHANGED).added == {"X"}


def test_what_was_written_is_told_from_what_there_was_then():
    (change,) = addition(["X", "Y"], holding("a"))
    before = State({"X": PRESENT}, 9)
    assert Outcome(change, Status.CHANGED, overwritten=before).added == {"Y"}


def test_a_key_that_somebody_else_gave_another_value_is_not_written():
    change = Change(
        Object(ObjectKind.FLAVOR, "1", "small"),
        State({"a": "1"}),
        {"a": "2", "b": None},
    )
    assert change.refusal(State({"a": "1"})) is None
    assert change.refusal(State({"a": "2"})) is None
    refusal = change.refusal(State({"a": "3", "b": "4", "c": "5"}))
    assert str(refusal).startswith("changed meanwhile: 'a' is '3', 'b' is '4' now")


def test_a_key_that_somebody_else_removed_is_not_written():
    change = Change(
        Object(ObjectKind.FLAVOR, "1", "small"), State({"a": "1", "b": "1"}), {"a": "2"}
    )
    assert "'a' is gone now" in str(change.refusal(State({})))
    new, gone = {"c": "1"}, {"b": None}
    for after in (new, gone):
        assert dataclasses.replace(change, after=after).refusal(State({})) is None


def test_a_trait_is_orphaned_only_when_every_holder_loses_it():
    changes = removal(["X", "Y"], holding("a", "X", "Y"), holding("b", "X"))
    holders = {
        "X": frozenset({"uuid-a", "uuid-b", "uuid-c"}),
        "Y": frozenset({"uuid-a"}),
    }
    found = traits.orphaned_traits(map(foreseen, changes), holders)
    assert found == {"Y": {"uuid-a"}}


def test_a_trait_is_not_orphaned_by_what_is_not_done_nor_saved_by_what_fails():
    holders = {"X": frozenset({"uuid-a"})}
    (lost,) = removal(["X"], holding("a", "X"))
    (gained,) = addition(["X"], holding("b"))
    failing = dataclasses.replace(gained, problem=NoProvider("b"))
    assert not traits.orphaned_traits([not_done(lost)], holders)
    assert not traits.orphaned_traits(map(foreseen, [lost, gained]), holders)
    for off in (not_done(gained), foreseen(failing)):
        assert traits.orphaned_traits([foreseen(lost), off], holders) == {
            "X": {"uuid-a"}
        }


@pytest.mark.parametrize(
    ("kind", "after", "is_released"),
    [
        (ObjectKind.FLAVOR, None, True),
        (ObjectKind.FLAVOR, "forbidden", True),
        (ObjectKind.FLAVOR, "Required", True),
        (ObjectKind.IMAGE, "Required", True),
        (ObjectKind.AGGREGATE, None, True),
        (ObjectKind.AGGREGATE, "no", True),
        # MariaDB compares so.
        (ObjectKind.AGGREGATE, "Required ", False),
    ],
)
def test_what_ends_a_requirement_is_another_value_as_nova_compares_it(
    kind, after, is_released
):
    changed = Object(kind, "i", "as the file calls it")
    change = Change(changed, State({"trait:X": "required"}), {"trait:X": after})
    requirers = {"X": (traits.Requirer(kind.noun, "a name", "trait:X", "i"),)}
    left = {} if is_released else requirers
    assert traits.requiring_after(requirers, [foreseen(change)], "X") == left
    assert traits.requiring_after(requirers, [not_done(change)], "X") == requirers


def test_only_changes_are_reverted_and_not_what_stays():
    changes = addition(
        ["COMPUTE_NODE", "HW_CPU_X86_AVX", "CUSTOM_X"], holding("a", "COMPUTE_NODE")
    )
    assert [(u.name, u.ownership) for u in traits.reverted_by_nova(changes)] == [
        ("HW_CPU_X86_AVX", Ownership.NOVA_SETS_AND_CLEARS)
    ]


def test_every_trait_of_a_pci_device_is_reverted():
    device = holding("pci", "COMPUTE_MANAGED_PCI_DEVICE", of="a")
    changes = addition(["CUSTOM_X"], device, around=[holding("a")])
    (reverted,) = traits.reverted_by_nova(changes)
    assert (reverted.name, reverted.hosts) == ("CUSTOM_X", ("a",))


# The one order of all that is written, whoever plans it.


GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"
REQUIRES = {key_of(GOLD): "required"}
RELEASES = gone(REQUIRES)
TENANT = "filter_tenant_id"


def change(kind, after, before=None, name="x", generation=None, hosts=()):
    target = Object(kind, name, name)
    return Change(target, State(before or {}, generation, frozenset(hosts)), after)


def joins(host, name):
    return change(ObjectKind.AGGREGATE_HOSTS, present([host]), name=name)


def leaves(host, name):
    return change(ObjectKind.AGGREGATE_HOSTS, gone([host]), present([host]), name=name)


def order(changes, *aggregates):
    return [
        (Phase(c.phase).name, c.object.name, *sorted(c.after))
        for c in ordered(changes, aggregates).changes
    ]


IN_ORDER = [
    change(ObjectKind.TRAIT, present([GOLD])),
    change(ObjectKind.PROVIDER_TRAITS, present([GOLD])),
    change(ObjectKind.AGGREGATE, REQUIRES, {"availability_zone": "w"}, name="w"),
    change(ObjectKind.AGGREGATE, {"availability_zone": "z"}, name="zone"),
    joins("h3", "isolated"),
    joins("h3", "plain"),
    leaves("h1", "v"),
    joins("h1", "w"),
    change(ObjectKind.AGGREGATE, RELEASES, REQUIRES, name="opened"),
    change(ObjectKind.FLAVOR, REQUIRES),
    change(ObjectKind.AGGREGATE, REQUIRES, name="closed"),
    change(ObjectKind.FLAVOR, RELEASES, REQUIRES, name="y"),
    leaves("h2", "plain"),
    leaves("h2", "isolated"),
    change(ObjectKind.PROVIDER_TRAITS, gone([GOLD]), present([GOLD]), name="y"),
]
THERE = [
    aggregate("v", "h1", availability_zone="v", trait__CUSTOM_GOLD="required"),
    aggregate("w", availability_zone="w"),
    aggregate("isolated", "h2", trait__CUSTOM_SILVER="required"),
    aggregate("plain", "h2"),
]


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_told_first_what_opens_is_written_before_what_closes(seed):
    told = random.Random(seed).sample(IN_ORDER, len(IN_ORDER))
    plan = ordered(told, THERE)
    assert [(c.object, c.after) for c in plan.changes] == [
        (c.object, c.after) for c in IN_ORDER
    ]
    phases = [change.phase for change in plan.changes]
    assert phases == sorted(phases)
    assert set(phases) == set(Phase)
    # Hosts join what is isolated before, and leave it after, all that is open.
    steps = [Phase(stage[0].phase) for stage in plan.stages]
    assert (steps.count(Phase.PLACE), steps.count(Phase.LEAVE)) == (3, 2)


def test_images_come_and_go_as_flavors_do():
    released = change(ObjectKind.IMAGE, RELEASES, REQUIRES, name="a")
    key = key_of(GOLD)
    assert order([released, change(ObjectKind.IMAGE, REQUIRES, name="b")]) == [
        ("REQUIRE", "b", key),
        ("RELEASE", "a", key),
    ]


def test_those_of_a_phase_keep_their_order_and_none_is_lost():
    names = ["c", "a", "b"]
    told = [change(ObjectKind.PROVIDER_TRAITS, present([GOLD]), name=n) for n in names]
    (stage,) = plan_of(told).stages
    assert [each.object.name for each in stage] == names


def test_a_provider_gets_traits_first_and_loses_others_last_from_what_it_is_then():
    both = {GOLD: PRESENT, SILVER: None}
    one = change(ObjectKind.PROVIDER_TRAITS, both, present([SILVER]), generation=7)
    (gained,), (lost,) = plan_of([one]).stages
    assert (gained.after, gained.found.generation) == ({GOLD: PRESENT}, 7)
    # Its own first write has moved the generation: it is read again.
    assert (lost.after, lost.found.generation) == ({SILVER: None}, None)


@pytest.mark.parametrize(
    ("before", "after", "phase"),
    [
        # A project more, or anybody at all.
        ({TENANT: "p1"}, {f"{TENANT}_2": "p2"}, "OPEN"),
        ({TENANT: "p1"}, {TENANT: None}, "OPEN"),
        # The first one, one less, or others.
        ({}, {TENANT: "p1"}, "CLOSE"),
        ({TENANT: "p1, p2"}, {TENANT: "p1"}, "CLOSE"),
        ({TENANT: "p1"}, {TENANT: "p2"}, "CLOSE"),
        # What closes it instead goes with it, in one request.
        (REQUIRES, {**RELEASES, key_of(SILVER): "required"}, "CLOSE"),
        ({TENANT: "p1"}, {TENANT: None, **REQUIRES}, "CLOSE"),
        ({TENANT: "p1"}, {f"{TENANT}_2": "p2", **REQUIRES}, "CLOSE"),
    ],
)
def test_metadata_opens_or_closes_an_aggregate_in_one_request(before, after, phase):
    one = change(ObjectKind.AGGREGATE, after, before)
    assert order([one]) == [(phase, "x", *sorted(after))]


def test_what_hosts_of_a_closed_aggregate_move_to_is_closed_before_they_do():
    closed = change(
        ObjectKind.AGGREGATE, REQUIRES, {"availability_zone": "z2"}, name="b"
    )
    changes = [joins("h1", "b"), closed, leaves("h1", "a")]
    zones = aggregate("b", availability_zone="z2")
    was = {"availability_zone": "z1", "trait__CUSTOM_SILVER": "required"}
    move = [("MOVE", "a", "h1"), ("MOVE", "b", "h1")]
    key = key_of(GOLD)
    assert order(changes, aggregate("a", "h1", **was), zones) == [
        ("CLOSE_FIRST", "b", key),
        *move,
    ]
    # Nobody is kept from the host now.
    open_to_all = aggregate("a", "h1", availability_zone="z1")
    assert order(changes, open_to_all, zones) == [*move, ("CLOSE", "b", key)]


def test_what_closes_the_same_hosts_elsewhere_comes_before_what_opens():
    def opening_with(host):
        opened = change(
            ObjectKind.AGGREGATE, RELEASES, REQUIRES, name="a", hosts=["h1"]
        )
        closed = change(ObjectKind.AGGREGATE, {key_of(SILVER): "required"}, name="b")
        found = order([opened, closed, joins(host, "b")])
        return [(phase, name) for phase, name, _ in found]

    assert opening_with("h1") == [("PLACE", "b"), ("CLOSE", "b"), ("CLOSE", "a")]
    assert opening_with("h2") == [("PLACE", "b"), ("OPEN", "a"), ("CLOSE", "b")]


def test_a_host_moves_at_once_only_to_another_zone():
    changes = [joins("h1", "b"), leaves("h1", "a")]
    zones = [aggregate("a", "h1", availability_zone="z1")]
    other = [*zones, aggregate("b", availability_zone="z2")]
    plan = ordered(changes, other)
    assert [(c.object.name, c.moving_host) for c in plan.changes] == [
        ("a", "h1"),
        ("b", "h1"),
    ]
    # Nova takes a host into two aggregates of one zone, or of none.
    for there in (
        [*zones, aggregate("b", availability_zone="z1")],
        [*zones, aggregate("b")],
        [aggregate("a", "h1"), aggregate("b", availability_zone="z2")],
    ):
        assert [
            (c.object.name, c.moving_host) for c in ordered(changes, there).changes
        ] == [
            ("b", ""),
            ("a", ""),
        ]


def test_what_fails_for_sure_leaves_out_what_follows_of_its_trait_and_nothing_else():
    def about(trait, name, **more):
        key = {key_of(trait): "required"}
        return [
            change(ObjectKind.PROVIDER_TRAITS, present([trait]), name=name),
            change(ObjectKind.FLAVOR, key, name=name),
            change(ObjectKind.AGGREGATE, key, name=name),
        ]

    broken, *others = about(GOLD, "gold")
    broken = dataclasses.replace(broken, problem=NoProvider("h"))
    more = change(ObjectKind.PROVIDER_TRAITS, present([GOLD]), name="other")
    plan = plan_of([broken, more, *others, *about(SILVER, "silver")])
    assert {(c.object.kind, c.object.name) for c in plan.changes if c.blocked} == {
        (ObjectKind.FLAVOR, "gold"),
        (ObjectKind.AGGREGATE, "gold"),
    }
    assert [c.object.name for c in plan.changes if not c.is_sent] == ["gold"] * 3


def test_what_is_left_out_leaves_out_what_follows_it_in_turn():
    broken = change(ObjectKind.PROVIDER_TRAITS, present([SILVER]), name="h1")
    broken = dataclasses.replace(broken, problem=NoProvider("h1"))
    swapped = change(
        ObjectKind.AGGREGATE,
        {key_of(SILVER): "required", **RELEASES},
        REQUIRES,
        name="a",
    )
    released = change(ObjectKind.FLAVOR, RELEASES, REQUIRES)
    lost = change(ObjectKind.PROVIDER_TRAITS, gone([GOLD]), present([GOLD]), name="h2")
    plan = plan_of([lost, released, swapped, broken])
    assert [c.blocked for c in plan.changes] == [False, True, True, True]
