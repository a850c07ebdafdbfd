"""What others changed meanwhile, and what leads back or on, in words and commands."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core.change.differences import (
    AlsoIsolated,
    Difference,
    Gone,
    HostLeft,
    HostsJoined,
    Overwritten,
)
from osc_traitsched.core.change.model import Change, Kept, Kind, Object, Reason
from osc_traitsched.core.errors import CloudBroke, NoProvider, TraitSchedError
from osc_traitsched.core.inventory.trait_keys import key_of
from osc_traitsched.views import problems
from osc_traitsched.views.columns import Cell, Lists
from osc_traitsched.views.commands import (
    Command,
    Option,
    line,
    openstack,
    printable,
)
from osc_traitsched.views.text import listed, quoted

#: What objects are called that are written by their keys.
_NOUNS = {Kind.FLAVOR: "flavor", Kind.IMAGE: "image", Kind.AGGREGATE: "aggregate"}

#: More hosts than that do not have a trait by an oversight.
_FEW = 10


@dataclasses.dataclass(frozen=True)
class Way:
    """The commands that a difference may ask for.

    :ivar again: does all of it once more
    :ivar undo: take back what was written, without harm to others; may be none
    """

    again: Command
    undo: Callable[[Sequence[Change]], Sequence[Command]]


@dataclasses.dataclass(frozen=True)
class Words:
    """A difference in words.

    :ivar problem: what is not as it was to be, one line
    :ivar commands: what mends it; none where nothing has to be mended
    :ivar when: what has to be so before they are run
    """

    problem: str
    commands: tuple[Command, ...] = ()
    when: str = ""

    def text(self, options: Sequence[Option]) -> str:
        """Return all of it in one line.

        :param options: the global ones of printed commands
        """
        lines = self.lines(options)
        if not lines:
            return self.problem
        when = f" {self.when}" if self.when else ""
        verb = "mends" if len(lines) == 1 else "mend"
        return f"{self.problem}; {' and '.join(lines)} {verb} it{when}"

    def lines(self, options: Sequence[Option]) -> list[str]:
        """Return the commands that can be printed."""
        found = (line(command, options) for command in self.commands)
        return [each for each in found if each]


@functools.singledispatch
def word(found: Difference, way: Way) -> Words:
    """Return the words of a difference."""
    raise NotImplementedError(type(found).__name__)


@word.register
def _(found: Gone, way: Way) -> Words:
    if found.object.kind is not Kind.PROVIDER_TRAITS:
        return Words(f"{named(found.object)} was deleted meanwhile")
    return Words(
        f"the provider of {named(found.object)} was deleted meanwhile, and its traits "
        "with it",
        (way.again,),
        "once nova-compute has made it again",
    )


@word.register
def _(found: Overwritten, way: Way) -> Words:
    # Hosts may have joined an aggregate that is opened meanwhile.
    is_direct = found.object.kind is not Kind.AGGREGATE
    direct = tuple(commands([found.mend])) if is_direct else ()
    return Words(f"{named(found.object)} {_values(found.mend)}", direct or (way.again,))


def _values(mend: Change) -> str:
    if mend.object.kind is Kind.PROVIDER_AGGREGATES:
        return "is not in the aggregate in Placement any more"
    values = mend.before
    has = [_pair(mend.object, key, value) for key, value in values.items() if value]
    lacks = [_pair(mend.object, k, mend.after[k]) for k, v in values.items() if not v]
    parts = (("lacks", lacks), ("has", has))
    said = " and ".join(f"{verb} {listed(each)}" for verb, each in parts if each)
    return f"{said}: others changed it meanwhile"


def _pair(owner: Object, key: str, value: str | None) -> str:
    return f"{key}={value}" if owner.kind in _NOUNS and value is not None else key


@word.register
def _(found: HostLeft, way: Way) -> Words:
    provider = Option("--provider", printable(found.object.name, found.object.id))
    parts = [f"keeps {listed(found.traits)}"] if found.traits else []
    commands = []
    if found.traits:
        commands.append(openstack("trait-sched remove", *found.traits, provider))
    if found.is_mirrored:
        parts.append("is still in it in Placement")
        commands.append(openstack("trait-sched mirror repair"))
    left = f"{named(found.object)} left the aggregate meanwhile"
    return Words(f"{left} and {' and '.join(parts)}", tuple(commands))


@word.register
def _(found: HostsJoined, way: Way) -> Words:
    hosts = listed(found.hosts, "host")
    return Words(f"{hosts} joined the aggregate after it was isolated", (way.again,))


@word.register
def _(found: AlsoIsolated, way: Way) -> Words:
    keys = listed(map(quoted, found.keys))
    return Words(
        f"{keys} came to isolate the aggregate, too: a request needs all of its traits"
    )


def named(found: Object) -> str:
    """Return what an object is, and its name."""
    if found.kind in _NOUNS:
        return f"{_NOUNS[found.kind]} {quoted(found.name)}"
    return f"host {found.name}"


def unread(why: CloudBroke) -> str:
    """Return a line where it can't be read whether all is as it was written."""
    reason = problems.word(why)
    return f"whether others changed anything meanwhile can't be read ({reason})"


