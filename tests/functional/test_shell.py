"""The shell: its runs, completion, and progress."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
import time

import pytest
from openstack.config import loader

from tests.functional import shell
from tests.functional.nova import Nova
from tests.functional.proxy import Proxy

# What the shell completes, by the file that ``openstack complete`` prints.


#: What the package bash-completion gives to the file.
_WORDS = """
_get_comp_words_by_ref() {
    words=("${COMP_WORDS[@]}")
    cur=${COMP_WORDS[COMP_CWORD]}
    prev=${COMP_WORDS[COMP_CWORD - 1]}
}
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    done = shell.run({}, "complete", "--name", "openstack")
    if "'NoneType' object has no attribute 'request'" in done.err:
        pytest.skip("this osc-placement names no commands without a login")
    assert done.code == 0
    path = tmp_path_factory.mktemp("completion") / "openstack"
    path.write_text(_WORDS + done.out, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("trait-sched un", ["unisolate"]),
        ("trait-sched config en", ["enable"]),
        ("trait-sched explain --no-f", ["--no-fixes"]),
        ("trait-sched add --availability", ["--availability-zone"]),
    ],
)
def test_commands_and_their_options_are_completed(file, typed, completed):
    words = ["openstack", *typed.split()]
    script = (
        f"source {file}; COMP_WORDS=({' '.join(words)}); "
        f'COMP_CWORD={len(words) - 1}; _openstack; echo "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=True
    )
    assert (done.stdout.split(), done.stderr) == (completed, "")


# What the tests themselves rest on: each run of the shell is a run of its own.


COMMANDS = {
    "openstackclient": ("resource", "provider", "list"),
    "this project": ("trait-sched", "list"),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_run_asks_the_cloud_that_it_has_logged_in_to(placement, command):
    placement.add_host("cmp01")
    for _ in range(2):
        proxy = Proxy(placement.url)
        done = shell.run(shell.login(proxy.url), *command)
        proxy.stop()
        assert (done.code, done.err) == (0, "")
        assert "cmp01" in done.out
        assert proxy.requests


def test_a_run_finds_no_clouds_file_that_was_named_to_the_one_before(clouds_file):
    named = {"OS_CLIENT_CONFIG_FILE": str(clouds_file), "OS_CLOUD": "only"}
    done = shell.run(named, *COMMANDS["this project"])
    assert (done.code, done.err) == (0, "")
    assert_has_no_login()


def test_a_run_finds_no_clouds_file_of_the_developers(clouds_file, monkeypatch):
    monkeypatch.setattr(loader, "CONFIG_FILES", [str(clouds_file)])
    assert_has_no_login()


@pytest.fixture
def clouds_file(proxy, tmp_path):
    auth = {"endpoint": proxy.url, "token": "admin"}
    only = {"auth_type": "admin_token", "auth": auth}
    file = tmp_path / "clouds.yaml"
    file.write_text(json.dumps({"clouds": {"only": only}}))
    return file


def assert_has_no_login():
    run = shell.run({}, *COMMANDS["this project"])
    assert (run.code, run.out) == (1, "")
    assert "auth-url" in run.err


# Progress is for a person at a terminal, and for work that takes a while.


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
