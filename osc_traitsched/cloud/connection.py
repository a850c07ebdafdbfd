"""A connection to a cloud over HTTP, and its login."""

from __future__ import annotations

import contextlib
import functools
import http.client
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from keystoneauth1 import exceptions as keystone
from openstack import exceptions as sdk

from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core import errors

# A login and its failures.


# Foreign exceptions and unwelcome answers become core errors, here only.


CONCURRENT_UPDATE = "placement.concurrent_update"

#: What Python's decoder raises for a body that is no JSON, or nests too deeply.
NO_JSON = (ValueError, RecursionError)

#: The server's own trouble: it may be over at the next try.
_PASSING = frozenset({500, 502, 503, 504})


@contextlib.contextmanager
def translated(service_type: str, timeout: float | None = None) -> Iterator[None]:
    """Raise every foreign error of one request as one of the core's.

    :param timeout: seconds that the answer is waited for
    :raises NotInCatalog: if the catalog has no such service
    :raises CloudBroke: for everything else
    """
    try:
        yield
    except (keystone.EndpointNotFound, sdk.ServiceDisabledException) as exc:
        raise errors.NotInCatalog(service_type) from exc
    except Unreached as exc:
        raise _unreached(service_type, exc.error, timeout) from exc
    except keystone.ConnectionError as exc:
        raise _unreached(service_type, exc, timeout) from exc
    except keystone.HttpError as exc:
        message = exc.message.replace(f" (HTTP {exc.http_status})", "")
        raise _broken(
            service_type, f"{exc.url or ''} {message}", exc.http_status
        ) from exc
    except (keystone.ClientException, sdk.SDKException) as exc:
        status = getattr(exc, "http_status", None) or getattr(exc, "status_code", None)
        raise _broken(service_type, str(exc), status) from exc


def _broken(service_type: str, text: str, status: int | None) -> errors.CloudBroke:
    passing = status in _PASSING
    return errors.CloudBroke(service_type, _one_line(text), status, passing)


def _unreached(
    service_type: str, exc: keystone.ConnectionError, timeout: float | None
) -> errors.CloudBroke:
    causes = list(_causes(exc))
    where = next(filter(None, map(_url, causes)), "it")
    told = (e.strerror for e in causes if isinstance(e, OSError) and e.errno)
    why = next(filter(None, told), "")
    if isinstance(exc, keystone.ConnectTimeout):
        within = f" within {timeout:g} s" if timeout else ""
        reason = f"no answer from {where}{within}"
    elif any(isinstance(each, http.client.HTTPException) for each in causes):
        reason = f"{where} ended the connection before the end of its answer"
    elif why:
        reason = f"no connection to {where}: {why[0].lower()}{why[1:]}"
    else:
        reason = _one_line(str(exc))
    # Of the others it is a certificate, or a URL that can be none.
    passing = isinstance(
        exc, (keystone.RetriableConnectionFailure, keystone.UnknownConnectionError)
    )
    return errors.CloudBroke(service_type, reason, passing=passing)


def _causes(exc: BaseException | None) -> Iterator[BaseException]:
    """The last first; urllib3 has one in ``reason``, requests in its arguments."""
    while exc is not None:
        yield exc
        inner = [*exc.args, getattr(exc, "reason", None)]
        found = (each for each in inner if isinstance(each, BaseException))
        exc = exc.__cause__ or exc.__context__ or next(found, None)


def _url(exc: BaseException) -> str:
    """Without its query."""
    request = getattr(exc, "request", None)
    return str(getattr(request, "url", None) or "").partition("?")[0]


def refusal(service_type: str, answer: Any, session: Any) -> errors.CloudBroke:
    """The error for an answer of 300 or above, in the service's words."""
    status = answer.status_code
    code, detail = _read(answer)
    if status == 403:
        return errors.Forbidden(service_type, detail, *_login(session))
    if status == 409 and code == CONCURRENT_UPDATE:
        return errors.ConcurrentUpdate(service_type, detail, status)
    if status == 406:
        return errors.TooOld(service_type, detail, status)
    return errors.CloudBroke(service_type, detail, status, passing=status in _PASSING)


