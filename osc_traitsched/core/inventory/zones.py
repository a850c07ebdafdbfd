"""The key by which a host aggregate is an availability zone."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.core.inventory.collation import Collation

ZONE_KEY = "availability_zone"


def zone_in(metadata: Mapping[str, str], collation: Collation) -> str | None:
    """Return the zone that an aggregate makes, if any.

    Nova has the database look for the key (nova/objects/aggregate.py,
    ``_get_by_metadata_from_db``).
    """
    zones = (zone for key, zone in metadata.items() if collation.equal(key, ZONE_KEY))
    return next(zones, None)
