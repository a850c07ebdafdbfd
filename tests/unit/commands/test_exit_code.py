"""What commands exit with."""

import pytest

from osc_traitsched.commands import base
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.core import errors
from osc_traitsched.core.change import effects, traits


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.NothingMatches("host", "cmp9", ()), ExitCode.ERROR),
        (errors.CloudBroke("placement", "down"), ExitCode.ERROR),
        (errors.BadUsage("--exit-code requires --dry-run"), ExitCode.USAGE),
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
        "DISAGREEMENT": 4,
        "REFUSED": 5,
        "DIFFERS": 6,
        "FINDINGS": 7,
        "UNKNOWN": 8,
        "INTERRUPTED": 130,
    }


@pytest.mark.parametrize("way", ["option", "variable"])
def test_a_wrapper_gets_0_for_answers_and_still_sees_errors(
    way, cloud, trait_sched, monkeypatch
):
    cloud.flavor("odd", CUSTOM_NONE="required")
    cloud.flavor("silver", CUSTOM_SILVER="required")
    cloud.gives("CUSTOM_SILVER", "cmp02")
    codes = {
        ("explain", "odd", "-"): ExitCode.NO_HOST,
        ("capacity", "small", "--at-least", "99999"): ExitCode.FINDINGS,
        ("explain", "none", "-"): ExitCode.ERROR,
        ("explain",): ExitCode.USAGE,
        ("remove", "CUSTOM_SILVER", "--all"): ExitCode.REFUSED,
    }
    assert {words: trait_sched(*words).code for words in codes} == codes
    more = ["--exit-zero"] if way == "option" else []
    monkeypatch.setenv("TRAITSCHED_EXIT_ZERO", str(int(way == "variable")))
    answers = (ExitCode.NO_HOST, ExitCode.FINDINGS)
    for words, code in codes.items():
        assert trait_sched(*words, *more).code == (0 if code in answers else code)
