"""Changes of traits that can't be made, or that others would undo."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.change.model import Change, Kind
from osc_traitsched.core.errors import NoProvider, TraitSchedError
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import Nova
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.refusals import IronicNode, OthersProvider


def with_problem(change: Change, found: FoundCloud) -> Change:
    """Change with why it can't be made, if the provider says so."""
    if change.object.kind is not Kind.PROVIDER_TRAITS:
        return change
    problem = _problem(change, found)
    return dataclasses.replace(change, problem=problem) if problem else change


def _problem(change: Change, found: FoundCloud) -> TraitSchedError | None:
    if not change.object.id:
        return NoProvider(change.object.host)
    ironic = (found.snapshot.nova or Nova()).ironic
    root = found.snapshot.by_uuid[change.object.id].root
    if root in ironic:
        name = min(change.after)
        return IronicNode(ironic[root], name, change.after[name] is not None)
    owner = trait.made_by_others(change.found.keys) if change.removed else None
    return OthersProvider(change.object.name, owner) if owner else None
