"""Options that several commands share, and host selectors."""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import itertools
import operator
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from osc_traitsched.app import snapshot
from osc_traitsched.config import document, saved
from osc_traitsched.config.saved import Places
from osc_traitsched.config.sources import SettingsSources, deployment_sources, ranked
from osc_traitsched.core.errors import BadConfiguration, BadUsage
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import Selectors
from osc_traitsched.paste import Option
from osc_traitsched.text import quoted, unfolded, visible

# Options as values.

#: Adds an option, or several, to a parser or a group.
Adder = Callable[[Any], object]


def option(*flags: str, **settings: Any) -> Adder:
    """An option or argument; all as ``add_argument`` takes it."""
    return operator.methodcaller("add_argument", *flags, **settings)


def flag(*flags: str, **settings: Any) -> Adder:
    """An option without a value."""
    return option(*flags, action="store_true", **settings)


def repeatable(flag: str, **settings: Any) -> Adder:
    """An option whose values make a list."""
    return option(flag, action="append", default=[], **settings)


def group(title: str, about: str, *options: Adder) -> Adder:
    """Options below a title, and what it says of them."""

    def add(parser: argparse.ArgumentParser) -> None:
        added = parser.add_argument_group(title, about or None)
        for each in options:
            each(added)

    return add


def intermixed(parser: argparse.ArgumentParser) -> None:
    """Let arguments stand on both sides of an option."""
    # cliff makes the parser.
    vars(parser)["parse_args"] = parser.parse_intermixed_args


# Checks of any argument.


_NO_VALUE = "expected one argument"

#: The environment variable with the path of a snapshot.
SNAPSHOT = "TRAITSCHED_SNAPSHOT"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Show usage errors in one line, with control characters made visible.

    Options and arguments added from now on reject ``--option=--`` and empty texts.
    """
    parser.register("action", None, _Store)
    parser.register("action", "append", _Append)
    # cliff makes the parser, of a class of its own. The usage would hide the error.
    vars(parser)["error"] = lambda message: parser.exit(
        2, f"{parser.prog}: error: {visible(message)}\n"
    )


class _Store(argparse.Action):
    """Stores a value; Python before 3.13 gives an empty list for ``--option=--``."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        if self.option_strings and values in ([], "--"):
            raise argparse.ArgumentError(self, _NO_VALUE)
        # An unset variable of a script leaves an empty text.
        if "" in (values if isinstance(values, list) else [values]):
            raise argparse.ArgumentError(self, "it is empty")
        self.keep(namespace, values)

    def keep(self, namespace: argparse.Namespace, value: Any) -> None:
        setattr(namespace, self.dest, value)


class _Append(_Store):
    def keep(self, namespace: argparse.Namespace, value: Any) -> None:
        before = getattr(namespace, self.dest) or []
        setattr(namespace, self.dest, [*before, value])


_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


def period(text: str) -> datetime.timedelta:
    """A span of time, for argparse: ``30m``, ``24h`` or ``7d``."""
    number, unit = text[:-1], text[-1:]
    if not number.isdecimal() or len(number) > _LONGEST_PERIOD or unit not in _UNITS:
        raise argparse.ArgumentTypeError(f"not a time such as 24h: {text}")
    return datetime.timedelta(**{_UNITS[unit]: int(number)})


_LONGEST_PERIOD = 5


def some_file(text: str) -> str:
    """A file name, for an option that does not read standard input."""
    if text == "-":
        raise argparse.ArgumentTypeError(
            "name a file; - stands for standard input among the FILEs alone"
        )
    return text


def check_text(args: argparse.Namespace) -> None:
    """Reject bytes that are not UTF-8 (surrogates in Python); raises BadUsage."""
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
    """Reject unknown columns; raises BadUsage."""
    plain = {_column(each) for each in known}
    for name in args.columns:
        if _column(name) not in plain:
            there_are = ", ".join(known)
            raise BadUsage(f"no column {quoted(name)}; there are {there_are}")


def _column(name: str) -> str:
    """As cliff compares it."""
    return name.strip().lower().replace(" ", "_")


# Host selectors.


_STDIN = "-"
# Editors of Windows begin a text with it.
_BOM = "\ufeff"

#: Between two names, and not in the brackets of a glob.
_COMMA = re.compile(r",(?![^\[]*\])")


