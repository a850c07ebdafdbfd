"""Nova's options and releases, as people write them."""

from __future__ import annotations

from osc_traitsched.core.nova.releases import RELEASES


def option(name: str) -> str:
    """Return an option as nova.conf has it: ``[section]name``."""
    section, _, key = name.partition(".")
    return f"[{section}]{key}"


def release(number: int) -> str:
    """Return a release with its name: ``34 (2026.2)``."""
    return f"{number} ({RELEASES[number]})"
