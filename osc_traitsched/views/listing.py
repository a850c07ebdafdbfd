"""Tables of traits and aggregates, and rows of what commands changed."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from cliff import columns

from osc_traitsched.core import errors
from osc_traitsched.core.change.effects import (
    MisplacedServers,
    brief_name,
    image_unseen,
    lines_on,
    named,
)
from osc_traitsched.core.change.model import Change, ObjectKind, Outcome, Status
from osc_traitsched.core.change.traits import LastHolder
from osc_traitsched.core.check.rule import off_by
from osc_traitsched.core.errors import CloudBroke, TraitSchedError
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import Aggregate, Compute, Holding, Snapshot
from osc_traitsched.core.inventory.snapshot import MembershipDifference as Difference
from osc_traitsched.core.inventory.trait import Collation, isolated_by
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.options import SchedulerSettings, Setting, has_filter
from osc_traitsched.core.servers.fleet import ServersLoseHosts
from osc_traitsched.text import (
    ALL,
    FEW,
    SCREEN,
    agreed,
    count,
    listed,
    option,
    quoted,
    ranges,
    visible,
)

# Tables of traits and of aggregates.


# Cells that a person reads abridged and a program reads whole.


class Cell(columns.FormattableColumn):  # type: ignore[type-arg,unused-ignore]
    """A cell of lines that are safe to print on a terminal."""

    def human_readable(self) -> str:
        """The lines, visible."""
        return "\n".join(map(visible, self.lines()))

    def lines(self) -> Iterable[str]:
        """The lines that a person sees."""
        raise NotImplementedError


class Names(Cell):
    """Names, one a line; a program gets them all, as a list.

    :param shown: those that a person sees; all if not given
    :param rest: the line that counts the others; may have ``{count}``
    """

    def __init__(
        self,
        names: Iterable[str],
        shown: Iterable[str] | None = None,
        rest: str = "",
    ) -> None:
        super().__init__(list(names))
        self._shown = self._value if shown is None else list(shown)
        self._rest = rest

    def lines(self) -> Iterable[str]:
        """The names to show, and a line that counts the others."""
        hidden = len(self._value) - len(self._shown)
        lines = list(self._shown)
        if hidden:
            lines.append(self._rest.format(count=hidden))
        return lines


class Indented(Cell):
    """A name that a person sees indented by its depth in the tree."""

    def __init__(self, name: str, depth: int) -> None:
        super().__init__(name)
        self._depth = depth

    def lines(self) -> Iterable[str]:
        """The name, two columns to the right for each level."""
        return ["  " * self._depth + str(self._value)]


# The traits of hosts as rows: by host, by provider of a tree, or by trait.


Table = tuple[tuple[str, ...], list[tuple[Any, ...]]]

_MOST_HOSTS = 10


def table(
    columns: Mapping[str, Callable[[Any], object]], things: Iterable[Any]
) -> Table:
    """One row a thing, with the getter of each column."""
    return tuple(columns), [
        tuple(get(thing) for get in columns.values()) for thing in things
    ]


@dataclasses.dataclass(frozen=True)
class Detail:
    """How much to show.

    :ivar custom: custom traits only, for programs too
    :ivar whole: all of them for a person too
    """

    custom: bool = False
    whole: bool = False

    def cell(self, traits: Iterable[str]) -> Names:
        """The cell for a provider's traits."""
        names = sorted(traits)
        customs = [name for name in names if trait.is_custom(name)]
        if self.custom:
            return Names(customs)
        if self.whole:
            return Names(names)
        return Names(names, customs, "({count} standard)")


def by_host(snapshot: Snapshot, held: Iterable[Holding], detail: Detail) -> Table:
    """One row a provider: its host, its UUID and its traits."""
    columns = {
        "host": lambda holding: snapshot.host_name(holding.provider),
        "provider": lambda holding: holding.provider.uuid,
        "traits": lambda holding: detail.cell(holding.traits),
    }
    return table(columns, held)


