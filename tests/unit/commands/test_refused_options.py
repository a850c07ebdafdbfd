"""What no command can use is refused: empty values, unknown names, idle options."""

from __future__ import annotations

import argparse
import contextlib
import json
import shlex
import types

import pytest

from osc_traitsched.text import near_names
from tests import examples
from tests.functional import shell
from tests.functional.shell import USAGE
from tests.services.environment import REPOSITORY

SAMPLE = REPOSITORY / "examples" / "cloud.json"


def ask(line, sample=SAMPLE):
    variables = {"TRAITSCHED_SNAPSHOT": str(sample)}
    return shell.run(variables, "trait-sched", *shlex.split(line))


@pytest.mark.parametrize("verb", examples.verbs())
def test_no_option_and_no_argument_takes_an_empty_text(verb, capsys):
    app = types.SimpleNamespace(command_manager=types.SimpleNamespace(namespace="none"))
    parser = examples.command(verb)(app, argparse.Namespace()).get_parser("it")
    own = {
        action.dest: action
        for group in parser._action_groups
        for action in group._group_actions
        if "formatter" not in (group.title or "").lower() and action.nargs != 0
    }
    texts = {
        f"{each.option_strings[-1]}=" if each.option_strings else ""
        for each in own.values()
    }
    needed = [
        f"{each.option_strings[-1]}=x"
        for each in own.values()
        if each.required and each.option_strings
    ]
    taken = []
    for text in texts:
        with contextlib.suppress(SystemExit):
            parser.parse_args([*needed, text])
        # What is said of other arguments, such as a missing one, does not count.
        if "error: argument " not in capsys.readouterr().err:
            taken.append(text)
    assert taken == []


@pytest.mark.parametrize(
    ("line", "code", "text"),
    [
        # Only with a server.
        (
            "server explain --failed --network x --on-host y --custom-filter z",
            2,
            "--on-host, --network, --custom-filter: only with a server",
        ),
        ("server explain --failed --hint a=b", 2, "--hint: only with a server"),
        ("server explain --failed --no-fixes", 2, "only with a server"),
        ("server explain db-2 --project shop", 2, "--project: only with --failed"),
        ("server explain", 2, "name a server, or --failed for all that failed"),
        # Only with a flavor.
        ("explain --image ubuntu-24.04 --with-nova", 2, "--with-nova: only with"),
        ("explain --image ubuntu-24.04 --ratio RAM=2", 2, "--ratio: only with FLAVOR"),
        ("image show ubuntu-24", 1, "did you mean ubuntu-24.04?"),
        ("explain --image ubuntu-24.04 --count 2 --long", 2, "--count, --long: only"),
        # Names.
        ("server explain --failed --host cmp1", 1, "did you mean cmp01?"),
        ("server explain --failed --host 'cmp0*'", 2, "matches 8 hosts"),
        ("zone list az-wst", 1, "did you mean az-west or az-east?"),
        ("list cmp1", 1, "did you mean cmp01?"),
        ("mirror check", 2, "renamed; run: openstack trait-sched check mirror"),
        (
            "config rhoso --enable isolation",
            2,
            "renamed; run: openstack trait-sched config enable --for rhoso",
        ),
        ("host show cmp00,cmp01", 2, "name one host, not several"),
        ("explain m1.large - --project acmee", 1, "did you mean acme?"),
        # Values.
        ("explain m1.large - --set scheduler.limit_tenants=maybe", 2, "is no option"),
        (
            "explain m1.large - --set scheduler.image_metadata_prefilter=maybe",
            2,
            "image_metadata_prefilter: 'maybe' is not true or false",
        ),
        ("capacity --set-then scheduler.image_metadata_prefilter=7", 2, "not true or"),
        (
            "capacity --set-then DEFAULT.cpu_allocation_ratio=2",
            2,
            "to try a ratio: capacity or explain with --ratio VCPU=1.5",
        ),
        ("capacity --ratio VCPU=0", 2, "not CLASS=RATIO, as VCPU=1.5: VCPU=0"),
        ("capacity --ratio VCPPU=2", 1, "no inventory matches 'VCPPU'; did you mean"),
        ("capacity --ratio cmp9:VCPU=2", 1, "no host matches 'cmp9'"),
        ("capacity --since x", 2, "--since requires one FLAVOR"),
        ("capacity m1.* --since examples/yesterday.json", 2, "FLAVOR, not 3"),
        ("capacity m1.large --since x --full", 2, "--since cannot be combined with"),
        ("capacity --ratio VCPU=2 --by zone", 2, "--set-then or --ratio"),
        ("explain m1.large - --ratio VCPU=2 --since x", 2, "--since: not with --ratio"),
    ],
)
def test_what_a_command_can_not_use_is_refused(line, code, text):
    done = ask(line)
    # Usage errors exit with 1 in older releases of cliff.
    assert done.code in ((code, USAGE) if code == 2 else (code,)), done.err
    assert text in " ".join(done.err.split())


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("list cmp01", ["cmp01"]),
        # As answers name hosts.
        ("list 'cmp[00-02], cmp07'", ["cmp00", "cmp01", "cmp02", "cmp07"]),
        ("list --host cmp[06-07] cmp00", ["cmp00", "cmp06", "cmp07"]),
        ("list cmp0[01] --host cmp02", ["cmp00", "cmp01", "cmp02"]),
        ("list cmp06 --by-trait --custom", ["CUSTOM_SSD", "CUSTOM_WINDOWS"]),
        ("zone list az-west", ["az-west"]),
        ("zone list az-west az-east", ["az-east", "az-west"]),
    ],
)
def test_lists_take_names(line, names):
    found = ask(f"{line} -f json").json
    assert [next(iter(row.values())) for row in found] == names


