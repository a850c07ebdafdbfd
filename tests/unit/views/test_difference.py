"""Screens of ``diff`` and ``--since``."""

from __future__ import annotations

import dataclasses
import datetime

import pytest

from osc_traitsched.core.difference import (
    Change,
    Comparison,
    Effect,
    FlavorHosts,
    Since,
)
from osc_traitsched.views.diff import lines, since_lines

THEN = datetime.datetime(2026, 11, 26, 6, tzinfo=datetime.timezone.utc)
NOW = THEN + datetime.timedelta(hours=27)


def change(kind, name, text, *hosts, is_daily=False):
    return Change(kind, name, text, (), frozenset(hosts), is_daily)


LOST = change("host", "cmp00", "- CUSTOM_SSD", "cmp00")
SPEC = change("flavor", "m1.small", "+ trait:CUSTOM_SSD=required")
FULL = Comparison(
    THEN,
    NOW,
    (
        Effect(change("aggregate", "pepper", "- cmp04", "cmp04"), ()),
        Effect(SPEC, (FlavorHosts("m1.small", 8, 3),)),
        Effect(LOST, (FlavorHosts("m1.large", 2, 1), FlavorHosts("ssd", 4, 3))),
        Effect(change("image", "gold", "- trait:X=required"), (FlavorHosts("", 2, 8),)),
        Effect(
            change("host", "cmp06", "used RAM 0 -> 7168", "cmp06", is_daily=True),
            (FlavorHosts("m1.large", 2, 1),),
        ),
        Effect(change("server", "web-1", "cmp00 -> cmp01", is_daily=True), ()),
    ),
    untried=2,
    unread=("image /images",),
)
SINCE = Since(
    THEN,
    NOW,
    frozenset({"cmp00", "cmp02", "cmp06"}),
    frozenset({"cmp07"}),
    8,
    (
        (LOST, frozenset({"cmp00"})),
        (change("aggregate", "gold", "is gone"), frozenset({"cmp07"})),
    ),
)
SCREENS = {
    "changes": lines(FULL, wants_all=False),
    "all": lines(FULL, wants_all=True),
    "nothing": lines(Comparison(THEN, NOW, ()), wants_all=False),
    "other-cloud": lines(
        dataclasses.replace(FULL, is_other_cloud=True), wants_all=False
    ),
    "since": since_lines(SINCE),
    "no-snapshot": since_lines(None),
}


@pytest.mark.parametrize("screen", SCREENS)
def test_a_screen(screen, golden):
    found = list(SCREENS[screen])
    golden(
        f"diff/{screen}",
        (f"{each.tone.value if each.tone else '':<6}|{each.text}" for each in found),
    )
