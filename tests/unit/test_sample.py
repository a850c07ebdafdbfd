"""The sample cloud gives the answers that a newcomer reads."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import xml.etree.ElementTree

import pytest

from osc_traitsched.app import server, snapshot
from osc_traitsched.commands.write_args import Writer
from osc_traitsched.views import server_explain
from tests import examples
from tests.functional import shell
from tests.golden import screens
from tests.services.environment import REPOSITORY

FILES = ("examples/cloud.json", "examples/yesterday.json")
CLOUD, YESTERDAY = FILES
LARGEST = 150_000
HEAD = "As of 2026-11-26 06:00 UTC, from examples/cloud.json:"
#: What only the machine has that a file was made on.
OF_A_MACHINE = re.compile(r'(?<=[ "])/(?!etc/nova/|usr/lib/)[a-z]+/\w[^"]*\.\w+')
#: The first line below the snapshot's time, and the exit code.
ANSWERS = {
    "explain m1.large ubuntu-24.04": (0, "2 of 8 hosts can take it."),
    "explain m1.large ubuntu-24.04 --availability-zone az-west": (
        3,
        "No host can take it now: 0 of 8.",
    ),
    "explain ssd.medium ubuntu-24.04": (3, "No host can take it now: 0 of 8."),
    "explain ssd.large ubuntu-24.04": (
        3,
        "Rejected before scheduling; no host was tried.",
    ),
    "explain r1.huge ubuntu-24.04": (3, "No host can ever take it: 0 of 8."),
    "explain m1.large ubuntu-24.04 --project acme": (0, "1 of 8 hosts can take it."),
    "candidates m1.large ubuntu-24.04 -f value -c host": (0, "cmp03"),
    "server explain --failed": (
        7,
        "1 server failed, for 1 reason; 1 would fail again.",
    ),
    "server explain db-2": (
        3,
        "db-2: build failed 2 h ago (Placement returned no hosts). "
        "It would fail again.",
    ),
    "server destinations web-1": (
        0,
        "Live migration of web-1 from cmp00: 1 of 8 hosts can take it.",
    ),
    "server misplaced -f value -c name -c host": (7, "win-2 cmp07"),
    # Its zone has no host with the trait; others have it once they are empty.
    "server destinations db-1 --for migration --availability-zone az-west": (
        3,
        "Cold migration of db-1 from cmp01: no host in az-west can ever take it: "
        "0 of 8.",
    ),
    "explain ssd.medium ubuntu-24.04 --count 30": (
        3,
        "No host can take one now: 0 of 8; all hosts together can never take 30.",
    ),
    "host show cmp01": (0, "cmp01 can take 1 of 7 flavors now; up and enabled."),
    "host drain cmp00": (0, "All 3 servers can move off cmp00 (2 live, 1 cold)."),
    "host drain cmp01": (
        3,
        "2 of 3 servers can move off cmp01 (2 live); db-1 can't.",
    ),
    "flavor show ssd.medium": (
        3,
        "ssd.medium: 2 VCPU, 4096 MB, 40 GB; room for 0 more "
        "(2 suitable hosts, all full).",
    ),
    "capacity --without cmp01": (
        3,
        "cmp01 can't be lost: 1 of its 3 servers finds no host (db-1). Without cmp01: "
        "4 of 7 flavors still fit.",
    ),
    "capacity --without cmp05": (
        3,
        "cmp05 can't be lost: its only server finds no host (acme-1). Without cmp05: "
        "4 of 7 flavors still fit.",
    ),
    "capacity --without cmp00": (
        0,
        "cmp00 can be lost. Without cmp00: 4 of 7 flavors still fit; largest: "
        "m1.large.",
    ),
    "capacity --lose any-host": (
        3,
        "N+1: no. cmp06 (1 server stays), cmp01 (1), cmp05 (1) can't be lost.",
    ),
    "capacity --lose any-zone": (
        3,
        "N+1: no. zone az-east (10 servers stay), zone az-west (3) can't be lost.",
    ),
    "capacity --lose any-aggregate": (
        3,
        "N+1: no. aggregate east (10 servers stay) and 3 more can't be lost.",
    ),
    "capacity --lose cmp03": (0, "N+1: yes, cmp03 can be lost."),
    "capacity --lose cmp02 --lose cmp03 --lose cmp02": (
        0,
        "N+1: yes, any of 2 hosts can be lost.",
    ),
    "capacity --lose windows": (
        3,
        "N+1: no. aggregate windows (2 servers stay) can't be lost.",
    ),
    "capacity --full": (
        7,
        "3 of 7 flavors without room: 1 never, 1 full, 1 rejected.",
    ),
    "capacity m1.small --full": (0, "0 of 1 flavor without room."),
    "capacity": (
        0,
        "4 of 7 flavors still fit; largest: m1.large (4 VCPU, 8192 MB).",
    ),
    "zone list -f value -c zone -c hosts": (0, "az-east 4"),
    "trait list": (0, "3 traits in use, 1 of them on no host."),
    "trait show CUSTOM_SSD": (
        0,
        "CUSTOM_SSD: on 2 of 8 hosts; required by 1 flavor, 1 server.",
    ),
    "check isolation": (7, "ERROR  isolation-member-lacks-trait  aggregate windows"),
    "config doctor": (0, "In use: options saved with the snapshot; 2026.2 (Nova 34)"),
}
#: Since yesterday: what took the hosts, worst first.
CAUSES = {
    f"diff {YESTERDAY} {CLOUD}": ["ssd.medium", "cmp01", "cmp04", "cmp07"],
    f"explain ssd.medium ubuntu-24.04 --since {YESTERDAY}": [
        "ssd.medium",
        "cmp01",
        "cmp04",
    ],
    f"server explain db-2 --since {YESTERDAY}": ["cmp01"],
}


#: A line of an answer.
LINES = {
    "aggregate list -c name -c projects": "| acme    | acme     |",
    "explain m1.large ubuntu-24.04 --long": "  No aggregate is for project admin; it "
    "is not restricted.",
    "explain m1.medium ubuntu-24.04 --enable-filter PciPassthroughFilter": "Without "
    "--enable-filter (settings: options saved with the snapshot):",
    "explain m1.medium ubuntu-24.04 --flavor-property pci_passthrough:alias=t4:1 --set "
    '\'pci.alias={"name":"t4","vendor_id":"10de","product_id":"1eb8"}\'': "  "
    "Rejected before scheduling; no host was tried.",
    "server destinations web-1 --for migration --availability-zone az-west": "4 hosts "
    "are in other zones: cmp[00-03]",
    "server destinations web-1 --availability-zone az-west": "  openstack server unset "
    "--os-compute-api-version 2.104 --pinned-availability-zone "
    "707b54d7-c136-4b10-99c4-53ef6b60bff2: 1 more host: cmp03",
    "explain r1.huge ubuntu-24.04": "  8 are short of RAM (need 65536 MB): "
    "cmp04 30208 MB free",
    "flavor show r1.huge": "  not on       cmp[00-07] (are short of RAM)",
}


@pytest.fixture
def ask(monkeypatch):
    """The exit code of a command on the sample cloud, and its lines."""
    monkeypatch.chdir(REPOSITORY)
    variables = {"TRAITSCHED_SNAPSHOT": CLOUD}

    def ask(command):
        done = shell.run(variables, "trait-sched", *shlex.split(command))
        lines = done.out.splitlines()
        return done.code, [line for line in lines if line != HEAD]

    return ask


@pytest.mark.parametrize("file", FILES)
def test_a_file_is_a_small_snapshot_without_the_machine_it_was_made_on(file):
    path = REPOSITORY / file
    text = path.read_text("utf-8")
    assert len(text) < LARGEST
    assert snapshot.read(str(path)).document["missing"].keys() == {
        "block-storage /volumes",
        "accelerator /device_profiles",
    }
    assert OF_A_MACHINE.findall('"/home/you/nova.conf", "/usr/lib/a.py"') == [
        "/home/you/nova.conf"
    ]
    assert OF_A_MACHINE.findall(text) == []
    days = {*re.findall(r"\d{4}-\d\d-\d\d(?=T)", text)}
    assert days <= {"2026-11-20", "2026-11-25", "2026-11-26"}


@pytest.mark.parametrize("command", ANSWERS)
def test_the_first_line_of_an_answer(ask, command):
    code, lines = ask(command)
    assert (code, lines[0]) == ANSWERS[command]


@pytest.mark.parametrize(
    ("name", "commands"),
    {
        "host/show": ("host show cmp01", "host show cmp05", "host show cmp07"),
        "flavor/show": (
            "flavor show m1.large",
            "flavor show ssd.medium",
            "flavor show acme.large",
        ),
        "zone/list": ("zone list",),
    }.items(),
)
def test_the_whole_text_of_an_answer(ask, golden, name, commands):
    golden(name, screens({command: ask(command)[1] for command in commands}))


@pytest.mark.parametrize(
    ("host", "word"), {"cmp05": "isolated", "cmp04": "disabled"}.items()
)
def test_a_flavor_that_no_host_is_tried_for_is_not_why_a_host_is_empty(host, word):
    show = "-q", "trait-sched", "host", "show", host
    done = shell.run({"TRAITSCHED_SNAPSHOT": CLOUD}, *show)
    assert done.out.startswith(f"{word}: {host} can take 0 of 7 flavors now; ")


@pytest.mark.parametrize("file", FILES)
def test_capacity_and_host_drain_agree_about_the_loss_of_each_host(ask, file):
    def run(command):
        words = ("trait-sched", *shlex.split(command), "-f", "json")
        done = shell.run({"TRAITSCHED_SNAPSHOT": file}, *words)
        return done.code, json.loads(done.out)

    def stays(stuck):
        return [(one["server"]["name"], one["why"], one["reason"]) for one in stuck]

    worst, whole = run("capacity --lose any-host")
    codes = {}
    for loss in whole["losses"]:
        host = loss["name"]
        codes[host], plan = run(f"host drain {host}")
        assert loss["hosts"] == [each["name"] for each in plan["hosts"]] == [host]
        assert loss["servers"] == plan["servers"], host
        assert stays(loss["stay"]) == stays(plan["stuck"]), host
        without, counted = run(f"capacity --without {host}")
        alone, of_one = run(f"capacity --lose {host}")
        assert codes[host] == without == alone, host
        assert of_one["losses"] == [loss]
        assert loss["can_be_lost"] == {0: "yes", 3: "no", 8: "unknown"}[alone]
        assert loss["full"] == [
            each["flavor"]["name"]
            for each in counted["flavors"]
            if each["servers"]["max"] and not each["after"]["max"]
        ]
    assert len(codes) == 8
    assert worst == max(codes.values())
    assert [*codes.values()] == sorted(codes.values(), reverse=True)


@pytest.mark.parametrize("command", LINES)
def test_a_line_of_an_answer(ask, command):
    assert LINES[command] in ask(command)[1]


def test_a_script_says_how_old_its_facts_are(ask):
    _, lines = ask("host drain cmp02 --script")
    assert f"# From the cloud as of 2026-11-26 06:00 UTC, {CLOUD}" in lines[:3]


def test_moves_make_room_without_allocations(ask):
    _, lines = ask("explain ssd.medium ubuntu-24.04 --make-room")
    assert "Room for 1 on cmp01 if cache-1 moves to cmp03:" in lines
    _, lines = ask("explain r1.huge ubuntu-24.04 --make-room")
    assert "No moves make room for 1: no host is only short of room" in "".join(lines)


@pytest.mark.parametrize(
    ("server", "image", "code", "reason"),
    [
        ("web-1", "windows-2022", 3, "cmp00 lacks what the image requires:"),
        ("web-1", "debian-12-arm64", 3, "cmp00 does not support hw_architecture="),
        ("win-1", "ubuntu-24.04", 0, "Rebuild of win-1 on cmp06: its host can take it"),
    ],
)
def test_a_rebuild_is_judged_without_allocations(ask, server, image, code, reason):
    words = f"server destinations {server} --for rebuild --image {image}"
    found, lines = ask(words)
    assert found == code
    assert reason in "\n".join(lines)


def test_a_rebuild_is_not_judged_if_allocations_tell_where_its_parts_are(tmp_path):
    whole = json.loads((REPOSITORY / CLOUD).read_text())
    (host,) = (p for p in whole["placement"]["providers"] if p["name"] == "cmp00")
    del host["inventories"]["DISK_GB"]
    path = tmp_path / "cloud.json"
    path.write_text(json.dumps(whole))
    words = "server destinations web-1 --for rebuild --image windows-2022"
    variables = {"TRAITSCHED_SNAPSHOT": str(path)}
    done = shell.run(variables, "trait-sched", *words.split())
    assert done.code == 8
    assert "the snapshot has no /allocations/" in done.err


OF_FAILED = "8caa8641-d293-4a31-af13-b6747931d00"
#: Flavors and zones of servers that failed, and the line of each.
FAILED = {
    ("ssd.medium", ""): "no room, short of RAM",
    ("ssd.medium", "az-east"): "no room, short of RAM",
    ("m1.large", "az-west"): "hosts are disabled",
    ("r1.huge", ""): "no host suits, short of RAM",
    ("r1.huge", "az-west"): "no host suits, short of RAM",
    ("r1.huge", "az-east"): "no host suits, short of RAM",
    ("ssd.medium", "az-west"): "no host suits, lack trait CUSTOM_SSD",
    ("ssd.large", ""): "Nova rejects it: requires trait CUSTOM_SDD, which does not "
    "exist. Did you mean CUSTOM_SSD?",
    ("m1.small", ""): "Now 4 of 8 hosts may take it; why it failed is not known",
}


def test_failed_servers_are_together_by_reason_if_a_screen_is_too_small(tmp_path):
    whole = json.loads((REPOSITORY / CLOUD).read_text())
    flavors = {each["name"]: each for each in whole["compute"]["flavors"]}
    servers = whole["compute"]["servers"]
    (one,) = (each for each in servers if each["name"] == "db-2")
    servers.remove(one)
    for number, (name, zone) in enumerate(FAILED):
        flavor = {**one["flavor"], "original_name": name}
        keys = ("vcpus", "ram", "disk", "extra_specs")
        flavor.update({key: flavors[name][key] for key in keys})
        new = {**one, "id": OF_FAILED + str(number), "name": f"s{number}"}
        new["flavor"] = flavor
        servers.append({**new, "pinned_availability_zone": zone or None})
    servers[-1]["name"] = "s0"
    path = tmp_path / "cloud.json"
    path.write_text(json.dumps(whole))
    saved = snapshot.read(str(path))
    found = server.failed(saved.cloud, saved.sources)
    first, *lines, _ = server_explain.failed_lines(found, (), 80, 24)
    assert first.text == "9 servers failed, for 6 reasons; 8 would fail again."
    texts = [each.text for each in lines]
    assert {text.split(": ", 1)[1].rpartition(": ")[0] for text in texts} == {
        *FAILED.values()
    }
    assert texts[0] == "3: no host suits, short of RAM: s3, s4, s5"
    assert f"2: no room, short of RAM: s0 ({OF_FAILED}0), s1" in texts


def with_network(providers, host):
    """Providers of Neutron's agent on a host."""
    (root,) = (each for each in providers if each["name"] == host)
    stock = {
        **{"reserved": 0, "allocation_ratio": 1.0, "used": 0},
        **{"min_unit": 1, "max_unit": 20_000_000, "step_size": 1},
    }
    agent = f"{host}:Open vSwitch agent"
    inventories = {
        agent: {"NET_PACKET_RATE_KILOPACKET_PER_SEC": {"total": 1000}},
        f"{agent}:br-all": {
            "NET_BW_EGR_KILOBIT_PER_SEC": {"total": 10_000_000},
            "NET_BW_IGR_KILOBIT_PER_SEC": {"total": 10_000_000},
        },
        f"{agent}:br-rack": {
            "NET_BW_EGR_KILOBIT_PER_SEC": {"total": 10_000_000, "used": 2_500_000},
            "NET_BW_IGR_KILOBIT_PER_SEC": {"total": 10_000_000},
        },
    }
    for number, (name, own) in enumerate(inventories.items()):
        yield {
            **root,
            **{"uuid": f"5b000000-0000-4000-8000-{number:012}", "name": name},
            **{"parent": root["uuid"], "traits": ["CUSTOM_PHYSNET_ALL"]},
            "aggregates": [],
            "inventories": {key: {**stock, **each} for key, each in own.items()},
        }


