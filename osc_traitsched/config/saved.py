"""Settings that were saved: where they are, and what they hold."""

from __future__ import annotations

import dataclasses
import os
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from osc_traitsched.config import deployments, document, nova_conf
from osc_traitsched.config.document import Branch
from osc_traitsched.config.nova_conf import Entry, Ini, Layer, put, unread
from osc_traitsched.config.sources import (
    COMMAND_LINE,
    NOVA,
    SET,
    SOURCES,
    SettingsSources,
    deployment_sources,
    file_sources,
)
from osc_traitsched.core.answer import OnMachine
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.nova.options import OPTIONS, NoEffect
from osc_traitsched.core.releases import RELEASES
from osc_traitsched.text import listed

# Settings that were saved: where they are, and what they hold.


# Where a cloud's settings lie when nobody names them.


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
    "Kolla's, on this host": (
        "/etc/kolla/nova-scheduler/nova.conf",
        "/etc/kolla/nova-api/nova.conf",
        "/etc/kolla/nova-conductor/nova.conf",
    ),
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


#: What deployment tools build nova.conf from. The tool's baseline is what they leave
#: out; without one, the file is not nova.conf and can't be read here.
INPUTS: Mapping[str, tuple[str, str | None]] = {
    "/etc/kolla/config/nova.conf": ("input of kolla-ansible", deployments.KOLLA),
    "/etc/kolla/config/nova/nova-scheduler.conf": (
        "input of kolla-ansible",
        deployments.KOLLA,
    ),
    "/etc/openstack_deploy/user_variables.yml": ("input of openstack-ansible", None),
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


def find(places: Places) -> SettingsSources | None:
    """What the first place that says anything says, if any; raises BadConfiguration."""
    return (
        _of_variable(places)
        or _of_clouds_file(places)
        or _of_document(places.own_document)
        or _of_document(places.system_document)
        or _of_controller()
    )


def on_machine(places: Places) -> Iterator[OnMachine]:
    """All files on this machine that can have settings, in use or not."""
    named = (places.variables.get(VARIABLE), places.own_document)
    for path in filter(None, (*named, places.system_document)):
        if os.path.exists(os.path.expanduser(path)):
            readable = _is_readable(path)
            yield OnMachine("settings document", (path,), readable, is_nova_conf=False)
    for whose, paths in ON_CONTROLLERS.items():
        found = tuple(filter(os.path.exists, paths))
        if found:
            yield OnMachine(whose, found, all(map(_is_readable, found)))
    for path, (whose, tool) in INPUTS.items():
        if os.path.exists(path):
            is_ini = tool is not None
            yield OnMachine(whose, (path,), _is_readable(path), is_ini, tool)


def _of_variable(places: Places) -> SettingsSources | None:
    path = places.variables.get(VARIABLE)
    if not path:
        return None
    if not os.path.exists(os.path.expanduser(path)):
        raise BadConfiguration(VARIABLE, None, "no such file", path)
    return read(path, f"{path} ({VARIABLE})")


def _of_clouds_file(places: Places) -> SettingsSources | None:
    if places.clouds_file is None:
        return None
    for top in document.read(places.clouds_file):
        entry = top.find("clouds", places.cloud)
        if entry is None:
            continue
        settings = _of_region(entry, places.region) or entry.find(KEY)
        if settings is not None:
            place = f"{places.clouds_file}:{settings.line} (cloud {places.cloud})"
            return parse(settings, place)
    reason = f"{KEY} must stand in the cloud's own entry of clouds.yaml"
    raise BadConfiguration(places.clouds_file, None, reason, places.cloud)


def _of_region(entry: Branch, name: str) -> Branch | None:
    regions = entry.find("regions")
    for region in (regions.items() or []) if regions else []:
        named = region.find("name") if region.text() is None else None
        if named is not None and named.text() == name:
            return region.find("values", KEY)
    return None


def _of_document(path: str) -> SettingsSources | None:
    if not os.path.lexists(os.path.expanduser(path)):
        return None
    return read(path, path)


def _of_controller() -> SettingsSources | None:
    for whose, paths in ON_CONTROLLERS.items():
        found = tuple(filter(os.path.exists, paths))
        if found[:1] == paths[:1] and all(map(_is_readable, found)):
            return SettingsSources(f"{paths[0]} ({whose})", nova_conf=found)
    return None


def _is_readable(path: str) -> bool:
    try:
        files = map(os.path.expanduser, nova_conf.files_of(path))
        return all(os.access(each, os.R_OK) for each in files)
    except BadConfiguration:
        return False


# A cloud's settings as one document.


def read(path: str, place: str) -> SettingsSources | None:
    """What a document says; None for one that says nothing; raises BadConfiguration."""
    documents = document.read(path)
    if len(documents) > 1:
        raise documents[1].bad("a second document: a file of settings has one")
    return parse(documents[0], place) if documents else None


def parse(top: Branch, place: str) -> SettingsSources | None:
    """What a mapping says; None if it says nothing; raises BadConfiguration."""
    keys = [name for name, source in SOURCES.items() if source.in_document]
    branches = {k: below for k, below in top.children().items() if not below.is_null}
    for key, branch in branches.items():
        if key not in keys:
            raise branch.bad(f"is not one of {', '.join(keys)}")
    names = [key for key in keys if key in branches]
    both = [tool.name for tool in deployment_sources(SOURCES[name] for name in names)]
    if len(both) > 1:
        raise top.bad(f"{' and '.join(both)}: a cloud has one of both")
    lines = {name: f"{top.path}:{branches[name].line}" for name in names}
    values = {name: SOURCES[name].parse(branches[name]) for name in names}
    if times := [each.read for each in values.get(NOVA.name, ())]:
        place += f" (Nova, read {min(times)[:16].replace('T', ' ')} UTC)"
    return SettingsSources(place, lines=lines, **values) if names else None


def text(sources: SettingsSources) -> str:
    """A document of what is named; paths become absolute."""
    values = {
        source.name: source.written(sources.named[source])
        for source in SOURCES.values()
        if source in sources.named and source.in_document
    }
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True)


