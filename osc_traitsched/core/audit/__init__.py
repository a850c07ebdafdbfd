"""The check rules, by area, in the order in which they are run and documented."""

from __future__ import annotations

from collections.abc import Iterable

from osc_traitsched.core.audit import (
    az,
    config,
    image_type,
    isolation,
    mirror,
    tenant,
    traits,
)
from osc_traitsched.core.audit.builder import titles
from osc_traitsched.core.audit.finding import Finding, Rule
from osc_traitsched.core.audit.study import Study
from osc_traitsched.core.errors import NothingMatches
from osc_traitsched.core.survey import Survey
from osc_traitsched.core.trait import alike

__all__ = ["AREAS", "RULES", "run", "select", "titles"]

#: A rule's ID never changes: scripts and documents name it.
RULES: tuple[Rule, ...] = (
    *image_type.RULES,
    *traits.RULES,
    *isolation.RULES,
    *az.RULES,
    *tenant.RULES,
    *mirror.RULES,
    *config.RULES,
)

AREAS: tuple[str, ...] = tuple(dict.fromkeys(rule.area for rule in RULES))


def select(names: Iterable[str]) -> tuple[Rule, ...]:
    """Return the rules that are named, by their ID or area; all without names.

    :raises NothingMatches: for a name of neither, with those like it
    """
    names = frozenset(names)
    known = {*AREAS, *(rule.id for rule in RULES)}
    for name in sorted(names - known):
        raise NothingMatches("rule", name, alike(name, known))
    return tuple(r for r in RULES if not names or names & {r.id, r.area, *r.also})


def run(rules: Iterable[Rule], survey: Survey) -> tuple[Finding, ...]:
    """Return what the rules find, the worst first, then in the rules' order."""
    study = Study.of(survey)
    found = [finding for rule in rules for finding in rule.function(study)]
    return tuple(sorted(found, key=lambda finding: finding.severity.rank))
