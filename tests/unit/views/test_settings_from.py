"""Where the scheduler's settings are from is said with every explanation."""

import dataclasses

import pytest

from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.views import config
from osc_traitsched.views.explain import document, prose

FLAVOR = {"id": "f", "name": "f", "vcpus": 1, "ram": 1, "disk": 1, "extra_specs": {}}
PLACE = "~/.config/osc-traitsched/prod.yaml"
NONE = "none found, upstream defaults assumed (see trait-sched config save)"


@pytest.mark.parametrize(("place", "words"), [(PLACE, PLACE), (None, NONE)])
def test_explain_says_where_from(place, words):
    assumed = dataclasses.replace(SchedulerSettings(), place=place)
    found = Explanation(Question(FLAVOR, None, (), assumed))
    lines = [line.text for line in prose.lines(found, (), False)]
    assert f"  settings: {words}" in lines
    assert document.document(found, ())["settings_from"] == place


def test_what_is_written_is_shown_as_no_terminal_obeys_it():
    wrote = config.saved("a\nb\x1b.yaml", "baseline: a\x1b\n", False, False)
    assert wrote == "Wrote a\\nb\\x1b.yaml:\nbaseline: a\\x1b\n"
