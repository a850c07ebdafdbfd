"""Fixes of hosts and aggregates, and other images."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.inventory.trait import DISABLED, Ownership, ownership
from osc_traitsched.core.judge.filtering import filtering
from osc_traitsched.core.judge.fix.requests import (
    MOST_OF_HOSTS,
    HostAction,
    HostChange,
    HostFix,
    Replacement,
    RequestFix,
    Scope,
    is_guarantee,
)
from osc_traitsched.core.judge.verdict import ClauseSet, Verdict
from osc_traitsched.core.nova.clause import (
    AFTER_PLACEMENT,
    Condition,
    HostFilter,
    MemberOf,
    MoveRule,
    Resource,
)
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.filter.aggregates import has_wanted
from osc_traitsched.core.nova.question import Body, Question
from osc_traitsched.core.placement.matcher import Host, Matcher

# Images that the cloud has, to ask for instead; Placement tries them.


def other_formats(question: Question, images: Iterable[Body]) -> Iterator[RequestFix]:
    """Images of the same name in another disk format, with the same guarantees."""
    asked = question.image or {}
    for image in images:
        is_other = image.get("disk_format") != asked.get("disk_format")
        is_usable = image["status"] == "active" and image["name"] == asked.get("name")
        if is_other and is_usable and _guarantees(image) == _guarantees(asked):
            yield RequestFix((Replacement(image),))


def _guarantees(image: Body) -> Body:
    return {k: image[k] for k in image if _READ.match(k) and is_guarantee(k)}


#: Properties of an image that Nova reads.
_READ = re.compile("hw_|img_|trait:|os_(?!hash_|hidden)|architecture|hypervisor_|vm_")


# Changes of hosts that would help, tried by the matcher.


_REPORTED = ("COMPUTE_", "HW_")

#: A host that needs more changes than this is not near.
_MOST_CHANGES = 3

#: So many aggregates are worth a try for what the host filters look for.
_MOST_AGGREGATES = 5


def on_hosts(
    matcher: Matcher,
    verdict: Verdict,
    question: Question,
    computes: Mapping[str, Compute],
    may_fail: Iterable[str] = (),
) -> tuple[HostFix, ...]:
    """Changes of hosts that help: certain, simple and wide ones first.

    The matcher and the host filters accept the hosts after each change. Changes that
    nova-compute would revert or nova-api reject are left out. A trait that isolates an
    aggregate is first for the aggregate's own hosts.

    :param computes: Nova's compute nodes by provider UUID
    :param may_fail: host filters that may fail the request for another host
    """
    hosts: dict[tuple[HostChange, ...], list[str]] = {}
    helping: dict[object, list[tuple[HostChange, ...]]] = {}
    for root, rejection in verdict.rejections.items():
        kind = matcher.host(root), rejection.correction_sets
        if kind not in helping:
            helping[kind] = _helping(matcher, *kind, question)
        for changes in helping[kind]:
            nova = _Host(computes.get(root), question)
            possible = tuple(filter(None, map(nova.changed, changes)))
            if len(possible) == len(changes):
                hosts.setdefault(possible, []).append(root)
    hosts = {
        each: _of_aggregates(each, hosts[each], question, computes) for each in hosts
    }
    found = _tried(question, computes, hosts, tuple(may_fail))
    return tuple(sorted(found, key=_certain_first))[:MOST_OF_HOSTS]


def _of_aggregates(
    changes: Iterable[HostChange],
    roots: list[str],
    question: Question,
    computes: Mapping[str, Compute],
) -> list[str]:
    """All hosts if none is of the aggregates that a new trait isolates."""
    added = {c.name for c in changes if c.action is HostAction.ADD_TRAIT}
    collation = question.assumptions.collation
    members = {
        host
        for aggregate in question.aggregates
        if not added.isdisjoint(aggregate.isolated_by(collation))
        for host in aggregate.hosts
    }
    own = [r for r in roots if r in computes and computes[r].service_host in members]
    return own or roots


def _certain_first(fix: HostFix) -> tuple[bool, bool, int, int, str]:
    is_decision = fix.scope is Scope.DECISION
    number = len(fix.changes), -len(fix.hosts)
    return is_decision, bool(fix.deciding), *number, repr(fix)


def _tried(
    question: Question,
    computes: Mapping[str, Compute],
    hosts: Mapping[tuple[HostChange, ...], Iterable[str]],
    may_fail: tuple[str, ...],
) -> list[HostFix]:
    """Filters pass, or may pass, hosts after them; needless parts are left out."""
    found: list[HostFix] = []
    for changes in sorted(hosts, key=len):
        fewer = [fix for fix in found if set(fix.changes) < set(changes)]
        helped = frozenset(
            root for fix in fewer if not fix.deciding for root in fix.hosts
        )
        left = [root for root in hosts[changes] if root not in helped]
        after = filtering(*changed(question, computes, changes, left))
        sure = tuple(root for root in left if not after.doubts(root) and not may_fail)
        perhaps = frozenset(root for fix in fewer for root in fix.hosts)
        out = after.all_kept_out | perhaps
        possible = tuple(root for root in left if root not in out)
        if sure:
            found.append(HostFix(changes, sure))
        elif possible:
            deciding = dict.fromkeys((*after.deciding(possible), *may_fail))
            found.append(HostFix(changes, possible, tuple(deciding)))
    return found


def changed(
    question: Question,
    computes: Mapping[str, Compute],
    changes: Iterable[HostChange],
    roots: Iterable[str],
) -> tuple[Question, list[Compute]]:
    """The question, and these hosts, as Nova has them after the changes."""
    nodes = [computes[root] for root in roots if root in computes]
    aggregates = question.aggregates
    for change in changes:
        if change.action is HostAction.ENABLE_SERVICE:
            nodes = [dataclasses.replace(each, is_enabled=True) for each in nodes]
        elif change.action is HostAction.JOIN_AGGREGATE:
            joining = {each.service_host for each in nodes}
            aggregates = tuple(
                dataclasses.replace(each, hosts=(*each.hosts, *joining))
                if each.uuid == change.name
                else each
                for each in aggregates
            )
    return dataclasses.replace(question, aggregates=aggregates), nodes


@dataclasses.dataclass(frozen=True)
class _Host:
    compute: Compute | None
    question: Question

    def changed(self, change: HostChange) -> HostChange | None:
        """None if Nova rejects the change."""
        if change.action is HostAction.ENABLE_SERVICE:
            # Where it is down enabling gains nothing, and where it is enabled the
            # trait is a stale one that nova-compute takes away itself.
            if self.compute is None or not self.compute.is_up_but_disabled:
                return None
            return HostChange(change.action, self.compute.disabled_reason)
        if change.action is not HostAction.JOIN_AGGREGATE:
            return change
        named = [a for a in self.question.aggregates if a.uuid == change.name]
        if self.compute is None or not named:
            return None
        (aggregate,) = named
        host, collation = self.compute.service_host, self.question.assumptions.collation
        if host in aggregate.hosts:
            return HostChange(HostAction.SYNC_AGGREGATE, change.name)
        zone, all_aggregates = aggregate.zone_in(collation), self.question.aggregates
        own = (a.zone_in(collation) for a in all_aggregates if host in a.hosts)
        # A host stays in its zone, or in the default one.
        return change if zone is None or zone in own else None


def _helping(
    matcher: Matcher,
    kind: Host,
    correction_sets: Iterable[ClauseSet],
    question: Question,
) -> list[tuple[HostChange, ...]]:
    """They are minimal, unless host filters reject the host."""
    found: list[tuple[HostChange, ...]] = []
    for clauses in correction_sets:
        is_filtered = any(isinstance(each, AFTER_PLACEMENT) for each in clauses)
        for changes in _changes(clauses, question):
            if not 0 < len(changes) <= _MOST_CHANGES:
                continue
            fewer = any(changes.keys() >= set(smaller) for smaller in found)
            if fewer and not is_filtered:
                continue
            changed = kind
            for change in changes:
                changed = _changed_host(matcher, changed, change)
            if matcher.meets(changed, matcher.of_placement):
                found.append(tuple(changes))
    return found


def _changes(
    clauses: ClauseSet, question: Question
) -> Iterator[dict[HostChange, None]]:
    """Those without an aggregate for filters come first."""
    changes = dict.fromkeys(filter(None, map(_host_change, clauses)))
    yield changes
    for aggregate in _wanted_aggregates(clauses, question):
        yield {**changes, HostChange(HostAction.JOIN_AGGREGATE, aggregate): None}


def _wanted_aggregates(clauses: ClauseSet, question: Question) -> list[str]:
    specs = question.flavor.get("extra_specs") or {}
    keys = {
        origin.key
        for clause in clauses
        if isinstance(clause, HostFilter)
        for origin in clause.origins
        if origin.kind == "flavor" and origin.key in specs
    }
    having = (
        aggregate.uuid
        for aggregate in question.aggregates
        if any(has_wanted(aggregate.metadata, key, str(specs[key])) for key in keys)
    )
    return list(itertools.islice(having, _MOST_AGGREGATES))


def _host_change(clause: Condition) -> HostChange | None:
    if isinstance(clause, MemberOf):
        if clause.forbidden or len(clause.aggregates) != 1:
            return None
        (aggregate,) = clause.aggregates
        return HostChange(HostAction.JOIN_AGGREGATE, aggregate)
    if isinstance(clause, HostFilter):
        # It may be down as well; :class:`_Host` and the filter itself know.
        is_of_service = clause.name == special.COMPUTE
        return HostChange(HostAction.ENABLE_SERVICE) if is_of_service else None
    if isinstance(clause, (Resource, MoveRule)):
        return None
    if clause.name == DISABLED and clause.forbidden:
        return HostChange(HostAction.ENABLE_SERVICE)
    if ownership(clause.name) is not Ownership.OPERATOR:
        return None
    if clause.forbidden:
        return HostChange(HostAction.REMOVE_TRAIT, clause.name)
    # Hypervisor and CPU report what they can do; nobody should claim it for them.
    is_claim = clause.name.startswith(_REPORTED)
    return None if is_claim else HostChange(HostAction.ADD_TRAIT, clause.name)


def _changed_host(matcher: Matcher, host: Host, change: HostChange) -> Host:
    name = change.name
    root, *others = host.offers
    if change.action is HostAction.JOIN_AGGREGATE:
        inside = matcher.joined(root.inside, name)
        own = dataclasses.replace(root, inside=inside)
        return dataclasses.replace(host, offers=(own, *others))
    if change.action is HostAction.ADD_TRAIT:
        added, removed = frozenset({name}), frozenset[str]()
    else:
        added, removed = frozenset[str](), frozenset({name or DISABLED})
    own = dataclasses.replace(root, traits=(root.traits | added) - removed)
    return dataclasses.replace(
        host, root=(host.root | added) - removed, offers=(own, *others)
    )
