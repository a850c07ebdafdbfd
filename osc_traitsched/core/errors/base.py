"""The three kinds of errors: a bad question, the answer no, and a cloud that broke."""

from __future__ import annotations


class TraitSchedError(Exception):
    """The root of all of this project's own errors."""


class Unexpected(TraitSchedError):
    """What no service and no user should be able to cause: this project's mistake.

    :ivar error: the exception as it was raised
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.error = error


class BadQuestion(TraitSchedError):
    """The user named something that is not there or that can't be."""


class AnswerIsNo(TraitSchedError):
    """What was asked for is understood, and refused."""
