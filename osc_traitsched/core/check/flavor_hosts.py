"""Which hosts could take a flavor, by itself and with the images that there are."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from osc_traitsched.core.check.builder import Builder, decisive
from osc_traitsched.core.check.demand import Demand, is_certain_of_flavor
from osc_traitsched.core.check.hosts import Hosts
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.question import Body

#: An image that makes a flavor without a CPU policy ask for pinned CPUs.
_PINNING: Body = {"hw_cpu_policy": "dedicated"}


class FlavorHosts:
    """The hosts that could take flavors, be they isolated."""

    def __init__(
        self,
        hosts: Hosts,
        all_hosts: frozenset[str],
        builder: Builder,
        images: Iterable[Demand],
    ) -> None:
        self._hosts = hosts
        self._all_hosts = all_hosts
        self._builder = builder
        self._images = (_PINNING, *_one_of_each_kind(images))
        self._tried_with_any_image = functools.cache(self._try_with_any_image)

    def matching(self, flavor: Demand) -> frozenset[str]:
        """Return the roots of the hosts that could take a flavor.

        With whatever image that does not change the flavor's amounts: see
        :meth:`with_any_image` for the others.
        """
        found = (self._hosts.matching_hosts(request) for request in flavor.requests)
        return frozenset[str]().union(*found)

    def at_most(self, flavor: Demand) -> frozenset[str]:
        """Return the hosts that meet each thing which no image takes from a flavor.

        No other host can take it with whatever image, and it costs little to know.
        """
        both = set(flavor.clauses).intersection(*(r.clauses for r in flavor.requests))
        met = (self._hosts.meeting([c]) for c in both if is_certain_of_flavor(c))
        return self._all_hosts.intersection(*met)

    def with_any_image(self, flavor: Demand) -> frozenset[str]:
        """Return the hosts that could take a flavor with some image or other.

        An image can ask for more amounts, which other providers of a tree give, and
        for pinned CPUs in place of the flavor's.
        """
        return self._tried_with_any_image(flavor)

    def _try_with_any_image(self, flavor: Demand) -> frozenset[str]:
        if not self.at_most(flavor):
            return frozenset()
        changed = (
            self._with_image(flavor.body, image, from_volume)
            for image in self._images
            for from_volume in (False, True)
        )
        return self.matching(flavor).union(*changed)

    def _with_image(
        self, flavor: Body, image: Body, from_volume: bool
    ) -> frozenset[str]:
        try:
            request = self._builder.request(flavor, image, from_volume)
        except Refusal:
            return frozenset()
        return self._hosts.matching_hosts(request)


def _one_of_each_kind(images: Iterable[Demand]) -> tuple[Body, ...]:
    """Return one image of each kind that may change a flavor's amounts."""
    found = (each.body for each in images if each.shifts)
    return tuple({repr(decisive(body)): body for body in found}.values())
