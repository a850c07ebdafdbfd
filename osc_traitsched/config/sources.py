"""The sources of nova-scheduler's settings: one class each, in one registry."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import itertools
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import yaml

from osc_traitsched.config import deployments, document, nova_conf
from osc_traitsched.config.deployments import Values
from osc_traitsched.config.document import Branch
from osc_traitsched.config.nova_conf import (
    OF_COMPUTE,
    Entry,
    Ini,
    Layer,
    parse,
    put,
    section_and_key,
)
from osc_traitsched.core import releases
from osc_traitsched.core.answer import NovaReading
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.nova import options, weighers
from osc_traitsched.core.nova.filter import table
from osc_traitsched.core.nova.filter.table import FLAGS
from osc_traitsched.core.nova.options import (
    NAMES,
    OPTIONS,
    ClaimAnswers,
    NoEffect,
    OptionType,
    SchedulerSettings,
    Service,
    Setting,
    options_in,
)
from osc_traitsched.paste import Option
from osc_traitsched.text import ALMOST, did_you_mean, near_names

# The sources of nova-scheduler's settings: one class each, in one registry.


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
    :cvar tool: what ``config enable --for`` calls the tool
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

    def layers(self, value: Any) -> Iterable[Layer]:
        """What its values set; a later layer wins; raises BadConfiguration."""
        return self.read(self.texts(value))

    def read(self, paths: Sequence[str]) -> Iterable[Layer]:
        """What the files set; a later layer wins; raises BadConfiguration."""
        raise NotImplementedError

    def write(self, values: Values, release: int, present: str) -> str:
        """Text that sets options; empty if there are none.

        :param present: the text that it replaces
        :raises BadUsage: for what the tool can't set
        """
        raise NotImplementedError

    def parse_one(self, branch: Branch) -> Any:
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
    tool = "nova"
    where = "the last file of nova.conf.d for nova-scheduler; then restart that"

    def read(self, paths: Sequence[str]) -> Iterable[Layer]:
        """A layer for each file."""
        return map(Layer, deployments.read_files(paths))

    def write(self, values: Values, release: int, present: str) -> str:
        """INI text."""
        return deployments.nova_conf_text(values)


class AskedNova(FileSource):
    """Nova's own words, which config save --nova-python wrote into the document."""

    name = "nova"
    rank = 1
    is_list = True
    _LABEL = re.compile("(.*) on (.*), read (.*)")

    def layers(self, value: Any) -> Iterable[Layer]:
        """A layer for each service."""
        return list(map(_layer, value))

    def texts(self, value: Any) -> list[str]:
        """Services and times; a snapshot has no more of it."""
        return [each.label for each in value]

    def value(self, text: str) -> NovaReading:
        """A reading without its options."""
        found = self._LABEL.fullmatch(text)
        return NovaReading(found[3], found[2]) if found else NovaReading("", text)

    def parse_one(self, branch: Branch) -> NovaReading:
        """A service's part of a document."""
        try:
            return NovaReading(**yaml.safe_load(yaml.serialize(branch.node)))
        except (TypeError, yaml.YAMLError) as exc:
            raise branch.bad("is not what config save --nova-python writes") from exc

    def written(self, value: Any) -> object:
        """All that was read."""
        return [dataclasses.asdict(each) for each in value]


def _layer(reading: NovaReading) -> Layer:
    """The options of a reading as if they stood in a file."""
    entries: dict[tuple[str, str], Entry] = {}
    for name, option in reading.options.items():
        path = f"{option['source']} of {reading.label}"
        for text in option["value"]:
            # Nova has replaced references already.
            entry = Entry(text.replace("$", "$$"), path, service=reading.service)
            put(entries, section_and_key(name), entry)
    return Layer(entries)


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
                raise below.bad(_not_an_option(written))
            texts = [] if below.is_null else list(map(_text, _items(below)))
            if below.items() and OPTIONS[name].kind is not OptionType.MULTI:
                texts = [",".join(texts)]
            pairs += [(name, Entry(text, below.path, below.line)) for text in texts]
        return tuple(pairs)

    def written(self, value: Any) -> object:
        """The last text of each option; all texts if it takes several."""
        texts: dict[str, Any] = {}
        for name, text in value:
            plain = text.value if isinstance(text, Entry) else text
            is_several = OPTIONS[name].kind is OptionType.MULTI
            texts[name] = [*texts.get(name, []), plain] if is_several else plain
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
NOVA = AskedNova()
ENVIRONMENTS, CONTROL_PLANE = Environments(), ControlPlane()
SET, IGNORE_RULES, FILTERS = SetOptions(), IgnoreRules(), Filters()

