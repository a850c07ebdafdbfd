"""Rules on values that a host filter raises an exception at."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping

from osc_traitsched.core.check.analysis import (
    CAPABILITIES,
    EXTRA_SPECS,
    IMAGE_PROPERTIES,
    Analysis,
)
from osc_traitsched.core.check.builder import ANY_FLAVOR
from osc_traitsched.core.check.finding import Finding, Kind, Severity, Words
from osc_traitsched.core.check.survey import Demand
from osc_traitsched.core.check.words import unset
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.filter import aggregates as image_filter
from osc_traitsched.core.nova.filter import values
from osc_traitsched.core.nova.filter.aggregates import metadata_key
from osc_traitsched.core.nova.filter.compute import ADDRESS_BITS, wanted_of
from osc_traitsched.core.nova.filter.state import (
    Fails,
    HostState,
    Raises,
    RequestSpec,
    Unknown,
)
from osc_traitsched.core.nova.filter.table import judge
from osc_traitsched.core.nova.question import Body, Question
from osc_traitsched.paste import Option, Placeholder, openstack
from osc_traitsched.text import listed, ranges


@dataclasses.dataclass(frozen=True)
class FiltersRaises(Finding):
    """An extra spec that raises an exception where a filter compares it.

    :ivar id: the flavor's
    :ivar filter: its name
    :ivar key: the extra spec, with its value
    :ivar hosts: those at which the filter raises
    :ivar is_malformed: it would raise at any value of a host's
    :ivar metadata_key: of the aggregates that it is compared with; empty for none
    :ivar aggregates: those of the hosts that have the key
    """

    rule = "filters-raises"
    kind = Kind.FLAVOR
    severity: Severity
    name: str
    id: str
    filter: str
    exception: str
    key: str
    value: str
    hosts: tuple[str, ...]
    is_malformed: bool
    metadata_key: str
    aggregates: tuple[str, ...]

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        pair = f"{self.key}={self.value}"
        problem = (
            f"{self.filter} raises {self.exception} at {pair}, and the request fails "
            f"for all hosts, as soon as it comes to {ranges(self.hosts, 'host')}"
        )
        if self.is_malformed or not self.metadata_key:
            return Words(problem, unset(Kind.FLAVOR, [self.key], self.id))
        return Words(
            f"{problem}: what {listed(self.aggregates, 'aggregate')} has is no number",
            openstack(
                "aggregate set",
                Option("--property", Placeholder(f"{self.metadata_key}=NUMBER")),
                *_only(self.aggregates),
            ),
        )


def raising(analysis: Analysis) -> Iterator[FiltersRaises]:
    """Find extra specs that a filter can't compare with what hosts have.

    nova/scheduler/filters/extra_specs_ops.py, ``match``: nothing catches what it
    raises, and so the request fails as a whole.
    """
    known: dict[object, Mapping[Raises, list[HostState]]] = {}
    for flavor in analysis.flavors:
        specs = flavor.body.get("extra_specs") or {}
        for name in (EXTRA_SPECS, CAPABILITIES):
            if not _may_raise(analysis, name, specs):
                continue
            key = name, tuple(specs.items())
            if key not in known:
                known[key] = _raised(analysis, name, flavor.body)
            for raised, states in known[key].items():
                yield _finding(analysis, name, flavor, raised, states)


def _may_raise(analysis: Analysis, name: str, specs: Mapping[str, str]) -> bool:
    """Tell whether there is anything to look at; most flavors compare no numbers."""
    if not analysis.filtering.is_on(name):
        return False
    if name == CAPABILITIES:
        wanted = wanted_of(specs, analysis.survey.assumptions.release)
        return any(values.may_raise(each.value) for each in wanted)
    return any(values.may_raise(v) for k, v in specs.items() if metadata_key(k))


def _raised(
    analysis: Analysis, name: str, body: Body
) -> Mapping[Raises, list[HostState]]:
    settings = analysis.survey.assumptions
    found: dict[Raises, list[HostState]] = {}
    with contextlib.suppress(Refusal):
        spec = Question(body, None, (), settings).request_spec()
        for states in analysis.filtering.alike:
            answer = None
            for state in states:
                if answer is None or name == CAPABILITIES:
                    answer = judge(name, state, spec, settings)
                if isinstance(answer, Raises):
                    found.setdefault(answer, []).append(state)
    return found


def _finding(
    analysis: Analysis,
    filter_name: str,
    flavor: Demand,
    raised: Raises,
    states: list[HostState],
) -> FiltersRaises:
    compared = raised.key if filter_name == EXTRA_SPECS else ""
    having = (a.name for s in states for a in s.aggregates if compared in a.metadata)
    return FiltersRaises(
        analysis.filtering.severity(Severity.ERROR, Severity.WARNING),
        flavor.name,
        str(flavor.body["id"]),
        filter_name,
        raised.exception,
        raised.origin.key if raised.origin else raised.key,
        raised.value,
        tuple(dict.fromkeys(state.host for state in states)),
        _is_malformed(raised.value),
        compared,
        tuple(sorted(set(having))),
    )


def _is_malformed(wanted: str) -> bool:
    try:
        values.match("0", wanted)
    except values.ERRORS:
        return True
    return False


@dataclasses.dataclass(frozen=True)
class FiltersImageRaises(Finding):
    """An image of which a property makes a filter raise at every host that fits.

    :ivar id: the image's
    :ivar key: of the property, with its value
    :ivar asked: what the filter compares before: the architecture, the type, the mode
    """

    rule = "filters-image-raises"
    kind = Kind.IMAGE
    severity: Severity
    name: str
    id: str
    key: str
    value: str
    asked: tuple[str, ...]

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        return Words(
            f"{IMAGE_PROPERTIES} raises AttributeError at {self.key}={self.value} on "
            f"each host that runs {', '.join(self.asked)}, and the request fails",
            unset(Kind.IMAGE, [self.key], self.id),
            f"a flavor's {ADDRESS_BITS} is compared by {CAPABILITIES}; take it off "
            "here",
        )


def image_raising(analysis: Analysis) -> Iterator[FiltersImageRaises]:
    """Find images whose address bits raise at every host that can run them.

    From 29 on the filter takes ``cpu_info``, which is a text, for a mapping
    (nova/scheduler/filters/image_props_filter.py, ``_instance_supported``).
    """
    filtering = analysis.filtering
    if not filtering.is_on(IMAGE_PROPERTIES):
        return
    for image in analysis.images:
        value = image.body.get(image_filter.ADDRESS_BITS)
        if value is None:
            continue
        settings = analysis.survey.assumptions
        try:
            spec = Question(ANY_FLAVOR, image.body, (), settings).request_spec()
        except Refusal:
            continue
        if _raises_where_it_fits(filtering.states, spec, analysis):
            yield FiltersImageRaises(
                filtering.severity(Severity.ERROR, Severity.WARNING),
                image.name,
                str(image.body["id"]),
                image_filter.ADDRESS_BITS,
                str(value),
                tuple(image_filter.supported_by_image(spec, settings).values()),
            )


def _raises_where_it_fits(
    states: tuple[HostState, ...], spec: RequestSpec, analysis: Analysis
) -> bool:
    """Tell whether each host is kept out, or raises as soon as it is not."""
    settings = analysis.survey.assumptions
    answers = [judge(IMAGE_PROPERTIES, state, spec, settings) for state in states]
    left = [each for each in answers if not isinstance(each, Fails)]
    return bool(left) and all(
        isinstance(each, Raises) or (isinstance(each, Unknown) and each.may_raise)
        for each in left
    )


def _only(aggregates: tuple[str, ...]) -> tuple[str | Placeholder]:
    return (aggregates[0] if len(aggregates) == 1 else Placeholder("AGGREGATE"),)
