"""Errors of services: what does not answer, or answers otherwise than it should."""

from __future__ import annotations

from osc_traitsched.core.errors.base import TraitSchedError


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
