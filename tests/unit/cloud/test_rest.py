"""Paths and the shape of answers."""

import pytest

from osc_traitsched.cloud import rest
from osc_traitsched.core import errors
from tests.unit.cloud.services import Answering

THINGS = {"things": [{"id": str, "size": rest.NUMBER, "owner": rest.OPTIONAL_TEXT}]}
THING = {"id": "a", "size": 1, "owner": None}


def get(body, shape=THINGS):
    return rest.get(Answering(lambda *_: body, "identity"), "/things?all=1", shape)


def test_an_answer_of_the_right_shape_comes_as_it_is():
    body = {"things": [{**THING, "more": 1}], "more": None}
    assert get(body) is body
    assert get({"things": []}) == {"things": []}


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (None, "the top"),
        ("things", "the top"),
        ([], "the top"),
        ({}, "things"),
        ({"versions": []}, "things"),
        ({"things": None}, "things"),
        ({"things": {}}, "things"),
        ({"things": [None]}, "things"),
        ({"things": [THING, {"id": "b", "owner": None}]}, "size"),
        ({"things": [{**THING, "id": None}]}, "id"),
        ({"things": [{"id": "a", "size": 1}]}, "owner"),
    ],
)
def test_an_answer_of_another_shape_is_one_clear_line(body, where):
    with pytest.raises(errors.CloudBroke) as broke:
        get(body)
    assert broke.value.service == "identity"
    assert broke.value.reason == (
        f"unexpected answer to GET /things: not as it should be at {where}"
    )


def test_keys_that_nobody_knows_before_can_have_a_shape():
    shape = {"things": {str: {"id": str}}}
    assert get({"things": {"a": {"id": "a"}}}, shape)
    assert get({"things": {}}, shape) == {"things": {}}
    with pytest.raises(errors.CloudBroke, match=r"at b$"):
        get({"things": {"a": {"id": "a"}, "b": []}}, shape)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a", "/things/a"),
        ("?x=y", "/things/%3Fx%3Dy"),
        ("#x", "/things/%23x"),
        ("/", "/things/%2F"),
        ("../..", "/things/..%2F.."),
        ("a b%", "/things/a%20b%25"),
        ("ä", "/things/%C3%A4"),
    ],
)
def test_a_name_is_one_part_of_a_path_whatever_it_is(name, path):
    assert rest.path("things", name) == path
