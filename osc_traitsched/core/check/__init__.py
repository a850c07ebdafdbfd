"""The check rules, by area, in the order in which they are run and documented.

To add a rule, one file is changed, ``rules/AREA.py``: a frozen dataclass derived from
``Finding``, with the rule's ID, a field for all that its words need, and the words;
below it a function that yields such findings. ``RULES`` at the end of the file ties the
two together.

A test tells what is missing, a section in the reference included.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.builder import titles
from osc_traitsched.core.check.finding import Finding, Kind
from osc_traitsched.core.check.rule import Rule, folded
from osc_traitsched.core.check.rules import (
    az,
    config,
    filters,
    image_type,
    isolation,
    mirror,
    project,
    resources,
    servers,
    traits,
    weighers,
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
    *az.RULES,
    *project.RULES,
    *mirror.RULES,
    *config.RULES,
    *filters.RULES,
    *weighers.RULES,
    *servers.RULES,
)

_EVERYTHING: Mapping[Kind, frozenset[str]] = MappingProxyType({})

AREAS: tuple[str, ...] = tuple(dict.fromkeys(rule.area for rule in RULES))


def rule_id(name: str) -> str:
    """Return the ID of a rule, which is what it has to be.

    :raises NothingMatches: for anything else, with the IDs like it
    """
    known = {rule.id for rule in RULES}
    if name not in known:
        raise NothingMatches("rule", name, near_names(name, known))
    return name


def select(
    names: Iterable[str], ignored: Iterable[str] = (), with_servers: bool = False
) -> tuple[Rule, ...]:
    """Return the rules that are named, by their ID or area; all without names.

    Those that read all servers are not among all.

    :param ignored: IDs of those to leave out
    :param with_servers: those that read all servers, too
    :raises NothingMatches: for a name of neither, with those like it; for what is no ID
    :raises BadUsage: when no rule is left
    """
    names = frozenset(names)
    left_out = frozenset(map(rule_id, ignored))
    known = {*AREAS, *(rule.id for rule in RULES)}
    for name in sorted(names - known):
        raise NothingMatches("rule", name, near_names(name, known))

    def is_wanted(rule: Rule) -> bool:
        if rule.reads_servers and with_servers:
            return True
        if names:
            return not names.isdisjoint({rule.id, rule.area, *rule.also})
        return not rule.reads_servers

    wanted = filter(is_wanted, RULES)
    found = tuple(rule for rule in wanted if rule.id not in left_out)
    if not found:
        raise BadUsage("all rules that are to be run are ignored")
    return found


def run(
    rules: Iterable[Rule],
    survey: Survey,
    wanted: Mapping[Kind, frozenset[str]] = _EVERYTHING,
) -> tuple[Finding, ...]:
    """Return what the rules find, the worst first, then in the rules' order.

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
    """Return the names that findings have for flavors and images, by their kind.

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
    """Return the findings about what is wanted; all of them where nothing is.

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
