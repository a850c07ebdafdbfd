"""Settings that were saved: where they are, and what they hold."""

from __future__ import annotations

import dataclasses
import os
import urllib.parse
from collections.abc import Callable, Iterator, Mapping

import yaml

from osc_traitsched.config import baseline, document, nova_conf
from osc_traitsched.config.document import Branch
from osc_traitsched.config.nova_conf import Entry, Ini, put, section_and_key
from osc_traitsched.core import releases
from osc_traitsched.core.diagnosis import OnMachine
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import Option, OptionType

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


#: What deployment tools build nova.conf from. The tool's baseline is what they leave
#: out; without one, the file is not nova.conf and can't be read here.
INPUTS: Mapping[str, tuple[str, str | None]] = {
    "/etc/kolla/config/nova.conf": ("input of kolla-ansible", baseline.KOLLA),
    "/etc/kolla/config/nova/nova-scheduler.conf": (
        "input of kolla-ansible",
        baseline.KOLLA,
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


def _of_variable(places: Places) -> Saved | None:
    path = places.variables.get(VARIABLE)
    if not path:
        return None
    if not os.path.exists(os.path.expanduser(path)):
        raise BadConfiguration(VARIABLE, None, "no such file", path)
    return read(path, f"{path} ({VARIABLE})")


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
            return parse(settings, place)
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
    return read(path, path)


def _of_controller(places: Places) -> Saved | None:
    for whose, paths in ON_CONTROLLERS.items():
        found = tuple(filter(os.path.exists, paths))
        if found[:1] == paths[:1] and all(map(_is_readable, found)):
            return Saved(f"{paths[0]} ({whose})", nova_conf=found)
    return None


def _is_readable(path: str) -> bool:
    try:
        files = map(os.path.expanduser, nova_conf.files_of(path))
        return all(os.access(each, os.R_OK) for each in files)
    except BadConfiguration:
        return False


# What is known of a cloud's scheduler, as one document.


RELEASE, BASELINE, NOVA_CONF = "nova_release", "baseline", "nova_conf"
ENVIRONMENTS, CONTROL_PLANE = "environments", "control_plane"
OPTIONS, IGNORE_RULES = "options", "ignore_rules"
KEYS = (
    RELEASE,
    BASELINE,
    NOVA_CONF,
    ENVIRONMENTS,
    CONTROL_PLANE,
    OPTIONS,
    IGNORE_RULES,
)


@dataclasses.dataclass(frozen=True)
class Saved:
    """Settings that were found, so that nobody had to name them.

    :ivar place: where, one line for a person
    :ivar nova_release: Nova's major version; None if nothing is said of it
    :ivar release_source: the line that says it
    :ivar baseline: one of ``baseline.NAMES``
    :ivar options: single options with their lines; they win over the files
    :ivar ignored_rules: the check's rules whose findings are not wanted
    """

    place: str
    nova_release: int | None = None
    release_source: str = ""
    baseline: str | None = None
    nova_conf: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    control_plane: str | None = None
    options: Ini = dataclasses.field(default_factory=dict)
    ignored_rules: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """All files and directories that it names."""
        plane = () if self.control_plane is None else (self.control_plane,)
        return (*self.nova_conf, *self.environments, *plane)


def read(path: str, place: str) -> Saved | None:
    """Return what a document says; None for one that says nothing.

    :raises BadConfiguration: for a file that can't be read, or is no such document
    """
    documents = document.read(path)
    if len(documents) > 1:
        raise documents[1].bad("a second document: a file of settings has one")
    return parse(documents[0], place) if documents else None


def parse(top: Branch, place: str) -> Saved | None:
    """Return what a mapping says; None if it says nothing.

    :raises BadConfiguration: for a key or a value that can't be
    """
    said = {name: each for name, each in top.children().items() if not each.is_null}
    for name, each in said.items():
        if name not in KEYS:
            raise each.bad(f"is not one of {', '.join(KEYS)}")
    if ENVIRONMENTS in said and CONTROL_PLANE in said:
        raise top.bad(f"{ENVIRONMENTS} and {CONTROL_PLANE}: a cloud has one of both")
    if not said:
        return None
    release, plane = said.get(RELEASE), said.get(CONTROL_PLANE)
    return Saved(
        place,
        nova_release=_release(release) if release else None,
        release_source=f"{top.path}:{release.line}" if release else "",
        baseline=_baseline(said.get(BASELINE)),
        nova_conf=_paths(said.get(NOVA_CONF)),
        environments=_paths(said.get(ENVIRONMENTS)),
        control_plane=_path(plane) if plane else None,
        options=_options(said.get(OPTIONS)),
        ignored_rules=_texts(said.get(IGNORE_RULES)),
    )


def text(values: Mapping[str, object]) -> str:
    """Return a document, of values by :data:`KEYS`; what is empty is left out."""
    said = {key: values[key] for key in KEYS if values.get(key)}
    return yaml.safe_dump(said, sort_keys=False, allow_unicode=True)


def _release(branch: Branch) -> int:
    written = _text(branch)
    found = releases.release_named(written)
    if found is None:
        known = ", ".join(releases.RELEASES.values())
        raise branch.bad(f"is not one of {known}", written)
    return found


def _baseline(branch: Branch | None) -> str | None:
    if branch is None:
        return None
    written = _text(branch)
    if written not in baseline.NAMES:
        raise branch.bad(f"is not one of {', '.join(baseline.NAMES)}", written)
    return written


def _paths(branch: Branch | None) -> tuple[str, ...]:
    return tuple(_path(each) for each in _items(branch))


def _path(branch: Branch) -> str:
    written = _text(branch)
    if not written:
        raise branch.bad("is empty")
    if written.startswith("~"):
        return written
    return os.path.normpath(os.path.join(os.path.dirname(branch.path), written))


def _options(branch: Branch | None) -> Ini:
    found: dict[tuple[str, str], Entry] = {}
    for written, each in (branch.children() if branch else {}).items():
        name = options.option_name(written)
        if name is None:
            raise each.bad(f"is not one of {', '.join(options.OPTIONS)}")
        if not each.is_null:
            for value in _values(each, options.OPTIONS[name]):
                entry = Entry(value, each.path, each.line)
                put(found, section_and_key(name), entry)
    return found


def _values(branch: Branch, option: Option) -> list[str]:
    """Return the texts of an option: one, unless it takes several."""
    texts = list(map(_text, _items(branch)))
    if option.kind is OptionType.MULTI or branch.items() is None:
        return texts
    return [",".join(texts)]


def _texts(branch: Branch | None) -> tuple[str, ...]:
    return tuple(map(_text, _items(branch)))


def _items(branch: Branch | None) -> list[Branch]:
    """Return what a list has; a single text is a list of one."""
    if branch is None:
        return []
    items = branch.items()
    return [branch] if items is None else items


def _text(branch: Branch) -> str:
    written = branch.text()
    if written is None or branch.is_null:
        raise branch.bad("is not a text")
    return written
