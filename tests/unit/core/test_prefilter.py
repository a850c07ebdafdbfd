"""Nova's prefilters: which of them run, and what each adds and why."""

import pytest

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.clause import MemberOf, Origin, RootTrait, Trait
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.server import NotEvaluated
from osc_traitsched.core.releases import RELEASES
from tests.aggregates import aggregate
from tests.unit.core.scheduled import asking

FLAVOR = {"vcpus": 1, "ram": 512, "disk": 1, "swap": "", "extra_specs": {}}
IMAGE = {"status": "active", "disk_format": "qcow2"}


def asked(*aggregates, specs=None, image=IMAGE, release=33, also=None, **options):
    """Return the request for a small flavor, with options of [scheduler]."""
    flavor = {**FLAVOR, "extra_specs": specs or {}}
    settings = SchedulerSettings.of(release, **options)
    question = Question(flavor, image, aggregates, settings)
    return asking(question, **(also or {})).request()


def added(found, name):
    """Return the clauses that a prefilter has added."""
    return [c for c in found.clauses if c.origins[0].key == name]


def test_an_isolated_aggregate_is_kept_out_by_each_trait_that_is_not_required():
    gold = aggregate(
        "agg1", trait__CUSTOM_GOLD="required", trait__CUSTOM_GPU="required"
    )
    plain = aggregate("agg2", ssd="true")

    found = asked(
        gold,
        plain,
        specs={"trait:CUSTOM_GPU": "required"},
        enable_isolated_aggregate_filtering=True,
    )

    option = "scheduler.enable_isolated_aggregate_filtering"
    assert added(found, "isolate_aggregates") == [
        MemberOf(
            frozenset({gold.uuid}),
            True,
            (
                Origin("prefilter", "isolate_aggregates", option=option),
                Origin("aggregate", "trait:CUSTOM_GOLD", name="agg1"),
            ),
        )
    ]


def test_all_forbidden_aggregates_are_one_parameter_and_a_clause_each():
    isolated = [aggregate(name, trait__CUSTOM_GOLD="required") for name in ("b", "a")]

    found = asked(*isolated, enable_isolated_aggregate_filtering=True)

    assert len(added(found, "isolate_aggregates")) == 2
    assert found.query().count("member_of=") == 1
    assert "member_of=%21in%3Aa%2Cb" in found.query()


def test_a_project_is_restricted_to_all_the_aggregates_that_name_it():
    first = aggregate("agg1", filter_tenant_id="mine")
    second = aggregate("agg2", filter_tenant_id_b="mine")
    foreign = aggregate("agg3", filter_tenant_id="theirs")

    found = asked(
        first,
        second,
        foreign,
        also={"project": "mine"},
        limit_tenants_to_placement_aggregate=True,
    )

    (clause,) = added(found, "require_tenant_aggregate")
    assert clause.aggregates == {first.uuid, second.uuid}
    assert [o.key for o in clause.origins[1:]] == [
        "filter_tenant_id",
        "filter_tenant_id_b",
    ]


def test_a_project_without_an_aggregate_is_refused_where_it_needs_one():
    with pytest.raises(Refusal) as caught:
        asked(
            also={"project": "mine"},
            limit_tenants_to_placement_aggregate=True,
            placement_aggregate_required_for_tenants=True,
        )

    refusal = caught.value
    assert refusal.exception == "RequestFilterFailed"
    assert (refusal.stage, refusal.http) == ("no valid host", None)


def test_a_project_that_is_not_given_is_named():
    found = asked(limit_tenants_to_placement_aggregate=True)

    assert NotEvaluated("project not given", "project_id") in found.not_evaluated


def test_a_zone_is_its_aggregates():
    east = aggregate("agg1", availability_zone="east")

    found = asked(east, also={"zone": "east"})

    assert added(found, "map_az_to_placement_aggregate") == [
        MemberOf(
            frozenset({east.uuid}),
            False,
            (
                Origin("prefilter", "map_az_to_placement_aggregate"),
                Origin("aggregate", "availability_zone", name="agg1"),
            ),
        )
    ]


def test_a_zone_without_an_aggregate_restricts_nothing_and_is_named():
    found = asked(also={"zone": "nowhere"})

    assert added(found, "map_az_to_placement_aggregate") == []
    kind = "zone has no aggregate, so no restriction"
    assert NotEvaluated(kind, "nowhere") in found.not_evaluated


def test_an_option_that_the_release_no_longer_has_switches_nothing_off():
    east = aggregate("agg1", availability_zone="east")
    off = {"query_placement_for_availability_zone": False}

    zoned = {
        release: bool(
            added(
                asked(east, release=release, also={"zone": "east"}, **off),
                "map_az_to_placement_aggregate",
            )
        )
        for release in (27, 28)
    }

    assert zoned == {27: False, 28: True}


def test_an_image_type_is_required_because_of_the_disk_format():
    found = asked(query_placement_for_image_type_support=True)

    option = "scheduler.query_placement_for_image_type_support"
    assert added(found, "require_image_type_support") == [
        RootTrait(
            "COMPUTE_IMAGE_TYPE_QCOW2",
            False,
            (
                Origin("prefilter", "require_image_type_support", option=option),
                Origin("image", "disk_format"),
            ),
        )
    ]


def test_an_image_type_without_a_trait_is_named():
    found = asked(
        image={**IMAGE, "disk_format": "gpt"},
        query_placement_for_image_type_support=True,
    )

    assert (
        NotEvaluated("image type unknown trait", "disk_format", "gpt")
        in found.not_evaluated
    )


def test_in_train_the_conditions_on_the_root_are_the_flavor_s_own_traits():
    found = asked(release=20, specs={"trait:COMPUTE_STATUS_DISABLED": "required"})

    assert added(found, "compute_status_filter") == [
        Trait(
            "",
            "COMPUTE_STATUS_DISABLED",
            True,
            (Origin("prefilter", "compute_status_filter"),),
        )
    ]
    key = "trait:COMPUTE_STATUS_DISABLED"
    assert NotEvaluated("overwritten", key, "required") in found.not_evaluated


def test_one_property_without_a_trait_switches_image_metadata_off_and_is_named():
    image = {**IMAGE, "hw_disk_bus": "virtio", "hw_viommu_model": "virtio"}

    found = asked(image=image, image_metadata_prefilter=True)

    assert added(found, "transform_image_metadata") == []
    kind = "image metadata prefilter adds nothing"
    assert NotEvaluated(kind, "hw_viommu_model", "virtio") in found.not_evaluated


def test_one_trait_for_two_properties_has_both_as_origins():
    image = {**IMAGE, "hw_disk_bus": "sata", "hw_cdrom_bus": "sata"}

    found = asked(image=image, image_metadata_prefilter=True)

    (clause,) = added(found, "transform_image_metadata")
    assert [o.key for o in clause.origins[1:]] == ["hw_cdrom_bus", "hw_disk_bus"]


@pytest.mark.parametrize(("new", "required"), [(True, 1), (None, 1), (False, 0)])
def test_nova_s_own_mark_is_required_unless_some_compute_is_old(new, required):
    assumptions = SchedulerSettings(34, all_computes_new=new)

    found = Question(FLAVOR, IMAGE, (), assumptions).request()

    assert len(added(found, "owner_nova_filter")) == required


@pytest.mark.parametrize("release", RELEASES)
def test_a_disabled_host_is_left_out_in_every_release(release):
    (clause,) = added(asked(release=release), "compute_status_filter")

    assert (clause.name, clause.forbidden) == ("COMPUTE_STATUS_DISABLED", True)
