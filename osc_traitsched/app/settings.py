"""How nova-scheduler is configured: what was said of it, and what the cloud tells."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Set

from osc_traitsched.cloud import lookup, read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.config import baseline, joining, rhoso
from osc_traitsched.config.joining import Named
from osc_traitsched.config.saved import Saved
from osc_traitsched.core import releases
from osc_traitsched.core.errors import BadConfiguration, CloudBroke
from osc_traitsched.core.nova.settings import SchedulerSettings

#: The trait with which a nova-compute of 2026.2 or later marks its providers.
OWNER_MARK = "OWNER_NOVA"


@dataclasses.dataclass(frozen=True)
class SettingsSources:
    """Where nova-scheduler's settings are to be found, since no API shows them.

    :ivar nova_release: Nova's major version, such as 23; None for the last release
        that has the compute API's highest microversion
    :ivar baseline: the distribution whose defaults apply, one of ``baseline.NAMES``;
        None for the one that the files are of
    :ivar nova_conf: paths of files and directories; the last one wins
    :ivar environments: paths of TripleO's environment files; the last one wins
    :ivar control_plane: the path of a file with RHOSO's OpenStackControlPlane
    :ivar options: single options, as ``section.option`` and text; they win over files
    :ivar found: what ``config.places.find`` returned; all of the above lies over it
    """

    nova_release: int | None = None
    baseline: str | None = None
    nova_conf: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    control_plane: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    found: Saved | None = None

    @property
    def names_files(self) -> bool:
        """Whether files are named, which then take the place of those found."""
        return bool(self.nova_conf or self.environments or self.control_plane)

    @property
    def conf_files(self) -> tuple[str, ...]:
        """The nova.conf that is named or found; none for the other Python's own."""
        if self.names_files or self.found is None:
            return self.nova_conf
        return self.found.nova_conf

    @property
    def release(self) -> int | None:
        """Nova's release, if it is named or found."""
        found = self.found.nova_release if self.found else None
        return found if self.nova_release is None else self.nova_release

    @property
    def ignored_rules(self) -> tuple[str, ...]:
        """The check's rules whose findings are not wanted."""
        return self.found.ignored_rules if self.found else ()

    @property
    def place(self) -> str | None:
        """Where the settings are from, one line; None if there are none."""
        named = self.names_files or self.baseline is not None or self.options
        places = ["the command line"] if named else []
        if self.found is not None:
            places.append(self.found.place)
        return ", over ".join(places) or None


def of_cloud(cloud: Cloud, sources: SettingsSources) -> SchedulerSettings:
    """What the sources say, and what the cloud tells of its scheduler.

    :raises BadConfiguration: for a file or a value that can't be
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
    """What the sources name; of a control plane what it says.

    :raises BadConfiguration: for a control plane that can't be read
    """
    found = sources.found or Saved("")
    files = sources if sources.names_files else found
    path = files.control_plane
    with _saying_what_names(found):
        plane = None if path is None else rhoso.read(path)
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
    """What the sources and the files they name say.

    :param files: as :func:`read_files` returns them
    :param max_microversion: the compute API's highest, such as ``2.96``, or None
        where it is not known; it tells the release that nobody named
    :raises BadConfiguration: for a file or a value that can't be
    """
    release = _release(sources, files, max_microversion)
    with _saying_what_names(sources.found or Saved("")):
        found = joining.assumptions(files, *release)
    place = dataclasses.replace(sources, options=()).place
    own = found.without_set
    # What nobody else said is assumed: there is nothing to compare with.
    own = own and (dataclasses.replace(own, place=place) if place else None)
    return dataclasses.replace(found, place=sources.place, without_set=own)


def with_compute_versions(
    assumed: SchedulerSettings, nodes: Set[str], unmarked: Set[str]
) -> SchedulerSettings:
    """The settings with whether every nova-compute is of 2026.2 or later.

    That is what such a Nova's scheduler asks. No API shows their versions, but those
    that are mark their providers with OWNER_NOVA (nova/compute/resource_tracker.py,
    ``_get_traits``). Without nodes it is unknown.

    :param nodes: the UUIDs of Nova's compute nodes; one that has no provider can't be
        marked, and does not tell
    :param unmarked: the UUIDs of the providers that lack OWNER_NOVA
    """
    if assumed.release < releases.OWNER_NOVA_RELEASE:
        return assumed
    new = not nodes & unmarked if nodes else None
    return _with_all_new(assumed, new)


def _with_all_new(assumed: SchedulerSettings, new: bool | None) -> SchedulerSettings:
    own = assumed.without_set
    own = own and _with_all_new(own, new)
    return dataclasses.replace(assumed, all_computes_new=new, without_set=own)


@contextlib.contextmanager
def _saying_what_names(found: Saved) -> Iterator[None]:
    """Have an error on a file as a whole say where that file was found named."""
    try:
        yield
    except BadConfiguration as exc:
        if exc.line is not None or exc.path not in found.files:
            raise
        reason = f"{exc.reason} (named by {found.place})"
        raise BadConfiguration(exc.path, None, reason, exc.value) from exc


def _baseline(sources: SettingsSources, found: Saved) -> str | None:
    # A file of one distribution says more than that another one was found.
    if sources.baseline or sources.environments or sources.control_plane:
        return sources.baseline
    return found.baseline


def _release(
    sources: SettingsSources, files: Named, max_microversion: str | None
) -> tuple[int, str, tuple[int, ...]]:
    """Nova's release, one line on how it is known, and those it may be too."""
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
