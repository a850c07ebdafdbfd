"""Whole screens of questions about the sample cloud, today and yesterday."""

from __future__ import annotations

import shlex

import pytest

from tests.functional import shell
from tests.golden import screens
from tests.services.environment import REPOSITORY

SCREENS = {
    "questions/project-first": (
        "explain ssd.medium ubuntu-24.04 --project acme",
        "explain m1.large ubuntu-24.04 --project acme --availability-zone az-west "
        "--flavor-property trait:CUSTOM_SSD=required",
        "explain m1.large ubuntu-24.04 --project acme --availability-zone az-east",
        "explain m1.large ubuntu-24.04 --project acme --policy anti-affinity --count 2",
        "explain m1.large ubuntu-24.04 --project acme --count 5 --no-fixes",
    ),
    "questions/capacity-since": (
        "capacity m1.medium --since examples/yesterday.json",
        "capacity ssd.medium --at-least 9 --since examples/yesterday.json",
        "capacity ssd.large --since examples/yesterday.json",
    ),
    "questions/flavors": (
        "flavor show m1.medium ssd.medium",
        "flavor show m1.large acme.large ssd.large --project acme",
        "flavor show m1.large m1.large",
        "flavor show m1.large acme.large --project shop",
    ),
    "questions/image-show": (
        "image show windows-2022 --since examples/yesterday.json",
        "explain --image debian-12-arm64",
        "image show ubuntu-24.04 --project acme",
        "image show ubuntu-24.04 --availability-zone az-west",
    ),
    "questions/ratio": (
        "capacity --ratio RAM=1.5",
        "capacity m1.large --ratio cmp04:RAM=4 --ratio west:disk=0.5",
        "explain ssd.medium ubuntu-24.04 --ratio ram=1.5",
        "explain m1.large ubuntu-24.04 --ratio east:ram=0.5 --no-fixes",
    ),
}


@pytest.mark.parametrize("name", SCREENS)
def test_screens(monkeypatch, golden, name):
    monkeypatch.chdir(REPOSITORY)
    found = {}
    for command in SCREENS[name]:
        for file in ("examples/cloud.json", "examples/yesterday.json"):
            words = shlex.split(command)
            done = shell.run({"TRAITSCHED_SNAPSHOT": file}, "trait-sched", *words)
            lines = (done.out + done.err).splitlines()
            found[f"{command}, {file} ({done.code})"] = lines
    golden(name, screens(found))
