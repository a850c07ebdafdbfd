"""How many more servers fit, as a document and as Prometheus metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from osc_traitsched.core.explain.capacity import FlavorFit
from osc_traitsched.core.explain.judgement import Judgement
from osc_traitsched.core.placement.facts import Room
from osc_traitsched.core.servers.capacity import Capacity
from osc_traitsched.documents import plain
from osc_traitsched.views.capacity import prose, schema
from osc_traitsched.views.drain import prose as drain_prose
from osc_traitsched.views.explain import by_flavor
from osc_traitsched.views.explain.schema import Flavor, Image


def document(found: Capacity) -> dict[str, Any]:
    """All numbers as plain lists, mappings, numbers and text."""
    image = _image(found)
    whole = schema.CapacityDocument(
        schema=1,
        summary=prose.summary(found),
        image=Image(image.get("id"), image.get("name")) if image else None,
        by=found.query.by,
        flavors=[_flavor(each) for each in found.flavors],
        rejected=[
            schema.RejectedFlavor(_name(each), by_flavor.rejected(each))
            for each in found.rejected
        ],
        stranded=[
            schema.StrandedAmounts(each.short, each.hosts, dict(each.free))
            for each in found.stranded
        ],
        lost=_lost(found),
        added=dict(found.query.added),
        unread_hosts=found.empty_unread,
    )
    return dict(plain(whole))


def _image(found: Capacity) -> Mapping[str, Any]:
    every = (*(each.judgement for each in found.flavors), *found.rejected)
    return next((each.question.image or {} for each in every), {})


def _name(found: Judgement) -> Flavor:
    flavor = found.question.flavor
    return Flavor(flavor.get("id"), flavor["name"])


def _range(room: Room) -> schema.ServerRange:
    return schema.ServerRange(room.least, room.most)


def _flavor(fit: FlavorFit) -> schema.FlavorCapacity:
    return schema.FlavorCapacity(
        flavor=_name(fit.judgement),
        servers=_range(fit.room),
        hosts=len(fit.hosts),
        most_on_one_host=fit.largest,
        total_hosts=fit.judgement.total_hosts,
        first_short=fit.limit or None,
        may_reject=fit.deciding,
        if_empty=_range(fit.empty),
        after=None if fit.after is None else _range(fit.after),
        groups={
            name: schema.GroupFit(hosts, _range(room))
            for name, (hosts, room) in fit.groups.items()
        },
        kept_away=[
            schema.KeptAwayFit(
                prose.condition(each, fit.judgement), each.hosts, each.servers
            )
            for each in fit.kept_away
        ],
        reasons=by_flavor.reasons(fit.judgement),
    )


def _lost(found: Capacity) -> schema.LostHosts | None:
    if found.drain is None:
        return None
    return schema.LostHosts(
        found.removed,
        drain_prose.summary(found.drain),
        found.drain.total,
        len(found.drain.steps),
    )


# Prometheus' text format, for the textfile collector of the node exporter.


_PREFIX = "traitsched_capacity"


def metrics(found: Capacity) -> str:
    """Gauges with their help, without a newline at the end."""
    label = found.query.by
    gauges = {
        "servers": "The most servers of the flavor that still fit.",
        "servers_sure": "Servers of the flavor that certainly still fit.",
    }
    if not found.is_change:
        gauges["hosts"] = "Hosts with room for a server of the flavor."
    if label is None:
        gauges["servers_if_empty"] = "Servers of the flavor that an empty cloud holds."
    lines = []
    for gauge, text in gauges.items():
        lines.append(f"# HELP {_PREFIX}_{gauge} {text}")
        lines.append(f"# TYPE {_PREFIX}_{gauge} gauge")
        for labels, values in _samples(found):
            lines.append(f"{_PREFIX}_{gauge}{{{labels}}} {values[gauge]}")
    return "\n".join(lines)


def _samples(found: Capacity) -> Iterator[tuple[str, Mapping[str, int]]]:
    by, none = found.query.by, Room(0, 0)
    for fit in found.flavors:
        flavor, room = _label("flavor", fit.name), fit.after or fit.room
        if by is None:
            yield flavor, _values(len(fit.hosts), room, fit.empty)
        for name, (hosts, inside) in fit.groups.items():
            yield f"{flavor},{_label(by or '', name)}", _values(hosts, inside, none)
    for each in found.rejected if by is None else ():
        yield _label("flavor", _name(each).name), _values(0, none, none)


def _values(hosts: int, room: Room, empty: Room) -> Mapping[str, int]:
    return {
        "servers": room.most,
        "servers_sure": room.least,
        "hosts": hosts,
        "servers_if_empty": empty.most,
    }


def _label(name: str, value: str) -> str:
    escaped = value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'{name}="{escaped}"'
