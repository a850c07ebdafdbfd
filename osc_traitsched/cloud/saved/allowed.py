"""What a masked snapshot keeps: the words of OpenStack, amounts and times."""

from __future__ import annotations

import enum
import functools
import re

import os_traits

from osc_traitsched.cloud.saved.lists import LISTS
from osc_traitsched.core import check
from osc_traitsched.core.names import near_names
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import table
from osc_traitsched.core.nova.server import extra_specs, image, properties
from osc_traitsched.core.nova.weigher import ranking
from osc_traitsched.core.releases import NEWEST, RELEASES


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Masking(enum.Enum):
    """What becomes of the strings behind a key."""

    NAME = "a word, unless :data:`COMMON` has it"
    KEPT = "a word, unless it is a value of Nova's or an amount"
    TEXT = "only sentences of Nova's stay"


_FLAVOR_KEYS = extra_specs.FLAVOR_NAMES
_IMAGE_KEYS = frozenset().union(*map(image.property_names, RELEASES))

#: A row a rule: its keys. The strings behind all other keys are names, and these keys
#: are words themselves.
_KEYS = {
    Masking.NAME: (
        "accel:device_profile aggregates alias answers attached_at attachment_id "
        "attachments availability_zone availabilityZoneInfo binding:host_id "
        "block_device_mapping build_near_host_ip checksum cpu_info description "
        "dest_compute dest_host dest_node device device_id device_profile "
        "device_profiles different_cell different_host disabled_reason domain_id "
        "domains events extra_specs fault features fixed_ips flavor flavor_access "
        "flavor_id flavors group groups host host_ip host_name hostId hosts hw:pmem "
        "hypervisor_hostname hypervisors id identity image image_id image_properties "
        "images instance_type instance_uuid instanceAction instanceActions "
        "inventories kernel_id links member_id members metadata migrations missing "
        "model name network network_id networks nodename object_id original_name "
        "OS-EXT-AZ:availability_zone OS-EXT-SRV-ATTR:host "
        "OS-EXT-SRV-ATTR:hypervisor_hostname OS-EXT-SRV-ATTR:root_device_name "
        "os-extended-volumes:volumes_attached os-vol-tenant-attr:tenant_id os_distro "
        "os_hash_value own_project owner owner_id parent pci_passthrough:alias "
        "pinned_availability_zone placement ports project_id projects properties "
        "providers query ramdisk_id rbac_policies request_groups request_id "
        "reservation resource_class resource_classes resource_request resources roles "
        "root root_device_name rules same_host same_subtree scheduler_hints schema "
        "scope security_groups segment_id self server_groups server_id servers "
        "service services settings source_compute source_node stores subnet_id "
        "subnets tags target_cell target_tenant tenant_id topology traits "
        "trusted_image_certificates user user_id uuid vendor volume_id "
        "volume_image_metadata volumes zone zoneName zoneState"
    ),
    Masking.KEPT: (
        "accelerator action allocation_ratio arch attach_mode available baseline "
        "binary binding:vnic_type block-storage bootable cell_uuid cells cidr code "
        "compute compute_maximum container_format control_plane cores "
        "cpu_allocation_ratio created created_at current_workload deleted deleted_at "
        "device_type disk disk_allocation_ratio disk_available_least disk_format "
        "disk_mb_used environments ephemeral error event failed_builds files filters "
        "finish_time format free_disk_gb free_disk_mb free_ram_mb generation "
        "hypervisor_type hypervisor_version ignore_rules instances ip_allocation "
        "is_public light limits lines live_migratable local_gb local_gb_used locked "
        "masked max_instances_per_host max_io_ops_per_host max_server_per_host "
        "max_unit memory_mb metrics migration_type min_disk min_ram min_unit "
        "multiattach nova_conf nova_release num_instances num_io_ops numa_policy "
        "numa_topology object_type options OS-DCF:diskConfig OS-EXT-STS:power_state "
        "OS-EXT-STS:task_state OS-EXT-STS:vm_state os-flavor-access:is_public "
        "OS-FLV-DISABLED:disabled OS-FLV-EXT-DATA:ephemeral OS-SRV-USG:launched_at "
        "OS-SRV-USG:terminated_at os_hash_algo os_hidden pci_stats place policies "
        "policy power_state product_id protected ram ram_allocation_ratio reserved "
        "result running_vms rxtx_factor seconds section shared shows_all size sockets "
        "start_time state stats status step_size supported_instances swap task_state "
        "threads time tool total total_usable_disk_gb total_usable_ram_mb updated "
        "updated_at used vcpus vcpus_total vcpus_used vendor_id virtual_size "
        "visibility vm_state"
    ),
    Masking.TEXT: ("details message reason traceback"),
}
RULES = {
    **dict.fromkeys((*_FLAVOR_KEYS, *_IMAGE_KEYS), Masking.KEPT),
    **{w.aggregate_key: Masking.KEPT for w in ranking.WEIGHERS.values()},
    **{key: rule for rule, keys in _KEYS.items() for key in keys.split()},
}
#: What words are called, by the key of the first place of a name.
LABELS = {
    key: label
    for label, keys in {
        "host": (
            "binding:host_id dest_compute dest_host dest_node host hosts "
            "hypervisor_hostname nodename OS-EXT-SRV-ATTR:host "
            "OS-EXT-SRV-ATTR:hypervisor_hostname source_compute source_node"
        ),
        "zone": (
            "availability_zone default_availability_zone default_schedule_zone "
            "OS-EXT-AZ:availability_zone pinned_availability_zone zone zoneName"
        ),
        "flavor": "instance_type original_name",
        "project": "owner project_id tenant_id",
        "reason": "disabled_reason",
    }.items()
    for key in keys.split()
}

