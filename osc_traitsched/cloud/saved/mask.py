"""Masks a saved cloud: what it keeps, and what words stand for."""

from __future__ import annotations

import functools
import ipaddress
import re
import secrets
import urllib.parse
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Union

import os_traits

from osc_traitsched.cloud.saved.form import KEPT, LISTS, Masking
from osc_traitsched.core import check
from osc_traitsched.core.inventory.trait import TENANT_KEY
from osc_traitsched.core.nova import extra_specs, image, options, properties, weighers
from osc_traitsched.core.nova.attachments import PCI_ALIAS
from osc_traitsched.core.nova.filter import table
from osc_traitsched.core.nova.filter.groups import (
    NEAR_ADDRESS,
    PREFIX,
    SCOPE,
    metadata_key,
)
from osc_traitsched.core.releases import NEWEST, RELEASES
from osc_traitsched.text import ALMOST, near_names

# What a masked snapshot keeps: the words of OpenStack, amounts and times.


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FLAVOR_KEYS = extra_specs.FLAVOR_NAMES
_IMAGE_KEYS = frozenset().union(*map(image.property_names, RELEASES))

#: A row a rule: its keys, beside those of lists. The strings behind all other keys are
#: names, and these keys are words themselves.
_KEYS = {
    Masking.NAME: (
        "accel:device_profile accelerator aggregates alias alias_name "
        "allocation_ratio answers attached_at attachment_id availabilityZoneInfo "
        "available block-storage block_device_mapping build_near_host_ip cell_uuid "
        "cells checksum code compute control_plane default_availability_zone "
        "default_schedule_zone deleted description dest_host dest_node device "
        "device_profiles devices different_cell different_host domains environments "
        "ephemeral events features files flavor_access flavor_id flavors force_hosts "
        "force_nodes format generation group groups host_name hostId hw:pmem "
        "hypervisors identity image_id images instance_type instanceAction "
        "instanceActions inventories is_public isolated_hosts isolated_images "
        "kernel_id light lines links masked max_server_per_host max_unit member_id "
        "migrations min_unit missing model network networks nodename options "
        "original_name os_distro os_hash_value own_project owner_id parent "
        "pci_passthrough:alias placement ports power_state projects protected "
        "providers query ramdisk_id rbac_policies request_groups request_id "
        "requester_id requests reservation reserved resized_to resource_class "
        "resource_classes resources roles root root_device_name rxtx_factor same_host "
        "same_subtree schema scope seconds section security_groups self server_id "
        "servers services settings shows_all source_node step_size stores subnet_id "
        "target_cell topology total traits trusted_image_certificates used user "
        "user_id vendor virtual_size volume_id volumes"
    ),
    Masking.KEPT: (
        "action arch attach_mode baseline cidr compute_maximum cores count "
        "cpu_allocation_ratio deleted_at device_type disk_allocation_ratio "
        "disk_mb_used error event failed_builds filters finish_time free_disk_mb "
        "ignore_rules instances limits live_migratable max_instances_per_host "
        "max_io_ops_per_host metrics nova_conf nova_release num_instances "
        "num_io_ops numa_policy numa_topology OS-DCF:diskConfig "
        "OS-SRV-USG:terminated_at os_hash_algo pci_stats place policies product_id "
        "ram_allocation_ratio result sockets start_time stats supported_instances "
        "task_state threads time tool total_usable_disk_gb total_usable_ram_mb "
        "vcpus_total vendor_id vm_state"
    ),
    Masking.TEXT: ("details message reason traceback"),
}
_LISTED = [key for each in LISTS for key in each.keys]
RULES = {
    **dict.fromkeys((*_FLAVOR_KEYS, *_IMAGE_KEYS), Masking.KEPT),
    **{w.aggregate_key: Masking.KEPT for w in weighers.WEIGHERS.values()},
    **{key: rule for rule, keys in _KEYS.items() for key in keys.split()},
    # What one list has as a name is a name in all.
    **{key.plain: key.mask for key in sorted(_LISTED, key=lambda k: k.mask != KEPT)},
}
#: What words are called, by the key of the first place of a name.
LABELS = {
    key: label
    for label, keys in {
        "host": (
            "binding:host_id dest_compute dest_host dest_node force_hosts "
            "force_nodes host hosts "
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
    table.FILTERS,
)

_OPTION_PARTS = {part for name in options.NAMES for part in name.split(".")}
_CLASSES = (*table.FILTERS, *weighers.WEIGHERS)
_PATHS = (
    *(options.ALL_FILTERS, options.ALL_WEIGHERS),
    *(each.path for each in weighers.WEIGHERS.values()),
)
#: Parts of the paths of Nova's own classes.
_OF_PATHS = frozenset(".".join(_PATHS).split("."))
#: Options with paths and names of classes.
_LOADED = {
    name.rpartition(".")[2]
    for option in (
        options.ENABLED_FILTERS,
        options.AVAILABLE_FILTERS,
        options.WEIGHT_CLASSES,
    )
    for release in RELEASES
    for name in options.OPTIONS[option].names_in(release)
}
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
#: Amounts, versions and ranges.
_NUMBER = re.compile(
    r"[<>=!]{0,2}\s*\^?[-+]?\d+(\.\d+){0,2}([eE][-+]?\d+)?(-\d+)?"
    r"([KMGTPEZYRQ]?i?(b|bit|B))?|/\d{1,3}"
)
#: IDs of PCI, and the keys that have them.
_PCI_ID, _PCI_KEYS = re.compile("[0-9a-fA-F]{4}"), ("vendor_id", "product_id")
#: Machine types; times; this tool.
_KEPT = re.compile(
    r"(pc-)?(pc|q35|i440fx|virt|pseries|s390-ccw-virtio)(-[\d.]+)?"
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
    *(RULES, COMMON, VALUES, options.NAMES, _OPTION_PARTS, _CLASSES, _PATHS),
    *(TOKEN.findall(" ".join(_PATHS)), _SETTINGS),
    *(_STARTS, PATHS, OPERATORS, _IN_SENTENCES, SCOPES, ("capabilities", "named")),
)


def is_standard(name: str) -> bool:
    """Whether a trait or a resource class is of OpenStack's own libraries."""
    is_class = extra_specs.is_class(name, NEWEST) and not name.startswith("CUSTOM_")
    return is_class or name in _TRAITS or bool(_OF_NEUTRON.fullmatch(name))


def is_kept(text: str) -> bool:
    """Whether a text is a value of Nova's, a number or a time."""
    return text in VALUES or any(e.fullmatch(text) for e in (_NUMBER, _KEPT))


def is_allowed(text: str) -> bool:
    """Whether a text is no name of a cloud."""
    is_plain = text in _WHOLE or is_kept(text) or is_standard(text)
    is_form = any(each.fullmatch(text) for each in (_NUMBERED, _PCI_ID))
    return is_plain or is_form or is_class_of_nova(text)


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


@functools.lru_cache(maxsize=4096)
def is_class_of_nova(text: str) -> bool:
    """Whether an option names a filter or weigher of Nova's own, or nearly one."""
    is_gone = table.successor(text, NEWEST) is not None
    return is_gone or bool(near_names(text, _CLASSES, ALMOST))


# Masks a saved cloud: a random word instead of each name, wherever it occurs.
#
# Nothing is computed from what it hides: words, IDs and addresses are drawn, and a
# table says what stands for what.


_UUID = re.compile(r"[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}", re.I)
_HEX = re.compile(r"[\da-f]{32,}", re.I)
#: Letters that real names hardly have together: a word is not taken for a name.
_LETTERS, _LENGTH = "fhjkpqvwxz", 10
#: The name in ``name:number``, between commas.
_OF_ALIAS = re.compile(r"(?:(?<=,)|^)[^,]+?(?=(?::\s*\d+\s*)?(?:,|$))")
_GROUP = re.compile(r"(trait|resources)([^:]*):(.*)", re.S)
_SUFFIX = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MULTIPLIER = "weight_multiplier"
#: What has none of these is no name.
_LETTER = re.compile(r"[^\W_]|[^\x00-\x7f]")
#: A file, without the line behind it.
_FILE = re.compile(r"\A.+?(?=(?::\d+)?\Z)", re.S)
#: A string of JSON, with ``"`` or ``"$`` before it, and ``:`` behind a key; or another
#: value.
_LITERAL = re.compile(
    r'("\$?)((?:[^"\\]|\\.)*)"(?=(\s*:)?)|([^\s\[\]{},:"][^\s\[\]{},"]*)'
)
_Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]
#: Whether a name stays.
_Keeps = Callable[[str], object]
#: Lists whose order their times tell.
_BY_TIME = ("images", "migrations", "servers")
_HINT = "hint"
#: What lists call one of their objects.
_SINGLE = {each.kind: each.single.replace("_", "-") for each in LISTS}


def masked(
    document: Mapping[str, Any], kept: Collection[str] = ()
) -> tuple[dict[str, Any], dict[str, str]]:
    """A document with words instead of names, and the word of each name.

    :param kept: names that stay
    """
    mask = _Mask(document, kept)
    return {**mask.document(document), "masked": str(uuid.uuid4())}, mask.words


class _Mask:
    """Draws words, and replaces names by them.

    :ivar words: by name
    """

    def __init__(self, document: Mapping[str, Any], kept: Collection[str]) -> None:
        self.words: dict[str, str] = {}
        self._kept = COMMON.union(kept)
        self._bases: dict[str, str] = {}
        self._used = set[str]()
        #: By bits of an address, length of a network and its number.
        self._networks: dict[tuple[int, int, int], int] = {}
        self._taken = set[tuple[int, int, int]]()
        #: Hints compare addresses as networks: those of one network of such a length
        #: stay in one.
        lengths = set[int]()
        #: Own keys whose values flavors compare as numbers.
        self._amounts = set[str]()
        for key, text in leaves(document):
            first, *more = text.split() or [""]
            if more and first in COMPARES_NUMBERS:
                self._amounts.add(metadata_key(key) or key)
            if key in (NEAR_ADDRESS, PREFIX):
                lengths.add(int(text[1:]) if re.fullmatch(r"/\d{1,3}", text) else 24)
        self._lengths = sorted(lengths)

    def document(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """All of a document; Nova's lists come first, since they name words best."""
        parts = sorted(document, key=lambda part: (part != "compute", part))
        found = {self._key(part): self._walk(document[part], part) for part in parts}
        listed = document["placement"]["providers"]
        names = {each["uuid"]: each["name"] for each in listed}
        for body, masked in zip(listed, found["placement"]["providers"]):
            masked["name"] = self._provider(
                body["name"], names.get(body["root"], body["name"])
            )
        _forget_order(found)
        return found

    def _provider(self, name: str, root: str) -> str:
        """The name of a provider below another begins with that one's."""
        if name == root or not name.startswith(root):
            return self.word(name, "provider")
        end = name[len(root) :]
        is_plain = re.fullmatch(r"_NUMA\d+", end)
        return self.word(root) + (end if is_plain else f"_{self.word(end)}")

    def _walk(self, value: Any, key: str = "", kind: str = "") -> Any:
        kind = _HINT if key == "scheduler_hints" else _SINGLE.get(key, kind)
        if isinstance(value, list):
            return [self._walk(each, key, kind) for each in value]
        if isinstance(value, dict) and key == "settings":
            return self._settings(value)
        if isinstance(value, dict) and key in ("answers", "missing"):
            return {self._path(k): self._walk(v) for k, v in value.items()}
        if isinstance(value, dict) and key == "hosts":
            return {self.word(k, "host"): self._walk(v) for k, v in value.items()}
        if isinstance(value, dict):
            return {self._key(k): self._walk(v, k, kind) for k, v in value.items()}
        if kind == _HINT and type(value) in (int, float) and not _is_known(key):
            return self.word(str(value))
        if not isinstance(value, str):
            return value
        if _rule(key) is Masking.TEXT:
            return self._text(value)
        if key == "query":
            return self._json(value)
        if key in ("name", "id"):
            return self._value(value, kind)
        if key == PCI_ALIAS:
            return _OF_ALIAS.sub(lambda found: self._part(found[0], ""), value)
        is_amount = (metadata_key(key) or key) in self._amounts
        keeps = _keeper(key) or (_NUMBER.fullmatch if is_amount else None)
        return self._value(value, LABELS.get(key, ""), keeps)

    def _key(self, text: str) -> str:
        """A key; those of a cloud's own become words, behind scopes that Nova reads."""
        if _is_known(text) or is_standard(text):
            return text
        if found := _GROUP.fullmatch(text):
            start, suffix, name = found.groups()
            if not re.fullmatch(r"_?\d{0,3}|s{1,2}", suffix):
                # Nova rejects a suffix with other letters.
                suffix = f"_{self.word(suffix)}{'.' * (not _SUFFIX.fullmatch(suffix))}"
            return f"{start}{suffix}:{self.word(name)}"
        head, colon, rest = text.partition(":")
        if not colon:
            return self._plain_key(text)
        if head == "capabilities":
            parts = (p if p in RULES else self.word(p) for p in rest.split(":"))
            return f"{head}:{':'.join(parts)}"
        if head == SCOPE:
            return f"{head}:{self._key(rest)}"
        return f"{head if is_scope(head) else self.word(head)}:{self.word(rest)}"

    def _plain_key(self, text: str) -> str:
        """A key without a scope; Nova reads some by how they begin or end."""
        if text.startswith(TENANT_KEY):
            end = text[len(TENANT_KEY) :]
            is_plain = re.fullmatch(r"_?\d{0,3}", end)
            return text if is_plain else f"{TENANT_KEY}_{self.word(end)}"
        if text.endswith(_MULTIPLIER):
            return f"{self.word(text[: -len(_MULTIPLIER)])}_{_MULTIPLIER}"
        return self.word(text)

    def _value(self, text: str, label: str = "", keeps: _Keeps | None = None) -> str:
        """Names between commas, with the operators of extra specs."""

        def part(found: re.Match[str]) -> str:
            first = next(iter(found[0].split()), "")
            if first not in OPERATORS:
                return self._part(found[0], label, keeps)
            is_number = _NUMBER.fullmatch if first in COMPARES_NUMBERS else None
            stays = keeps or is_number
            return re.sub(r"\S+", lambda m: self._part(m[0], label, stays), found[0])

        return re.sub("[^,]+", part, text)

    def _part(self, text: str, label: str, keeps: _Keeps | None = None) -> str:
        name = text.strip()
        if not name or name in OPERATORS or (keeps and keeps(name)):
            return text
        return text.replace(name, self.word(name, label))

    def word(self, name: str, label: str = "") -> str:
        """The word of a name; it has the label if it is drawn now."""
        if name in self.words:
            return self.words[name]
        stays = name in self._kept or is_standard(name)
        if not stays and _LETTER.search(name):
            self.words[name] = self._drawn(name, label)
        return self.words.get(name, name)

    def _drawn(self, name: str, label: str) -> str:
        if _UUID.fullmatch(name):
            return str(uuid.uuid4())
        if _HEX.fullmatch(name):
            return secrets.token_hex(len(name))[: len(name)]
        if name.startswith("req-"):
            return f"req-{self.word(name[4:])}"
        if address := _address(name):
            return str(type(address)(self._moved(address)))
        if start := CUSTOM.match(name):
            end = name[start.end() :]
            return self._letters(end, start[0]) if end else name
        is_trait = re.fullmatch("[A-Z0-9_]+", name)
        return self._letters(name, f"{label}-" if label and not is_trait else "")

    def _letters(self, name: str, start: str) -> str:
        """Letters of a name; in another case if only the case of two names differs.

        Nova makes traits and classes of other names in this way.
        """
        folded = re.sub("[^A-Za-z0-9]+", "_", name).upper()
        base = self._bases.setdefault(folded, _draw())
        while True:
            styled = base if name == name.lower() else base.capitalize()
            styled = base.upper() if re.fullmatch("[A-Z0-9_]+", name) else styled
            if start + styled not in self._used:
                self._used.add(start + styled)
                return start + styled
            base = _draw()

    def _moved(self, address: _Address) -> int:
        """A number for an address, and one for each network that hints compare."""
        bits, number, at, last = address.max_prefixlen, int(address), 0, 0
        for length in (*(each for each in self._lengths if each < bits), bits):
            place = (bits, length, number >> (bits - length))
            while place not in self._networks:
                drawn = at << (length - last) | secrets.randbits(length - last)
                if (bits, length, drawn) not in self._taken:
                    self._taken.add((bits, length, drawn))
                    self._networks[place] = drawn
            at, last = self._networks[place], length
        return at

    def _text(self, text: str) -> str:
        """The sentences of Nova's in it, with words for names."""
        parts, at = [], 0
        for found in SENTENCE.finditer(text):
            parts.append(self._other(text[at : found.start()]))
            at = found.start()
            for number, name in enumerate(found.groups(), 1):
                if name is not None:
                    parts += [text[at : found.start(number)], self.word(name)]
                    at = found.end(number)
            parts.append(text[at : found.end()])
            at = found.end()
        return "".join((*parts, self._other(text[at:])))

    def _other(self, text: str) -> str:
        """A word for what is no sentence of Nova's; two if it had several."""
        other = text.strip()
        if not re.search(r"\w", other):
            return text
        start = "masked " if len(other.split()) > 1 else ""
        return text.replace(other, start + self.word(other, "text"))

    def _json(self, text: str) -> str:
        """JSON of an option or a hint, valid or not, with words in it.

        A value stays or not by the key, or the figure of a host, that it is for.
        """
        keeps: _Keeps | None = None

        def literal(found: re.Match[str]) -> str:
            nonlocal keeps
            mark, name, colon, bare = found.groups(default="")
            if bare:
                is_json = bare == "null" or _NUMBER.fullmatch(bare)
                return bare if is_json else self._value(bare)
            if mark == '"$' or colon:
                parts = name.split(".")
                keeps = _keeper(parts[-1])
                stays = all(part in RULES for part in parts)
            else:
                stays = name in OPERATORS or bool(keeps and keeps(name))
            return f"{mark}{name if stays else self._value(name)}{mark[:1]}"

        return _LITERAL.sub(literal, text)

    def _path(self, text: str) -> str:
        parts = re.split("([/ ])", text)
        return "".join(
            part if part in PATHS else self.word(urllib.parse.unquote(part))
            for part in parts
        )

    def _settings(self, found: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **{key: self._walk(found[key], key) for key in ("named", "place")},
            "options": list(map(self._row, found["options"])),
            "lines": {self._key(k): self._source(v) for k, v in found["lines"].items()},
            "files": {
                self._key(name): [list(map(self._row, rows)) for rows in layers]
                for name, layers in found["files"].items()
            },
        }

    def _row(self, row: list[Any]) -> list[Any]:
        """An option; notes are dropped."""
        section, key, value, path, line, _, why, *services = row
        if why:
            why = {
                **why,
                "name": self._option(why["name"]),
                "source": self._source(why["source"]),
                "meant": why["meant"] and self._option(why["meant"]),
                "nearest": [self._option(each) for each in why["nearest"]],
                "reason": self._text(why["reason"]),
            }
        head = [self._option(section), self._option(key), self._set(key, value)]
        service = (self._part(each, "", is_kept) for each in services)
        return [*head, self._source(path), line, "", why, *service]

    def _option(self, name: str) -> str:
        parts = name.split(".")
        return ".".join(p if is_option(p) else self.word(p) for p in parts)

    def _set(self, key: str, value: str) -> str:
        if key in _LOADED:
            return re.sub("[^,]+", lambda found: self._class(found[0]), value)
        if value.lstrip()[:1] in ("{", "["):
            return self._json(value)
        label, keeps = LABELS.get(key, ""), None if key in RULES else is_kept
        return re.sub("[^,=]+", lambda found: self._part(found[0], label, keeps), value)

    def _class(self, path: str) -> str:
        """The path of a class; its last part alone stands for it elsewhere.

        Python takes no label in a package, so that ``acme.`` is another name than
        ``acme``.
        """

        def part(found: re.Match[str]) -> str:
            name, dot = found.groups()
            stays = name in _OF_PATHS or is_class_of_nova(name)
            return found[0] if stays else self.word(found[0]) + dot

        stays = is_class_of_nova(path.strip())
        return path if stays else re.sub(r"(\w+)(\.?)", part, path)

    def _source(self, text: str) -> str:
        """A file, with its line if it has one."""
        return _FILE.sub(lambda found: self._part(found[0], "file", is_kept), text)


def _draw() -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))


