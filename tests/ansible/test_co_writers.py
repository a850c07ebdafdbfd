"""What Ansible's own modules wipe, which ``plan`` names and ``apply`` brings back."""

from __future__ import annotations

import json
import pathlib
import sys

import pytest

from osc_traitsched.commands.base import ExitCode

pytest.importorskip("ansible.module_utils.basic", reason="tox -e ansible has it")

GOLD = "CUSTOM_GOLD"
REQUIRED = f"trait:{GOLD}"
WANTED = f"""\
version: 1
traits: {{{GOLD}: {{hosts: [cmp00, cmp01]}}}}
aggregates:
  gold: {{hosts: [cmp00, cmp01], isolated_for: [{GOLD}], projects: [demo]}}
flavors:
  gold.small: {{requires: [{GOLD}]}}
"""


@pytest.fixture
def applied(make, admin, play):
    """A cloud as WANTED has it, with a key that no file names."""
    make.traits(GOLD)
    make.dropped("gold")
    make.flavor("gold.small", {"hw:cpu_policy": "dedicated"})
    (play.folder / "desired.yaml").write_text(WANTED, "utf-8")
    done = play.openstack("apply", "desired.yaml")
    assert done.returncode == 0, done.stderr


def test_each_key_that_others_wipe_is_named_and_brought_back(
    applied, admin, play, co_writers
):
    playbook = pathlib.Path(__file__).with_name("co_writers.yml")
    done = play(playbook, python=sys.executable, variables=co_writers)
    assert done.code == 0, done.out
    assert [each["changed"] for each in done.results] == [True, True]
    flavor = admin.compute.find_flavor("gold.small", get_extra_specs=True)
    assert flavor.extra_specs == {}

    found = play.openstack("plan", "desired.yaml", "--exit-code", "-f", "json")
    assert found.returncode == ExitCode.DIFFERS, found.stderr
    lost = {
        ("flavor", "gold.small", REQUIRED),
        ("aggregate", "gold", REQUIRED),
        ("aggregate", "gold", "filter_tenant_id"),
        ("member", "gold", "cmp01"),
    }
    rows = json.loads(found.stdout)
    assert {(row["step"], row["object"], row["key"]) for row in rows} == lost
    assert {row["change"] for row in rows} == {"add"}

    back = play.openstack("apply", "desired.yaml", "-f", "json")
    assert back.returncode == 0, back.stderr
    again = play.openstack("plan", "desired.yaml", "--exit-code", "-f", "json")
    assert (again.returncode, json.loads(again.stdout)) == (0, [])
    (gold,) = (each for each in admin.compute.aggregates() if each.name == "gold")
    assert gold.metadata[REQUIRED] == "required"
    assert sorted(gold.hosts) == ["cmp00", "cmp01"]
