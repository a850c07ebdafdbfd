"""Rules on host filters and weighers: the keys and the values that they read."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.check.analysis import ANY_FLAVOR, Analysis
from osc_traitsched.core.check.rule import aggregate_name, aggregate_set, rule, unset
from osc_traitsched.core.check.survey import (
    ERROR,
    WARNING,
    Fault,
    Severity,
    StandaloneRequest,
    SubjectKind,
    Words,
)
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.inventory.trait import (
    TENANT_KEY,
    new_project_keys,
    placement_projects,
    projects_of,
)
from osc_traitsched.core.nova import image as properties
from osc_traitsched.core.nova import options, weighers
from osc_traitsched.core.nova.filter import compute
from osc_traitsched.core.nova.filter import groups as image_filter
from osc_traitsched.core.nova.filter import state as supported
from osc_traitsched.core.nova.filter.compute import (
    ADDRESS_BITS,
    can_match,
    is_plain,
    wanted_of,
)
from osc_traitsched.core.nova.filter.groups import (
    SCOPE,
    TENANT_SUFFIXES,
    compared_start,
    has_wanted,
    metadata_key,
    policies_off,
)
from osc_traitsched.core.nova.filter.special import (
    CAPABILITIES,
    EXTRA_SPECS,
    IMAGE_ISOLATION,
    IMAGE_PROPERTIES,
    ISOLATED_HOSTS,
    PROJECT,
)
from osc_traitsched.core.nova.filter.state import (
    Fails,
    FilterResult,
    HostState,
    Raises,
    Unknown,
)
from osc_traitsched.core.nova.filter.table import FILTERS, readers
from osc_traitsched.core.nova.options import Setting
from osc_traitsched.core.nova.question import NO_PROPERTIES, Body, Question
from osc_traitsched.core.nova.weighers import WEIGHERS
from osc_traitsched.core.releases import release
from osc_traitsched.paste import Option, Placeholder, openstack
from osc_traitsched.text import (
    LIKE_SHORT,
    agreed,
    did_you_mean,
    listed,
    near_names,
    option,
    quoted,
    ranges,
)

# Rules of the area filters: keys and options that host filters do not read.


# Server groups with a policy that the scheduler does not enforce.


@rule("filters-group-policy", SubjectKind.OPTION)
def group_policy(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A policy of server groups without its filter or weigher.

    Nova rejects every server of such a group before it looks at hosts. Affinity
    policies need a filter, soft ones a weigher.
    """
    # nova/scheduler/utils.py, _get_group_details
    settings = analysis.survey.assumptions
    for policy, needed in policies_off(settings).items():
        groups = sorted(g.name for g in analysis.survey.groups if g.policy == policy)
        if groups:
            weigher = WEIGHERS.get(needed)
            is_filter = needed in FILTERS
            name = options.ENABLED_FILTERS if is_filter else options.WEIGHT_CLASSES
            yield ERROR(
                name,
                f"{needed} is not on ({settings.setting(name).source}): Nova rejects "
                f"every server of {listed(groups, 'server group')}, whose policy is "
                f"{policy}",
                f"add {weigher.path if weigher else needed} to the list",
                groups=tuple(groups),
            )
        analysis.survey.need_all("server groups")


# Extra specs that are compared with aggregate metadata.


Pair = tuple[str, str]


@rule("filters-no-aggregate", SubjectKind.FLAVOR)
def no_aggregate(analysis: Analysis) -> Iterator[Fault]:
    """A flavor that no host's aggregates match.

    An error if the filters were supplied, else a warning:
    AggregateInstanceExtraSpecsFilter rejects every host. It compares keys with the
    scope ``aggregate_instance_extra_specs:`` and keys without a scope.
    """
    # nova/scheduler/filters/aggregate_instance_extra_specs.py
    filtering = analysis.filtering
    if not filtering.is_on(EXTRA_SPECS) or not filtering.states:
        return
    known: dict[tuple[Pair, ...], bool] = {}
    severity = filtering.severity(Severity.ERROR, Severity.WARNING)
    for flavor in analysis.flavors:
        pairs = tuple(
            (key, value)
            for key, value in flavor.specs.items()
            if metadata_key(key) is not None and not filtering.misspelled(key)
        )
        if not pairs or not _keeps_all_out(analysis, flavor, pairs, known):
            continue
        alone = [p for p in pairs if _keeps_all_out(analysis, flavor, (p,), known)]
        if alone:
            words = _of_pair(analysis, flavor, *alone[0])
        else:
            words = Words(
                f"{EXTRA_SPECS} keeps it out of all hosts: no host is in aggregates "
                f"that match all of {listed(f'{key}={value}' for key, value in pairs)}",
                "give one aggregate with hosts all that they want",
            )
        yield Fault(severity, flavor.name, words.problem, words.fix, words.when)


