"""What stands against a line, a row or a whole plan, as errors."""

from __future__ import annotations

from collections.abc import Iterable

from osc_traitsched.core import errors
from osc_traitsched.core.change.model import Kind
from osc_traitsched.core.wanted.model import Place


class WantedOtherwise(errors.BadQuestion):
    """A line wants a unit to be something else than another line, or itself.

    :ivar name: of what the unit is of
    :ivar other: the other line; None where it is the same one
    """

    def __init__(self, name: str, key: str, other: Place | None) -> None:
        super().__init__(f"{name} {key}: {other}")
        self.name = name
        self.key = key
        self.other = other


class NotToTake(errors.BadQuestion):
    """A trait that is never taken away, since nova-compute puts it back."""

    def __init__(self, trait: str) -> None:
        super().__init__(trait)
        self.trait = trait


class SaysWhatItIs(errors.BadQuestion):
    """A trait that tells what a provider is; no file may give or take it."""

    def __init__(self, trait: str) -> None:
        super().__init__(trait)
        self.trait = trait


class NoCompute(errors.BadQuestion):
    """A provider that is no compute node of Nova's, and so in no aggregate."""

    def __init__(self, provider: str) -> None:
        super().__init__(provider)
        self.provider = provider


class NoNewName(errors.BadQuestion):
    """An aggregate that is not there, and can't be made or is not meant to be.

    :ivar meant: the names of aggregates that are there and may be meant, by a UUID or a
        pattern; none where Nova takes no such name
    """

    def __init__(self, name: str, meant: tuple[str, ...]) -> None:
        super().__init__(name)
        self.name = name
        self.meant = meant


class NoInventory(errors.BadQuestion):
    """A group of an inventory, and no inventory was named."""


class NoVariable(errors.BadQuestion):
    """A host of an inventory that has no name in a variable."""

    def __init__(self, host: str, variable: str) -> None:
        super().__init__(f"{host}: {variable}")
        self.host = host
        self.variable = variable


class OnlyNobody(errors.BadQuestion):
    """``only`` where what is named has no host: everybody would lose it.

    :ivar name: the trait or the aggregate
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class RequiredInGroup(errors.BadQuestion):
    """A flavor requires a trait by a group's key, which no file takes away.

    :ivar flavor: its name
    :ivar id: as the API takes it
    """

    def __init__(self, flavor: str, identity: str, key: str) -> None:
        super().__init__(f"{flavor}: {key}")
        self.flavor = flavor
        self.id = identity
        self.key = key


class IronicNode(errors.AnswerIsNo):
    """Ironic replaces the traits of its nodes' providers by those of the nodes.

    :ivar node: its name, which Ironic has as its UUID
    """

    def __init__(self, node: str, trait: str, is_added: bool) -> None:
        super().__init__(f"{node}: {trait}")
        self.node = node
        self.trait = trait
        self.is_added = is_added


class OthersProvider(errors.AnswerIsNo):
    """A provider that Nova or Neutron makes, and gives its traits to.

    :ivar owner: ``nova-compute`` or ``Neutron``
    """

    def __init__(self, provider: str, owner: str) -> None:
        super().__init__(f"{provider}: {owner}")
        self.provider = provider
        self.owner = owner


class ServersWouldMove(errors.AnswerIsNo):
    """Nova lets no host with servers into another zone, or out of one.

    :ivar before: the zone of the hosts now; None for the default one
    :ivar after: the zone that they would be in
    :ivar servers: how many there are, by host
    """

    def __init__(
        self, before: str | None, after: str | None, servers: dict[str, int]
    ) -> None:
        super().__init__(f"{before} -> {after}: {servers}")
        self.before = before
        self.after = after
        self.servers = servers


class ServersUncounted(errors.AnswerIsNo):
    """Whether hosts that change their zone have servers can't be read."""

    def __init__(self, why: errors.CloudBroke) -> None:
        super().__init__(str(why))
        self.why = why


class TwoZones(errors.AnswerIsNo):
    """Nova lets no host be in aggregates of two zones.

    :ivar hosts: those
    :ivar others: the other aggregates that they are in, each with its zone
    """

    def __init__(self, hosts: Iterable[str], others: Iterable[tuple[str, str]]) -> None:
        self.hosts = tuple(hosts)
        self.others = tuple(others)
        super().__init__(f"{', '.join(self.hosts)}: {self.others}")


class HeldHosts(errors.AnswerIsNo):
    """Hosts that are left as they are would get into another zone.

    :ivar before: the zone of the hosts now; None for the default one
    :ivar after: the zone that they would be in
    """

    def __init__(
        self, hosts: Iterable[str], before: str | None, after: str | None
    ) -> None:
        self.hosts = tuple(hosts)
        super().__init__(f"{', '.join(self.hosts)}: {before} -> {after}")
        self.before = before
        self.after = after


class GoneProject(errors.AnswerIsNo):
    """An aggregate would name a project that Keystone does not have.

    :ivar project: its ID
    """

    def __init__(self, place: Place, aggregate: str, project: str) -> None:
        super().__init__(f"{place}: {aggregate}: {project}")
        self.place = place
        self.aggregate = aggregate
        self.project = project


class OtherCloud(errors.AnswerIsNo):
    """A plan that was reviewed is of another cloud.

    :ivar reviewed: what names that one
    :ivar here: what names this one
    """

    def __init__(self, path: str, reviewed: str, here: str) -> None:
        super().__init__(f"{path}: {reviewed}: {here}")
        self.path = path
        self.reviewed = reviewed
        self.here = here


class TakesMost(errors.AnswerIsNo):
    """``only`` would take something from more than half of those that have it.

    :ivar what: the kind of what would change
    :ivar name: the trait, or the aggregate that hosts or projects would leave
    """

    def __init__(
        self, place: Place, what: Kind, name: str, taken: int, having: int
    ) -> None:
        super().__init__(f"{place}: {name}: {taken} of {having}")
        self.place = place
        self.what = what
        self.name = name
        self.taken = taken
        self.having = having


class NotReviewed(errors.AnswerIsNo):
    """Steps that the reviewed plan does not have.

    :ivar steps: one line each
    """

    def __init__(self, path: str, steps: Iterable[str]) -> None:
        self.path = path
        self.steps = tuple(steps)
        super().__init__(f"{path}: {'; '.join(self.steps)}")
