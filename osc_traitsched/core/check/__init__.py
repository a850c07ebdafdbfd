"""The check rules, by area, in the order in which they are run and documented.

A rule is a frozen dataclass derived from ``Finding``, with the rule's ID, a field for
all that its words need, and the words. The function below it yields them.
``RULES`` at the end of the file ties the two together. A test tells what is missing, a
section in the reference included.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.builder import titles
from osc_traitsched.core.check.finding import Finding, Kind
from osc_traitsched.core.check.rule import AREAS, Rule, folded
from osc_traitsched.core.check.rules import (
    config,
    filters,
    filters_values,
    image_type,
    isolation,
    mirror,
    placing,
    resources,
    servers,
    traits,
)
from osc_traitsched.core.check.survey import Survey
from osc_traitsched.core.errors import BadUsage, NothingMatches
from osc_traitsched.core.names import near_names
from osc_traitsched.core.nova.question import Body

__all__ = ["AREAS", "RULES", "concerning", "named", "rule_id", "run", "select"]

#: A rule's ID never changes: scripts and documents name it.
RULES: tuple[Rule, ...] = (
    *image_type.RULES,
    *traits.RULES,
    *resources.RULES,
    *isolation.RULES,
    *placing.RULES,
    *mirror.RULES,
    *config.RULES,
    *filters.RULES,
    *filters_values.RULES,
    *servers.RULES,
)

_EVERYTHING: Mapping[Kind, frozenset[str]] = MappingProxyType({})


def rule_id(name: str) -> str:
    """The ID of a rule, which is what it has to be.

    :raises NothingMatches: for anything else, with the IDs like it
    """
    known = {rule.id for rule in RULES}
    if name not in known:
        raise NothingMatches("rule", name, near_names(name, known))
    return name


def select(
    names: Iterable[str],
    ignored: Iterable[str] = (),
    with_servers: bool = False,
    pedantic: bool = False,
) -> tuple[Rule, ...]:
    """The rules with these IDs or areas; all of them without names.

    Rules that read all servers, and pedantic ones, run only if their ID is named, or
    if the parameter says so; a rule that reads servers also runs for its area.

    :param ignored: IDs of the rules to leave out
    :param with_servers: run the rules that read all servers, too
    :param pedantic: run the pedantic rules, too
    :raises NothingMatches: for a name that is neither an ID nor an area
    :raises BadUsage: when no rule is left
    """
    names = frozenset(names)
    left_out = frozenset(map(rule_id, ignored))
    known = {*AREAS, *(rule.id for rule in RULES)}
    for name in sorted(names - known):
        raise NothingMatches("rule", name, near_names(name, known))

    def is_wanted(rule: Rule) -> bool:
        if rule.finding.pedantic:
            in_areas = not names or rule.area in names
            return rule.id in names or (pedantic and in_areas)
        if rule.reads_servers and with_servers:
            return True
        if names:
            return not names.isdisjoint({rule.id, rule.area})
        return not rule.reads_servers

    rules = tuple(rule for rule in RULES if is_wanted(rule) and rule.id not in left_out)
    if not rules:
        raise BadUsage("all rules that are to be run are ignored")
    return rules


def run(
    rules: Iterable[Rule],
    survey: Survey,
    wanted: Mapping[Kind, frozenset[str]] = _EVERYTHING,
) -> tuple[Finding, ...]:
    """What the rules find, the worst first, then in the rules' order.

    What is due to images of other projects alone is one note a rule, and comes last.

    :param wanted: as for :func:`concerning`
    """
    analysis = Analysis(survey)
    found = (finding for rule in rules for finding in rule.find(analysis))
    kept = folded(concerning(found, wanted), analysis.images_of_others)
    return tuple(sorted(kept, key=lambda finding: finding.severity.rank))


def named(
    survey: Survey, flavors: Iterable[str], images: Iterable[str]
) -> dict[Kind, frozenset[str]]:
    """The names that findings have for flavors and images, by their kind.

    :param flavors: their names or IDs
    :param images: theirs
    :raises NothingMatches: for a flavor that is not there, or an image that is not
        there or not active
    """
    return {
        Kind.FLAVOR: _named("flavor", flavors, titles(survey.flavors)),
        Kind.IMAGE: _named(
            "active image", images, titles(survey.images, survey.image_owners)
        ),
    }


def concerning(
    findings: Iterable[Finding], wanted: Mapping[Kind, frozenset[str]]
) -> tuple[Finding, ...]:
    """The findings about what is wanted; all of them where nothing is.

    :param wanted: names by kind, as :func:`named` gives them
    """
    everything = not any(wanted.values())
    return tuple(
        finding
        for finding in findings
        if everything
        or any(finding.is_about(kind, names) for kind, names in wanted.items())
    )


def _named(
    kind: str, wanted: Iterable[str], titled: Sequence[tuple[Body, str]]
) -> frozenset[str]:
    found: set[str] = set()
    for name in wanted:
        matching = {t for body, t in titled if name in (body["id"], body["name"], t)}
        if not matching:
            raise NothingMatches(kind, name, near_names(name, {t for _, t in titled}))
        found |= matching
    return frozenset(found)
