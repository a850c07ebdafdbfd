"""openstack trait-sched config show."""

from __future__ import annotations

import argparse

from osc_traitsched.commands import base, scheduler_args
from osc_traitsched.commands.configuring import Configuring
from osc_traitsched.views import config
from osc_traitsched.views.traits import Table


class ShowConfig(Configuring, base.Lister):
    """List the scheduler's options as they are assumed, and where each comes from.

    The first rows are Nova's release and the place where settings were found. Then
    comes a row for each option of that release, and last the options that are set
    but that the release ignores. With --nova-release no cloud is asked.
    """

    example = "config show --nova-release 2025.1"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        scheduler_args.add_options(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Table:
        """Read, and show."""
        sources = scheduler_args.sources(args, self.app)
        _, assumptions = self.read(sources)
        return config.rows(assumptions, sources.release is not None)
