"""What is assumed, for commands that need a cloud only to know its release."""

from __future__ import annotations

from osc_traitsched.app import settings
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.commands import base
from osc_traitsched.config.joining import Named
from osc_traitsched.core.nova.settings import SchedulerSettings


class Configuring(base.Command):
    """A command that logs in only if nobody named the release."""

    auth_required = False

    def read(self, sources: SettingsSources) -> tuple[Named, SchedulerSettings]:
        """Return what the sources name, and what all that says together.

        :raises CloudBroke: when the release has to be asked for and can't be
        """
        files = settings.read_files(sources)
        maximum = None
        if sources.release is None:
            # What osc-lib does before it runs a command that needs a login.
            self.auth_required = True
            self.app.prepare_to_run_command(self)
            maximum = self.cloud().compute_maximum
        return files, settings.resolve(sources, files, maximum)
