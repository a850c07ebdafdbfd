"""openstack trait-sched snapshot: a cloud in a file."""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Iterable
from importlib import metadata

import tqdm

from osc_traitsched.app import diff, gc_paused, masking, own_filters, snapshot
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.app.snapshot import Snapshot
from osc_traitsched.commands import arguments, base, explain, request_args
from osc_traitsched.commands.arguments import flag, option
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova.own import NovaPythonFails
from osc_traitsched.text import visible
from osc_traitsched.views import diff as views


def _mask(parser: argparse.ArgumentParser) -> None:
    masking = parser.add_mutually_exclusive_group()
    masking.add_argument(
        "--mask",
        action="store_true",
        help="replace each name, ID and address by one random word, new in each run; "
        "FILE.map.json gets what each word stands for",
    )
    masking.add_argument(
        "--mask-without-map", action="store_true", help="mask, and write no map"
    )


class SaveSnapshot(base.Command):
    """Save the cloud in a file, to answer from it later.

    With --snapshot FILE the commands answer from it, without a login, as the cloud
    was then. Nothing is written to the cloud. The file has names of hosts, projects,
    images and servers, and addresses of hosts, but no passwords, tokens or URLs of the
    cloud; only you can read it. It is packed if its name ends in .gz. What you may not
    read is noted in it, and answers that need it say so.

    --mask puts random words in place of names, IDs and addresses; see FILE.map.json
    for what each stands for. What stays: words of Nova, Placement and os-traits, and
    Nova's own sentences in failures; numbers and times. The masked file is tested
    before it is written: nothing else is in it, and explain, check and server explain
    --failed give the same answers. With --snapshot a saved file is masked.
    """

    examples = """
        # A folder with the last 14, each named by its time: for cron
        snapshot save --keep 14 snapshots/
        # Without the inventories of single hosts: few requests on a large cloud
        snapshot save cloud.json.gz --light
        # To give away, with a map that you keep
        snapshot save --mask cloud.json.gz
        snapshot save cloud.json.gz
        # The same from a saved file, without the cloud
        snapshot save --mask ticket.json.gz --snapshot cloud.json.gz
    """

    options = (
        option(
            "file",
            metavar="FILE",
            help="file, or folder with --keep",
        ),
        flag(
            "--light",
            help="do not read inventories; reserved amounts, ratios and units are then "
            "unknown",
        ),
        option(
            "--keep",
            type=request_args.count,
            metavar="N",
            help="save into the folder FILE, and remove all but the newest N there",
        ),
        _mask,
        flag(
            "--keep-flavors",
            help="keep the names of flavors in a masked snapshot",
        ),
        flag(
            "--keep-traits",
            help="keep custom traits and resource classes in a masked snapshot",
        ),
        arguments.SCHEDULER,
    )

    def take_action(self, args: argparse.Namespace) -> None:
        """Read, and write the file."""
        masks = args.mask or args.mask_without_map
        sources = arguments.sources(args, self.app)
        if self.snapshot is None:
            found = snapshot.save(self.cloud(), sources, args.light, self._progress)
            found["tool"] = f"osc-traitsched {metadata.version('osc-traitsched')}"
            own = None if args.light else base.nova_python(args, sources)
            if own is not None:
                servers = snapshot.failed(found)[: own_filters.MOST_RECORDS]
                try:
                    of_nova = own_filters.requests(own, servers, with_hosts=True)
                    found["facts"] = {key: of_nova[key] for key in ("nova", "hosts")}
                    found["requests"] = of_nova["requests"]
                except NovaPythonFails as exc:
                    base.LOG.warning("NUMA cells and PCI devices not saved: %s", exc)
        elif masks and not args.light:
            found = dict(self.snapshot.with_settings(sources).document)
        else:
            raise BadUsage(
                "a saved file can only be masked: add --mask, and leave out --light. "
                "To save the cloud, leave out --snapshot and unset "
                f"{arguments.SNAPSHOT}"
            )
        path, originals = args.file, dict[str, str]()
        if masks:
            # Records of Nova's database have names in too many forms.
            found.pop("facts", None)
            found, originals = masking.masked(
                found, args.keep_flavors, args.keep_traits
            )
        if args.keep is not None:
            path = snapshot.write_into(path, found, args.keep)
        else:
            snapshot.write(path, found)
        if args.mask:
            snapshot.write_map(path, originals)
        if not self.is_quiet:
            self.app.stdout.write(f"{visible(snapshot.summary(found, path))}\n")

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


# openstack trait-sched diff.


class ShowDifference(base.Command):
    """Show what changed since a snapshot was saved, worst first.

    Compares with a second snapshot, or with the cloud now. A line that begins with !
    takes hosts from a flavor. Exits 6 if something changed, and 0 if not; servers that
    came, went or moved, and their use, do not count.
    """

    examples = """
        # What changed since yesterday
        diff yesterday.json.gz
        # What changed in the last nights, and when
        diff /var/lib/snapshots
        # Between two snapshots
        diff monday.json.gz tuesday.json.gz
    """

    needs_login = False

    options = (
        option(
            "old",
            metavar="OLD",
            help="the earlier snapshot; or a folder of snapshot save --keep: its "
            "oldest, and since when each change was there",
        ),
        option(
            "new",
            metavar="NEW",
            nargs="?",
            help="the later one (default: the cloud now)",
        ),
        flag(
            "--all",
            help="also list workload changes: servers that came, went or moved, and "
            "the use of hosts",
        ),
        arguments.SCHEDULER,
        explain.FORMAT,
    )

    @gc_paused()
    def take_action(self, args: argparse.Namespace) -> ExitCode:
        """Compare, and show."""
        sources = arguments.sources(args, self.app)
        end = snapshot.read(args.new).time if args.new else self.now
        paths = snapshot.within(args.old, end)
        old = snapshot.read(paths[0]).settled(sources)
        found = diff.compare(old, self._later(args, old, sources))
        if paths != (args.old,):
            found = diff.dated(
                found, paths[1:], functools.partial(self._opened, old, sources)
            )
        whole = functools.partial(views.DifferenceDocument.of, found)
        self.show(args, views.lines(found, args.all), whole)
        if found.lasting:
            return ExitCode.DIFFERS
        return ExitCode.UNKNOWN if found.unread else ExitCode.DONE

    def _later(
        self, args: argparse.Namespace, old: Snapshot, sources: SettingsSources
    ) -> Snapshot:
        if args.new is not None:
            return self._opened(old, sources, args.new)
        return self.as_snapshot(sources, old)

    @staticmethod
    def _opened(old: Snapshot, sources: SettingsSources, path: str) -> Snapshot:
        found = snapshot.read(path).settled(sources)
        old.check_comparable(found)
        return found