def test_the_network_of_a_host_is_one_row(tmp_path):
    whole = json.loads((REPOSITORY / CLOUD).read_text())
    placement = whole["placement"]
    placement["providers"] += with_network(placement["providers"], "cmp01")
    named = {name for each in placement["providers"] for name in each["inventories"]}
    placement["resource_classes"] = sorted({*placement["resource_classes"], *named})
    placement["traits"].append("CUSTOM_PHYSNET_ALL")
    path = tmp_path / "cloud.json"
    path.write_text(json.dumps(whole))
    variables = {"TRAITSCHED_SNAPSHOT": str(path)}
    done = shell.run(variables, "trait-sched", "host", "show", "cmp01")
    rows = done.out.splitlines()
    (network,) = (row for row in rows if row.startswith("  network "))
    assert sorted(network.split(maxsplit=1)[1].split(", ")) == [
        "0 of 1000 kpps",
        "br-all 0 of 10 Gbit/s",
        "br-rack 0 of 10 Gbit/s in",
        "br-rack 2.5 of 10 Gbit/s out",
    ]
    assert "  other traits 16 of Nova, 1 of Neutron" in rows
    done = shell.run(variables, "trait-sched", "host", "show", "cmp01", "--long")
    assert "  of Neutron   CUSTOM_PHYSNET_ALL" in done.out.splitlines()


