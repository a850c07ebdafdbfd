"""Rules of the area filters: values that host filters can't compare."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
from collections.abc import Iterator, Mapping

from osc_traitsched.core.check.analysis import (
    CAPABILITIES,
    EXTRA_SPECS,
    IMAGE_ISOLATION,
    IMAGE_PROPERTIES,
    ISOLATED_HOSTS,
    Analysis,
)
from osc_traitsched.core.check.builder import ANY_FLAVOR
from osc_traitsched.core.check.finding import Finding, Severity, SubjectKind, Words
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.check.survey import StandaloneRequest
from osc_traitsched.core.check.words import aggregate_set, unset
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.metadata import (
    TENANT_KEY,
    new_project_keys,
    placement_projects,
    projects_of,
)
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import aggregates as image_filter
from osc_traitsched.core.nova.filter import values
from osc_traitsched.core.nova.filter.aggregates import (
    TENANT_SUFFIXES,
    compared_start,
    metadata_key,
)
from osc_traitsched.core.nova.filter.compute import ADDRESS_BITS, wanted_of
from osc_traitsched.core.nova.filter.state import (
    Fails,
    HostState,
    Raises,
    RequestSpec,
    Unknown,
)
from osc_traitsched.core.nova.filter.table import judge
from osc_traitsched.core.nova.question import NO_PROPERTIES, Body, Question
from osc_traitsched.core.nova.server import image as properties
from osc_traitsched.core.nova.settings import PROJECT_FILTER, Setting
from osc_traitsched.core.releases import release
from osc_traitsched.paste import Option, Placeholder, openstack
from osc_traitsched.text import listed, quoted, ranges

# Values that make a host filter raise an exception.


@dataclasses.dataclass(frozen=True)
class FiltersRaises(Finding):
    """An extra spec that makes a filter raise an exception.

    An error if the filters were supplied, else a warning. One of the two values is not
    a number. As soon as the filter reaches such a host, the request fails for all
    hosts.

    :ivar hosts: the hosts with the exception
    :ivar is_malformed: it would raise with any host's value
    :ivar metadata_key: the aggregate key that it is compared with; empty for none
    :ivar aggregates: the hosts' aggregates with that key
    """

    rule = "filters-raises"
    kind = SubjectKind.FLAVOR
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
        pair = f"{self.key}={self.value}"
        problem = (
            f"{self.filter} raises {self.exception} at {pair}, and the request fails "
            f"for all hosts, as soon as it comes to {ranges(self.hosts, 'host')}"
        )
        if self.is_malformed or not self.metadata_key:
            return Words(problem, unset(SubjectKind.FLAVOR, [self.key], self.id))
        return Words(
            f"{problem}: what {listed(self.aggregates, 'aggregate')} has is no number",
            openstack(
                "aggregate set",
                Option("--property", Placeholder(f"{self.metadata_key}=NUMBER")),
                *_only(self.aggregates),
            ),
        )


def raising(analysis: Analysis) -> Iterator[FiltersRaises]:
    """The exception ends the whole request.

    nova/scheduler/filters/extra_specs_ops.py, ``match``
    """
    known: dict[object, Mapping[Raises, list[HostState]]] = {}
    for flavor in analysis.flavors:
        specs = flavor.specs
        for name in (EXTRA_SPECS, CAPABILITIES):
            if not _may_raise(analysis, name, specs):
                continue
            key = name, tuple(specs.items())
            if key not in known:
                known[key] = _raised(analysis, name, flavor.body)
            for raised, states in known[key].items():
                yield _finding(analysis, name, flavor, raised, states)


def _may_raise(analysis: Analysis, name: str, specs: Mapping[str, str]) -> bool:
    """Whether a filter might raise; most flavors compare no numbers."""
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
    flavor: StandaloneRequest,
    raised: Raises,
    states: list[HostState],
) -> FiltersRaises:
    compared = raised.key if filter_name == EXTRA_SPECS else ""
    having = (a.name for s in states for a in s.aggregates if compared in a.metadata)
    return FiltersRaises(
        analysis.filtering.severity(Severity.ERROR, Severity.WARNING),
        flavor.name,
        flavor.id,
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
    """An image property that makes a filter raise for every matching host.

    An error if the filters were supplied, else a warning. From 2024.1 on,
    ImagePropertiesFilter fails for images with ``hw_maxphysaddr_bits`` and an
    architecture, hypervisor type or mode. Set the property in the flavor instead.

    :ivar asked: properties compared before: the architecture, the type, the mode
    """

    rule = "filters-image-raises"
    pedantic = True
    kind = SubjectKind.IMAGE
    severity: Severity
    name: str
    id: str
    key: str
    value: str
    asked: tuple[str, ...]

    def words(self) -> Words:
        return Words(
            f"{IMAGE_PROPERTIES} raises AttributeError at {self.key}={self.value} on "
            f"each host that runs {', '.join(self.asked)}, and the request fails",
            unset(SubjectKind.IMAGE, [self.key], self.id),
            f"a flavor's {ADDRESS_BITS} is compared by {CAPABILITIES}; take it off "
            "here",
        )


def image_raising(analysis: Analysis) -> Iterator[FiltersImageRaises]:
    """Since 29 the filter treats ``cpu_info``, a text, as a mapping
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
                image.id,
                image_filter.ADDRESS_BITS,
                str(value),
                tuple(image_filter.supported_by_image(spec, settings).values()),
            )


