"""What the host filters leave of Placement's candidates."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Collection, Iterable, Iterator, Mapping

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.metadata import zone_in
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.inventory.trait import DISABLED
from osc_traitsched.core.nova.clause import (
    Clause,
    HostFilter,
    MoveRule,
    Origin,
    RootTrait,
    Trait,
)
from osc_traitsched.core.nova.filter import groups
from osc_traitsched.core.nova.filter.groups import unsupported_policy
from osc_traitsched.core.nova.filter.state import (
    SERVICE_DISABLED,
    Answer,
    Fails,
    Passes,
    Raises,
    RequestSpec,
    Unknown,
    host_states,
)
from osc_traitsched.core.nova.filter.table import (
    FILTERS,
    Judgment,
    enabled,
    judge,
    judge_all,
)
from osc_traitsched.core.nova.options import ENABLED_FILTERS
from osc_traitsched.core.nova.own import Difference
from osc_traitsched.core.nova.question import RULES, Question, with_rules
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.nova.switch import AZ_FILTER
from osc_traitsched.core.nova.weigher import ranking as weighers

# What of a request does nothing: hints that no filter reads, and a zone of nobody.


_READERS = {
    groups.SAME_HOST: "SameHostFilter",
    groups.DIFFERENT_HOST: "DifferentHostFilter",
    groups.NEAR_ADDRESS: "SimpleCIDRAffinityFilter",
    groups.PREFIX: "SimpleCIDRAffinityFilter",
    "query": "JsonFilter",
}


@dataclasses.dataclass(frozen=True)
class UnreadHint:
    """A hint that has no effect.

    :ivar reader: the filter of Nova's that would read it, and is off; empty for none
    :ivar without: the hint that it has no effect without; empty for none
    """

    hint: str
    reader: str = ""
    without: str = ""


def unread_hints(question: Question) -> tuple[UnreadHint, ...]:
    """Return the hints that nothing reads.

    Where there is a filter that is none of Nova's, it may read any. Where no filter
    runs, since a host is forced, that is said of all of them together.
    """
    names = enabled(question.assumptions)
    has_own = question.own is not None and question.own.filters
    if has_own or any(name not in FILTERS for name in names):
        return ()
    found = []
    for hint in sorted(question.spec.hints):
        reader = _READERS.get(hint, "")
        if reader not in names:
            found.append(UnreadHint(hint, reader))
        elif hint == groups.PREFIX and groups.NEAR_ADDRESS not in question.spec.hints:
            found.append(UnreadHint(hint, without=groups.NEAR_ADDRESS))
    return tuple(found)


def unread_zone(question: Question) -> str:
    """Return the zone that a server is pinned to and that keeps no host out, if any.

    nova-api looks whether a zone is there for new servers only, and a prefilter that
    finds no aggregate of a zone asks for none (nova/scheduler/request_filter.py,
    ``map_az_to_placement_aggregate``).
    """
    zone, settings = question.spec.zone or "", question.assumptions
    names = enabled(settings)
    if not zone or ":" in zone or not question.is_kept:
        return ""
    if any(name == AZ_FILTER or name not in FILTERS for name in names):
        return ""
    collation = settings.collation
    zones = (zone_in(each["metadata"], collation) for each in question.aggregates)
    is_there = any(each is not None and collation.equal(each, zone) for each in zones)
    return "" if is_there else zone


# What nova-scheduler's own host filters make of the hosts, beside Placement's answer.
#
# Nova runs the filters one after the other on the hosts that Placement gave, and each
# on those that are left. Here each is run on every host, so that what it keeps out is
# known whatever else does.


_STAGE = "scheduler"


@dataclasses.dataclass(frozen=True)
class Failure:
    """A filter that raises on a host, and with it ends the whole request.

    :ivar name: the filter's
    :ivar uuid: of the host's provider
    :ivar answer: what it raises; where that is unknown, it may raise
    :ivar behind: the filters before it that may have kept the host out
    """

    name: str
    uuid: str
    answer: Raises | Unknown
    behind: tuple[str, ...] = ()

    @property
    def is_sure(self) -> bool:
        """Whether nothing that can't be known would prevent it."""
        return isinstance(self.answer, Raises) and not self.behind


