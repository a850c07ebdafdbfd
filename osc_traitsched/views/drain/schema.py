"""The document of ``host drain``: a plan that empties hosts."""

import dataclasses
from collections.abc import Iterable
from typing import Annotated, Literal, Optional

from osc_traitsched.core.servers.drain import StuckReason

Move = Annotated[str, ("live-migration", "migration", "evacuation")]


@dataclasses.dataclass
class DrainedHost:
    """A host that is emptied."""

    name: str
    """The service host."""
    nodes: Iterable[str]
    """Its compute nodes."""
    up: bool
    """Its nova-compute is up."""
    enabled: bool
    """It accepts new servers."""


@dataclasses.dataclass
class DrainedServer:
    """A server of a host, with the sizes of its own copy of the flavor."""

    id: str
    """Its ID."""
    name: str
    """Its name."""
    project_id: str
    """The ID of its project."""
    status: str
    """Its status in the compute API."""
    host: str
    """The service host that it leaves."""
    flavor: str
    """The name of the flavor."""
    vcpus: int
    """VCPUs."""
    ram: int
    """Memory in MB."""
    disk: int
    """Disk in GB."""


@dataclasses.dataclass
class DrainStep:
    """One move."""

    server: DrainedServer
    """The server to move."""
    move: Move
    """How to move it. ``migration`` is the cold one."""
    host: str
    """The service host that it goes to."""
    node: str
    """The compute node that it goes to."""
    not_visible_filters: Iterable[str]
    """Host filters that may reject this host: they read what no API shows. Or
    ``move:hypervisor``, ``availability zone`` or ``image``, if these can't be known:
    a deleted image may have required traits."""
    commands: Iterable[str]
    """Commands to run, in this order."""


@dataclasses.dataclass
class StuckServer:
    """A server that stays."""

    server: DrainedServer
    """The server."""
    move: Move
    """How it would have to move."""
    why: StuckReason
    """``refused``: Nova rejects the move, whatever hosts there are. ``no host``: no
    host could take it, even as the only server to move. ``no room left``: the hosts
    that could take it are full once the others have moved."""
    refusals: Iterable[str]
    """What rejects the move before nova-scheduler is asked, as the reasons of ``server
    destinations``."""
    text: Iterable[str]
    """Why it stays, in sentences."""
    first: Optional[str]
    """A command that ends the state that keeps it from moving; null for none."""


@dataclasses.dataclass
class NotVisible:
    """Something that no API shows before a move is tried."""

    what: str
    """What it is, as ``found_out_later`` of ``server destinations`` names it."""
    text: str
    """What it is, in words."""
    servers: int
    """How many servers it concerns."""


@dataclasses.dataclass
class DrainDocument:
    """What ``host drain`` prints."""

    schema: Literal[1]
    """The number of this schema."""
    summary: str
    """The answer in one line."""
    host: DrainedHost
    """The host to empty; of several, the first."""
    hosts: Iterable[DrainedHost]
    """All hosts to empty. None of them is a destination."""
    compute_api: str
    """The microversion of the compute API that the servers were read with."""
    servers: int
    """How many servers are on the hosts."""
    moves: dict[Move, int]
    """How many servers are moved by each kind of move."""
    before: Iterable[str]
    """Commands to run first."""
    steps: Iterable[DrainStep]
    """The moves, in order."""
    stuck: Iterable[StuckServer]
    """The servers that stay."""
    unconfirmed: Optional[Iterable[str]]
    """The IDs of servers that left the hosts by a cold migration or a resize that is
    not confirmed; null if this user may not see them."""
    remarks: Iterable[str]
    """What an operator must know, in sentences."""
    not_known: Iterable[str]
    """What is not known of the requests of the servers."""
    not_visible: Iterable[NotVisible]
    """What no API shows before a move is tried."""
    release: int
    """Nova's major version."""
    settings: str
    """Where the scheduler's settings are from."""
