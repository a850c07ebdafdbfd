"""The schema of explain's document is one, and describes every field."""

from __future__ import annotations

import json
import pathlib

import jsonschema
import pytest

from osc_traitsched.views.explain import document

SCHEMA = json.loads(
    (pathlib.Path(document.__file__).parent / "schema.json").read_text("utf-8")
)


def objects(schema, path="document"):
    """Yield every mapping that the schema describes, with where it is."""
    if "object" in (schema.get("type"), *schema.get("type", ())):
        yield path, schema
    for name, each in schema.get("properties", {}).items():
        yield from objects(each, f"{path}.{name}")
    if "items" in schema:
        yield from objects(schema["items"], f"{path}[]")


OBJECTS = dict(objects(SCHEMA))


def test_it_is_a_json_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_it_is_of_the_number_that_documents_carry():
    assert SCHEMA["properties"]["schema"]["const"] == document.SCHEMA


@pytest.mark.parametrize("path", OBJECTS)
def test_every_field_is_described_and_no_other_is_allowed(path):
    found = OBJECTS[path]
    assert found["additionalProperties"] is False
    for name, field in found["properties"].items():
        assert field["description"].endswith("."), name


@pytest.mark.parametrize("path", OBJECTS)
def test_every_field_is_always_there(path):
    # A clause alone has fields of its kind; which ones, its oneOf says.
    some = {
        name for kind in OBJECTS[path].get("oneOf", ()) for name in kind["required"]
    }
    assert set(OBJECTS[path]["required"]) == set(OBJECTS[path]["properties"]) - some
