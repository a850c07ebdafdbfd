"""openstack trait-sched isolate."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.cloud import aggregate_state, lookup
from osc_traitsched.cloud.connection import Cloud
from osc_traitsched.commands import in_steps, request_args, write_args
from osc_traitsched.core.change import isolation
from osc_traitsched.core.change.isolation import Ground
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait_keys import required_by
from osc_traitsched.core.nova.question import Body
from osc_traitsched.views import isolation as words
from osc_traitsched.views.traits import Table

LOG = logging.getLogger(__name__)


class IsolateAggregate(in_steps.Isolator):
    """Keep the hosts of an aggregate for those who require traits.

    It makes sure that the traits exist, that the hosts have them, that
    Placement has the hosts in the aggregate, that flavors and images require
    them, and then that the aggregate does. What is so already is not written,
    and the same command again finishes what was interrupted. Exits 3 and
    writes nothing if a flavor that has a host now would have none.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument("aggregate", help="a host aggregate: name, ID or UUID")
        parser.add_argument(
            "traits", metavar="TRAIT", nargs="+", help="a trait to isolate it by"
        )
        request_args.add_named(parser, "{} that shall require the traits")
        write_args.add_create_option(parser)
        in_steps.add_options(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Table:
        """Read, plan, look ahead, and write or show."""
        names = trait.parse(args.traits)
        write_args.check(args)
        cloud = self.cloud()
        ground = aggregate_state.ground(cloud, args.aggregate)
        creates = trait.to_create(names, ground.traits, args.create)
        flavors, images = _named(cloud, ground, args)
        steps = isolation.isolate_plan(ground, names, creates, flavors, images)
        self.look_ahead(cloud, ground, steps, images, args)
        for line in _oddities(ground, names, (*flavors, *images)):
            LOG.warning("%s", line)
        again = "the same command again"
        return words.rows(self.carry_out(cloud, steps, args, again))


def _named(
    cloud: Cloud, ground: Ground, args: argparse.Namespace
) -> tuple[tuple[Body, ...], tuple[Body, ...]]:
    """Return the flavors and the images that the options name, each once."""
    flavors = (lookup.flavor_among(ground.flavors, name) for name in args.flavors)
    images = (lookup.image(cloud, name) for name in args.images)
    return _each_once(flavors), _each_once(images)


def _each_once(bodies: Iterable[Body]) -> tuple[Body, ...]:
    return tuple({body["id"]: body for body in bodies}.values())


def _oddities(
    ground: Ground, names: Sequence[str], named: Sequence[Body]
) -> Iterator[str]:
    if not ground.members:
        yield words.no_hosts(ground)
    yield from words.also_isolated(ground, names)
    required = (required_by(body.get("extra_specs") or {}) for body in ground.flavors)
    if not named and not any(each.issuperset(names) for each in required):
        yield words.nobody(names)
