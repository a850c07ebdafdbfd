"""openstack trait-sched capacity: how many more servers fit."""

from __future__ import annotations

import argparse
import collections

from osc_traitsched.app import capacity
from osc_traitsched.app.gc_pause import gc_paused
from osc_traitsched.commands import arguments, base, explain, request_args
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.core.answer import Answer
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.inventory.selection import Selectors
from osc_traitsched.core.servers.usage import (
    GROUPINGS,
    Capacity,
    CapacityQuery,
)
from osc_traitsched.views import prometheus
from osc_traitsched.views.capacity import document, prose

_LOST = {"": "host", "-aggregate": "aggregate", "-zone": "zone"}


class ShowCapacity(base.Command):
    """Show how many more servers of each flavor fit.

    Every host is judged as Nova would, with its filters and isolation, on one reading
    of the cloud. Without FLAVOR it counts all public flavors. Flavors compete for the
    same hosts, so that their numbers do not add up. Nothing is written or claimed.
    Exits 0 if any of the flavors fits, and 3 if none does. With --at-least it exits 7
    if one is short. It exits 8 if that depends on what no API shows. "openstack -q"
    prints the first line alone.
    """

    examples = """
        # How many more servers of a flavor fit, with an image
        capacity gold --image raw
        # All public flavors, if a host were lost and two were added
        capacity --without cmp01 --with cmp02=2
        # For cron: exit 7 if fewer than 5 fit
        capacity gold --at-least 5
    """

    def options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "flavors",
            metavar="FLAVOR",
            nargs="*",
            type=arguments.some,
            help="a flavor: name or ID (default: all public ones)",
        )
        parser.add_argument(
            "--all-flavors",
            action="store_true",
            help="private flavors too, if no FLAVOR is named",
        )
        parser.add_argument(
            "--by",
            choices=GROUPINGS,
            help="show the numbers of each availability zone, aggregate or host",
        )
        parser.add_argument(
            "--at-least",
            type=request_args.count,
            metavar="N",
            help="exit 7 if fewer of any of the flavors fit",
        )
        _add_changes(parser)
        request_args.add_kind(parser)
        arguments.add_options(parser)
        explain.add_format(parser, prometheus.FORMAT)

    @gc_paused()
    def take_action(self, args: argparse.Namespace) -> int:
        query = _query(args)
        sources = self.sources = arguments.sources(args, self.app)
        spec = request_args.kind(args)
        found = capacity.capacity(self.cloud(), spec, sources, query)
        self.app.stdout.write(f"{self._text(found, args.format)}\n")
        return _exit_code(found, args.at_least)

    def _text(self, found: Capacity, fmt: str) -> str:
        if fmt != "text":
            for line in prose.assumed(found):
                base.LOG.warning("%s", line)
        if fmt == prometheus.FORMAT:
            return document.metrics(found)
        if fmt != "text":
            return explain.printed(document.document(found), fmt)
        encoding = getattr(self.app.stdout, "encoding", None) or "ascii"
        return self.answer(prose.lines(found, encoding))


def _add_changes(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "what if", "The numbers before and after, and the difference."
    )
    for flag, what in _LOST.items():
        group.add_argument(
            f"--without{flag}",
            metavar=(flag.strip("-") or "host").upper(),
            action="append",
            default=[],
            type=arguments.some,
            help=f"as if this {what} were lost, and its servers moved to other hosts "
            "(repeat for more)",
        )
    group.add_argument(
        "--with",
        dest="added",
        metavar="HOST=COUNT",
        action="append",
        default=[],
        type=_added,
        help="as if there were so many more hosts like this one, empty (repeat for "
        "more)",
    )


def _added(text: str) -> tuple[str, int]:
    name, equals, number = text.rpartition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"not HOST=COUNT: {text}")
    return name, request_args.count(number)


def _query(args: argparse.Namespace) -> CapacityQuery:
    if args.flavors and args.all_flavors:
        raise BadUsage("--all-flavors goes without FLAVOR")
    without = Selectors(
        hosts=tuple(args.without),
        aggregates=tuple(args.without_aggregate),
        zones=tuple(args.without_zone),
    )
    if args.at_least and not args.flavors:
        raise BadUsage("--at-least goes with FLAVOR")
    if args.by and (without.names_any or args.added):
        raise BadUsage("--by goes without --without and --with")
    names = dict.fromkeys(n for text in args.flavors for n in arguments.names(text))
    added = collections.Counter[str]()
    for host, number in args.added:
        added[host] += number
    return CapacityQuery(tuple(names), args.all_flavors, args.by, without, added)


def _exit_code(found: Capacity, wanted: int | None) -> ExitCode:
    if wanted is None:
        return ExitCode.of(Answer.best(each.answer for each in found.flavors))
    rooms = [each.after or each.room for each in found.flavors]
    short = [f for f, room in zip(found.flavors, rooms) if room.most < wanted]
    depends = [each for each in short if each.judgement.may_gain]
    if found.rejected or len(depends) < len(short):
        return ExitCode.FINDINGS
    is_sure = all(room.least >= wanted for room in rooms)
    return ExitCode.DONE if is_sure else ExitCode.UNKNOWN
