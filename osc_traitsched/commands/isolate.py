"""openstack trait-sched isolate."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence

from osc_traitsched.app import isolation as app
from osc_traitsched.app import settings
from osc_traitsched.app.afterwards import look_again
from osc_traitsched.commands import (
    base,
    isolation_args,
    request_args,
    scheduler_args,
    write_args,
)
from osc_traitsched.core.change.model import Kind, Object
from osc_traitsched.core.inventory import trait
from osc_traitsched.views import commands, undo
from osc_traitsched.views import isolation as words
from osc_traitsched.views.afterwards import Way
from osc_traitsched.views.traits import Table


class IsolateAggregate(write_args.Writer):
    """Reserve the hosts of an aggregate for servers that require traits.

    In this order: create the traits, add them to the hosts, put the hosts into
    Placement's copy of the aggregate, make flavors and images require the
    traits, and make the aggregate require them. What is already right is not
    written. If it is interrupted, run the same command again. Exits 5 and writes
    nothing if a flavor would lose its last host, overall, in a zone or for a
    project. Reads everything again after writing, and exits 1 if somebody else
    has changed it.
    """

    example = "isolate silver CUSTOM_SILVER --flavor silver --dry-run"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument("aggregate", help="a host aggregate: name, ID or UUID")
        parser.add_argument(
            "traits", metavar="TRAIT", nargs="+", help="a trait to require"
        )
        request_args.add_named(parser, "{} that should require the traits")
        write_args.add_create_option(parser)
        isolation_args.add_options(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Table:
        """Plan, look ahead, and write or show."""
        names = trait.parse(args.traits)
        write_args.check(args)
        cloud = self.cloud()
        assumptions = settings.of_cloud(cloud, scheduler_args.sources(args, self.app))
        self.assumed = assumptions

        def plan(gone: Sequence[Object]) -> app.IsolationPlan:
            return app.plan_isolate(
                cloud,
                args.aggregate,
                names,
                assumptions,
                flavors=_without(args.flavors, Kind.FLAVOR, gone),
                images=_without(args.images, Kind.IMAGE, gone),
                create=args.create,
                force=args.force,
            )

        todo = plan(())
        isolation_args.tell(todo, removing=False)
        for line in words.oddities(todo.state, names, todo.is_closed_to_all):
            base.LOG.warning("%s", line)
        way = functools.partial(_way, args, str(todo.state.aggregate["id"]), names)
        collation = todo.state.collation
        look = functools.partial(look_again, cloud, collation, plan_again=plan)
        found = self.execute(cloud, todo.plan, args)
        return isolation_args.finish(self, found, args, look, way)


def _without(names: Sequence[str], kind: Kind, gone: Sequence[Object]) -> list[str]:
    known = {name for o in gone if o.kind is kind for name in (o.id, o.name)}
    return [name for name in names if name not in known]


def _way(
    args: argparse.Namespace,
    identity: str,
    names: Sequence[str],
    gone: Sequence[Object],
) -> Way:
    """Return what leads on, without what is gone, and back."""
    aggregate = commands.printable(args.aggregate, identity)
    scheduler = scheduler_args.repeated(args)
    chosen = (
        ("--flavor", _without(args.flavors, Kind.FLAVOR, gone)),
        ("--image", _without(args.images, Kind.IMAGE, gone)),
    )
    again = commands.openstack(
        "trait-sched isolate",
        aggregate,
        *names,
        *(commands.Option(flag, name) for flag, each in chosen for name in each),
        *(commands.Option(f"--{o}") for o in ("create", "force") if getattr(args, o)),
        *scheduler,
    )
    taking_back = functools.partial(undo.of_isolate, aggregate, names, scheduler)
    return Way(again, taking_back)
