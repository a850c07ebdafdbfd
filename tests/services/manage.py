"""Run commands of a service's manage program. Runs in the services' own Python.

usage: python -m tests.services.manage MODULE COMMAND...

Each COMMAND is one argument with a whole command line in it, without the program's
name. They run in order, each in a fork, because importing a service takes longer
than most of its commands do, and because each command expects a fresh interpreter.
"""

from __future__ import annotations

import importlib
import os
import shlex
import sys
from collections.abc import Callable

from tests.services import lifeline


def run(main: Callable[[], int | None], command: str) -> int:
    """Run one command in a fork of this process and return its exit status."""
    child = os.fork()
    if child == 0:
        sys.argv = ["manage", *shlex.split(command)]
        sys.exit(main())
    _, status = os.waitpid(child, 0)
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 1


def main() -> None:
    lifeline.end_with_parent()
    module, *commands = sys.argv[1:]
    sys.argv[1:] = []
    program = importlib.import_module(module)
    for command in commands:
        status = run(program.main, command)
        if status:
            sys.exit(f"{module}: {command}: exit status {status}")


if __name__ == "__main__":
    main()