def _selector(flag: str, metavar: str, words: str) -> Adder:
    name = flag.strip("-").replace("-", "_") + "s"
    return repeatable(flag, dest=name, metavar=metavar, help=words)


#: The selectors that every command has.
HOSTS = (
    group(
        "hosts",
        "Hosts that match any of these options; each can be repeated.",
        _selector(
            "--host",
            "PATTERN",
            "a host: its name in Nova or Placement, its UUID, a glob such as "
            "'cmp-1*', or a range such as cmp[00-05]; several with commas in between",
        ),
        _selector("--aggregate", "AGGREGATE", "a host aggregate: name, ID or UUID"),
        _selector("--availability-zone", "ZONE", "an availability zone"),
    ),
    group(
        "narrowing",
        "Of these hosts, only those that match all of these options.",
        _selector("--with-trait", "TRAIT", "only hosts that have the trait"),
        _selector("--without-trait", "TRAIT", "only hosts that lack the trait"),
    ),
)

#: The selectors of a command that writes; it needs at least one.
_TARGETS = (
    *HOSTS,
    group(
        "more hosts",
        "",
        _selector(
            "--provider",
            "PROVIDER",
            "a resource provider anywhere in a tree: name or UUID",
        ),
        option(
            "--host-file",
            metavar="FILE",
            help="a file with one --host pattern a line, or - for standard input; "
            "empty lines and lines that start with # are ignored",
        ),
        flag("--skip-unknown", help="skip hosts that do not exist; they are named"),
        flag("--all", help="every host"),
    ),
)


def traits_and_hosts(verb: str) -> tuple[Adder, ...]:
    """The traits that a command writes, with hosts among them, and selectors."""
    traits = option(
        "traits",
        metavar="TRAIT|HOST",
        nargs="+",
        help=f"a trait to {verb}; a name with other characters than A-Z, 0-9 and _ is "
        "a host, as with --host",
    )
    return traits, intermixed, *_TARGETS


def split_hosts(args: argparse.Namespace) -> tuple[str, ...]:
    """The traits that are named; the hosts among them become those of ``--host``.

    :raises BadQuestion: if none is a trait, or for a trait in lower case
    """
    words = hosts(args.traits)
    if any(map(trait.is_wellformed, words)):
        args.hosts = [*args.hosts, *(each for each in words if trait.is_no_trait(each))]
        words = tuple(each for each in words if not trait.is_no_trait(each))
    return trait.parse(words)


def names(text: str) -> list[str]:
    """The names in a list with commas."""
    return [each for each in _COMMA.split(text) if each] or [text]


def hosts(texts: Iterable[str]) -> tuple[str, ...]:
    """The hosts and patterns in lists with commas and in ranges, as answers name them.

    ``cmp[00-02], cmp07`` are four hosts.
    """
    listed = itertools.chain.from_iterable(map(names, texts))
    return tuple(host for each in listed for host in unfolded(each.lstrip(" ")))


def selectors(args: argparse.Namespace) -> Selectors:
    """Selectors from the options; all hosts if they name none.

    :raises BadQuestion: for an option that is not a trait name
    """
    named = bool(args.hosts or args.aggregates or args.availability_zones)
    return Selectors(
        hosts=hosts(args.hosts),
        aggregates=tuple(args.aggregates),
        zones=tuple(args.availability_zones),
        everything=not named,
        having=frozenset(trait.parse(args.with_traits)),
        lacking=frozenset(trait.parse(args.without_traits)),
    )


def target_selectors(args: argparse.Namespace) -> Selectors:
    """Selectors from the options of a writing command.

    :raises BadUsage: if they select nothing
    :raises BadQuestion: for an option that is not a trait name
    :raises BadConfiguration: if the host file can't be read or has no names
    """
    named = hosts(args.hosts)
    if args.host_file is not None:
        named += hosts(_read(args.host_file))
    found = dataclasses.replace(
        selectors(args),
        hosts=named,
        providers=tuple(args.providers),
        everything=args.all,
        skips_unknown=args.skip_unknown,
    )
    if not found.names_any:
        raise BadUsage(
            "name the hosts: HOST, --host, --host-file, --provider, --aggregate, "
            "--availability-zone or --all"
        )
    return found


