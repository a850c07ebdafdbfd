"""Rules of the area filters: keys and options that host filters do not read."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping

from osc_traitsched.core.check.analysis import CAPABILITIES, EXTRA_SPECS, Analysis
from osc_traitsched.core.check.finding import Finding, Severity, SubjectKind, Words
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.check.survey import StandaloneRequest
from osc_traitsched.core.check.words import unset
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import state as supported
from osc_traitsched.core.nova.filter import values
from osc_traitsched.core.nova.filter.aggregates import FLAVOR_KEY, SCOPE, metadata_key
from osc_traitsched.core.nova.filter.groups import policies_off
from osc_traitsched.core.nova.filter.state import Fails
from osc_traitsched.core.nova.filter.table import FILTERS, judge
from osc_traitsched.core.nova.filter.values import can_match, is_plain
from osc_traitsched.core.nova.question import Body, Question
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.core.nova.weigher.ranking import WEIGHERS
from osc_traitsched.core.releases import release
from osc_traitsched.paste import Option, Placeholder, openstack
from osc_traitsched.text import listed, option

# Server groups with a policy that the scheduler does not enforce.


@dataclasses.dataclass(frozen=True)
class FiltersGroupPolicy(Finding):
    """A policy of server groups without its filter or weigher.

    Nova rejects every server of such a group before it looks at hosts. Affinity
    policies need a filter, soft ones a weigher.

    :ivar needed: the filter or weigher
    :ivar groups: the names of the groups with the policy
    """

    rule = "filters-group-policy"
    severity = Severity.ERROR
    kind = SubjectKind.OPTION
    name: str
    policy: str
    needed: str
    groups: tuple[str, ...]
    setting: Setting

    def words(self) -> Words:
        return Words(
            f"{self.needed} is not on ({self.setting.source}): Nova refuses every "
            f"server of {listed(self.groups, 'server group')}, whose policy is "
            f"{self.policy}",
            f"add {_loaded(self)} to the list",
        )


def group_policy(analysis: Analysis) -> Iterator[FiltersGroupPolicy]:
    """Nova rejects the policy before it looks at hosts.

    nova/scheduler/utils.py, ``_get_group_details``
    """
    settings = analysis.survey.assumptions
    for policy, needed in policies_off(settings).items():
        named = (g.name for g in analysis.survey.groups if g.policy == policy)
        groups = tuple(sorted(named))
        if groups:
            is_filter = needed in FILTERS
            option = options.ENABLED_FILTERS if is_filter else options.WEIGHT_CLASSES
            setting = settings.setting(option)
            yield FiltersGroupPolicy(option, policy, needed, groups, setting)
        analysis.survey.need_all("server groups")


def _loaded(finding: FiltersGroupPolicy) -> str:
    known = WEIGHERS.get(finding.needed)
    return known.path if known else finding.needed


# Extra specs that are compared with aggregate metadata.


Pair = tuple[str, str]


@dataclasses.dataclass(frozen=True)
class FiltersNoAggregate(Finding):
    """A flavor that no host's aggregates match.

    An error if the filters were supplied, else a warning:
    AggregateInstanceExtraSpecsFilter rejects every host. It compares keys with the
    scope ``aggregate_instance_extra_specs:`` and keys without a scope.

    :ivar wanted: the extra spec that none matches, with its value; all of them if only
        the combination fails
    :ivar key: the aggregate key of the one extra spec
    :ivar values: of that key in the hosts' aggregates
    """

    rule = "filters-no-aggregate"
    kind = SubjectKind.FLAVOR
    severity: Severity
    name: str
    id: str
    wanted: tuple[Pair, ...]
    key: str
    values: tuple[str, ...]

    def words(self) -> Words:
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
        if not can_match(value):
            return _of_no_value(problem, key, value, self.id)
        pair = f"{self.key}={value}"
        wanted = pair if is_plain(value) else Placeholder(f"{self.key}=VALUE")
        return Words(
            problem,
            openstack(
                "aggregate set", Option("--property", wanted), Placeholder("AGGREGATE")
            ),
            f"give it to an aggregate with hosts, or take {key} off the flavor",
        )


def no_aggregate(analysis: Analysis) -> Iterator[FiltersNoAggregate]:
    """By nova/scheduler/filters/aggregate_instance_extra_specs.py."""
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
            flavor.id,
            tuple(alone[:1]) or pairs,
            key,
            tuple(sorted(values)),
        )


def _compared(body: Body) -> tuple[Pair, ...]:
    specs: Mapping[str, str] = body.get("extra_specs") or {}
    return tuple((k, v) for k, v in specs.items() if metadata_key(k) is not None)


def _keeps_all_out(
    analysis: Analysis,
    flavor: StandaloneRequest,
    pairs: tuple[Pair, ...],
    known: dict[tuple[Pair, ...], bool],
) -> bool:
    """Whether no host's aggregates match these extra specs together."""
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


