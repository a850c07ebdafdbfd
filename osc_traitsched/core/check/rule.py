"""A rule, and what is due to other projects' images."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import Finding, Kind, Severity, Words
from osc_traitsched.text import listed, option

#: The areas, in the order in which they are run and documented.
AREAS = (
    "image-type",
    "traits",
    "resources",
    "isolation",
    "az",
    "project",
    "mirror",
    "config",
    "weighers",
    "filters",
    "servers",
)


@dataclasses.dataclass(frozen=True)
class Rule:
    """One check: a pure function from the analysis of a survey to findings.

    :ivar finding: the class of its findings; its ``rule`` is the rule's ID
    :ivar find: yields what it finds, in an order that is always the same
    :ivar looks_at: what it goes through: flavors, images, aggregates, hosts, traits
        or options
    :ivar reads_servers: it takes reading all servers, and so is run on demand only
    """

    finding: type[Finding]
    find: Callable[[Analysis], Iterable[Finding]]
    looks_at: Kind
    reads_servers: bool = False

    @property
    def id(self) -> str:
        """Its ID, which begins with its area, as in ``mirror-missing``."""
        return self.finding.rule

    @property
    def area(self) -> str:
        """One of :data:`AREAS`."""
        return next(area for area in AREAS if self.id.startswith(f"{area}-"))


# What images bring about that are neither public nor the caller's own.
#
# Any user can make an image with whatever properties, and only those who use it are
# concerned. So it is worth a note, and no error of the cloud's.


@dataclasses.dataclass(frozen=True)
class ImagesOfOthers(Finding):
    """What one rule finds that is due to images of other projects alone.

    :ivar name: of the first of the images
    :ivar images: all of them
    :ivar found: what the rule found, one finding at least
    """

    severity = Severity.NOTE
    kind = Kind.IMAGE
    rule: str
    name: str
    images: tuple[str, ...]
    found: tuple[Finding, ...]

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        first = self.found[0]
        words = first.words()
        more = "".join((_alike(self), _other_images(self)))
        if first.kind is Kind.OPTION:
            problem = f"{option(first.name)}: {words.problem}{more}"
            return dataclasses.replace(words, problem=problem)
        about = "" if first.kind is Kind.IMAGE else f"{first.kind.value} {first.name}: "
        return Words(
            f"{about}{words.problem}{more}",
            "leave it to the project that owns the image",
        )


def folded(findings: Iterable[Finding], others: Collection[str]) -> tuple[Finding, ...]:
    """Findings, and last one note a rule for all that is due to others' images.

    :param others: the names of images that are neither public nor the caller's own
    """
    kept: list[Finding] = []
    apart: dict[str, list[Finding]] = {}
    for finding in findings:
        images = finding.due_to_images
        if images and all(name in others for name in images):
            apart.setdefault(finding.rule, []).append(finding)
        else:
            kept.append(finding)
    return (*kept, *(_note(rule, found) for rule, found in apart.items()))


def _note(rule: str, found: list[Finding]) -> ImagesOfOthers:
    images = tuple(dict.fromkeys(name for each in found for name in each.due_to_images))
    return ImagesOfOthers(rule, images[0], images, tuple(found))


def _alike(finding: ImagesOfOthers) -> str:
    first, *rest = finding.found
    if not rest:
        return ""
    names = dict.fromkeys(each.name for each in rest if each.name != first.name)
    which = f": {listed(names, first.kind.value)}" if names else ""
    return f"; {len(rest)} more like it{which}"


def _other_images(finding: ImagesOfOthers) -> str:
    """The images that the words of the first finding do not name."""
    first = finding.found[0]
    if first.kind is Kind.IMAGE or finding.images == first.due_to_images:
        return ""
    return f"; all by the {listed(finding.images, 'image')}"
