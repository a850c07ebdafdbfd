"""The schema of explain's document, as it is and with no other fields allowed."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import jsonschema

from osc_traitsched.views.explain import document

Schema = dict[str, Any]

SCHEMA: Schema = json.loads(
    (pathlib.Path(document.__file__).parent / "schema.json").read_text("utf-8")
)


def closed(schema: Schema) -> Schema:
    """Return a schema that allows no field which the given one does not name.

    Of an object of several kinds each has the fields that its kind requires, and not
    those that only other kinds do.
    """
    found = dict(schema)
    if "items" in schema:
        found["items"] = closed(schema["items"])
    if "properties" in schema:
        fields = schema["properties"].items()
        found["properties"] = {name: closed(each) for name, each in fields}
        found["additionalProperties"] = False
    if "oneOf" in schema:
        some = {name for kind in schema["oneOf"] for name in kind["required"]}
        found["oneOf"] = [
            {
                **kind,
                "properties": {
                    **kind["properties"],
                    **dict.fromkeys(some.difference(kind["required"]), False),
                },
            }
            for kind in schema["oneOf"]
        ]
    return found


#: What a reader may check with.
OPEN = jsonschema.Draft202012Validator(SCHEMA)
#: What this release prints.
CLOSED = jsonschema.Draft202012Validator(closed(SCHEMA))
