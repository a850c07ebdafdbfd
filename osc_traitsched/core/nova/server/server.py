"""One server that is to be made: all that the core is told about it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.server.flavor import Flavor
from osc_traitsched.core.nova.server.image import Image
from osc_traitsched.core.nova.server.parts import NO_PARTS, Parts


@dataclasses.dataclass(frozen=True)
class Aggregate:
    """An aggregate of Nova, as far as the scheduler looks at it."""

    uuid: str
    name: str
    metadata: Mapping[str, str]

    @classmethod
    def read(cls, body: Mapping[str, object]) -> Aggregate:
        """Read an aggregate of the compute API, of microversion 2.41 or later."""
        found = body.get("metadata")
        metadata = found if isinstance(found, Mapping) else {}
        texts = {str(key): str(value) for key, value in metadata.items()}
        return cls(str(body["uuid"]), str(body.get("name", "")), texts)

    def origin(self, key: str) -> Origin:
        """Return a key of its metadata as the origin of a clause."""
        return Origin("aggregate", key, name=self.name)


@dataclasses.dataclass(frozen=True)
class Server:
    """A server that somebody asks for.

    :ivar zone: the availability zone alone, the default one too; empty for any
    :ivar boot_from_volume: a volume is made of the image and is the root disk
    :ivar release: Nova's major version
    :ivar parts: ports, networks, volumes and device profiles
    :ivar aliases: those of ``[pci]alias``, as texts; None where they are not known
    :ivar pci_in_placement: Placement is asked for the devices of aliases
    """

    flavor: Flavor
    image: Image
    aggregates: tuple[Aggregate, ...]
    zone: str
    project_id: str | None
    boot_from_volume: bool
    release: int
    parts: Parts = NO_PARTS
    aliases: tuple[str, ...] | None = None
    pci_in_placement: bool = False

    @property
    def root_disk_is_a_volume(self) -> bool:
        """Tell whether the flavor's disk is not used (nova: ``is_bfv``)."""
        return self.boot_from_volume or self.image.is_of_a_volume()


@dataclasses.dataclass(frozen=True)
class Choice:
    """What the flavor or the image, or both, say about one thing.

    :ivar value: None where neither says anything
    """

    value: str | None
    origins: tuple[Origin, ...] = ()


@dataclasses.dataclass(frozen=True)
class Switch:
    """Whether the flavor or the image, or both, want one thing."""

    on: bool
    origins: tuple[Origin, ...] = ()


def origins(
    server: Server, key: str, by_flavor: object, by_image: object
) -> tuple[Origin, ...]:
    """Return the flavor's key and the image's property, those of them that count."""
    found = [server.flavor.origin(key)] if by_flavor else []
    if by_image:
        found.append(server.image.origin(image_name(key)))
    return tuple(found)


def image_name(key: str) -> str:
    """Return the image property that stands for a flavor's key, both as Nova has it."""
    return key.replace(":", "_")


def keys(server: Server, *flavor_keys: str) -> tuple[str, ...]:
    """Return those keys of the flavor, and the image's properties, that are set."""
    names = [key for key in flavor_keys if key in server.flavor.specs]
    for name in map(image_name, flavor_keys):
        if name in server.image.values:
            names.append(server.image.key(name))
    return tuple(names)


def agreed(
    server: Server,
    key: str,
    allowed: Iterable[str],
    conflict: str = "FlavorImageConflict",
    unknown: str = "Invalid",
) -> Choice:
    """Return what flavor and image say with one voice; an empty text says nothing.

    nova/virt/hardware.py, ``_get_unique_flavor_image_meta``, and the check of the
    values that follows it in each of its callers.

    :raises Refusal: the one exception where they differ, the other for a value
        that is not one of the allowed
    """
    spec = server.flavor.specs.get(key)
    prop = server.image.text(image_name(key))
    if spec and prop and spec != prop:
        raise Refusal(conflict, "values-differ", keys(server, key))
    value = spec or prop
    allowed = tuple(allowed)
    if value is not None and value not in allowed:
        names = keys(server, key)
        raise Refusal(unknown, "unknown-value", names, allowed=allowed)
    return Choice(value, origins(server, key, spec, prop))


def switched(
    server: Server, key: str, exception: str = "FlavorImageConflict"
) -> Switch:
    """Return whether flavor or image want something that is either on or off.

    nova/virt/hardware.py, ``check_hw_boolean`` and its elder siblings.

    :raises Refusal: the exception, where one says yes and the other no
    """
    spec = server.flavor.flag(key)
    prop = server.image.flag(image_name(key))
    if spec is not None and prop is not None and spec != prop:
        raise Refusal(exception, "values-differ", keys(server, key))
    return Switch(bool(spec or prop), origins(server, key, spec, prop))
