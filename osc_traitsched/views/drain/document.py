"""The document of ``host drain``: a plan that empties hosts."""

import collections
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, Optional

from osc_traitsched.core.answer import Reason
from osc_traitsched.core.servers.drain import Drain, Stuck, StuckReason
from osc_traitsched.documents import JsonObject, Whole, field, serialized
from osc_traitsched.paste import Option, line
from osc_traitsched.views.drain import prose
from osc_traitsched.views.terminal import settings_from

Move = Annotated[str, ("live-migration", "migration", "evacuation")]


def _moves(drain: Drain) -> Mapping[str, int]:
    kinds = collections.Counter(step.server_move.kind.value for step in drain.steps)
    return dict(sorted(kinds.items()))


def _first(stuck: Stuck, whole: Whole) -> Optional[str]:
    ending = prose.ending(stuck) if prose.has_way_out(stuck, whole.value) else None
    return None if ending is None else line(ending, whole.options)


class DrainedHost(JsonObject):
    """A host that is emptied."""

    name: str = field(lambda host: host)
    """The service host."""
    nodes: Iterable[str] = field(
        lambda host, whole: [
            node.node for node in whole.value.nodes if node.service_host == host
        ]
    )
    """Its compute nodes."""
    up: bool = field(lambda host, whole: host not in whole.value.down)
    """Its nova-compute is up."""
    enabled: bool = field(lambda host, whole: host in whole.value.enabled)
    """It accepts new servers."""


class DrainedServer(JsonObject):
    """A server of a host, with the sizes of its own copy of the flavor."""

    id: str = field("state.id")
    """Its ID."""
    name: str = field("state.name")
    """Its name."""
    project_id: str = field("state.project")
    """The ID of its project."""
    status: str = field("state.status")
    """Its status in the compute API."""
    host: str = field("state.host")
    """The service host that it leaves."""
    flavor: str = field(lambda move: move.question.flavor["name"])
    """The name of the flavor."""
    vcpus: int = field(lambda move: move.question.flavor["vcpus"])
    """VCPUs."""
    ram: int = field(lambda move: move.question.flavor["ram"])
    """Memory in MB."""
    disk: int = field(lambda move: move.question.flavor["disk"])
    """Disk in GB."""


class DrainStep(JsonObject):
    """One move."""

    server: DrainedServer = field("server_move")
    """The server to move."""
    move: Move = field("server_move.kind")
    """How to move it. ``migration`` is the cold one."""
    host: str = field("to.service_host")
    """The service host that it goes to."""
    node: str = field("to.node")
    """The compute node that it goes to."""
    not_visible_filters: Iterable[str] = field("unknown")
    """Host filters that may reject this host: they read what no API shows. Or
    ``move:hypervisor``, ``availability zone`` or ``image``, if these can't be known:
    a deleted image may have required traits. Or an option that is not known."""
    commands: Iterable[str] = field(
        lambda step, whole: prose.of_step(step, whole.options)
    )
    """Commands to run, in this order."""


class StuckServer(JsonObject):
    """A server that stays."""

    server: DrainedServer = field("server_move")
    """The server."""
    move: Move = field("server_move.kind")
    """How it would have to move."""
    why: StuckReason
    """``rejected``: Nova rejects the move, whatever hosts there are. ``no host``: no
    host could take it, even as the only server to move. ``no room left``: the hosts
    that could take it are full once the others have moved."""
    reason: Reason
    """The same in one word of :ref:`reasons`. The hosts to empty count as disabled."""
    refusals: Iterable[str] = field(
        lambda stuck: [one.reason for one in stuck.server_move.refusals]
    )
    """What rejects the move before nova-scheduler is asked, as the reasons of ``server
    destinations``."""
    text: Iterable[str] = field(lambda stuck, whole: prose.why(stuck, whole.value))
    """Why it stays, in sentences."""
    first: Optional[str] = field(_first)
    """A command that ends the state that keeps it from moving; null for none."""


class NotVisible(JsonObject):
    """Something that no API shows before a move is tried."""

    what: str = field(lambda row: row[0][0])
    """What it is, as ``found_out_later`` of ``server destinations`` names it."""
    text: str = field(lambda row: row[0][1])
    """What it is, in words."""
    servers: int = field(lambda row: row[1])
    """How many servers it concerns."""


class DrainDocument(JsonObject):
    """What ``host drain`` prints."""

    schema: Literal[1]
    """The number of this schema."""
    summary: str = field(prose.summary)
    """The answer in one line."""
    host: DrainedHost = field(lambda drain: drain.hosts[0])
    """The host to empty; of several, the first."""
    hosts: Iterable[DrainedHost]
    """All hosts to empty. None of them is a destination."""
    compute_api: str = field(lambda drain: f"2.{drain.minor}")
    """The microversion of the compute API that the servers were read with."""
    servers: int = field("total")
    """How many servers are on the hosts."""
    moves: dict[Move, int] = field(_moves)
    """How many servers are moved by each kind of move."""
    before: Iterable[str] = field(
        lambda drain, whole: [
            line(one, whole.options) for one in prose.disabling(drain)
        ]
    )
    """Commands to run first."""
    steps: Iterable[DrainStep]
    """The moves, in order."""
    stuck: Iterable[StuckServer]
    """The servers that stay."""
    unconfirmed: Optional[Iterable[str]]
    """The IDs of servers that left the hosts by a cold migration or a resize that is
    not confirmed; null if this user may not see them."""
    remarks: Iterable[str] = field(prose.remarks)
    """What an operator must know, in sentences."""
    not_known: Iterable[str] = field(prose.hidden)
    """What is not known of the requests of the servers."""
    not_visible: Iterable[NotVisible] = field(lambda drain: prose.unseen(drain).items())
    """What no API shows before a move is tried."""
    release: int = field("settings.release")
    """Nova's major version."""
    settings: str = field(lambda drain: settings_from(drain.settings))
    """Where the scheduler's settings are from."""


def document(drain: Drain, options: Sequence[Option] = ()) -> dict[str, Any]:
    """All of the plan as plain lists, mappings, numbers and text."""
    return serialized(DrainDocument, drain, options)
