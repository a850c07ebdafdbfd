"""What explain says of volumes, against a real Cinder and a real Nova.

Cinder's volumes are in the default zone and in az-east, and the zones count.
"""

from __future__ import annotations

import re

import pytest

from tests.cloud import logs
from tests.functional import shell
from tests.services import process

ALL = ["cmp00", "cmp01", "cmp02", "cmp03"]
EAST = ["cmp00", "cmp01"]
FAST = "CUSTOM_FAST"
HTTP = re.compile(r"nova-api rejects it \(HTTP (\d+)\)")


@pytest.fixture(scope="module", autouse=True)
def east(lasting):
    return lasting.aggregate("east", *EAST, availability_zone="az-east")


@pytest.fixture
def explained(connected, small):
    """Explains a server of the small flavor and a volume, and returns the document."""

    def run(volume, *options, code=0):
        how = ("--no-fixes", "--nova-conf", str(connected.nova_conf), "-f", "json")
        asked = ("trait-sched", "explain", "small", "-", "--volume", volume)
        done = shell.run(connected.environment, *asked, *options, *how)
        assert (done.code, done.err) == (code, "")
        return done.json

    return run


@pytest.fixture
def booted(make, small):
    """Asks Nova for the same server, which is deleted at the end."""

    def run(volume, user=None, **more):
        root = {"boot_index": 0, "uuid": volume, "source_type": "volume"}
        disks = [{**root, "destination_type": "volume"}]
        boot = make.boot(small, "", user, block_device_mapping_v2=disks, **more)
        if boot.server:
            make.after(make.delete, boot)
        return boot

    return run


def http(found):
    """Return the status that explain says nova-api answers with."""
    return int(HTTP.match(found["rejection"]["text"])[1])


def test_a_volume_in_a_zone_keeps_the_server_there(connected, parts, explained, booted):
    volume = parts.volume("root", availability_zone="az-east")
    found = explained("root")
    boot = booted(volume)
    assert [found["query"]] == logs.queries(connected, boot.request)
    assert found["candidates"] == EAST
    assert (boot.status, boot.host in EAST) == ("ACTIVE", True)


def test_a_volume_of_another_zone_is_refused(parts, explained, booted):
    volume = parts.volume("root")
    found = explained("root", "--availability-zone", "az-east", code=3)
    boot = booted(volume, availability_zone="az-east")
    assert found["rejection"]["exception"] == "MismatchVolumeAZException"
    assert http(found) == boot.http


def test_a_volume_in_the_default_zone_lets_the_build_fail_elsewhere(
    connected, make, parts, explained, booted
):
    for host in ALL[2:]:
        make.disabled(host, "")
    volume = parts.volume("root")
    found = explained("root")
    boot = booted(volume)
    assert [found["query"]] == logs.queries(connected, boot.request)
    assert found["candidates"] == EAST
    assert "are not in the same availability_zone" in boot.fault
    (text,) = (e["text"] for e in found["not_evaluated"] if e["kind"] == "volume zone")
    assert text.startswith("volume root is in the default zone nova, ")


def test_what_cinder_keeps_of_the_image_is_asked_for(
    connected, make, parts, explained, booted
):
    make.traits(FAST, "cmp01")
    metadata = {f"trait:{FAST}": "required", "disk_format": "qcow2", "min_ram": "64"}
    volume = parts.volume("root", availability_zone="az-east", image_metadata=metadata)
    found = explained("root")
    boot = booted(volume)
    assert [found["query"]] == logs.queries(connected, boot.request)
    assert FAST in found["query"]
    assert "QCOW2" not in found["query"]
    assert (found["candidates"], boot.host) == (["cmp01"], "cmp01")


def test_a_volume_that_another_server_has_is_refused(parts, explained, booted):
    volume = parts.volume("root", availability_zone="az-east")
    assert booted(volume).status == "ACTIVE"
    found = explained("root", code=3)
    boot = booted(volume)
    assert found["rejection"]["exception"] == "InvalidVolume"
    assert found["rejection"]["keys"] == ["root (in-use)"]
    assert (http(found), boot.http) == (400, 400)
    assert "current status is in-use" in boot.refused