def _login(session: Any) -> tuple[str, tuple[str, ...] | None]:
    """Project, domain or system, and the roles there; None if unknown."""
    get_access = getattr(session.auth, "get_access", None)
    if get_access is None:
        return "", None
    found = get_access(session)
    scopes = {
        "project": found.project_scoped,
        "domain": found.domain_scoped,
        "system": found.system_scoped,
    }
    scope = next((name for name, there in scopes.items() if there), "")
    return scope, tuple(sorted(found.role_names or ()))


def _read(answer: Any) -> tuple[str, str]:
    """The error code and the first line of detail of an error's body.

    Placement: ``{"errors": [{"code": …, "detail": …, "title": …}]}``; Nova:
    ``{"badRequest": {"code": 400, "message": …}}``; others, and proxies: HTML or
    nothing.
    """
    fallback = f"{answer.status_code} {answer.reason or ''}".strip()
    try:
        body = answer.json()
    except NO_JSON:
        return "", fallback
    if not isinstance(body, dict):
        return "", fallback
    found = body.get("errors") or list(body.values())
    first = found[0] if isinstance(found, list) and found else {}
    if not isinstance(first, dict):
        return "", fallback
    text = str(first.get("detail") or first.get("message") or first.get("title") or "")
    return str(first.get("code", "")), _one_line(text) or fallback


def _one_line(text: str) -> str:
    # Placement starts a detail with a paragraph that only explains the status.
    paragraphs = [p for p in re.split(r"\n\s*\n", text.strip()) if p.strip()]
    return " ".join(paragraphs[-1].split()) if paragraphs else ""


# keystoneauth's session, without waiting twice for a service that is not reached.


_T = TypeVar("_T")

#: One session is changed by one thread at a time.
_LOCK = threading.Lock()


class Unreached(Exception):
    """A request of a discovery got no connection, or no answer.

    It is none of keystoneauth's exceptions: it would look at other URLs after those.
    """

    def __init__(self, error: keystone.ConnectionError) -> None:
        super().__init__(str(error))
        self.error = error


@contextlib.contextmanager
def ends_when_unreached(session: Any) -> Iterator[None]:
    """End a discovery at its first request that gets no connection, or no answer.

    keystoneauth takes such a service for one without a version document, tries other
    URLs of it, for as long each time, and logs that (keystoneauth1/discover.py,
    ``_run_discovery``).

    :param session: keystoneauth's; others use it before and after
    :raises Unreached: instead of going on
    :raises HttpError: the first one, if the discovery has found nothing in the end
    """
    send = session.request
    refused: list[keystone.HttpError] = []

    def request(*args: Any, **kwargs: Any) -> Any:
        try:
            return send(*args, **kwargs)
        except keystone.HttpError as exc:
            refused.append(exc)
            raise
        except keystone.ConnectionError as exc:
            raise Unreached(exc) from exc

    with _LOCK:
        session.request = request
        try:
            yield
        except sdk.NotSupported as exc:
            if refused:
                raise refused[0] from exc
            raise
        finally:
            del session.request


def sent_twice(send: Callable[[], _T]) -> _T:
    """Send a request, and once more at once if its connection was kept for too long.

    One that got no answer in time is not sent again.
    """
    with contextlib.suppress(keystone.ConnectFailure):
        return send()
    return send()


# A cloud over HTTP: where its services are, and how one request is made.


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
        except NO_JSON as exc:
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
        with translated(self.service_type):
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
        with translated(self.service_type, bound):
            # A write that is sent again must be planned again first, and a caller with
            # a time of its own tries again by itself.
            is_tried_again = method == "GET" and not timeout
            answer = sent_twice(send) if is_tried_again else send()
            # A redirection that leads nowhere is not a success of the service either.
            if answer.status_code >= 300:
                raise refusal(self.service_type, answer, session)
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
        with translated("identity"):
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
        translation = translated(service_type, session.timeout)
        try:
            with translation, ends_when_unreached(session):
                yield
        except _MISREAD as exc:
            reason = "its versions can't be read; is this the service's endpoint?"
            raise errors.CloudBroke(service_type, reason) from exc
