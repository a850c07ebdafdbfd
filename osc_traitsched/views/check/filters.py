"""The words of the area filters' rules."""

from __future__ import annotations

from osc_traitsched.core.check.filtering import (
    CAPABILITIES,
    EXTRA_SPECS,
    IMAGE_ISOLATION,
    IMAGE_PROPERTIES,
)
from osc_traitsched.core.check.finding import Kind
from osc_traitsched.core.check.rules.filters import FiltersMisnamed
from osc_traitsched.core.check.rules.filters_flavors import (
    FiltersNoAggregate,
    FiltersUnscoped,
)
from osc_traitsched.core.check.rules.filters_images import (
    FiltersImageKey,
    FiltersImageValue,
    FiltersNamespace,
)
from osc_traitsched.core.check.rules.filters_keys import (
    FiltersBadLimit,
    FiltersExtraSpecsOff,
    FiltersKeyOff,
    FiltersOptionOff,
)
from osc_traitsched.core.check.rules.filters_raising import (
    FiltersImageRaises,
    FiltersRaises,
)
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import ops
from osc_traitsched.core.nova.filter.aggregates import SCOPE
from osc_traitsched.core.nova.filter.capabilities import ADDRESS_BITS
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.core.releases import release
from osc_traitsched.paste import Option, Placeholder, openstack
from osc_traitsched.text import did_you_mean, listed, option, quoted, ranges
from osc_traitsched.views.check.wording import Words, aggregate_set, unset, word

_FILTERS = option(options.ENABLED_FILTERS)


@word.register
def _(finding: FiltersMisnamed) -> Words:
    return Words(
        f"{quoted(finding.filter)} is no name of a class, and nova-scheduler does not "
        f"start ({finding.setting.source}){did_you_mean(finding.nearest)}",
        "name the class alone; [filter_scheduler]available_filters says where its "
        "module is",
    )


@word.register
def _(finding: FiltersRaises) -> Words:
    pair = f"{finding.key}={finding.value}"
    problem = (
        f"{finding.filter} raises {finding.exception} at {pair}, and the request fails "
        f"for all hosts, as soon as it comes to {ranges(finding.hosts, 'host')}"
    )
    if finding.is_malformed or not finding.metadata_key:
        return Words(problem, unset(Kind.FLAVOR, [finding.key], finding.id))
    return Words(
        f"{problem}: what {listed(finding.aggregates, 'aggregate')} has is no number",
        openstack(
            "aggregate set",
            Option("--property", Placeholder(f"{finding.metadata_key}=NUMBER")),
            *_only(finding.aggregates),
        ),
    )


def _only(aggregates: tuple[str, ...]) -> tuple[str | Placeholder]:
    return (aggregates[0] if len(aggregates) == 1 else Placeholder("AGGREGATE"),)


@word.register
def _(finding: FiltersImageRaises) -> Words:
    return Words(
        f"{IMAGE_PROPERTIES} raises AttributeError at {finding.key}={finding.value} on "
        f"each host that runs {', '.join(finding.asked)}, and the request fails",
        unset(Kind.IMAGE, [finding.key], finding.id),
        f"a flavor's {ADDRESS_BITS} is compared by {CAPABILITIES}; take it off here",
    )


