"""Removing traits: what is looked at before, and again afterwards."""

from __future__ import annotations

import pytest

from osc_traitsched.app import trait
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import lookup
from osc_traitsched.cloud.service import unread
from osc_traitsched.core.change.effects import LeavesNoHost
from osc_traitsched.core.change.model import foreseen_outcomes
from osc_traitsched.core.change.traits import LastHolder, Requirer
from osc_traitsched.core.errors import BadConfiguration, CloudBroke, NotInCatalog
from osc_traitsched.core.inventory.snapshot import Selectors
from tests.unit.app import shorthands
from tests.unit.app.recorded import (
    CMP01,
    CMP02,
    CMP03,
    OTHER,
    OWN,
    ROCKY,
    RecordedCloud,
    flavor,
    providers,
)

GOLD = "CUSTOM_GOLD"
HAVING = f"/resource_providers?required={GOLD}"
SHARING, DISABLED = "MISC_SHARES_VIA_AGGREGATE", "COMPUTE_STATUS_DISABLED"
GOLDEN = flavor("gold", **{f"trait:{GOLD}": "required"})
FLAVORS = "/flavors/detail?is_public=None"


def cloud(
    flavors=(GOLDEN,),
    holders=(CMP01, CMP03),
    known=(),
    images=(),
    disabled=(),
    **compute,
):
    """Return a cloud whose flavor gold has one host: cmp01, as cmp03 has no room."""
    bodies = {FLAVORS: {"flavors": list(flavors)}}
    asked = f"/images?trait:{GOLD}=required&visibility=all&limit=1000&os_hidden="
    every = "/images?visibility=all&limit=1000&os_hidden="
    return RecordedCloud(
        compute={**bodies, **compute},
        placement={
            "/resource_classes": {
                "resource_classes": [
                    {"name": name} for name in ("VCPU", "MEMORY_MB", "DISK_GB")
                ]
            },
            HAVING: providers(*holders),
            f"/resource_providers?required={DISABLED}": providers(*disabled),
            "/traits": {"traits": [DISABLED, GOLD, *known]},
            "/resource_providers?required=!OWNER_NOVA": providers(CMP01, CMP02, CMP03),
        },
        image={
            f"{asked}false": {"images": list(images)},
            f"{asked}true": {"images": []},
            f"{every}false": {"images": list(images)},
            f"{every}true": {"images": []},
        },
    )


def remove(found, host="cmp01", force=False):
    return trait.plan_remove(
        found, trait.TraitSelection([GOLD], Selectors(hosts=(host,)), force=force)
    )


def compute_asked(found):
    return [path for path, _ in found.compute.asked]


def test_a_flavor_that_would_lose_its_only_host_with_room_is_named():
    (refusal,) = remove(cloud()).refusals
    assert isinstance(refusal, LeavesNoHost)
    effect, in_zone = refusal.effects
    assert (effect.flavor, effect.room.now, effect.room.then) == (
        "gold",
        {CMP01},
        frozenset(),
    )
    # cmp03, which is full, is left for good; but it is not in the zone.
    assert (effect.ever.now, effect.ever.then) == ({CMP01, CMP03}, {CMP03})
    assert (in_zone.asked.context.zone, in_zone.ever.then) == ("zone1", frozenset())


@pytest.mark.parametrize(
    ("key", "value"), [("trait:custom_gold", "Required"), (f"TRAIT:{GOLD}", "required")]
)
def test_an_aggregate_in_other_letters_requires_the_trait_too(key, value):
    """Which database Nova has is not asked: to be careful is to take either."""
    odd = {"uuid": OTHER, "name": "odd", "hosts": [], "metadata": {key: value}}
    aggregates = {"/os-aggregates": {"aggregates": [{"id": 1, **odd}]}}
    found = lookup.requirers(cloud(flavors=(), **aggregates), [GOLD])
    assert found == {GOLD: (Requirer("aggregate", "odd", key, "1"),)}


def test_what_becomes_of_flavors_is_judged_by_the_settings_that_were_found():
    sources = SettingsSources(found=SettingsSources("a test", nova_conf=("none.conf",)))
    host = Selectors(hosts=("cmp01",))
    todo = trait.plan_remove(cloud(), trait.TraitSelection([GOLD], host), sources)
    assert [type(each) for each in todo.refusals] == [BadConfiguration]


def test_force_removes_it_and_names_the_flavors_that_lose_their_last_host():
    todo = remove(cloud(), force=True)
    assert todo.plan.has_changes
    (refusal,) = todo.refusals
    assert isinstance(refusal, LeavesNoHost)


def test_a_flavor_that_keeps_its_host_is_not_in_the_way():
    todo = remove(cloud(), host="cmp03")
    assert todo.plan.has_changes
    (effect,) = todo.effects
    assert (effect.flavor, effect.room.now, effect.room.then) == (
        "gold",
        {CMP01},
        {CMP01},
    )


def test_where_no_flavor_requires_the_trait_lists_are_all_that_is_read_of_nova():
    found = cloud([flavor("small")])
    todo = remove(found)
    assert (todo.effects, todo.unread) == ((), None)
    lists = {"/flavors/detail", "/os-aggregates", "/os-hypervisors/detail"}
    assert {*compute_asked(found)} == {*lists, "/servers/detail", "/os-services"}


