"""Device profiles: of Cyborg, of a cloud without it, and of one that hides it."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.cloud import request_parts
from osc_traitsched.core.errors import CloudBroke, NotInCatalog, Refusal
from osc_traitsched.core.judge.filtering import filtering
from osc_traitsched.core.nova.server import NO_PARTS, Network, Port
from tests.unit.core import scheduled

FLAVOR = {"extra_specs": {"accel:device_profile": "fpga"}}
BODY = {"cloud": {"a": {}}, "flavor": {"accel:device_profile": "fpga"}}


class CloudOf:
    """A cloud whose catalog or Cyborg does not give the service."""

    def __init__(self, error):
        self._error = error

    @property
    def accelerator(self):
        raise self._error


def asked(error, release=33):
    parts = request_parts.with_profiles(CloudOf(error), NO_PARTS, FLAVOR)
    question = scheduled.question(BODY, release=release)
    return dataclasses.replace(question, parts=parts)


def test_a_catalog_without_cyborg_has_no_profile_and_nova_api_refuses():
    with pytest.raises(Refusal) as caught:
        asked(NotInCatalog("accelerator")).request()
    assert (caught.value.http, caught.value.stage) == (400, "api")
    assert caught.value.exception == "DeviceProfileError"
    assert "Cyborg is not in the catalog" in str(caught.value)
    # Train does not read the key.
    assert asked(NotInCatalog("accelerator"), release=20).request()


@pytest.mark.parametrize("status", [403, 404, 500, None])
def test_where_cyborg_does_not_answer_its_profiles_are_unknown(status):
    question = asked(CloudBroke("accelerator", "no", status))
    assert question.request()
    assert question.parts.device_profiles == {}
    found = filtering(question, scheduled.computes(BODY).values())
    assert found.unsettled == ("Cyborg",)


def test_a_port_with_a_profile_gets_its_device_of_cyborg_too():
    port = Port("p", Network("n"), device_profile="fpga", vnic_type="normal")
    parts = dataclasses.replace(NO_PARTS, ports=(port,))
    question = scheduled.question({"cloud": {"a": {}}}, parts=parts)
    found = filtering(question, scheduled.computes(BODY).values())
    assert found.unsettled == ("Cyborg",)
