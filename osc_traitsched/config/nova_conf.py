"""The configuration room: nova.conf and its folders, as Nova itself reads them.

Parser, types and templates are oslo.config's. What comes between is done here,
since its ConfigOpts reads nothing but paths and does not say on which line a
value stands; the tests hold the two against each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from oslo_config import cfg

from osc_traitsched.config import file, ini, values
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.nova.options import OPTIONS, Kind, Option
from osc_traitsched.core.nova.settings import Setting

#: The characters of one value, and of all that references are replaced by; and how
#: many options may refer to each other in a row.
_MOST = 100_000
_MOST_IN_A_ROW = 50


def read(paths: Iterable[str]) -> tuple[ini.Ini, ...]:
    """Read files, and of directories the ``*.conf`` in the order of their names.

    :raises BadConfiguration: when one can't be read, or there is none at all
    """
    paths = tuple(paths)
    files = [each for path in paths for each in files_of(path)]
    if paths and not files:
        raise BadConfiguration(paths[0], None, "a directory without any *.conf file")
    return tuple(ini.parse(ini.Text(path, file.read(path))) for path in files)


def settings(
    files: Sequence[ini.Ini], release: int, below: Mapping[str, Setting]
) -> Mapping[str, Setting]:
    """Return the settings that files make, the last file first in rank.

    The value of an option that the release does not have is left as written,
    since its Nova does not look at it.

    :param below: what holds where no file says otherwise; ``$other`` needs it
    :raises BadConfiguration: for a value that Nova refuses
    """
    reader = _Reader(files, release, below)
    found = ((option.name, reader.setting(option)) for option in OPTIONS.values())
    return {name: setting for name, setting in found if setting is not None}


def files_of(path: str) -> list[str]:
    """Return a file itself, or the ``*.conf`` of a directory.

    :raises BadConfiguration: for a directory that can't be read
    """
    folder = file.located(path)
    try:
        if not folder.is_dir():
            return [path]
        inside = [each for each in folder.iterdir() if each.suffix == ".conf"]
    except OSError as exc:
        raise file.unreadable(path, exc) from exc
    return sorted(str(each) for each in inside if not each.name.startswith("."))


class _Reader:
    """Looks options up as oslo_config/cfg.py does (ConfigOpts._do_get)."""

    def __init__(
        self, files: Sequence[ini.Ini], release: int, below: Mapping[str, Setting]
    ) -> None:
        self._files = tuple(reversed(files))
        self._release = release
        self._below = below
        self._referred = 0

    def setting(
        self, option: Option, asking: tuple[ini.Entry, ...] = ()
    ) -> Setting | None:
        """Return the setting that the files make of an option, if they do."""
        if option.kind is Kind.MULTI:
            return self._several(option)
        entry = self._entry(map(ini.section_and_key, option.names_in(self._release)))
        if entry is None:
            return None
        if not option.is_in(self._release):
            return Setting(entry.value, entry.source, given=True)
        text = self._substituted(entry, option.section, asking)
        try:
            value = values.parse(option, text)
        except ValueError as exc:
            section = f"[{option.section}] " if option.section else ""
            reason = f"{section}{option.key} is not {exc}"
            raise BadConfiguration(entry.path, entry.line, reason, text) from exc
        return Setting(value, entry.source, given=True)

    def _several(self, option: Option) -> Setting | None:
        """Return all values of an option: files and lines add to each other."""
        names = list(map(ini.section_and_key, option.names_in(self._release)))
        found = [
            entry
            for each in reversed(self._files)
            for name in reversed(names)
            if name in each
            for entry in each[name].every
        ]
        if not found:
            return None
        texts = [self._substituted(each, option.section, ()) for each in found]
        return Setting(tuple(texts), found[-1].source, given=True)

    def _entry(self, names: Iterable[tuple[str, str]]) -> ini.Entry | None:
        # A later file under an old name goes before an earlier one under the new.
        names = tuple(names)
        found = (each[name] for each in self._files for name in names if name in each)
        return next(found, None)

    def _substituted(
        self, entry: ini.Entry, section: str, asking: tuple[ini.Entry, ...]
    ) -> str:
        """Return a value with the values of other options in place of ``$other``."""
        if entry in asking:
            raise _bad(entry, "refers to itself")
        if len(entry.value) > _MOST:
            raise _bad(entry, f"a value of more than {_MOST} characters")
        if len(asking) > _MOST_IN_A_ROW:
            raise _bad(entry, "refers to too many others in a row")
        asking = (*asking, entry)
        template = cfg.ConfigOpts.Template(entry.value.replace(r"\$", "$$"))
        found = template.pattern.finditer(template.template)
        names = (match["named"] or match["braced"] for match in found)
        # Each time that one is named counts.
        others = {name: self._other(name, section, asking) for name in names if name}
        return str(template.safe_substitute(others))

    def _other(self, key: str, section: str, asking: tuple[ini.Entry, ...]) -> str:
        """Return what ``$key`` stands for in a section, as text."""
        text = self._looked_up(key, section, asking)
        self._referred += len(text) + 1
        if self._referred > _MOST:
            raise _bad(asking[-1], f"refers to more than {_MOST} characters")
        return text

    def _looked_up(self, key: str, section: str, asking: tuple[ini.Entry, ...]) -> str:
        in_default = f"{ini.DEFAULT}.{key}"
        names = (key,) if "." in key else (f"{section}.{key}", in_default)
        for each, key in map(ini.section_and_key, names):
            option = OPTIONS.get(f"{each}.{key}")
            if option is not None and option.is_in(self._release):
                return self._text(option, asking)
            entry = self._entry([(each, key)])
            if entry is not None:
                return self._substituted(entry, each, asking)
        raise _bad(asking[-1], "refers to an option that is set nowhere here")

    def _text(self, option: Option, asking: tuple[ini.Entry, ...]) -> str:
        found = self.setting(option, asking) or self._below.get(option.name)
        value = found.value if found else option.default_in(self._release)
        if isinstance(value, tuple):
            return str(list(value))
        return "" if value is None else str(value)


def _bad(entry: ini.Entry, reason: str) -> BadConfiguration:
    return BadConfiguration(entry.path, entry.line, reason, entry.value)
