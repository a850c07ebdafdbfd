"""The sample cloud, changed."""

from __future__ import annotations

import copy
import json

import pytest

from tests.functional import shell
from tests.services.environment import REPOSITORY

WHOLE = json.loads((REPOSITORY / "examples/cloud.json").read_text())


@pytest.fixture
def asked(tmp_path):
    """Asks an offline command about a changed copy of the sample cloud."""

    def ask(change, command):
        document = copy.deepcopy(WHOLE)
        change(document)
        path = tmp_path / "changed.json"
        path.write_text(json.dumps(document))
        variables = {"TRAITSCHED_SNAPSHOT": str(path)}
        return shell.run(variables, "trait-sched", *command.split())

    return ask
