"""The answer to all questions about hosts, and the reason in one word."""

from __future__ import annotations

import enum
from collections.abc import Iterable


class Answer(enum.Enum):
    """Whether a host, or any host, could take a server."""

    YES = "yes"
    #: An option that is not known decides.
    DEPENDS = "depends"
    #: What no API shows decides, or what was read contradicts Placement.
    UNKNOWN = "unknown"
    NO = "no"

    @property
    def is_open(self) -> bool:
        """Whether it is neither yes nor no."""
        return self in (Answer.DEPENDS, Answer.UNKNOWN)

    @classmethod
    def best(cls, answers: Iterable[Answer]) -> Answer:
        """The answer for any of several: yes if one is; no if all are, or none is."""
        given = set(answers)
        return next((each for each in cls if each in given), cls.NO)


class Reason(enum.Enum):
    """Why a request finds a host or none: a word for programs, and its promise.

    The list is closed. The first reason that is true counts; those of a no begin with
    :attr:`REFUSED`.
    """

    FITS = "fits", "A host takes it; with ``--count``, hosts take all."
    DEPENDS = "depends", "An option or a host filter that nobody gave decides."
    UNKNOWN = "unknown", "What no API shows decides, or what you may not read."
    REFUSED = (
        "refused",
        "Nova or Placement rejects the request, however many hosts are free: an "
        "unknown trait or zone, or a flavor that the project may not use.",
    )
    DISABLED = "disabled", "A host takes it once all hosts are enabled and up."
    FULL = (
        "full",
        "Hosts take it once all of them are also empty. Amounts, limits of servers, "
        "server groups or builds are in its way.",
    )
    ISOLATED = (
        "isolated",
        "No host takes it, even if all are enabled and empty. Without isolation of "
        "aggregates, projects, flavors or images, one would.",
    )
    MISCONFIGURED = (
        "misconfigured",
        "No host takes it, even if all are enabled, empty and not isolated.",
    )

    def __init__(self, word: str, promise: str) -> None:
        self.word = word
        self.promise = promise

    @property
    def is_lasting(self) -> bool:
        """Whether no host takes it, even if all are enabled and empty."""
        return self in (Reason.ISOLATED, Reason.MISCONFIGURED)


#: All reasons in their order.
WORDS = tuple(each.word for each in Reason)
