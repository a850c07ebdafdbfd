"""What adding and removing say beside their rows."""

from __future__ import annotations

from osc_traitsched.core.change import effects, traits
from osc_traitsched.core.change.impact import Asked, Effect, HostSets
from osc_traitsched.core.change.traits import Requirer, Selector, TakenByOthers
from osc_traitsched.views import results


def test_a_trait_that_others_took_comes_with_the_command_that_gives_it_back():
    requirer = Requirer("flavor", "gold", "trait:CUSTOM_GOLD", "f1")
    providers = (Selector("host", "cmp 1"), Selector("provider", "cmp2_gpu"))
    found = TakenByOthers("CUSTOM_GOLD", providers, (requirer,))
    assert results.taken_by_others(found) == (
        "no host has CUSTOM_GOLD any more, and it is required by flavor 'gold' "
        "(trait:CUSTOM_GOLD): others changed that meanwhile; openstack trait-sched add "
        "CUSTOM_GOLD --host 'cmp 1' --provider cmp2_gpu gives it back"
    )


def test_images_of_other_projects_are_named_with_id_and_owner():
    found = Requirer("image", "win\x1b", "trait:CUSTOM_GOLD", "i1", "p1")
    assert traits.passed_over([found]) == (
        "no host will be left for images of other projects: image 'win\\x1b' (i1, "
        "owner p1, trait:CUSTOM_GOLD)"
    )


def test_losses_without_an_aggregate_do_not_speak_of_one():
    course = HostSets(frozenset("abc"), frozenset("c"))
    effect = Effect(Asked("gold", None), course, course)
    assert effects.losses([effect]) == [
        "flavor 'gold' will lose 2 of 3 hosts and keep 1"
    ]
