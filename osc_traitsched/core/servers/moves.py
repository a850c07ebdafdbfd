"""The move that a server needs, what Nova rejects, and the hosts that could take it."""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from osc_traitsched.core.answer import Answer, Reason
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.inventory.trait import required_by_image
from osc_traitsched.core.judge.filtering import Filtering, filtering
from osc_traitsched.core.judge.judge import Explanation
from osc_traitsched.core.judge.judgement import Judgement, RequestResult
from osc_traitsched.core.nova import attachments, extra_specs
from osc_traitsched.core.nova.filter.state import Fails, Raises, Unknown
from osc_traitsched.core.nova.question import Body, MoveKind, Question
from osc_traitsched.core.nova.server import Server
from osc_traitsched.core.releases import NEWEST, OLDEST
from osc_traitsched.core.servers.state import (
    MoveRefusal,
    Part,
    ServerState,
    is_image_gone,
)

# Planned moves, and Nova's refusals.


# A planned move, with the server before and after it.


@dataclasses.dataclass(frozen=True)
class Planned:
    """A move, and the data of all checks before nova-scheduler is asked.

    :ivar is_up: the nova-compute on the server's host is up; None if unknown
    :ivar before: with the server's current flavor and image
    :ivar question: with the new ones
    :ivar was_resized: or may have been; read only if the disk is smaller
    :ivar is_image_newer: Glance's image was changed after the server was created
    """

    kind: MoveKind
    state: ServerState
    is_up: bool | None
    before: Question
    question: Question
    was_resized: bool = False
    is_image_newer: bool = False

    @property
    def is_disk_smaller(self) -> bool:
        """Whether a resize is to a smaller disk than that of the server's flavor."""
        new, had = self.question.flavor["disk"], self.old_flavor["disk"]
        return not self.question.spec.boot_from_volume and 0 < new < had

    @property
    def release(self) -> int:
        """Nova's major version."""
        return self.question.assumptions.release

    @property
    def old_flavor(self) -> Body:
        """The server's own copy of its flavor."""
        return self.before.flavor

    @property
    def has_image(self) -> bool:
        """Whether the server, or its root volume, was made of the new image."""
        root = self.before.parts.root_volume
        made_of = root.image_metadata.get("image_id") if root else None
        had = self.before.image["id"] if self.before.image else made_of
        return self.question.image is None or self.question.image["id"] == had

    @functools.cached_property
    def server(self) -> Server | None:
        """The server as nova-api reads it; None if it rejects flavor and image."""
        try:
            return self.question.request_spec().server
        except Refusal:
            return None


# Nova's refusals of a move.


#: The move does not start from the server's state.
STATE = "state"


# Checks before nova-scheduler is asked, as far as an API shows them.
#
# nova/compute/api.py, the decorators of ``live_migrate``, ``resize``, ``evacuate``,
# ``unshelve`` and ``rebuild``, in Nova's order; nova/conductor/tasks/live_migrate.py.


def refusals(planned: Planned) -> tuple[MoveRefusal, ...]:
    """All current refusals of a move; Nova stops at the first."""
    found = (
        each.function(planned)
        for each in _CHECKS
        if planned.kind in each.kinds and each.since <= planned.release < each.until
    )
    return tuple(each for each in found if each is not None)


_STATES: Mapping[MoveKind, tuple[str, ...]] = {
    MoveKind.LIVE_MIGRATION: ("active", "paused"),
    MoveKind.MIGRATION: ("active", "stopped"),
    MoveKind.RESIZE: ("active", "stopped"),
    MoveKind.EVACUATION: ("active", "stopped", "error"),
    MoveKind.UNSHELVE: ("shelved", "shelved_offloaded"),
    MoveKind.REBUILD: ("active", "stopped", "error"),
}
#: Ports with a device from Cyborg (nova/network/model.py).
_ACCELERATED = frozenset(["accelerator-direct", "accelerator-direct-physical"])
_PROFILE = "accel:device_profile"
_ALIAS = "pci_passthrough:alias"
#: nova/compute/power_state.py
_RUNNING, _PAUSED = 1, 3
_INVALID = "InstanceInvalidState"


