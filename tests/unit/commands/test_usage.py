"""Usage: errors in one line, examples, exit codes, the overview, rights."""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import types
from importlib import metadata

import pytest
from osc_lib import exceptions

from osc_traitsched import entry
from osc_traitsched.cloud import service
from osc_traitsched.commands import base, overview
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.commands.write_args import Writer
from osc_traitsched.core import errors
from osc_traitsched.core.change import effects, traits
from osc_traitsched.core.errors import BadUsage, CloudBroke, Forbidden, NothingMatches
from tests import examples
from tests.functional import shell

# A usage error obeys nothing that it was given.


ODD = "\u202eabc\x1b[2J"
SHOWN = r"\u202eabc\x1b[2J"
COMMANDS = [entry.overview.Overview, *map(examples.command, examples.verbs())]


def refused(capsys, command, *arguments):
    manager = types.SimpleNamespace(namespace="none")
    app = types.SimpleNamespace(command_manager=manager)
    parser = command(app, argparse.Namespace()).get_parser("it")
    with pytest.raises(SystemExit):
        parser.parse_args(arguments)
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("option", [f"--timeout={ODD}", f"--{ODD}"])
def test_no_command_says_what_a_terminal_obeys(capsys, command, option):
    said = refused(capsys, command, option, "a", "b")
    assert said.isprintable()


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        (entry.listing.ListTraits, [f"--timeout={ODD}"]),
        (entry.trait.ShowTrait, [ODD, ODD]),
        (entry.trait.AddTraits, ["CUSTOM_A", "--all", f"--jobs={ODD}"]),
        (entry.explain.ListCandidates, ["small", "-", f"--limit={ODD}"]),
        (entry.explain.Explain, ["small", "-", f"--flavor-property={ODD}"]),
        (entry.check.Check, [f"--nova-release={ODD}"]),
        (entry.check.Check, [f"--set={ODD}"]),
    ],
)
def test_what_was_given_is_named_visibly(capsys, command, arguments):
    said = refused(capsys, command, *arguments)
    assert SHOWN in said.replace("\\\\", "\\")
    assert said.isprintable()


# Commands that write take the options they are given, not those that are like them.


WRITING = [
    verb for verb in examples.verbs() if issubclass(examples.command(verb), Writer)
]


@pytest.mark.parametrize("verb", WRITING)
def test_an_abbreviated_option_is_not_taken(verb, capsys):
    app = types.SimpleNamespace(command_manager=types.SimpleNamespace(namespace="none"))
    parser = examples.command(verb)(app, argparse.Namespace()).get_parser("it")
    words = shlex.split(examples.example(verb))[1 + len(verb.split()) :]
    assert parser.parse_args([*words, "--dry-run"]).dry_run
    with pytest.raises(SystemExit):
        parser.parse_args([*words, "--dry-ru"])
    assert "--dry-ru\n" in capsys.readouterr().err


# Whatever goes wrong is one line, which is never empty.


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
        ["config", "enable", "az", "--nova-release", "34"],
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


# The help of each command ends with an example.


