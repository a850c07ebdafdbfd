"""The configuration room: where a cloud's settings lie when nobody names them."""

from __future__ import annotations

import dataclasses
import os
import urllib.parse
from collections.abc import Callable, Mapping

from osc_traitsched.config import document, nova_conf, saved
from osc_traitsched.config.document import Branch
from osc_traitsched.config.saved import Saved
from osc_traitsched.core.errors import BadConfiguration

#: The environment variable with a document's path. It does not begin with OS_: to the
#: SDK such a one is a part of a cloud of its own, named envvars.
VARIABLE = "TRAITSCHED_SETTINGS"
#: The key of a cloud's entry in clouds.yaml.
KEY = "traitsched"
#: The name of a cloud that has none.
DEFAULT = "default"

SYSTEM_FOLDER = "/etc/osc-traitsched"

#: nova-scheduler's files on a controller. Tools that run it in a container keep them
#: apart; such a host may have a package's own nova.conf as well, which nobody reads.
#: oslo.config reads the directories last (oslo_config/cfg.py, find_config_dirs).
ON_CONTROLLERS: Mapping[str, tuple[str, ...]] = {
    "Kolla's, on this host": ("/etc/kolla/nova-scheduler/nova.conf",),
    "TripleO's, on this host": (
        "/var/lib/config-data/puppet-generated/nova/etc/nova/nova.conf",
    ),
    "on this host": (
        "/etc/nova/nova.conf",
        "/etc/nova/nova-scheduler.conf",
        "/etc/nova/nova.conf.d",
        "/etc/nova/nova-scheduler.conf.d",
    ),
}


@dataclasses.dataclass(frozen=True)
class Places:
    """What the places depend on.

    :ivar cloud: its name in clouds.yaml
    :ivar region: its name, or empty for the cloud's own
    :ivar clouds_file: the clouds.yaml in use, if the cloud has settings in it
    :ivar variables: the environment
    """

    cloud: str = DEFAULT
    region: str = ""
    clouds_file: str | None = None
    variables: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def own_document(self) -> str:
        """The path of the cloud's document in the user's own folder."""
        base = self.variables.get("XDG_CONFIG_HOME", "")
        folder = base if os.path.isabs(base) else "~/.config"
        return os.path.join(folder, "osc-traitsched", self._file_name)

    @property
    def system_document(self) -> str:
        """The path of the cloud's document for all users of this host."""
        return os.path.join(SYSTEM_FOLDER, self._file_name)

    @property
    def _file_name(self) -> str:
        # No name of a cloud leads out of the folder.
        return urllib.parse.quote(os.fsencode(self.cloud), safe=" ") + ".yaml"


def find(places: Places) -> Saved | None:
    """Return what the first place says that says anything; None if none does.

    :raises BadConfiguration: for a document that can't be read, or a value in it
    """
    lookups: tuple[Callable[[Places], Saved | None], ...] = (
        _of_variable,
        _of_clouds_file,
        _of_own_document,
        _of_system_document,
        _of_controller,
    )
    return next(filter(None, (look(places) for look in lookups)), None)


def _of_variable(places: Places) -> Saved | None:
    path = places.variables.get(VARIABLE)
    if not path:
        return None
    if not os.path.exists(os.path.expanduser(path)):
        raise BadConfiguration(VARIABLE, None, "no such file", path)
    return saved.read(path, f"{path} ({VARIABLE})")


def _of_clouds_file(places: Places) -> Saved | None:
    if places.clouds_file is None:
        return None
    for top in document.read(places.clouds_file):
        entry = top.find("clouds", places.cloud)
        if entry is None:
            continue
        settings = _of_region(entry, places.region) or entry.find(KEY)
        if settings is not None:
            place = f"{places.clouds_file}:{settings.line} (cloud {places.cloud})"
            return saved.parse(settings, place)
    reason = f"{KEY} must stand in the cloud's own entry of clouds.yaml"
    raise BadConfiguration(places.clouds_file, None, reason, places.cloud)


def _of_region(entry: Branch, name: str) -> Branch | None:
    """Return the settings that a region has for itself."""
    regions = entry.find("regions")
    for region in (regions.items() or []) if regions else []:
        named = region.find("name") if region.text() is None else None
        if named is not None and named.text() == name:
            return region.find("values", KEY)
    return None


def _of_own_document(places: Places) -> Saved | None:
    return _of_document(places.own_document)


def _of_system_document(places: Places) -> Saved | None:
    return _of_document(places.system_document)


def _of_document(path: str) -> Saved | None:
    if not os.path.lexists(os.path.expanduser(path)):
        return None
    return saved.read(path, path)


def _of_controller(places: Places) -> Saved | None:
    for whose, paths in ON_CONTROLLERS.items():
        found = tuple(filter(os.path.exists, paths))
        if found[:1] == paths[:1] and all(map(_is_readable, found)):
            return Saved(f"{paths[0]} ({whose})", nova_conf=found)
    return None


def _is_readable(path: str) -> bool:
    try:
        return all(os.access(each, os.R_OK) for each in nova_conf.files_of(path))
    except BadConfiguration:
        return False
