"""What pages print of the sample cloud that no snapshot can answer, in a terminal."""

from __future__ import annotations

import fcntl
import os
import re
import shlex
import struct
import subprocess
import sys
import termios

import pytest

from tests.cloud import sample
from tests.cloud.cloud import Cloud
from tests.cloud.factory import Maker
from tests.printed import blocks
from tests.services.release import NEWEST, chosen

ROWS, COLUMNS = 50, 90
#: What a terminal overwrites.
_PROGRESS = re.compile(r"[^\n]*\r")
NOVA_CONF = "doc/source/administer/nova-conf.rst"


@pytest.fixture(scope="module")
def cloud():
    """The sample cloud as of yesterday."""
    if chosen() != NEWEST:
        pytest.skip("the sample cloud is one of the newest release")
    options = {"nova_options": sample.OPTIONS, "hypervisors": sample.HOSTS}
    with Cloud(computes=len(sample.HOSTS), **options) as cloud:
        yield cloud


@pytest.fixture(scope="module")
def terminal(cloud, tmp_path_factory):
    """Types a command with its arguments; returns what the terminal shows."""
    home = tmp_path_factory.mktemp("you")
    (home / "nova.conf").write_text(sample.NOVA_CONF, encoding="utf-8")
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "PYTHONPATH")}
    variables = {
        **kept,
        **cloud.environment,
        "HOME": str(home),
        "COLUMNS": str(COLUMNS),
        "NO_COLOR": "1",
        "PYTHONWARNINGS": "ignore",
        "PYTHONIOENCODING": "utf-8",
    }

    def show(command):
        leader, follower = os.openpty()
        size = struct.pack("HHHH", ROWS, COLUMNS, 0, 0)
        fcntl.ioctl(follower, termios.TIOCSWINSZ, size)
        _, *words = shlex.split(command)
        process = subprocess.Popen(
            [sys.executable, "-m", "openstackclient.shell", *words],
            stdin=subprocess.DEVNULL,
            stdout=follower,
            stderr=follower,
            cwd=home,
            env=variables,
        )
        os.close(follower)
        shown = b"".join(_chunks(leader)).decode().replace("\r\n", "\n")
        os.close(leader)
        process.wait()
        return _PROGRESS.sub("", shown).replace(str(home), "/home/you")

    return show


def _chunks(leader):
    while True:
        try:
            yield os.read(leader, 65536)
        except OSError:  # Linux says so at the end.
            return


def test_recorded_sessions_are_as_printed(cloud, terminal):
    make = Maker(cloud.admin())
    shop = sample.build(make)
    sample.change(make, shop)
    for block in blocks(NOVA_CONF):
        shown = terminal(block.command)
        assert not block.differs_from(shown), shown
