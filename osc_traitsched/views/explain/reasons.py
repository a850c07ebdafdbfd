"""Why hosts are out, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from osc_traitsched.core.explain.explanation import Explanation, out_of_sync
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.inventory.trait import DISABLED
from osc_traitsched.core.nova.clause import (
    AFTER_PLACEMENT,
    Condition,
    MemberOf,
    Resource,
    RootTrait,
    Trait,
)
from osc_traitsched.core.nova.filter.state import Fails
from osc_traitsched.core.placement.facts import Stock
from osc_traitsched.views.explain import filters, words

#: The filter that keeps hosts out whose nova-compute is down.
_OF_UP = "ComputeFilter"

_SHORT_OF = {
    "VCPU": "too few VCPU",
    "PCPU": "too few PCPU",
    "MEMORY_MB": "too little memory",
    "DISK_GB": "too little disk",
}


def said(clause: Condition, explanation: Explanation, number: int = 1) -> str:
    """Why hosts fail a clause: ``lacks the trait X``.

    :param number: of hosts, for the verb
    """
    singular = number == 1
    if isinstance(clause, Resource):
        return f"cannot give {words.amount(clause)}"
    be = "is" if singular else "are"
    if isinstance(clause, AFTER_PLACEMENT):
        return filters.failing(clause, number)
    if isinstance(clause, MemberOf):
        if clause.forbidden:
            return f"{be} in {words.place(clause, explanation)}"
        return f"{be} outside {words.place(clause, explanation)}"
    if clause.forbidden and clause.name == DISABLED:
        return f"{be} disabled"
    if clause.forbidden:
        return f"{'has' if singular else 'have'} the trait {clause.name}"
    lack = "lacks" if singular else "lack"
    images = words.image_type(clause)
    return (
        f"{lack} support for {images}" if images else f"{lack} the trait {clause.name}"
    )


def of_hosts(
    clause: Condition, explanation: Explanation, hosts: Sequence[Provider]
) -> Iterator[str]:
    """Why hosts fail a clause, with the figures of the first host.

    One line, or one for each provider of the first host that could give the amount.
    """
    if isinstance(clause, AFTER_PLACEMENT):
        yield filters.said(clause, explanation, hosts)
        return
    first, *others = hosts
    plain = said(clause, explanation, len(hosts))
    short = _short(clause, explanation, first)
    if is_disabling(clause):
        why = disabled_for(explanation, hosts)
        yield f"{plain}: {why}" if why else plain
        return
    if not isinstance(clause, Resource) or not short:
        yield plain
    elif others:
        what = (f"{_figures(clause, found)}{where}" for where, found in short)
        yield f"{plain} ({first.name}: {'; '.join(what)})"
    else:
        yield from (f"{shortage(clause, found)}{where}" for where, found in short)


def _short(
    clause: Condition, explanation: Explanation, host: Provider
) -> list[tuple[str, Stock]]:
    """The providers that are short of an amount, with their names if not the root."""
    if not isinstance(clause, Resource):
        return []
    return [
        ("" if provider.uuid == host.uuid else f" on {provider.name}", found)
        for provider, found in explanation.stock(host, clause.resource_class)
        if clause.amount > found.free or _unit(clause, found)
    ]


def shortage(asked: Resource, found: Stock) -> str:
    """How a host is short of an amount: ``has too little memory: 1536 MB free ...``.

    A host may have enough, but in units that do not fit the amount.
    """
    figures = _figures(asked, found)
    if _unit(asked, found):
        return f"cannot give {words.amount(asked)}: {figures}"
    name = asked.resource_class
    return f"has {_SHORT_OF.get(name, f'too few {name}')}: {figures}"


def _figures(asked: Resource, found: Stock) -> str:
    unit = words.unit(asked.resource_class)
    free = f"{found.free}{unit} free of {found.capacity}, {asked.amount} asked"
    return _unit(asked, found) or free


def _unit(asked: Resource, found: Stock) -> str:
    """The unit of an inventory that an amount violates though there is room."""
    unit = words.unit(asked.resource_class)
    if asked.amount > found.free:
        return ""
    if found.max_unit is not None and asked.amount > found.max_unit:
        return f"{found.max_unit}{unit} at most for one server (max_unit), " + (
            f"{asked.amount} asked"
        )
    if found.min_unit is not None and asked.amount < found.min_unit:
        return f"{found.min_unit}{unit} at least (min_unit), {asked.amount} asked"
    if found.step_size is not None and asked.amount % found.step_size:
        return f"only multiples of {found.step_size}{unit} (step_size), " + (
            f"{asked.amount} asked"
        )
    return ""


def is_disabling(clause: Condition) -> bool:
    """Whether hosts fail this clause since their nova-compute is disabled."""
    return isinstance(clause, (Trait, RootTrait)) and clause.name == DISABLED


def disabled_for(explanation: Explanation, hosts: Sequence[Provider]) -> str:
    """The reason why all these hosts are disabled; empty if reasons differ."""
    found = _disabled_reasons(explanation, hosts)
    return found.pop() if len(found) == 1 else ""


def is_disabled_alike(explanation: Explanation, hosts: Sequence[Provider]) -> bool:
    """Whether all these hosts are disabled for one reason, or for none."""
    return len(_disabled_reasons(explanation, hosts)) == 1


def _disabled_reasons(explanation: Explanation, hosts: Sequence[Provider]) -> set[str]:
    computes = [explanation.computes.get(host.uuid) for host in hosts]
    return {compute.disabled_reason if compute else "" for compute in computes}


def remarks(
    explanation: Explanation, host: Provider, is_said: bool = False
) -> Iterator[str]:
    """Other facts about a host that is out.

    :param is_said: the text says already that its service is disabled, and why
    """
    for each in out_of_sync(explanation, host):
        has, lacks = ("Nova", "Placement") if each.in_nova else ("Placement", "Nova")
        yield f"{has} has it in aggregate {each.aggregate}, {lacks} does not"
    compute = explanation.computes.get(host.uuid)
    is_filtered = isinstance(explanation.filtering.answer(_OF_UP, host.uuid), Fails)
    if compute is not None and not compute.is_up and not is_filtered:
        yield "its nova-compute is down"
    if compute is not None and not compute.is_enabled and not is_said:
        reason = f": {compute.disabled_reason}" if compute.disabled_reason else ""
        yield f"its nova-compute is disabled{reason}"
