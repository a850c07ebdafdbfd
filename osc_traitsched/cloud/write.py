"""Writes one object: read, compare, swap, try again."""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar
from urllib import parse

import tenacity

from osc_traitsched.cloud import rest
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core import errors
from osc_traitsched.core.change.model import (
    Change,
    Keys,
    Object,
    ObjectKind,
    Outcome,
    State,
    Status,
)
from osc_traitsched.core.change.traits import present
from osc_traitsched.core.errors import CloudBroke, TraitSchedError

# Tries again what may pass: bounded, given up in time, and never without reading.


_T = TypeVar("_T")

#: What carries one request out, and returns once the service says that it is done.
Send = Callable[[], object]

ATTEMPTS = 10

#: Seconds without any answer after which one change is given up: with two more that
#: are tried once, a run ends within a minute.
_PATIENCE = 20

#: Seconds; random, so that rivals do not stay in step, and growing.
_WAIT = tenacity.wait_random_exponential(multiplier=0.05, max=5)

#: A service's answer to a write of something that is no longer as it was read.
_NO_LONGER_SO = frozenset({404, 409})


class Patience:
    """How long the changes of one run wait for a service; all threads share it.

    :ivar stopped: set when nothing is to be tried again
    :ivar unanswered: how many changes in a row were given up without any answer
    """

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self.unanswered = 0

    def attempts(self) -> tenacity.Retrying:
        """The tries of one change; each is a context that takes passing errors.

        If the change before got no answer at all, one try is enough to see whether that
        is still so.
        """
        answered: float | None = None

        # tenacity before 7 tells by its argument's name what it takes.
        def is_used_up(retry_state: tenacity.RetryCallState) -> bool:
            nonlocal answered
            if self.stopped.is_set() or retry_state.attempt_number >= ATTEMPTS:
                return True
            problem = retry_state.outcome.exception() if retry_state.outcome else None
            now = retry_state.outcome_timestamp or 0
            if not is_without_answer(problem):
                answered = now
                return False
            since = retry_state.start_time if answered is None else answered
            return self.unanswered > 0 or now - since > _PATIENCE

        return tenacity.Retrying(
            stop=is_used_up,
            sleep=tenacity.sleep_using_event(self.stopped),
            wait=_WAIT,
            retry=tenacity.retry_if_exception(_is_worth_another_try),
            reraise=True,
        )


def is_without_answer(problem: BaseException | None) -> bool:
    """Tell whether a service said nothing at all."""
    return (
        isinstance(problem, errors.CloudBroke)
        and problem.passing
        and problem.status is None
    )


@dataclasses.dataclass(frozen=True)
class Swapped(Generic[_T]):
    """How a compare and swap ended.

    :ivar overwritten: what there was before the first request that was carried out, or
        may have been; None if there was none
    :ivar problem: why it is not known to be as desired; None if it is
    """

    overwritten: _T | None
    problem: errors.TraitSchedError | None = None


def compare_and_swap(
    patience: Patience,
    found: _T | None,
    read: Callable[[], _T],
    is_as_desired: Callable[[_T], bool],
    requests: Callable[[_T], Iterable[Send]],
) -> Swapped[_T]:
    """Make something as it is wanted, from what it was when it was read.

    After any failure it is read again first.

    :param found: what it was, with the generation from before it was read; None to read
        it first
    :param requests: returns what writes from that, in order; a service rejects it if
        anything changed in between. It raises TraitSchedError for what must not be
        written
    """
    writer = _Writer[_T]()
    try:
        for attempt in patience.attempts():
            with attempt:
                if found is None or attempt.retry_state.attempt_number > 1:
                    found = read()
                if is_as_desired(found):
                    break
                writer.write(found, requests(found))
    except errors.TraitSchedError as exc:
        return Swapped(writer.overwritten, exc)
    return Swapped(writer.overwritten)


class _Writer(Generic[_T]):
    def __init__(self) -> None:
        self.overwritten: _T | None = None
        self._times_too_late = 0
        self._refused: tuple[_T, errors.CloudBroke] | None = None

    def write(self, found: _T, requests: Iterable[Send]) -> None:
        if self._refused is not None and self._refused[0] == found:
            # Nothing has changed: it would be refused again.
            raise self._refused[1]
        for send in requests:
            self._send(send, found)

    def _send(self, send: Send, found: _T) -> None:
        try:
            send()
        except errors.ConcurrentUpdate as exc:
            self._times_too_late += 1
            raise errors.ConcurrentUpdate(
                exc.service, exc.reason, exc.status, self._times_too_late
            ) from exc
        except errors.CloudBroke as exc:
            if exc.passing:
                self._overwrite(found)
            elif exc.status in _NO_LONGER_SO:
                self._refused = found, exc
                raise errors.CloudBroke(
                    exc.service, exc.reason, exc.status, passing=True
                ) from exc
            raise
        self._overwrite(found)

    def _overwrite(self, found: _T) -> None:
        if self.overwritten is None:
            self.overwritten = found


