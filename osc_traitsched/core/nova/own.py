"""An operator's own filters and weighers, and their results."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Union

from osc_traitsched.core.errors import BadQuestion
from osc_traitsched.core.nova.filter.state import (
    Fails,
    FilterResult,
    HostState,
    Raises,
    RequestSpec,
    Unknown,
)
from osc_traitsched.core.nova.filter.table import FILTERS, OWN_FILTER, FilterAnswers
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.weighers import OwnWeigher, OwnWeighers
from osc_traitsched.text import quoted, visible

# One's own filters and weighers: how they are named, and what becomes of them.


@dataclasses.dataclass(frozen=True)
class PluginName:
    """Name of a filter or weigher as a user writes it.

    :ivar file: path of a Python file; None for an importable module
    :ivar path: class in the file, or ``module.Class``, ``module:Class``, a function
        that returns classes, or a bare class name that nova.conf makes available
    :ivar kind: ``filter`` or ``weigher`` if nova.conf names it; None if the user does
    :ivar is_novas: one of Nova's own filters
    """

    text: str
    file: str | None
    path: str
    kind: str | None = None
    is_novas: bool = False

    @classmethod
    def read(cls, text: str) -> PluginName:
        """Read a name; raises PluginFails for a file without a class."""
        head, _, tail = text.rpartition(":")
        if head.endswith(".py") and tail:
            return cls(text, head, tail)
        if text.rstrip(":").endswith(".py"):
            raise PluginFails(text, "no class is named: FILE.py:CLASS")
        return cls(text, None, text)


@dataclasses.dataclass(frozen=True)
class Weighed:
    """Weights of hosts, by node UUID; ``raw`` within the weigher's limits."""

    raw: Mapping[str, float]
    normalized: Mapping[str, float]
    multiplier: Mapping[str, float]

    def score(self, uuid: str) -> float:
        """Part of the weigher in a host's total."""
        return self.multiplier[uuid] * self.normalized[uuid]


Weights = Union[Weighed, Unknown, Raises]


#: What is said of a plugin that looks at all hosts together.
TOGETHER = Unknown("hosts together")


@dataclasses.dataclass(frozen=True)
class PluginRun:
    """Result of one class of a plugin.

    :ivar answers: of a filter, by node UUID; a ``Fails`` has the reason ``OWN``
    :ivar weigher: None for a filter
    """

    plugin: str
    name: str
    answers: Mapping[str, FilterResult] = dataclasses.field(default_factory=dict)
    weigher: OwnWeigher | None = None


@dataclasses.dataclass(frozen=True)
class PluginJudgment:
    """Results of filters and weighers by plugin name.

    If a name stands for several classes, each goes by that name, a colon and the class.

    :ivar nova: version of the Nova that ran them
    :ivar answers: by filter and node UUID; a ``Fails`` has the reason ``OWN``
    :ivar logs: log lines by plugin and node UUID; a weigher's UUID is ``""``
    """

    nova: str
    answers: Mapping[str, Mapping[str, FilterResult]]
    weights: Mapping[str, Weights]
    logs: Mapping[str, Mapping[str, tuple[str, ...]]]


@dataclasses.dataclass(eq=False)
class PluginFails(BadQuestion):
    """A filter or weigher that can't be loaded; the reason is one line."""

    plugin: str
    reason: str

    def __str__(self) -> str:
        return visible(f"{quoted(self.plugin)} can't be loaded: {self.reason}")


@dataclasses.dataclass(eq=False)
class NovaPythonFails(BadQuestion):
    """The Python with Nova did not answer.

    :ivar kind: ``not-started``, ``timeout``, ``silent`` (ended without output),
        ``no-answer``, ``no-nova``, ``no-database``, ``other-release``, ``upgraded``,
        ``nova-conf``, ``request`` or ``internal``
    :ivar reason: one line; may be empty
    """

    command: str
    kind: str
    reason: str = ""

    def __str__(self) -> str:
        what = {
            "not-started": f"can't be started: {self.reason}",
            "timeout": f"took longer than {self.reason} seconds",
            "silent": "ended without a word: does the command pass standard input "
            "on (podman exec -i, and no ssh -n), and does it end in a Python?",
            "no-answer": f"gave no answer: {self.reason}",
            "no-nova": f"has no Nova: {self.reason}",
            "no-database": f"can't read Nova's API database: {self.reason}; name a "
            "container of nova-scheduler, nova-api or nova-conductor",
            "other-release": f"has the filters of Nova {self.reason}: --nova-release "
            "says it, or leave out --with-nova",
            "upgraded": f"is Nova {self.reason}: config save --nova-python reads it "
            "again",
            "nova-conf": f"can't read the configuration of Nova: {self.reason}",
            "request": f"makes no request spec of it: {self.reason}",
        }.get(self.kind, f"failed: {self.reason}")
        return visible(f"{quoted(self.command)} {what}")


