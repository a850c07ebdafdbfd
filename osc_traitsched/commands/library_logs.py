"""What libraries log of services that are not reached: our errors say it in a line."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

#: Of requests that are sent again, and of discoveries that go on at another URL.
_LOGGERS = ("keystoneauth.session", "keystoneauth.discover")


def _is_error(record: logging.LogRecord) -> bool:
    return record.levelno > logging.WARNING


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Leave out what these libraries warn of."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addFilter(_is_error)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(_is_error)
