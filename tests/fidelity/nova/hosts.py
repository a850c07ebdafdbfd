"""The hosts and the request of a case, as objects of Nova's own."""

import copy
import datetime
import json

from nova import objects
from nova.pci import request
from nova.scheduler import host_manager
from nova.virt import hardware

_SEEN = "2026-01-01T00:00:00Z"
NOBODY = "11111111-1111-1111-1111-111111111111"


def states(case):
    """Return a HostState for each host of a case, with what the API hides, too."""
    return [_state(host, case["aggregates"]) for host in case["hosts"]]


def spec(case):
    """Return the RequestSpec of a case."""
    flavor = _flavor(case["flavor"])
    image = objects.ImageMeta.from_dict(_image(case))
    return objects.RequestSpec(
        flavor=flavor,
        image=image,
        project_id=case["project_id"],
        user_id="user",
        availability_zone=case.get("availability_zone"),
        num_instances=1,
        instance_uuid=case.get("instance_uuid") or NOBODY,
        instance_group=_group(case),
        numa_topology=hardware.numa_get_constraints(flavor, image),
        pci_requests=request.get_pci_requests_from_flavor(flavor),
        ignore_hosts=None,
        force_hosts=None,
        force_nodes=None,
        retry=None,
        limits=None,
        requested_destination=None,
        scheduler_hints=case["hints"],
    )


def _state(host, aggregates):
    body = host["body"]
    name, node = body["service"]["host"], body["hypervisor_hostname"]
    state = host_manager.HostState(name, node, "cell")
    inside = [_aggregate(each) for each in aggregates if name in each["hosts"]]
    instances = {uuid: objects.Instance(uuid=uuid) for uuid in host["instances"]}
    state.update(_compute_node(host), _service(body), inside, instances)
    # Set by the SchedulerManager, from what Placement answered.
    state.allocation_candidates = [{"allocations": {}, "mappings": {"": [body["id"]]}}]
    return state


def _compute_node(host):
    body, hidden, ratios = host["body"], host["hidden"], host["ratios"]
    same = (
        "vcpus vcpus_used memory_mb free_ram_mb local_gb local_gb_used free_disk_gb "
        "disk_available_least host_ip hypervisor_type hypervisor_version "
        "hypervisor_hostname"
    )
    pools = [
        objects.PciDevicePool(
            vendor_id="8086",
            product_id=product,
            numa_node=None,
            tags={"dev_type": "type-PCI"},
            count=count,
        )
        for product, count in zip(("1521", "1522"), hidden["pci"])
    ]
    metrics = [
        {"name": name, "value": value, "source": "s", "timestamp": _SEEN}
        for name, value in hidden["metrics"].items()
    ]
    stats = {"num_instances": body["running_vms"], **hidden["stats"]}
    return objects.ComputeNode(
        uuid=body["id"],
        host=body["service"]["host"],
        cpu_info=json.dumps(body["cpu_info"]),
        supported_hv_specs=[
            objects.HVSpec.from_list(each) for each in hidden["supported_instances"]
        ],
        stats={key: str(value) for key, value in stats.items()},
        numa_topology=None,
        pci_device_pools=objects.PciDevicePoolList(objects=pools),
        metrics=json.dumps(metrics),
        updated_at=_now(),
        cpu_allocation_ratio=ratios["VCPU"],
        ram_allocation_ratio=ratios["MEMORY_MB"],
        disk_allocation_ratio=ratios["DISK_GB"],
        **{key: body[key] for key in same.split()},
    )


def _service(body):
    seen = _now() if body["state"] == "up" else _now() - datetime.timedelta(hours=1)
    return {
        "host": body["service"]["host"],
        "disabled": body["status"] == "disabled",
        "disabled_reason": None,
        "forced_down": False,
        "last_seen_up": seen,
        "created_at": seen,
        "updated_at": seen,
    }


def _aggregate(body):
    known = {key: body[key] for key in ("id", "uuid", "name", "hosts", "metadata")}
    return objects.Aggregate(**known)


def _group(case):
    group = case.get("group")
    if not group:
        return None
    members = set(group["members"])
    hosts = {
        host["body"]["service"]["host"]
        for host in case["hosts"]
        if members.intersection(host["instances"])
    }
    return objects.InstanceGroup(
        uuid=NOBODY,
        name=group["name"],
        policy=group["policy"],
        policies=[group["policy"]],
        rules=group["rules"],
        members=group["members"],
        hosts=sorted(hosts),
    )


def _image(case):
    properties = copy.deepcopy(case["image"])
    own = {"id": properties.pop("id")}
    return {**({} if case["boot_from_volume"] else own), "properties": properties}


def _flavor(body):
    return objects.Flavor(
        id=1,
        flavorid="1",
        name=body["name"],
        vcpus=body["vcpus"],
        memory_mb=body["ram"],
        root_gb=body["disk"],
        ephemeral_gb=0,
        swap=0,
        rxtx_factor=1.0,
        extra_specs=body["extra_specs"],
    )


def _now():
    return datetime.datetime.now(datetime.timezone.utc)