def _is_worth_another_try(exc: BaseException) -> bool:
    return isinstance(exc, errors.ConcurrentUpdate) or (
        isinstance(exc, errors.CloudBroke) and exc.passing
    )


# How each kind of object is read and written; one class a kind.
#
# Placement's providers have a generation, which a write carries, and they take whole
# sets. Nova and Glance have none: there the object is read right before it is written,
# and a write names the keys that change, no others.


#: Seconds to wait for one answer: all of these are requests for one small thing.
TIMEOUT = 12

_GENERATION = "resource_provider_generation"
_AGGREGATE: rest.Shape = {"aggregate": {"metadata": {str: str}, "hosts": [str]}}
_AGGREGATES: rest.Shape = {"aggregates": [{"id": int, "name": str}]}
_IMAGE_PATCH = "application/openstack-images-v2.1-json-patch"


class Access(Protocol):
    """Reads and writes one object."""

    def read(self) -> State:
        """The object as it is, its generation from before its keys."""

    def requests(self, change: Change, found: State) -> Sequence[Send]:
        """What writes the change of what was found, and nothing else.

        The requests are to be sent in this order, and each of them is carried out whole
        or not at all. Sending one raises ConcurrentUpdate if the object changed since,
        and CloudBroke if it was not carried out, or may not have been.
        """


def access(cloud: Cloud, target: Object) -> Access:
    """Return what reads and writes an object."""
    return ACCESS[target.kind](cloud, target)


class _Access:
    service = "compute"
    path = ""

    def __init__(self, cloud: Cloud, target: Object) -> None:
        self._service: Service = getattr(cloud, self.service)
        self._target = target

    @property
    def _path(self) -> str:
        return self.path.format(_quoted(self._target.id))

    def _get(self, shape: rest.Shape) -> Any:
        return _get(self._service, self._path, shape)

    def _send(
        self, verb: Callable[..., object], *body: object, below: str = ""
    ) -> Send:
        return functools.partial(verb, self._path + below, *body, timeout=TIMEOUT)


class _Trait(_Access):
    """A trait's name; creating one that exists leaves it as it is."""

    service, path = "placement", "/traits/{}"

    def read(self) -> State:
        return State({})

    def requests(self, change: Change, found: State) -> Sequence[Send]:
        return [self._send(self._service.put)]


class _Provider(_Access):
    """A set of a provider's: Placement takes the whole of it, and the generation."""

    service = "placement"
    part = ""

    @property
    def _path(self) -> str:
        return f"/resource_providers/{_quoted(self._target.id)}/{self.part}"

    def read(self) -> State:
        # Placement reads the generation before the rest
        # (list_traits_for_resource_provider in placement/handlers/trait.py,
        # get_aggregates in placement/handlers/aggregate.py).
        body = self._get({self.part: [str], _GENERATION: int})
        return State(present(body[self.part]), body[_GENERATION])

    def requests(self, change: Change, found: State) -> Sequence[Send]:
        keys = sorted(change.applied_to(found.keys))
        body = {_GENERATION: found.generation, self.part: keys}
        return [self._send(self._service.put, body)]


class _ProviderTraits(_Provider):
    part = "traits"


class _ProviderAggregates(_Provider):
    part = "aggregates"


class _Flavor(_Access):
    """A flavor's extra specs: those to set at once, those to remove one at a time."""

    path = "/flavors/{}/os-extra_specs"

    def read(self) -> State:
        return State(self._get({"extra_specs": {str: str}})["extra_specs"])

    def requests(self, change: Change, found: State) -> Sequence[Send]:
        wanted = _differing(change, found)
        specs = {key: value for key, value in wanted.items() if value is not None}
        setting = self._send(self._service.post, {"extra_specs": specs})
        removing = [
            self._send(self._service.delete, below=f"/{parse.quote(key, safe=':')}")
            for key in wanted
            if key not in specs
        ]
        return [setting, *removing] if specs else removing


