"""What a plan does to the hosts that flavors can use: the cloud now, and at the end.

Hosts of a flavor and image, of a zone and of a project are each found once, and then
intersected. That is exact for hosts whose providers are all in the same aggregates. Of
others, such as users of a pool in fewer aggregates, the judge is asked for all at once.
Clouds in between only tell whether a flavor may lack a host for a moment.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Union

from osc_traitsched.core import errors
from osc_traitsched.core.change.cloud_model import (
    ANYWHERE,
    CloudModel,
    Context,
    contexts,
    folding,
    limits_of,
)
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.inventory.trait import (
    DISABLED,
    REQUIRED,
    names_trait,
    requires,
)
from osc_traitsched.core.judge.filtering import KnownAnswers
from osc_traitsched.core.judge.hosts import matching_all, matching_hosts
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import MemberOf, Resource, RootTrait, Trait
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.filter.compute import needs_claim
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Body, Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.server import read
from osc_traitsched.core.placement.facts import Facts

#: What Nova asks Placement for one server, both queries, by their texts; None if Nova
#: or Placement rejects it.
Text = Union[tuple[str, str], None]

#: A set of hosts: one bit for each, in the order of the snapshot's hosts.
Bits = int

_NONE: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class Combination:
    """A flavor with an image, or None, in a context."""

    flavor: str
    image: str | None
    context: Context = ANYWHERE

    def broader(self) -> Iterator[Combination]:
        """Yield the same with less to restrict it by."""
        here = self.context
        for zone, outside in {(here.zone, here.outside), (None, _NONE)}:
            for project in {here.project, None}:
                for answer in {here.answer, 0}:
                    context = Context(zone, project, outside, answer)
                    if context != here:
                        yield dataclasses.replace(self, context=context)

    @property
    def is_general(self) -> bool:
        """Whether neither a zone nor a project is named."""
        return self.context == ANYWHERE


@dataclasses.dataclass(frozen=True)
class HostSets:
    """The roots of the hosts that match a request, before and after a plan."""

    now: frozenset[str] = _NONE
    then: frozenset[str] = _NONE

    @property
    def lost(self) -> frozenset[str]:
        """Hosts that match now, and not at the end."""
        return self.now - self.then

    @property
    def loses_any(self) -> bool:
        """Whether any host is lost."""
        return not self.now <= self.then

    @property
    def gained(self) -> frozenset[str]:
        """Hosts that match at the end, and not now."""
        return self.then - self.now

    @property
    def becomes_empty(self) -> bool:
        """Whether the last host is lost."""
        return bool(self.now) and not self.then


@dataclasses.dataclass(frozen=True)
class Effect:
    """What becomes of the hosts of a flavor in a context.

    :ivar room: hosts that have room for a server now
    :ivar enabled: enabled hosts that could take one if they were empty
    :ivar ever: hosts that could take one if they were empty and enabled
    :ivar own: traits that the flavor or the image stops or begins to name
    :ivar others: more contexts with the same effect
    :ivar for_a_moment: it has hosts at both ends, and may lack one in between
    :ivar project_names: by ID, as far as Keystone shows them and no two are equal
    """

    asked: Combination
    room: HostSets = HostSets()
    ever: HostSets = HostSets()
    enabled: HostSets = HostSets()
    own: frozenset[str] = _NONE
    others: tuple[Context, ...] = ()
    for_a_moment: bool = False
    project_names: Mapping[str, str] = dataclasses.field(
        default_factory=dict, compare=False
    )

    @property
    def flavor(self) -> str:
        """The flavor's name."""
        return self.asked.flavor

    @property
    def contexts(self) -> tuple[Context, ...]:
        """All contexts with the same effect."""
        return self.asked.context, *self.others

    def in_contexts(self, contexts: Sequence[Context]) -> Effect:
        """Effect on what is asked for in some of the contexts alone."""
        asked = dataclasses.replace(self.asked, context=contexts[0])
        return dataclasses.replace(self, asked=asked, others=tuple(contexts[1:]))

    @property
    def projects(self) -> tuple[str, ...]:
        """The projects with this effect, in the same zone; empty for all."""
        first = self.asked.context
        if first.project is None:
            return ()
        return tuple(
            each.project
            for each in self.contexts
            if each.project is not None
            and (each.zone, each.outside, each.answer)
            == (first.zone, first.outside, first.answer)
        )

    @property
    def leaves_no_host(self) -> bool:
        """Whether it loses the last host with room, that is enabled, or of all."""
        return any(sets.becomes_empty for sets in (self.room, self.enabled, self.ever))

    @property
    def reverted(self) -> Effect:
        """The effect of the way back."""
        room, ever, enabled = (
            HostSets(sets.then, sets.now)
            for sets in (self.room, self.ever, self.enabled)
        )
        return dataclasses.replace(self, room=room, ever=ever, enabled=enabled)

    @property
    def is_for_good(self) -> bool:
        """Whether no host could ever take one at the end, and some could before."""
        return self.ever.becomes_empty


