"""A cloud over HTTP: where its services are, and how one request is made."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from osc_traitsched.cloud import session as problems
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.cloud.session import ends_when_unreached, sent_twice
from osc_traitsched.core import errors

_T = TypeVar("_T")

#: Is given the path of what is going to be read, and entered while that is awaited.
Watch = Callable[[str], contextlib.AbstractContextManager[object]]

#: Train's for Placement, the lowest that every release from Train on understands; for
#: Nova the one that gives hypervisors and services UUIDs, and flavors extra specs.
_MICROVERSIONS = {"placement": "1.36", "compute": "2.61"}

#: Seconds to wait for an answer unless somebody says otherwise; Placement needs about
#: three for ten thousand hosts, and a server that hangs must not hang the command.
TIMEOUT = 120

#: Sockets take no more than 2**31 milliseconds on every platform.
_LONGEST = 2_000_000

#: What keystoneauth raises for a version document of another shape: it reads those
#: unseen (keystoneauth1/discover.py, ``raw_version_data``).
_MISREAD = (AttributeError, LookupError, RecursionError, TypeError, ValueError)


class HttpService(Service):
    """The requests that one service has been sent, and the way to send more.

    :param adapter: an openstacksdk proxy, mounted at the service's endpoint
    :param watch: told of all that is read
    """

    def __init__(
        self,
        service_type: str,
        adapter: Any,
        microversion: str | None = None,
        watch: Watch = contextlib.nullcontext,
    ) -> None:
        self.service_type = service_type
        self._adapter = adapter
        self._microversion = microversion
        self._watch = watch
        self._counting = threading.Lock()
        self.requests = 0

    def get(
        self,
        path: str,
        params: Mapping[str, str] | None = None,
        microversion: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """The JSON body of an answer.

        :param microversion: instead of the service's own
        :param timeout: seconds to wait for the answer, if less than it waits anyway
        :raises CloudBroke: for any other answer, or none
        """
        with self._watch(path):
            answer = self._send("GET", path, microversion, timeout, params=params)
        try:
            return answer.json()
        except problems.NO_JSON as exc:
            reason = "the answer is not JSON; is this the service's endpoint?"
            raise errors.CloudBroke(self.service_type, reason) from exc

    def write(
        self,
        method: str,
        path: str,
        body: Any = None,
        timeout: float | None = None,
        content_type: str | None = None,
    ) -> None:
        headers = {"Content-Type": content_type} if content_type else None
        self._send(method, path, None, timeout, json=body, headers=headers)

    def _send(
        self,
        method: str,
        path: str,
        microversion: str | None,
        timeout: float | None,
        **kwargs: Any,
    ) -> Any:
        with self._counting:
            self.requests += 1
        with problems.translated(self.service_type):
            # What stands for a service without an endpoint raises at any attribute.
            session = self._adapter.session
        longest = session.timeout or TIMEOUT
        bound = min(longest, timeout or longest)
        send = functools.partial(
            self._adapter.request,
            path,
            method,
            microversion=microversion or self._microversion,
            timeout=bound,
            raise_exc=False,
            connect_retries=0,
            # openstacksdk would send again to Glance, as late as Retry-After says.
            status_code_retries=0,
            **{key: value for key, value in kwargs.items() if value is not None},
        )
        with problems.translated(self.service_type, bound):
            # A write that is sent again must be planned again first, and a caller with
            # a time of its own tries again by itself.
            is_tried_again = method == "GET" and not timeout
            answer = sent_twice(send) if is_tried_again else send()
            # A redirection that leads nowhere is not a success of the service either.
            if answer.status_code >= 300:
                raise problems.refusal(self.service_type, answer, session)
        return answer


class HttpCloud(Cloud):
    """The services of one cloud, each found in the catalog at its first use.

    :param sdk: an ``openstack.connection.Connection``
    :param timeout: seconds to wait for an answer; without it ``api_timeout`` of
        clouds.yaml says, else it is :data:`TIMEOUT`
    :param watch: told of all that is read, with its path below the service's endpoint
    """

    def __init__(
        self,
        sdk: Any,
        timeout: float | None = None,
        watch: Watch = contextlib.nullcontext,
    ) -> None:
        self._unbounded = sdk
        self._timeout = timeout
        self._watch = watch
        self._services: dict[str, HttpService] = {}
        self._found: dict[Callable[[Cloud], Any], Any] = {}
        self._reading = threading.RLock()

    @functools.cached_property
    def _sdk(self) -> Any:
        """The connection, with a bound on all its requests, discovery's too."""
        session = self._unbounded.session
        given = self._timeout or session.timeout
        wanted = given if given and given > 0 else TIMEOUT
        session.timeout = min(wanted, _LONGEST)
        return self._unbounded

    def once(self, read: Callable[[Cloud], _T]) -> _T:
        """Return what a function reads of this cloud, and read it no second time."""
        with self._reading:
            if read not in self._found:
                self._found[read] = read(self)
        found: _T = self._found[read]
        return found

    @property
    def own_project(self) -> str | None:
        """The ID of the project that the user is logged in to, if any."""
        with problems.translated("identity"):
            found = self._sdk.current_project_id
        return str(found) if found else None

    @property
    def compute_maximum(self) -> str | None:
        """The highest microversion that the compute API speaks."""
        with self._discovery("compute"):
            data = self._sdk.compute.get_endpoint_data()
        highest = data.max_microversion if data else None
        return ".".join(map(str, highest)) if highest else None

    def service(self, service_type: str) -> HttpService:
        if service_type not in self._services:
            with self._discovery(service_type):
                adapter = getattr(self._sdk, service_type.replace("-", "_"))
            microversion = _MICROVERSIONS.get(service_type)
            self._services[service_type] = HttpService(
                service_type, adapter, microversion, self._watch
            )
        return self._services[service_type]

    @contextlib.contextmanager
    def _discovery(self, service_type: str) -> Iterator[None]:
        session = self._sdk.session
        translated = problems.translated(service_type, session.timeout)
        try:
            with translated, ends_when_unreached(session):
                yield
        except _MISREAD as exc:
            reason = "its versions can't be read; is this the service's endpoint?"
            raise errors.CloudBroke(service_type, reason) from exc
