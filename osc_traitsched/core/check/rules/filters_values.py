"""Rules of the area filters: values that host filters can't compare."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from osc_traitsched.core.check.analysis import ANY_FLAVOR, Analysis
from osc_traitsched.core.check.finding import (
    ERROR,
    WARNING,
    Fault,
    Severity,
    SubjectKind,
)
from osc_traitsched.core.check.rule import rule
from osc_traitsched.core.check.survey import StandaloneRequest
from osc_traitsched.core.check.words import aggregate_name, aggregate_set, unset
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.metadata import (
    TENANT_KEY,
    new_project_keys,
    placement_projects,
    projects_of,
)
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.names import near_names
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import aggregates as image_filter
from osc_traitsched.core.nova.filter import special, values
from osc_traitsched.core.nova.filter.aggregates import (
    TENANT_SUFFIXES,
    compared_start,
    metadata_key,
)
from osc_traitsched.core.nova.filter.compute import ADDRESS_BITS, wanted_of
from osc_traitsched.core.nova.filter.special import (
    CAPABILITIES,
    EXTRA_SPECS,
    IMAGE_ISOLATION,
    IMAGE_PROPERTIES,
    ISOLATED_HOSTS,
)
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
from osc_traitsched.core.nova.weigher import ranking
from osc_traitsched.core.releases import release
from osc_traitsched.paste import Option, Placeholder, openstack
from osc_traitsched.text import did_you_mean, listed, option, quoted, ranges

# Values that make a host filter raise an exception.


@rule("filters-raises", SubjectKind.FLAVOR)
def raising(analysis: Analysis) -> Iterator[Fault]:
    """An extra spec that makes a filter raise an exception.

    An error if the filters were supplied, else a warning. One of the two values is not
    a number. As soon as the filter reaches such a host, the request fails for all
    hosts.
    """
    # nova/scheduler/filters/extra_specs_ops.py, match
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
                yield _fault(analysis, name, flavor, raised, states)


def _may_raise(analysis: Analysis, name: str, specs: Mapping[str, str]) -> bool:
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


def _fault(
    analysis: Analysis,
    filter_name: str,
    flavor: StandaloneRequest,
    raised: Raises,
    states: list[HostState],
) -> Fault:
    key = raised.origin.key if raised.origin else raised.key
    hosts = tuple(dict.fromkeys(state.host for state in states))
    problem = (
        f"{filter_name} raises {raised.exception} at {key}={raised.value}, and the "
        f"request fails for all hosts, as soon as it comes to {ranges(hosts, 'host')}"
    )
    severity = analysis.filtering.severity(Severity.ERROR, Severity.WARNING)
    if filter_name != EXTRA_SPECS or not raised.key or _is_malformed(raised.value):
        fix = unset(SubjectKind.FLAVOR, [key], flavor.id)
        return Fault(severity, flavor.name, problem, fix, hosts=hosts)
    aggregates = analysis.survey.nova.aggregates
    around = [a for a in aggregates if not {*hosts}.isdisjoint(a.hosts)]
    having = [a for a in around if raised.key in a.metadata]
    names = tuple(sorted(a.name for a in having))
    return Fault(
        severity,
        flavor.name,
        f"{problem}: what {listed(names, 'aggregate')} has is no number",
        openstack(
            "aggregate set",
            Option("--property", Placeholder(f"{raised.key}=NUMBER")),
            aggregate_name(having[0]) if len(having) == 1 else Placeholder("AGGREGATE"),
        ),
        aggregates=names,
        hosts=hosts,
    )


def _is_malformed(wanted: str) -> bool:
    try:
        values.match("0", wanted)
    except values.ERRORS:
        return True
    return False


@rule("filters-image-raises", SubjectKind.IMAGE, pedantic=True)
def image_raising(analysis: Analysis) -> Iterator[Fault]:
    """An image property that makes a filter raise for every matching host.

    An error if the filters were supplied, else a warning. From 2024.1 on,
    ImagePropertiesFilter fails for images with ``hw_maxphysaddr_bits`` and an
    architecture, hypervisor type or mode. Set the property in the flavor instead.
    """
    # Since 29 the filter treats cpu_info, a text, as a mapping
    # (nova/scheduler/filters/image_props_filter.py, _instance_supported).
    filtering, settings = analysis.filtering, analysis.survey.assumptions
    if not filtering.is_on(IMAGE_PROPERTIES):
        return
    key = image_filter.ADDRESS_BITS
    for image in analysis.images:
        if image.body.get(key) is None:
            continue
        try:
            spec = Question(ANY_FLAVOR, image.body, (), settings).request_spec()
        except Refusal:
            continue
        if _raises_where_it_fits(filtering.states, spec, analysis):
            runs = image_filter.supported_by_image(spec, settings).values()
            yield Fault(
                filtering.severity(Severity.ERROR, Severity.WARNING),
                image.name,
                f"{IMAGE_PROPERTIES} raises AttributeError at {key}={image.body[key]} "
                f"on each host that runs {', '.join(runs)}, and the request fails",
                unset(SubjectKind.IMAGE, [key], image.id),
                f"a flavor's {ADDRESS_BITS} is compared by {CAPABILITIES}; take it off "
                "here",
            )


def _raises_where_it_fits(
    states: tuple[HostState, ...], spec: RequestSpec, analysis: Analysis
) -> bool:
    settings = analysis.survey.assumptions
    answers = [judge(IMAGE_PROPERTIES, state, spec, settings) for state in states]
    left = [each for each in answers if not isinstance(each, Fails)]
    return bool(left) and all(
        isinstance(each, Raises) or (isinstance(each, Unknown) and each.may_raise)
        for each in left
    )


# Keys and values that AggregateImagePropertiesIsolation can't compare.


@rule("filters-image-key", SubjectKind.AGGREGATE, pedantic=True)
def image_key(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* An aggregate's key that images have, but that the filter does not
    compare.

    AggregateImagePropertiesIsolation ignores custom properties and old names, such as
    ``architecture`` for ``hw_architecture``. Use the current name, or isolate the
    aggregate by a trait.
    """
    release = analysis.survey.assumptions.release
    for aggregate, key, value in _compared(analysis):
        if properties.is_property(key, release) or key.startswith("trait:"):
            continue
        if key in NO_PROPERTIES:
            continue
        current = properties.current_name(key)
        images = tuple(
            each.name
            for each in analysis.images
            if key in each.body or (current and current in each.body)
        )
        ignored = (
            f"and {IMAGE_ISOLATION} does not compare it, whatever "
            f"{listed(images, 'image')} has"
        )
        if images and current:
            yield WARNING(
                aggregate.name,
                f"{key} is the old name of {current}, {ignored}",
                aggregate_set(aggregate, f"{current}={value}"),
                f"name the property by its name of today, and take {key} off",
                images=images,
            )
        elif images:
            yield WARNING(
                aggregate.name,
                f"{key} is a property that Nova does not know, {ignored}",
                "isolate the aggregate by a trait that the images require: "
                "openstack trait-sched isolate",
                images=images,
            )


