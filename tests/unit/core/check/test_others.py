"""Images of other projects: what they alone bring about is one note a rule."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core import check
from osc_traitsched.core.check.rule import ImagesOfOthers
from osc_traitsched.core.check.survey import Severity, SubjectKind
from tests.unit.core.check.surveys import (
    aggregate,
    assumed,
    findings,
    flavor,
    host,
    identity,
    image,
    survey,
)
from tests.unit.core.check.test_config import VIRTIO

OWN, OTHER = "5a1e0000000000000000000000000001", "5a1e0000000000000000000000000002"
GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"

NEEDS_GOLD = {"trait__CUSTOM_GOLD": "required"}


def of(*images, **more):
    """Return a cloud with one host and these images, asked by a user of OWN."""
    return survey("a", images=images, own_project=OWN, **more)


def owned(name, owner=OTHER, visibility="private", disk_format="raw", **properties):
    own = image(name, disk_format, **properties)
    return {**own, "owner": owner, "visibility": visibility}


def titled(name):
    return f"{name} ({identity(name)}, owner {OTHER})"


@pytest.mark.parametrize("visibility", ["private", "shared", "community"])
def test_a_hundred_traits_of_one_image_are_one_note_about_it(visibility):
    names = [f"CUSTOM_N{n}" for n in range(100)]
    required = {f"trait__{name}": "required" for name in names}
    (found,) = findings(of(owned("t", visibility=visibility, **required)))
    assert isinstance(found, ImagesOfOthers)
    assert (found.rule, found.severity) == ("traits-unknown", Severity.NOTE)
    assert (found.kind, found.name) == (SubjectKind.IMAGE, titled("t"))
    assert {each.name for each in found.found} == set(names)


@pytest.mark.parametrize(
    ("owner", "visibility"), [(OWN, "private"), (OWN, "public"), (OTHER, "public")]
)
def test_images_that_are_public_or_the_callers_own_count_as_flavors_do(
    owner, visibility
):
    (found,) = findings(of(owned("t", owner, visibility, **NEEDS_GOLD)))
    assert (found.rule, found.severity) == ("traits-unknown", Severity.ERROR)
    assert (found.kind, found.name) == (SubjectKind.TRAIT, GOLD)


def test_to_who_is_logged_in_to_no_project_only_public_images_count():
    private, public = owned("t", OWN, **NEEDS_GOLD), owned("p", OWN, "public")
    cloud = survey("a", images=[private, public], own_project=None)
    (found,) = findings(cloud)
    assert found.severity is Severity.NOTE


_ON = assumed(query_placement_for_image_type_support=True)
_OFF = assumed(query_placement_for_image_type_support=False)
_NO_METADATA = assumed(image_metadata_prefilter=False)
_METADATA = assumed(image_metadata_prefilter=True)
_VMDK = "COMPUTE_IMAGE_TYPE_VMDK"


def two_hosts(image, assumptions=None, traits=(), flavors=(), known=()):
    hosts = [host("a", *traits), host("b")]
    more = {"assumptions": assumptions} if assumptions else {}
    return survey(hosts, flavors, [image], known=known, own_project=OWN, **more)


@pytest.mark.parametrize(
    ("rule", "cloud"),
    [
        ("traits-bad-value", of(owned("t", trait__CUSTOM_GOLD="forbidden"))),
        ("traits-no-host", of(owned("t", **NEEDS_GOLD), known=[GOLD])),
        (
            "traits-not-together",
            survey(
                [host("a", GOLD), host("b", SILVER)],
                images=[owned("t", trait__CUSTOM_SILVER="required", **NEEDS_GOLD)],
                own_project=OWN,
            ),
        ),
        (
            "traits-rejected",
            of(owned("t", hw_cpu_policy="odd"), flavors=[flavor("f")]),
        ),
        (
            "image-type-no-host",
            two_hosts(owned("t", disk_format="vmdk"), _ON, known=[_VMDK]),
        ),
        (
            "image-type-off",
            two_hosts(owned("t", disk_format="vmdk"), _OFF, [_VMDK]),
        ),
        (
            "image-type-flavor-no-host",
            two_hosts(
                owned("t", disk_format="vmdk"),
                _ON,
                [_VMDK, GOLD],
                [flavor("f", trait__CUSTOM_GOLD="forbidden")],
            ),
        ),
        (
            "config-image-metadata-off",
            two_hosts(owned("t", hw_video_model="virtio"), _NO_METADATA, [VIRTIO]),
        ),
        (
            "config-image-metadata-no-trait",
            two_hosts(owned("t", hw_viommu_model="virtio"), _METADATA),
        ),
    ],
)
def test_no_rule_has_an_error_or_a_warning_for_images_of_others_alone(rule, cloud):
    (found,) = findings(cloud, rule)
    assert found.rule == rule
    assert (found.severity, found.images) == (Severity.NOTE, (titled("t"),))
    mine = {**cloud.images[0], "owner": OWN}
    (found,) = findings(dataclasses.replace(cloud, images=(mine,)), rule)
    assert found.severity is not Severity.NOTE


def test_a_trait_that_a_flavor_names_too_is_an_error_that_names_both():
    cloud = of(owned("t", **NEEDS_GOLD), flavors=[flavor("f", **NEEDS_GOLD)])
    (found,) = findings(cloud)
    assert (found.severity, found.name) == (Severity.ERROR, GOLD)
    assert (found.flavors, found.images) == (("f",), (titled("t"),))


def test_an_aggregates_unknown_trait_is_no_worse_for_an_image_of_others():
    empty = aggregate("empty", **NEEDS_GOLD)
    (found,) = findings(
        of(owned("t", **NEEDS_GOLD), aggregates=[empty]), "traits-unknown"
    )
    assert (found.severity, found.aggregates) == (Severity.WARNING, ("empty",))


def test_own_images_are_named_before_those_of_others():
    images = [owned("a", **NEEDS_GOLD), owned("z", OWN, **NEEDS_GOLD)]
    (found,) = findings(of(*images))
    assert (found.severity, found.images) == (Severity.ERROR, ("z", titled("a")))


def test_many_images_of_others_are_one_note_a_rule_and_come_last():
    theirs = [owned(f"t{n}", **NEEDS_GOLD) for n in range(30)]
    theirs += [owned("odd", trait__CUSTOM_GOLD="odd")]
    note = flavor("g", trait__CUSTOM_SILVER="required")
    cloud = survey([host("a", SILVER), host("b")], [note], theirs, own_project=OWN)
    found = findings(cloud)
    assert [each.rule for each in found] == [
        "traits-few-hosts",
        "traits-unknown",
        "traits-bad-value",
    ]
    assert len(found[1].images) == 30


def test_what_is_said_of_one_image_is_folded_without_the_others():
    cloud = of(owned("t", **NEEDS_GOLD), owned("u", trait__CUSTOM_SILVER="required"))
    wanted = check.named(cloud, [], ["t"])
    (found,), _ = check.run(check.select([]), cloud, wanted)
    assert (found.images, len(found.found)) == ((titled("t"),), 1)


@pytest.mark.parametrize("name", ["t", identity("t"), titled("t")])
def test_an_image_of_others_is_named_by_its_name_its_id_or_both(name):
    cloud = of(owned("t"), owned("u"))
    assert check.named(cloud, [], [name])[SubjectKind.IMAGE] == {titled("t")}


def test_a_public_image_of_another_project_is_named_with_its_id_and_owner():
    cloud = of(owned("t", visibility="public", trait__CUSTOM_GOLD="odd"))
    (found,) = findings(cloud)
    assert (found.severity, found.name) == (Severity.ERROR, titled("t"))
