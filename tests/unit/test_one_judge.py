"""Only the judge matches hosts with requests, and only it asks host filters."""

from __future__ import annotations

import ast
import pathlib
from collections.abc import Iterator, Mapping

import pytest

from osc_traitsched.core.nova.filter.table import FILTERS, without_filter

ROOT = pathlib.Path("osc_traitsched")
#: The judge, and the filters of Nova that it asks.
JUDGE = ("osc_traitsched.core.judge", "osc_traitsched.core.nova.filter")
TABLE = "osc_traitsched.core.nova.filter.table"
#: Whoever calls one of these decides which hosts could take a request.
DECIDING = {
    "osc_traitsched.core.placement.matcher.Matcher",
    *(f"{TABLE}.{name}" for name in ("judge", "judge_all", "answers", "unsettled")),
    *(f"{TABLE}.{name}" for name in ("with_late_check", "with_novas")),
    "osc_traitsched.core.judge.filtering.lasting_answers",
    "osc_traitsched.core.judge.filtering.lasting_claims",
    "osc_traitsched.core.judge.verdict.Reasons",
    *(
        f"{row.judge.__module__}.{row.judge.__name__}"
        for row in (*FILTERS.values(), *without_filter().values())
    ),
}
#: What looks at single filters beside the judge, by file and name, and why.
EXCEPTIONS: Mapping[tuple[str, str], str] = {
    (
        "core/check/analysis.py",
        "lasting_answers",
    ): "a rule is about what one filter makes of "
    "all hosts, of a flavor or an image that Nova may not even accept",
    (
        "core/servers/misplaced.py",
        "lasting_answers",
    ): "a server is judged against the host that it is on: filters that read use or "
    "services are left out",
    ("core/servers/misplaced.py", "lasting_claims"): "of the host that it is on, empty",
    ("core/servers/misplaced.py", "Reasons"): "what a server on a host asks "
    "of Placement but amounts, which it has already",
}


def module_of(path: pathlib.Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def imported(tree: ast.AST) -> dict[str, str]:
    """What each name of a module stands for."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for each in node.names:
                found[each.asname or each.name] = f"{node.module}.{each.name}"
    return found


def called(node: ast.expr, names: Mapping[str, str]) -> str:
    """The full name of what is called, such as ``module.Class.of``."""
    if isinstance(node, ast.Attribute):
        return f"{called(node.value, names)}.{node.attr}"
    return names.get(node.id, node.id) if isinstance(node, ast.Name) else ""


def deciding(source: str) -> Iterator[tuple[int, str]]:
    """Lines that decide, with what they call."""
    tree = ast.parse(source)
    names = imported(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            full = called(node.func, names)
            for name in {full, full.rpartition(".")[0]} & DECIDING:
                yield node.lineno, name.rpartition(".")[2]


def beside_the_judge() -> Iterator[tuple[str, int, str]]:
    for path in sorted(ROOT.rglob("*.py")):
        if not module_of(path).startswith(JUDGE):
            for line, name in deciding(path.read_text()):
                yield path.relative_to(ROOT).as_posix(), line, name


def test_nothing_decides_beside_the_judge():
    others = [
        f"{file}:{line}: {name}"
        for file, line, name in beside_the_judge()
        if (file, name) not in EXCEPTIONS
    ]
    assert others == []


def test_each_exception_is_one():
    assert EXCEPTIONS.keys() <= {(file, name) for file, _, name in beside_the_judge()}


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (
            "from osc_traitsched.core.placement.matcher import Matcher as M\nM.of(1)",
            "Matcher",
        ),
        (
            "from osc_traitsched.core.placement import matcher\nmatcher.Matcher(1)",
            "Matcher",
        ),
        (f"from {TABLE} import judge as ask\nask(1)", "judge"),
        (
            "from osc_traitsched.core.nova.filter import table\ntable.judge_all()",
            "judge_all",
        ),
        (f"from {TABLE} import answers as ask\nask(1)", "answers"),
        (
            "from osc_traitsched.core.judge import verdict as v\nv.Reasons(1)",
            "Reasons",
        ),
        (
            "from osc_traitsched.core.nova.filter import compute\ncompute.io_ops(1)",
            "io_ops",
        ),
    ],
)
def test_whoever_decides_is_found_by_any_name(source, name):
    assert list(deciding(source)) == [(2, name)]


def test_whoever_names_a_matcher_decides_nothing():
    source = "from osc_traitsched.core.placement.matcher import Matcher\nx: Matcher = y"
    assert list(deciding(source)) == []