_ALL: Sequence[Source] = (
    *(NOVA_RELEASE, BASELINE, NOVA_CONF, ENVIRONMENTS, CONTROL_PLANE),
    *(SET, IGNORE_RULES, NOVA, FILTERS),
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
            "provider inventory set --amend --resource CLASS:FIGURE=N UUID, with "
            "VCPU, MEMORY_MB or DISK_GB, and allocation_ratio or reserved"
            + "; to try a ratio: capacity or explain with --ratio VCPU=1.5"
            * ("allocation_ratio" in written)
        )
    own = {each.key: (each.name,) for each in OPTIONS.values()}
    keys = {**nova_conf.current_names(releases.NEWEST), **own}
    key = written.strip().lower().rpartition(".")[2]
    near = {key} & keys.keys() or near_names(key, own) or near_names(key, keys, ALMOST)
    found = list(dict.fromkeys(name for each in near for name in keys[each]))[:3]
    asked = did_you_mean(found if written not in found else ())
    if asked and OPTIONS.keys().isdisjoint(found):
        asked += " It decides nothing here, too."
    return f"is no option that decides here{asked or '.'} All: config show --all"


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


# All sources of settings as one value, and what they come to in a release of Nova.


#: The place of what options say.
COMMAND_LINE = "the command line"


class SettingsSources:
    """Sources of nova-scheduler's settings, which no API shows.

    Files are read when they are first needed, and once.

    :ivar named: what the command line or one document says, by source
    :ivar used: what counts, named or found, by source
    :ivar place: all sources as one line; None if there are none
    """

    def __init__(
        self,
        place: str | None = None,
        found: SettingsSources | None = None,
        lines: Mapping[str, str] | None = None,
        **values: Any,
    ) -> None:
        """Join what is named with what was found; what is named wins.

        :param place: of a document
        :param found: the result of ``config.saved.find``
        :param lines: where a document's values stand, by name of the source
        :param values: by name of the source, such as ``nova_conf``
        """
        named = {SOURCES[n]: v for n, v in values.items() if v not in (None, (), [])}
        self.named: Mapping[Source, Any] = named
        self.found = found
        #: Where each value stands, by name of the source.
        self.lines: Mapping[str, str] = {
            **(found.lines if found else {}),
            **{source.name: source.flag for source in named},
            **(lines or {}),
        }
        self.place = place or self._place(named.keys() - {NOVA_RELEASE})
        # Named files replace all found files. A file of one distribution beats a found
        # baseline of another.
        replaced = {
            *(file_sources(SOURCES.values()) if file_sources(named) else ()),
            *([BASELINE] if deployment_sources(named) else ()),
        }
        below = found.named.items() if found else ()
        self.used = {s: v for s, v in below if s not in replaced} | named
        #: Asks a Nova that knows more than its API shows, if there is one.
        self.claims: ClaimAnswers | None = None

    @property
    def readings(self) -> tuple[NovaReading, ...]:
        """What Nova said of itself, if it was asked."""
        readings: tuple[NovaReading, ...] = self.used.get(NOVA, ())
        return readings

    @property
    def place_without_set(self) -> str | None:
        """All sources but single options and filters as one line."""
        return self._place(self.named.keys() - {NOVA_RELEASE, SET, FILTERS})

    def _place(self, named: Collection[Source]) -> str | None:
        below = self.found.place if self.found else None
        # A snapshot may have been saved with options of its command line.
        if not named or (below and below.startswith(COMMAND_LINE)):
            return below
        return f"{COMMAND_LINE}, over {below}" if below else COMMAND_LINE

    @property
    def release(self) -> int | None:
        """Nova's release, if named or found."""
        release: int | None = self.used.get(NOVA_RELEASE)
        return release

    @property
    def conf_files(self) -> tuple[str, ...]:
        """Paths of the scheduler's nova.conf; empty: the other Python reads its own."""
        own = ("", Service.SCHEDULER.value)
        paths = self.used.get(NOVA_CONF, ())
        return tuple(path for path in paths if nova_conf.service_of(path) in own)

    @property
    def paths(self) -> tuple[str, ...]:
        """All files and directories of the cloud's own."""
        return tuple(p for s in file_sources(self.used) for p in s.texts(self.used[s]))

    @property
    def distributions(self) -> list[str]:
        """The named one, or those of the files; the defaults of the first apply."""
        if NOVA in self.used:
            # All that is not at Nova's own default was read.
            return [deployments.UPSTREAM]
        implied = (source.distribution for source in deployment_sources(self.used))
        names = (self.used.get(BASELINE), *implied, deployments.UPSTREAM)
        return [name for name in names if name]

    @functools.cached_property
    def layers(self) -> Mapping[FileSource, tuple[Layer, ...]]:
        """What the files set, by source; a later one wins; raises BadConfiguration."""
        with self._naming():
            if self.found and not file_sources(self.named):
                # A snapshot has no files any more.
                return self.found.layers
            return {
                source: tuple(source.layers(self.used[source]))
                for source in file_sources(ranked())
                if source in self.used
            }

    @property
    def supplied(self) -> frozenset[Service]:
        """Services whose settings the files have: all, unless each file is of one."""
        files = self.layers.get(NOVA_CONF) or self.layers.get(NOVA, ())
        services = {_service_of(each.entries) for each in files}
        if len(self.layers) != 1 or "" in services or not services:
            return frozenset(Service)
        return frozenset(map(Service, services))

    @property
    def entries(self) -> tuple[Ini, ...]:
        """What everything but ``--set`` sets; a later one wins.

        Named files win over the options of a document, found files do not.

        :raises BadConfiguration: for a file that can't be read
        """
        layers = itertools.chain.from_iterable(self.layers.values())
        read = tuple(layer.entries for layer in layers)
        saved = SET.read(self.found.named.get(SET, ()) if self.found else ())
        if not file_sources(self.named):
            return (*read, saved)
        # An option of several values would keep the document's as well.
        own = {name: e for name, e in saved.items() if not any(name in i for i in read)}
        return (own, *read)

    @contextlib.contextmanager
    def _naming(self) -> Iterator[None]:
        """An error about a whole file gets the place that names the file."""
        try:
            yield
        except BadConfiguration as exc:
            found = self.found
            if exc.line is not None or not found or exc.path not in found.paths:
                raise
            reason = f"{exc.reason} (named by {found.place})"
            raise BadConfiguration(exc.path, None, reason, exc.value) from exc


