"""A cloud as one value: start it, be any of its users, read its logs, stop it."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import tempfile
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tests.cloud import config, identity
from tests.cloud.startup import Startup, listeners
from tests.services import process
from tests.services.children import Children
from tests.services.release import Release, chosen

if TYPE_CHECKING:
    from openstack.connection import Connection

ISOLATION = "scheduler.enable_isolated_aggregate_filtering=true"
#: nova-scheduler remembers which servers a host has, and forgets one that was
#: evacuated from there, even if it is deleted since, only when nova-compute next sends
#: its list ([DEFAULT]scheduler_instance_sync_interval). With this it reads them anew.
REMEMBERS_NO_SERVERS = "filter_scheduler.track_instance_changes=false"


class Cloud:
    """Keystone, Placement, Glance and Nova with fake computes, on loopback.

    A release may have Neutron and Cinder as well.

    ``state`` is the folder for databases, logs and images: an empty one that is kept,
    or None for a temporary one. ``nova_options`` and those of the other services are
    ``SECTION.KEY=VALUE`` each. The computes are named cmp00, cmp01 and so on;
    ``hypervisors`` says for some of them what else their hypervisors report.
    """

    def __init__(
        self,
        state: str | os.PathLike[str] | None = None,
        computes: int = 4,
        nova_options: Sequence[str] = (ISOLATION,),
        glance_options: Sequence[str] = (),
        keystone_options: Sequence[str] = (),
        release: Release | None = None,
        hypervisors: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.computes = computes
        self.release = release or chosen()
        self.nova_options = tuple(config.option(text) for text in nova_options)
        self._options = {
            "nova.conf": self.nova_options,
            "glance-api.conf": tuple(map(config.option, glance_options)),
            "keystone.conf": tuple(map(config.option, keystone_options)),
        }
        self._hypervisors = hypervisors or {}
        self._given = None if state is None else pathlib.Path(state).absolute()

    def start(self) -> Cloud:
        """Return when all computes can be scheduled to.

        Raises ChildFailed or another RuntimeError that says which service failed.
        """
        installation = self.release.python().parents[1]
        self.state = self._make_state()
        self._children = Children(self.state, self.release)
        try:
            sockets = listeners(self.release)
            urls = {name: process.url_of(sockets[name]) for name in sockets}
            self._site = config.Site(self.state, installation, **urls)
            config.write_all(self._site, self._options)
            different = json.dumps(self._hypervisors)
            (self.state / "hypervisors.json").write_text(different)
            Startup(
                self._site, self._children, sockets, self.computes, self.release
            ).run()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop all services; a temporary state is removed."""
        self._children.stop()
        if self._given is None:
            shutil.rmtree(self.state, ignore_errors=True)

    @property
    def environment(self) -> dict[str, str]:
        """The OS_* variables of the administrator."""
        return self.environment_of("admin")

    def environment_of(self, name: str) -> dict[str, str]:
        """Return the OS_* variables of the user called admin, demo or reader."""
        user = {user.name: user for user in identity.USERS}[name]
        return identity.environment(self._site.auth_url, user)

    def admin(self) -> Connection:
        """Return a new connection of the administrator."""
        return self.connection_of("admin")

    def connection_of(self, name: str) -> Connection:
        """Return a new connection of the user called admin, demo or reader."""
        # Servers can be started where no OpenStack client is installed.
        import openstack

        variables = self.environment_of(name)
        return openstack.connect(
            load_yaml_config=False,
            load_envvars=False,
            **{key[len("OS_") :].lower(): value for key, value in variables.items()},
        )

    def forget_evacuations(self) -> None:
        """Let nova-computes forget whom they lost, as they do when they are restarted.

        Until then nova-api does not let one be up again.
        """
        with contextlib.closing(sqlite3.connect(self.state / "nova.db")) as cell:
            cell.execute(
                "UPDATE migrations SET status = 'completed' "
                "WHERE migration_type = 'evacuation' AND status = 'done'"
            )
            cell.commit()

    def log(self, name: str) -> pathlib.Path:
        """Return the log of keystone, placement, glance, nova, network or volume."""
        return self.state / f"{name}.log"

    @property
    def nova_conf(self) -> pathlib.Path:
        return self.state / "nova.conf"

    def _make_state(self) -> pathlib.Path:
        if self._given is None:
            return pathlib.Path(tempfile.mkdtemp(prefix="traitsched-cloud-"))
        self._given.mkdir(parents=True, exist_ok=True)
        if any(self._given.iterdir()):
            raise ValueError(f"{self._given} is not empty")
        return self._given

    def __enter__(self) -> Cloud:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
