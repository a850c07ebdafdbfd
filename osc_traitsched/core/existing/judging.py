"""Each server of a fleet against its own host, and other hosts for the misplaced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.existing.fleet import Circles, Fleet, Resident
from osc_traitsched.core.existing.misplaced import (
    Destination,
    Elsewhere,
    Fit,
    OwnHosts,
    Verdict,
    host_not_listed,
)
from osc_traitsched.core.existing.placed import Placed
from osc_traitsched.core.existing.wish import Refused, Wish, Wishes
from osc_traitsched.core.inventory.snapshot import Compute


class Judging:
    """Knows of each server of a fleet its wish, its host, and its company.

    :param computes: Nova's compute nodes, of those that have a provider
    """

    def __init__(
        self,
        fleet: Fleet,
        wishes: Wishes,
        circles: Circles,
        computes: Iterable[Compute],
    ) -> None:
        self._fleet, self._circles = fleet, circles
        self._wishes = {
            (kind, project): wishes.wish(fleet.kinds[kind], project)
            for kind, project in {(r.kind, r.project) for r in fleet.residents}
        }
        self._roots = _roots(computes)

    @property
    def wishes(self) -> tuple[Wish, ...]:
        """All of them, each once."""
        return tuple(dict.fromkeys(self._wishes.values()))

    def wish(self, server: Resident) -> Wish:
        """Return what a server was asked for with."""
        return self._wishes[server.kind, server.project]

    def root(self, server: Resident) -> str | None:
        """Return the UUID of the provider of a server's host; None if not known."""
        return self._roots.get((server.host, server.node))

    def in_question(self, own: OwnHosts) -> Iterator[Placed]:
        """Yield the servers that are misplaced, or of which that is not known."""
        for server in self._fleet.residents:
            verdict = self._verdict(server, own)
            if verdict.answer is not Fit.FINE:
                yield Placed(server, verdict)

    def _verdict(self, server: Resident, own: OwnHosts) -> Verdict:
        root = self.root(server)
        if root is None:
            return Verdict((host_not_listed(server.host),))
        return own.verdict(self.wish(server), root, self._circles.company(server))

    def with_destinations(
        self, found: Iterable[Placed], elsewhere: Elsewhere
    ) -> Iterator[Placed]:
        """Yield the servers; the misplaced ones with whether there is another host."""
        for each in found:
            if each.verdict.answer is Fit.MISPLACED:
                yield each._replace(destination=self._destination(each, elsewhere))
            else:
                yield each

    def _destination(self, placed: Placed, elsewhere: Elsewhere) -> Destination:
        if any(isinstance(each, Refused) for each in placed.verdict.reasons):
            return Destination.NO
        server = placed.server
        company = self._circles.company(server)
        if company is not None:
            company = company.with_itself(server.host)
        return elsewhere.destination(self.wish(server), self.root(server), company)


def _roots(computes: Iterable[Compute]) -> Mapping[tuple[str, str], str]:
    """Return the UUIDs of nodes by their hosts and names; by hosts alone, too."""
    computes = tuple(computes)
    alone = {(each.service_host, ""): each.uuid for each in computes}
    return {**alone, **{(e.service_host, e.node): e.uuid for e in computes}}
