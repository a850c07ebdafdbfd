"""The order in which the cloud's services come up: side by side wherever possible."""

from __future__ import annotations

import functools
import os
import shlex
import socket
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

from tests.cloud import identity, readiness
from tests.cloud.config import Site
from tests.cloud.prepared import Prepared
from tests.services import placement, process
from tests.services.children import WRITERS_WAIT, Children
from tests.services.release import Release

SERVICES = ("keystone", "placement", "glance", "nova", "network")
WITH_VOLUME = (*SERVICES, "volume")


def listeners(release: Release) -> dict[str, socket.socket]:
    """Return a listening socket for each service that a release has.

    All addresses are known before anything is started: every configuration file and
    the whole catalog can be written at once.
    """
    names = WITH_VOLUME if release.applications.cinder else SERVICES
    return {name: process.listen() for name in names}


class Startup:
    """One start of all services of a cloud, whose configuration is written."""

    def __init__(
        self,
        site: Site,
        children: Children,
        sockets: Mapping[str, socket.socket],
        computes: int,
        release: Release,
    ) -> None:
        self._site = site
        self._children = children
        self._sockets = sockets
        self._computes = computes
        self._release = release
        self._prepared = Prepared(site.state, release)

    def run(self) -> None:
        """Return when the cloud is ready; the first failure stops all services."""
        with ThreadPoolExecutor(len(self._sockets)) as pool:
            try:
                for job in as_completed(self._submit(pool)):
                    job.result()
            except BaseException:
                self._children.stop()
                raise
        readiness.wait(self._site, self._computes)

    def _submit(self, pool: ThreadPoolExecutor) -> list[Future]:
        keystone = pool.submit(self._keystone)
        placed = pool.submit(self._placement)
        found = [
            keystone,
            placed,
            pool.submit(self._nova, [keystone, placed]),
            pool.submit(self._glance),
        ]
        if not self._site.volume:
            return [*found, pool.submit(self._no_network)]
        neutron = pool.submit(self._neutron, keystone)
        return [*found, neutron, pool.submit(self._cinder)]

    def _keystone(self) -> None:
        owner = f"--keystone-user {os.getuid()} --keystone-group {os.getgid()}"
        commands = [*identity.bootstrap(self._site.auth_url, owner)]
        self._manage(
            "keystone", "keystone.conf", commands, "keystone.db", "fernet", "credential"
        )
        url = "UPDATE endpoint SET url = ?"
        self._prepared.change("keystone.db", url, self._site.auth_url)
        self._serve(
            "keystone",
            self._release.applications.keystone,
            {"OS_KEYSTONE_CONFIG_DIR": str(self._site.state)},
        )
        administrator = identity.Keystone(self._site.auth_url)
        administrator.register(self._endpoints())
        administrator.add_users()
        if self._site.volume:
            administrator.add_service()

    def _endpoints(self) -> dict[str, str]:
        volume = f"{self._site.volume}/v3" if self._site.volume else None
        found = {
            "placement": self._site.placement,
            "image": self._site.glance,
            "compute": f"{self._site.nova}/v2.1",
            "network": self._site.network,
            "block-storage": volume,
        }
        return {kind: url for kind, url in found.items() if url is not None}

    def _no_network(self) -> None:
        application = "tests.cloud.no_network:application"
        self._children.serve("network", application, self._sockets["network"])

    def _neutron(self, keystone: Future) -> None:
        # The first token that it gets has the catalog that it goes by.
        keystone.result()
        variables = {
            "OS_NEUTRON_CONFIG_DIR": str(self._site.state),
            "OS_NEUTRON_CONFIG_FILES": "neutron.conf",
            "COMPUTES": str(self._computes),
        }
        self._serve("network", self._release.applications.neutron, variables)

    def _cinder(self) -> None:
        self._manage("cinder", "cinder.conf", ["db sync"], "cinder.db")
        # Its services are made of green threads, and so has to be all that they use.
        before = ["cinder.monkey_patch:patch", WRITERS_WAIT]
        application = self._release.applications.cinder
        listener = self._sockets["volume"]
        self._children.serve("volume", application, listener, before=before)

    def _placement(self) -> None:
        listener = self._sockets["placement"]
        placement.serve(
            self._children,
            self._site.state,
            listener,
            [WRITERS_WAIT],
            self._release.applications.placement,
        )

    def _glance(self) -> None:
        for folder in ("images", "staging", "tasks"):
            (self._site.state / folder).mkdir()
        # Until 2025.1 it is looked for beside glance-api.conf alone.
        paste = "glance-api-paste.ini"
        installed = self._site.installed(f"etc/glance/{paste}")
        (self._site.state / paste).symlink_to(installed)
        self._manage("glance", "glance-api.conf", ["db_sync"], "glance.db")
        self._serve(
            "glance",
            self._release.applications.glance,
            {"OS_GLANCE_CONFIG_DIR": str(self._site.state)},
        )

    def _nova(self, needed: list[Future]) -> None:
        cell0 = shlex.quote(self._site.database("nova_cell0"))
        commands = [
            "api_db sync",
            f"cell_v2 map_cell0 --database_connection {cell0}",
            "db sync",
            "cell_v2 create_cell --name cell1",
        ]
        files = ("nova_api.db", "nova.db", "nova_cell0.db")
        self._manage("nova", "nova.conf", commands, *files)
        for cell, database in (("cell0", "nova_cell0"), ("cell1", "nova")):
            self._prepared.change(
                "nova_api.db",
                "UPDATE cell_mappings SET database_connection = ? WHERE name = ?",
                self._site.database(database),
                cell,
            )
        for service in needed:
            service.result()
        listener = self._sockets["nova"]
        numbers = str(listener.fileno()), str(self._computes)
        arguments = ["tests.cloud.nova", str(self._site.state / "nova.conf"), *numbers]
        child = self._children.start("nova", arguments, listener=listener)
        child.wait_until_answers(self._site.nova)

    def _manage(
        self, service: str, file: str, commands: Sequence[str], *made: str
    ) -> None:
        """Have what a manage program makes; it need not run where that is kept."""
        options = f"--config-file {shlex.quote(str(self._site.state / file))}"
        words = [f"{options} {command}" for command in commands]
        program, module = f"{service}-manage", f"{service}.cmd.manage"
        run = functools.partial(self._children.manage, program, module, words)
        self._prepared.have(service, run, *made)

    def _serve(self, name: str, application: str, variables: Mapping[str, str]) -> None:
        listener = self._sockets[name]
        self._children.serve(name, application, listener, variables, [WRITERS_WAIT])
