"""Advice: where to look if no change can be tried."""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Collection, Iterator, Mapping

from osc_traitsched.core.errors import TraitMissing
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.inventory.trait import DISABLED, is_reported, nearest
from osc_traitsched.core.judge.fix.requests import RequestChange
from osc_traitsched.core.judge.verdict import Verdict
from osc_traitsched.core.nova.clause import (
    Condition,
    HostFilter,
    Resource,
    RootTrait,
    Trait,
)
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.text import listed


class Topic(enum.Enum):
    """What an advice is about."""

    #: No host reports a trait or a resource class, or is of the image's architecture.
    NOT_REPORTED = "not reported"
    #: Each host that could take the server has a member of the anti-affinity group.
    GROUP = "group"
    #: Placement marks enabled hosts as disabled.
    STALE_TRAIT = "stale trait"
    #: Placement counts resources of a host without servers.
    LEAKED = "leaked"
    #: The trait does not exist, and another one has nearly its name.
    MISSPELLED = "misspelled"


@dataclasses.dataclass(frozen=True)
class Advice:
    """Where to look; nothing that was tried.

    :ivar subject: trait, resource class, architecture, group, or right trait
    :ivar about: root UUIDs
    :ivar amount: members of the group
    :ivar corrections: of a misspelled trait
    """

    topic: Topic
    subject: str
    about: tuple[str, ...] = ()
    amount: int = 0
    corrections: tuple[RequestChange, ...] = ()


_ARCHITECTURES = ("hw_architecture", "architecture")

#: Resource classes that nova-compute reports only if an option says so.
_OF_OPTIONS = "MEM_ENCRYPTION_CONTEXT|PCPU|VGPU|CUSTOM_PCI_"


def advice(
    question: Question, verdict: Verdict, facts: Facts, computes: Mapping[str, Compute]
) -> Iterator[Advice]:
    """What no change of a host or of the request would cure."""
    for count in verdict.counts:
        subject = _unreported(count.clause, question, facts)
        if subject and not count.alone:
            yield Advice(Topic.NOT_REPORTED, subject)
    stale: list[str] = []
    leaked: dict[str, set[str]] = {}
    is_full = False
    for root, rejection in verdict.rejections.items():
        compute = computes.get(root)
        for clause in rejection.failing if compute else ():
            if isinstance(clause, HostFilter):
                is_alone = len(rejection.failing) == 1
                is_full |= is_alone and clause.name == special.ANTI_AFFINITY
            elif isinstance(clause, Resource) and _is_leaked(clause, compute, facts):
                leaked.setdefault(root, set()).add(clause.resource_class)
            elif _is_stale(clause, compute):
                stale.append(root)
    if stale:
        yield Advice(Topic.STALE_TRAIT, DISABLED, tuple(stale))
    if leaked:
        classes = sorted(set().union(*leaked.values()))
        yield Advice(Topic.LEAKED, listed(classes), tuple(leaked))
    group = question.group
    if group and is_full and len(verdict.rejections) == len(facts.snapshot.hosts):
        yield Advice(Topic.GROUP, group.name, amount=len(group.members))


def _is_stale(clause: Condition, compute: Compute | None) -> bool:
    """The trait of disabled hosts keeps out one that is enabled."""
    is_trait = isinstance(clause, (Trait, RootTrait)) and clause.name == DISABLED
    return is_trait and compute is not None and compute.is_enabled


def _unreported(clause: Condition, question: Question, facts: Facts) -> str:
    """What only nova-compute can report."""
    if isinstance(clause, (Trait, RootTrait)) and not clause.forbidden:
        return clause.name if is_reported(clause.name) else ""
    if isinstance(clause, Resource) and re.match(_OF_OPTIONS, clause.resource_class):
        is_full = any(clause.resource_class in each for each in facts.stock.values())
        return "" if is_full else clause.resource_class
    if isinstance(clause, HostFilter):
        properties = question.image_properties()
        keys = {origin.key for origin in clause.origins}.intersection(_ARCHITECTURES)
        return next((str(properties[k]) for k in sorted(keys) if k in properties), "")
    return ""


def _is_leaked(clause: Resource, compute: Compute | None, facts: Facts) -> bool:
    """Placement counts what keeps a host without servers full."""
    name = clause.resource_class
    stock = facts.stock.get(compute.uuid, {}).get(name) if compute else None
    if compute is None or stock is None or not stock.could_give(clause.amount):
        return False
    return compute.has_leak(name, stock.used, stock.reserved or 0)


def misspelled(
    question: Question, request: Request, known: Collection[str]
) -> tuple[TraitMissing, tuple[Advice, ...]] | None:
    """The first trait of the request that does not exist, and corrections."""
    for clause in request.clauses:
        if not isinstance(clause, (Trait, RootTrait)) or clause.name in known:
            continue
        origin = max(clause.origins, key=lambda each: clause.name in each.key)
        bodies = {"flavor": question.flavor, "image": question.image}
        body = bodies.get(origin.kind) or {}
        name = str(body.get("name") or origin.name or origin.key)
        near = nearest(clause.name, known)
        error = TraitMissing(origin.kind, name, clause.name, near, clause.forbidden)
        if not near or not body or clause.name not in origin.key:
            return error, ()
        right = origin.key.replace(clause.name, near[0])
        value = "forbidden" if clause.forbidden else "required"
        changes = (
            RequestChange(origin.kind, right, value),
            RequestChange(origin.kind, origin.key, None),
        )
        # A correction of the flavor does not reach a server that has its own copy.
        is_saved = not question.spec.is_what_if and not question.is_kept
        found = (Advice(Topic.MISSPELLED, near[0], corrections=changes),) * is_saved
        return error, found
    return None
