"""The cloud under the tests is a real one, and leaves nothing behind."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.cloud.cloud import Cloud
from tests.cloud.command import Command
from tests.services.process import ChildFailed

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