@rule("filters-image-value", SubjectKind.AGGREGATE)
def image_value(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A value that no image property can equal.

    AggregateImagePropertiesIsolation compares the text that Python prints: ``True``,
    not ``true``; ``x86_64``, not ``amd64``; ``4``, not ``04``.
    """
    release = analysis.survey.assumptions.release
    for aggregate, key, value in _compared(analysis):
        parts = [each.strip() for each in value.split(",")]
        for odd in parts:
            meant = properties.as_written(key, odd, release) or ""
            if meant and meant not in parts:
                right = ",".join(meant if each == odd else each for each in parts)
                yield ERROR(
                    aggregate.name,
                    f"{key}={value}: {IMAGE_ISOLATION} compares {meant}, and {odd} "
                    "equals no image's property: images that have it are kept out",
                    aggregate_set(aggregate, f"{key}={right}"),
                )


def _compared(analysis: Analysis) -> tuple[tuple[Aggregate, str, str], ...]:
    is_on = analysis.filtering.is_on(IMAGE_ISOLATION)
    none_compared = compared_start(analysis.survey.assumptions)
    return analysis.filtering.metadata if is_on and not none_compared else ()


# Names of projects, images and hosts.


@rule("filters-project-suffix", SubjectKind.AGGREGATE)
def project_suffix(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* Keys with suffixes for projects, which the filter does not read.

    Before 2024.2, AggregateMultiTenancyIsolation reads only the key
    ``filter_tenant_id``, which can hold a list. The prefilter does read keys with
    suffixes, but no lists.
    """
    # With a plain key, the filter rejects the other projects; without one, it lets all
    # in. If Placement enforces projects, only those without an aggregate get in, or
    # none if each needs one
    # (nova/scheduler/filters/aggregate_multitenancy_isolation.py,
    # nova/scheduler/request_filter.py, require_tenant_aggregate).
    number = analysis.survey.assumptions.release
    if number >= TENANT_SUFFIXES or not analysis.filtering.is_on(special.PROJECT):
        return
    is_asked = analysis.is_on(options.TENANT)
    is_safe = is_asked and analysis.is_on(options.TENANT_REQUIRED)
    for aggregate in sorted(analysis.survey.nova.aggregates, key=lambda a: a.name):
        suffixed = dict(aggregate.projects)
        exact = projects_of(suffixed.pop(TENANT_KEY, ""))
        named = (p for value in suffixed.values() for p in projects_of(value))
        unread = tuple(p for p in dict.fromkeys(named) if p not in exact)
        if not unread or (is_safe and not exact):
            continue
        ids = ",".join((*exact, *unread))
        then = {**aggregate.projects, TENANT_KEY: ids}
        lost = placement_projects(aggregate.projects) - placement_projects(then)
        # Placement would not find these in a list.
        keys = new_project_keys(sorted(lost), then) if is_asked else ()
        lets_in = f"lets all projects{' that no aggregate names' * is_asked} in"
        keeps_out = f"keeps out the {listed(unread, 'project')}"
        yield ERROR(
            aggregate.name,
            f"{special.PROJECT} of {release(number)} does not read "
            f"{listed(sorted(suffixed))}, and {keeps_out if exact else lets_in}",
            aggregate_set(
                aggregate,
                f"{TENANT_KEY}={ids}",
                *(f"{key}={project}" for key, project in keys),
            ),
            "a value has 255 characters at most",
            projects=unread,
        )


#: What is wrong with a name on a list, and what is meant.
_Stray = tuple[str, tuple[str, ...]]


@rule("filters-isolated", SubjectKind.OPTION)
def isolated(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* An isolated host or image that does not exist.

    IsolatedHostsFilter compares the service host's exact name and the image's ID. An
    entry that matches nothing isolates nothing.
    """
    # nova/scheduler/filters/isolated_hosts_filter.py
    if not analysis.filtering.is_on(ISOLATED_HOSTS):
        return
    for name, judged in (
        (options.ISOLATED_HOSTS, _host),
        (options.ISOLATED_IMAGES, _image),
    ):
        setting = analysis.setting(name)
        for value in dict.fromkeys(setting.items):
            stray = judged(analysis, value)
            if stray is not None:
                what, meant = stray
                yield WARNING(
                    name,
                    f"{quoted(value)} isolates nothing ({setting.source}): {what}",
                    f"write {listed(meant)} instead"
                    if meant
                    else "take it off the list",
                )


def _host(analysis: Analysis, value: str) -> _Stray | None:
    computes = analysis.survey.nova.computes
    hosts = dict.fromkeys(each.service_host for each in computes)
    if value in hosts:
        return None
    alike = tuple(each for each in hosts if each.casefold() == value.casefold())
    if alike:
        return f"the service host is {listed(alike)}, and letters count", alike
    of_node = tuple(each.service_host for each in computes if each.node == value)
    if of_node:
        what = "this is a node, and the filter compares its service host "
        return what + listed(of_node), of_node
    return "no service host has this name", ()


def _image(analysis: Analysis, value: str) -> _Stray | None:
    images = analysis.survey.images
    if any(each["id"] == value for each in images):
        return None
    ids = tuple(str(each["id"]) for each in images if each.get("name") == value)
    if ids:
        return f"this is a name, and the filter compares the ID {listed(ids)}", ids
    analysis.survey.need_all("images")
    return "no active image has this ID", ()


RULES = (raising, image_raising, project_suffix, isolated, image_key, image_value)


# Rules of the area weighers: aggregates' multipliers.


@rule("weighers-key-off", SubjectKind.AGGREGATE)
def key_off(analysis: Analysis) -> Iterator[Fault]:
    """A multiplier of an aggregate that no weigher reads.

    A warning if the weighers were supplied, else a note. The weigher is off, or the
    release lacks it. Custom weighers may read any key, so they silence the rule.
    """
    settings = analysis.survey.assumptions
    by_key = {weigher.aggregate_key: weigher for weigher in ranking.WEIGHERS.values()}
    keys = [key for key, each in by_key.items() if each.is_in(settings.release)]
    names_on = enabled(analysis)
    is_uncertain = ranking.has_own(settings) or ranking.not_loadable(settings)
    for aggregate, key, value in analysis.filtering.metadata:
        weigher = by_key.get(key)
        setting = settings.setting(options.WEIGHT_CLASSES)
        if not key.endswith("weight_multiplier"):
            continue
        if weigher and weigher.name in names_on:
            setting = settings.setting(weigher.option)
            if setting.value or not weigher.is_off_at_zero:
                continue
            reason = (
                f"{weigher.name} weighs nothing while {option(weigher.option)} is 0 "
                f"({setting.source})"
            )
        elif is_uncertain:
            continue
        elif weigher is None:
            nearest = near_names(key, keys)[:1]
            reason = f"no weigher has such a multiplier{did_you_mean(nearest)}"
        elif weigher.is_in(settings.release):
            reason = f"{weigher.name} is not on ({setting.source})"
        else:
            reason = f"{release(settings.release)} has no {weigher.name}"
        yield Fault(
            Severity.WARNING if setting.given else Severity.NOTE,
            aggregate.name,
            f"{key}={value} has no effect: {reason}",
            unset(SubjectKind.AGGREGATE, [key], aggregate),
        )


def enabled(analysis: Analysis) -> frozenset[str]:
    """Nova's enabled weighers; none if nova-scheduler does not start."""
    settings = analysis.survey.assumptions
    if ranking.not_loadable(settings):
        return frozenset()
    return frozenset(weigher.name for weigher in ranking.enabled(settings)[0])


WEIGHER_RULES = (key_off,)
