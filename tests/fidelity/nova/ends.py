"""The ends of Nova that a request would reach: each answers by the case at hand.

Nothing here decides about a request. Everything that does is Nova's own code.
"""

import contextlib
import copy
from urllib import parse

import networks
import nova.version
from nova import context as nova_context
from nova import exception, objects
from nova.compute import api as compute_api
from nova.compute import utils as compute_utils
from nova.image import glance
from nova.objects import service as service_objects
from nova.pci import request as pci_request
from nova.scheduler import manager

RELEASE = int(nova.version.version_info.version_string().split(".")[0])
IMAGE = "11111111-2222-3333-4444-555555555555"

# What is no property in an image's body (glance/api/v2/images.py).
_BASE = (
    "id name status visibility protected os_hidden checksum os_hash_algo os_hash_value "
    "owner size virtual_size container_format disk_format created_at updated_at tags "
    "direct_url min_ram min_disk self file schema locations stores"
)
_DESCRIBED = "architecture kernel_id ramdisk_id instance_uuid os_distro os_version"
_SCHEMA = {
    "name": "image",
    "properties": {
        **{name: {} for name in _BASE.split()},
        **{name: {"is_base": False} for name in _DESCRIBED.split()},
    },
}
_BODY = {
    "id": IMAGE,
    "name": "image",
    "status": "active",
    "visibility": "public",
    "protected": False,
    "checksum": None,
    "owner": "owner",
    "size": 0,
    "virtual_size": None,
    "container_format": "bare",
    "disk_format": None,
    "created_at": "2020-01-01T00:00:00Z",
    "updated_at": "2020-01-01T00:00:00Z",
    "tags": [],
    "min_ram": 0,
    "min_disk": 0,
}

#: The case at hand.
case = {}
#: The request specs that nova-api handed on.
handed_on = []
#: The queries that nova-scheduler sent to Placement.
queries = []


class _Image(dict):
    schema = _SCHEMA

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class _Images:
    def get(self, context, image_id, **_):
        body = {**_BODY, **case["image"]} if image_id == IMAGE else dict(_BODY)
        return glance._translate_from_glance(_Image(copy.deepcopy(body)))


class _Volumes:
    def check_availability_zone(self, *_, **__):
        pass

    def get_all_volume_types(self, context):
        return []

    def get(self, context, volume_id):
        return networks.volume(volume_id)

    def attachment_create(self, context, volume_id, *_, **__):
        return {"id": volume_id}

    def get_snapshot(self, context, snapshot_id):
        return {"id": snapshot_id, "volume_id": IMAGE, "size": 1}


class _Groups:
    def populate_security_groups(self, groups):
        return objects.SecurityGroupList(objects=[])

    def ensure_default(self, context):
        pass


class _Conductor:
    def schedule_and_build_instances(self, context, build_requests, request_spec, **_):
        handed_on.extend(request_spec)


def _nodes(host, node):
    return [
        objects.ComputeNode(
            uuid=each["uuid"], host=each["host"], hypervisor_hostname=each["node"]
        )
        for each in case.get("computes") or []
        if (not host or each["host"] == host) and (not node or each["node"] == node)
    ]


class _Providers:
    def get_provider_by_name(self, context, name):
        if not _nodes(None, name):
            raise exception.ResourceProviderNotFound(name_or_uuid=name)


def _mapping_of_host(context, host):
    if not _nodes(host, None):
        raise exception.HostMappingNotFound(name=host)
    return objects.HostMapping(host=host, cell_mapping=objects.CellMapping())


def _node_of_host(context, host, node):
    found = _nodes(host, node)
    if not found:
        raise exception.ComputeHostNotFound(host=host)
    return found[0]


@contextlib.contextmanager
def _cell(context, cell):
    yield context


class API(compute_api.API):
    """nova-api's part, from the request's body on."""

    placementclient = _Providers()
    compute_task_api = _Conductor()
    security_group_api = _Groups()

    def __init__(self):
        self.image_api = _Images()
        self.volume_api = _Volumes()

    @property
    def network_api(self):
        # It keeps what Neutron can do, which is another thing in each case.
        return networks.neutron.API()

    @network_api.setter
    def network_api(self, found):
        pass

    def _check_requested_secgroups(self, context, secgroups):
        return secgroups

    def _check_metadata_properties_quota(self, *_, **__):
        pass

    def _check_injected_file_quota(self, *_, **__):
        pass

    @staticmethod
    def _create_reqspec_buildreq_instmapping(context, spec, build, mapping):
        pass


class _Drawn:
    """Gives PCI requests IDs that are not by chance."""

    def __init__(self):
        self.number = 0

    def generate_uuid(self, *_, **__):
        self.number += 1
        return self.id(self.number)

    @staticmethod
    def id(number):
        return f"00000000-0000-4000-8000-{number:012x}"


def _without_chance(query):
    """Name the groups of PCI requests by their place in the flavor."""
    drawn = pci_request.uuidutils.number
    if not drawn:
        return query
    for number in range(drawn):
        query = query.replace(_Drawn.id(number + 1), f"pci{number}")
    return parse.urlencode(sorted(parse.parse_qsl(query, keep_blank_values=True)))


def forget_aliases():
    """Let Nova read its PCI aliases anew, and count its requests from the first."""
    pci_request.uuidutils = _Drawn()
    read = getattr(pci_request, "get_alias_from_config", None)
    if hasattr(read, "cache_clear"):
        read.cache_clear()


class _Placement:
    def get_allocation_candidates(self, context, resources):
        queries.append(_without_chance(resources.to_querystring()))
        return [], {}, "1.36"


class _Hosts:
    def get_compute_nodes_by_host_or_node(self, context, host, node, cell=None):
        return _nodes(host, node)


class _Driver:
    USES_ALLOCATION_CANDIDATES = True
    host_manager = _Hosts()


class Manager(manager.SchedulerManager):
    """nova-scheduler's part, up to Placement."""

    placement_client = _Placement()
    driver = _Driver
    host_manager = _Hosts()

    def __init__(self):
        pass


def _oldest_compute(*_, **__):
    # 73 is the one that owner_nova_filter waits for.
    return 72 if case.get("all_computes_new") is False else 1000


def connect():
    """Put these ends in the place of the real ones."""
    compute_utils.check_num_instances_quota = (
        lambda context, flavor, least, most, *_, **__: most
    )
    service_objects.get_minimum_version_all_cells = _oldest_compute
    networks.connect()
    objects.HostMapping.get_by_host = _mapping_of_host
    objects.ComputeNode.get_by_host_and_nodename = _node_of_host
    nova_context.target_cell = _cell
    if hasattr(compute_api, "security_group_api"):
        groups = compute_api.security_group_api
        groups.populate_security_groups = _Groups().populate_security_groups
    try:
        from nova.accelerator import cyborg
    except ImportError:
        return
    client = cyborg._CyborgClient
    client.__init__ = lambda self, context: None
    client._get_device_profile_list = lambda self, name: networks.device_profiles(name)


def not_found(exc):
    """Tell whether Placement was asked, and only had no candidate."""
    return bool(queries) and isinstance(exc, exception.NoValidHost)
