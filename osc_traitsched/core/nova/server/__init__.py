"""One server that is to be made, and what its flavor and image ask for."""

from __future__ import annotations

from osc_traitsched.core.nova.server.server import Aggregate, NotEvaluated, Server

__all__ = ["Aggregate", "NotEvaluated", "Server"]
