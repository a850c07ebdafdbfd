"""The releases of OpenStack whose services can be run, and how each is loaded."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from dataclasses import dataclass

from tests.services import environment
from tests.services.environment import Environment
from tests.services.pythons import Pythons

_PINS = pathlib.Path(__file__).resolve().parent / "releases"


@dataclass(frozen=True)
class Applications:
    """The WSGI applications of a release's services.

    Each is ``module:attribute``, or ``module:function()`` for what a function returns.
    """

    keystone: str
    placement: str
    glance: str
    neutron: str = ""
    cinder: str = ""


_MADE_BY_FUNCTIONS = Applications(
    "keystone.server.wsgi:initialize_public_application()",
    "placement.wsgi:init_application()",
    "glance.common.wsgi_app:init_app()",
)
_IN_MODULES = Applications(
    "keystone.wsgi.api:application",
    "placement.wsgi.api:application",
    "glance.wsgi.api:application",
)


@dataclass(frozen=True)
class Release:
    """One release.

    :ivar number: that of its Nova, 34 for 2026.2
    :ivar pythons: what its services run on
    """

    number: int
    name: str
    pythons: Pythons
    applications: Applications

    @property
    def taken_for(self) -> str:
        """The name of the release that a client takes it for, by its compute API."""
        return {23: "wallaby", 27: "2023.2"}.get(self.number, NEWEST.name)

    @property
    def shows_zones(self) -> bool:
        """Whether its compute API shows the zone that a server was asked for in."""
        return self.number >= 29

    @property
    def shows_hints(self) -> bool:
        """Whether it shows a server's hints, too, and the properties of its image."""
        return self.number >= 31

    def python(self) -> pathlib.Path:
        """Return the interpreter that has its services, which are installed if needed.

        Those of the newest are where `environment.location` says, and the others in
        folders beside it. Raises EnvironmentFailed.
        """
        return self.environment().python()

    def environment(self) -> Environment:
        """Return what its services are installed in, or will be."""
        newest = environment.newest()
        if self == NEWEST:
            return newest
        network = self == WITH_NETWORK
        name = "34-network" if network else str(self.number)
        home = newest.home.with_name(f"{newest.home.name}-{name}")
        pins = _PINS / f"{name}.txt"
        requirements = (*newest.requirements, pins) if network else (pins,)
        constraints = newest.constraints if network else pins
        what = f"the services of {self.name}"
        return Environment(home, requirements, constraints, what, self.pythons)


NEWEST = Release(34, "2026.2", environment.PYTHONS, _IN_MODULES)
#: The newest with a network and a block storage service, too.
WITH_NETWORK = Release(
    34,
    "2026.2 with Neutron and Cinder",
    environment.PYTHONS,
    dataclasses.replace(
        _IN_MODULES,
        neutron="tests.cloud.neutron:application()",
        cinder="tests.cloud.cinder:application()",
    ),
)
RELEASES = {
    release.number: release
    for release in (
        Release(23, "Wallaby", Pythons((3, 8), (3, 8)), _MADE_BY_FUNCTIONS),
        Release(27, "2023.1", Pythons((3, 11), (3, 11)), _MADE_BY_FUNCTIONS),
        NEWEST,
    )
}


def chosen() -> Release:
    """Return the release that ``$TRAITSCHED_RELEASE`` names, the newest if none."""
    return RELEASES[int(os.environ.get("TRAITSCHED_RELEASE", NEWEST.number))]
