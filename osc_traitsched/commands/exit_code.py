"""What commands exit with: one code, one meaning, whatever the command."""

from __future__ import annotations

import enum

from osc_traitsched.core import errors


class ExitCode(enum.IntEnum):
    """How a command ended."""

    DONE = 0
    """Done, or there is nothing to do; there is a host; nothing was found."""

    ERROR = 1
    """Something named is not there, a service broke, or some changes failed."""

    USAGE = 2
    """Options that do not go together, or one that is missing."""

    NO_HOST = 3
    """No host can take the server, or Nova or Placement refuses the request."""

    CONTRADICTION = 4
    """What was read does not explain Placement's answer."""

    REFUSED = 5
    """The command would do harm, and nothing was written."""

    CHANGES_WANTED = 6
    """A dry run with ``--exit-code``, and there is something to write."""

    FINDINGS = 7
    """A check has a finding as bad as ``--fail-on`` says, or a server is misplaced."""

    UNKNOWN = 8
    """The answer depends on what no API shows."""

    INTERRUPTED = 130
    """The user pressed Ctrl-C; a shell's code for SIGINT."""


#: Codes of errors; a class that is not here has the code of its nearest base.
_CODES = {
    errors.TraitSchedError: ExitCode.ERROR,
    errors.BadUsage: ExitCode.USAGE,
    errors.AnswerIsNo: ExitCode.REFUSED,
    errors.NotForProject: ExitCode.NO_HOST,
    errors.PlacementRefuses: ExitCode.NO_HOST,
    errors.Refusal: ExitCode.NO_HOST,
}


def of_error(error: errors.TraitSchedError) -> ExitCode:
    """Return what a command exits with that an error ends."""
    return next(_CODES[each] for each in type(error).__mro__ if each in _CODES)
