"""How many more servers of each flavor fit: now, without some hosts, with more."""

from __future__ import annotations

import dataclasses
import fnmatch
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from osc_traitsched.app import drain
from osc_traitsched.app.judging import FlavorScope, by_flavor
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import allocation_candidates, lookup, read
from osc_traitsched.cloud.allocation_candidates import MOST_READ_ONE_BY_ONE
from osc_traitsched.cloud.service import Cloud, RememberedCloud
from osc_traitsched.core.answer import Answer
from osc_traitsched.core.errors import NotForProject, NothingMatches
from osc_traitsched.core.inventory import snapshot as inventory_snapshot
from osc_traitsched.core.inventory.snapshot import (
    Compute,
    Nova,
    Selectors,
    Snapshot,
)
from osc_traitsched.core.judge import capacity as core
from osc_traitsched.core.judge import reasons
from osc_traitsched.core.judge.capacity import FlavorCounter, FlavorFit, Free, HostFit
from osc_traitsched.core.judge.judgement import Judgement, RefusedRequest, RequestResult
from osc_traitsched.core.nova.filter import table
from osc_traitsched.core.nova.filter.compute import needs_claim
from osc_traitsched.core.nova.filter.state import HostState, host_states
from osc_traitsched.core.nova.question import Body, ServerSpec
from osc_traitsched.core.placement.facts import Facts, Room, sizes
from osc_traitsched.core.servers.drain import Drain, Simulation
from osc_traitsched.core.servers.usage import (
    Capacity,
    CapacityQuery,
    Loss,
    Losses,
)
from osc_traitsched.text import by_key, near_names

#: So many servers of a flavor are tried on a host, if NUMA cells or devices decide.
_MOST_CLAIMED = 1000


def compared(
    cloud: Cloud,
    spec: ServerSpec,
    sources: SettingsSources,
    then: SettingsSources,
    query: CapacityQuery,
    changed: Cloud | None = None,
) -> Capacity:
    """As :func:`capacity`, with other settings for ``after``, on the same reading.

    :param changed: for ``after``, if it differs
    """
    cloud = RememberedCloud(cloud)
    now = capacity(cloud, spec, sources, query)
    return now.compared(capacity(changed or cloud, spec, then, query))


def capacity(
    cloud: Cloud,
    spec: ServerSpec,
    sources: SettingsSources,
    query: CapacityQuery,
) -> Capacity:
    """Count what fits on one reading of the cloud.

    Requests: those of :func:`by_flavor`, up to two for each of 25 full hosts, one for
    each of 25 kinds of providers with units too small, and two for each sharing
    provider. To take hosts away costs those of a drain.

    :raises NothingMatches: for an unknown flavor, image, host, aggregate or zone
    :raises Refusal: for an availability zone, or settings that Nova does not start with
    """
    found = by_flavor(
        cloud,
        spec,
        sources,
        FlavorScope(
            lambda every: _wanted(cloud, every, spec, query),
            all_enabled=query.all_enabled,
            most=_MOST_CLAIMED,
        ),
    )
    judged = [each for each in found if isinstance(each, Judgement)]
    rejected = tuple(each for each in found if isinstance(each, RefusedRequest))
    if not judged:
        return Capacity(query, (), rejected)
    facts, snapshot = _facts(cloud, judged[0].facts, query)
    facts = _with_units(cloud, facts)
    removed = _roots(query.without, snapshot)
    plan = _plan(cloud, sources, snapshot, removed)
    count = _Count(judged[0], facts, snapshot, query, removed, plan)
    if query.host:
        root = inventory_snapshot.only_host(query.host, snapshot).uuid
        fits = tuple(count.on_host(root, each) for each in judged)
        return Capacity(query, fits, rejected, facts=facts)
    flavors = tuple(map(count.flavor, judged))
    return Capacity(
        query,
        flavors,
        rejected,
        reasons.stranded(flavors, facts, count.free),
        snapshot.names_of(removed),
        plan,
        sum(host.uuid not in facts.stock for host in snapshot.hosts),
        dataclasses.replace(facts, snapshot=snapshot),
    )


def judged(
    cloud: Cloud, spec: ServerSpec, sources: SettingsSources, name: str
) -> RequestResult:
    """Which hosts have room for a flavor, on a reading of its own.

    :raises NothingMatches: for an unknown flavor
    :raises NotForProject: for a flavor that the named project may not use
    """
    scope = FlavorScope(lambda every: [lookup.flavor_among(cloud, every, name)])
    for found in by_flavor(cloud, spec, sources, scope):
        return found
    raise NotForProject("flavor", name)


