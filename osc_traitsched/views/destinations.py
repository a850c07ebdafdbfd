"""Hosts that a server could move to: as text and as a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Optional

from osc_traitsched.core.answer import Answer, Reason
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.nova.options import RESIZE_TO_SAME_HOST
from osc_traitsched.core.nova.question import MoveKind
from osc_traitsched.core.servers.moves import Because, Destinations, Rebuild
from osc_traitsched.documents import JsonObject, field
from osc_traitsched.paste import Option
from osc_traitsched.text import listed
from osc_traitsched.views import moves
from osc_traitsched.views import servers as server_words
from osc_traitsched.views.explain import reasons as explain_reasons
from osc_traitsched.views.explain import text as explain_text
from osc_traitsched.views.explain import verdict as explain_verdict
from osc_traitsched.views.explain import words
from osc_traitsched.views.explain.document import ExplainDocument, verdict
from osc_traitsched.views.moves import NOUNS, UNSEEN
from osc_traitsched.views.servers import (
    ExistingServer,
    FoundOutLater,
    RequestPart,
    ServerMoveJson,
    lower,
)
from osc_traitsched.views.terminal import Line, Tone, section


def answer_line(found: Destinations) -> str:
    """The answer in one line: the move, and how many hosts could take the server."""
    verdict = lower(_verdict(found))
    if not found.refusals:
        return f"{_capital(_what(found))}: {verdict}"
    wrong = listed(each.text for each in found.refusals)
    otherwise = f" Otherwise: {verdict}" if found.hosts else ""
    return f"Nova rejects the {_what(found)}: {wrong}.{otherwise}"


#: What is said of the one host of a rebuild.
_REBUILT = {
    Answer.YES: "its host can take it.",
    Answer.NO: "its host can't take it.",
    Answer.UNKNOWN: "can't tell if its host can take it.",
}


def _verdict(found: Destinations) -> str:
    if found.judgement is not None:
        verdict = words.verdict(found.judgement)
        if found.is_image_gone and found.judgement.candidates:
            return f"{verdict[:-1]} unless its deleted image requires a trait."
        if found.hidden and found.judgement.candidates:
            return f"{verdict[:-1]}, unless nova-api rejects the flavor."
        return verdict
    return _REBUILT[found.can_be_rebuilt]


def _what(found: Destinations) -> str:
    host, word = found.state.host, "on" if found.kind is MoveKind.REBUILD else "from"
    where = f" {word} {host}" if host else ""
    return f"{NOUNS[found.kind]} of {found.state.name}{where}"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def lines(found: Destinations, everything: bool) -> Iterator[str]:
    """The lines on the move, above those on hosts.

    :param everything: each check of Nova's
    """
    if found.because is Because.HOST_DOWN or found.kind is MoveKind.EVACUATION:
        yield (
            f"Make sure {found.state.host} is powered off before you evacuate, or two "
            "guests write to one disk."
        )
    for each in found.refusals if everything else ():
        yield f"{each.by} rejects it ({each.exception}): {each.text}."
    if found.has_refused_image and found.kind is not MoveKind.REBUILD:
        yield (
            "Its last rebuild failed, and Nova judges a move by the image of that, "
            "which no API shows (--image-property sets it). A rebuild with its own "
            "image clears that."
        )
    if found.is_image_gone and not found.refusals:
        yield "Its image is deleted: pass what it required with --image-property."
    if found.hidden and not found.refusals:
        yield found.hidden
    if found.state.is_locked and found.kind is not MoveKind.EVACUATION:
        yield "It is locked: only an administrator may move it."


def reasons(found: Destinations) -> Mapping[str, tuple[str, ...]]:
    """By host: why it can't take the server, or what decides that."""
    if found.rebuild is not None:
        return {found.rebuild.host.node: tuple(rebuilt(found.rebuild))}
    judgement = found.judgement
    if not isinstance(judgement, Judgement):
        return {}
    return {each.name: tuple(_of_host(judgement, each)) for each in judgement.hosts}


def _of_host(found: Judgement, host: Provider) -> Iterator[str]:
    rejection = found.rejection_by_clauses(host)
    if rejection is not None and host not in found.candidates:
        for each in rejection.involved:
            yield from explain_verdict.of_hosts(each, found, [host])
        return
    for name, answer in found.filtering.unknown(host.uuid):
        yield explain_reasons.answer(answer, name)


