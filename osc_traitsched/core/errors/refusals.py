"""The answer no, as an error: what Nova or Placement does not take."""

from __future__ import annotations

from collections.abc import Iterable

from osc_traitsched.core.errors.base import AnswerIsNo


class OtherSettings(AnswerIsNo):
    """A file to keep settings in says something else.

    :ivar path: the file
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class NotForProject(AnswerIsNo):
    """A flavor or an image that the project may not use: Nova does not find it."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(f"{kind} {name}")
        self.kind = kind
        self.name = name


class PlacementRefuses(AnswerIsNo):
    """Placement takes no such request: it names what Placement does not know.

    :ivar reason: Placement's own words, one line
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Refusal(AnswerIsNo):
    """Nova refuses the flavor and the image together, before or instead of placing.

    :ivar exception: the class of Nova's exception
    :ivar reason: a short id of the rule that it fails; the views word it
    :ivar keys: the flavor's keys and the image's properties that it is about
    :ivar stage: ``api`` (refused at once), ``scheduler`` (the server goes to ERROR
        with that exception) or ``no valid host`` (it goes to ERROR like one that no
        host has room for); empty until the request is built
    :ivar http: the status of the API's answer; None at the other stages
    :ivar nearest: for a name that Nova does not know names like it, best first
    :ivar allowed: the values that the keys can have, where those are few; else empty
    """

    def __init__(
        self,
        exception: str,
        reason: str,
        keys: tuple[str, ...] = (),
        stage: str = "",
        http: int | None = None,
        nearest: tuple[str, ...] = (),
        allowed: Iterable[str] = (),
    ) -> None:
        super().__init__(f"{exception}: {reason} ({', '.join(keys)})")
        self.exception = exception
        self.reason = reason
        self.keys = keys
        self.stage = stage
        self.http = http
        self.nearest = nearest
        self.allowed = tuple(allowed)


class FiltersNotInRelease(Refusal):
    """Host filters are on that the release does not have: nova-scheduler won't start.

    :ivar keys: the filters
    :ivar release: Nova's major version
    :ivar source: where ``enabled_filters`` was read, in one line
    """

    def __init__(self, names: tuple[str, ...], release: int, source: str) -> None:
        super().__init__(
            "SchedulerHostFilterNotFound", "filter-not-in-release", names, "scheduler"
        )
        self.release = release
        self.source = source


class WeighersNotInRelease(Refusal):
    """Weighers are on that the release does not have: nova-scheduler won't start.

    :ivar keys: the weighers, as ``weight_classes`` names them
    :ivar release: Nova's major version
    :ivar source: where ``weight_classes`` was read, in one line
    """

    def __init__(self, names: tuple[str, ...], release: int, source: str) -> None:
        super().__init__("ImportError", "weigher-not-in-release", names, "scheduler")
        self.release = release
        self.source = source
