"""What commands exit with."""

import pathlib
import re

import pytest

import osc_traitsched
from osc_traitsched.commands import base
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.core import errors
from osc_traitsched.core.change import effects, traits

PACKAGE = pathlib.Path(osc_traitsched.__file__).parent
REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
TABLE = re.compile(r"^(\d+) {1,4}\w", re.MULTILINE)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.NothingMatches("host", "cmp9", ()), ExitCode.ERROR),
        (errors.CloudBroke("placement", "down"), ExitCode.ERROR),
        (errors.BadUsage("--exit-code goes with --dry-run"), ExitCode.USAGE),
        (errors.Refusal("ImageNUMATopology", "some-rule"), ExitCode.NO_HOST),
        (errors.NotForProject("flavor", "gold"), ExitCode.NO_HOST),
        (errors.PlacementRefuses("No such trait(s)"), ExitCode.NO_HOST),
        (effects.LeavesNoHost(()), ExitCode.REFUSED),
        (traits.LastHolder({}), ExitCode.REFUSED),
    ],
)
def test_the_class_of_an_error_decides(error, code):
    assert base.of_error(error) is code


def test_the_codes_are_those_that_scripts_know():
    assert {code.name: code.value for code in ExitCode} == {
        "DONE": 0,
        "ERROR": 1,
        "USAGE": 2,
        "NO_HOST": 3,
        "CONTRADICTION": 4,
        "REFUSED": 5,
        "CHANGES_WANTED": 6,
        "FINDINGS": 7,
        "UNKNOWN": 8,
        "INTERRUPTED": 130,
    }


def test_the_documented_table_has_them_all_and_no_other():
    page = REPOSITORY / "doc" / "source" / "reference" / "scripting.rst"
    text = page.read_text(encoding="utf-8")
    table = text.partition("Exit codes\n")[2].partition("A code means")[0]
    assert [int(n) for n in TABLE.findall(table)] == sorted(ExitCode)
