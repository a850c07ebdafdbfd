"""A small cloud in memory that commands run in."""

from __future__ import annotations

import pytest

from osc_traitsched.commands import base
from tests.unit.app.living import LivingCloud


@pytest.fixture
def cloud(monkeypatch):
    found = LivingCloud()
    found.flavor("golden")
    found.flavor("small")
    monkeypatch.setattr(base.Command, "cloud", lambda command: found)
    return found
