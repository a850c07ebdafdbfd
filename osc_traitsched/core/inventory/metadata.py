"""Metadata of aggregates: zones, traits, projects."""

from __future__ import annotations

import dataclasses
import enum
import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

# How Nova's database compares the metadata of aggregates.
#
# nova/objects/aggregate.py compares keys and values in SQL, and so by the collation of
# the tables. Those of MariaDB and MySQL are ``utf8_general_ci`` where nobody chose
# otherwise (nova/db/api/migrations, ``mysql_charset``).


class Collation(enum.Enum):
    """Text comparison of Nova's database."""

    #: As in MariaDB and MySQL: neither case, nor accents, nor spaces at the end count.
    CASE_INSENSITIVE = "case-insensitive"
    #: As in SQLite: only equal texts are.
    CASE_SENSITIVE = "case-sensitive"

    def folded(self, text: str) -> str:
        """A key that is the same for all texts that the database treats as equal."""
        if self is Collation.CASE_SENSITIVE:
            return text
        return _folded(text)

    def equal(self, one: str, other: str) -> bool:
        """Whether the database treats two texts as equal."""
        return self.folded(one) == self.folded(other)

    def begins(self, text: str, prefix: str) -> bool:
        """Whether the text matches ``LIKE 'prefix%'``; SQLite ignores case here."""
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
    if character in _ODD:
        return _ODD[character]
    base, *marks = list(unicodedata.normalize("NFD", character))
    if not marks or not all(map(unicodedata.combining, marks)):
        base = character
    upper = base.upper()
    return upper if len(upper) == 1 else base


# The key by which a host aggregate is an availability zone.


ZONE_KEY = "availability_zone"

#: The prefix of metadata keys that name a project each.
TENANT_KEY = "filter_tenant_id"


def zone_in(metadata: Mapping[str, str], collation: Collation) -> str | None:
    """Availability zone by metadata, or None (``_get_by_metadata_from_db``)."""
    zones = (zone for key, zone in metadata.items() if collation.equal(key, ZONE_KEY))
    return next(zones, None)


def zone_keys(metadata: Mapping[str, str], collation: Collation) -> tuple[str, ...]:
    """The key of the availability zone as Nova shows it, or none."""
    return tuple(key for key in metadata if key == ZONE_KEY)


# The keys by which flavors, images and aggregates require traits.


REQUIRED, FORBIDDEN = "required", "forbidden"

_PREFIX = "trait:"
_KEY = re.compile(r"trait[a-zA-Z0-9_-]{0,64}:(.+)")


def key_of(name: str) -> str:
    """The key that requires a trait: ``trait:NAME``."""
    return f"{_PREFIX}{name}"


def requires(key: str, value: str) -> str | None:
    """Trait that an extra spec requires, or None; ``trait_gpu:X`` has a suffix.

    nova/scheduler/utils.py, ``ResourceRequest.XS_KEYPAT``
    """
    found = _KEY.fullmatch(key)
    return found.group(1) if found and value == REQUIRED else None


def in_group(key: str) -> bool:
    """Whether an extra spec is about a trait of a suffixed group."""
    return bool(_KEY.fullmatch(key)) and not key.startswith(_PREFIX)


def required_by(specs: Mapping[str, str]) -> frozenset[str]:
    """Traits that extra specs require, in any group."""
    found = (requires(key, value) for key, value in specs.items())
    return frozenset(name for name in found if name)


def required_by_image(properties: Mapping[str, object]) -> frozenset[str]:
    """Traits that image properties require; images have no suffixed groups.

    nova/objects/image_meta.py, ``ImageMetaProps._set_attr_from_trait_names``
    """
    return frozenset(
        key[len(_PREFIX) :]
        for key, value in properties.items()
        if key.startswith(_PREFIX) and value == REQUIRED
    )


def names_trait(key: str, collation: Collation) -> bool:
    """Whether a metadata key of an aggregate names a trait.

    nova/objects/aggregate.py, ``_get_non_matching_by_metadata_keys_from_db``
    """
    return collation.begins(key, _PREFIX)


def isolating_keys(
    metadata: Mapping[str, str], collation: Collation
) -> tuple[str, ...]:
    """Metadata keys that isolate an aggregate: ``trait:X=required``."""
    return tuple(
        key
        for key, value in metadata.items()
        if names_trait(key, collation) and collation.equal(value, REQUIRED)
    )