def _read(path: str) -> Iterator[str]:
    text = _standard_input() if path == _STDIN else _text(path)
    lines = (line.strip() for line in text.removeprefix(_BOM).splitlines())
    names = [line for line in lines if line and not line.startswith("#")]
    if not names:
        raise _bad_hosts(path, "names no host")
    if any("\0" in name for name in names):
        raise _bad_hosts(path, "not a text file (it has NUL characters)")
    yield from names


def _text(path: str) -> str:
    try:
        return document.read_text(path)
    except BadConfiguration as exc:
        raise _bad_hosts(path, exc.reason) from exc


def _standard_input() -> str:
    if sys.stdin is None:
        raise _bad_hosts(_STDIN, "standard input is closed")
    try:
        text = sys.stdin.read(document.MOST + 1)
    except OSError as exc:
        raise _bad_hosts(_STDIN, exc.strerror or str(exc)) from exc
    except UnicodeDecodeError as exc:
        raise _bad_hosts(_STDIN, "not a text file (UTF-8)") from exc
    if len(text) > document.MOST:
        raise _bad_hosts(_STDIN, document.TOO_LARGE)
    return text


def _bad_hosts(path: str, reason: str) -> BadConfiguration:
    return BadConfiguration(f"host file {path}", None, reason)


# Other allocation ratios.


#: What people call the resource classes of a flavor's sizes.
_CLASSES = {"CPU": "VCPU", "RAM": "MEMORY_MB", "DISK": "DISK_GB"}


def _ratio(text: str) -> snapshot.Ratio:
    found = re.fullmatch(r"(?:(.+):)?(\w+)=(\d+(?:\.\d+)?)", text)
    if found is None or not float(found[3]):
        raise argparse.ArgumentTypeError(f"not CLASS=RATIO, as VCPU=1.5: {text}")
    name = found[2].upper()
    return snapshot.Ratio(found[1] or "", _CLASSES.get(name, name), float(found[3]))


RATIO = repeatable(
    "--ratio",
    dest="ratios",
    metavar="[WHERE:]CLASS=RATIO",
    type=_ratio,
    help="as if the allocation ratio of VCPU, RAM, disk or another resource class "
    "were this one, on all hosts, or on a host or an aggregate (can be repeated)",
)


# Options for the scheduler's settings.


def _sources(group: argparse._ArgumentGroup) -> None:
    for source in ranked():
        source.options(group)


#: The options of every command that predicts Nova's answers.
SCHEDULER = group(
    "scheduler",
    "How nova-scheduler is configured, which no API shows. Later options "
    "override earlier ones. The default is what config save wrote.",
    _sources,
)


def sources(args: argparse.Namespace, app: Any) -> SettingsSources:
    """Settings from the options, over those found for the cloud.

    :param app: the running ``openstack``
    :raises BadUsage: for options that do not go together
    :raises BadConfiguration: for bad settings in a found file
    """
    return named(args, _found(args, app))


def found(args: argparse.Namespace, app: Any) -> SettingsSources:
    """Settings found for the cloud, for a command without these options.

    :raises BadConfiguration: for bad settings in a found file
    """
    return SettingsSources(found=_found(args, app))


def _found(args: argparse.Namespace, app: Any) -> SettingsSources | None:
    """Those of the snapshot, if one is read instead of a cloud."""
    if args.snapshot:
        return snapshot.read(args.snapshot).sources
    return saved.find(places_of(app))


def places_of(app: Any) -> Places:
    """The places of settings for the chosen cloud."""
    config = app.cloud.config
    clouds_file = app.cloud_config.config_filename or "clouds.yaml"
    return Places(
        cloud=app.options.cloud or saved.DEFAULT,
        region=config.get("region_name") or "",
        clouds_file=clouds_file if saved.KEY in config else None,
        variables=os.environ,
    )


def named(
    args: argparse.Namespace, found: SettingsSources | None = None
) -> SettingsSources:
    """Settings from the options; BadUsage if they do not go together."""
    values = {source.name: getattr(args, source.name, None) for source in ranked()}
    sources = SettingsSources(found=found, **values)
    flags = [tool.flag for tool in deployment_sources(sources.named)]
    if len(flags) > 1:
        raise BadUsage(f"{' and '.join(flags)}: a cloud has one of the two")
    return sources


def repeated(args: argparse.Namespace) -> tuple[Option, ...]:
    """The options of this call, for a printed command."""
    options = (source.repeated(value) for source, value in named(args).named.items())
    return tuple(itertools.chain.from_iterable(options))
