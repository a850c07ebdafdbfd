"""The document of ``capacity``: how many more servers of each flavor fit."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal, Optional

from osc_traitsched.views.explain.schema import Flavor, Image


@dataclass
class ServerRange:
    """A number of servers; exact if both are equal."""

    min: int
    """So many are sure."""
    max: int
    """More are impossible."""


@dataclass
class GroupFit:
    """Room in a zone, in an aggregate, or on a host."""

    hosts: int
    """The hosts with room."""
    servers: ServerRange
    """The servers that fit on them."""


@dataclass
class KeptAwayFit:
    """Hosts with room that fail one condition of the flavor."""

    condition: str
    """What is wrong with them, in words."""
    hosts: Iterable[str]
    """Their names."""
    servers: int
    """The most servers that would fit on them."""


@dataclass
class FlavorCapacity:
    """How many more servers of a flavor fit. Never add the numbers of several flavors:
    they compete for the same hosts.
    """

    flavor: Flavor
    """The flavor."""
    servers: ServerRange
    """The servers that fit now."""
    hosts: int
    """The hosts with room."""
    most_on_one_host: int
    """The most servers on one host."""
    total_hosts: int
    """How many hosts were judged."""
    first_short: Optional[str]
    """The resource class that runs out first on most of these hosts; null without
    hosts."""
    may_reject: Iterable[str]
    """Host filters that may reject more than is known, since they read what no API
    shows."""
    if_empty: ServerRange
    """The servers that all suitable hosts would hold if nothing were in use."""
    after: Optional[ServerRange]
    """The servers that fit after the change; null without ``--without`` and
    ``--with``."""
    groups: dict[str, GroupFit]
    """Room by zone, by aggregate, or by host with room, as ``--by`` asks; empty without
    it. Never add them: a host can be in several aggregates, and hosts can share a pool.
    """
    kept_away: Iterable[KeptAwayFit]
    """Room on hosts that fail one condition only, the most servers first."""
    reasons: Iterable[str]
    """Why the other hosts are out, each counted once."""


@dataclass
class RejectedFlavor:
    """A flavor that Nova or Placement rejects."""

    flavor: Flavor
    """The flavor."""
    reason: str
    """Why."""


@dataclass
class StrandedAmounts:
    """Free amounts of hosts that no flavor of the answer fits."""

    short: Iterable[str]
    """The resource classes that run short there."""
    hosts: Iterable[str]
    """The hosts, by name."""
    free: dict[str, int]
    """What is free there of the other classes."""


@dataclass
class LostHosts:
    """The hosts of ``--without``, and what runs there."""

    hosts: Iterable[str]
    """Their compute nodes, by name."""
    summary: str
    """Whether their servers fit elsewhere, in words."""
    servers: int
    """The servers on them."""
    fit_elsewhere: int
    """Those of them that have a new host."""


@dataclass
class CapacityDocument:
    """What ``capacity`` prints."""

    schema: Literal[1]
    """The version of the document."""
    summary: str
    """The answer in one line."""
    image: Optional[Image]
    """The image; null without one."""
    by: Optional[Annotated[str, ("zone", "aggregate", "host")]]
    """How ``groups`` are divided; null without ``--by``."""
    flavors: Iterable[FlavorCapacity]
    """The flavors, by name."""
    rejected: Iterable[RejectedFlavor]
    """Flavors that no host is tried for, by name."""
    stranded: Iterable[StrandedAmounts]
    """Free amounts that none of these flavors can use, the most hosts first."""
    lost: Optional[LostHosts]
    """The hosts that are taken away; null without ``--without``."""
    added: dict[str, int]
    """How many more hosts like a host, by its name."""
    unread_hosts: int
    """Full hosts whose capacity was not read: ``if_empty`` lacks them."""
