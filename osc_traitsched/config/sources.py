"""The sources of nova-scheduler's settings: one class each, in one registry."""

from __future__ import annotations

import argparse
import functools
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from osc_traitsched.config import deployments, document
from osc_traitsched.config.deployments import Values
from osc_traitsched.config.document import Branch
from osc_traitsched.config.nova_conf import (
    Entry,
    Ini,
    Layer,
    parse,
    put,
    section_and_key,
)
from osc_traitsched.config.unread import OF_COMPUTE
from osc_traitsched.core import releases
from osc_traitsched.core.names import near_names
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.table import FLAGS
from osc_traitsched.core.nova.options import OPTIONS, OptionType
from osc_traitsched.paste import Option
from osc_traitsched.text import did_you_mean


class Source:
    """A source of settings: its option, and its key in a saved document.

    A source with a list has a tuple of values, the last one wins.

    :cvar name: its key in a document, and its argument of ``SettingsSources``
    :cvar flag: its option; empty: only a document has it
    :cvar rank: a higher rank overrides a lower one, and its option comes later
    """

    name: str
    flag = ""
    help = ""
    metavar: str | None = None
    rank = 0
    is_list = False
    in_document = True

    def options(self, group: argparse._ArgumentGroup) -> None:
        """Add its option."""
        more: Any = {"action": "append", "default": []} if self.is_list else {}
        more.update(dest=self.name, metavar=self.metavar, help=self.help)
        if self.flag:
            group.add_argument(self.flag, type=self.argument, **more)

    def repeated(self, value: Any) -> Iterator[Option]:
        """Its option with these values, for a printed command."""
        return (Option(self.flag, text) for text in self.texts(value))

    def value(self, text: str) -> Any:
        """A value from its text; ValueError like ``is not one of a, b``."""
        return text

    def texts(self, value: Any) -> list[str]:
        """All values as the option takes them."""
        return list(value) if self.is_list else [value]

    def argument(self, text: str) -> Any:
        """A value of the option, for argparse."""
        try:
            return self.value(text)
        except ValueError as exc:
            raise argparse.ArgumentTypeError(f"{text!r} {exc}") from exc

    def parse(self, branch: Branch) -> Any:
        """The values in a document; raises BadConfiguration."""
        if self.is_list:
            return tuple(map(self.parse_one, _items(branch)))
        return self.parse_one(branch)

    def parse_one(self, branch: Branch) -> Any:
        """One value in a document."""
        text = _text(branch)
        try:
            return self.value(text)
        except ValueError as exc:
            raise branch.bad(str(exc), text) from exc

    def written(self, value: Any) -> object:
        """The values as a document has them."""
        texts = self.texts(value)
        return texts if self.is_list else texts[0]


class NovaRelease(Source):
    """Nova's release: its major version."""

    name = "nova_release"
    flag = "--nova-release"
    metavar = "RELEASE"
    help = (
        "Nova's release: a name such as wallaby or 2024.1, or a major version "
        "such as 23 (default: the latest with the compute API's highest "
        "microversion)"
    )

    def value(self, text: str) -> int:
        """The major version of a release."""
        release = releases.release_named(text)
        if release is None:
            raise ValueError(f"is not one of {', '.join(releases.RELEASES.values())}")
        return release

    def texts(self, value: Any) -> list[str]:
        """The release's name."""
        return [releases.RELEASES[value]]


class Baseline(Source):
    """The distribution whose defaults apply."""

    name = "baseline"
    flag = "--baseline"
    rank = 1

    def options(self, group: argparse._ArgumentGroup) -> None:
        """Add its option, with the names of all baselines."""
        group.add_argument(
            self.flag,
            choices=deployments.NAMES,
            help="the distribution whose defaults apply (default: tripleo with "
            "--environment, rhoso with --control-plane, else upstream)",
        )

    def value(self, text: str) -> str:
        """One of ``baseline.NAMES``."""
        if text not in deployments.NAMES:
            raise ValueError(f"is not one of {', '.join(deployments.NAMES)}")
        return text


