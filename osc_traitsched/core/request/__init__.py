"""What Nova asks Placement for one server, and why it would not ask at all."""

from __future__ import annotations

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.request.building import build, placement_query
from osc_traitsched.core.request.model import Request
from osc_traitsched.core.server.unseen import Unseen

__all__ = ["Refusal", "Request", "Unseen", "build", "placement_query"]
