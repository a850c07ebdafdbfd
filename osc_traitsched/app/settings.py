"""How nova-scheduler is configured: what was said of it, and what the cloud tells."""

from __future__ import annotations

import dataclasses
from collections.abc import Set

from osc_traitsched.cloud import lookup, read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.config import baseline, joining, rhoso
from osc_traitsched.config.joining import Named
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.nova import releases
from osc_traitsched.core.nova.settings import SchedulerSettings

#: The trait with which a nova-compute of 2026.2 or later marks its providers.
OWNER_MARK = "OWNER_NOVA"


@dataclasses.dataclass(frozen=True)
class SettingsSources:
    """Where nova-scheduler's settings are to be found, since no API shows them.

    :ivar nova_release: Nova's major version, such as 23; None for the last release
        that has the compute API's highest microversion
    :ivar baseline: the distribution whose defaults apply: ``upstream``, ``tripleo`` or
        ``rhoso``; None for the one that the files are of
    :ivar nova_conf: paths of files and directories; the last one wins
    :ivar environments: paths of TripleO's environment files; the last one wins
    :ivar control_plane: the path of a file with RHOSO's OpenStackControlPlane
    :ivar options: single options, as ``section.option`` and text; they win over files
    """

    nova_release: int | None = None
    baseline: str | None = None
    nova_conf: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    control_plane: str | None = None
    options: tuple[tuple[str, str], ...] = ()


def of_cloud(cloud: Cloud, sources: SettingsSources) -> SchedulerSettings:
    """Return what the sources say, and what the cloud tells of its scheduler.

    :raises BadConfiguration: for a file or a value that can't be
    :raises CloudBroke: when Nova or Placement can't be read
    """
    assumed = resolve(sources, read_files(sources), cloud.compute_maximum)
    if assumed.release < releases.OWNER_NOVA_RELEASE:
        return assumed
    try:
        unmarked = read.lackers(cloud.placement, OWNER_MARK)
    except CloudBroke as exc:
        # A Placement that does not know the trait has no provider with it.
        if exc.status == 400:
            return dataclasses.replace(assumed, all_computes_new=False)
        raise
    nodes = {compute.uuid for compute in lookup.computes(cloud)}
    return with_compute_versions(assumed, nodes, unmarked)


def read_files(sources: SettingsSources) -> Named:
    """Return what the sources name; of a control plane what it says.

    :raises BadConfiguration: for a control plane that can't be read
    """
    path = sources.control_plane
    return Named(
        sources.nova_conf,
        sources.environments,
        None if path is None else rhoso.read(path),
        sources.baseline,
        sources.options,
    )


def resolve(
    sources: SettingsSources, files: Named, max_microversion: str | None
) -> SchedulerSettings:
    """Return what the sources and the files they name say.

    :param files: as :func:`read_files` returns them
    :param max_microversion: the compute API's highest, such as ``2.96``, or None
        where it is not known; it tells the release that nobody named
    :raises BadConfiguration: for a file or a value that can't be
    """
    return joining.assumptions(files, *_release(sources, max_microversion))


def with_compute_versions(
    assumed: SchedulerSettings, nodes: Set[str], unmarked: Set[str]
) -> SchedulerSettings:
    """Return the settings with whether every nova-compute is of 2026.2 or later.

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
    return dataclasses.replace(assumed, all_computes_new=new)


def _release(
    sources: SettingsSources, max_microversion: str | None
) -> tuple[int, str, tuple[int, ...]]:
    """Return Nova's release, one line on how it is known, and those it may be too."""
    if sources.nova_release is not None:
        return sources.nova_release, "--nova-release", ()
    if max_microversion:
        is_rhoso = sources.control_plane is not None or (
            sources.baseline == baseline.RHOSO
        )
        likely = releases.RHOSO_RELEASE if is_rhoso else None
        release, source = releases.release_behind(max_microversion, likely)
        if release == likely:
            return release, source, ()
        return release, source, releases.others_behind(max_microversion, release)
    return SchedulerSettings.release, SchedulerSettings.release_source, ()