def with_volumes():
    """The sample, whose servers all boot from volumes."""
    whole = json.loads((REPOSITORY / CLOUD).read_text())
    volumes = []
    for number, body in enumerate(whole["compute"]["servers"]):
        name = f"5a000000-0000-4000-8000-{number:012}"
        body["image"] = ""
        body["os-extended-volumes:volumes_attached"] = [{"id": name}]
        volumes.append(
            {
                **{"id": name, "name": "", "size": 20, "status": "in-use"},
                **{"availability_zone": "nova", "bootable": "true"},
                "attachments": [{"server_id": body["id"], "device": "/dev/vda"}],
            }
        )
    whole["block-storage"] = {"volumes": volumes}
    del whole["missing"]["block-storage /volumes"]
    return whole


@pytest.mark.parametrize(("hosts", "is_list"), [("any-host", True), ("cmp00", False)])
def test_many_volumes_are_read_as_one_list(tmp_path, monkeypatch, hosts, is_list):
    path = tmp_path / "cloud.json"
    path.write_text(json.dumps(with_volumes()))
    cloud, asked = snapshot.read(str(path)).cloud, []
    get = type(cloud.compute).get

    def spy(self, path, *args, **kwargs):
        if self.service_type == "block-storage":
            asked.append(path)
        return get(self, path, *args, **kwargs)

    monkeypatch.setattr(type(cloud.compute), "get", spy)
    variables = {"TRAITSCHED_SNAPSHOT": str(path)}
    done = shell.run(variables, "trait-sched", "capacity", "--lose", hosts)
    assert done.code in (0, 3), done.err
    lists = [each for each in asked if each == "/volumes/detail"]
    assert bool(lists) is is_list
    assert bool({*asked} - {*lists}) is not is_list


