"""Rules on extra specs that are compared with the metadata of aggregates."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.demand import Demand
from osc_traitsched.core.check.filtering import CAPABILITIES, EXTRA_SPECS
from osc_traitsched.core.check.finding import Finding, Kind, Severity
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.filter import attributes, ops
from osc_traitsched.core.nova.filter.aggregates import metadata_key
from osc_traitsched.core.nova.filter.answer import Fails
from osc_traitsched.core.nova.filter.judging import judge
from osc_traitsched.core.nova.question import Body, Question

Pair = tuple[str, str]


@dataclasses.dataclass(frozen=True)
class FiltersNoAggregate(Finding):
    """A flavor that no host's aggregates match.

    :ivar id: the flavor's
    :ivar wanted: an extra spec that no host's aggregates match, with its value; all of
        them where it is only together that they do not
    :ivar key: of aggregates, that the one is compared with
    :ivar values: that the aggregates of hosts have for it
    """

    rule = "filters-no-aggregate"
    kind = Kind.FLAVOR
    severity: Severity
    name: str
    id: str
    wanted: tuple[Pair, ...]
    key: str
    values: tuple[str, ...]


def no_aggregate(analysis: Analysis) -> Iterator[FiltersNoAggregate]:
    """Find flavors that the filter keeps out of all hosts, whatever else there is.

    nova/scheduler/filters/aggregate_instance_extra_specs.py
    """
    filtering = analysis.filtering
    if not filtering.is_on(EXTRA_SPECS) or not filtering.states:
        return
    known: dict[tuple[Pair, ...], bool] = {}
    for flavor in analysis.flavors:
        pairs = _compared(flavor.body)
        if not pairs or not _keeps_all_out(analysis, flavor, pairs, known):
            continue
        alone = [p for p in pairs if _keeps_all_out(analysis, flavor, (p,), known)]
        key = metadata_key(alone[0][0]) or "" if alone else ""
        values = {v for s in filtering.states for v in s.metadata.get(key, ())}
        yield FiltersNoAggregate(
            filtering.severity(Severity.ERROR, Severity.WARNING),
            flavor.name,
            str(flavor.body["id"]),
            tuple(alone[:1]) or pairs,
            key,
            tuple(sorted(values)),
        )


def _compared(body: Body) -> tuple[Pair, ...]:
    specs: Mapping[str, str] = body.get("extra_specs") or {}
    return tuple((k, v) for k, v in specs.items() if metadata_key(k) is not None)


def _keeps_all_out(
    analysis: Analysis,
    flavor: Demand,
    pairs: tuple[Pair, ...],
    known: dict[tuple[Pair, ...], bool],
) -> bool:
    """Tell whether no host's aggregates match these extra specs together."""
    if pairs not in known:
        known[pairs] = False
        settings = analysis.survey.assumptions
        body = {**flavor.body, "extra_specs": dict(pairs)}
        with contextlib.suppress(Refusal):
            spec = Question(body, None, (), settings).spec()
            known[pairs] = all(
                isinstance(judge(EXTRA_SPECS, states[0], spec, settings), Fails)
                for states in analysis.filtering.alike
            )
    return known[pairs]


@dataclasses.dataclass(frozen=True)
class FiltersUnscoped(Finding):
    """An extra spec without a scope that is the name of an attribute of hosts, too.

    :ivar id: the flavor's
    :ivar key: the extra spec, with its value
    :ivar is_object: no host has what is wanted: nothing equals the attribute
    :ivar of_aggregates: it is compared with aggregates, too
    """

    rule = "filters-unscoped"
    severity = Severity.WARNING
    kind = Kind.FLAVOR
    name: str
    id: str
    key: str
    value: str
    is_object: bool
    of_aggregates: bool


def unscoped(analysis: Analysis) -> Iterator[FiltersUnscoped]:
    """Find extra specs that are compared with an attribute that nobody had in mind.

    nova/scheduler/filters/compute_capabilities_filter.py, ``_satisfies_extra_specs``:
    without a scope it looks for any attribute of the host's state.
    """
    filtering = analysis.filtering
    if not filtering.is_on(CAPABILITIES):
        return
    of_aggregates = filtering.is_on(EXTRA_SPECS)
    for flavor in analysis.flavors:
        for key, value in (flavor.body.get("extra_specs") or {}).items():
            is_object = attributes.is_object(key) and ops.is_plain(value)
            if attributes.exists(key) and (is_object or of_aggregates):
                identity = str(flavor.body["id"])
                yield FiltersUnscoped(
                    flavor.name, identity, key, value, is_object, of_aggregates
                )
