"""Write the man page: ``python doc/man.py > doc/openstack-trait-sched.1``.

The wheel installs that file; a test compares it with what the code says.
"""

from __future__ import annotations

import argparse
import re
import sys
import types
from collections.abc import Iterator

from osc_traitsched.commands import explain
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.commands.overview import GROUPS

#: The options of this command that most others have, too, by their destinations.
_SHARED = (
    *("snapshot", "nova_conf", "format", "long", "exit_zero", "timeout"),
    *("help", "help_all"),
)

_TOP = """\
.\\" Written by doc/man.py.
.TH OPENSTACK\\-TRAIT\\-SCHED 1 "" "osc\\-traitsched" "User Commands"
.SH NAME
openstack\\-trait\\-sched \\- say why servers get no host, and change traits safely
.SH SYNOPSIS
.B openstack
.RI [ openstack\\~options ]
.B trait\\-sched
.I command
.RI [ options ]
.br
.B openstack sched
.I command ...
.SH DESCRIPTION
This plugin of OpenStackClient says why a server got no host, how many more servers
fit, and where servers could move. It changes traits and aggregates, and refuses
changes that would leave a server or a flavor without a host.
.PP
.B openstack sched
is short for
.BR "openstack trait\\-sched" .
Commands that only read need no more rights than the APIs that they ask.
"""

_REST = """\
.SH ENVIRONMENT
.TP
.B TRAITSCHED_SNAPSHOT
A file of
.BR "snapshot save" .
Commands answer from it and need no login.
.TP
.B TRAITSCHED_SETTINGS
A settings document of nova\\-scheduler, as
.B config save
writes it.
.TP
.B TRAITSCHED_EXIT_ZERO
1: answers of no, or unknown, exit with 0, as with
.BR \\-\\-exit\\-zero .
.TP
.BR OS_CLOUD ", " OS_REGION_NAME ", " OS_AUTH_URL " ..."
Where to log in: see
.BR openstack (1).
.TP
.B NO_COLOR
Print no colors.
.SH FILES
.TP
.I clouds.yaml
Clouds to log in to. The key
.B traitsched
of a cloud names its settings.
.TP
.I ~/.config/osc\\-traitsched/CLOUD.yaml
The settings of a cloud, from
.BR "config save" .
.TP
.I /etc/osc\\-traitsched/CLOUD.yaml
The same for all users of this host.
.TP
.I share/osc\\-traitsched
Examples and the schema of desired\\-state files, in the Python environment of the
plugin.
.SH EXAMPLES
Why does a flavor with an image find no host?
.PP
.RS
.nf
openstack trait\\-sched explain m1.large ubuntu
.fi
.RE
.PP
Why did a server fail?
.PP
.RS
.nf
openstack trait\\-sched server explain db\\-2
.fi
.RE
.PP
Reserve the hosts of an aggregate for servers that require a trait:
.PP
.RS
.nf
openstack trait\\-sched isolate windows CUSTOM_WINDOWS \\-\\-dry\\-run
.fi
.RE
.PP
Answer from a file, without a cloud:
.PP
.RS
.nf
openstack trait\\-sched snapshot save today.json.gz
openstack trait\\-sched check \\-\\-snapshot today.json.gz
.fi
.RE
.SH SEE ALSO
.BR openstack (1)
.PP
.B openstack trait\\-sched
.I command
.B \\-\\-help
"""


def page() -> str:
    """The man page as roff."""
    commands = "".join(
        f".SS {_escaped(title)}\n"
        + "".join(_item(f"\\fB{name}\\fR", _escaped(rows[name]), 21) for name in rows)
        for title, rows in GROUPS.items()
    )
    codes = "".join(_item(f"\\fB{int(c)}\\fR", _bold(c.meaning)) for c in ExitCode)
    options = "".join(_item(name, text) for name, text in _options())
    return (
        f"{_TOP}.SH COMMANDS\n{commands}.SH OPTIONS\n"
        "Most commands have these; "
        "\\fB\\-\\-help\\-all\\fR shows all of one command.\n"
        f"{options}.SH EXIT STATUS\n{codes}{_REST}"
    )


def _options() -> Iterator[tuple[str, str]]:
    app = types.SimpleNamespace(command_manager=(), NAME="openstack")
    parser = explain.Explain(app, None).get_parser("openstack trait-sched explain")
    by_name = {action.dest: action for action in parser._actions}
    for action in (by_name[name] for name in _SHARED):
        metavar = action.metavar or (action.choices and "FORMAT")
        shown = f" \\fI{metavar}\\fR" if metavar else ""
        name = ", ".join(f"\\fB{_escaped(each)}\\fR" for each in action.option_strings)
        text = action.help % {"default": action.default, "prog": parser.prog}
        yield f"{name}{shown}", _sentence(text)


def _item(head: str, text: str, indent: int = 7) -> str:
    return f".TP {indent}\n{head}\n{text}\n"


def _sentence(text: str) -> str:
    return f"{_escaped(text[0].upper() + text[1:])}."


def _bold(text: str) -> str:
    """Literal text of reStructuredText in bold."""
    return re.sub(r"``(.+?)``", r"\\fB\1\\fR", _escaped(text))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    sys.stdout.write(page())
