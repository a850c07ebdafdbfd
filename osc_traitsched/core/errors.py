"""What can go wrong, as types; how it is worded is the views' affair.

There are three kinds, and a caller can tell them apart: a bad question
(something was named that is not there or can't be), the answer no (the
question was good, and what it asks must not be done), and a cloud that broke.
"""

from __future__ import annotations


class TraitSchedError(Exception):
    """The root of all of this project's own errors."""


class BadQuestion(TraitSchedError):
    """The user named something that is not there or that can't be."""


class BadUsage(BadQuestion):
    """Options that do not go together, or one that is missing; exits 2."""


class AnswerIsNo(TraitSchedError):
    """What was asked for is understood, and refused."""


class CloudBroke(TraitSchedError):
    """A service did not answer, or answered with an error.

    :ivar service: the service type, such as ``placement``
    :ivar reason: one line, in the service's own words where it had any
    :ivar status: the HTTP status, or None where no answer came
    :ivar passing: the same request may succeed when it is sent again
    """

    def __init__(
        self,
        service: str,
        reason: str,
        status: int | None = None,
        passing: bool = False,
    ) -> None:
        super().__init__(f"{service}: {reason}")
        self.service = service
        self.reason = reason
        self.status = status
        self.passing = passing


class ConcurrentUpdate(CloudBroke):
    """A provider changed since its generation was read; nothing was written."""


class TooOld(CloudBroke):
    """The service does not know the microversion that is needed."""


class NotInCatalog(CloudBroke):
    """The cloud's catalog has no such service for this user and region."""

    def __init__(self, service: str) -> None:
        super().__init__(service, "not in the catalog")


class MalformedTrait(BadQuestion):
    """A name that no trait can have."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class UnknownTrait(BadQuestion):
    """A well-formed name that this cloud's Placement does not know.

    :ivar standard: os-traits knows the name, so a newer Placement would too
    :ivar nearest: names like it that this cloud does know, best first
    """

    def __init__(self, name: str, standard: bool, nearest: tuple[str, ...]) -> None:
        super().__init__(name)
        self.name = name
        self.standard = standard
        self.nearest = nearest


class NothingMatches(BadQuestion):
    """A selector that matches nothing.

    :ivar selector: its kind: ``host``, ``provider``, ``aggregate`` or ``zone``
    :ivar nearest: names like it that there are, best first
    :ivar unasked: why Nova could not be asked for more names, or None
    """

    def __init__(
        self,
        selector: str,
        value: str,
        nearest: tuple[str, ...],
        unasked: str | None = None,
    ) -> None:
        super().__init__(f"{selector} {value}")
        self.selector = selector
        self.value = value
        self.nearest = nearest
        self.unasked = unasked


class NoProvider(BadQuestion):
    """A host that Nova knows and Placement does not."""

    def __init__(self, host: str) -> None:
        super().__init__(host)
        self.host = host


class AmbiguousAggregate(BadQuestion):
    """A name that several aggregates have; one of the UUIDs is needed."""

    def __init__(self, name: str, uuids: tuple[str, ...]) -> None:
        super().__init__(name)
        self.name = name
        self.uuids = uuids


class EmptyAggregate(BadQuestion):
    """An aggregate that has no hosts, so that nothing is selected by it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class BadHostFile(BadQuestion):
    """A host file that can't be read, or names no host."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason
