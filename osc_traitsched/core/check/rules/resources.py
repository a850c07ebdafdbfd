"""Rules on amounts of flavors, and their groups."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import (
    WARNING,
    Fault,
    Finding,
    Severity,
    SubjectKind,
    Words,
)
from osc_traitsched.core.check.rule import Rule, rule
from osc_traitsched.core.check.survey import StandaloneRequest
from osc_traitsched.core.check.words import unset
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.nova.clause import Resource
from osc_traitsched.core.nova.request import NotEvaluated
from osc_traitsched.core.nova.server import server
from osc_traitsched.core.nova.server.extra_specs import GROUP_POLICY
from osc_traitsched.core.nova.server.server import (
    BAD_AMOUNT,
    BAD_SUFFIX,
    UNKNOWN_RESOURCE_CLASS,
)
from osc_traitsched.core.placement import capacity
from osc_traitsched.paste import Command, Option, openstack
from osc_traitsched.text import did_you_mean, listed, quoted

_REASONS = {
    UNKNOWN_RESOURCE_CLASS: "no resource class",
    BAD_AMOUNT: "no amount",
    BAD_SUFFIX: "no suffix of a group",
}


#: Input that Nova drops from a flavor's amounts and groups.
_IGNORED = frozenset(
    [
        server.UNKNOWN_RESOURCE_CLASS,
        server.BAD_AMOUNT,
        server.BAD_SUFFIX,
    ]
)


@dataclasses.dataclass(frozen=True)
class ResourcesUnknown(Finding):
    """A resource class of flavors that Placement does not know.

    Placement answers 400 to every such request. nova-compute creates the classes of its
    devices and of ``provider.yaml``.

    :ivar nearest: similar known classes, best first
    """

    rule = "resources-unknown"
    severity = Severity.ERROR
    kind = SubjectKind.RESOURCE_CLASS
    name: str
    flavors: tuple[str, ...]
    nearest: tuple[str, ...]

    def words(self) -> Words:
        return Words(
            "Placement does not know it, and refuses every request of the "
            f"{listed(self.flavors, 'flavor')}{did_you_mean(self.nearest)}",
            "correct the flavor's key, or give providers an inventory of the class",
        )


def unknown(analysis: Analysis) -> Iterator[ResourcesUnknown]:
    """placement/handlers/allocation_candidate.py, ``list_allocation_candidates``."""
    known = analysis.survey.known_classes
    found: dict[str, list[str]] = {}
    for flavor in analysis.flavors:
        for name in sorted(_classes(flavor) - known):
            found.setdefault(name, []).append(flavor.name)
    for name, flavors in sorted(found.items()):
        yield ResourcesUnknown(name, tuple(flavors), trait.nearest(name, known))


def _classes(flavor: StandaloneRequest) -> set[str]:
    return {
        clause.resource_class
        for request in flavor.requests
        for clause in request.clauses
        if isinstance(clause, Resource)
    }


@dataclasses.dataclass(frozen=True)
class ResourcesIgnored(Finding):
    """A flavor with keys for amounts or groups that Nova ignores.

    Nova only logs an unknown class, an amount that is not a number, or an invalid
    suffix. Servers land on hosts without the resource.

    :ivar ignored: the keys, each with its value and fault
    """

    rule = "resources-ignored"
    severity = Severity.ERROR
    kind = SubjectKind.FLAVOR
    name: str
    ignored: tuple[NotEvaluated, ...]
    id: str

    def words(self) -> Words:
        keys = (f"{e.key}={e.value} ({_REASONS[e.kind]})" for e in self.ignored)
        return Words(
            f"Nova ignores {', '.join(keys)}",
            unset(self.kind, (each.key for each in self.ignored), self.id),
        )


def ignored(analysis: Analysis) -> Iterator[ResourcesIgnored]:
    """nova/scheduler/utils.py, ``ResourceRequest._process_extra_specs``."""
    for flavor in analysis.flavors:
        found = tuple(each for each in flavor.not_evaluated if each.kind in _IGNORED)
        if found:
            yield ResourcesIgnored(flavor.name, found, flavor.id)


@rule("resources-near-key", SubjectKind.FLAVOR)
def near_key(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* A key of a flavor that Nova ignores, and that resembles one it reads.

    Nova drops unknown keys without an error: servers get hosts, but not what the key
    asks for.
    """
    yield from _misspelled(analysis.flavors)


