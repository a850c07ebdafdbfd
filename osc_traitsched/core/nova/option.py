"""What an option of nova.conf is, in every release of Nova."""

from __future__ import annotations

import dataclasses
import enum
from typing import Union

from osc_traitsched.core.releases import NEWEST, OLDEST

Value = Union[bool, int, float, str, tuple[str, ...], None]


class Kind(enum.Enum):
    """The type of an option's values; oslo.config has types of the same names."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    FLOAT = "float"
    STRING = "string"
    LIST = "list"
    #: Of several lines and files, each with one text.
    MULTI = "several texts"


class Consumer(enum.Enum):
    """The part of Nova that an option matters to.

    Filters and weighers are nova-scheduler's own, and judge the hosts that Placement
    answers with. What nova-api and nova-conductor read of a move matters to that move
    alone. All others shape the request to Placement.
    """

    API = "nova-api"
    PREFILTER = "prefilter"
    DATABASE = "database"
    SCHEDULER = "nova-scheduler"
    FILTER = "filter"
    WEIGHER = "weigher"
    MOVE = "moves"


@dataclasses.dataclass(frozen=True)
class Option:
    """An option of nova.conf, as the releases of Nova register it.

    :ivar name: ``section.key``, as in ``scheduler.max_placement_results``; one
        without a section stands in no file, and is no setting of Nova's own
    :ivar default: its value where nobody sets it
    :ivar changed_defaults: a release and a value for each change of the default,
        the oldest first
    :ivar since: the first release that has it
    :ivar until: the first release that does not have it any more
    :ivar minimum: the lowest number that Nova takes
    :ivar choices: the strings that Nova takes, where it does not take any
    :ivar deprecated_names: other names that it is read under, each with the first
        release that does not read it any more
    :ivar default_source: whose default it is, in one line; a release's where empty
    """

    name: str
    kind: Kind
    default: Value
    consumer: Consumer
    changed_defaults: tuple[tuple[int, Value], ...] = ()
    since: int = OLDEST
    until: int = NEWEST + 1
    minimum: int | None = None
    choices: tuple[str, ...] = ()
    deprecated_names: tuple[tuple[str, int], ...] = ()
    default_source: str = ""

    @property
    def section(self) -> str:
        """The section of nova.conf that it stands in; empty for none."""
        return self.name.rpartition(".")[0]

    @property
    def key(self) -> str:
        """Its name within the section."""
        return self.name.rpartition(".")[2]

    def is_in(self, release: int) -> bool:
        """Tell whether a release has the option."""
        return self.since <= release < self.until

    def default_in(self, release: int) -> Value:
        """Return the default of a release."""
        changed = (value for first, value in self.changed_defaults if first <= release)
        return (self.default, *changed)[-1]

    def names_in(self, release: int) -> tuple[str, ...]:
        """Return the names that a release reads it under, the right one first."""
        deprecated = (name for name, until in self.deprecated_names if release < until)
        return (self.name, *deprecated)
