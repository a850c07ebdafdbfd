"""The words of the area project's rules."""

from __future__ import annotations

from osc_traitsched.core.check.finding import Kind
from osc_traitsched.core.check.rules.project import (
    ProjectList,
    ProjectMirror,
    ProjectUnknown,
    ProjectWithout,
)
from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.paste import Option, Placeholder, openstack
from osc_traitsched.text import listed
from osc_traitsched.views.check import mirror
from osc_traitsched.views.check.wording import Words, aggregate_set, unset, word


@word.register
def _(finding: ProjectMirror) -> Words:
    return mirror.out_of_step(
        finding.out_of_step,
        "its projects' servers do not get there",
        "its projects' servers can land there",
    )


@word.register
def _(finding: ProjectList) -> Words:
    key, (first, *others) = finding.key, finding.projects
    pairs = [f"{key}={first}", *(f"{TENANT_KEY}_{each}={each}" for each in others)]
    return Words(
        f"{key} is a list: Nova compares it as a whole, and it equals no project's ID",
        aggregate_set(finding.id, *pairs),
    )


@word.register
def _(finding: ProjectUnknown) -> Words:
    pair = f"{finding.key}={finding.value}"
    if not finding.named:
        return Words(
            f"{pair}: no project has this ID",
            unset(Kind.AGGREGATE, [finding.key], str(finding.id)),
        )
    meant = f"{finding.key}={finding.named[0]}"
    return Words(
        f"{pair}: this is the name of a project, and Nova looks for its ID",
        aggregate_set(finding.id, meant) if len(finding.named) == 1 else "",
    )


@word.register
def _(finding: ProjectWithout) -> Words:
    return Words(
        f"on ({finding.setting.source}), and no aggregate is for the "
        f"{listed(finding.projects, 'project')}: their servers find no valid host",
        openstack(
            "aggregate set",
            Placeholder("AGGREGATE"),
            Option("--property", Placeholder(f"{TENANT_KEY}SUFFIX=PROJECT_ID")),
        ),
    )
