"""The comments at the top of undo files."""

from __future__ import annotations

from collections.abc import Iterable

from osc_traitsched.core.change.model import Kind, Object
from osc_traitsched.core.wanted.model import Unit
from osc_traitsched.text import quoted, visible


def not_undone(units: Iterable[Unit]) -> list[str]:
    """The lines at the top of an undo file: what it does not revert."""
    return [f"Not brought back: {_left(*unit)}" for unit in units]


def _left(target: Object, key: str) -> str:
    name = quoted(target.name)
    if target.kind is Kind.TRAIT:
        return f"trait {key} was created; openstack trait delete {key}"
    if target.kind is Kind.NEW_AGGREGATE and key == "name":
        return f"aggregate {name} was created; once empty, openstack aggregate delete"
    if target.kind is Kind.PROVIDER_TRAITS:
        return f"{key} of {name}, which no file removes; trait-sched remove does"
    if target.kind is Kind.AGGREGATE_HOSTS:
        return f"{visible(key)} in {name}, a host that Nova does not list"
    if target.kind is Kind.PROVIDER_AGGREGATES:
        return f"{name} was put into an aggregate of its host in Placement"
    return (
        f"{visible(key)} of {name}: Nova can't unset it, or no file can have the old "
        "value"
    )