def _specs(flavor: Body) -> Mapping[str, Any]:
    return flavor.get("extra_specs") or {}


def _port_accelerator(planned: Planned) -> MoveRefusal | None:
    ports = planned.question.parts.ports
    label = next((each.label for each in ports if each.vnic_type in _ACCELERATED), None)
    if label is None:
        return None
    text = f"its port {label} has an accelerator"
    return MoveRefusal("port accelerator", "ForbiddenPortsWithAccelerator", text)


def _vdpa(planned: Planned) -> MoveRefusal | None:
    ports = planned.question.parts.ports
    label = next((each.label for each in ports if each.vnic_type == "vdpa"), None)
    if label is None:
        return None
    text = f"its port {label} is a vDPA device"
    return MoveRefusal("vdpa port", "OperationNotSupportedForVDPAInterface", text)


def _accelerator(planned: Planned) -> MoveRefusal | None:
    for flavor in (planned.old_flavor, planned.question.flavor):
        profile = _specs(flavor).get(_PROFILE)
        if profile:
            text = f"its flavor requests device profile {profile}"
            return MoveRefusal("accelerator", "ForbiddenWithAccelerators", text)
    return None


def _tpm(planned: Planned) -> MoveRefusal | None:
    server = planned.server
    if server is None or extra_specs.tpm(server)[0].value is None:
        return None
    return MoveRefusal(
        "virtual tpm", "OperationNotSupportedForVTPM", "it has a virtual TPM"
    )


def _legacy_tpm(planned: Planned) -> MoveRefusal | None:
    """As ``_tpm``, unless the flavor keeps the secret on the host.

    nova/compute/api.py, ``reject_legacy_vtpm_live_migration``
    """
    if _specs(planned.old_flavor).get("hw:tpm_secret_security") == "host":
        return None
    return _tpm(planned)


def _memory_encryption(planned: Planned) -> MoveRefusal | None:
    server = planned.server
    try:
        wanted = server is not None and extra_specs.memory_encryption(server)[0].on
    except Refusal:
        return None
    if not wanted:
        return None
    exception = "OperationNotSupportedForSEV"
    if planned.release >= 34:
        exception = "OperationNotSupportedForMemEncryption"
    return MoveRefusal("memory encryption", exception, "its memory is encrypted")


def _vm_state(planned: Planned) -> MoveRefusal | None:
    state, allowed = planned.state.vm_state, _STATES[planned.kind]
    if not state or state in allowed:
        return None
    text = f"it is {state}; it must be {' or '.join(allowed)}"
    return MoveRefusal(STATE, _INVALID, text)


def _task(planned: Planned) -> MoveRefusal | None:
    task = planned.state.task_state
    text = f"a task is running ({task})"
    return MoveRefusal("task under way", _INVALID, text) if task else None


def _never_ran(planned: Planned) -> MoveRefusal | None:
    if planned.state.launched:
        return None
    return MoveRefusal("never ran", _INVALID, "it has never run")


def _on_no_host(planned: Planned) -> MoveRefusal | None:
    if planned.state.host:
        return None
    return MoveRefusal("on no host", "InstanceNotReady", "it is on no host")


def _source_down(planned: Planned) -> MoveRefusal | None:
    host = planned.state.host
    if not host or planned.is_up is not False:
        return None
    exception, by = "ServiceUnavailable", "nova-api"
    if planned.kind is MoveKind.LIVE_MIGRATION:
        exception, by = "ComputeServiceUnavailable", "nova-conductor"
    text = f"nova-compute is down on {host}"
    return MoveRefusal("source down", exception, text, by)


def _source_up(planned: Planned) -> MoveRefusal | None:
    host = planned.state.host
    if not host or not planned.is_up:
        return None
    text = f"nova-compute is up on {host}"
    return MoveRefusal("source up", "ComputeServiceInUse", text)


def _power_state(planned: Planned) -> MoveRefusal | None:
    found = planned.state.power_state
    if found in (None, _RUNNING, _PAUSED):
        return None
    text = f"the hypervisor reports it as not running (power state {found})"
    return MoveRefusal("power state", _INVALID, text, "nova-conductor")


