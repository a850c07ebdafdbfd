"""A login and its failures."""

from __future__ import annotations

import contextlib
import http.client
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from keystoneauth1 import exceptions as keystone
from openstack import exceptions as sdk

from osc_traitsched.core import errors

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