def _raises_where_it_fits(
    states: tuple[HostState, ...], spec: RequestSpec, analysis: Analysis
) -> bool:
    """Whether the filter rejects each host or raises, and raises at least once."""
    settings = analysis.survey.assumptions
    answers = [judge(IMAGE_PROPERTIES, state, spec, settings) for state in states]
    left = [each for each in answers if not isinstance(each, Fails)]
    return bool(left) and all(
        isinstance(each, Raises) or (isinstance(each, Unknown) and each.may_raise)
        for each in left
    )


def _only(aggregates: tuple[str, ...]) -> tuple[str | Placeholder]:
    return (aggregates[0] if len(aggregates) == 1 else Placeholder("AGGREGATE"),)


# Keys and values that AggregateImagePropertiesIsolation can't compare.


@dataclasses.dataclass(frozen=True)
class FiltersImageKey(Finding):
    """An aggregate's key that images have, but that the filter does not compare.

    AggregateImagePropertiesIsolation ignores custom properties and old names, such as
    ``architecture`` for ``hw_architecture``. Use the current name, or isolate the
    aggregate by a trait.

    :ivar current: Nova's current name of the property; empty for a custom one
    """

    rule = "filters-image-key"
    pedantic = True
    severity = Severity.WARNING
    kind = SubjectKind.AGGREGATE
    name: str
    id: int
    key: str
    value: str
    current: str
    images: tuple[str, ...]

    def words(self) -> Words:
        having = listed(self.images, "image")
        if self.current:
            return Words(
                f"{self.key} is the old name of {self.current}, and "
                f"{IMAGE_ISOLATION} does not compare it, whatever {having} has",
                aggregate_set(self.id, f"{self.current}={self.value}"),
                f"name the property by its name of today, and take {self.key} off",
            )
        return Words(
            f"{self.key} is a property that Nova does not know, and {IMAGE_ISOLATION} "
            f"does not compare it, whatever {having} has",
            "isolate the aggregate by a trait that the images require: "
            "openstack trait-sched isolate",
        )


def image_key(analysis: Analysis) -> Iterator[FiltersImageKey]:
    """Finds custom properties and old names.

    Glance's own keys, and traits, are left out.
    """
    release = analysis.survey.assumptions.release
    for aggregate, key, value in _compared(analysis):
        if properties.is_property(key, release) or key.startswith("trait:"):
            continue
        if key in NO_PROPERTIES:
            continue
        current = properties.current_name(key)
        having = tuple(
            each.name
            for each in analysis.images
            if key in each.body or (current and current in each.body)
        )
        if having:
            yield FiltersImageKey(
                aggregate.name, aggregate.id, key, value, current or "", having
            )


