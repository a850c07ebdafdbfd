"""The cloud under the tests is a real one, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.cloud.cloud import ISOLATION, Cloud
from tests.cloud.factory import factory
from tests.cloud.test_stories import things_as_they_are
from tests.functional import shell
from tests.services import environment, release
from tests.services.process import PATIENCE, ChildFailed
from tests.services.release import NEWEST, chosen

# ``python -m tests.cloud`` as a process under test, and who is left of it.


class Command:
    """A running ``python -m tests.cloud`` whose state is within a given folder."""

    def __init__(self, folder: pathlib.Path) -> None:
        # Else the first to want the environment would be a process being timed.
        release.chosen().python()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.cloud", "--computes", "1"],
            cwd=environment.REPOSITORY,
            env={**os.environ, "TMPDIR": str(folder)},
            stdout=subprocess.PIPE,
            text=True,
        )

    def wait_until_ready(self) -> list[str]:
        """Return the lines to source, which it prints when the cloud is ready."""
        exports = []
        for line in self._process.stdout:
            if not line.startswith("export "):
                return exports
            exports.append(line.rstrip())
        raise AssertionError(f"ended with status {self._process.wait()}")

    def wait_for_children(self, count: int) -> set[int]:
        """Return its children as soon as it has that many."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            children = self.children()
            if len(children) >= count:
                return children
            time.sleep(0.05)
        raise AssertionError(f"never had {count} children")

    def children(self) -> set[int]:
        """Return the IDs of all processes that it started, directly or not."""
        family = {self._process.pid}
        parents = _processes()
        while more := {p for p, parent in parents if parent in family} - family:
            family |= more
        return family - {self._process.pid}

    def wait_until_gone(self, processes: set[int]) -> set[int]:
        """Return those of the processes that are still there after a long while."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            left = processes & {process for process, parent in _processes()}
            if not left:
                break
            time.sleep(0.05)
        return left

    def kill(self) -> None:
        self._process.kill()
        self._close()

    def interrupt(self) -> int:
        """Do as Ctrl-C does, and return the exit status."""
        self._process.send_signal(signal.SIGINT)
        return self._close()

    def _close(self) -> int:
        self._process.stdout.close()
        return self._process.wait(PATIENCE)


def _processes() -> set[tuple[int, int]]:
    """Return all processes that are not zombies, each with its parent."""
    columns = ["ps", "-A", "-o", "pid=", "-o", "ppid=", "-o", "stat="]
    listed = subprocess.run(columns, stdout=subprocess.PIPE, text=True, check=True)
    rows = [line.split() for line in listed.stdout.splitlines()]
    return {(int(pid), int(parent)) for pid, parent, stat in rows if stat[0] != "Z"}


if TYPE_CHECKING:
    from openstack.connection import Connection

NOT_A_DRIVER = "DEFAULT.compute_driver=nosuchdriver.Driver"


@pytest.fixture(scope="module")
def flavor(admin: Connection) -> Iterator[Any]:
    """A flavor that every compute has room for."""
    flavor = admin.compute.create_flavor(name="small", ram=512, vcpus=1, disk=1)
    yield flavor
    admin.compute.delete_flavor(flavor)


@pytest.fixture(scope="module")
def image(admin: Connection) -> Iterator[str]:
    """The ID of an image with no data in it."""
    wanted = {"name": "empty", "disk_format": "qcow2", "container_format": "bare"}
    image = admin.image.post("/images", json=wanted).json()["id"]
    kind = {"Content-Type": "application/octet-stream"}
    admin.image.put(f"/images/{image}/file", data=b"", headers=kind)
    yield image
    admin.image.delete(f"/images/{image}")


@pytest.fixture(scope="module")
def server(admin: Connection, flavor: Any, image: str) -> Iterator[Any]:
    """A server that was scheduled and built."""
    server = admin.compute.create_server(
        name="first", flavor_id=flavor.id, image_id=image, networks="none"
    )
    yield admin.compute.wait_for_server(server, interval=0.2)
    admin.compute.delete_server(server)
    admin.compute.wait_for_delete(server, interval=0.2)


def test_a_server_becomes_active_on_one_of_the_computes(
    cloud: Cloud, server: Any
) -> None:
    names = {f"cmp{number:02d}" for number in range(cloud.computes)}

    assert server.status == "ACTIVE"
    assert server.compute_host in names


def test_the_logs_tell_what_the_scheduler_asked_and_what_its_filters_left(
    cloud: Cloud, server: Any
) -> None:
    assert "Filter ComputeFilter returned 4 host(s)" in cloud.log("nova").read_text()
    assert '"GET /allocation_candidates?' in cloud.log("placement").read_text()


def test_servers_made_at_the_same_time_all_become_active(
    admin: Connection, flavor: Any, image: str
) -> None:
    def make(number: int) -> Any:
        wanted = {"flavor_id": flavor.id, "image_id": image, "networks": "none"}
        return admin.compute.create_server(name=f"at-once-{number}", **wanted)

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(make, range(8)))
    active = [admin.compute.wait_for_server(server, interval=0.2) for server in made]

    assert {server.status for server in active} == {"ACTIVE"}
    for server in active:
        admin.compute.delete_server(server)
    for server in active:
        admin.compute.wait_for_delete(server, interval=0.2)


def test_each_compute_has_one_identity_in_nova_and_placement(
    cloud: Cloud, admin: Connection
) -> None:
    nova = {(found.name, found.id) for found in admin.compute.hypervisors()}
    answer = admin.placement.get("/resource_providers").json()
    placement = {(p["name"], p["uuid"]) for p in answer["resource_providers"]}

    assert nova == placement
    assert len(nova) == cloud.computes


def test_a_service_that_does_not_come_up_shows_the_end_of_its_log(
    tmp_path: pathlib.Path,
) -> None:
    broken = Cloud(tmp_path / "a state", nova_options=[NOT_A_DRIVER])

    with pytest.raises(ChildFailed) as failure:
        broken.start()

    first, where, *lines = str(failure.value).splitlines()
    assert first == "nova ended with status 1"
    assert where == f"the end of {broken.log('nova')}:"
    assert any("nosuchdriver" in line for line in lines)


def test_an_option_of_nova_needs_a_section_a_key_and_a_value() -> None:
    with pytest.raises(ValueError, match=r"not SECTION\.KEY=VALUE: debug=true"):
        Cloud(nova_options=["debug=true"])


def test_nobody_survives_the_sigkill_of_the_one_who_started_the_cloud(
    tmp_path: pathlib.Path,
) -> None:
    command = Command(tmp_path)
    exports = command.wait_until_ready()
    children = command.children()

    command.kill()

    assert "export OS_USERNAME=admin" in exports
    assert len(children) == 5
    assert command.wait_until_gone(children) == set()


def test_ctrl_c_in_the_middle_of_the_start_removes_the_state(
    tmp_path: pathlib.Path,
) -> None:
    command = Command(tmp_path)
    children = command.wait_for_children(3)

    assert command.interrupt() == 130
    assert list(tmp_path.glob("traitsched-cloud-*")) == []
    assert command.wait_until_gone(children) == set()


# A snapshot answers like the cloud that it was made of, and without a login.


#: Reading commands, each with the format for programs.
READING = (
    "explain m1.small cirros -f json --long",
    "explain m1.large cirros --count 40 -f json",
    "explain ssd.medium cirros -f json --host cmp04",
    "explain gold.typo cirros -f json",
    "explain m1.small uefi -f json",
    "explain m1.small cirros --availability-zone az-west -f json",
    "explain m1.small cirros --project demo -f json",
    "explain m1.small cirros --set scheduler.limit_tenants_to_placement_aggregate=true "
    "-f json",
    "explain m1.large cirros --availability-zone az-west --make-room -f json",
    "explain m1.large cirros --count 20 --make-room -f json",
    "explain --image uefi -f json",
    "explain m1.small -f json",
    "candidates m1.small cirros -f json",
    "candidates m1.medium cirros --weights -f json",
    "capacity -f json",
    "capacity m1.small --by zone -f json",
    "capacity m1.small --without cmp00 -f json",
    "capacity m1.large --with cmp01=2 -f json",
    "server explain db-3 -f json",
    "server explain web-1 -f json",
    "server explain --failed -f json",
    "server explain --failed --since 24h -f json",
    "server destinations web-1 -f json",
    "server destinations db-1 --for evacuation -f json",
    "server destinations web-1 --for rebuild --image arm -f json",
    "server destinations ssd-1 --for rebuild --image uefi -f json",
    "server misplaced -f json",
    "host show cmp01 -f json",
    "host show cmp05 -f json",
    "host drain cmp00 -f json",
    "host drain cmp00 cmp01 -f json",
    "check -f json",
    "check mirror -f json",
    "aggregate list -f json",
    "list -f json",
    "list --by-trait -f json",
    "trait list -f json",
    "trait show CUSTOM_SSD -f json",
    "config show -f json",
    "export",
    # Nothing is written, so the cloud stays as it was saved.
    "add CUSTOM_NVME cmp02 --create --dry-run -f json",
    "add --like cmp00 cmp02 --aggregates --dry-run -f json",
    "remove CUSTOM_SSD --all --dry-run -f json",
    "isolate gold CUSTOM_GOLD --dry-run -f json --force",
    "isolate gold --project demo --dry-run -f json",
    "unisolate gold --dry-run -f json",
    "trait rename CUSTOM_SSD CUSTOM_FLASH --dry-run -f json --force",
    "trait retire CUSTOM_SSD --dry-run -f json",
    "mirror repair --dry-run -f json",
)
#: What differs from run to run: the time of an answer.
_TIMES = re.compile(r"\d+ \w+ ago|less than a minute ago|just now")


@pytest.fixture(scope="module")
def night():
    if chosen() != NEWEST:
        pytest.skip("a snapshot is read with the newest release")
    with (
        Cloud(computes=8, nova_options=(ISOLATION,)) as cloud,
        factory(cloud.admin()) as maker,
    ):
        things_as_they_are(maker)
        yield cloud


@pytest.fixture(scope="module")
def saved(night, tmp_path_factory):
    """The path of a snapshot of that night."""
    path = str(tmp_path_factory.mktemp("saved") / "night.json.gz")
    done = shell.run(night.environment, "trait-sched", "snapshot", "save", path)
    assert done.code == 0, done.err
    return path


@pytest.mark.parametrize("command", READING)
def test_a_snapshot_gives_the_answer_of_the_cloud(night, saved, command):
    words = ["trait-sched", *shlex.split(command)]
    live = shell.run(night.environment, *words)
    # No cloud, no password: nothing to log in with.
    offline = shell.run({}, *words, "--snapshot", saved)
    assert offline.code == live.code, (offline.err, live.err)
    assert steady(offline.out) == steady(live.out)


def steady(text):
    """The output without times; JSON in the order of its keys."""
    text = _TIMES.sub("TIME", text)
    try:
        return json.loads(text)
    except ValueError:
        return text