def _of_pair(
    analysis: Analysis, flavor: StandaloneRequest, key: str, value: str
) -> Words:
    compared = metadata_key(key) or ""
    metadata = (state.metadata for state in analysis.filtering.states)
    values = sorted({each for keys in metadata for each in keys.get(compared, ())})
    there = f"; there is {listed(each or repr('') for each in values)}" * bool(values)
    problem = (
        f"{EXTRA_SPECS} keeps it out of all hosts: none is in an aggregate whose "
        f"{compared} matches {key}={value}{there}"
    )
    if not can_match(value):
        return _of_no_value(problem, key, value, flavor.id)
    if near := _nearest(analysis.filtering.states, compared, value):
        words = _with_typo(analysis, flavor, (key, value), near)
        return dataclasses.replace(words, problem=f"{problem}; {words.problem}")
    pair = f"{compared}={value}"
    wanted = pair if is_plain(value) else Placeholder(f"{compared}=VALUE")
    return Words(
        problem,
        openstack(
            "aggregate set", Option("--property", wanted), Placeholder("AGGREGATE")
        ),
        f"give it to an aggregate with hosts, or take {key} off the flavor",
    )


def _nearest(states: Iterable[HostState], key: str, wanted: str) -> Pair | None:
    """A key and value of aggregates that are like those that a flavor asks for."""
    pairs: dict[str, set[str]] = {}
    for state in states:
        for name, having in state.metadata.items():
            pairs.setdefault(name, set()).update(having)
    for value in near_names(wanted, pairs.get(key, set()))[:1]:
        return key, value
    for name in near_names(key, pairs.keys() - {key}, LIKE_SHORT):
        for value in sorted(pairs[name]):
            if has_wanted({name: value}, name, wanted):
                return name, value
    return None


def _with_typo(
    analysis: Analysis, flavor: StandaloneRequest, pair: Pair, near: Pair
) -> Words:
    """The typo is taken to be where fewer flavors and aggregates agree.

    :param pair: what the flavor asks for
    :param near: what aggregates have
    """
    (key, value), (name, had) = pair, near
    compared = metadata_key(key) or ""
    meant = near if name == compared else (name, value)
    asked = collections.Counter(
        (metadata_key(k), v)
        for each in analysis.flavors
        for k, v in each.specs.items()
        if metadata_key(k) is not None
    )
    having = [
        aggregate
        for aggregate in analysis.survey.nova.aggregates
        if had in projects_of(aggregate.metadata.get(name, ""))
    ]
    names = sorted(each.name for each in having)
    problem = f"{listed(names, 'aggregate')} {agreed('has', len(names))} {name}={had}"
    right = "=".join((key[: len(key) - len(compared)] + meant[0], meant[1]))
    wrong_key = name != compared
    lead = asked[meant] + len(having) - asked[compared, value]
    if lead > 0 or not (wrong_key or is_plain(value)):
        return Words(
            f"{problem}; did you mean {right}?",
            openstack("flavor set", Option("--property", right), flavor.id),
            f"then take {key} off" if wrong_key else "",
        )
    when = f"then take {name} off the aggregate" if wrong_key else ""
    if not lead:
        problem += ", and one of both is a typo"
        when = f"if that is in the aggregate (else set {right} on the flavor)"
    parts = [
        value if part == had and not wrong_key else part
        for part in projects_of(having[0].metadata[name] if having else "")
    ]
    target = aggregate_name(having[0]) if len(having) == 1 else Placeholder("AGGREGATE")
    corrected = Option("--property", f"{compared}={','.join(parts)}")
    return Words(problem, openstack("aggregate set", corrected, target), when)


def _keeps_all_out(
    analysis: Analysis,
    flavor: StandaloneRequest,
    pairs: tuple[Pair, ...],
    known: dict[tuple[Pair, ...], bool],
) -> bool:
    if pairs not in known:
        known[pairs] = False
        body = {**flavor.body, "extra_specs": dict(pairs)}
        with contextlib.suppress(Refusal):
            spec = Question(body, None, (), analysis.survey.assumptions).request_spec()
            answers = analysis.filtering.answers(EXTRA_SPECS, spec)
            known[pairs] = all(isinstance(each, Fails) for each in answers.values())
    return known[pairs]


