"""Serve one WSGI application over HTTP/1.1. Runs in the services' own Python.

usage: python -m tests.services.serve LISTENER APPLICATION [FUNCTION]...

LISTENER is the number of an inherited file descriptor: a bound, listening socket.
APPLICATION and FUNCTION are MODULE:ATTRIBUTE; the functions are called, in order,
before the application is loaded.
"""

from __future__ import annotations

import importlib
import select
import socket
import sys
from typing import Any

from cheroot import wsgi

from tests.services import lifeline

SELECT_SECONDS = 0.02


class InheritedServer(wsgi.Server):
    """A cheroot server on a listening socket that the parent process made."""

    def __init__(self, listener: int, application: Any) -> None:
        self._inherited = socket.socket(fileno=listener)
        self._inherited.set_inheritable(False)
        super().__init__(
            self._inherited.getsockname(),
            application,
            numthreads=8,
            request_queue_size=128,
        )
        if not hasattr(select, "poll"):
            # So it is in a service with eventlet, until 2024.2. What select does not
            # wait for when it begins it sees at the next interval only, and that is
            # each connection which is used again.
            self.expiration_interval = SELECT_SECONDS

    def bind(self, *family_type_and_protocol: int) -> socket.socket:
        """Take the inherited socket where cheroot would make one of its own."""
        self.socket = self._inherited
        return self.socket


def load(name: str) -> Any:
    """Return what ``module:attribute`` is, or what ``module:function()`` returns."""
    module, attribute = name.split(":")
    called = attribute[-2:] == "()"
    found = getattr(importlib.import_module(module), attribute.rstrip("()"))
    return found() if called else found


def main() -> None:
    lifeline.end_with_parent()
    listener, application, *functions = sys.argv[1:]
    # Keystone's application parses the arguments of whatever program loads it.
    sys.argv[1:] = []
    for function in functions:
        load(function)()
    InheritedServer(int(listener), load(application)).start()


if __name__ == "__main__":
    main()
