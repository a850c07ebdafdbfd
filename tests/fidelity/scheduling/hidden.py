"""What no API shows of a case's hosts, and whether an assumption about it is true."""

from __future__ import annotations

from osc_traitsched.core.nova.weigher import weight
from osc_traitsched.core.nova.weigher.weight import Assumption
from tests.fidelity.scheduling.ours import Case


def holds(assumption: Assumption, case: Case) -> bool:
    """Tell whether the hosts of a case are as a ranking takes them to be."""
    hidden = [host["hidden"] for host in case["hosts"]]
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
        return alike and assumption.taken != weight.REPORTED
    return False
