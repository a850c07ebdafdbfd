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
from osc_traitsched.core.check.rules.filters_images import (
    FiltersImageKey,
    FiltersImageValue,
    FiltersNamespace,
)
from osc_traitsched.core.check.rules.filters_keys import (
    FiltersExtraSpecsOff,
    FiltersKeyOff,
)
from osc_traitsched.core.check.rules.filters_raising import (
    FiltersImageRaises,
    FiltersRaises,
)
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.capabilities import ADDRESS_BITS
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.views.check.wording import Words, unset, word
from osc_traitsched.views.commands import Command, Option, Placeholder, openstack
from osc_traitsched.views.options import option, release
from osc_traitsched.views.text import did_you_mean, listed, quoted, ranges

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
            _set(finding.id, f"{finding.current}={finding.value}"),
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
        _set(finding.id, f"{finding.key}={','.join(mended)}"),
    )


def _set(aggregate: int, *pairs: str) -> Command:
    properties = (Option("--property", pair) for pair in pairs)
    return openstack("aggregate set", str(aggregate), *properties)
