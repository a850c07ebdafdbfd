"""Errors and warnings that commands share: one line each, the answer first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.change.model import Outcome, Status
from osc_traitsched.text import listed, visible

AGAIN = "the same command again"

#: What to do where a command was not carried out whole.
GOES_ON = f"to continue, run {AGAIN}"


def forced(refusal: errors.TraitSchedError) -> str:
    """The warning for a refusal that ``--force`` overrides."""
    said = re.sub("^nothing (written|removed): ", "", str(refusal))
    return f"forced: {said.removesuffix('; --force overrides this')}"


def unprinted(error: OSError) -> str:
    """The line for rows that standard output did not take.

    It is also true if nothing was written.
    """
    reason = visible(error.strerror or type(error).__name__)
    return (
        f"what could be written is written, but the rows can't be printed: {reason}; "
        f"{AGAIN} shows what is left to do"
    )


def would_create(names: Iterable[str]) -> str:
    """The line on traits that the run would create without ``--dry-run``."""
    return f"would create the trait {listed(names)}"


def goes_on(
    problem: errors.TraitSchedError | None, is_refused: bool, again: str = AGAIN
) -> str:
    """What to do if a plan was not carried out completely.

    :param problem: what to fix before the next run
    :param is_refused: a service rejects what failed
    :param again: the command that continues
    """
    if problem is not None:
        where = f"{problem.host}: " if isinstance(problem, errors.NoProvider) else ""
        return f"fix this, then run {again}: {where}{problem}"
    if is_refused:
        return f"fix what a service refuses, then run {again}"
    return f"to continue, run {again}"


def interrupted(done: int, total: int, then: str = GOES_ON) -> str:
    """The last line of a command that the user interrupted.

    :param then: what to do, if something is left
    """
    what = then if done < total else "nothing was left to write"
    return f"interrupted after {done} of {total}; {what}"


def failures(outcomes: Sequence[Outcome], then: str = GOES_ON) -> str:
    """The last line of a command with changes that failed, or may have failed.

    :param then: what to do
    """
    told = (Status.FAILED, Status.UNKNOWN, Status.NOT_DONE)
    counts = [(sum(o.status is each for o in outcomes), each) for each in told]
    (number, status), *others = [each for each in counts if each[0]]
    more = "".join(f", {number} {status.value}" for number, status in others)
    return f"{number} of {len(outcomes)} {status.value}{more}; {then}"
