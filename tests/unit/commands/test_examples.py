"""The help of each command ends with an example."""

from __future__ import annotations

import pytest

from tests import examples
from tests.functional import shell


@pytest.mark.parametrize("verb", examples.verbs())
def test_the_help_has_an_example_on_a_line_of_its_own(verb, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    done = shell.run({}, *verb.split(), "--help")
    assert done.code == 0
    end = done.out.splitlines()[-6:]
    assert f"  {examples.example(verb)}" in end
    assert "Example:" in end
