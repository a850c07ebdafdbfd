"""Ask a released Nova what it would ask Placement for one server.

It runs inside the virtual environment of one release, from Nova 20 and Python 3.7
on. Each line of the standard input is a case (tests/fidelity/ours.py describes it);
each line of the output is its answer: ``query`` and for a pinned server
``fallback_query``, or ``refused``, ``stage``, ``text`` and for nova-api ``http``.

A case goes through Nova's own code from ``API._create_instance``, with all its
checks, through RPC to ``SchedulerManager.select_destinations``, with the prefilters
and a real database of aggregates: the one whose URL is the only argument. The user is
an admin.
"""

import json
import logging
import os
import sys
import warnings

os.environ.setdefault("OS_NOVA_DISABLE_EVENTLET_PATCHING", "true")
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

import nova.conf  # noqa: E402
from nova import config, context, objects, policy  # noqa: E402, F401

CONF = nova.conf.CONF
CONF([], project="nova", version="0", default_config_files=[], default_config_dirs=[])
objects.register_all()
CONF.set_override("connection", sys.argv[1], "api_database")
CONF.set_override("connection", "sqlite://", "database")

import aggregates  # noqa: E402
import answers  # noqa: E402
import ends  # noqa: E402
import networks  # noqa: E402
import oslo_messaging  # noqa: E402
import overrides  # noqa: E402
from nova import block_device  # noqa: E402
from nova.scheduler import utils as scheduler_utils  # noqa: E402
from oslo_serialization import jsonutils  # noqa: E402

ALIAS = {"name": "a1", "vendor_id": "8086", "product_id": "1521"}
# Its size is of no matter then.
VOLUME = {
    "uuid": ends.IMAGE,
    "source_type": "image",
    "destination_type": "volume",
    "boot_index": 0,
    "volume_size": 1 << 20,
}


#: What a case may have besides, each with what it is where nothing is said.
PARTS = {
    "ports": [],
    "networks": [],
    "subnets": [],
    "segments": {},
    "volumes": [],
    "device_profiles": {},
}


def prepare():
    """Set up what all cases share."""
    aggregates.create(CONF)
    ends.connect()
    try:
        policy.init(suppress_deprecation_warnings=True)
    except TypeError:
        policy.init()
    logging.disable(logging.CRITICAL)


def answer(case):
    """Return a case's answer."""
    ends.case = case
    networks.case = {**PARTS, **case}
    del ends.queries[:], ends.handed_on[:]
    aggregates.fill(case.get("aggregates") or [])
    stage = ["api"]
    aliases = {"pci.alias": [json.dumps(dict(ALIAS, device_type="type-PCI"))]}
    try:
        with overrides.overridden(CONF, {**aliases, **(case.get("options") or {})}):
            ends.forget_aliases()
            _create(case, stage)
    except Exception as exc:
        expected = isinstance(exc, oslo_messaging.ExpectedException)
        real = exc.exc_info[1] if expected else exc
        if not ends.not_found(real):
            return answers.refused(real, stage[0])
    return dict(zip(("query", "fallback_query"), ends.queries))


def _create(case, stage):
    ctxt = context.RequestContext(
        user_id="user",
        project_id=case.get("project_id", "project"),
        is_admin=True,
        roles=["admin"],
    )
    flavor = _flavor(case["flavor"])
    zone, host, node = API.parse_availability_zone(ctxt, case.get("availability_zone"))
    if host or node:
        zone = _checked_zone(ctxt, zone, host)
    destination = _destination(ctxt, case, host, node)
    image, devices = ends.IMAGE, []
    if case.get("volumes"):
        image = None
        devices = [_attached(each) for each in case["volumes"]]
    elif case.get("boot_from_volume"):
        image = None
        devices = [block_device.BlockDeviceDict.from_api(dict(VOLUME), False)]
    hostname = [None] if ends.RELEASE >= 24 else []
    API._create_instance(
        *[ctxt, flavor, image, None, None, 1, 1, "server", "server"],
        *hostname,
        *[None, None, ["default"], zone, None, {}, [], "password", None, None],
        *[_requested(case), None, devices, None],
        filter_properties=scheduler_utils.build_filter_properties(
            {}, host, node, flavor
        ),
        legacy_bdm=not devices,
        supports_port_resource_request=True,
        supports_multiattach=True,
        **destination,
    )
    stage[0] = "scheduler"
    primitive = jsonutils.loads(jsonutils.dumps(ends.handed_on[0].obj_to_primitive()))
    spec = objects.RequestSpec.obj_from_primitive(primitive)
    spec._context = ctxt
    MANAGER.select_destinations(
        ctxt,
        spec_obj=spec,
        instance_uuids=[spec.instance_uuid],
        return_objects=True,
        return_alternates=True,
    )


def _requested(case):
    """Return the networks that are asked for; None where nothing is said of them."""
    asked = [{"port_id": each["id"]} for each in case.get("ports") or []]
    asked += [{"network_id": each} for each in case.get("requested_networks") or []]
    found = [objects.NetworkRequest(**each) for each in asked]
    return objects.NetworkRequestList(objects=found) if found else None


def _attached(volume):
    """Return a volume as a device; the first one of a case is the root disk."""
    device = {
        "uuid": volume["id"],
        "source_type": "volume",
        "destination_type": "volume",
        "boot_index": 0 if volume is ends.case["volumes"][0] else -1,
    }
    return block_device.BlockDeviceDict.from_api(device, False)


def _checked_zone(ctxt, zone, host):
    """Return the zone that nova-api leaves; the first releases leave any."""
    check = answers.function("_validate_host_availability_zone")
    return check(ctxt, zone, host) if check else zone


def _destination(ctxt, case, host, node):
    """Return the host that nova-api is asked for beside the zone."""
    body = {"host": case.get("on_host"), "hypervisor_hostname": case.get("on_node")}
    requested = {}
    process = answers.function("_process_hosts_for_create")
    process(ctxt, {}, body, requested, host, node)
    return requested


def _flavor(body):
    return objects.Flavor(
        id=1,
        flavorid="1",
        name="flavor",
        vcpus=body["vcpus"],
        memory_mb=body["ram"],
        root_gb=body["disk"],
        ephemeral_gb=body.get("OS-FLV-EXT-DATA:ephemeral", 0),
        swap=body.get("swap") or 0,
        rxtx_factor=1.0,
        vcpu_weight=None,
        disabled=False,
        is_public=True,
        extra_specs=body.get("extra_specs", {}),
        projects=[],
        description=None,
    )


if __name__ == "__main__":
    prepare()
    API, MANAGER = ends.API(), ends.Manager()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line)), sort_keys=True) + "\n")
