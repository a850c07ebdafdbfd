"""Settings: values of nova.conf's options, and switches that enable options."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping

from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.inventory.metadata import Collation
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.options import OPTIONS, NoEffect, Service, Value
from osc_traitsched.core.releases import NEWEST, RELEASES, release
from osc_traitsched.text import option as option_name

# What Nova's release, nova.conf and database are taken to be: no API shows them.


@dataclasses.dataclass(frozen=True)
class Setting:
    """Value of an option, and its source.

    :ivar source: one line for a person: file and line, parameter, baseline, command
        line or default
    :ivar given: read from a source; False for an assumed value
    :ivar tool: the command below ``config`` that prints how to set it
    :ivar is_hidden: the nova.conf of the service that reads it was not supplied
    """

    value: Value
    source: str
    given: bool = False
    tool: str = dataclasses.field(default="nova-conf", compare=False)
    is_hidden: bool = False

    @property
    def items(self) -> tuple[str, ...]:
        """The items of a list; none of another value."""
        return self.value if isinstance(self.value, tuple) else ()


@dataclasses.dataclass(frozen=True)
class SchedulerSettings:
    """A release of Nova, and the options of its scheduler.

    :ivar release: Nova's major version, 20 (Train) to 34 (2026.2)
    :ivar settings: by option name, if read or different from the default
    :ivar release_source: one line for a person, as ``place``
    :ivar all_computes_new: every nova-compute is of 2026.2 or later, as
        owner_nova_filter needs; None if unknown
    :ivar without_set: settings without ``--set``; None if nothing else is known
    :ivar ignored: names and sources of options that the release does not have
    :ivar no_effect: lines of files that set nothing
    :ivar files: of the cloud's own among the sources; an option that is in none of them
        has its default
    :ivar of_moves: settings that differ for moves, which another service decides on
    :ivar disagreements: options with the services that read them, which differ
    :ivar others: settings for the other releases with the same compute API, if no
        release was specified
    """

    release: int = NEWEST
    settings: Mapping[str, Setting] = dataclasses.field(default_factory=dict)
    release_source: str = "the newest release that is known"
    all_computes_new: bool | None = None
    ignored: tuple[tuple[str, str], ...] = ()
    no_effect: tuple[NoEffect, ...] = ()
    others: tuple[SchedulerSettings, ...] = ()
    place: str | None = None
    without_set: SchedulerSettings | None = None
    files: tuple[str, ...] = ()
    of_moves: Mapping[str, Setting] = dataclasses.field(default_factory=dict)
    disagreements: Mapping[str, Mapping[Service, Setting]] = dataclasses.field(
        default_factory=dict
    )

    @property
    def is_complete(self) -> bool:
        """Whether an option that no file sets has its default."""
        return bool(self.files)

    @classmethod
    def of(cls, release: int = NEWEST, **options: Value) -> SchedulerSettings:
        """Settings with options of [scheduler], by key."""
        settings = {
            f"scheduler.{key}": Setting(value, "given", given=True)
            for key, value in options.items()
        }
        return cls(release, settings, "given")

    def setting(self, name: str) -> Setting:
        """An option's value and source; raises KeyError if not in :data:`OPTIONS`."""
        return self.settings.get(name) or _default(name, self.release)

    def is_known(self, name: str) -> bool:
        """Whether an option was given, or is at its default in a complete file.

        No file has what is not in nova.conf, such as the database's collation.
        """
        is_unread = any(each.meant == name for each in self.no_effect if each.is_unread)
        setting = self.setting(name)
        is_hidden = is_unread or setting.is_hidden
        return setting.given or (self.is_complete and "." in name and not is_hidden)

    def for_moves(self) -> SchedulerSettings:
        """The settings as the services read them that decide on moves."""
        settings = {**self.settings, **self.of_moves}
        return dataclasses.replace(self, settings=settings, of_moves={})

    def value(self, name: str) -> Value:
        """An option's value."""
        return self.setting(name).value

    def items(self, name: str) -> tuple[str, ...]:
        """The items of an option that is a list."""
        return self.setting(name).items

    @property
    def set_otherwise(self) -> tuple[str, ...]:
        """Options that ``--set`` changes, by name."""
        own = self.without_set
        if own is None:
            return ()
        names = sorted(self.settings.keys() | own.settings.keys())
        return tuple(name for name in names if self.value(name) != own.value(name))

    @property
    def collation(self) -> Collation:
        """Text comparison of Nova's database."""
        return Collation(self.value(options.COLLATION))

    def changed(self, name: str, value: Value) -> SchedulerSettings:
        """The settings with another value of one option."""
        settings = {**self.settings, name: Setting(value, "what if")}
        return dataclasses.replace(self, settings=settings)


# What can be turned on in nova.conf, and what has to be set for it.


@functools.cache
def _default(name: str, release: int) -> Setting:
    option = OPTIONS[name]
    source = option.default_source or f"the default of {RELEASES[release]}"
    return Setting(option.default_in(release), source)


AZ = OPTIONS[options.AZ_QUERY].switches[0]


def switches() -> Mapping[str, tuple[str, ...]]:
    """What can be asked for, and the options that have to be true for it."""
    rows = (row for row in OPTIONS.values() if row.switches)
    return {row.switches[0]: (*filter(None, [row.needs]), row.name) for row in rows}


@dataclasses.dataclass(frozen=True)
class Switched:
    """Options to add to a configuration so that switches are on.

    :ivar values: all required options, including those that are set already
    :ivar assumptions: the configuration without them
    """

    wanted: tuple[str, ...]
    values: Mapping[str, Value]
    assumptions: SchedulerSettings


def switch_name(name: str) -> str:
    """Name in :func:`switches` for a name or alias."""
    rows = (row for row in OPTIONS.values() if name in row.switches)
    return next((row.switches[0] for row in rows), name)


def az_is_always_on(release: int) -> bool:
    """Whether Nova always asks Placement for the zone's aggregates.

    Then its scheduler does not start if enabled_filters has AvailabilityZoneFilter.
    """
    return release >= OPTIONS[options.AZ_QUERY].until


def az_is_on(assumptions: SchedulerSettings) -> bool:
    """Whether Nova asks Placement for the zone's aggregates."""
    always = az_is_always_on(assumptions.release)
    return always or bool(assumptions.value(options.AZ_QUERY))


def has_filter(assumptions: SchedulerSettings, name: str) -> bool:
    """Whether a host filter is enabled."""
    return name in assumptions.items(options.ENABLED_FILTERS)


def switch(wanted: Iterable[str], assumptions: SchedulerSettings) -> Switched:
    """Options that turn on these switches.

    AvailabilityZoneFilter is removed with :data:`AZ`, and if the release lacks it.

    :raises BadUsage: if the release lacks an option
    """
    wanted = tuple(dict.fromkeys(wanted))
    always = az_is_always_on(assumptions.release)
    values: dict[str, Value] = {}
    needed = switches()
    for name in wanted:
        for option in needed[name]:
            if OPTIONS[option].is_in(assumptions.release):
                values[option] = True
            elif not (name == AZ and always):
                nova = f"{release(assumptions.release)}"
                raise BadUsage(f"{name}: {nova} has no {option_name(option)}")
    if always or AZ in wanted:
        values.update(_without_az_filter(assumptions))
    return Switched(wanted, values, assumptions)


def _without_az_filter(assumptions: SchedulerSettings) -> Mapping[str, Value]:
    filters = assumptions.items(options.ENABLED_FILTERS)
    if special.ZONE not in filters:
        return {}
    kept = tuple(each for each in filters if each != special.ZONE)
    return {options.ENABLED_FILTERS: kept}
