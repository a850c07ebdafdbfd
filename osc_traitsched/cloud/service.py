"""What the rest of the project knows of a cloud: its services, and how to ask them.

The commands ask over HTTP (``connection.py``). Whatever else can answer these requests,
such as a recorded copy of a cloud, can stand in for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

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
