"""openstack trait-sched config."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from osc_traitsched.app import settings
from osc_traitsched.commands import arguments, base, request_args
from osc_traitsched.commands.arguments import flag, group, option, repeatable
from osc_traitsched.config.sources import (
    CONTROL_PLANE,
    ENVIRONMENTS,
    FILTERS,
    NOVA,
    NOVA_CONF,
    NOVA_RELEASE,
    SettingsSources,
    resolve,
)
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.nova import options as switch
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.text import visible
from osc_traitsched.views import config
from osc_traitsched.views.listing import Table

# Commands that need a cloud only to learn its release.


class Configuring(base.Command):
    """A command that logs in only if no release is named."""

    needs_login = False

    def read(self, sources: SettingsSources) -> SchedulerSettings:
        """The settings from all sources; CloudBroke if Nova must say the release."""
        maximum = None
        if sources.release is None:
            if not self.snapshot:
                self.log_in()
            maximum = self.cloud().compute_maximum
        return resolve(sources, maximum)


class _Lines(base.TextLister):
    lines: tuple[str, ...] = ()

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Any
    ) -> int:
        if not base.wants_text(parsed_args):
            return super().produce_output(parsed_args, column_names, data)
        for line in self.lines:
            self.app.stdout.write(f"{visible(line)}\n")
        return 0


# openstack trait-sched config show.


class ShowConfig(Configuring, _Lines):
    """Show the scheduler's options as they are assumed, and where each comes from.

    The text has the options that differ from the default of Nova's release, and lines
    of nova.conf without effect. Other formats have a row for each option, after one for
    the place of the settings and one for the release. With --nova-release no cloud is
    asked.
    """

    examples = """
        config show --nova-release 2025.1
    """

    options = (
        flag(
            *("--all", "--long"),
            dest="all",
            help="show options at their default, too",
        ),
        arguments.SCHEDULER,
    )

    def take_action(self, args: argparse.Namespace) -> Table:
        """Read, and show."""
        sources = arguments.sources(args, self.app)
        assumptions = self.read(sources)
        top, release, *options = config.lines(assumptions, args.all)
        nova = config.nova_lines(sources.readings, self.now, self.repeated_options)
        self.lines = (top, release, *nova, *options)
        return config.rows(assumptions, sources.release is not None)


# openstack trait-sched config doctor.


class ConfigDoctor(_Lines):
    """Show which settings are in use, which are unknown, and how to supply them.

    Looks for nova.conf on this machine, and reads the cloud's aggregates once. Exits 8
    if an option is unknown that matters on this cloud. "openstack -q" prints the
    unknown options alone.
    """

    examples = """
        # For a program
        config doctor -f json
        # What is known of nova-scheduler's settings, and how to supply the rest
        config doctor
        # What a file would leave unknown
        config doctor --nova-conf nova.conf
    """

    options = (arguments.SCHEDULER,)

    def take_action(self, args: argparse.Namespace) -> Table:
        """Look, and show."""
        sources = arguments.sources(args, self.app)
        found = settings.diagnose(self.cloud(), sources, arguments.places_of(self.app))
        if found.unknown:
            self.exit_code = base.ExitCode.UNKNOWN
        named = arguments.repeated(args)
        self.lines = tuple(config.doctor_lines(found, self.repeated_options, named))
        if self.is_quiet:
            self.lines = (config.verdict(found),)
        return config.doctor_rows(found, self.repeated_options)


# openstack trait-sched config save.


class SaveConfig(base.Command):
    """Save how nova-scheduler is configured, so that all commands find it.

    The options are written to a file of yours, one for each cloud (--os-cloud).
    Paths are made absolute; the files themselves are not copied. No cloud is asked.
    With --nova-python Nova itself says its release and options; nothing is written
    there. Without any option Nova is read again by the saved command; if none is
    saved, the lines to paste are printed. Exits 5 and writes nothing if the file
    exists and differs, unless Nova is read again by the same command.
    """

    examples = """
        # Show what would be saved
        config save --nova-release 2025.1 --dry-run
        # Read Nova again, or show how to
        config save
        # Name the scheduler's nova.conf once
        config save --nova-conf /etc/nova/nova.conf
        # Ask the running scheduler, without a file
        config save --nova-python 'ssh ctl1 sudo docker exec -i nova_scheduler python3'
        # A distribution's defaults, and one option
        config save --baseline kolla-ansible --set scheduler.max_placement_results=100
    """

    needs_login = reads = False

    options = (
        flag(
            "--dry-run",
            help="show what would be written, and write nothing",
        ),
        flag(
            "--force",
            help="overwrite a file that differs",
        ),
        group(
            "running Nova",
            "Options, release and cells are read from a running Nova. Passwords, "
            "connection URLs and paths never leave it.",
            repeatable(
                "--nova-python",
                dest="commands",
                metavar="[SERVICE=]COMMAND",
                help="a command that starts the Python beside nova-scheduler, such as "
                "'podman exec -i nova_scheduler python3'; if services have a nova.conf "
                "each, repeat it with api=, scheduler= and conductor= before the "
                "command",
            ),
            request_args.PYTHON_TIMEOUT,
        ),
        arguments.SCHEDULER,
    )

    def take_action(self, args: argparse.Namespace) -> int:
        """Read, and write or show."""
        places, dry_run = arguments.places_of(self.app), args.dry_run
        given = _given(args)
        if not (args.commands or arguments.named(args).named):
            before = settings.saved_before(places)
            if not before:
                return self._show_how()
            vars(args).update(before, commands=before[NOVA.name])
        if args.commands:
            timeout = args.nova_python_timeout
            vars(args).update({**settings.ask_nova(args.commands, timeout), **given})
        sources = arguments.named(args)
        if FILTERS in sources.named:
            raise BadUsage("config save keeps --set filter_scheduler.enabled_filters=")
        text, is_done = settings.save(sources, places, args.force, dry_run)
        base.warn(*settings.exposed(sources))
        shown = config.saved(places.own_document, text, is_done, dry_run)
        self.app.stdout.write(shown)
        later = settings.READ_LATER if dry_run else {}
        for text in config.nova_lines(sources.readings, self.now, later=later):
            self.app.stdout.write(f"{visible(text)}\n")
        return base.ExitCode.DONE

    def _show_how(self) -> int:
        """Show lines to paste; raises BadUsage, for there is nothing to save."""
        try:
            self.log_in()
        except Exception as exc:
            problem = "nothing to keep: name a file or an option of the scheduler"
            raise BadUsage(f"{problem}; config doctor shows how to ask Nova") from exc
        pythons = settings.nova_pythons(self.cloud())
        for text in config.python_lines(pythons, self.repeated_options):
            self.app.stdout.write(f"{visible(text)}\n")
        raise BadUsage("nothing to keep: use a command from above, or name a file")


def _given(args: argparse.Namespace) -> dict[str, Any]:
    """Nova's release, if an option names it."""
    name = NOVA_RELEASE.name
    return {name: vars(args)[name]} if vars(args)[name] else {}


