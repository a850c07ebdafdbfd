"""A server's failure and destinations as documents."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from osc_traitsched.core.existing.failure import (
    Changes,
    Failure,
    ServerAnswer,
    ServerState,
)
from osc_traitsched.core.existing.parts import Name, Part, Source
from osc_traitsched.paste import Option
from osc_traitsched.views.explain import document as explained
from osc_traitsched.views.server import words

# Where each part of a server's request is from, in lines.


#: The options that say what is not known.
OPTIONS = {
    Name.PROPERTIES: "--image-property",
    Name.MORE: "--image-property",
    Name.ZONE: "--availability-zone",
    Name.HOST: "--availability-zone",
    Name.HINTS: "--hint",
    Name.GROUP: "--server-group",
    Name.PORTS: "--port",
    Name.VOLUME: "--volume",
}

_SOURCES = {
    Source.SERVER: "as Nova keeps it with the server",
    Source.NOW: "as Glance has the image now",
    Source.GIVEN: "given by an option",
    Source.BOUND: "bound to the server now",
}

_HOW = {
    Name.MORE: " (disk_format is one)",
    Name.HOST: " ZONE:HOST or --on-host",
    Name.PORTS: " or --network",
}

_ALWAYS_HIDDEN = {
    Name.HOST: "a host that was named: Nova never shows it",
    Name.PORTS: "ports: those that it was asked for with are not bound to it",
    Name.VOLUME: "root volume: it can't be told which it is",
}


def known(
    parts: Iterable[Part], is_flavor_changed: bool | None = None
) -> Iterator[str]:
    """Yield a line for each part that is known, and has a value.

    :param is_flavor_changed: the flavor of that name is another one now, or gone
    """
    for part in parts:
        if not part.is_known or (part.value is None and part.name in _OF_VALUE):
            continue
        value = f" {part.value}" if part.value else ""
        line = f"{part.name.value}{value}: {_source(part)}"
        if part.name is Name.FLAVOR and is_flavor_changed:
            line += "; no flavor of that name is like it any more"
        yield line


#: The parts that are not asked for where they have no value.
_OF_VALUE = frozenset([Name.ZONE, Name.HINTS, Name.GROUP, Name.PORTS])


def _source(part: Part) -> str:
    if part.name is Name.IMAGE and part.value is None:
        return "none, it boots from a volume"
    if part.name is Name.FLAVOR and part.source is Source.SERVER:
        return "the server's own copy"
    return _SOURCES[part.source]


def hidden(parts: Iterable[Part], minor: int) -> Iterator[str]:
    """Yield a line for each part that is not known, with what can say it.

    :param minor: of the compute API with which the server was read
    """
    for part in parts:
        if part.is_known:
            continue
        option = OPTIONS.get(part.name)
        way = f"; {option}{_HOW.get(part.name, '')} gives it" if option else ""
        yield f"{why(part, minor)}{way}"


def why(part: Part, minor: int) -> str:
    """Return why a part is not known.

    :param minor: of the compute API with which the server was read
    """
    name = part.name.value
    if part.problem is not None:
        return f"{name}: {part.problem!s}"
    if part.name in _ALWAYS_HIDDEN:
        return _ALWAYS_HIDDEN[part.name]
    if part.source is Source.NOT_SHOWN:
        return (
            f"{name}: taken for none; the compute API shows it from 2.{part.since}, "
            f"and was read with 2.{minor}"
        )
    if part.name is Name.IMAGE:
        return f"image {part.value}: it is deleted"
    return f"{name}: gone with the image"


# What there is to say of a server that exists, for programs: schema 1.


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
        "option": OPTIONS.get(part.name),
    }
