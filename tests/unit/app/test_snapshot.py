"""Snapshots: what is kept, compared and refused, and what threads read."""

from __future__ import annotations

import concurrent.futures
import contextlib
import copy
import datetime
import functools
import gzip
import json
import os
import re
import subprocess
import sys
import threading
import time
import uuid

import jsonschema
import pytest

from osc_traitsched.app import masking, snapshot
from osc_traitsched.app.judging import by_flavor
from osc_traitsched.app.snapshot import Snapshot
from osc_traitsched.cloud.rest import Later, LaterOfEach
from osc_traitsched.cloud.saved import form
from osc_traitsched.core.errors import BadConfiguration, BadUsage, PlacementRefuses
from osc_traitsched.core.nova.question import ServerSpec
from tests.functional import shell
from tests.services import fleet, saved
from tests.services.environment import REPOSITORY

# Snapshots: what is kept of a cloud, what is compared, and what a bad file is told.


ACME, OTHER = "5a1e0000000000000000000000000001", "5a1e0000000000000000000000000002"
IMAGE = "1a000001-0000-4000-8000-000000000000"
FAILED = "5e000001-0000-4000-8000-000000000000"
PROJECTS = [{"id": ACME, "name": "acme"}, {"id": OTHER, "name": "other"}]
HOSTS = fleet.draw(60, nested=0.1)
#: Of zones and racks, in their order.
METADATA = (
    {"availability_zone": "berlin", "filter_tenant_id": ACME},
    {"tier": "Gold,silver", "cpu_allocation_ratio": "2.0"},
    {"trait:CUSTOM_GPU_NODE": "required", "filter_tenant_id_2": "acme"},
    {"tier": "bronze", "hw_disk_bus": "scsi"},
)
SPECS = {
    "plain": {},
    "scoped": {"aggregate_instance_extra_specs:tier": "<or> gold <or> Gold"},
    "free": {"tier": "bronze"},
    "trait": {"trait:CUSTOM_GPU_NODE": "required"},
    "standard": {"trait:HW_CPU_X86_AVX512F": "required", "hw:cpu_policy": "shared"},
    "missing": {"trait:CUSTOM_GPU_NOED": "required"},
    "nested": {"resources:PCPU": "2"},
}
FILTERS = (
    "ComputeFilter,AggregateInstanceExtraSpecsFilter,"
    "AggregateImagePropertiesIsolation,AggregateMultiTenancyIsolation,"
    "ImagePropertiesFilter,SimpleCIDRAffinityFilter"
)
SERVER = {
    "id": FAILED,
    "name": "acme-db",
    "status": "ERROR",
    "tenant_id": ACME,
    "created": "2026-11-27T03:00:00Z",
    "OS-EXT-SRV-ATTR:host": HOSTS[0].name,
    "fault": {"message": f"No valid host was found. {HOSTS[0].name}, acme-db, acme"},
    "scheduler_hints": {"query": f'["=", "$host", "{HOSTS[1].name}"]', "my": "secret"},
}
CLOUD = saved.snapshot(
    HOSTS,
    METADATA,
    [
        {
            "id": name,
            "name": name,
            "description": "for Acme",
            "vcpus": 8,
            "ram": 8192,
            "disk": 10,
            "swap": "",
            "OS-FLV-EXT-DATA:ephemeral": 0,
            "os-flavor-access:is_public": True,
            "extra_specs": specs,
        }
        for name, specs in SPECS.items()
    ],
    image={
        "images": [
            {
                "id": IMAGE,
                "name": "acme-os",
                "status": "active",
                "visibility": "public",
                "owner": ACME,
                "disk_format": "qcow2",
                "hw_disk_bus": "scsi",
                "trait:CUSTOM_GPU_NODE": "required",
                "owner_user_name": "acme-admin",
                "locations": [{"url": "rbd://acme"}],
            }
        ]
    },
    identity={"domains": [], "projects": PROJECTS},
)
CLOUD["compute"]["servers"] = [SERVER]
CLOUD["compute"]["services"][0] |= {"disabled_reason": "rack of Acme is down"}
CLOUD["settings"] = {
    **saved.SETTINGS,
    "place": "/home/acme/nova.conf",
    "files": {
        "nova_conf": [
            [
                [
                    "filter_scheduler",
                    "enabled_filters",
                    FILTERS,
                    "/acme/a",
                    1,
                    "",
                    None,
                ],
                ["filter_scheduler", "isolated_images", FAILED, "/acme/a", 2, "", None],
                ["filter_scheduler", "isolated_hosts", HOSTS[2].name, "a", 3, "", None],
            ]
        ]
    },
    "named": {"nova_release": ["33"]},
}
MASKED, ORIGINALS = masking.masked(CLOUD)


