"""Progress is for a person at a terminal, and for work that takes a while."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import time

import pytest

from tests.functional import shell
from tests.functional.nova import Nova

PROGRAM = "import sys; from openstackclient import shell; sys.exit(shell.main())"


@pytest.fixture
def slow(placement, proxy):
    """A Placement that takes its time for each of thirty writes."""
    placement.create_traits("CUSTOM_GOLD")
    for number in range(30):
        placement.add_host(f"cmp{number:02d}")

    def wait(request):
        if request.is_write:
            time.sleep(0.07)

    proxy.fault = wait
    return proxy


ADD = ("trait-sched", "add", "CUSTOM_GOLD", "--all", "-f", "json")
LIST = ("trait-sched", "list", "-f", "json")


def start(proxy, folder, stderr, arguments=ADD):
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, *arguments],
        env={**os.environ, **shell.login(proxy.url)},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=stderr,
    )


def at_a_terminal(proxy, folder, arguments=ADD):
    """Return the output of a command that ends well, and what its terminal gets."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = start(proxy, folder, theirs, arguments)
    os.close(theirs)
    shown = b""
    # The end of a terminal is an error to who reads it.
    with contextlib.suppress(OSError):
        while part := os.read(ours, 4096):
            shown += part
    out, _ = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 0
    return out, shown


def left_of(shown):
    """Return what is left of it on a terminal of one line."""
    line = ""
    for part in shown.decode().split("\r"):
        line = part + line[len(part) :]
    return line.strip()


@pytest.mark.full
def test_a_terminal_shows_how_far_it_is_and_json_stays_clean(slow, tmp_path):
    out, shown = at_a_terminal(slow, tmp_path)
    assert b"/30 [" in shown
    assert b"/30 [" not in out
    assert out.startswith(b"[")


def test_a_file_gets_no_progress(slow, tmp_path):
    process = start(slow, tmp_path, subprocess.PIPE)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")


@pytest.fixture
def thinking(placement, proxy):
    """A Placement that thinks for a while before it lists providers."""
    placement.add_host("cmp00")

    def wait(request):
        if request.path.startswith("/resource_providers?"):
            time.sleep(0.2)
        elif request.path == "/resource_providers":
            time.sleep(2.5)

    proxy.fault = wait
    return proxy


def test_a_terminal_shows_what_is_read_and_it_is_gone_in_the_end(thinking, tmp_path):
    out, shown = at_a_terminal(thinking, tmp_path, LIST)
    assert shown.startswith(b"\rreading resource providers ...\r")
    assert shown.count(b"reading") > 1
    assert left_of(shown) == ""
    assert out.startswith(b"[")


@pytest.mark.full
@pytest.mark.full
def test_what_is_read_at_once_is_not_shown(placement, proxy, tmp_path):
    placement.add_host("cmp00")
    _, shown = at_a_terminal(proxy, tmp_path, LIST)
    assert shown == b""


def test_who_wants_it_quiet_sees_nothing_of_reading(thinking, tmp_path):
    _, shown = at_a_terminal(thinking, tmp_path, ("--quiet", *LIST))
    assert shown == b""


def test_a_pipe_gets_nothing_of_reading(thinking, tmp_path):
    process = start(thinking, tmp_path, subprocess.PIPE, LIST)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")


def with_nova(placement, proxy, folder):
    """Let a made-up Nova list all hosts, and want a trait of all of them."""
    listed = placement.call("GET", "/resource_providers")["resource_providers"]
    wait = proxy.fault
    Nova(proxy, [(each["name"], each["uuid"]) for each in listed], {}).fault = wait
    text = 'version: 1\ntraits: {CUSTOM_GOLD: {hosts: ["*"]}}\n'
    (folder / "desired.yaml").write_text(text, encoding="utf-8")


def test_apply_shows_how_far_it_is(placement, slow, tmp_path):
    with_nova(placement, slow, tmp_path)
    command = ("trait-sched", "apply", "desired.yaml", "-f", "json")
    out, shown = at_a_terminal(slow, tmp_path, command)
    assert b"/30 [" in shown
    assert out.startswith(b"[")
