"""Commands to paste: each is built, and quoted for a shell, here."""

from __future__ import annotations

import argparse
import dataclasses
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Union

from osc_traitsched.text import visible


@dataclasses.dataclass(frozen=True)
class Placeholder:
    """What a person has to put into a command; ``name`` is in capital letters.

    It stands in angle brackets. To a shell they are redirections, from a file that does
    not exist: pasted as it is, the command does not run.
    """

    name: str


@dataclasses.dataclass(frozen=True)
class Option:
    """An option of a command; the value is None if it takes none."""

    name: str
    value: str | Placeholder | None = None


#: What a command is about, or an option of it.
Part = Union[str, Placeholder, Option]


@dataclasses.dataclass(frozen=True)
class Command:
    """A command to paste, not quoted yet.

    :ivar verb: the words that choose it, such as ``trait-sched add``
    :ivar parts: names and options, in their order
    :ivar comment: what to know before it is run; may be empty
    """

    verb: str
    parts: tuple[Part, ...] = ()
    comment: str = ""
    program: str = "openstack"


def openstack(verb: str, *parts: Part, comment: str = "") -> Command:
    """Return a command of ``openstack``."""
    return Command(verb, parts, comment)


def is_printable(name: str) -> bool:
    """Whether a name can stand in a printed command: argparse drops ``--``."""
    return visible(name) == name != "--"


def printable(name: str, identity: str) -> str:
    """Return a name, or the ID where the name can't be printed."""
    return name if is_printable(name) else identity


#: Global options of the login that do not begin with ``--os-``.
_LOGIN = frozenset({"--insecure", "--verify"})

#: Global options that do not choose a cloud or a user, and how names of secrets end.
_NOT_REPEATED = re.compile(
    r"--os-(.*-api-version|beta-command|profile|.+-key|"
    r"(.*-)?(password|passcode|token|secret|code|passphrase))"
)

#: A URL with a password in it.
_PASSWORD_IN_URL = re.compile(r"//[^/]*:[^/]*@")


def login_options(
    parser: argparse.ArgumentParser, given: argparse.Namespace
) -> tuple[Option, ...]:
    """Global options of a login that are not the parser's defaults, without secrets."""
    found = []
    for action in parser._actions:
        flag, *_ = (*action.option_strings, "")
        value = getattr(given, action.dest, None)
        is_login = flag.startswith("--os-") or flag in _LOGIN
        if not is_login or _NOT_REPEATED.fullmatch(flag):
            continue
        is_given = value and value != parser.get_default(action.dest)
        if is_given and not _PASSWORD_IN_URL.search(str(value)):
            found.append(Option(flag, None if value is True else str(value)))
    # The plugins add their options in any order.
    return tuple(sorted(found, key=lambda option: option.name))


def line(command: Command, options: Sequence[Option] = ()) -> str:
    """A command as a shell takes it; empty if it can't be printed.

    :param options: global ones, without which it would run against another cloud
    """
    given = tuple(options) if command.program == "openstack" else ()
    if not all(map(is_printable, _names((*given, *command.parts)))):
        return ""
    program = [command.program, *_words(given), *command.verb.split()]
    return " ".join([*program, *_arguments(command.parts)])


#: A command in a message: on a line of its own, indented, or after a colon.
_IN_TEXT = re.compile(
    r"(?m)(^|: |  |\()openstack(?= (?:trait-sched|aggregate|compute|flavor|image|"
    r"resource|server|trait|volume) )"
)


def repeating(text: str, options: Sequence[Option]) -> str:
    """A message with the options in each command of ``openstack`` that lacks them."""
    given = " ".join(["openstack", *_words(options)])
    return _IN_TEXT.sub(lambda match: match[1] + given, text)


def _names(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        name = part.value if isinstance(part, Option) else part
        if isinstance(name, str):
            yield name


def _arguments(parts: Sequence[Part]) -> list[str]:
    options = [part for part in parts if isinstance(part, Option)]
    names = [part for part in parts if not isinstance(part, Option)]
    if not any(isinstance(name, str) and name.startswith("-") for name in names):
        return list(_words(parts))
    # Else a name would be taken for an option.
    return [*_words(options), "--", *_words(names)]


def _words(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        if not isinstance(part, Option):
            yield _quoted(part)
        elif part.value is None:
            yield part.name
        elif isinstance(part.value, str) and part.value.startswith("-"):
            yield _quoted(f"{part.name}={part.value}")
        else:
            yield from (part.name, _quoted(part.value))


def _quoted(word: str | Placeholder) -> str:
    if isinstance(word, Placeholder):
        return f"<{word.name}>"
    quoted = shlex.quote(word)
    # Else zsh would look for a program of the name.
    return f"'{quoted}'" if quoted.startswith("=") else quoted


def where(cloud: str, region: str) -> str:
    """The line that names the cloud and region of an answer; both may be empty."""
    named = (("cloud", cloud), ("region", region))
    return "Of " + ", ".join(f"{what} {name}" for what, name in named if name) + ":"
