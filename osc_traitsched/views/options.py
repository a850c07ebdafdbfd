"""Nova's options and releases, as people write them."""

from __future__ import annotations

from osc_traitsched.core.nova.releases import RELEASES


def option(name: str) -> str:
    """Return an option as nova.conf has it: ``[section]name``.

    One that has no section is in no file, and is words: ``database collation``.
    """
    section, _, key = name.rpartition(".")
    return f"[{section}]{key}" if section else key.replace("_", " ")


def release(number: int) -> str:
    """Return a release with its name: ``34 (2026.2)``."""
    return f"{number} ({RELEASES[number]})"