def by_tree(snapshot: Snapshot, held: Iterable[Holding], detail: Detail) -> Table:
    """One row a provider of a tree, children below their parents."""
    columns = {
        "host": lambda holding: snapshot.host_name(holding.provider),
        "name": lambda holding: Indented(
            holding.provider.name, snapshot.depth(holding.provider)
        ),
        "provider": lambda holding: holding.provider.uuid,
        "parent": lambda holding: holding.provider.parent or "",
        "traits": lambda holding: detail.cell(holding.traits),
    }
    return table(columns, held)


def by_trait(hosts: Mapping[str, Iterable[str]], detail: Detail) -> Table:
    """One row a trait: the names of the hosts that have it, and how many.

    :param hosts: by trait
    """
    having = {
        name: sorted(names)
        for name, names in hosts.items()
        if trait.is_custom(name) or not detail.custom
    }
    columns = {
        "trait": lambda name: name,
        "hosts": lambda name: _hosts(having[name], detail),
        "count": lambda name: len(having[name]),
    }
    names = sorted(having, key=lambda name: (not trait.is_custom(name), name))
    return table(columns, names)


def _hosts(names: list[str], detail: Detail) -> Names:
    if detail.whole:
        return Names(names)
    return Names(names, names[:_MOST_HOSTS], "({count} more)")


# Host aggregates as rows: what they do, and whether Placement is in sync.


class HostsCell(Cell):
    """Names of hosts; a person sees their number, unless all are wanted."""

    def __init__(self, names: Iterable[str], whole: bool) -> None:
        super().__init__(sorted(names))
        self._whole = whole

    def lines(self) -> Iterable[str]:
        """The names, or how many there are."""
        names: list[str] = self._value
        return names if self._whole else [str(len(names))]


class Mirror(Cell):
    """Nodes missing from Placement's aggregate, and nodes that should not be in it.

    A program gets the names, as two lists.
    """

    def __init__(self, found: Difference, whole: bool) -> None:
        missing = _names((*found.missing, *found.without_provider))
        super().__init__({"missing": missing, "extra": _names(found.extra)})
        self._whole = whole

    def lines(self) -> Iterable[str]:
        """``synced``, or how many are missing and extra, or their names."""
        parts = [
            f"{state} {' '.join(names) if self._whole else len(names)}"
            for state, names in self._value.items()
            if names
        ]
        return [", ".join(parts) or "synced"]


class UnknownMirror(Cell):
    """A mirror that could not be read; a program gets null."""

    def __init__(self) -> None:
        super().__init__(None)

    def lines(self) -> Iterable[str]:
        """The one word."""
        return ["unknown"]


def rows(
    differences: Iterable[Difference],
    whole: bool,
    is_known: bool,
    projects: Mapping[str, str],
) -> Table:
    """One row an aggregate.

    :param whole: show hosts by name to a person, too
    :param is_known: Placement's aggregates were read
    :param projects: names by ID, for a person
    """
    columns = {
        "name": lambda row: row.aggregate.name,
        "zone": lambda row: row.aggregate.zone or "",
        "traits": lambda row: Names(sorted(_isolating(row.aggregate))),
        "projects": lambda row: _projects(row.aggregate, projects),
        "hosts": lambda row: HostsCell(row.aggregate.hosts, whole),
        "mirror": lambda row: Mirror(row, whole) if is_known else UnknownMirror(),
    }
    return table(columns, differences)


def _projects(aggregate: Aggregate, names: Mapping[str, str]) -> Names:
    ids = sorted({*aggregate.projects.values()})
    return Names(ids, sorted(names.get(each, each) for each in ids))


def _isolating(aggregate: Aggregate) -> Iterable[str]:
    return isolated_by(aggregate.metadata, Collation.CASE_INSENSITIVE)


def _names(nodes: Iterable[Compute]) -> list[str]:
    return sorted(node.node for node in nodes)


