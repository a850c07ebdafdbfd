"""All sources of settings as one value, and what they come to in a release of Nova."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from osc_traitsched.config import deployments, nova_conf
from osc_traitsched.config.nova_conf import Ini, Layer
from osc_traitsched.config.sources import (
    BASELINE,
    CONTROL_PLANE,
    FILTERS,
    NOVA_CONF,
    NOVA_RELEASE,
    SET,
    SOURCES,
    FileSource,
    Source,
    deployment_sources,
    file_sources,
    ranked,
)
from osc_traitsched.core import releases
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.nova.filter import table
from osc_traitsched.core.nova.options import (
    NAMES,
    OPTIONS,
    NoEffect,
    Service,
    options_in,
)
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting
from osc_traitsched.core.nova.weigher import ranking

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
                source: tuple(source.read(source.texts(self.used[source])))
                for source in file_sources(ranked())
                if source in self.used
            }

    @property
    def supplied(self) -> frozenset[Service]:
        """Services whose settings the files have: all, unless each file is of one."""
        files = self.layers.get(NOVA_CONF, ())
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
        return dataclasses.replace(of(release), others=tuple(possible))

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
    settings: dict[str, Setting] = {}
    of_moves: dict[str, Setting] = {}
    disagreements: dict[str, Mapping[Service, Setting]] = {}
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
            disagreements[name] = known
    existing = {option.name for option in options_in(release)}
    defaults = SchedulerSettings(release, settings)
    no_effect = (
        *nova_conf.without_effect(entries, release),
        *_misplaced(sources, entries, settings),
    )
    if ranking.has_own(defaults) or table.has_own(defaults):
        # Own filters and weighers have options of their own.
        no_effect = tuple(unread for unread in no_effect if unread.meant)
    for unread in no_effect:
        if unread.meant not in OPTIONS:
            continue
        setting = defaults.setting(unread.meant)
        if not setting.given:
            note = f"{setting.source}; {unread.source} has no effect"
            if unread.is_unread:
                note = f"{unread.source}: seen, not read"
            settings[unread.meant] = dataclasses.replace(setting, source=note)
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
