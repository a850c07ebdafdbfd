"""What Placement rejects is refused, however the request reaches it."""

from __future__ import annotations

import pytest

from osc_traitsched.app import explain
from osc_traitsched.core.errors import PlacementRefuses
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Question
from tests.services.nova import HalfCloud, MadeUpNova

pytestmark = pytest.mark.one_client

FLAVOR = {"name": "odd", "vcpus": 1, "ram": 512, "disk": 1}
UNKNOWN_CLASS = {"resources:CUSTOM_FOO": "1"}
SCSI = {"name": "image", "disk_format": "qcow2", "hw_disk_bus": "scsi"}


@pytest.fixture
def cloud(placement):
    """One host, without any trait of images."""
    return HalfCloud(
        placement.url, MadeUpNova([("cmp01", placement.add_host("cmp01"))])
    )


def asked(extra_specs, image=None, **options):
    flavor = {**FLAVOR, "extra_specs": extra_specs}
    return Question(flavor, image, (), SchedulerSettings.of(33, **options))


@pytest.mark.parametrize(
    "question",
    [
        asked(UNKNOWN_CLASS),
        asked(UNKNOWN_CLASS, SCSI, image_metadata_prefilter=True),
    ],
    ids=["alone", "behind a trait that no host has"],
)
def test_an_unknown_resource_class_is_refused_with_placements_own_words(
    cloud, question
):
    found = explain.explain(cloud, question).judgement
    assert isinstance(found.refusal, PlacementRefuses)
    assert found.refusal.reason.endswith("No such resource class CUSTOM_FOO.")
