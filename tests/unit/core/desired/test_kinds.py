"""A kind of write is a row, a reader and a writer: all else finds them."""

from __future__ import annotations

import pytest

from osc_traitsched.cloud import write
from osc_traitsched.cloud.write import Patience
from osc_traitsched.core.change.model import (
    Object,
    ObjectKind,
    Phase,
    State,
    Status,
    foreseen_outcomes,
    plan_of,
)
from osc_traitsched.core.desired import units
from osc_traitsched.core.desired.export import undo_of
from osc_traitsched.core.desired.model import Claim, Claims, Place
from osc_traitsched.core.desired.planner import draft, rows_of
from osc_traitsched.core.desired.units import FoundCloud
from osc_traitsched.core.inventory.snapshot import Snapshot
from osc_traitsched.views import desired, listing

RATIO = ObjectKind(
    *("allocation ratio", "ratio", "ratio"),
    *(Phase.PLACE, Phase.LEAVE),
    unit="ratio {key} of {name}",
    not_undone="ratio {key} of {name}: set it with openstack resource provider",
)
CLOUD = FoundCloud(Snapshot(()), (), (), frozenset(), frozenset())
UNIT = Object(RATIO, "r1", "cmp01"), "VCPU"


class Ratios:
    """An inventory of one provider, which keeps what is sent."""

    def __init__(self, now):
        self.now = now

    def read(self):
        return State(dict(self.now))

    def requests(self, change, found):
        return [lambda: self.now.update(change.after)]


@pytest.fixture
def ratios(monkeypatch):
    """The ratios of a cloud whose provider has another than a file wants."""
    now = {"VCPU": "4"}
    monkeypatch.setitem(units.STATES, RATIO, lambda cloud, _: State({"VCPU": "4"}))
    monkeypatch.setitem(write.ACCESS, RATIO, lambda cloud, target: Ratios(now))
    return now


@pytest.fixture
def sketch(ratios):
    """What differs, and the changes."""
    wanted = Claims()
    wanted.add(UNIT, Claim("8", Place("w.yaml", 3)))
    return draft(wanted, CLOUD)


def test_a_made_up_kind_is_planned_in_its_phase_and_said_in_its_words(sketch):
    plan, claims = plan_of(sketch.changes), sketch.claims
    (change,) = plan.changes
    assert change.phase is Phase.PLACE
    outcomes = foreseen_outcomes(plan)
    (row,) = rows_of(outcomes, claims, CLOUD)
    assert (row.change, row.step, row.before, row.after) == ("set", "ratio", "4", "8")
    assert list(desired.lines([row], CLOUD)) == [
        "~ ratio cmp01  VCPU 4 -> 8  (w.yaml:3)"
    ]
    _, (cells,) = listing.result_rows(listing.STEPS, outcomes)
    assert cells == ("ratio", "cmp01", "would change", "with VCPU=8", "")
    assert "ratio VCPU of 'cmp01' (w.yaml:3)" in desired.differs_again(claims)


def test_a_made_up_kind_is_applied_and_its_undo_file_says_what_it_lacks(sketch, ratios):
    outcome = write.apply(None, sketch.changes[0], Patience())
    assert (outcome.status, ratios) == (Status.CHANGED, {"VCPU": "8"})
    assert desired.not_undone(undo_of(sketch.claims, CLOUD).left) == [
        "Not brought back: ratio VCPU of 'cmp01': set it with openstack resource "
        "provider"
    ]


def test_every_kind_is_read_and_written():
    kinds = {kind for kind in vars(ObjectKind).values() if isinstance(kind, ObjectKind)}
    assert kinds == units.STATES.keys() == write.ACCESS.keys()
