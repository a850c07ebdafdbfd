"""What can go wrong, as types; how it is worded is the views' affair.

There are three kinds, and a caller can tell them apart: a bad question
(something was named that is not there or can't be), the answer no (the
question was good, and what it asks must not be done), and a cloud that broke.
"""

from __future__ import annotations

from collections.abc import Iterable

from osc_traitsched.core.namesake import Namesake


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


class Forbidden(CloudBroke):
    """The service's policy does not let this user do it.

    :ivar scope: what the user is logged in to: ``project``, ``domain`` or ``system``;
        empty where it is nothing, or is not known
    :ivar roles: the user's there; None where they are not known
    """

    def __init__(
        self,
        service: str,
        reason: str,
        scope: str = "",
        roles: tuple[str, ...] | None = None,
    ) -> None:
        super().__init__(service, reason, 403)
        self.scope = scope
        self.roles = roles


class ConcurrentUpdate(CloudBroke):
    """A provider changed since its generation was read; nothing was written.

    :ivar times: how many times in one change
    """

    def __init__(
        self, service: str, reason: str, status: int | None = None, times: int = 1
    ) -> None:
        super().__init__(service, reason, status)
        self.times = times


class TooOld(CloudBroke):
    """The service does not know the microversion that is needed."""


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


class ExtraSpecsHidden(CloudBroke):
    """Nova leaves the extra specs of flavors out for this user.

    nova/api/openstack/compute/flavors.py, ``detail``; the policy is
    ``os_compute_api:os-flavor-extra-specs:index``.

    :ivar hidden: of how many flavors
    :ivar total: of how many that were read
    :ivar flavor: the name of the one that was asked for, if one was
    """

    def __init__(self, hidden: int, total: int, flavor: str | None = None) -> None:
        super().__init__("compute", f"no extra specs of {hidden} of {total} flavors")
        self.hidden = hidden
        self.total = total
        self.flavor = flavor


class PrivateFlavorsHidden(CloudBroke):
    """Nova lists to this user the private flavors of the user's own project only."""

    def __init__(self) -> None:
        super().__init__("compute", "no private flavors")


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
        super().__init__("SchedulerHostFilterNotFound", "filter-not-in-release", names)
        self.release = release
        self.source = source


class WeighersNotInRelease(Refusal):
    """Weighers are on that the release does not have: nova-scheduler won't start.

    :ivar keys: the weighers, as ``weight_classes`` names them
    :ivar release: Nova's major version
    :ivar source: where ``weight_classes`` was read, in one line
    """

    def __init__(self, names: tuple[str, ...], release: int, source: str) -> None:
        super().__init__("ImportError", "weigher-not-in-release", names)
        self.release = release
        self.source = source


class BadConfiguration(BadQuestion):
    """A file of the scheduler's options that can't be read, or a value in one.

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