@dataclasses.dataclass(frozen=True)
class FiltersUnscoped(Finding):
    """An unscoped extra spec that is also the name of a host attribute.

    ComputeCapabilitiesFilter compares such a key with the host's attribute. Use the
    scope ``aggregate_instance_extra_specs:`` or ``capabilities:``.

    :ivar is_object: the attribute is an object, which no value equals
    :ivar of_aggregates: it is compared with aggregates, too
    """

    rule = "filters-unscoped"
    severity = Severity.WARNING
    kind = SubjectKind.FLAVOR
    name: str
    id: str
    key: str
    value: str
    is_object: bool
    of_aggregates: bool

    def words(self) -> Words:
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
            return Words(problem, unset(SubjectKind.FLAVOR, [self.key], self.id))
        return Words(
            problem,
            openstack("flavor set", Option("--property", scoped), self.id),
            f"say that aggregates are meant, and take {self.key} off",
        )


def unscoped(analysis: Analysis) -> Iterator[FiltersUnscoped]:
    """Without a scope the filter compares any attribute of the host's state.

    nova/scheduler/filters/compute_capabilities_filter.py, ``_satisfies_extra_specs``
    """
    filtering = analysis.filtering
    if not filtering.is_on(CAPABILITIES):
        return
    of_aggregates = filtering.is_on(EXTRA_SPECS)
    for flavor in analysis.flavors:
        for key, value in flavor.specs.items():
            is_object = supported.is_object(key) and is_plain(value)
            if supported.exists(key) and (is_object or of_aggregates):
                yield FiltersUnscoped(
                    flavor.name, flavor.id, key, value, is_object, of_aggregates
                )


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


#: Aggregate keys that a single filter reads; ``project-off`` covers
#: ``filter_tenant_id``.
FILTER_OF: Mapping[str, str] = {
    FLAVOR_KEY: "AggregateTypeAffinityFilter",
    values.MAX_IO_OPS: "AggregateIoOpsFilter",
    values.MAX_INSTANCES: "AggregateNumInstancesFilter",
    "cpu_allocation_ratio": "AggregateCoreFilter",
    "ram_allocation_ratio": "AggregateRamFilter",
    "disk_allocation_ratio": "AggregateDiskFilter",
}


@dataclasses.dataclass(frozen=True)
class FiltersKeyOff(Finding):
    """An aggregate's key for a filter that is not enabled.

    A warning if the filters were supplied, else a note. The key has no effect.
    Allocation ratios in aggregates are ignored from Victoria on. Filters of your own
    silence the rule.

    :ivar gone: the release if it lacks the filter, else None
    """

    rule = "filters-key-off"
    kind = SubjectKind.AGGREGATE
    severity: Severity
    name: str
    id: int
    key: str
    value: str
    filter: str
    gone: int | None
    setting: Setting

    def words(self) -> Words:
        remove = unset(SubjectKind.AGGREGATE, [self.key], str(self.id))
        pair = f"{self.key}={self.value}"
        if self.gone is not None:
            return Words(
                f"{pair} has no effect: Nova {release(self.gone)} has no "
                f"{self.filter} any more",
                remove,
                "set the ratio in the inventories of the aggregate's hosts, and take "
                "the key off",
            )
        return Words(
            f"{pair} has no effect: {_not_on(self.filter, self.setting)}",
            remove,
            f"add {self.filter} to {_FILTERS}, or take the key off",
        )


def key_off(analysis: Analysis) -> Iterator[FiltersKeyOff]:
    """Nothing is reported if the operator's own filters may read the keys."""
    filtering, release = analysis.filtering, analysis.survey.assumptions.release
    if filtering.has_own:
        return
    severity = filtering.severity(Severity.WARNING, Severity.NOTE)
    for aggregate, key, value in filtering.metadata:
        name = FILTER_OF.get(key)
        if name is not None and not filtering.is_on(name):
            yield FiltersKeyOff(
                severity,
                aggregate.name,
                aggregate.id,
                key,
                value,
                name,
                None if FILTERS[name].is_in(release) else release,
                filtering.setting,
            )