@dataclasses.dataclass(frozen=True)
class FiltersImageValue(Finding):
    """A value that no image property can equal.

    AggregateImagePropertiesIsolation compares the text that Python prints: ``True``,
    not ``true``; ``x86_64``, not ``amd64``; ``4``, not ``04``.

    :ivar key: the metadata key; its value may be a list
    :ivar odd: the impossible value
    :ivar meant: Nova's spelling of it
    """

    rule = "filters-image-value"
    severity = Severity.ERROR
    kind = SubjectKind.AGGREGATE
    name: str
    id: int
    key: str
    value: str
    odd: str
    meant: str

    def words(self) -> Words:
        values = [each.strip() for each in self.value.split(",")]
        mended = (self.meant if each == self.odd else each for each in values)
        return Words(
            f"{self.key}={self.value}: {IMAGE_ISOLATION} compares {self.meant}, "
            f"and {self.odd} equals no image's property: images that have it are kept "
            "out",
            aggregate_set(self.id, f"{self.key}={','.join(mended)}"),
        )


def image_value(analysis: Analysis) -> Iterator[FiltersImageValue]:
    """Nova compares Python's spelling of a property: ``True``, or ``x86_64`` for
    ``amd64``.
    """
    release = analysis.survey.assumptions.release
    for aggregate, key, value in _compared(analysis):
        values = [each.strip() for each in value.split(",")]
        for odd in values:
            meant = properties.as_written(key, odd, release)
            if meant not in (None, *values):
                yield FiltersImageValue(
                    aggregate.name, aggregate.id, key, value, odd, meant or ""
                )


def _compared(analysis: Analysis) -> tuple[tuple[Aggregate, str, str], ...]:
    """The keys that the filter may compare, if it is enabled."""
    is_on = analysis.filtering.is_on(IMAGE_ISOLATION)
    none_compared = compared_start(analysis.survey.assumptions)
    return analysis.filtering.metadata if is_on and not none_compared else ()


# Names of projects, images and hosts.


_NOWHERE = {
    options.ISOLATED_HOSTS: "no service host has this name",
    options.ISOLATED_IMAGES: "no active image has this ID",
}


@dataclasses.dataclass(frozen=True)
class FiltersTenantSuffix(Finding):
    """Keys with suffixes for projects, which the filter does not read.

    Before 2024.2, AggregateMultiTenancyIsolation reads only the key
    ``filter_tenant_id``, which can hold a list. The prefilter does read keys with
    suffixes, but no lists.

    :ivar projects: projects that only these keys name
    :ivar listed: projects of the key without a suffix; empty without that key
    :ivar is_asked: Placement enforces projects, and so Nova reads the suffixes there
    :ivar own: keys to add for projects that Placement would not find in a list
    """

    rule = "filters-tenant-suffix"
    severity = Severity.ERROR
    kind = SubjectKind.AGGREGATE
    name: str
    id: int
    keys: tuple[str, ...]
    projects: tuple[str, ...]
    listed: tuple[str, ...]
    release: int
    is_asked: bool
    own: tuple[tuple[str, str], ...]

    def words(self) -> Words:
        nova = f"{PROJECT_FILTER} of Nova {release(self.release)}"
        projects = listed(self.projects, "project")
        named = " that no aggregate names" if self.is_asked else ""
        then = f"lets all projects{named} in"
        if self.listed:
            then = f"keeps out the {projects}"
        problem = f"{nova} does not read {listed(self.keys)}, and {then}"
        ids = ",".join((*self.listed, *self.projects))
        keys = (f"{key}={project}" for key, project in self.own)
        return Words(
            problem,
            aggregate_set(self.id, f"{TENANT_KEY}={ids}", *keys),
            "a value has 255 characters at most",
        )


def tenant_suffix(analysis: Analysis) -> Iterator[FiltersTenantSuffix]:
    """The filter reads suffixes since 30.

    With a plain key, it rejects the other projects; without one, it lets all in. If
    Placement enforces projects, only those without an aggregate get in, or none if each
    needs one (nova/scheduler/filters/aggregate_multitenancy_isolation.py,
    nova/scheduler/request_filter.py, ``require_tenant_aggregate``).
    """
    release = analysis.survey.assumptions.release
    if release >= TENANT_SUFFIXES or not analysis.filtering.is_on(PROJECT_FILTER):
        return
    is_asked = analysis.is_on(options.TENANT)
    is_safe = is_asked and analysis.is_on(options.TENANT_REQUIRED)
    for aggregate in sorted(analysis.survey.nova.aggregates, key=lambda a: a.name):
        found = dict(aggregate.projects)
        exact = projects_of(found.pop(TENANT_KEY, ""))
        named = dict.fromkeys(p for value in found.values() for p in projects_of(value))
        left = tuple(each for each in named if each not in exact)
        if left and (exact or not is_safe):
            then = {**aggregate.projects, TENANT_KEY: ",".join((*exact, *left))}
            lost = (
                placement_projects(aggregate.projects) - placement_projects(then)
                if is_asked
                else ()
            )
            yield FiltersTenantSuffix(
                aggregate.name,
                aggregate.id,
                tuple(sorted(found)),
                left,
                exact,
                release,
                is_asked,
                tuple(new_project_keys(sorted(lost), then)),
            )


