"""The answers of own filters and weighers, and why they may have none."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from osc_traitsched.core.judge.filtering import Filtering
from osc_traitsched.core.nova.filter.state import (
    Fails,
    FilterResult,
    HostState,
    Passes,
    Raises,
    Unknown,
)
from osc_traitsched.core.nova.own import PluginJudgment, Weighed
from osc_traitsched.core.nova.question import Question
from osc_traitsched.text import count, quoted, ranges
from osc_traitsched.views.listing import Names, Table

_FAILS_REQUESTS = "nova-scheduler would fail the whole request"

#: The answers for programs.
ANSWERS = {Passes: "yes", Fails: "no", Unknown: "unknown", Raises: "exception"}

_WORDS = {Passes: "passes", Fails: "fails", Unknown: "unknown", Raises: "raises"}


class Trial(Protocol):
    """A trial of a plugin: the hosts in order, and its answers."""

    @property
    def hosts(self) -> tuple[HostState, ...]:
        """All hosts."""

    @property
    def judgment(self) -> PluginJudgment:
        """The answers of the plugin."""


FILTER_COLUMNS = ("host", "answer", "reason")
WEIGHER_COLUMNS = ("host", "raw", "normalized", "multiplier", "score")


def rows(trial: Trial) -> Table:
    """One row a host: a filter's answer and its reason, or a weigher's figures.

    A weigher's rows begin with its first host.
    """
    found = trial.judgment
    for name, answers in found.answers.items():
        logs = found.logs[name]
        return FILTER_COLUMNS, [
            (each.node, *_cells(answers[each.compute.uuid], logs[each.compute.uuid]))
            for each in trial.hosts
        ]
    for weights in found.weights.values():
        if isinstance(weights, Weighed):
            return WEIGHER_COLUMNS, _weighed(trial.hosts, weights)
    return WEIGHER_COLUMNS, [
        (each.node, None, None, None, None) for each in trial.hosts
    ]


def _cells(answer: FilterResult, log: Iterable[str]) -> tuple[str, Names]:
    why = reason(answer)
    return _WORDS[type(answer)], Names([*([why] if why else []), *log])


def _weighed(hosts: Iterable[HostState], found: Weighed) -> list[tuple[object, ...]]:
    first = sorted(hosts, key=lambda each: -found.score(each.compute.uuid))
    return [
        (
            each.node,
            found.raw[each.compute.uuid],
            found.normalized[each.compute.uuid],
            found.multiplier[each.compute.uuid],
            found.score(each.compute.uuid),
        )
        for each in first
    ]


@functools.singledispatch
def reason(answer: object) -> str:
    """Why an answer is not a plain yes or no; empty for those."""
    return ""


@reason.register
def _(answer: Unknown) -> str:
    if answer.missing == "Nova's database":
        return "it reads Nova's database"
    if answer.missing == "context.remote_address":
        return "it reads where the request comes from: --remote-address says it"
    return f"it reads {answer.missing}, which is not visible here"


@reason.register
def _(answer: Raises) -> str:
    return ": ".join(filter(None, (answer.exception, answer.value)))


def problem(trial: Trial) -> str:
    """The line on a plugin that would fail requests, or can't run here."""
    for answers in trial.judgment.answers.values():
        raised = sum(isinstance(each, Raises) for each in answers.values())
        if raised:
            hosts = f"{raised} of {count(len(answers), 'host')}"
            return f"it raises for {hosts}: {_FAILS_REQUESTS}"
    for weights in trial.judgment.weights.values():
        if isinstance(weights, Raises):
            return f"{reason(weights)}; {_FAILS_REQUESTS}"
        if isinstance(weights, Unknown):
            return f"it can't weigh these hosts: {reason(weights)}"
    return ""


def differences(
    question: Question, filtering: Filtering, names: Mapping[str, str]
) -> Iterator[str]:
    """Lines on the filters whose copy in Nova answers differently.

    :param names: of the hosts that matter, by the UUIDs of their nodes
    """
    version = question.own.version if question.own else ""
    found: dict[tuple[str, str, str], list[str]] = {}
    for each in filtering.differences:
        if each.host in names:
            words = _WORDS[type(each.novas)], _WORDS[type(each.ours)]
            found.setdefault((each.filter, *words), []).append(names[each.host])
    for (name, novas, ours), hosts in found.items():
        yield (
            f"Of {ranges(hosts)} the {name} of Nova {version} says {quoted(novas)}, "
            f"and the one here {quoted(ours)}. Nova is believed."
        )
