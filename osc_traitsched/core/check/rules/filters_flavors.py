"""Rules on extra specs that are compared with the metadata of aggregates."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping

from osc_traitsched.core.check.analysis import CAPABILITIES, EXTRA_SPECS, Analysis
from osc_traitsched.core.check.finding import Finding, Kind, Severity, Words
from osc_traitsched.core.check.survey import Demand
from osc_traitsched.core.check.words import unset
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.filter import supported
from osc_traitsched.core.nova.filter import values as ops
from osc_traitsched.core.nova.filter.aggregates import SCOPE, metadata_key
from osc_traitsched.core.nova.filter.state import Fails
from osc_traitsched.core.nova.filter.table import judge
from osc_traitsched.core.nova.question import Body, Question
from osc_traitsched.paste import Option, Placeholder, openstack
from osc_traitsched.text import listed

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

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        pairs = [f"{key}={value}" for key, value in self.wanted]
        if not self.key:
            return Words(
                f"{EXTRA_SPECS} keeps it out of all hosts: no host is in aggregates "
                f"that match all of {listed(pairs)}",
                "give one aggregate with hosts all that they want",
            )
        ((key, value),) = self.wanted
        values = [each or "''" for each in self.values]
        there = f"; there is {listed(values)}" if values else ""
        problem = (
            f"{EXTRA_SPECS} keeps it out of all hosts: none is in an aggregate whose "
            f"{self.key} matches {pairs[0]}{there}"
        )
        if not ops.can_match(value):
            return _of_no_value(problem, key, value, self.id)
        pair = f"{self.key}={value}"
        wanted = pair if ops.is_plain(value) else Placeholder(f"{self.key}=VALUE")
        return Words(
            problem,
            openstack(
                "aggregate set", Option("--property", wanted), Placeholder("AGGREGATE")
            ),
            f"give it to an aggregate with hosts, or take {key} off the flavor",
        )


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

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        pair = f"{self.key}={self.value}"
        scoped = f"{SCOPE}:{self.key}={self.value}"
        if self.is_object:
            problem = (
                f"{CAPABILITIES} compares {pair} with an object of the scheduler's own "
                "of this name, which equals no text: it keeps all hosts out"
            )
        else:
            problem = (
                f"{pair} has no scope, and a host has to match it twice: by an "
                f"aggregate ({EXTRA_SPECS}), and by what it has under this name itself "
                f"({CAPABILITIES})"
            )
        if not self.of_aggregates:
            return Words(problem, unset(Kind.FLAVOR, [self.key], self.id))
        return Words(
            problem,
            openstack("flavor set", Option("--property", scoped), self.id),
            f"say that aggregates are meant, and take {self.key} off",
        )


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
            is_object = supported.is_object(key) and ops.is_plain(value)
            if supported.exists(key) and (is_object or of_aggregates):
                identity = str(flavor.body["id"])
                yield FiltersUnscoped(
                    flavor.name, identity, key, value, is_object, of_aggregates
                )


def _of_no_value(problem: str, key: str, value: str, flavor: str) -> Words:
    """Return the words on what no value of any aggregate matches."""
    if ops.is_plain(value) and "," in value:
        parts = [each.strip() for each in value.split(",")]
        one_of = f"{key}=<or> {' <or> '.join(filter(None, parts))}"
        return Words(
            f"{problem}; an aggregate's value is split at commas, so that none equals "
            "one with a comma",
            openstack("flavor set", Option("--property", one_of), flavor),
            "to take any of them",
        )
    if ops.is_plain(value) and value.strip():
        pair = f"{key}={value.strip()}"
        return Words(
            f"{problem}; an aggregate's value is taken without the spaces around it, "
            "so that none equals one with such spaces",
            openstack("flavor set", Option("--property", pair), flavor),
        )
    return Words(f"{problem}; no value does", unset(Kind.FLAVOR, [key], flavor))