def test_where_another_host_keeps_the_trait_nova_need_not_answer_and_that_is_said():
    why = CloudBroke("compute", "no", 403)
    todo = remove(cloud(**{FLAVORS: why}))
    assert todo.plan.has_changes
    assert todo.unread is why


def add(found, name=GOLD, host="cmp02"):
    return trait.plan_add(found, trait.TraitSelection([name], Selectors(hosts=(host,))))


@pytest.mark.parametrize("status", [400, 403, 500, None])
def test_an_add_says_why_its_effects_on_flavors_are_unknown(status):
    why = CloudBroke("compute", "broken", status)
    todo = add(cloud(**{FLAVORS: why}))
    assert todo.plan.has_changes
    assert todo.unread is why


@pytest.mark.parametrize(
    "why", [NotInCatalog("compute"), CloudBroke("compute", "not Nova", 404)]
)
def test_an_add_to_placement_alone_has_no_effects_to_speak_of(why):
    todo = add(cloud(**{FLAVORS: why}))
    assert todo.plan.has_changes
    assert todo.unread is None


def test_an_add_notes_that_hidden_flavors_may_forbid_the_trait():
    public = {"/flavors/detail?is_public=False": {"flavors": [GOLDEN]}}
    for bodies, noted in (({}, 0), (public, 1)):
        found = cloud([flavor("small")], **bodies)
        add(found)
        assert len(unread(found)) == noted


def test_an_add_names_the_flavors_that_it_lets_in():
    todo = add(cloud())
    assert todo.refusals == ()
    assert todo.lets_in.keys() == {GOLD}
    assert "flavor 'gold' may land on" in todo.lets_in[GOLD]


def test_a_host_that_has_such_a_trait_already_is_left_as_it_is():
    found = cloud(known=("COMPUTE_NODE",))
    todo = trait.plan_add(
        found, trait.TraitSelection(["COMPUTE_NODE"], Selectors(hosts=("cmp01",)))
    )
    assert not todo.plan.has_changes


def test_a_provider_in_a_host_s_tree_is_no_host():
    gpu = Selectors(providers=("cmp01_gpu",))
    todo = trait.plan_add(cloud(known=(SHARING,)), trait.TraitSelection([SHARING], gpu))
    assert todo.plan.has_changes


def image(name, **more):
    return {
        **ROCKY,
        "id": f"{name}-id",
        "name": name,
        f"trait:{GOLD}": "required",
        **more,
    }


THEIRS = image("theirs", owner=OTHER, visibility="private")
SHARED = image("shared", owner=OTHER, visibility="community")
PUBLIC = image("public", owner=OTHER, visibility="public")
MINE = image("mine", owner=OWN, visibility="private")


def without_aggregates(*images, holders=(CMP01,)):
    """Return a cloud in which nothing but images requires the trait."""
    nobody = {"/os-aggregates": {"aggregates": []}}
    servers = {"/servers/detail?all_tenants=1&limit=1000": {"servers": []}}
    return cloud([flavor("small")], holders, images=images, **nobody, **servers)


def test_an_image_that_any_user_could_make_is_passed_over_and_said():
    todo = remove(without_aggregates(THEIRS, SHARED))
    assert todo.plan.has_changes
    assert [(each.name, each.id, each.owner) for each in todo.passed_over] == [
        ("theirs", "theirs-id", OTHER),
        ("shared", "shared-id", OTHER),
    ]


@pytest.mark.parametrize("blocking", [PUBLIC, MINE], ids=["public", "own"])
def test_a_public_image_and_one_s_own_are_in_the_way(blocking):
    (refusal,) = remove(without_aggregates(THEIRS, blocking)).refusals
    (requirers,) = refusal.requirers.values()
    assert [each.name for each in requirers] == [blocking["name"]]


def unisolate(image, **options):
    servers = {"/servers/detail?all_tenants=1&limit=1000": {"servers": []}}
    found = cloud(images=[image], **servers)
    todo, wanted = shorthands.opened(found, "gold", remove_traits=True, **options)
    rows = wanted.rows(foreseen_outcomes(todo.plan), todo.claims.units)
    (row,) = (each for each in rows if each.change.object.id == image["id"])
    return row.change, todo.refusals


def test_opening_leaves_an_image_that_any_user_could_make_and_is_not_stopped_by_it():
    change, refusals = unisolate(THEIRS)
    assert (change.object.owner, change.is_needed) == (OTHER, False)
    assert refusals == ()
    assert unisolate(THEIRS, all_images=True)[0].is_needed
    assert unisolate(MINE)[0].is_needed


def test_a_public_image_of_others_is_written_if_told_or_else_in_the_way():
    _, refusals = unisolate(PUBLIC)
    (refusal,) = (each for each in refusals if isinstance(each, LastHolder))
    assert [each.name for each in refusal.requirers[GOLD]] == ["public"]
    change, refusals = unisolate(PUBLIC, all_images=True)
    assert (change.is_needed, refusals) == (True, ())
