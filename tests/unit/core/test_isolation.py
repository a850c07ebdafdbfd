"""The steps that isolate an aggregate and open it, and their order."""

from __future__ import annotations

import pytest

from osc_traitsched.core import errors
from osc_traitsched.core.change import isolation
from osc_traitsched.core.change.isolation import (
    Contradiction,
    Kind,
    Member,
    NotIsolated,
    Outcome,
    Reason,
    in_order,
    isolate_plan,
    to_open,
    unisolate_plan,
)
from osc_traitsched.core.change.plan import Status
from tests.unit.core.isolated import (
    AGGREGATE,
    GOLD,
    SILVER,
    SSD,
    aggregate,
    flavor,
    ground,
    host,
)

IMAGE = {"id": "image-id", "name": "image"}


def todo(steps):
    return [(step.kind.value, step.name, step.todo) for step in steps]


# Closing


def test_hosts_can_be_chosen_before_anybody_must_and_the_aggregate_is_closed_last():
    found = isolate_plan(
        ground(host("h1", GOLD), host("h2"), mirrored=["h2-uuid"]),
        [GOLD, "CUSTOM_NEW"],
        ["CUSTOM_NEW"],
        [flavor("f")],
        [IMAGE],
    )
    keys = (f"trait:{GOLD}", "trait:CUSTOM_NEW")
    assert todo(found) == [
        ("trait", GOLD, ()),
        ("trait", "CUSTOM_NEW", ("CUSTOM_NEW",)),
        ("host", "h1", ("CUSTOM_NEW",)),
        ("host", "h2", (GOLD, "CUSTOM_NEW")),
        ("mirror", "h1", (AGGREGATE,)),
        ("mirror", "h2", ()),
        ("flavor", "f", keys),
        ("image", "image", keys),
        ("aggregate", "a1", keys),
    ]
    assert [step.write.change.add for step in found if step.kind is Kind.HOST] == [
        frozenset({GOLD, "CUSTOM_NEW"})
    ] * 2


def test_what_is_so_already_is_no_work():
    required = {f"trait:{GOLD}": "required"}
    found = isolate_plan(
        ground(host("h1", GOLD), mirrored=["h1-uuid"], **{GOLD: "required"}),
        [GOLD],
        [],
        [flavor("f", **required), flavor("g", **{f"trait1:{GOLD}": "required"})],
        [{**IMAGE, **required}],
    )
    assert all(step.holds for step in found)


def test_another_word_than_required_does_not_isolate():
    found = isolate_plan(
        ground(host("h1", GOLD), **{GOLD: "true"}),
        [GOLD],
        [],
        [flavor("f", **{f"trait:{GOLD}": "maybe"})],
        [{**IMAGE, f"trait:{GOLD}": "maybe"}],
    )
    assert [step.holds for step in found[-3:]] == [False, False, False]


def test_a_flavor_that_forbids_the_trait_is_not_turned_round():
    forbidding = flavor("f", **{f"trait:{GOLD}": "forbidden"})
    with pytest.raises(Contradiction) as caught:
        isolate_plan(ground(), [SILVER, GOLD], [], [forbidding], [])
    assert (caught.value.flavor, caught.value.traits) == ("f", (GOLD,))


def test_a_host_without_a_provider_can_t_be_made_ready():
    _, step, last = isolate_plan(ground(Member("h1", None)), [GOLD], [], [], [])
    assert isinstance(step.problem, errors.NoProvider)
    assert isolation.foreseen(step).status is Status.FAILED
    assert isolation.foreseen(last).status is Status.WOULD_CHANGE


def test_every_node_of_a_host_is_made_ready():
    nodes = [Member("ironic", host(f"node{n}").holding) for n in (1, 2)]
    found = isolate_plan(ground(*nodes), [GOLD], [], [], [])
    assert [step.name for step in found if step.kind is Kind.HOST] == ["node1", "node2"]
    assert [step.name for step in found if step.kind is Kind.MIRROR] == [
        "node1",
        "node2",
    ]


def test_other_traits_are_needed_on_hosts_of_other_isolated_aggregates():
    found = ground(
        host("h1"),
        host("h2"),
        others=(
            aggregate(2, "h1", **{SILVER: "required"}),
            aggregate(3, "h2", **{GOLD: "required"}),
            aggregate(4, "h2", **{SILVER: "no"}),
        ),
    )
    pairs = found.also_isolated(frozenset({GOLD}))
    assert [(other["id"], member.host) for other, member in pairs] == [(2, "h1")]


# Carrying out


