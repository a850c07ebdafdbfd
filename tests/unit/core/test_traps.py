"""What surprises in Nova's filters and weighers does not surprise the core."""

from __future__ import annotations

import pytest

from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.weighers import WEIGHERS
from osc_traitsched.core.releases import RELEASES
from tests.fidelity.scheduling import traps

TRAPS = traps.read()
#: It lets every host through.
_NONE = {"AllHostsFilter"}


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: f"{trap.of}: {trap.trap}")
def test_the_core_says_what_nova_says_in_every_release(trap):
    wrong = [r for r in RELEASES if trap.is_in(r) and not trap.is_ours(r)]
    assert wrong == []


def test_each_filter_and_each_weigher_has_its_surprises():
    assert {trap.of for trap in TRAPS} == {*FILTERS, *WEIGHERS} - _NONE
