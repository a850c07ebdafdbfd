"""The filters of services, and of hosts and images that are kept for each other."""

import pytest

from osc_traitsched.core.nova.filter.state import Fails
from osc_traitsched.core.nova.filter.table import judge
from tests.unit.core.filter.asked import host, says, settings, spec

ISOLATED = "IsolatedHostsFilter"


@pytest.mark.parametrize(
    ("compute", "answer"),
    [
        ({"is_up": False}, "no: service-down"),
        ({"is_up": False, "is_enabled": False}, "no: service-disabled"),
    ],
)
def test_a_service_has_to_be_enabled_and_up(compute, answer):
    assert says("ComputeFilter", host(compute=compute), spec()) == answer


def test_why_a_service_was_disabled_is_said():
    state = host(compute={"is_enabled": False, "disabled_reason": "broken fan"})
    answer = judge("ComputeFilter", state, spec(), settings())
    assert answer == Fails("service-disabled", found=("broken fan",))


@pytest.mark.parametrize("name", ["AllHostsFilter", "RetryFilter"])
def test_some_filters_let_every_host_through(name):
    assert says(name, host(compute={"is_up": False}), spec(), 21) == "yes"


@pytest.mark.parametrize(
    ("images", "hosts", "restrict", "answer"),
    [
        (("i0",), ("cmp1",), True, "no: isolated-host"),
        ((), ("CMP1",), True, "yes"),
        (("i1",), (), False, "no: isolated-image"),
    ],
)
def test_isolated_images_and_hosts_go_together(images, hosts, restrict, answer):
    section = "filter_scheduler__"
    options = {
        f"{section}isolated_images": images,
        f"{section}isolated_hosts": hosts,
        f"{section}restrict_isolated_hosts_to_isolated_images": restrict,
    }
    assert says(ISOLATED, host(), spec(), **options) == answer


def test_a_server_without_an_image_is_not_isolated():
    options = {"filter_scheduler__isolated_images": ("i1", "")}
    assert says(ISOLATED, host(), spec(image_id="i1"), **options).startswith("no")
    options["filter_scheduler__isolated_images"] = ("i1",)
    assert says(ISOLATED, host(), spec(image_id=""), **options) == "yes"
