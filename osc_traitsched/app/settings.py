"""The scheduler's settings: read, saved, and turned on in a deployment."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import re
import stat
from collections.abc import Iterable, Iterator, Set

from osc_traitsched.cloud import lookup, read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.config import baseline, deployments, document, joining, saved
from osc_traitsched.config.joining import Named
from osc_traitsched.config.saved import Places, Saved
from osc_traitsched.core import releases
from osc_traitsched.core.errors import BadConfiguration, CloudBroke, OtherSettings
from osc_traitsched.core.nova import settings
from osc_traitsched.core.nova.filter import table
from osc_traitsched.core.nova.options import OPTIONS, OptionType
from osc_traitsched.core.nova.settings import SchedulerSettings, Switched
from osc_traitsched.core.releases import RELEASES

# Settings from files, options and the cloud.


#: The trait that marks the providers of a nova-compute of 2026.2 or later.
OWNER_MARK = "OWNER_NOVA"


@dataclasses.dataclass(frozen=True)
class SettingsSources:
    """Sources of nova-scheduler's settings, which no API shows.

    :ivar nova_release: Nova's major version, such as 23; None: the latest release with
        the compute API's highest microversion
    :ivar baseline: the distribution whose defaults apply, one of ``baseline.NAMES``;
        None: the distribution of the files
    :ivar nova_conf: paths of files and directories; the last one wins
    :ivar environments: paths of TripleO's environment files; the last one wins
    :ivar control_plane: path of a file with RHOSO's OpenStackControlPlane
    :ivar options: single options, as ``section.option`` and text; they win over files
    :ivar filters: whether host filters are on, by name; laid over enabled_filters
    :ivar found: the result of ``config.saved.find``; the other sources win over it
    """

    nova_release: int | None = None
    baseline: str | None = None
    nova_conf: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    control_plane: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    found: Saved | None = None
    filters: tuple[tuple[str, bool], ...] = ()

    @property
    def names_files(self) -> bool:
        """Whether files are named; they replace the found ones."""
        return bool(self.nova_conf or self.environments or self.control_plane)

    @property
    def conf_files(self) -> tuple[str, ...]:
        """Paths of nova.conf, named or found; empty: the other Python reads its own."""
        if self.names_files or self.found is None:
            return self.nova_conf
        return self.found.nova_conf

    @property
    def release(self) -> int | None:
        """Nova's release, if named or found."""
        found = self.found.nova_release if self.found else None
        return found if self.nova_release is None else self.nova_release

    @property
    def ignored_rules(self) -> tuple[str, ...]:
        """The rules of ``check`` to ignore."""
        return self.found.ignored_rules if self.found else ()

    @property
    def place(self) -> str | None:
        """The sources as one line; None if there are none."""
        single = bool(self.options or self.filters)
        named = self.names_files or self.baseline is not None or single
        places = ["the command line"] if named else []
        if self.found is not None:
            places.append(self.found.place)
        return ", over ".join(places) or None


def of_cloud(cloud: Cloud, sources: SettingsSources) -> SchedulerSettings:
    """Settings from the sources and the cloud.

    :raises BadConfiguration: for a bad file or value
    """
    assumed = resolve(sources, read_files(sources), cloud.compute_maximum)
    if assumed.release < releases.OWNER_NOVA_RELEASE:
        return assumed
    try:
        unmarked = read.providers_without(cloud.placement, OWNER_MARK)
    except CloudBroke as exc:
        # A Placement that does not know the trait has no provider with it.
        if exc.status == 400:
            return _with_all_new(assumed, False)
        raise
    nodes = {compute.uuid for compute in lookup.computes(cloud)}
    return with_compute_versions(assumed, nodes, unmarked)


def read_files(sources: SettingsSources) -> Named:
    """The files that the sources name; a control plane is parsed.

    :raises BadConfiguration: for a control plane that can't be read
    """
    found = sources.found or Saved("")
    files = sources if sources.names_files else found
    path = files.control_plane
    with _saying_what_names(found):
        plane = None if path is None else deployments.read(path)
    return Named(
        files.nova_conf,
        files.environments,
        plane,
        _baseline(sources, found),
        sources.options,
        saved=found.options,
        files_win=sources.names_files,
    )