# Rows of what commands changed, and the lines around them.


# The rows of what is written, one an object. ``lets_in`` is for programs.


ADDED = ("host", "provider", "added", "status", "detail")
REMOVED = ("host", "provider", "removed", "status", "detail", "lets_in")
REPAIRED = ("host", "provider", "added", "removed", "status", "detail")
STEPS = ("step", "object", "status", "detail", "lets_in")

_NO_LINES: Mapping[str, str] = {}


def result_rows(
    columns: tuple[str, ...],
    outcomes: Iterable[Outcome],
    lets_in: Mapping[str, str] = _NO_LINES,
    names: Mapping[str, str] = _NO_LINES,
) -> Table:
    """One row an object; columns with hosts have providers only.

    :param lets_in: what may land where from then on, by aggregate or trait
    :param names: of aggregates, by UUID
    """
    outcomes = tuple(outcomes)
    of_providers = "host" in columns
    images = (o.change.object for o in outcomes if o.change.object.kind is _IMAGE)
    times = collections.Counter(image.name for image in images)

    def cells(outcome: Outcome) -> dict[str, object]:
        written = outcome.change.object
        kind, name = written.kind, written.name
        if kind is _IMAGE and (times[name] > 1 or written.owner):
            owner = f", owner {written.owner}" if written.owner else ""
            name = f"{name} ({written.id}{owner})"
        return {
            "host": written.host,
            "provider": written.id,
            "step": kind.subject if kind.is_of_aggregate else kind.step,
            "object": name,
            "added": Names(sorted(names.get(key, key) for key in outcome.added)),
            "removed": Names(sorted(names.get(key, key) for key in outcome.removed)),
            "status": outcome.status.value,
            "detail": _detail(outcome, of_providers),
            "lets_in": lines_on(outcome.change, lets_in),
        }

    shown = (
        cells(outcome)
        for outcome in outcomes
        if outcome.change.object.host or not of_providers
    )
    return columns, [tuple(row[column] for column in columns) for row in shown]


_IMAGE = ObjectKind.IMAGE


def _detail(outcome: Outcome, of_providers: bool) -> str:
    change = outcome.change
    if outcome.problem is not None:
        return str(outcome.problem)
    if of_providers:
        # A nested provider is not known by its host's name.
        provider = change.object
        return provider.name if provider.name != provider.host else ""
    needed = change.is_needed and outcome.status is not Status.UNCHANGED
    return "; ".join([*([_what(change)] if needed else []), *change.kept])


def _what(change: Change) -> str:
    kind = change.object.kind
    if kind.made:
        return kind.made
    added = [
        key if kind.has_names else f"{key}={value}"
        for key, value in change.after.items()
        if key in change.added
    ]
    removed = [
        key if kind.has_names else f"{key}={value}"
        for key, value in change.before.items()
        if key in change.removed
    ]
    parts = [("with", added), ("without", removed)]
    return ", ".join(f"{word} {listed(keys)}" for word, keys in parts if keys)


