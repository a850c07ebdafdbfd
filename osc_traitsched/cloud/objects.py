"""How each kind of object is read and written; one class a kind.

Placement's providers have a generation, which a write carries, and they take whole
sets. Nova and Glance have none: there the object is read right before it is written,
and a write names the keys that change, no others.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol
from urllib import parse

from osc_traitsched.cloud import rest
from osc_traitsched.cloud.retry import Send
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core.change.model import Change, Keys, Kind, Object, State
from osc_traitsched.core.change.providers import present
from osc_traitsched.core.errors import CloudBroke

#: Seconds to wait for one answer: all of these are requests for one small thing.
TIMEOUT = 12

_GENERATION = "resource_provider_generation"
_AGGREGATE: rest.Shape = {"aggregate": {"metadata": {str: str}, "hosts": [str]}}
_AGGREGATES: rest.Shape = {"aggregates": [{"id": int, "name": str}]}
_IMAGE_PATCH = "application/openstack-images-v2.1-json-patch"


class Access(Protocol):
    """Reads and writes one object."""

    def read(self) -> State:
        """Return the object as it is, its generation from before its keys.

        :raises CloudBroke: when it can't be read
        """

    def requests(self, change: Change, found: State) -> Sequence[Send]:
        """Return what writes the change of what was found, and nothing else.

        The requests are to be sent in this order, and each of them is carried out whole
        or not at all. Sending one raises ConcurrentUpdate when the object changed
        since, and CloudBroke when it was not carried out, or may not have been.
        """


def access(cloud: Cloud, target: Object) -> Access:
    """Return what reads and writes an object."""
    return _ACCESS[target.kind](cloud, target)


class _Trait:
    """A trait's name; creating one that exists leaves it as it is."""

    def __init__(self, cloud: Cloud, target: Object) -> None:
        self._placement = cloud.placement
        self._path = f"/traits/{_quoted(target.id)}"

    def read(self) -> State:
        return State({})

    def requests(self, change: Change, found: State) -> Sequence[Send]:
        return [functools.partial(self._placement.put, self._path, timeout=TIMEOUT)]


class _Provider:
    """A set of a provider's: Placement takes the whole of it, and the generation."""

    part = ""

    def __init__(self, cloud: Cloud, target: Object) -> None:
        self._placement = cloud.placement
        self._path = f"/resource_providers/{_quoted(target.id)}/{self.part}"

    def read(self) -> State:
        # Placement reads the generation before the rest
        # (list_traits_for_resource_provider in placement/handlers/trait.py,
        # get_aggregates in placement/handlers/aggregate.py).
        body = _get(self._placement, self._path, {self.part: [str], _GENERATION: int})
        return State(present(body[self.part]), body[_GENERATION])

    def requests(self, change: Change, found: State) -> Sequence[Send]:
        body = {
            _GENERATION: found.generation,
            self.part: sorted(change.applied_to(found.keys)),
        }
        put = self._placement.put
        return [functools.partial(put, self._path, body, timeout=TIMEOUT)]


class _ProviderTraits(_Provider):
    part = "traits"


class _ProviderAggregates(_Provider):
    part = "aggregates"


class _Flavor:
    """A flavor's extra specs: those to set at once, those to remove one by one."""

    def __init__(self, cloud: Cloud, target: Object) -> None:
        self._compute = cloud.compute
        self._path = f"/flavors/{_quoted(target.id)}/os-extra_specs"

    def read(self) -> State:
        body = _get(self._compute, self._path, {"extra_specs": {str: str}})
        return State(body["extra_specs"])

    def requests(self, change: Change, found: State) -> Sequence[Send]:
        wanted = _differing(change, found)
        specs = {key: value for key, value in wanted.items() if value is not None}
        post, delete = self._compute.post, self._compute.delete
        body = {"extra_specs": specs}
        setting = functools.partial(post, self._path, body, timeout=TIMEOUT)
        removing = [
            functools.partial(delete, self._path_of(key), timeout=TIMEOUT)
            for key in wanted
            if key not in specs
        ]
        return [setting, *removing] if specs else removing

    def _path_of(self, key: str) -> str:
        return f"{self._path}/{parse.quote(key, safe=':')}"


