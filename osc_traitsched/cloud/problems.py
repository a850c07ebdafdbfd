"""Foreign exceptions and unwelcome answers become core errors, here only."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

from keystoneauth1 import exceptions as keystone
from openstack import exceptions as sdk

from osc_traitsched.core import errors

CONCURRENT_UPDATE = "placement.concurrent_update"

#: The server's own trouble: it may be over at the next try.
_PASSING = frozenset({500, 502, 503, 504})


@contextlib.contextmanager
def translated(service_type: str) -> Iterator[None]:
    """Raise every foreign error of one request as one of the core's.

    :raises NotInCatalog: when the catalog has no such service
    :raises CloudBroke: for everything else
    """
    try:
        yield
    except (keystone.EndpointNotFound, sdk.ServiceDisabledException) as exc:
        raise errors.NotInCatalog(service_type) from exc
    except keystone.RetriableConnectionFailure as exc:
        reason = _one_line(str(exc))
        raise errors.CloudBroke(service_type, reason, passing=True) from exc
    except keystone.UnknownConnectionError as exc:
        # The answer was cut off while it was being read.
        reason = _one_line(str(exc))
        raise errors.CloudBroke(service_type, reason, passing=True) from exc
    except (keystone.ClientException, sdk.SDKException) as exc:
        status = getattr(exc, "http_status", None) or getattr(exc, "status_code", None)
        reason = _one_line(str(exc))
        raise errors.CloudBroke(
            service_type, reason, status, passing=status in _PASSING
        ) from exc


def refusal(service_type: str, answer: Any, session: Any) -> errors.CloudBroke:
    """Return the error for an answer of 400 or above, in the service's words.

    :param session: keystoneauth's, which knows what the user is logged in to
    """
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
    """Return what the user is logged in to, and the roles there; None for unknown."""
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
    """Return the error code and the first line of detail of an error's body.

    Placement: ``{"errors": [{"code": …, "detail": …, "title": …}]}``; Nova:
    ``{"badRequest": {"code": 400, "message": …}}``; others, and proxies: HTML
    or nothing.
    """
    fallback = f"{answer.status_code} {answer.reason or ''}".strip()
    try:
        body = answer.json()
    except ValueError:
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
