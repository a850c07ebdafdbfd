"""The three kinds of errors: a bad question, the answer no, and a cloud that broke."""

from __future__ import annotations

import dataclasses

from osc_traitsched.text import visible


class TraitSchedError(Exception):
    """The base class of this project's errors."""


@dataclasses.dataclass(eq=False)
class Unexpected(TraitSchedError):
    """An error of this project, not of a service or the user."""

    error: Exception

    def __str__(self) -> str:
        return internal(self.error)


class BadQuestion(TraitSchedError):
    """The user named something unknown or impossible."""


class AnswerIsNo(TraitSchedError):
    """The request is valid, but refused."""


def internal(error: Exception) -> str:
    """A line about an error of this project."""
    if isinstance(error, MemoryError):
        return "out of memory"
    text = ": ".join(filter(None, (type(error).__name__, str(error))))
    line = " ".join(text.split())
    return f"internal error: {visible(line)}; --debug shows where"