@rule("resources-near-property", SubjectKind.IMAGE)
def near_property(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* A property of an image that Nova ignores, and that resembles one it
    reads.

    Glance keeps any property, and Nova drops those that it does not know.
    """
    yield from _misspelled(analysis.images)


def _misspelled(demands: Iterable[StandaloneRequest]) -> Iterator[Fault]:
    for demand in demands:
        for each in demand.not_evaluated:
            if each.kind == server.MISSPELLED_KEY:
                pair = Option("--property", f"{each.meant}={each.value}")
                yield WARNING(
                    demand.name,
                    f"Nova ignores {each.key}={each.value}{did_you_mean([each.meant])}",
                    openstack(f"{demand.kind.value} set", pair, demand.id),
                    f"if {each.meant} is meant, set it and remove {each.key}",
                )


@dataclasses.dataclass(frozen=True)
class ResourcesNoPolicy(Finding):
    """A flavor with several groups and no policy for sharing providers.

    Placement answers 400 to a request with two groups and no ``group_policy``. Use
    ``isolate`` if each group needs a provider of its own, else ``none``.

    :ivar groups: their suffixes
    :ivar given: an unknown policy that Nova ignores; else empty
    """

    rule = "resources-no-policy"
    severity = Severity.ERROR
    kind = SubjectKind.FLAVOR
    name: str
    groups: tuple[str, ...]
    given: str
    id: str

    def words(self) -> Words:
        unknown = f" (Nova ignores {quoted(self.given)})" if self.given else ""
        policy = Option("--property", f"{GROUP_POLICY}=none")
        return Words(
            f"{listed(self.groups, 'group')} and no {GROUP_POLICY}{unknown}: Placement "
            "refuses every request of it",
            openstack("flavor set", policy, self.id),
            "isolate instead of none gives each group a provider of its own",
        )


def no_policy(analysis: Analysis) -> Iterator[ResourcesNoPolicy]:
    for flavor in analysis.flavors:
        if flavor.requests and all(r.lacks_group_policy for r in flavor.requests):
            groups = tuple(each for each in flavor.requests[0].groups if each)
            given = flavor.specs.get(GROUP_POLICY, "")
            yield ResourcesNoPolicy(flavor.name, groups, given, flavor.id)


@dataclasses.dataclass(frozen=True)
class ResourcesNone(Finding):
    """A flavor with a group that has no amount.

    Placement answers 400. ``resources:VCPU=0`` and the like remove the flavor's own
    amounts; bare metal flavors need another class instead.

    :ivar groups: suffixes of such groups; empty for the one without a suffix
    """

    rule = "resources-none"
    severity = Severity.ERROR
    kind = SubjectKind.FLAVOR
    name: str
    groups: tuple[str, ...]

    def words(self) -> Words:
        if self.groups == ("",):
            return Words(
                "asks for no amount outside of groups: Placement refuses every request "
                "of it",
                "ask for an amount of some class by resources:CLASS=AMOUNT",
            )
        suffixes = [each for each in self.groups if each]
        return Words(
            f"{listed(suffixes, 'group')}: traits and no amount, and Placement refuses "
            "every request of it",
            f"ask for an amount of some class by resources{suffixes[0]}:CLASS=AMOUNT",
        )


def none(analysis: Analysis) -> Iterator[ResourcesNone]:
    """Flavors that get an amount from a local disk or an image are left out."""
    for flavor in analysis.flavors:
        empty = [request.groups_without_amounts for request in flavor.requests]
        if empty and all(empty) and not _images_add_amounts(analysis, flavor):
            yield ResourcesNone(flavor.name, empty[0])


def _images_add_amounts(analysis: Analysis, flavor: StandaloneRequest) -> bool:
    for image in analysis.images:
        with contextlib.suppress(Refusal):
            request = analysis.builder.request(flavor.body, image.body)
            if not request.groups_without_amounts:
                return True
    return False


@dataclasses.dataclass(frozen=True)
class ResourcesLeaked(Finding):
    """A host without servers that has allocations in Placement.

    Servers that were deleted, or moves that failed, left allocations. They keep the
    host full and block ``openstack compute service delete``. A server that is being
    built looks the same: check again after a minute.

    :ivar used: MB of memory that Placement counts
    """

    rule = "resources-leaked"
    severity = Severity.WARNING
    kind = SubjectKind.HOST
    name: str
    used: int

    def words(self) -> Words:
        return Words(
            f"Placement counts {self.used} MB of memory in use, but Nova has no server "
            "there",
            Command("placement audit --verbose", program="nova-manage"),
            "if a second check a minute later says the same, list the allocations",
        )


def leaked(analysis: Analysis) -> Iterator[ResourcesLeaked]:
    for node in analysis.survey.nova.computes:
        if used := capacity.leaked(node, analysis.survey.stock.get(node.uuid, {})):
            yield ResourcesLeaked(node.node, used)


RULES = (
    Rule(ResourcesUnknown, unknown, SubjectKind.FLAVOR),
    Rule(ResourcesIgnored, ignored, SubjectKind.FLAVOR),
    near_key,
    near_property,
    Rule(ResourcesNoPolicy, no_policy, SubjectKind.FLAVOR),
    Rule(ResourcesNone, none, SubjectKind.FLAVOR),
    Rule(ResourcesLeaked, leaked, SubjectKind.HOST),
)