class FileSource(Source):
    """Files of the cloud's own. Named files replace all that were found.

    :cvar distribution: the only one whose tool reads the files
    :cvar release: the only one of that distribution
    :cvar tool: the command below ``config`` that prints how to set options
    :cvar sets: the options that the tool can set
    :cvar where: what to do with the printed text
    :cvar replaces: the printed text replaces the present one
    """

    metavar = "FILE"
    distribution: str | None = None
    release: int | None = None
    tool = ""
    sets: Iterable[str] = ()
    where = ""
    replaces = False

    def read(self, paths: Sequence[str]) -> Iterable[Layer]:
        """What the files set; a later layer wins; raises BadConfiguration."""
        raise NotImplementedError

    def write(self, values: Values, release: int, present: str) -> str:
        """Text that sets options; empty if there are none.

        :param present: the text that it replaces
        :raises BadUsage: for what the tool can't set
        """
        raise NotImplementedError

    def parse_one(self, branch: Branch) -> str:
        """A path; a relative one begins at the document."""
        path = _text(branch)
        if not path:
            raise branch.bad("is empty")
        if path.startswith("~"):
            return path
        return os.path.normpath(os.path.join(os.path.dirname(branch.path), path))

    def written(self, value: Any) -> object:
        """Absolute paths."""
        paths = [os.path.abspath(document.located(path)) for path in self.texts(value)]
        return paths if self.is_list else paths[0]


class NovaConf(FileSource):
    """Files of nova.conf, directories of them, and values of OpenStack-Helm."""

    name = "nova_conf"
    flag = "--nova-conf"
    metavar = "FILE|DIR"
    help = (
        "the scheduler's nova.conf, a directory with .conf files, or a .yaml file "
        "with values of OpenStack-Helm; can be repeated, the last one wins"
    )
    rank = 4
    is_list = True
    tool = "nova-conf"
    where = "the last file of nova.conf.d for nova-scheduler; then restart that"

    def read(self, paths: Sequence[str]) -> Iterable[Layer]:
        """A layer for each file."""
        return map(Layer, deployments.read_files(paths))

    def write(self, values: Values, release: int, present: str) -> str:
        """INI text."""
        return deployments.nova_conf_text(values)


class Environments(FileSource):
    """Environment files of TripleO."""

    name = "environments"
    flag = "--environment"
    help = "a TripleO environment file; can be repeated, the last one wins"
    rank = 2
    is_list = True
    distribution = tool = deployments.TRIPLEO
    sets = tuple(deployments.PARAMETERS.values())
    where = "openstack overcloud deploy ... -e THIS, after all other files"

    def read(self, paths: Sequence[str]) -> Iterable[Layer]:
        """One layer: TripleO joins the files."""
        return [Layer(deployments.environments(paths))]

    def write(self, values: Values, release: int, present: str) -> str:
        """An environment file."""
        return deployments.environment(values, release)


class ControlPlane(FileSource):
    """The control plane of RHOSO. Its text is the last file of nova.conf.d there."""

    name = "control_plane"
    flag = "--control-plane"
    help = "a YAML file with the OpenStackControlPlane of RHOSO, or a patch of it"
    rank = 3
    distribution = tool = deployments.RHOSO
    release = releases.RHOSO_RELEASE
    sets = tuple(OPTIONS)
    where = "oc patch openstackcontrolplane NAME --type merge --patch-file THIS"
    replaces = True

    def read(self, paths: Sequence[str]) -> Iterable[Layer]:
        """A layer for each service, the scheduler's with its own text."""
        return [layer for path in paths for layer in deployments.read(path)]

    def write(self, values: Values, release: int, present: str) -> str:
        """A part of a control plane."""
        return deployments.control_plane(values, present)


