"""Keys in the metadata of aggregates, and how databases compare them."""

from __future__ import annotations

import enum
import functools
import re
import unicodedata
from collections.abc import Iterable, Mapping, Set

# How Nova's database compares the metadata of aggregates.
#
# nova/objects/aggregate.py compares keys and values in SQL, and so by the collation of
# the tables. Those of MariaDB and MySQL are ``utf8_general_ci`` where nobody chose
# otherwise (nova/db/api/migrations, ``mysql_charset``).


class Collation(enum.Enum):
    """Which texts are equal to the database."""

    #: As in MariaDB and MySQL: neither case, nor accents, nor spaces at the end count.
    CASE_INSENSITIVE = "case-insensitive"
    #: As in SQLite: only equal texts are.
    CASE_SENSITIVE = "case-sensitive"

    def folded(self, text: str) -> str:
        """Return a text that all texts share which are equal to the database."""
        if self is Collation.CASE_SENSITIVE:
            return text
        return _folded(text)

    def equal(self, one: str, other: str) -> bool:
        """Tell whether two texts are equal to the database."""
        return self.folded(one) == self.folded(other)

    def begins(self, text: str, prefix: str) -> bool:
        """Tell whether a text is ``LIKE 'prefix%'``, which has no case in SQLite."""
        if self is Collation.CASE_SENSITIVE:
            return text.lower().startswith(prefix.lower())
        return self.folded(text).startswith(self.folded(prefix))


# Where utf8_general_ci is not as Unicode decomposes.
_ODD = {"ß": "S", "й": "Й", "Й": "Й"}


# The same few keys and values are compared for each flavor.
@functools.lru_cache(maxsize=2**14)
def _folded(text: str) -> str:
    return "".join(map(_weight, text.rstrip(" ")))


def _weight(character: str) -> str:
    """Return what stands for a character and for those that are equal to it."""
    if character in _ODD:
        return _ODD[character]
    base, *marks = list(unicodedata.normalize("NFD", character))
    if not marks or not all(map(unicodedata.combining, marks)):
        base = character
    upper = base.upper()
    return upper if len(upper) == 1 else base


# The key by which a host aggregate is an availability zone.


ZONE_KEY = "availability_zone"


def zone_in(metadata: Mapping[str, str], collation: Collation) -> str | None:
    """Return the zone that an aggregate makes, if any.

    Nova has the database look for the key (nova/objects/aggregate.py,
    ``_get_by_metadata_from_db``).
    """
    zones = (zone for key, zone in metadata.items() if collation.equal(key, ZONE_KEY))
    return next(zones, None)


# The keys by which flavors, images and aggregates require traits.


REQUIRED = "required"

_PREFIX = "trait:"
_KEY = re.compile(r"trait[a-zA-Z0-9_-]{0,64}:(.+)")


def key_of(name: str) -> str:
    """Return the key by which a flavor, image or aggregate requires a trait."""
    return f"{_PREFIX}{name}"


def requires(key: str, value: str) -> str | None:
    """Return the trait that a flavor's pair requires.

    Flavors may number or name the group: ``trait1:X``, ``trait_gpu:X``
    (nova/scheduler/utils.py, ``ResourceRequest.XS_KEYPAT``).
    """
    found = _KEY.fullmatch(key)
    return found.group(1) if found and value == REQUIRED else None


def in_group(key: str) -> bool:
    """Tell whether a flavor's key is about a trait of a numbered or named group."""
    return bool(_KEY.fullmatch(key)) and not key.startswith(_PREFIX)


def required_by(specs: Mapping[str, str]) -> frozenset[str]:
    """Return the traits that a flavor's extra specs require, in whichever group."""
    found = (requires(key, value) for key, value in specs.items())
    return frozenset(name for name in found if name)


def required_by_image(properties: Mapping[str, object]) -> frozenset[str]:
    """Return the traits that an image requires; its keys know no groups.

    nova/objects/image_meta.py, ``ImageMetaProps._set_attr_from_trait_names``
    """
    return frozenset(
        key[len(_PREFIX) :]
        for key, value in properties.items()
        if key.startswith(_PREFIX) and value == REQUIRED
    )


def names_trait(key: str, collation: Collation) -> bool:
    """Tell whether a key of an aggregate's metadata names a trait.

    nova/objects/aggregate.py, ``_get_non_matching_by_metadata_keys_from_db``.
    """
    return collation.begins(key, _PREFIX)


def isolating_keys(
    metadata: Mapping[str, str], collation: Collation
) -> tuple[str, ...]:
    """Return the keys of an aggregate's metadata that isolate it."""
    return tuple(
        key
        for key, value in metadata.items()
        if names_trait(key, collation) and collation.equal(value, REQUIRED)
    )


def trait_in(key: str, collation: Collation) -> str:
    """Return the trait in a key of an aggregate's metadata.

    Traits have no small letters, so it is the folded name where case does not count.
    """
    return collation.folded(key)[len(_PREFIX) :]


def isolated_by(metadata: Mapping[str, str], collation: Collation) -> dict[str, str]:
    """Return the traits that isolate an aggregate, each with its metadata key."""
    keys = isolating_keys(metadata, collation)
    return {trait_in(key, collation): key for key in keys}


def hosts_isolated_by(
    names: Set[str],
    aggregates: Iterable[tuple[Mapping[str, str], Iterable[str]]],
    collation: Collation,
) -> frozenset[str]:
    """Return the hosts of the aggregates that all of the traits isolate.

    :param aggregates: each one's metadata and service hosts
    """
    return frozenset(
        host
        for metadata, hosts in aggregates
        if names <= isolated_by(metadata, collation).keys()
        for host in hosts
    )