def rebuilt(found: Rebuild) -> Iterator[str]:
    """Why the server's host can't take the image, or what decides that."""
    if found.refusal is not None:
        yield words.text(found.refusal, is_moved=True)
    if found.forbidden:
        yield f"the flavor forbids what the image requires: {listed(found.forbidden)}"
    if found.missing:
        yield f"lacks what the image requires: {listed(found.missing)}"
    for name, answer in found.filtering.answers(found.host.uuid):
        yield explain_reasons.answer(answer, name)


def of_rebuild(found: Rebuild) -> Iterator[str]:
    """The lines on a rebuild on the server's own host."""
    if found.refusal is not None:
        yield from rebuilt(found)
        return
    for text in rebuilt(found):
        yield f"{found.host.node} {text}."
    if not found.is_asked:
        yield "It has that image already, so nova-scheduler is not asked."
        return
    names = listed(found.filtering.filters_of_rebuild) or "none"
    yield f"Placement is not asked; host filters that judge a rebuild: {names}."
    if not found.host.is_up:
        yield "Its nova-compute is down: the rebuild would wait for it."


# Where a server could go.


_SAME_HOST = (
    "where it runs, has room for its old and new size together: set "
    "[DEFAULT]allow_resize_to_same_host = true for nova-api and nova-compute."
)
#: So many hosts are named, best first.
_MOST_HOSTS = 5


def destination_lines(
    found: Destinations,
    everything: bool,
    options: Sequence[Option] = (),
    width: int = 0,
) -> Iterator[Line]:
    """The text, line by line. Names are not escaped yet.

    :param everything: the request, all of the explanation, and what is not checked
    :param width: of the terminal; 0 for none
    """
    explanation, judgement = found.explanation, found.judgement
    rest: Iterator[Line] = iter(())
    verdict = Line("", Tone.of(found.can_be_rebuilt))
    if explanation is not None:
        named = explanation.named
        rest = explain_text.lines(explanation, named, everything, options, width)
        # The summary has the verdict.
        verdict = next(rest)
    tone = verdict.tone
    if found.is_open and tone is Tone.YES:
        tone = Tone.DOUBT
    tone = Tone.NO if found.refusals else tone
    yield Line(answer_line(found), tone, found.reason, verdict.cause)
    yield from map(Line, lines(found, everything))
    if found.rebuild is not None:
        yield from map(Line, of_rebuild(found.rebuild))
    if everything:
        yield from rest
        unseen = (text for _, text in UNSEEN[found.kind])
        yield from section("Not checked:", unseen)
        known = server_words.known(found.parts)
        yield from section("Reconstructed request:", known)
        hidden = server_words.hidden(found.parts, found.minor)
        yield from section("Not recorded by Nova:", hidden)
        return
    is_tried = found.kind is not MoveKind.REBUILD
    if judgement is not None and not found.refusals:
        if isinstance(judgement, Judgement) and judgement.has_room:
            yield from _hosts(judgement)
            named = explanation.named if explanation else ()
            yield from explain_text.of_named(judgement, named, everything=False)
        else:
            # It ends with what --long shows.
            yield from rest
            is_tried = False
        gaining = {each.name for each in judgement.doubts.options if each.gained}
        if RESIZE_TO_SAME_HOST in gaining:
            yield Line(f"{found.state.host}, {_SAME_HOST}")
    if is_tried:
        yield Line("--long shows what Nova checks only when the move is tried.")


def _hosts(judgement: Judgement) -> Iterator[Line]:
    """The hosts that could take the server, best first, and why others can't."""
    places = judgement.ranking.places if judgement.ranking else ()
    order = {uuid: place for place, uuids in enumerate(places) for uuid in uuids}
    unsure = {each.uuid for each in judgement.candidates.uncertain}
    hosts = sorted(
        judgement.candidates,
        key=lambda each: (each.uuid in unsure, order.get(each.uuid, 0), each.name),
    )
    names = [
        f"{each.name}{' (perhaps)' if each.uuid in unsure else ''}"
        + words.for_others(judgement.computes.get(each.uuid), judgement.question)
        for each in hosts
    ]
    yield Line(f"Best first: {listed(names, most=_MOST_HOSTS)}")
    yield from map(Line, explain_verdict.reasons(judgement, False))
    for each in list(explain_verdict.lines(judgement))[1:]:
        if each.tone is Tone.DOUBT:
            yield each