@pytest.mark.parametrize(
    "line",
    [
        "explain m1.large ubuntu-24.04 --long --host {}",
        "capacity --without {}",
        "host drain {}",
        "add CUSTOM_SSD {} --dry-run",
        "remove CUSTOM_SSD --host {} --dry-run",
    ],
)
def test_a_range_of_hosts_is_these_hosts(line):
    texts = (ask(line.format(hosts)) for hosts in ("cmp[00-02]", "cmp00,cmp01,cmp02"))
    range_, each = ((done.code, done.out, done.err) for done in texts)
    assert range_ == each
    assert "no host matches" not in "".join(range_[1:])


def test_each_host_of_a_range_can_be_lost():
    texts = map(
        ask, ("capacity --lose cmp[00-01]", "capacity --lose cmp00 --lose cmp01")
    )
    range_, each = ((done.code, done.out) for done in texts)
    assert range_ == each
    assert "  cmp00  " in range_[1]
    assert "cmp02" not in range_[1]


def test_each_missing_host_of_a_range_is_named():
    done = ask("remove CUSTOM_SSD cmp[06-09] --dry-run")
    assert done.code == 1
    missing = [line.partition(";")[0] for line in done.err.splitlines()]
    assert missing == ["no host matches 'cmp08'", "no host matches 'cmp09'"]


def test_a_file_of_hosts_may_have_ranges(tmp_path):
    path = tmp_path / "hosts"
    path.write_text("cmp[00-02]\ncmp07\n")
    found = ask(f"add CUSTOM_NEW --create --host-file {path} --dry-run -f json").json
    assert {row["host"] for row in found} >= {"cmp00", "cmp01", "cmp02", "cmp07"}


def test_a_list_says_what_it_lists():
    found = ask("list -f table")
    assert found.out.splitlines()[1] == "Traits of 8 hosts:"
    assert "Traits of" not in ask("list cmp01").out


def test_all_unknown_hosts_are_named_at_once_or_skipped(tmp_path):
    path = tmp_path / "hosts"
    path.write_text("cmp01\nold-a\ncmp1\n")
    line = f"add CUSTOM_NVME --host-file {path} --create --dry-run"
    done = ask(line)
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines() == [
        "no host matches 'old-a'",
        "no host matches 'cmp1'; did you mean cmp01?",
    ]
    done = ask(f"{line} --skip-unknown -f json")
    assert done.code == 0
    assert [row["host"] for row in done.json] == ["cmp01"]
    assert "skipped, unknown: old-a, cmp1" in done.err
    path.write_text("old-a\nold-b\n")
    assert ask(f"{line} --skip-unknown").code == 1
    done = ask("add --like cmp00 cmp01 --skip-unknown --dry-run")
    assert done.code == 2


