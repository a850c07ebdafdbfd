"""What there is to say of a server that exists, for programs: schema 1."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from osc_traitsched.core.existing.answer import ServerAnswer
from osc_traitsched.core.existing.changes import Changes
from osc_traitsched.core.existing.failure import Failure
from osc_traitsched.core.existing.history import ServerState
from osc_traitsched.core.existing.parts import Part
from osc_traitsched.paste import Option
from osc_traitsched.views.explain import document as explained
from osc_traitsched.views.server import request, words

SCHEMA = 1


def document(
    answer: ServerAnswer, now: datetime.datetime, options: Sequence[Option] = ()
) -> dict[str, Any]:
    """Return all of it as plain lists, mappings, numbers and text.

    :param now: the age in the summary is told at this moment
    """
    found = answer.explanation
    return {
        "schema": SCHEMA,
        "summary": words.summary(answer, now),
        "server": of_server(answer.state),
        "compute_api": f"2.{answer.minor}",
        "failure": answer.failure and _failure(answer.failure),
        "moves": [
            {
                "type": each.kind,
                "status": each.status,
                "source": each.source or None,
                "destination": each.destination or None,
            }
            for each in answer.moves
        ],
        "changes": answer.changes and _changes(answer.changes),
        "request": [part(each) for each in answer.parts],
        "flavor_changed": answer.is_flavor_changed,
        "problem": answer.problem and str(answer.problem),
        "now": found and explained.document(found, found.named or found.hosts, options),
    }


def of_server(state: ServerState) -> dict[str, Any]:
    """Return which server it is, and where."""
    return {
        "id": state.id,
        "name": state.name,
        "status": state.status,
        "project_id": state.project,
        "host": state.host or None,
    }


def _failure(failure: Failure) -> dict[str, Any]:
    return {
        "stage": failure.stage.value,
        "text": failure.text or None,
        "from": ("fault" if failure.is_fault else "step") if failure.text else None,
        "at": failure.when and failure.when.isoformat(),
        "action": failure.action or None,
        "request_id": failure.request or None,
        "attempts": list(failure.attempts),
        "failed_steps": [
            {"step": each.name, "host": each.host or None, "text": each.details}
            for each in failure.steps
        ],
    }


def _changes(changes: Changes) -> dict[str, Any]:
    return {
        "computes_went_down": list(changes.went_down),
        "computes_down_before": list(changes.was_down),
        "servers_made_on": list(changes.made),
        "servers_deleted_on": list(changes.deleted),
        "moves": [{"source": a, "destination": b} for a, b in changes.moves],
        "cut": changes.is_cut,
        "unread": list(changes.unread),
    }


def part(part: Part) -> dict[str, Any]:
    """Return a part of a request, and where it is from."""
    return {
        "part": part.name.value,
        "value": part.value,
        "source": part.source.value,
        "known": part.is_known,
        "shown_from": f"2.{part.since}" if part.since else None,
        "option": request.OPTIONS.get(part.name),
    }
