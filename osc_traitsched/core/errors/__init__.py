"""All errors, with their messages: first the problem, then the fix, in one line.

A caller can tell three kinds apart: ``BadQuestion`` (the user named something unknown
or impossible), ``AnswerIsNo`` (the request is valid, but refused), and ``CloudBroke``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from osc_traitsched.core.errors.base import (
    AnswerIsNo,
    BadQuestion,
    TraitSchedError,
    Unexpected,
    internal,
)
from osc_traitsched.core.errors.nova import Refusal
from osc_traitsched.core.names import Namesake
from osc_traitsched.text import did_you_mean, listed, quoted, visible

__all__ = [
    "AnswerIsNo",
    "BadQuestion",
    "Refusal",
    "TraitSchedError",
    "Unexpected",
    "internal",
]


class BadUsage(BadQuestion):
    """Options that do not go together, or a missing option."""


@dataclasses.dataclass(eq=False)
class UnknownTrait(BadQuestion):
    """A possible name of a trait that this cloud's Placement does not know.

    :ivar standard: os-traits knows the name
    :ivar nearest: similar existing names, best first
    """

    name: str
    standard: bool
    nearest: tuple[str, ...]
    creatable: bool = False

    def __str__(self) -> str:
        near = did_you_mean(self.nearest)
        if self.standard:
            return (
                f"this cloud's Placement is older than the trait {self.name} and does "
                f"not know it{near}"
            )
        if self.name.startswith("CUSTOM_"):
            way = " (--create creates it)" if self.creatable else ""
            return f"no trait {self.name} in this cloud{way}{near}"
        return (
            f"no trait {self.name} in this cloud{near}; only names that start with "
            "CUSTOM_ can be created"
        )


@dataclasses.dataclass(eq=False)
class NothingMatches(BadQuestion):
    """A selector that matches nothing.

    :ivar selector: ``host``, ``provider``, ``aggregate`` or ``zone``
    :ivar nearest: similar existing names, best first
    :ivar unasked: why Nova could not be asked for more names
    """

    selector: str
    value: str
    nearest: tuple[str, ...]
    unasked: str | None = None

    def __str__(self) -> str:
        unasked = f"; Nova could not be asked: {self.unasked}" if self.unasked else ""
        near = did_you_mean(self.nearest)
        return f"no {self.selector} matches {quoted(self.value)}{near}{unasked}"


class NoServer(NothingMatches):
    """No server with that name or ID is visible to this user."""

    def __init__(self, value: str, nearest: tuple[str, ...] = ()) -> None:
        super().__init__("server", value, nearest)

    def __str__(self) -> str:
        near = did_you_mean(self.nearest) or ": it does not exist, or was deleted"
        return f"no server matches {quoted(self.value)}{near}"


@dataclasses.dataclass(eq=False)
class NoProvider(BadQuestion):
    """A host of Nova's without a provider in Placement."""

    host: str

    def __str__(self) -> str:
        return "Placement has no provider for it, as far as Nova lists it"


class AmbiguousName(BadQuestion):
    """Several objects have this name; the user must give an ID."""

    def __init__(self, kind: str, name: str, namesakes: Iterable[Namesake]) -> None:
        self.kind = kind
        self.name = name
        self.namesakes = tuple(namesakes)

    def __str__(self) -> str:
        return (
            f"{len(self.namesakes)} {self.kind}s are named {quoted(self.name)}; "
            f"name one by its ID: {listed(map(_namesake, self.namesakes))}"
        )


@dataclasses.dataclass(eq=False)
class EmptyAggregate(BadQuestion):
    """An aggregate without hosts, which selects nothing."""

    name: str

    def __str__(self) -> str:
        return f"aggregate {quoted(self.name)} has no hosts"


@dataclasses.dataclass(eq=False)
class BadConfiguration(BadQuestion):
    """A file (or its option) that can't be read, or a wrong value in one.

    :ivar line: from 1; None if unknown
    """

    path: str
    line: int | None
    reason: str
    value: str | None = None

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        value = "" if self.value is None else f": {quoted(self.value)}"
        return visible(f"{where}: {self.reason}{value}")


class Mistakes(BadQuestion):
    """All mistakes in files, in the order of files and lines."""

    def __init__(self, mistakes: Iterable[BadQuestion]) -> None:
        self.mistakes = tuple(mistakes)

    def __str__(self) -> str:
        return "; ".join(map(str, self.mistakes))


def _namesake(found: Namesake) -> str:
    told = (
        found.owner and f"owner {found.owner}",
        found.domain and f"domain {found.domain}",
        found.visibility,
        found.created and f"created {found.created}",
        "hidden" if found.is_hidden else "",
    )
    about = ", ".join(filter(None, told))
    return f"{found.id} ({about})" if about else found.id


@dataclasses.dataclass(eq=False)
class NotForProject(AnswerIsNo):
    """A flavor or an image that the project may not use: Nova does not find it."""

    kind: str
    name: str

    def __str__(self) -> str:
        return (
            f"the project may not use the {self.kind} {quoted(self.name)}, so that "
            "Nova does not find it"
        )