PAIR = {"hw:numa_nodes": "2"}
NUMA = "--enable-filter NUMATopologyFilter"


@pytest.mark.parametrize(
    ("running", "code", "finding", "answer"),
    [
        (None, 3, 7, "No host can ever take it: 0 of 8."),
        (PAIR, 8, 0, "It is not known whether a host can take it: 2 of 8 may."),
        ({"hw:numa_nodes": "1"}, 3, 7, "No host can ever take it: 0 of 8."),
    ],
)
def test_a_running_server_shows_that_some_host_has_numa_nodes(
    tmp_path, running, code, finding, answer
):
    document = json.loads((REPOSITORY / CLOUD).read_text("utf-8"))
    compute = document["compute"]
    flavor = next(each for each in compute["flavors"] if each["name"] == "m1.large")
    compute["flavors"].append(
        {**flavor, "id": "pair", "name": "numa.pair", "extra_specs": PAIR}
    )
    for node in compute["hypervisors"]:
        node["hypervisor_type"] = "fake"
    if running is not None:
        server = next(s for s in compute["servers"] if s["name"] == "web-1")
        copied = {**server["flavor"], "original_name": "numa.pair"}
        copied["extra_specs"] = running
        identity = "5e000009-0000-4000-8000-000000000000"
        compute["servers"].append({**server, "id": identity, "flavor": copied})
    path = tmp_path / "cloud.json"
    path.write_text(json.dumps(document), "utf-8")

    def run(command):
        variables = {"TRAITSCHED_SNAPSHOT": str(path)}
        done = shell.run(variables, "trait-sched", *shlex.split(command))
        return done.code, done.out

    assert run(f"check --flavor numa.pair {NUMA}")[0] == finding
    found, text = run(f"explain numa.pair ubuntu-24.04 {NUMA}")
    assert (found, text.splitlines()[1]) == (code, answer)
    assert run(f"flavor show numa.pair {NUMA}")[0] == code