def for_people(
    columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> tuple[list[Sequence[Any]], str]:
    """The rows that change, or say why not, and a line that names the other providers.

    The detail of a provider that did not change is the name of a nested one.
    """
    same, changed = [], []
    for row in rows:
        cells = dict(zip(columns, row))
        is_same = cells["status"] == Status.UNCHANGED.value
        detail, host = cells.get("detail"), cells.get("host")
        if is_same and (not detail or "provider" in cells):
            same.append(detail or host or cells.get("provider", ""))
        else:
            changed.append(row)
    names = ranges(filter(None, dict.fromkeys(same)))
    return changed, f"Unchanged: {names}" if names else ""


def left(number: int, total: int) -> str:
    """The line on changes that others reverted after the writes; empty for none."""
    said = f"{number} of {total} no longer as desired: run the command again"
    return said if number else ""


def not_compared(why: TraitSchedError) -> str:
    """The line if the cloud can't be read again after the writes."""
    said = str(why)
    return f"all is written; whether others have changed it since is not known: {said}"


def effects_unread(why: CloudBroke) -> str:
    """The line if the effects on flavors can't be read."""
    return f"whether every flavor keeps a host can't be read ({why!s})"


def requirer_rows(refusals: Iterable[TraitSchedError]) -> Table:
    """One row for each flavor, image, aggregate or server that requires a trait."""
    table: list[tuple[Any, ...]] = []
    for refusal in refusals:
        if isinstance(refusal, LastHolder):
            for name, requiring in refusal.requirers.items():
                table += (
                    (name, each.kind, each.name, each.key, each.id, each.owner)
                    for each in requiring
                )
        elif isinstance(refusal, ServersLoseHosts):
            table += (
                (name, "server", each.name, "", each.id, each.project)
                for each in refusal.servers
                for name in sorted(refusal.traits)
            )
    return ("trait", "kind", "name", "key", "id", "owner"), table


def nothing(snapshot: Snapshot) -> str:
    """The line for a mirror that is in sync."""
    number = len(snapshot.nova.aggregates)
    return (
        f"nothing to repair: Placement has the hosts of {count(number, 'aggregate')} "
        "as Nova has them"
    )


# Errors and warnings that commands share: one line each, the answer first.


AGAIN = "the same command again"

#: What to do where a command was not carried out whole.
GOES_ON = f"to continue, run {AGAIN}"


def forced(refusal: errors.TraitSchedError, folds: bool = False) -> str:
    """The warning for a refusal that ``--force`` overrides."""
    return f"forced: {refusal.brief if folds else refusal.reasons}"


def refused(refusals: Iterable[errors.TraitSchedError], staying: int = 0) -> str:
    """All refusals on three lines of a terminal.

    :param staying: number of servers that stay on the wrong side of an isolation
    """
    reasons = [each.brief for each in refusals]
    if staying:
        reasons.append(f"{count(staying, 'server')} {agreed('stays', staying)} behind")
    reasons[1:] = (each[:1].upper() + each[1:] for each in reasons[1:])
    rest = 0
    while len(text := f"Refused: {'. '.join(reasons)}") > SCREEN - 60 and reasons[1:]:
        reasons.pop()
        rest += 1
    more = f", and {count(rest, 'more reason')}" if rest else ""
    return f"{text}{more}. --long shows all, --force overrides."


def unprinted(error: OSError) -> str:
    """The line for rows that standard output did not take, written or not."""
    reason = visible(error.strerror or type(error).__name__)
    return (
        f"what could be written is written, but the rows can't be printed: {reason}; "
        f"{AGAIN} shows what is left to do"
    )


def would_create(names: Iterable[str]) -> str:
    """The line on traits that the run would create without ``--dry-run``."""
    return f"would create the trait {listed(names)}"


def goes_on(
    problem: errors.TraitSchedError | None, is_refused: bool, again: str = AGAIN
) -> str:
    """What to do if a plan was not carried out completely.

    :param problem: what to fix before the next run
    :param is_refused: a service rejects what failed
    :param again: the command that continues
    """
    if problem is not None:
        where = f"{problem.host}: " if isinstance(problem, errors.NoProvider) else ""
        return f"fix this, then run {again}: {where}{problem}"
    if is_refused:
        return f"fix what a service rejects, then run {again}"
    return f"to continue, run {again}"


def interrupted(done: int, total: int, then: str = GOES_ON) -> str:
    """The last line of a command that the user interrupted, with advice."""
    what = then if done < total else "nothing was left to write"
    return f"interrupted after {done} of {total}; {what}"


def failures(outcomes: Sequence[Outcome], then: str = GOES_ON) -> str:
    """The last line of a command with changes that failed, or may have failed."""
    told = (Status.FAILED, Status.UNKNOWN, Status.NOT_DONE)
    counts = [(sum(o.status is each for o in outcomes), each) for each in told]
    (number, status), *others = [each for each in counts if each[0]]
    more = "".join(f", {number} {status.value}" for number, status in others)
    return f"{number} of {len(outcomes)} {status.value}{more}; {then}"


# Lines of short commands: what they write, and what stays misplaced.


def summary(subject: str, outcomes: Iterable[Outcome]) -> str:
    """The line before the rows: ``gold: 5 changed, 2 unchanged``."""
    counts = collections.Counter(each.status for each in outcomes)
    if counts.keys() <= {Status.UNCHANGED}:
        return f"{visible(subject)}: nothing to change\n"
    order = sorted(counts, key=lambda status: status is Status.UNCHANGED)
    said = ", ".join(f"{counts[each]} {each.value}" for each in order)
    return f"{visible(subject)}: {said}\n"


def without_effect(setting: Setting) -> str | None:
    """A line if the scheduler may not isolate at all; None if it does."""
    if setting.value:
        return None
    name = option(options.ISOLATION)
    return (
        f"{name} is {off_by(setting)}: until it is on, any server may use the "
        "aggregate; hosts with room are counted as if it were on"
    )


def misplaced(found: MisplacedServers | CloudBroke, folds: bool = False) -> list[str]:
    """Lines on servers that stay in the aggregate, or outside, against its isolation.

    :param found: the servers, or why they can't be read
    :param folds: name three servers of each kind at most
    """
    if isinstance(found, CloudBroke):
        return [f"which servers exist can't be read ({found!s})"]
    traits = listed(found.traits)
    name, most = (brief_name, FEW) if folds else (named, ALL)
    lines = (
        (found.inside, f"in the aggregate not requiring {traits}, left there"),
        (found.outside, f"outside of the aggregate requiring {traits}, left there"),
        (found.unknown, "with requirements that the compute API does not show"),
    )
    said = [
        f"{count(len(servers), 'server')} {which}: "
        + listed(map(name, servers), most=most)
        for servers, which in lines
        if servers
    ]
    unclear = found.without_image
    return [*said, image_unseen(unclear)] if unclear else said


def dedicated(
    projects: Iterable[str],
    settings: SchedulerSettings,
    servers: MisplacedServers | CloudBroke,
    folds: bool,
) -> Iterator[str]:
    """Lines on what keeps projects on their hosts, and others off them.

    :param projects: as the user names them
    :param servers: those of other projects on the hosts, and those of these projects
        elsewhere, or why they can't be read
    """
    who, steers = listed(map(visible, projects)), settings.setting(options.TENANT)
    where = "go only there" if steers.value else "may go elsewhere, too"
    state = "on" if steers.value else off_by(steers)
    yield f"Servers of {who} {where}: {option(options.TENANT)} is {state}"
    if has_filter(settings, special.PROJECT):
        yield f"Others stay out: {special.PROJECT} is enabled"
    elif steers.value and settings.value(options.TENANT_REQUIRED):
        yield f"Others stay out: {option(options.TENANT_REQUIRED)} is on"
    elif settings.is_known(options.ENABLED_FILTERS):
        yield (
            f"With this nova.conf others still get in: {special.PROJECT} is not enabled"
        )
    else:
        yield f"Others still get in if {special.PROJECT} is not enabled, as by default"
    if isinstance(servers, CloudBroke):
        yield f"which servers are on it can't be read ({servers!s})"
        return
    name, most = (brief_name, FEW) if folds else (named, ALL)
    must_move = ", to be moved" if steers.value else ""
    for found, which in (
        (servers.inside, f"On it now, not {who}"),
        (servers.outside, f"Elsewhere now, of {who}{must_move}"),
    ):
        if found:
            yield f"{which}: {listed(map(name, found), most=most)}"


def no_hosts(aggregate: str) -> str:
    """A line on an aggregate without hosts that will be isolated."""
    return f"aggregate {quoted(aggregate)} has no hosts: isolate it again once it does"
