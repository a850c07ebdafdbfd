"""The parts of the module that run nothing."""

from __future__ import annotations

import importlib.util
import re
import sys

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from osc_traitsched.config import desired
from tests.services.environment import REPOSITORY

pytest.importorskip("ansible.module_utils.basic", reason="tox -e ansible has it")

PATH = REPOSITORY / "ansible" / "plugins" / "modules" / "desired_state.py"


@pytest.fixture(scope="module")
def module():
    spec = importlib.util.spec_from_file_location("desired_state", PATH)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def params(**given):
    options = ("state", "path", "inventory", "cloud", "undo")
    return {**dict.fromkeys(options), "wait": 0, "force": False, **given}


def text_of(module, document):
    lines = [line for line, _ in module.lines_of(document)]
    return "\n".join(lines).rstrip(",")


def test_it_imports_the_standard_library_and_ansible():
    found = re.findall(r"^(?:from|import) ([\w.]+)", PATH.read_text("utf-8"), re.M)
    others = {name for name in found if name not in sys.stdlib_module_names}
    assert others == {"ansible.module_utils.basic"}


def test_check_mode_plans_and_a_run_applies(module):
    given = params(cloud="a", path=["b", "c"], undo="d", wait=9, force=True)
    named = ["--os-cloud", "a", "trait-sched"]
    assert module.arguments_of(given, is_check=True) == [
        *(*named, "plan", "-f", "json", "--", "b", "c")
    ]
    assert module.arguments_of(given, is_check=False) == [
        *(*named, "apply", "-f", "json"),
        *("--undo", "d", "--wait", "9", "--force", "--", "b", "c"),
    ]


def test_a_document_comes_on_standard_input(module):
    given = params(state={"version": 1}, inventory="e")
    assert module.arguments_of(given, is_check=True) == [
        *("trait-sched", "plan", "-f", "json", "--inventory", "e", "--", "-")
    ]


LEAVES = st.none() | st.booleans() | st.integers() | st.text()
VALUES = st.recursive(
    LEAVES, lambda v: st.lists(v) | st.dictionaries(st.text(), v), max_leaves=12
)


@given(document=st.dictionaries(st.text(), VALUES))
def test_any_document_is_the_same_in_yaml(module, document):
    assert yaml.safe_load(text_of(module, document)) == document


def test_names_are_read_as_they_are_written(module):
    names = ["no", "1e3", "0755", "Grün", "\U0001f600", 'a"\\b', "a: b", "a\x85b"]
    document = {"version": 1, "groups": {"all": names}}
    wanted, mistakes = desired.read_text("-", text_of(module, document))
    assert not mistakes
    (group,) = wanted.groups
    assert [each.text for each in group.values] == names


def test_a_line_is_named_by_the_part_that_it_is(module):
    document = {"version": 1, "traits": {"A": {"hosts": ["x", "y"]}}, "hold": []}
    lines, places = zip(*module.lines_of(document))
    at = lines.index('"y",') + 1
    assert places[at - 1] == "state.traits.A.hosts[1]"
    said = module.named(f"-:{at}: no host 'y'; -:2 wants otherwise; a-:3 -:99", places)
    assert said == (
        "state.traits.A.hosts[1]: no host 'y'; state.version wants otherwise; a-:3 -:99"
    )


def row(**given):
    base = {"change": "add", "step": "host", "object": "cmp00", "key": "CUSTOM_A"}
    states = {"before": None, "after": "present", "status": "changed", "detail": ""}
    return {**base, **states, "desired_by": "-:1", **given}


def test_only_rows_that_are_written_are_changes_and_in_the_diff(module):
    rows = [
        row(),
        row(key="CUSTOM_B", status="failed", detail="away"),
        row(step="aggregate", object="a", key="zone", before="x", after="y"),
        row(step="trait", object="CUSTOM_A", key="CUSTOM_A"),
    ]
    assert module.result_of(rows, is_written=True) == {
        "changed": True,
        "changes": rows,
        "diff": {
            "before": "aggregate a: zone=x\n",
            "after": "host cmp00: CUSTOM_A\naggregate a: zone=y\ntrait CUSTOM_A\n",
        },
    }
    assert module.result_of(rows, is_written=False)["changed"] is False
    assert module.result_of(None, is_written=True) == {"changed": False}


def test_the_reason_is_the_first_failed_row_mistake_or_refusal_else_the_last_word(
    module,
):
    rows = [row(), row(status="not done"), row(status="failed", detail="it is away")]
    reason = module.reason_of(rows, ["1 of 3 failed"])
    assert reason == "host cmp00: CUSTOM_A: it is away"
    assert module.reason_of((), ["f.yaml:3: a", "f.yaml:4: b"]) == "f.yaml:3: a"
    refused = [f"Refused: {why}" for why in "ab"]
    assert module.reason_of((), ["flavor 'a' loses", *refused]) == refused[0]
    assert module.reason_of((), ["flavor 'a' loses", "no login"]) == "no login"
    assert module.reason_of((), []) == "the command says nothing"


@pytest.mark.parametrize(
    ("code", "rows", "would_force", "expected"),
    [
        (0, [row()], False, False),
        (1, [row(status="failed")], True, True),
        (5, [row(status="would change")], False, True),
        (5, [row(status="would change")], True, False),
        (5, [row(status="failed")], True, True),
        (5, None, True, True),
    ],
)
def test_it_fails_as_the_command_does_but_for_a_plan_that_would_be_forced(
    module, code, rows, would_force, expected
):
    assert module.has_failed(code, rows, would_force) is expected


def test_what_may_have_been_written_is_a_change(module):
    assert module.result_of([row(status="unknown")], is_written=True)["changed"] is True


def test_an_undo_file_is_new_and_in_a_folder_that_is_there(module, tmp_path):
    assert module.undo_problem(str(tmp_path / "new.yaml")) is None
    (tmp_path / "old.yaml").touch()
    assert "is there already" in module.undo_problem(str(tmp_path / "old.yaml"))
    assert "is not there" in module.undo_problem(str(tmp_path / "no" / "new.yaml"))
