"""What filter try exits with, and what it reads of the options."""

from __future__ import annotations

import pytest

from osc_traitsched.commands import explain
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.nova.filter.state import OWN, PASSES, Fails, Raises, Unknown
from osc_traitsched.core.nova.own import PluginJudgment, Weighed

ERROR = Raises("KeyError", "", "'x'")


def of_filter(*answers):
    found = {str(number): answer for number, answer in enumerate(answers)}
    return PluginJudgment("34.0.0", {"F": found}, {}, {})


def of_weigher(weights):
    return PluginJudgment("34.0.0", {}, {"W": weights}, {})


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (of_filter(PASSES, Fails(OWN), Unknown("pci_stats")), 0),
        (of_filter(Fails(OWN), Unknown("pci_stats")), 8),
        (of_filter(Fails(OWN), Fails(OWN)), 3),
        (of_filter(), 3),
        (of_filter(PASSES, ERROR), 3),
        (of_weigher(Weighed({}, {}, {})), 0),
        (of_weigher(Unknown("pci_stats")), 8),
        (of_weigher(ERROR), 3),
    ],
)
def test_the_exit_code_says_whether_a_host_is_left(found, code):
    assert explain._exit_code_of_try(found) == code


def test_several_classes_are_named_to_choose_from():
    several = PluginJudgment("34.0.0", {"m.all:B": {}}, {"m.all:A": ERROR}, {})
    text = r"2 plugins match; name one: m\.all:A, m\.all:B"
    with pytest.raises(BadUsage, match=text):
        explain._check_one(several)
