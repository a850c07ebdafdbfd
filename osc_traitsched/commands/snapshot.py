"""openstack trait-sched snapshot: a cloud in a file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from importlib import metadata

import tqdm

from osc_traitsched.app import snapshot
from osc_traitsched.commands import arguments, base
from osc_traitsched.core.inventory.snapshot import Provider


class SaveSnapshot(base.Command):
    """Save what all reading commands need of the cloud in a file.

    With --snapshot FILE the commands answer from it, without a login, as the cloud
    was then. Nothing is written to the cloud. The file has names of hosts, projects,
    images and servers, but no password, token or address; only you can read it. It is
    packed if its name ends in .gz. What you may not read is noted in it, and answers
    that need it say so.
    """

    examples = """
        # A folder with the last 14, each named by its time: for cron
        snapshot save --keep 14 snapshots/
        # Without the inventories of single hosts: few requests on a large cloud
        snapshot save cloud.json.gz --light
        snapshot save cloud.json.gz
    """

    reads = False

    def options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "file",
            metavar="FILE",
            type=arguments.some,
            help="file, or folder with --keep",
        )
        parser.add_argument(
            "--light",
            action="store_true",
            help="read no single inventories: reserved amounts, ratios and units are "
            "unknown then",
        )
        parser.add_argument(
            "--keep",
            type=_number,
            metavar="N",
            help="save into the folder FILE, and remove all but the newest N there",
        )
        arguments.add_options(parser)

    def take_action(self, args: argparse.Namespace) -> None:
        """Read, and write the file."""
        sources = arguments.sources(args, self.app)
        tool = f"osc-traitsched {metadata.version('osc-traitsched')}"
        found = snapshot.save(self.cloud(), sources, tool, args.light, self._progress)
        path = args.file
        if args.keep is not None:
            path = snapshot.write_into(path, found, args.keep)
        else:
            snapshot.write(path, found)
        base.LOG.warning("%s", snapshot.summary(found, path))

    def _progress(self, providers: Iterable[Provider]) -> Iterable[Provider]:
        several = list(providers)
        shown: Iterable[Provider] = tqdm.tqdm(
            several,
            desc="reading inventories",
            delay=1,
            leave=False,
            file=sys.stderr,
            disable=not self._shows_progress,
        )
        return shown


def _number(text: str) -> int:
    if text.isdecimal() and int(text):
        return int(text)
    raise argparse.ArgumentTypeError(f"not a whole number above 0: {text}")