class _Image:
    """An image's properties, changed by one patch."""

    def __init__(self, cloud: Cloud, target: Object) -> None:
        self._image = cloud.image
        self._path = f"/images/{_quoted(target.id)}"

    def read(self) -> State:
        return State(_get(self._image, self._path, {"id": str}))

    def requests(self, change: Change, found: State) -> Sequence[Send]:
        changes = [_operation(key, v) for key, v in _differing(change, found).items()]
        patch = self._image.patch
        return [
            functools.partial(patch, self._path, changes, _IMAGE_PATCH, timeout=TIMEOUT)
        ]


class _OfAggregate:
    """Something of an aggregate; one that was just made is found by its name."""

    def __init__(self, cloud: Cloud, target: Object) -> None:
        self._compute = cloud.compute
        self._target = target

    @property
    def _path(self) -> str:
        target = self._target
        identity = _made(self._compute, target.name) if target.is_new else target.id
        if identity is None:
            reason = f"no aggregate {target.name}"
            raise CloudBroke(self._compute.service_type, reason, 404)
        return f"/os-aggregates/{_quoted(identity)}"

    def _aggregate(self) -> Any:
        return _get(self._compute, self._path, _AGGREGATE)["aggregate"]

    def _action(self, path: str, name: str, body: Mapping[str, Any]) -> Send:
        post = self._compute.post
        return functools.partial(post, f"{path}/action", {name: body}, timeout=TIMEOUT)


class _Aggregate(_OfAggregate):
    """An aggregate's metadata: Nova merges, and takes null for a key to remove."""

    def read(self) -> State:
        body = self._aggregate()
        return State(body["metadata"], hosts=frozenset(body["hosts"]))

    def requests(self, change: Change, found: State) -> Sequence[Send]:
        metadata = {"metadata": _differing(change, found)}
        return [self._action(self._path, "set_metadata", metadata)]


class _AggregateHosts(_OfAggregate):
    """An aggregate's hosts, each added or removed by itself; Nova tells Placement."""

    def read(self) -> State:
        hosts = frozenset(self._aggregate()["hosts"])
        return State(present(hosts), hosts=hosts)

    def requests(self, change: Change, found: State) -> Sequence[Send]:
        path = self._path
        return [
            self._action(path, "add_host" if value else "remove_host", {"host": host})
            for host, value in _differing(change, found).items()
        ]


class _NewAggregate:
    """An aggregate that is made; Nova lets no two have one name."""

    def __init__(self, cloud: Cloud, target: Object) -> None:
        self._compute = cloud.compute
        self._name = target.name

    def read(self) -> State:
        identity = _made(self._compute, self._name)
        if identity is None:
            return State({})
        body = _get(self._compute, f"/os-aggregates/{identity}", _AGGREGATE)
        return State({**body["aggregate"]["metadata"], "name": self._name})

    def requests(self, change: Change, found: State) -> Sequence[Send]:
        wanted = {
            key: value for key, value in change.after.items() if value is not None
        }
        post, body = self._compute.post, {"aggregate": wanted}
        return [functools.partial(post, "/os-aggregates", body, timeout=TIMEOUT)]


def _made(compute: Service, name: str) -> str | None:
    """Return the ID of the aggregate of a name; None where there is none."""
    listed = _get(compute, "/os-aggregates", _AGGREGATES)["aggregates"]
    return next((str(each["id"]) for each in listed if each["name"] == name), None)


def _get(service: Service, path: str, shape: rest.Shape) -> Any:
    return rest.get(service, path, shape, timeout=TIMEOUT)


def _differing(change: Change, found: State) -> Keys:
    return {k: v for k, v in change.after.items() if found.keys.get(k) != v}


def _operation(key: str, value: str | None) -> dict[str, str]:
    # As a JSON pointer writes it (RFC 6901, section 3).
    path = "/" + key.replace("~", "~0").replace("/", "~1")
    if value is None:
        return {"op": "remove", "path": path}
    return {"op": "add", "path": path, "value": value}


def _quoted(part: str) -> str:
    return parse.quote(part, safe="")


_ACCESS: Mapping[Kind, Callable[[Cloud, Object], Access]] = {
    Kind.TRAIT: _Trait,
    Kind.PROVIDER_TRAITS: _ProviderTraits,
    Kind.PROVIDER_AGGREGATES: _ProviderAggregates,
    Kind.FLAVOR: _Flavor,
    Kind.IMAGE: _Image,
    Kind.AGGREGATE: _Aggregate,
    Kind.NEW_AGGREGATE: _NewAggregate,
    Kind.AGGREGATE_HOSTS: _AggregateHosts,
}
