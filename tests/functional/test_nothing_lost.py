"""Many who change one provider at the same time: no trait is ever lost."""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Iterator

import pytest

from tests.functional.placement import INVENTORIES, STANDARD, Placement

pytestmark = pytest.mark.one_client

PROCESSES = 20
EACH = 10


@pytest.fixture
def provider(placement):
    return placement.add_host("cmp1", [*STANDARD, "CUSTOM_BEFORE"])


def names(number, prefix="CUSTOM_P"):
    return [f"{prefix}{number}_{each}" for each in range(EACH)]


def every_name(prefix="CUSTOM_P"):
    return {name for number in range(PROCESSES) for name in names(number, prefix)}


@contextlib.contextmanager
def rival(placement: Placement, provider: str) -> Iterator[list[str]]:
    """Change everything else of a provider, all the time.

    A change every few hundredths of a second is a thousand times what nova-compute
    makes; without any pause nobody else could ever write.
    """
    stop = threading.Event()
    done: list[str] = []

    def change(kind: str, turn: int) -> None:
        path = f"/resource_providers/{provider}/{kind}"
        generation = placement.generation(provider)
        body: dict[str, object] = {"resource_provider_generation": generation}
        if kind == "inventories":
            totals = {**INVENTORIES, "DISK_GB": 500 + turn % 2}
            body["inventories"] = {name: {"total": n} for name, n in totals.items()}
        else:
            body["aggregates"] = [str(uuid.UUID(int=turn % 2))]
        if placement.try_call("PUT", path, body).status == 200:
            done.append(kind)

    def run() -> None:
        turn = 0
        while not stop.is_set():
            turn += 1
            change("inventories", turn)
            stop.wait(0.02)
            change("aggregates", turn)
            stop.wait(0.02)
            if turn % 20 == 1:
                placement.allocate(provider, VCPU=1)
                done.append("allocations")

    thread = threading.Thread(target=run)
    thread.start()
    yield done
    stop.set()
    thread.join()


def run_until_all_are_done(background, commands):
    """Run the commands side by side, and again those that could not finish."""
    for _ in range(3):
        started = [(command, background(*command)) for command in commands]
        ended = [(command, process.wait()) for command, process in started]
        for _, run in ended:
            assert run.code in (0, 1), run.err
            left = {"failed", "unknown"}.intersection(run.statuses.values())
            assert (run.code == 1) is bool(left)
        commands = [command for command, run in ended if run.code]
        if not commands:
            return
    pytest.fail(f"still not done: {commands}")


def test_twenty_processes_add_ten_traits_each_and_all_two_hundred_are_there(
    placement, provider, background
):
    run_until_all_are_done(
        background,
        [
            ("add", *names(n), "--host", "cmp1", "--create", "-f", "json")
            for n in range(PROCESSES)
        ],
    )
    expected = {*STANDARD, "CUSTOM_BEFORE", *every_name()}
    assert placement.traits(provider) == expected


@pytest.mark.full
@pytest.mark.full
def test_the_same_with_a_rival_who_changes_all_else(placement, provider, background):
    with rival(placement, provider) as changes:
        run_until_all_are_done(
            background,
            [
                ("add", *names(n), "--host", "cmp1", "--create", "-f", "json")
                for n in range(PROCESSES)
            ],
        )
    assert {"inventories", "aggregates", "allocations"} == set(changes)
    expected = {*STANDARD, "CUSTOM_BEFORE", *every_name()}
    assert placement.traits(provider) == expected


def test_some_add_while_others_remove(placement, provider, background):
    old, new = "CUSTOM_OLD", "CUSTOM_NEW"
    there = {*STANDARD, "CUSTOM_BEFORE"}
    placement.set_traits(provider, there | every_name(old))
    half = PROCESSES // 2
    adding = [
        ("add", *names(n, new), "--host", "cmp1", "--create", "-f", "json")
        for n in range(half)
    ]
    removing = [
        ("remove", *names(n, old), "--host", "cmp1", "--force", "-f", "json")
        for n in range(half)
    ]
    pairs = zip(adding, removing)
    run_until_all_are_done(background, [each for pair in pairs for each in pair])
    kept = {name for n in range(half, PROCESSES) for name in names(n, old)}
    added = {name for n in range(half) for name in names(n, new)}
    assert placement.traits(provider) == there | kept | added
