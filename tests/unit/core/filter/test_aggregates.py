"""The filters that read aggregates' metadata, trap by trap."""

import pytest

from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter.state import Fails, Raises, Unknown
from osc_traitsched.core.nova.filter.table import judge
from tests.unit.core.filter.asked import host, says, settings, spec

EXTRA_SPECS = "AggregateInstanceExtraSpecsFilter"
TENANCY = "AggregateMultiTenancyIsolation"
TYPE = "AggregateTypeAffinityFilter"
ZONE = "AvailabilityZoneFilter"


@pytest.mark.parametrize(
    ("specs", "metadata", "answer"),
    [
        ({}, [], "yes"),
        ({"aggregate_instance_extra_specs:ssd": "true"}, [{"ssd": "true"}], "yes"),
        ({"aggregate_instance_extra_specs:ssd": "true"}, [], "no: no-metadata"),
        (
            {"aggregate_instance_extra_specs:ssd": "true"},
            [{"ssd": "True"}],
            "no: metadata-differs",
        ),
        ({"ssd": "true"}, [{}], "no: no-metadata"),
        ({"hw:ssd": "true", "trait:X": "required"}, [{}], "yes"),
        ({"aggregate_instance_extra_specs:a:b": "1"}, [{"a:b": "1"}], "yes"),
        ({"ssd": "b"}, [{"ssd": "a, b ,c"}], "yes"),
        ({"ssd": "b"}, [{"ssd": "a"}, {"ssd": "b"}], "yes"),
        ({"n": ">= 4"}, [{"n": "3,5"}], "yes"),
        ({"n": ">= 4"}, [{"n": "x"}], "raises: ValueError"),
        ({"n": "<or>"}, [{"n": "x"}], "raises: IndexError"),
        ({}, [{"ssd": "true"}], "yes"),
    ],
)
def test_extra_specs_without_a_scope_or_in_the_filters_own_are_compared(
    specs, metadata, answer
):
    assert says(EXTRA_SPECS, host(metadata=metadata), spec(specs)) == answer


def test_what_a_flavor_wants_and_the_aggregates_have_is_said():
    asked = spec({"aggregate_instance_extra_specs:ssd": "<or> x <or> y"})
    answer = judge(EXTRA_SPECS, host(metadata=[{"ssd": "b,a"}]), asked, settings())
    key = "aggregate_instance_extra_specs:ssd"
    origin = Origin("flavor", key)
    differs = Fails("metadata-differs", "ssd", "<or> x <or> y", ("a", "b"), origin)
    assert answer == differs


def test_an_image_is_not_read_for_extra_specs():
    asked = spec({}, {"aggregate_instance_extra_specs:ssd": "true"})
    assert says(EXTRA_SPECS, host(), asked) == "yes"


def test_the_first_extra_spec_that_fails_keeps_a_later_one_from_raising():
    state = host(metadata=[{"n": "x", "ssd": "no"}])
    assert says(EXTRA_SPECS, state, spec({"ssd": "yes", "n": "> 1"})).startswith("no")
    asked = spec({"n": ">= 1", "ssd": "yes"})
    assert says(EXTRA_SPECS, state, asked) == "raises: ValueError"


def test_whether_one_of_two_values_raises_depends_on_the_order_of_a_set():
    answer = judge(
        EXTRA_SPECS, host(metadata=[{"n": "5,x"}]), spec({"n": ">= 4"}), settings()
    )
    assert answer == Unknown("the order of a set", "n", "ValueError: >= 4", True)


def test_a_value_that_raises_names_the_flavors_key():
    asked = spec({"n": ">= 4"})
    answer = judge(EXTRA_SPECS, host(metadata=[{"n": "x"}]), asked, settings())
    assert answer == Raises("ValueError", "n", ">= 4", Origin("flavor", "n"))


@pytest.mark.parametrize(
    ("metadata", "release", "answer"),
    [
        ([], 34, "yes"),
        ([{"ssd": "true"}], 34, "yes"),
        ([{"filter_tenant_id": "p1"}], 20, "yes"),
        ([{"filter_tenant_id": "p0, p1"}], 20, "yes"),
        ([{"filter_tenant_id": "p0"}], 20, "no: other-projects"),
        ([{"filter_tenant_id": ""}], 34, "no: other-projects"),
        ([{"filter_tenant_id_x": "p0"}], 29, "yes"),
        ([{"filter_tenant_id_x": "p0"}], 30, "no: other-projects"),
        ([{"filter_tenant_id": "p0", "filter_tenant_id9": "p1"}], 30, "yes"),
        (
            [{"filter_tenant_id": "p0", "filter_tenant_id9": "p1"}],
            29,
            "no: other-projects",
        ),
        ([{"filter_tenant_id": "p0"}, {"filter_tenant_id": "p1"}], 34, "yes"),
    ],
)
def test_aggregates_that_name_projects_are_for_them_by_suffixes_from_30(
    metadata, release, answer
):
    assert says(TENANCY, host(metadata=metadata), spec(), release) == answer


def test_the_aggregate_that_names_other_projects_is_said():
    state = host(metadata=[{}, {"filter_tenant_id": "p9,p8"}])
    origin = Origin("aggregate", "filter_tenant_id", name="agg1")
    answer = judge(TENANCY, state, spec(), settings())
    found = ("p8", "p9")
    assert answer == Fails("other-projects", "filter_tenant_id", "p1", found, origin)


def test_why_aggregates_of_flavors_and_zones_reject_is_said():
    state = host(metadata=[{"instance_type": "f0", "availability_zone": "az2"}])
    asked = spec(zone="az1", release=27)
    assert says(TYPE, state, asked, 27) == "no: other-flavors"
    assert says(ZONE, state, asked, 27) == "no: other-zone"


def test_the_default_zone_is_an_option():
    asked = spec(zone="az0", release=20)
    assert says(ZONE, host(), asked, 20) == "no: other-zone"
    found = says(ZONE, host(), asked, 20, DEFAULT__default_availability_zone="az0")
    assert found == "yes"
