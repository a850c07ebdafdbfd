"""What no API shows of a case's hosts, and whether an assumption about it is true."""

from __future__ import annotations

from osc_traitsched.core.nova import weighers
from osc_traitsched.core.nova.filter.state import FilterResult, Unknown
from osc_traitsched.core.nova.weighers import Assumption
from tests.fidelity.scheduling.ours import Case

# Of the host state. The text of ``cpu_info`` is shown as what it says; of the ratios
# those in Placement are shown, which can be others.
_ATTRIBUTES = (
    *("stats", "num_io_ops", "failed_builds", "numa_topology", "pci_stats", "metrics"),
    *("supported_instances", "limits", "updated", "service", "aggregates", "instances"),
    *("cpu_info", "cpu_allocation_ratio", "uptime"),
)
#: What each filter may not know, since no API shows it: an unknown about anything else
#: is a mistake.
_HIDDEN = {
    "ComputeCapabilitiesFilter": _ATTRIBUTES,
    "JsonFilter": _ATTRIBUTES,
    "ImagePropertiesFilter": ("supported_instances",),
    "IoOpsFilter": ("num_io_ops",),
    "AggregateIoOpsFilter": ("num_io_ops",),
    "NUMATopologyFilter": ("numa_topology",),
    "PciPassthroughFilter": ("pci_stats",),
    "MetricsFilter": ("metrics",),
    # Which of an aggregate's values is looked at first is left to chance.
    "AggregateInstanceExtraSpecsFilter": ("the order of a set",),
}


def is_hidden(name: str, judged: FilterResult) -> bool:
    """Tell whether a filter's answer is unknown, and what is missing is hidden."""
    return isinstance(judged, Unknown) and judged.missing in _HIDDEN.get(name, ())


def holds(assumption: Assumption, case: Case) -> bool:
    """Tell whether the hosts of a case are as a ranking takes them to be."""
    hidden = [host["hidden"] for host in case["hosts"]]
    if assumption.taken == weighers.FIRST_REQUEST:
        # Nova's weighers are made anew for each case.
        return True
    if assumption.missing == "failed_builds":
        return not any(each["stats"].get("failed_builds") for each in hidden)
    if assumption.missing == "pci_stats":
        return not any(each["pci"] for each in hidden)
    if assumption.missing == "num_io_ops":
        return all(
            host["hidden"]["stats"]["io_workload"] == host["body"]["current_workload"]
            for host in case["hosts"]
        )
    if assumption.missing == "metrics":
        alike = all(each["metrics"] == hidden[0]["metrics"] for each in hidden)
        return alike and assumption.taken != weighers.REPORTED
    return False
