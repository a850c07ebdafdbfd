"""A server as flavor and image want it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Union

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.clause import (
    Clause,
    MemberOf,
    Origin,
    Resource,
    RootTrait,
    Trait,
)
from osc_traitsched.core.nova.server import properties
from osc_traitsched.core.nova.server.image import Image
from osc_traitsched.core.nova.server.parts import NO_PARTS, Parts

# A flavor as Nova's API shows it, read once.


EPHEMERAL = "OS-FLV-EXT-DATA:ephemeral"


@dataclasses.dataclass(frozen=True)
class Flavor:
    """A flavor.

    :ivar ram: MB
    :ivar disk: GB, as ``ephemeral``
    :ivar swap: MB
    :ivar specs: its extra specs, in the order in which Nova gives them
    """

    vcpus: int
    ram: int
    disk: int
    ephemeral: int
    swap: int
    specs: Mapping[str, str]

    @property
    def key(self) -> tuple[object, ...]:
        """What two flavors have in common of which Nova makes the same."""
        sizes = (self.vcpus, self.ram, self.disk, self.ephemeral, self.swap)
        return (*sizes, *self.specs.items())

    def origin(self, key: str) -> Origin:
        """Return a key, of an extra spec or ``vcpus`` say, as a clause's origin."""
        return Origin("flavor", key)

    def flag(self, key: str) -> bool | None:
        """Return an extra spec that means yes or no; None if it is not set."""
        value = self.specs.get(key)
        return None if value is None else properties.boolean(value)


def read(body: Mapping[str, object]) -> Flavor:
    """Read a flavor of the compute API; an empty or missing number is 0."""

    def number(key: str) -> int:
        return properties.integer(body.get(key) or 0) or 0

    found = body.get("extra_specs")
    specs = found if isinstance(found, Mapping) else {}
    return Flavor(
        vcpus=number("vcpus"),
        ram=number("ram"),
        disk=number("disk"),
        # A server's own copy of its flavor calls it by the short name.
        ephemeral=number(EPHEMERAL) or number("ephemeral"),
        swap=number("swap"),
        specs={str(key): str(value) for key, value in specs.items()},
    )


# What a request would depend on and nobody said, or what Nova silently leaves out.


#: The flavor or the image names groups that only another service can spell out.
PCI_ALIAS = "pci alias"
PCI_ALIAS_IN_PLACEMENT = "pci alias in placement"
DEVICE_PROFILE = "device profile"

#: A condition of nova-api that depends on more than the flavor and the image.
ZERO_DISK = "zero disk needs a policy"
VOLUME_SIZE = "volume size"
VOLUME_ZONE = "volume zone"
KERNEL_IMAGE = "kernel image"
MIXED_COMPUTES = "mixed policy needs computes of victoria"
SOUND_COMPUTES = "sound model needs computes of 2025.2"
REQUESTED_HOST = "requested host"
FORCED_HOST = "named host needs a policy"
REQUESTED_DESTINATION = "asked host needs a policy"
PROJECT = "project not given"

#: Something that Nova reads and drops, with no more than a line in its log.
BAD_GROUP_POLICY = "invalid group policy"
UNKNOWN_RESOURCE_CLASS = "unknown resource class"
BAD_AMOUNT = "invalid amount"
BAD_TRAIT_VALUE = "trait value neither required nor forbidden"
BAD_SUFFIX = "suffix of no group"
OVERWRITTEN = "overwritten"
STATELESS_WITHOUT_UEFI = "stateless firmware without uefi"

#: A prefilter that is on and adds nothing.
IMAGE_TYPE = "image type unknown trait"
IMAGE_METADATA = "image metadata prefilter adds nothing"
ZONE = "zone has no aggregate, so no restriction"
TENANT = "tenant has no aggregate, so no restriction"


