"""openstack trait-sched config save."""

from __future__ import annotations

import argparse

from osc_traitsched.app import saving
from osc_traitsched.commands import base, scheduler_args
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.views import config


class SaveConfig(base.Command):
    """Save how nova-scheduler is configured, so that all commands find it.

    The options are written to a file of yours, one for each cloud (--os-cloud).
    Paths are made absolute; the files themselves are not copied. No cloud is asked.
    Exits 5 and writes nothing if the file exists and differs.
    """

    example = "config save --nova-release 2025.1 --dry-run"

    auth_required = False

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="show what would be written, and write nothing",
        )
        parser.add_argument(
            "--force",
            action="store_true",
            help="overwrite a file that differs",
        )
        scheduler_args.add_options(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        """Read, and write or show."""
        sources = scheduler_args.named(args)
        if sources.place is None and sources.nova_release is None:
            raise BadUsage("nothing to keep: name a file or an option of the scheduler")
        todo = saving.plan(sources, scheduler_args.places_of(self.app), args.force)
        if not args.dry_run:
            saving.save(todo)
        self.app.stdout.write(
            config.saved(todo.path, todo.text, todo.is_done, args.dry_run)
        )