@word.register
def _(finding: FiltersNoAggregate) -> Words:
    pairs = [f"{key}={value}" for key, value in finding.wanted]
    if not finding.key:
        return Words(
            f"{EXTRA_SPECS} keeps it out of all hosts: no host is in aggregates that "
            f"match all of {listed(pairs)}",
            "give one aggregate with hosts all that they want",
        )
    ((key, value),) = finding.wanted
    values = [each or "''" for each in finding.values]
    there = f"; there is {listed(values)}" if values else ""
    problem = (
        f"{EXTRA_SPECS} keeps it out of all hosts: none is in an aggregate whose "
        f"{finding.key} matches {pairs[0]}{there}"
    )
    if not ops.can_match(value):
        return _of_no_value(problem, key, value, finding.id)
    pair = f"{finding.key}={value}"
    wanted = pair if ops.is_plain(value) else Placeholder(f"{finding.key}=VALUE")
    return Words(
        problem,
        openstack(
            "aggregate set", Option("--property", wanted), Placeholder("AGGREGATE")
        ),
        f"give it to an aggregate with hosts, or take {key} off the flavor",
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


@word.register
def _(finding: FiltersUnscoped) -> Words:
    pair = f"{finding.key}={finding.value}"
    scoped = f"{SCOPE}:{finding.key}={finding.value}"
    if finding.is_object:
        problem = (
            f"{CAPABILITIES} compares {pair} with an object of the scheduler's own of "
            "this name, which equals no text: it keeps all hosts out"
        )
    else:
        problem = (
            f"{pair} has no scope, and a host has to match it twice: by an aggregate "
            f"({EXTRA_SPECS}), and by what it has under this name itself "
            f"({CAPABILITIES})"
        )
    if not finding.of_aggregates:
        return Words(problem, unset(Kind.FLAVOR, [finding.key], finding.id))
    return Words(
        problem,
        openstack("flavor set", Option("--property", scoped), finding.id),
        f"say that aggregates are meant, and take {finding.key} off",
    )


@word.register
def _(finding: FiltersBadLimit) -> Words:
    pair = f"{finding.key}={finding.value}"
    number = "number" if finding.option is None else "whole number"
    return Words(
        f"{pair} is no {number}: {finding.filter} logs a warning, and goes by "
        f"{_instead(finding)} for the hosts of the aggregate",
        aggregate_set(finding.id, Placeholder(f"{finding.key}=NUMBER")),
    )


def _instead(finding: FiltersBadLimit) -> str:
    if finding.option is None:
        return "each host's own ratio"
    name, setting = finding.option
    return f"{option(name)}, {setting.value} ({setting.source}),"


@word.register
def _(finding: FiltersKeyOff) -> Words:
    remove = unset(Kind.AGGREGATE, [finding.key], str(finding.id))
    pair = f"{finding.key}={finding.value}"
    if finding.gone is not None:
        return Words(
            f"{pair} has no effect: Nova {release(finding.gone)} has no "
            f"{finding.filter} any more",
            remove,
            "set the ratio in the inventories of the aggregate's hosts, and take the "
            "key off",
        )
    return Words(
        f"{pair} has no effect: {_not_on(finding.filter, finding.setting)}",
        remove,
        f"add {finding.filter} to {_FILTERS}, or take the key off",
    )


@word.register
def _(finding: FiltersExtraSpecsOff) -> Words:
    return Words(
        f"{_not_on(EXTRA_SPECS, finding.setting)}: "
        f"{listed(finding.flavors, 'flavor')} can land on any host, whatever "
        f"{listed(finding.keys)} says",
        f"set {_FILTERS} to {','.join((*finding.filters, EXTRA_SPECS))}",
    )


def _not_on(name: str, setting: Setting) -> str:
    state = "is not on" if setting.given else "is assumed not to be on"
    return f"{name} {state} ({setting.source})"


@word.register
def _(finding: FiltersOptionOff) -> Words:
    by = " and ".join(finding.filters)
    verb = "are" if len(finding.filters) > 1 else "is"
    state = "not on" if finding.enabled.given else "assumed not to be on"
    return Words(
        f"set ({finding.setting.source}), and without effect: {by} {verb} {state} "
        f"({finding.enabled.source})",
        f"add {finding.filters[-1]} to {_FILTERS}, or take the option out",
    )


@word.register
def _(finding: FiltersNamespace) -> Words:
    return Words(
        f"{quoted(finding.namespace)} begins no property of an image that Nova knows "
        f"({finding.setting.source}): {IMAGE_ISOLATION} compares nothing, and "
        f"{listed(finding.keys)} of {listed(finding.aggregates, 'aggregate')} keeps no "
        "image out",
        f"take the option out, and {finding.namespace} off the keys; Nova compares its "
        "own properties only",
    )


@word.register
def _(finding: FiltersImageKey) -> Words:
    having = listed(finding.images, "image")
    if finding.current:
        return Words(
            f"{finding.key} is the old name of {finding.current}, and "
            f"{IMAGE_ISOLATION} does not compare it, whatever {having} has",
            aggregate_set(finding.id, f"{finding.current}={finding.value}"),
            f"name the property by its name of today, and take {finding.key} off",
        )
    return Words(
        f"{finding.key} is a property that Nova does not know, and {IMAGE_ISOLATION} "
        f"does not compare it, whatever {having} has",
        "isolate the aggregate by a trait that the images require: "
        "openstack trait-sched isolate",
    )


@word.register
def _(finding: FiltersImageValue) -> Words:
    values = [each.strip() for each in finding.value.split(",")]
    mended = (finding.meant if each == finding.odd else each for each in values)
    return Words(
        f"{finding.key}={finding.value}: {IMAGE_ISOLATION} compares {finding.meant}, "
        f"and {finding.odd} equals no image's property: images that have it are kept "
        "out",
        aggregate_set(finding.id, f"{finding.key}={','.join(mended)}"),
    )
