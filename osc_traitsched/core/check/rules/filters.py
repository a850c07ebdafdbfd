"""Rules of the area filters: keys and options that host filters do not read."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
from collections.abc import Iterable, Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import (
    ERROR,
    WARNING,
    Fault,
    Severity,
    SubjectKind,
    Words,
)
from osc_traitsched.core.check.rule import rule
from osc_traitsched.core.check.survey import StandaloneRequest
from osc_traitsched.core.check.words import aggregate_name, unset
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.metadata import projects_of as parts_of
from osc_traitsched.core.names import LIKE_SHORT, near_names
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import state as supported
from osc_traitsched.core.nova.filter.aggregates import (
    SCOPE,
    has_wanted,
    metadata_key,
)
from osc_traitsched.core.nova.filter.groups import policies_off
from osc_traitsched.core.nova.filter.special import CAPABILITIES, EXTRA_SPECS
from osc_traitsched.core.nova.filter.state import Fails, HostState
from osc_traitsched.core.nova.filter.table import FILTERS, judge, readers
from osc_traitsched.core.nova.filter.values import can_match, is_plain
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.core.nova.weigher.ranking import WEIGHERS
from osc_traitsched.core.releases import release
from osc_traitsched.paste import Option, Placeholder, openstack
from osc_traitsched.text import agreed, listed, option

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
        if had in parts_of(aggregate.metadata.get(name, ""))
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
        for part in parts_of(having[0].metadata[name] if having else "")
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
        settings = analysis.survey.assumptions
        body = {**flavor.body, "extra_specs": dict(pairs)}
        with contextlib.suppress(Refusal):
            spec = Question(body, None, (), settings).request_spec()
            known[pairs] = all(
                isinstance(judge(EXTRA_SPECS, states[0], spec, settings), Fails)
                for states in analysis.filtering.alike
            )
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
