"""Puts one provider into Placement aggregates, and takes it out, losing no other."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection

from osc_traitsched.cloud import retry
from osc_traitsched.cloud.connection import Service
from osc_traitsched.core import errors
from osc_traitsched.core.change.plan import Status


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of one provider's aggregates.

    :ivar status: changed, unchanged or failed
    :ivar added: UUIDs of the aggregates that it was put into
    :ivar removed: UUIDs of those that it was taken out of
    :ivar problem: why it failed, for a failed one
    """

    status: Status
    added: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    problem: errors.TraitSchedError | None = None


@dataclasses.dataclass(frozen=True)
class _Membership:
    """The aggregates that a provider is in, at its generation."""

    aggregates: frozenset[str]
    generation: int


def apply_aggregates(
    placement: Service,
    provider: str,
    add: Collection[str],
    remove: Collection[str] = (),
) -> Outcome:
    """Have a provider in the aggregates, and not in the others; all else stays.

    Placement only takes the whole list. So it is read, and each try carries the
    generation that came with it: Placement refuses it if anything of the provider
    changed in between. A provider that is as wanted is not written.

    :param provider: its UUID
    :param add: UUIDs of aggregates; Placement makes those that it does not have
    :returns: what became of it; a failure is an outcome, too
    """
    read = functools.partial(_read, placement, provider)

    def after(found: _Membership) -> frozenset[str]:
        return (found.aggregates | frozenset(add)) - frozenset(remove)

    def put(found: _Membership) -> None:
        body = {
            "resource_provider_generation": found.generation,
            "aggregates": sorted(after(found)),
        }
        placement.put(f"/resource_providers/{provider}/aggregates", body)

    try:
        found = retry.read(read)
        written = retry.write(
            found, read, lambda now: after(now) == now.aggregates, put
        )
    except errors.CloudBroke as exc:
        return Outcome(Status.FAILED, problem=exc)
    if not written:
        return Outcome(Status.UNCHANGED)
    wanted = after(found)
    return Outcome(Status.CHANGED, wanted - found.aggregates, found.aggregates - wanted)


def _read(placement: Service, provider: str) -> _Membership:
    """Read the aggregates, and the generation from before them.

    Placement reads the provider, with its generation, before its aggregates
    (``get_aggregates`` in placement/handlers/aggregate.py).
    """
    body = placement.get(f"/resource_providers/{provider}/aggregates")
    return _Membership(
        frozenset(body["aggregates"]), body["resource_provider_generation"]
    )
