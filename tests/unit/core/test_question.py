"""What Nova rejects before it looks at flavor and image together."""

import dataclasses

import pytest

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Question


def question(**flavor):
    return Question({"id": "1", "name": "f", **flavor}, None, (), SchedulerSettings())


def test_a_disabled_flavor_is_not_found_by_nova_api():
    disabled = question(**{"OS-FLV-DISABLED:disabled": True})
    with pytest.raises(Refusal) as refused:
        disabled.check_enabled()
    assert (refused.value.exception, refused.value.http) == ("FlavorNotFound", 400)
    assert refused.value.stage == "api"


@pytest.mark.parametrize("flavor", [{}, {"OS-FLV-DISABLED:disabled": False}])
def test_any_other_flavor_is_taken(flavor):
    question(**flavor).check_enabled()


def test_the_filters_see_flavor_image_and_project_of_a_question():
    asked = dataclasses.replace(
        question(vcpus=1), image={"id": "i1", "name": "raw"}, project="p1"
    )
    spec = asked.request_spec()
    assert (spec.flavor_name, spec.image_id) == ("f", "i1")
    assert spec.server.project_id == "p1"
    from_volume = asked.with_spec(boot_from_volume=True)
    assert from_volume.request_spec().image_id == "i1"
    assert dataclasses.replace(from_volume, image=None).request_spec().image_id == ""


@pytest.mark.parametrize(
    ("release", "passed_on"),
    [(30, {"_nova_other", "reservation"}), (31, {"reservation"})],
)
def test_hints_that_nova_gives_to_itself_are_not_passed_on_from_2025_1_on(
    release, passed_on
):
    hints = {"_nova_other": ("1",), "reservation": ("r1",)}
    settings = SchedulerSettings(release=release)
    asked = dataclasses.replace(question(), assumptions=settings).with_spec(hints=hints)
    assert asked.request_spec().hints.keys() == passed_on
