"""Objects that a service answers for as nobody expects."""

from __future__ import annotations

import dataclasses
import types

import pytest

from osc_traitsched.cloud import write
from osc_traitsched.core.change.model import Object, ObjectKind
from osc_traitsched.core.errors import CloudBroke
from tests.unit.cloud.services import Answering

GENERATION = {"resource_provider_generation": 3}
FLAVOR = "/flavors/an%20id/os-extra_specs"


def state(kind, body):
    """Return what is read of an object, and what each service was asked."""
    service = Answering(lambda *_: body)
    cloud = types.SimpleNamespace(placement=service, compute=service, image=service)
    return write.access(cloud, Object(kind, "an id", "a name")).read()


@pytest.mark.parametrize(
    ("kind", "body", "keys", "generation"),
    [
        (ObjectKind.PROVIDER_TRAITS, {"traits": ["A"], **GENERATION}, ["A"], 3),
        (ObjectKind.PROVIDER_AGGREGATES, {"aggregates": ["u"], **GENERATION}, ["u"], 3),
        (ObjectKind.FLAVOR, {"extra_specs": {"k": "v"}}, ["k"], None),
        (ObjectKind.IMAGE, {"id": "i", "k": "v"}, ["id", "k"], None),
        (ObjectKind.AGGREGATE, {"aggregate": {"metadata": {}, "hosts": []}}, [], None),
    ],
)
def test_an_object_is_read_with_what_guards_its_write(kind, body, keys, generation):
    found = state(kind, body)
    assert sorted(found.keys) == keys
    assert found.generation == generation


@pytest.mark.parametrize(
    ("kind", "body", "where"),
    [
        (ObjectKind.PROVIDER_TRAITS, {"traits": ["A"]}, "resource_provider_generation"),
        (ObjectKind.PROVIDER_TRAITS, {"traits": None, **GENERATION}, "traits"),
        (
            ObjectKind.PROVIDER_AGGREGATES,
            {"aggregates": [1], **GENERATION},
            "aggregates",
        ),
        (ObjectKind.FLAVOR, {}, "extra_specs"),
        (ObjectKind.FLAVOR, {"extra_specs": {"k": 1}}, "k"),
        (ObjectKind.IMAGE, [], "the top"),
        (ObjectKind.AGGREGATE, {"aggregate": {"metadata": {}}}, "hosts"),
        (ObjectKind.AGGREGATE, {}, "aggregate"),
    ],
)
def test_an_answer_of_another_shape_is_one_clear_line(kind, body, where):
    with pytest.raises(CloudBroke) as broke:
        state(kind, body)
    assert broke.value.reason.startswith("unexpected answer to GET /")
    assert broke.value.reason.endswith(f"not as it should be at {where}")
    assert not broke.value.passing


def test_one_small_thing_is_not_waited_for_as_long_as_a_list():
    waited = []

    @dataclasses.dataclass
    class Waiting(Answering):
        def get(self, path, params=None, microversion=None, timeout=None):
            waited.append((path, timeout))
            return {"extra_specs": {}}

    cloud = types.SimpleNamespace(compute=Waiting(dict))
    write.access(cloud, Object(ObjectKind.FLAVOR, "an id", "a name")).read()
    assert waited == [(FLAVOR, write.TIMEOUT)]
