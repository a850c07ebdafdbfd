"""Changes that would let a host take the request; none is a fix until tried.

Changes of hosts are tried by the matcher, changes of the request by Placement.
"""

from __future__ import annotations

from osc_traitsched.core.explain.fix.hosts import on_hosts
from osc_traitsched.core.explain.fix.requests import on_request
from osc_traitsched.core.explain.fix.values import (
    Change,
    Fix,
    HostChange,
    HostFix,
    RequestFix,
    Scope,
    safest_first,
)

__all__ = [
    "Change",
    "Fix",
    "HostChange",
    "HostFix",
    "RequestFix",
    "Scope",
    "on_hosts",
    "on_request",
    "safest_first",
]
