"""What nova-api refuses of an availability zone, which only the cloud can tell."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.names import near_names


def zone_refusal(zone: str, zones: Mapping[str, bool]) -> Refusal | None:
    """Return what nova-api says of a zone, or None if it takes it.

    A zone without one enabled nova-compute is not available, as one that is not
    there (nova/compute/api.py, ``_validate_and_build_base_options``).

    :param zones: the names of all zones, and whether each is available
    """
    if zones.get(zone):
        return None
    reason = "no-enabled-nova-compute-in-the-zone"
    near = () if zone in zones else near_names(zone, zones)
    return Refusal("InvalidRequest", reason, (zone,), "api", 400, near)
