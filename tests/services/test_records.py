"""Claims of servers in snapshots with Nova's records, judged by the newest Nova."""

from __future__ import annotations

import gzip
import json
import pathlib
import subprocess

import pytest

from tests.functional import shell
from tests.services import environment
from tests.services.environment import REPOSITORY

#: Makes a record of each host; its CPUs are shared ones, of cells of the same size.
RECORDS = """
import json, sys
from nova import objects, version
from nova.objects import numa
objects.register_all()
asked = json.loads(sys.argv[1])
networks = objects.NetworkMetadata(physnets=set(), tunneled=False)
MB = 16384
cells = [
    numa.NUMACell(
        id=number, socket=number, cpuset=set(range(6 * number, 6 * number + 6)),
        pcpuset=set(), siblings=[], pinned_cpus=set(), cpu_usage=used, memory=MB,
        memory_usage=0, network_metadata=networks,
        mempages=[numa.NUMAPagesTopology(size_kb=4, total=MB * 256, used=0)],
    )
    for number, used in enumerate(asked["used"])
]
topology = numa.NUMATopology(cells=cells)._to_json() if cells else None
hosts = {}
for uuid, name in asked["hosts"].items():
    node = objects.ComputeNode(
        uuid=uuid, hypervisor_hostname=name, hypervisor_type="QEMU",
        hypervisor_version=8000000, host_ip="192.0.2.1", vcpus=12, vcpus_used=0,
        memory_mb=32768, memory_mb_used=0, free_ram_mb=32768, local_gb=500,
        local_gb_used=0, free_disk_gb=500, disk_available_least=500, stats={},
        running_vms=0, current_workload=0, cpu_info="{}", metrics=None,
        supported_hv_specs=[], numa_topology=topology, updated_at=None,
        pci_device_pools=objects.PciDevicePoolList(objects=[]),
        cpu_allocation_ratio=4.0, ram_allocation_ratio=1.0, disk_allocation_ratio=1.0,
    )
    hosts[uuid] = node.obj_to_primitive()
json.dump({"nova": version.version_string(), "hosts": hosts}, sys.stdout, default=str)
"""
FLAVORS = {
    "one-cell": {"hw:numa_nodes": "1"},
    "two-cells": {"hw:numa_nodes": "2"},
    "pages": {"hw:mem_page_size": "2MB"},
}
YES, NO = 0, 3
ON = ("--enable-filter", "NUMATopologyFilter")


@pytest.fixture
def saved(tmp_path):
    """Save the sample with hosts that have cells with so many CPUs in use."""

    def save(*used):
        document = json.loads((REPOSITORY / "examples" / "cloud.json").read_text())
        compute, hosts = document["compute"], {}
        for each in compute["hypervisors"]:
            each["hypervisor_type"] = "QEMU"
            hosts[each["id"]] = each["hypervisor_hostname"]
        of = next(each for each in compute["flavors"] if each["name"] == "m1.medium")
        for name, keys in FLAVORS.items():
            compute["flavors"].append(dict(of, id=name, name=name, extra_specs=keys))
        words = [environment.python(), "-c", RECORDS]
        asked = json.dumps({"used": used, "hosts": hosts})
        made = subprocess.check_output([*words, asked])
        document["facts"] = json.loads(made)
        path = tmp_path / f"{'-'.join(map(str, used))}.json"
        path.write_text(json.dumps(document))
        return str(path)

    return save


def run(path, *words):
    nova = ("--nova-python", str(environment.python()))
    return shell.run({}, "trait-sched", *words, "--snapshot", path, *nova)


def explain(path, flavor, *words):
    return run(path, "explain", flavor, "ubuntu-24.04", "--no-fixes", *words)


def test_without_the_filter_a_claim_has_no_limits(saved):
    path = saved(24, 0)
    assert explain(path, "two-cells").code == YES
    assert explain(path, "two-cells", *ON).code == NO
    path = saved(23)
    words = ("capacity", "one-cell", "m1.medium", "-f", "json")
    for flags, has_limits in ((ON, True), ((), False)):
        found = run(path, *words, *flags).json["flavors"]
        rooms = {e["flavor"]["name"]: e["servers"] for e in found}
        assert (rooms["one-cell"] != rooms["m1.medium"]) is has_limits


def test_without_the_filter_nova_compute_rejects_what_no_cell_gives(saved):
    path = saved(0)
    found = explain(path, "pages")
    assert (found.code, "NUMATopologyFilter" in found.out) == (NO, False)
    assert "8 fail nova-compute's claim (needs NUMA cells: 1 x 4096 MB" in found.out
    found = run(path, "capacity", "pages")
    assert ": nova-compute rejects all 8" in found.out
    assert "NUMATopologyFilter" not in found.out
    found = explain(path, "pages", *ON)
    assert "8 are kept out by NUMATopologyFilter (needs NUMA cells" in found.out


