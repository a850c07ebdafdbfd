"""Moves that make room: the fewest, and of these the least memory."""

from __future__ import annotations

import dataclasses
import itertools
import random

import pytest

from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.placement.facts import ProviderUse
from osc_traitsched.core.servers import drain
from osc_traitsched.core.servers.drain import MoveRequest, State, Tenant
from tests.unit.core.test_drain import MEMORY, question
from tests.unit.core.test_explanation import explained
from tests.unit.core.weigher import host
from tests.unit.views.test_drain import server_move


def planned(wanted, cloud, count=1, policy=None, kept=()):
    """The plan for servers of so much memory.

    :param cloud: by host: MB of memory that are free, and the servers' sizes
    :param kept: hosts whose servers can't move
    """
    body = {
        name: {
            "inventories": {
                "VCPU": 99,
                "DISK_GB": 999,
                MEMORY: {"total": free + sum(sizes), "used": sum(sizes)},
            }
        }
        for name, (free, sizes) in cloud.items()
    }
    roomy = [name for name, (free, _) in cloud.items() if free >= wanted]
    found = explained({"cloud": body, "flavor": {"ram": wanted}}, roomy)
    asked = found.question.with_spec(count=count)
    if policy:
        group = ServerGroup("new", policy)
        asked = dataclasses.replace(asked, group=group, servers={})
    found = dataclasses.replace(found, question=asked)
    uuids = {each.name: each.uuid for each in found.hosts}
    tenants = []
    for name, (_, sizes) in cloud.items():
        others = [uuid for other, uuid in uuids.items() if other != name]
        requests = {
            size: MoveRequest(
                question(size),
                {uuid: ((ProviderUse(uuid, MEMORY, size),),) for uuid in others},
            )
            for size in sizes
        }
        tenants += [
            Tenant(
                server_move(f"{name}-{number}", host=name),
                requests[size],
                uuids[name],
                (ProviderUse(uuids[name], MEMORY, size),),
            )
            for number, size in enumerate(sizes)
            if name not in kept
        ]
    states, left = {}, {}
    for name, (free, _) in cloud.items():
        one = host(name, free_ram_mb=free)
        compute = dataclasses.replace(one.compute, uuid=uuids[name])
        states[uuids[name]] = dataclasses.replace(one, compute=compute)
        left[uuids[name], MEMORY] = free
    return drain.plan(found, tenants, State(states, left))


def moves(plan):
    return {step.server_move.state.name: step.to.node for step in plan.steps}


@pytest.mark.parametrize(
    ("wanted", "cloud", "more", "expected"),
    [
        (4, {"a": (2, [2, 4]), "b": (3, [5])}, {}, {"a-0": "b"}),
        # Two moves of little memory are more than one of much.
        (6, {"a": (2, [2, 2, 4]), "b": (5, [9])}, {}, {"a-2": "b"}),
        (6, {"a": (2, [2, 2, 4]), "b": (3, []), "c": (3, [])}, {}, 2),
        (6, {"a": (0, [2, 2, 2]), "b": (2, []), "c": (4, [9])}, {}, 3),
        (7, {"a": (1, [2, 2, 2, 8]), "b": (5, [9]), "c": (1, [])}, {}, None),
        (4, {"a": (1, [2, 4]), "b": (3, [5])}, {"kept": "a"}, None),
        # The second server takes the room of the first.
        (4, {"a": (2, [2]), "b": (2, [2]), "c": (3, [])}, {"count": 2}, None),
        (
            4,
            {"a": (2, [2]), "b": (2, [2]), "c": (2, []), "d": (2, [])},
            {"count": 2},
            {"a-0": "c", "b-0": "d"},
        ),
        (4, {"a": (4, [4]), "b": (3, [1]), "c": (3, [])}, {"count": 2}, {"b-0": "c"}),
        (
            4,
            {"a": (4, [4]), "b": (4, [4]), "c": (3, [3])},
            {"count": 3, "policy": "anti-affinity"},
            None,
        ),
        (
            4,
            {"a": (6, [4]), "b": (4, [4]), "c": (3, [2])},
            {"count": 3, "policy": "anti-affinity"},
            {"c-0": "a"},
        ),
    ],
)
def test_the_fewest_moves_make_room(wanted, cloud, more, expected):
    found = moves(planned(wanted, cloud, **more))
    if isinstance(expected, int):
        assert len(found) == expected
    else:
        assert found == (expected or {})


@pytest.mark.parametrize(
    ("cloud", "more", "tried"),
    [
        ({"a": (2, [2]), "b": (2, [])}, {}, ("a",)),
        ({"a": (2, [1]), "b": (1, [])}, {}, ()),
        ({"a": (4, [4]), "b": (4, [])}, {"count": 3}, ("a",)),
        ({"a": (4, [4]), "b": (4, [])}, {"count": 4}, ()),
        ({"a": (4, [4])}, {"count": 2, "policy": "anti-affinity"}, ()),
    ],
)
def test_only_hosts_that_would_gain_room_are_tried(cloud, more, tried):
    assert planned(4, cloud, **more).tried == tried


def fits(sizes, rooms):
    """Whether hosts with such rooms take servers of these sizes."""
    if not sizes:
        return True
    first, *others = sizes
    return any(
        fits(others, [*rooms[:n], left - first, *rooms[n + 1 :]])
        for n, left in enumerate(rooms)
        if left >= first
    )


def best(wanted, cloud):
    """Number and memory of the best moves off one host, by trying all."""
    found = [
        (number, sum(several))
        for name, (free, sizes) in cloud.items()
        for number in range(1, drain.MOST_MOVES + 1)
        for several in itertools.combinations(sizes, number)
        if free + sum(several) >= wanted
        and fits(several, [left for other, (left, _) in cloud.items() if other != name])
    ]
    return min(found, default=None)


@pytest.mark.parametrize("seed", range(150))
def test_no_other_moves_are_better(seed):
    dice = random.Random(seed)
    wanted = dice.randint(6, 10)
    cloud = {
        name: (dice.randrange(wanted), [dice.randint(1, 6) for _ in range(5)])
        for name in "abcde"[: dice.randint(2, 5)]
    }
    plan = planned(wanted, cloud)
    sizes = {f"{name}-{n}": s for name in cloud for n, s in enumerate(cloud[name][1])}
    memory = sum(sizes[step.server_move.state.name] for step in plan.steps)
    assert best(wanted, cloud) == ((len(plan.steps), memory) if plan.steps else None)
    (where, *more) = {s.server_move.state.host for s in plan.steps} or {"a"}
    assert not more
    left = {name: free for name, (free, _) in cloud.items()}
    for step in plan.steps:
        left[step.to.node] -= sizes[step.server_move.state.name]
        left[where] += sizes[step.server_move.state.name]
    assert min(left.values()) >= 0
    assert list(plan.hosts) == [name for name in sorted(left) if left[name] >= wanted]
