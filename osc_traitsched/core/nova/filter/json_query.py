"""The filter whose query a user writes as a hint, in JSON."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping
from typing import Any

from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter import reasons
from osc_traitsched.core.nova.filter.answer import (
    PASSES,
    Answer,
    Fails,
    Raises,
    Unknown,
)
from osc_traitsched.core.nova.filter.attributes import (
    NotVisible,
    attribute,
    statistic,
)
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec
from osc_traitsched.core.nova.settings import SchedulerSettings

QUERY = "query"
_ERRORS = (AttributeError, KeyError, RecursionError, TypeError, ValueError)

_COMPARED: Mapping[str, Callable[[Any, Any], object]] = {
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_JOINED: Mapping[str, Callable[[list[object]], object]] = {
    "not": lambda args: [not arg for arg in args],
    "or": any,
    "and": all,
}


def json_filter(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Want the query to hold for the host; all of it is computed.

    nova/scheduler/filters/json_filter.py, ``JsonFilter``
    """
    texts = spec.hints.get(QUERY, ())
    if not any(texts):
        return PASSES
    text, origin = ", ".join(texts), Origin("hint", QUERY)
    try:
        if len(texts) > 1:
            raise TypeError
        found = _computed(json.loads(texts[0]), host)
    except NotVisible as hidden:
        return Unknown(hidden.name, QUERY)
    except _ERRORS as exc:
        return Raises(type(exc).__name__, QUERY, text, origin)
    holds = any(found) if isinstance(found, list) else found
    return PASSES if holds else Fails(reasons.QUERY_IS_FALSE, QUERY, text, (), origin)


def _computed(query: object, host: HostState) -> object:
    """Return what a query comes to, with Python's own exceptions.

    What is not there is left out of what is compared.
    """
    if not query:
        return True
    if not isinstance(query, (list, str)):
        raise KeyError if isinstance(query, dict) else TypeError
    name, *written = list(query)
    if name not in _COMPARED and name not in _JOINED and name != "in":
        raise KeyError
    values = (_value(each, host) for each in written)
    args = [value for value in values if value is not None]
    if name in _JOINED:
        return _JOINED[name](args)
    if len(args) < 2:
        return False
    if name == "in":
        return args[0] in args[1:]
    compare = _COMPARED[name]
    results = [compare(args[0], each) for each in args[1:]]
    return all(results)


def _value(written: object, host: HostState) -> object:
    """Return an argument: another query, ``$attribute.key``, or what is written."""
    if isinstance(written, list):
        return _computed(written, host)
    if not isinstance(written, str):
        return written
    if not written.startswith("$"):
        return written or None
    return _looked_up(written[1:].split("."), host)


def _looked_up(path: list[str], host: HostState) -> object:
    first, *steps = path
    if first == "stats" and steps:
        found, steps = statistic(host, steps[0]), steps[1:]
    elif first == "cpu_info" and steps:
        raise AttributeError
    else:
        found = attribute(host, first)
    if found is not None and steps:
        raise AttributeError
    return found
