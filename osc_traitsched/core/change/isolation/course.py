"""The hosts that requests match, now and after each stage of a plan."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from osc_traitsched.core.change.isolation.matrix import MatrixRow, Text
from osc_traitsched.core.change.isolation.predicted import PredictedCloud
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova.clause import MemberOf
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.alike import matching_all
from osc_traitsched.core.placement.facts import Facts

_NO_HOSTS: frozenset[str] = frozenset()

#: The roots of the hosts that match requests, by the requests' texts.
_Matching = Mapping[Text, frozenset[str]]


@dataclasses.dataclass(frozen=True)
class Course:
    """The hosts that match what is asked for, while a plan is carried out.

    :ivar hosts: the roots of those that match it now, and after each stage
    :ivar between: for stages, by their numbers, those that match it between two writes:
        where hosts change one by one, the ones that do before their change and after it
    """

    hosts: tuple[frozenset[str], ...]
    between: tuple[tuple[int, frozenset[str]], ...] = ()

    @property
    def now(self) -> frozenset[str]:
        """The hosts that match it before anything is written."""
        return self.hosts[0]

    @property
    def then(self) -> frozenset[str]:
        """Those that match it when all is done."""
        return self.hosts[-1]

    @property
    def lost(self) -> frozenset[str]:
        """Those that match it now, and not then."""
        return self.now - self.then

    @property
    def loses_any(self) -> bool:
        """Whether there are such: of very many courses nothing else is looked at."""
        return not self.now <= self.then

    @property
    def gained(self) -> frozenset[str]:
        """Those that match it then, and not now."""
        return self.then - self.now

    @property
    def may_be_empty(self) -> bool:
        """Whether no host may match it now or after some of the steps."""
        return not (all(self.hosts) and all(hosts for _, hosts in self.between))

    @property
    def becomes_empty(self) -> bool:
        """Whether a host matches it now, and none may after some of the steps."""
        return bool(self.now) and self.may_be_empty

    def without_at_first(self, roots: frozenset[str]) -> Course:
        """Return the course as if some hosts did not match until they cease to once."""
        if self.now.isdisjoint(roots):
            return self
        hosts, left = [], [roots]
        for there in self.hosts:
            left.append(left[-1] & there)
            hosts.append(there - left[-1])
        between = tuple((n, there - left[n]) for n, there in self.between)
        return dataclasses.replace(self, hosts=tuple(hosts), between=between)

    @property
    def comes_and_goes(self) -> bool:
        """Whether none matches it now, and some may on the way, and then none again."""
        return not self.now and bool(self.before_none)

    @property
    def before_none(self) -> frozenset[str]:
        """All that match it at some time before the last at which none may."""
        if not self.may_be_empty:
            return _NO_HOSTS
        moments = list(self._moments())
        last = max(number for number, hosts in enumerate(moments) if not hosts)
        return _NO_HOSTS.union(*moments[:last])

    def _moments(self) -> Iterator[frozenset[str]]:
        """Yield the hosts that match it, in the order of time."""
        between: dict[int, list[frozenset[str]]] = {}
        for number, hosts in self.between:
            between.setdefault(number, []).append(hosts)
        for number, hosts in enumerate(self.hosts):
            yield from between.get(number, ())
            yield hosts


def courses(
    clouds: Sequence[PredictedCloud], rows: Sequence[MatrixRow], facts: Facts
) -> tuple[Course, ...]:
    """Return for each row the hosts that match it.

    :param clouds: now first, then after each stage
    :param facts: of all that the rows ask, as they are now
    """
    every = {text: request for row in rows for text, request in row.every}
    requests = {text: each.forbidding_at_once() for text, each in every.items()}
    asked = [{row.texts[number] for row in rows} for number in range(len(clouds))]
    for number, text in {each for row in rows for each in row.halfway_texts}:
        asked[number].add(text)
    stages = _stages(clouds, requests, asked, facts)
    one_by_one = _one_by_one(clouds)
    same: dict[frozenset[str], frozenset[str]] = {}
    keys = [(row.texts, row.halfway_texts) for row in rows]
    known = {
        key: _course(*key, stages, one_by_one, same) for key in dict.fromkeys(keys)
    }
    return tuple(known[key] for key in keys)


def _stages(
    clouds: Sequence[PredictedCloud],
    requests: Mapping[Text, Request],
    asked: Sequence[Set[Text]],
    facts: Facts,
) -> list[_Matching]:
    """Return the hosts in each cloud of at least the requests that are asked there.

    They are looked for again only where providers have been changed since.
    """
    read = _matching(requests, facts, facts.snapshot.hosts)
    changed = _changed(clouds, facts)
    stages: list[_Matching] = [read]
    for before, cloud, texts in zip(clouds, clouds[1:], asked[1:]):
        known = stages[-1] if before.places == cloud.places else {}
        here = {text: requests[text] for text in texts & requests.keys() - known.keys()}
        again = _matching(here, cloud.seen(facts), changed) if here else {}
        stages.append({**known, **_replaced(read, again, changed)})
    return stages


def _replaced(
    read: _Matching, again: _Matching, changed: Iterable[Provider]
) -> dict[Text, frozenset[str]]:
    """Return the hosts in one cloud: what was read, but for the hosts that change."""
    roots = frozenset(host.uuid for host in changed)
    return {
        text: read[text] if read[text] & roots == found else read[text] - roots | found
        for text, found in again.items()
    }


def _course(
    texts: Sequence[Text],
    halfway: Iterable[tuple[int, Text]],
    stages: Sequence[_Matching],
    one_by_one: Iterable[int],
    same: dict[frozenset[str], frozenset[str]],
) -> Course:
    """Return the hosts that match requests of these texts, one in each cloud.

    :param halfway: texts of others, each with the number of its cloud
    :param same: equal sets are kept once: there are as many as flavors, and of a large
        cloud each takes half a megabyte
    """
    found = (there.get(text, _NO_HOSTS) for text, there in zip(texts, stages))
    hosts = tuple(same.setdefault(each, each) for each in found)
    pairs = ((number, hosts[number - 1], hosts[number]) for number in one_by_one)
    both = ((n, one if one is other else one & other) for n, one, other in pairs)
    between = ((n, stages[n].get(text, _NO_HOSTS)) for n, text in halfway)
    rest = itertools.chain(both, between)
    return Course(hosts, tuple((n, same.setdefault(each, each)) for n, each in rest))


def _changed(clouds: Sequence[PredictedCloud], facts: Facts) -> tuple[Provider, ...]:
    """Return the hosts in whose trees the clouds differ, or in what others share."""
    by_uuid = facts.snapshot.by_uuid
    changed = {uuid for each in clouds for uuid in each.touched}
    if pools := changed & facts.shared.keys():
        seen = (cloud.seen(facts).shared for cloud in clouds)
        changed.update(*(shared[pool] for shared in seen for pool in pools))
    roots = {by_uuid[uuid].root for uuid in changed if uuid in by_uuid}
    return tuple(host for host in facts.snapshot.hosts if host.uuid in roots)


def _one_by_one(clouds: Sequence[PredictedCloud]) -> list[int]:
    """Return the numbers of the stages in which hosts change."""
    return [
        number
        for number, (before, after) in enumerate(zip(clouds, clouds[1:]), 1)
        if before.places != after.places
    ]


def _matching(
    requests: Mapping[Text, Request], facts: Facts, among: Sequence[Provider]
) -> dict[Text, frozenset[str]]:
    """Return the hosts that match each request.

    :param among: only these hosts
    """
    whole = _with_unions(facts, requests.values())
    return matching_all(requests, whole, among)


def _with_unions(facts: Facts, requests: Iterable[Request]) -> Facts:
    """Return the facts with the members of all sets of aggregates that are named.

    Those of a set that was not read are the members of its parts.
    """
    both = (each for one in requests for each in (one, one.fallback) if each)
    named = {c.aggregates for r in both for c in r.clauses if isinstance(c, MemberOf)}
    unions = {
        each: _NO_HOSTS.union(*(facts.members[frozenset({part})] for part in each))
        for each in named.difference(facts.members)
    }
    return dataclasses.replace(facts, members={**facts.members, **unions})