def most_general(found: Sequence[Effect]) -> tuple[Effect, ...]:
    """Effects without those that a broader one of the same flavor includes."""
    known = {effect.asked: effect for effect in found}

    def is_included(effect: Effect) -> bool:
        broader = (known[each] for each in effect.asked.broader() if each in known)
        return any(
            (each.is_for_good or not effect.is_for_good)
            and (each.ever.becomes_empty or not effect.ever.becomes_empty)
            for each in broader
        )

    return tuple(effect for effect in found if not is_included(effect))


@dataclasses.dataclass(frozen=True)
class ImpactRow:
    """A flavor with an image (by their numbers), and the request in each cloud.

    :ivar requests: without zone and project; None if Nova or Placement rejects it
    :ivar own: traits that the flavor or the image stops or begins to name
    """

    asked: Combination
    flavor: int
    image: int
    requests: tuple[Request | None, ...]
    own: frozenset[str] = _NONE

    @functools.cached_property
    def texts(self) -> tuple[Text, ...]:
        """The requests' texts: equal ones have the same hosts."""
        return tuple(map(_text, self.requests))


def _text(request: Request | None) -> Text:
    if request is None:
        return None
    fallback = request.fallback
    return request.query(), fallback.query() if fallback else ""


class ImpactAnalysis:
    """Compares the hosts of all flavors before and after a plan.

    :ivar clouds: now, in between, and at the end
    :ivar rows: flavors and images whose hosts the plan may change
    :ivar now: answers of host filters for enabled hosts
    :ivar if_empty: the same if they are empty, too
    """

    def __init__(
        self, clouds: Sequence[CloudModel], settings: SchedulerSettings
    ) -> None:
        self.clouds = clouds
        self.settings = settings
        self.fold = folding(settings)
        self.limits = [limits_of(cloud, settings) for cloud in clouds]
        # Contexts have what goes by zone and project.
        names = (
            name
            for name in settings.items(options.ENABLED_FILTERS)
            if name not in (special.ZONE, special.PROJECT)
        )
        self._without_project = settings.changed(options.TENANT, False)
        self._filters = self._without_project.changed(
            options.ENABLED_FILTERS, tuple(names)
        )
        computes = clouds[0].snapshot.nova.computes
        self.now = KnownAnswers(computes, {}).if_enabled
        self.if_empty = self.now.if_empty
        self._kept_out: dict[object, frozenset[str]] = {}
        aggregates = [cloud.aggregates for cloud in clouds]
        self._alike = list(map(aggregates.index, aggregates))
        self.hosts = clouds[0].snapshot.hosts
        self._bit = {host.uuid: 1 << n for n, host in enumerate(self.hosts)}
        #: Set of hosts as bits; each set is looked at once.
        self.bits = functools.cache(self._bits)
        self._requests: dict[tuple[object, ...], Request | None] = {}
        self.rows = tuple(filter(self._may_change, self._all_rows()))

    @property
    def queries(self) -> tuple[Request, ...]:
        """All that has to be known of Placement, each query once."""
        found = {
            t: r for row in self.rows for t, r in zip(row.texts, row.requests) if r
        }
        every = [q for one in found.values() for q in (one, one.fallback) if q]
        if not every:
            return ()
        named = _NONE.union(*(each.aggregates for each in self.limits))
        members = (MemberOf(frozenset({each}), False, ()) for each in sorted(named))
        first, *others = every
        clauses = (*first.clauses, *members)
        return (dataclasses.replace(first, clauses=clauses), *others)

    def _all_rows(self) -> Iterator[ImpactRow]:
        now, end = self.clouds[0], self.clouds[-1]
        isolating = [self._isolating(cloud) for cloud in self.clouds]
        alike = list(map(isolating.index, isolating))
        of_images = tuple(map(_renamed, now.images, end.images))
        for f, flavor in enumerate(now.flavors):
            specs = (b.get("extra_specs") or {} for b in (flavor, end.flavors[f]))
            of_flavor = _renamed(*specs)
            for i, image in enumerate(now.images):
                requests = tuple(
                    self._request(cloud, cloud.flavors[f], cloud.images[i], bodies, n)
                    for cloud, bodies, n in zip(self.clouds, isolating, alike)
                )
                name = image.get("name") or image.get("id")
                own = of_flavor | of_images[i]
                yield ImpactRow(Combination(flavor["name"], name), f, i, requests, own)

    def _isolating(self, cloud: CloudModel) -> tuple[Aggregate, ...]:
        collation = self.settings.collation
        return tuple(
            dataclasses.replace(aggregate, hosts=())
            for aggregate in cloud.aggregates
            if any(names_trait(key, collation) for key in aggregate.metadata)
        )

    def _request(
        self,
        cloud: CloudModel,
        flavor: Body,
        image: Body,
        aggregates: tuple[Aggregate, ...],
        alike: int,
    ) -> Request | None:
        key = (read(flavor).key, repr(image), alike, cloud.traits)
        if key not in self._requests:
            question = Question(flavor, image, aggregates, self._without_project)
            try:
                request: Request | None = question.request()
            except errors.Refusal:
                request = None
            both = (request, request.fallback) if request else ()
            is_taken = all(_is_taken(each, cloud) for each in both if each)
            self._requests[key] = request if is_taken else None
        return self._requests[key]

    def _may_change(self, row: ImpactRow) -> bool:
        end = self.clouds[-1]
        if end.joined or end.left or len(set(row.texts)) > 1:
            return True
        if any(each != self.limits[0] for each in self.limits):
            return True
        if len({self.kept_out(row, n) for n in range(len(self.clouds))}) > 1:
            return True
        clauses = [c for r in row.requests if r for c in r.clauses]
        named = {c.name for c in clauses if isinstance(c, (Trait, RootTrait))}
        return any(not named.isdisjoint(keys) for keys in end.changed.values())

    def kept_out(self, row: ImpactRow, number: int) -> frozenset[str]:
        """Roots of the hosts that host filters keep a row out of in a cloud.

        All hosts are empty and enabled, and Nova is not asked what they can claim: that
        is the same in all clouds. None if Nova rejects the request.
        """
        cloud, request = self.clouds[number], row.requests[number]
        flavor, image = cloud.flavors[row.flavor], cloud.images[row.image]
        specs = repr(flavor.get("extra_specs"))
        key = (flavor["id"], specs, repr(image), self._alike[number])
        if request and key not in self._kept_out:
            settings = dataclasses.replace(self._filters, claims=None)
            question = Question(flavor, image, cloud.aggregates, settings)
            with contextlib.suppress(errors.Refusal):
                found = self.if_empty.of(question, request)
                self._kept_out[key] = found.all_kept_out
        return self._kept_out.get(key, _NONE)

    def claiming(self, row: ImpactRow, number: int) -> Question | None:
        """The question of a row in a cloud if Nova can be asked what hosts can claim.

        None, too, if the row claims neither NUMA cells nor PCI devices.
        """
        if self._filters.claims is None or row.requests[number] is None:
            return None
        cloud = self.clouds[number]
        flavor, image = cloud.flavors[row.flavor], cloud.images[row.image]
        question = Question(flavor, image, cloud.aggregates, self._filters)
        return question if needs_claim(question.request_spec()) else None

    def without_claim(
        self, row: ImpactRow, number: int, answers: KnownAnswers
    ) -> frozenset[str]:
        """Roots of the hosts that Nova says can't claim what a row needs.

        :param answers: :attr:`now` or :attr:`if_empty`
        """
        question, request = self.claiming(row, number), row.requests[number]
        if question is None or request is None:
            return _NONE
        try:
            found = answers.of(question, request)
        except errors.Refusal:
            return _NONE
        names = (name for name, each in FILTERS.items() if each.is_claimed)
        return _NONE.union(*(found.kept_out.get(name, _NONE) for name in names))

    def _bits(self, roots: frozenset[str]) -> Bits:
        return functools.reduce(operator.or_, (self._bit.get(r, 0) for r in roots), 0)

    def roots(self, bits: Bits) -> frozenset[str]:
        """Roots of the hosts of a set."""
        return frozenset(h.uuid for n, h in enumerate(self.hosts) if bits >> n & 1)

    @functools.cached_property
    def contexts(self) -> tuple[Context, ...]:
        """All that the plan touches for flavors and images that do not change."""
        return tuple(contexts(self.clouds, self.limits, self.settings, False))

    @functools.cached_property
    def every_context(self) -> tuple[Context, ...]:
        """All that servers can be asked for in."""
        return tuple(contexts(self.clouds, self.limits, self.settings, True))

    def doubtful(
        self, room: RowHosts, ever: RowHosts
    ) -> Iterator[tuple[ImpactRow, tuple[Bits, ...]]]:
        """Yield what hangs on full hosts, with those that could ever take it."""
        for row in self.rows:
            for context in self._contexts_of(row, ever):
                if not room.always(row, context):
                    could = ever.of(row, context)
                    if could[0] and not all(room.of(row, context)):
                        yield row, could

    def _contexts_of(self, row: ImpactRow, ever: RowHosts) -> Iterable[Context]:
        """A flavor that loses all hosts loses those of a zone."""
        could = ever.of(row, ANYWHERE)
        if could[0] and not could[-1]:
            return (ANYWHERE,)
        return self.every_context if row.own else self.contexts

    def effects(
        self, room: RowHosts, most: RowHosts, least: RowHosts
    ) -> Iterator[Effect]:
        """Yield what becomes of flavors; in zones and for projects only at the ends.

        An end is that it loses the last host, or gets the first one.

        :param room: facts now
        :param most: facts if nothing were in use, and unread hosts could take all
        :param least: the same if unread hosts could take nothing; counts at the end
        """
        for row in self.rows:
            found: dict[_Kind, list[Context]] = {}
            for context in self._contexts_of(row, most):
                is_general = context == ANYWHERE
                if not is_general and room.always(row, context):
                    continue
                if context.project is None and not room.counts(row, context):
                    continue
                now, could = room.of(row, context), most.of(row, context)
                ever = could[0], _left(could, least.of(row, context))
                kind = _Kind(
                    (now[0], now[-1]),
                    (ever[0] & room.enabled, ever[1] & room.enabled),
                    ever,
                    _may_lack_one(now),
                    (context.project is None, context.answer),
                )
                is_turn = kind.is_harmed or kind.gets_first
                if is_turn or (is_general and kind.is_change):
                    found.setdefault(kind, []).append(context)
            for kind, alike in found.items():
                yield Effect(
                    dataclasses.replace(row.asked, context=alike[0]),
                    HostSets(*map(self.roots, kind.room)),
                    HostSets(*map(self.roots, kind.ever)),
                    HostSets(*map(self.roots, kind.enabled)),
                    row.own,
                    tuple(alike[1:]),
                    for_a_moment=kind.for_a_moment,
                )


