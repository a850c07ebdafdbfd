"""openstack trait-sched capacity: how many more servers fit."""

from __future__ import annotations

import argparse
import collections
import dataclasses
import itertools
from typing import Any

from osc_traitsched.app import capacity, gc_paused, snapshot
from osc_traitsched.app.snapshot import Snapshot
from osc_traitsched.commands import arguments, base, explain, request_args
from osc_traitsched.commands.arguments import flag, group, option, repeatable
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.config.sources import NOVA_CONF, SET, SettingsSources
from osc_traitsched.core.answer import Answer
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.inventory.snapshot import Selectors
from osc_traitsched.core.judge.judgement import RequestResult
from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.core.servers.usage import (
    GROUPINGS,
    Capacity,
    CapacityQuery,
    Losses,
)
from osc_traitsched.text import unfolded
from osc_traitsched.views import capacity as capacity_views
from osc_traitsched.views import lose, terminal

_TEXT = "text"
_FLAT = {"csv": capacity_views.rows, terminal.FORMAT: capacity_views.metrics}
_LOSSES_FLAT = {"csv": lose.rows, terminal.FORMAT: lose.metrics}
_LOST = {"": "host", "-aggregate": "aggregate", "-zone": "zone"}


def _setting(text: str) -> str:
    if "=" in text:
        SET.argument(text)
    return text


def _added(text: str) -> tuple[str, int]:
    name, equals, number = text.rpartition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"not HOST=COUNT: {text}")
    return name, request_args.count(number)


_CHANGES = group(
    "what if",
    "The numbers before and after, and the difference.",
    repeatable(
        "--lose",
        metavar="NAME",
        help="whether a host, zone or aggregate can be lost; any-host, any-zone and "
        "any-aggregate try each of them alone (can be repeated)",
    ),
    *(
        repeatable(
            f"--without{flag}",
            metavar=(flag.strip("-") or "host").upper(),
            help=f"as if this {what} were lost, and its servers moved to other hosts "
            "(can be repeated)",
        )
        for flag, what in _LOST.items()
    ),
    repeatable(
        "--with",
        dest="added",
        metavar="HOST=COUNT",
        type=_added,
        help="as if there were COUNT more hosts like this one, all empty (repeat for "
        "more)",
    ),
    repeatable(
        "--set-then",
        metavar="FILE|SECTION.OPTION=VALUE",
        type=_setting,
        help="as if nova.conf were this file, or had this option (can be repeated)",
    ),
    arguments.RATIO,
)


