"""The words for what stands against a line, a row or a whole plan."""

from __future__ import annotations

from osc_traitsched.core.change.model import Kind
from osc_traitsched.core.errors import Mistakes
from osc_traitsched.core.names import is_pattern
from osc_traitsched.core.wanted import refusals
from osc_traitsched.core.wanted.model import Place, Wrong, is_name
from osc_traitsched.views import problems
from osc_traitsched.views.commands import Option, line, openstack
from osc_traitsched.views.text import count, listed, quoted, visible


@problems.word.register
def _(error: Wrong) -> str:
    if not error.place.path:
        # A command line wants it.
        return problems.word(error.error)
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
    steps = listed(map(visible, error.steps))
    return (
        f"nothing written: {visible(error.path)} does not have {steps}; review a new "
        "plan"
    )
