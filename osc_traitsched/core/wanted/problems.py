"""Changes that can't be made, or that others would undo: said in their rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from osc_traitsched.core.change.model import Change, Kind
from osc_traitsched.core.change.stages import Stage, Staged
from osc_traitsched.core.errors import CloudBroke, NoProvider, TraitSchedError
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import Nova
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.refusals import IronicNode, OthersProvider
from osc_traitsched.core.wanted.zones import zone_steps


def with_problems(
    staged: Staged,
    found: FoundCloud,
    servers: Mapping[str, int] | CloudBroke,
    held: frozenset[str] = frozenset(),
) -> Staged:
    """Return the changes, each with why it can't be made, if it can't.

    :param servers: how many there are on each host that changes its zone, or why that
        is not known
    :param held: hosts that are left as they are
    """
    refused = {
        id(step.change): problem
        for step in zone_steps(staged, found)
        if (problem := step.problem(servers, held))
    }
    unjoined = {
        host: refused[id(change)]
        for change in staged.get(Stage.MOVED_IN, ())
        for host in change.after
        if id(change) in refused
    }
    # A host that can't get into the other zone stays where it is.
    left = (*staged.get(Stage.MOVED_OUT, ()), *staged.get(Stage.MOVED_OUT_LAST, ()))
    for change in left:
        for host in unjoined.keys() & change.after.keys():
            refused.setdefault(id(change), unjoined[host])

    ironic = (found.snapshot.nova or Nova()).ironic

    def marked(change: Change) -> Change:
        problem = refused.get(id(change)) or _problem(change, found, ironic)
        return dataclasses.replace(change, problem=problem) if problem else change

    return {stage: tuple(map(marked, staged[stage])) for stage in staged}


def _problem(
    change: Change, found: FoundCloud, ironic: Mapping[str, str]
) -> TraitSchedError | None:
    if change.object.kind is not Kind.PROVIDER_TRAITS:
        return None
    if not change.object.id:
        return NoProvider(change.object.host)
    root = found.snapshot.by_uuid[change.object.id].root
    if root in ironic:
        name = min(change.after)
        return IronicNode(ironic[root], name, change.after[name] is not None)
    return _others(change)


def _others(change: Change) -> TraitSchedError | None:
    """Return who makes a provider, if a trait is to be taken from it."""
    if not change.removed:
        return None
    owner = trait.made_by_others(change.found.keys)
    return OthersProvider(change.object.name, owner) if owner else None
