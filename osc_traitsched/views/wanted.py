"""The plan of a wanted state in words: its rows, its sums, and what is refused."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from osc_traitsched.core.change.isolation import Effect
from osc_traitsched.core.change.model import PRESENT, Kind, Object, Outcome, Status
from osc_traitsched.core.change.servers import MisplacedServers
from osc_traitsched.core.errors import CloudBroke, Mistakes, TraitSchedError
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.wanted import export, refusals
from osc_traitsched.core.wanted.claims import Claim, Unit
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.model import Place, Wrong
from osc_traitsched.core.wanted.steps import Step, steps_of
from osc_traitsched.views import effects, isolation, problems
from osc_traitsched.views.columns import Cell
from osc_traitsched.views.commands import Option, line, openstack
from osc_traitsched.views.text import count, did_you_mean, listed, quoted, visible
from osc_traitsched.views.traits import Table

COLUMNS = (
    "change",
    "step",
    "object",
    "key",
    "before",
    "after",
    "wanted",
    "status",
    "detail",
)


class Sign(Cell):
    """What happens to a unit: a sign to a person, a word to a program."""

    SIGNS: Mapping[str, str] = {"add": "+", "remove": "-", "set": "~"}

    def lines(self) -> Iterable[str]:
        """Return the sign."""
        return [self.SIGNS[str(self._value)]]


class Shown(Cell):
    """A value; what is there and has none of its own is not shown to a person."""

    def lines(self) -> Iterable[str]:
        """Return the value, if it says something."""
        return [] if self._value in (None, PRESENT) else [str(self._value)]


def rows(
    outcomes: Iterable[Outcome], claims: Mapping[Unit, Claim], found: FoundCloud
) -> Table:
    """One row a unit that differs, in the order of the plan.

    :param claims: each unit that differs, with the line that wants it
    """
    table: list[tuple[Any, ...]] = [
        (
            Sign(step.change),
            step.step,
            step.object,
            step.key,
            Shown(step.before),
            Shown(step.after),
            str(step.claim.place),
            step.outcome.status.value,
            _detail(step, found),
        )
        for step in steps_of(outcomes, claims, found)
    ]
    return COLUMNS, table


def _detail(step: Step, found: FoundCloud) -> str:
    if step.outcome.problem is not None:
        return problems.word(step.outcome.problem)
    new = (Status.WOULD_CHANGE, Status.CHANGED)
    if step.step == "trait" and step.outcome.status in new:
        return f"new{did_you_mean(trait.nearest(step.key, found.traits))}"
    return "only: no line names it" if step.claim.is_rest else ""


def not_undone(units: Iterable[Unit]) -> list[str]:
    """Return lines for the top of a file that leads back: what it does not."""
    return [f"Not brought back: {_left(*unit)}" for unit in units]


def _left(target: Object, key: str) -> str:
    name = quoted(target.name)
    if target.kind is Kind.TRAIT:
        return f"trait {key} was made; openstack trait delete {key}"
    if target.kind is Kind.NEW_AGGREGATE and key == "name":
        return (
            f"aggregate {name} was made; openstack aggregate delete, once it is empty; "
            "if it was not made after all, take its lines out"
        )
    if target.kind is Kind.PROVIDER_TRAITS:
        return f"{key} of {name}, which no file takes away; trait-sched remove does"
    if target.kind is Kind.AGGREGATE_HOSTS:
        return f"{visible(key)} in {name}, a host that Nova does not list"
    if target.kind is Kind.PROVIDER_AGGREGATES:
        return f"{name} was put into an aggregate of its host in Placement"
    return (
        f"{visible(key)} of {name}, to which Nova lets nobody go back, or which no "
        "file says"
    )


@functools.singledispatch
def unsaid(found: export.Unsaid) -> str:
    """Return a line on something that a cloud has and no file says."""
    raise NotImplementedError


@unsaid.register
def _(found: export.OfIronic) -> str:
    return f"Ironic node {visible(found.node)} has {listed(found.traits)} in Ironic"


@unsaid.register
def _(found: export.HalfIsolated) -> str:
    return (
        f"aggregate {quoted(found.aggregate)} is isolated for {found.trait}, and "
        f"Placement does not have that of all its hosts: {listed(found.hosts)}"
    )


@unsaid.register
def _(found: export.GoneHost) -> str:
    return (
        f"aggregate {quoted(found.aggregate)} has {visible(found.host)}, a host that "
        "Nova does not list"
    )


@unsaid.register
def _(found: export.UnknownTrait) -> str:
    return (
        f"{found.kind} {quoted(found.name)} names {quoted(found.trait)}, a trait that "
        "Placement does not know"
    )


def with_undo(path: str) -> str:
    """Return what the same command again needs once it has written an undo file."""
    return f", with another file for --undo: {visible(path)} leads back after that one"


def not_read_again(error: TraitSchedError) -> str:
    """Return a line on a cloud that can't be compared again after it was written."""
    said = problems.word(error)
    return f"all is written, and whether others changed it can't be read: {said}"


