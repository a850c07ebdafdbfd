"""How a server that exists is moved, as far as that decides which hosts Nova takes."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Iterable, Mapping

from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter import reasons
from osc_traitsched.core.nova.filter.answer import PASSES, Answer, Fails, Unknown
from osc_traitsched.core.nova.filter.judging import Judgment
from osc_traitsched.core.nova.settings import SchedulerSettings

#: A host whose nova-compute has it takes a cold migration of its own servers.
SAME_HOST = "COMPUTE_SAME_HOST_COLD_MIGRATE"
#: The first release that looks for it.
SAME_HOST_SINCE = 21


class Kind(enum.Enum):
    """A move that asks nova-scheduler; the values are those of options."""

    LIVE_MIGRATION = "live-migration"
    MIGRATION = "migration"
    RESIZE = "resize"
    EVACUATION = "evacuation"
    UNSHELVE = "unshelve"
    REBUILD = "rebuild"


#: The moves whose flavor and image nova-api looks at again.
CHECKED_AGAIN = frozenset([Kind.RESIZE, Kind.REBUILD])


@dataclasses.dataclass(frozen=True)
class Move:
    """One move of one server.

    :ivar server: its UUID
    :ivar host: the service host that it is on; empty for one that was offloaded
    :ivar source: the compute node that it is on; None for none, or if Nova does not
        list it
    :ivar may_stay: the provider of that node has :data:`SAME_HOST`
    """

    kind: Kind
    server: str
    host: str = ""
    source: Compute | None = None
    may_stay: bool = False

    @property
    def origin(self) -> Origin:
        """Where what it demands of hosts comes from."""
        return Origin("move", self.kind.value)

    def ignored_host(self, settings: SchedulerSettings) -> str:
        """Return the service host that Nova takes out before its filters; or nothing.

        nova/compute/api.py, ``_allow_resize_to_same_host``;
        nova/conductor/manager.py, ``rebuild_instance``;
        nova/conductor/tasks/live_migrate.py, ``_find_destination``
        """
        if self.kind in (Kind.LIVE_MIGRATION, Kind.EVACUATION):
            return self.host
        is_by_trait = settings.release >= SAME_HOST_SINCE
        if self.kind is Kind.MIGRATION and is_by_trait:
            return "" if self.may_stay else self.host
        if self.kind in (Kind.MIGRATION, Kind.RESIZE):
            return "" if settings.value(options.RESIZE_TO_SAME_HOST) else self.host
        return ""


Judge = Callable[[Move, Compute, SchedulerSettings], Answer]


def source(move: Move, compute: Compute, settings: SchedulerSettings) -> Answer:
    """Leave out the host that the server is on, where the move does; case aside.

    nova/scheduler/host_manager.py, ``get_filtered_hosts``
    """
    ignored = move.ignored_host(settings)
    if ignored and compute.service_host.lower() == ignored.lower():
        return Fails(reasons.SERVER_IS_HERE, origin=move.origin)
    return PASSES


def hypervisor(move: Move, compute: Compute, settings: SchedulerSettings) -> Answer:
    """Demand of a live migration's host a hypervisor of the type, and no older one.

    nova-conductor turns down a host that was chosen, and asks for the next:
    nova/conductor/tasks/live_migrate.py, ``_check_compatible_with_source_hypervisor``
    """
    if move.kind is not Kind.LIVE_MIGRATION:
        return PASSES
    here = move.source.report if move.source else None
    there = compute.report
    if here is None or there is None:
        return Unknown("hypervisor_type and hypervisor_version")
    if here.hypervisor_type != there.hypervisor_type:
        types = here.hypervisor_type, (there.hypervisor_type,)
        return Fails(reasons.HYPERVISOR_TYPE, "", *types, move.origin)
    is_older = there.hypervisor_version < here.hypervisor_version
    if is_older and not skips_version(settings):
        versions = str(here.hypervisor_version), (str(there.hypervisor_version),)
        return Fails(reasons.HYPERVISOR_OLDER, "", *versions, move.origin)
    return PASSES


def skips_version(settings: SchedulerSettings) -> bool:
    """Tell whether nova-conductor lets a server move to an older hypervisor."""
    name = options.SKIP_VERSION_CHECK
    is_there = options.OPTIONS[name].is_in(settings.release)
    return is_there and bool(settings.value(name))


#: What Nova looks at before its filters, and after them, by the names in documents.
BEFORE: Mapping[str, Judge] = {"move:source": source}
AFTER: Mapping[str, Judge] = {"move:hypervisor": hypervisor}
RULES: Mapping[str, Judge] = {**BEFORE, **AFTER}


def with_rules(
    judgment: Judgment,
    move: Move,
    computes: Iterable[Compute],
    settings: SchedulerSettings,
) -> Judgment:
    """Return what filters say with what the move demands, in the order of Nova."""
    computes = tuple(computes)
    found = {
        name: {each.uuid: judge(move, each, settings) for each in computes}
        for name, judge in RULES.items()
    }
    names = (*BEFORE, *judgment.names, *AFTER)
    return Judgment(names, {**judgment.answers, **found})
