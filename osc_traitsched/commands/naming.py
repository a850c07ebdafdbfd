"""What names a cloud, so that what was planned for one is not done to another."""

from __future__ import annotations

from typing import Any


def name_of(sdk: Any) -> str:
    """Return where writes to Placement go, and the catalog's ID of that endpoint.

    The address alone names no cloud: those that are built alike have the same internal
    ones. Keystone makes the ID; without a catalog there is none. Nothing is asked of
    Placement.

    :param sdk: an openstacksdk connection
    """
    session = sdk.config.get_session()
    wanted = {
        "service_type": "placement",
        "interface": sdk.config.get_interface("placement"),
        "region_name": sdk.config.get_region_name("placement"),
    }
    address = sdk.config.get_endpoint("placement") or session.get_endpoint(**wanted)
    # Who logs in without a Keystone has no catalog.
    get_access = getattr(session.auth, "get_access", None)
    catalog = get_access(session).service_catalog if get_access else None
    found = catalog.get_endpoint_data_list(**wanted) if catalog else ()
    parts = [str(address or "").rstrip("/"), *(each.endpoint_id for each in found[:1])]
    return " ".join(filter(None, parts))
