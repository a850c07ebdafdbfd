"""What must still be so right before flavors, hosts and aggregates are written."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from osc_traitsched.core import errors
from osc_traitsched.core.change.model import Change, State
from osc_traitsched.core.inventory.collation import Collation
from osc_traitsched.core.inventory.trait_keys import (
    isolated_by,
    isolating_keys,
    key_of,
)


class Contradiction(errors.BadQuestion):
    """A flavor that forbids what it would have to require."""

    def __init__(self, flavor: str, traits: tuple[str, ...]) -> None:
        super().__init__(f"{flavor}: {', '.join(traits)}")
        self.flavor = flavor
        self.traits = traits


class HostsJoined(errors.AnswerIsNo):
    """Hosts joined the aggregate since it was read, and lack what it is isolated by."""

    def __init__(self, hosts: Iterable[str]) -> None:
        self.hosts = tuple(sorted(hosts))
        super().__init__(", ".join(self.hosts))


class KeysCame(errors.AnswerIsNo):
    """Others isolated the aggregate, too, since it was read.

    Which flavors both together leave without a host was not foreseen.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        self.keys = tuple(sorted(keys))
        super().__init__(", ".join(self.keys))


class NoLongerCloses(errors.AnswerIsNo):
    """An aggregate no longer keeps requests from hosts as it was to.

    :ivar changed: the keys that did so and are gone, or have other values; empty where
        hosts left it
    :ivar left: the hosts that did, where all keys are as they were
    """

    def __init__(
        self, aggregate: str, changed: Iterable[str], left: Iterable[str]
    ) -> None:
        self.aggregate = aggregate
        self.changed = tuple(sorted(changed))
        self.left = tuple(sorted(left))
        super().__init__(f"{aggregate}: {', '.join((*self.changed, *self.left))}")


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
class AsForeseen:
    """An aggregate has gained neither hosts nor keys that isolate it.

    One that has lost hosts is closed all the same: it keeps requests from fewer hosts
    than was foreseen.

    :ivar hosts: those that it had when the plan was made
    :ivar keys: those that isolated it then, and those that are to
    :ivar collation: how Nova's database compares them
    """

    hosts: frozenset[str]
    keys: frozenset[str]
    collation: Collation = Collation.CASE_INSENSITIVE

    def refusal(self, found: State) -> HostsJoined | KeysCame | None:
        """Return what it has gained, as an error."""
        joined = found.hosts - self.hosts
        if joined:
            return HostsJoined(joined)
        metadata = {key: str(value) for key, value in found.keys.items()}
        came = frozenset(isolating_keys(metadata, self.collation)) - self.keys
        return KeysCame(came) if came else None


def as_foreseen(
    change: Change, collation: Collation, joining: Iterable[str] = ()
) -> Change:
    """Return a change that closes an aggregate only if others have not changed it.

    :param joining: hosts that the same plan puts into it
    """
    metadata = {key: str(value) for key, value in change.found.keys.items()}
    hosts = change.found.hosts.union(joining)
    keys = frozenset({*isolating_keys(metadata, collation), *change.after})
    return dataclasses.replace(change, guard=AsForeseen(hosts, keys, collation))


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


@dataclasses.dataclass(frozen=True)
class StillCloses:
    """An aggregate keeps requests from its hosts as it did, or from more.

    :ivar name: the aggregate's
    :ivar hosts: those that are to be in it by now
    :ivar keys: the metadata that closes it
    """

    name: str
    hosts: frozenset[str]
    keys: Mapping[str, str]

    def refusal(self, found: State) -> NoLongerCloses | None:
        """Return what closes its hosts no more, as an error."""
        keys = self.keys.items()
        changed = [key for key, value in keys if found.keys.get(key) != value]
        left = self.hosts - found.hosts
        if changed or left:
            return NoLongerCloses(self.name, changed, () if changed else left)
        return None
