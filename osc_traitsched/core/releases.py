"""Nova's releases, and how a release is known by a name or by its compute API."""

from __future__ import annotations

from collections.abc import Mapping

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

#: The first release whose nova-compute marks its providers with OWNER_NOVA, and
#: whose scheduler wants that mark once all of them are so new.
OWNER_NOVA_RELEASE = 34

#: The release of RHOSO 18, the only one that there is.
RHOSO_RELEASE = 27


def release_named(name: str) -> int | None:
    """The release of ``wallaby``, ``2024.1``, ``29`` or ``29.2.1``; None if unknown."""
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

    :param likely: preferred if several releases have that microversion
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


def others_behind(microversion: str, release: int) -> tuple[int, ...]:
    """Return the other releases whose compute API has the same highest microversion."""
    number = int(microversion.partition(".")[2])
    alike = (each for each, most in MICROVERSIONS.items() if most == number)
    return tuple(each for each in alike if each != release)


def release(number: int) -> str:
    """A release as users read it: ``2026.2 (Nova 34)``."""
    return f"{RELEASES[number].capitalize()} (Nova {number})"