def resolve(
    sources: SettingsSources, files: Named, max_microversion: str | None
) -> SchedulerSettings:
    """Settings from the sources and their files.

    :param files: of :func:`read_files`
    :param max_microversion: the compute API's highest, such as ``2.96``, or None; it
        tells the release if no source does
    :raises BadConfiguration: for a bad file or value
    :raises BadUsage: for an unknown host filter
    """
    release = _release(sources, files, max_microversion)
    with _saying_what_names(sources.found or Saved("")):
        found = joining.assumptions(files, *release)
    found = dataclasses.replace(found, files=files.files)
    place = dataclasses.replace(sources, options=(), filters=()).place
    own = found.without_set if sources.options else found
    if sources.filters:
        found = _with_filters(found, sources.filters)
    elif not sources.options:
        own = None
    # Without other sources there is nothing to compare with.
    own = own and (
        dataclasses.replace(own, place=place, files=files.files) if place else None
    )
    return dataclasses.replace(found, place=sources.place, without_set=own)


def with_compute_versions(
    assumed: SchedulerSettings, nodes: Set[str], unmarked: Set[str]
) -> SchedulerSettings:
    """The settings, with whether every nova-compute is of 2026.2 or later.

    The scheduler of such a Nova asks that. No API shows compute versions, but a new
    nova-compute marks its providers with OWNER_NOVA (nova/compute/resource_tracker.py,
    ``_get_traits``). Unknown if only some have it: the others are old, or lost it.

    :param nodes: UUIDs of Nova's compute nodes; one without a provider does not count
    :param unmarked: UUIDs of providers without OWNER_NOVA
    """
    if assumed.release < releases.OWNER_NOVA_RELEASE:
        return assumed
    left = nodes & unmarked
    is_mixed = bool(nodes - left) and bool(left)
    return _with_all_new(assumed, None if is_mixed or not nodes else not left)


def _with_all_new(assumed: SchedulerSettings, new: bool | None) -> SchedulerSettings:
    own = assumed.without_set
    own = own and _with_all_new(own, new)
    return dataclasses.replace(assumed, all_computes_new=new, without_set=own)


def _with_filters(
    assumed: SchedulerSettings, filters: Iterable[tuple[str, bool]]
) -> SchedulerSettings:
    others = tuple(_with_filters(each, filters) for each in assumed.others)
    changed = table.with_filters(assumed, filters)
    return dataclasses.replace(changed, others=others)


@contextlib.contextmanager
def _saying_what_names(found: Saved) -> Iterator[None]:
    """Add to an error about a whole file the place that names the file."""
    try:
        yield
    except BadConfiguration as exc:
        if exc.line is not None or exc.path not in found.files:
            raise
        reason = f"{exc.reason} (named by {found.place})"
        raise BadConfiguration(exc.path, None, reason, exc.value) from exc


def _baseline(sources: SettingsSources, found: Saved) -> str | None:
    # A file of one distribution beats a found baseline of another.
    if sources.baseline or sources.environments or sources.control_plane:
        return sources.baseline
    return found.baseline


def _release(
    sources: SettingsSources, files: Named, max_microversion: str | None
) -> tuple[int, str, tuple[int, ...]]:
    """Nova's release, its source as one line, and other possible releases."""
    if sources.nova_release is not None:
        return sources.nova_release, "--nova-release", ()
    if sources.found is not None and sources.found.nova_release is not None:
        return sources.found.nova_release, sources.found.release_source, ()
    if max_microversion:
        is_rhoso = files.control_plane is not None or files.baseline == baseline.RHOSO
        likely = releases.RHOSO_RELEASE if is_rhoso else None
        release, source = releases.release_behind(max_microversion, likely)
        if release == likely:
            return release, source, ()
        return release, source, releases.others_behind(max_microversion, release)
    return SchedulerSettings.release, SchedulerSettings.release_source, ()


# Save the settings for later commands.


@dataclasses.dataclass(frozen=True)
class Saving:
    """A document of settings to write.

    :ivar text: the new content
    :ivar present: the current content; None if there is no file
    """

    path: str
    text: str
    present: str | None

    @property
    def is_done(self) -> bool:
        """Whether the file has this content already."""
        return self.present == self.text


def plan_saving(
    sources: SettingsSources, places: Places, force: bool = False
) -> Saving:
    """The document with these sources, for the user's own folder.

    Relative paths become absolute, from the working directory.

    :param force: replace other settings in the file
    :raises BadConfiguration: for a bad file or value, or a path that is not a file
    :raises OtherSettings: if the file has other settings
    """
    for path in _paths(sources):
        _check_stays(path)
    resolve(sources, read_files(sources), None)
    path = places.own_document
    present = (
        document.read_text(path) if os.path.lexists(document.located(path)) else None
    )
    made = Saving(path, _text(sources), present)
    if present is not None and not made.is_done and not force:
        raise OtherSettings(path)
    return made


