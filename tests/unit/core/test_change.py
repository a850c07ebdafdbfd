"""Changes and plans: what is added and removed, and what speaks against it."""

import dataclasses

import pytest

from osc_traitsched.core.change import traits
from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    Object,
    ObjectKind,
    Outcome,
    State,
    Status,
    foreseen,
    not_done,
)
from osc_traitsched.core.errors import NoProvider
from osc_traitsched.core.inventory.snapshot import Holding, Provider, Snapshot, Targets
from osc_traitsched.core.inventory.trait import Ownership


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