@dataclasses.dataclass(frozen=True)
class Filtering:
    """The answers of all host filters that are on, for every compute node.

    What a move demands of hosts besides is among them, in Nova's order.

    :ivar judgment: by the names of the filters, in the order in which Nova runs them;
        hosts are named by the UUIDs of their providers
    :ivar disabled: the hosts that Placement keeps out for their disabled service;
        that ``ComputeFilter`` would do the same is not said again
    :ivar differences: where a filter that ran in Nova says something else
    """

    judgment: Judgment = dataclasses.field(default_factory=lambda: Judgment((), {}))
    disabled: frozenset[str] = frozenset()
    differences: tuple[Difference, ...] = ()

    def beside(
        self, clauses: Iterable[Clause], traits: Mapping[str, frozenset[str]]
    ) -> Filtering:
        """Return the answers without those that are Placement's as well.

        :param clauses: what Placement is asked
        :param traits: of each provider, by UUID
        """
        asked = (c for c in clauses if isinstance(c, (Trait, RootTrait)))
        if not any(each.name == DISABLED and each.forbidden for each in asked):
            return self
        disabled = frozenset(uuid for uuid, has in traits.items() if DISABLED in has)
        return dataclasses.replace(self, disabled=disabled)

    @functools.cached_property
    def kept_out(self) -> Mapping[str, frozenset[str]]:
        """For each filter the hosts that it keeps out, or where it raises."""
        return {
            name: frozenset(
                uuid
                for uuid, answer in self.judgment.answers[name].items()
                if isinstance(answer, (Fails, Raises))
                and not self._is_said(uuid, answer)
            )
            for name in self.judgment.names
        }

    @functools.cached_property
    def conditions(self) -> tuple[HostFilter | MoveRule, ...]:
        """Those of the filters that keep any host out, with what they do it for."""
        return tuple(
            (MoveRule if name in RULES else HostFilter)(
                name, tuple(dict.fromkeys(self._origins(name)))
            )
            for name in self.judgment.names
            if self.kept_out[name]
        )

    @property
    def filters(self) -> tuple[str, ...]:
        """The filters alone, without what a move demands besides."""
        return tuple(name for name in self.judgment.names if name not in RULES)

    @property
    def filters_of_rebuild(self) -> tuple[str, ...]:
        """Those of the filters that judge a rebuild, or may: one's own."""
        known = ((name, FILTERS.get(name)) for name in self.filters)
        return tuple(name for name, each in known if each is None or each.on_rebuild)

    @property
    def without_effect(self) -> tuple[str, ...]:
        """The filters that let all hosts through."""
        return tuple(
            name
            for name in self.filters
            if all(isinstance(a, Passes) for a in self.judgment.answers[name].values())
        )

    def answer(self, name: str, uuid: str) -> Answer | None:
        """Return what a filter says of a host; None if it was not asked."""
        return self.judgment.answers.get(name, {}).get(uuid)

    def answers(self, uuid: str) -> Iterator[tuple[str, Answer]]:
        """Yield the filters that do not pass a host for sure, and their answers."""
        for name in self.judgment.names:
            answer = self.answer(name, uuid)
            if answer is None or isinstance(answer, Passes):
                continue
            if not self._is_said(uuid, answer):
                yield name, answer

    @functools.cached_property
    def all_kept_out(self) -> frozenset[str]:
        """The hosts that any filter keeps out."""
        return frozenset[str]().union(*self.kept_out.values())

    def unknown(self, uuid: str) -> tuple[tuple[str, Unknown], ...]:
        """Return the filters of which it can't be known whether they pass a host."""
        return tuple((n, a) for n, a in self.answers(uuid) if isinstance(a, Unknown))

    def doubts(self, uuid: str) -> bool:
        """Tell whether not all filters pass a host for sure."""
        return next(self.answers(uuid), None) is not None

    def deciding(self, uuids: Iterable[str]) -> tuple[str, ...]:
        """Return the filters that decide about hosts, and can't be seen from here."""
        names = {name for uuid in uuids for name, _ in self.unknown(uuid)}
        return tuple(name for name in self.judgment.names if name in names)

    def failures(self, given: Collection[str]) -> Iterator[Failure]:
        """Yield where a filter raises or may raise, up to the first that does for sure.

        Nova runs a filter only on the hosts that all those before it have passed
        (nova/filters.py, ``get_filtered_objects``).

        :param given: the hosts that Placement gave
        """
        left = set(given)
        for number, name in enumerate(self.judgment.names):
            before = self.judgment.names[:number]
            for uuid, answer in self._raising(name, left):
                unknown = (
                    n for n in before if isinstance(self.answer(n, uuid), Unknown)
                )
                found = Failure(name, uuid, answer, tuple(unknown))
                yield found
                if found.is_sure:
                    return
            left -= self.kept_out[name]

    def _raising(
        self, name: str, uuids: Collection[str]
    ) -> list[tuple[str, Raises | Unknown]]:
        """Return the hosts on which a filter raises or may raise, in a fixed order."""
        found = [
            (uuid, answer)
            for uuid, answer in self.judgment.answers[name].items()
            if isinstance(answer, Raises)
            or (isinstance(answer, Unknown) and answer.may_raise)
            if uuid in uuids
        ]
        return sorted(found, key=operator.itemgetter(0))

    def failure(self, given: Collection[str]) -> Failure | None:
        """Return the filter that ends the whole request for sure, if any does.

        :param given: the hosts that Placement gave
        """
        return next((each for each in self.failures(given) if each.is_sure), None)

    def refusal(self, given: Collection[str]) -> Refusal | None:
        """Return that failure as Nova's refusal of the request; None if none is."""
        failure = self.failure(given)
        if failure is None or not isinstance(failure.answer, Raises):
            return None
        answer = failure.answer
        keys = tuple(filter(None, (failure.name, answer.key, answer.value)))
        return Refusal(answer.exception, "filter-raises", keys, _STAGE)

    def _is_said(self, uuid: str, answer: Answer) -> bool:
        is_disabled = isinstance(answer, Fails) and answer.reason == SERVICE_DISABLED
        return is_disabled and uuid in self.disabled

    def _origins(self, name: str) -> Iterator[Origin]:
        for answer in self.judgment.answers[name].values():
            if isinstance(answer, (Fails, Raises)) and answer.origin is not None:
                yield answer.origin


