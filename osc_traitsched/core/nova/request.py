"""Nova's request to Placement for one server, and Nova's refusals."""

from __future__ import annotations

import dataclasses
import functools
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Aggregate, Compute
from osc_traitsched.core.nova.clause import Clause, MemberOf, Resource, RootTrait, Trait
from osc_traitsched.core.nova.server import NotEvaluated
from osc_traitsched.text import near_names

# Nova's request to Placement for one server.


@dataclasses.dataclass(frozen=True)
class Request:
    """Nova's request to Placement for one server.

    :ivar clauses: in Nova's order: of the prefilters, then of flavor and image
    :ivar group_policy: ``none``, ``isolate``, or None if not set
    :ivar limit: maximum number of candidates
    :ivar in_tree: UUID of the only root to search; None for all
    :ivar fallback: Nova's second query for a pinned server, whose candidates count as
        well
    :ivar same_subtree: suffixes of groups whose providers must be one of them and its
        descendants
    :ivar not_evaluated: missing data behind the query, and input that Nova drops
        without an error
    """

    clauses: tuple[Clause, ...]
    group_policy: str | None
    limit: int | None
    microversion: str
    fallback: Request | None = None
    not_evaluated: tuple[NotEvaluated, ...] = ()
    in_tree: str | None = None
    same_subtree: tuple[tuple[str, ...], ...] = ()

    @property
    def groups(self) -> tuple[str, ...]:
        """Suffixes of its groups, each once; empty for the unsuffixed group."""
        suffixes = (_group(clause) for clause in self.clauses)
        return tuple(dict.fromkeys(s for s in suffixes if s is not None))

    def resources(self, group: str = "") -> Mapping[str, int]:
        """Amounts of a group, by resource class."""
        return {
            clause.resource_class: clause.amount
            for clause in self.clauses
            if isinstance(clause, Resource) and clause.group == group
        }

    @property
    def groups_without_amounts(self) -> tuple[str, ...]:
        """The groups without an amount; the unsuffixed one if no group has any.

        Placement rejects such a request (placement/lib.py, ``_check_for_orphans`` and
        ``_check_for_one_resources``).
        """
        groups = self.groups or ("",)
        return tuple(group for group in groups if not self.resources(group))

    @property
    def lacks_group_policy(self) -> bool:
        """Whether several groups lack a policy for sharing providers.

        Placement rejects that (placement/handlers/allocation_candidate.py,
        ``list_allocation_candidates``). Nova adds a policy only if ports or devices add
        the second group (nova/scheduler/utils.py, ``resources_from_request_spec``).
        """
        return self.group_policy is None and len(set(self.groups) - {""}) > 1

    @property
    def is_malformed(self) -> bool:
        """Whether Placement rejects it, whatever hosts there are."""
        return self.lacks_group_policy or bool(self.groups_without_amounts)

    def query(self) -> str:
        """The query string, each byte as Nova sends it.

        nova/scheduler/utils.py, ``ResourceRequest.to_querystring``
        """
        return self._query

    @functools.cached_property
    def _query(self) -> str:
        return urllib.parse.urlencode(sorted(self._parameters()))

    def without_limit(self) -> Request:
        """The request for a server in a group, or with hints that name servers.

        nova/scheduler/utils.py, ``resources_from_request_spec``
        """
        second = self.fallback and self.fallback.without_limit()
        return dataclasses.replace(self, limit=None, fallback=second)

    def forbidding_at_once(self, but: Request | None = None) -> Request:
        """The request with one clause, faster to match, for all forbidden aggregates.

        :param but: a request whose clauses are not joined
        """
        apart = but.clauses if but else ()
        joined: list[MemberOf] = []
        others: list[Clause] = []
        for clause in self.clauses:
            is_kept = clause in apart
            if isinstance(clause, MemberOf) and clause.forbidden and not is_kept:
                joined.append(clause)
            else:
                others.append(clause)
        if not joined:
            return self
        union = MemberOf(
            frozenset[str]().union(*(clause.aggregates for clause in joined)),
            forbidden=True,
            origins=tuple(origin for clause in joined for origin in clause.origins),
        )
        fallback = self.fallback and self.fallback.forbidding_at_once(but)
        return dataclasses.replace(self, clauses=(*others, union), fallback=fallback)

    def _parameters(self) -> Iterator[tuple[str, str]]:
        if self.limit is not None:
            yield "limit", str(self.limit)
        if self.group_policy:
            yield "group_policy", self.group_policy
        if self.in_tree:
            yield "in_tree", self.in_tree
        for suffixes in self.same_subtree:
            yield "same_subtree", ",".join(sorted(suffixes))
        roots = [clause for clause in self.clauses if isinstance(clause, RootTrait)]
        if roots:
            yield "root_required", _traits(roots)
        for group in self.groups:
            amounts = [f"{name}:{n}" for name, n in self.resources(group).items()]
            # A group without amounts is sent too; Placement rejects it.
            yield f"resources{group}", ",".join(sorted(amounts))
            traits = [
                clause
                for clause in self.clauses
                if isinstance(clause, Trait) and clause.group == group
            ]
            if traits:
                yield f"required{group}", _traits(traits)
        yield from self._aggregates()

    def _aggregates(self) -> Iterator[tuple[str, str]]:
        memberships = [
            clause for clause in self.clauses if isinstance(clause, MemberOf)
        ]
        for clause in memberships:
            if not clause.forbidden:
                named = sorted((*clause.aggregates, *clause.repeated))
                yield "member_of", "in:" + ",".join(named)
        forbidden = {u for c in memberships if c.forbidden for u in c.aggregates}
        if forbidden:
            yield "member_of", "!in:" + ",".join(sorted(forbidden))


