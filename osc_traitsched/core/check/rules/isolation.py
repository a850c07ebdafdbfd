"""Rules on aggregates that are isolated by traits.

nova/scheduler/request_filter.py, ``isolate_aggregates``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from osc_traitsched.core.check.demand import Demand
from osc_traitsched.core.check.finding import Datum, Finding, Rule, Severity
from osc_traitsched.core.check.isolated import Isolated
from osc_traitsched.core.check.study import Study
from osc_traitsched.core.nova import options


def member_lacks_trait(study: Study) -> Iterator[Finding]:
    """Find hosts of an isolated aggregate that lack one of its traits.

    Whoever requires the trait does not fit there, and who does not is kept out.
    """
    severity = _severity(study, Severity.ERROR, Severity.WARNING)
    for each in study.isolated:
        for name in sorted(each.traits & study.known_traits):
            having = study.hosts.having(name)
            lacking = study.inside(each.uuid) - having
            if having and lacking:
                data: dict[str, Datum] = {
                    "trait": name,
                    "hosts": study.named(lacking),
                    "members": len(study.inside(each.uuid)),
                }
                yield Finding(
                    "isolation-member-lacks-trait",
                    severity,
                    "aggregate",
                    each.name,
                    data,
                )


def overlap(study: Study) -> Iterator[Finding]:
    """Find hosts that two aggregates isolate by different traits."""
    for one, other in itertools.combinations(study.isolated, 2):
        shared = study.inside(one.uuid) & study.inside(other.uuid)
        if not shared or one.keys == other.keys:
            continue
        if not _is_open(study, one) or not _is_open(study, other):
            continue
        both = _is_open(study, one, other)
        closed = _severity(study, Severity.WARNING, Severity.NOTE)
        data: dict[str, Datum] = {
            "aggregates": (one.name, other.name),
            "traits": tuple(sorted(one.traits | other.traits)),
            "hosts": study.named(shared),
            "open": int(both),
        }
        severity = Severity.NOTE if both else closed
        yield Finding("isolation-overlap", severity, "aggregate", one.name, data)


def off(study: Study) -> Iterator[Finding]:
    """Find that aggregates say that they are isolated, and the option is off."""
    option = options.ISOLATION
    if study.isolated and not study.is_on(option):
        given = study.is_given(option)
        data: dict[str, Datum] = {
            "aggregates": tuple(each.name for each in study.isolated),
            **study.told(option),
        }
        severity = Severity.ERROR if given else Severity.WARNING
        yield Finding("isolation-off", severity, "option", option, data)


def nobody(study: Study) -> Iterator[Finding]:
    """Find isolated aggregates whose traits no flavor and image require together."""
    severity = _severity(study, Severity.WARNING, Severity.NOTE)
    required = frozenset().union(*study.closed_to)
    for each in study.isolated:
        if each.traits <= study.known_traits and not _is_open(study, each):
            left = [k for k in each.keys if k.partition(":")[2] not in required]
            data: dict[str, Datum] = {
                "keys": tuple(left) or each.keys,
                "apart": int(not left),
                "hosts": study.named(study.inside(each.uuid)),
            }
            yield Finding("isolation-nobody", severity, "aggregate", each.name, data)


def _is_open(study: Study, *aggregates: Isolated) -> bool:
    """Tell whether some flavor and image together get into all the aggregates."""
    return any(
        all(each.is_open_to(traits) for each in aggregates)
        for traits in study.closed_to
    )


def trait_outside(study: Study) -> Iterator[Finding]:
    """Find hosts outside an isolated aggregate that have its trait.

    Who requires the trait may land there, beside servers that do not.
    """
    severity = _severity(study, Severity.WARNING, Severity.NOTE)
    names = sorted({name for each in study.isolated for name in each.traits})
    for name in names:
        inside = [each for each in study.isolated if name in each.traits]
        members = (_either(study, each.uuid) for each in inside)
        outside = study.hosts.having(name) - frozenset[str]().union(*members)
        if outside:
            data: dict[str, Datum] = {
                "aggregates": tuple(each.name for each in inside),
                "hosts": study.named(outside),
            }
            yield Finding("isolation-trait-outside", severity, "trait", name, data)


def _either(study: Study, aggregate: str) -> frozenset[str]:
    """Return the members by Nova or by Placement."""
    nobody = frozenset[str]()
    nova = study.nova.members.get(aggregate, nobody)
    return nova | study.members.get(aggregate, nobody)


def shuts_out(study: Study) -> Iterator[Finding]:
    """Find flavors all whose hosts are isolated from them, with any image."""
    if not study.is_on(options.ISOLATION):
        return
    for flavor in study.of_flavors:
        able = study.matching_hosts(flavor)
        closed = able and _closed(study, flavor)
        if closed and able <= closed and _widest(study, flavor, closed) <= closed:
            data: dict[str, Datum] = {
                "aggregates": _around(study, able),
                "hosts": study.named(able),
                "id": str(flavor.body["id"]),
            }
            yield Finding(
                "isolation-shuts-out", Severity.ERROR, "flavor", flavor.name, data
            )


def _widest(study: Study, flavor: Demand, closed: frozenset[str]) -> frozenset[str]:
    """Return who could take a flavor, or more where those are closed, too."""
    bound = study.bound(flavor)
    return bound if bound <= closed else study.widest(flavor)


def _closed(study: Study, flavor: Demand) -> frozenset[str]:
    """Return the roots that are isolated from a flavor with whatever image."""
    isolated = {name for each in study.isolated for name in each.traits}
    images = {frozenset[str](), *(image.opens for image in study.of_images)}
    together = {frozenset((flavor.opens | more) & isolated) for more in images}
    each = (study.closed_to[traits] for traits in together)
    return study.all_hosts.intersection(*each)


def _around(study: Study, hosts: frozenset[str]) -> tuple[str, ...]:
    return tuple(
        each.name
        for each in study.isolated
        if not hosts.isdisjoint(study.members.get(each.uuid, frozenset()))
    )


def _severity(study: Study, on: Severity, off: Severity) -> Severity:
    """Return how bad a fault is, by whether isolation is on."""
    return on if study.is_on(options.ISOLATION) else off


RULES: tuple[Rule, ...] = (
    Rule("isolation-member-lacks-trait", "isolation", member_lacks_trait, "aggregates"),
    Rule("isolation-overlap", "isolation", overlap, "aggregates"),
    Rule("isolation-off", "isolation", off, "aggregates"),
    Rule("isolation-nobody", "isolation", nobody, "aggregates"),
    Rule("isolation-trait-outside", "isolation", trait_outside, "aggregates"),
    Rule("isolation-shuts-out", "isolation", shuts_out, "flavors"),
)
