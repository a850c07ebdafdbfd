"""What adding and removing say beside their rows."""

from __future__ import annotations

from osc_traitsched.core.change import effects, traits
from osc_traitsched.core.change.impact import Asked, Effect, HostSets
from osc_traitsched.core.change.traits import Requirer


def test_images_of_other_projects_are_named_with_id_and_owner():
    found = Requirer("image", "win\x1b", "trait:CUSTOM_GOLD", "i1", "p1")
    assert traits.passed_over([found]) == (
        "no host will be left for images of other projects: image 'win\\x1b' (i1, "
        "owner p1, trait:CUSTOM_GOLD)"
    )


def test_a_loss_is_said_as_hosts_before_and_after():
    course = HostSets(frozenset("abc"), frozenset("c"))
    effect = Effect(Asked("gold", None), course, course)
    assert effects.losses([effect]) == ["flavor 'gold': hosts with room 3 -> 1"]