@pytest.mark.parametrize(
    ("options", "hosts"),
    [
        ("--aggregate east", ["cmp00", "cmp01", "cmp02", "cmp03"]),
        (
            "--availability-zone az-west --host typo",
            ["cmp04", "cmp05", "cmp06", "cmp07"],
        ),
        ("--provider cmp05", ["cmp05"]),
    ],
)
def test_unknown_hosts_are_skipped_beside_any_selector(options, hosts):
    line = f"add CUSTOM_NVME --create --host gone {options} --dry-run -f json"
    assert (ask(line).code, ask(line).out) == (1, "")
    done = ask(f"{line} --skip-unknown")
    assert (done.code, [row["host"] for row in done.json]) == (0, hosts)
    assert "skipped, unknown: gone" in done.err


WRITES = {
    "add CUSTOM_NVME cmp02 --create": "CUSTOM_NVME",
    "add --like cmp00 cmp02": "with CUSTOM_SSD",
    "remove CUSTOM_WINDOWS cmp06 --force": "CUSTOM_WINDOWS",
    "isolate windows CUSTOM_WINDOWS": "with CUSTOM_WINDOWS",
    "unisolate windows": "without trait:CUSTOM_WINDOWS=required",
    "trait rename CUSTOM_SSD CUSTOM_FLASH --force": "with CUSTOM_FLASH",
    "trait retire CUSTOM_SSD --force": "without CUSTOM_SSD",
    "apply examples/desired/sample.yaml": "trait CUSTOM_WINDOWS",
    "mirror repair": "nothing to repair",
}


@pytest.mark.parametrize("line", WRITES)
def test_a_snapshot_answers_a_dry_run_and_refuses_a_write(line, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    done = ask(f"{line} --dry-run")
    assert done.code == 0, done.err
    assert WRITES[line] in done.out
    done = ask(line)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("a snapshot can't be changed: add --dry-run, or leave")
    assert done.err.count("\n") == 1


def test_an_unknown_resource_class_has_near_names(tmp_path):
    whole = json.loads(SAMPLE.read_text("utf-8"))
    whole["placement"]["resource_classes"].append("CUSTOM_CARD")
    path = tmp_path / "cloud.json"
    path.write_text(json.dumps(whole), "utf-8")
    done = ask("explain m1.large - --flavor-property resources:CUSTOM_CRAD=1", path)
    assert "No such resource class CUSTOM_CRAD; did you mean CUSTOM_CARD?" in done.out


def test_the_hint_is_one_that_has_an_effect(tmp_path):
    whole = json.loads(SAMPLE.read_text("utf-8"))
    whole["settings"].update(place=None, files={}, lines={}, named={})
    path = tmp_path / "cloud.json"
    path.write_text(json.dumps(whole), "utf-8")
    done = ask("explain m1.large -", path)
    assert "the snapshot has none; add --nova-conf FILE" in done.err
    assert "config save" not in done.err


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("node9", ("node1", "node2", "node3")),
        ("node33", ("node3", "node1", "node2")),
        ("NODE2", ("node2", "node1", "node3")),
        ("", ()),
    ],
)
def test_the_best_of_near_names_comes_first_and_then_the_first(name, near):
    assert near_names(name, ["node3", "node1", "node4", "node2"]) == near
    assert near_names(name, []) == ()


# A snapshot to compare with is not newer.


@pytest.mark.parametrize(
    "command",
    ["image show ubuntu-24.04", "capacity m1.large", "explain m1.large ubuntu-24.04"],
)
def test_since_rejects_a_newer_snapshot(tmp_path, command):
    """The sample is a second newer than the copy."""
    whole = json.loads(SAMPLE.read_text("utf-8"))
    whole["time"] = whole["time"].replace("06:00:00", "05:59:59")
    path = tmp_path / "cloud.json"
    path.write_text(json.dumps(whole), "utf-8")
    done = ask(f"{command} --since {SAMPLE}", path)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"{SAMPLE}: saved on 2026-11-26 06:00 UTC, after the cloud of the answer. "
        "--since needs an earlier snapshot\n"
    )
