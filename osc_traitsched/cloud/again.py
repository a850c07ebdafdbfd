"""Reads again what changes are about; hosts add no requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from osc_traitsched.cloud import memberships, objects, read
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core import errors
from osc_traitsched.core.change.model import Change, Kind, Object, State
from osc_traitsched.core.change.providers import present

#: What is written to Placement and belongs to a provider.
_OF_PROVIDERS = (Kind.PROVIDER_TRAITS, Kind.PROVIDER_AGGREGATES)


def states(cloud: Cloud, changes: Iterable[Change]) -> dict[Object, State | None]:
    """Return what the changes' objects have of the changes' keys; None for one gone.

    Traits as such are not read: none can be deleted while a provider has it.

    :raises CloudBroke: when one of the services can't be read
    """
    changes = [change for change in changes if change.object.id]
    found = dict(_providers(cloud.placement, changes))
    for change in changes:
        if change.object.kind not in (*_OF_PROVIDERS, Kind.TRAIT):
            found[change.object] = _state(cloud, change.object)
    return found


def _state(cloud: Cloud, target: Object) -> State | None:
    try:
        return objects.access(cloud, target).read()
    except errors.CloudBroke as exc:
        if exc.status == 404:
            return None
        raise


def _providers(
    placement: Service, changes: Iterable[Change]
) -> Iterator[tuple[Object, State | None]]:
    changes = [each for each in changes if each.object.kind in _OF_PROVIDERS]
    if not changes:
        return
    having = _having(placement, changes)
    there = read.uuids(placement, {})
    for change in changes:
        identity = change.object.id
        keys = [key for key in change.after if identity in having[key]]
        yield change.object, State(present(keys)) if identity in there else None


def _having(placement: Service, changes: Iterable[Change]) -> dict[str, frozenset[str]]:
    """Return the UUIDs of the providers that have each trait or are in an aggregate."""
    known = read.known_traits(placement)
    found: dict[str, frozenset[str]] = {}
    for change in changes:
        for key in change.after.keys() - found.keys():
            if change.object.kind is Kind.PROVIDER_AGGREGATES:
                found[key] = memberships.in_any(placement, [key])
            else:
                held = read.holders(placement, key) if key in known else frozenset()
                found[key] = held
    return found