class Stray(enum.Enum):
    """The meaning of a name that the filter does not find."""

    #: A service host, in another case.
    LETTERS = "letters"
    #: A node, not its service host.
    NODE = "node"
    #: An image's name, not its ID.
    IMAGE_NAME = "image name"
    #: Nothing.
    NOTHING = "nothing"


@dataclasses.dataclass(frozen=True)
class FiltersIsolated(Finding):
    """An isolated host or image that does not exist.

    IsolatedHostsFilter compares the service host's exact name and the image's ID. An
    entry that matches nothing isolates nothing.

    :ivar meant: existing names or IDs
    """

    rule = "filters-isolated"
    severity = Severity.WARNING
    kind = SubjectKind.OPTION
    name: str
    value: str
    stray: Stray
    meant: tuple[str, ...]
    setting: Setting

    def words(self) -> Words:
        meant = listed(self.meant)
        what = {
            Stray.LETTERS: f"the service host is {meant}, and letters count",
            Stray.NODE: "this is a node, and the filter compares its service host "
            + meant,
            Stray.IMAGE_NAME: f"this is a name, and the filter compares the ID {meant}",
            Stray.NOTHING: _NOWHERE[self.name],
        }[self.stray]
        source = self.setting.source
        return Words(
            f"{quoted(self.value)} isolates nothing ({source}): {what}",
            f"write {meant} instead" if self.meant else "take it off the list",
        )


def isolated(analysis: Analysis) -> Iterator[FiltersIsolated]:
    """The filter needs the exact name of the service host, and the image's ID
    (nova/scheduler/filters/isolated_hosts_filter.py).
    """
    if not analysis.filtering.is_on(ISOLATED_HOSTS):
        return
    for option, judged in (
        (options.ISOLATED_HOSTS, _host),
        (options.ISOLATED_IMAGES, _image),
    ):
        setting = analysis.setting(option)
        values = setting.value if isinstance(setting.value, tuple) else ()
        for value in dict.fromkeys(values):
            found = judged(analysis, value)
            if found is not None:
                yield FiltersIsolated(option, value, *found, setting)


def _host(analysis: Analysis, value: str) -> tuple[Stray, tuple[str, ...]] | None:
    computes = analysis.survey.nova.computes
    hosts = dict.fromkeys(each.service_host for each in computes)
    if value in hosts:
        return None
    alike = tuple(each for each in hosts if each.casefold() == value.casefold())
    if alike:
        return Stray.LETTERS, alike
    of_node = tuple(each.service_host for each in computes if each.node == value)
    return (Stray.NODE, of_node) if of_node else (Stray.NOTHING, ())


def _image(analysis: Analysis, value: str) -> tuple[Stray, tuple[str, ...]] | None:
    images = analysis.survey.images
    if any(each["id"] == value for each in images):
        return None
    named = tuple(str(each["id"]) for each in images if each.get("name") == value)
    if not named:
        analysis.survey.need_all("images")
    return (Stray.IMAGE_NAME, named) if named else (Stray.NOTHING, ())


RULES = (
    Rule(FiltersRaises, raising, SubjectKind.FLAVOR),
    Rule(FiltersImageRaises, image_raising, SubjectKind.IMAGE),
    Rule(FiltersTenantSuffix, tenant_suffix, SubjectKind.AGGREGATE),
    Rule(FiltersIsolated, isolated, SubjectKind.OPTION),
    Rule(FiltersImageKey, image_key, SubjectKind.AGGREGATE),
    Rule(FiltersImageValue, image_value, SubjectKind.AGGREGATE),
)