def carried_out(steps, failing):
    asked = []

    def carry_out(group):
        asked.extend(step.name for step in group)
        return tuple(
            Outcome(s, Status.FAILED if s.name in failing else Status.CHANGED)
            for s in group
        )

    outcomes = in_order(steps, carry_out)
    return [found.status.value for found in outcomes], asked


def test_after_a_failure_its_kind_is_finished_and_nothing_later_begun():
    steps = isolate_plan(
        ground(host("h1"), host("h2"), mirrored=["h1-uuid", "h2-uuid"]),
        [GOLD],
        [],
        [flavor("f")],
        [],
    )
    statuses, asked = carried_out(steps, {"h1"})
    assert asked == [GOLD, "h1", "h2"]
    assert statuses == [
        *("changed", "failed", "changed"),
        *("unchanged", "unchanged"),
        *("not done", "not done"),
    ]


def test_without_a_failure_all_is_done():
    steps = isolate_plan(ground(host("h1")), [GOLD], [], [flavor("f")], [])
    statuses, asked = carried_out(steps, set())
    assert statuses == ["changed"] * 5
    assert len(asked) == 5


# Opening


ISOLATED = {GOLD: "required"}
GOLDEN = flavor("f", **{f"trait:{GOLD}": "required"})


def opened(found, names=(GOLD,), outside=(), images=(), keep=False):
    holders = {name: frozenset({"h1-uuid", *outside}) for name in names}
    return unisolate_plan(found, names, holders, images, keep)


def test_the_way_back_opens_the_aggregate_first_and_takes_the_traits_last():
    image = {**IMAGE, f"trait:{GOLD}": "required"}
    bystander = flavor("g", **{f"trait1:{GOLD}": "required"})
    isolated = ground(host("h1", GOLD), flavors=[GOLDEN, bystander], **ISOLATED)
    found = opened(isolated, images=[image])
    assert all(step.removes for step in found)
    assert todo(found) == [
        ("aggregate", "a1", (f"trait:{GOLD}",)),
        ("flavor", "f", (f"trait:{GOLD}",)),
        ("image", "image", (f"trait:{GOLD}",)),
        ("host", "h1", (GOLD,)),
    ]
    kept = opened(isolated, images=[image], keep=True)
    assert kept == found[:-1]


def reasons(step):
    return [(kept.reason, kept.names) for kept in step.kept]


def test_a_trait_that_isolates_another_aggregate_stays_with_those_who_need_it():
    isolated = ground(
        host("h1", GOLD),
        host("h2", GOLD),
        others=(aggregate(2, "h2", **ISOLATED),),
        flavors=[GOLDEN],
        **ISOLATED,
    )
    found = opened(isolated)
    reason = (Reason.OTHER_AGGREGATE, ("a2",))
    assert [(step.todo, reasons(step)) for step in found[1:]] == [
        ((), [reason]),
        ((GOLD,), []),
        ((), [reason]),
    ]


def test_a_trait_that_other_providers_have_stays_in_flavors():
    isolated = ground(host("h1", GOLD), flavors=[GOLDEN], **ISOLATED)
    _, released, taken = opened(isolated, outside=["elsewhere"])
    assert (released.todo, reasons(released)) == (
        (),
        [(Reason.OTHER_HOSTS, ("elsewhere",))],
    )
    assert taken.todo == (GOLD,)


def test_a_standard_trait_stays_everywhere_but_in_the_aggregate():
    isolated = ground(
        host("h1", SSD),
        flavors=[flavor("f", **{f"trait:{SSD}": "required"})],
        **{SSD: "required"},
    )
    first, *others = opened(isolated, names=(SSD,))
    assert first.todo == (f"trait:{SSD}",)
    assert [(step.todo, reasons(step)) for step in others] == [
        ((), [(Reason.STANDARD, ())])
    ] * 2


def test_without_traits_all_that_isolate_the_aggregate_are_meant():
    both = {SILVER: "required", GOLD: "required", SSD: "no"}
    assert to_open(ground(host("h1"), **both)) == (GOLD, SILVER)


def test_of_an_aggregate_that_names_no_trait_the_common_ones_are_named():
    with pytest.raises(NotIsolated) as caught:
        to_open(ground(host("h1", GOLD, SILVER, SSD), host("h2", GOLD, SSD)))
    assert caught.value.common == (GOLD,)
    with pytest.raises(NotIsolated) as caught:
        to_open(ground(host("h1", GOLD), host("h2")))
    assert caught.value.common == ()


def test_of_an_open_aggregate_whose_hosts_have_no_custom_trait_nothing_is_left():
    assert to_open(ground(host("h1", SSD), host("h2"))) == ()
    assert to_open(ground()) == ()