class _Image(_Access):
    """An image's properties, changed by one patch."""

    service, path = "image", "/images/{}"

    def read(self) -> State:
        return State(self._get({"id": str}))

    def requests(self, change: Change, found: State) -> Sequence[Send]:
        changes = [_operation(key, v) for key, v in _differing(change, found).items()]
        return [self._send(self._service.patch, changes, _IMAGE_PATCH)]


class _OfAggregate(_Access):
    """Something of an aggregate; one that was just made is found by its name."""

    @property
    def _path(self) -> str:
        target = self._target
        identity = _made(self._service, target.name) if target.is_new else target.id
        if identity is None:
            reason = f"no aggregate {target.name}"
            raise CloudBroke(self._service.service_type, reason, 404)
        return f"/os-aggregates/{_quoted(identity)}"

    def _aggregate(self) -> Any:
        return self._get(_AGGREGATE)["aggregate"]


class _Aggregate(_OfAggregate):
    """An aggregate's metadata: Nova merges, and takes null for a key to remove."""

    def read(self) -> State:
        body = self._aggregate()
        return State(body["metadata"], hosts=frozenset(body["hosts"]))

    def requests(self, change: Change, found: State) -> Sequence[Send]:
        metadata = {"set_metadata": {"metadata": _differing(change, found)}}
        return [self._send(self._service.post, metadata, below="/action")]


class _AggregateHosts(_OfAggregate):
    """An aggregate's hosts, each added or removed by itself; Nova tells Placement."""

    def read(self) -> State:
        hosts = frozenset(self._aggregate()["hosts"])
        return State(present(hosts), hosts=hosts)

    def requests(self, change: Change, found: State) -> Sequence[Send]:
        actions = (
            {"add_host" if value else "remove_host": {"host": host}}
            for host, value in _differing(change, found).items()
        )
        return [self._send(self._service.post, a, below="/action") for a in actions]


class _NewAggregate(_Access):
    """An aggregate that is made; Nova lets no two have one name."""

    path = "/os-aggregates"

    def read(self) -> State:
        name = self._target.name
        identity = _made(self._service, name)
        if identity is None:
            return State({})
        body = _get(self._service, f"{self.path}/{identity}", _AGGREGATE)
        return State({**body["aggregate"]["metadata"], "name": name})

    def requests(self, change: Change, found: State) -> Sequence[Send]:
        wanted = {
            key: value for key, value in change.after.items() if value is not None
        }
        return [self._send(self._service.post, {"aggregate": wanted})]


def _made(compute: Service, name: str) -> str | None:
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


#: What reads and writes each kind of object.
ACCESS: Mapping[ObjectKind, Callable[[Cloud, Object], Access]] = {
    ObjectKind.TRAIT: _Trait,
    ObjectKind.PROVIDER_TRAITS: _ProviderTraits,
    ObjectKind.PROVIDER_AGGREGATES: _ProviderAggregates,
    ObjectKind.FLAVOR: _Flavor,
    ObjectKind.IMAGE: _Image,
    ObjectKind.AGGREGATE: _Aggregate,
    ObjectKind.NEW_AGGREGATE: _NewAggregate,
    ObjectKind.AGGREGATE_HOSTS: _AggregateHosts,
}


# Carries out one change: reads, compares, writes, and says what became of it.


def apply(cloud: Cloud, change: Change, patience: Patience) -> Outcome:
    """Make an object as the change wants it, and lose nothing else of it.

    A provider is written with the generation from before its keys were read, so that
    Placement rejects the write if anything of it changed in between. After any failure
    the object is read again first. One that is as desired is not written.

    :returns: what became of it; a failure is an outcome, too
    """
    if change.problem is not None:
        return Outcome(change, Status.FAILED, change.problem)
    if not change.is_needed:
        return Outcome(change, Status.UNCHANGED)
    try:
        accessed = access(cloud, change.object)
    except TraitSchedError as exc:
        return Outcome(change, Status.FAILED, exc)

    def requests(now: State) -> Iterable[Send]:
        if refusal := change.refusal(now):
            raise refusal
        return accessed.requests(change, now)

    found = change.found if change.found.generation is not None else None
    swapped = compare_and_swap(
        patience, found, accessed.read, change.holds_in, requests
    )
    return Outcome(change, _status(swapped), swapped.problem, swapped.overwritten)


def _status(swapped: Swapped[State]) -> Status:
    if swapped.problem is None:
        return Status.UNCHANGED if swapped.overwritten is None else Status.CHANGED
    return Status.FAILED if swapped.overwritten is None else Status.UNKNOWN
