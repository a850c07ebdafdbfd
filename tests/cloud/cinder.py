"""All of Cinder in one process: API, scheduler and a volume service for each zone.

For the services' own Python. ``storage.py`` has what the volumes are on.
"""

from __future__ import annotations

import sys
from typing import Any

from cinder import service
from cinder.wsgi import wsgi
from oslo_config import cfg


def application() -> Any:
    """Return the API, and start the services behind it, as cinder.conf here says."""
    sys.argv[1:] = ["--config-file", "cinder.conf"]
    found = wsgi.initialize_application()
    for backend in cfg.CONF.enabled_backends:
        _start("cinder-volume", f"{cfg.CONF.host}@{backend}", service_name=backend)
    # It waits until a volume service has told what it can do.
    _start("cinder-scheduler", cfg.CONF.host)
    return found


def _start(binary: str, host: str, **more: str) -> None:
    # It goes on in threads of this process.
    service.Service.create(binary=binary, host=host, **more).start()
