"""Paths made of names, and answers that have the shape that the reader expects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Union
from urllib import parse

from osc_traitsched.cloud.service import Service
from osc_traitsched.core import errors

#: A type, or several; a list of one shape; or a mapping of keys to shapes, in which
#: the type ``str`` stands for whatever keys there are. More keys do no harm.
Shape = Union[type, tuple[type, ...], list[Any], dict[Any, Any]]

NUMBER = (int, float)
OPTIONAL_TEXT = (str, type(None))

_MISSING = object()


def path(*parts: str) -> str:
    """Return the path that these parts make, whatever characters they have."""
    return "".join(f"/{parse.quote(part, safe='')}" for part in parts)


def get(
    service: Service,
    path: str,
    shape: Shape,
    params: Mapping[str, str] | None = None,
    microversion: str | None = None,
    timeout: float | None = None,
) -> Any:
    """Return the body of an answer that has all that the shape names.

    :param path: as for ``Service.get``, and so are all below ``shape``
    :raises CloudBroke: for an answer of another shape, and as ``Service.get``
    """
    body = service.get(path, params, microversion, timeout)
    wrong = _wrong(body, shape, "the top")
    if wrong is not None:
        asked = path.partition("?")[0]
        reason = f"unexpected answer to GET {asked}: not as it should be at {wrong}"
        raise errors.CloudBroke(service.service_type, reason)
    return body


def get_if_there(service: Service, path: str, shape: Shape) -> Any:
    """Return what :func:`get` does; None where the service says 404."""
    try:
        return get(service, path, shape)
    except errors.CloudBroke as exc:
        if exc.status == 404:
            return None
        raise


def _wrong(body: Any, shape: Shape, where: str) -> str | None:
    """Return the key at which a body is not as the shape says, or None.

    Plain loops: a large cloud's lists have a hundred thousand values.
    """
    if isinstance(shape, dict):
        return _wrong_key(body, shape, where)
    if not isinstance(shape, list):
        return None if isinstance(body, shape) else where
    if not isinstance(body, list):
        return where
    for each in body:
        wrong = _wrong(each, shape[0], where)
        if wrong is not None:
            return wrong
    return None


def _wrong_key(body: Any, shape: dict[Any, Any], where: str) -> str | None:
    if not isinstance(body, dict):
        return where
    keys = dict.fromkeys(body, shape[str]) if str in shape else shape
    for key, inner in keys.items():
        wrong = _wrong(body.get(key, _MISSING), inner, key)
        if wrong is not None:
            return wrong
    return None