#: Words that stay wherever they are: they mean something to Nova, or to nobody.
COMMON = _words(
    "and Default default False false forbidden in internal masked no None none not "
    "nova off on or preferred required True true yes"
)
_VALUES = _words(
    "--nova-conf --set /etc/nova/nova.conf accelerator-direct "
    "accelerator-direct-physical ACTIVE active address_scope admin affinity aki all "
    "ami anti-affinity any ari attach attaching available bare baremetal BUILD build "
    "build_instances building case-insensitive case-sensitive charmed CloudBroke "
    "cold-migration cold_migrate community completed "
    "compute__do_build_and_run_instance compute_check_can_live_migrate_destination "
    "compute_check_can_live_migrate_source compute_confirm_resize "
    "compute_finish_resize compute_finish_revert_resize compute_live_migration "
    "compute_post_live_migration_at_destination compute_pre_live_migration "
    "compute_prep_resize compute_reboot_instance compute_rebuild_instance "
    "compute_resize_instance compute_revert_resize compute_shelve_instance "
    "compute_shelve_offload_instance compute_start_instance compute_stop_instance "
    "compute_terminate_instance compute_unshelve_instance "
    "conductor_live_migrate_instance conductor_migrate_server "
    "conductor_schedule_and_build_instances confirmed confirming confirmResize "
    "Conflict create creating deactivated dedicated deferred delete DELETED deleted "
    "deleting devstack direct direct-physical DISABLED disabled docker done down "
    "enabled ERROR Error error evacuate evacuation failed fake finished Forbidden "
    "GenerationConflict gpt HARD_REBOOT Hidden hw hyperv ide image img immediate "
    "importing in-use ironic iso isolate killed kolla KVM kvm large legacy "
    "live-migrate live-migration live-migration-aborted live_migrate "
    "live_migrate_instance LPAR luks LXC macvtap maintenance md5 migrate MIGRATING "
    "migrating migration network none NORMAL normal NotFound NotInCatalog nova-cert "
    "nova-compute nova-conductor nova-consoleauth nova-network nova-scheduler null os "
    "osa ova ovf Parallels PASSWORD PAUSED paused pending_delete ploop post-migrating "
    "PowerVM pre-migrating preparing private public qcow2 QEMU qemu qos_policy queued "
    "raw REBOOT reboot rebooting REBUILD rebuild rebuild_server rebuilding "
    "remote-managed RESCUE rescued reserved RESIZE resize resize_confirming "
    "resize_finish resize_migrated resize_migrating resize_prep resize_reverting "
    "resized retyping REVERT_RESIZE reverted reverting revertResize rhoso running "
    "saving scheduling scsi security_group ServiceBroke sha1 sha256 sha512 shared "
    "shelve SHELVED shelved SHELVED_OFFLOADED shelved_offloaded shelveOffload "
    "shelving shelving_image_pending_upload shelving_image_uploading "
    "shelving_offloading shutdown SHUTOFF small smart-nic socket soft-affinity "
    "soft-anti-affinity soft-delete SOFT_DELETED spawning start stop stopped "
    "subnetpool Success SUSPENDED suspended tripleo type-PCI type-PF type-VF UML "
    "Unauthorized UNKNOWN unknown Unreachable unshelve unshelve_instance unshelving "
    "up uploading vdi vdpa VERIFY_RESIZE vhd vhdx virtio-forwarder vmdk XEN Xen zvm"
) | {"VMware vCenter Server"}
VALUES = _VALUES.union(
    *(each.choices for each in properties.PROPERTIES),
    *(each.renamed for each in properties.PROPERTIES),
    *(map(str, each.choices) for each in options.OPTIONS.values()),
    (rule.id for rule in check.RULES),
)

