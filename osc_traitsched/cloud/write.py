"""Carries a plan out: one write a provider, and one result for each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent import futures
from typing import TypeVar

from osc_traitsched.cloud import read, retry
from osc_traitsched.cloud.connection import Service
from osc_traitsched.core import errors
from osc_traitsched.core.change.plan import Result, Status, Step, result
from osc_traitsched.core.inventory.snapshot import Holding

_T = TypeVar("_T")
_R = TypeVar("_R")


def create_traits(placement: Service, names: Iterable[str]) -> None:
    """Create custom traits; one that exists already is left as it is.

    :raises CloudBroke: for the first one that can't be created
    """
    for name in names:
        for attempt in retry.attempts():
            with attempt:
                placement.put(f"/traits/{name}")


def carry_out(
    steps: Iterable[_T],
    apply: Callable[[_T], _R],
    jobs: int,
    done: Callable[[_R], object],
) -> tuple[_R, ...]:
    """Carry out every step, whatever becomes of the others.

    :param apply: carries one out, and raises nothing
    :param jobs: how many of them at the same time
    :param done: called with each result as it comes, in this thread
    :returns: one result a step, in the order of the steps
    """
    with futures.ThreadPoolExecutor(max_workers=jobs) as pool:
        submitted = [pool.submit(apply, step) for step in steps]
        try:
            for future in futures.as_completed(submitted):
                done(future.result())
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return tuple(future.result() for future in submitted)


def apply(placement: Service, step: Step) -> Result:
    """Make one provider as the step wants it, and lose none of its traits.

    Each try writes the whole set, as read, with the generation from before
    the reading, so that Placement refuses it if anything changed in between;
    after any failure the provider is read again first.

    :returns: what became of it; a failure is a result, too
    """
    if not step.is_needed:
        return result(step, Status.UNCHANGED)
    try:
        written = retry.write(
            step.holding,
            read=lambda: read.holding(placement, step.holding.provider),
            is_as_wanted=lambda now: step.change.after(now.traits) == now.traits,
            put=lambda now: _put(placement, step, now),
        )
    except errors.CloudBroke as exc:
        return result(step, Status.FAILED, exc)
    return result(step, Status.CHANGED if written else Status.UNCHANGED)


def _put(placement: Service, step: Step, held: Holding) -> None:
    placement.put(
        f"/resource_providers/{held.provider.uuid}/traits",
        {
            "resource_provider_generation": held.provider.generation,
            "traits": sorted(step.change.after(held.traits)),
        },
    )
