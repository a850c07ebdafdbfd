"""What all tests need."""

from __future__ import annotations

import signal

import pytest

from tests.golden import OPTION, golden

__all__ = ["golden"]

# A shell starts its background jobs with SIGINT ignored, and child processes inherit
# that. Ctrl-C must interrupt the commands under test, however the tests were started.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        OPTION, action="store_true", help="rewrite the files in tests/golden"
    )
