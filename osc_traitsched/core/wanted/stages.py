"""The order of what is written: first all that opens or adds, then the rest."""

from __future__ import annotations

import enum
from collections.abc import Mapping

from osc_traitsched.core.change.model import Change, Kind, Plan


class Stage(enum.IntEnum):
    """What is written together."""

    TRAITS = enum.auto()
    NEW_AGGREGATES = enum.auto()
    GAINED = enum.auto()
    ZONES = enum.auto()
    #: Hosts leave the aggregate of a zone for that of another one.
    MOVED_OUT = enum.auto()
    JOINED = enum.auto()
    MIRRORED = enum.auto()
    OPENED = enum.auto()
    REQUIRED = enum.auto()
    CLOSED = enum.auto()
    RELEASED = enum.auto()
    LEFT = enum.auto()
    LOST = enum.auto()


#: The stage of a key that gets a value, and that of one that is taken away.
OF_KIND = {
    Kind.TRAIT: (Stage.TRAITS, Stage.TRAITS),
    Kind.NEW_AGGREGATE: (Stage.NEW_AGGREGATES, Stage.NEW_AGGREGATES),
    Kind.PROVIDER_TRAITS: (Stage.GAINED, Stage.LOST),
    Kind.PROVIDER_AGGREGATES: (Stage.MIRRORED, Stage.MIRRORED),
    Kind.AGGREGATE_HOSTS: (Stage.JOINED, Stage.LEFT),
    Kind.FLAVOR: (Stage.REQUIRED, Stage.RELEASED),
    Kind.IMAGE: (Stage.REQUIRED, Stage.RELEASED),
    Kind.AGGREGATE: (Stage.CLOSED, Stage.OPENED),
}

Staged = Mapping[Stage, tuple[Change, ...]]


def in_order(staged: Staged) -> Plan:
    """Return the stages as a plan."""
    return Plan.of(*(staged[stage] for stage in sorted(staged)))
