"""A real Placement for the tests, empty at the start of each, and the shell."""

from __future__ import annotations

import functools
import itertools
import pathlib
from collections.abc import Callable, Iterator

import pytest

from tests.functional import shell
from tests.functional.placement import Placement
from tests.functional.proxy import Proxy
from tests.services.placement import PlacementServer


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlacementServer]:
    with PlacementServer(tmp_path_factory.mktemp("placement")) as running:
        yield running


@pytest.fixture
def placement(server: PlacementServer) -> Iterator[Placement]:
    """Placement, with nothing in it but the standard traits."""
    found = Placement(server.url)
    yield found
    found.wipe()


@pytest.fixture
def proxy(placement: Placement) -> Iterator[Proxy]:
    """A proxy that the commands of the test go through."""
    running = Proxy(placement.url)
    yield running
    running.stop()


@pytest.fixture
def openstack(proxy: Proxy) -> Callable[..., shell.Run]:
    """Run ``openstack trait-sched ARGUMENTS`` in this process."""
    return functools.partial(shell.run, shell.login(proxy.url), "trait-sched")


@pytest.fixture
def background(
    proxy: Proxy, tmp_path: pathlib.Path
) -> Iterator[Callable[..., shell.Background]]:
    """Start ``openstack trait-sched ARGUMENTS`` in a process of its own."""
    numbers = itertools.count()
    started: list[shell.Background] = []

    def start(*arguments: str) -> shell.Background:
        started.append(
            shell.Background(
                shell.login(proxy.url),
                ("trait-sched", *arguments),
                tmp_path / f"run-{next(numbers)}.json",
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
