"""A service that hangs or that nobody runs is named in one line, in time."""

from __future__ import annotations

import re
import socket
import threading
import time

import pytest

from tests.functional import shell
from tests.functional.proxy import CutBefore

TIMEOUT = 2


@pytest.fixture
def silent():
    """The URL of a service that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def closed():
    """The URL of a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
    return url


def listed(url, *options):
    return shell.run(shell.login(url), *options, "trait-sched", "list")


def test_a_service_that_hangs_is_named_after_the_timeout(silent):
    begin = time.monotonic()
    run = shell.run(
        shell.login(silent), "trait-sched", "list", "--timeout", str(TIMEOUT)
    )
    assert time.monotonic() - begin < 2 * TIMEOUT
    assert (run.code, run.out) == (1, "")
    # The oldest client does not look first which versions there are.
    assert re.fullmatch(
        rf"placement: no answer from {silent}/\S* within {TIMEOUT} s\n", run.err
    )


def test_a_service_that_begins_to_hang_is_named_after_the_timeout(proxy, openstack):
    end = threading.Event()
    proxy.fault = lambda request: end.wait() and None if request.path != "/" else None
    begin = time.monotonic()
    run = openstack("list", "--timeout", str(TIMEOUT))
    end.set()
    assert time.monotonic() - begin < 2 * TIMEOUT
    assert run.err == (
        f"placement: no answer from {proxy.url}/resource_providers within {TIMEOUT} s\n"
    )


def test_a_port_that_nobody_listens_on_is_one_line(closed):
    run = listed(closed)
    assert (run.code, run.out) == (1, "")
    assert re.fullmatch(
        rf"placement: no connection to {closed}/\S*: connection refused\n", run.err
    )


def test_a_name_that_is_not_known_is_one_line():
    run = listed("http://placement.invalid:8778")
    assert run.code == 1
    (line,) = run.err.splitlines()
    assert line.startswith("placement: no connection to http://placement.invalid:8778/")
    assert "HTTPConnectionPool" not in line


def test_a_service_that_hangs_up_is_one_line(proxy, openstack):
    proxy.fault = lambda request: CutBefore() if request.path != "/" else None
    run = openstack("list")
    assert run.err == (
        f"placement: {proxy.url}/resource_providers ended the connection before the "
        "end of its answer\n"
    )


def test_a_read_whose_connection_was_kept_too_long_is_sent_again(proxy, openstack):
    proxy.fault = lambda request: CutBefore() if request.number == 2 else None
    run = openstack("list")
    assert (run.code, run.err) == (0, "")