_OPTION_PARTS = {part for name in options.NAMES for part in name.split(".")}
_CLASSES = (*table.FILTERS, *ranking.WEIGHERS, "all_filters", "all_weighers")
_CLASS = re.compile(r"(?:nova\.scheduler\.(?:filters|weights)\.(?:[a-z_]+\.)?)?(\w+)")
_SETTINGS = _words("is_unread meant nearest source")
_TRAITS = frozenset(os_traits.get_traits())
#: Scopes of extra specs that Nova reads, or some service beside it.
SCOPES = ("hw", "os", "quota", "accel", "pci_passthrough", "hw_rng", "hw_video")
_HEADS = ("trait", "resources", "aggregate_instance_extra_specs", "capabilities")
#: Parts of the names of keys and traits that Nova and Neutron read alone.
_STARTS = _words(
    "CUSTOM VNIC TYPE PHYSNET NETWORK TUNNEL PROVIDER PMEM NAMESPACE PCI filter "
    " tenant id weight multiplier aggregate instance extra specs req"
)
#: Parts of the paths of APIs.
PATHS = frozenset(
    part for each in LISTS for part in (each.service, *each.of_one.split("/"))
).union(["os-flavor-access", "os-instance-actions", "members"])
#: What Nova and Neutron begin the names of traits and classes with, and how some end.
CUSTOM = re.compile(
    "CUSTOM_(?:VNIC_TYPE_|PHYSNET_|NETWORK_TUNNEL_PROVIDER|PMEM_NAMESPACE_|"
    "PCI_(?=[0-9A-F]{4}_[0-9A-F]{4}$))?"
)
_OF_NEUTRON = re.compile(
    r"CUSTOM_(PCI_[0-9A-F]{4}_[0-9A-F]{4}|NETWORK_TUNNEL_PROVIDER|VNIC_TYPE_("
    r"NORMAL|DIRECT|DIRECT_PHYSICAL|MACVTAP|BAREMETAL|VIRTIO_FORWARDER|SMART_NIC|VDPA|"
    r"ACCELERATOR_DIRECT|ACCELERATOR_DIRECT_PHYSICAL|REMOTE_MANAGED))"
)
#: Amounts, versions and ranges; IDs of PCI; machine types; times; this tool.
_KEPT = re.compile(
    r"[<>=!]{0,2}\s*\^?[-+]?\d+(\.\d+){0,2}([eE][-+]?\d+)?(-\d+)?"
    r"([KMGTPEZYRQ]?i?(b|bit|B))?|/\d{1,3}"
    r"|[\da-fA-F]{4}"
    r"|(pc-)?(pc|q35|i440fx|virt|pseries|s390-ccw-virtio)(-[\d.]+)?"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?"
    r"|osc-traitsched [\d.]+(dev\d+|rc\d+)?"
)
#: Numbered keys, and the ends of names of providers.
_NUMBERED = re.compile(
    r"(trait|resources)(_?\d{0,3}|s{1,2})|filter_tenant_id_?\d{0,3}|NUMA\d+"
)
#: Operators of extra specs and queries.
OPERATORS = _words("!= < <= <all-in> <in> <is> <or> = == > >= s!= s< s<= s== s> s>=")
COMPARES_NUMBERS = _words("!= <= = == >=")

