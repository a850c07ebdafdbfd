"""A rule of check, and the phrases that findings of several areas share."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.survey import (
    Fault,
    Finding,
    Isolated,
    Severity,
    SubjectKind,
    Words,
)
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.inventory.trait import is_reported, where_to_look
from osc_traitsched.core.nova.clause import RootTrait, Trait
from osc_traitsched.core.nova.options import OPTIONS, Setting
from osc_traitsched.paste import (
    Command,
    Option,
    Placeholder,
    is_printable,
    openstack,
    printable,
)
from osc_traitsched.text import listed, near_names, option

# A rule, and findings about other projects' images.


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


# Phrases and commands for findings of several areas.


def unset(kind: SubjectKind, keys: Iterable[str], target: str | Aggregate) -> Command:
    """Command that removes keys; ``KEY`` stands for an unprintable one."""
    name = target if isinstance(target, str) else aggregate_name(target)
    shown = (key if is_printable(key) else Placeholder("KEY") for key in keys)
    options = dict.fromkeys(Option("--property", key) for key in shown)
    return openstack(f"{kind.value} unset", *options, name)


def aggregate_name(aggregate: Isolated | Aggregate) -> str:
    """An aggregate's name for a command, or its ID if the name is a number."""
    name, identity = aggregate.name, str(aggregate.id)
    return identity if name.isdigit() else printable(name, identity)


def aggregate_set(aggregate: Aggregate, *pairs: str | Placeholder) -> Command:
    """Command that sets an aggregate's keys, each as ``key=value``."""
    properties = (Option("--property", pair) for pair in pairs)
    return openstack("aggregate set", aggregate_name(aggregate), *properties)


def corrected(
    kind: SubjectKind,
    identity: str,
    pairs: Iterable[tuple[str, str]],
    allowed: Sequence[str],
) -> Command | str:
    """Command that sets the values that are meant; an instruction if unclear."""
    right = {key: meant(value, allowed) for key, value in pairs}
    if not all(right.values()):
        return f"set the value to {' or '.join(allowed)}, or remove the key"
    changed = (
        f"{key}={value}" if is_printable(key) else Placeholder(f"KEY={value}")
        for key, value in right.items()
    )
    properties = dict.fromkeys(Option("--property", each) for each in changed)
    return openstack(f"{kind.value} set", *properties, identity)


#: Values for yes; the first allowed value is meant.
_YES = frozenset(["true", "yes", "1", "on", "y"])


def meant(value: str, allowed: Sequence[str]) -> str:
    """The allowed value that a wrong one is like; empty if none."""
    if value.strip().casefold() in _YES:
        return allowed[0]
    is_denied = value.casefold().startswith(("no", "un"))
    return "" if is_denied else next(iter(near_names(value, allowed)), "")


def enable(name: str, setting: Setting) -> Command:
    """Command that turns an option on, by the tool of the setting."""
    switch = OPTIONS[name].switches[0]
    return openstack("trait-sched config enable", switch, Option("--for", setting.tool))


def off_by(setting: Setting) -> str:
    """Says that an option is off, or taken as off, and the source."""
    state = "off" if setting.given else "unknown, taken as off"
    return f"{state} ({setting.source})"


def give(*names: str, create: bool = False) -> str | Command:
    """How to add traits to hosts: a command if operators own them."""
    reported = [name for name in names if is_reported(name)]
    if reported:
        return f"{where_to_look(reported[0])}, or add hosts that have it"
    options = [Option("--create")] if create else []
    return openstack(
        "trait-sched add", *names, *options, Option("--host", Placeholder("HOST"))
    )


def together(traits: tuple[Trait | RootTrait, ...]) -> str:
    """Traits of a request, such as ``A and not B``."""
    names = [f"{'not ' * each.forbidden}{each.name}" for each in traits]
    return " and ".join(names) if len(names) < 3 else listed(names)