def helped(verb, option):
    """What the help prints, and its rows."""
    done = shell.run({}, *verb.split(), option)
    assert (done.code, done.err) == (0, "")
    return done.out, done.out.splitlines()


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("verb", examples.verbs())
def test_the_help_fits_a_terminal_and_ends_with_an_example(verb, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    text, rows = helped(verb, "--help")
    assert len(rows) <= 25
    assert max(map(len, rows)) <= width
    assert f" {verb} [OPTIONS]" in rows[0]
    assert f"  {examples.example(verb)}\n" in text.replace(" \\\n   ", "")
    assert rows[-1].endswith(f" {verb} --help-all")


def test_the_help_of_explain_has_what_the_first_answers_need():
    text, _ = helped("trait-sched explain", "--help")
    for option in ("--project", "--snapshot", "--nova-conf"):
        assert f"\n  {option} " in text


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("verb", examples.verbs())
def test_the_whole_help_is_filled_and_needs_no_login(verb, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    text, rows = helped(verb, "--help-all")
    assert max(map(len, rows)) <= width
    # The command's own options, the scheduler's, and then those of cliff.
    titles = ("options:", "scheduler:", "output formatters:", "Example")
    places = [text.find(f"\n{title}") for title in titles]
    there = [place for place in places if place > 0]
    assert there == sorted(there)
    for row, following in zip(rows, rows[1:]):
        if re.match(r"\S", row) and re.match(r"\S", following):
            assert len(f"{row} {following.split()[0]}") > width - 2, row


@pytest.mark.parametrize("verb", examples.verbs())
def test_every_example_is_one_of_a_line_that_the_command_takes(verb):
    command = examples.command(verb)
    app = types.SimpleNamespace(command_manager=types.SimpleNamespace(namespace="none"))
    made = command(app, argparse.Namespace())
    text = made.get_epilog().replace(" \\\n   ", "")
    lines = [line.strip() for line in text.splitlines()]
    typed = [line for line in lines if line.startswith("openstack ")]
    assert all(line.startswith(f"openstack {verb}") for line in typed)
    for line in typed:
        words = shlex.split(line.partition(" | ")[0])[1 + len(verb.split()) :]
        made.get_parser("it").parse_args(words)


# What commands exit with.


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.NothingMatches("host", "cmp9", ()), ExitCode.ERROR),
        (errors.CloudBroke("placement", "down"), ExitCode.ERROR),
        (errors.BadUsage("--exit-code requires --dry-run"), ExitCode.USAGE),
        (errors.Refusal("ImageNUMATopology", "some-rule"), ExitCode.NO_HOST),
        (errors.NotForProject("flavor", "gold"), ExitCode.NO_HOST),
        (errors.PlacementRefuses("No such trait(s)"), ExitCode.NO_HOST),
        (effects.LeavesNoHost(()), ExitCode.REFUSED),
        (traits.LastHolder({}), ExitCode.REFUSED),
    ],
)
def test_the_class_of_an_error_decides(error, code):
    assert base.of_error(error) is code


def test_the_codes_are_those_that_scripts_know():
    assert {code.name: code.value for code in ExitCode} == {
        "DONE": 0,
        "ERROR": 1,
        "USAGE": 2,
        "NO_HOST": 3,
        "DISAGREEMENT": 4,
        "REFUSED": 5,
        "DIFFERS": 6,
        "FINDINGS": 7,
        "UNKNOWN": 8,
        "INTERRUPTED": 130,
    }


@pytest.mark.parametrize("way", ["option", "variable"])
def test_a_wrapper_gets_0_for_answers_and_still_sees_errors(
    way, cloud, trait_sched, monkeypatch
):
    cloud.flavor("odd", CUSTOM_NONE="required")
    cloud.flavor("silver", CUSTOM_SILVER="required")
    cloud.gives("CUSTOM_SILVER", "cmp02")
    codes = {
        ("explain", "odd", "-"): ExitCode.NO_HOST,
        ("capacity", "small", "--at-least", "99999"): ExitCode.FINDINGS,
        ("explain", "none", "-"): ExitCode.ERROR,
        ("explain",): ExitCode.USAGE,
        ("remove", "CUSTOM_SILVER", "--all"): ExitCode.REFUSED,
    }
    assert {words: trait_sched(*words).code for words in codes} == codes
    more = ["--exit-zero"] if way == "option" else []
    monkeypatch.setenv("TRAITSCHED_EXIT_ZERO", str(int(way == "variable")))
    answers = (ExitCode.NO_HOST, ExitCode.FINDINGS)
    for words, code in codes.items():
        assert trait_sched(*words, *more).code == (0 if code in answers else code)


# openstack trait-sched alone, and with a command that there is not.


OWN = "trait-sched"


def test_every_command_is_in_one_group_with_a_line():
    names = [name for group in overview.GROUPS.values() for name in group]
    assert sorted(f"{OWN} {name}" for name in names) == examples.verbs()


@pytest.mark.parametrize("words", ["", "--help"])
@pytest.mark.parametrize("name", [OWN, "sched"])
def test_alone_it_lists_what_people_use_on_a_screen(name, words):
    done = shell.run({}, name, *words.split())
    assert (done.code, done.err) == (0, "")
    rows = done.out.splitlines()
    assert len(rows) < 25
    assert [row for row in rows if row.startswith("  ")] == overview._lines(
        name
        for group in overview.GROUPS.values()
        for name in group
        if name in overview.USUAL
    )
    assert {f"{group}:" for group in overview.GROUPS} <= {*rows}