def _pci_device(planned: Planned) -> MoveRefusal | None:
    """nova/conductor/tasks/live_migrate.py, ``_check_can_migrate_pci``."""
    alias = _specs(planned.old_flavor).get(_ALIAS)
    if not alias:
        return None
    text = f"its flavor requests PCI device {alias}"
    exception = "MigrationPreCheckError"
    return MoveRefusal("pci device", exception, text, "nova-conductor")


def _same_host(planned: Planned) -> MoveRefusal | None:
    """nova/compute/api.py, ``_validate_host_for_cold_migrate``; api's evacuate.py."""
    host = planned.state.host
    if not host or planned.question.spec.on_host != host:
        return None
    exception = "CannotMigrateToSameHost"
    if planned.kind is MoveKind.EVACUATION:
        exception = "HTTPBadRequest"
    text = f"it already runs on {host}"
    return MoveRefusal("same host", exception, text)


def _zero_disk(planned: Planned) -> MoveRefusal | None:
    question, had = planned.question, planned.old_flavor["disk"]
    if question.spec.boot_from_volume or question.flavor["disk"] or not had:
        return None
    return MoveRefusal(
        "zero disk",
        "CannotResizeDisk",
        "the flavor has no disk, and the server does not boot from a volume",
    )


def _smaller_disk(planned: Planned) -> MoveRefusal | None:
    """Nova keeps the root disk of a new server as its own image's ``min_disk``.

    nova/utils.py, ``get_system_metadata_from_image``
    """
    if planned.was_resized or not planned.is_disk_smaller:
        return None
    new, had = planned.question.flavor["disk"], planned.old_flavor["disk"]
    text = f"its root disk was created with {had} GB, and the flavor has {new} GB"
    return MoveRefusal("smaller disk", "FlavorDiskSmallerThanMinDisk", text)


def hidden_minimum(planned: Planned) -> str:
    """What of a resize no API shows, and nova-api checks, as a sentence; or nothing.

    Nova keeps the image's ``min_ram`` and ``min_disk`` with the server. Each flavor
    that the server had was large enough for both.
    """
    if planned.was_resized and planned.is_disk_smaller:
        return (
            "It was resized before: nova-api rejects a root disk that is smaller than "
            "its first one, which no API shows."
        )
    is_smaller = planned.question.flavor["ram"] < planned.old_flavor["ram"]
    old_image = (
        "Its image was changed since: nova-api compares the RAM with the min_ram that "
        "the image had before, which no API shows."
    )
    return old_image if planned.is_image_newer and is_smaller else ""


def _disabled_flavor(planned: Planned) -> MoveRefusal | None:
    if not planned.question.flavor.get("OS-FLV-DISABLED:disabled"):
        return None
    return MoveRefusal("disabled flavor", "FlavorNotFound", "the flavor is disabled")


def _image_of_volume(planned: Planned) -> MoveRefusal | None:
    """Until 25; since 26 the compute API's 2.93 allows it."""
    if planned.has_image or not planned.before.spec.boot_from_volume:
        return None
    return MoveRefusal(
        "volume", "ImageUnacceptable", "it boots from a volume, which keeps its image"
    )


def _other_nodes(planned: Planned) -> MoveRefusal | None:
    """nova/compute/api.py, ``_validate_numa_rebuild``."""
    try:
        servers = (
            planned.before.request_spec().server,
            planned.question.request_spec().server,
        )
        old, new = (bool(attachments.cpu_origins(each)) for each in servers)
    except Refusal:
        return None
    if old is new or planned.has_image:
        return None
    return MoveRefusal(
        "numa nodes",
        "ImageNUMATopologyRebuildConflict",
        "the image changes whether it has NUMA nodes",
    )


def _same_flavor(planned: Planned) -> MoveRefusal | None:
    """Compare name and size: Nova compares IDs, and no API shows the old flavor's."""
    new, old = planned.question.flavor, planned.old_flavor
    if any(new[key] != old[key] for key in ("name", "vcpus", "ram", "disk")):
        return None
    text = f"it has the flavor {new['name']}, by its name"
    return MoveRefusal("same flavor", "CannotResizeToSameFlavor", text)


