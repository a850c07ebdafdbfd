"""The schema of server destinations' document, with no other fields allowed."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import jsonschema

from osc_traitsched.views.server import destinations
from tests import explain_schema

SCHEMA: dict[str, Any] = json.loads(
    (pathlib.Path(destinations.__file__).parent / "destinations.json").read_text(
        "utf-8"
    )
)


class Closed:
    """What this release prints, with explain's document inside."""

    _own = jsonschema.Draft202012Validator(explain_schema.closed(SCHEMA))

    def validate(self, found: dict[str, Any]) -> None:
        """Raise ValidationError for a document that is otherwise."""
        self._own.validate({**found, "explanation": None})
        if found["explanation"] is not None:
            explain_schema.CLOSED.validate(found["explanation"])


CLOSED = Closed()
