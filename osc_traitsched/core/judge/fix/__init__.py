"""Fixes of hosts (tried by the matcher) and requests (by Placement), and advice."""

from __future__ import annotations

from osc_traitsched.core.judge.fix.advice import Advice, Topic, advice, misspelled
from osc_traitsched.core.judge.fix.hosts import changed, on_hosts, other_formats
from osc_traitsched.core.judge.fix.requests import (
    Fix,
    HostAction,
    HostChange,
    HostFix,
    Replacement,
    RequestChange,
    RequestFix,
    RequestPart,
    Scope,
    changes_format,
    changes_zone,
    on_request,
    safest_first,
)

__all__ = [
    "Advice",
    "Fix",
    "HostAction",
    "HostChange",
    "HostFix",
    "Replacement",
    "RequestChange",
    "RequestFix",
    "RequestPart",
    "Scope",
    "Topic",
    "advice",
    "changed",
    "changes_format",
    "changes_zone",
    "misspelled",
    "on_hosts",
    "on_request",
    "other_formats",
    "safest_first",
]