@rule("filters-unscoped", SubjectKind.FLAVOR)
def unscoped(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* An unscoped extra spec that is also the name of a host attribute.

    ComputeCapabilitiesFilter compares such a key with the host's attribute. Use the
    scope ``aggregate_instance_extra_specs:`` or ``capabilities:``.
    """
    # nova/scheduler/filters/compute_capabilities_filter.py, _satisfies_extra_specs
    filtering = analysis.filtering
    if not filtering.is_on(CAPABILITIES):
        return
    of_aggregates = filtering.is_on(EXTRA_SPECS)
    for flavor in analysis.flavors:
        for key, value in flavor.specs.items():
            is_object = supported.is_object(key) and is_plain(value)
            if not supported.exists(key) or not (is_object or of_aggregates):
                continue
            problem = (
                f"{key}={value} has no scope, and a host has to match it twice: by an "
                f"aggregate ({EXTRA_SPECS}), and by what it has under this name itself "
                f"({CAPABILITIES})"
            )
            if is_object:
                problem = (
                    f"{CAPABILITIES} compares {key}={value} with an object of the "
                    "scheduler's own of this name, which equals no text: it keeps all "
                    "hosts out"
                )
            if of_aggregates:
                scoped = Option("--property", f"{SCOPE}:{key}={value}")
                fix = openstack("flavor set", scoped, flavor.id)
                when = f"say that aggregates are meant, and take {key} off"
                yield WARNING(flavor.name, problem, fix, when)
            else:
                fix = unset(SubjectKind.FLAVOR, [key], flavor.id)
                yield WARNING(flavor.name, problem, fix)


def _of_no_value(problem: str, key: str, value: str, flavor: str) -> Words:
    if is_plain(value) and "," in value:
        parts = [each.strip() for each in value.split(",")]
        one_of = f"{key}=<or> {' <or> '.join(filter(None, parts))}"
        return Words(
            f"{problem}; an aggregate's value is split at commas, so that none equals "
            "one with a comma",
            openstack("flavor set", Option("--property", one_of), flavor),
            "to take any of them",
        )
    if is_plain(value) and value.strip():
        pair = f"{key}={value.strip()}"
        return Words(
            f"{problem}; an aggregate's value is taken without the spaces around it, "
            "so that none equals one with such spaces",
            openstack("flavor set", Option("--property", pair), flavor),
        )
    return Words(f"{problem}; no value does", unset(SubjectKind.FLAVOR, [key], flavor))


# Keys for host filters that are not enabled.


_FILTERS = option(options.ENABLED_FILTERS)


@rule("filters-key-off", SubjectKind.AGGREGATE)
def key_off(analysis: Analysis) -> Iterator[Fault]:
    """An aggregate's key for a filter that is not enabled.

    A warning if the filters were supplied, else a note. The key has no effect.
    Allocation ratios in aggregates are ignored from Victoria on. Custom filters
    silence the rule.
    """
    filtering, number = analysis.filtering, analysis.survey.assumptions.release
    if filtering.has_own:
        return
    # ``project-off`` covers ``filter_tenant_id``.
    rows = FILTERS.values()
    filter_of = {key: row.name for row in rows for key in row.aggregate_keys}
    for aggregate, key, value in filtering.metadata:
        name = filter_of.get(key)
        if name is None or filtering.is_on(name):
            continue
        why = _not_on(name, filtering.setting)
        when = f"add {name} to {_FILTERS}, or take the key off"
        if not FILTERS[name].is_in(number):
            why = f"{release(number)} has no {name} any more"
            when = (
                "set the ratio in the inventories of the aggregate's hosts, and take "
                "the key off"
            )
        yield Fault(
            filtering.severity(Severity.WARNING, Severity.NOTE),
            aggregate.name,
            f"{key}={value} has no effect: {why}",
            unset(SubjectKind.AGGREGATE, [key], aggregate),
            when,
        )


@rule("filters-extra-specs-off", SubjectKind.OPTION, SubjectKind.FLAVOR)
def extra_specs_off(analysis: Analysis) -> Iterator[Fault]:
    """Extra specs for aggregates without the filter that compares them.

    An error if the filters were supplied, else a warning.
    AggregateInstanceExtraSpecsFilter compares these keys. Without it, servers land on
    any host.
    """
    # ComputeCapabilitiesFilter ignores that scope.
    filtering = analysis.filtering
    if filtering.is_on(EXTRA_SPECS):
        return
    keys_by_flavor = {
        flavor.name: keys
        for flavor in analysis.flavors
        if (keys := [key for key in flavor.specs if key.startswith(f"{SCOPE}:")])
    }
    if keys_by_flavor:
        flavors = tuple(keys_by_flavor)
        keys = sorted({key for keys in keys_by_flavor.values() for key in keys})
        yield Fault(
            filtering.severity(Severity.ERROR, Severity.WARNING),
            options.ENABLED_FILTERS,
            f"{_not_on(EXTRA_SPECS, filtering.setting)}: {listed(flavors, 'flavor')} "
            f"can land on any host, whatever {listed(keys)} says",
            f"set {_FILTERS} to {','.join((*filtering.names, EXTRA_SPECS))}",
            flavors=flavors,
        )


@rule("filters-option-off", SubjectKind.OPTION)
def option_off(analysis: Analysis) -> Iterator[Fault]:
    """A set option whose filters are all disabled.

    A warning if the filters were supplied, else a note. The option has no effect, like
    ``isolated_hosts`` without IsolatedHostsFilter. Custom filters silence the rule.
    """
    filtering, release = analysis.filtering, analysis.survey.assumptions.release
    state = "not on" if filtering.setting.given else "assumed not to be on"
    for row in options.options_in(release):
        setting = analysis.setting(row.name)
        names = readers(row.name, release)
        is_set = setting.given and setting.value != row.default_in(release)
        if not names or row.is_read_elsewhere or not is_set or filtering.has_own:
            continue
        if not any(map(filtering.is_on, names)):
            yield Fault(
                filtering.severity(Severity.WARNING, Severity.NOTE),
                row.name,
                f"set ({setting.source}), and without effect: {' and '.join(names)} "
                f"{'are' if len(names) > 1 else 'is'} {state} "
                f"({filtering.setting.source})",
                f"add {names[-1]} to {_FILTERS}, or take the option out",
            )


def _not_on(name: str, setting: Setting) -> str:
    state = "is not on" if setting.given else "is taken as not on"
    return f"{name} {state} ({setting.source})"


RULES = (extra_specs_off, no_aggregate, unscoped, group_policy, option_off, key_off)


# Rules of the area filters: values that host filters can't compare.


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
        return any(compute.may_raise(each.value) for each in wanted)
    return any(compute.may_raise(v) for k, v in specs.items() if metadata_key(k))


def _raised(
    analysis: Analysis, name: str, body: Body
) -> Mapping[Raises, list[HostState]]:
    settings = analysis.survey.assumptions
    found: dict[Raises, list[HostState]] = {}
    with contextlib.suppress(Refusal):
        spec = Question(body, None, (), settings).request_spec()
        answers = analysis.filtering.answers(name, spec)
        for state in analysis.filtering.states:
            answer = answers[state.compute.uuid]
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
        compute.match("0", wanted)
    except compute.ERRORS:
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
        if _raises_where_it_fits(filtering.answers(IMAGE_PROPERTIES, spec).values()):
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


def _raises_where_it_fits(answers: Iterable[FilterResult]) -> bool:
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
    for aggregate, key, value in _compared_metadata(analysis):
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
    for aggregate, key, value in _compared_metadata(analysis):
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


def _compared_metadata(analysis: Analysis) -> tuple[tuple[Aggregate, str, str], ...]:
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
    if number >= TENANT_SUFFIXES or not analysis.filtering.is_on(PROJECT):
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
            f"{PROJECT} of {release(number)} does not read "
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


VALUE_RULES = (raising, image_raising, project_suffix, isolated, image_key, image_value)


# Rules of the area weighers: aggregates' multipliers.


@rule("weighers-key-off", SubjectKind.AGGREGATE)
def multiplier_off(analysis: Analysis) -> Iterator[Fault]:
    """A multiplier of an aggregate that no weigher reads.

    A warning if the weighers were supplied, else a note. The weigher is off, or the
    release lacks it. Custom weighers may read any key, so they silence the rule.
    """
    settings = analysis.survey.assumptions
    by_key = {weigher.aggregate_key: weigher for weigher in weighers.WEIGHERS.values()}
    keys = [key for key, each in by_key.items() if each.is_in(settings.release)]
    names_on = enabled(analysis)
    is_uncertain = weighers.has_own(settings) or weighers.not_loadable(settings)
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
    if weighers.not_loadable(settings):
        return frozenset()
    return frozenset(weigher.name for weigher in weighers.enabled(settings)[0])


WEIGHER_RULES = (multiplier_off,)
