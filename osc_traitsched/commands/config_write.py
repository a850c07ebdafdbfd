"""openstack trait-sched config tripleo, nova-conf and rhoso."""

from __future__ import annotations

import argparse

from osc_traitsched.app import fragment
from osc_traitsched.commands import base, scheduler_args
from osc_traitsched.commands.configuring import Configuring
from osc_traitsched.config import baseline
from osc_traitsched.core import releases
from osc_traitsched.core.nova import switch
from osc_traitsched.views import config


class _WriteConfig(Configuring):
    """Prints what turns things on, for one kind of deployment."""

    deployment = ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument(
            "--enable",
            dest="wanted",
            action="append",
            required=True,
            type=switch.known_name,
            choices=tuple(switch.SWITCHES),
            help="what to turn on; can be repeated",
        )
        scheduler_args.add_options(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        """Read, think, and print."""
        sources = scheduler_args.sources(args, self.app)
        files, assumptions = self.read(sources)
        found = fragment.turn_on(self.deployment, args.wanted, files, assumptions)
        cautions = config.cautions(found.turned, found.extends_file, found.replaces)
        for each in cautions:
            base.LOG.warning("%s", each)
        has_text = bool(found.text)
        top = config.comments(self.deployment, found.turned, cautions, has_text)
        self.app.stdout.write(top + found.text)


class WriteNovaConf(_WriteConfig):
    """Print the part of nova.conf that turns prefilters on.

    It has every option that --enable needs; nova-scheduler must read it last.
    AvailabilityZoneFilter is removed from enabled_filters where it must not be. With
    --nova-release no cloud is asked.
    """

    example = "config nova-conf --enable isolation --nova-release 2025.1"

    deployment = fragment.NOVA_CONF


class WriteTripleo(_WriteConfig):
    """Print a TripleO environment file that turns prefilters on.

    It has every parameter that --enable needs; give it after all other files.
    AvailabilityZoneFilter is removed from the list of filters where it must not be;
    if your own files set that list, name them with --environment. With
    --nova-release no cloud is asked.
    """

    example = "config tripleo --enable isolation --nova-release wallaby"

    deployment = fragment.TRIPLEO

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser = super().get_parser(prog_name)
        parser.set_defaults(baseline=baseline.TRIPLEO)
        return parser


class WriteRhoso(_WriteConfig):
    """Print the part of RHOSO's control plane that turns prefilters on.

    It has every option that --enable needs; merge it into the OpenStackControlPlane.
    Its settings for the scheduler are kept if --control-plane names it, and
    replaced otherwise. No cloud is asked: RHOSO is Nova 2023.1.
    """

    example = "config rhoso --enable isolation"

    deployment = fragment.RHOSO

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser = super().get_parser(prog_name)
        parser.set_defaults(
            baseline=baseline.RHOSO, nova_release=releases.RHOSO_RELEASE
        )
        return parser
