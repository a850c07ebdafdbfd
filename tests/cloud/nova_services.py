"""Nova's services, started in this process. For the services' own Python."""

from __future__ import annotations

import nova.conf
from nova import config, context, objects, service
from nova.compute import rpcapi as compute_rpcapi
from nova.conductor import rpcapi as conductor_rpcapi
from nova.objects import host_mapping
from nova.scheduler import rpcapi as scheduler_rpcapi
from oslo_log import log as logging
from paste import deploy

from tests.cloud import hypervisor
from tests.services import sqlite
from tests.services.serve import InheritedServer

CONF = nova.conf.CONF


def prepare(configuration: str) -> None:
    """Read the configuration and set up what all of Nova's services share."""
    config.parse_args(["nova", "--config-file", configuration])
    logging.setup(CONF, "nova")
    # At debug it says every few seconds that it sleeps.
    logging.getLogger("oslo.service").logger.setLevel("INFO")
    objects.register_all()
    hypervisor.install()
    sqlite.make_writers_wait()


def start(computes: int) -> None:
    """Start the conductor, the scheduler and the computes, and map the computes."""
    _start("nova-conductor", conductor_rpcapi.RPC_TOPIC, CONF.host)
    _start("nova-scheduler", scheduler_rpcapi.RPC_TOPIC, CONF.host)
    # What other computes ask for comes by a way of its own, from 2026.2 on.
    other = getattr(compute_rpcapi, "RPC_TOPIC_ALT", None)
    named = {} if other is None else {"topic_alt": other}
    for number in range(computes):
        _start("nova-compute", compute_rpcapi.RPC_TOPIC, f"cmp{number:02d}", **named)
    # As nova-manage cell_v2 discover_hosts does: unmapped hosts are never chosen.
    host_mapping.discover_hosts(context.get_admin_context())


def _start(binary: str, topic: str, host: str, **named: str) -> None:
    # It goes on in threads of this process.
    service.Service.create(binary=binary, topic=topic, host=host, **named).start()


def serve_api(listener: int) -> None:
    """Serve the compute API on an inherited socket, for ever."""
    api = deploy.loadapp(f"config:{CONF.wsgi.api_paste_config}", name="osapi_compute")
    InheritedServer(listener, api).start()
