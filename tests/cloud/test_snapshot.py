"""A snapshot answers like the cloud that it was made of, and without a login."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from tests.cloud.cloud import ISOLATION, Cloud
from tests.cloud.factory import factory
from tests.cloud.test_stories import things_as_they_are
from tests.functional import shell
from tests.services.release import NEWEST, chosen

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
    "server misplaced -f json",
    "host show cmp01 -f json",
    "host show cmp05 -f json",
    "host drain cmp00 -f json",
    "host drain cmp00 cmp01 -f json",
    "check -f json",
    "mirror check -f json",
    "aggregate list -f json",
    "list -f json",
    "list --by-trait -f json",
    "trait list -f json",
    "trait show CUSTOM_SSD -f json",
    "config show -f json",
    "export",
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