@dataclasses.dataclass(frozen=True)
class _Check:
    """One check of some moves, in releases from ``since`` to before ``until``."""

    function: Callable[[Planned], MoveRefusal | None]
    kinds: frozenset[MoveKind]
    since: int = OLDEST
    until: int = NEWEST + 1


_LIVE, _EVACUATION = (
    frozenset([MoveKind.LIVE_MIGRATION]),
    frozenset([MoveKind.EVACUATION]),
)
_COLD = frozenset([MoveKind.MIGRATION, MoveKind.RESIZE])
_RESIZE, _REBUILD = frozenset([MoveKind.RESIZE]), frozenset([MoveKind.REBUILD])
_EVERY = frozenset(MoveKind)

_CHECKS = (
    _Check(_same_host, _EVACUATION),
    _Check(_port_accelerator, _LIVE | _COLD | _EVACUATION, since=24),
    _Check(_vdpa, _LIVE, since=23, until=26),
    _Check(_vdpa, _COLD | _EVACUATION, since=23, until=24),
    _Check(_tpm, _EVACUATION | _REBUILD, since=22),
    _Check(_accelerator, _LIVE | _COLD, since=21),
    _Check(_accelerator, _EVACUATION | _REBUILD, since=21, until=22),
    _Check(_tpm, _LIVE, since=22, until=33),
    _Check(_legacy_tpm, _LIVE, since=33),
    _Check(_memory_encryption, _LIVE),
    _Check(_vm_state, _EVERY),
    _Check(_task, _EVERY - _EVACUATION),
    # 23 to 25 stopped it with 23.2.2, 24.2.0 and 25.1.0.
    _Check(_task, _EVACUATION, until=23),
    _Check(_never_ran, _EVERY),
    _Check(_on_no_host, _EVERY - {MoveKind.UNSHELVE}),
    _Check(_source_down, _COLD),
    _Check(_source_up, _EVACUATION),
    _Check(_same_host, frozenset([MoveKind.MIGRATION])),
    _Check(_zero_disk, _RESIZE),
    _Check(_disabled_flavor, _RESIZE),
    _Check(_same_flavor, _RESIZE),
    _Check(_smaller_disk, _RESIZE),
    _Check(_image_of_volume, _REBUILD, until=26),
    _Check(_other_nodes, _REBUILD),
    _Check(_power_state, _LIVE),
    _Check(_source_down, _LIVE),
    _Check(_pci_device, _LIVE, until=31),
)


# The move that a server needs, and the hosts that could take it.


# The move that a server's state suggests.


class Because(enum.Enum):
    """Why a move was chosen; the values are those of documents."""

    ASKED = "asked for"
    """The user named it."""

    HOST_DOWN = "host down"
    """nova-compute on the server's host is down."""

    OFFLOADED = "offloaded"
    """The server is shelved, and on no host."""

    STATE = "state"
    """Its state allows a live migration, or does not."""


#: The states in which nova-api allows a live migration.
LIVE = frozenset(["active", "paused"])
SHELVED, OFFLOADED = "shelved", "shelved_offloaded"


def due(state: ServerState, is_up: bool | None) -> tuple[MoveKind, Because]:
    """The move that takes a server off its host, or back to one, and why.

    :param is_up: the nova-compute on its host is up; None if unknown
    """
    if state.vm_state == OFFLOADED:
        return MoveKind.UNSHELVE, Because.OFFLOADED
    if state.host and is_up is False:
        return MoveKind.EVACUATION, Because.HOST_DOWN
    if state.vm_state in LIVE:
        return MoveKind.LIVE_MIGRATION, Because.STATE
    return MoveKind.MIGRATION, Because.STATE


# A rebuild: only the server's own host can take the image.


@dataclasses.dataclass(frozen=True)
class Rebuild:
    """Nova's answer about another image for a server on its host.

    :ivar is_asked: nova-scheduler is asked, which is so only for another image
    :ivar forbidden: traits of the image that the flavor forbids
    :ivar missing: traits of the image that no provider of the server has
    :ivar refusal: of flavor and image
    """

    host: Compute
    is_asked: bool = True
    filtering: Filtering = dataclasses.field(default_factory=Filtering)
    forbidden: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    refusal: Refusal | None = None

    @property
    def can(self) -> Answer:
        """Whether the host takes the image."""
        if self.refusal is not None or self.forbidden or self.missing:
            return Answer.NO
        answers = [answer for _, answer in self.filtering.answers(self.host.uuid)]
        if any(isinstance(each, (Fails, Raises)) for each in answers):
            return Answer.NO
        return (
            Answer.UNKNOWN
            if any(isinstance(a, Unknown) for a in answers)
            else Answer.YES
        )


