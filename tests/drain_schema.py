"""The schema of host drain's document, with no other fields allowed."""

from __future__ import annotations

import json
import pathlib

import jsonschema

from osc_traitsched.views.drain import document
from tests import explain_schema

SCHEMA: explain_schema.Schema = json.loads(
    (pathlib.Path(document.__file__).parent / "schema.json").read_text("utf-8")
)

#: What this release prints.
CLOSED = jsonschema.Draft202012Validator(explain_schema.closed(SCHEMA))
