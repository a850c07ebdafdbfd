"""What a writing command did, or would do, as rows."""

from __future__ import annotations

from collections.abc import Iterable

from osc_traitsched.core.change.model import Kind, Outcome
from osc_traitsched.views import problems
from osc_traitsched.views.columns import Names
from osc_traitsched.views.traits import Table


def added(outcomes: Iterable[Outcome]) -> Table:
    """One row a provider, with what was added."""
    return _rows("added", ((each, each.added) for each in outcomes))


def removed(outcomes: Iterable[Outcome]) -> Table:
    """One row a provider, with what was removed."""
    return _rows("removed", ((each, each.removed) for each in outcomes))


def _rows(verb: str, pairs: Iterable[tuple[Outcome, frozenset[str]]]) -> Table:
    rows = [
        (
            found.change.object.host,
            found.change.object.id,
            Names(sorted(traits)),
            found.status.value,
            _detail(found),
        )
        for found, traits in pairs
        if found.change.object.kind is Kind.PROVIDER_TRAITS
    ]
    return ("host", "provider", verb, "status", "detail"), rows


def _detail(found: Outcome) -> str:
    if found.problem is not None:
        return problems.word(found.problem)
    # A nested provider is not known by its host's name.
    provider = found.change.object
    return provider.name if provider.name != provider.host else ""
