"""Moves in words: the move, what rejects it, and what no API shows before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from osc_traitsched.core.answer import Answer
from osc_traitsched.core.explain.judgement import Judgement
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova.question import MoveKind
from osc_traitsched.core.servers.moves import Because, Destinations, Rebuild
from osc_traitsched.text import listed
from osc_traitsched.views.explain import filters, words
from osc_traitsched.views.explain import headline as explained
from osc_traitsched.views.server.words import lower

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
    ("group policy", "server group: nova-compute checks its policy again"),
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
            "a smaller disk: libvirt rejects it, and nova-api if the server was "
            "created with more",
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
            "which no API shows (--image-property sets it)."
        )
    if found.is_image_gone and not found.refusals:
        yield "Its image is deleted: pass what it required with --image-property."
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
            yield from explained.of_hosts(each, found, [host])
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
