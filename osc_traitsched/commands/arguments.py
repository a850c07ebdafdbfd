"""What can be wrong with any argument, whatever it is for."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator
from typing import Any

from osc_traitsched.core.errors import BadUsage
from osc_traitsched.text import quoted, visible

_NO_VALUE = "expected one argument"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Have usage errors said visibly, as argparse quotes what it was given.

    The options that are added from now on refuse ``--option=--``.
    """
    parser.register("action", None, _Store)
    parser.register("action", "append", _Append)
    error = parser.error
    # cliff makes the parser, of a class of its own.
    vars(parser)["error"] = lambda message: error(visible(message))


class _Store(argparse.Action):
    """Keeps a value; for ``--option=--`` Python before 3.13 gives an empty list."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Keep the value, or end with a usage error."""
        if self.option_strings and values in ([], "--"):
            raise argparse.ArgumentError(self, _NO_VALUE)
        self.keep(namespace, values)

    def keep(self, namespace: argparse.Namespace, value: Any) -> None:
        setattr(namespace, self.dest, value)


class _Append(_Store):
    """Keeps all values that are given."""

    def keep(self, namespace: argparse.Namespace, value: Any) -> None:
        before = getattr(namespace, self.dest) or []
        setattr(namespace, self.dest, [*before, value])


def some(text: str) -> str:
    """A text that is not empty, for argparse.

    An empty one is a variable of a script that is not set.
    """
    if not text:
        raise argparse.ArgumentTypeError("it is empty")
    return text


def some_file(text: str) -> str:
    """What names a file, for argparse, where standard input is for others."""
    if text == "-":
        raise argparse.ArgumentTypeError(
            "name a file; - stands for standard input among the FILEs alone"
        )
    return some(text)


def check_text(args: argparse.Namespace) -> None:
    """Accept only what is text.

    :raises BadUsage: for bytes that are not UTF-8, as Python keeps them
    """
    for text in _texts(list(vars(args).values())):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise BadUsage(f"not UTF-8: {quoted(text)}") from None


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)


def check_columns(args: argparse.Namespace, known: Collection[str]) -> None:
    """Accept only columns that there are.

    :raises BadUsage: for another one
    """
    for name in args.columns:
        if name.strip().lower().replace(" ", "_") not in known:
            there_are = ", ".join(known)
            raise BadUsage(f"no column {quoted(name)}; there are {there_are}")
