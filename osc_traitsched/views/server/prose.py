"""Why a server failed, as text."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence

from osc_traitsched.core.answer import Answer
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.servers.failure import Changes, Failure, ServerAnswer, Stage
from osc_traitsched.core.servers.moves import of_own_host
from osc_traitsched.paste import Option, Placeholder, line, openstack, printable
from osc_traitsched.text import count, listed, ranges
from osc_traitsched.views.explain import headline, prose
from osc_traitsched.views.explain import words as explain_words
from osc_traitsched.views.server import words
from osc_traitsched.views.terminal import Line, Tone, section

# Why a server failed, in lines: Nova's words, what they leave open, what changed.


_SCHEDULER_LOG = (
    "Only nova-scheduler's log names the filter: 'Filtering removed all hosts'."
)

#: What a stage leaves open, and where it is to be found.
_OPEN = {
    Stage.NO_CANDIDATES: "Nova says the same if Placement is unreachable.",
    Stage.NO_HOST_LEFT: _SCHEDULER_LOG,
    Stage.RETRIES: "Each host's nova-compute log has its reason; Nova keeps only the "
    "last one.",
    Stage.SERVICE: "The logs of nova-conductor and nova-scheduler have the traceback.",
    Stage.NOT_KEPT: "Only nova-scheduler's log says whether Placement returned no host "
    "or the filters rejected all.",
}
_LIVE = (
    "Or nova-conductor rejected the type or version of their hypervisors (in its debug "
    "log)."
)
_UNTOLD = "this compute API does not say why"
_NO_FAULT = "Nova records no fault; somebody may have set its state by hand."


_UNKNOWN_CAUSE = (
    "Cause unknown: fixed since (traits, metadata, aggregates, disabled hosts and "
    "nova.conf leave no record), or a named host, a port, or a server group deleted "
    "since."
)


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
        _servers(len(changes.made), "created", changes.made),
        _servers(len(changes.deleted), "deleted", changes.deleted),
        _moved(changes),
        _down("went down on", changes.went_down),
        _down("was already down on", changes.was_down),
    ]
    told = listed(filter(None, parts)) or "no relevant change that Nova lists"
    more = "; there may be more" if changes.is_cut else ""
    unread = f"; you may not list {listed(changes.unread)}"
    hidden = unread if changes.unread else ""
    return f"Since the failure: {told}{more}{hidden}."


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


#: Stages whose words of Nova's say more than the verdict.
_TELLING = frozenset([Stage.REJECTED, Stage.SERVICE, Stage.COMPUTE, Stage.RETRIES])


def lines(
    answer: ServerAnswer,
    now: datetime.datetime,
    everything: bool,
    options: Sequence[Option] = (),
    width: int = 0,
) -> Iterator[Line]:
    """The text, line by line. Names are not escaped yet.

    :param now: for ages
    :param everything: Nova's words, the request, and all of the explanation
    :param width: of the terminal; 0 for none
    """
    explanation, judgement = answer.explanation, answer.judgement
    explained: Iterator[Line] = iter(())
    tone: Tone | None = Tone.DOUBT
    if explanation is not None:
        named = explanation.named
        explained = prose.lines(explanation, named, everything, options, width)
        # The summary has the verdict.
        tone = next(explained).tone
    is_doubtful = answer.is_unexplained or answer.may_fail_alike
    if answer.unrecorded or is_doubtful:
        tone = Tone.DOUBT
    if answer.refusals:
        tone = Tone.NO
    is_well = answer.failure is None and judgement is not None and answer.state.host
    summary = words.summary(answer, now)
    yield Line(summary, None if is_well else tone, answer.reason)
    if is_well and judgement is not None:
        yield from _of_host(answer, judgement, options)
    if everything:
        yield from map(Line, failure_lines(answer))
        known = words.known(answer.parts, answer.is_flavor_changed)
        yield from section("Reconstructed request:", known)
        hidden = words.hidden(answer.parts, answer.minor, answer.kind is not None)
        yield from section("Not recorded by Nova:", hidden)
        if judgement is not None:
            yield from (Line(""), Line("That request now:", Tone.TITLE))
            yield from explained
        return
    for part in answer.parts:
        if part.problem is not None:
            yield Line(f"Not read: {words.why(part, answer.minor)}", Tone.DOUBT)
    yield from map(Line, _essentials(answer, options))
    if is_well:
        yield Line("--long shows its request and the other hosts.")
    elif not answer.unrecorded and not answer.refusals:
        yield from explained


def _of_host(
    answer: ServerAnswer, judgement: Judgement, options: Sequence[Option]
) -> Iterator[Line]:
    can, conditions = of_own_host(judgement, answer.state.node)
    host = answer.state.host
    hosts = [each for each in judgement.hosts if each.name == answer.state.node]
    found = (headline.of_hosts(each, judgement, hosts) for each in conditions)
    why = listed(reason for reasons in found for reason in reasons)
    if can is Answer.NO:
        yield Line(f"Nova would no longer allow {host}: it {why}.", Tone.NO)
        asked = openstack("trait-sched server destinations", _name(answer))
        yield Line(f"Where it could go: {line(asked, options)}")
    elif can is Answer.YES:
        yield Line(f"Nova would still allow {host} for it (room not judged).", Tone.YES)
    elif why:
        yield Line(f"Depends on nova.conf: {host} {why}.", Tone.DOUBT)
    elif judgement.refusal is not None:
        text = explain_words.text(judgement.refusal, is_moved=False)
        yield Line(f"A new server like it: {text}", Tone.DOUBT)
    else:
        yield Line(f"Can't tell if Nova would allow {host}.", Tone.DOUBT)
    for each in list(headline.lines(judgement))[1:]:
        if each.tone is Tone.DOUBT:
            yield each


def _name(answer: ServerAnswer) -> str:
    return printable(answer.state.name, answer.state.id)


def _essentials(answer: ServerAnswer, options: Sequence[Option]) -> Iterator[str]:
    """What the verdict leaves open, or what Nova says itself."""
    failure = answer.failure
    if failure is None:
        return
    if failure.text and failure.stage in _TELLING:
        yield f"Nova: {failure.text}"
    if failure.stage is Stage.CHECKS and failure.check is not None:
        yield f"Nova: {failure.check.details or _UNTOLD}"
    if answer.unrecorded:
        asked = openstack(
            "trait-sched server destinations",
            _name(answer),
            Option("--for", failure.action),
            Option(f"--{answer.unrecorded}", Placeholder(answer.unrecorded.upper())),
        )
        yield f"Judge it with the {answer.unrecorded}: {line(asked, options)}"
    elif answer.of_copy is not None and answer.judgement is not None:
        yield from words.copies(answer.of_copy.question, answer.judgement.question)
    elif answer.is_unexplained:
        yield _UNKNOWN_CAUSE
        is_moved = answer.kind is not None
        for each in words.hidden(answer.parts, answer.minor, is_moved):
            yield f"  {each}"
    freed = answer.freed
    if not freed.is_empty or (answer.is_unexplained and (freed.is_cut or freed.unread)):
        yield _changed(freed)
