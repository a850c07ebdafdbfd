"""The move that a server needs, and the hosts that could take it."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Mapping
from typing import Any

from osc_traitsched.core.answer import Answer, Reason
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.metadata import required_by_image
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.judge.explanation import Explanation
from osc_traitsched.core.judge.filtering import Filtering, filtering
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.nova.clause import Condition, Resource
from osc_traitsched.core.nova.filter.state import Fails, Raises, Unknown
from osc_traitsched.core.nova.question import MoveKind, Question
from osc_traitsched.core.servers.demand import is_by_evidence
from osc_traitsched.core.servers.parts import Part, is_image_gone
from osc_traitsched.core.servers.state import MoveRefusal, ServerState

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
    def judgement(self) -> Judgement | None:
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
        if found is None:
            return ()
        hosts = ((host.name, found.answer_of(host.uuid)) for host in found.hosts)
        if not self.is_open:
            return tuple(hosts)
        return tuple(
            (name, can if can is Answer.NO else Answer.UNKNOWN) for name, can in hosts
        )


def of_own_host(found: Judgement, node: str) -> tuple[Answer, tuple[Condition, ...]]:
    """Whether the scheduler would choose a server's host today, and why not.

    Room is not judged: the server has it. If only options by evidence forbid the host,
    that is unknown, and they are the reasons.

    :param node: the server's compute node
    """
    host = next((each for each in found.hosts if each.name == node), None)
    if host is None or found.refusal is not None:
        return Answer.UNKNOWN, ()
    rejection = found.rejection_by_clauses(host)
    if rejection is not None and not found.is_candidate(host):
        sets: list[list[Condition]] = [
            [each for each in clauses if not isinstance(each, Resource)]
            for clauses in rejection.correction_sets
        ]
        if all(sets):
            settings = found.question.assumptions
            doubtful = [s for s in sets if all(is_by_evidence(c, settings) for c in s)]
            fewest = min(doubtful or sets, key=len)
            return Answer.UNKNOWN if doubtful else Answer.NO, tuple(fewest)
    elif not found.is_candidate(host):
        return Answer.UNKNOWN, ()
    return (Answer.UNKNOWN if found.filtering.unknown(host.uuid) else Answer.YES), ()
