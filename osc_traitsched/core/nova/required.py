"""Traits that Nova requires for a flavor, to open isolated aggregates."""

from __future__ import annotations

from collections.abc import Iterator

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.metadata import required_by
from osc_traitsched.core.nova.clause import Trait
from osc_traitsched.core.nova.question import Body, Move, MoveKind, Question
from osc_traitsched.core.nova.server import translation
from osc_traitsched.core.nova.server.server import SoFar
from osc_traitsched.core.nova.settings import SchedulerSettings

_UEFI: Body = {"hw_firmware_type": "uefi"}
#: Nova takes encrypted memory with no plainer images; what they ask for themselves is
#: what such a flavor can't do without.
_IMAGES: tuple[Body, ...] = (
    _UEFI,
    {**_UEFI, "hw_firmware_stateless": "true", "hw_video_model": "none"},
)
#: With it nova-api does not look at flavor and image.
_MOVE = Move(MoveKind.LIVE_MIGRATION, "")


def required_traits(
    flavor: Body, assumptions: SchedulerSettings
) -> Iterator[frozenset[str]]:
    """Traits that Nova requires for a flavor, for each possible release.

    They include derived traits (nova/scheduler/request_filter.py,
    ``isolate_aggregates``). If Nova rejects the flavor, only the traits in its extra
    specs count.
    """
    for settings in (assumptions, *assumptions.others):
        yield _in_one_release(flavor, settings)


def _in_one_release(flavor: Body, settings: SchedulerSettings) -> frozenset[str]:
    for image in _IMAGES:
        try:
            question = Question(flavor, image, (), settings, move=_MOVE)
            clauses = translation.translate(question.server, SoFar()).clauses
        except Refusal:
            continue
        traits = (each for each in clauses if isinstance(each, Trait))
        return frozenset(each.name for each in traits if not each.forbidden)
    return required_by(flavor.get("extra_specs") or {})
