"""A weigher, the weights that it gives to hosts, and what has to be assumed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from osc_traitsched.core.nova.filter.state import HostState, RequestSpec
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.releases import NEWEST, OLDEST

#: What is taken to be so: no host has any of it,
NONE = "none"
#: it is the same on all hosts,
ALIKE = "alike"
#: every host reports it, since the scheduler raises otherwise, and it is the same,
REPORTED = "reported"
#: each task under way is one of those that count as I/O, and no build of the last
#: minute still does,
ALL_IO = "all-io"
#: it is the release's default,
DEFAULT = "default"
#: it is zero,
ZERO = "zero"
#: it decides about a weight that is the same on all hosts,
UNSEEN = "unseen"
#: filters leave no two hosts of which the weigher raises at one,
NOT_RAISING = "not-raising"
#: there was no request since nova-scheduler started.
FIRST_REQUEST = "first-request"


@dataclasses.dataclass(frozen=True)
class Assumption:
    """What a ranking takes to be so, since no API shows it.

    :ivar weigher: Nova's name of the weigher; empty for what is about all of them
    :ivar missing: what is not shown, under Nova's name: ``failed_builds``
    :ivar taken: what it is taken to be, one of the words of this module
    :ivar hosts: the UUIDs of the nodes that it is about; empty for all
    """

    weigher: str
    missing: str
    taken: str
    hosts: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class Weights:
    """Raw weights, one for each host in the hosts' order; more is better.

    :ivar assumed: what they are true under; the weigher's name is left out
    """

    raw: Sequence[float]
    assumed: Assumption | None = None


Weigh = Callable[[Sequence[HostState], RequestSpec, SchedulerSettings], Weights]


@dataclasses.dataclass(frozen=True)
class Weigher:
    """One of Nova's own weighers.

    :ivar name: the class in Nova, in a module of nova/scheduler/weights
    :ivar module: that module's name
    :ivar option: the option that has its multiplier
    :ivar minimum: what lower weights count as, and what is normalized to 0; without
        it that is the lowest weight of the hosts
    :ivar is_negated: the multiplier is taken with the other sign
    :ivar since: the first release that has it
    :ivar until: the first release that does not have it any more
    """

    name: str
    module: str
    weigh: Weigh
    option: str
    minimum: float | None = None
    is_negated: bool = False
    since: int = OLDEST
    until: int = NEWEST + 1

    @property
    def path(self) -> str:
        """The class as ``weight_classes`` names it."""
        return f"nova.scheduler.weights.{self.module}.{self.name}"

    @property
    def aggregate_key(self) -> str:
        """The key of aggregates' metadata that overrides the option."""
        section, _, key = self.option.rpartition(".")
        return f"metrics_{key}" if section == "metrics" else key

    def is_in(self, release: int) -> bool:
        """Tell whether a release has the weigher."""
        return self.since <= release < self.until
