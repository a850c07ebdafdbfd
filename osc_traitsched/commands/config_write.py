"""openstack trait-sched config tripleo, nova-conf and rhoso."""

from __future__ import annotations

import argparse
import logging

from osc_traitsched.commands import scheduler_args
from osc_traitsched.commands.configuring import Configuring
from osc_traitsched.config import baseline, fragment
from osc_traitsched.config.joining import Named
from osc_traitsched.core.nova import releases, switch
from osc_traitsched.core.nova.switch import Switched
from osc_traitsched.views import config

LOG = logging.getLogger(__name__)


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
            choices=tuple(switch.SWITCHES),
            help="what to turn on; can be repeated",
        )
        scheduler_args.add_options(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        """Read, think, and print."""
        named, assumptions = self.read(args)
        turned = switch.switched(args.wanted, assumptions)
        body = self.body(turned, named)
        cautions = config.cautions(turned, named.is_a_file, self.replaces(named))
        for each in cautions:
            LOG.warning("%s", each)
        top = config.comments(self.deployment, turned, cautions, bool(body))
        self.app.stdout.write(top + body)

    def body(self, turned: Switched, named: Named) -> str:
        """Return the fragment without its comments."""
        raise NotImplementedError

    def replaces(self, named: Named) -> bool:
        """Tell whether the fragment takes the place of what nobody named."""
        return False


class WriteNovaConf(_WriteConfig):
    """Print the part of nova.conf that turns prefilters on.

    It is complete for what --enable names, and to be read after everything else.
    AvailabilityZoneFilter goes out of enabled_filters where it has to. With
    --nova-release no cloud is asked.
    """

    deployment = "nova-conf"

    def body(self, turned: Switched, named: Named) -> str:
        """Return INI text."""
        return fragment.nova_conf(turned.values)


class WriteTripleo(_WriteConfig):
    """Print the environment file of TripleO that turns prefilters on.

    It is complete for what --enable names, and to be given after all other files.
    AvailabilityZoneFilter goes out of the list of filters where it has to; name
    your own files with --environment if they set that list. With --nova-release
    no cloud is asked.
    """

    deployment = "tripleo"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser = super().get_parser(prog_name)
        parser.set_defaults(baseline=baseline.TRIPLEO)
        return parser

    def body(self, turned: Switched, named: Named) -> str:
        """Return YAML with the parameters."""
        return fragment.environment(turned.values, turned.assumptions.release)


class WriteRhoso(_WriteConfig):
    """Print the part of RHOSO's control plane that turns prefilters on.

    It is complete for what --enable names, and to be merged into the
    OpenStackControlPlane. What that says of the scheduler already is kept if
    --control-plane names it, and replaced otherwise. No cloud is asked: RHOSO is
    of Nova's release 2023.1.
    """

    deployment = "rhoso"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of this command's options."""
        parser = super().get_parser(prog_name)
        parser.set_defaults(
            baseline=baseline.RHOSO, nova_release=releases.RHOSO_RELEASE
        )
        return parser

    def body(self, turned: Switched, named: Named) -> str:
        """Return YAML, with the text that there is and what comes after it."""
        there_is = named.control_plane.text if named.control_plane else ""
        return fragment.control_plane(turned.values, there_is)

    def replaces(self, named: Named) -> bool:
        """Tell whether nobody named the control plane."""
        return named.control_plane is None
