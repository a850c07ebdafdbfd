"""Playbooks on a real cloud, with a Python for the module that has no library."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import yaml

from tests.ansible.playing import EXAMPLES, printed
from tests.cloud.test_desired import generations

pytest.importorskip("ansible.module_utils.basic", reason="tox -e ansible has it")

PINNED = "CUSTOM_PINNED_CPU"
PLAYBOOK = EXAMPLES / "pinned.yml"
POST_DEPLOY = "traitsched.cloud.post_deploy"

DIFF = f"""\
+aggregate pinned: name=pinned
+host cmp00: {PINNED}
+host cmp01: {PINNED}
+member pinned: cmp00
+member pinned: cmp01
+flavor pinned.small: trait:{PINNED}=required
+aggregate pinned: trait:{PINNED}=required
"""


@pytest.fixture
def scene(make, admin):
    """What the examples are about; it is all taken back."""
    make.dropped("pinned")
    make.traits(PINNED)
    make.flavor("pinned.small")
    make.flavor("small")


def test_check_mode_says_what_a_run_does_and_writes_nothing(scene, admin, play):
    before = generations(admin)
    checked = play(PLAYBOOK, "--check", "--diff")
    assert (checked.code, checked.result["changed"]) == (0, True), checked.out
    assert generations(admin) == before
    assert f"--- before\n+++ after\n@@ -0,0 +1,7 @@\n{DIFF}" in checked.out
    assert {row["status"] for row in checked.result["changes"]} == {"would change"}
    shown, *_ = printed("ansible-playbook -i inventory.yml pinned.yml --check --diff")
    assert [line for line in shown[1:] if line not in checked.out] == []

    done = play(PLAYBOOK, "--diff")
    assert (done.code, done.result["changed"]) == (0, True), done.out
    assert DIFF in done.out
    assert {row["status"] for row in done.result["changes"]} == {"changed"}
    (row,) = (row for row in done.result["changes"] if row["object"] == "cmp01")
    assert row["desired_by"] == f"state.traits.{PINNED}.hosts[1]"
    flavor = admin.compute.find_flavor("pinned.small", get_extra_specs=True)
    assert flavor.extra_specs == {f"trait:{PINNED}": "required"}

    after = generations(admin)
    for option in ("--check", "--diff"):
        again = play(PLAYBOOK, option)
        assert (again.code, again.result["changed"]) == (0, False), again.out
        assert again.result["changes"] == []
    assert generations(admin) == after


def test_what_a_plan_does_to_flavors_is_a_warning(scene, play):
    for options in (("--check",), ()):
        done = play(PLAYBOOK, *options)
        assert done.code == 0, done.out
        said = "flavors 'pinned.small', 'small': hosts with room 4 -> 2"
        assert f"[WARNING]: {said}" in " ".join(done.out.split())


@pytest.fixture
def files(play):
    folder = play.folder / "desired"
    folder.mkdir()

    def write(text):
        (folder / "hosts.yaml").write_text(f"version: 1\n{text}", "utf-8")

    return write


def test_files_of_a_folder_are_applied_after_a_deployment_with_a_way_back(
    scene, make, play, files
):
    make.gives(PINNED, "cmp03")
    files(f"traits:\n  {PINNED}: {{hosts: [cmp02], absent: {{hosts: [cmp03]}}}}\n")
    extra = {"desired_path": str(play.folder / "desired"), "desired_cloud": "overcloud"}
    options = ("-e", json.dumps({**extra, "desired_undo_folder": str(play.folder)}))
    done = play(POST_DEPLOY, "--diff", *options)
    assert (done.code, done.result["changed"]) == (0, True), done.out
    assert f"-host cmp03: {PINNED}\n+host cmp02: {PINNED}\n" in done.out
    (row, _) = done.result["changes"]
    assert row["desired_by"].endswith("/desired/hosts.yaml:3")
    assert play(POST_DEPLOY, *options).result["changed"] is False
    # There was nothing to write the second time, and nothing to lead back from.
    (undo,) = play.folder.glob("2*.yaml")
    extra["desired_path"] = str(undo)
    back = play(POST_DEPLOY, "--diff", "-e", json.dumps(extra))
    assert f"-host cmp02: {PINNED}\n+host cmp03: {PINNED}\n" in back.out


def test_a_hook_of_kayobe_applies_the_files_of_its_configuration(scene, play, files):
    files(f"traits: {{{PINNED}: {{hosts: [cmp02]}}}}")
    paths = dict.fromkeys(("KAYOBE_CONFIG_PATH", "KOLLA_CONFIG_PATH"), str(play.folder))
    done = play(EXAMPLES / "kayobe.yml", variables=paths)
    assert [row["object"] for row in done.result["changes"]] == ["cmp02"], done.out


def test_variables_of_openstack_ansible_are_a_document_for_its_utility_host(
    scene, play
):
    hosts = play.folder / "hosts.ini"
    hosts.write_text("[utility_all]\nlocalhost ansible_connection=local\n")
    variables = yaml.safe_load((EXAMPLES / "openstack-ansible.yml").read_text())
    hook = variables["post_setup_openstack_hook"]
    options = ("-i", hosts, "-e", f"@{EXAMPLES / 'openstack-ansible.yml'}")
    done = play(hook, *options)
    objects = [row["object"] for row in done.result["changes"]]
    assert objects == ["cmp00", "cmp01", "pinned.small"], done.out


def test_groups_of_an_inventory_are_those_that_ansible_prints(scene, play, files):
    files(
        f"groups: {{mine: {{inventory: shared}}}}\n"
        f"traits: {{{PINNED}: {{hosts: ['@mine']}}}}\n"
    )
    _write(
        play,
        """
        path: desired
        inventory: inventory.json
        """,
    )
    command = ["ansible", "inventory", "-i", EXAMPLES / "inventory.yml", "--list"]
    listed = subprocess.check_output([sys.executable, "-m", *command])
    (play.folder / "inventory.json").write_bytes(listed)
    done = play(play.folder / "play.yml")
    objects = [row["object"] for row in done.result["changes"]]
    assert objects == ["cmp02", "cmp03"], done.out


def _write(play, task):
    """Write a playbook of one task, whose options are given as YAML."""
    lines = (line.strip("\n") for line in task.splitlines() if line.strip())
    (play.folder / "play.yml").write_text(
        "- hosts: localhost\n"
        "  gather_facts: false\n"
        "  tasks:\n"
        "    - traitsched.cloud.desired_state:\n"
        "        cloud: overcloud\n" + "".join(f"{line}\n" for line in lines),
        "utf-8",
    )


def test_a_failure_keeps_the_rows_and_says_the_first_reason(scene, make, admin, play):
    make.used("cmp02", make.flavor("used"), make.image("used"))
    _write(
        play,
        """
        state:
          version: 1
          aggregates:
            pinned: {zone: az1, hosts: [cmp02, cmp03]}
        """,
    )
    played = [play(play.folder / "play.yml", *each) for each in (["--check"], [])]
    assert [each.code for each in played] == [2, 2], played[0].out
    failed = [each.result for each in played]
    said = "member pinned: cmp02: cmp02 has 1 server, and Nova rejects the change"
    assert [each["msg"][: len(said)] for each in failed] == [said, said]
    assert [each["changed"] for each in failed] == [True, True]
    assert {row["key"]: row["status"] for row in failed[1]["changes"]} == {
        "name": "changed",
        "availability_zone": "changed",
        "cmp02": "failed",
        "cmp03": "changed",
    }
    (made,) = (each for each in admin.compute.aggregates() if each.name == "pinned")
    assert made.hosts == ["cmp03"]


def test_what_is_refused_fails_in_check_mode_too_unless_it_is_forced(scene, make, play):
    make.gives(PINNED, "cmp01", "cmp02", "cmp03")
    make.flavor("pinned.large", {f"trait:{PINNED}": "required"})
    make.disabled("cmp00", "new DIMMs")
    state = f"""
        state:
          version: 1
          traits:
            {PINNED}: {{hosts: [cmp00], only: true}}
        force: %s
        """
    _write(play, state % "false")
    refused = [play(play.folder / "play.yml", *each) for each in (["--check"], [])]
    checked, done = (each.result for each in refused)
    taken = f"only would remove {PINNED} from 3 of 3 that have it"
    said = f"Refused: state.traits.{PINNED}: {taken}; --force overrides this"
    assert said in done["stderr_lines"], refused[1].out
    assert len([each for each in done["stderr_lines"] if "nothing" in each]) == 2
    for part in ("msg", "stderr_lines"):
        assert checked[part] == done[part]
    assert [each.result["changed"] for each in refused] == [False, False]
    assert "changes" not in done
    _write(play, state % "true")
    for options in (["--check"], []):
        done = play(play.folder / "play.yml", *options)
        assert (done.code, done.result["changed"]) == (0, True), done.out


def test_a_mistake_is_named_by_its_place_in_the_task(play):
    _write(
        play,
        f"""
        state:
          version: 1
          traits:
            {PINNED}: {{hosts: [cmp00], onyl: true}}
            CUSTOM_GONE: {{hosts: [cmp99]}}
        """,
    )
    for options in (("--check",), ()):
        done = play(play.folder / "play.yml", *options)
        assert done.code == 2
        assert done.result["msg"].startswith(f"state.traits.{PINNED}"), done.out
        assert "onyl" in done.result["msg"]
        assert done.result["changed"] is False


def test_a_command_that_is_not_there_is_named(play):
    _write(play, "        path: desired\n        executable: openstuck\n")
    done = play(play.folder / "play.yml")
    assert 'executable "openstuck"' in done.result["msg"]


def test_a_login_that_fails_says_so(play):
    _write(play, "        path: desired\n        cloud: nowhere\n")
    path = play.folder / "play.yml"
    path.write_text(path.read_text().replace("        cloud: overcloud\n", ""))
    (play.folder / "desired").mkdir()
    (play.folder / "desired" / "a.yaml").write_text("version: 1\n")
    done = play(path)
    assert (done.code, done.result["rc"]) == (2, 1)
    assert "nowhere" in done.result["msg"]


def test_ansible_doc_has_all_options_and_results(collections):
    variables = {"ANSIBLE_COLLECTIONS_PATH": str(collections), "LC_ALL": "C.UTF-8"}
    command = ["ansible", "doc", "--json", "traitsched.cloud.desired_state"]
    found = subprocess.check_output(
        [sys.executable, "-m", *command], env={**os.environ, **variables}
    )
    shown = json.loads(found)["traitsched.cloud.desired_state"]
    options = {"state", "path", "inventory", "cloud", "executable", "undo", "wait"}
    assert set(shown["doc"]["options"]) == {*options, "force"}
    assert set(shown["return"]) == {"changes", "stderr"}
    assert shown["examples"].count("traitsched.cloud.desired_state:") == 2
