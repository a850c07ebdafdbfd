"""From what Nova shows of a failed server to the stage at which it failed."""

from __future__ import annotations

import dataclasses
import datetime
import enum

from osc_traitsched.core.existing.history import ERROR, Action, Event, ServerState


class Stage(enum.Enum):
    """Where a request for a host failed; the values are those of documents."""

    NO_CANDIDATES = "no allocation candidates"
    """Placement gave no host, or nova-scheduler could not ask it."""

    NO_HOST_LEFT = "no host left"
    """Placement gave hosts, and filters, a named host or lost claims took them all."""

    CHECKS = "checks failed"
    """Hosts were chosen, and checks before a live migration turned them down."""

    RETRIES = "retries exhausted"
    """Hosts were chosen, and the build or the move failed on each."""

    REFUSED = "refused"
    """Nova refuses the request as a whole, and says why."""

    SERVICE = "service failed"
    """An exception of a service that Nova has no words for."""

    COMPUTE = "compute failed"
    """A host was chosen, and its nova-compute failed."""

    NOT_KEPT = "reason not kept"
    """There was no host, and Nova overwrites why."""

    UNKNOWN = "unknown"
    """What Nova shows to this user does not tell."""


_NO_HOST = "No valid host was found."
_NO_HOST_LEFT = "There are not enough hosts available."
#: nova/conductor/manager.py, ``_cold_migrate``
_NOT_KEPT = (
    "No valid host found for cold migrate",
    "No valid host found for resize",
)
_RETRIES = "Exceeded maximum number of retries."
_NO_POLICY = "ServerGroup policy is not supported:"

_LIVE_CHECKS = frozenset(
    [
        "compute_check_can_live_migrate_destination",
        "compute_check_can_live_migrate_source",
    ]
)
#: The steps that one is of for each host that was chosen.
_ATTEMPTS = frozenset(
    [
        "compute__do_build_and_run_instance",
        "compute_check_can_live_migrate_destination",
        "compute_prep_resize",
        "compute_rebuild_instance",
        "compute_unshelve_instance",
    ]
)
_ON_COMPUTE = "compute_"


@dataclasses.dataclass(frozen=True)
class Failure:
    """How a server failed.

    :ivar action: what was done with it; empty where that is not known
    :ivar request: the compute API's ID of that
    :ivar when: None where that is not known
    :ivar text: Nova's own words; empty where they are not shown
    :ivar is_fault: they are the server's fault's
    :ivar attempts: the service hosts that were tried, in their order
    :ivar steps: the steps that failed, each with the host of its last attempt
    """

    stage: Stage
    action: str = ""
    request: str = ""
    when: datetime.datetime | None = None
    text: str = ""
    is_fault: bool = False
    attempts: tuple[str, ...] = ()
    steps: tuple[Event, ...] = ()

    @property
    def host(self) -> str:
        """The last host that failed; empty where none is known."""
        on_computes = (each.host for each in self.steps if _is_on_compute(each))
        found = (*on_computes, *self.attempts[-1:])
        return next(filter(None, found), "")

    @property
    def check(self) -> Event | None:
        """The last check before a live migration that failed, if one did."""
        found = (each for each in reversed(self.steps) if each.name in _LIVE_CHECKS)
        return next(found, None)


def failure(server: ServerState, action: Action | None) -> Failure | None:
    """Return how a server failed; None for one that did not.

    Each text is the same from Nova 20 to 34 (nova/exception.py, ``NoValidHost``,
    ``MaxRetriesExceeded`` and ``UnsupportedPolicyException``, formatted by
    nova/compute/utils.py, ``exception_to_dict``).

    :param action: what :func:`history.failed_action` returns, with its events
    """
    fault = server.fault
    if fault is None and action is None:
        return Failure(Stage.UNKNOWN) if server.status == ERROR else None
    events = action.events if action else ()
    steps = tuple(_of_last(each, events) for each in events if each.failed)
    text = fault.message if fault else _told(steps)
    return Failure(
        stage=_stage(text, steps, events),
        action=action.name if action else "",
        request=action.request if action else "",
        when=fault.created if fault else _began(action),
        text=text.strip(),
        is_fault=fault is not None,
        attempts=tuple(
            each.host for each in events if each.name in _ATTEMPTS and each.host
        ),
        steps=steps,
    )


def _has_live_checks(steps: tuple[Event, ...]) -> bool:
    return any(each.name in _LIVE_CHECKS for each in steps)


def _of_last(step: Event, events: tuple[Event, ...]) -> Event:
    """Return a failed step with the host of the last one of its name.

    Of several of one name Nova writes every end into the same one
    (nova/db/main/api.py, ``action_event_finish``), and the last end is what is left.
    """
    hosts = [each.host for each in events if each.name == step.name]
    return dataclasses.replace(step, host=hosts[-1])


def _is_on_compute(step: Event) -> bool:
    return step.name.startswith(_ON_COMPUTE)


def _told(steps: tuple[Event, ...]) -> str:
    """Return what the outermost of the failed steps raised, as far as it is shown.

    The conductor's step holds those of computes, and begins before them.
    """
    outer = [each for each in steps if not _is_on_compute(each)]
    told = (each.details for each in (*outer, *steps))
    return next(filter(None, told), "")


def _began(action: Action | None) -> datetime.datetime | None:
    if action is None:
        return None
    started = [each.started for each in action.events if each.failed and each.started]
    return max(started, default=action.started)


def _stage(text: str, steps: tuple[Event, ...], events: tuple[Event, ...]) -> Stage:
    found = text.strip()
    if found.startswith(_NO_HOST):
        return _no_host(found[len(_NO_HOST) :].strip(), steps)
    if found.startswith(_RETRIES):
        return Stage.RETRIES
    if found.startswith(_NO_POLICY):
        return Stage.REFUSED
    if not found and _has_live_checks(steps):
        return Stage.CHECKS
    if any(map(_is_on_compute, steps)):
        return Stage.COMPUTE
    if not found:
        return Stage.UNKNOWN
    if steps:
        # An exception of no words of Nova's own is told by the name of its class.
        return Stage.REFUSED if " " in found else Stage.SERVICE
    # A build that failed and is not tried elsewhere ends its step like a good one.
    chosen = any(each.name in _ATTEMPTS for each in events)
    return Stage.COMPUTE if chosen else Stage.UNKNOWN


def _no_host(reason: str, steps: tuple[Event, ...]) -> Stage:
    if reason in _NOT_KEPT:
        return Stage.NOT_KEPT
    if reason not in ("", _NO_HOST_LEFT):
        return Stage.REFUSED
    if _has_live_checks(steps):
        # The host that a check turns down is left out, and the next is looked for
        # (nova/conductor/tasks/live_migrate.py, ``_find_destination``).
        return Stage.CHECKS
    return Stage.NO_HOST_LEFT if reason else Stage.NO_CANDIDATES