def rebuild(
    question: Question, host: Compute, traits: Iterable[str], has_image: bool
) -> Rebuild:
    """Judge another image for a server on its host.

    Only some filters judge a rebuild (nova/scheduler/filters/__init__.py,
    ``RUN_ON_REBUILD``). Placement is not asked: the conductor compares the image's
    traits (nova/conductor/manager.py, ``_validate_image_traits_for_rebuild``).

    :param question: with the new image
    :param traits: of all providers that the server uses
    :param has_image: the server has that image already
    """
    try:
        found = filtering(question, [host])
    except Refusal as refusal:
        return Rebuild(host, not has_image, refusal=refusal)
    if has_image:
        return Rebuild(host, is_asked=False)
    wanted = required_by_image(question.image_properties())
    forbidden = wanted & _forbidden(question.flavor.get("extra_specs") or {})
    missing = wanted - frozenset(traits)
    return Rebuild(
        host,
        filtering=found,
        forbidden=tuple(sorted(forbidden)),
        missing=tuple(sorted(missing)),
    )


def _forbidden(specs: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(
        key.partition(":")[2]
        for key, value in specs.items()
        if key.startswith("trait") and value == "forbidden"
    )


# The answer about destinations.


@dataclasses.dataclass(frozen=True)
class Destinations:
    """A server's possible destinations, and the objections to its move.

    :ivar minor: of the compute API with which the server was read
    :ivar refusals: of the move, independent of hosts
    :ivar ignored: the service host that Nova leaves out; empty for none
    :ivar hidden: what no API shows and decides on the move, as a sentence
    :ivar has_refused_image: its last rebuild failed, and nova-api keeps that image in
        its request (nova/compute/api.py, ``rebuild``)
    :ivar explanation: None for a rebuild, as ``rebuild`` for all other moves
    """

    state: ServerState
    minor: int
    kind: MoveKind
    because: Because
    parts: tuple[Part, ...]
    explanation: Explanation | None = None
    rebuild: Rebuild | None = None
    refusals: tuple[MoveRefusal, ...] = ()
    ignored: str = ""
    hidden: str = ""
    has_refused_image: bool = False

    @property
    def judgement(self) -> RequestResult | None:
        """The judgement of the explanation."""
        return self.explanation.judgement if self.explanation else None

    @property
    def reason(self) -> Reason | None:
        """Why that is the answer, in one word; None for a rebuild that is accepted."""
        if self.refusals or (self.rebuild and self.rebuild.refusal):
            return Reason.REJECTED
        found = self.judgement
        reason = found.reason if found else None
        is_unsure = reason is Reason.FITS and self.is_open
        return Reason.UNKNOWN if is_unsure else reason

    @property
    def can_be_rebuilt(self) -> Answer:
        """Whether its host takes the image; unknown if Nova does not list the host."""
        return self.rebuild.can if self.rebuild else Answer.UNKNOWN

    @property
    def is_image_gone(self) -> bool:
        """Whether its image is deleted, and what that requires decides on a move."""
        return self.rebuild is None and is_image_gone(self.parts)

    @property
    def is_open(self) -> bool:
        """Whether something that no API shows decides on the move."""
        return self.is_image_gone or bool(self.hidden)

    @property
    def hosts(self) -> tuple[tuple[str, Answer], ...]:
        """Each host, and whether it could take the server, by name."""
        if self.rebuild is not None:
            return ((self.rebuild.host.node, self.rebuild.can),)
        found = self.judgement
        if not isinstance(found, Judgement):
            return ()
        hosts = ((host.name, found.answer_of(host.uuid)) for host in found.hosts)
        if not self.is_open:
            return tuple(hosts)
        return tuple(
            (name, can if can is Answer.NO else Answer.UNKNOWN) for name, can in hosts
        )
