"""A service of a cloud as a protocol, and a cache of its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from osc_traitsched.core.errors import Hidden

# What the rest of the project knows of a cloud: its services, and how to ask them.


_T = TypeVar("_T")


class Service(Protocol):
    """One service of a cloud; paths are below its endpoint, bodies are JSON values."""

    @property
    def service_type(self) -> str:
        """The type that the catalog has it under, such as ``placement``."""

    def get(
        self,
        path: str,
        params: Mapping[str, str] | None = None,
        microversion: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Return the body of the answer to a GET.

        :param path: may have a query of its own; ``params`` are added to it
        :param microversion: instead of the one that this project uses everywhere else
        :param timeout: seconds to wait for the answer, if less than it waits anyway
        :raises CloudBroke: when there is no answer, or one that is an error
        """

    def put(
        self,
        path: str,
        body: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> None:
        """Write, and return once the service says that it is written.

        :raises CloudBroke: as :meth:`get`
        """

    def post(
        self, path: str, body: Mapping[str, Any], timeout: float | None = None
    ) -> None:
        """Add or act, and return once the service says that it is done.

        :raises CloudBroke: as :meth:`get`
        """

    def patch(
        self,
        path: str,
        changes: Sequence[Any],
        content_type: str,
        timeout: float | None = None,
    ) -> None:
        """Change parts of something, and return once the service says that it did.

        :param content_type: the kind of patch, as the service calls it
        :raises CloudBroke: as :meth:`get`
        """

    def delete(self, path: str, timeout: float | None = None) -> None:
        """Delete something, and return once the service says that it is gone.

        :raises CloudBroke: as :meth:`get`
        """


class Cloud(Protocol):
    """The services of one cloud, as one command sees them.

    A service that the cloud does not have raises ``NotInCatalog`` when it
    is first needed.
    """

    @property
    def placement(self) -> Service:
        """The placement service."""

    @property
    def compute(self) -> Service:
        """The compute service."""

    @property
    def image(self) -> Service:
        """The image service."""

    @property
    def identity(self) -> Service:
        """The identity service."""

    @property
    def network(self) -> Service:
        """The network service."""

    @property
    def block_storage(self) -> Service:
        """The block storage service."""

    @property
    def accelerator(self) -> Service:
        """The accelerator service."""

    @property
    def own_project(self) -> str | None:
        """The ID of the project that the user is logged in to, if any."""

    @property
    def compute_maximum(self) -> str | None:
        """The highest microversion of the compute API; None if it is not known."""

    def once(self, read: Callable[[Cloud], _T]) -> _T:
        """Return what a function reads of this cloud, and read it only once."""


# What this user may not read, noted for the end of the command.


SERVERS_OF_OTHERS = "servers of other projects"


def unread(cloud: Cloud) -> list[str]:
    """The data that the answer depends on, and that this user may not read."""
    return cloud.once(_nothing)


def _nothing(_: Cloud) -> list[str]:
    return []


def note_unread(cloud: Cloud, what: str, problem: object = None) -> None:
    """Note data that could not be read.

    :param problem: the error; it counts only if it is for lack of rights
    """
    if problem is None or isinstance(problem, Hidden):
        unread(cloud).append(what)


# A cloud that is asked nothing twice, for what many questions have in common.


_Answer = TypeVar("_Answer")


class RememberedService:
    """A service whose answers are kept; what it gave once is not to be changed."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._answers: dict[tuple[Any, ...], Any] = {}

    @property
    def service_type(self) -> str:
        """The type that the catalog has it under."""
        return self._service.service_type

    def get(
        self,
        path: str,
        params: Mapping[str, str] | None = None,
        microversion: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Return the body of an answer, which is asked for at most once.

        :raises CloudBroke: as ``Service.get``, each time
        """
        key = (path, tuple(sorted((params or {}).items())), microversion)
        if key not in self._answers:
            answer = self._service.get(path, params, microversion, timeout)
            self._answers[key] = answer
        return self._answers[key]

    def put(self, *args: Any, **named: Any) -> None:
        """Write; what was read before stays as it was."""
        self._service.put(*args, **named)

    def post(self, *args: Any, **named: Any) -> None:
        """Add or act, as :meth:`put`."""
        self._service.post(*args, **named)

    def patch(self, *args: Any, **named: Any) -> None:
        """Change parts of something, as :meth:`put`."""
        self._service.patch(*args, **named)

    def delete(self, *args: Any, **named: Any) -> None:
        """Delete something, as :meth:`put`."""
        self._service.delete(*args, **named)

    def knows(self, path: str, body: Any, microversion: str | None = None) -> None:
        """Keep what the service would answer, since it has said so elsewhere."""
        self._answers[path, (), microversion] = body


class RememberedCloud:
    """A cloud whose services are asked nothing twice, whoever asks."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._services: dict[str, RememberedService] = {}

    def _remembered(self, name: str) -> RememberedService:
        if name not in self._services:
            self._services[name] = RememberedService(getattr(self._cloud, name))
        return self._services[name]

    @property
    def placement(self) -> RememberedService:
        """The placement service."""
        return self._remembered("placement")

    @property
    def compute(self) -> RememberedService:
        """The compute service."""
        return self._remembered("compute")

    @property
    def image(self) -> RememberedService:
        """The image service."""
        return self._remembered("image")

    @property
    def identity(self) -> RememberedService:
        """The identity service."""
        return self._remembered("identity")

    @property
    def network(self) -> RememberedService:
        """The network service."""
        return self._remembered("network")

    @property
    def block_storage(self) -> RememberedService:
        """The block storage service."""
        return self._remembered("block_storage")

    @property
    def accelerator(self) -> RememberedService:
        """The accelerator service."""
        return self._remembered("accelerator")

    @property
    def own_project(self) -> str | None:
        """The ID of the project that the user is logged in to, if any."""
        return self._cloud.own_project

    @property
    def compute_maximum(self) -> str | None:
        """The highest microversion of the compute API; None if it is not known."""
        return self._cloud.compute_maximum

    def once(self, read: Callable[[Cloud], _Answer]) -> _Answer:
        """Return what a function reads of this cloud, and read it only once."""
        return self._cloud.once(read)
