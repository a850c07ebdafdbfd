"""openstack trait-sched aggregate list."""

from __future__ import annotations

import argparse

from osc_traitsched.app import aggregates
from osc_traitsched.commands import base
from osc_traitsched.views import aggregates as views
from osc_traitsched.views import terminal
from osc_traitsched.views.traits import Table


class ListAggregates(base.Lister):
    """List host aggregates: zone, isolating traits, projects, and their mirror.

    The mirror is Placement's aggregate of the same UUID. It is in step if it has
    exactly the compute nodes of the aggregate's hosts; "missing" and "extra" count
    the others. JSON and YAML always have the names. The mirror is unknown to users
    who may not read providers or hosts.
    """

    example = "aggregate list --long"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument(
            "--long", action="store_true", help="show hosts by name in tables, too"
        )
        return parser

    def take_action(self, args: argparse.Namespace) -> Table:
        """Read, compare, and show."""
        found = aggregates.compare(self.cloud())
        if found.snapshot.unlisted:
            base.LOG.warning("%s", terminal.unlisted(found.snapshot))
        if found.unread is not None:
            base.LOG.warning("mirror unknown: %s", str(found.unread))
        is_known = found.unread is None
        return views.rows(found.differences, args.long, is_known)
