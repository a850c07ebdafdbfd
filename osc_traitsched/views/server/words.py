"""The words for where a server failed, when, and what was done with it."""

from __future__ import annotations

import datetime

from osc_traitsched.core.existing.failure import Failure, ServerAnswer, Stage
from osc_traitsched.text import count, ranges
from osc_traitsched.views.explain import words

_ACTIONS = {
    "create": "build",
    "evacuate": "evacuation",
    "live-migration": "live migration",
    "migrate": "cold migration",
}

_STAGES = {
    Stage.NO_CANDIDATES: "Placement gave no host",
    Stage.NO_HOST_LEFT: "of the hosts that Placement gave, none was left",
    Stage.CHECKS: "the checks before a live migration turned its hosts down",
    Stage.REFUSED: "Nova refused it",
    Stage.SERVICE: "a service of Nova's raised an exception",
    Stage.COMPUTE: "nova-compute failed",
    Stage.NOT_KEPT: "no host was found, and Nova does not keep why",
    Stage.UNKNOWN: "Nova does not tell why",
}


def summary(answer: ServerAnswer, now: datetime.datetime) -> str:
    """Return the answer in one line: how it failed, and whether it would now."""
    return f"{_failed(answer, now)} {_now(answer)}"


def _failed(answer: ServerAnswer, now: datetime.datetime) -> str:
    name, failure, host = answer.state.name, answer.failure, answer.state.host
    if failure is None:
        where = f" on {host}" if host else ""
        return f"{name} is {answer.state.status}{where}: no failure of it is shown."
    when = f" {age(failure.when, now)}" if failure.when else ""
    return f"{_what(answer, failure)} failed{when}: {stage(failure)}."


def _what(answer: ServerAnswer, failure: Failure) -> str:
    if failure.action in ("", "create"):
        return answer.state.name
    return f"The {action(failure.action)} of {answer.state.name}"


def _now(answer: ServerAnswer) -> str:
    if answer.explanation is None:
        return "Whether hosts could take it now is not known."
    own = [h for h in answer.explanation.candidates if h.name == answer.state.node]
    verdict = words.verdict(answer.explanation)
    if own:
        verdict = f"{verdict[:-1]}, its own among them."
    if not verdict.startswith("Placement"):
        verdict = verdict[0].lower() + verdict[1:]
    return f"Now: {verdict}"


def action(name: str) -> str:
    """Return what was done, as a noun."""
    return _ACTIONS.get(name, name)


def stage(failure: Failure) -> str:
    """Return where it failed, in a clause."""
    where = ranges(dict.fromkeys(failure.attempts))
    if failure.stage is Stage.RETRIES:
        tried = f"it was tried on {where}" if where else "hosts were tried"
        return f"{tried}, and failed on each"
    if failure.stage is Stage.COMPUTE and failure.host:
        return f"nova-compute of {failure.host} failed"
    if failure.stage is Stage.CHECKS and where:
        return f"the checks before a live migration turned down {where}"
    return _STAGES[failure.stage]


def age(then: datetime.datetime, now: datetime.datetime) -> str:
    """Return how long ago something was: ``5 min ago``, ``2 h ago``, ``3 days ago``."""
    minutes = int((now - then).total_seconds()) // 60
    if minutes < 1:
        return "less than a minute ago"
    if minutes < 120:
        return f"{minutes} min ago"
    hours = minutes // 60
    return f"{hours} h ago" if hours < 48 else f"{count(hours // 24, 'day')} ago"