def hosts_by_flavor(document, project, image):
    """How many hosts each flavor has."""
    opened = Snapshot("", document)
    spec = ServerSpec("", image, project=project)
    return {
        each.question.flavor["name"]: len(each.candidates)
        for each in by_flavor(opened.cloud, spec, opened.sources)
    }


@pytest.mark.parametrize("image", ["", IMAGE])
@pytest.mark.parametrize("project", [ACME, OTHER])
@pytest.mark.parametrize("keep_traits", [False, True])
def test_a_masked_snapshot_gives_each_flavor_as_many_hosts(keep_traits, project, image):
    masked, originals = masking.masked(CLOUD, True, keep_traits)
    words = {original: word for word, original in originals.items()}
    real = hosts_by_flavor(CLOUD, project, image)
    assert len(set(real.values())) > 1, real
    same = words.get(project, project), words.get(image, image)
    assert hosts_by_flavor(masked, *same) == real


def test_a_masked_snapshot_has_no_name_and_no_id_of_the_cloud():
    text = json.dumps(MASKED)
    secrets = [
        *("acme", "berlin", "gold", "silver", "bronze", "tier", "secret", "10.0.0.1"),
        *("example", "rack", "GPU_NO", "url", "my"),
        *(ACME, IMAGE, FAILED, HOSTS[0].uuid, HOSTS[0].aggregates[0]),
        *(each.name.partition(".")[0] for each in HOSTS),
    ]
    assert [each for each in secrets if re.search(rf"\b{each}", text, re.I)] == []


@pytest.mark.parametrize(
    "kept",
    [
        "availability_zone",
        "trait:HW_CPU_X86_AVX512F",
        "hw:cpu_policy",
        "aggregate_instance_extra_specs:",
        "resources:PCPU",
        "cpu_allocation_ratio",
        "filter_tenant_id_2",
        "No valid host was found.",
        FILTERS,
        '"x86_64"',
    ],
)
def test_what_has_a_meaning_to_nova_is_kept(kept):
    assert kept in json.dumps(MASKED)


def test_a_name_has_the_same_word_wherever_it_is():
    compute = MASKED["compute"]
    (server,) = compute["servers"]
    host = server["OS-EXT-SRV-ATTR:host"]
    assert re.fullmatch("host-[a-z]{10}", host)
    assert ORIGINALS[host] == HOSTS[0].name
    assert host in [each["name"] for each in MASKED["placement"]["providers"]]
    assert any(host in each["hosts"] for each in compute["aggregates"])
    message, _, rest = server["fault"]["message"].partition(" masked ")
    assert message == "No valid host was found."
    assert ORIGINALS[rest] == f"{HOSTS[0].name}, acme-db, acme"
    (isolated,) = (
        each
        for each in compute["aggregates"]
        if "filter_tenant_id_2" in each["metadata"]
    )
    project = isolated["metadata"]["filter_tenant_id_2"]
    assert ORIGINALS[project] == "acme"
    assert project in [each["name"] for each in MASKED["identity"]["projects"]]


def test_traits_and_flavors_can_be_kept():
    text = json.dumps(masking.masked(CLOUD, True, True)[0])
    for kept in ("trait:CUSTOM_GPU_NODE", '"name": "standard"'):
        assert kept in text
    for hidden in ("acme-", "acme:", "Gold,silver", "tier", "for Acme"):
        assert hidden not in text


def test_only_snapshots_with_equal_names_and_lists_are_compared():
    plain, masked = Snapshot("a", CLOUD), Snapshot("b", MASKED)
    again = Snapshot("c", masking.masked(CLOUD)[0])
    light = Snapshot("d", {**CLOUD, "light": True})
    for one, other in ((masked, masked), (plain, None), (light, None), (plain, plain)):
        one.check_comparable(other)
    for one, other, why in (
        (plain, masked, "b: masked names"),
        (masked, plain, "b: masked names"),
        (masked, None, "b: masked names"),
        (masked, again, "c: masked names"),
        (plain, light, "d: it is light"),
        (light, plain, "d: it is light"),
    ):
        with pytest.raises(BadUsage, match=why):
            one.check_comparable(other)