class _Kind(NamedTuple):
    """What is the same for a flavor in several contexts: hosts now and at the end."""

    room: tuple[Bits, Bits]
    enabled: tuple[Bits, Bits]
    ever: tuple[Bits, Bits]
    for_a_moment: bool
    whom: tuple[bool, int]

    @property
    def is_harmed(self) -> bool:
        return self.for_a_moment or any(now and not then for now, then in self[:3])

    @property
    def gets_first(self) -> bool:
        return any(then and not now for now, then in self[:3])

    @property
    def is_change(self) -> bool:
        return any(now != then for now, then in self[:3])


def _renamed(before: Body, after: Body) -> frozenset[str]:
    differing = (k for k in {**before, **after} if before.get(k) != after.get(k))
    return frozenset(filter(None, (requires(key, REQUIRED) for key in differing)))


def _left(most: Sequence[Bits], least: Sequence[Bits]) -> Bits:
    """A flavor that loses some hosts keeps only those that were read."""
    return least[-1] if most[0] & ~most[-1] else most[-1]


def _may_lack_one(sets: Sequence[Bits]) -> bool:
    if not (sets[0] and sets[-1]):
        return False
    return any(not one & other for one, other in zip(sets, sets[1:]))


class _Mask(NamedTuple):
    """Hosts in a context, and those that are only if their providers in it suffice.

    :ivar aggregates: sets that Placement is asked for
    """

    sure: Bits = 0
    unsure: Bits = 0
    aggregates: tuple[frozenset[str], ...] = ()


