"""What a cloud is like, as a file could want it."""

from __future__ import annotations

import dataclasses

from osc_traitsched.app.wanted.reading import read_cloud, with_mirror
from osc_traitsched.cloud import lookup
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.inventory.metadata import Collation
from osc_traitsched.core.nova.images import public_or_own
from osc_traitsched.core.wanted.export import Export, export_of


def export_wanted(cloud: Cloud, collation: Collation) -> Export:
    """Return what an operator could have wanted of a cloud.

    :param collation: how Nova's database compares the metadata of aggregates
    :raises CloudBroke: when a service can't be read
    """
    images = public_or_own(lookup.images(cloud, {}), cloud.own_project)
    found = with_mirror(cloud, read_cloud(cloud, ()))
    return export_of(dataclasses.replace(found, images=images, collation=collation))
