"""A rule, and findings about other projects' images."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import (
    Fault,
    Finding,
    Severity,
    SubjectKind,
    Words,
)
from osc_traitsched.text import listed, option

#: The areas, in the order of runs and documents.
AREAS = (
    "image-type",
    "images",
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
    """One check: a pure function from an analysis to faults, made by :func:`rule`.

    :ivar id: starts with its area, such as ``mirror-missing``
    :ivar find: yields faults in a stable order; its docstring is the rule's reference
    :ivar looks_at: the objects it reads: flavors, images, aggregates, hosts, traits or
        options
    :ivar reads_servers: needs all servers, and so runs only on demand
    :ivar pedantic: runs only if named, or with ``--pedantic``
    """

    id: str
    find: Callable[[Analysis], Iterable[Fault]]
    looks_at: SubjectKind
    reads_servers: bool = False
    pedantic: bool = False

    @property
    def area(self) -> str:
        """One of :data:`AREAS`."""
        return next(area for area in AREAS if self.id.startswith(f"{area}-"))

    @property
    def reference(self) -> str:
        """What it finds, how bad that is, and why it matters."""
        return inspect.getdoc(self.find) or ""


def rule(
    identity: str,
    kind: SubjectKind,
    looks_at: SubjectKind | None = None,
    *,
    pedantic: bool = False,
    reads_servers: bool = False,
) -> Callable[[Callable[[Analysis], Iterable[Fault]]], Rule]:
    """Make a rule of a generator of faults; its docstring is the rule's reference.

    :param kind: of the objects that the faults are about
    :param looks_at: as for :class:`Rule`; the same kind by default
    """

    def of(find: Callable[[Analysis], Iterable[Fault]]) -> Rule:
        @functools.wraps(find)
        def named(analysis: Analysis) -> Iterator[Fault]:
            for fault in find(analysis):
                about = fault.subject or kind
                yield dataclasses.replace(fault, rule=identity, kind=about)

        return Rule(identity, named, looks_at or kind, reads_servers, pedantic)

    return of


# Findings about images that are neither public nor the caller's own.
#
# Any user can create an image with any properties, and it affects only its users. So
# such a finding is a note, not a fault of the cloud.


@dataclasses.dataclass(frozen=True)
class ImagesOfOthers(Finding):
    """All findings of one rule, at least one, that only others' images cause.

    :ivar name: of the first image
    :ivar images: names of all images
    """

    severity = Severity.NOTE
    kind = SubjectKind.IMAGE
    rule: str
    name: str
    images: tuple[str, ...]
    found: tuple[Finding, ...]

    def words(self) -> Words:
        """The problem and its fix."""
        first = self.found[0]
        words = first.words()
        more = "".join((_alike(self), _other_images(self)))
        if first.kind is SubjectKind.OPTION:
            problem = f"{option(first.name)}: {words.problem}{more}"
            return dataclasses.replace(words, problem=problem)
        about = (
            ""
            if first.kind is SubjectKind.IMAGE
            else f"{first.kind.value} {first.name}: "
        )
        return Words(
            f"{about}{words.problem}{more}",
            "leave it to the project that owns the image",
        )


def folded(findings: Iterable[Finding], others: Collection[str]) -> tuple[Finding, ...]:
    """Findings, with one note at the end for each rule's findings on others' images.

    :param others: names of images that are neither public nor the caller's own
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
    first = finding.found[0]
    if first.kind is SubjectKind.IMAGE or finding.images == first.due_to_images:
        return ""
    return f"; all by the {listed(finding.images, 'image')}"