def lose(
    cloud: Cloud, spec: ServerSpec, sources: SettingsSources, query: CapacityQuery
) -> Losses:
    """What would become of servers and flavors if a host, zone or aggregate were lost.

    Each is lost alone. The cloud is read once. Requests: those of :func:`capacity` and
    of a drain of all these hosts.

    :raises NothingMatches, Refusal: as :func:`capacity`
    """
    cloud = RememberedCloud(cloud)
    nova = Nova(lookup.computes(cloud), read.aggregates(cloud.compute))
    lost = _lost(nova.with_zones(read.zones_shown(cloud.compute)), query.lose)
    now = capacity(cloud, spec, sources, query)
    plans = drain.plans(cloud, list(lost.values()), sources)
    judged = (fit.judgement for fit in now.flavors)
    first = next((each for each in judged if isinstance(each, Judgement)), None)
    states = _states(first) if first else ()
    found = (
        Loss(kind, name, plan, tuple(_filled(now, plan, states)))
        for (kind, name), plan in zip(lost, plans)
    )
    answers = list(Answer)

    def rank(loss: Loss) -> tuple[int, int, int, str]:
        bad = answers.index(loss.drain.answer)
        return -bad, -loss.stay.most, -len(loss.full), loss.name

    return Losses(now, tuple(sorted(found, key=rank)))


def _lost(
    nova: Nova, names: Iterable[str]
) -> Mapping[tuple[str, str], Mapping[str, Sequence[Compute]]]:
    """Compute nodes by service host, of each kind and name.

    A name that a host has is no zone, and that of a zone no aggregate.
    """
    nodes = nova.by_service_host
    zones = by_key((zone, e.service_host) for e in nova.computes for zone in e.zones)
    members = {each.name: nodes.keys() & each.hosts for each in nova.aggregates}
    every: Mapping[str, Mapping[str, Collection[str]]] = {
        "host": {host: (host,) for host in nodes},
        "zone": zones,
        "aggregate": {name: hosts for name, hosts in members.items() if hosts},
    }
    hosts_of = {node.node: node.service_host for node in nova.computes}
    found = {}
    for text in names:
        for kind, groups in every.items():
            is_any, name = text == f"any-{kind}", hosts_of.get(text, text)
            chosen = groups if is_any else fnmatch.filter(groups, name)
            for group in sorted(chosen):
                hosts = sorted(groups[group])
                found[kind, group] = {host: nodes[host] for host in hosts}
            if chosen:
                break
        else:
            known = {*hosts_of, *itertools.chain(*every.values())}
            what = "host, zone or aggregate"
            raise NothingMatches(what, text, near_names(text, known))
    return found


def _filled(now: Capacity, plan: Drain, states: Sequence[HostState]) -> Iterator[str]:
    """Flavors with room that have none once the servers of lost hosts have moved."""
    facts, lost = now.facts, {node.uuid for node in plan.nodes}
    if facts is None:
        return
    free = _after(plan, core.free_now(facts))
    used = {step.to.uuid for step in plan.steps}
    for fit in now.flavors:
        left = fit.hosts.keys() - lost
        if isinstance(fit.judgement, Judgement) and fit.hosts and left <= used:
            counter = FlavorCounter(fit.judgement, facts, _caps(fit.judgement, states))
            if not counter.hosts(free, left):
                yield fit.name


def _wanted(
    cloud: Cloud, flavors: Sequence[Body], spec: ServerSpec, query: CapacityQuery
) -> Iterable[Body]:
    if query.flavors:
        matching = (_matching(cloud, flavors, name) for name in query.flavors)
        bodies = itertools.chain.from_iterable(matching)
        return {each["id"]: each for each in bodies}.values()
    is_every = query.with_private or spec.project is not None
    key = "os-flavor-access:is_public"
    return [each for each in flavors if is_every or each.get(key, True)] or flavors


def _matching(cloud: Cloud, flavors: Sequence[Body], name: str) -> Sequence[Body]:
    """The flavor with this ID or name, or those that a glob matches."""
    globbed = [each for each in flavors if fnmatch.fnmatchcase(each["name"], name)]
    exact = (name in (each["id"], each["name"]) for each in flavors)
    is_glob = globbed and not any(exact)
    return globbed if is_glob else [lookup.flavor_among(cloud, flavors, name)]


