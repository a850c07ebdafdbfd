"""The words for what stands against a line, a row or a whole plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from osc_traitsched.core.change.model import Kind
from osc_traitsched.core.errors import Mistakes
from osc_traitsched.core.names import is_pattern
from osc_traitsched.core.nova.switch import PROJECT_FILTER
from osc_traitsched.core.wanted import refusals
from osc_traitsched.core.wanted.model import Place, Wrong, is_name
from osc_traitsched.views import problems
from osc_traitsched.views.commands import Option, line, openstack
from osc_traitsched.views.effects import on_the_way
from osc_traitsched.views.options import release
from osc_traitsched.views.text import count, listed, quoted, visible


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
    if error.other is None:
        return f"this line contradicts itself about {key} of {name}"
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
def _(error: refusals.NoNewName) -> str:
    if error.meant:
        meant = listed(map(quoted, error.meant), "aggregate")
        are = "it is" if len(error.meant) == 1 else "they are"
        return f"{quoted(error.name)} is no name; name {meant} exactly as {are} called"
    if is_pattern(error.name) and is_name(error.name):
        return (
            f"{quoted(error.name)} looks like a pattern, and aggregates go by their "
            "names; if this is one, make it first, with openstack aggregate create"
        )
    return (
        f"Nova takes no aggregate {quoted(error.name)}: a name has letters that can be "
        "printed, no emojis, and neither begins nor ends with a space"
    )


@problems.word.register
def _(error: refusals.NoInventory) -> str:
    return "a group of an inventory needs --inventory FILE"


@problems.word.register
def _(error: refusals.NoVariable) -> str:
    return (
        f"{visible(error.host)} has no variable {quoted(error.variable)} in the "
        "inventory that is a name"
    )


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
        f"{there}, which can't get from {zone(error.before)} to {zone(error.after)}; "
        "move them to other hosts first"
    )


def zone(name: str | None) -> str:
    """Return a zone as it is named in a sentence; None is the default one."""
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
def _(error: refusals.UntilLeft) -> str:
    leave = "it leaves" if len(error.hosts) == 1 else "they leave"
    return (
        f"{problems.word(error.why)}; {leave} {quoted(error.aggregate)} only later: "
        f"{problems.AGAIN} goes on then"
    )


@problems.word.register
def _(error: refusals.HeldHosts) -> str:
    hosts = listed(map(visible, error.hosts))
    return f"{hosts} on hold would get from {zone(error.before)} to {zone(error.after)}"


@problems.word.register
def _(error: refusals.GoneProject) -> str:
    where, name = _at(error.place), quoted(error.aggregate)
    return (
        f"nothing written: {where}: Keystone has no project {error.project}, which "
        f"aggregate {name} would name; --force overrides this"
    )


@problems.word.register
def _(error: refusals.AllReserved) -> str:
    names = listed(map(quoted, error.aggregates), "aggregate")
    return (
        f"nothing written: {_no_host(error)} for projects that no aggregate names, "
        f"where {_project_filter(error)} keeps them out of {names}{_override(error)}"
    )


@problems.word.register
def _(error: refusals.NoHostForProjects) -> str:
    projects = listed(map(visible, error.projects), "project")
    return (
        f"nothing written: {_no_host(error)} for {projects}: {_project_filter(error)} "
        f"reserves all of them for others{_override(error)}"
    )


@problems.word.register
def _(error: refusals.ProjectsOnTheWay) -> str:
    named = [visible(each) for each in error.projects if each is not None]
    who = [listed(named, "project")] * bool(named)
    who += ["projects that no aggregate names"] * (None in error.projects)
    hosts = error.hosts
    then = _between_zones(hosts) if hosts else on_the_way()
    return (
        f"nothing written: {listed(who)}, which {_project_filter(error)} keeps out of "
        f"aggregates that name others, {then}"
    )


def _between_zones(hosts: Sequence[str]) -> str:
    """Return what would become of projects while hosts change their zone.

    :param hosts: their names
    """
    which = listed(map(visible, hosts), "host")
    them = "it" if len(hosts) == 1 else "them"
    return (
        f"would get {which} between two zones: if the run ended there, nothing would "
        f"show where {which} came from, and {problems.AGAIN} would be refused; name "
        f"{them} under absent of the aggregate that is left; --force overrides this"
    )


_NoHost = Union[refusals.AllReserved, refusals.NoHostForProjects]
_OfFilter = Union[_NoHost, refusals.ProjectsOnTheWay]


def _no_host(error: _NoHost) -> str:
    return f"{'for a moment ' * error.is_passing}no host would be left"


def _project_filter(error: _OfFilter) -> str:
    of = "" if error.release is None else f" of Nova {release(error.release)}"
    return f"{PROJECT_FILTER}{of}"


def _override(error: _NoHost) -> str:
    if error.release is None:
        return "; --force overrides this"
    return "; --nova-release says which release it is, and --force overrides this"


@problems.word.register
def _(error: refusals.OtherCloud) -> str:
    reviewed, here = visible(error.reviewed), visible(error.here)
    return (
        f"nothing written: {visible(error.path)} is a plan of {reviewed}, and this is "
        f"{here}; review a plan of this cloud"
    )


@problems.word.register
def _(error: refusals.TakesMost) -> str:
    return (
        f"nothing written: {_at(error.place)}: only would take {_taken(error)}; "
        "--force overrides this"
    )


def _taken(error: refusals.TakesMost) -> str:
    if error.what is Kind.PROVIDER_TRAITS:
        number = f"{error.taken} of {error.having}"
        return f"{visible(error.name)} from {number} that would otherwise keep it"
    what = "host" if error.what is Kind.AGGREGATE_HOSTS else "project"
    number = f"{error.taken} of {count(error.having, what)}"
    return f"{number} that aggregate {quoted(error.name)} would otherwise keep"


@problems.word.register
def _(error: refusals.NotReviewed) -> str:
    steps, failing = (
        listed(map(visible, each)) for each in (error.steps, error.failing)
    )
    said = [f"does not have {steps}"] * bool(steps)
    said += [f"says that {failing} fails, or waits for what fails"] * bool(failing)
    why = [f"{quoted(n)} is now {visible(i)}" for n, i in error.renewed]
    notes = [f"{listed(why)}, and was something else"] * bool(why)
    notes += [
        f"{quoted(name)} is there by now, and has more than that plan gives it"
        for name in error.taken
    ]
    because = f" ({'; '.join(notes)})" if notes else ""
    return (
        f"nothing written: {visible(error.path)} {' and '.join(said)}{because}; "
        "review a new plan"
    )
