"""All rules of check, by area, in the order of runs and documents.

A rule is a generator under ``@rule``, in ``RULES`` at the end of its file. It yields
faults, with their words; its docstring is its reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from osc_traitsched.core.check.analysis import Analysis, titles
from osc_traitsched.core.check.rule import AREAS, Rule, folded
from osc_traitsched.core.check.rules import (
    config,
    filters,
    images,
    isolation,
    nowhere,
    traits,
)
from osc_traitsched.core.check.survey import Finding, NotRead, SubjectKind, Survey
from osc_traitsched.core.errors import BadUsage, NothingMatches
from osc_traitsched.core.nova.question import Body
from osc_traitsched.text import near_names

__all__ = ["AREAS", "RULES", "concerning", "named", "rule_id", "run", "select"]

#: A rule's ID never changes: scripts and documents use it.
RULES: tuple[Rule, ...] = (
    *images.TYPE_RULES,
    *images.RULES,
    *traits.RULES,
    *images.RESOURCE_RULES,
    *images.PROFILE_RULES,
    *nowhere.AMOUNT_RULES,
    *isolation.RULES,
    *config.PLACING_RULES,
    *isolation.MIRROR_RULES,
    *config.RULES,
    *filters.WEIGHER_RULES,
    *filters.RULES,
    *nowhere.FILTER_RULES,
    *filters.VALUE_RULES,
    *config.SERVER_RULES,
)

_HIDDEN = "private flavors and images of other projects"
_EVERYTHING: Mapping[SubjectKind, frozenset[str]] = MappingProxyType({})


def rule_id(name: str) -> str:
    """A valid rule ID, unchanged; raises NothingMatches with similar IDs."""
    known = {rule.id for rule in RULES}
    if name not in known:
        raise NothingMatches("rule", name, near_names(name, known))
    return name


def rule_or_area(name: str) -> str:
    """The ID of a rule, or an area; raises NothingMatches with similar names."""
    known = {*AREAS, *(rule.id for rule in RULES)}
    if name not in known:
        raise NothingMatches("rule", name, near_names(name, known))
    return name


def select(
    names: Iterable[str],
    ignored: Iterable[str] = (),
    with_servers: bool = False,
    pedantic: bool = False,
) -> tuple[Rule, ...]:
    """The rules with these IDs or areas; all rules without names.

    Rules that read all servers, and pedantic ones, run only if their ID is named or if
    the parameter says so. A rule that reads servers also runs for its area.

    :raises NothingMatches: for a name that is neither an ID nor an area
    :raises BadUsage: if no rule is left
    """
    names = frozenset(map(rule_or_area, sorted(names)))
    left_out = frozenset(map(rule_id, ignored))

    def is_wanted(rule: Rule) -> bool:
        if rule.pedantic:
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
    wanted: Mapping[SubjectKind, frozenset[str]] = _EVERYTHING,
) -> tuple[tuple[Finding, ...], Mapping[str, tuple[str, ...]]]:
    """Findings of the rules, worst first, then in the rules' order.

    Findings only about images of other projects become one note for each rule, at the
    end.

    :param wanted: as for :func:`concerning`
    :returns: the findings; and what this user may not read, with the IDs of the rules
        that need it and stopped
    """
    analysis = Analysis(survey)
    found: list[Finding] = []
    unread: dict[str, tuple[str, ...]] = {}
    for rule in rules:
        try:
            if rule.reads_servers and survey.servers is None:
                raise NotRead("the servers of all projects")
            for finding in rule.find(analysis):
                found.append(finding)
        except NotRead as exc:
            unread[str(exc)] = (*unread.get(str(exc), ()), rule.id)
        is_partial = rule.looks_at in (SubjectKind.FLAVOR, SubjectKind.IMAGE)
        if is_partial and not any(wanted.values()) and not survey.has_private_flavors:
            unread.setdefault(_HIDDEN, ())
    kept = folded(concerning(found, wanted), analysis.images_of_others)
    return tuple(sorted(kept, key=lambda finding: finding.severity.rank)), unread


def named(
    survey: Survey, flavors: Iterable[str], images: Iterable[str]
) -> dict[SubjectKind, frozenset[str]]:
    """Names of flavors and images in findings, by kind; ``flavors`` may be IDs.

    :raises NothingMatches: for an unknown flavor, or an unknown or inactive image
    """
    return {
        SubjectKind.FLAVOR: _named("flavor", flavors, titles(survey.flavors)),
        SubjectKind.IMAGE: _named(
            "active image", images, titles(survey.images, survey.image_owners)
        ),
    }


def concerning(
    findings: Iterable[Finding], wanted: Mapping[SubjectKind, frozenset[str]]
) -> tuple[Finding, ...]:
    """Findings about the wanted objects of :func:`named`; all if none is wanted."""
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
