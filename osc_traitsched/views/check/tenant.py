"""The words of the area tenant's rules."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.core.check.finding import Finding
from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.views.check import mirror
from osc_traitsched.views.check.wording import Wording, Words, command, count


def _mirror(finding: Finding) -> Words:
    return mirror.differing(
        finding,
        "its projects' servers do not get there",
        "its projects' servers can land there",
    )


def _list(finding: Finding) -> Words:
    key, (first, *others) = finding.text("key"), finding.names("projects")
    pairs = [f"{key}={first}", *(f"{TENANT_KEY}_{each}={each}" for each in others)]
    return Words(
        f"{key} is a list: Nova compares it as a whole, and it equals no project's ID",
        command(*_set(finding), *(w for p in pairs for w in ("--property", p))),
    )


def _unknown(finding: Finding) -> Words:
    key, value = finding.text("key"), finding.text("value")
    ids = finding.names("ids")
    if not ids:
        return Words(
            f"{key}={value}: no project has this ID",
            command("aggregate", "unset", "--property", key, finding.text("id")),
        )
    pair = f"{key}={ids[0]}"
    return Words(
        f"{key}={value}: this is the name of a project, and Nova looks for its ID",
        command(*_set(finding), "--property", pair) if len(ids) == 1 else "",
    )


def _set(finding: Finding) -> tuple[str, ...]:
    return ("aggregate", "set", finding.text("id"))


def _without(finding: Finding) -> Words:
    projects = count(finding.names("projects"), "project")
    return Words(
        f"on ({finding.text('source')}), and no aggregate is for the {projects}: their "
        "servers find no valid host",
        command(
            *("aggregate", "set", "AGGREGATE"),
            *("--property", f"{TENANT_KEY}SUFFIX=PROJECT_ID"),
        ),
    )


WORDS: Mapping[str, Wording] = {
    "tenant-mirror": _mirror,
    "tenant-list": _list,
    "tenant-unknown": _unknown,
    "tenant-without": _without,
}
