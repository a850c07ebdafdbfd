"""List all options of a released Nova and its libraries, as ``oslo-config-generator``.

It runs inside the virtual environment of one release. Each line of the output is an
option, ``SECTION.NAME``, with its other names behind it.
"""

import importlib.metadata
import os
import sys
import warnings

os.environ.setdefault("OS_NOVA_DISABLE_EVENTLET_PATCHING", "true")
warnings.simplefilter("ignore")

# The first releases' own copy of it fails on Python 3.8.
sys.modules["importlib_metadata"] = importlib.metadata

from oslo_config import generator  # noqa: E402

# etc/nova/nova-config-generator.conf, and what Nova imports besides.
NAMESPACES = (
    "nova.conf",
    "keystonemiddleware.auth_token",
    "oslo.cache",
    "oslo.concurrency",
    "oslo.db",
    "oslo.log",
    "oslo.messaging",
    "oslo.middleware",
    "oslo.policy",
    "oslo.privsep",
    "oslo.reports",
    "oslo.service.periodic_task",
    "oslo.service.service",
    "oslo.service.sslutils",
    "oslo.service.wsgi",
    "oslo.versionedobjects",
    "osprofiler",
)


def names():
    """Yield each option's names, the current one first."""
    for _, groups in generator._list_opts(NAMESPACES):
        for group, options in groups:
            section = str(getattr(group, "name", group) or "DEFAULT")
            for option in options:
                old = (
                    f"{each.group or section}.{(each.name or option.dest)}"
                    for each in option.deprecated_opts
                )
                yield [
                    each.replace("-", "_")
                    for each in (f"{section}.{option.dest}", *old)
                ]


if __name__ == "__main__":
    for each in names():
        print(*each)
