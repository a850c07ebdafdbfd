"""What is read is named as its service's users name it."""

from __future__ import annotations

import pytest

from osc_traitsched.views import terminal


@pytest.mark.parametrize(
    ("path", "noun"),
    [
        ("/resource_providers", "resource providers"),
        ("/resource_providers?required=CUSTOM_GOLD", "resource providers"),
        ("/resource_providers/1d/traits", "resource providers"),
        ("/allocation_candidates?resources=VCPU:1", "allocation candidates"),
        ("/os-hypervisors/detail", "hypervisors"),
        ("/os-services", "compute services"),
        ("/os-aggregates", "host aggregates"),
        ("/os-availability-zone", "availability zones"),
        ("/flavors/detail", "flavors"),
        ("/traits?associated=true", "traits"),
    ],
)
def test_a_path_is_named_by_what_it_begins_with(path, noun):
    assert terminal.line(path) == f"reading {noun} ..."


def test_what_is_read_in_pages_says_how_many():
    assert terminal.line("/servers/detail", 12) == "reading servers (12) ..."
