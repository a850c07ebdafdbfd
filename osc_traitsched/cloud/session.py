"""keystoneauth's session, without waiting twice for a service that is not reached."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from keystoneauth1 import exceptions as keystone
from openstack import exceptions as sdk

_T = TypeVar("_T")

#: One session is changed by one thread at a time.
_LOCK = threading.Lock()


class Unreached(Exception):
    """A request of a discovery got no connection, or no answer.

    It is none of keystoneauth's exceptions: what those are about is looked for at
    other URLs, and then missing.

    :ivar error: keystoneauth's
    """

    def __init__(self, error: keystone.ConnectionError) -> None:
        super().__init__(str(error))
        self.error = error


@contextlib.contextmanager
def ends_when_unreached(session: Any) -> Iterator[None]:
    """End a discovery at its first request that gets no connection, or no answer.

    keystoneauth takes such a service for one without a version document, tries other
    URLs of it, for as long each time, and logs that
    (keystoneauth1/discover.py, ``_run_discovery``).

    :param session: keystoneauth's; others use it before and after
    :raises Unreached: instead of going on
    :raises HttpError: the first one, where the discovery has found nothing in the end
    """
    send = session.request
    refused: list[keystone.HttpError] = []

    def request(*args: Any, **kwargs: Any) -> Any:
        try:
            return send(*args, **kwargs)
        except keystone.HttpError as exc:
            refused.append(exc)
            raise
        except keystone.ConnectionError as exc:
            raise Unreached(exc) from exc

    with _LOCK:
        session.request = request
        try:
            yield
        except sdk.NotSupported as exc:
            if refused:
                raise refused[0] from exc
            raise
        finally:
            del session.request


def sent_twice(send: Callable[[], _T]) -> _T:
    """Send a request, and once more at once if its connection was kept for too long.

    One that got no answer in time is not sent again.
    """
    with contextlib.suppress(keystone.ConnectFailure):
        return send()
    return send()
