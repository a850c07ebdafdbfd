"""Rules on aggregates that are isolated by traits.

nova/scheduler/request_filter.py, ``isolate_aggregates``.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import Finding, Severity, SubjectKind, Words
from osc_traitsched.core.check.hosts import Isolated
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.check.survey import StandaloneRequest
from osc_traitsched.core.check.words import enable, off_by
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.metadata import trait_in
from osc_traitsched.core.inventory.trait import Ownership
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.paste import Option, Placeholder, openstack
from osc_traitsched.text import listed, ranges


@dataclasses.dataclass(frozen=True)
class IsolationMemberLacksTrait(Finding):
    """An isolated aggregate with hosts that lack one of its traits.

    An error; a warning while the option is off. Such a host gets no server at all:
    servers without the trait are kept out, and servers with it can't use the host.

    :ivar hosts: hosts that lack it
    """

    rule = "isolation-member-lacks-trait"
    kind = SubjectKind.AGGREGATE
    severity: Severity
    name: str
    trait: str
    hosts: tuple[str, ...]
    members: int

    def words(self) -> Words:
        name, hosts = self.trait, self.hosts
        if trait.ownership(name) is Ownership.OPERATOR:
            fix = openstack("trait-sched add", name, Option("--aggregate", self.name))
        else:
            fix = openstack("trait-sched unisolate", self.name, name)
        lack, there = ("lacks", "it") if len(hosts) == 1 else ("lack", "them")
        return Words(
            f"{ranges(hosts)} {lack} {name}, so no server can be scheduled on {there} "
            f"({len(hosts)} of {self.members} members)",
            fix,
        )


def member_lacks_trait(analysis: Analysis) -> Iterator[IsolationMemberLacksTrait]:
    """A request with the trait does not fit there, and one without is rejected."""
    severity = _severity(analysis, Severity.ERROR, Severity.WARNING)
    for each in analysis.isolated:
        inside = analysis.inside(each.uuid)
        for name in sorted(each.traits & analysis.survey.known_traits):
            having = analysis.hosts.having(name)
            if having and inside - having:
                lacking = analysis.host_names(inside - having)
                yield IsolationMemberLacksTrait(
                    severity, each.name, name, lacking, len(inside)
                )


@dataclasses.dataclass(frozen=True)
class IsolationOverlap(Finding):
    """Two isolated aggregates with common hosts and different traits.

    A note; a warning if the option is on and no flavor requires both traits. A server
    needs both traits to land there.

    :ivar traits: of both
    :ivar hosts: in both
    :ivar is_open: some flavor and image require all the traits together
    """

    rule = "isolation-overlap"
    kind = SubjectKind.AGGREGATE
    severity: Severity
    name: str
    other: str
    traits: tuple[str, ...]
    hosts: tuple[str, ...]
    is_open: bool

    def words(self) -> Words:
        names, hosts = " and ".join(self.traits), self.hosts
        then = (
            "some flavor and image require all of them"
            if self.is_open
            else "no flavor and image require all of them, so that no server can be "
            "placed there"
        )
        return Words(
            f"{ranges(hosts, 'host')} {'is' if len(hosts) == 1 else 'are'} in the "
            f"isolated aggregate {self.other}, too: there a request needs {names}; "
            f"{then}",
            openstack("aggregate remove host", self.name, Placeholder("HOST")),
        )


def overlap(analysis: Analysis) -> Iterator[IsolationOverlap]:
    closed = _severity(analysis, Severity.WARNING, Severity.NOTE)
    for one, other in itertools.combinations(analysis.isolated, 2):
        shared = analysis.inside(one.uuid) & analysis.inside(other.uuid)
        if not shared or one.folded == other.folded:
            continue
        if not _is_open(analysis, one) or not _is_open(analysis, other):
            continue
        is_open = _is_open(analysis, one, other)
        yield IsolationOverlap(
            Severity.NOTE if is_open else closed,
            one.name,
            other.name,
            tuple(sorted(one.traits | other.traits)),
            analysis.host_names(shared),
            is_open,
        )


@dataclasses.dataclass(frozen=True)
class IsolationOff(Finding):
    """Aggregates with isolation metadata, while the option is off.

    An error if the option was supplied, else a warning. These aggregates accept any
    server. Look at the other rules of this area before you turn the option on.
    """

    rule = "isolation-off"
    kind = SubjectKind.OPTION
    name = options.ISOLATION
    severity: Severity
    aggregates: tuple[str, ...]
    setting: Setting

    files: tuple[str, ...]

    def words(self) -> Words:
        names = listed(self.aggregates, "aggregate")
        accept = "accepts" if len(self.aggregates) == 1 else "accept"
        if not self.setting.given and not self.files:
            return Words(
                "nova.conf is unknown; if the option is off, which is the default, "
                f"{names} {accept} any server",
                enable("isolation", self.setting),
            )
        off = f"off (not set in {listed(self.files)})"
        return Words(
            f"{names} {accept} any server in spite of the isolation metadata: "
            f"{off_by(self.setting) if self.setting.given else off}",
            enable("isolation", self.setting),
        )


def off(analysis: Analysis) -> Iterator[IsolationOff]:
    setting = analysis.setting(options.ISOLATION)
    if analysis.isolated and not setting.value:
        assumptions = analysis.survey.assumptions
        is_known = assumptions.is_known(options.ISOLATION)
        severity = Severity.ERROR if is_known else Severity.WARNING
        names = tuple(each.name for each in analysis.isolated)
        files = assumptions.files if is_known else ()
        yield IsolationOff(severity, names, setting, files)


@dataclasses.dataclass(frozen=True)
class IsolationNotRequired(Finding):
    """An isolated aggregate whose traits no flavor and image require together.

    A warning; a note while the option is off. No server gets in. ``isolate`` makes
    flavors require the traits.

    :ivar keys: metadata keys with traits that are not required; all keys if only the
        combination is not
    :ivar traits: in the keys
    :ivar is_each_required: only the combination is not required
    :ivar hosts: in the aggregate
    """

    rule = "isolation-not-required"
    kind = SubjectKind.AGGREGATE
    severity: Severity
    name: str
    keys: tuple[str, ...]
    traits: tuple[str, ...]
    is_each_required: bool
    hosts: tuple[str, ...]

    def words(self) -> Words:
        names = self.traits
        what = " and ".join(f"{key}=required" for key in self.keys)
        problem = (
            f"no flavor and image require {' and '.join(names)} together"
            if self.is_each_required
            else f"no flavor or image requires {' and '.join(names)}"
        )
        return Words(
            f"{what}, and {problem}: nobody gets in",
            openstack(
                "trait-sched isolate",
                self.name,
                *names,
                Option("--flavor", Placeholder("FLAVOR")),
            ),
        )


def not_required(analysis: Analysis) -> Iterator[IsolationNotRequired]:
    severity = _severity(analysis, Severity.WARNING, Severity.NOTE)
    required = frozenset().union(*analysis.closed_to)
    for each in analysis.isolated:
        is_known = each.traits <= analysis.survey.known_traits
        if is_known and not _is_open(analysis, each):
            names = {key: trait_in(key, analysis.collation) for key in each.keys}
            left = {key: name for key, name in names.items() if name not in required}
            hosts = analysis.host_names(analysis.inside(each.uuid))
            closing = left or names
            yield IsolationNotRequired(
                severity,
                each.name,
                tuple(closing),
                tuple(closing.values()),
                not left,
                hosts,
            )


def _is_open(analysis: Analysis, *aggregates: Isolated) -> bool:
    return any(
        all(each.is_open_to(traits) for each in aggregates)
        for traits in analysis.closed_to
    )


@dataclasses.dataclass(frozen=True)
class IsolationTraitOutside(Finding):
    """An isolating trait on hosts outside its aggregates.

    A warning; a note while the option is off. Servers that require the trait may land
    there, among all others.

    :ivar hosts: outside, with the trait
    """

    rule = "isolation-trait-outside"
    kind = SubjectKind.TRAIT
    severity: Severity
    name: str
    aggregates: tuple[str, ...]
    hosts: tuple[str, ...]

    def words(self) -> Words:
        hosts = self.hosts
        chosen = (Option("--host", host) for host in hosts)
        return Words(
            f"{ranges(hosts, 'host')} ha{'s' if len(hosts) == 1 else 've'} it and "
            f"{'is' if len(hosts) == 1 else 'are'} outside the "
            f"{listed(self.aggregates, 'aggregate')}, which it isolates: servers that "
            "require it may land there",
            openstack("trait-sched remove", self.name, *chosen)
            if trait.ownership(self.name) is Ownership.OPERATOR
            else "add the hosts to the aggregate, or isolate by a custom trait",
        )


def trait_outside(analysis: Analysis) -> Iterator[IsolationTraitOutside]:
    severity = _severity(analysis, Severity.WARNING, Severity.NOTE)
    for name in sorted({name for each in analysis.isolated for name in each.traits}):
        inside = [each for each in analysis.isolated if name in each.traits]
        members = (_either(analysis, each.uuid) for each in inside)
        outside = analysis.hosts.having(name) - frozenset[str]().union(*members)
        if outside:
            aggregates = tuple(each.name for each in inside)
            hosts = analysis.host_names(outside)
            yield IsolationTraitOutside(severity, name, aggregates, hosts)


def _either(analysis: Analysis, aggregate: str) -> frozenset[str]:
    """The members in Nova or in Placement."""
    nobody = frozenset[str]()
    nova = analysis.survey.nova.members.get(aggregate, nobody)
    return nova | analysis.survey.members.get(aggregate, nobody)


@dataclasses.dataclass(frozen=True)
class IsolationShutsOut(Finding):
    """A flavor whose hosts are all isolated from it, with any image.

    Each aggregate may be as intended, but together they leave the flavor no host.

    :ivar aggregates: of its hosts
    :ivar hosts: that could take it
    """

    rule = "isolation-shuts-out"
    severity = Severity.ERROR
    kind = SubjectKind.FLAVOR
    name: str
    aggregates: tuple[str, ...]
    hosts: tuple[str, ...]
    id: str

    def words(self) -> Words:
        return Words(
            "each host that could take it is in the isolated "
            f"{listed(self.aggregates, 'aggregate')}, and with no image does it "
            "require the traits",
            openstack(
                "flavor set",
                Option("--property", Placeholder("trait:TRAIT=required")),
                self.id,
            ),
        )


def shuts_out(analysis: Analysis) -> Iterator[IsolationShutsOut]:
    if not analysis.is_on(options.ISOLATION):
        return
    for flavor in analysis.flavors:
        able = analysis.flavor_hosts.matching(flavor)
        closed = _closed(analysis, flavor) if able else able
        if able and able <= closed and _most(analysis, flavor, closed) <= closed:
            yield IsolationShutsOut(
                flavor.name,
                _around(analysis, able),
                analysis.host_names(able),
                flavor.id,
            )


def _most(
    analysis: Analysis, flavor: StandaloneRequest, closed: frozenset[str]
) -> frozenset[str]:
    """An upper bound of the hosts that could take a flavor."""
    most = analysis.flavor_hosts.at_most(flavor)
    return most if most <= closed else analysis.flavor_hosts.with_any_image(flavor)


def _closed(analysis: Analysis, flavor: StandaloneRequest) -> frozenset[str]:
    """Roots that are isolated from a flavor with any image."""
    isolated = {name for each in analysis.isolated for name in each.traits}
    images = {frozenset[str](), *(image.opens for image in analysis.images)}
    together = {frozenset((flavor.opens | more) & isolated) for more in images}
    each = (analysis.closed_to[traits] for traits in together)
    return analysis.all_hosts.intersection(*each)


def _around(analysis: Analysis, hosts: frozenset[str]) -> tuple[str, ...]:
    members = analysis.survey.members
    return tuple(
        each.name
        for each in analysis.isolated
        if not hosts.isdisjoint(members.get(each.uuid, frozenset()))
    )


def _severity(analysis: Analysis, on: Severity, off: Severity) -> Severity:
    return on if analysis.is_on(options.ISOLATION) else off


RULES = (
    Rule(IsolationMemberLacksTrait, member_lacks_trait, SubjectKind.AGGREGATE),
    Rule(IsolationOverlap, overlap, SubjectKind.AGGREGATE),
    Rule(IsolationOff, off, SubjectKind.AGGREGATE),
    Rule(IsolationNotRequired, not_required, SubjectKind.AGGREGATE),
    Rule(IsolationTraitOutside, trait_outside, SubjectKind.AGGREGATE),
    Rule(IsolationShutsOut, shuts_out, SubjectKind.FLAVOR),
)
