"""Why a server failed, as text."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.core.servers.failure import Changes, Failure, ServerAnswer, Stage
from osc_traitsched.paste import Option
from osc_traitsched.text import count, listed, ranges
from osc_traitsched.views.explain import prose
from osc_traitsched.views.server import words
from osc_traitsched.views.terminal import Line, Tone

# Why a server failed, in lines: Nova's words, what they leave open, what changed.


_SCHEDULER_LOG = (
    "Which filter it was is in nova-scheduler's log only: 'Filtering removed all "
    "hosts'."
)

#: What a stage leaves open, and where it is to be found.
_OPEN = {
    Stage.NO_CANDIDATES: "The same is said where Placement could not be asked.",
    Stage.NO_HOST_LEFT: _SCHEDULER_LOG,
    Stage.RETRIES: "Why each host failed is in its nova-compute's log; Nova keeps the "
    "last reason at most.",
    Stage.SERVICE: "The log of nova-conductor and nova-scheduler has its traceback.",
    Stage.NOT_KEPT: "Whether Placement gave none, or filters took them all, is in "
    "nova-scheduler's log only.",
}
_LIVE = (
    "Or nova-conductor turned hosts down for the type or the version of their "
    "hypervisor, which only its log at debug says."
)
_UNTOLD = "this compute API does not say why"
_NO_FAULT = "Nova has no fault of it: its state may have been reset by hand."


def failure_lines(answer: ServerAnswer) -> Iterator[str]:
    """Nova's words on the failure, and what they leave open."""
    failure = answer.failure
    if failure is None:
        return
    if failure.text:
        source = "fault" if failure.is_fault else "failed step"
        yield f"Nova's words ({source}): {failure.text}"
    elif not failure.action:
        yield _NO_FAULT
    if failure.action:
        yield _action(failure)
    if failure.stage is Stage.CHECKS and failure.check is not None:
        where = f" ({failure.check.host})" if failure.check.host else ""
        yield f"The last check that failed{where}: {failure.check.details or _UNTOLD}"
    yield from _open(failure)
    if answer.moves:
        last = answer.moves[0]
        to = f" to {last.destination}" if last.destination else ""
        yield f"Its last move: {last.kind} from {last.source}{to}, {last.status}."
    if answer.state.host:
        yield (
            f"It is on {answer.state.host}, where what it uses counts as used; a move "
            "leaves that host out."
        )
    if answer.changes is not None:
        yield _changed(answer.changes)


def _action(failure: Failure) -> str:
    steps = listed(
        f"{each.name}{f' on {each.host}' if each.host else ''}"
        for each in failure.steps
    )
    failed = f", failed step: {steps}" if steps else ""
    tried = ranges(dict.fromkeys(failure.attempts))
    hosts = f", hosts tried: {tried}" if tried else ", no host tried"
    return f"Action: {words.action(failure.action)} ({failure.request}){failed}{hosts}"


def _open(failure: Failure) -> Iterator[str]:
    found = _OPEN.get(failure.stage)
    if found:
        yield found
    if failure.stage is Stage.NO_HOST_LEFT and failure.action == "live-migration":
        yield _LIVE


def _changed(changes: Changes) -> str:
    parts = [
        _servers(len(changes.made), "made", changes.made),
        _servers(len(changes.deleted), "deleted", changes.deleted),
        _moved(changes),
        _down("went down on", changes.went_down),
        _down("was down then already on", changes.was_down),
    ]
    told = listed(filter(None, parts)) or "nothing that Nova lists"
    more = "; there may be more" if changes.is_cut else ""
    unread = f"; this user may not list {listed(changes.unread)}"
    hidden = unread if changes.unread else ""
    return f"All that follows is of now. Since then: {told}{more}{hidden}."


def _servers(number: int, what: str, hosts: tuple[str, ...]) -> str:
    if not number:
        return ""
    return f"{count(number, 'server')} {what} on {ranges(dict.fromkeys(hosts))}"


def _moved(changes: Changes) -> str:
    if not changes.moves:
        return ""
    ways = listed(f"{source} to {to}" for source, to in changes.moves)
    return f"{count(len(changes.moves), 'server')} moved ({ways})"


def _down(when: str, hosts: tuple[str, ...]) -> str:
    return f"nova-compute {when} {ranges(hosts)}" if hosts else ""


# Why a server failed, for a person.


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
    yield from map(Line, failure_lines(answer))
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
