"""Questions that can't be answered: bad options, names that nothing has, bad files."""

from __future__ import annotations

from collections.abc import Iterable

from osc_traitsched.core.errors.base import BadQuestion
from osc_traitsched.core.namesake import Namesake


class BadUsage(BadQuestion):
    """Options that do not go together, or one that is missing."""


class NotInRelease(BadUsage):
    """Something to be turned on whose option this release of Nova does not have.

    :ivar wanted: the name that it was asked for by
    :ivar option: ``section.option``
    :ivar release: Nova's major version
    """

    def __init__(self, wanted: str, option: str, release: int) -> None:
        super().__init__(f"{wanted}: {option} in {release}")
        self.wanted = wanted
        self.option = option
        self.release = release


class NoParameter(BadUsage):
    """A value that no parameter of TripleO can say.

    :ivar option: ``section.option``
    :ivar value: empty for a list that TripleO would take for none
    """

    def __init__(self, option: str, value: object) -> None:
        super().__init__(f"{option}: {value}")
        self.option = option
        self.value = value


class MalformedTrait(BadQuestion):
    """A name that no trait can have."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class UnknownTrait(BadQuestion):
    """A well-formed name that this cloud's Placement does not know.

    :ivar standard: os-traits knows the name, so a newer Placement would too
    :ivar nearest: names like it that this cloud does know, best first
    :ivar creatable: the command would create it if it was told to
    """

    def __init__(
        self,
        name: str,
        standard: bool,
        nearest: tuple[str, ...],
        creatable: bool = False,
    ) -> None:
        super().__init__(name)
        self.name = name
        self.standard = standard
        self.nearest = nearest
        self.creatable = creatable


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


class NoServer(NothingMatches):
    """A name or an ID that no server has which this user may see.

    :ivar own_only: servers of other projects are hidden from this user
    """

    def __init__(self, value: str, own_only: bool) -> None:
        super().__init__("server", value, ())
        self.own_only = own_only


class NoProvider(BadQuestion):
    """A host that Nova knows and Placement does not."""

    def __init__(self, host: str) -> None:
        super().__init__(host)
        self.host = host


class AmbiguousName(BadQuestion):
    """A name that several things of a kind have; one of the IDs is needed."""

    def __init__(self, kind: str, name: str, found: Iterable[Namesake]) -> None:
        super().__init__(name)
        self.kind = kind
        self.name = name
        self.found = tuple(found)


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


class BadConfiguration(BadQuestion):
    """A file that can't be read, or something in one that can't be.

    :ivar path: the file as the user named it, or the option that stands for it
    :ivar line: where in it, counted from 1; None where that can't be said
    :ivar value: what stands there and can't be, or None
    """

    def __init__(
        self, path: str, line: int | None, reason: str, value: str | None = None
    ) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.line = line
        self.reason = reason
        self.value = value


class Mistakes(BadQuestion):
    """All that is wrong in files, in the order of files and lines.

    :ivar mistakes: one or more
    """

    def __init__(self, mistakes: Iterable[BadQuestion]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("; ".join(map(str, self.mistakes)))
