"""openstack trait-sched isolate."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence
from typing import TypedDict

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
        sources = scheduler_args.sources(args, self.app)
        self.assumed = settings.of_cloud(cloud, sources)
        plan_with = functools.partial(
            app.plan_isolate,
            cloud,
            args.aggregate,
            names,
            self.assumed,
            create=args.create,
            force=args.force,
        )
        todo = plan_with(**_chosen(args, ()))
        isolation_args.tell(todo, removing=False)
        odd = words.oddities(
            todo.state, names, todo.is_closed_to_all, todo.has_private_flavors
        )
        for line in odd:
            base.LOG.warning("%s", line)
        look = functools.partial(
            look_again,
            cloud,
            todo.state.collation,
            plan_again=lambda gone: plan_with(**_chosen(args, gone)),
        )
        way = functools.partial(_way, args, str(todo.state.aggregate["id"]), names)
        found = self.execute(cloud, todo.plan, args)
        return isolation_args.finish(self, found, args, look, way)


class _Chosen(TypedDict):
    flavors: list[str]
    images: list[str]


def _chosen(args: argparse.Namespace, gone: Sequence[Object]) -> _Chosen:
    """Return the flavors and images that are named, without those that are gone."""
    return {
        "flavors": _without(args.flavors, Kind.FLAVOR, gone),
        "images": _without(args.images, Kind.IMAGE, gone),
    }


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
    chosen = _chosen(args, gone)
    again = commands.openstack(
        "trait-sched isolate",
        aggregate,
        *names,
        *(commands.Option("--flavor", name) for name in chosen["flavors"]),
        *(commands.Option("--image", name) for name in chosen["images"]),
        *(commands.Option(f"--{o}") for o in ("create", "force") if getattr(args, o)),
        *scheduler,
    )
    taking_back = functools.partial(undo.of_isolate, aggregate, names, scheduler)
    return Way(again, taking_back)