def _facts(cloud: Cloud, facts: Facts, query: CapacityQuery) -> tuple[Facts, Snapshot]:
    """With figures of full hosts, too, and providers with the hosts' zones."""
    snapshot = facts.snapshot
    lacking = [host for host in snapshot.hosts if host.uuid not in facts.stock]
    facts = allocation_candidates.with_figures(cloud.placement, facts, lacking)
    facts = allocation_candidates.with_pools(cloud.placement, facts)
    liked = _roots(Selectors(hosts=tuple(query.added)), snapshot)
    if liked:
        hosts = [snapshot.by_uuid[root] for root in sorted(liked)]
        facts = allocation_candidates.with_inventories(cloud.placement, facts, hosts)
    nova = snapshot.nova
    if query.by == "zone" or query.without.zones:
        nova = nova.with_zones(read.zones_shown(cloud.compute))
    return facts, dataclasses.replace(snapshot, nova=nova)


def _with_units(cloud: Cloud, facts: Facts) -> Facts:
    """With units of providers that could give an amount, if units allowed it."""
    kinds: dict[object, dict[str, None]] = {}
    for (name, wanted), givers in facts.offers.items():
        roots = [] if givers else [host.uuid for host in facts.snapshot.hosts]
        for uuid in itertools.chain.from_iterable(map(facts.reachable, roots)):
            own = facts.stock.get(uuid, {}).get(name)
            if own and own.max_unit is None and own.capacity >= wanted:
                kinds.setdefault(sizes(facts.stock[uuid]), {})[uuid] = None
    first = map(list, itertools.islice(kinds.values(), MOST_READ_ONE_BY_ONE))
    read = allocation_candidates.like_first(cloud.placement, facts.stock, first)
    return dataclasses.replace(facts, stock={**facts.stock, **read})


def _roots(selectors: Selectors, snapshot: Snapshot) -> frozenset[str]:
    if not selectors.names_any:
        return frozenset()
    chosen = inventory_snapshot.select(selectors, snapshot).providers
    return frozenset(each.root for each in chosen)


def _plan(
    cloud: Cloud, sources: SettingsSources, snapshot: Snapshot, roots: Collection[str]
) -> Drain | None:
    nova = snapshot.nova
    hosts = {each.service_host for each in nova.computes if each.uuid in roots}
    return drain.plan(cloud, sorted(hosts), sources) if hosts else None


def _after(plan: Drain, free: Free) -> Free:
    amounts = {(uuid, name): n for uuid, own in free.items() for name, n in own.items()}
    state = Simulation({}, amounts)
    for step in plan.steps:
        request = step.server_move.move_request
        claim = request and state.allocation(request, step.to.uuid)
        for use in claim or ():
            state.free[use.provider, use.resource_class] -= use.amount
    return {
        uuid: {name: state.free[uuid, name] for name in own}
        for uuid, own in free.items()
    }


def _groups(by: str | None, snapshot: Snapshot) -> Mapping[str, frozenset[str]]:
    nova = snapshot.nova
    if by == "host":
        return {host.name: frozenset({host.uuid}) for host in snapshot.hosts}
    found: dict[str, set[str]] = {}
    if by == "zone":
        for compute in nova.computes:
            for zone in compute.zones:
                found.setdefault(zone, set()).add(compute.uuid)
    if by == "aggregate":
        for aggregate in nova.aggregates:
            nodes = {node.uuid for node in nova.nodes(aggregate)}
            found.setdefault(aggregate.name, set()).update(nodes)
    return {name: frozenset(found[name]) for name in sorted(found)}