def test_without_the_filter_a_host_without_cells_claims_none(saved):
    assert explain(saved(), "one-cell").code == YES
    assert explain(saved(), "one-cell", *ON).code == NO


@pytest.mark.parametrize(
    ("used", "ratio", "before", "after"), [(24, 16, NO, YES), (7, 1, YES, NO)]
)
def test_another_allocation_ratio_is_that_of_cells_too(
    saved, used, ratio, before, after
):
    path = saved(used)
    found = explain(path, "one-cell", *ON, "--ratio", f"VCPU={ratio}", "-f", "json")
    assert found.code == after
    assert explain(path, "one-cell", *ON).code == before
    words = ("capacity", "one-cell", *ON, "-f", "json", "--ratio", f"VCPU={ratio}")
    (flavor,) = run(path, *words).json["flavors"]
    assert bool(flavor["servers"]["max"]) is (before == YES)
    assert bool(flavor["after"]["max"]) is (after == YES)


def test_an_earlier_snapshot_is_judged_by_its_own_records(saved):
    old, new = saved(0), saved(24)
    document = json.loads(pathlib.Path(old).read_text())
    document["time"] = "2026-11-25T06:00:00Z"
    words = (new, "one-cell", *ON, "--since", old)
    pathlib.Path(old).write_text(json.dumps(document))
    found = explain(*words)
    assert found.code == NO
    line = "Yesterday 06:00 UTC: 2 of 8 hosts could take it (cmp02, cmp03); now 0.\n"
    assert f"{line}What took them:\n" in found.out
    causes = explain(*words, "-f", "json").json["since"]["causes"]
    both = ["cmp02", "cmp03"]
    # The filter was not on then, and a claim has no limit of shared CPUs.
    found = {each["kind"]: each["hosts"] for each in causes}
    assert found == {"record": both, "setting": both}
    del document["facts"]
    pathlib.Path(old).write_text(json.dumps(document))
    found = explain(*words)
    assert "Yesterday 06:00 UTC: not known. NUMA cells or PCI devices" in found.out
    found = explain(*words, "-f", "json").json["since"]
    assert (found["worked"], found["then"], found["now"]) == (None, None, [])


def test_a_night_without_records_does_not_end_the_search(saved, tmp_path):
    old, new = saved(0), saved(24)
    folder = tmp_path / "nights"
    folder.mkdir()
    document = json.loads(pathlib.Path(old).read_text())
    records = document.pop("facts")
    for day, more in (23, {"facts": records}), (24, {}), (25, {"facts": records}):
        night = {**document, **more, "time": f"2026-11-{day}T06:00:00Z"}
        with gzip.open(folder / f"202611{day}T060000Z.json.gz", "wt") as file:
            json.dump(night, file)
    words = (new, "one-cell", *ON, "--since", str(folder))
    found = explain(*words)
    assert "Worked until yesterday 06:00 UTC" in found.out
    for day in (23, 25):
        (folder / f"202611{day}T060000Z.json.gz").unlink()
    assert ": not known. NUMA cells or PCI devices" in explain(*words).out


def test_a_cell_without_room_says_how_many_shared_cpus_are_used(saved):
    found = explain(saved(23), "one-cell", *ON)
    need = "needs NUMA cells: 1 x 4096 MB, 2 shared CPUs"
    free = "16384 MB and 0 dedicated CPUs free, 23 of 24 shared CPUs used (6 x 4)"
    assert f"NUMATopologyFilter ({need}; cell 0: {free})" in found.out


@pytest.mark.parametrize("cells", [1, 2])
def test_what_fits_if_empty_is_what_the_cells_of_an_empty_host_hold(saved, cells):
    path = saved(*[24] * cells)
    found = run(path, "capacity", "two-cells", *ON, "-f", "json").json
    (flavor,) = found["flavors"]
    assert flavor["servers"]["max"] == 0
    assert bool(flavor["if_empty"]["max"]) is (cells == 2)
    found = run(path, "capacity", "two-cells", *ON).out
    assert ("full: two-cells" in found) is (cells == 2)
    assert ("never: two-cells" in found) is (cells == 1)


def test_servers_that_use_cells_are_said_to_be_in_the_way(saved):
    line = "may free NUMA cells or PCI devices, but --make-room does not try them."
    words = ("two-cells", *ON, "--make-room")
    for used, is_said in ((24, 24), True), ((24,), False):
        assert (line in run(saved(*used), "explain", *words).out) is is_said
