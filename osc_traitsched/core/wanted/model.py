"""What files want of a cloud, as values: one wish a unit, each with its line.

A unit is one thing that can be wanted or wanted absent by itself: a trait on a
provider, a host in an aggregate, a key of an aggregate's metadata, a trait's key of a
flavor or an image. What no wish names is neither read as a difference nor written.
"""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Iterable

from osc_traitsched.core.errors import BadQuestion, TraitSchedError
from osc_traitsched.core.inventory.trait import is_wellformed
from osc_traitsched.text import visible

#: All names of os-traits have an underscore, and so has every custom one. What YAML
#: takes for a number or for yes and no has none.
_TRAIT = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+")

#: What a name of a group begins with where hosts are named.
GROUP = "@"


def is_trait(name: str) -> bool:
    """Tell whether a line can name a trait so."""
    return bool(_TRAIT.fullmatch(name)) and is_wellformed(name)


#: Of a name, a zone, or a key: what Nova's database has room for, and its API takes.
MOST_LETTERS = 255


#: The first letter that no name of the API can have: emojis come after it.
_BEYOND_NAMES = "\uffff"


def is_name(name: str) -> bool:
    """Tell whether Nova lets an aggregate be made with such a name.

    nova/api/validation/parameter_types.py, ``name``
    """
    is_clean = name == name.strip() and name.isprintable()
    return is_clean and 0 < len(name) <= MOST_LETTERS and max(name) < _BEYOND_NAMES


def is_zone(name: str) -> bool:
    """Tell whether Nova lets an aggregate be made with such a zone.

    nova/api/validation/parameter_types.py, ``az_name``. Later it takes others as well,
    and nobody can ask for those.
    """
    return is_name(name) and ":" not in name


@dataclasses.dataclass(frozen=True)
class Place:
    """Where something stands.

    :ivar path: the file as the user named it, ``-`` for standard input
    :ivar line: from 1
    """

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclasses.dataclass(frozen=True)
class Text:
    """What is written somewhere; two of the same words are equal."""

    text: str
    place: Place = dataclasses.field(compare=False)


class Part(enum.Enum):
    """What a wish is about: a section of a file, and a key of an object in it."""

    TRAIT_HOSTS = ("traits", "hosts")
    TRAIT_PROVIDERS = ("traits", "providers")
    ZONE = ("aggregates", "zone")
    MEMBERS = ("aggregates", "hosts")
    ISOLATION = ("aggregates", "isolated_for")
    TENANTS = ("aggregates", "tenants")
    FLAVOR_REQUIRES = ("flavors", "requires")
    FLAVOR_FORBIDS = ("flavors", "forbids")
    IMAGE_REQUIRES = ("images", "requires")

    @property
    def section(self) -> str:
        """The top-level key."""
        return self.value[0]

    @property
    def key(self) -> str:
        """The key of an object of the section."""
        return self.value[1]

    @property
    def names_hosts(self) -> bool:
        """Whether what is wanted are patterns of hosts, and groups of them."""
        return self.key == "hosts"

    @property
    def names_traits(self) -> bool:
        """Whether what is wanted are traits."""
        return self.key in ("isolated_for", "requires", "forbids")


@dataclasses.dataclass(frozen=True)
class Wish:
    """One line that wants something.

    :ivar of: the trait, the aggregate, or the pattern of flavors or images
    :ivar value: what it must have: a pattern of hosts, a trait, a zone, a project
    :ivar absent: it shall not
    """

    part: Part
    of: Text
    value: Text
    absent: bool = False


@dataclasses.dataclass(frozen=True)
class Only:
    """Whoever is not named shall not have it.

    :ivar section: ``traits`` or ``aggregates``
    :ivar of: the trait or the aggregate
    """

    section: str
    of: Text


class Source(enum.Enum):
    """Where the hosts of a group come from."""

    NAMES = "names"
    INVENTORY = "inventory"
    AGGREGATE = "aggregate"
    ZONE = "zone"


@dataclasses.dataclass(frozen=True)
class Group:
    """A name for hosts.

    :ivar values: patterns of hosts, or the one inventory group, aggregate or zone
    :ivar variable: of the inventory's hosts, what their names are in; None if they
        go by their own
    """

    name: Text
    source: Source
    values: tuple[Text, ...]
    variable: Text | None = None


@dataclasses.dataclass(frozen=True)
class Wanted:
    """What one or several files want.

    :ivar hold: patterns of hosts that are left as they are
    """

    wishes: tuple[Wish, ...] = ()
    only: tuple[Only, ...] = ()
    groups: tuple[Group, ...] = ()
    hold: tuple[Text, ...] = ()

    @classmethod
    def joined(cls, parts: Iterable[Wanted]) -> Wanted:
        """Return what several want together."""
        parts = tuple(parts)
        return cls(
            tuple(wish for each in parts for wish in each.wishes),
            tuple(only for each in parts for only in each.only),
            tuple(group for each in parts for group in each.groups),
            tuple(text for each in parts for text in each.hold),
        )

    def of_part(self, *parts: Part) -> tuple[Wish, ...]:
        """Return the wishes about some parts."""
        return tuple(wish for wish in self.wishes if wish.part in parts)


@dataclasses.dataclass(eq=False)
class Wrong(BadQuestion):
    """What a line names is not there, or can't be wanted.

    :ivar place: the line
    :ivar error: why
    """

    place: Place
    error: TraitSchedError

    def __str__(self) -> str:
        if not self.place.path:
            # A command line wants it.
            return str(self.error)
        return f"{visible(str(self.place))}: {self.error!s}"
