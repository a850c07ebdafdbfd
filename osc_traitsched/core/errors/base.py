"""The three kinds of errors: a bad question, the answer no, and a cloud that broke."""

from __future__ import annotations

import dataclasses
import re

from osc_traitsched.text import visible


class TraitSchedError(Exception):
    """The base class of this project's errors."""

    @property
    def reasons(self) -> str:
        """What a refusal is for, without ``nothing written`` and ``--force``."""
        message = re.sub("^nothing (written|removed): ", "", str(self))
        return message.removesuffix("; --force overrides this")

    @property
    def brief(self) -> str:
        """The reasons in few words."""
        return self.reasons


@dataclasses.dataclass(eq=False)
class Unexpected(TraitSchedError):
    """An error of this project, not of a service or the user."""

    error: Exception

    def __str__(self) -> str:
        return internal(self.error)


class BadQuestion(TraitSchedError):
    """The user named something unknown or impossible."""


class AnswerIsNo(TraitSchedError):
    """The request is valid, but refused.

    :ivar ends_by_enabling: the refusal ends once hosts are enabled
    """

    ends_by_enabling: bool = False


def internal(error: Exception) -> str:
    """A line about an error of this project."""
    if isinstance(error, MemoryError):
        return "out of memory"
    text = ": ".join(filter(None, (type(error).__name__, str(error))))
    line = " ".join(text.split())
    return f"internal error: {visible(line)}; --debug shows where"
