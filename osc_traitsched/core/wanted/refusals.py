"""Errors about a line, a row or a whole plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.change.model import ObjectKind
from osc_traitsched.core.wanted.model import Place
from osc_traitsched.paste import line, openstack
from osc_traitsched.text import count, listed, quoted, visible


@dataclasses.dataclass(eq=False)
class NovaOwnedTrait(errors.BadQuestion):
    """A trait that no file removes, since nova-compute restores it."""

    trait: str

    def __str__(self) -> str:
        return (
            f"{self.trait} is nova-compute's own, which puts it back: it is never "
            "taken away; trait-sched remove --force does, if it must be"
        )


@dataclasses.dataclass(eq=False)
class RoleTrait(errors.BadQuestion):
    """A trait for a provider's role; no file may add or remove it."""

    trait: str

    def __str__(self) -> str:
        return (
            f"{self.trait} says what a provider is, so no file gives or takes it; "
            "trait-sched add and remove do, with --force"
        )


@dataclasses.dataclass(eq=False)
class NoCompute(errors.BadQuestion):
    """A provider that is not a compute node of Nova's, and so in no aggregate."""

    provider: str

    def __str__(self) -> str:
        return (
            f"{quoted(self.provider)} is no compute node of Nova's: no aggregate has it"
        )


@dataclasses.dataclass(eq=False)
class NoNewName(errors.BadQuestion):
    """No aggregate is created with this name.

    :ivar meant: names of existing aggregates that may be meant; empty for a bad name
    """

    name: str
    meant: tuple[str, ...]

    def __str__(self) -> str:
        if self.meant:
            meant = listed(map(quoted, self.meant), "aggregate")
            are = "it is" if len(self.meant) == 1 else "they are"
            return (
                f"{quoted(self.name)} is no name; name {meant} exactly as {are} called"
            )
        return (
            f"{quoted(self.name)} looks like a pattern, or Nova takes no such name; "
            "aggregates go by their names; make it first: openstack aggregate create"
        )


class NoInventory(errors.BadQuestion):
    """A group of an inventory, without an inventory."""

    def __str__(self) -> str:
        return "a group of an inventory needs --inventory FILE"


@dataclasses.dataclass(eq=False)
class NoVariable(errors.BadQuestion):
    """A host of an inventory without a name in the variable."""

    host: str
    variable: str

    def __str__(self) -> str:
        return (
            f"{visible(self.host)} has no variable {quoted(self.variable)} in the "
            "inventory that is a name"
        )


@dataclasses.dataclass(eq=False)
class EmptyExclusive(errors.BadQuestion):
    """``only`` of a trait or aggregate without a host: all would lose it."""

    name: str

    def __str__(self) -> str:
        return (
            f"only of {visible(self.name)}: what is named has no host; to take it from "
            "all hosts, name them as absent"
        )


@dataclasses.dataclass(eq=False)
class IronicNode(errors.AnswerIsNo):
    """Ironic replaces the traits of its nodes' providers; a node is named by UUID."""

    node: str
    trait: str
    is_added: bool

    def __str__(self) -> str:
        verb = "add" if self.is_added else "remove"
        command = openstack(f"baremetal node {verb} trait", self.node, self.trait)
        return f"an Ironic node has the traits that it has in Ironic: {line(command)}"


@dataclasses.dataclass(eq=False)
class OthersProvider(errors.AnswerIsNo):
    """A provider that nova-compute or Neutron makes, with its traits."""

    provider: str
    owner: str

    def __str__(self) -> str:
        return f"{self.owner} makes this provider and its traits: none is taken away"


@dataclasses.dataclass(eq=False)
class ServersWouldMove(errors.AnswerIsNo):
    """Nova keeps hosts with servers in their zone; None is the default zone."""

    before: str | None
    after: str | None
    servers: dict[str, int]

    def __str__(self) -> str:
        there = listed(
            f"{visible(host)} has {count(number, 'server')}"
            for host, number in self.servers.items()
        )
        return (
            f"{there}, and Nova rejects the change from {zone(self.before)} to "
            f"{zone(self.after)}; move all servers to other hosts first"
        )


@dataclasses.dataclass(eq=False)
class ServersUncounted(errors.AnswerIsNo):
    """Reading the servers of hosts that change their zone failed."""

    why: errors.CloudBroke

    def __str__(self) -> str:
        return (
            "whether the host has servers, which can't get into another zone, can't be "
            f"read ({self.why!s})"
        )


@dataclasses.dataclass(eq=False)
class TwoZones(errors.AnswerIsNo):
    """Nova does not let a host be in two zones; ``others``: aggregates with zones."""

    hosts: Sequence[str]
    others: Sequence[tuple[str, str]]

    def __str__(self) -> str:
        others = listed(
            f"{quoted(name)} of zone {quoted(z)}" for name, z in self.others
        )
        hosts = listed(map(visible, self.hosts))
        return f"{hosts} would be in two zones: aggregate {others}"


@dataclasses.dataclass(eq=False)
class HeldHosts(errors.AnswerIsNo):
    """Hosts on hold would change their zone; None is the default zone."""

    hosts: Sequence[str]
    before: str | None
    after: str | None

    def __str__(self) -> str:
        hosts = listed(map(visible, self.hosts))
        return (
            f"{hosts} on hold would get from {zone(self.before)} to {zone(self.after)}"
        )


@dataclasses.dataclass(eq=False)
class GoneProject(errors.AnswerIsNo):
    """An aggregate would name a project ID that Keystone does not have."""

    place: Place
    aggregate: str
    project: str

    def __str__(self) -> str:
        where, name = _at(self.place), quoted(self.aggregate)
        return (
            f"nothing written: {where}: Keystone has no project {self.project}, which "
            f"aggregate {name} would name; --force overrides this"
        )


@dataclasses.dataclass(eq=False)
class OtherCloud(errors.AnswerIsNo):
    """A reviewed plan is of another cloud."""

    path: str
    reviewed: str
    here: str

    def __str__(self) -> str:
        reviewed, here = visible(self.reviewed), visible(self.here)
        return (
            f"nothing written: {visible(self.path)} is a plan of {reviewed}, and this "
            f"is {here}; review a plan of this cloud"
        )


@dataclasses.dataclass(eq=False)
class TakesMost(errors.AnswerIsNo):
    """``only`` would remove more than half of the current holders."""

    place: Place
    what: ObjectKind
    name: str
    taken: int
    having: int

    def __str__(self) -> str:
        return (
            f"nothing written: {_at(self.place)}: only would remove {_taken(self)}; "
            "--force overrides this"
        )


@dataclasses.dataclass(eq=False)
class NotReviewed(errors.AnswerIsNo):
    """Rows that the reviewed plan lacks, one line each."""

    path: str
    steps: Sequence[str]

    def __str__(self) -> str:
        steps = listed(map(visible, self.steps))
        return (
            f"nothing written: not in the reviewed {visible(self.path)}: {steps}; "
            "review a new plan"
        )


def _at(place: Place) -> str:
    return visible(str(place))


def zone(name: str | None) -> str:
    """A zone in a sentence; None is the default zone."""
    return "the default zone" if name is None else f"zone {quoted(name)}"


def _taken(error: TakesMost) -> str:
    if error.what is ObjectKind.PROVIDER_TRAITS:
        number = f"{error.taken} of {error.having}"
        return f"{visible(error.name)} from {number} that have it"
    what = "host" if error.what is ObjectKind.AGGREGATE_HOSTS else "project"
    number = f"{error.taken} of {count(error.having, what)}"
    return f"{number} from aggregate {quoted(error.name)}"