# Settings as a snapshot of a cloud keeps them: values with their places, no files.

#: Section and key of each option that any release reads.
_READ = {
    tuple(name.rpartition(".")[::2])
    for option in OPTIONS.values()
    for release in RELEASES
    for name in option.names_in(release)
}


def to_json(sources: SettingsSources) -> dict[str, Any]:
    """The sources, with the options that are read from their files.

    :raises BadConfiguration: for a file that can't be read
    """
    # Named files win over a document's options, found files do not.
    names_files = bool(file_sources(sources.named))
    below = sources.entries[0 if names_files else -1]
    # Later there is no command line, but its files have names.
    place = sources.place
    if place and names_files:
        place = place.replace(COMMAND_LINE, listed(sources.paths))
    by_hand = SET.read(sources.named.get(SET, ()))
    return {
        "place": place,
        "named": {
            source.name: source.texts(value) if source.in_document else value
            for source, value in sources.used.items()
            if source is not SET
        },
        "options": [*_entries(below), *_entries(by_hand)],
        "lines": dict(sources.lines),
        "files": {
            source.name: [_entries(_read(layer.entries)) for layer in layers]
            for source, layers in sources.layers.items()
        },
    }


def from_json(found: Mapping[str, Any]) -> SettingsSources:
    """The sources; their files are not read again."""
    values: dict[str, Any] = {}
    for name, texts in found["named"].items():
        source = SOURCES[name]
        if not source.in_document:
            values[name] = tuple(tuple(each) for each in texts)
        elif source.is_list:
            values[name] = tuple(map(source.value, texts))
        else:
            values[name] = source.value(texts[0])
    values[SET.name] = tuple(
        (f"{section}.{key}" if section else key, entry)
        for (section, key), entry in _pairs(found["options"])
    )
    sources = SettingsSources(found["place"], lines=found["lines"], **values)
    vars(sources)["layers"] = {
        SOURCES[name]: tuple(Layer(_ini(each)) for each in layers)
        for name, layers in found["files"].items()
    }
    return sources


def _read(entries: Ini) -> Ini:
    """Entries of options, and of lines that were meant to be some, without values.

    Options of other programs can be among these, such as passwords of own filters.
    """
    return {
        (section, key): entry
        if (section, key) in _READ
        else dataclasses.replace(entry, value="", every=[])
        for (section, key), entry in entries.items()
        if (section, key) in _READ
        or entry.no_effect
        or any(unread(section, key, release, "") for release in RELEASES)
    }


def _entries(entries: Ini) -> list[list[Any]]:
    return [
        [
            *(section, key, each.value, each.path, each.line, each.note, _why(each)),
            each.service,
        ]
        for (section, key), entry in entries.items()
        for each in (*entry.every[:-1], entry)
    ]


def _why(entry: Entry) -> dict[str, Any] | None:
    return dataclasses.asdict(entry.no_effect) if entry.no_effect else None


def _pairs(rows: list[list[Any]]) -> Iterator[tuple[tuple[str, str], Entry]]:
    # Older snapshots tell no services apart.
    for section, key, value, path, line, note, why, *service in rows:
        no_effect = None
        if why:
            no_effect = NoEffect(**{**why, "nearest": tuple(why["nearest"])})
        yield (section, key), Entry(value, path, line, note, no_effect, *service)


def _ini(rows: list[list[Any]]) -> Ini:
    entries: dict[tuple[str, str], Entry] = {}
    for name, entry in _pairs(rows):
        put(entries, name, entry)
    return entries
