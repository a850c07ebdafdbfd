"""Why a server failed, for a person."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.core.servers.failure import ServerAnswer
from osc_traitsched.paste import Option
from osc_traitsched.views.explain import prose
from osc_traitsched.views.server import failure, words
from osc_traitsched.views.terminal import Line, Tone


def lines(
    answer: ServerAnswer,
    now: datetime.datetime,
    everything: bool,
    options: Sequence[Option] = (),
    width: int = 0,
) -> Iterator[Line]:
    """The text, line by line. Names are not escaped yet.

    :param now: for ages
    :param everything: do not cut lists
    :param options: the global options of printed commands
    :param width: of the terminal; 0 for none
    """
    explanation = answer.explanation
    explained: Iterator[Line] = iter(())
    tone: Tone | None = Tone.DOUBT
    if explanation is not None:
        explained = prose.lines(
            explanation, explanation.named, everything, options, width
        )
        # The summary has the verdict.
        tone = next(explained).tone
    yield Line(words.summary(answer, now), tone)
    yield from map(Line, failure.lines(answer))
    yield from section(
        "Its request, put together again:",
        words.known(answer.parts, answer.is_flavor_changed),
    )
    yield from section(
        "Not known of its request:", words.hidden(answer.parts, answer.minor)
    )
    if explanation is not None:
        yield from section("That request now:", ())
        yield from explained


def section(title: str, found: Iterable[str]) -> Iterator[Line]:
    """A title and the lines under it."""
    yield Line("")
    yield Line(title, Tone.TITLE)
    yield from (Line(f"  {text}") for text in found)
