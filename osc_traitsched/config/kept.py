"""Settings as a snapshot of a cloud keeps them: values with their places, no files."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from osc_traitsched.config.joining import COMMAND_LINE, SettingsSources
from osc_traitsched.config.nova_conf import Entry, Ini, Layer, put
from osc_traitsched.config.sources import SET, SOURCES, file_sources
from osc_traitsched.config.unread import unread
from osc_traitsched.core.nova.options import OPTIONS, NoEffect
from osc_traitsched.core.releases import RELEASES
from osc_traitsched.text import listed

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
    """Entries of options, and of lines that were meant to be some."""
    return {
        (section, key): entry
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
