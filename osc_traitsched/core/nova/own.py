"""An operator's own filters and weighers: what they are, and what they say."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Union

from osc_traitsched.core.errors import BadQuestion
from osc_traitsched.core.nova.filter.state import (
    Answer,
    Fails,
    HostState,
    Raises,
    RequestSpec,
    Unknown,
)
from osc_traitsched.core.nova.filter.table import FILTERS, OWN_FILTER, Judgment
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.nova.weigher.ranking import OwnWeigher, OwnWeighers
from osc_traitsched.text import quoted, visible

# One's own filters and weighers: how they are named, and what becomes of them.


@dataclasses.dataclass(frozen=True)
class PluginName:
    """How a user names a filter or a weigher.

    :ivar text: as the user wrote it
    :ivar file: the path of a Python file; None for what the Python itself finds
    :ivar path: in a file the class; else ``module.Class`` or ``module:Class``, a
        function of a module that returns classes, or the bare name of a class that
        nova.conf makes available
    :ivar kind: ``filter`` or ``weigher`` where the settings name it as that; None
        where the user names it
    :ivar is_novas: it is one of Nova's own filters
    """

    text: str
    file: str | None
    path: str
    kind: str | None = None
    is_novas: bool = False

    @classmethod
    def read(cls, text: str) -> PluginName:
        """Read a name.

        :raises PluginFails: for a file without a class
        """
        head, _, tail = text.rpartition(":")
        if head.endswith(".py") and tail:
            return cls(text, head, tail)
        if text.rstrip(":").endswith(".py"):
            raise PluginFails(text, "no class is named: FILE.py:CLASS")
        return cls(text, None, text)


@dataclasses.dataclass(frozen=True)
class Weighed:
    """What a weigher makes of hosts, each figure by the UUID of the host's node.

    :ivar raw: the weigher's own figures, none of them below or above its limits
    :ivar normalized: between 0 and 1 over these hosts
    :ivar multiplier: what the scheduler multiplies the normalized figure with
    """

    raw: Mapping[str, float]
    normalized: Mapping[str, float]
    multiplier: Mapping[str, float]

    def score(self, uuid: str) -> float:
        """Return what the weigher adds to the weight of a host."""
        return self.multiplier[uuid] * self.normalized[uuid]


Weights = Union[Weighed, Unknown, Raises]


#: What is said of a plugin that looks at all hosts together.
TOGETHER = Unknown("hosts together")


@dataclasses.dataclass(frozen=True)
class PluginRun:
    """What one class of a plugin's says of hosts, as nova-scheduler would ask it.

    :ivar plugin: the text that names it
    :ivar name: the class
    :ivar answers: a filter's, by the UUID of the host's node; the reason of a ``Fails``
        is :data:`~.filter.reasons.OWN`
    :ivar weigher: None for a filter
    """

    plugin: str
    name: str
    answers: Mapping[str, Answer] = dataclasses.field(default_factory=dict)
    weigher: OwnWeigher | None = None


@dataclasses.dataclass(frozen=True)
class PluginJudgment:
    """What filters and weighers say of hosts.

    A plugin goes by the text that names it. Where that is a function which returns
    several classes, each goes by that text, a colon and the class.

    :ivar nova: the version of the Nova that they ran with
    :ivar answers: of each filter, by the UUID of the host's node. The reason of a
        ``Fails`` is :data:`~.filter.reasons.OWN`
    :ivar weights: of each weigher
    :ivar logs: what was logged, by plugin and UUID; that of a weigher under ``""``
    """

    nova: str
    answers: Mapping[str, Mapping[str, Answer]]
    weights: Mapping[str, Weights]
    logs: Mapping[str, Mapping[str, tuple[str, ...]]]


@dataclasses.dataclass(eq=False)
class PluginFails(BadQuestion):
    """A filter or weigher that nova-scheduler could not load either.

    :ivar plugin: as the user named it
    :ivar reason: one line, most often Python's own
    """

    plugin: str
    reason: str

    def __str__(self) -> str:
        return visible(f"{quoted(self.plugin)} can't be loaded: {self.reason}")


@dataclasses.dataclass(eq=False)
class NovaPythonFails(BadQuestion):
    """The Python with Nova in it could not be asked.

    :ivar command: as the user named it
    :ivar kind: ``not-started``, ``timeout``, ``silent`` (it ended well and said
        nothing), ``no-answer``, ``no-nova``, ``other-release``, ``nova-conf``,
        ``request`` or ``internal``
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
            "other-release": f"has the filters of Nova {self.reason}: --nova-release "
            "says it, or leave out --with-nova",
            "nova-conf": f"can't read the configuration of Nova: {self.reason}",
            "request": f"makes no request spec of it: {self.reason}",
        }.get(self.kind, f"failed: {self.reason}")
        return visible(f"{quoted(self.command)} {what}")


