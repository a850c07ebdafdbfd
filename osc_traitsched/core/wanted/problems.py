"""Changes that can't be made, or that others would undo: said in their rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from osc_traitsched.core.change.model import Change, Kind
from osc_traitsched.core.change.stages import Staged
from osc_traitsched.core.errors import NoProvider, TraitSchedError
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import Nova
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.refusals import IronicNode, OthersProvider


def with_problems(staged: Staged, found: FoundCloud) -> Staged:
    """Return the changes, each with why it can't be made, if it can't.

    What stands against changes of zones is found out later: it depends on which other
    changes are made.
    """
    ironic = (found.snapshot.nova or Nova()).ironic

    def marked(change: Change) -> Change:
        problem = _problem(change, found, ironic)
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
