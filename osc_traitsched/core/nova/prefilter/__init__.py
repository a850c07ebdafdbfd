"""Nova's prefilters: what the scheduler adds to every request before it asks.

nova/scheduler/request_filter.py, ``ALL_REQUEST_FILTERS``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.options import OPTIONS
from osc_traitsched.core.nova.prefilter import (
    aggregates,
    image_metadata,
    networks,
    roots,
)
from osc_traitsched.core.nova.server.adding import Found, SoFar
from osc_traitsched.core.nova.server.not_evaluated import NotEvaluated
from osc_traitsched.core.nova.server.server import Server
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.releases import OLDEST


@dataclasses.dataclass(frozen=True)
class Prefilter:
    """One of Nova's request filters.

    :ivar name: as Nova names it
    :ivar function: from the request so far, the server and the assumptions to
        what it adds; the origins are those that fed it, without itself
    :ivar since: the first release that has it
    :ivar option: the option that switches it on; empty where it always runs
    :ivar image_keys: where it looks at nothing but the image, the keys that it knows
    """

    name: str
    function: Callable[[SoFar, Server, SchedulerSettings], Iterable[Found]]
    since: int = OLDEST
    option: str = ""
    image_keys: tuple[str, ...] = ()

    def option_in(self, release: int) -> str:
        """Return the option, or nothing in a release that does not have it."""
        gone = self.option and release >= OPTIONS[self.option].until
        return "" if gone else self.option

    def is_on(self, assumptions: SchedulerSettings) -> bool:
        """Tell whether it runs in that release with those options."""
        option = self.option_in(assumptions.release)
        exists = assumptions.release >= self.since
        return exists and (not option or bool(assumptions.value(option)))

    def add(
        self, so_far: SoFar, server: Server, assumptions: SchedulerSettings
    ) -> SoFar:
        """Return the request so far with what this one adds.

        :raises Refusal: for a request that it does not let through
        """
        origin = Origin("prefilter", self.name, option=self.option_in(server.release))
        found = self.function(so_far, server, assumptions)
        return so_far.with_all(_come_from(origin, each) for each in found)


def run(server: Server, assumptions: SchedulerSettings) -> SoFar:
    """Return what all prefilters that are on add, in Nova's order.

    :raises Refusal: for a request that one of them does not let through
    """
    so_far = SoFar()
    for prefilter in PREFILTERS:
        if prefilter.is_on(assumptions):
            so_far = prefilter.add(so_far, server, assumptions)
    return so_far


def image_keys(assumptions: SchedulerSettings) -> tuple[str, ...]:
    """Return the keys of images that the prefilters look at which look at images."""
    on = (each for each in PREFILTERS if each.is_on(assumptions))
    return tuple(key for prefilter in on for key in prefilter.image_keys)


def _come_from(origin: Origin, found: Found) -> Found:
    if isinstance(found, NotEvaluated):
        return found
    return dataclasses.replace(found, origins=(origin, *found.origins))


#: In Nova's order.
PREFILTERS: tuple[Prefilter, ...] = (
    Prefilter(
        "require_tenant_aggregate",
        aggregates.require_tenant_aggregate,
        option=options.TENANT,
    ),
    Prefilter(
        "map_az_to_placement_aggregate",
        aggregates.map_az_to_placement_aggregate,
        option=options.AZ_QUERY,
    ),
    Prefilter(
        "require_image_type_support",
        roots.require_image_type_support,
        option=options.IMAGE_TYPE,
        image_keys=("disk_format",),
    ),
    Prefilter("compute_status_filter", roots.compute_status_filter),
    Prefilter(
        "isolate_aggregates", aggregates.isolate_aggregates, option=options.ISOLATION
    ),
    Prefilter(
        "transform_image_metadata",
        image_metadata.transform_image_metadata,
        since=21,
        option=options.IMAGE_METADATA,
        image_keys=image_metadata.KEYS,
    ),
    Prefilter("accelerators_filter", roots.accelerators_filter, since=21),
    Prefilter("packed_virtqueue_filter", roots.packed_virtqueue_filter, since=29),
    Prefilter(
        "routed_networks_filter",
        networks.routed_networks_filter,
        since=23,
        option=options.ROUTED_NETWORKS,
    ),
    Prefilter(
        "remote_managed_ports_filter", networks.remote_managed_ports_filter, since=25
    ),
    Prefilter(
        "ephemeral_encryption_filter", roots.ephemeral_encryption_filter, since=26
    ),
    Prefilter("virtio_sound_filter", roots.virtio_sound_filter, since=32),
    Prefilter("tpm_secret_security_filter", roots.tpm_secret_security_filter, since=33),
    Prefilter("owner_nova_filter", roots.owner_nova_filter, since=34),
)