# What a Python with Nova in it says of a request's hosts, beside the answers here.


@dataclasses.dataclass(frozen=True)
class Difference:
    """A host of which Nova's own filter says something else than the one here.

    :ivar host: the UUID of its node
    """

    filter: str
    host: str
    ours: Answer
    novas: Answer


@dataclasses.dataclass(frozen=True)
class OwnAnswers:
    """What filters and weighers that ran in Nova say, of one request and its hosts.

    It is true of that request and of hosts in that state alone: of all others nothing
    is known.

    :ivar spec: what was asked for
    :ivar settings: by which Nova's own filters ran
    :ivar hosts: the hosts as they were, by the UUIDs of their nodes
    :ivar filters: those that are none of Nova's, by their classes
    :ivar weighers: those that are none of Nova's
    :ivar novas: filters of Nova's that run here as well, by their classes
    :ivar version: that Nova's; empty if none was asked
    """

    spec: RequestSpec
    settings: SchedulerSettings
    hosts: Mapping[str, HostState] = dataclasses.field(default_factory=dict)
    filters: Mapping[str, Mapping[str, Answer]] = dataclasses.field(
        default_factory=dict
    )
    weighers: OwnWeighers = dataclasses.field(default_factory=OwnWeighers)
    novas: Mapping[str, Mapping[str, Answer]] = dataclasses.field(default_factory=dict)
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
        """Return what classes that ran say.

        :param novas: the texts of the plugins that are Nova's own filters
        """
        runs = tuple(runs)
        states = {host.compute.uuid: host for host in hosts}
        filters = [each for each in runs if each.weigher is None]
        return cls(
            spec,
            settings,
            states,
            {r.name: _told(r, states) for r in filters if r.plugin not in novas},
            OwnWeighers(
                tuple(each.weigher for each in runs if each.weigher is not None),
                frozenset(each.plugin for each in runs if each.weigher is not None),
            ),
            {r.name: _told(r, states) for r in filters if r.plugin in novas},
            version,
        )

    def joined(
        self,
        ours: Judgment,
        hosts: Sequence[HostState],
        spec: RequestSpec,
        settings: SchedulerSettings,
    ) -> tuple[Judgment, tuple[Difference, ...]]:
        """Return the answers here together with these, and where the two differ.

        Of Nova's own filters Nova is believed wherever it is sure.

        :param settings: by which the answers here are
        """
        uuids = [each.compute.uuid for each in hosts]
        known = {u for u, h in zip(uuids, hosts) if self.hosts.get(u) == h}
        if spec != self.spec:
            known.clear()
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
        return Judgment((*ours.names, *new), answers), tuple(contrary)

    def _novas_by(
        self, settings: SchedulerSettings, on: Collection[str]
    ) -> Iterator[tuple[str, Mapping[str, Answer]]]:
        """Yield the filters of Nova's that would say the same by other settings."""
        if settings.release != self.settings.release:
            return
        for name, found in self.novas.items():
            read = FILTERS[name].options
            is_same = all(settings.value(o) == self.settings.value(o) for o in read)
            if name in on and is_same:
                yield name, found


def _is_alike(ours: Answer, novas: Answer) -> bool:
    """Tell whether Nova says nothing else: where it does not know, it does not."""
    return isinstance(novas, (Unknown, type(ours)))


def _told(run: PluginRun, hosts: Mapping[str, HostState]) -> Mapping[str, Answer]:
    """Return a filter's answers, whose reasons name no host: they may be alike."""
    return {u: _without_name(answer, hosts[u]) for u, answer in run.answers.items()}


def _without_name(answer: Answer, host: HostState) -> Answer:
    if not isinstance(answer, Fails):
        return answer
    # The last is how Nova's own filters write a HostState.
    starts = (f"{host.host}: ", f"{host.node}: ", f"({host.host}, {host.node}) ")
    found = []
    for line in answer.found:
        start = next(filter(line.startswith, starts), "")
        found.append(line[len(start) :])
    return dataclasses.replace(answer, found=tuple(found))
