"""Why a server failed, as a document for programs."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from osc_traitsched.core.servers.failure import (
    Changes,
    Failure,
    ServerAnswer,
    ServerState,
)
from osc_traitsched.core.servers.parts import Part
from osc_traitsched.documents import plain
from osc_traitsched.paste import Option
from osc_traitsched.views.explain.document import explained
from osc_traitsched.views.server import schema, words


def document(
    answer: ServerAnswer, now: datetime.datetime, options: Sequence[Option] = ()
) -> dict[str, Any]:
    """All of it as plain lists, mappings, numbers and text.

    :param now: for the age in the summary
    :param options: the global options of printed commands
    """
    found = answer.explanation
    whole = schema.ServerExplainDocument(
        schema=1,
        summary=words.summary(answer, now),
        server=of_server(answer.state),
        compute_api=f"2.{answer.minor}",
        failure=_failure(answer.failure),
        moves=[
            schema.ServerMigration(
                type=each.kind,
                status=each.status,
                source=each.source or None,
                destination=each.destination or None,
            )
            for each in answer.moves
        ],
        changes=_changes(answer.changes),
        request=map(request_part, answer.parts),
        flavor_changed=answer.is_flavor_changed,
        problem=None if answer.problem is None else str(answer.problem),
        now=explained(found, found.named or found.judgement.hosts, options)
        if found
        else None,
    )
    return dict(plain(whole))


def of_server(state: ServerState) -> schema.ExistingServer:
    """Which server it is, and where."""
    return schema.ExistingServer(
        id=state.id,
        name=state.name,
        status=state.status,
        project_id=state.project,
        host=state.host or None,
    )


def _failure(failure: Failure | None) -> schema.ServerFailure | None:
    if failure is None:
        return None
    source = "fault" if failure.is_fault else "step"
    return schema.ServerFailure(
        stage=failure.stage,
        text=failure.text or None,
        from_=source if failure.text else None,
        at=failure.when.isoformat() if failure.when else None,
        action=failure.action or None,
        request_id=failure.request or None,
        attempts=failure.attempts,
        failed_steps=[
            schema.FailedStep(each.name, each.host or None, each.details)
            for each in failure.steps
        ],
    )


def _changes(changes: Changes | None) -> schema.CloudChanges | None:
    if changes is None:
        return None
    return schema.CloudChanges(
        computes_went_down=changes.went_down,
        computes_down_before=changes.was_down,
        servers_made_on=changes.made,
        servers_deleted_on=changes.deleted,
        moves=[schema.OtherMove(source, to) for source, to in changes.moves],
        cut=changes.is_cut,
        unread=changes.unread,
    )


def request_part(part: Part) -> schema.RequestPart:
    """A part of a request, and where it is from."""
    return schema.RequestPart(
        part=part.name,
        value=part.value,
        source=part.source,
        known=part.is_known,
        shown_from=f"2.{part.since}" if part.since else None,
        option=words.OPTIONS.get(part.name),
    )