#: Sentences of failures; ``{}`` is a name and ``#`` a number. From nova/exception.py,
#: nova/scheduler/utils.py, nova/scheduler/manager.py, nova/conductor/manager.py,
#: nova/compute/claims.py, and of this tool.
_SENTENCES = """
Exceeded max scheduling attempts # for instance {}. Last exception:
Exceeded maximum number of retries.
Exhausted all hosts available for retrying build failures for instance {}.
No valid host was found.
There are not enough hosts available.
No valid host found for cold migrate
No valid host found for resize
No such host - host: {} node: {}
Unable to move instance {} to host {}. The instance has complex allocations on the \
source host so move cannot be forced.
Unable to move instance {} to host {}. There is not enough capacity on the host for \
the instance.
Unable to replace instance claim on source
Image traits are part of forbidden traits in flavor associated with the server. Either \
specify a different image during rebuild or create a new server with the specified \
image and a compatible flavor.
Image traits cannot be satisfied by the current resource providers. Either specify a \
different image during rebuild or create a new server with the specified image.
ServerGroup policy is not supported:
ServerGroupAffinityFilter not configured
ServerGroupAntiAffinityFilter not configured
ServerGroupSoftAffinityWeigher not configured
ServerGroupSoftAntiAffinityWeigher not configured
Anti-affinity instance group policy was violated.
Affinity instance group policy was violated.
Insufficient compute resources:
Requested instance NUMA topology together with requested PCI devices cannot fit the \
given host NUMA topology
Requested instance NUMA topology cannot fit the given host NUMA topology
Claim pci failed
Free memory # MB < requested # MB
Free vcpu # VCPUs < requested # VCPUs
Free disk # GB < requested # GB
Migration pre-check error:
Migration error:
Migration select destinations error:
Resize error:
Pre-checks failed on host '{}'. Error:
Build of instance {} was re-scheduled:
Build of instance {} aborted:
Binding failed for port {}, please check neutron logs for more information.
Virtual Interface creation failed
Failed to allocate the network(s), not rescheduling.
Failed to allocate the network(s) with error
Compute service of {} is unavailable at this time.
Compute host {} could not be found.
Instance {} could not be found.
Image {} is unacceptable:
Unacceptable CPU info:
Unable to migrate instance ({}) to current host ({}).
Flavor's disk is smaller than the minimum size specified in image metadata. Flavor \
disk is # bytes, minimum size is # bytes.
Flavor's disk is too small for requested image. Flavor disk is # bytes, image is # \
bytes.
The created instance's disk would be too small.
The instance requires a newer hypervisor version than has been provided.
The supplied hypervisor type of is invalid.
Server disk was unable to be resized because:
Quota exceeded for resources:
Error
not in the catalog
Policy doesn't allow {} to be performed.
You are not authorized to perform the requested action
only nova-compute reads it, in [DEFAULT]
Nova # has no such option
""".strip().splitlines()


def _pattern(sentence: str) -> str:
    text = r"(?<!\w)" + re.escape(sentence).replace(r"\{\}", r"(\S.{0,250}?)").replace(
        r"\#", r"\d+"
    )
    return text if sentence[-1] in ".:" else rf"{text}(?!\w)"


SENTENCE = re.compile("|".join(map(_pattern, _SENTENCES)))
#: The words of a text: letters, digits and hyphens.
TOKEN = re.compile(r"(?:[^\W_]|-)+")
_IN_SENTENCES = frozenset(TOKEN.findall(" ".join(_SENTENCES)))
_WHOLE = frozenset().union(
    *(RULES, COMMON, VALUES, options.NAMES, _OPTION_PARTS, _CLASSES, _SETTINGS),
    *(_STARTS, PATHS, OPERATORS, _IN_SENTENCES, SCOPES, ("capabilities", "named")),
)


def is_standard(name: str) -> bool:
    """Whether a trait or a resource class is of OpenStack's own libraries."""
    is_class = extra_specs.is_class(name, NEWEST) and not name.startswith("CUSTOM_")
    return is_class or name in _TRAITS or bool(_OF_NEUTRON.fullmatch(name))


def is_kept(text: str) -> bool:
    """Whether a text is a value of Nova's, a number or a time."""
    return text in VALUES or _KEPT.fullmatch(text) is not None


def is_allowed(text: str) -> bool:
    """Whether a text is no name of a cloud."""
    is_plain = text in _WHOLE or is_kept(text) or is_standard(text)
    return is_plain or is_class_of_nova(text) or bool(_NUMBERED.fullmatch(text))


def misspelled(key: str) -> str:
    """A key or an option of Nova's that is spelled almost like this one, or nothing."""
    near = extra_specs.near_flavor_key(key), extra_specs.near_image_key(key, NEWEST)
    return next((each for each in near if each in RULES), "")


@functools.lru_cache(maxsize=4096)
def is_scope(text: str) -> bool:
    """Whether Nova reads keys with this before a colon, or meant is one it reads."""
    return text in SCOPES or bool(near_names(text, _HEADS, 0.8))


@functools.lru_cache(maxsize=4096)
def is_option(text: str) -> bool:
    """Whether a text is a section, or the name of an option, or nearly one."""
    return bool(near_names(text, _OPTION_PARTS, 0.85))


def is_class_of_nova(text: str) -> bool:
    """Whether an option names a filter or weigher of Nova's own."""
    found = _CLASS.fullmatch(text)
    return found is not None and found[1] in _CLASSES
