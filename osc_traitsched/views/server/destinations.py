"""Where a server could go: for a person, and as a document for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from osc_traitsched.core.servers.moves import Can, Destinations
from osc_traitsched.documents import plain
from osc_traitsched.paste import Option
from osc_traitsched.views.explain import prose
from osc_traitsched.views.explain.document import explained, verdict
from osc_traitsched.views.server import moves, schema, words
from osc_traitsched.views.server.document import of_server, request_part
from osc_traitsched.views.server.prose import section
from osc_traitsched.views.terminal import Line, Tone

_TONES = {Can.YES: Tone.YES, Can.NO: Tone.NO, Can.UNKNOWN: Tone.DOUBT}
_REBUILT = {Can.YES: "candidates", Can.NO: "no host", Can.UNKNOWN: "unknown"}


def lines(
    found: Destinations,
    everything: bool,
    options: Sequence[Option] = (),
    width: int = 0,
) -> Iterator[Line]:
    """The text, line by line. Names are not escaped yet.

    :param everything: do not cut lists
    :param options: the global options of printed commands
    :param width: of the terminal; 0 for none
    """
    explanation = found.explanation
    rest: Iterator[Line] = iter(())
    tone: Tone | None = _TONES[found.can_be_rebuilt]
    if explanation is not None:
        rest = prose.lines(explanation, explanation.named, everything, options, width)
        # The summary has the verdict.
        tone = next(rest).tone
    yield Line(moves.summary(found), Tone.NO if found.refusals else tone)
    yield from map(Line, moves.lines(found))
    if found.rebuild is not None:
        yield from map(Line, moves.of_rebuild(found.rebuild))
    yield from rest
    unseen = (text for _, text in moves.UNSEEN[found.kind])
    yield from section("Only found out when it is tried:", unseen)
    known = words.known(found.parts)
    yield from section("Its request, put together again:", known)
    hidden = tuple(words.hidden(found.parts, found.minor))
    if hidden:
        yield from section("Not known of its request:", hidden)


def document(found: Destinations, options: Sequence[Option] = ()) -> dict[str, Any]:
    """All of it as plain lists, mappings, numbers and text.

    :param options: the global options of printed commands
    """
    reasons = moves.reasons(found)
    explanation = found.explanation
    shown = (explanation.named or explanation.hosts) if explanation else ()
    whole = schema.DestinationsDocument(
        schema=1,
        summary=moves.summary(found),
        verdict="refused" if found.refusals else _verdict(found),
        server=of_server(found.state),
        compute_api=f"2.{found.minor}",
        move=schema.ServerMove(found.kind, found.because),
        refusals=[
            schema.RefusedMove(each.reason, each.by, each.exception, each.text)
            for each in found.refusals
        ],
        ignored_host=found.ignored or None,
        hosts=[
            schema.Destination(host, can, reasons[host]) for host, can in found.hosts
        ],
        destinations=[host for host, can in found.hosts if can is Can.YES],
        uncertain_destinations=[
            host for host, can in found.hosts if can is Can.UNKNOWN
        ],
        found_out_later=[
            schema.FoundOutLater(what, text) for what, text in moves.UNSEEN[found.kind]
        ],
        request=map(request_part, found.parts),
        explanation=explained(explanation, shown, options) if explanation else None,
    )
    return dict(plain(whole))


def _verdict(found: Destinations) -> str:
    if found.explanation is not None:
        return verdict(found.explanation)
    rebuild = found.rebuild
    if rebuild is not None and rebuild.refusal is not None:
        return "refused"
    return _REBUILT[found.can_be_rebuilt]
