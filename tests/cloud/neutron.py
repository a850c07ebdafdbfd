"""Neutron's API, with an agent on every compute. For the services' own Python.

The agents are their reports alone. They are repeated until all hosts are in Placement,
where Nova puts them: only then can Neutron add what the hosts have for networks.
"""

from __future__ import annotations

import copy
import os
import threading
import time
from typing import Any

from neutron import server
from neutron.db import agents_db
from neutron.db.migration.models import head
from neutron.server import api
from neutron_lib import context
from neutron_lib.db import api as database
from neutron_lib.plugins import directory
from oslo_utils import timeutils

from tests.cloud.agents import reports


def application() -> Any:
    """Return the API, with an empty database, and let the agents report to it."""
    return server.boot_server(_start, prog="neutron-api")


def _start() -> Any:
    # Neutron's migrations are not for SQLite.
    engine = database.get_context_manager().writer.get_engine()
    head.get_metadata().create_all(engine)
    found = api.api_server()
    computes = int(os.environ["COMPUTES"])
    arguments = {"name": "agents", "daemon": True}
    threading.Thread(target=_report, args=(computes,), **arguments).start()
    return found


def _report(computes: int) -> None:
    receiver = agents_db.AgentExtRpcCallback()
    while True:
        for each in reports(computes):
            state = {"agent_state": copy.deepcopy(each)}
            now = timeutils.utcnow().isoformat()
            admin = context.get_admin_context()
            receiver.report_state(admin, agent_state=state, time=now)
        if _all_are_in_placement():
            return
        time.sleep(1)


def _all_are_in_placement() -> bool:
    found = directory.get_plugin().get_agents(context.get_admin_context())
    return all(each["resources_synced"] for each in found)
