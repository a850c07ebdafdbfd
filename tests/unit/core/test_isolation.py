"""The steps that isolate an aggregate and open it, and their order."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core import errors
from osc_traitsched.core.change.isolation.guards import Contradiction
from osc_traitsched.core.change.isolation.isolate import isolate_plan
from osc_traitsched.core.change.isolation.state import Member
from osc_traitsched.core.change.isolation.unisolate import (
    NotIsolated,
    isolating,
    open_plan,
    to_remove,
    unisolate_plan,
)
from osc_traitsched.core.change.model import (
    PRESENT,
    ChangedMeanwhile,
    Kind,
    Reason,
    State,
)
from osc_traitsched.core.change.outcome import Status, foreseen
from osc_traitsched.core.inventory.collation import Collation
from tests.unit.core.isolated import (
    AGGREGATE,
    GOLD,
    SILVER,
    SSD,
    aggregate,
    flavor,
    host,
    state,
)

IMAGE = {"id": "image-id", "name": "image"}


HOST, MIRROR = Kind.PROVIDER_TRAITS, Kind.PROVIDER_AGGREGATES


def todo(plan):
    """Return each change with the keys that it adds or removes, in order."""
    return [
        (
            each.object.kind,
            each.object.name,
            keys(each.after, each.added | each.removed),
        )
        for each in plan.changes
    ]


def keys(ordered, wanted):
    return tuple(key for key in ordered if key in wanted)


# Closing


def test_hosts_can_be_chosen_before_anybody_must_and_the_aggregate_is_closed_last():
    found = isolate_plan(
        state(host("h1", GOLD), host("h2"), mirrored=["h2-uuid"]),
        [GOLD, "CUSTOM_NEW"],
        ["CUSTOM_NEW"],
        [flavor("f")],
        [IMAGE],
    )
    keys = (f"trait:{GOLD}", "trait:CUSTOM_NEW")
    assert todo(found) == [
        (Kind.TRAIT, GOLD, ()),
        (Kind.TRAIT, "CUSTOM_NEW", ("CUSTOM_NEW",)),
        (HOST, "h1", ("CUSTOM_NEW",)),
        (HOST, "h2", (GOLD, "CUSTOM_NEW")),
        (MIRROR, "h1", (AGGREGATE,)),
        (MIRROR, "h2", ()),
        (Kind.FLAVOR, "f", keys),
        (Kind.IMAGE, "image", keys),
        (Kind.AGGREGATE, "a1", keys),
    ]
    assert [each.after for each in found.changes if each.object.kind is HOST] == [
        {GOLD: PRESENT, "CUSTOM_NEW": PRESENT}
    ] * 2


def test_what_is_so_already_is_no_work():
    required = {f"trait:{GOLD}": "required"}
    found = isolate_plan(
        state(host("h1", GOLD), mirrored=["h1-uuid"], **{GOLD: "required"}),
        [GOLD],
        [],
        [flavor("f", **required), flavor("g", **{f"trait1:{GOLD}": "required"})],
        [{**IMAGE, **required}],
    )
    assert not any(change.is_needed for change in found.changes)
    assert not found.has_changes


def test_a_group_that_requires_the_trait_has_to_go_on_with_it():
    grouped = flavor("f", **{f"trait1:{GOLD}": "required"})
    plan = isolate_plan(state(), [GOLD, SILVER], [], [grouped], [])
    (change,) = (c for c in plan.changes if c.object.kind is Kind.FLAVOR)
    assert change.added == {f"trait:{SILVER}"}
    refusal = change.refusal(State({}))
    assert isinstance(refusal, ChangedMeanwhile)
    assert refusal.keys == {f"trait1:{GOLD}": None}


def test_another_word_than_required_does_not_isolate():
    found = isolate_plan(
        state(host("h1", GOLD), **{GOLD: "true"}),
        [GOLD],
        [],
        [flavor("f", **{f"trait:{GOLD}": "maybe"})],
        [{**IMAGE, f"trait:{GOLD}": "maybe"}],
    )
    assert [change.is_needed for change in found.changes[-3:]] == [True, True, True]


def test_a_flavor_that_forbids_the_trait_is_not_turned_round():
    forbidding = flavor("f", **{f"trait:{GOLD}": "forbidden"})
    with pytest.raises(Contradiction) as caught:
        isolate_plan(state(), [SILVER, GOLD], [], [forbidding], [])
    assert (caught.value.flavor, caught.value.traits) == ("f", (GOLD,))


def test_a_host_without_a_provider_can_t_be_made_ready():
    plan = isolate_plan(state(Member("h1", None)), [GOLD], [], [], [])
    _, host, last = plan.changes
    assert isinstance(host.problem, errors.NoProvider)
    assert foreseen(host).status is Status.FAILED
    assert foreseen(last).status is Status.NOT_DONE


def test_every_node_of_a_host_is_made_ready():
    nodes = [Member("ironic", host(f"node{n}").holding) for n in (1, 2)]
    found = isolate_plan(state(*nodes), [GOLD], [], [], [])
    for kind in (HOST, MIRROR):
        objects = [c.object for c in found.changes if c.object.kind is kind]
        assert [each.name for each in objects] == ["node1", "node2"]


def test_other_traits_are_needed_on_hosts_of_other_isolated_aggregates():
    found = state(
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


@pytest.mark.parametrize(
    ("collation", "written"),
    [
        (Collation.CASE_INSENSITIVE, {f"Trait:{GOLD}": "required"}),
        (Collation.CASE_SENSITIVE, {f"trait:{GOLD}": "required"}),
    ],
)
def test_a_key_that_the_database_takes_for_the_same_is_set_and_no_second_one(
    collation, written
):
    """MariaDB refuses a second key that differs in case alone."""
    found = state(host("h1", GOLD), keys={f"Trait:{GOLD}": "forbidden"})
    found = dataclasses.replace(found, collation=collation)
    *_, change = isolate_plan(found, [GOLD], [], [], []).changes
    assert change.after == written


# Opening


ISOLATED = {GOLD: "required"}
GOLDEN = flavor("f", **{f"trait:{GOLD}": "required"})


def opened(found, names=(GOLD,), outside=(), images=()):
    holders = {name: frozenset({"h1-uuid", *outside}) for name in names}
    return unisolate_plan(found, names, holders, images)


def test_the_way_back_opens_the_aggregate_first_and_takes_the_traits_last():
    image = {**IMAGE, f"trait:{GOLD}": "required"}
    bystander = flavor("g", **{f"trait1:{GOLD}": "required"})
    isolated = state(host("h1", GOLD), flavors=[GOLDEN, bystander], **ISOLATED)
    found = opened(isolated, images=[image])
    assert not any(change.added for change in found.changes)
    assert todo(found) == [
        (Kind.AGGREGATE, "a1", (f"trait:{GOLD}",)),
        (Kind.FLAVOR, "f", (f"trait:{GOLD}",)),
        (Kind.IMAGE, "image", (f"trait:{GOLD}",)),
        (HOST, "h1", (GOLD,)),
    ]


def test_a_trait_is_named_as_requests_name_it_and_its_key_as_it_is_written():
    odd = state(host("h1", GOLD), keys={f"Trait:{GOLD.lower()}": "Required"})
    assert isolating(odd) == (GOLD,)
    assert todo(open_plan(odd, [GOLD])) == [
        (Kind.AGGREGATE, "a1", (f"Trait:{GOLD.lower()}",))
    ]
    strict = dataclasses.replace(odd, collation=Collation.CASE_SENSITIVE)
    assert isolating(strict) == ()


def test_opening_alone_changes_nothing_but_the_aggregate():
    both = {GOLD: "required", SILVER: "required"}
    isolated = state(host("h1", GOLD), flavors=[GOLDEN], **both)
    assert isolating(isolated) == (GOLD, SILVER)
    assert todo(open_plan(isolated, [GOLD])) == [
        (Kind.AGGREGATE, "a1", (f"trait:{GOLD}",))
    ]
    assert not open_plan(isolated, ["CUSTOM_OTHER"]).has_changes
    assert isolating(state(host("h1", GOLD))) == ()


def test_an_image_of_another_project_stays_as_it_is_unless_all_are_meant():
    key = f"trait:{GOLD}"
    images = [{**IMAGE, key: "required"}, {**IMAGE, "id": "theirs", key: "required"}]
    isolated = state(host("h1", GOLD), **ISOLATED)
    holders = {GOLD: frozenset({"h1-uuid"})}
    others = {"theirs": "their-project"}
    for all_images, wanted in ((False, set()), (True, {key})):
        plan = unisolate_plan(isolated, [GOLD], holders, images, others, all_images)
        own, theirs = (c for c in plan.changes if c.object.kind is Kind.IMAGE)
        assert (own.object.owner, own.removed) == ("", {key})
        assert (theirs.object.owner, theirs.removed) == ("their-project", wanted)
        reasons = [] if all_images else [Reason.OTHER_PROJECT]
        assert [kept.reason for kept in theirs.kept] == reasons


def removed(change):
    """Return the keys that are removed, and why others stay."""
    reasons = [(kept.reason, kept.names) for kept in change.kept]
    return set(change.removed), reasons


def test_a_trait_that_isolates_another_aggregate_stays_with_those_who_need_it():
    isolated = state(
        host("h1", GOLD),
        host("h2", GOLD),
        others=(aggregate(2, "h2", **ISOLATED),),
        flavors=[GOLDEN],
        **ISOLATED,
    )
    found = opened(isolated)
    reason = (Reason.OTHER_AGGREGATE, ("a2",))
    assert [removed(change) for change in found.changes[1:]] == [
        (set(), [reason]),
        ({GOLD}, []),
        (set(), [reason]),
    ]


def test_a_trait_that_other_providers_have_stays_in_flavors():
    isolated = state(host("h1", GOLD), flavors=[GOLDEN], **ISOLATED)
    _, released, taken = opened(isolated, outside=["elsewhere"]).changes
    assert removed(released) == (set(), [(Reason.OTHER_HOSTS, ("elsewhere",))])
    assert taken.removed == {GOLD}


def test_a_standard_trait_stays_everywhere_but_in_the_aggregate():
    isolated = state(
        host("h1", SSD),
        flavors=[flavor("f", **{f"trait:{SSD}": "required"})],
        **{SSD: "required"},
    )
    first, *others = opened(isolated, names=(SSD,)).changes
    assert first.removed == {f"trait:{SSD}"}
    assert [removed(each) for each in others] == [(set(), [(Reason.STANDARD, ())])] * 2


def test_without_traits_all_that_isolate_the_aggregate_are_meant():
    both = {SILVER: "required", GOLD: "required", SSD: "no"}
    assert to_remove(state(host("h1"), **both)) == (GOLD, SILVER)


def test_of_an_aggregate_that_names_no_trait_the_common_ones_are_named():
    with pytest.raises(NotIsolated) as caught:
        to_remove(state(host("h1", GOLD, SILVER, SSD), host("h2", GOLD, SSD)))
    assert caught.value.common == (GOLD,)
    with pytest.raises(NotIsolated) as caught:
        to_remove(state(host("h1", GOLD), host("h2")))
    assert caught.value.common == ()


def test_of_an_open_aggregate_whose_hosts_have_no_custom_trait_nothing_is_left():
    assert to_remove(state(host("h1", SSD), host("h2"))) == ()
    assert to_remove(state()) == ()
