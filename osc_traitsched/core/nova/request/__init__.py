"""Nova's request to Placement for one server, and Nova's refusals."""

from __future__ import annotations

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.request.model import Request
from osc_traitsched.core.nova.server.server import NotEvaluated

__all__ = ["NotEvaluated", "Refusal", "Request"]