def resolve(
    sources: SettingsSources, max_microversion: str | None = None
) -> SchedulerSettings:
    """What the sources come to: a higher rank wins over a lower one.

    :param max_microversion: the compute API's highest, such as ``2.96``, or None; it
        tells the release if no source does
    :raises BadConfiguration: for a bad file or value
    :raises BadUsage: for an unknown host filter
    """
    release, line, others = _release(sources, max_microversion)

    def settings(
        entries: Sequence[Ini], filters: Sequence[tuple[str, bool]] = ()
    ) -> SchedulerSettings:
        def of(number: int) -> SchedulerSettings:
            given = _of_release(sources, entries, line, number)
            return table.with_filters(given, filters) if filters else given

        possible = []
        for other in others:
            # Not this release, if its Nova would not start.
            with contextlib.suppress(BadConfiguration):
                possible.append(of(other))
        every = tuple(possible)
        return dataclasses.replace(of(release), others=every, claims=sources.claims)

    entries, place = sources.entries, sources.place_without_set
    by_hand, filters = sources.named.get(SET, ()), sources.named.get(FILTERS, ())
    saved = sources.found.named.get(FILTERS, ()) if sources.found else ()
    before = None
    if place and (by_hand or filters):
        with contextlib.suppress(BadConfiguration):
            before = dataclasses.replace(settings(entries, saved), place=place)
    found = settings((*entries, SET.read(by_hand)), (*saved, *filters))
    return dataclasses.replace(found, without_set=before)


def _release(
    sources: SettingsSources, max_microversion: str | None
) -> tuple[int, str, tuple[int, ...]]:
    """Nova's release, its source as one line, and other possible releases."""
    if sources.release is not None:
        return sources.release, sources.lines[NOVA_RELEASE.name], ()
    if max_microversion:
        is_rhoso = deployments.RHOSO in sources.distributions
        likely = releases.RHOSO_RELEASE if is_rhoso else None
        release, line = releases.release_behind(max_microversion, likely)
        if release == likely:
            return release, line, ()
        return release, line, releases.others_behind(max_microversion, release)
    return SchedulerSettings.release, SchedulerSettings.release_source, ()