@dataclasses.dataclass(frozen=True)
class FiltersExtraSpecsOff(Finding):
    """Extra specs for aggregates without the filter that compares them.

    An error if the filters were supplied, else a warning.
    AggregateInstanceExtraSpecsFilter compares these keys. Without it, servers land on
    any host.

    :ivar filters: the enabled ones
    """

    rule = "filters-extra-specs-off"
    kind = SubjectKind.OPTION
    name = options.ENABLED_FILTERS
    severity: Severity
    flavors: tuple[str, ...]
    keys: tuple[str, ...]
    filters: tuple[str, ...]
    setting: Setting

    def words(self) -> Words:
        return Words(
            f"{_not_on(EXTRA_SPECS, self.setting)}: "
            f"{listed(self.flavors, 'flavor')} can land on any host, whatever "
            f"{listed(self.keys)} says",
            f"set {_FILTERS} to {','.join((*self.filters, EXTRA_SPECS))}",
        )


def extra_specs_off(analysis: Analysis) -> Iterator[FiltersExtraSpecsOff]:
    """ComputeCapabilitiesFilter ignores that scope.

    nova/scheduler/filters/aggregate_instance_extra_specs.py
    """
    filtering = analysis.filtering
    if filtering.is_on(EXTRA_SPECS):
        return
    found = {
        flavor.name: [k for k in specs if k.startswith(f"{SCOPE}:")]
        for flavor in analysis.flavors
        if (specs := flavor.body.get("extra_specs"))
    }
    named = tuple(name for name, keys in found.items() if keys)
    if named:
        keys = {key for each in found.values() for key in each}
        yield FiltersExtraSpecsOff(
            filtering.severity(Severity.ERROR, Severity.WARNING),
            named,
            tuple(sorted(keys)),
            filtering.names,
            filtering.setting,
        )


@dataclasses.dataclass(frozen=True)
class FiltersOptionOff(Finding):
    """A set option whose filters are all disabled.

    A warning if the filters were supplied, else a note. The option has no effect, like
    ``isolated_hosts`` without IsolatedHostsFilter. Filters of your own silence the
    rule.

    :ivar filters: the filters that read it
    :ivar enabled: the list of filters
    """

    rule = "filters-option-off"
    kind = SubjectKind.OPTION
    severity: Severity
    name: str
    filters: tuple[str, ...]
    setting: Setting
    enabled: Setting

    def words(self) -> Words:
        by = " and ".join(self.filters)
        verb = "are" if len(self.filters) > 1 else "is"
        state = "not on" if self.enabled.given else "assumed not to be on"
        return Words(
            f"set ({self.setting.source}), and without effect: {by} {verb} {state} "
            f"({self.enabled.source})",
            f"add {self.filters[-1]} to {_FILTERS}, or take the option out",
        )


def option_off(analysis: Analysis) -> Iterator[FiltersOptionOff]:
    """An option that is set to its default is not reported."""
    filtering, release = analysis.filtering, analysis.survey.assumptions.release
    severity = filtering.severity(Severity.WARNING, Severity.NOTE)
    for row in options.FILTER_SCHEDULER_ROWS:
        setting = analysis.setting(row.name)
        readers = [
            name
            for name, each in FILTERS.items()
            if row.name in each.options and each.is_in(release)
        ]
        is_read = filtering.has_own or any(map(filtering.is_on, readers))
        is_set = setting.given and setting.value != row.default_in(release)
        if is_set and not is_read:
            yield FiltersOptionOff(
                severity, row.name, tuple(readers), setting, filtering.setting
            )


def _not_on(name: str, setting: Setting) -> str:
    state = "is not on" if setting.given else "is assumed not to be on"
    return f"{name} {state} ({setting.source})"


RULES = (
    Rule(FiltersExtraSpecsOff, extra_specs_off, SubjectKind.FLAVOR),
    Rule(FiltersNoAggregate, no_aggregate, SubjectKind.FLAVOR),
    Rule(FiltersUnscoped, unscoped, SubjectKind.FLAVOR),
    Rule(FiltersGroupPolicy, group_policy, SubjectKind.OPTION),
    Rule(FiltersOptionOff, option_off, SubjectKind.OPTION),
    Rule(FiltersKeyOff, key_off, SubjectKind.AGGREGATE),
)
