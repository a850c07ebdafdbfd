"""Which hosts a command is about: the options."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Iterator

from osc_traitsched.commands import arguments
from osc_traitsched.config import file
from osc_traitsched.core.errors import BadConfiguration, BadHostFile, BadUsage
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.selection import Selectors

_STDIN = "-"
# What editors of Windows begin a text with.
_BOM = "\ufeff"


def add_host_options(parser: argparse.ArgumentParser) -> None:
    """Add the selectors that every command has."""
    group = parser.add_argument_group(
        "hosts", "Hosts that match any of these options; each can be repeated."
    )
    _repeated(
        group,
        "--host",
        "PATTERN",
        "a resource provider's name or UUID, a Nova service host's name, or a "
        "glob such as 'cmp-1*'",
    )
    _repeated(group, "--aggregate", "AGGREGATE", "a host aggregate: name, ID or UUID")
    _repeated(group, "--availability-zone", "ZONE", "an availability zone")
    narrowed = parser.add_argument_group(
        "narrowing", "Of these hosts, only those that match all of these options."
    )
    _repeated(narrowed, "--with-trait", "TRAIT", "only hosts that have the trait")
    _repeated(narrowed, "--without-trait", "TRAIT", "only hosts that lack the trait")


def add_target_options(parser: argparse.ArgumentParser) -> None:
    """Add the selectors of a command that writes; it needs at least one."""
    add_host_options(parser)
    group = parser.add_argument_group("more hosts")
    _repeated(
        group,
        "--provider",
        "PROVIDER",
        "a resource provider anywhere in a tree: name or UUID",
    )
    group.add_argument(
        "--host-file",
        type=arguments.some,
        metavar="FILE",
        help="a file with one --host pattern a line, or - for standard input; "
        "empty lines and lines that start with # are ignored",
    )
    group.add_argument("--all", action="store_true", help="every host")


def selectors(args: argparse.Namespace) -> Selectors:
    """Return what the options select; all hosts where they name none.

    :raises MalformedTrait: for an option that names no trait
    """
    named = bool(args.hosts or args.aggregates or args.availability_zones)
    return Selectors(
        hosts=tuple(args.hosts),
        aggregates=tuple(args.aggregates),
        zones=tuple(args.availability_zones),
        everything=not named,
        having=frozenset(trait.parse(args.with_traits)),
        lacking=frozenset(trait.parse(args.without_traits)),
    )


def target_selectors(args: argparse.Namespace) -> Selectors:
    """Return what the options of a writing command select.

    :raises BadUsage: when they select nothing
    :raises MalformedTrait: for an option that names no trait
    :raises BadHostFile: when the host file can't be read or has no names
    """
    hosts = tuple(args.hosts)
    if args.host_file is not None:
        hosts += tuple(_read(args.host_file))
    found = dataclasses.replace(
        selectors(args),
        hosts=hosts,
        providers=tuple(args.providers),
        everything=args.all,
    )
    if not found.names_any:
        raise BadUsage(
            "name the hosts: --host, --host-file, --provider, --aggregate, "
            "--availability-zone or --all"
        )
    return found


def _repeated(
    group: argparse._ArgumentGroup, flag: str, metavar: str, text: str
) -> None:
    name = flag.strip("-").replace("-", "_") + "s"
    group.add_argument(
        flag, dest=name, metavar=metavar, action="append", default=[], help=text
    )


def _read(path: str) -> Iterator[str]:
    text = _standard_input() if path == _STDIN else _text(path)
    lines = (line.strip() for line in text.removeprefix(_BOM).splitlines())
    names = [line for line in lines if line and not line.startswith("#")]
    if not names:
        raise BadHostFile(path, "names no host")
    if any("\0" in name for name in names):
        raise BadHostFile(path, "not a text file (it has NUL characters)")
    yield from names


def _text(path: str) -> str:
    try:
        return file.read(path)
    except BadConfiguration as exc:
        raise BadHostFile(path, exc.reason) from exc


def _standard_input() -> str:
    if sys.stdin is None:
        raise BadHostFile(_STDIN, "standard input is closed")
    try:
        text = sys.stdin.read(file.MOST + 1)
    except OSError as exc:
        raise BadHostFile(_STDIN, exc.strerror or str(exc)) from exc
    except UnicodeDecodeError as exc:
        raise BadHostFile(_STDIN, "not a text file (UTF-8)") from exc
    if len(text) > file.MOST:
        raise BadHostFile(_STDIN, file.TOO_LARGE)
    return text
