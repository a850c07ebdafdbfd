"""What Nova's release, nova.conf and database are taken to be: no API shows them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from osc_traitsched.core.inventory.metadata import Collation
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import OPTIONS, Value
from osc_traitsched.core.releases import NEWEST, RELEASES


@dataclasses.dataclass(frozen=True)
class Setting:
    """The value of one option, and where it was read.

    :ivar source: a file and line, a parameter of a deployment's file, a
        baseline, the command line, or the release's default; one line for a person
    :ivar given: somebody said so; otherwise it is assumed
    """

    value: Value
    source: str
    given: bool = False


@dataclasses.dataclass(frozen=True)
class SchedulerSettings:
    """A release of Nova, and the options that the scheduler runs with.

    :ivar release: Nova's major version, 20 (Train) to 34 (2026.2)
    :ivar settings: of each option that differs from the release's default, or
        was found somewhere, under its name
    :ivar release_source: how the release is known; one line for a person
    :ivar all_computes_new: every nova-compute is of 2026.2 or later, which is
        what the release's owner_nova_filter waits for; None if unknown
    :ivar without_set: the same but for the single options of the command line; None
        where nothing else is known of them
    :ivar place: where the settings are from, one line for a person; None if nobody
        named any and none were found
    :ivar ignored: the name and the source of each option that somebody set and
        the release does not have, so that its Nova does not look at it
    :ivar others: the same for each other release that the cloud can be of, since it
        has the same compute API and nobody named the release
    """

    release: int = NEWEST
    settings: Mapping[str, Setting] = dataclasses.field(default_factory=dict)
    release_source: str = "the newest release that is known"
    all_computes_new: bool | None = None
    ignored: tuple[tuple[str, str], ...] = ()
    others: tuple[SchedulerSettings, ...] = ()
    place: str | None = None
    without_set: SchedulerSettings | None = None

    @classmethod
    def of(cls, release: int = NEWEST, **options: Value) -> SchedulerSettings:
        """Return settings with options of [scheduler], by their keys alone."""
        settings = {
            f"scheduler.{key}": Setting(value, "given", given=True)
            for key, value in options.items()
        }
        return cls(release, settings, "given")

    def setting(self, name: str) -> Setting:
        """Return an option's value and source; the release's default if unset.

        :raises KeyError: for a name that is not one of :data:`OPTIONS`
        """
        if name in self.settings:
            return self.settings[name]
        option = OPTIONS[name]
        source = option.default_source or f"the default of {RELEASES[self.release]}"
        return Setting(option.default_in(self.release), source)

    def value(self, name: str) -> Value:
        """Return an option's value alone."""
        return self.setting(name).value

    @property
    def set_otherwise(self) -> tuple[str, ...]:
        """The options that the command line has otherwise than the rest, by name."""
        own = self.without_set
        if own is None:
            return ()
        names = sorted(self.settings.keys() | own.settings.keys())
        return tuple(name for name in names if self.value(name) != own.value(name))

    @property
    def collation(self) -> Collation:
        """How Nova's database compares the metadata of aggregates."""
        return Collation(self.value(options.COLLATION))

    def changed(self, name: str, value: Value) -> SchedulerSettings:
        """Return the settings with one option set otherwise."""
        settings = {**self.settings, name: Setting(value, "what if")}
        return dataclasses.replace(self, settings=settings)