# Bad files.


def changed(*keys, to):
    """The cloud's document with one value replaced, as JSON."""
    document = copy.deepcopy(CLOUD)
    place = document
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = to
    return json.dumps(document)


WHOLE = json.dumps(CLOUD)
NO_SETTINGS = "its settings can't be read"
CUT, NOT_OURS = "the file is cut or damaged", "not a snapshot of trait-sched"
BAD_FILES = {
    "cut": (WHOLE[:5000], CUT),
    "cut, packed": (gzip.compress(WHOLE.encode())[:900], CUT),
    "damaged, packed": (b"\x1f\x8b" + b"x" * 50, CUT),
    "empty": ("", NOT_OURS),
    "no JSON": ("<html>", NOT_OURS),
    "no UTF-8": (b"\xff\xfe{", NOT_OURS),
    "deep": ("[" * 100_000, NOT_OURS),
    "a list": ("[1]", NOT_OURS),
    "other JSON": ('{"format": 1, "servers": []}', NOT_OURS),
    "format 2": (changed("format", to=2), "of format 2; this version reads 1"),
    "format of a text": (
        changed("format", to="\x1b[2J"),
        r"of format \x1b[2J; this version reads 1",
    ),
    "large": (" " * 3_000_000, "larger than 2 MB"),
    "large, packed": (
        gzip.compress(b" " * 3_000_000),
        "unpacked larger than 2 MB",
    ),
    **{
        f"{'.'.join(map(str, keys))}: {value}": (
            changed(*keys, to=value),
            f"not a whole snapshot: wrong at {keys[-1] if place is None else place}",
        )
        for keys, value, place in (
            (("placement",), [], None),
            (("placement", "providers"), {}, None),
            (("placement", "providers", 0), [], "providers"),
            (("placement", "providers", 0, "traits"), "COMPUTE_NODE", None),
            (("placement", "providers", 0, "inventories"), [1], None),
            (("placement", "providers", 0, "inventories", "VCPU"), {}, "total"),
            *(
                (("placement", "providers", 0, "inventories", "VCPU", *keys), value, at)
                for keys, value, at in (
                    (["step_size"], 0, "inventories"),
                    (["allocation_ratio"], float("nan"), "inventories"),
                    (["allocation_ratio"], float("inf"), "inventories"),
                    (["total"], 10**400, "inventories"),
                )
            ),
            (("compute",), [], None),
            (("compute",), 0, None),
            (("image",), None, None),
            (("compute", "flavors", 0, "ram"), "many", None),
            (("compute", "flavors", 0, "extra_specs"), ["a"], None),
            (("compute", "hypervisors", 0, "running_vms"), "x", None),
            (("compute", "servers", 0, "fault"), {"message": 5}, "message"),
            (("answers",), {"compute /x": {"flavor_access": [1]}}, "flavor_access"),
            (("compute", "servers"), {}, None),
            (("compute", "servers", 0), "x", "servers"),
            (("compute", "hypervisors", 0, "service"), "cmp01", None),
            (("compute", "aggregates", 0, "metadata"), [], None),
            (("image", "images"), None, None),
            (("missing",), {"compute /servers": "no"}, "compute /servers"),
            (("settings",), None, None),
            (("time",), 5, None),
            (("answers",), [], None),
        )
    },
    "settings": (
        changed("settings", "options", to=[[1]]),
        "its settings can't be read",
    ),
    "named": (changed("settings", "named", to={"x": 1}), NO_SETTINGS),
    "time": (changed("time", to="noon"), "its time can't be read"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_file_is_one_line(tmp_path, monkeypatch, case):
    data, reason = BAD_FILES[case]
    path = tmp_path / "bad"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    monkeypatch.setattr(snapshot, "MOST", 2_000_000)
    done = shell.run({}, "trait-sched", "capacity", "--snapshot", str(path))
    assert (done.code, done.out, done.err) == (1, "", f"{path}: {reason}\n")


SAMPLE = json.loads((REPOSITORY / "examples" / "cloud.json").read_text("utf-8"))
OTHER_TYPES = (None, "x", 5, [], {}, [3], {"a": 3})
FUZZED = (
    "check",
    "explain m1.small ubuntu-24.04",
    "server explain --failed",
    "diff {} examples/cloud.json",
)


def places(value, *keys):
    """The keys to each value of a document; of a list only to the first item."""
    yield keys
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, *keys, key)
    elif isinstance(value, list) and value:
        yield from places(value[0], *keys, 0)


def replaced(keys, other):
    """The sample with another value; without one, the key is missing."""
    document = copy.deepcopy(SAMPLE)
    place = document
    for key in keys[:-1]:
        place = place[key]
    if other is ... and isinstance(place, dict):
        del place[keys[-1]]
    elif other is not ... and type(other) is not type(place[keys[-1]]):
        place[keys[-1]] = other
    else:
        return None
    return document


def readable(path):
    """Documents with one value of another type that are opened all the same."""
    for keys in [*places(SAMPLE)][1:]:
        for other in (*OTHER_TYPES, ...):
            document = replaced(keys, other)
            if document is None:
                continue
            path.write_text(json.dumps(document), "utf-8")
            with contextlib.suppress(BadConfiguration):
                snapshot.read(str(path))
                yield keys, other, document


def test_a_file_with_any_wrong_type_is_answered_or_refused_in_one_line(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(REPOSITORY)
    path = tmp_path / "odd.json"
    for number, (keys, other, document) in enumerate([*readable(path)]):
        if number % 11:
            continue
        path.write_text(json.dumps(document), "utf-8")
        command = FUZZED[number // 11 % len(FUZZED)].format(path)
        variables = {"TRAITSCHED_SNAPSHOT": str(path)}
        done = shell.run(variables, "trait-sched", *command.split())
        assert "internal error" not in done.err, (keys, other, command, done.err)


def test_a_field_of_one_inventory_alone_is_a_difference(tmp_path):
    old, new = copy.deepcopy(CLOUD), copy.deepcopy(CLOUD)
    old["placement"]["providers"][0]["inventories"]["VCPU"]["spare"] = 7
    for name, document in (("old", old), ("new", new)):
        (tmp_path / name).write_text(json.dumps(document))
    for names in (("old", "new"), ("new", "old")):
        paths = (str(tmp_path / name) for name in names)
        done = shell.run({}, "trait-sched", "diff", *paths)
        assert (done.code, done.err) == (6, "")
        assert "spare VCPU" in done.out


def test_a_small_file_that_unpacks_to_much_takes_little_memory(tmp_path):
    path = tmp_path / "bomb.json.gz"
    with gzip.open(path, "wb") as stream:
        stream.write(b'{"format": 1, "placement": "')
        for _ in range(480):
            stream.write(b"x" * 1_000_000)
    assert path.stat().st_size < 500_000
    script = (
        "import pathlib, sys; from osc_traitsched.app import snapshot\n"
        "try: snapshot.read(sys.argv[1])\n"
        "except Exception as exc: print(exc)\n"
        # Unlike getrusage's, this maximum begins with the program.
        "status = pathlib.Path('/proc/self/status').read_text()\n"
        "print(status.partition('VmHWM:')[2].split()[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    reason, kilobytes = done.stdout.splitlines()
    assert re.fullmatch(rf"{path}: unpacked larger than \d\d MB", reason)
    assert int(kilobytes) < 200_000


def test_a_large_file_of_equal_hosts_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(snapshot, "_SMALL", 0)
    many = copy.deepcopy(CLOUD)
    (one, *_) = many["placement"]["providers"]
    ids = [str(uuid.uuid4()) for _ in range(4_000)]
    many["placement"]["providers"] = [
        {**one, "name": f"cmp{n}", "uuid": each, "root": each}
        for n, each in enumerate(ids)
    ]
    path = str(tmp_path / "large.json.gz")
    snapshot.write(path, many)
    found = snapshot.read(path).document
    assert len(found["placement"]["providers"]) == 4_000


# Files that are written.


def at(stamp):
    return {**CLOUD, "time": stamp}


def files(folder):
    return sorted(each.name for each in folder.iterdir())


def test_what_was_just_written_stays_if_a_clock_was_ahead(tmp_path):
    ahead = ["20310101T000000Z.json.gz", "20310102T000000Z.json.gz"]
    for name in ahead:
        (tmp_path / name).write_text("old")
    for stamp in ("2027-03-04T05:06:07Z", "2027-03-05T05:06:07Z"):
        path = snapshot.write_into(str(tmp_path), at(stamp), 2)
        assert snapshot.read(path).document["time"] == stamp
    assert files(tmp_path) == ["20270305T050607Z.json.gz", *ahead]


def test_a_folder_has_its_snapshots_by_time_and_a_file_is_itself(tmp_path):
    stamps = ["2027-03-05T05:06:07Z", "2027-03-04T05:06:07Z", "2027-03-04T05:06:07Z"]
    paths = [snapshot.write_into(str(tmp_path), at(each), 9) for each in stamps]
    (tmp_path / "other.json.gz").write_text("not read")
    end = datetime.datetime(2027, 3, 5, 5, 6, 8)
    found = snapshot.within(str(tmp_path), end)
    assert list(found) == [*paths[1:], paths[0]]
    one = datetime.timedelta(seconds=1)
    assert snapshot.within(str(tmp_path), end - one) == found[:2]
    assert snapshot.within(paths[0], end - one) == (paths[0],)
    with pytest.raises(BadConfiguration, match="no snapshot from before 2027-03-04"):
        snapshot.within(str(tmp_path), end - datetime.timedelta(days=1, seconds=1))


def test_runs_in_the_same_second_lose_nothing(tmp_path):
    folder, found = str(tmp_path / "new"), at("2027-03-04T05:06:07Z")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        save = functools.partial(snapshot.write_into, folder, found)
        paths = list(pool.map(save, [20] * 8))
    assert len(set(paths)) == 8
    assert files(tmp_path / "new") == sorted(map(os.path.basename, paths))


def test_runs_that_remove_the_same_files_do_not_fail(tmp_path):
    stamps = [f"2027-03-04T05:06:{second:02}Z" for second in range(40)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        save = functools.partial(snapshot.write_into, str(tmp_path), most=1)
        list(pool.map(save, map(at, stamps)))
    snapshot.write_into(str(tmp_path), at("2027-03-05T05:06:00Z"), 1)
    assert files(tmp_path) == ["20270305T050600Z.json.gz"]


def test_only_what_killed_runs_left_a_day_ago_is_removed(tmp_path):
    left = {
        ".20270303T050607Z.json.gz.k2_xq9ab": 2,
        ".20270303T050607Z.json.gz.map.json.k2_xq9ab": 2,
        ".20270304T050607Z.json.gz.abcdefgh": 0,
        ".other.json.gz.abcdefgh": 2,
        "20270303T050607Z.json.gz.bak": 2,
    }
    for name, days in left.items():
        (tmp_path / name).write_text("half")
        changed = time.time() - days * 24 * 60 * 60 - 5
        os.utime(tmp_path / name, (changed, changed))
    snapshot.write_into(str(tmp_path), at("2027-03-04T05:06:07Z"), 3)
    kept = list(left)[2:]
    assert files(tmp_path) == sorted([*kept, "20270304T050607Z.json.gz"])


def test_a_folder_without_hard_links_gets_the_file(tmp_path, monkeypatch):
    def link(old, new):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    path = snapshot.write_into(str(tmp_path), CLOUD, 1)
    assert files(tmp_path) == [os.path.basename(path)]


@pytest.mark.parametrize("name", ["cloud.json", "cloud.json.gz"])
def test_a_link_is_replaced_and_its_target_stays(tmp_path, name):
    target, link = tmp_path / "target", tmp_path / name
    for path in (link, tmp_path / f"{name}.map.json"):
        target.write_text("keep")
        path.symlink_to(target)
    snapshot.write(str(link), CLOUD)
    snapshot.write_map(str(link), {"word": "name"})
    assert target.read_text() == "keep"
    assert not any(path.is_symlink() for path in tmp_path.iterdir())
    assert snapshot.read(str(link)).document["time"] == CLOUD["time"]


def test_a_device_or_a_pipe_is_not_replaced(tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        with pytest.raises(BadConfiguration, match="not a file that can be replaced"):
            snapshot.write(str(path), CLOUD)
    assert pipe.is_fifo()
    assert link.is_symlink()


@pytest.mark.parametrize(
    ("name", "reason"),
    [("no/such", "No such file or directory"), ("", "Is a directory")],
)
def test_a_missing_file_and_a_folder_are_one_line(tmp_path, name, reason):
    path = str(tmp_path / name) if name else str(tmp_path)
    done = shell.run({}, "trait-sched", "diff", path, path)
    assert (done.code, done.out, done.err) == (1, "", f"{path}: {reason}\n")


HOSTILE = ("\x1b[2J\x07", "../../etc/passwd", "<script>alert(1)</script>", "a\nb\r\t")


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(
    "command",
    ["diff OLD NEW", "diff OLD NEW --all", "explain plain --since OLD --snapshot NEW"],
)
def test_hostile_names_are_shown_and_do_nothing(tmp_path, name, command):
    new = copy.deepcopy(CLOUD)
    new["compute"]["aggregates"][1] |= {"name": name, "metadata": {name: name}}
    new["compute"]["servers"][0] |= {"name": name, "status": name}
    new["compute"]["services"][0] |= {"status": "disabled", "disabled_reason": name}
    new["compute"]["flavors"][0]["extra_specs"] = {name: name}
    new["placement"]["providers"][3] |= {"name": name, "traits": [name]}
    for path, document in (("OLD", CLOUD), ("NEW", new)):
        (tmp_path / path).write_text(json.dumps(document))
        command = command.replace(path, str(tmp_path / path))
    done = shell.run({}, "trait-sched", *command.split())
    assert "internal error" not in done.err
    assert re.search(r"[\x00-\x09\x0b-\x1f]", done.out + done.err) is None


def test_a_snapshot_of_another_cloud_is_told_first(tmp_path):
    for name, hosts in (("one", HOSTS), ("other", fleet.draw(3, first=90))):
        document = json.dumps(saved.snapshot(hosts))
        (tmp_path / name).write_text(document)
    paths = (str(tmp_path / name) for name in ("one", "other"))
    done = shell.run({}, "trait-sched", "diff", *paths)
    first = done.out.splitlines()[0]
    assert first == "These are two clouds, compared by names: they share no provider."


def test_a_saved_cloud_is_valid_by_the_schema():
    validator = jsonschema.Draft202012Validator(form.schema())
    for document in (CLOUD, MASKED):
        assert form.wrong(document) is None
        validator.validate(document)
    for case in ("placement.providers.0.inventories.VCPU: {}", "time: 5"):
        assert not validator.is_valid(json.loads(BAD_FILES[case][0])), case


# What is read in one thread while another goes on.


def test_work_is_begun_at_once_and_its_value_is_waited_for():
    begun, may_end = threading.Event(), threading.Event()

    def work():
        begun.set()
        assert may_end.wait(10)
        return threading.current_thread()

    later = Later(work)
    assert begun.wait(10)
    may_end.set()
    thread = later.value()
    assert thread is not threading.current_thread()
    # A service that hangs does not keep the process.
    assert thread.daemon
    assert later.value() is thread


def test_an_error_is_raised_where_the_value_is_wanted():
    def work():
        raise PlacementRefuses("no such class")

    later = Later(work)
    with pytest.raises(PlacementRefuses, match="no such class"):
        later.value()


def test_a_few_threads_work_out_the_values_of_all_keys():
    together, threads = threading.Barrier(2), set()

    def work(key):
        threads.add(threading.current_thread())
        # Two are under way at once, or this never ends.
        together.wait(10)
        return key.upper()

    keys = "abcdefgh"
    assert LaterOfEach(work, keys).values() == {key: key.upper() for key in keys}
    assert len(threads) == 2
    assert LaterOfEach(work, "").values() == {}


def test_values_come_in_the_order_of_the_keys_whoever_is_first():
    second, last = threading.Event(), threading.Event()

    def work(key):
        # One thread takes a, c and d while the other one is at b.
        if key == "a":
            assert second.wait(10)
        if key == "b":
            second.set()
            assert last.wait(10)
        if key == "d":
            last.set()
        return key

    assert [*LaterOfEach(work, "abcd").values()] == [*"abcd"]


def test_the_error_of_one_key_is_raised_where_the_values_are_wanted():
    def work(key):
        if key == "b":
            raise PlacementRefuses("no such class")
        return key

    later = LaterOfEach(work, "abcd")
    with pytest.raises(PlacementRefuses, match="no such class"):
        later.values()