def differs_again(claims: Mapping[Unit, Claim]) -> str:
    """Return a line on what is not as wanted once a plan was carried out."""
    names = dict.fromkeys(quoted(target.name) for target, _ in claims)
    return (
        f"{count(len(claims), 'unit')} of {listed(names)} not as wanted by now: others "
        "changed them, or what is written has put more hosts into a group; trait-sched "
        "plan shows them, and the same command again writes them"
    )


def summary(
    paths: Sequence[str], claims: Mapping[Unit, Claim], as_wanted: int, held: int
) -> str:
    """Return the line that counts units: ``wanted.yaml: 3 to add, 41 as wanted``."""
    gone = sum(claim.value is None for claim in claims.values())
    parts = (
        (len(claims) - gone, "to add or set"),
        (gone, "to take away"),
        (held, "held"),
    )
    said = [f"{number} {what}" for number, what in parts if number]
    return (
        f"{listed(map(visible, paths))}: {', '.join([*said, f'{as_wanted} as wanted'])}"
    )


def told(
    found: Iterable[Effect],
    servers: Mapping[str, MisplacedServers | CloudBroke],
    claims: Mapping[Unit, Claim],
) -> list[str]:
    """Return lines on what a plan does to flavors and to servers.

    :param servers: of each aggregate that is closed
    """
    lines = effects.losses(found)
    for name, misplaced in servers.items():
        keys = sorted(
            key
            for (target, key), claim in claims.items()
            if (target.kind, target.name) == (Kind.AGGREGATE, name)
            and claim.value is not None
            and key.startswith("trait:")
        )
        traits = [key[len("trait:") :] for key in keys]
        said = isolation.misplaced(traits, misplaced)
        lines += [f"aggregate {quoted(name)}: {each}" for each in said]
    return lines


@problems.word.register
def _(error: Wrong) -> str:
    return f"{_at(error.place)}: {problems.word(error.error)}"


@problems.word.register
def _(error: Mistakes) -> str:
    return "; ".join(map(problems.word, error.mistakes))


def _at(place: Place) -> str:
    return visible(str(place))


@problems.word.register
def _(error: refusals.WantedOtherwise) -> str:
    key, name = visible(error.key), quoted(error.name)
    return f"{_at(error.other)} wants {key} of {name} otherwise"


@problems.word.register
def _(error: refusals.NotToTake) -> str:
    return (
        f"{error.trait} is nova-compute's own, which puts it back: it is never taken "
        "away; trait-sched remove --force does, if it must be"
    )


@problems.word.register
def _(error: refusals.SaysWhatItIs) -> str:
    return (
        f"{error.trait} says what a provider is, so no file gives or takes it; "
        "trait-sched add and remove do, with --force"
    )


@problems.word.register
def _(error: refusals.NoCompute) -> str:
    return f"{quoted(error.provider)} is no compute node of Nova's: no aggregate has it"


@problems.word.register
def _(error: refusals.NoInventory) -> str:
    return "a group of an inventory needs --inventory FILE"


@problems.word.register
def _(error: refusals.OnlyNobody) -> str:
    return (
        f"only of {visible(error.name)}: what is named has no host; to take it from "
        "all hosts, name them as absent"
    )


@problems.word.register
def _(error: refusals.RequiredInGroup) -> str:
    command = openstack("flavor unset", Option("--property", error.key), error.id)
    return (
        f"flavor {quoted(error.flavor)} requires it by {visible(error.key)}, which no "
        f"file takes away: {line(command)}"
    )


@problems.word.register
def _(error: refusals.IronicNode) -> str:
    verb = "add" if error.is_added else "remove"
    command = openstack(f"baremetal node {verb} trait", error.node, error.trait)
    return f"an Ironic node has the traits that it has in Ironic: {line(command)}"


@problems.word.register
def _(error: refusals.OthersProvider) -> str:
    return f"{error.owner} makes this provider and its traits: none is taken away"


@problems.word.register
def _(error: refusals.ServersWouldMove) -> str:
    there = listed(
        f"{visible(host)} has {count(number, 'server')}"
        for host, number in error.servers.items()
    )
    return (
        f"{there}, which can't get from {_zone(error.before)} to {_zone(error.after)}; "
        "move them to other hosts first"
    )


def _zone(name: str | None) -> str:
    return "the default zone" if name is None else f"zone {quoted(name)}"


@problems.word.register
def _(error: refusals.ServersUncounted) -> str:
    return (
        "whether the host has servers, which can't get into another zone, can't be "
        f"read ({problems.word(error.why)})"
    )


@problems.word.register
def _(error: refusals.TwoZones) -> str:
    others = listed(f"{quoted(name)} of zone {quoted(z)}" for name, z in error.others)
    hosts = listed(map(visible, error.hosts))
    return f"{hosts} would be in two zones: aggregate {others}"


@problems.word.register
def _(error: refusals.TakesMost) -> str:
    return (
        f"nothing written: {_at(error.place)}: only would take {visible(error.name)} "
        f"from {error.taken} of {error.having} that have it; --force overrides this"
    )


@problems.word.register
def _(error: refusals.NotReviewed) -> str:
    return (
        f"nothing written: {visible(error.path)} does not have "
        f"{listed(map(visible, error.steps))}; review a new plan"
    )