def _rule(key: str) -> Masking:
    """What becomes of the strings behind a key."""
    head, _, rest = key.partition(":")
    if _is_known(key):
        return RULES.get(key, Masking.KEPT)
    if head in (SCOPE, "capabilities"):
        return _rule(rest.rpartition(":")[2])
    is_kept = _GROUP.fullmatch(key) or key.endswith(_MULTIPLIER)
    return Masking.KEPT if is_kept else Masking.NAME


def _keeper(key: str) -> _Keeps | None:
    """Which strings behind a key stay, if any do."""
    if key in _PCI_KEYS:
        return _PCI_ID.fullmatch
    return is_kept if _rule(key) is Masking.KEPT else None


@functools.lru_cache(maxsize=4096)
def _is_known(key: str) -> bool:
    """Whether a key is Nova's, numbered perhaps, or spelled almost like one."""
    plain = re.sub(r"\.\d+$", "", key)
    return plain in RULES or bool(misspelled(plain))


def _address(text: str) -> _Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _forget_order(found: dict[str, Any]) -> None:
    """Sort a masked document by its words, and number what had numbers.

    A list in order of name or creation shows the neighbours of a known name. Servers,
    images and migrations keep their times, so these still show it.
    """
    for each in LISTS:
        bodies = found.get(each.service, {}).get(each.kind, [])
        keys = [key.plain for key in each.keys]
        if each.kind not in _BY_TIME:
            bodies.sort(key=lambda body: [str(body.get(key)) for key in keys])
        for number, body in enumerate(bodies, 1):
            if isinstance(body.get("id"), int):
                body["id"] = number
            for key in ("hosts", "members"):
                if isinstance(body.get(key), list):
                    body[key].sort()
    placement = found["placement"]
    placement["providers"].sort(key=lambda each: (each["name"], each["uuid"]))
    for names in (placement["traits"], placement["resource_classes"]):
        names.sort()
    for each in placement["providers"]:
        each["traits"].sort()
        each["aggregates"].sort()