@dataclasses.dataclass(frozen=True)
class NotEvaluated:
    """One such thing.

    :ivar kind: one of this module's constants
    :ivar key: the flavor's key or the image's property it is about; the zone's
        or the project's name for a prefilter that found no aggregate of it
    :ivar value: the value under that key, as text
    """

    kind: str
    key: str
    value: str = ""


# One server that is to be made: all that the core is told about it.


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
    :ivar aliases: those of ``[pci]alias``, as texts; None if they are not known
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

    :ivar value: None if neither says anything
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


# How one condition after the other comes into a request.


#: What a rule yields.
Found = Union[Clause, NotEvaluated]


@dataclasses.dataclass(frozen=True)
class SoFar:
    """What the rules up to now came to.

    :ivar clauses: in the order in which Nova came to them
    """

    clauses: tuple[Clause, ...] = ()
    not_evaluated: tuple[NotEvaluated, ...] = ()

    def with_all(self, found: Iterable[Found]) -> SoFar:
        """Return this and what one more rule found.

        An amount of a class that the group already has replaces it, as in Nova
        (nova/objects/request_spec.py, ``RequestGroup.add_resource``); a trait that
        is already there gets one more origin.
        """
        found = tuple(found)
        if not found:
            return self
        clauses = {_identity(c, n): c for n, c in enumerate(self.clauses)}
        not_evaluated = list(self.not_evaluated)
        for each in found:
            if isinstance(each, NotEvaluated):
                not_evaluated.append(each)
            else:
                not_evaluated += _put(clauses, each)
        once = dict.fromkeys(not_evaluated)
        return SoFar(tuple(clauses.values()), tuple(once))

    def without_zeros(self) -> SoFar:
        """Return this without amounts of 0 (``ResourceRequest.strip_zeros``)."""
        left = [c for c in self.clauses if not isinstance(c, Resource) or c.amount]
        return dataclasses.replace(self, clauses=tuple(left))


def _put(clauses: dict[tuple[object, ...], Clause], new: Clause) -> list[NotEvaluated]:
    """Put a clause in its place, and return what it overwrote."""
    key = _identity(new, len(clauses))
    old = clauses.setdefault(key, new)
    if old is new:
        return []
    if isinstance(new, Resource) and isinstance(old, Resource):
        clauses[key] = new
        lost = [origin for origin in old.origins if origin not in new.origins]
        return [
            NotEvaluated(OVERWRITTEN, origin.key, str(old.amount)) for origin in lost
        ]
    clauses[key] = dataclasses.replace(old, origins=_both(old, new))
    return []


def _identity(clause: Clause, place: int) -> tuple[object, ...]:
    """Return what two clauses that become one have in common.

    :param place: where it is among all clauses; every one on aggregates stays
    """
    if isinstance(clause, Resource):
        return Resource, clause.group, clause.resource_class
    if isinstance(clause, MemberOf):
        return MemberOf, place
    group = () if isinstance(clause, RootTrait) else (clause.group,)
    return type(clause), clause.name, clause.forbidden, *group


def _both(old: Clause, new: Clause) -> tuple[Origin, ...]:
    return tuple(dict.fromkeys((*old.origins, *new.origins)))


# A group of amounts and traits that comes from outside of flavor and image.


@dataclasses.dataclass(frozen=True)
class Group:
    """One such group (nova/objects/request_spec.py, ``RequestGroup``).

    :ivar suffix: says whose it is
    :ivar amounts: by resource class; maybe of 0
    """

    suffix: str
    amounts: Mapping[str, int]
    origin: Origin
    required: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()

    @property
    def is_empty(self) -> bool:
        """Whether it asks for nothing, not even for an amount of 0."""
        return not (self.amounts or self.required or self.forbidden)

    def clauses(self) -> Iterator[Resource | Trait]:
        """Yield what it asks for."""
        origins = (self.origin,)
        for name, amount in self.amounts.items():
            yield Resource(self.suffix, name, amount, origins)
        for forbidden, names in ((False, self.required), (True, self.forbidden)):
            for name in sorted(names):
                yield Trait(self.suffix, name, forbidden, origins)
