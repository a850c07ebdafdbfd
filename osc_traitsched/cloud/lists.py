"""Lists of the services, whole: page by page to the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from osc_traitsched.cloud import rest
from osc_traitsched.cloud.service import Service
from osc_traitsched.core import errors

_NO_PARAMS: Mapping[str, str] = {}


def pages(
    service: Service,
    path: str,
    key: str,
    shape: Mapping[str, rest.Shape],
    params: Mapping[str, str] = _NO_PARAMS,
    microversion: str | None = None,
) -> Iterator[Any]:
    """Yield the items of a list of Nova or Glance; it ends with an empty page.

    A page without a link to a next one may not be the last: Nova leaves hypervisors
    out after it has cut a page, and gives a link with a full page only
    (nova/api/openstack/compute/hypervisors.py, ``_get_hypervisors``; common.py,
    ``_get_collection_links``). A page of which it leaves out everything ends
    the list early: ``Snapshot.unlisted`` is what shows that.

    :param key: what the answer has the items under
    :param shape: of an item; its ``id`` is the marker
    :param microversion: as for ``Service.get``
    :raises CloudBroke: when the list can't be read, or the service does not go on
    """
    seen: set[str] = set()
    marker: dict[str, str] = {}
    whole = {key: [{"id": str, **shape}]}
    while found := rest.get(service, path, whole, {**params, **marker}, microversion)[
        key
    ]:
        fresh = [each for each in found if each["id"] not in seen]
        if not fresh:
            reason = f"gives the same page of {path} again and again"
            raise errors.CloudBroke(service.service_type, reason)
        yield from fresh
        seen.update(each["id"] for each in fresh)
        marker = {"marker": found[-1]["id"]}
