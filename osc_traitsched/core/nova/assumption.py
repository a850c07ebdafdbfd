"""What is assumed of nova.conf and of Nova's release, since no API shows it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Union

Value = Union[bool, int, str, tuple[str, ...], None]

#: Nova's major versions and the names of their releases.
RELEASES: Mapping[int, str] = {
    20: "train",
    21: "ussuri",
    22: "victoria",
    23: "wallaby",
    24: "xena",
    25: "yoga",
    26: "zed",
    27: "2023.1",
    28: "2023.2",
    29: "2024.1",
    30: "2024.2",
    31: "2025.1",
    32: "2025.2",
    33: "2026.1",
    34: "2026.2",
}
OLDEST, NEWEST = min(RELEASES), max(RELEASES)

#: The code names of the releases that are named by their year.
CODE_NAMES: Mapping[str, int] = {
    "antelope": 27,
    "bobcat": 28,
    "caracal": 29,
    "dalmatian": 30,
    "epoxy": 31,
    "flamingo": 32,
    "gazpacho": 33,
    "hibiscus": 34,
}

#: The highest microversion of each release's compute API, as the number after
#: "2." (nova/api/openstack/api_version_request.py, _MAX_API_VERSION).
MICROVERSIONS: Mapping[int, int] = {
    20: 79,
    21: 87,
    22: 87,
    23: 88,
    24: 90,
    25: 90,
    26: 93,
    27: 95,
    28: 95,
    29: 96,
    30: 96,
    31: 100,
    32: 100,
    33: 103,
    34: 104,
}

_HOST_FILTERS = (
    "ComputeFilter",
    "ComputeCapabilitiesFilter",
    "ImagePropertiesFilter",
    "ServerGroupAntiAffinityFilter",
    "ServerGroupAffinityFilter",
)


@dataclasses.dataclass(frozen=True)
class Option:
    """An option of nova.conf that decides what Nova asks Placement.

    :ivar name: ``section.option``, as in ``scheduler.max_placement_results``
    :ivar default: the value that Nova gives it where nobody sets it
    :ivar until: the first release that does not have it any more
    :ivar minimum: the lowest number that Nova takes, for an option that is one
    """

    name: str
    default: Value
    since: int = OLDEST
    until: int = NEWEST + 1
    minimum: int | None = None

    def names_in(self, release: int) -> tuple[str, ...]:
        """Return the names that a release reads it under, the right one first.

        The others are those that it is registered with as deprecated
        (nova/conf/scheduler.py).
        """
        if self.name == ENABLED_FILTERS and release < 24:
            return (self.name, "DEFAULT.scheduler_default_filters")
        return (self.name,)

    def is_in(self, release: int) -> bool:
        """Tell whether a release has the option."""
        return self.since <= release < self.until

    def default_in(self, release: int) -> Value:
        """Return the default of a release (nova/conf/scheduler.py)."""
        if self.name == AZ_QUERY and release < 24:
            return False
        if self.name == ENABLED_FILTERS and release < 24:
            return ("AvailabilityZoneFilter", *_HOST_FILTERS)
        return self.default


ISOLATION = "scheduler.enable_isolated_aggregate_filtering"
TENANT = "scheduler.limit_tenants_to_placement_aggregate"
TENANT_REQUIRED = "scheduler.placement_aggregate_required_for_tenants"
AZ_QUERY = "scheduler.query_placement_for_availability_zone"
IMAGE_TYPE = "scheduler.query_placement_for_image_type_support"
IMAGE_METADATA = "scheduler.image_metadata_prefilter"
ROUTED_NETWORKS = "scheduler.query_placement_for_routed_network_aggregates"
MAX_RESULTS = "scheduler.max_placement_results"
ENABLED_FILTERS = "filter_scheduler.enabled_filters"
PCI_IN_PLACEMENT = "filter_scheduler.pci_in_placement"
NO_PCPU_FALLBACK = "workarounds.disable_fallback_pcpu_query"
DEFAULT_ZONE = "DEFAULT.default_schedule_zone"

OPTIONS: tuple[Option, ...] = (
    Option(ISOLATION, False),
    Option(TENANT, False),
    Option(TENANT_REQUIRED, False),
    Option(AZ_QUERY, True, until=28),
    Option(IMAGE_TYPE, False),
    Option(IMAGE_METADATA, False, since=21),
    Option(ROUTED_NETWORKS, False, since=23),
    Option(MAX_RESULTS, 1000, minimum=1),
    Option(ENABLED_FILTERS, _HOST_FILTERS),
    Option(PCI_IN_PLACEMENT, False, since=27),
    Option(NO_PCPU_FALLBACK, False),
    Option(DEFAULT_ZONE, None),
)

#: The first release whose nova-compute marks its providers with OWNER_NOVA, and
#: whose scheduler wants that mark once all of them are so new.
OWNER_NOVA_RELEASE = 34

#: The release of RHOSO 18, the only one that there is.
RHOSO_RELEASE = 27

_BY_NAME: Mapping[str, Option] = {option.name: option for option in OPTIONS}


def release_named(name: str) -> int | None:
    """Return the release that a name, code name or version of Nova stands for.

    ``wallaby``, ``2024.1``, ``caracal``, ``29`` and ``29.2.1`` are such names;
    None for one that is not known.
    """
    name = name.lower()
    for release, known in RELEASES.items():
        if name == known:
            return release
    if name in CODE_NAMES:
        return CODE_NAMES[name]
    major = name.partition(".")[0]
    release = int(major) if major.isdecimal() else 0
    return release if release in RELEASES else None


def release_behind(microversion: str, likely: int | None = None) -> tuple[int, str]:
    """Find the release by the highest microversion of its compute API.

    :param likely: the release to take where several have that microversion and
        it is one of them
    :returns: the release, and one line for a person on how it is known
    """
    number = int(microversion.partition(".")[2])
    said = f"compute API {microversion}"
    if number > MICROVERSIONS[NEWEST]:
        return NEWEST, f"{said}, newer than any known; the newest known is taken"
    if number < MICROVERSIONS[OLDEST]:
        return OLDEST, f"{said}, older than any known; the oldest known is taken"
    reached = min(each for each in MICROVERSIONS.values() if each >= number)
    found = [each for each, most in MICROVERSIONS.items() if most == reached]
    if number < reached:
        return found[0], f"{said}, on the way to {RELEASES[found[0]]}"
    if len(found) == 1:
        return found[0], said
    names = " and ".join(RELEASES[each] for each in found)
    if likely in found:
        known = RELEASES[likely]
        return likely, f"{said}, which is that of {names}; {known} is likely here"
    return found[-1], f"{said}, which is that of {names}; the later is taken"


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
class Assumptions:
    """A release of Nova, and the options that the scheduler runs with.

    :ivar release: Nova's major version, 20 (Train) to 34 (2026.2)
    :ivar settings: of each option that differs from the release's default, or
        was found somewhere, under its name
    :ivar release_source: how the release is known; one line for a person
    :ivar all_computes_new: every nova-compute is of 2026.2 or later, which is
        what the release's owner_nova_filter waits for; None if unknown
    :ivar ignored: the name and the source of each option that somebody set and
        the release does not have, so that its Nova does not look at it
    """

    release: int = NEWEST
    settings: Mapping[str, Setting] = dataclasses.field(default_factory=dict)
    release_source: str = "the newest release that is known"
    all_computes_new: bool | None = None
    ignored: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, release: int = NEWEST, **options: Value) -> Assumptions:
        """Return assumptions with options of [scheduler], by their names alone."""
        settings = {
            f"scheduler.{name}": Setting(value, "given", given=True)
            for name, value in options.items()
        }
        return cls(release, settings, "given")

    def setting(self, name: str) -> Setting:
        """Return an option's value and source; the release's default if unset.

        :raises KeyError: for a name that is not one of :data:`OPTIONS`
        """
        if name in self.settings:
            return self.settings[name]
        default = _BY_NAME[name].default_in(self.release)
        return Setting(default, f"the default of {RELEASES[self.release]}")

    def value(self, name: str) -> Value:
        """Return an option's value alone."""
        return self.setting(name).value

    def changed(self, name: str, value: Value) -> Assumptions:
        """Return the assumptions with one option set otherwise."""
        settings = {**self.settings, name: Setting(value, "what if")}
        return dataclasses.replace(self, settings=settings)
