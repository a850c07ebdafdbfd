"""The configuration room: everything that was named, as one set of assumptions."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence

from osc_traitsched.config import baseline, deployments
from osc_traitsched.config import nova_conf as ini
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import table
from osc_traitsched.core.nova.options import options_in
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting
from osc_traitsched.core.nova.weigher import ranking


@dataclasses.dataclass(frozen=True)
class Named:
    """What the user named, each kind in the order given.

    :ivar nova_conf: files and directories
    :ivar environments: TripleO environment files
    :ivar control_plane: of RHOSO
    :ivar baseline: one of :data:`baseline.NAMES`, or None for what the rest says
    :ivar given: the names and texts of options set by hand
    :ivar saved: the options of a settings document
    :ivar files_win: the files win over those options: they are not the document's own
    """

    nova_conf: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    control_plane: deployments.ControlPlane | None = None
    baseline: str | None = None
    given: tuple[tuple[str, str], ...] = ()
    saved: ini.Ini = dataclasses.field(default_factory=dict)
    files_win: bool = False

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of all files of the cloud's own."""
        plane = (self.control_plane.scheduler.path,) if self.control_plane else ()
        return (*self.nova_conf, *self.environments, *plane)


#: The source of what was set by hand.
BY_HAND = "--set"


def assumptions(
    named: Named, release: int, release_source: str, others: Iterable[int] = ()
) -> SchedulerSettings:
    """Join what was named: what comes later here overrides the rest.

    The release's defaults, the baseline, TripleO's files or the control plane,
    nova.conf, the options of a settings document, and what was set by hand. But files
    that are not the document's own win over its options. Each file is read once.

    :param others: the releases that it may be as well; one whose Nova would not take
        the files is left out
    :raises BadConfiguration: for a file or a value that can't be
    """
    environment = deployments.settings(named.environments)
    extra = deployments.extra_config(named.environments)
    # Its text becomes the last file of nova.conf.d on such a control plane.
    plane = [] if named.control_plane is None else [named.control_plane.entries]
    above = () if named.files_win else (named.saved,)
    files = (
        extra,
        *plane,
        *deployments.read_files(named.nova_conf),
        *above,
        _by_hand(named),
    )
    make = functools.partial(_of_release, named, environment, files, release_source)
    found = make(release)
    possible = []
    for other in others:
        with contextlib.suppress(BadConfiguration):
            possible.append(make(other))
    without_set = None
    with contextlib.suppress(BadConfiguration):
        beneath = files[:-1]
        without_set = _of_release(named, environment, beneath, release_source, release)
    return dataclasses.replace(
        found,
        others=tuple(possible),
        without_set=without_set if named.given else None,
    )


def _of_release(
    named: Named,
    environment: Mapping[str, Setting],
    files: Sequence[ini.Ini],
    source: str,
    release: int,
) -> SchedulerSettings:
    """Return what the files come to in one release.

    :raises BadConfiguration: for a value that can't be
    """
    below = dict(baseline.settings(_baseline(named), release))
    if named.files_win:
        below.update(ini.settings((named.saved,), release, below))
    below.update(environment)
    settings = {**below, **ini.settings(files, release, below)}
    known = {option.name for option in options_in(release)}
    defaults = SchedulerSettings(release, settings)
    no_effect = ini.without_effect(files, release)
    if ranking.has_own(defaults) or table.has_own(defaults):
        # Own filters and weighers have options of their own.
        no_effect = tuple(each for each in no_effect if each.meant)
    for each in no_effect:
        setting = defaults.setting(each.meant) if each.meant else None
        if each.meant and setting and not setting.given:
            note = f"{setting.source}; {each.source} has no effect"
            if each.is_unread:
                note = f"{each.source}: seen, not read"
            settings[each.meant] = dataclasses.replace(setting, source=note)
    for name in _options_of_tool(named):
        if name in settings:
            tool = "tripleo" if named.environments else "rhoso"
            settings[name] = dataclasses.replace(settings[name], tool=tool)
    return SchedulerSettings(
        release,
        {name: each for name, each in settings.items() if name in known},
        source,
        ignored=tuple(
            (name, each.source)
            for name, each in settings.items()
            if name not in known and each.given
        ),
        no_effect=no_effect,
    )


def _options_of_tool(named: Named) -> Iterable[str]:
    """The options to set by the deployment tool whose files are named, by name."""
    if named.environments:
        return deployments.PARAMETERS.values()
    return options.OPTIONS if named.control_plane is not None else ()


def _baseline(named: Named) -> str:
    if named.baseline is not None:
        return named.baseline
    if named.control_plane is not None:
        return baseline.RHOSO
    return baseline.TRIPLEO if named.environments else baseline.UPSTREAM


def _by_hand(named: Named) -> ini.Ini:
    found: dict[tuple[str, str], ini.Entry] = {}
    for name, text in named.given:
        ini.put(found, ini.section_and_key(name), ini.Entry(text, BY_HAND))
    return found