def _group(clause: Clause) -> str | None:
    if isinstance(clause, RootTrait):
        return None
    return "" if isinstance(clause, MemberOf) else clause.group


def _traits(clauses: Iterable[Trait | RootTrait]) -> str:
    ordered = sorted(clauses, key=lambda clause: (clause.forbidden, clause.name))
    return ",".join(f"{'!' * clause.forbidden}{clause.name}" for clause in ordered)


# The host that an administrator names, in the availability zone or beside it.


#: Zone of hosts outside all zones' aggregates (default of
#: [DEFAULT]default_availability_zone). It matters only if an aggregate has this zone,
#: which is a mistake.
_DEFAULT_ZONE = "nova"
#: The first release that replaces the requested zone by a named host's own.
_HOSTS_ZONE_SINCE = 23


@dataclasses.dataclass(frozen=True)
class Destination:
    """A parsed ``ZONE``, ``ZONE:HOST``, ``ZONE:HOST:NODE`` or ``ZONE::NODE``.

    Or ``host`` and ``hypervisor_hostname`` of ``POST /servers``, beside a zone.

    :ivar host: a service host, maybe empty; None if none is named
    :ivar is_forced: named in the zone, so that no host filter runs
    """

    zone: str
    host: str | None = None
    node: str | None = None
    is_forced: bool = True

    @property
    def is_named(self) -> bool:
        """Whether a host or a node is named."""
        return bool(self.host or self.node)

    @property
    def checked_zone(self) -> str | None:
        """The zone that nova-api checks; None if it checks none.

        It drops the zone of a node without a host (nova/compute/api.py, ``create``).
        """
        if not self.is_forced:
            return self.zone
        return self.zone if self.host is None and not self.node else None

    def zone_of(self, aggregates: Iterable[Aggregate], release: int) -> str:
        """The zone of the request; empty for any.

        If a forced host is in another zone, no zone is requested. A host outside all
        zones' aggregates is in the default zone. Until 22 the requested zone stays
        (nova/api/openstack/compute/servers.py, ``_validate_host_availability_zone``).
        """
        stays = release < _HOSTS_ZONE_SINCE or not self.is_forced
        if not self.is_named or stays:
            return self.zone
        own = (each.zone for each in aggregates if self.host in each.hosts)
        zone = next(filter(None, own), None)
        is_default = zone is None and self.zone == _DEFAULT_ZONE
        return self.zone if is_default or self.zone == zone else ""

    def nodes(self, computes: Iterable[Compute]) -> tuple[Compute, ...]:
        """The named compute nodes; an Ironic host can have many."""
        return tuple(
            each
            for each in computes
            if (not self.host or each.service_host == self.host)
            and (not self.node or each.node == self.node)
        )


def read(
    availability_zone: str | None,
    default_zone: str,
    on_host: str | None = None,
    on_node: str | None = None,
) -> Destination:
    """Parse the user's availability zone.

    nova/compute/api.py, ``parse_availability_zone``;
    nova/api/openstack/compute/servers.py, ``_process_hosts_for_create``

    :param default_zone: used if the user names no zone; a colon in it has no meaning
    :raises Refusal: for more than two colons, or a host named twice
    """
    zone, *named = (availability_zone or "").split(":")
    if len(named) > 2:
        raise Refusal("InvalidInput", "more-than-two-colons", ("availability_zone",))
    host, node = (*named, None, None)[:2]
    if len(named) == 2 and not host:
        host = None
    if not on_host and not on_node:
        return Destination(zone or default_zone, host, node)
    if host or node:
        keys = ("availability_zone", "host" if on_host else "hypervisor_hostname")
        raise Refusal("HTTPBadRequest", "host-named-twice", keys)
    return Destination(zone or default_zone, on_host, on_node, is_forced=False)


def check(destination: Destination, computes: Iterable[Compute]) -> None:
    """Reject an unknown host, unless forced (``_validate_host_or_node``)."""
    computes = tuple(computes)
    if destination.is_forced or destination.nodes(computes):
        return
    raise _no_such_host("ComputeHostNotFound", destination, computes)


def restricted(
    request: Request, destination: Destination, computes: Sequence[Compute]
) -> Request:
    """The request limited to the named host; raises Refusal for an unknown one.

    For several nodes Placement is asked for all hosts, and Nova picks the named ones
    (nova/scheduler/utils.py, ``resources_from_request_spec``).
    """
    nodes = destination.nodes(computes)
    if not nodes:
        raise _no_such_host("NoValidHost", destination, computes)
    only = nodes[0].uuid if len(nodes) == 1 else None
    fallback = request.fallback and _in_tree(request.fallback, only)
    return dataclasses.replace(_in_tree(request, only), fallback=fallback)


def _in_tree(request: Request, only: str | None) -> Request:
    limit = request.limit if only else None
    return dataclasses.replace(request, in_tree=only, limit=limit)


def _no_such_host(
    exception: str, destination: Destination, computes: Iterable[Compute]
) -> Refusal:
    host, node = destination.host, destination.node
    known = {each.service_host if host else each.node for each in computes}
    named = {"host": host, "node": node}
    return Refusal(
        exception,
        "no-such-host",
        tuple(f"{kind}: {name}" for kind, name in named.items() if name),
        nearest=near_names(host or node or "", known),
    )