def leaves(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """All strings of a document, each with its key, and the keys with themselves."""
    if isinstance(value, dict):
        for inner, each in value.items():
            yield inner, inner
            yield from leaves(each, inner)
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each, key)
    elif isinstance(value, str):
        yield key, value


# The masked document, searched for what should not be in it.


_BETWEEN = re.compile(r"[\s,;|$='\"()\[\]{}<>/@]+")


def leaks(
    found: Mapping[str, Any], words: Mapping[str, str], kept: Collection[str] = ()
) -> list[str]:
    """Texts of a masked document that no mask makes, in the file as it was read again.

    All in it has to be made of allowed words, numbers, times and drawn words.

    :param kept: names that stay
    """
    drawn = {*words.values(), str(found["masked"])}
    stays = drawn.union(kept, COMMON)
    stays.update(token for each in drawn for token in TOKEN.findall(each))
    there = {text for _, text in leaves(found)}
    return sorted(text for text in there if not _is_made(text, stays))


def _is_made(text: str, stays: Collection[str]) -> bool:
    if not text or text in stays or is_allowed(text):
        return True
    if _address(text) or not text.isascii():
        return False
    parts = _BETWEEN.split(text)
    if len(parts) == 1:
        parts = text.split(":")
    if len(parts) > 1:
        is_made = all(_is_made(part, stays) for part in parts)
    else:
        tokens = TOKEN.findall(text)
        is_made = all(each in stays or is_allowed(each) for each in tokens)
    is_near = _is_known(text) or is_option(text) or is_scope(text)
    return is_made or is_near
