"""openstack trait-sched mirror check."""

from __future__ import annotations

import argparse

from osc_traitsched.commands.check import Checker
from osc_traitsched.views.traits import Table


class CheckMirror(Checker):
    """Check whether Placement has hosts and aggregates as Nova has them.

    These are the rules of "check mirror". Nothing is written: "mirror repair" does
    that. Exits 7 if there is a finding as bad as --fail-on says, or worse.
    """

    example = "mirror check --fail-on warning"

    def take_action(self, args: argparse.Namespace) -> Table:
        """Read, judge, and show."""
        return self.find(args, ["mirror"])
