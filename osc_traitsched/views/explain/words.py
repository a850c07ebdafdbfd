"""The words for clauses, their origins, figures and assumptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.explain.option_impact import OptionImpact, ReleaseImpact
from osc_traitsched.core.nova.clause import (
    Clause,
    MemberOf,
    Origin,
    Resource,
    RootTrait,
)
from osc_traitsched.core.nova.option import Value
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.placement.facts import Stock
from osc_traitsched.views.options import release
from osc_traitsched.views.text import listed

_UNITS = {"MEMORY_MB": " MB", "DISK_GB": " GB"}


def clause(each: Clause, explanation: Explanation) -> str:
    """Return a condition in words: what a host must have or be."""
    if isinstance(each, Resource):
        return f"{each.amount} {each.resource_class}{_group(each.group)}"
    if isinstance(each, MemberOf):
        names = " or ".join(aggregates(each.aggregates, explanation.question))
        return f"{'outside' if each.forbidden else 'in'} aggregate {names}"
    what = f"{'not ' if each.forbidden else ''}{each.name}"
    return what if isinstance(each, RootTrait) else f"{what}{_group(each.group)}"


def _group(group: str) -> str:
    return f" (group {group})" if group else ""


def effect(impact: OptionImpact | ReleaseImpact, is_judged: bool = True) -> str:
    """Return what the verdict would be otherwise.

    :param is_judged: as things are, Nova does not refuse the request at once
    """
    if not is_judged:
        return "Nova does not refuse it"
    if impact.refused:
        return "Nova would refuse"
    return f"{impact.gained} hosts more, {impact.lost} fewer"


def other_releases(explanation: Explanation) -> Iterator[str]:
    """Yield a line for each release that it may be and that changes the verdict."""
    for impact in explanation.release_impacts:
        yield (
            f"If Nova is {release(impact.release)}, which has the same compute API: "
            f"{effect(impact, explanation.is_judged)} (see --nova-release)."
        )


def cut_off(explanation: Explanation) -> Iterator[str]:
    """Yield lines on the candidates that Placement's answer left out."""
    names = listed(host.name for host in explanation.cut_off_candidates)
    if names:
        yield "Placement cuts its answers ([placement]max_allocation_candidates). Only"
        yield f"asked for them alone it gives {names}. Nova may not see them."


def clause_ids(clauses: Sequence[Clause]) -> tuple[str, ...]:
    """Return a name for each condition, as Placement's query would put it."""
    ids: list[str] = []
    for each in clauses:
        name = _clause_id(each)
        ids.append(name if name not in ids else f"{name}#{ids.count(name) + 1}")
    return tuple(ids)


def _clause_id(each: Clause) -> str:
    if isinstance(each, Resource):
        return f"resources{each.group}:{each.resource_class}"
    if isinstance(each, MemberOf):
        uuids = ",".join(sorted(each.aggregates))
        return f"member_of:{'!' if each.forbidden else ''}in:{uuids}"
    prefix = "root_required" if isinstance(each, RootTrait) else f"required{each.group}"
    return f"{prefix}:{'!' if each.forbidden else ''}{each.name}"


def aggregates(uuids: Iterable[str], question: Question) -> list[str]:
    """Return the names of aggregates, sorted; a UUID where there is no name."""
    names = {each["uuid"]: each["name"] for each in question.aggregates}
    return sorted(names.get(uuid, uuid) for uuid in uuids)


def origins(each: Clause) -> str:
    """Return where a condition comes from."""
    return ", ".join(origin(one) for one in each.origins)


def origin(each: Origin) -> str:
    """Return one origin in words."""
    if each.kind == "aggregate":
        required = "=required" if each.key.startswith("trait:") else ""
        return f"aggregate {each.name} {each.key}{required}"
    if each.kind != "prefilter" or not each.option:
        return f"{each.kind} {each.key}"
    section, _, name = each.option.partition(".")
    return f"{each.kind} {each.key} ([{section}]{name})"


def request(question: Question) -> str:
    """Return what was asked, in one line."""
    flavor = question.flavor
    size = f"{flavor['vcpus']} VCPU, {flavor['ram']} MB, {flavor['disk']} GB"
    parts = [f"flavor {flavor['name']} ({size})"]
    if question.image is None:
        parts.append("no image")
    else:
        name = question.image.get("name") or question.image.get("id")
        parts.append(
            f"image {name} ({question.image.get('disk_format') or 'no format'})"
        )
    if question.boot_from_volume:
        parts.append("booted from a volume")
    if question.zone:
        parts.append(f"availability zone {question.zone}")
    if question.project:
        parts.append(f"project {question.project}")
    if question.count > 1:
        parts.append(f"{question.count} servers")
    return ", ".join(parts)


def verdict(explanation: Explanation) -> str:
    """Return the answer, in one line."""
    total, found = explanation.total_hosts, len(explanation.candidates)
    hosts = "host" if total == 1 else "hosts"
    if explanation.refusal is not None and explanation.facts is None:
        return "Refused; no host is asked."
    if explanation.refusal is not None:
        return f"Refused; Placement alone would give {found} of {total} {hosts}."
    if not found:
        return f"No host can take it: 0 of {total}."
    down = sum(
        1
        for host in explanation.candidates
        if (compute := explanation.computes.get(host.uuid)) and not compute.is_up
    )
    remark = f" ({down} of them with nova-compute down)" if down else ""
    if explanation.question.count > 1:
        remark += f"; there is room for {explanation.max_servers} such servers at most"
    return f"{found} of {total} {hosts} can take it{remark}."


def value(found: Value) -> str:
    """Return an option's value as nova.conf has it."""
    if isinstance(found, bool):
        return str(found).lower()
    if isinstance(found, tuple):
        return ",".join(found)
    return "" if found is None else str(found)


def figures(asked: Resource, found: Stock) -> str:
    """Return which unit an amount violates, and how much of a class there is."""
    unit = _UNITS.get(asked.resource_class, "")
    parts = [
        *_unmet_units(asked.amount, found),
        f"asked {asked.amount}, free {found.free} of {found.capacity}{unit}",
    ]
    if found.total is not None:
        parts.append(
            f"total {found.total}, reserved {found.reserved}, ratio {found.ratio}"
        )
        parts.append(
            f"min_unit {found.min_unit}, max_unit {found.max_unit}, "
            f"step_size {found.step_size}"
        )
    return "; ".join(parts)


def _unmet_units(amount: int, found: Stock) -> Iterator[str]:
    if found.max_unit is not None and amount > found.max_unit:
        yield f"more than max_unit {found.max_unit}"
    if found.min_unit is not None and amount < found.min_unit:
        yield f"less than min_unit {found.min_unit}"
    if found.step_size is not None and amount % found.step_size:
        yield f"not a multiple of step_size {found.step_size}"
