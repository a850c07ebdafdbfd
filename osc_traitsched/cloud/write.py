"""Carries a plan out: one write a provider, and one result for each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent import futures

import tenacity

from osc_traitsched.cloud import read
from osc_traitsched.cloud.connection import Service
from osc_traitsched.core import errors
from osc_traitsched.core.plan import Result, Status, Step, result
from osc_traitsched.core.snapshot import Holding

ATTEMPTS = 10

#: Seconds; random, so that rivals do not stay in step, and growing.
_WAIT = tenacity.wait_random_exponential(multiplier=0.05, max=5)


def create_traits(placement: Service, names: Iterable[str]) -> None:
    """Create custom traits; one that exists already is left as it is.

    :raises CloudBroke: for the first one that can't be created
    """
    for name in names:
        for attempt in _attempts():
            with attempt:
                placement.put(f"/traits/{name}")


def carry_out(
    placement: Service,
    steps: Iterable[Step],
    jobs: int,
    done: Callable[[Result], object],
) -> tuple[Result, ...]:
    """Carry out every step, whatever becomes of the others.

    :param jobs: how many providers are written at the same time
    :param done: called with each result as it comes, in this thread
    :returns: one result a step, in the order of the steps
    """
    steps = tuple(steps)
    with futures.ThreadPoolExecutor(max_workers=jobs) as pool:
        submitted = [pool.submit(apply, placement, step) for step in steps]
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
    held = step.holding
    maybe_written = False
    try:
        for attempt in _attempts():
            with attempt:
                if attempt.retry_state.attempt_number > 1:
                    held = read.holding(placement, held.provider)
                if step.change.after(held.traits) == held.traits:
                    break
                try:
                    _put(placement, step, held)
                except errors.ConcurrentUpdate:
                    raise
                except errors.CloudBroke:
                    maybe_written = True
                    raise
                maybe_written = True
    except errors.CloudBroke as exc:
        return result(step, Status.FAILED, exc)
    return result(step, Status.CHANGED if maybe_written else Status.UNCHANGED)


def _put(placement: Service, step: Step, held: Holding) -> None:
    placement.put(
        f"/resource_providers/{held.provider.uuid}/traits",
        {
            "resource_provider_generation": held.provider.generation,
            "traits": sorted(step.change.after(held.traits)),
        },
    )


def _attempts() -> tenacity.Retrying:
    return tenacity.Retrying(
        stop=tenacity.stop_after_attempt(ATTEMPTS),
        wait=_WAIT,
        retry=tenacity.retry_if_exception(_is_worth_another_try),
        reraise=True,
    )


def _is_worth_another_try(exc: BaseException) -> bool:
    return isinstance(exc, errors.ConcurrentUpdate) or (
        isinstance(exc, errors.CloudBroke) and exc.passing
    )
