"""The same real Placement as the functional tests'."""

from tests.functional.conftest import server

__all__ = ["server"]
