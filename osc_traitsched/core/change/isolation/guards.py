"""What must still be so right before flavors, hosts and aggregates are written."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core import errors
from osc_traitsched.core.change.guard import KeysCame
from osc_traitsched.core.change.model import State
from osc_traitsched.core.inventory.collation import Collation
from osc_traitsched.core.inventory.trait_keys import (
    isolated_by,
    key_of,
)


class Contradiction(errors.BadQuestion):
    """A flavor that forbids what it would have to require."""

    def __init__(self, flavor: str, traits: tuple[str, ...]) -> None:
        super().__init__(f"{flavor}: {', '.join(traits)}")
        self.flavor = flavor
        self.traits = traits


class HostLeft(errors.AnswerIsNo):
    """A host left the aggregate since it was read: its traits are others' by now."""

    def __init__(self, host: str) -> None:
        super().__init__(host)
        self.host = host


@dataclasses.dataclass(frozen=True)
class DoesNotForbid:
    """A flavor forbids none of the traits that it is to require."""

    flavor: str
    names: tuple[str, ...]

    def refusal(self, found: State) -> Contradiction | None:
        """Return the traits that it has come to forbid, as an error."""
        keys = found.keys
        forbidden = tuple(n for n in self.names if keys.get(key_of(n)) == "forbidden")
        return Contradiction(self.flavor, forbidden) if forbidden else None


@dataclasses.dataclass(frozen=True)
class StillOpen:
    """An aggregate is not isolated by the traits again, and still has the host.

    Traits that isolate it again are not to be taken from what has to have them. A host
    that left may be where something else needs its traits.

    :ivar host: one of its hosts; empty where the traits are taken from something else
    :ivar collation: how Nova's database compares its metadata
    """

    names: frozenset[str]
    host: str = ""
    collation: Collation = Collation.CASE_INSENSITIVE

    def refusal(self, found: State) -> HostLeft | KeysCame | None:
        """Return why the traits have to stay, as an error."""
        metadata = {key: str(value) for key, value in found.keys.items()}
        present = isolated_by(metadata, self.collation)
        came = [key for name, key in present.items() if name in self.names]
        if came:
            return KeysCame(came)
        left = self.host and self.host not in found.hosts
        return HostLeft(self.host) if left else None
