"""The schemas of documents, with no other fields allowed."""

from __future__ import annotations

import functools

import jsonschema

from osc_traitsched.views import schemas


@functools.cache
def closed(command: str) -> jsonschema.Draft202012Validator:
    """Return what validates a command's document as this release prints it."""
    found = schemas.schema(command)
    for each in found["$defs"].values():
        each["additionalProperties"] = False
    return jsonschema.Draft202012Validator(found)
