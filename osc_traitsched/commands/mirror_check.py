"""openstack trait-sched mirror check."""

from __future__ import annotations

import argparse

from osc_traitsched.commands.check import Checker
from osc_traitsched.views.traits import Table


class CheckMirror(Checker):
    """Check whether hosts and aggregates in Placement are as in Nova.

    The same as "check mirror". Nothing is written; "mirror repair" writes. Exits 7
    if a finding is at least as severe as --fail-on.
    """

    example = "mirror check --fail-on warning"

    def take_action(self, args: argparse.Namespace) -> Table:
        """Read, judge, and show."""
        return self.find(args, ["mirror"])
