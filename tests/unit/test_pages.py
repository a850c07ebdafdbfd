"""What users read: pages, golden files, and the documentation's scripts."""

from __future__ import annotations

import functools
import pathlib
import re
import runpy
import shutil
import subprocess
import textwrap

import pytest

from osc_traitsched.core.change.model import Status
from osc_traitsched.views import terminal
from tests import examples, scripts
from tests import golden as files
from tests.functional import shell
from tests.services.environment import REPOSITORY

# What users read: no placeholders, and tables that say what the code does.


ROOT = pathlib.Path(__file__).parents[2]
PAGES = (ROOT / "README.rst", *(ROOT / "doc/source").rglob("*.rst"))
SOURCES = (ROOT / "osc_traitsched").rglob("*.py")
NOTES = tuple((ROOT / "releasenotes/notes").glob("*.yaml"))

#: A directive with all that is indented below it, or a block after "::".
_BLOCK = re.compile(r"^( *)(?:\.\. |\S.*::$).*\n(?:\1 +\S.*\n|\s*\n)+", re.M)
_LITERAL = re.compile(r"``.*?``", re.S)
#: The help of a command that prints JSON and YAML.
_JSON = re.compile(r"--format FORMAT\n? .*\bjson\b.*\byaml\b", re.S)
_SHOUTED = re.compile(r"\b[A-Z]{4,}\b")


def prose(text):
    """Return a page without its blocks of code and its literals."""
    return _LITERAL.sub("", _BLOCK.sub("", text))


def test_no_placeholder_is_left_in_what_users_read():
    assert _SHOUTED.findall(prose("It took MANYRAN. ``--env FILE``\n")) == ["MANYRAN"]
    # An abbreviation that a page needs is somewhere in the code as well.
    known = {"README"}.union(*(_SHOUTED.findall(p.read_text("utf-8")) for p in SOURCES))
    for path in (*PAGES, *NOTES):
        left = {*_SHOUTED.findall(prose(path.read_text("utf-8")))} - known
        assert not left, path


def test_commands_with_options_in_sentences_exist():
    assert _unknown("``config --enable`` ``check --long``") == ["config --enable"]
    for path in PAGES:
        assert not _unknown(path.read_text("utf-8")), path


def _unknown(page):
    """Literals that start like a command, and name an option, but are no command."""
    verbs = {tuple(verb.split()[1:]) for verb in examples.verbs()}
    firsts = {first for first, *_ in verbs}
    literals = (each.strip("`").split() for each in _LITERAL.findall(page))
    return [
        " ".join(words)
        for words in literals
        if firsts.intersection(words[:1])
        and any(word.startswith("--") for word in words)
        and verbs.isdisjoint(tuple(words[:number]) for number in (1, 2))
    ]


def test_the_release_note_names_the_commands_that_print_no_json():
    (note,) = NOTES
    text = re.search(
        r"print JSON and YAML, except (.*?), whose", note.read_text(), re.S
    )
    without = [
        verb.removeprefix("trait-sched ")
        for verb in examples.verbs()
        if not _JSON.search(shell.run({}, *verb.split(), "--help-all").out)
    ]
    assert re.findall(r"``(.+?)``", text[1]) == without


def test_the_statuses_of_changes_are_those_of_the_table():
    page = (ROOT / "doc/source/reference/json.rst").read_text("utf-8")
    table = page.partition("``status`` is one of these:")[2].split("\n\n")[1]
    head, *rows = re.findall(r"^``(.+?)``", table, re.M)
    assert head == "status"
    assert rows == [each.value for each in Status]


def test_the_tables_that_pages_have_themselves_are_those_of_the_code():
    refreshed = runpy.run_path(str(ROOT / "doc/rows.py"))["refreshed"]
    page = (ROOT / "doc/source/reference/exit-codes.rst").read_text("utf-8")
    assert refreshed(page) == page, "python doc/refresh.py"
    assert refreshed(page.replace("Usage error", "An error")) == page


@pytest.mark.skipif(not shutil.which("jq"), reason="needs jq")
def test_the_page_on_json_prints_what_jq_finds_on_the_sample_cloud(tmp_path):
    page = (ROOT / "doc/source/reference/json.rst").read_text("utf-8")
    block = page.partition("code-block:: console\n\n")[2].partition("\n\n")[0]
    typed, *shown = textwrap.dedent(block).splitlines()
    variables = {"TRAITSCHED_SNAPSHOT": str(ROOT / "examples/cloud.json")}
    text = typed.removeprefix("$ ")
    done = scripts.run(tmp_path, "typed", text=text, variables=variables)
    assert done.out.splitlines() == shown, done.err


# The golden files: each is compared with something, by some test.


def test_no_golden_file_is_unused():
    tests = (REPOSITORY / "tests").rglob("test_*.py")
    source = "\n".join(path.read_text(encoding="utf-8") for path in tests)
    ends = {name: f'{name.rpartition("/")[2]}"' for name in files.names()}
    assert ends, f"no file in {files.FILES}"
    unused = [name for name, end in ends.items() if end not in source]
    assert not unused, "delete these files, or compare something with them"


def test_another_text_and_a_missing_file_fail(golden, tmp_path, monkeypatch, request):
    monkeypatch.setattr(files, "FILES", tmp_path)
    if not request.config.getoption(files.OPTION):
        with pytest.raises(pytest.fail.Exception, match="rewrites it"):
            golden("a/b", "a text")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.txt").write_text("a text\n", encoding="utf-8")
    golden("a/b", ["a text"])
    if not request.config.getoption(files.OPTION):
        with pytest.raises(pytest.fail.Exception, match=r"-a text\n\+another text"):
            golden("a/b", "another text")


@pytest.mark.parametrize("name", files.names())
def test_a_terminal_of_80_columns_shows_every_line_with_its_words_whole(name):
    """Tables are fitted; a command stays on one line, so that it can be pasted."""
    text = (files.FILES / f"{name}.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        rows = terminal.wrapped(line, 80).splitlines()
        comment = line.lstrip().startswith("#")
        words = " ".join(row.lstrip("# ") if comment else row for row in rows)
        assert words.split() == line.lstrip("# " if comment else "").split()
        assert not comment or all(row.lstrip().startswith("#") for row in rows)
        if line[:1] not in ("+", "|") and "openstack " not in line:
            assert all(len(row) <= 80 or " " not in row.strip() for row in rows)


# The documentation's scripts, with an ``openstack`` that ends as it is told.


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
        "lose.prom": "1 trait-sched capacity --lose any-host -f prometheus\n",
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


# The man page that the wheel installs.


PAGE = ROOT / "doc" / "openstack-trait-sched.1"


@pytest.mark.one_client
def test_it_is_what_doc_man_py_writes_today():
    written = runpy.run_path(str(ROOT / "doc" / "man.py"))["page"]()
    assert PAGE.read_text("utf-8") == written, f"python doc/man.py > {PAGE}"


@pytest.mark.one_client
def test_it_names_all_variables_of_the_environment():
    files = (ROOT / "osc_traitsched").rglob("*.py")
    code = "".join(file.read_text("utf-8") for file in files)
    names = set(re.findall(r'"(TRAITSCHED_\w+)"', code))
    assert names
    assert names == set(re.findall(r"^\.B (TRAITSCHED_\w+)$", PAGE.read_text(), re.M))


@pytest.mark.skipif(not shutil.which("groff"), reason="needs groff")
@pytest.mark.one_client
def test_groff_finds_nothing_wrong_in_it():
    command = ["groff", "-man", "-ww", "-z", str(PAGE)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=True)
    assert done.stderr == ""
