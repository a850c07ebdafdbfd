"""Moves in words: the move, what rejects it, and what no API shows before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from osc_traitsched.core.answer import Answer
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.nova.options import RESIZE_TO_SAME_HOST
from osc_traitsched.core.nova.question import MoveKind
from osc_traitsched.core.servers.moves import Because, Destinations, Rebuild
from osc_traitsched.paste import Option
from osc_traitsched.text import listed
from osc_traitsched.views.explain import filters, headline, prose, words
from osc_traitsched.views.server import words as server_words
from osc_traitsched.views.server.words import lower
from osc_traitsched.views.terminal import Line, Tone, section

#: Each move as a noun.
NOUNS = {
    MoveKind.LIVE_MIGRATION: "live migration",
    MoveKind.MIGRATION: "cold migration",
    MoveKind.RESIZE: "resize",
    MoveKind.EVACUATION: "evacuation",
    MoveKind.UNSHELVE: "unshelving",
    MoveKind.REBUILD: "rebuild",
}

_CELL = ("cell", "cells: only hosts of the server's own cell count")
_OTHER_CELL = (
    "other cell",
    "cells: other cells need the policy compute:servers:resize:cross_cell, which by "
    "default nobody has",
)
_COPIED = ("cold storage", "disks: copied from host to host, unless shared")
_QUOTA = ("quota", "the project's quota")
_SHARES = ("shares", "Manila shares: nova-api rejects a server with shares")
_SHARES_BEFORE = (
    "shares",
    "Manila shares: before 34 nova-api rejects a server with shares",
)
#: What the new host is only asked for once the move has begun.
_ON_THE_HOST = (
    ("claim", "NUMA nodes and devices: the host must have them free"),
    ("port bindings", "ports: Neutron must bind them on the host"),
)

#: What no API shows of a move: a word for programs, and a text.
UNSEEN: Mapping[MoveKind, tuple[tuple[str, str], ...]] = {
    MoveKind.LIVE_MIGRATION: (
        _SHARES,
        _CELL,
        ("cpu comparison", "CPU: the guest's must run on the host's"),
        (
            "live storage",
            "disks: shared storage, or disk space for block migration",
        ),
        (
            "live device",
            "PCI devices of its flavor: their alias must be live_migratable",
        ),
        *_ON_THE_HOST,
    ),
    MoveKind.MIGRATION: (_SHARES_BEFORE, _OTHER_CELL, _COPIED, *_ON_THE_HOST),
    MoveKind.RESIZE: (
        _QUOTA,
        _SHARES_BEFORE,
        _OTHER_CELL,
        _COPIED,
        (
            "smaller disk",
            "a smaller disk: libvirt rejects it",
        ),
        *_ON_THE_HOST,
    ),
    MoveKind.EVACUATION: (
        _SHARES,
        _CELL,
        (
            "task under way",
            "a running task: before 23.2.2, 24.2.0 and 25.1.0 nova-api rejects the "
            "evacuation",
        ),
        (
            "lost storage",
            "disks: without shared storage the server is rebuilt from its image, and "
            "its data are lost",
        ),
        *_ON_THE_HOST,
    ),
    MoveKind.UNSHELVE: (
        _QUOTA,
        _CELL,
        ("shelved image", "the image that it was shelved as"),
        *_ON_THE_HOST,
    ),
    MoveKind.REBUILD: (_SHARES,),
}


def summary(found: Destinations) -> str:
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
    if judgement is None:
        return {}
    return {each.name: tuple(_of_host(judgement, each)) for each in judgement.hosts}


def _of_host(found: Judgement, host: Provider) -> Iterator[str]:
    rejection = found.rejection_by_clauses(host)
    if rejection is not None and not found.is_candidate(host):
        for each in rejection.involved:
            yield from headline.of_hosts(each, found, [host])
        return
    for name, answer in found.filtering.unknown(host.uuid):
        yield filters.answer(answer, name)


def rebuilt(found: Rebuild) -> Iterator[str]:
    """Why the server's host can't take the image, or what decides that."""
    if found.refusal is not None:
        yield words.text(found.refusal, is_moved=True)
    if found.forbidden:
        yield f"the flavor forbids what the image requires: {listed(found.forbidden)}"
    if found.missing:
        yield f"lacks what the image requires: {listed(found.missing)}"
    for name, answer in found.filtering.answers(found.host.uuid):
        yield filters.answer(answer, name)


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
        rest = prose.lines(explanation, named, everything, options, width)
        # The summary has the verdict.
        verdict = next(rest)
    tone = verdict.tone
    if found.is_open and tone is Tone.YES:
        tone = Tone.DOUBT
    tone = Tone.NO if found.refusals else tone
    yield Line(summary(found), tone, found.reason, verdict.cause)
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
    if judgement is not None and not found.refusals:
        yield from _hosts(judgement) if judgement.has_room else rest
        if judgement.has_room and found.explanation and found.explanation.named:
            named = found.explanation.named
            yield from prose.of_named(judgement, named, everything=False)
        gaining = {each.name for each in judgement.doubts.options if each.gained}
        if RESIZE_TO_SAME_HOST in gaining:
            yield Line(f"{found.state.host}, {_SAME_HOST}")
    if found.kind is not MoveKind.REBUILD:
        yield Line("--long shows what Nova checks only when the move is tried.")


def _hosts(judgement: Judgement) -> Iterator[Line]:
    """The hosts that could take the server, best first, and why others can't."""
    places = judgement.ranking.places if judgement.ranking else ()
    order = {uuid: place for place, uuids in enumerate(places) for uuid in uuids}
    unsure = {each.uuid for each in judgement.uncertain}
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
    yield from map(Line, headline.reasons(judgement, False))
    for each in list(headline.lines(judgement))[1:]:
        if each.tone is Tone.DOUBT:
            yield each
