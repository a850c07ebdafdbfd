"""What must still be so right before an aggregate is closed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from osc_traitsched.core import errors
from osc_traitsched.core.change.model import State
from osc_traitsched.core.inventory.collation import Collation
from osc_traitsched.core.inventory.trait_keys import isolating_keys
from osc_traitsched.text import listed, quoted


class HostsJoined(errors.AnswerIsNo):
    """Hosts joined the aggregate since it was read, and may lack what isolates it."""

    def __init__(self, hosts: Iterable[str]) -> None:
        self.hosts = tuple(sorted(hosts))

    def __str__(self) -> str:
        hosts = listed(self.hosts)
        return f"{hosts} joined the aggregate meanwhile; run the command again"


class KeysCame(errors.AnswerIsNo):
    """Somebody isolated the aggregate by other traits since it was read."""

    def __init__(self, keys: Iterable[str]) -> None:
        self.keys = tuple(sorted(keys))

    def __str__(self) -> str:
        keys = listed(map(quoted, self.keys))
        return f"{keys} came to isolate the aggregate meanwhile; run the command again"


@dataclasses.dataclass(frozen=True)
class AsForeseen:
    """An aggregate has gained neither hosts nor keys that isolate it.

    :ivar hosts: those that it had when the plan was made, and those that join it
    :ivar keys: those that isolated it then, and those that are to
    :ivar collation: how Nova's database compares them
    """

    hosts: frozenset[str]
    keys: frozenset[str]
    collation: Collation = Collation.CASE_INSENSITIVE

    def refusal(self, found: State) -> HostsJoined | KeysCame | None:
        """What it has gained, as an error; None for nothing."""
        if joined := found.hosts - self.hosts:
            return HostsJoined(joined)
        metadata = {key: str(value) for key, value in found.keys.items()}
        came = frozenset(isolating_keys(metadata, self.collation)) - self.keys
        return KeysCame(came) if came else None
