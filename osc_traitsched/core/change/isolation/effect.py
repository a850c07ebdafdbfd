"""What a plan does to flavors, found out before anything is written."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.change.isolation.predicted import PredictedCloud
from osc_traitsched.core.nova.clause import Resource, RootTrait, Trait
from osc_traitsched.core.nova.question import Body, Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.placement import matcher
from osc_traitsched.core.placement.facts import Facts

#: What Nova asks Placement for one server, both queries, by their texts.
_Key = tuple[str, str]


@dataclasses.dataclass(frozen=True)
class Effect:
    """What becomes of the hosts that a flavor can use, alone or with one image.

    :ivar image: its name; None for an image that asks for nothing
    :ivar hosts: the roots of the hosts that can take it now, and after each stage
    :ivar between: of those, where hosts change one by one, the ones that can take it
        before their change and after it
    """

    flavor: str
    image: str | None
    hosts: tuple[frozenset[str], ...]
    between: tuple[frozenset[str], ...] = ()

    @property
    def now(self) -> frozenset[str]:
        """The hosts that can take it before anything is written."""
        return self.hosts[0]

    @property
    def then(self) -> frozenset[str]:
        """Those that can take it when all is done."""
        return self.hosts[-1]

    @property
    def lost(self) -> frozenset[str]:
        """Those that can take it now, and not then."""
        return self.now - self.then

    @property
    def gained(self) -> frozenset[str]:
        """Those that can take it then, and not now."""
        return self.then - self.now

    @property
    def leaves_no_host(self) -> bool:
        """Whether it has a host now, and may have none after some of the steps."""
        return bool(self.now) and not all((*self.hosts, *self.between))


class LeavesNoHost(errors.AnswerIsNo):
    """Flavors that can be used now would be left without any host."""

    def __init__(self, effects: Sequence[Effect]) -> None:
        super().__init__(", ".join(effect.flavor for effect in effects))
        self.effects = tuple(effects)


@dataclasses.dataclass(frozen=True)
class MatrixRow:
    """A flavor with an image, and what Nova would ask Placement for them.

    :ivar image: its name; None for an image that asks for nothing
    :ivar requests: now, and in each stage; None where Nova or Placement refuses it
    """

    flavor: str
    image: str | None
    requests: tuple[Request | None, ...]


def request_matrix(
    clouds: Sequence[PredictedCloud], assumptions: SchedulerSettings
) -> tuple[MatrixRow, ...]:
    """Return all that can be asked for, each with its request in every cloud."""
    build = _Builder(assumptions)
    asked = [
        [build.request(cloud, *pair) for pair in _pairs(cloud)] for cloud in clouds
    ]
    return tuple(
        MatrixRow(flavor["name"], image.get("name") or image.get("id"), requests)
        for (flavor, image), requests in zip(_pairs(clouds[0]), zip(*asked))
    )


def queries(asked: Iterable[MatrixRow]) -> tuple[Request, ...]:
    """Return all that Placement would be asked, each once."""
    found = {_key(r): r for row in asked for r in row.requests if r}
    return tuple(each for one in found.values() for each in (one, one.fallback) if each)


def effects(
    clouds: Sequence[PredictedCloud], asked: Sequence[MatrixRow], facts: Facts
) -> tuple[Effect, ...]:
    """Return what becomes of each flavor, with no image and with each of the images.

    :param clouds: now first, then after each stage
    :param asked: what is asked for in them
    :param facts: of all of :func:`queries`, as they are now
    """
    by_uuid = facts.snapshot.by_uuid
    changed = frozenset(
        by_uuid[u].root for w in clouds for u in (*w.changes, *w.joined)
    )
    memory: dict[_Key, frozenset[str]] = {}
    matching_hosts = [
        _MatchingHosts(facts, w.seen(facts), changed, memory) for w in clouds
    ]
    one_by_one = [
        number
        for number, (before, after) in enumerate(zip(clouds, clouds[1:]))
        if (before.changes, before.joined) != (after.changes, after.joined)
    ]
    found = []
    for row in asked:
        hosts = tuple(
            there.of(request) if request else frozenset[str]()
            for there, request in zip(matching_hosts, row.requests)
        )
        between = tuple(hosts[number] & hosts[number + 1] for number in one_by_one)
        found.append(Effect(row.flavor, row.image, hosts, between))
    return tuple(found)


def _pairs(cloud: PredictedCloud) -> Iterator[tuple[Body, Body]]:
    return itertools.product(cloud.flavors, cloud.images)


class _Builder:
    """Makes requests; what did not change from cloud to cloud is made once."""

    def __init__(self, assumptions: SchedulerSettings) -> None:
        self._assumptions = assumptions
        self._made: dict[tuple[int, ...], Request | None] = {}

    def request(
        self, cloud: PredictedCloud, flavor: Body, image: Body
    ) -> Request | None:
        """Return what Nova asks Placement; None where one of them refuses."""
        # The clouds keep the bodies, so that nothing else gets their numbers.
        key = (id(flavor), id(image), id(cloud.aggregates))
        if key not in self._made:
            self._made[key] = self._build(cloud, flavor, image)
        request = self._made[key]
        both = (request, request.fallback) if request else ()
        is_taken = all(_is_taken(query, cloud) for query in both if query)
        return request if is_taken else None

    def _build(
        self, cloud: PredictedCloud, flavor: Body, image: Body
    ) -> Request | None:
        question = Question(flavor, image, cloud.aggregates, self._assumptions)
        try:
            return question.request()
        except errors.Refusal:
            return None


def _is_taken(request: Request, cloud: PredictedCloud) -> bool:
    """Tell whether Placement takes such a query at all.

    placement/lib.py, ``RequestGroup.dict_from_request``, and
    placement/handlers/allocation_candidate.py, ``list_allocation_candidates``.
    """
    both = {False: set[tuple[object, str]](), True: set[tuple[object, str]]()}
    for clause in request.clauses:
        if isinstance(clause, Resource):
            if clause.resource_class not in cloud.state.classes:
                return False
        elif isinstance(clause, (Trait, RootTrait)):
            if clause.name not in cloud.traits:
                return False
            group = clause.group if isinstance(clause, Trait) else None
            both[clause.forbidden].add((group, clause.name))
    groups = request.groups
    suffixed = [group for group in groups if group]
    return (
        bool(groups)
        and all(request.resources(group) for group in groups)
        and not both[False] & both[True]
        and (request.group_policy is not None or len(suffixed) < 2)
    )


def _key(request: Request) -> _Key:
    fallback = request.fallback
    return request.query(), fallback.query() if fallback else ""


class _MatchingHosts:
    """The hosts that match requests in one predicted cloud.

    :param facts: as they were read
    :param seen: as they are in this cloud
    :param changed: UUIDs of the roots in whose trees they can differ
    :param memory: what was found out by the facts as read, for all clouds
    """

    def __init__(
        self,
        facts: Facts,
        seen: Facts,
        changed: frozenset[str],
        memory: dict[_Key, frozenset[str]],
    ) -> None:
        self._facts = _with_unions(facts)
        self._seen = _with_unions(seen)
        self._changed = [h for h in facts.snapshot.hosts if h.uuid in changed]
        self._memory = memory
        self._here: dict[_Key, frozenset[str]] = {}

    def of(self, request: Request) -> frozenset[str]:
        """Return the roots of the hosts that take a request."""
        key = _key(request)
        if key not in self._here:
            judged = request.forbidding_at_once()
            if key not in self._memory:
                self._memory[key] = frozenset(
                    matcher.matching_hosts(judged, self._facts)
                )
            others = self._memory[key].difference(h.uuid for h in self._changed)
            again = matcher.matching_hosts(judged, self._seen, self._changed)
            self._here[key] = others | again
        return self._here[key]


class _Unions(dict[frozenset[str], frozenset[str]]):
    """The members of sets of aggregates; of sets that were not read, by their parts."""

    def __missing__(self, aggregates: frozenset[str]) -> frozenset[str]:
        parts = (self[frozenset({each})] for each in aggregates)
        self[aggregates] = frozenset[str]().union(*parts)
        return self[aggregates]


def _with_unions(facts: Facts) -> Facts:
    return dataclasses.replace(facts, members=_Unions(facts.members))
