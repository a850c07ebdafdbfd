"""The answer to all questions about hosts."""

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
