"""The driver for MariaDB: beside the services' Python, which has to do without it."""

from __future__ import annotations

import pathlib
import sys

from tests.services import environment
from tests.services.environment import Environment

_PINS = pathlib.Path(__file__).resolve().with_name("driver.txt")


def python() -> pathlib.Path:
    """Return an interpreter that has the driver, which is installed if needed.

    Raises EnvironmentFailed.
    """
    return _environment().python()


def find() -> None:
    """Let this process import the driver; it is installed already.

    Whatever the process's own Python has comes first.
    """
    (packages,) = _environment().home.glob("lib/python*/site-packages")
    sys.path.append(str(packages))


def _environment() -> Environment:
    services = environment.location()
    home = services.with_name(f"{services.name}-driver")
    what, pythons = "the driver for MariaDB", environment.PYTHONS
    return Environment(home, (_PINS,), _PINS, what, pythons)
