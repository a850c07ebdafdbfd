"""Where a server could go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from osc_traitsched.core.explain.judgement import Judgement
from osc_traitsched.core.nova.options import RESIZE_TO_SAME_HOST
from osc_traitsched.core.nova.question import MoveKind
from osc_traitsched.core.servers.moves import Destinations
from osc_traitsched.paste import Option
from osc_traitsched.text import listed
from osc_traitsched.views.explain import headline, prose
from osc_traitsched.views.server import moves, words
from osc_traitsched.views.terminal import Line, Tone, section

_SAME_HOST = (
    "where it runs, has room for its old and new size together: set "
    "[DEFAULT]allow_resize_to_same_host = true for nova-api and nova-compute."
)
#: So many hosts are named, best first.
_MOST_HOSTS = 5


def lines(
    found: Destinations,
    everything: bool,
    options: Sequence[Option] = (),
    width: int = 0,
) -> Iterator[Line]:
    """The text, line by line. Names are not escaped yet.

    :param everything: the request, all of the explanation, and what is not checked
    :param options: the global options of printed commands
    :param width: of the terminal; 0 for none
    """
    explanation, judgement = found.explanation, found.judgement
    rest: Iterator[Line] = iter(())
    tone: Tone | None = Tone.of(found.can_be_rebuilt)
    if explanation is not None:
        named = explanation.named
        rest = prose.lines(explanation, named, everything, options, width)
        # The summary has the verdict.
        tone = next(rest).tone
    if found.is_image_gone and tone is Tone.YES:
        tone = Tone.DOUBT
    yield Line(moves.summary(found), Tone.NO if found.refusals else tone)
    yield from map(Line, moves.lines(found, everything))
    if found.rebuild is not None:
        yield from map(Line, moves.of_rebuild(found.rebuild))
    if everything:
        yield from rest
        unseen = (text for _, text in moves.UNSEEN[found.kind])
        yield from section("Not checked:", unseen)
        known = words.known(found.parts)
        yield from section("Reconstructed request:", known)
        hidden = words.hidden(found.parts, found.minor)
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
        f"{each.name}{' (perhaps)' if each.uuid in unsure else ''}" for each in hosts
    ]
    yield Line(f"Best first: {listed(names, most=_MOST_HOSTS)}")
    yield from map(Line, headline.reasons(judgement, False))
    for each in list(headline.lines(judgement))[1:]:
        if each.tone is Tone.DOUBT:
            yield each
