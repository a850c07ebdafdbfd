"""Answers that have the traits and figures of very many providers at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from osc_traitsched.cloud import rest
from osc_traitsched.cloud.service import Service
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.placement.facts import Stock

#: One unit of the first is free on nearly every host, and the answer then has the
#: traits of the host's whole tree. Hosts full of servers have some disk left.
_FIRST, *_NEXT = "VCPU", "MEMORY_MB", "DISK_GB"

#: Up to this many providers are asked one at a time: cheaper for the server than
#: answering for the whole cloud at once.
FEW = 8

#: Of an answer with candidates. A large cloud has very many traits in it, which
#: are not looked at one at a time.
SHAPE: rest.Shape = {
    "provider_summaries": {
        str: {
            "traits": list,
            "resources": {str: {"capacity": int, "used": int}},
            "root_provider_uuid": str,
        }
    },
    "allocation_requests": [{"allocations": {str: {"resources": dict}}}],
}


@dataclasses.dataclass(frozen=True)
class Bulk:
    """Traits and figures of many providers, by UUID.

    :ivar stock: capacity and use by class; not of a provider whose traits were
        read by other means
    """

    traits: dict[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    stock: dict[str, Mapping[str, Stock]] = dataclasses.field(default_factory=dict)

    def add(self, body: Mapping[str, Any]) -> None:
        """Take what an answer with candidates says of every provider in it."""
        for uuid, summary in body["provider_summaries"].items():
            self.traits[uuid] = frozenset(summary["traits"])
            self.stock[uuid] = {
                name: Stock(each["capacity"], each["used"])
                for name, each in summary["resources"].items()
            }

    def add_all(self, placement: Service, providers: Iterable[Provider]) -> None:
        """Read all providers of trees that have one unit free of one of the classes.

        :param providers: those that are wanted; for a few that the first answer
            does not show, none of the others is asked for
        """
        wanted = tuple(providers)
        for resource_class, enough in ((_FIRST, 0), *((each, FEW) for each in _NEXT)):
            if len(self.lacks(wanted)) > enough:
                query = {"resources": f"{resource_class}:1"}
                self.add(rest.get(placement, "/allocation_candidates", SHAPE, query))

    def lacks(self, providers: Iterable[Provider]) -> list[Provider]:
        """Return those of the providers that no answer has shown."""
        return [each for each in providers if each.uuid not in self.traits]
