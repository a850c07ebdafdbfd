"""A command, and a file that wants the same, send the same writes in the same order."""

from __future__ import annotations

import pytest

from osc_traitsched.commands import base
from tests.functional import shell
from tests.unit.app.living import LivingCloud

GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"


def open_cloud():
    cloud = LivingCloud()
    for name in ("golden", "small"):
        cloud.flavor(name)
    cloud.picture("fast")
    cloud.gives(SILVER, "cmp00", "cmp03")
    cloud.mirror[cloud.aggregates["1"]["uuid"]].discard("cmp01")
    return cloud


def isolated_cloud():
    cloud = open_cloud()
    cloud.flavor("golden", **{GOLD: "required"})
    cloud.picture("fast", **{GOLD: "required"})
    cloud.gives(GOLD, "cmp00", "cmp01")
    cloud.metadata[f"trait:{GOLD}"] = "required"
    return cloud


@pytest.mark.parametrize(
    ("made", "command", "wanted"),
    [
        (
            open_cloud,
            f"add CUSTOM_NEW {SILVER} --all --create",
            "traits: {CUSTOM_NEW: {hosts: ['*']}, CUSTOM_SILVER: {hosts: ['*']}}",
        ),
        (
            open_cloud,
            f"remove {SILVER} --host cmp00 --host cmp01",
            "traits: {CUSTOM_SILVER: {absent: {hosts: [cmp00, cmp01]}}}",
        ),
        (
            open_cloud,
            f"isolate gold {GOLD} CUSTOM_NEW --create --flavor golden --image fast",
            """
            aggregates: {gold: {isolated_for: [CUSTOM_GOLD, CUSTOM_NEW]}}
            flavors: {golden: {requires: [CUSTOM_GOLD, CUSTOM_NEW]}}
            images: {fast: {requires: [CUSTOM_GOLD, CUSTOM_NEW]}}
            """,
        ),
        (
            isolated_cloud,
            "unisolate gold --remove-traits",
            """
            traits: {CUSTOM_GOLD: {absent: {hosts: [cmp00, cmp01]}}}
            aggregates: {gold: {absent: {isolated_for: [CUSTOM_GOLD]}}}
            flavors: {golden: {absent: {requires: [CUSTOM_GOLD]}}}
            images: {fast: {absent: {requires: [CUSTOM_GOLD]}}}
            """,
        ),
    ],
)
def test_a_file_that_wants_the_same_is_written_as_by_the_command(
    monkeypatch, tmp_path, made, command, wanted
):
    path = tmp_path / "desired.yaml"
    lines = [line.strip() for line in wanted.strip().splitlines()]
    path.write_text("\n".join(["version: 1", *lines]), encoding="utf-8")
    clouds = []
    for words in (command.split(), ["apply", str(path)]):
        cloud = made()
        monkeypatch.setattr(base.Command, "cloud", lambda command, cloud=cloud: cloud)
        done = shell.run(shell.login("http://nowhere"), "trait-sched", *words)
        assert done.code == 0, done.err
        clouds.append(cloud)
    by_command, by_file = clouds
    assert by_command.written
    assert sorted(by_file.written) == sorted(by_command.written)
    assert by_file.traits == by_command.traits
    assert by_file.mirror == by_command.mirror
    assert by_file.aggregates == by_command.aggregates
    assert by_file.flavors == by_command.flavors
    assert by_file.images == by_command.images
