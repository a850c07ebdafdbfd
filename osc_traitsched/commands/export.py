"""openstack trait-sched export."""

from __future__ import annotations

import argparse

from osc_traitsched.app import settings
from osc_traitsched.app.wanted.exporting import export_wanted
from osc_traitsched.commands import base, scheduler_args
from osc_traitsched.commands.exit_code import ExitCode
from osc_traitsched.config.wanted import writer


class ExportWanted(base.Command):
    """Print what a cloud is like as a file that plan and apply read.

    It has the traits that operators give, not those of nova-compute, Neutron or
    Ironic; the zone, the hosts, the projects and the isolation of aggregates; and
    what flavors and images require and forbid. A plan made of it is empty.
    Comments say what no file can. Nothing is written.
    """

    example = "export | tee wanted.yaml"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        scheduler_args.add_options(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> int:
        """Read, and print."""
        cloud = self.cloud()
        assumed = settings.of_cloud(cloud, scheduler_args.sources(args, self.app))
        found = export_wanted(cloud, assumed.collation)
        lines = [f"Not here: {each}" for each in found.unsaid]
        self.app.stdout.write(writer.text(found.wanted, lines))
        return ExitCode.DONE