def test_a_volume_of_several_servers_is_not(connected, parts, explained, booted):
    kind = parts.volume_type("several", multiattach="<is> True")
    zone = {"availability_zone": "az-east"}
    volume = parts.volume("root", volume_type=kind, **zone)
    for status in ("available", "in-use"):
        assert parts.volume_now(volume)["status"] == status
        found = explained("root")
        boot = booted(volume)
        assert [found["query"]] == logs.queries(connected, boot.request)
        assert (found["candidates"], boot.status) == (EAST, "ACTIVE")
        assert "multiattach" in {each["kind"] for each in found["not_evaluated"]}


@pytest.mark.parametrize("status", ["error", "creating", "maintenance", "detaching"])
def test_a_volume_that_is_not_available_is_refused(status, parts, explained, booted):
    volume = parts.volume("root", availability_zone="az-east")
    parts.acts_on(volume, "os-reset_status", {"status": status})
    found = explained("root", code=3)
    boot = booted(volume)
    assert (found["rejection"]["exception"], http(found)) == (
        "InvalidVolume",
        boot.http,
    )
    assert boot.refused.startswith("Invalid volume: ")


def test_a_volume_that_is_not_bootable_is_refused(parts, explained, booted):
    volume = parts.volume("root")
    parts.acts_on(volume, "os-set_bootable", {"bootable": False})
    found = explained("root", code=3)
    boot = booted(volume)
    assert found["rejection"]["exception"] == "InvalidBDMVolumeNotBootable"
    assert (http(found), boot.http) == (400, 400)
    assert boot.refused.endswith(" is not bootable.")


def test_a_volume_of_another_project_is_not_found(connected, parts, explained, booted):
    volume = parts.volume("root")
    found = explained("root", "--project", "demo", code=3)
    boot = booted(volume, connected.connection_of("demo"))
    assert (found["rejection"]["stage"], boot.http) == ("api", 400)
    assert "the volume 'root'" in found["rejection"]["text"]
    assert "failed to get volume" in boot.refused


# Bad input


def test_a_volume_that_is_not_there_is_one_line(connected, small):
    asked = ("trait-sched", "explain", "small", "-", "--volume", "nowhere")
    done = shell.run(connected.environment, *asked)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("no volume matches 'nowhere'")
    assert done.err.count("\n") == 1


@pytest.fixture
def gone(connected):
    """The cloud's variables, with a Cinder that is not there."""
    listener = process.listen()
    url = process.url_of(listener)
    listener.close()
    return {**connected.environment, "OS_BLOCK_STORAGE_ENDPOINT_OVERRIDE": url}


def test_without_a_cinder_one_line_says_so(gone, small):
    asked = ("trait-sched", "explain", "small", "-", "--volume", "root")
    done = shell.run(gone, *asked)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert done.err.startswith("block-storage: no connection to http://127.0.0.1:")


# Servers that exist


@pytest.fixture
def server(parts, booted):
    """A server with a volume as its root disk."""
    volume = parts.volume("root", availability_zone="az-east")
    boot = booted(volume)
    assert boot.status == "ACTIVE"
    return boot


def test_a_server_s_own_volume_is_in_its_request(connected, server):
    asked = ("trait-sched", "server", "explain", server.server, "--no-fixes")
    file = str(connected.nova_conf)
    done = shell.run(connected.environment, *asked, "--nova-conf", file, "-f", "json")
    assert (done.code, done.err) == (0, "")
    assert [done.json["now"]["query"]] == logs.queries(connected, server.request)
    (part,) = (e for e in done.json["request"] if e["part"] == "root volume")
    assert part["source"] == "bound now"


def test_without_a_cinder_why_a_server_failed_is_told(gone, make, parts):
    volume = parts.volume("root", availability_zone="az-east")
    root = {"boot_index": 0, "uuid": volume, "source_type": "volume"}
    disks = [{**root, "destination_type": "volume"}]
    flavor = make.flavor("huge", ram=80000)
    boot = make.boot(flavor, "", block_device_mapping_v2=disks)
    make.after(make.delete, boot)
    asked = ("trait-sched", "server", "explain", boot.server, "-f", "json")
    done = shell.run(gone, *asked)
    assert (done.code, done.json["now"]) == (1, None)
    assert done.json["failure"]["stage"] == "no allocation candidates"
    assert done.json["problem"] == done.err.strip()
    assert done.err.startswith("block-storage: no connection ")
