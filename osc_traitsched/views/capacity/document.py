"""The document of ``capacity``, and its numbers as Prometheus metrics."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, Optional

from osc_traitsched.core.answer import Reason
from osc_traitsched.core.placement.facts import Room
from osc_traitsched.core.servers.usage import Capacity
from osc_traitsched.documents import JsonObject, field, serialized
from osc_traitsched.views import prometheus
from osc_traitsched.views.capacity import prose
from osc_traitsched.views.drain import prose as drain_prose
from osc_traitsched.views.explain import by_flavor
from osc_traitsched.views.explain.schema import Flavor, Image
from osc_traitsched.views.prometheus import Gauge


def _image(capacity: Capacity) -> Optional[Mapping[str, Any]]:
    judgements = (*(fit.judgement for fit in capacity.flavors), *capacity.rejected)
    return next((one.question.image or None for one in judgements), None)


class ServerRange(JsonObject):
    """A number of servers; exact if both are equal."""

    min: int = field("least")
    """So many are sure."""
    max: int = field("most")
    """More are impossible."""


class GroupFit(JsonObject):
    """Room in a zone, in an aggregate, or on a host."""

    hosts: int = field(lambda group: group[0])
    """The hosts with room."""
    servers: ServerRange = field(lambda group: group[1])
    """The servers that fit on them."""
    suitable_hosts: int = field(lambda group: group[2])
    """The hosts with room, or that would have room if they were empty."""


class KeptAwayFit(JsonObject):
    """Hosts with room that fail one condition of the flavor."""

    condition: str = field(lambda pair: prose.condition(*pair))
    """What is wrong with them, in words."""
    hosts: Iterable[str] = field(lambda pair: pair[0].hosts)
    """Their names."""
    servers: int = field(lambda pair: pair[0].servers)
    """The most servers that would fit on them."""


class FlavorCapacity(JsonObject):
    """How many more servers of a flavor fit. Never add the numbers of several flavors:
    they compete for the same hosts.
    """

    flavor: Flavor = field("judgement.question.flavor")
    """The flavor."""
    reason: Reason = field("judgement.reason")
    """Why a server fits now or none, in one word of :ref:`reasons`."""
    servers: ServerRange = field("room")
    """The servers that fit now."""
    hosts: int = field(lambda fit: len(fit.hosts))
    """The hosts with room."""
    most_on_one_host: int = field("largest")
    """The most servers on one host."""
    total_hosts: int = field("judgement.total_hosts")
    """How many hosts were judged."""
    first_short: Optional[str] = field(lambda fit: fit.limit or None)
    """The resource class that runs out first on most of these hosts; null without
    hosts."""
    may_reject: Iterable[str] = field("deciding")
    """Host filters that may reject more than is known, since they read what no API
    shows."""
    if_empty: ServerRange = field("empty")
    """The servers that all suitable hosts would hold if nothing were in use."""
    after: Optional[ServerRange]
    """The servers that fit after the change; null without ``--without``,
    ``--with`` and ``--set-then``."""
    groups: dict[str, GroupFit]
    """Room by zone, by aggregate, or by host with room, as ``--by`` asks; empty without
    it. Never add them: a host can be in several aggregates, and hosts can share a pool.
    """
    kept_away: Iterable[KeptAwayFit] = field(
        lambda fit: [(kept, fit.judgement) for kept in fit.kept_away]
    )
    """Room on hosts that fail one condition only, the most servers first."""
    reasons: Iterable[str] = field(lambda fit: by_flavor.reasons(fit.judgement))
    """Why the other hosts are out, each counted once."""


class RejectedFlavor(JsonObject):
    """A flavor that Nova or Placement rejects."""

    flavor: Flavor = field("question.flavor")
    """The flavor."""
    reason: str = field(by_flavor.rejected)
    """Why."""


class StrandedAmounts(JsonObject):
    """Free amounts of hosts that no flavor of the answer fits."""

    short: Iterable[str]
    """The resource classes that run short there."""
    hosts: Iterable[str]
    """The hosts, by name."""
    free: dict[str, int]
    """What is free there of the other classes."""


class LostHosts(JsonObject):
    """The hosts of ``--without``, and what runs there."""

    hosts: Iterable[str] = field("removed")
    """Their compute nodes, by name."""
    summary: str = field(lambda capacity: drain_prose.summary(capacity.drain))
    """Whether their servers fit elsewhere, in words."""
    servers: int = field("drain.total")
    """The servers on them."""
    fit_elsewhere: int = field(lambda capacity: len(capacity.drain.steps))
    """Those of them that have a new host."""


class CapacityDocument(JsonObject):
    """What ``capacity`` prints."""

    schema: Literal[1]
    """The version of the document."""
    summary: str = field(prose.summary)
    """The answer in one line."""
    image: Optional[Image] = field(_image)
    """The image; null without one."""
    by: Optional[Annotated[str, ("zone", "aggregate", "host")]] = field("query.by")
    """How ``groups`` are divided; null without ``--by``."""
    flavors: Iterable[FlavorCapacity]
    """The flavors, by name."""
    rejected: Iterable[RejectedFlavor]
    """Flavors that no host is tried for, by name."""
    stranded: Iterable[StrandedAmounts]
    """Free amounts that none of these flavors can use, the most hosts first."""
    lost: Optional[LostHosts] = field(
        lambda capacity: capacity if capacity.drain else None
    )
    """The hosts that are taken away; null without ``--without``."""
    added: dict[str, int] = field(lambda capacity: dict(capacity.query.added))
    """How many more hosts like a host, by its name."""
    set_then: Iterable[str] = field("query.set_then")
    """The settings of ``--set-then``."""
    unread_hosts: int = field("empty_unread")
    """Full hosts whose capacity was not read: ``if_empty`` lacks them."""


def document(capacity: Capacity) -> dict[str, Any]:
    """All numbers as plain lists, mappings, numbers and text."""
    return serialized(CapacityDocument, capacity)


# The numbers as Prometheus' metrics.


def metrics(found: Capacity) -> str:
    """Gauges by flavor, and by zone, aggregate or host if asked for."""
    gauges = {
        "servers": "The most servers of the flavor that still fit.",
        "servers_sure": "Servers of the flavor that certainly still fit.",
    }
    if not found.is_change:
        gauges["hosts"] = "Hosts with room for a server of the flavor."
    if found.query.by is None:
        gauges["servers_if_empty"] = "Servers of the flavor that an empty cloud holds."
    samples = list(_samples(found))
    judgements = (*(fit.judgement for fit in found.flavors), *found.rejected)
    reasons = [
        ({"flavor": each.question.flavor["name"], "reason": each.reason.value}, 1)
        for each in judgements
    ]
    return prometheus.text(
        [
            *(
                Gauge(
                    f"capacity_{name}",
                    text,
                    [(labels, values[name]) for labels, values in samples],
                )
                for name, text in gauges.items()
            ),
            Gauge(
                "capacity_reason", "Why a server of the flavor fits or none.", reasons
            ),
        ]
    )


def rows(found: Capacity) -> str:
    """A row for each flavor, or each of its groups, as CSV; without the last newline.

    The columns are the labels and gauges of :func:`metrics`, and what runs out first.
    """
    limits = {fit.name: fit.limit for fit in found.flavors}
    samples = [
        {**labels, **values, "first_short": limits.get(labels["flavor"], "")}
        for labels, values in _samples(found)
    ]
    text, none = io.StringIO(), Room(0, 0)
    groups = filter(None, [found.query.by])
    columns = ("flavor", *groups, *_values(0, none, none), "first_short")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(samples)
    return text.getvalue().removesuffix("\n")


def _samples(found: Capacity) -> Iterator[tuple[Mapping[str, str], Mapping[str, int]]]:
    by, none = found.query.by, Room(0, 0)
    for fit in found.flavors:
        flavor, room = {"flavor": fit.name}, fit.after or fit.room
        if by is None:
            yield flavor, _values(len(fit.hosts), room, fit.empty)
        for name, (hosts, inside, _) in fit.groups.items():
            yield {**flavor, by or "": name}, _values(hosts, inside, none)
    for each in found.rejected if by is None else ():
        yield {"flavor": each.question.flavor["name"]}, _values(0, none, none)


def _values(hosts: int, room: Room, empty: Room) -> Mapping[str, int]:
    return {
        "servers": room.most,
        "servers_sure": room.least,
        "hosts": hosts,
        "servers_if_empty": empty.most,
    }
