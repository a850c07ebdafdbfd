"""Which findings are about the flavors and images that somebody named."""

from __future__ import annotations

import pytest

from osc_traitsched.core import check
from osc_traitsched.core.check.survey import NOTE, WARNING, SubjectKind
from osc_traitsched.core.errors import NothingMatches
from tests.unit.core.check.surveys import flavor, identity, image, survey

GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"


@pytest.fixture
def cloud():
    flavors = [flavor("gold", trait__CUSTOM_GOLD="required"), flavor("plain")]
    images = [image("silver", trait__CUSTOM_SILVER="required")]
    return survey("a", flavors, images, known=[GOLD, SILVER])


def objects(cloud, flavors=(), images=()):
    found, _ = check.run(check.select(["traits-no-host"]), cloud)
    wanted = check.named(cloud, flavors, images)
    return [finding.name for finding in check.concerning(found, wanted)]


def test_all_findings_are_wanted_where_nothing_is_named(cloud):
    assert objects(cloud) == [GOLD, SILVER]


def test_a_flavor_or_an_image_is_named_by_its_name_or_id(cloud):
    assert objects(cloud, flavors=["gold"]) == [GOLD]
    assert objects(cloud, images=[identity("silver")]) == [SILVER]
    assert objects(cloud, ["gold"], ["silver"]) == [GOLD, SILVER]
    assert objects(cloud, flavors=["plain"]) == []


def test_a_finding_is_about_its_object_and_about_the_flavors_and_images_it_names():
    about = {"flavors": ("f",), "images": ("i",), "kind": SubjectKind.FORMAT}
    found = WARNING("raw", "no host has it", **about)
    assert found.is_about(SubjectKind.FORMAT, ["raw"])
    assert found.is_about(SubjectKind.FLAVOR, ["f", "g"])
    assert found.is_about(SubjectKind.IMAGE, ["i"])
    assert not found.is_about(SubjectKind.FLAVOR, ["i", "raw"])
    assert not found.is_about(SubjectKind.IMAGE, ["f", "raw"])
    # It names neither.
    unused = NOTE("CUSTOM_GOLD", "", hosts=("f",), kind=SubjectKind.TRAIT)
    assert not unused.is_about(SubjectKind.FLAVOR, ["f"])


def test_a_name_that_nothing_has_is_refused_with_those_like_it(cloud):
    with pytest.raises(NothingMatches) as caught:
        check.named(cloud, ["golt"], [])
    assert caught.value.nearest == ("gold",)


def test_an_image_that_is_not_among_those_looked_at_may_be_there_and_not_active(cloud):
    with pytest.raises(NothingMatches) as caught:
        check.named(cloud, [], ["deactivated"])
    assert caught.value.selector == "active image"


def test_a_pedantic_rule_runs_by_its_id_or_if_all_of_its_area_are_wanted():
    rule = "config-max-results"

    def runs(*names, **more):
        return rule in {each.id for each in check.select(names, **more)}

    assert runs(rule)
    assert not runs()
    assert not runs("config")
    assert runs(pedantic=True)
    assert runs("config", pedantic=True)
    assert not runs("traits", pedantic=True)