class RowHosts:
    """The hosts of each row in each context, by some facts, in each cloud.

    :param is_now: what is in use of NUMA cells and devices counts
    """

    def __init__(
        self, impact: ImpactAnalysis, facts: Facts, is_now: bool = False
    ) -> None:
        self._impact = impact
        self._answers = impact.now if is_now else impact.if_empty
        self._facts: list[Facts] = []
        self._matching: list[dict[Text, frozenset[str]]] = []
        self._of_row: dict[tuple[int, int], tuple[Bits, ...]] = {}
        self._mask = functools.cache(self._mask_of)
        self._inside = functools.cache(self._inside_of)
        self._whole = functools.cache(self._whole_of)
        self._common: dict[object, Bits] = {}
        for number, cloud in enumerate(impact.clouds):
            before = impact.clouds[number - 1] if number else None
            requests = {
                row.texts[number]: request
                for row in impact.rows
                if (request := row.requests[number])
            }
            known: dict[Text, frozenset[str]] = {}
            if before is not None and before.places == cloud.places:
                seen, known = self._facts[-1], self._matching[-1]
            else:
                seen = cloud.seen(facts)
            new = {text: r for text, r in requests.items() if text not in known}
            self._facts.append(seen)
            matching = matching_all(new, seen, impact.hosts)
            self._matching.append({**known, **matching})

    @functools.cached_property
    def enabled(self) -> Bits:
        """Hosts that are enabled now."""
        traits, impact = self._facts[0].traits, self._impact
        roots = (host.uuid for host in impact.hosts)
        return impact.bits(
            frozenset(root for root in roots if DISABLED not in traits.get(root, ()))
        )

    def counts(self, row: ImpactRow, context: Context) -> bool:
        """Whether a loss counts for projects that no aggregate names.

        Hosts that become a project's own are lost to all others on purpose, unless they
        are the last ones. If the projects' hosts stay, what a flavor loses counts.
        """
        if not context.answer:
            return True
        mask = [each.sure | each.unsure for each in self._mask(context)]
        is_anywhere = context.zone is None and not context.outside
        stays = mask[0] == mask[-1] and bool(row.own)
        return is_anywhere and (stays or (bool(mask[0]) and not mask[-1]))

    def always(self, row: ImpactRow, context: Context) -> bool:
        """Tell whether one host matches a row in a context in all clouds."""
        # There are as many pairs as flavors times projects.
        of_row, of_context = (row.flavor, row.image), context
        if of_row not in self._common:
            sets = self._row(row)
            self._common[of_row] = functools.reduce(operator.and_, sets)
        if of_context not in self._common:
            sure = (each.sure for each in self._mask(context))
            self._common[of_context] = functools.reduce(operator.and_, sure)
        return bool(self._common[of_row] & self._common[of_context])

    def of(self, row: ImpactRow, context: Context) -> tuple[Bits, ...]:
        """Hosts of a row in a context, in each cloud."""
        return tuple(
            hosts & mask.sure | self._asked(row, number, hosts & mask.unsure, mask)
            for number, (hosts, mask) in enumerate(
                zip(self._row(row), self._mask(context))
            )
        )

    def _asked(self, row: ImpactRow, number: int, hosts: Bits, mask: _Mask) -> Bits:
        """Those of the hosts that match the row in all aggregates at once."""
        request, impact = row.requests[number], self._impact
        if not hosts or request is None:
            return 0
        key = number, row.texts[number], hosts, mask.aggregates
        if key not in self._common:
            facts, every = self._whole(number), impact.hosts
            among = [every[n] for n in range(hosts.bit_length()) if hosts >> n & 1]
            found = matching_hosts(_in_all(request, mask.aggregates), facts, among)
            self._common[key] = impact.bits(frozenset(found))
        return self._common[key]

    def _whole_of(self, number: int) -> Facts:
        """The facts with the members of each zone and of each project's aggregates."""
        facts, limits = self._facts[number], self._impact.limits[number]
        members = {
            several: self._members(number, several)
            for several in (*limits.zones.values(), *limits.projects.values())
        }
        return dataclasses.replace(facts, members={**facts.members, **members})

    def _members(self, number: int, aggregates: frozenset[str]) -> frozenset[str]:
        known = self._facts[number].members
        return _NONE.union(*(known.get(frozenset({e}), ()) for e in aggregates))

    def _row(self, row: ImpactRow) -> tuple[Bits, ...]:
        key = row.flavor, row.image
        if key not in self._of_row:
            impact = self._impact
            self._of_row[key] = tuple(
                impact.bits(matching.get(text, _NONE))
                & ~impact.bits(impact.kept_out(row, number))
                & ~impact.bits(impact.without_claim(row, number, self._answers))
                for number, (matching, text) in enumerate(
                    zip(self._matching, row.texts)
                )
            )
        return self._of_row[key]

    def _mask_of(self, context: Context) -> tuple[_Mask, ...]:
        numbers = range(len(self._impact.clouds))
        return tuple(self._limit(context, number) for number in numbers)

    def _limit(self, context: Context, number: int) -> _Mask:
        impact = self._impact
        limits = impact.limits[number]
        sets = limits.of(context, impact.fold)
        if sets is None:
            return _Mask()
        passed = limits.passed[context.answer]
        possible = (1 << len(impact.hosts)) - 1
        possible &= ~impact.bits(passed.kept_out(context.project))
        if context.outside:
            zoned = _NONE.union(*limits.zones.values())
            possible &= ~self._inside(number, zoned)[1]
        sure = possible
        for aggregates, is_asked in sets:
            surely, perhaps = self._inside(number, aggregates)
            possible &= perhaps
            sure &= surely if is_asked else perhaps
        asked = tuple(aggregates for aggregates, is_asked in sets if is_asked)
        return _Mask(sure, possible & ~sure, asked)

    def _inside_of(self, number: int, aggregates: frozenset[str]) -> tuple[Bits, Bits]:
        """Hosts that are in one of the aggregates with all providers, and with any."""
        facts, bits = self._facts[number], self._impact.bits
        members = self._members(number, aggregates)
        by_uuid = facts.snapshot.by_uuid
        inside = members.intersection(by_uuid)
        apart = (root for root, each in facts.sharers.items() if not each <= members)
        some = bits(frozenset(by_uuid[uuid].root for uuid in inside))
        return bits(inside) & ~bits(frozenset(apart)), some


def _in_all(request: Request, aggregates: Iterable[frozenset[str]]) -> Request:
    """The request, in one aggregate of each set."""
    more = (MemberOf(each, False, ()) for each in aggregates)
    second = request.fallback and _in_all(request.fallback, aggregates)
    clauses = (*request.clauses, *more)
    return dataclasses.replace(request, clauses=clauses, fallback=second)


def _is_taken(request: Request, cloud: CloudModel) -> bool:
    """Placement accepts such a query.

    placement/lib.py, ``RequestGroup.dict_from_request``
    """
    both = {False: set[tuple[object, str]](), True: set[tuple[object, str]]()}
    for clause in request.clauses:
        if isinstance(clause, Resource):
            if clause.resource_class not in cloud.classes:
                return False
        elif isinstance(clause, (Trait, RootTrait)):
            if clause.name not in cloud.traits:
                return False
            group = clause.group if isinstance(clause, Trait) else None
            both[clause.forbidden].add((group, clause.name))
    return not (
        request.groups_without_amounts
        or request.lacks_group_policy
        or both[False] & both[True]
    )
