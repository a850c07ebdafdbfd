"""The documentation's scripts, with an ``openstack`` that ends as it is told."""

from __future__ import annotations

import functools
import json
import shutil

import pytest

from tests import scripts

pytestmark = pytest.mark.skipif(not shutil.which("jq"), reason="the scripts need jq")

#: What a block has that is no script, and looks at an exit code.
COUNTING = "found=$(openstack trait-sched check -f value"

#: A name of somebody's choice, and how the scripts print it.
SLY = "Grün\x1b[2K\x9b2K\u202e\u2028\nerror forged: \\n \\033[2K"
SHOWN = "Grün?[2K?2K???error forged: \\n \\033[2K"

#: Ends as the flavor is named, or as the first argument of ``check`` says.
OPENSTACK = """
echo "$@" >> asked
case "$3" in
    has*) echo '{}' ;;
    none*) echo '{"summary": "No host", "rejection": null, "fixes": [{"text": "X"}]}'
        exit 3 ;;
    sly*) cat sly; exit 3 ;;
    odd*) echo '{"summary": "Odd", "rejection": {"text": "no"}, "fixes": []}'; exit 4 ;;
    *) echo "no such flavor" >&2; exit 1 ;;
esac
"""


@pytest.fixture
def gate(tmp_path):
    return functools.partial(
        scripts.run, tmp_path, "flavors-have-hosts", openstack=OPENSTACK
    )


def test_each_script_of_the_documentation_is_run_here():
    assert set(scripts.texts()) == {"flavors-have-hosts", "check-cloud"}


def test_each_block_of_shell_is_such_a_script_or_run_by_itself():
    others = [
        block for block in scripts.blocks() if block not in scripts.texts().values()
    ]
    assert [COUNTING in block for block in others] == [True]


def test_pairs_that_have_hosts_pass(gate):
    found = gate(stdin="has raw\nhas2 my image\n")
    assert (found.code, found.out) == (0, "ok    has raw\nok    has2 my image\n")


def test_a_pair_without_a_host_fails_and_the_others_are_asked(gate):
    found = gate(stdin="none raw\nodd raw\nhas raw\n")
    assert found.code == 1
    assert found.out.splitlines() == [
        "FAIL  none raw",
        "      No host",
        "      would help: X",
        "FAIL  odd raw",
        "      Odd",
        "      no",
        "ok    has raw",
    ]


def test_what_a_name_has_for_a_terminal_is_not_printed_and_forges_no_line(
    gate, tmp_path
):
    texts = {
        "summary": f"No host for {SLY}",
        "rejection": {"text": SLY},
        "fixes": [{"text": SLY}],
    }
    (tmp_path / "sly").write_text(json.dumps(texts))
    found = gate(stdin="sly raw\n")
    assert found.out.splitlines() == [
        "FAIL  sly raw",
        f"      No host for {SHOWN}",
        f"      {SHOWN}",
        f"      would help: {SHOWN}",
    ]


def test_the_last_pair_needs_no_end_of_its_line(gate):
    assert gate(stdin="none raw").code == 1
    assert gate(stdin="has raw").out == "ok    has raw\n"


def test_empty_lines_are_no_pairs(gate):
    found = gate(stdin="\nhas raw\n\n  \nnone raw\n\n")
    assert found.code == 1
    assert [line[:4].strip() for line in found.out.splitlines()][:2] == ["ok", "FAIL"]


def test_an_error_ends_it_with_the_code_and_the_reason(gate):
    found = gate(stdin="gone raw\nhas raw")
    assert (found.code, found.out, found.err) == (1, "", "no such flavor\n")


def test_the_image_is_one_argument_and_nothing_reads_the_pairs(gate, tmp_path):
    gate(stdin="has raw\nhas raw\n")
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked == ["trait-sched explain has raw -f json"] * 2


def check_cloud(tmp_path, answer, *arguments):
    openstack = f'echo "$@" > asked; {answer}'
    return scripts.run(tmp_path, "check-cloud", *arguments, openstack=openstack)


def test_the_nightly_check_prints_what_is_more_than_a_note(tmp_path):
    found = (
        '[{"id": "a-b", "severity": "error", "object": "flavor f", "problem": "p"},'
        ' {"id": "c-d", "severity": "note", "object": "flavor g", "problem": "q"}]'
    )
    done = check_cloud(tmp_path, f"echo '{found}'; exit 3", "--nova-conf", "a b")
    assert (done.code, done.out) == (3, "error a-b: flavor f: p\n")
    asked = (tmp_path / "asked").read_text()
    assert asked == "trait-sched check --fail-on warning --nova-conf a b -f json\n"


@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_no_name_forges_a_line_of_the_nightly_check(tmp_path, ensure_ascii):
    row = {"id": "a-b", "severity": "error", "object": SLY, "problem": SLY}
    answer = json.dumps([row], ensure_ascii=ensure_ascii)
    (tmp_path / "found").write_text(answer)
    done = check_cloud(tmp_path, "cat found; exit 7")
    assert (done.code, done.err) == (7, "")
    assert done.out == f"error a-b: {SHOWN}: {SHOWN}\n"


def test_the_nightly_check_fails_where_nothing_was_read(tmp_path):
    done = check_cloud(tmp_path, "echo placement is away >&2; exit 1")
    assert (done.code, done.out, done.err) == (1, "", "placement is away\n")


@pytest.mark.parametrize(
    ("status", "code", "out"), [(0, 0, "0\n"), (7, 0, "2\n"), (1, 1, ""), (2, 1, "")]
)
def test_who_counts_findings_looks_at_the_exit_code(tmp_path, status, code, out):
    (block,) = (each for each in scripts.blocks() if COUNTING in each)
    text = f'{block}printf %s "$found" | grep -c ^\nexit 0\n'
    answer = "printf 'a\\nb\\n'" if status == 7 else ":"
    openstack = f"{answer}; exit {status}"
    done = scripts.run(tmp_path, "count", text=text, openstack=openstack)
    assert (done.code, done.out) == (code, out)
