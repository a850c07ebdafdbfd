"""Host filters that compare values or JSON (nova/scheduler/filters)."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter import state
from osc_traitsched.core.nova.filter.state import (
    PASSES,
    Fails,
    FilterResult,
    HostState,
    NotVisible,
    Raises,
    RequestSpec,
    Unknown,
    attribute,
    statistic,
)
from osc_traitsched.core.nova.settings import SchedulerSettings

# How the value of an extra spec is compared with what a host has.


#: What :func:`match` can raise.
ERRORS = (ValueError, IndexError)

_NUMBERS: Mapping[str, Callable[[float, float], bool]] = {
    "=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
}
_TEXTS: Mapping[str, Callable[[str, str], bool]] = {
    "s==": operator.eq,
    "s!=": operator.ne,
    "s<": operator.lt,
    "s<=": operator.le,
    "s>": operator.gt,
    "s>=": operator.ge,
    "<in>": operator.contains,
}


def match(value: str, wanted: str) -> bool:
    """Whether a host's value matches an extra spec (``match``).

    The first word can be an operator; ``=`` means "at least". An operator without an
    operand matches nothing.

    :raises ValueError: if numbers are compared and one is invalid
    :raises IndexError: for ``<or>`` alone
    """
    op, *operands = wanted.split() or [""]
    if op == "<or>":
        return _is_one_of(value, operands)
    if op == "<all-in>":
        return bool(operands) and all(each in value for each in operands)
    if op not in _NUMBERS and op not in _TEXTS:
        return value == wanted
    if not operands:
        return False
    if op in _TEXTS:
        return _TEXTS[op](value, operands[0])
    return _NUMBERS[op](float(value), float(operands[0]))


def may_raise(wanted: str) -> bool:
    """Whether :func:`match` raises an exception for some values."""
    op, *operands = wanted.split() or [""]
    return op in _NUMBERS if operands else op == "<or>"


def can_match(wanted: str) -> bool:
    """Whether any metadata value can match.

    Nova splits values at commas (``aggregate_metadata_get_by_host``).
    """
    if is_plain(wanted):
        return "," not in wanted and wanted == wanted.strip()
    return len(wanted.split()) > 1


def is_plain(wanted: str) -> bool:
    """Whether the whole text is compared, without an operator."""
    op = next(iter(wanted.split()), "")
    return op not in _NUMBERS and op not in _TEXTS and op not in ("<or>", "<all-in>")


def _is_one_of(value: str, words: list[str]) -> bool:
    """Compare with every second word, whatever separates them."""
    if not words:
        raise IndexError
    return value in words[::2]


# The filters that count what is on a host, and what an aggregate's metadata allows.


Number = TypeVar("Number", int, float)

MAX_IO_OPS, MAX_INSTANCES = "max_io_ops_per_host", "max_instances_per_host"


def num_instances(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Limit the servers on a host (``NumInstancesFilter``)."""
    return _few_servers(host, *by_option(settings, options.MAX_INSTANCES))


def aggregate_num_instances(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Limit servers; aggregates go first (``AggregateNumInstancesFilter``)."""
    limit = lowest(host, MAX_INSTANCES, int)
    return _few_servers(host, *(limit or by_option(settings, options.MAX_INSTANCES)))


def io_ops(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Limit concurrent builds, resizes and so on (``IoOpsFilter``)."""
    return _few_io_ops(host, *by_option(settings, options.MAX_IO_OPS))


def aggregate_io_ops(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> FilterResult:
    """Limit these tasks; aggregates go first (``AggregateIoOpsFilter``)."""
    limit = lowest(host, MAX_IO_OPS, int)
    return _few_io_ops(host, *(limit or by_option(settings, options.MAX_IO_OPS)))


def most_io_ops(host: HostState) -> int | None:
    """Upper bound of ``num_io_ops`` of a host; None without a report.

    Each server that Nova counts has a task in the report, or is one of
    ``Compute.builds``: a built server counts until the host's next report
    (nova/compute/stats.py, ``Stats.io_workload``).
    """
    report, builds = host.compute.report, host.compute.builds
    if report is None:
        return None
    if builds is None:
        return report.running_vms
    return min(report.running_vms, report.current_workload + builds)


def _few_servers(host: HostState, limit: int, origin: Origin) -> FilterResult:
    report = host.compute.report
    if report is None:
        return Unknown("num_instances", origin.key)
    if report.running_vms < limit:
        return PASSES
    count = (str(report.running_vms),)
    return Fails(state.AT_LIMIT, origin.key, str(limit), count, origin)


def _few_io_ops(host: HostState, limit: int, origin: Origin) -> FilterResult:
    if limit <= 0:
        return Fails(state.AT_LIMIT, origin.key, str(limit), origin=origin)
    most = most_io_ops(host)
    if most is None:
        return Unknown("num_io_ops", origin.key)
    if most < limit:
        return PASSES
    return Unknown("num_io_ops", origin.key, f"{most} at most")


def by_option(settings: SchedulerSettings, option: str) -> tuple[int, Origin]:
    """The limit that an option sets."""
    value = settings.value(option)
    return (value if isinstance(value, int) else 0), Origin("option", option)


def lowest(
    host: HostState, key: str, read: Callable[[str], Number]
) -> tuple[Number, Origin] | None:
    """The lowest value of the host's aggregates for a key, with its origin.

    None, and then the option counts, if no aggregate has the key or if a value is not a
    number (``validate_num_values``).
    """
    having = [each for each in host.aggregates if key in each.metadata]
    try:
        values = [(read(each.metadata[key]), each) for each in having]
    except ValueError:
        return None
    if not values:
        return None
    value, aggregate = min(values, key=lambda each: each[0])
    return value, Origin.of_aggregate(aggregate, key)


# The filter whose query a user writes as a hint, in JSON.


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
) -> FilterResult:
    """Require the query of the hint to hold (``JsonFilter``)."""
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
    return PASSES if holds else Fails(state.QUERY_IS_FALSE, QUERY, text, (), origin)


def _computed(query: object, host: HostState) -> object:
    """Missing values are left out of comparisons."""
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
