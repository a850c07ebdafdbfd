"""The commands as setup.cfg names them, ``MODULE.CLASS``: import nothing here.

Stevedore loads what every plugin names, whatever command the user gave. So a stand-in
is loaded, and the module in ``commands`` only if its command is called.
"""

from __future__ import annotations

import importlib
from typing import Any


class _StandIn:
    """Calling it makes an instance of the real command."""

    path = ("", "")

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        module, name = cls.path
        return getattr(importlib.import_module(module), name)(*args, **kwargs)

    def __init__(self, app: Any, app_args: Any, cmd_name: Any = None) -> None:
        """Tell cliff, which looks before it calls, that there is a ``cmd_name``."""


class _Module:
    """Its attributes are stand-ins of the commands of a module."""

    def __init__(self, name: str) -> None:
        self._path = f"osc_traitsched.commands.{name}"

    def __getattr__(self, name: str) -> type[_StandIn]:
        return type(name, (_StandIn,), {"path": (self._path, name)})


def __getattr__(name: str) -> _Module:
    if name.startswith("_"):
        raise AttributeError(name)
    return _Module(name)
