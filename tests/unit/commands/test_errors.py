"""Whatever goes wrong is one line, which is never empty."""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib import metadata

import pytest
from osc_lib import exceptions

from osc_traitsched.commands import base
from osc_traitsched.core.errors import BadUsage, NothingMatches
from tests.functional import shell

ARGUMENTS = argparse.Namespace(timeout=None, exit_zero=False)
NO_OUTPUT_IN_CMD2 = "AttributeError: 'NoneType' object has no attribute 'isatty'"


class App:
    stdout = sys.stdout
    parser = argparse.ArgumentParser()
    options = argparse.Namespace(debug=False)


class Failing(base.Command):
    needs_login = False
    error: Exception

    def take_action(self, args):
        raise self.error


def said(error):
    """Return what a command says that fails with an error."""
    command = Failing(App, None, None)
    command.error = error
    with pytest.raises(exceptions.CommandError) as caught:
        command.run(ARGUMENTS)
    return str(caught.value)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (KeyError("project"), "internal error: KeyError: 'project'; --debug shows"),
        (AttributeError("x\ny"), "internal error: AttributeError: x y; --debug"),
        (ValueError("\x1b[2J"), r"internal error: ValueError: \x1b[2J; --debug"),
        (AssertionError(), "internal error: AssertionError; --debug"),
        (RecursionError("too deep"), "internal error: RecursionError: too deep; "),
        (OSError(), "internal error: OSError; --debug"),
        (MemoryError(), "out of memory"),
        (NothingMatches("host", "x", ()), "no host matches 'x'"),
    ],
)
def test_an_error_is_one_line_that_is_not_empty(error, line):
    assert said(error).startswith(line)
    assert len(said(error).splitlines()) == 1


def test_what_others_say_of_their_errors_is_left_as_it_is():
    command = Failing(App, None, None)
    command.error = OSError(28, "No space left on device")
    with pytest.raises(OSError, match="No space left on device"):
        command.run(ARGUMENTS)


def test_a_usage_error_exits_2():
    command = Failing(App, None, None)
    command.error = BadUsage("no")
    assert command.run(ARGUMENTS) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["config", "show", "--nova-release", "34"],
        ["config", "nova-conf", "--nova-release", "34", "--enable", "az"],
    ],
)
def test_a_closed_standard_output_is_said(arguments):
    program = "import sys; from openstackclient import shell; sys.exit(shell.main())"
    command = [sys.executable, "-c", program, "trait-sched", *arguments]
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *command],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    if int(metadata.version("cmd2").partition(".")[0]) < 4:
        # It can't be imported without one, so that the shell ends before any command.
        assert (last, "cmd2" in done.stderr) == (NO_OUTPUT_IN_CMD2, True)
    else:
        assert last == "standard output is closed"


def run(*arguments):
    """Run a command that ends before it asks anybody."""
    return shell.run(shell.login("http://localhost:9"), "trait-sched", *arguments)


def last_line(text):
    """Return the last line that says anything: cliff before 4.0 adds an empty one."""
    return [line for line in text.splitlines() if line][-1]


@pytest.mark.parametrize("option", ["--nova-conf", "--environment", "--control-plane"])
@pytest.mark.parametrize("value", ["", "--"])
def test_a_file_without_a_name_is_a_usage_error(option, value):
    found = run("config", "show", "--nova-release", "34", f"{option}={value}")
    assert (found.code, found.out) == (shell.USAGE, "")
    assert f"error: argument {option}: " in last_line(found.err)


@pytest.mark.parametrize("verb", ["explain", "candidates"])
@pytest.mark.parametrize("option", ["--availability-zone", "--project"])
@pytest.mark.parametrize("value", ["", "--"])
def test_an_empty_zone_or_project_is_a_usage_error(verb, option, value):
    found = run(verb, "small", "raw", f"{option}={value}")
    assert (found.code, found.out) == (shell.USAGE, "")
    assert f"error: argument {option}: " in last_line(found.err)