class _Count:
    def __init__(
        self,
        first: Judgement,
        facts: Facts,
        snapshot: Snapshot,
        query: CapacityQuery,
        removed: Collection[str],
        plan: Drain | None,
    ) -> None:
        self._facts, self._removed, self._query = facts, removed, query
        self.free = core.free_now(facts)
        self._free_after = _after(plan, self.free) if plan else self.free
        self._empty = core.free_if_empty(facts)
        self._groups = _groups(query.by, snapshot)
        self._states = _states(first)
        reports = ((e.compute.uuid, e.compute.report) for e in self._states)
        self._busy = {uuid for uuid, e in reports if e is None or e.running_vms}
        steps = plan.steps if plan else ()
        moved = [(each.to.uuid, each.server_move.question) for each in steps]
        self._joined = {to for to, asked in moved if needs_claim(asked.request_spec())}
        self._counted: dict[int, FlavorFit] = {}
        self._like = {
            name: _one(name, _roots(Selectors(hosts=(name,)), facts.snapshot), facts)
            for name in query.added
        }

    def flavor(self, found: Judgement) -> FlavorFit:
        """Flavors that are judged alike are counted once."""
        key = id(found.verdict)
        if key not in self._counted:
            self._counted[key] = self._fit(found)
        return dataclasses.replace(self._counted[key], judgement=found)

    def on_host(self, root: str, found: Judgement) -> FlavorFit:
        """How many servers fit on one host."""
        counter = FlavorCounter(found, self._facts, _caps(found, self._states))
        hosts = counter.hosts(self.free, found.candidates.uuids & {root})
        return FlavorFit(found, hosts, counter.room(hosts, self.free))

    def _fit(self, found: Judgement) -> FlavorFit:
        caps = _caps(found, self._states)
        counter = FlavorCounter(found, self._facts, caps)
        hosts = counter.hosts(self.free, (host.uuid for host in found.candidates))
        suited = core.suited(found)
        spec, settings = found.question.request_spec(), found.question.assumptions
        limits = table.servers_if_empty(self._states, spec, settings)
        emptied = FlavorCounter(found, self._facts, limits)
        empty = emptied.hosts(self._empty, suited, is_sure=False, is_offered=False)
        bits = found.facts.snapshot.bits
        holding = (e for e in suited if self._could_hold(e, hosts, empty))
        sized = bits.kept(bits.once(holding))
        groups = {
            name: self._in_group(counter, hosts, sized, roots)
            for name, roots in self._groups.items()
        }
        fit = FlavorFit(
            found,
            hosts,
            counter.room(hosts, self.free),
            emptied.room(empty, self._empty),
            counter.kept_away(self.free),
            never=None if hosts else counter.never(suited),
            groups={
                name: each
                for name, each in groups.items()
                if each[0] or self._query.by != "host"
            },
            suited=sized,
        )
        if not hosts:
            free = counter.largest_free(fit.limit, self.free)
            fit = dataclasses.replace(fit, largest_free=free)
        if not self._removed and not self._query.added:
            return fit
        unsure = found.unsure_roots
        if _is_claimed(found):
            # What fits beside servers that move is not asked.
            unsure |= self._busy
            caps = {u: (0 if u in self._joined else n, m) for u, (n, m) in caps.items()}
            counter = FlavorCounter(found, self._facts, caps)
        after = self._changed(counter, found, empty, unsure)
        return dataclasses.replace(fit, after=after)

    def _could_hold(self, root: str, *fits: Mapping[str, HostFit]) -> bool:
        return root not in self._facts.stock or any(root in each for each in fits)

    def _in_group(
        self,
        counter: FlavorCounter,
        hosts: Mapping[str, HostFit],
        suited: frozenset[str],
        roots: frozenset[str],
    ) -> tuple[int, Room, int]:
        inside = {root: hosts[root] for root in roots if root in hosts}
        return len(inside), counter.room(inside, self.free), len(suited & roots)

    def _changed(
        self,
        counter: FlavorCounter,
        found: Judgement,
        empty: Mapping[str, HostFit],
        unsure: Collection[str],
    ) -> Room:
        left = (h.uuid for h in found.candidates if h.uuid not in self._removed)
        room = counter.room(counter.hosts(self._free_after, left), self._free_after)
        for name, root in self._like.items():
            if root in empty:
                number, more = self._query.added[name], empty[root].room
                least = (
                    0 if root in unsure or found.open.may_be_rejected else more.least
                )
                room = Room(room.least + number * least, room.most + number * more.most)
        return room


def _is_claimed(found: Judgement) -> bool:
    """Whether Nova says how many servers fit."""
    question = found.question
    is_asked = question.assumptions.claims is not None
    return is_asked and needs_claim(question.request_spec())


def _states(found: Judgement) -> tuple[HostState, ...]:
    return host_states(found.computes.values(), found.question.aggregates)


def _caps(
    found: Judgement, states: Iterable[HostState]
) -> Mapping[str, tuple[int | None, int | None]]:
    question = found.question
    return table.servers_left(states, question.request_spec(), question.assumptions)


def _one(name: str, roots: Collection[str], facts: Facts) -> str:
    """Raise NothingMatches if a pattern matches several."""
    if len(roots) != 1:
        names = {host.name for host in facts.snapshot.hosts}
        raise NothingMatches("single host", name, near_names(name, names))
    (root,) = roots
    return root
