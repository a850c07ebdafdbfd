"""The services of a cloud, and a cache of their answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from osc_traitsched.core.errors import Hidden

_T = TypeVar("_T")


class Service:
    """One service of a cloud; paths are below its endpoint, bodies are JSON values.

    :ivar service_type: as the catalog has it, such as ``placement``
    """

    service_type: str

    def get(
        self,
        path: str,
        params: Mapping[str, str] | None = None,
        microversion: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """The body of the answer to a GET.

        :param path: may have a query of its own; ``params`` are added to it
        :param microversion: instead of the one that this project uses everywhere else
        :param timeout: seconds to wait for the answer, if less than it waits anyway
        :raises CloudBroke: if there is no answer, or an error
        """
        raise NotImplementedError

    def write(
        self,
        method: str,
        path: str,
        body: Any = None,
        timeout: float | None = None,
        content_type: str | None = None,
    ) -> None:
        """Write, and return once the service says that it is written.

        :param content_type: of the body, unless it is plain JSON
        :raises CloudBroke: as :meth:`get`
        """
        raise NotImplementedError

    def put(self, path: str, body: Any = None, timeout: float | None = None) -> None:
        """Write a whole object, as :meth:`write`."""
        self.write("PUT", path, body, timeout)

    def post(self, path: str, body: Any, timeout: float | None = None) -> None:
        """Add or act, as :meth:`write`."""
        self.write("POST", path, body, timeout)

    def patch(
        self,
        path: str,
        changes: Sequence[Any],
        content_type: str,
        timeout: float | None = None,
    ) -> None:
        """Change parts of an object, as :meth:`write`."""
        self.write("PATCH", path, changes, timeout, content_type)

    def delete(self, path: str, timeout: float | None = None) -> None:
        """Delete an object, as :meth:`write`."""
        self.write("DELETE", path, None, timeout)


class _ByName:
    def __set_name__(self, owner: type[Cloud], name: str) -> None:
        self._service_type = name.replace("_", "-")

    def __get__(self, cloud: Cloud, owner: type[Cloud]) -> Service:
        return cloud.service(self._service_type)


class Cloud:
    """The services of one cloud; a missing one raises ``NotInCatalog`` when needed."""

    placement = _ByName()
    compute = _ByName()
    image = _ByName()
    identity = _ByName()
    network = _ByName()
    block_storage = _ByName()
    accelerator = _ByName()

    def service(self, service_type: str) -> Service:
        """The service of that type."""
        raise NotImplementedError

    @property
    def own_project(self) -> str | None:
        """The ID of the project that the user is logged in to, if any."""
        raise NotImplementedError

    @property
    def compute_maximum(self) -> str | None:
        """The highest microversion of the compute API; None if it is not known."""
        raise NotImplementedError

    @property
    def requests(self) -> Mapping[str, Any]:
        """Nova's records of the requests of servers, by UUID, if a snapshot has any."""
        return {}

    def once(self, read: Callable[[Cloud], _T]) -> _T:
        """What a function reads of this cloud; it is read only once."""
        raise NotImplementedError


# What this user may not read, noted for the end of the command.


SERVERS_OF_OTHERS = "servers of other projects"


def unread(cloud: Cloud) -> list[str]:
    """The data that the answer depends on, and that this user may not read."""
    return cloud.once(_nothing)


def _nothing(_: Cloud) -> list[str]:
    return []


def note_unread(cloud: Cloud, what: str, problem: object = None) -> None:
    """Note data that could not be read; a problem counts only for lack of rights."""
    if problem is None or isinstance(problem, Hidden):
        unread(cloud).append(what)


# A cloud that is asked nothing twice, for what many questions have in common.


class RememberedService(Service):
    """A service whose answers are kept; nobody may change them."""

    def __init__(self, service: Service) -> None:
        self.service_type = service.service_type
        self._service = service
        self._answers: dict[tuple[Any, ...], Any] = {}
        self._locks: dict[tuple[Any, ...], threading.Lock] = {}

    def get(
        self,
        path: str,
        params: Mapping[str, str] | None = None,
        microversion: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """The body of an answer, which is asked for at most once."""
        key = (path, tuple(sorted((params or {}).items())), microversion)
        # Two threads that ask the same wait for one answer.
        with self._locks.setdefault(key, threading.Lock()):
            if key not in self._answers:
                answer = self._service.get(path, params, microversion, timeout)
                self._answers[key] = answer
        return self._answers[key]

    def knows(self, path: str, body: Any, microversion: str | None = None) -> None:
        """Keep what the service would answer, since it has said so elsewhere."""
        self._answers[path, (), microversion] = body


class RememberedCloud(Cloud):
    """A cloud for reading, whose services are asked nothing twice."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._services: dict[str, RememberedService] = {}

    def service(self, service_type: str) -> RememberedService:
        if service_type not in self._services:
            service = getattr(self._cloud, service_type.replace("-", "_"))
            self._services[service_type] = RememberedService(service)
        return self._services[service_type]

    @property
    def own_project(self) -> str | None:
        return self._cloud.own_project

    @property
    def compute_maximum(self) -> str | None:
        return self._cloud.compute_maximum

    @property
    def requests(self) -> Mapping[str, Any]:
        return self._cloud.requests

    def once(self, read: Callable[[Cloud], _T]) -> _T:
        return self._cloud.once(read)
