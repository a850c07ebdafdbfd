"""What needs a trait, and what a host has and could take."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.change.effects import Server
from osc_traitsched.core.change.traits import Requirer
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.snapshot import Nova, Provider, Snapshot

# Who has a trait, and who needs it.


@dataclasses.dataclass(frozen=True)
class TraitUse:
    """A trait of a cloud.

    :ivar holders: providers that have it, nested ones too
    :ivar requiring: flavors, images and aggregates that require it
    :ivar forbidding: flavors that forbid it
    :ivar servers: existing servers that require it, or why they can't be read
    """

    name: str
    snapshot: Snapshot
    holders: tuple[Provider, ...] = ()
    requiring: tuple[Requirer, ...] = ()
    forbidding: tuple[Requirer, ...] = ()
    servers: tuple[Server, ...] | CloudBroke = ()

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names of the hosts that have it in their tree."""
        roots = {provider.root for provider in self.holders}
        return tuple(each.name for each in self.snapshot.hosts if each.uuid in roots)

    @property
    def others(self) -> tuple[str, ...]:
        """Names of the holders that belong to no host, such as storage pools."""
        roots = {host.uuid for host in self.snapshot.hosts}
        return tuple(each.name for each in self.holders if each.root not in roots)

    def of_kind(self, kind: str) -> tuple[Requirer, ...]:
        """What requires it, of one kind: ``flavor``, ``image`` or ``aggregate``."""
        return tuple(each for each in self.requiring if each.kind == kind)

    @property
    def misplaced(self) -> tuple[Server, ...]:
        """Servers that require it on a host without it."""
        if isinstance(self.servers, CloudBroke):
            return ()
        names = set(self.hosts)
        nodes = (self.snapshot.nova or Nova()).computes
        having = {each.service_host for each in nodes if each.node in names}
        return tuple(each for each in self.servers if each.host not in having)
