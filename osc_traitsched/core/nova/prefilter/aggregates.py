"""The prefilters that look at aggregates: by project, by zone, by trait.

nova/scheduler/request_filter.py, in the functions of the same names. What they look for
is compared by the database, but for the beginning of a project's key.
"""

from __future__ import annotations

from collections.abc import Iterator

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.inventory.trait_keys import isolating_keys, key_of
from osc_traitsched.core.inventory.zones import ZONE_KEY
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import MemberOf, Trait
from osc_traitsched.core.nova.server import not_evaluated, translation
from osc_traitsched.core.nova.server.adding import Found, SoFar
from osc_traitsched.core.nova.server.not_evaluated import NotEvaluated
from osc_traitsched.core.nova.server.server import Server
from osc_traitsched.core.nova.settings import SchedulerSettings


def require_tenant_aggregate(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Restrict a project to the aggregates that name it.

    An aggregate names one project in each key that begins with
    ``filter_tenant_id``.
    """
    if server.project_id is None:
        yield NotEvaluated(not_evaluated.PROJECT, "project_id")
        return
    equal = assumptions.collation.equal
    origins, uuids = [], set()
    for aggregate in server.aggregates:
        for key, value in aggregate.metadata.items():
            if key.startswith(TENANT_KEY) and equal(value, server.project_id):
                origins.append(aggregate.origin(key))
                uuids.add(aggregate.uuid)
    if uuids:
        yield MemberOf(frozenset(uuids), False, tuple(origins))
    elif assumptions.value(options.TENANT_REQUIRED):
        raise Refusal("RequestFilterFailed", "tenant-without-aggregate", ())
    else:
        yield NotEvaluated(not_evaluated.TENANT, server.project_id)


def map_az_to_placement_aggregate(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Restrict the request to its availability zone's aggregates.

    A zone that no aggregate names restricts nothing here.
    """
    zone = server.zone
    if not zone:
        return
    equal = assumptions.collation.equal
    found = [
        (aggregate, key)
        for aggregate in server.aggregates
        for key, value in aggregate.metadata.items()
        if equal(key, ZONE_KEY) and equal(value, zone)
    ]
    if found:
        uuids = frozenset(aggregate.uuid for aggregate, _ in found)
        yield MemberOf(uuids, False, tuple(a.origin(key) for a, key in found))
    else:
        yield NotEvaluated(not_evaluated.ZONE, zone)


def isolate_aggregates(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Leave out each aggregate that is for traits the request does not require.

    The request's own traits count, in whichever group, those that its flavor and
    image are translated to included; traits required of the root do not.
    """
    asked = translation.translate(server, so_far).clauses
    required = (c.name for c in asked if isinstance(c, Trait) and not c.forbidden)
    collation = assumptions.collation
    own = {collation.folded(key_of(name)) for name in required}
    for aggregate in server.aggregates:
        keys = isolating_keys(aggregate.metadata, collation)
        missing = [key for key in keys if collation.folded(key) not in own]
        if missing:
            origins = tuple(aggregate.origin(key) for key in missing)
            yield MemberOf(frozenset({aggregate.uuid}), True, origins)