def test_all_of_them_fit_80_columns():
    done = shell.run({}, OWN, "--all")
    named = [line for line in done.out.splitlines() if line.startswith("  ")]
    assert len(named) == len(examples.verbs())
    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("explane small raw --long", "explain"),
        ("server explian web-1", "server explain"),
        ("server", "server explain"),
        ("drain cmp01", "host drain"),
        ("chek", "check"),
        ("misplaced -f json", "server misplaced"),
    ],
)
def test_a_mistyped_command_is_answered_with_the_nearest(typed, meant):
    done = shell.run({}, OWN, *typed.split())
    assert (done.code, done.out) == (2, "")
    first, *others = done.err.splitlines()
    assert first.endswith("; did you mean one of these?")
    assert any(line.startswith(f"  {meant} ") for line in others)
    assert 1 <= len(others) <= 6


def test_what_is_like_none_is_answered_with_what_people_use():
    done = shell.run({}, OWN, "\x1b[2Jxyzzy")
    assert done.code == 2
    assert f"All: openstack {OWN} --all" in done.err
    assert len(done.err.splitlines()) <= 25
    assert "\x1b" not in done.err


@pytest.mark.parametrize("typed", ["trait", "trait lst", "tr"])
def test_the_beginning_of_our_name_is_not_ours(typed):
    """Cliff takes it for the only command of one word that begins so."""
    done = shell.run({}, *typed.split())
    first, *others = done.err.splitlines()
    assert (done.code, done.out) == (2, "")
    assert first == f"openstack: '{typed}' is not an openstack command"
    assert f"  {OWN} explain" in others
    assert not any("-commands" in line for line in others)


def test_every_command_has_its_short_name_which_help_does_not_repeat():
    points = metadata.distribution("osc-traitsched").entry_points
    commands = {each.name: each for each in points.select(group="openstack.extension")}
    long = {name: each.value for name, each in commands.items() if name[0] == "t"}
    short = {
        f"trait-{name}": each.value for name, each in commands.items() if name[0] == "s"
    }
    assert short == long
    done = shell.run({}, "sched", "explain", "--help")
    assert (done.code, done.err) == (0, "")
    assert " sched explain [OPTIONS] [FLAVOR] [IMAGE]" in done.out
    app = types.SimpleNamespace(command_manager=types.SimpleNamespace(namespace="none"))
    for name, point in commands.items():
        made = point.load()(app, None, cmd_name=name.replace("_", " "))
        is_shown = name.startswith("trait-sched_")
        assert made.deprecated == (not is_shown)


# An answer that needs what the user may not read is unknown: exit 8.


FORBIDDEN = Forbidden("compute", "no", "project", ("reader",))


@pytest.fixture
def denied(cloud, monkeypatch):
    """Let Nova deny some reads to the user."""
    read = cloud.compute_get

    def deny(*denied, problem=FORBIDDEN):
        def checked(parts, params):
            if parts[0] in denied:
                raise problem
            return read(parts, params)

        monkeypatch.setattr(cloud, "compute_get", checked)

    return deny


def test_a_denied_list_is_unknown_and_a_broken_service_an_error(denied, trait_sched):
    denied("os-aggregates")
    assert trait_sched("check").code == 8
    assert trait_sched("check", "--exit-zero").code == 8
    denied("os-aggregates", problem=CloudBroke("compute", "broken", 500))
    assert trait_sched("check").code == 1


def test_an_answer_without_what_was_denied_is_unknown(denied, cloud, trait_sched):
    denied("servers")
    done = trait_sched("host", "show", "cmp00")
    assert done.code == 8
    assert trait_sched("host", "show", "cmp00", "--exit-zero").code == 0
    assert "Not read, for lack of rights: servers of other projects" in done.err


def test_a_write_is_an_error_where_a_list_is_denied(denied, trait_sched):
    denied("os-aggregates")
    isolate = ("isolate", "gold", "CUSTOM_GOLD")
    assert trait_sched(*isolate).code == 1
    assert trait_sched(*isolate, "--dry-run").code == 8


def test_only_a_lack_of_rights_is_noted(cloud):
    service.note_unread(cloud, "lists", CloudBroke("compute", "broken", 500))
    assert service.unread(cloud) == []
    service.note_unread(cloud, "lists", FORBIDDEN)
    assert service.unread(cloud) == ["lists"]