# openstack trait-sched config enable.

_WRITTEN = {source.tool: source for source in (NOVA_CONF, ENVIRONMENTS, CONTROL_PLANE)}


class EnableOptions(Configuring):
    """Print settings that turn prefilters on, for nova.conf or a deployment tool.

    They have every option that WHAT needs. For nova, nova-scheduler must read the
    text last. For tripleo it is an environment file, to give after all others; if your
    own set the list of filters, name them with --environment. For rhoso it is a part
    of the OpenStackControlPlane to merge; with --control-plane your settings for the
    scheduler are kept. AvailabilityZoneFilter is removed from the list of filters where
    it must not be. With --nova-release, and for RHOSO, no cloud is asked.
    """

    examples = """
        # A part of nova.conf
        config enable isolation --nova-release 2025.1
        # An environment file
        config enable isolation --for tripleo --nova-release wallaby
        # A patch of the control plane
        config enable isolation --for rhoso
    """

    options = (
        option(
            "wanted",
            nargs="+",
            type=switch.switch_name,
            choices=tuple(switch.switches()),
            metavar="WHAT",
            help=", ".join(switch.switches()),
        ),
        option(
            "--for",
            dest="tool",
            choices=tuple(_WRITTEN),
            default=NOVA_CONF.tool,
            help="what reads the text: nova itself, or a tool (default: %(default)s)",
        ),
        arguments.SCHEDULER,
    )

    def take_action(self, args: argparse.Namespace) -> None:
        source = _WRITTEN[args.tool]
        args.baseline = args.baseline or source.distribution
        args.nova_release = args.nova_release or source.release
        sources = arguments.sources(args, self.app)
        turned = switch.switch(args.wanted, self.read(sources))
        present = sources.layers.get(source, ())
        kept = "".join(layer.text for layer in present)
        text = source.write(turned.values, turned.assumptions.release, kept)
        replaces = source.replaces and not present
        cautions = config.cautions(turned, bool(sources.paths), replaces)
        base.warn(*cautions)
        top = config.comments(source.where, turned, cautions, bool(text))
        self.app.stdout.write(top + text)
