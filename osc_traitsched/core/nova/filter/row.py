"""What the code knows of one host filter of Nova, and what filters read."""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Callable, Iterable

from osc_traitsched.core.nova.filter import aggregates
from osc_traitsched.core.nova.filter.state import FilterResult, HostState, RequestSpec
from osc_traitsched.core.nova.server.parts import NO_PARTS
from osc_traitsched.core.nova.server.server import Flavor
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.releases import NEWEST, OLDEST

#: What a filter's answer varies by: the host, its aggregates, or the request alone.
HOST, AGGREGATES, REQUEST = "host", "aggregates", "request"

Judge = Callable[[HostState, RequestSpec, SchedulerSettings], FilterResult]


class Reads(enum.Enum):
    """Parts of a request or a host that callers can lack, or must treat apart."""

    #: Other servers: of a group or a hint.
    SERVERS = "servers"
    IMAGE = "image"
    FLAVOR_NAME = "flavor name"
    #: What is used or free on the host, in which a server on it has its part.
    USE = "use"
    #: The state of nova-compute.
    SERVICE = "service"


@dataclasses.dataclass(frozen=True)
class NovaFilter:
    """A host filter of Nova.

    :ivar name: class, as in ``enabled_filters``
    :ivar wants: what it requires of hosts, in words; may be empty
    :ivar until: first release that lacks it again
    :ivar successor: for :attr:`until`: what does its work now, in words
    :ivar options: of nova.conf that it reads
    :ivar reads: for callers that ask for a running server, or lack a part
    :ivar varies_by: hosts that are equal in it get the same answer
    :ivar on_rebuild: it also runs for a rebuild with another image
    :ivar hints: scheduler hints that only this filter reads
    :ivar aggregate_keys: metadata keys of aggregates that only this filter reads
    :ivar counts: ``values.MAX_INSTANCES`` or ``MAX_IO_OPS``, if it limits servers or
        tasks by its first option
    :ivar is_claimed: nova-compute or Cyborg checks the same without the filter, so an
        unknown answer is one of free amounts
    :ivar isolates: it keeps hosts for some projects, flavors or images
    """

    name: str
    judge: Judge
    wants: str = ""
    since: int = OLDEST
    until: int = NEWEST + 1
    successor: str = ""
    options: tuple[str, ...] = ()
    reads: tuple[Reads, ...] = ()
    varies_by: str = HOST
    on_rebuild: bool = False
    hints: tuple[str, ...] = ()
    aggregate_keys: tuple[str, ...] = ()
    counts: str = ""
    is_claimed: bool = False
    isolates: bool = False

    def is_in(self, release: int) -> bool:
        """Whether a release has the filter."""
        return self.since <= release < self.until

    def shown(
        self, hosts: Iterable[HostState], spec: RequestSpec
    ) -> Iterable[HostState]:
        """Hosts whose aggregates, or a request, may show that a cloud uses it."""
        is_unseen = not (self.hints or self.aggregate_keys or self.counts)
        if is_unseen or not spec.hints.keys().isdisjoint(self.hints):
            return hosts
        keys = frozenset(self.aggregate_keys)
        return [h for h in hosts if keys and not keys.isdisjoint(h.metadata)]


#: Extra specs that no filter reads.
_TRAIT = re.compile(r"trait[^:]*:")
#: The first release without filters of amounts.
_WITHOUT_SIZES = 22
_NO_FLAVOR = Flavor(0, 0, 0, 0, 0, {})


def read_of(spec: RequestSpec) -> tuple[object, ...]:
    """What filters read of a request: equal requests get equal answers.

    Filters read the sizes of a flavor until 21, and later for NUMA nodes.
    """
    server = spec.server
    specs = {k: v for k, v in server.flavor.specs.items() if not _TRAIT.match(k)}
    is_sized = server.release < _WITHOUT_SIZES or not all(
        key.startswith("resources") for key in specs
    )
    keys = {key for each in server.aggregates for key in each.metadata}
    has_projects = any(aggregates.names_projects(key, server.release) for key in keys)
    project = server.project_id if has_projects else None
    ports = server.parts.ports
    server = dataclasses.replace(
        server, flavor=_NO_FLAVOR, parts=NO_PARTS, project_id=project
    )
    return (
        dataclasses.replace(spec.server.flavor, specs=specs).key if is_sized else specs,
        frozenset(each.vnic_type for each in ports) - {"normal"},
        any(each.device_profile for each in ports),
        dataclasses.replace(
            spec,
            server=server,
            flavor_name=spec.flavor_name if aggregates.FLAVOR_KEY in keys else "",
            instance_uuid=spec.instance_uuid if spec.group else None,
        ),
    )
