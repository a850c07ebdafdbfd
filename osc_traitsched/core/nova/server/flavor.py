"""A flavor as Nova's API shows it, read once."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.server import reading

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
        """Return an extra spec that means yes or no; None where it is not set."""
        value = self.specs.get(key)
        return None if value is None else reading.boolean(value)


def read(body: Mapping[str, object]) -> Flavor:
    """Read a flavor of the compute API; an empty or missing number is 0."""

    def number(key: str) -> int:
        return reading.integer(body.get(key) or 0) or 0

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