def filtering(question: Question, computes: Iterable[Compute]) -> Filtering:
    """Run the host filters that are on over compute nodes.

    A host that is named with the zone is forced: no filter runs. Where one is asked for
    beside the zone they run on that alone
    (nova/scheduler/host_manager.py, ``get_filtered_hosts``).

    :raises Refusal: when nova-api or nova-scheduler refuses the question, or does not
        start with these filters and weighers
    """
    spec, settings = question.request_spec(), question.assumptions
    check_policy(spec, settings)
    enabled(settings)
    weighers.enabled(settings)
    if question.is_forced:
        return Filtering()
    if question.nodes is not None:
        wanted = {node.uuid for node in question.nodes}
        computes = [each for each in computes if each.uuid in wanted]
    hosts = host_states(computes, question.aggregates, question.servers)
    judgment = judge_all(hosts, spec, settings)
    differences: tuple[Difference, ...] = ()
    if question.own is not None:
        judgment, differences = question.own.joined(judgment, hosts, spec, settings)
    if question.move is not None:
        nodes = [each.compute for each in hosts]
        judgment = with_rules(judgment, question.move, nodes, settings)
    return Filtering(judgment, differences=differences)


def check_policy(spec: RequestSpec, settings: SchedulerSettings) -> None:
    """Refuse a group whose policy nothing keeps.

    :raises Refusal: where its filter or weigher is off
    """
    lacking = unsupported_policy(spec, settings)
    if lacking is not None and spec.group is not None:
        keys = (spec.group.policy, lacking)
        raise Refusal("UnsupportedPolicyException", "group-policy-off", keys, _STAGE)


def others_on(
    question: Question, computes: Iterable[Compute]
) -> Mapping[str, frozenset[str]]:
    """Return what filters that are off would not pass for sure, were they on.

    None if it is known which are on, or where a host is named and none runs.

    :param computes: those that matter
    :returns: for each such filter of the release the nodes' UUIDs
    """
    spec, settings = question.request_spec(), question.assumptions
    if settings.setting(ENABLED_FILTERS).given or question.is_forced:
        return {}
    hosts = host_states(computes, question.aggregates, question.servers)
    off = (
        each.name
        for each in FILTERS.values()
        if each.is_in(settings.release) and each.name not in enabled(settings)
    )
    judged = {
        name: frozenset(
            host.compute.uuid
            for host in hosts
            if not isinstance(judge(name, host, spec, settings), Passes)
        )
        for name in off
    }
    return {name: roots for name, roots in judged.items() if roots}
