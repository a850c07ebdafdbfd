"""The words for every error and warning: one line each, the answer first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.change.model import Outcome, Status
from osc_traitsched.text import listed, visible

AGAIN = "the same command again"

#: What to do where a command was not carried out whole.
GOES_ON = f"to continue, run {AGAIN}"


def forced(refusal: errors.AnswerIsNo) -> str:
    """Return the warning of a refusal that --force overrides."""
    said = re.sub("^nothing (written|removed): ", "", str(refusal))
    return f"forced: {said.removesuffix('; --force overrides this')}"


def unprinted(error: OSError) -> str:
    """Return a line on rows of writes that standard output does not take.

    It is true as well where nothing was to be written, or could be.
    """
    reason = visible(error.strerror or type(error).__name__)
    return (
        f"what could be written is written, but the rows can't be printed: {reason}; "
        f"{AGAIN} shows what is left to do"
    )


def would_create(names: Iterable[str]) -> str:
    """Return a line on traits that only a run that is not dry will create."""
    return f"would create the trait {listed(names)}"


def goes_on(
    problem: errors.TraitSchedError | None, is_refused: bool, again: str = AGAIN
) -> str:
    """Return what to do if a plan was not carried out whole.

    :param problem: why the command can't be carried out whole next time, either
    :param is_refused: a service rejects what failed
    :param again: the command that goes on
    """
    if problem is not None:
        where = f"{problem.host}: " if isinstance(problem, errors.NoProvider) else ""
        return f"{again} would fail: {where}{problem}"
    if is_refused:
        return f"fix what a service refuses, then run {again}"
    return f"to continue, run {again}"


def interrupted(done: int, total: int, then: str = GOES_ON) -> str:
    """Return the line that ends a command that the user interrupted.

    :param then: what to do, if something is left
    """
    what = then if done < total else "nothing was left to write"
    return f"interrupted after {done} of {total}; {what}"


def failures(outcomes: Sequence[Outcome], then: str = GOES_ON) -> str:
    """Return the line that ends a command of which some changes failed, or may have.

    :param then: what to do
    """
    told = (Status.FAILED, Status.UNKNOWN, Status.NOT_DONE)
    counts = [(sum(o.status is each for o in outcomes), each) for each in told]
    (number, status), *others = [each for each in counts if each[0]]
    more = "".join(f", {number} {status.value}" for number, status in others)
    return f"{number} of {len(outcomes)} {status.value}{more}; {then}"
