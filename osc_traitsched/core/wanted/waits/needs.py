"""Which changes a change waits for: what fails elsewhere does not stop it."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.change.model import Change, Mark
from osc_traitsched.core.change.stages import Stage, Staged
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.waits.facts import FORESEEN, Fact, Facts
from osc_traitsched.core.wanted.waits.reliance import Reliance
from osc_traitsched.core.wanted.zones import ZoneRules


def with_needs(staged: Staged, found: FoundCloud, rules: ZoneRules) -> Staged:
    """Return the changes, each with those of earlier stages that it waits for.

    They are those that bring about what it relies on.

    :param rules: what stands against those that change zones, which depends on what is
        made before; it is told here
    """
    facts, reliance = Facts(staged, found), Reliance(staged, found)
    given: dict[Fact, frozenset[Mark]] = {}
    result: dict[Stage, tuple[Change, ...]] = {}
    # The changes that will not be made: they fail, or wait for such.
    off: set[Mark] = set()
    for stage in sorted(staged):
        changes = []
        for change in staged[stage]:
            relied_on = dict.fromkeys(reliance.of(stage, change))
            needs = tuple(given[fact] for fact in relied_on if fact in given)
            may = change.problem is None and all(map(off.isdisjoint, needs))
            problem = change.problem or rules.refusal(change, may)
            changes.append(dataclasses.replace(change, needs=needs, problem=problem))
            if not may or problem is not None:
                off.add(change.mark)
        brought: dict[Fact, set[Mark]] = {}
        for change in changes:
            is_off = change.mark in off
            for fact in facts.of(stage, change):
                if not (is_off and fact[0] in FORESEEN):
                    brought.setdefault(fact, set()).add(change.mark)
        for fact, marks in brought.items():
            given[fact] = given.get(fact, frozenset()) | marks
        result[stage] = tuple(changes)
    return result