def trait_in(key: str, collation: Collation) -> str:
    """Trait in an aggregate's metadata key; upper case if case does not matter."""
    return collation.folded(key)[len(_PREFIX) :]


def isolated_by(metadata: Mapping[str, str], collation: Collation) -> dict[str, str]:
    """Metadata keys that isolate an aggregate, by trait."""
    keys = isolating_keys(metadata, collation)
    return {trait_in(key, collation): key for key in keys}


# The projects that the metadata of aggregates names.


_ID = re.compile("[0-9a-f]{32}")


def is_project_id(project: str) -> bool:
    """Whether a text is a project ID of Keystone: Nova compares no names."""
    return bool(_ID.fullmatch(project))


def projects_of(value: str) -> tuple[str, ...]:
    """Projects in a metadata value, a comma-separated list.

    nova/scheduler/filters/aggregate_multitenancy_isolation.py
    """
    return tuple(part.strip() for part in value.split(",") if part.strip())


def projects_in(metadata: Mapping[str, str]) -> frozenset[str]:
    """IDs of the projects that an aggregate's metadata names."""
    values = (v for key, v in metadata.items() if key.startswith(TENANT_KEY))
    return frozenset(project for value in values for project in projects_of(value))


def project_keys(metadata: Mapping[str, str], collation: Collation) -> tuple[str, ...]:
    """Sorted ``filter_tenant_id*`` keys; none if they name no project."""
    keys = sorted(key for key in metadata if key.startswith(TENANT_KEY))
    return tuple(keys) if projects_in(metadata) else ()


def single_project_values(metadata: Mapping[str, str]) -> Iterator[str]:
    """Values of ``filter_tenant_id*`` keys that are not comma-separated lists."""
    for key, value in metadata.items():
        if key.startswith(TENANT_KEY) and value and "," not in value:
            yield value


def placement_projects(metadata: Mapping[str, str]) -> frozenset[str]:
    """Projects for which the prefilter asks Placement for the aggregate.

    It compares whole values, so it ignores comma-separated lists
    (nova/scheduler/request_filter.py, ``require_tenant_aggregate``). MySQL ignores
    trailing spaces.
    """
    values = (value.rstrip(" ") for value in single_project_values(metadata))
    return frozenset(values) & projects_in(metadata)


def new_project_keys(
    projects: Iterable[str], keys: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """An unused ``filter_tenant_id_*`` key for each project, unique without case."""
    taken = {key.lower() for key in keys} | {TENANT_KEY}
    for project in projects:
        ends = (project, *map(str, range(2, len(taken) + 3)))
        possible = (f"{TENANT_KEY}_{end}" for end in ends)
        key = next(each for each in possible if each.lower() not in taken)
        taken.add(key.lower())
        yield key, project


# What the metadata of an aggregate means to Nova, read once.


@dataclasses.dataclass(frozen=True)
class AggregatePolicy:
    """Requests that an aggregate accepts.

    :ivar traits: that isolate it: ``trait:X=required``
    :ivar projects: IDs in ``filter_tenant_id*`` keys (AggregateMultiTenancyIsolation)
    """

    zone: str | None = None
    traits: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()

    @classmethod
    def read(
        cls,
        metadata: Mapping[str, str | None],
        collation: Collation = Collation.CASE_INSENSITIVE,
    ) -> AggregatePolicy:
        """Policy of an aggregate with this metadata; None means a missing key."""
        keys = {key: value for key, value in metadata.items() if value is not None}
        return cls(
            keys.get(ZONE_KEY),
            frozenset(isolated_by(keys, collation)),
            projects_in(keys),
        )

    @property
    def is_closed(self) -> bool:
        """Whether it keeps some requests off its hosts."""
        return bool(self.traits or self.projects)

    def loses_projects(self, then: AggregatePolicy) -> bool:
        """Whether the later policy excludes a project that this one admits."""
        is_open = not self.projects
        return bool(then.projects) and (is_open or bool(self.projects - then.projects))

    def gains_projects(self, then: AggregatePolicy) -> bool:
        """Whether the later policy admits a project that this one excludes."""
        return bool(self.projects) and (
            not then.projects or bool(then.projects - self.projects)
        )
