"""The words of the rules on groups, projects and isolated hosts in the area filters."""

from __future__ import annotations

from osc_traitsched.core.check.rules.filters_groups import FiltersGroupPolicy
from osc_traitsched.core.check.rules.filters_isolating import (
    FiltersIsolated,
    FiltersTenantSuffix,
    Stray,
)
from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.nova import filter_options, options
from osc_traitsched.core.nova.switch import PROJECT_FILTER
from osc_traitsched.core.nova.weigher.table import WEIGHERS
from osc_traitsched.core.releases import release
from osc_traitsched.text import listed, option, quoted
from osc_traitsched.views.check.wording import Words, aggregate_set, word

_FILTERS = option(options.ENABLED_FILTERS)
_NOWHERE = {
    filter_options.ISOLATED_HOSTS: "no service host has this name",
    filter_options.ISOLATED_IMAGES: "no active image has this ID",
}


@word.register
def _(finding: FiltersGroupPolicy) -> Words:
    return Words(
        f"{finding.needed} is not on ({finding.setting.source}): Nova refuses every "
        f"server of {listed(finding.groups, 'server group')}, whose policy is "
        f"{finding.policy}",
        f"add {_loaded(finding)} to the list",
    )


def _loaded(finding: FiltersGroupPolicy) -> str:
    known = WEIGHERS.get(finding.needed)
    return known.path if known else finding.needed


@word.register
def _(finding: FiltersTenantSuffix) -> Words:
    nova = f"{PROJECT_FILTER} of Nova {release(finding.release)}"
    projects = listed(finding.projects, "project")
    named = " that no aggregate names" if finding.is_asked else ""
    then = f"lets all projects{named} in"
    if finding.listed:
        then = f"keeps out the {projects}"
    problem = f"{nova} does not read {listed(finding.keys)}, and {then}"
    ids = ",".join((*finding.listed, *finding.projects))
    keys = (f"{key}={project}" for key, project in finding.own)
    return Words(
        problem,
        aggregate_set(finding.id, f"{TENANT_KEY}={ids}", *keys),
        "a value has 255 characters at most",
    )


@word.register
def _(finding: FiltersIsolated) -> Words:
    meant = listed(finding.meant)
    what = {
        Stray.LETTERS: f"the service host is {meant}, and letters count",
        Stray.NODE: f"this is a node, and the filter compares its service host {meant}",
        Stray.IMAGE_NAME: f"this is a name, and the filter compares the ID {meant}",
        Stray.NOTHING: _NOWHERE[finding.name],
    }[finding.stray]
    source = finding.setting.source
    return Words(
        f"{quoted(finding.value)} isolates nothing ({source}): {what}",
        f"write {meant} instead" if finding.meant else "take it off the list",
    )
