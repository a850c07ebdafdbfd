"""Keep how the scheduler is set, so that later commands find it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable

from osc_traitsched.app import settings
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.config import file, saved
from osc_traitsched.config.places import Places
from osc_traitsched.core.errors import BadConfiguration, OtherSettings
from osc_traitsched.core.nova.options import OPTIONS, Kind
from osc_traitsched.core.releases import RELEASES


@dataclasses.dataclass(frozen=True)
class Saving:
    """A document of settings to write.

    :ivar path: where it lies, or will
    :ivar text: what is to stand there
    :ivar present: what stands there now; None for no file
    """

    path: str
    text: str
    present: str | None

    @property
    def is_done(self) -> bool:
        """It stands there already."""
        return self.present == self.text


def plan(sources: SettingsSources, places: Places, force: bool = False) -> Saving:
    """Return the document that says what the sources say, in the user's own folder.

    Relative paths start at the working directory, and become absolute.

    :param force: whatever else stands in the file may go
    :raises BadConfiguration: for a file or a value that can't be, or that is not a file
    :raises OtherSettings: where the file says something else
    """
    for path in _paths(sources):
        _check_stays(path)
    settings.resolve(sources, settings.read_files(sources), None)
    path = places.own_document
    present = file.read(path) if os.path.lexists(file.located(path)) else None
    made = Saving(path, _text(sources), present)
    if present is not None and not made.is_done and not force:
        raise OtherSettings(path)
    return made


def save(saving: Saving) -> None:
    """Write the document as a whole, if it does not stand there yet.

    :raises BadConfiguration: when it can't be written
    """
    if not saving.is_done:
        file.write(saving.path, saving.text)


def _paths(sources: SettingsSources) -> tuple[str, ...]:
    plane = () if sources.control_plane is None else (sources.control_plane,)
    return (*sources.nova_conf, *sources.environments, *plane)


def _check_stays(path: str) -> None:
    """Accept a file or a directory; a pipe is gone when the command ends."""
    found = file.located(path)
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
    """Return options by name; all texts of one that takes several."""
    found: dict[str, str | list[str]] = {}
    for name, text in given:
        before = found.get(name, [])
        is_several = OPTIONS[name].kind is Kind.MULTI and isinstance(before, list)
        found[name] = [*before, text] if is_several else text
    return found


def _absolute(paths: Iterable[str]) -> list[str]:
    return [os.path.abspath(file.located(path)) for path in paths]
