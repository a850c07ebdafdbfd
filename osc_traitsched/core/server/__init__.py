"""One server that is to be made, and what its flavor and image ask for."""

from __future__ import annotations

from osc_traitsched.core.server.server import Aggregate, Server
from osc_traitsched.core.server.unseen import Unseen

__all__ = ["Aggregate", "Server", "Unseen"]
