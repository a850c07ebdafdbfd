"""Reads a cloud before traits are changed: few requests."""

from __future__ import annotations

from collections.abc import Iterable

from osc_traitsched.cloud import lookup, read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.change.cloud_model import CloudModel
from osc_traitsched.core.inventory.snapshot import Snapshot
from osc_traitsched.core.nova.question import Body


def cloud_state(
    cloud: Cloud,
    snapshot: Snapshot,
    flavors: Iterable[Body],
    traits: frozenset[str],
) -> CloudModel:
    """Read what else decides which hosts some flavors can use.

    :param snapshot: all providers
    :param traits: all names that Placement knows
    :raises CloudBroke: when Nova or Placement can't be read
    """
    bodies = read.aggregates(cloud.compute)
    nova = read.view(lookup.computes(cloud), bodies)
    return CloudModel(
        snapshot=snapshot.with_nova(nova),
        aggregates=bodies,
        flavors=tuple(flavors),
        traits=traits,
        classes=read.known_classes(cloud.placement),
    )
