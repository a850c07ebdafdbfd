"""What the host filters that are on make of hosts: each of them of each host."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Mapping

from osc_traitsched.core.errors import FiltersNotInRelease
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.answer import PASSES, Answer, Unknown
from osc_traitsched.core.nova.filter.hints import REBUILD, REBUILD_HINT
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec
from osc_traitsched.core.nova.filter.table import AGGREGATES, FILTERS, HostFilter
from osc_traitsched.core.nova.removed_filters import is_removed
from osc_traitsched.core.nova.settings import SchedulerSettings

#: What is not visible of a filter that is none of Nova's.
OWN_FILTER = Unknown("own filter")


@dataclasses.dataclass(frozen=True)
class Judgment:
    """What each filter says of each host.

    :ivar names: the filters in the order of ``enabled_filters``, each once
    :ivar answers: for each filter's name those of the hosts, by the provider's UUID
    """

    names: tuple[str, ...]
    answers: Mapping[str, Mapping[str, Answer]]

    def of_host(self, uuid: str) -> Mapping[str, Answer]:
        """Return what each filter says of one host, in their order."""
        return {name: self.answers[name][uuid] for name in self.names}


def enabled(settings: SchedulerSettings) -> tuple[str, ...]:
    """Return the names of the filters that are on, in their order, each once.

    :raises FiltersNotInRelease: for those that the release does not have any more, and
        for paths: the list has the names of classes (nova/scheduler/host_manager.py,
        ``_choose_host_filters``)
    """
    setting = settings.setting(options.ENABLED_FILTERS)
    value = setting.value
    names = tuple(dict.fromkeys(value)) if isinstance(value, tuple) else ()
    gone = tuple(name for name in names if _is_missing(name, settings.release))
    if gone:
        raise FiltersNotInRelease(gone, settings.release, setting.source)
    return names


def _is_missing(name: str, release: int) -> bool:
    known = FILTERS.get(name)
    is_gone = known is not None and not known.is_in(release)
    return "." in name or is_gone or is_removed(name, release)


def judge_all(
    hosts: Iterable[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Judgment:
    """Let every filter that is on judge every host, where Nova stops at the first no.

    :raises FiltersNotInRelease: as :func:`enabled`
    :raises Refusal: for what nova-api refuses, too
    """
    hosts, names = tuple(hosts), enabled(settings)
    answers = {name: _answers(name, hosts, spec, settings) for name in names}
    return Judgment(names, answers)


def judge(
    name: str, host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Return what one filter says of one host; nothing is visible of an own filter."""
    known = FILTERS.get(name)
    if known is None:
        return OWN_FILTER
    if spec.hints.get(REBUILD_HINT) == REBUILD and not known.on_rebuild:
        return PASSES
    return known.judge(host, spec, settings)


def _answers(
    name: str,
    hosts: Iterable[HostState],
    spec: RequestSpec,
    settings: SchedulerSettings,
) -> Mapping[str, Answer]:
    """Judge once what is alike in all that the filter reads."""
    known = FILTERS.get(name)
    answers: dict[str, Answer] = {}
    found: dict[Hashable, Answer] = {}
    for host in hosts:
        key = _alike(known, host)
        if key not in found:
            found[key] = judge(name, host, spec, settings)
        answers[host.compute.uuid] = found[key]
    return answers


def _alike(known: HostFilter | None, host: HostState) -> Hashable:
    """Return what hosts of the same answer have in common."""
    if known is None or not known.reads:
        return None
    if known.reads == (AGGREGATES,):
        return tuple(aggregate.uuid for aggregate in host.aggregates)
    return host.compute.uuid