_REBUILD_CODES = {Answer.YES: "candidates", Answer.NO: "no host"}


def _judged_hosts(
    destinations: Destinations,
) -> list[tuple[str, Answer, Sequence[str]]]:
    reasons_of = reasons(destinations)
    return [(host, can, reasons_of[host]) for host, can in destinations.hosts]


def _code(destinations: Destinations) -> str:
    if destinations.refusals:
        return "rejected"
    if destinations.judgement is not None:
        answer = verdict(destinations.judgement)
        is_unsure = destinations.is_open and answer == "candidates"
        return "unknown" if is_unsure else answer
    rebuild = destinations.rebuild
    if rebuild is not None and rebuild.refusal is not None:
        return "rejected"
    return _REBUILD_CODES.get(destinations.can_be_rebuilt, "unknown")


class RefusedMove(JsonObject):
    """A reason why Nova rejects the move before nova-scheduler is asked."""

    reason: str
    """Why."""
    by: Annotated[str, ("nova-api", "nova-conductor")]
    """Who rejects it."""
    exception: str
    """The class of Nova's exception."""
    text: str
    """The same for a person."""


class DestinationJson(JsonObject):
    """A host, and whether it could take the server."""

    host: str = field(lambda row: row[0])
    """Its name."""
    answer: Answer = field(lambda row: row[1])
    """``depends``: an option that is not known decides; ``unknown``: what no API shows
    decides."""
    reasons: Iterable[str] = field(lambda row: row[2])
    """Why it can't, or what decides."""


class DestinationsDocument(JsonObject):
    """What ``server destinations`` prints."""

    schema: Literal[1]
    """The number of this schema."""
    summary: str = field(answer_line)
    """The move, and how many hosts could take the server, in one line."""
    verdict: Annotated[
        str, ("candidates", "no host", "unknown", "disagreement", "rejected")
    ] = field(_code)
    """``rejected`` if Nova rejects the move as things are; else the verdict of
    ``explain``."""
    reason: Optional[Reason]
    """Why, in one word of :ref:`reasons`; null for a rebuild that Nova does not
    reject."""
    server: ExistingServer = field("state")
    """The server."""
    compute_api: str = field(lambda destinations: f"2.{destinations.minor}")
    """The microversion of the compute API that the server was read with."""
    move: ServerMoveJson = field(lambda destinations: destinations)
    """The move."""
    refusals: Iterable[RefusedMove]
    """Why Nova rejects the move before nova-scheduler is asked. Nova stops at the
    first."""
    ignored_host: Optional[str] = field(
        lambda destinations: destinations.ignored or None
    )
    """The service host that Nova leaves out before its filters; null for none."""
    hosts: Iterable[DestinationJson] = field(_judged_hosts)
    """Each host that has a provider, whatever the refusals; for a rebuild only the
    server's own host."""
    destinations: Iterable[str] = field(
        lambda destinations: [
            host for host, answer in destinations.hosts if answer is Answer.YES
        ]
    )
    """The hosts whose answer is ``yes``."""
    uncertain_destinations: Iterable[str] = field(
        lambda destinations: [
            host for host, answer in destinations.hosts if answer.is_open
        ]
    )
    """The hosts whose answer is ``depends`` or ``unknown``."""
    found_out_later: Iterable[FoundOutLater] = field(
        lambda destinations: moves.UNSEEN[destinations.kind]
    )
    """What no API shows of this move before it is tried."""
    request: Iterable[RequestPart] = field("parts")
    """The parts of the request that the server was created by."""
    explanation: Optional[ExplainDocument]
    """The document of ``explain`` for the request of the move; null for a rebuild. Its
    clauses can be of the kind ``move``."""


def destinations(
    destinations: Destinations, options: Sequence[Option] = ()
) -> dict[str, Any]:
    """Where a server could go, as plain lists, mappings, numbers and text."""
    return DestinationsDocument.of(destinations, options)