@pytest.mark.parametrize("command", CAUSES)
def test_the_changes_since_yesterday_that_took_hosts(ask, command):
    _, lines = ask(command)
    changed = re.compile(r"^[! ] (?:flavor|host) (\S+)  ")
    causes = [match[1] for line in lines if (match := changed.match(line))]
    assert causes == CAUSES[command]


@pytest.fixture
def nights(tmp_path):
    """Ten nights as yesterday, four as today, and two that are later."""
    texts = [(REPOSITORY / file).read_text("utf-8") for file in (YESTERDAY, CLOUD)]
    for day in range(12, 28):
        document = json.loads(texts[day >= 22])
        document["time"] = f"2026-11-{day}T06:00:00Z"
        snapshot.write_into(str(tmp_path), document, 99)
    return tmp_path


BROKE = "Worked until Sat 06:00 UTC; since Sun 06:00 UTC: "


@pytest.mark.parametrize(
    ("command", "start"),
    [
        (
            "explain ssd.medium ubuntu-24.04",
            f"{BROKE}flavor ssd.medium got trait:CUSTOM_SSD=required, cmp01: reserved ",
        ),
        ("server explain db-2", f"{BROKE}cmp01: reserved RAM 512 -> 4096."),
        (
            "capacity ssd.medium",
            f"{BROKE}flavor ssd.medium got trait:CUSTOM_SSD=required, cmp01: reserved ",
        ),
        (
            "explain m1.large ubuntu-24.04",
            "It worked in the oldest of 14 snapshots (2026-11-12 06:00 UTC), too.",
        ),
    ],
)
def test_a_folder_of_nights_says_when_it_broke_and_what_took_it(
    ask, nights, command, start
):
    _, lines = ask(f"{command} --since {nights}")
    assert [line for line in lines if line.startswith(start)]
    _, lines = ask(f"{command} --since {nights} -f json")
    whole = json.loads("\n".join(lines))
    found = whole.get("now", whole)["since"]
    is_broken = start.startswith(BROKE)
    assert (found["searched"], found["worked"]) == (14, True)
    assert found["time"][:10] == ("2026-11-21" if is_broken else "2026-11-12")
    assert found["later"][:10] == ("2026-11-22" if is_broken else "2026-11-26")
    assert bool(found["now"]) is not is_broken


