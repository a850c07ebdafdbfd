"""What a writing command did, or would do, as rows."""

from __future__ import annotations

from collections.abc import Iterable

from osc_traitsched.core.change.plan import Result
from osc_traitsched.views import problems
from osc_traitsched.views.columns import Names
from osc_traitsched.views.traits import Table


def added(results: Iterable[Result]) -> Table:
    """One row a provider, with what was added."""
    return _rows("added", ((r, r.added) for r in results))


def removed(results: Iterable[Result]) -> Table:
    """One row a provider, with what was removed."""
    return _rows("removed", ((r, r.removed) for r in results))


def _rows(verb: str, pairs: Iterable[tuple[Result, frozenset[str]]]) -> Table:
    rows = [
        (
            result.host,
            result.provider,
            Names(sorted(traits)),
            result.status.value,
            _detail(result),
        )
        for result, traits in pairs
    ]
    return ("host", "provider", verb, "status", "detail"), rows


def _detail(result: Result) -> str:
    if result.problem is not None:
        return problems.word(result.problem)
    # A nested provider is not known by its host's name.
    return result.name if result.name != result.host else ""
