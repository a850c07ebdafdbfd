"""The JSON Schemas of all documents (``python3 -m osc_traitsched.views.schemas X``)."""

from __future__ import annotations

import json
import sys
from typing import Any

from osc_traitsched import documents
from osc_traitsched.views.capacity import CapacityDocument
from osc_traitsched.views.destinations import DestinationsDocument
from osc_traitsched.views.diff import DifferenceDocument
from osc_traitsched.views.drain import DrainDocument
from osc_traitsched.views.explain.document import ExplainDocument
from osc_traitsched.views.flavor import (
    FlavorsDocument,
    FlavorUseDocument,
    ImageDocument,
)
from osc_traitsched.views.host import HostDocument
from osc_traitsched.views.lose import LossesDocument
from osc_traitsched.views.server_explain import FailedDocument, ServerExplainDocument
from osc_traitsched.views.trait import TraitDocument

#: The documents, by the commands that print them with ``-f json``.
DOCUMENTS = {
    "explain": ExplainDocument,
    "capacity": CapacityDocument,
    "capacity --lose": LossesDocument,
    "server explain": ServerExplainDocument,
    "server explain --failed": FailedDocument,
    "server destinations": DestinationsDocument,
    "host drain": DrainDocument,
    "trait show": TraitDocument,
    "flavor show": FlavorUseDocument,
    "flavor show A B": FlavorsDocument,
    "image show": ImageDocument,
    "host show": HostDocument,
    "diff": DifferenceDocument,
}


def schema(command: str) -> dict[str, Any]:
    """The schema of the document that a command prints."""
    return documents.schema(DOCUMENTS[command], f"openstack trait-sched {command}")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schema(" ".join(sys.argv[1:])), indent=2) + "\n")
