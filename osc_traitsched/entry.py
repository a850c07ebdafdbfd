"""The commands as setup.cfg names them: import nothing here.

Cliff finds commands with stevedore, which imports what every installed plugin
names, whatever command the user gave. So that other commands pay nothing for
ours, these stand for them until one is really wanted.
"""

from __future__ import annotations

import importlib
from typing import Any


class _Deferred:
    """Makes an instance of the class that ``path`` names, instead of its own."""

    path = ""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Import the real class, and make one of it."""
        module, _, name = cls.path.partition(":")
        return getattr(importlib.import_module(module), name)(*args, **kwargs)

    def __init__(self, app: Any, app_args: Any, cmd_name: Any = None) -> None:
        """Tell cliff, which looks before it calls, that there is a ``cmd_name``."""


class Overview(_Deferred):
    """openstack trait-sched: cliff takes a name's beginning for the name.

    One that is the first word of others would spoil the completion of these.
    """

    path = "osc_traitsched.commands.overview:Overview"


class ListTraits(_Deferred):
    """openstack trait-sched list."""

    path = "osc_traitsched.commands.listing:ListTraits"


class AddTraits(_Deferred):
    """openstack trait-sched add."""

    path = "osc_traitsched.commands.add:AddTraits"


class RemoveTraits(_Deferred):
    """openstack trait-sched remove."""

    path = "osc_traitsched.commands.add:RemoveTraits"


class Explain(_Deferred):
    """openstack trait-sched explain."""

    path = "osc_traitsched.commands.explain:Explain"


class ListCandidates(_Deferred):
    """openstack trait-sched candidates."""

    path = "osc_traitsched.commands.explain:ListCandidates"


class TryFilter(_Deferred):
    """openstack trait-sched filter try."""

    path = "osc_traitsched.commands.explain:TryFilter"


class Check(_Deferred):
    """openstack trait-sched check."""

    path = "osc_traitsched.commands.check:Check"


class ListAggregates(_Deferred):
    """openstack trait-sched aggregate list."""

    path = "osc_traitsched.commands.listing:ListAggregates"


class CheckMirror(_Deferred):
    """openstack trait-sched mirror check."""

    path = "osc_traitsched.commands.listing:CheckMirror"


class RepairMirror(_Deferred):
    """openstack trait-sched mirror repair."""

    path = "osc_traitsched.commands.listing:RepairMirror"


class ConfigDoctor(_Deferred):
    """openstack trait-sched config doctor."""

    path = "osc_traitsched.commands.config:ConfigDoctor"


class ShowConfig(_Deferred):
    """openstack trait-sched config show."""

    path = "osc_traitsched.commands.config:ShowConfig"


class SaveConfig(_Deferred):
    """openstack trait-sched config save."""

    path = "osc_traitsched.commands.config:SaveConfig"


class WriteNovaConf(_Deferred):
    """openstack trait-sched config nova-conf."""

    path = "osc_traitsched.commands.config:WriteNovaConf"


class WriteTripleo(_Deferred):
    """openstack trait-sched config tripleo."""

    path = "osc_traitsched.commands.config:WriteTripleo"


class WriteRhoso(_Deferred):
    """openstack trait-sched config rhoso."""

    path = "osc_traitsched.commands.config:WriteRhoso"


class IsolateAggregate(_Deferred):
    """openstack trait-sched isolate."""

    path = "osc_traitsched.commands.isolation:IsolateAggregate"


class UnisolateAggregate(_Deferred):
    """openstack trait-sched unisolate."""

    path = "osc_traitsched.commands.isolation:UnisolateAggregate"


class ServerDestinations(_Deferred):
    """openstack trait-sched server destinations."""

    path = "osc_traitsched.commands.server:ServerDestinations"


class PlanWanted(_Deferred):
    """openstack trait-sched plan."""

    path = "osc_traitsched.commands.wanted:PlanWanted"


class ApplyWanted(_Deferred):
    """openstack trait-sched apply."""

    path = "osc_traitsched.commands.wanted:ApplyWanted"


class ExportWanted(_Deferred):
    """openstack trait-sched export."""

    path = "osc_traitsched.commands.wanted:ExportWanted"


class ExplainServer(_Deferred):
    """openstack trait-sched server explain."""

    path = "osc_traitsched.commands.server:ExplainServer"


class ListServers(_Deferred):
    """openstack trait-sched server list."""

    path = "osc_traitsched.commands.server:ListServers"


class ListMisplaced(_Deferred):
    """openstack trait-sched server misplaced."""

    path = "osc_traitsched.commands.server:ListMisplaced"


class DrainHost(_Deferred):
    """openstack trait-sched host drain."""

    path = "osc_traitsched.commands.server:DrainHost"


class ShowTrait(_Deferred):
    """openstack trait-sched trait show."""

    path = "osc_traitsched.commands.usage:ShowTrait"


class ListTraitUses(_Deferred):
    """openstack trait-sched trait list."""

    path = "osc_traitsched.commands.usage:ListTraitUses"


class ShowCapacity(_Deferred):
    """openstack trait-sched capacity."""

    path = "osc_traitsched.commands.capacity:ShowCapacity"


class ShowHost(_Deferred):
    """openstack trait-sched host show."""

    path = "osc_traitsched.commands.usage:ShowHost"


class RenameTrait(_Deferred):
    """openstack trait-sched trait rename."""

    path = "osc_traitsched.commands.usage:RenameTrait"


class RetireTrait(_Deferred):
    """openstack trait-sched trait retire."""

    path = "osc_traitsched.commands.usage:RetireTrait"
