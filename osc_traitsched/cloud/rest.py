"""Reads and checks answers of services, in several threads where that is quicker."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, Union
from urllib import parse

from osc_traitsched.cloud.service import Service
from osc_traitsched.core import errors

# Paths made of names, and answers that have the shape that the reader expects.


#: nova/api/openstack/compute/views/servers.py, ``show``
_NOT_SHOWN = (
    "this user may not see which host a server is on (policy "
    "os_compute_api:os-extended-server-attributes, by default for admin only)"
)

#: A type, or several; a list of one shape; or a mapping of keys to shapes, in which
#: the type ``str`` stands for whatever keys there are. More keys do no harm, and one
#: with ``?`` at its end may be missing or null, with ``??`` an empty text, too.
Shape = Union[type, tuple[type, ...], list[Any], dict[Any, Any]]

NUMBER = (int, float)
OPTIONAL_TEXT = (str, type(None))

_MISSING = object()


def path(*parts: str) -> str:
    """Return the path that these parts make, whatever characters they have."""
    return "".join(f"/{parse.quote(part, safe='')}" for part in parts)


def get(
    service: Service,
    path: str,
    shape: Shape,
    params: Mapping[str, str] | None = None,
    microversion: str | None = None,
    timeout: float | None = None,
) -> Any:
    """The body of an answer that has all that the shape names; as ``Service.get``."""
    body = service.get(path, params, microversion, timeout)
    check(service, path, body, shape)
    return body


def check(service: Service, path: str, body: Any, shape: Shape) -> None:
    """Accept only a body that has all that the shape names.

    :raises Hidden: for servers without the attributes for administrators
    :raises CloudBroke: for one of another shape
    """
    key = wrong(body, shape)
    if key is not None and key.startswith("OS-EXT-SRV-ATTR:"):
        raise errors.Hidden(service.service_type, _NOT_SHOWN)
    if key is not None:
        asked = path.partition("?")[0]
        reason = f"unexpected answer to GET {asked}: not as it should be at {key}"
        raise errors.CloudBroke(service.service_type, reason)


def get_if_there(
    service: Service, path: str, shape: Shape, microversion: str | None = None
) -> Any:
    """Return what :func:`get` does; None if the service says 404."""
    try:
        return get(service, path, shape, microversion=microversion)
    except errors.CloudBroke as exc:
        if exc.status == 404:
            return None
        raise


def wrong(body: Any, shape: Shape) -> str | None:
    """The key at which a body is not as the shape says, or None."""
    return _wrong([body], shape, ["the top"])


def _wrong(bodies: Sequence[Any], shape: Shape, places: Sequence[str]) -> str | None:
    """The key at which one of some bodies is not as the shape says, or None.

    All of a kind are looked at together, key by key: a large cloud's answers have a
    hundred thousand values, and each would be a call.
    """
    kind = type(shape) if isinstance(shape, (dict, list)) else shape
    if not all(issubclass(each, kind) for each in set(map(type, bodies))):
        pairs = zip(bodies, places)
        return next(place for body, place in pairs if not isinstance(body, kind))
    for inner, values, keys in _below(bodies, shape, places):
        key = _wrong(values, inner, keys)
        if key is not None:
            return key
    return None


def _below(
    bodies: Sequence[Any], shape: Shape, places: Sequence[str]
) -> Iterator[tuple[Shape, list[Any], list[str]]]:
    if isinstance(shape, list):
        keys = map(itertools.repeat, places, map(len, bodies))
        yield shape[0], _all(bodies), _all(keys)
    elif isinstance(shape, dict) and str in shape:
        yield shape[str], _all(body.values() for body in bodies), _all(bodies)
    elif isinstance(shape, dict):
        for key, inner in shape.items():
            name, absent = key.rstrip("?"), (_MISSING, None, "")[: 1 + key.count("?")]
            values = [body.get(name, _MISSING) for body in bodies]
            if name != key:
                values = [each for each in values if each not in absent]
            yield inner, values, [name] * len(values)


def _all(parts: Iterable[Iterable[Any]]) -> list[Any]:
    return list(itertools.chain.from_iterable(parts))


def pages(
    service: Service,
    path: str,
    key: str,
    shape: Mapping[str, Shape],
    params: Mapping[str, str] | None = None,
    microversion: str | None = None,
) -> Iterator[Any]:
    """Yield the items of a list of Nova or Glance; it ends with an empty page.

    A page without a link to the next one may not be the last. Nova drops hypervisors
    after it has cut a page, and gives a link only with a full page
    (nova/api/openstack/compute/hypervisors.py, ``_get_hypervisors``; common.py,
    ``_get_collection_links``). If Nova drops a whole page, the list ends early;
    ``Snapshot.unlisted`` shows that.

    :param key: what the answer has the items under
    :param shape: of an item; its ``id`` is the marker
    :raises CloudBroke: if the list can't be read, or the service does not go on
    """
    seen: set[str] = set()
    marker: dict[str, str] = {}
    whole = {key: [{"id": str, **shape}]}
    while found := get(
        service, path, whole, {**(params or {}), **marker}, microversion
    )[key]:
        fresh = [each for each in found if each["id"] not in seen]
        if not fresh:
            reason = f"gives the same page of {path} again and again"
            raise errors.CloudBroke(service.service_type, reason)
        yield from fresh
        seen.update(each["id"] for each in fresh)
        marker = {"marker": found[-1]["id"]}


# Reads in several threads.


_K = TypeVar("_K")
_T = TypeVar("_T")

#: So many threads read values of one kind: Placement often has only a few workers, and
#: serves others, too.
_AT_ONCE = 2


class Later(Generic[_T]):
    """A value that a daemon thread starts to compute at once.

    A service that hangs does not keep the process.
    """

    def __init__(self, work: Callable[[], _T]) -> None:
        self._work = work
        self._values: list[_T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def value(self) -> _T:
        """Wait for the value; raise the error of its thread."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        (value,) = self._values
        return value

    def _run(self) -> None:
        try:
            self._values.append(self._work())
        except BaseException as exc:
            self._error = exc


class LaterOfEach(Generic[_K, _T]):
    """Values of several keys, computed by a few threads.

    Each key is taken from the iterable when its turn comes. After an error in one
    thread the others continue.
    """

    def __init__(self, work: Callable[[_K], _T], keys: Iterable[_K]) -> None:
        self._work = work
        self._keys, self._taking = iter(keys), threading.Lock()
        self._taken: list[_K] = []
        self._parts = [Later(self._some) for _ in range(_AT_ONCE)]

    def values(self) -> dict[_K, _T]:
        """Wait for the values, in the order of the keys; raise a thread's error."""
        found = {k: each for part in self._parts for k, each in part.value().items()}
        return {key: found[key] for key in self._taken}

    def _some(self) -> dict[_K, _T]:
        values: dict[_K, _T] = {}
        while True:
            with self._taking:
                try:
                    key = next(self._keys)
                except StopIteration:
                    return values
                self._taken.append(key)
            values[key] = self._work(key)