def _of_release(
    sources: SettingsSources, entries: Sequence[Ini], line: str, release: int
) -> SchedulerSettings:
    """What the entries come to in one release; raises BadConfiguration."""
    below = deployments.settings(sources.distributions[0], release)
    read = {each: _read_by(each, entries, release, below) for each in Service}
    by_host = {each: _by_host(each, sources.readings, release) for each in Service}
    settings: dict[str, Setting] = {}
    of_moves: dict[str, Setting] = {}
    disagreements: dict[str, Mapping[str, Setting]] = {}
    for option in OPTIONS.values():
        name, default = option.name, SchedulerSettings(release).setting(option.name)
        found = {each: read[each].get(name, default) for each in option.readers}
        known = {each: found[each] for each in found if each in sources.supplied}
        for each in found.keys() - known.keys():
            found[each] = _hidden(found[each], each)
        first = found[option.readers[0]]
        if first != default:
            settings[name] = first
        if option.mover and found[option.mover] != first:
            of_moves[name] = found[option.mover]
        if len({setting.value for setting in known.values()}) > 1:
            disagreements[name] = {each.value: known[each] for each in known}
        reader = option.readers[0]
        hosts = {on: own.get(name, default) for on, own in by_host[reader].items()}
        if len({setting.value for setting in hosts.values()}) > 1:
            disagreements[name] = hosts
            differ = f"{first.source}; {' and '.join(hosts)} differ"
            settings[name] = Setting(first.value, differ, is_hidden=True)
    existing = {option.name for option in options_in(release)}
    defaults = SchedulerSettings(release, settings)
    no_effect = tuple(_no_effect(sources, entries, defaults))
    for unread in no_effect:
        if unread.meant in OPTIONS and not defaults.setting(unread.meant).given:
            settings[unread.meant] = _noted(defaults.setting(unread.meant), unread)
    for source in deployment_sources(sources.used):
        for name in settings.keys() & set(source.sets):
            settings[name] = dataclasses.replace(settings[name], tool=source.tool)
    return SchedulerSettings(
        release,
        {name: settings[name] for name in settings if name in existing},
        line,
        ignored=tuple(
            (name, setting.source)
            for name, setting in settings.items()
            if name not in existing and setting.given
        ),
        no_effect=no_effect,
        place=sources.place,
        files=sources.paths,
        of_moves=of_moves,
        disagreements=disagreements,
    )


def _no_effect(
    sources: SettingsSources, entries: Sequence[Ini], defaults: SchedulerSettings
) -> Iterator[NoEffect]:
    """Lines of files that set nothing."""
    # Own filters and weighers have options of their own.
    has_own = weighers.has_own(defaults) or table.has_own(defaults)
    for unread in (
        *nova_conf.without_effect(entries, defaults.release),
        *_misplaced(sources, entries, defaults.settings),
    ):
        if unread.meant or not has_own:
            yield unread


def _noted(default: Setting, unread: NoEffect) -> Setting:
    """A default, with the line that does not change it."""
    note = f"{default.source}; {unread.source} has no effect"
    if unread.is_unread:
        note = f"{unread.source}: seen, not read"
    return dataclasses.replace(default, source=note)


def _by_host(
    service: Service, readings: Iterable[NovaReading], release: int
) -> Mapping[str, Mapping[str, Setting]]:
    """What a service said on each host that was asked."""
    return {
        f"{each.service or 'Nova'} on {each.host}": nova_conf.settings(
            [_layer(each).entries], release, {}
        )
        for each in readings
        if each.service in ("", service.value)
    }


def _service_of(entries: Ini) -> str:
    """The only service that reads a file; empty for all."""
    return next((each.service for each in entries.values()), "")


def _read_by(
    service: Service,
    entries: Sequence[Ini],
    release: int,
    below: Mapping[str, Setting],
) -> Mapping[str, Setting]:
    own = [each for each in entries if _service_of(each) in ("", service.value)]
    return {**below, **nova_conf.settings(own, release, below)}


def _hidden(setting: Setting, service: Service) -> Setting:
    """A setting of a service whose nova.conf was not supplied, unless by hand."""
    if setting.given:
        return setting
    source = f"{setting.source}; no nova.conf of {service.value} was supplied"
    return dataclasses.replace(setting, source=source, is_hidden=True)


def _misplaced(
    sources: SettingsSources, entries: Sequence[Ini], settings: Mapping[str, Setting]
) -> Iterator[NoEffect]:
    """Lines of services that do not read them, if those that do have none."""
    is_rhoso = CONTROL_PLANE in sources.used
    for each in entries:
        service = _service_of(each)
        for name, entry in each.items() if service else ():
            option = NAMES.get(".".join(name))
            if not option or service in [reader.value for reader in option.readers]:
                continue
            reader = option.readers[0]
            found = settings.get(option.name)
            if reader in sources.supplied and not (found and found.given):
                place = deployments.place_of(reader, is_rhoso)
                reason = f"{service} does not read it"
                meant = option.name
                yield NoEffect(meant, entry.source, meant, reason, place=place)