def test_a_renamed_zone_is_blamed_for_its_hosts(ask, tmp_path):
    """nova-api rejects the old name now, so that no host is judged."""
    text = (REPOSITORY / CLOUD).read_text("utf-8")
    path = tmp_path / "cloud.json"
    path.write_text(text.replace("az-west", "az-far"), "utf-8")
    words = "explain m1.small ubuntu-24.04 --availability-zone az-west"
    _, lines = ask(f"{words} --since {YESTERDAY} --snapshot {path}")
    start = lines.index("What took them:")
    assert re.search(r": \d of 8 hosts could take it .*; now 0\.$", lines[start - 1])
    assert lines[start + 1].split()[:2] == ["aggregate", "west"]
    assert "availability_zone: az-west -> az-far" in lines[start + 1]


def test_a_folder_of_nights_says_since_when_fewer_servers_fit(ask, nights):
    """Four m1.large fit then, and three now."""
    for number, start in (4, BROKE), (3, "It worked in the oldest of 14 snapshots"):
        _, lines = ask(f"capacity m1.large --at-least {number} --since {nights}")
        assert [line for line in lines if line.startswith(start)]


def test_diff_of_a_folder_says_by_when(ask, nights):
    code, lines = ask(f"diff {nights}")
    changed = [line for line in lines if line.startswith("! ")]
    assert (code, len(changed)) == (6, 4)
    assert all("  by Sun 06:00 UTC  " in line for line in changed)


