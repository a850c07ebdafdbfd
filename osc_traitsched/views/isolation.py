"""Isolating and opening an aggregate in words: the rows, and the effects on flavors."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping, Sequence

from osc_traitsched.core.change.guard import HostsJoined, KeysCame
from osc_traitsched.core.change.isolation.guards import Contradiction, HostLeft
from osc_traitsched.core.change.isolation.state import AggregateState
from osc_traitsched.core.change.isolation.unisolate import NotIsolated
from osc_traitsched.core.change.model import Change, Kept, Kind, Object, Reason
from osc_traitsched.core.change.outcome import Outcome, Status
from osc_traitsched.core.change.servers import MisplacedServers
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.trait_keys import REQUIRED
from osc_traitsched.core.nova.options import ISOLATION
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.core.nova.switch import PROJECT_FILTER
from osc_traitsched.views import problems, refusals
from osc_traitsched.views.columns import Cell, Lists
from osc_traitsched.views.commands import Command, Option, openstack
from osc_traitsched.views.options import option
from osc_traitsched.views.text import count, listed, quoted
from osc_traitsched.views.traits import Table

#: What each kind of change is called in a row.
_STEPS = {
    Kind.TRAIT: "trait",
    Kind.PROVIDER_TRAITS: "host",
    Kind.PROVIDER_AGGREGATES: "mirror",
    Kind.FLAVOR: "flavor",
    Kind.IMAGE: "image",
    Kind.AGGREGATE: "aggregate",
}


def rows(
    outcomes: Iterable[Outcome], differing: Mapping[Object, Cell] | None = None
) -> Table:
    """One row a change.

    :param differing: in what objects differ by now from what was to be, as one more
        column; None without it
    """
    outcomes = tuple(outcomes)
    images = (o.change.object for o in outcomes if o.change.object.kind is Kind.IMAGE)
    times = collections.Counter(image.name for image in images)
    table = []
    for found in outcomes:
        changed = found.change.object
        name = _name(changed, times[changed.name] > 1)
        more = () if differing is None else (differing.get(changed, Lists({})),)
        status = found.status.value
        table.append((_STEPS[changed.kind], name, status, _detail(found), *more))
    column = () if differing is None else ("differs",)
    return ("step", "object", "status", "detail", *column), table


def _name(changed: Object, is_ambiguous: bool) -> str:
    """Return the name, and of images what tells them from others."""
    if changed.kind is not Kind.IMAGE or not (is_ambiguous or changed.owner):
        return changed.name
    owner = f", owner {changed.owner}" if changed.owner else ""
    return f"{changed.name} ({changed.id}{owner})"


def _detail(found: Outcome) -> str:
    if found.problem is not None:
        return problems.word(found.problem)
    change = found.change
    needed = change.is_needed and found.status is not Status.UNCHANGED
    parts = [_what(change)] if needed else []
    return "; ".join([*parts, *map(_kept, change.kept)])


def _what(change: Change) -> str:
    kind = change.object.kind
    if kind is Kind.PROVIDER_AGGREGATES:
        return "joins the aggregate in Placement"
    if kind is Kind.TRAIT:
        return "created"
    required = "" if kind is Kind.PROVIDER_TRAITS else f"={REQUIRED}"
    added = [f"{key}{required}" for key in change.after if key in change.added]
    removed = [f"{key}{required}" for key in change.after if key in change.removed]
    return f"without {listed(removed)}" if removed else f"with {listed(added)}"


def _kept(kept: Kept) -> str:
    if kept.reason is Reason.STANDARD:
        return f"{kept.trait} stays: a standard trait says what a host is"
    if kept.reason is Reason.OTHER_PROJECT:
        return f"{kept.trait} stays without --all-images: another project's image"
    if kept.reason is Reason.OTHER_AGGREGATE:
        return f"{kept.trait} stays: it isolates {listed(map(quoted, kept.names))}, too"
    have = "have" if len(kept.names) > 1 else "has"
    return f"{kept.trait} stays: {listed(kept.names)} {have} it, too"


def without_effect(setting: Setting) -> str | None:
    """Return a line on a scheduler that may not isolate at all; None if it does."""
    if setting.value:
        return None
    name = option(ISOLATION)
    known = f"{name} is off" if setting.given else f"nothing says that {name} is on"
    return (
        f"{known} ({setting.source}): without it no aggregate is isolated; what is "
        "said of flavors is as if it were on"
    )


def project_filter() -> str:
    """Return a line on a host filter that goes by projects."""
    return (
        f"{PROJECT_FILTER} is on, and is not counted: a project may have fewer hosts "
        "than is said, or none"
    )


def misplaced(found: MisplacedServers | CloudBroke) -> list[str]:
    """Return lines on the servers that stay where no new one like them would go.

    :param found: the servers, or why they can't be read
    """
    if isinstance(found, CloudBroke):
        return [f"which servers exist can't be read ({problems.word(found)})"]
    traits = listed(found.traits)
    lines = (
        (found.inside, f"in the aggregate not requiring {traits}, left there"),
        (found.outside, f"outside of the aggregate requiring {traits}, left there"),
        (found.unknown, "with requirements that the compute API does not show"),
    )
    said = [
        f"{count(len(servers), 'server')} {which}: "
        + listed(map(refusals.server, servers))
        for servers, which in lines
        if servers
    ]
    unclear = found.without_image
    return [*said, refusals.without_image(unclear)] if unclear else said


def also_isolated(state: AggregateState, names: Iterable[str]) -> list[str]:
    """Return a line for each other aggregate whose traits are needed, too."""
    wanted = frozenset(names)
    hosts: dict[int, list[str]] = {}
    others = {}
    for other, member in state.also_isolated(wanted):
        others[other["id"]] = other
        hosts.setdefault(other["id"], []).append(member.host)
    return [
        f"{listed(hosts[number])} {'are' if len(hosts[number]) > 1 else 'is'} also in "
        f"aggregate {quoted(other['name'])}: a request needs "
        f"{listed(sorted(state.isolated_by(other)))}, too"
        for number, other in others.items()
    ]


def oddities(
    state: AggregateState,
    names: Sequence[str],
    is_closed_to_all: bool,
    has_private_flavors: bool = True,
) -> list[str]:
    """Return lines on what is odd about an aggregate that is to be isolated."""
    before = sorted(set(state.isolated_by(state.aggregate)) - set(names))
    lines = also_isolated(state, names)
    if before:
        lines.insert(0, _isolated_before(state, before))
    if not state.members:
        lines.insert(
            0,
            f"aggregate {quoted(state.aggregate['name'])} has no hosts: isolate it "
            "again after you add some",
        )
    if is_closed_to_all:
        lines.append(closed_to_all([*names, *before], has_private_flavors))
    return lines


def _isolated_before(state: AggregateState, names: Sequence[str]) -> str:
    return (
        f"aggregate {quoted(state.aggregate['name'])} is isolated by {listed(names)} "
        "as well: a request needs that, too, until unisolate takes it off"
    )


def closed_to_all(names: Iterable[str], has_private_flavors: bool = True) -> str:
    """Return a line on an aggregate that no flavor could get into.

    :param has_private_flavors: the flavors that are known are all that there are
    """
    of_those = "" if has_private_flavors else " that Nova lists to this user"
    return (
        f"no flavor{of_those} requires {listed(names)}: none could use these hosts "
        "unless its image does; name some with --flavor, or images with --image"
    )


def again(
    aggregate: str,
    names: Iterable[str],
    remove_traits: bool = False,
    all_images: bool = False,
    force: bool = False,
    scheduler: Sequence[Option] = (),
) -> Command:
    """Return what goes on with an aggregate that may no longer say its traits.

    :param remove_traits: hosts, flavors and images shall lose them, as before
    :param all_images: images of other projects, too, as before
    :param force: whoever is left without a host does not stop it, as before
    :param scheduler: how it is configured, as before
    """
    given = {
        "--remove-traits": remove_traits,
        "--all-images": all_images,
        "--force": force,
    }
    options = (Option(option) for option, is_given in given.items() if is_given)
    verb = "trait-sched unisolate"
    return openstack(verb, *options, aggregate, *names, *scheduler)


@problems.word.register
def _(error: Contradiction) -> str:
    return (
        f"flavor {quoted(error.flavor)} forbids {listed(error.traits)}; unset that "
        "first, or leave the flavor out"
    )


@problems.word.register
def _(error: HostsJoined) -> str:
    return (
        f"{listed(error.hosts)} joined the aggregate meanwhile; run the command again"
    )


@problems.word.register
def _(error: HostLeft) -> str:
    return f"{error.host} left the aggregate meanwhile; its traits stay"


@problems.word.register
def _(error: KeysCame) -> str:
    keys = listed(map(quoted, error.keys))
    return f"{keys} came to isolate the aggregate meanwhile; run the command again"


@problems.word.register
def _(error: NotIsolated) -> str:
    custom = ""
    if error.common:
        custom = (
            f"; all of its hosts have {listed(error.common)}, which may have other "
            "purposes"
        )
    return (
        f"no trait isolates aggregate {quoted(error.name)}, so that it is not known "
        "what to remove; if an earlier run was stopped half way, name the traits that "
        f"it was to remove{custom}"
    )
