"""What is said of servers that a cell does not show."""

from __future__ import annotations

from osc_traitsched.core.existing.placed import Placements
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.views.server import placements as views


def found(looked_at, *silent):
    return Placements(SchedulerSettings(), looked_at, 0, (), (), {}, silent)


def test_servers_that_were_not_read_may_be_misplaced():
    assert not found(5).is_in_doubt
    half = found(5, "cmp01", "cmp02", "cmp03")
    assert half.is_in_doubt
    assert views.headline(half) == (
        "None of 5 servers is known to be on a host that it could not be given today."
    )
    assert list(views.below(half)) == [
        "Looked at: 5 servers, 0 misplaced, 5 fine, 0 not known.",
        "Not read: the servers of hosts cmp[01-03], whose cell does not answer.",
    ]
    assert views.headline(found(0, "cmp01")) == (
        "There is no server known to be on these hosts."
    )
