"""The order in which the cloud's services come up: side by side wherever possible."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pathlib
import shlex
import shutil
import socket
import sqlite3
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

from tests.cloud import identity
from tests.cloud.config import Site
from tests.services import placement, process, rest
from tests.services.children import WRITERS_WAIT, Children
from tests.services.process import PATIENCE
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
        wait(self._site, self._computes)

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


# What the services' manage programs make, kept for the clouds that start later.


_ROOM = pathlib.Path(__file__).resolve().parent
#: What is kept hangs on these.
_SOURCES = ("config.py", "identity.py", "startup.py")


class Prepared:
    """Files of one release's services, beside the services that made them."""

    def __init__(self, state: pathlib.Path, release: Release) -> None:
        sources = b"".join((_ROOM / name).read_bytes() for name in _SOURCES)
        name = f"prepared-{hashlib.sha256(sources).hexdigest()[:12]}"
        self._state, self._folder = state, release.environment().home / name

    def have(self, service: str, make: Callable[[], object], *files: str) -> None:
        """Put a service's files into the state: copies of kept ones, or new ones."""
        kept = self._folder / service
        if kept.exists():
            shutil.copytree(kept, self._state, dirs_exist_ok=True)
            return
        make()
        self._folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self._folder) as made:
            for name in files:
                _copy(self._state / name, pathlib.Path(made) / service / name)
            # Another cloud may have come first.
            with contextlib.suppress(OSError):
                (pathlib.Path(made) / service).rename(kept)

    def change(self, database: str, statement: str, *values: str) -> None:
        """Change what differs from cloud to cloud."""
        with contextlib.closing(sqlite3.connect(self._state / database)) as connection:
            connection.execute(statement, values)
            connection.commit()


def _copy(source: pathlib.Path, target: pathlib.Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
        return
    target.parent.mkdir(exist_ok=True)
    # A service that runs may have written some of it into another file.
    with contextlib.ExitStack() as opened:
        source_of, target_of = (
            opened.enter_context(contextlib.closing(sqlite3.connect(path)))
            for path in (source, target)
        )
        source_of.backup(target_of)


# Whether all computes of the cloud can be scheduled to.


# The first versions of a flat hypervisor list and of a search by resources.
COMPUTE = {"OpenStack-API-Version": "compute 2.53"}
PLACEMENT = {"OpenStack-API-Version": "placement 1.4"}


class NotReady(RuntimeError):
    """The services are up, and yet not all computes can be used."""


def wait(site: Site, computes: int, seconds: float = PATIENCE) -> None:
    """Return when all computes are up in Nova and have capacity in Placement.

    What Neutron's agents say of them has to be in Placement, too.
    """
    token = {"X-Auth-Token": identity.token(site.auth_url)}
    end = time.monotonic() + seconds
    while True:
        up, providers = _hypervisors_up(site, token), _providers(site, token)
        if up == providers == computes and _agents_are_synced(site, token):
            return
        if time.monotonic() > end:
            raise NotReady(
                f"of {computes} computes {up} are up and {providers} have inventory"
            )
        time.sleep(0.2)


def _hypervisors_up(site: Site, token: dict[str, str]) -> int:
    url = first = f"{site.nova}/v2.1/os-hypervisors"
    up = 0
    while page := rest.call("GET", url, headers={**token, **COMPUTE}).body[
        "hypervisors"
    ]:
        up += sum(hypervisor["state"] == "up" for hypervisor in page)
        url = f"{first}?marker={page[-1]['id']}"
    return up


def _providers(site: Site, token: dict[str, str]) -> int:
    url = f"{site.placement}/resource_providers?resources=VCPU:1"
    answer = rest.call("GET", url, headers={**token, **PLACEMENT})
    return len(answer.body["resource_providers"])


def _agents_are_synced(site: Site, token: dict[str, str]) -> bool:
    if not site.volume:
        return True
    body = rest.call("GET", f"{site.network}/v2.0/agents", headers=token).body
    return all(agent["resources_synced"] for agent in body["agents"])
