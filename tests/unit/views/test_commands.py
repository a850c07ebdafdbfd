"""Printed commands say to a shell what was meant, whatever things are named."""

from __future__ import annotations

import argparse
import random
import shlex
import shutil
import subprocess
import types

import pytest
from openstackclient import shell

from osc_traitsched import paste
from osc_traitsched.commands.isolation import UnisolateAggregate
from osc_traitsched.commands.trait import AddTraits
from osc_traitsched.paste import Option, line, openstack, printable
from osc_traitsched.text import visible

NAMES = 10_000
ALPHABET = [
    *"abAZ09 .,:;_+@%/\\|&<>()[]{}*?!#~^=-'\"`$",
    *"äß黄金ذهبसो👍\u3000\u0301",
    *("$(id)", "`id`", "${HOME}", "--", "-x", "'\"'", "\\'", "&&", ">x", "!!", "=ls"),
]
HIDDEN = [*"\n\t\r\x1b\x07\x9b\u202e\u2066\u200b\u2028\ud800\ue000", "\nopenstack "]
KNOWN = ["", "-", "--", "---", "--force", "-h", "--os-cloud=x", "=ls", "a=b", "~", "!1"]
ID = "c0000001-0000-4000-8000-000000000000"

#: Prints each argument of ``openstack``, with its end.
REPEATER = """openstack() { for each in "$@"; do printf '%s\\0' "$each"; done; }"""


def names():
    dice = random.Random(17)
    return [*KNOWN, *(made(dice) for _ in range(NAMES))]


def made(dice):
    hidden = dice.choices(HIDDEN, k=dice.randint(0, 9) // 9)
    parts = [*dice.choices(ALPHABET, k=dice.randint(1, 12)), *hidden]
    dice.shuffle(parts)
    return "".join(parts)


PAIRS = list(zip(names(), reversed(names())))


def adding(name):
    return openstack(
        "trait-sched add", "CUSTOM_A", Option("--host", name), Option("--all")
    )


def opening(name, other):
    return openstack("trait-sched unisolate", Option("--force"), name, other)


def of_cloud(name, other):
    return Option("--os-cloud", name), Option("--os-region-name", other)


def printed():
    for name, other in PAIRS:
        lines = [line(adding(name)), line(opening(name, other))]
        assert all(lines) or not all(map(paste.is_printable, (name, other)))
        yield from filter(None, lines)


@pytest.fixture(scope="module")
def parsers():
    app = types.SimpleNamespace(command_manager=types.SimpleNamespace(namespace="none"))
    nothing = argparse.Namespace()
    return {
        "add": AddTraits(app, nothing).get_parser("add"),
        "unisolate": UnisolateAggregate(app, nothing).get_parser("unisolate"),
    }


@pytest.fixture(scope="module")
def of_openstack():
    """The parser of global options, which sees every word first."""
    return shell.OpenStackShell().parser


def test_the_command_gets_the_very_names(parsers):
    for name, other in PAIRS:
        for text, wanted in [
            (
                line(adding(name)),
                {"hosts": [name], "traits": ["CUSTOM_A"], "all": True},
            ),
            (
                line(opening(name, other)),
                {"aggregate": name, "traits": [other], "force": True},
            ),
        ]:
            # No command takes an empty name.
            if text and name and other:
                _, _, verb, *arguments = shlex.split(text)
                found = parsers[verb].parse_args(arguments)
                assert {key: getattr(found, key) for key in wanted} == wanted, text


def test_no_name_is_taken_for_a_global_option_and_those_are_the_very_ones(
    parsers, of_openstack
):
    # That parser is slow.
    for name, other in PAIRS[:: NAMES // 500]:
        text = line(opening(name, other), of_cloud(other, name))
        if text and name and other:
            given, rest = of_openstack.parse_known_args(shlex.split(text)[1:])
            assert (given.cloud, given.region_name) == (other, name)
            found = parsers["unisolate"].parse_args(rest[2:])
            assert (found.aggregate, found.traits) == (name, [other]), text


@pytest.mark.parametrize("program", ["sh", "bash", "zsh"])
def test_a_shell_gives_the_command_the_very_words(program):
    if shutil.which(program) is None:
        pytest.skip(f"no {program} here")
    lines = list(printed())
    assert len(lines) > 1.5 * NAMES
    for first in range(0, len(lines), 2000):
        batch = lines[first : first + 2000]
        script = "\n".join([REPEATER, *batch, ""]).encode()
        done = subprocess.run([program], input=script, capture_output=True, check=True)
        wanted = [word for text in batch for word in shlex.split(text)[1:]]
        assert done.stdout.decode().split("\0")[:-1] == wanted
        assert done.stderr == b""


def test_every_command_is_one_line_that_can_be_seen():
    for text in printed():
        assert visible(text) == text


def test_what_can_not_be_printed_is_meant_by_its_id():
    for name in names():
        if visible(name) != name:
            assert printable(name, ID) == ID
            assert line(openstack("trait-sched unisolate", name)) == ""
        elif name != "--":
            assert printable(name, ID) == name


def test_another_program_does_not_get_the_options_of_openstack():
    command = paste.Command("placement sync_aggregates", program="nova-manage")
    assert line(command, [Option("--os-cloud", "prod")]) == (
        "nova-manage placement sync_aggregates"
    )


@pytest.mark.parametrize(
    ("cloud", "region", "said"),
    [
        ("prod", "", "Of cloud prod:"),
        ("", "west", "Of region west:"),
        ("prod", "west", "Of cloud prod, region west:"),
    ],
)
def test_an_answer_names_what_it_is_of(cloud, region, said):
    assert paste.where(cloud, region) == said