def no_flavors(document):
    del document["compute"]["flavors"]


def no_servers(document):
    del document["compute"]["servers"]


def light(document):
    document["light"] = True


def masked(document):
    document["masked"] = "5d"


@pytest.mark.parametrize(
    ("command", "spoil", "code", "problem"),
    [
        ("explain ssd.medium", no_flavors, 1, "compute: the snapshot has no /flavors"),
        ("server explain db-2", no_servers, 1, "compute: the snapshot has no /servers"),
        ("explain m1.large", light, 2, "it is light: save both in the same"),
        ("diff", masked, 2, "masked names can't be compared: save it with"),
    ],
)
def test_a_night_that_can_not_be_read_is_named_and_is_no_failure(
    nights, command, spoil, code, problem
):
    """Halving opens the night of the 18th first, and diff the 21st after later ones."""
    for day in (18, 21):
        night = nights / f"202611{day}T060000Z.json.gz"
        document = json.loads(gzip.decompress(night.read_bytes()))
        spoil(document)
        night.write_bytes(gzip.compress(json.dumps(document).encode()))
    since = () if command == "diff" else ("--since",)
    words = ("trait-sched", *command.split(), *since, str(nights))
    done = shell.run({"TRAITSCHED_SNAPSHOT": CLOUD}, *words)
    opened = nights / f"202611{21 if command == 'diff' else 18}T060000Z.json.gz"
    assert done.code == code
    assert f"{opened}: {problem}" in done.err
    assert not done.out


def test_a_folder_without_an_earlier_snapshot_is_an_error(ask, nights):
    for path in nights.iterdir():
        if not path.name.startswith("20261127"):
            path.unlink()
    done = shell.run({"TRAITSCHED_SNAPSHOT": CLOUD}, "trait-sched", "diff", str(nights))
    assert done.code == 1
    assert "no snapshot from before 2026-11-26 06:00 UTC is in this folder" in done.err


def test_check_finds_an_error_of_four_areas(ask):
    code, lines = ask("check")
    errors = {line.split()[1] for line in lines if line.startswith("ERROR")}
    assert code == 7
    assert errors == {
        "filters-image-no-host",
        "isolation-member-lacks-trait",
        "resources-no-host",
        "traits-unknown",
    }


def test_the_picture_shows_an_answer(ask):
    root = xml.etree.ElementTree.parse(REPOSITORY / "doc/source/images/explain.svg")
    texts = (element for element in root.iter() if element.tag.endswith("}text"))
    first, *rows = ("".join(element.itertext()) for element in texts)
    _, lines = ask(first.removeprefix("$ openstack trait-sched "))
    assert [HEAD, *lines] == rows


def test_an_export_of_yesterday_gives_a_trait_back_and_takes_nothing(ask, tmp_path):
    variables = {"TRAITSCHED_SNAPSHOT": YESTERDAY}
    was = tmp_path / "was.yaml"
    was.write_text(shell.run(variables, "trait-sched", "export").out, "utf-8")
    _, lines = ask(f"plan {was} -f value -c change -c object -c key")
    assert lines == ["add cmp07 CUSTOM_WINDOWS"]


#: Of an example that needs more than the sample: files, Nova, a network, a shell.
MORE = re.compile(r"\.(yaml|json|conf|py)|/| --n(ova-python|etwork)| \| |^\w+ save\b")
EXAMPLES = [
    (verb, words)
    for verb in examples.verbs()
    for words in examples.rows(verb)
    if not MORE.search(words)
]


@pytest.mark.parametrize(("verb", "words"), EXAMPLES)
def test_an_example_of_the_help_names_what_the_sample_has(ask, verb, words):
    if issubclass(examples.command(verb), Writer) and "--dry-run" not in words:
        words = f"{words} --dry-run"
    code, lines = ask(words)
    assert code not in (1, shell.USAGE), lines
