"""Places servers one after the other, the largest first, in a few ways."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.core.existing.drain import choosing
from osc_traitsched.core.existing.drain.choosing import Choice
from osc_traitsched.core.existing.drain.model import Leaving, Packing, Placed
from osc_traitsched.core.existing.drain.state import Free, State

#: So many more orders are tried where some servers find no room.
_MORE_ORDERS = 2


def pack(servers: Sequence[Leaving], state: State) -> Packing:
    """Return where servers could go, if they were moved one after the other.

    The first way spreads them as nova-scheduler would. If it leaves servers over, or
    needs a host that a filter may keep out, tighter ones are tried. What is best of
    these may not be the best there is: to find that is not possible in bearable time.

    :param servers: that each have a host, if they are moved alone
    :param state: before the first move
    """
    best: Packing | None = None
    for found in _tries(servers, state):
        if best is None or _badness(found) < _badness(best):
            best = found
        if not any(_badness(found)):
            break
    return best or Packing(())


def _badness(found: Packing) -> tuple[int, int]:
    return len(found.left), found.uncertain


def _tries(servers: Sequence[Leaving], state: State) -> Iterator[Packing]:
    order = largest_first(servers, state.free)
    yield _placed(order, state.copy(), choosing.as_nova)
    for _ in range(1 + _MORE_ORDERS):
        found = _placed(order, state.copy(), choosing.tightest)
        yield found
        if not found.left:
            return
        # What was left over goes first, and finds the hosts empty.
        order = [*found.left, *(each for each in order if each not in found.left)]


def largest_first(servers: Iterable[Leaving], free: Free) -> list[Leaving]:
    """Return servers by size: by what each needs most of, of all that is free of it.

    So what is scarce decides: memory in most clouds, GPUs where a few have them.
    """
    total: dict[str, int] = {}
    for (_, name), amount in free.items():
        total[name] = total.get(name, 0) + amount

    def size(server: Leaving) -> tuple[float, str, str]:
        need = server.asked.need
        share = max((need[name] / (total.get(name) or 1) for name in need), default=0)
        return -share, server.name, server.id

    return sorted(servers, key=size)


def _placed(servers: Iterable[Leaving], state: State, choose: Choice) -> Packing:
    placed: list[Placed] = []
    left: list[Leaving] = []
    for server in servers:
        found = dict(state.open_to(server.asked))
        certain = [root for root, doubts in found.items() if not doubts]
        if not found:
            left.append(server)
            continue
        root = choose(state, server, certain or tuple(found))
        state.move(server, root)
        placed.append(Placed(server, root, found[root]))
    return Packing(tuple(placed), tuple(left))