def by_object(
    found: Iterable[Difference], way: Way, options: Sequence[Option] = ()
) -> dict[Object, Cell]:
    """Return what differs of each object, with the commands that mend it."""
    lists: dict[Object, dict[str, list[str]]] = {}
    for each in found:
        lists.setdefault(each.object, {})[each.id] = word(each, way).lines(options)
    return {differing: Lists(each) for differing, each in lists.items()}


def goes_on(
    gone: Sequence[Object],
    refusal: TraitSchedError | None,
    again: str = problems.AGAIN,
    is_refused: bool = False,
) -> str:
    """Return what goes on with a plan that was not carried out whole.

    :param gone: what was deleted meanwhile
    :param refusal: why the plan can't be made once more without that
    :param again: the command without that
    :param is_refused: a service would not take what failed
    """
    if any(each.kind is Kind.AGGREGATE for each in gone):
        return "nothing goes on: the aggregate was deleted meanwhile"
    objects = listed(map(named, gone))
    without = f"without {objects}, deleted meanwhile, " if gone else ""
    once = " once no service refuses what failed" if is_refused else ""
    then = f"would end with: {_refused(refusal)}" if refusal else f"goes on{once}"
    return f"{without}{again or problems.AGAIN} {then}"


def _refused(refusal: TraitSchedError) -> str:
    where = f"{refusal.host}: " if isinstance(refusal, NoProvider) else ""
    return f"{where}{problems.word(refusal)}"


def written(back: Iterable[Change], leads_back: bool = True) -> str:
    """Return a line on what was written and is still there.

    :param leads_back: commands follow that take it back
    """
    found: dict[tuple[Kind, str], list[Object]] = {}
    for change in back:
        found.setdefault((change.object.kind, _had(change)), []).append(change.object)
    parts = (_owners(kind, owners) + f" {had}" for (kind, had), owners in found.items())
    there = f"written and still there: {'; '.join(parts)}"
    return f"{there}; to take it back:" if leads_back else there


def _owners(kind: Kind, owners: Sequence[Object]) -> str:
    names = sorted(quoted(o.name) if kind in _NOUNS else o.name for o in owners)
    return listed(names, _NOUNS.get(kind, "host"))


def _had(back: Change) -> str:
    has = [_pair(back.object, k, back.found.keys.get(k)) for k in sorted(back.removed)]
    lacks = sorted(back.added)
    parts = (("with", has), ("without", lacks))
    return ", ".join(f"{how} {listed(each)}" for how, each in parts if each)


def still_required(changes: Iterable[Change]) -> Iterator[tuple[str, list[Command]]]:
    """Yield a line on each trait that stays required for a few other hosts' sake.

    With the commands that remove it there, too: it may be left of a host's time in the
    aggregate.
    """
    found: dict[Kept, list[Object]] = {}
    for change in changes:
        for kept in change.kept:
            is_few = kept.reason is Reason.OTHER_HOSTS and len(kept.names) <= _FEW
            if is_few and not change.object.owner:
                found.setdefault(kept, []).append(change.object)
    for kept, owners in found.items():
        have = "have" if len(kept.names) > 1 else "has"
        words = (
            f"{listed(map(named, owners))} will go on to require {kept.trait}, since "
            f"{listed(kept.names, 'host')} outside of the aggregate {have} it; if it "
            "is left over there, these remove it:"
        )
        yield words, list(_removing(kept, owners))


def _removing(kept: Kept, owners: Iterable[Object]) -> Iterator[Command]:
    for owner in owners:
        yield from _of_keys(owner, {key_of(kept.trait): None})
    hosts = (Option("--provider", name) for name in kept.names)
    yield openstack("trait-sched remove", kept.trait, *hosts)


def commands(back: Iterable[Change]) -> Iterator[Command]:
    """Yield the commands that carry changes out, in order; one for equal hosts.

    None writes to an aggregate: who would have no host then, it could not see.
    """
    for kind, changes in itertools.groupby(back, key=lambda each: each.object.kind):
        if kind is Kind.PROVIDER_TRAITS:
            yield from _of_hosts(changes)
        elif kind in (Kind.FLAVOR, Kind.IMAGE):
            for change in changes:
                yield from _of_keys(change.object, change.after)


def _of_hosts(changes: Iterable[Change]) -> Iterator[Command]:
    hosts: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for change in changes:
        name = printable(change.object.name, change.object.id)
        for verb, names in (("add", change.added), ("remove", change.removed)):
            if names:
                hosts.setdefault((verb, tuple(sorted(names))), []).append(name)
    for (verb, traits), chosen in hosts.items():
        options = (Option("--provider", each) for each in sorted(chosen))
        yield openstack(f"trait-sched {verb}", *traits, *options)


def _of_keys(owner: Object, after: Mapping[str, str | None]) -> Iterator[Command]:
    noun = _NOUNS[owner.kind]
    unset = [Option("--property", key) for key, value in after.items() if value is None]
    pairs = ((key, value) for key, value in after.items() if value is not None)
    set_ = [Option("--property", f"{key}={value}") for key, value in pairs]
    for verb, options in (("unset", unset), ("set", set_)):
        if options:
            yield openstack(f"{noun} {verb}", *options, owner.id)