# What a Python with Nova in it says of a request's hosts, beside the answers here.


@dataclasses.dataclass(frozen=True)
class Difference:
    """A host, by node UUID, that Nova's own filter and its model judge differently."""

    filter: str
    host: str
    ours: FilterResult
    novas: FilterResult


@dataclasses.dataclass(frozen=True)
class OwnAnswers:
    """Results of filters and weighers that ran in Nova, for one request.

    They hold only for that request, and for hosts in that state.

    :ivar hosts: states in the run, by node UUID
    :ivar filters: results by class, of filters that are not Nova's
    :ivar novas: results by class, of Nova's own filters
    :ivar version: of that Nova; empty if none ran
    """

    spec: RequestSpec
    settings: SchedulerSettings
    hosts: Mapping[str, HostState] = dataclasses.field(default_factory=dict)
    filters: Mapping[str, Mapping[str, FilterResult]] = dataclasses.field(
        default_factory=dict
    )
    weighers: OwnWeighers = dataclasses.field(default_factory=OwnWeighers)
    novas: Mapping[str, Mapping[str, FilterResult]] = dataclasses.field(
        default_factory=dict
    )
    version: str = ""

    @classmethod
    def read(
        cls,
        spec: RequestSpec,
        settings: SchedulerSettings,
        hosts: Iterable[HostState],
        runs: Iterable[PluginRun],
        novas: Collection[str],
        version: str,
    ) -> OwnAnswers:
        """Results of the runs; ``novas`` names Nova's own filters, as written."""
        runs = tuple(runs)
        states = {host.compute.uuid: host for host in hosts}
        filters = [each for each in runs if each.weigher is None]
        return cls(
            spec,
            settings,
            states,
            {
                r.name: _without_names(r, states)
                for r in filters
                if r.plugin not in novas
            },
            OwnWeighers(
                tuple(each.weigher for each in runs if each.weigher is not None),
                frozenset(each.plugin for each in runs if each.weigher is not None),
            ),
            {r.name: _without_names(r, states) for r in filters if r.plugin in novas},
            version,
        )

    def joined(
        self,
        ours: FilterAnswers,
        hosts: Sequence[HostState],
        spec: RequestSpec,
        settings: SchedulerSettings,
    ) -> tuple[FilterAnswers, tuple[Difference, ...]]:
        """The model's answers with these added, and where the two differ.

        Nova's own filters win wherever they are sure.
        """
        uuids = [each.compute.uuid for each in hosts]
        known = self._known(hosts, spec)
        answers = dict(ours.answers)
        for name, found in self.filters.items():
            answers[name] = {u: found[u] if u in known else OWN_FILTER for u in uuids}
        differences = [
            Difference(name, uuid, ours.answers[name][uuid], found[uuid])
            for name, found in self._novas_by(settings, ours.names)
            for uuid in uuids
            if uuid in known and not _is_alike(ours.answers[name][uuid], found[uuid])
        ]
        for each in differences:
            answers[each.filter] = {**answers[each.filter], each.host: each.novas}
        contrary = (e for e in differences if not isinstance(e.ours, Unknown))
        new = (name for name in self.filters if name not in ours.names)
        return FilterAnswers((*ours.names, *new), answers), tuple(contrary)

    def _known(self, hosts: Iterable[HostState], spec: RequestSpec) -> set[str]:
        """UUIDs of hosts that are as in the run; none for another request."""
        found = {host.compute.uuid: host for host in hosts}
        is_same = spec == self.spec
        return {u for u, host in found.items() if is_same and self.hosts.get(u) == host}

    def _novas_by(
        self, settings: SchedulerSettings, on: Collection[str]
    ) -> Iterator[tuple[str, Mapping[str, FilterResult]]]:
        """Nova's filters whose options are the same in other settings."""
        if settings.release != self.settings.release:
            return
        for name, found in self.novas.items():
            read = FILTERS[name].options
            is_same = all(settings.value(o) == self.settings.value(o) for o in read)
            if name in on and is_same:
                yield name, found


def _is_alike(ours: FilterResult, novas: FilterResult) -> bool:
    return isinstance(novas, (Unknown, type(ours)))


def _without_names(
    run: PluginRun, hosts: Mapping[str, HostState]
) -> Mapping[str, FilterResult]:
    """Answers of a filter, without host names in reasons."""
    return {u: _without_name(answer, hosts[u]) for u, answer in run.answers.items()}


def _without_name(answer: FilterResult, host: HostState) -> FilterResult:
    if not isinstance(answer, Fails):
        return answer
    # The last is how Nova's own filters write a HostState.
    starts = (f"{host.host}: ", f"{host.node}: ", f"({host.host}, {host.node}) ")
    found = []
    for line in answer.found:
        start = next(filter(line.startswith, starts), "")
        found.append(line[len(start) :])
    return dataclasses.replace(answer, found=tuple(found))
