"""Carries out the steps that isolate an aggregate or open it, one result a step.

Nova and Glance have no generations. So a flavor, an image or an aggregate is read
again right before it is written, and a write names the keys that change, no others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib import parse

from osc_traitsched.cloud import retry, write, write_aggregates
from osc_traitsched.cloud.connection import Cloud
from osc_traitsched.core import errors
from osc_traitsched.core.change.isolation import (
    Contradiction,
    HostsJoined,
    KeysCame,
    Kind,
    Outcome,
    Step,
)
from osc_traitsched.core.change.plan import Status
from osc_traitsched.core.inventory.trait_keys import REQUIRED, isolating_keys

_IMAGE_PATCH = "application/openstack-images-v2.1-json-patch"

Pairs = Mapping[str, Any]


def apply(cloud: Cloud, step: Step) -> Outcome:
    """Make true what the step says, unless it is already.

    :returns: what became of it; a failure is an outcome, too
    """
    if step.problem is not None:
        return Outcome(step, Status.FAILED, step.problem)
    if step.holds:
        return Outcome(step, Status.UNCHANGED)
    try:
        return _APPLY[step.kind](cloud, step)
    except errors.TraitSchedError as exc:
        return Outcome(step, Status.FAILED, exc)


def _trait(cloud: Cloud, step: Step) -> Outcome:
    write.create_traits(cloud.placement, step.todo)
    return Outcome(step, Status.CHANGED)


def _host(cloud: Cloud, step: Step) -> Outcome:
    assert step.write is not None  # noqa: S101
    found = write.apply(cloud.placement, step.write)
    return Outcome(step, found.status, found.problem)


def _mirror(cloud: Cloud, step: Step) -> Outcome:
    found = write_aggregates.apply_aggregates(cloud.placement, step.id, step.todo)
    return Outcome(step, found.status, found.problem)


def _flavor(cloud: Cloud, step: Step) -> Outcome:
    path = f"/flavors/{parse.quote(step.id, safe='')}/os-extra_specs"

    def read() -> Pairs:
        specs: Pairs = cloud.compute.get(path)["extra_specs"]
        forbidden = [key for key in step.todo if specs.get(key) == "forbidden"]
        if forbidden and not step.removes:
            names = tuple(key.partition(":")[2] for key in forbidden)
            raise Contradiction(step.name, names)
        return specs

    def put(found: Pairs) -> None:
        if not step.removes:
            specs = dict.fromkeys(step.todo, REQUIRED)
            cloud.compute.post(path, {"extra_specs": specs})
            return
        for key in _there(step, found):
            cloud.compute.delete(f"{path}/{parse.quote(key, safe=':')}")

    return _written(step, read, put)


def _image(cloud: Cloud, step: Step) -> Outcome:
    path = f"/images/{step.id}"

    def read() -> Pairs:
        body: Pairs = cloud.image.get(path)
        return body

    def put(found: Pairs) -> None:
        # A trait's name has no character that a JSON pointer would escape.
        if step.removes:
            keys = _there(step, found)
            changes = [{"op": "remove", "path": f"/{key}"} for key in keys]
        else:
            changes = [
                {"op": "add", "path": f"/{key}", "value": REQUIRED} for key in step.todo
            ]
        cloud.image.patch(path, changes, _IMAGE_PATCH)

    return _written(step, read, put)


def _aggregate(cloud: Cloud, step: Step) -> Outcome:
    path = f"/os-aggregates/{step.id}"

    def read() -> Pairs:
        body = cloud.compute.get(path)["aggregate"]
        joined = frozenset(body["hosts"]) - step.hosts
        if joined and not step.removes:
            raise HostsJoined(joined)
        metadata: Pairs = body["metadata"]
        came = frozenset(isolating_keys(metadata)) - step.keys - frozenset(step.todo)
        if came and not step.removes:
            raise KeysCame(came)
        return metadata

    def put(_: Pairs) -> None:
        # Nova merges, and takes null for a key to delete.
        value = None if step.removes else REQUIRED
        metadata = dict.fromkeys(step.todo, value)
        cloud.compute.post(f"{path}/action", {"set_metadata": {"metadata": metadata}})

    return _written(step, read, put)


def _written(
    step: Step, read: Callable[[], Pairs], put: Callable[[Pairs], None]
) -> Outcome:
    """Read, and write unless it is as wanted.

    :raises TraitSchedError: when it fails
    """

    def is_as_wanted(found: Pairs) -> bool:
        there = _there(step, found)
        return not there if step.removes else len(there) == len(step.todo)

    written = retry.write(retry.read(read), read, is_as_wanted, put)
    return Outcome(step, Status.CHANGED if written else Status.UNCHANGED)


def _there(step: Step, found: Pairs) -> list[str]:
    """Return those of the step's keys that require a trait now."""
    return [key for key in step.todo if found.get(key) == REQUIRED]


_APPLY: Mapping[Kind, Callable[[Cloud, Step], Outcome]] = {
    Kind.TRAIT: _trait,
    Kind.HOST: _host,
    Kind.MIRROR: _mirror,
    Kind.FLAVOR: _flavor,
    Kind.IMAGE: _image,
    Kind.AGGREGATE: _aggregate,
}
