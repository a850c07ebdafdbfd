"""Where each part of a server's request is from, in lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from osc_traitsched.core.existing.parts import Name, Part, Source

#: The options that say what is not known.
OPTIONS = {
    Name.PROPERTIES: "--image-property",
    Name.MORE: "--image-property",
    Name.ZONE: "--availability-zone",
    Name.HOST: "--availability-zone",
    Name.HINTS: "--hint",
    Name.GROUP: "--server-group",
    Name.PORTS: "--port",
    Name.VOLUME: "--volume",
}

_SOURCES = {
    Source.SERVER: "as Nova keeps it with the server",
    Source.NOW: "as Glance has the image now",
    Source.GIVEN: "given by an option",
    Source.BOUND: "bound to the server now",
}

_HOW = {
    Name.MORE: " (disk_format is one)",
    Name.HOST: " ZONE:HOST or --on-host",
    Name.PORTS: " or --network",
}

_ALWAYS_HIDDEN = {
    Name.HOST: "a host that was named: Nova never shows it",
    Name.PORTS: "ports: those that it was asked for with are not bound to it",
    Name.VOLUME: "root volume: it can't be told which it is",
}


def known(
    parts: Iterable[Part], is_flavor_changed: bool | None = None
) -> Iterator[str]:
    """Yield a line for each part that is known, and has a value.

    :param is_flavor_changed: the flavor of that name is another one now, or gone
    """
    for part in parts:
        if not part.is_known or (part.value is None and part.name in _OF_VALUE):
            continue
        value = f" {part.value}" if part.value else ""
        line = f"{part.name.value}{value}: {_source(part)}"
        if part.name is Name.FLAVOR and is_flavor_changed:
            line += "; no flavor of that name is like it any more"
        yield line


#: The parts that are not asked for where they have no value.
_OF_VALUE = frozenset([Name.ZONE, Name.HINTS, Name.GROUP, Name.PORTS])


def _source(part: Part) -> str:
    if part.name is Name.IMAGE and part.value is None:
        return "none, it boots from a volume"
    if part.name is Name.FLAVOR and part.source is Source.SERVER:
        return "the server's own copy"
    return _SOURCES[part.source]


def hidden(parts: Iterable[Part], minor: int) -> Iterator[str]:
    """Yield a line for each part that is not known, with what can say it.

    :param minor: of the compute API with which the server was read
    """
    for part in parts:
        if part.is_known:
            continue
        option = OPTIONS.get(part.name)
        way = f"; {option}{_HOW.get(part.name, '')} gives it" if option else ""
        yield f"{why(part, minor)}{way}"


def why(part: Part, minor: int) -> str:
    """Return why a part is not known.

    :param minor: of the compute API with which the server was read
    """
    name = part.name.value
    if part.problem is not None:
        return f"{name}: {part.problem!s}"
    if part.name in _ALWAYS_HIDDEN:
        return _ALWAYS_HIDDEN[part.name]
    if part.source is Source.NOT_SHOWN:
        return (
            f"{name}: taken for none; the compute API shows it from 2.{part.since}, "
            f"and was read with 2.{minor}"
        )
    if part.name is Name.IMAGE:
        return f"image {part.value}: it is deleted"
    return f"{name}: gone with the image"
