"""Lines on hosts that an answer is without, and why."""

from __future__ import annotations

from collections.abc import Iterable

from osc_traitsched.core.inventory.snapshot import Snapshot
from osc_traitsched.text import listed


def without_provider(hosts: Iterable[str]) -> str:
    """Return a line on hosts that are not shown because they have no provider."""
    return (
        "Placement has no provider for hosts of Nova's, as far as Nova lists them: "
        f"{listed(hosts)}"
    )


def unlisted(snapshot: Snapshot) -> str:
    """Return a line on compute nodes that Placement has and Nova does not list."""
    every = snapshot.listed + len(snapshot.unlisted)
    return (
        f"Nova lists {snapshot.listed} of the {every} compute nodes that Placement "
        f"has, and not {listed(snapshot.named(snapshot.unlisted))}: its list may be "
        "incomplete, so no provider is called orphaned"
    )


def vanished(providers: Iterable[str]) -> str:
    """Return a line on providers that were deleted while a command was reading."""
    return f"left out, since they were deleted meanwhile: {listed(providers)}"
