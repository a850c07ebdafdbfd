"""Fixes of hosts and aggregates, and other flavors and images."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.explain.filtering import Filtering, filtering
from osc_traitsched.core.explain.fix.requests import (
    MOST_OF_HOSTS,
    HostAction,
    HostChange,
    HostFix,
    Replacement,
    RequestFix,
    is_guarantee,
)
from osc_traitsched.core.explain.verdict import ClauseSet, Verdict
from osc_traitsched.core.inventory.metadata import (
    isolated_by,
    required_by,
    required_by_image,
    zone_in,
)
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.inventory.trait import DISABLED, Ownership, ownership
from osc_traitsched.core.nova.clause import (
    AFTER_PLACEMENT,
    Condition,
    HostFilter,
    MemberOf,
    MoveRule,
    Resource,
)
from osc_traitsched.core.nova.filter.aggregates import has_wanted
from osc_traitsched.core.nova.question import Body, Question
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import Host, Matcher

# Flavors and images that the cloud has, to ask for instead; Placement tries them.


#: So many flavors are tried at most.
MOST_FLAVORS = 12

_SIZES = ("vcpus", "ram", "disk")
_DISABLED = "OS-FLV-DISABLED:disabled"
_IS_PUBLIC = "os-flavor-access:is_public"


def other_flavors(question: Question, flavors: Iterable[Body]) -> list[RequestFix]:
    """Flavors of at least the same size, nearest first.

    Only public flavors with visible, different extra specs count. They ask for no
    other kinds of things, such as traits, resource classes or NUMA nodes, and keep the
    guarantees.
    """
    asked = question.flavor
    own = [asked[size] for size in _SIZES]
    found = [
        flavor
        for flavor in flavors
        if flavor["id"] != asked.get("id")
        and "extra_specs" in flavor
        and flavor.get(_IS_PUBLIC, True)
        and not flavor.get(_DISABLED)
        and all(flavor[size] >= least for size, least in zip(_SIZES, own))
        and (_specs(flavor), _size(flavor)) != (_specs(asked), _size(asked))
        and _is_alike(_specs(flavor), _specs(asked))
    ]
    found.sort(key=lambda flavor: _distance(flavor, question))
    return [RequestFix((Replacement("flavor", f),)) for f in found[:MOST_FLAVORS]]


def other_formats(question: Question, images: Iterable[Body]) -> Iterator[RequestFix]:
    """Images of the same name in another disk format."""
    asked = question.image or {}
    for image in images:
        is_other = image.get("disk_format") != asked.get("disk_format")
        is_usable = image["status"] == "active" and image["name"] == asked.get("name")
        requires = required_by_image(image) - required_by_image(asked)
        if is_other and is_usable and not requires and _keeps_guarantees(image, asked):
            yield RequestFix((Replacement("image", image),))


#: Extra specs that no host is chosen by.
_LIMITS = ("quota:", "hw_rng:", "hw_video:", "hw:watchdog_action")


def _is_alike(specs: Mapping[str, str], asked: Mapping[str, str]) -> bool:
    """Whether a flavor asks for no other kinds of things, and keeps guarantees."""
    more = [key for key in specs.keys() - asked.keys() if not key.startswith(_LIMITS)]
    requires = required_by(specs) - required_by(asked)
    return not more and not requires and _keeps_guarantees(specs, asked)


def _keeps_guarantees(found: Body, asked: Body) -> bool:
    return all(found.get(key) == asked[key] for key in asked if is_guarantee(key))


def _specs(flavor: Body) -> dict[str, str]:
    return dict(flavor.get("extra_specs") or {})


def _size(flavor: Body) -> tuple[int, ...]:
    return tuple(int(flavor[size]) for size in _SIZES)


def _distance(flavor: Body, question: Question) -> tuple[float, int, str]:
    asked = question.flavor
    grown = sum(flavor[size] / max(asked[size], 1) for size in _SIZES)
    differing = set(_specs(flavor).items()) ^ set(_specs(asked).items())
    return grown, len(differing), flavor["name"]


# Changes of hosts that would help, tried by the matcher.


_OF_SERVICE = "ComputeFilter"

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
            nova = _Host(computes.get(root), question, _is_unused(matcher.facts, root))
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
    """Hosts of the aggregates that a new trait isolates; all if none is of them."""
    added = {c.name for c in changes if c.action is HostAction.ADD_TRAIT}
    collation = question.assumptions.collation
    members = {
        host
        for aggregate in question.aggregates
        if not added.isdisjoint(isolated_by(aggregate["metadata"], collation))
        for host in aggregate["hosts"]
    }
    own = [r for r in roots if r in computes and computes[r].service_host in members]
    return own or roots


def _certain_first(fix: HostFix) -> tuple[bool, int, bool, int, str]:
    enabling = (c for c in fix.changes if c.action is HostAction.ENABLE_SERVICE)
    has_reason = any(change.name for change in enabling)
    number = len(fix.changes), has_reason, -len(fix.hosts)
    return bool(fix.deciding), *number, repr(fix)


def _tried(
    question: Question,
    computes: Mapping[str, Compute],
    hosts: Mapping[tuple[HostChange, ...], Iterable[str]],
    may_fail: tuple[str, ...],
) -> list[HostFix]:
    """Changes after which filters pass, or may pass, hosts, without needless parts."""
    found: list[HostFix] = []
    for changes in sorted(hosts, key=len):
        fewer = [fix for fix in found if set(fix.changes) < set(changes)]
        helped = frozenset(
            root for fix in fewer if not fix.deciding for root in fix.hosts
        )
        left = [root for root in hosts[changes] if root not in helped]
        after = _filtered(question, computes, changes, left)
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


def _filtered(
    question: Question,
    computes: Mapping[str, Compute],
    changes: Iterable[HostChange],
    roots: Iterable[str],
) -> Filtering:
    changed = [computes[root] for root in roots if root in computes]
    aggregates = question.aggregates
    for change in changes:
        if change.action is HostAction.ENABLE_SERVICE:
            changed = [dataclasses.replace(each, is_enabled=True) for each in changed]
        elif change.action is HostAction.JOIN_AGGREGATE:
            joining = {each.service_host for each in changed}
            aggregates = tuple(
                {**body, "hosts": [*body["hosts"], *joining]}
                if body["uuid"] == change.name
                else body
                for body in aggregates
            )
    asked = dataclasses.replace(question, aggregates=aggregates)
    return filtering(asked, changed)


def _is_unused(facts: Facts, root: str) -> bool:
    """Whether nothing of a host is in use; False if unknown."""
    stock = facts.stock.get(root)
    return stock is not None and not any(each.used for each in stock.values())


@dataclasses.dataclass(frozen=True)
class _Host:
    """Possible changes of a host in Nova."""

    compute: Compute | None
    question: Question
    is_unused: bool

    def changed(self, change: HostChange) -> HostChange | None:
        """The change for this host, or None if Nova rejects it."""
        if change.action is HostAction.ENABLE_SERVICE:
            # Where it is down enabling gains nothing, and where it is enabled the
            # trait is a stale one that nova-compute takes away itself.
            if self.compute is None or not self.compute.is_up_but_disabled:
                return None
            return HostChange(change.action, self.compute.disabled_reason)
        if change.action is not HostAction.JOIN_AGGREGATE:
            return change
        named = [a for a in self.question.aggregates if a["uuid"] == change.name]
        if self.compute is None or not named:
            return None
        (aggregate,) = named
        if self.compute.service_host in aggregate["hosts"]:
            return HostChange(HostAction.SYNC_AGGREGATE, change.name)
        return change if self._may_be_in(self._zone(aggregate)) else None

    def _may_be_in(self, zone: str | None) -> bool:
        """Whether Nova lets the host into an aggregate of this zone.

        A host is in one zone, and keeps it while it has servers (nova/compute/api.py,
        ``is_safe_to_update_az`` and
        ``ensure_no_instances_need_to_move_az_when_host_added``). Before 2024.1 Nova
        allows the change, and leaves servers in a zone that they did not request.
        """
        if zone is None or self.compute is None:
            return True
        host = self.compute.service_host
        own = {self._zone(a) for a in self.question.aggregates if host in a["hosts"]}
        own.discard(None)
        return own == {zone} or (not own and self.is_unused)

    def _zone(self, aggregate: Body) -> str | None:
        return zone_in(aggregate["metadata"], self.question.assumptions.collation)


def _helping(
    matcher: Matcher,
    kind: Host,
    correction_sets: Iterable[ClauseSet],
    question: Question,
) -> list[tuple[HostChange, ...]]:
    """Sets of changes after which Placement returns a host.

    They are minimal, unless host filters reject the host.
    """
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
    """Sets of changes to try, those without an aggregate for filters first."""
    changes = dict.fromkeys(filter(None, map(_host_change, clauses)))
    yield changes
    for aggregate in _wanted_aggregates(clauses, question):
        yield {**changes, HostChange(HostAction.JOIN_AGGREGATE, aggregate): None}


def _wanted_aggregates(clauses: ClauseSet, question: Question) -> list[str]:
    """First aggregates with the metadata that a filter looks for."""
    specs = question.flavor.get("extra_specs") or {}
    keys = {
        origin.key
        for clause in clauses
        if isinstance(clause, HostFilter)
        for origin in clause.origins
        if origin.kind == "flavor" and origin.key in specs
    }
    having = (
        aggregate["uuid"]
        for aggregate in question.aggregates
        if any(has_wanted(aggregate["metadata"], key, str(specs[key])) for key in keys)
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
        is_of_service = clause.name == _OF_SERVICE
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
