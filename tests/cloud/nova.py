"""All of Nova in one process: API, conductor, scheduler and N fake computes.

usage: python -m tests.cloud.nova CONFIGURATION LISTENER COMPUTES

Runs in the services' own Python. LISTENER is the number of an inherited, listening
socket. The API answers only after all computes are there to be scheduled to.
"""

from __future__ import annotations

import os
import sys
import traceback

from tests.services import lifeline


def main() -> None:
    lifeline.end_with_parent()
    configuration, listener, computes = sys.argv[1:]
    sys.argv[1:] = []
    # Not above: until 2024.2 it makes all threads that are started later green ones.
    from nova import monkey_patch

    if hasattr(monkey_patch, "patch"):
        # Nova wants to know before its other modules are imported: native threads.
        monkey_patch.patch(backend="threading")
    from tests.cloud import nova_services

    nova_services.prepare(configuration)
    nova_services.start(int(computes))
    nova_services.serve_api(int(listener))


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        traceback.print_exc()
        # The threads of the services that did start would keep the process alive.
        os._exit(1)
