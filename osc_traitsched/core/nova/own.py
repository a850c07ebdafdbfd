"""What a Python with Nova in it says of a request's hosts, beside the answers here."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core.nova.filter.answer import Answer, Fails, Unknown
from osc_traitsched.core.nova.filter.judging import OWN_FILTER, Judgment
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.plugin import PluginRun
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.nova.weigher.own import OwnWeighers


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
