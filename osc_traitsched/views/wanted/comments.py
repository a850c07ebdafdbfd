"""What files say on top, in comments, of what no line of theirs can."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from osc_traitsched.core.change.model import Kind, Object
from osc_traitsched.core.wanted import export
from osc_traitsched.core.wanted.claims import Unit
from osc_traitsched.text import listed, quoted, visible


def not_undone(units: Iterable[Unit]) -> list[str]:
    """Return lines for the top of a file that leads back: what it does not."""
    return [f"Not brought back: {_left(*unit)}" for unit in units]


def _left(target: Object, key: str) -> str:
    name = quoted(target.name)
    if target.kind is Kind.TRAIT:
        return f"trait {key} was made; openstack trait delete {key}"
    if target.kind is Kind.NEW_AGGREGATE and key == "name":
        return (
            f"aggregate {name} was made; openstack aggregate delete, once it is empty; "
            "if it was not made after all, take its lines out"
        )
    if target.kind is Kind.PROVIDER_TRAITS:
        return f"{key} of {name}, which no file takes away; trait-sched remove does"
    if target.kind is Kind.AGGREGATE_HOSTS:
        return f"{visible(key)} in {name}, a host that Nova does not list"
    if target.kind is Kind.PROVIDER_AGGREGATES:
        return f"{name} was put into an aggregate of its host in Placement"
    return (
        f"{visible(key)} of {name}, to which Nova lets nobody go back, or which no "
        "file says"
    )


@functools.singledispatch
def unsaid(found: export.Unsaid) -> str:
    """Return a line on something that a cloud has and no file says."""
    raise NotImplementedError


@unsaid.register
def _(found: export.OddZone) -> str:
    zone = f"zone {quoted(found.zone)}, which nobody can ask for"
    return f"aggregate {quoted(found.aggregate)} has the {zone}"


@unsaid.register
def _(found: export.NoProject) -> str:
    return (
        f"aggregate {quoted(found.aggregate)} is for project {quoted(found.project)}, "
        "which is no ID as Keystone makes them: Nova takes no name"
    )


@unsaid.register
def _(found: export.OfIronic) -> str:
    return f"Ironic node {visible(found.node)} has {listed(found.traits)} in Ironic"


@unsaid.register
def _(found: export.HalfIsolated) -> str:
    return (
        f"aggregate {quoted(found.aggregate)} is isolated for {found.trait}, and "
        f"Placement does not have that of all its hosts: {listed(found.hosts)}"
    )


@unsaid.register
def _(found: export.GoneHost) -> str:
    return (
        f"aggregate {quoted(found.aggregate)} has {visible(found.host)}, a host that "
        "Nova does not list"
    )


@unsaid.register
def _(found: export.UnknownTrait) -> str:
    return (
        f"{found.kind} {quoted(found.name)} names {quoted(found.trait)}, a trait that "
        "Placement does not know"
    )


@unsaid.register
def _(found: export.InGroups) -> str:
    pairs = listed(map(visible, found.pairs))
    return (
        f"flavor {quoted(found.flavor)} has {pairs}, for a numbered or named group, of "
        "which no file says anything"
    )


@unsaid.register
def _(found: export.Ignored) -> str:
    return (
        f"{found.kind} {quoted(found.name)} has {visible(found.pair)}, a value that "
        "Nova ignores"
    )
