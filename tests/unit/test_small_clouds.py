"""Every reading command answers on clouds that lack a part, or almost everything."""

from __future__ import annotations

import copy
import json
import random
import shlex

import pytest

from osc_traitsched.app import drain, explain, request, snapshot
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.core.nova.question import ServerSpec
from tests.functional import shell
from tests.services.environment import REPOSITORY

SAMPLE = REPOSITORY / "examples" / "cloud.json"
YESTERDAY = REPOSITORY / "examples" / "yesterday.json"
#: Lists of a snapshot, and what the commands below name in each.
LISTS = {
    "compute aggregates": "east",
    "compute availabilityZoneInfo": "",
    "compute flavors": "m1.medium",
    "compute hypervisors": "cmp01",
    "compute migrations": "",
    "compute server_groups": "",
    "compute servers": "db-1",
    "compute services": "cmp01",
    "identity domains": "",
    "identity projects": "shop",
    "image images": "ubuntu-24.04",
    "placement providers": "cmp01",
    "placement traits": "",
}
COMMANDS = """
explain m1.medium ubuntu-24.04
explain m1.medium - --long
explain m1.medium ubuntu-24.04 --count 3 --policy anti-affinity --fixes
explain m1.medium ubuntu-24.04 --availability-zone az-east --project shop -f json
explain m1.medium ubuntu-24.04 --host cmp01
explain m1.medium ubuntu-24.04 --since YESTERDAY
explain m1.medium - --flavor-property trait:CUSTOM_SSD=required --no-fixes
explain --image ubuntu-24.04
image show ubuntu-24.04 --since YESTERDAY -f json
candidates m1.medium ubuntu-24.04 --weights
candidates m1.medium ubuntu-24.04 -f json
candidates m1.medium - --print-query
capacity
capacity --full
capacity --all-flavors --by zone -f csv
capacity m1.medium --at-least 3 --by host
capacity --by aggregate -f prometheus
capacity --without cmp01
capacity --without-zone az-east --with cmp01=2
capacity --set-then scheduler.enable_isolated_aggregate_filtering=false -f json
server misplaced
server misplaced --unknown -f json
server explain --failed
server explain --failed --host cmp01 -f prometheus
server explain db-1 --long
server explain db-1 --since YESTERDAY
server destinations db-1
server destinations db-1 --for resize --flavor m1.medium -f json
host drain cmp01
host drain --aggregate east --script
host show cmp01
host show cmp01 --if-enabled -f json
flavor show m1.medium
flavor show m1.medium ssd.medium -f json
zone list
trait list --all
trait show CUSTOM_SSD
list
list --by-trait
aggregate list
check mirror
check
check --long
check -f json
config show
config doctor
export
diff YESTERDAY
diff YESTERDAY --all -f json
"""


def clouds():
    """Lists to leave out, and lists of one thing, by the name of a cloud."""
    hosts = [name for name in LISTS if "hypervisors" in name or "providers" in name]
    yield pytest.param([*LISTS], [], id="nothing")
    yield pytest.param([], [*LISTS], id="one of each")
    yield pytest.param(hosts, [], id="no hosts")
    dice = random.Random(11)
    for name in LISTS:
        yield pytest.param([name], [], id=f"no {name}")
        others = dice.sample([*LISTS], 7)
        yield pytest.param([name], others, id=f"no {name}, few others")


def without(left_out, single):
    """The sample without these lists, and with one thing alone in others."""
    whole = copy.deepcopy(json.loads(SAMPLE.read_text("utf-8")))
    for place in (*left_out, *single):
        service, name = place.split()
        if name == "traits":
            # Placement has those of os-traits from the start.
            kept = [e for e in whole[service][name] if not e.startswith("CUSTOM_")]
        elif place in left_out:
            kept = []
        else:
            named = [e for e in whole[service][name] if LISTS[place] in e.values()]
            kept = (named or whole[service][name])[:1]
        whole[service][name] = kept
    return whole


@pytest.mark.parametrize(("left_out", "single"), clouds())
def test_every_command_answers_in_a_line_or_more(tmp_path, left_out, single):
    path = tmp_path / "cloud.json"
    path.write_text(json.dumps(without(left_out, single)), "utf-8")
    lines = COMMANDS.replace("YESTERDAY", str(YESTERDAY)).strip().splitlines()
    if len(left_out) == 1:
        # Half of them here, and the others on the cloud with few other things.
        lines = lines[bool(single) :: 2]
    for line in lines:
        variables = {"TRAITSCHED_SNAPSHOT": str(path)}
        done = shell.run(variables, "trait-sched", *shlex.split(line))
        assert done.code in {*ExitCode} - {ExitCode.USAGE}, (line, done.err)
        assert "internal error" not in done.err, line
        # No pattern was given.
        assert "'*'" not in done.err, line
        head = f"As of 2026-11-26 06:00 UTC, from {path}:\n"
        assert f"{done.out.removeprefix(head)}{done.err}".strip(), line


@pytest.mark.parametrize(("left_out", "single"), clouds())
def test_moves_to_make_room_are_looked_for_in_any_cloud(tmp_path, left_out, single):
    kept = ("compute flavors", "image images")
    lists = ([e for e in names if e not in kept] for names in (left_out, single))
    path = tmp_path / "cloud.json"
    path.write_text(json.dumps(without(*lists)), "utf-8")
    saved = snapshot.read(str(path))
    asked = ServerSpec(
        flavor="m1.medium",
        image="ubuntu-24.04",
        flavor_properties={"trait:HW_GPU_API_VULKAN": "required"},
    )
    question = request.question(saved.cloud, asked, saved.sources)
    found = drain.with_moves(saved.cloud, explain.explain(saved.cloud, question))
    assert found.judgement.refusal or found.make_room.steps == ()