#: Keys of secrets, and values such as ``mysql://nova:password@host``.
_SECRET = re.compile(r"(.*_)?(password|secret)=.|.*=[^ ]*//[^/@ ]*:[^/@ ]+@")


def exposed(sources: SettingsSources) -> Iterator[str]:
    """Lines of named files with passwords, one a file, and what to do about them."""
    for ini in deployments.read_files(sources.nova_conf):
        secrets = (
            entry
            for (_, key), entry in ini.items()
            if _SECRET.match(f"{key}={entry.value}")
        )
        for entry in itertools.islice(secrets, 1):
            path = document.located(entry.path)
            is_open = bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))
            yield (
                f"{entry.source} has a password{', and others can read it' * is_open}; "
                "config doctor has a command that keeps only the lines that are read"
            )


def save(saving: Saving) -> None:
    """Write the document, if the file differs.

    :raises BadConfiguration: if it can't be written
    """
    if not saving.is_done:
        document.write(saving.path, saving.text)


def _paths(sources: SettingsSources) -> tuple[str, ...]:
    plane = () if sources.control_plane is None else (sources.control_plane,)
    return (*sources.nova_conf, *sources.environments, *plane)


def _check_stays(path: str) -> None:
    found = document.located(path)
    if found.exists() and not (found.is_file() or found.is_dir()):
        raise BadConfiguration(path, None, "not a file: nobody could read it again")


def _text(sources: SettingsSources) -> str:
    release, plane = sources.nova_release, sources.control_plane
    return saved.text(
        {
            saved.RELEASE: None if release is None else RELEASES[release],
            saved.BASELINE: sources.baseline,
            saved.NOVA_CONF: _absolute(sources.nova_conf),
            saved.ENVIRONMENTS: _absolute(sources.environments),
            saved.CONTROL_PLANE: None if plane is None else _absolute([plane])[0],
            saved.OPTIONS: _options(sources.options),
        }
    )


def _options(given: Iterable[tuple[str, str]]) -> dict[str, str | list[str]]:
    found: dict[str, str | list[str]] = {}
    for name, text in given:
        before = found.get(name, [])
        is_several = OPTIONS[name].kind is OptionType.MULTI and isinstance(before, list)
        found[name] = [*before, text] if is_several else text
    return found


def _absolute(paths: Iterable[str]) -> list[str]:
    return [os.path.abspath(document.located(path)) for path in paths]


# Configuration that turns prefilters on, for one kind of deployment.


NOVA_CONF, TRIPLEO, RHOSO = "nova-conf", "tripleo", "rhoso"


@dataclasses.dataclass(frozen=True)
class Fragment:
    """Configuration to add to a deployment.

    :ivar text: INI or YAML without comments; empty if nothing has to be set
    :ivar extends_file: built from the cloud's own files
    :ivar replaces: merging the fragment drops the deployment's present text, which is
        unknown here
    """

    turned: Switched
    text: str
    extends_file: bool
    replaces: bool


def turn_on(
    deployment: str, wanted: Iterable[str], files: Named, assumptions: SchedulerSettings
) -> Fragment:
    """Configuration that turns on names of ``switches()``.

    :param deployment: :data:`NOVA_CONF`, :data:`TRIPLEO` or :data:`RHOSO`
    :param files: of ``settings.read_files``
    :param assumptions: the settings in those files
    :raises NotInRelease: for a switch that the release lacks
    :raises NoParameter: for a setting without a TripleO parameter
    """
    turned = settings.switch(wanted, assumptions)
    text = _fragment_text(deployment, turned, files)
    replaces = deployment == RHOSO and files.control_plane is None
    return Fragment(turned, text, bool(files.files), replaces)


def _fragment_text(deployment: str, turned: Switched, files: Named) -> str:
    if deployment == TRIPLEO:
        return deployments.environment(turned.values, turned.assumptions.release)
    if deployment == RHOSO:
        present = files.control_plane.scheduler.text if files.control_plane else ""
        return deployments.control_plane(turned.values, present)
    return deployments.nova_conf_text(turned.values)
