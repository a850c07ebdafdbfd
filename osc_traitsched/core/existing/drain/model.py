"""What leaves a host, what it asks of another one, and the plan that comes of it."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from osc_traitsched.core.inventory.snapshot import Compute, Snapshot
from osc_traitsched.core.inventory.zones import ZONE_KEY
from osc_traitsched.core.nova.filter import judging
from osc_traitsched.core.nova.filter.answer import Passes, Unknown
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec
from osc_traitsched.core.nova.move import with_rules
from osc_traitsched.core.nova.question import Body, Question
from osc_traitsched.core.placement.facts import Taken

#: What Placement would take of one host's tree for a server.
Claim = tuple[Taken, ...]

#: What may keep a server from a host beside filters, as documents have it.
ZONE = "availability zone"


@dataclasses.dataclass(frozen=True, eq=False)
class Asked:
    """What servers ask for that are alike, and where there is room for one now.

    :ivar question: of one of them, with its move
    :ivar claims: by the UUID of the host's root, each of them enough by itself
    :ivar elsewhere: the UUIDs of the hosts of other zones than the server's own, where
        it is not known which one it was asked for with
    """

    question: Question
    claims: Mapping[str, tuple[Claim, ...]]
    elsewhere: frozenset[str] = frozenset()

    @functools.cached_property
    def spec(self) -> RequestSpec:
        """What filters and weighers are given, whichever of these servers it is.

        None is on a host yet that it may go to, so that no filter looks for it there.
        """
        return dataclasses.replace(self.question.spec(), instance_uuid=None)

    def doubts(self, hosts: Sequence[HostState]) -> dict[str, tuple[str, ...] | None]:
        """Return what may keep hosts out, by their UUIDs; None where it does for sure.

        Those are host filters, what the move demands of hosts besides, and
        :data:`ZONE`.
        """
        move, settings = self.question.move, self.question.assumptions
        judgment = judging.judge_all(hosts, self.spec, settings)
        if move is not None:
            nodes = [host.compute for host in hosts]
            judgment = with_rules(judgment, move, nodes, settings)
        uuids = [host.compute.uuid for host in hosts]
        found: dict[str, tuple[str, ...] | None] = {
            uuid: (ZONE,) if uuid in self.elsewhere else () for uuid in uuids
        }
        for name in judgment.names:
            for uuid, answer in judgment.answers[name].items():
                before = found[uuid]
                if isinstance(answer, Passes) or before is None:
                    continue
                is_unknown = isinstance(answer, Unknown)
                found[uuid] = (*before, name) if is_unknown else None
        return found

    @functools.cached_property
    def need(self) -> Mapping[str, int]:
        """The least that one of these servers takes of each resource class.

        A class that a host may give another one for is not there.
        """
        found = [amounts_of(claim) for each in self.claims.values() for claim in each]
        every = set(found[0]).intersection(*found) if found else set()
        return {name: min(each[name] for each in found) for name in sorted(every)}


def amounts_of(claim: Claim) -> Mapping[str, int]:
    """Return how much a claim takes of each resource class, of whatever provider."""
    found: dict[str, int] = {}
    for each in claim:
        found[each.resource_class] = found.get(each.resource_class, 0) + each.amount
    return found


@dataclasses.dataclass(frozen=True)
class Leaving:
    """A server that is to leave its host."""

    id: str
    name: str
    asked: Asked


@dataclasses.dataclass(frozen=True)
class Placed:
    """Where a server goes.

    :ivar root: the UUID of the host's provider
    :ivar unknown: the filters of which it can't be known whether they pass the host
    """

    server: Leaving
    root: str
    unknown: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Packing:
    """Where servers go one after the other; each takes room from the next.

    :ivar left: those for which no host was left
    """

    placed: tuple[Placed, ...]
    left: tuple[Leaving, ...] = ()

    @property
    def uncertain(self) -> int:
        """How many go to a host that a filter may keep them from."""
        return sum(bool(each.unknown) for each in self.placed)


def alike(question: Question) -> str:
    """Return what is equal for servers that ask for the same.

    Whose server it is counts, and its group; which of several is moved does not.
    """
    group, move, parts = question.group, question.move, question.parts
    ports = [dataclasses.replace(each, id="", name="") for each in parts.ports]
    volume = parts.root_volume
    return json.dumps(
        [
            [question.flavor, question.image, question.zone, question.project],
            [question.hints, question.boot_from_volume, parts.device_profiles],
            group and [group.policy, sorted(group.members)],
            move and [move.kind.value, move.source and move.source.uuid],
            sorted(map(repr, ports)),
            volume and volume.image_metadata,
        ],
        sort_keys=True,
    )


def elsewhere(
    host: str, computes: Iterable[Compute], aggregates: Iterable[Body]
) -> frozenset[str]:
    """Return the UUIDs of the nodes that are in another zone than a service host.

    :param aggregates: the compute API's bodies of all host aggregates
    """
    zones = {
        member: zone
        for body in aggregates
        if (zone := body["metadata"].get(ZONE_KEY)) is not None
        for member in body["hosts"]
    }
    own = zones.get(host)
    return frozenset(c.uuid for c in computes if zones.get(c.service_host) != own)


def claims(
    answer: Mapping[str, Any], snapshot: Snapshot, roots: Iterable[str]
) -> dict[str, tuple[Claim, ...]]:
    """Return what each host would give that Placement has room on.

    Where a host is named Nova asks for its tree alone, and Placement then takes nothing
    that others share with it (placement/objects/rp_candidates.py). Such a claim is not
    there.

    :param answer: the body of ``GET /allocation_candidates``
    :param roots: the UUIDs of those that count
    """
    wanted = frozenset(roots)
    found: dict[str, list[Claim]] = {}
    for request in answer["allocation_requests"]:
        providers = [snapshot.by_uuid.get(uuid) for uuid in request["allocations"]]
        tree = {provider.root if provider else "" for provider in providers}
        if len(tree) == 1 and tree <= wanted:
            found.setdefault(tree.pop(), []).append(_claim(request["allocations"]))
    return {root: tuple(each) for root, each in found.items()}


def _claim(allocations: Mapping[str, Any]) -> Claim:
    return tuple(
        Taken(uuid, name, amount)
        for uuid, each in sorted(allocations.items())
        for name, amount in sorted(each["resources"].items())
    )
