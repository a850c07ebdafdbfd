"""Plans: what a change adds and removes, and what it must not do."""

from osc_traitsched.core.change import plan
from osc_traitsched.core.change.plan import Status
from osc_traitsched.core.inventory.snapshot import Holding, Provider, Snapshot
from osc_traitsched.core.inventory.trait import Ownership


def holding(name, *traits, of=None):
    top = f"uuid-{of or name}"
    parent = f"uuid-{of}" if of else None
    return Holding(Provider(f"uuid-{name}", name, 7, top, parent), frozenset(traits))


def cloud(*held):
    return Snapshot(tuple(each.provider for each in held))


def removal(names, *held):
    return plan.removing(names, cloud(*held), held).steps


def test_adding_keeps_what_is_there_and_names_only_what_is_new():
    held = holding("a", "OLD", "X")
    (step,) = plan.adding(["X", "Y"], cloud(held), [held]).steps
    assert step.added == {"Y"}
    assert step.removed == frozenset()
    assert step.change.after(held.traits) == {"OLD", "X", "Y"}


def test_removing_takes_only_what_is_named_and_there():
    (step,) = removal(["X", "Z"], holding("a", "OLD", "X"))
    assert step.removed == {"X"}
    assert step.change.after(step.holding.traits) == {"OLD"}


def test_a_provider_as_wanted_needs_no_step():
    held = holding("a", "X")
    todo = plan.adding(["X"], cloud(held), [held])
    assert not todo.has_changes
    assert plan.foreseen(todo.steps[0]).status is Status.UNCHANGED


def test_a_trait_to_create_is_a_change_even_if_no_host_needs_it():
    assert plan.adding(["X"], cloud(), [], creates=("X",)).has_changes


def test_a_nested_provider_goes_by_the_name_of_its_host():
    root, gpu = holding("a"), holding("gpu", of="a")
    (step,) = plan.adding(["X"], cloud(root, gpu), [gpu]).steps
    assert step.host == "a"


def test_a_failed_step_says_that_it_changed_nothing():
    held = holding("a")
    (step,) = plan.adding(["X"], cloud(held), [held]).steps
    assert plan.result(step, Status.FAILED).added == frozenset()
    assert plan.result(step, Status.CHANGED).added == {"X"}


def test_a_trait_is_orphaned_only_when_every_holder_loses_it():
    steps = removal(["X", "Y"], holding("a", "X", "Y"), holding("b", "X"))
    holders = {
        "X": frozenset({"uuid-a", "uuid-b", "uuid-c"}),
        "Y": frozenset({"uuid-a"}),
    }
    assert plan.orphaned(steps, holders) == ("Y",)


def test_only_changes_are_undone_and_not_what_stays():
    held = holding("a", "COMPUTE_NODE")
    steps = plan.adding(
        ["COMPUTE_NODE", "HW_CPU_X86_AVX", "CUSTOM_X"], cloud(held), [held]
    ).steps
    assert [(u.name, u.ownership) for u in plan.reverted_by_nova(steps)] == [
        ("HW_CPU_X86_AVX", Ownership.NOVA_SETS_AND_CLEARS)
    ]


def test_every_trait_of_a_pci_device_is_undone():
    held = holding("pci", "COMPUTE_MANAGED_PCI_DEVICE", of="a")
    snapshot = cloud(holding("a"), held)
    steps = plan.adding(["CUSTOM_X"], snapshot, [held]).steps
    (reverted,) = plan.reverted_by_nova(steps)
    assert (reverted.name, reverted.hosts) == ("CUSTOM_X", ("a",))