class ShowCapacity(base.Command):
    """Show how many more servers of each flavor fit.

    Evaluates every host as Nova would, with its filters and isolation, at one moment.
    Without FLAVOR it counts all public flavors. Flavors compete for the same hosts: do
    not sum their numbers. Nothing is written or claimed.
    Exits 0 if any of the flavors fits, and 3 if none does. With --lose or --without it
    exits 3 if a server of a lost host finds no other, as host drain does. It exits 7 if
    a flavor is short with --at-least, or has no room with --full, and 8 if that depends
    on what no API shows.
    "openstack -q" prints the first line alone.
    """

    examples = """
        # How many more servers of a flavor fit, with an image
        capacity ssd.medium --image ubuntu-24.04
        # N+1: whether any one host can be lost, the worst first
        capacity --lose any-host
        # All public flavors, if a host were lost and two were added
        capacity --without cmp01 --with cmp02=2
        # Flavors that lose or gain hosts with another nova.conf, or another ratio
        capacity --set-then nova.conf.new
        capacity --ratio VCPU=1.5
        # For cron: exit 7 if fewer than 5 fit
        capacity m1.large --at-least 5
        # Since when fewer than 5 fit
        capacity m1.large --at-least 5 --since /var/lib/snapshots
    """

    options = (
        option(
            "flavors",
            metavar="FLAVOR",
            nargs="*",
            help="a flavor: name, ID or a glob such as 'm1.*' (default: all public "
            "ones)",
        ),
        flag(
            "--all-flavors",
            help="private flavors too, if no FLAVOR is named",
        ),
        option(
            "--by",
            choices=GROUPINGS,
            help="show the numbers of each availability zone, aggregate or host",
        ),
        option(
            "--at-least",
            type=request_args.count,
            metavar="N",
            help="exit 7 if fewer than N servers of a flavor fit",
        ),
        option(
            "--since",
            metavar="FILE|FOLDER",
            help="also show the hosts of a flavor in this snapshot, and what changed; "
            "in a folder of snapshot save --keep: since when N servers do not fit",
        ),
        flag("--full", help="only flavors without room, by cause"),
        flag("--long", help="all rows, also on a terminal"),
        _CHANGES,
        *request_args.KIND,
        arguments.SCHEDULER,
        explain.output_format(csv="tables", prometheus="its collectors"),
    )

    @gc_paused()
    def take_action(self, args: argparse.Namespace) -> int:
        query = _query(args)
        sources, spec = self.settings(args), request_args.kind(args)
        if args.lose:
            losses = capacity.lose(self.cloud(), spec, sources, query)
            self.app.stdout.write(f"{self._of_losses(losses, args)}\n")
            return ExitCode.of(losses.answer)
        if query.set_then:
            then = _sources_then(args, self.app)
            then.claims = sources.claims
            saved = self.as_snapshot(sources) if args.ratios else None
            changed = saved and snapshot.with_ratios(saved, args.ratios).cloud
            cloud = self.cloud(saved)
            found = capacity.compared(cloud, spec, sources, then, query, changed)
        else:
            found = capacity.capacity(self.cloud(), spec, sources, query)
        if args.since:
            found = self._with_since(found, args.since, spec, sources)
        self.app.stdout.write(f"{self._text(found, args)}\n")
        if args.at_least and found.enough is Answer.NO:
            return ExitCode.FINDINGS
        if args.full and found.room_for_all is Answer.NO:
            return ExitCode.FINDINGS
        return ExitCode.of(found.room_for_all if args.full else found.answer)

    def _with_since(
        self, found: Capacity, path: str, spec: ServerSpec, sources: SettingsSources
    ) -> Capacity:
        names = [each.question.flavor["name"] for each in found.judgements]
        if len(names) != 1:
            raise BadUsage(f"--since requires one FLAVOR, not {len(names)}")
        several = dataclasses.replace(spec, count=found.query.at_least or 1)

        def ask(saved: Snapshot, _: Snapshot) -> RequestResult:
            return capacity.judged(saved.cloud, several, saved.sources, names[0])

        since = explain.since(self, path, sources, ask)
        return dataclasses.replace(found, since=since)

    def _of_losses(self, found: Losses, args: argparse.Namespace) -> str:
        if args.format == _TEXT:
            width, height = (0, 0) if args.long else (self.width, self.height)
            return self.answer(lose.lines(found, width, height))
        base.warn(*capacity_views.assumed(found.now))
        if args.format in _LOSSES_FLAT:
            return _LOSSES_FLAT[args.format](found)
        return base.printed(lose.LossesDocument.of(found), args.format)

    def _text(self, found: Capacity, args: argparse.Namespace) -> str:
        if args.format != _TEXT:
            base.warn(*capacity_views.assumed(found))
            if args.full:
                fits = tuple(each for each in found.flavors if not each.room.most)
                found = dataclasses.replace(found, flavors=fits)
        if args.format in _FLAT:
            return _FLAT[args.format](found)
        if args.format != _TEXT:
            return base.printed(capacity_views.CapacityDocument.of(found), args.format)
        width, height = (0, 0) if args.long else (self.width, self.height)
        if args.full:
            return self.answer(capacity_views.full(found, width))
        encoding = getattr(self.app.stdout, "encoding", None) or "ascii"
        return self.answer(capacity_views.lines(found, encoding, width, height))


def _sources_then(args: argparse.Namespace, app: Any) -> SettingsSources:
    """The sources of the options, with those of ``--set-then`` on top."""
    files = [text for text in args.set_then if "=" not in text]
    pairs = [SET.argument(text) for text in args.set_then if "=" in text]
    more = {
        NOVA_CONF.name: files or getattr(args, NOVA_CONF.name),
        SET.name: [*getattr(args, SET.name), *pairs],
    }
    return arguments.sources(argparse.Namespace(**{**vars(args), **more}), app)


def _query(args: argparse.Namespace) -> CapacityQuery:
    if args.flavors and args.all_flavors:
        raise BadUsage("--all-flavors cannot be combined with FLAVOR")
    without = Selectors(
        hosts=arguments.hosts(args.without),
        aggregates=tuple(args.without_aggregate),
        zones=tuple(args.without_zone),
    )
    if args.at_least and not args.flavors:
        raise BadUsage("--at-least requires FLAVOR")
    if args.since and not args.flavors:
        raise BadUsage("--since requires one FLAVOR")
    set_then = (*args.set_then, *map(str, args.ratios))
    is_change = without.names_any or args.added or set_then
    if args.since and (is_change or args.lose or args.full):
        others = "--lose, --without, --with, --set-then, --ratio or --full"
        raise BadUsage(f"--since cannot be combined with {others}")
    if args.lose and (is_change or args.by or args.full or args.at_least):
        others = "--without, --with, --set-then, --ratio, --by, --full or --at-least"
        raise BadUsage(f"--lose cannot be combined with {others}")
    if is_change and (args.by or args.full):
        flag, others = (
            "--by" if args.by else "--full",
            "--without, --with, --set-then or --ratio",
        )
        raise BadUsage(f"{flag} cannot be combined with {others}")
    names = dict.fromkeys(n for text in args.flavors for n in arguments.names(text))
    added = collections.Counter[str]()
    for host, number in args.added:
        added[host] += number
    return CapacityQuery(
        tuple(names),
        args.all_flavors,
        args.by,
        without,
        added,
        set_then,
        args.at_least or 0,
        # An aggregate's name can have commas.
        lose=tuple(itertools.chain.from_iterable(map(unfolded, args.lose))),
    )
