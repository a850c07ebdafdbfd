"""What a server asks for: the request that Nova would make of it."""

from __future__ import annotations

import dataclasses
import functools
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.names import near_names
from osc_traitsched.core.nova.clause import Clause, MemberOf, Resource, RootTrait, Trait
from osc_traitsched.core.nova.server.server import NotEvaluated

# The request: what Nova asks Placement for one server.


@dataclasses.dataclass(frozen=True)
class Request:
    """What Nova asks Placement for one server.

    :ivar clauses: in the order in which Nova comes to them: those of the
        prefilters, then those of the flavor and the image
    :ivar group_policy: ``none``, ``isolate``, or None if nothing is said
    :ivar limit: at most so many candidates
    :ivar microversion: of the Placement API, as Nova sends it
    :ivar in_tree: UUID of the root that alone is asked for; None for all
    :ivar fallback: the second query that Nova sends for a pinned server, whose
        candidates count as well; None if it sends one query only
    :ivar same_subtree: suffixes of groups whose providers must be one of them and its
        descendants
    :ivar not_evaluated: what the query depends on and was not given, and what Nova read
        and left out without a word
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
        """The suffixes of its groups, each once; empty for the unsuffixed one."""
        suffixes = (_group(clause) for clause in self.clauses)
        return tuple(dict.fromkeys(s for s in suffixes if s is not None))

    def resources(self, group: str = "") -> Mapping[str, int]:
        """Return the amount of each resource class that a group asks for."""
        return {
            clause.resource_class: clause.amount
            for clause in self.clauses
            if isinstance(clause, Resource) and clause.group == group
        }

    @property
    def groups_without_amounts(self) -> tuple[str, ...]:
        """The groups that ask for no amount; the unsuffixed one where none does.

        Placement refuses a request with any (placement/lib.py,
        ``_check_for_orphans`` and ``_check_for_one_resources``).
        """
        groups = self.groups or ("",)
        return tuple(group for group in groups if not self.resources(group))

    @property
    def lacks_group_policy(self) -> bool:
        """Whether it says nothing of how its groups may share providers, and must.

        Placement refuses it (placement/handlers/allocation_candidate.py,
        ``list_allocation_candidates``). Nova helps out only where ports or devices
        bring the second group (nova/scheduler/utils.py,
        ``resources_from_request_spec``).
        """
        return self.group_policy is None and len(set(self.groups) - {""}) > 1

    def query(self) -> str:
        """Return the query string, each byte as Nova sends it.

        nova/scheduler/utils.py, ``ResourceRequest.to_querystring``.
        """
        return self._query

    @functools.cached_property
    def _query(self) -> str:
        return urllib.parse.urlencode(sorted(self._parameters()))

    def without_limit(self) -> Request:
        """Return the request of a server whose hints name other servers, or a group.

        nova/scheduler/utils.py, ``resources_from_request_spec``
        """
        second = self.fallback and self.fallback.without_limit()
        return dataclasses.replace(self, limit=None, fallback=second)

    def forbidding_at_once(self, but: Request | None = None) -> Request:
        """Return the request with one clause for all the aggregates that it forbids.

        The same hosts match, and it takes less to find them: each of many isolated
        aggregates is a clause of its own in nearly every request.

        :param but: the clauses that this request has as well stay as they are
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
            # A group of traits alone is sent too; Placement then refuses it.
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
    """Return the suffix of the group that a clause is of; None for the root's."""
    if isinstance(clause, RootTrait):
        return None
    return "" if isinstance(clause, MemberOf) else clause.group


def _traits(clauses: Iterable[Trait | RootTrait]) -> str:
    """Return required traits, then forbidden ones, each in the order of their names."""
    ordered = sorted(clauses, key=lambda clause: (clause.forbidden, clause.name))
    return ",".join(f"{'!' * clause.forbidden}{clause.name}" for clause in ordered)


# The host that an administrator names, with the availability zone or apart from it.


#: Of hosts in no zone's aggregate ([DEFAULT]default_availability_zone, where nobody
#: set it). It matters where an aggregate has this zone, which it should not.
_DEFAULT_ZONE = "nova"
#: The first release that puts a named host's own zone in the place of another.
_HOSTS_ZONE_SINCE = 23


@dataclasses.dataclass(frozen=True)
class Destination:
    """What ``ZONE``, ``ZONE:HOST``, ``ZONE:HOST:NODE`` or ``ZONE::NODE`` says.

    Or what ``host`` and ``hypervisor_hostname`` of ``POST /servers`` say beside a zone.

    :ivar host: a service host; None if none is named, and maybe empty
    :ivar node: the name of a hypervisor
    :ivar is_forced: it is named with the zone, and no host filter runs
    """

    zone: str
    host: str | None = None
    node: str | None = None
    is_forced: bool = True

    @property
    def is_named(self) -> bool:
        """Whether a host or a node is named, and so no other can be chosen."""
        return bool(self.host or self.node)

    @property
    def checked_zone(self) -> str | None:
        """The zone that nova-api wants to be there; None if it does not look.

        nova/compute/api.py, ``create``; nova-api has dropped the zone of a node that
        is named without its host.
        """
        if not self.is_forced:
            return self.zone
        return self.zone if self.host is None and not self.node else None

    def zone_of(self, aggregates: Iterable[Mapping[str, object]], release: int) -> str:
        """Return the zone that the server is for; empty for any.

        A host's own zone counts, whatever is asked for, and then none is asked for. A
        host in no zone's aggregate is in the default zone. Until 22 the zone that is
        asked for stays
        (nova/api/openstack/compute/servers.py, ``_validate_host_availability_zone``).

        :param aggregates: the compute API's bodies
        """
        stays = release < _HOSTS_ZONE_SINCE or not self.is_forced
        if not self.is_named or stays:
            return self.zone
        own = (
            str(metadata["availability_zone"])
            for body in aggregates
            if isinstance(hosts := body.get("hosts"), Sequence) and self.host in hosts
            if isinstance(metadata := body.get("metadata"), Mapping)
            if metadata.get("availability_zone")
        )
        zone = next(own, None)
        is_default = zone is None and self.zone == _DEFAULT_ZONE
        return self.zone if is_default or self.zone == zone else ""

    def nodes(self, computes: Iterable[Compute]) -> tuple[Compute, ...]:
        """Return the compute nodes that are meant, those of Ironic may be many."""
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
    """Take apart what a user gives as the availability zone.

    nova/compute/api.py, ``parse_availability_zone``;
    nova/api/openstack/compute/servers.py, ``_process_hosts_for_create``

    :param default_zone: where none is given; a colon in it has no meaning
    :param on_host: what the user gives as ``host``
    :param on_node: what the user gives as ``hypervisor_hostname``
    :raises Refusal: for more than two colons, and for a host that is named twice
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
    """Accept only a host that nova-api finds; one that is forced it does not look for.

    nova/compute/api.py, ``_validate_host_or_node``

    :raises Refusal: for a host or a node that is not there
    """
    computes = tuple(computes)
    if destination.is_forced or destination.nodes(computes):
        return
    raise _no_such_host("ComputeHostNotFound", destination, computes)


def restricted(
    request: Request, destination: Destination, computes: Sequence[Compute]
) -> Request:
    """Return the request for the host that is named.

    Of several nodes Placement is asked for all hosts, and Nova takes those it wants
    (nova/scheduler/utils.py, ``resources_from_request_spec``).

    :param computes: all compute nodes of the cloud
    :raises Refusal: when there is no such host or node
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
