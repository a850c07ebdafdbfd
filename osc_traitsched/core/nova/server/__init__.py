"""A server to create, and the demands of its flavor, image and parts."""

from __future__ import annotations

from osc_traitsched.core.nova.server.server import NotEvaluated, Server

__all__ = ["NotEvaluated", "Server"]
