"""The three kinds of errors: a bad question, the answer no, and a cloud that broke."""

from __future__ import annotations

import dataclasses

from osc_traitsched.text import visible


class TraitSchedError(Exception):
    """The root of all of this project's own errors."""


@dataclasses.dataclass(eq=False)
class Unexpected(TraitSchedError):
    """What no service and no user should be able to cause: this project's mistake.

    :ivar error: the exception as it was raised
    """

    error: Exception

    def __str__(self) -> str:
        return internal(self.error)


class BadQuestion(TraitSchedError):
    """The user named something that is not there or that can't be."""


class AnswerIsNo(TraitSchedError):
    """What was asked for is understood, and refused."""


def internal(error: Exception) -> str:
    """Return a line on an error of this project's own."""
    if isinstance(error, MemoryError):
        return "out of memory"
    text = ": ".join(filter(None, (type(error).__name__, str(error))))
    line = " ".join(text.split())
    return f"internal error: {visible(line)}; --debug shows where"