class SetOptions(Source):
    """Single options: pairs of an option's name and its text or :class:`Entry`.

    Those of the command line come on top of those of a document.
    """

    name = "options"
    flag = "--set"
    metavar = "SECTION.OPTION=VALUE"
    help = (
        "an option of nova.conf; or database_collation: case-insensitive (as "
        "MariaDB and MySQL) or case-sensitive; can be repeated"
    )
    rank = 5
    is_list = True

    def texts(self, value: Any) -> list[str]:
        """The pairs."""
        return [f"{name}={text}" for name, text in value]

    def argument(self, text: str) -> tuple[str, str]:
        """A pair, for argparse."""
        written, equals, value = text.partition("=")
        name = options.option_name(written)
        if not equals:
            raise argparse.ArgumentTypeError(f"{text!r} is not {self.metavar}")
        if name is None:
            raise argparse.ArgumentTypeError(f"{written!r} {_not_an_option(written)}")
        if "$" not in value and OPTIONS[name].kind is not OptionType.MULTI:
            try:
                parse(OPTIONS[name], value.strip())
            except ValueError as exc:
                raise argparse.ArgumentTypeError(
                    f"{written}: {value.strip()!r} is not {exc}"
                ) from exc
        return name, value.strip()

    def parse(self, branch: Branch) -> tuple[tuple[str, Entry], ...]:
        """The options of a document, each with its line."""
        pairs: list[tuple[str, Entry]] = []
        for written, below in branch.children().items():
            name = options.option_name(written)
            if name is None:
                raise below.bad(_not_an_option(written), written)
            texts = [] if below.is_null else list(map(_text, _items(below)))
            if below.items() and OPTIONS[name].kind is not OptionType.MULTI:
                texts = [",".join(texts)]
            pairs += [(name, Entry(text, below.path, below.line)) for text in texts]
        return tuple(pairs)

    def written(self, value: Any) -> object:
        """The last text of each option; all texts if it takes several."""
        texts: dict[str, Any] = {}
        for name, text in value:
            is_several = OPTIONS[name].kind is OptionType.MULTI
            texts[name] = [*texts.get(name, []), text] if is_several else text
        return texts

    def read(self, pairs: Iterable[tuple[str, str | Entry]]) -> Ini:
        """What the pairs set; a later one wins."""
        entries: dict[tuple[str, str], Entry] = {}
        for name, text in pairs:
            entry = text if isinstance(text, Entry) else Entry(text, self.flag)
            put(entries, section_and_key(name), entry)
        return entries


class Filters(Source):
    """Host filters, by name: whether they are on, over the list of all others."""

    name = "filters"
    rank = 6
    is_list = True
    in_document = False

    def options(self, group: argparse._ArgumentGroup) -> None:
        """Add an option for either way."""
        for is_on, flag in FLAGS.items():
            group.add_argument(
                flag,
                dest=self.name,
                action="append",
                default=[],
                type=functools.partial(_filter, is_on),
                metavar="FILTER",
                help=f"{'add' if is_on else 'remove'} a host filter, over the "
                "enabled_filters of all the above; can be repeated",
            )

    def repeated(self, value: Any) -> Iterator[Option]:
        """The options in their order."""
        return (Option(FLAGS[is_on], name) for name, is_on in value)


class IgnoreRules(Source):
    """Rules of ``check`` whose findings are not wanted."""

    name = "ignore_rules"
    is_list = True


NOVA_RELEASE, BASELINE, NOVA_CONF = NovaRelease(), Baseline(), NovaConf()
ENVIRONMENTS, CONTROL_PLANE = Environments(), ControlPlane()
SET, IGNORE_RULES, FILTERS = SetOptions(), IgnoreRules(), Filters()

_ALL: Sequence[Source] = (
    *(NOVA_RELEASE, BASELINE, NOVA_CONF, ENVIRONMENTS, CONTROL_PLANE),
    *(SET, IGNORE_RULES, FILTERS),
)

#: By name, in the order of a document.
SOURCES = {source.name: source for source in _ALL}


def ranked() -> list[Source]:
    """All sources; a later one wins."""
    return sorted(SOURCES.values(), key=lambda source: source.rank)


def file_sources(sources: Iterable[Source]) -> list[FileSource]:
    """Those that are files."""
    return [source for source in sources if isinstance(source, FileSource)]


def deployment_sources(sources: Iterable[Source]) -> list[FileSource]:
    """Those that only one distribution has."""
    return [source for source in file_sources(sources) if source.distribution]


def _not_an_option(written: str) -> str:
    if OF_COMPUTE.search(written):
        return (
            "is an option of hosts, which have it in Placement: openstack resource "
            "provider inventory set --amend --resource VCPU:allocation_ratio=N UUID"
        )
    ends = [name for name in OPTIONS if name.endswith(f".{written.rpartition('.')[2]}")]
    near = did_you_mean(ends or near_names(written, OPTIONS))
    return f"is no option that decides here{near or '.'} All: config show --all"


def _filter(is_on: bool, name: str) -> tuple[str, bool]:
    if not name:
        raise argparse.ArgumentTypeError("it is empty")
    return name, is_on


def _items(branch: Branch) -> list[Branch]:
    """A single text is a list of one."""
    items = branch.items()
    return [branch] if items is None else items


def _text(branch: Branch) -> str:
    text = branch.text()
    if text is None or branch.is_null:
        raise branch.bad("is not a text")
    return text
