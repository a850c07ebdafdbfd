"""The documentation's scripts, with an ``openstack`` that ends as it is told."""

from __future__ import annotations

import functools

import pytest

from tests import scripts

#: What a block has that is no script, and looks at an exit code.
COUNTING = "found=$(openstack trait-sched check -f value"

#: Ends as the flavor is named.
OPENSTACK = """
echo "$@" >> asked
case "$4" in
    has*) echo "2 of 8 hosts can take it." ;;
    none*) echo "full: No host can take it now: 0 of 8."; exit 3 ;;
    *) echo "no such flavor" >&2; exit 1 ;;
esac
"""


@pytest.fixture
def gate(tmp_path):
    return functools.partial(
        scripts.run, tmp_path, "flavors-have-hosts", openstack=OPENSTACK
    )


def test_each_script_of_the_documentation_is_run_here():
    assert set(scripts.texts()) == {"flavors-have-hosts", "trait-sched-metrics"}


def test_each_block_of_shell_is_such_a_script_or_run_by_itself():
    others = [
        block for block in scripts.blocks() if block not in scripts.texts().values()
    ]
    assert [COUNTING in block for block in others] == [True]


def test_pairs_that_have_hosts_pass(gate):
    found = gate(stdin="has raw\nhas2 my image\n")
    assert found.code == 0
    assert found.out == (
        "has raw: 2 of 8 hosts can take it.\nhas2 my image: 2 of 8 hosts can take it.\n"
    )


def test_a_pair_without_a_host_fails_and_the_others_are_asked(gate):
    found = gate(stdin="none raw\ngone raw\nhas raw\n")
    assert found.code == 1
    assert [line.partition(":")[0] for line in found.out.splitlines()] == [
        "none raw",
        "gone raw",
    ]
    assert found.out.endswith("has raw: 2 of 8 hosts can take it.\n")
    assert found.err == "no such flavor\n"


def test_the_last_pair_needs_no_end_of_its_line(gate):
    assert gate(stdin="none raw").code == 1
    assert gate(stdin="has raw").out == "has raw: 2 of 8 hosts can take it.\n"


def test_empty_lines_are_no_pairs(gate):
    found = gate(stdin="\nhas raw\n\n  \nnone raw\n\n")
    assert found.code == 1
    assert len(found.out.splitlines()) == 2


def test_the_image_is_one_argument_and_nothing_reads_the_pairs(gate, tmp_path):
    gate(stdin="has raw\nhas raw\n")
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked == ["-q trait-sched explain has raw"] * 2


def test_metrics_replace_a_file_at_once_and_an_error_leaves_the_old_one(tmp_path):
    (tmp_path / "check.prom").write_text("old\n")
    openstack = """
        echo "$TRAITSCHED_EXIT_ZERO $@"
        case "$2" in check) echo half; exit 1 ;; esac
    """
    scripts.run(tmp_path, "trait-sched-metrics", str(tmp_path), openstack=openstack)
    found = {path.name: path.read_text() for path in tmp_path.glob("*.prom")}
    assert found == {
        "capacity.prom": "1 trait-sched capacity -f prometheus\n",
        "failed.prom": "1 trait-sched server explain --failed -f prometheus\n",
        "check.prom": "old\n",
    }


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
