"""Every reading command answers on clouds that lack a part, or almost everything."""

from __future__ import annotations

import copy
import json
import random
import shlex
import uuid

import pytest

from osc_traitsched.app import check, drain, explain, judging, request, snapshot
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.core.answer import Reason
from osc_traitsched.core.check.survey import Severity, SubjectKind
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


# Commands that answer one question give one answer and one exit code.


SAVED_SAMPLE = json.loads((REPOSITORY / "examples" / "cloud.json").read_text("utf-8"))
OPTIONS = (
    "",
    "--set scheduler.query_placement_for_image_type_support=true",
    "--set filter_scheduler.enabled_filters=ComputeFilter",
    "--enable-filter NUMATopologyFilter",
    "--nova-release wallaby",
)
SPECS = (
    {},
    {"trait:CUSTOM_SSD": "required"},
    {"trait:CUSTOM_SDD": "required"},
    {"trait:COMPUTE_NODE": "forbidden"},
    {"hw:numa_nodes": "1"},
    {"aggregate_instance_extra_specs:rack": "east"},
    {"resources:VCPU": "999"},
)
KEYS = ({}, {"disk_format": "qcow2"}, {"hw_firmware_type": "uefi"}, {"os_type": "x"})
METADATA = (
    {},
    {"rack": "east"},
    {"trait:CUSTOM_SSD": "required"},
    {"filter_tenant_id": "9bc3d22383bf44fa85e3250a5634df04"},
    {"filter_tenant_id": "1288b028380a46f79f1f65f5921d6e2b"},
    {"availability_zone": "az-east"},
)


def drawn(seed):
    """A cloud, and the options to ask it with."""
    dice, whole = random.Random(seed), copy.deepcopy(SAVED_SAMPLE)
    if dice.random() < 0.6:
        whole["settings"].update(place=None, files={}, lines={}, named={})
    for aggregate in whole["compute"]["aggregates"]:
        aggregate["metadata"] = dict(dice.choice(METADATA))
    for service in whole["compute"]["services"]:
        service["status"] = dice.choice(["enabled", "enabled", "disabled"])
    for flavor in whole["compute"]["flavors"]:
        flavor["extra_specs"] = dict(dice.choice(SPECS))
    for image in whole["image"]["images"]:
        image.update(dice.choice(KEYS))
    return whole, dice.choice(OPTIONS)


@pytest.mark.parametrize("seed", range(12))
def test_candidates_and_explain_agree(tmp_path, seed):
    whole, options = drawn(seed)
    path = tmp_path / "cloud.json"
    path.write_text(json.dumps(whole), "utf-8")

    def ask(verb, *more):
        variables = {"TRAITSCHED_SNAPSHOT": str(path)}
        words = (verb, *asked, *shlex.split(options), "-f", "json", *more)
        return shell.run(variables, "trait-sched", *words)

    for flavor in ("m1.small", "m1.large", "ssd.medium"):
        asked = (flavor, random.Random(flavor).choice(["ubuntu-24.04", "windows-2022"]))
        listed, explained = ask("candidates"), ask("explain")
        hosts = [row["host"] for row in listed.json]
        assert listed.code == explained.code, (asked, listed.err)
        assert sorted(hosts) == sorted(explained.json["candidates"])


def with_unlisted(whole, seed):
    """With a pool, or a node of bare metal, which no answer on many hosts shows."""
    place, compute = whole["placement"], whole["compute"]
    added = copy.deepcopy(place["providers"][0])
    identity = str(uuid.UUID(int=seed + 1))
    added.update(uuid=identity, root=identity, name="added")
    inventory = {**added["inventories"]["DISK_GB"], "used": 0, "total": 1}
    place["providers"].append(added)
    place["resource_classes"] += ["CUSTOM_METAL", "CUSTOM_NOWHERE"]
    if seed % 2:
        added["inventories"] = {"DISK_GB": {**inventory, "total": 9000}}
        added["traits"] = ["MISC_SHARES_VIA_AGGREGATE"]
        return
    added["inventories"] = {"CUSTOM_METAL": {**inventory, "max_unit": 1}}
    node = copy.deepcopy(compute["hypervisors"][0])
    node.update(id=identity, hypervisor_hostname="added", hypervisor_type="ironic")
    compute["hypervisors"].append({**node, "cpu_info": ""})


NO_SIZES = {f"resources:{name}": "0" for name in ("VCPU", "MEMORY_MB", "DISK_GB")}
AMOUNTS = (
    *SPECS,
    {"resources:CUSTOM_METAL": "1"},
    {"resources:CUSTOM_NOWHERE": "1"},
    {"resources:VGPU": "1"},
    {"resources:CUSTOM_NOWHERE": "1", **NO_SIZES},
)


@pytest.mark.parametrize("seed", range(20))
def test_check_names_each_flavor_that_no_host_can_ever_take(tmp_path, seed):
    dice, (whole, _) = random.Random(seed), drawn(seed)
    with_unlisted(whole, seed)
    for flavor in whole["compute"]["flavors"]:
        flavor.update(disk=1, extra_specs=dict(dice.choice(AMOUNTS)))
    path = tmp_path / "cloud.json"
    path.write_text(json.dumps(whole), "utf-8")
    saved = snapshot.read(str(path))
    never = {
        each.question.flavor["name"]
        for each in judging.by_flavor(saved.cloud, ServerSpec(), saved.sources)
        if each.reason is Reason.MISCONFIGURED
    }
    found = check.check(snapshot.read(str(path)).cloud, saved.sources).findings
    bad = [each for each in found if each.severity is not Severity.NOTE]
    assert never
    assert [
        name
        for name in sorted(never)
        if not any(each.is_about(SubjectKind.FLAVOR, [name]) for each in bad)
    ] == []
