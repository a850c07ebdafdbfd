"""The help of a command: the options that people use first, or all of them."""

from __future__ import annotations

import argparse
import copy
import functools
import itertools
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from cliff.help import HelpExit

#: A short help fits a terminal of 80x24, with a line of the shell below.
_MOST_ROWS = 23

#: Groups that many commands share, and those of their options that people use first.
_SHARED_GROUPS = {
    "request": ("project", "availability_zone"),
    "custom filters": (),
    "scheduler": ("nova_conf",),
    "output formatters": ("formatter",),
    "csv formatter": (),
    "json formatter": (),
    "table formatter": (),
}

#: Options of a command's own that people use, but not first.
_LATER = ("force", "snapshot", "ratios")
#: Options of a command's own that people seldom use.
_SELDOM = (
    *("help", "help_all", "timeout", "exit_zero", "exit_code", "jobs"),
    *("flavor_option", "image_option", "project_domain", "fixes"),
)


class _ShowAll(argparse.Action):
    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, *_: Any
    ) -> None:
        """Print the help with all options, and parse nothing more."""
        sys.stdout.write(_whole(parser))
        raise HelpExit


def shorten(parser: argparse.ArgumentParser) -> None:
    """Let ``--help`` show the options that people use first, and add ``--help-all``.

    :param parser: with all other options
    """
    for action in parser._actions:
        if action.dest in ("format", "formatter") and action.choices:
            # A list of choices does not fit 80 columns, and argparse cuts none.
            action.metavar = "FORMAT"
        if action.dest == "formatter" and action.choices:
            action.help = f"{action.help}: {', '.join(sorted(action.choices))}"
    formatter_class: Any = parser.formatter_class
    own = {"_fill_text": _fill, "_format_action_invocation": _names}
    filling: Any = type("Filling", (formatter_class,), own)
    parser.formatter_class = filling
    required = [each for each in parser._get_optional_actions() if each.required]
    positionals = parser._get_positional_actions()
    options = argparse.Action(["OPTIONS"], "", nargs=0)
    formatter = parser._get_formatter()
    formatter.add_usage(None, [options, *required, *positionals], [], prefix="")
    parser.usage = formatter.format_help().strip().replace("%", "%%")
    parser.add_argument(
        "--help-all", action=_ShowAll, nargs=0, help="show all options and exit"
    )
    vars(parser)["format_help"] = lambda: _short(parser)
    vars(parser)["parse_args"] = functools.partial(_parse, parser.parse_args)


def _parse(parse: Callable[..., argparse.Namespace], *arguments: Any) -> Any:
    """Parse, or say that it was help: to cliff before 4.0 an exit is an error."""
    try:
        return parse(*arguments)
    except HelpExit:
        return argparse.Namespace(help_all=True)


def _whole(parser: argparse.ArgumentParser) -> str:
    """A command's own options, then the scheduler's, then cliff's."""
    titles = list(_SHARED_GROUPS)

    def place(group: argparse._ArgumentGroup) -> int:
        title = (group.title or "").lower()
        return titles.index(title) + 1 if title in titles else 0

    parser._action_groups.sort(key=place)
    return type(parser).format_help(parser)


def _short(parser: argparse.ArgumentParser) -> str:
    shown = [copy.copy(action) for action in _first(parser)]
    for action in shown:
        action.help = re.split(r"; | \(", action.help or "")[0]
    while True:
        formatter = parser._get_formatter()
        formatter.add_usage(parser.usage, [], [])
        formatter.add_text((parser.description or "").partition("\n\n")[0])
        formatter.start_section(None)
        formatter.add_arguments(shown)
        formatter.end_section()
        examples = re.findall(r"(?m)^  openstack (?:.*\\\n)*.*", parser.epilog or "")
        formatter.add_text("\n".join(["Example:", *examples[:1]]))
        formatter.add_text(f"All options: {parser.prog} --help-all")
        text = formatter.format_help()
        if text.count("\n") <= _MOST_ROWS or not shown:
            return text
        shown.pop()


def _first(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """A command's arguments and own options, then those of shared groups."""
    shared, later = [], []
    for group in parser._action_groups:
        usual = _SHARED_GROUPS.get((group.title or "").lower())
        for action in group._group_actions:
            if action.dest in _LATER:
                later.append(action)
            elif usual is None and action.dest not in _SELDOM:
                yield action
            elif usual and action.dest in usual:
                shared.append((usual.index(action.dest), action))
    in_order = (each for _, each in sorted(shared, key=lambda each: each[0]))
    yield from (*in_order, *later)


def wrapped(line: str) -> str:
    """An example, indented, on as many lines of a shell as 80 columns need."""
    rows = textwrap.wrap(
        line,
        78,
        initial_indent="  ",
        subsequent_indent="    ",
        break_on_hyphens=False,
        break_long_words=False,
    )
    return " \\\n".join(rows)


def _names(formatter: Any, action: argparse.Action) -> str:
    """``-f, --format FORMAT``: the value once, as Python 3.13 shows it."""
    names: str = super(type(formatter), formatter)._format_action_invocation(action)
    return re.sub(r"^(-\w) \S+, ", r"\1, ", names)


def _fill(formatter: Any, text: str, width: int, indent: str) -> str:
    """Fill paragraphs to the width; keep indented lines, such as examples."""
    rows: list[str] = []
    groups = itertools.groupby(text.splitlines(), lambda row: row[:2] in ("", "  "))
    for is_kept, lines in groups:
        rows += lines if is_kept else textwrap.wrap(" ".join(lines), width)
    return textwrap.indent("\n".join(rows), indent)