@dataclasses.dataclass(eq=False)
class PlacementRefuses(AnswerIsNo):
    """Placement rejects the request; ``reason`` is Placement's own text."""

    reason: str

    def __str__(self) -> str:
        return f"Placement rejects the request: {self.reason}"


class TraitMissing(PlacementRefuses):
    """A flavor or an image names a trait that does not exist.

    :ivar kind: ``flavor`` or ``image``, or that of another origin
    :ivar nearest: similar existing traits, best first
    """

    def __init__(
        self,
        kind: str,
        name: str,
        trait: str,
        nearest: tuple[str, ...],
        is_forbidden: bool = False,
    ) -> None:
        super().__init__(f"No such trait(s): {trait}.")
        self.kind, self.name, self.trait = kind, name, trait
        self.nearest, self.is_forbidden = nearest, is_forbidden

    def __str__(self) -> str:
        verb = "forbids" if self.is_forbidden else "requires"
        who = visible(f"{self.kind} {self.name}")
        what = f"{who[:1].upper()}{who[1:]} {verb} trait {visible(self.trait)}"
        then = ""
        if self.nearest:
            then = f" Did you mean {' or '.join(self.nearest)}?"
        elif self.trait.startswith("CUSTOM_") and self.kind in ("flavor", "image"):
            add = f"openstack trait-sched add {self.trait} --create --host <HOST>"
            then = f" To create it: {add}"
        return f"{what}, which does not exist.{then}"


@dataclasses.dataclass(eq=False)
class CloudBroke(TraitSchedError):
    """A service did not answer, or answered with an error.

    :ivar service: the service type, such as ``placement``
    :ivar reason: one line, in the service's words if it had any
    :ivar status: the HTTP status; None without an answer
    :ivar passing: a retry may succeed
    """

    service: str
    reason: str
    status: int | None = None
    passing: bool = False

    def __str__(self) -> str:
        status = f" (HTTP {self.status})" if self.status else ""
        return f"{self.service}: {self.reason}{status}"


class Hidden(CloudBroke):
    """Data that the service does not show to this user."""


class Forbidden(Hidden):
    """The service's policy forbids it for this user.

    :ivar scope: of the login: ``project``, ``domain``, ``system`` or empty
    :ivar roles: None if unknown
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

    def __str__(self) -> str:
        return f"{self.service}: {self.reason} (HTTP {self.status}); {_lacking(self)}"


class ConcurrentUpdate(CloudBroke):
    """A provider changed several times since it was read; nothing was written."""

    def __init__(
        self, service: str, reason: str, status: int | None = None, times: int = 1
    ) -> None:
        super().__init__(service, reason, status)
        self.times = times

    def __str__(self) -> str:
        when = "during every try" if self.times > 1 else "meanwhile"
        return f"others changed this provider {when}; run the command again"


class TooOld(CloudBroke):
    """The service lacks the required microversion."""

    def __str__(self) -> str:
        return (
            f"{self.service} is older than what this command needs "
            f"(placement 1.36, compute 2.61: OpenStack Train): {self.reason}"
        )


class ExtraSpecsHidden(Hidden):
    """The policy ``os-flavor-extra-specs:index`` hides extra specs from this user.

    nova/api/openstack/compute/flavors.py, ``detail``

    :ivar hidden: number of flavors, as ``total``
    :ivar flavor: the requested one
    """

    def __init__(self, hidden: int, total: int, flavor: str | None = None) -> None:
        super().__init__("compute", f"no extra specs of {hidden} of {total} flavors")
        self.hidden = hidden
        self.total = total
        self.flavor = flavor

    def __str__(self) -> str:
        if self.flavor is not None:
            whose = f"the flavor {quoted(self.flavor)}"
        else:
            whose = f"{self.hidden} of {self.total} flavors"
        return (
            f"Nova hides the extra specs of {whose} from this user: it takes a role "
            "that the policy os_compute_api:os-flavor-extra-specs:index names"
        )


class NotInCatalog(CloudBroke):
    """The cloud's catalog lacks the service for this user and region."""

    def __init__(self, service: str) -> None:
        super().__init__(service, "not in the catalog")

    def __str__(self) -> str:
        return (
            f"{self.service} is not in this cloud's catalog, for this user, region "
            "and interface"
        )


def _lacking(error: Forbidden) -> str:
    if error.roles is None:
        return "this user's roles are not enough"
    is_elsewhere = error.scope != "project"
    if is_elsewhere and ("admin" in error.roles or not error.scope):
        to = {"domain": "a domain", "system": "the system"}.get(error.scope, "nothing")
        return f"log in to a project; this login is to {to}"
    where = f" in the {error.scope}" if is_elsewhere else ""
    found = f"this user's roles{where} are not enough: {listed(error.roles) or 'none'}"
    if "admin" in error.roles:
        return found
    return f"{found} (by default it takes admin{' in a project' * is_elsewhere})"
