"""The clouds of a run, each for all tests that use it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.cloud.cloud import ISOLATION, Cloud
from tests.services.release import NEWEST, WITH_NETWORK, chosen

if TYPE_CHECKING:
    from openstack.connection import Connection

PREFILTERS = (
    ISOLATION,
    "scheduler.query_placement_for_image_type_support=true",
    "scheduler.limit_tenants_to_placement_aggregate=true",
    "scheduler.image_metadata_prefilter=true",
)
if chosen().number < 24:
    # From Xena on it is so by default: zones are a prefilter's, and no filter's.
    PREFILTERS += (
        "scheduler.query_placement_for_availability_zone=true",
        "filter_scheduler.enabled_filters=ComputeFilter,ComputeCapabilitiesFilter,"
        "ImagePropertiesFilter,ServerGroupAntiAffinityFilter,"
        "ServerGroupAffinityFilter",
    )
_shared: list[Cloud] = []
ROUTED = "scheduler.query_placement_for_routed_network_aggregates=true"


@pytest.fixture(scope="session")
def cloud() -> Iterator[Cloud]:
    """A cloud of four computes that isolates aggregates by traits."""
    with Cloud() as cloud:
        _shared.append(cloud)
        yield cloud
        _shared.clear()


@pytest.fixture(scope="module", autouse=True)
def nothing_left() -> Iterator[None]:
    """No file leaves a server or an aggregate on the cloud that the next one uses."""
    yield
    for cloud in _shared:
        compute = cloud.admin().compute
        servers = [each.name for each in compute.servers(all_projects=True)]
        aggregates = [each.name for each in compute.aggregates()]
        assert (servers, aggregates) == ([], [])


@pytest.fixture(scope="session")
def admin(cloud: Cloud) -> Connection:
    """The cloud's administrator."""
    return cloud.admin()


@pytest.fixture(scope="session")
def small_pages() -> Iterator[Cloud]:
    """A cloud of five computes whose services list no more than two things at once."""
    with Cloud(
        computes=5,
        nova_options=(ISOLATION, "api.max_limit=2"),
        glance_options=("DEFAULT.api_limit_max=2", "DEFAULT.limit_param_default=2"),
        keystone_options=("DEFAULT.list_limit=2",),
    ) as cloud:
        yield cloud


@pytest.fixture(scope="session")
def connected() -> Iterator[Cloud]:
    """A cloud of four computes with Neutron and Cinder, whose zones count."""
    if chosen() != NEWEST:
        pytest.skip("Neutron and Cinder are those of the newest release")
    options = (*PREFILTERS, ROUTED, "cinder.cross_az_attach=false")
    with Cloud(nova_options=options, release=WITH_NETWORK) as cloud:
        yield cloud


@pytest.fixture(scope="session")
def prefiltering() -> Iterator[Cloud]:
    """A cloud of six computes whose scheduler has all its prefilters on."""
    with Cloud(computes=6, nova_options=PREFILTERS) as cloud:
        yield cloud


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the tables that tests record, whether they pass, in whatever process."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") == "call":
                for name, value in report.user_properties:
                    if name == "table":
                        terminalreporter.write_line(f"\n{value}")
