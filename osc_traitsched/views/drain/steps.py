"""The commands that carry a plan out, one for one with OpenStackClient's options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from osc_traitsched.core.existing.drain.plan import Drain, Step, Stuck
from osc_traitsched.core.nova.move import Kind
from osc_traitsched.paste import Command, Option, line, openstack

_VERSION = "--os-compute-api-version"
#: The first versions that take a host and let nova-scheduler judge it. With a later one
#: a live migration's checks would fail unseen, and an evacuated server stay stopped.
_VERSIONS = {
    Kind.LIVE_MIGRATION: "2.30",
    Kind.MIGRATION: "2.56",
    Kind.EVACUATION: "2.29",
}
_VERBS = {
    Kind.LIVE_MIGRATION: ("server migrate", (Option("--live-migration"),)),
    Kind.MIGRATION: ("server migrate", ()),
    Kind.EVACUATION: ("server evacuate", ()),
}

#: What ends the state that keeps a server from being moved.
_ENDS = {
    "rescued": ("server unrescue",),
    "resized": ("server migration confirm",),
    "shelved": ("server shelve", Option("--offload")),
    "suspended": ("server resume",),
}


def disabling(found: Drain) -> Iterator[Command]:
    """Yield what keeps new servers from coming, if any leave and that is not so yet."""
    if found.is_enabled and found.steps:
        yield openstack(
            "compute service set",
            Option("--disable"),
            Option("--disable-reason", "to be emptied"),
            found.host,
            "nova-compute",
        )


def of_step(step: Step, options: Sequence[Option]) -> tuple[str, ...]:
    """Return the lines that move one server, and confirm it where Nova wants that."""
    resident, identity = step.resident, step.resident.state.id
    verb, given = _VERBS[resident.kind]
    wait = (Option("--wait"),) if is_waited_for(step) else ()
    host = Option("--host", step.to.service_host)
    move = openstack(verb, *given, host, *wait, identity)
    version = Option(_VERSION, _VERSIONS[resident.kind])
    lines = [line(move, (*options, version))]
    if resident.kind is Kind.MIGRATION:
        lines.append(line(openstack("server migration confirm", identity), options))
    return tuple(lines)


def is_waited_for(step: Step) -> bool:
    """Tell whether the command of a move ends with it.

    OpenStackClient waits for a server that is active or to be confirmed: with one that
    is paused it would wait on. Of an evacuation some of its releases never see the end,
    since they compare ``ACTIVE`` with the status in small letters
    (openstackclient/compute/v2/server.py, ``EvacuateServer``).
    """
    if step.resident.kind is Kind.LIVE_MIGRATION:
        return step.resident.state.vm_state == "active"
    return step.resident.kind is Kind.MIGRATION


def ending(stuck: Stuck) -> Command | None:
    """Return what ends the state in which Nova does not move a server, if anything."""
    verb, *given = _ENDS.get(stuck.resident.state.vm_state, ("",))
    if not isinstance(verb, str) or not verb:
        return None
    return openstack(verb, *given, stuck.resident.state.id)
