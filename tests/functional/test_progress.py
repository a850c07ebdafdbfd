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


def start(proxy, folder, stderr):
    arguments = ("trait-sched", "add", "CUSTOM_GOLD", "--all", "-f", "json")
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, *arguments],
        env={**os.environ, **shell.login(proxy.url)},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=stderr,
    )


def test_a_terminal_shows_how_far_it_is_and_json_stays_clean(slow, tmp_path):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = start(slow, tmp_path, theirs)
    os.close(theirs)
    shown = b""
    # The end of a terminal is an error to who reads it.
    with contextlib.suppress(OSError):
        while part := os.read(ours, 4096):
            shown += part
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"/30 [" in shown
    assert b"/30 [" not in out
    assert out.startswith(b"[")


def test_a_file_gets_no_progress(slow, tmp_path):
    process = start(slow, tmp_path, subprocess.PIPE)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
