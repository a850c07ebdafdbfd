"""What has changed in a cloud since a server failed, as far as Nova tells."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable
from typing import Any

from osc_traitsched.core.existing.history import moment

_HOST = "OS-EXT-SRV-ATTR:host"
#: Of moves that took a server to another host, or back.
_ENDED = frozenset(["completed", "confirmed", "done", "finished", "reverted"])


@dataclasses.dataclass(frozen=True)
class Changes:
    """What happened since a moment.

    nova-compute says every few seconds that it is there, and Nova keeps the last time
    only: so of one that is up it can't be told when it came.

    :ivar went_down: hosts whose nova-compute was last heard of since then
    :ivar was_down: hosts whose nova-compute was down then already
    :ivar made: the host of each server that was made since then and is on one
    :ivar deleted: and of each that was deleted since then
    :ivar moves: source and destination of each move that ended since then
    :ivar is_cut: there may be more servers and moves than were read
    :ivar unread: what this user may not read
    """

    went_down: tuple[str, ...] = ()
    was_down: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    moves: tuple[tuple[str, str], ...] = ()
    is_cut: bool = False
    unread: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known to have changed."""
        return not (self.went_down or self.made or self.deleted or self.moves)


def down(
    services: Iterable[Any], since: datetime.datetime
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the hosts whose nova-compute went down since then, and those before.

    :param services: bodies of the compute API
    """
    after: list[str] = []
    before: list[str] = []
    for each in services:
        heard = moment(each.get("updated_at"))
        if each["binary"] == "nova-compute" and each["state"] == "down" and heard:
            (after if heard > since else before).append(each["host"])
    return tuple(sorted(after)), tuple(sorted(before))


def servers(
    bodies: Iterable[Any], since: datetime.datetime, but: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the hosts of the servers that were made since then, and were deleted.

    :param bodies: of the compute API, those that changed since then
    :param but: the ID of the server that is asked about
    """
    made: list[str] = []
    deleted: list[str] = []
    for each in bodies:
        host, created = each.get(_HOST), moment(each["created"])
        if not host or each["id"] == but or created is None:
            continue
        is_new, is_gone = created > since, each["status"] == "DELETED"
        if is_new and not is_gone:
            made.append(host)
        elif is_gone and not is_new:
            deleted.append(host)
    return tuple(sorted(made)), tuple(sorted(deleted))


def moves(bodies: Iterable[Any], but: str) -> tuple[tuple[str, str], ...]:
    """Return from where to where servers were moved.

    :param bodies: migrations of the compute API, those that changed since then
    :param but: as for :func:`servers`
    """
    return tuple(
        (each["source_compute"], each["dest_compute"])
        for each in bodies
        if each["status"] in _ENDED
        and each["instance_uuid"] != but
        and each["source_compute"]
        and each["dest_compute"]
    )
