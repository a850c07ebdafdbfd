"""Changes that would let a host take the request; none is a fix until tried.

Changes of hosts are tried by the matcher, changes of the request by Placement.
"""

from __future__ import annotations

from osc_traitsched.core.explain.fix.hosts import on_hosts, other_flavors, other_formats
from osc_traitsched.core.explain.fix.requests import (
    Action,
    Fix,
    HostChange,
    HostFix,
    Replacement,
    RequestChange,
    RequestFix,
    RequestPart,
    Scope,
    changes_format,
    on_request,
    safest_first,
)

__all__ = [
    "Action",
    "Fix",
    "HostChange",
    "HostFix",
    "Replacement",
    "RequestChange",
    "RequestFix",
    "RequestPart",
    "Scope",
    "changes_format",
    "on_hosts",
    "on_request",
    "other_flavors",
    "other_formats",
    "safest_first",
]
