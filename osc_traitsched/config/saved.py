"""The configuration room: what is known of a cloud's scheduler, as one document.

The document names the files, and says the rest itself. It is a YAML mapping; null is
as good as nothing. Relative paths start where the document lies.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping

import yaml

from osc_traitsched.config import baseline, document
from osc_traitsched.config.document import Branch
from osc_traitsched.config.nova_conf import Entry, Ini, put, section_and_key
from osc_traitsched.core import releases
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import Kind, Option

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
    if option.kind is Kind.MULTI or branch.items() is None:
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
