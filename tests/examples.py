"""The examples in the help of the commands."""

from __future__ import annotations

import textwrap
from importlib import import_module, metadata
from typing import Any


def verbs() -> list[str]:
    """Return what comes after ``openstack``, for each command but the overview."""
    points = metadata.distribution("osc-traitsched").entry_points
    names = (each.name for each in points if each.group == "openstack.extension")
    return sorted(n.replace("_", " ") for n in names if n.startswith("trait-sched_"))


def command(verb: str) -> Any:
    """Return a command's class."""
    points = metadata.distribution("osc-traitsched").entry_points
    (point,) = (each for each in points if each.name == verb.replace(" ", "_"))
    module, name = point.load().path
    return getattr(import_module(module), name)


def rows(verb: str) -> list[str]:
    """Return a command's examples, without ``openstack trait-sched``."""
    lines = textwrap.dedent(command(verb).examples).strip().splitlines()
    return [line for line in lines if not line.startswith("#")]


def example(verb: str) -> str:
    """Return a command's first example, as one would type it."""
    first, *_ = rows(verb)
    assert f"trait-sched {first} ".startswith(f"{verb} ")
    return f"openstack trait-sched {first}"
