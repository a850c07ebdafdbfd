"""Masked snapshots: no name of the cloud is in them, and they answer alike."""

from __future__ import annotations

import copy
import ipaddress
import json
import os
import random
import re
import uuid

import pytest

from osc_traitsched.app import masking, snapshot
from osc_traitsched.cloud.saved import form, mask
from osc_traitsched.cloud.saved.form import LISTS
from tests.functional import shell
from tests.services import fleet, saved

# Secrets: what is searched for is in lower case, and random.

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Secrets:
    """Draws texts that must not stay, in all forms that names have.

    :ivar searched: what is searched for
    """

    def __init__(self, dice):
        self.dice, self.searched = dice, []

    def core(self):
        core = "".join(self.dice.choice(LETTERS) for _ in range(9)) + "7x"
        self.searched.append(core)
        return core

    def address(self, version):
        bits = {4: 32, 6: 128}[version]
        number = self.dice.getrandbits(bits - 4) | 1 << (bits - 3)
        text = str(ipaddress.ip_address(number.to_bytes(bits // 8, "big")))
        self.searched.append(text)
        return text

    def identity(self):
        text = str(uuid.UUID(int=self.dice.getrandbits(128), version=4))
        self.searched.append(text)
        return self.dice.choice((text, text.replace("-", "")))

    def mac(self):
        text = "fa:16:3e:" + ":".join(f"{self.dice.randrange(256):02x}" for _ in "abc")
        self.searched.append(text)
        return text

    def name(self):
        core = self.core
        forms = (
            core,
            lambda: core().upper(),
            lambda: f"{core()}.{core()}.example",
            lambda: f"{core()}@{core()}.example",
            lambda: f"/srv/{core()}/{core()}.conf",
            lambda: f"{core()} {core().capitalize()}",
            lambda: f"password={core()}",
            lambda: f"{core()}, {core()};{core()}",
            lambda: f"CUSTOM_{core().upper()}",
            lambda: f"s== {core()}",
            lambda: f"<or> {core()} <or> {core()}",
            lambda: f"hw_{core()}",
            lambda: f"trait:{core()}",
            lambda: f"{core()}\n\x1b[2J{core()}",
            self.identity,
            self.mac,
            lambda: self.address(4),
            lambda: self.address(6),
            lambda: f"https://{core()}:{core()}@{self.address(4)}:8774/v2.1",
        )
        return self.dice.choice(forms)()

    def key(self):
        core, dice = self.core, self.dice
        start = dice.choice(
            [
                *("", "", "hw:", "os_", "hw_", "img_", "capabilities:", "trait:"),
                *("trait1:", "resources:CUSTOM_", "resources_", "filter_tenant_id_"),
                *("quota:", "aggregate_instance_extra_specs:", "accel:"),
            ]
        )
        end = dice.choice(("", "", ":x", "_weight_multiplier"))
        return f"{start}{core().upper() if 'CUSTOM' in start else core()}{end}"


# Clouds that are drawn, with secrets for names.


def drawn(seed):
    """The document of a cloud whose every name is a secret, and the secrets."""
    dice = random.Random(f"masked {seed}")
    hide = Secrets(dice)
    hosts = fleet.draw(dice.randint(1, 4), first=seed * 10 + 1, nested=0.5)
    projects = [hide.identity() for _ in range(2)]
    trait, short, own = f"CUSTOM_{hide.core().upper()}", hide.core(), hide.core()
    zone, network = hide.core(), dice.choice(("/16", "/24", "/28"))
    metadata = (
        {"availability_zone": zone, f"filter_tenant_id_{hide.core()}": projects[0]},
        {own: f"{short},{hide.core()}", "cpu_allocation_ratio": "2.0", "rack": "17"},
    )
    specs = (
        {},
        {f"aggregate_instance_extra_specs:{own}": f"<or> {short} <or> x"},
        {"aggregate_instance_extra_specs:rack": dice.choice((">= 9", "<= 9", "= 17"))},
        {f"trait:{trait}": dice.choice(("required", "forbidden"))},
        {f"trait:{trait}D": "required", "hw:cpu_polcy": "dedicated"},
        {"capabilities:host": f"s== {hosts[0].name}", "hw:mem_page_size": "2MB"},
        {f"resources:CUSTOM_{short.upper()}": "1", "hw:pmem": short},
        {"pci_passthrough:alias": f"{own}:1", "accel:device_profile": hide.core()},
        {hide.key(): hide.name(), "trait:HW_CPU_X86_AVX512F": "required"},
    )
    flavors = [
        {
            **{"id": hide.name(), "name": hide.name(), "vcpus": 2, "ram": 512},
            **{"disk": 1, "os-flavor-access:is_public": True, "extra_specs": each},
            **{"OS-FLV-EXT-DATA:ephemeral": 0, "swap": "", "rxtx_factor": 1.0},
        }
        for each in dice.sample(specs, 5)
    ]
    images = [
        {
            **{"id": hide.identity(), "name": hide.name(), "status": "active"},
            **{"visibility": "public", "owner": projects[0], "disk_format": "qcow2"},
            **each,
        }
        for each in (
            {"hw_disk_bus": "scsi", hide.key(): hide.name()},
            {f"trait:{trait}": "required", "os_distro": hide.core()},
        )
    ]
    named = [{"id": each, "name": hide.name()} for each in projects]
    document = saved.snapshot(
        hosts,
        metadata,
        flavors,
        image={"images": images},
        identity={"projects": named, "domains": []},
    )
    document["placement"]["traits"].append(trait)
    holder = document["placement"]["providers"][0]
    holder["traits"] = [*holder["traits"], trait]
    holder["inventories"][f"CUSTOM_{short.upper()}"] = {
        **holder["inventories"]["DISK_GB"],
        "used": 0,
    }
    document["placement"]["resource_classes"].append(f"CUSTOM_{short.upper()}")
    compute = document["compute"]
    for node in compute["hypervisors"]:
        node["host_ip"] = hide.address(dice.choice((4, 4, 6)))
    near = compute["hypervisors"][0]["host_ip"]
    hint = {"build_near_host_ip": near, "cidr": network, hide.core(): hide.name()}
    name, least = (
        ["=", "$hypervisor_hostname", hosts[-1].name],
        [">", "$free_ram_mb", 9],
    )
    query = json.dumps(["and", ["=", "$host", hosts[-1].name], name, least])
    fault = (
        "No valid host was found. There are not enough hosts available.",
        "No valid host was found. ",
        "Exceeded maximum number of retries. Exceeded max scheduling attempts 3 for "
        f"instance {hide.identity()}. Last exception: {hide.name()}",
        f"Build of instance {hide.identity()} aborted: {hide.name()} {hosts[0].name}",
        hide.name(),
    )
    compute["servers"] = [
        {
            **{"id": hide.identity(), "name": hide.name(), "status": "ERROR"},
            **{"tenant_id": projects[0], "created": "2026-11-27T03:00:00Z"},
            **{"flavor": {**flavors[n], "original_name": flavors[n]["name"]}},
            **{"image": {"id": images[0]["id"]}, "updated": "2026-11-27T03:00:00Z"},
            "fault": {"code": 500, "message": text, "details": hide.name()},
            "scheduler_hints": dice.choice((hint, {"query": query}, {})),
            "OS-EXT-SRV-ATTR:host": None,
        }
        for n, text in enumerate(fault)
    ]
    alias = {"vendor_id": "10de", "product_id": "1eb8", "name": own}
    options = {
        "enabled_filters": "ComputeFilter,AggregateInstanceExtraSpecsFilter,"
        "AggregateMultiTenancyIsolation,ComputeCapabilitiesFilter,"
        "SimpleCIDRAffinityFilter,JsonFilter",
        "isolated_hosts": hosts[0].name,
        "isolated_images": images[0]["id"],
        "host_subset_sise": "3",
    }
    path = f"/home/{hide.core()}/nova.conf"
    rows = [
        ["filter_scheduler", k, v, path, 1, hide.core(), None]
        for k, v in options.items()
    ]
    rows.append(["pci", "alias", json.dumps(alias), path, 9, "", None])
    document["settings"] = {
        "place": path,
        "named": {"nova_conf": [path], "nova_release": ["33"]},
        "options": [],
        "lines": {"nova_conf": f"{path}:3"},
        "files": {"nova_conf": [rows]},
    }
    hide.searched += [each.name for each in hosts]
    hide.searched += [each.uuid for each in hosts]
    return document, hide


def takes_text(shape):
    return shape is str or (isinstance(shape, tuple) and str in shape)


def filled(document, hide):
    """A secret in each key of each list that objects do not have."""
    for each in LISTS:
        keys = [k for k in mask.RULES if not k.isnumeric()]
        if not each.keeps_all:
            keys = [key.plain for key in each.keys]
        bodies = document.setdefault(each.service, {}).setdefault(each.kind, [])
        if not bodies:
            continue
        typed = {key.plain for key in each.keys if not takes_text(key.shape)}
        known = set().union(*bodies) | {"service", "flavor", "image", "fault"} | typed
        missing = [k for k in keys if k not in known | IGNORED]
        bodies[-1].update({k: secret(k, hide) for k in missing})


def secret(key, hide):
    """A secret for a key; Nova's API takes no colon in the name of a zone."""
    return hide.core() if mask.LABELS.get(key) == "zone" else hide.name()


#: With other than Nova's own values of these, readers fail.
IGNORED = frozenset(["scheduler_hints", "extra_specs", "metadata", "hosts", "members"])


def replaced(document, hide):
    """A secret instead of one string behind each key."""
    done = set()

    def walk(value, path):
        if isinstance(value, dict):
            return {k: walk(v, (*path, k)) for k, v in value.items()}
        if isinstance(value, list):
            return [walk(each, path) for each in value]
        if isinstance(value, str) and path not in done:
            done.add(path)
            return hide.name()
        return value

    return walk(document, ())


def assert_hidden(hide, document):
    """None of the secrets is in the JSON of a document, as grep finds them."""
    text = json.dumps(document).casefold()
    assert [each for each in hide.searched if each.casefold() in text] == []


ALWAYS, ALL = 8, int(os.environ.get("TRAITSCHED_CLOUDS", "300"))
SEEDS = [
    pytest.param(n, marks=() if n < ALWAYS else pytest.mark.full) for n in range(ALL)
]


@pytest.mark.parametrize("number", SEEDS)
def test_no_secret_of_a_drawn_cloud_stays_and_it_answers_alike(number):
    document, hide = drawn(number)
    filled(document, hide)
    assert form.wrong(document) is None
    masked, originals = masking.masked(document)
    assert form.wrong(masked) is None
    assert_hidden(hide, masked)
    assert len(originals) > 30


@pytest.mark.parametrize("number", SEEDS)
def test_no_secret_stays_wherever_it_is(number):
    document, hide = drawn(number)
    hostile = replaced(document, hide)
    assert form.wrong(hostile) is None
    masked, words = mask.masked(hostile)
    assert_hidden(hide, masked)
    assert mask.leaks(json.loads(json.dumps(masked)), words) == []


def test_lists_agree_on_what_becomes_of_a_key():
    keys = [key for each in LISTS for key in each.keys]
    assert [key for key in keys if mask.RULES[key.plain] is not key.mask] == []


# What one known name tells of the others.

CLOUD, _ = drawn(3)


def strings(document):
    return {text for _, text in mask.leaves(document)}


def test_two_masks_of_one_document_have_only_allowed_words_in_common():
    one, other = (mask.masked(CLOUD) for _ in range(2))
    common = strings(one[0]) & strings(other[0])
    made = set(one[1].values()) | set(other[1].values())
    assert not common & made
    assert mask.leaks({"masked": "", "": sorted(common)}, {}) == []


def test_known_names_do_not_help_to_verify_others():
    masked, words = mask.masked(CLOUD)
    nodes = masked["compute"]["hypervisors"]
    known = CLOUD["compute"]["hypervisors"][0]
    address = ipaddress.ip_address(known["host_ip"])
    image = ipaddress.ip_address(words[known["host_ip"]])
    assert image != address
    # A salt by XOR, and IDs made from it: what the mask once was.
    salt = uuid.UUID(int=int(address) ^ int(image))
    there = strings(masked)
    for original in words:
        guesses = {str(uuid.uuid5(salt, original)), uuid.uuid5(salt, original).hex}
        guesses |= {str(uuid.uuid5(uuid.NAMESPACE_OID, original))}
        assert not guesses & there
    assert str(uuid.uuid5(salt, "mark")) != masked["masked"]
    for each, real in zip(nodes[1:], CLOUD["compute"]["hypervisors"][1:]):
        other = ipaddress.ip_address(real["host_ip"])
        if other.version == address.version:
            guess = int(other) ^ int(address) ^ int(image)
            assert int(ipaddress.ip_address(each["host_ip"])) != guess


def test_words_do_not_depend_on_what_they_stand_for():
    """With the same draws, other names of the same shape get the same words."""
    text = json.dumps(CLOUD)
    names = [each["name"] for each in CLOUD["identity"]["projects"]]
    names += [each["host"] for each in CLOUD["compute"]["services"]]
    for number, name in enumerate(names):
        shape = "other{}.example.org" if "." in name else "other{}"
        text = text.replace(json.dumps(name)[1:-1], shape.format(number))
    assert services(CLOUD, 7) == services(json.loads(text), 7) != services(CLOUD, 8)


def services(document, seed):
    """The masked services, with the draws of one seed."""
    dice = random.Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mask.secrets, "choice", dice.choice)
        patch.setattr(mask.secrets, "randbits", dice.getrandbits)
        patch.setattr(mask.secrets, "token_hex", lambda size: f"{dice.random():}"[2:])
        patch.setattr(mask.uuid, "uuid4", lambda: uuid.UUID(int=dice.getrandbits(128)))
        return mask.masked(document)[0]["compute"]["services"]


def near(*addresses, **hint):
    """The masked addresses of nodes in a cloud with one hint."""
    document = copy.deepcopy(saved.snapshot(fleet.draw(len(addresses))))
    for node, address in zip(document["compute"]["hypervisors"], addresses):
        node["host_ip"] = address
    server = {"id": "5", "name": "a", "status": "ACTIVE", "scheduler_hints": hint}
    document["compute"]["servers"].append(server)
    masked, words = mask.masked(document)
    found = [words[each] for each in addresses]
    there = [node["host_ip"] for node in masked["compute"]["hypervisors"]]
    assert sorted(there) == sorted(found)
    return [int(ipaddress.ip_address(each)) for each in found]


@pytest.mark.parametrize(
    ("addresses", "bits", "length"),
    [
        (("10.7.0.1", "10.7.0.2", "10.7.1.2"), 32, 24),
        (("10.7.0.1", "10.7.0.14", "10.7.0.16"), 32, 28),
        (("fd00:7::1", "fd00:7::2", "fd00:8::1"), 128, 64),
    ],
)
def test_addresses_stay_together_only_in_networks_that_hints_compare(
    addresses, bits, length
):
    for _ in range(20):
        one, same, other = near(
            *addresses, build_near_host_ip=addresses[0], cidr=f"/{length}"
        )
        free = bits - length
        assert one >> free == same >> free != other >> free
        alone = near(*addresses)
        assert len(set(alone)) == 3


NEIGHBOURS = saved.snapshot(fleet.draw(12), ({"zone": "a"}, {"zone": "b"}))
for _number, _host in enumerate(NEIGHBOURS["compute"]["hypervisors"]):
    NEIGHBOURS["placement"]["traits"].append(f"CUSTOM_RACK_{_number:02d}")
    NEIGHBOURS["placement"]["providers"][0]["traits"].append(f"CUSTOM_RACK_{_number}")
    NEIGHBOURS["placement"]["resource_classes"].append(f"CUSTOM_FPGA_{_number:02d}")
    NEIGHBOURS["compute"]["flavors"].append(
        {
            **{"id": f"f{_number:02d}", "name": f"m{_number}", "vcpus": 1, "ram": 512},
            **{"disk": 1, "extra_specs": {}},
        }
    )
    NEIGHBOURS["compute"]["server_groups"].append(
        {
            **{"id": str(uuid.UUID(int=_number)), "name": f"db{_number}"},
            **{"policy": "affinity", "members": []},
        }
    )


@pytest.mark.parametrize(
    "names",
    [
        lambda found: [each["name"] for each in found["placement"]["providers"]],
        lambda found: found["placement"]["traits"],
        lambda found: found["placement"]["resource_classes"],
        lambda found: max(
            (e["traits"] for e in found["placement"]["providers"]), key=len
        ),
        lambda found: [
            e["hypervisor_hostname"] for e in found["compute"]["hypervisors"]
        ],
        lambda found: [each["host"] for each in found["compute"]["services"]],
        lambda found: [each["id"] for each in found["compute"]["flavors"]],
        lambda found: [each["name"] for each in found["compute"]["server_groups"]],
        lambda found: max(
            (e["hosts"] for e in found["compute"]["aggregates"]), key=len
        ),
    ],
)
def test_the_place_of_a_known_name_does_not_tell_its_neighbours(names):
    before, after = names(NEIGHBOURS), []
    for _ in range(6):
        masked, words = mask.masked(NEIGHBOURS)
        originals = {word: name for name, word in words.items()}
        after.append([originals[each] for each in names(masked) if each in originals])
    own = [each for each in before if each in words]
    assert [sorted(each) for each in after] == [sorted(own)] * 6
    # One place in four hosts: once in 4,000 runs it is the same in all six.
    assert {each.index(own[0]) for each in after} != {own.index(own[0])}


def test_ids_of_the_database_are_numbered_again():
    document = copy.deepcopy(NEIGHBOURS)
    for number, body in enumerate(document["compute"]["aggregates"]):
        body["id"] = 4711 - 3 * number
    masked, _ = masking.masked(document)
    found = [each["id"] for each in masked["compute"]["aggregates"]]
    assert found == list(range(1, len(found) + 1))


# Clouds with names that real ones have: none is refused.

HOST_NAMES = (
    *("compute{}", "cmp{:03d}", "c{}", "{}", "node-{}.domain.tld", "compute-{}"),
    *("r1u{:02d}", "overcloud-novacompute-{}.localdomain", "CMP{:02d}", "10.0.0.{}"),
    *("nova-compute-{}", "a{:03d}", "kvm{}.az1.example.org", "gpu-a100-{}"),
)
ZONE_NAMES = ("nova", "az1", "1", "eu-west-1a", "a", "AZ 2", "gpu", "compute", "south")
FLAVOR_NAMES = (
    *("m1.small", "1", "c4-m8-d20", "gold", "a100.x1", "default", "large", "t3.nano"),
    *("SAP HANA (6 TB)", "windows", "b.2c4r", "2C-4GB", "g1.T4", "compute", "network"),
)
IMAGE_NAMES = (
    *("Ubuntu 22.04 LTS (Jammy)", "cirros", "windows-2022, en", "CentOS-7", "debian"),
    *("amphora-x64-haproxy", "rhel-9.4", "image", "qcow2", None, ""),
)
PROJECT_NAMES = (
    *("admin", "service", "demo", "internal", "Müller & Söhne, Köln", "17", "true"),
    *("gold", "K8s", "Default", "acme", "octavia", "nova"),
)
METADATA = (
    {"ssd": "true"},
    {"pool": "a", "rack": "17"},
    {"gpu": "a100,t4"},
    {"tier": "gold"},
    {"cpu_allocation_ratio": "4.0", "ram_weight_multiplier": "-1.0"},
    {"max_instances_per_host": "20"},
    {"pinned": "True", "code": "4711"},
    {"os_distro": "windows,rhel", "hw_vif_multiqueue_enabled": "true"},
    {"instance_type": "m1.small,gold"},
    {"contact": "noc@example.org, +49 221 47110"},
    {"note": '{"rack": "r1", "owner": "Müller"}'},
    {"cost_center": "0815", "resource": "VGPU"},
)
SPECS = (
    {},
    {"hw:cpu_policy": "dedicated", "hw:mem_page_size": "large", "hw:numa_nodes": "2"},
    {"aggregate_instance_extra_specs:ssd": "true"},
    {"aggregate_instance_extra_specs:pool": "<or> a <or> b"},
    {"aggregate_instance_extra_specs:rack": ">= 9"},
    {"aggregate_instance_extra_specs:gpu": "<in> a100"},
    {"capabilities:hypervisor_type": "s== QEMU", "tier": "gold"},
    {"capabilities:vcpus_total": ">= 32"},
    {"trait:CUSTOM_GOLD": "required", "trait:HW_CPU_X86_AVX2": "required"},
    {"resources:VGPU": "1", "trait:CUSTOM_NVIDIA_A100": "required"},
    {"resources:CUSTOM_GPU": "1", "resources:VCPU": "0"},
    {"pci_passthrough:alias": "a100:1"},
    {"pci_passthrough:alias": "t4:1,nic-sriov:2"},
    {"quota:disk_read_iops_sec": "5000", "hw_rng:allowed": "True"},
    {"hw:cpu_polcy": "shared", "accel:device_profile": "fpga-1"},
    {":architecture": "x86_64", "hw:watchdog_action": "reset"},
)
PROPERTIES = (
    {"os_distro": "ubuntu", "os_version": "22.04", "hw_qemu_guest_agent": "yes"},
    {"os_type": "windows", "hw_firmware_type": "uefi", "os_secure_boot": "required"},
    {"hw_architecture": "aarch64", "hw_machine_type": "virt"},
    {"trait:CUSTOM_GOLD": "required", "hw_disk_bus": "scsi", "description": "by Ann"},
    {"img_hv_type": "kvm", "hw_video_model": "qxl", "build_id": "20260101"},
    {"owner_specified.openstack.md5": "", "base_image_ref": "17", "image_type": "x"},
)
FILTERS = (
    *("ComputeFilter", "AvailabilityZoneFilter", "ComputeCapabilitiesFilter"),
    *("ImagePropertiesFilter", "AggregateInstanceExtraSpecsFilter", "RackFilter"),
    *("IsolatedHostsFilter", "AggregateMultiTenancyIsolation", "NUMATopologyFilter"),
    *("AggregateTypeAffinityFilter", "PciPassthroughFilter", "NumInstancesFilter"),
    *("AggregateImagePropertiesIsolation", "JsonFilter", "RetryFilter", "RamFilter"),
    *("ServerGroupAntiAffinityFilter", "ComputeFiler", "SameHostFilter"),
)
FAULTS = (
    "No valid host was found. ",
    "No valid host was found. There are not enough hosts available.",
    "Build of instance {id} aborted: Failed to allocate the network(s), not "
    "rescheduling.",
    "Exceeded maximum number of retries. Exceeded max scheduling attempts 3 for "
    "instance {id}. Last exception: internal error: qemu unexpectedly closed the "
    "monitor: 2026-11-27T03:11:00.1Z qemu-kvm: cannot set up guest memory",
    "[Errno 28] No space left on device: '/var/lib/nova/instances/{id}'",
    "Host 'cmp1' is not mapped to any cell",
    "Timeout; please try again: <rpc 17>",
)


def lifelike(number):
    """A cloud with names, keys and options as operators choose them."""
    dice = random.Random(f"lifelike {number}")
    hosts = fleet.draw(dice.randint(2, 7), first=number * 10 + 1, nested=0.3)
    metadata = [{**dice.choice(METADATA), **dice.choice(METADATA)} for _ in "abc"]
    zone = dice.choice(ZONE_NAMES)
    metadata[0]["availability_zone"] = zone
    projects = [
        {"id": uuid.UUID(int=dice.getrandbits(128)).hex, "name": name}
        for name in dice.sample(PROJECT_NAMES, 4)
    ]
    metadata[1][dice.choice(("filter_tenant_id", "filter_tenant_id_2"))] = ",".join(
        dice.sample([projects[0]["id"], projects[1]["name"], projects[2]["id"]], 2)
    )
    flavors = [
        {
            "id": dice.choice((str(place), str(uuid.UUID(int=dice.getrandbits(128))))),
            **{"name": name, "vcpus": dice.choice((1, 4, 32)), "disk": 10},
            **{"ram": dice.choice((512, 4096, 65536)), "swap": ""},
            "os-flavor-access:is_public": True,
            "extra_specs": {**dice.choice(SPECS), **dice.choice(SPECS)},
        }
        for place, name in enumerate(dice.sample(FLAVOR_NAMES, 6))
    ]
    images = [
        {
            **{"id": str(uuid.UUID(int=dice.getrandbits(128))), "name": name},
            **{"status": "active", "visibility": "public", "disk_format": "qcow2"},
            **{"owner": projects[0]["id"], "tags": ["default", "k8s"]},
            **dice.choice(PROPERTIES),
        }
        for name in dice.sample(IMAGE_NAMES, 3)
    ]
    more = {"image": {"images": images}}
    more["identity"] = {"projects": projects, "domains": []}
    document = saved.snapshot(hosts, metadata, flavors, **more)
    style, start = dice.choice(HOST_NAMES), dice.randint(1, 120)
    text = json.dumps(document)
    for place, host in enumerate(hosts, start):
        text = text.replace(host.name, style.format(place))
    document = json.loads(text)
    names = [style.format(place) for place in range(start, start + len(hosts))]
    placement, compute = document["placement"], document["compute"]
    placement["traits"] += ["CUSTOM_GOLD", "CUSTOM_NVIDIA_A100", "CUSTOM_1"]
    placement["resource_classes"] += ["CUSTOM_GPU", "VGPU"]
    for each in dice.sample(placement["providers"], 2):
        each["traits"] = [*each["traits"], "CUSTOM_GOLD"]
    stopped = dice.choice(compute["services"])
    stopped["disabled_reason"] = "DIMM errors, TICKET-4711 (Ann, since 2026-11-01)"
    services = {"nova-compute": {"active": True, "available": True}}
    compute["availabilityZoneInfo"] = [
        {
            **{"zoneName": zone, "zoneState": {"available": True}},
            "hosts": dice.choice((None, dict.fromkeys(names, services))),
        }
    ]
    hints = (
        {},
        {"query": json.dumps([">=", "$free_ram_mb", 1024])},
        {"query": json.dumps(["=", "$hypervisor_hostname", names[0]])},
        {"different_host": [str(uuid.UUID(int=5))]},
        {"rack": 17, "team": "a"},
    )
    for place, fault in enumerate(dice.sample(FAULTS, 3)):
        identity, flavor = str(uuid.UUID(int=place + 5)), dice.choice(flavors)
        compute["servers"].append(
            {
                **{
                    "id": identity,
                    "name": dice.choice(("web 1", "17", "db-ha", names[0])),
                },
                **{"tenant_id": projects[place]["id"], "status": "ERROR"},
                **{
                    "created": "2026-11-27T03:00:00Z",
                    "updated": "2026-11-27T03:00:09Z",
                },
                "flavor": {**flavor, "original_name": flavor["name"]},
                "image": dice.choice(("", {"id": images[0]["id"]})),
                "fault": {"code": 500, "message": fault.format(id=identity)},
                "scheduler_hints": dice.choice(hints),
                "OS-EXT-SRV-ATTR:host": dice.choice((None, names[0])),
                "OS-EXT-AZ:availability_zone": dice.choice(("", zone)),
            }
        )
    device = {"vendor_id": "10de", "product_id": "1eb8", "device_type": "type-PCI"}
    found = [
        ("scheduler", "limit_tenants_to_placement_aggregate", "true"),
        ("scheduler", "enable_isolated_aggregate_filtering", "True"),
        ("filter_scheduler", "enabled_filters", ",".join(dice.sample(FILTERS, 5))),
        ("filter_scheduler", "available_filters", "nova.scheduler.filters.all_filters"),
        ("filter_scheduler", "available_filters", "acme.rack_filter.RackFilter"),
        ("filter_scheduler", "weight_classes", "nova.scheduler.weights.all_weighers"),
        ("filter_scheduler", "isolated_hosts", ",".join(names[:2])),
        ("filter_scheduler", "isolated_images", images[0]["id"]),
        ("filter_scheduler", "host_subset_size", "3"),
        ("DEFAULT", "default_schedule_zone", zone),
        ("DEFAULT", "default_availability_zone", zone),
        ("pci", "alias", json.dumps({**device, "name": "a100"})),
        ("pci", "alias", json.dumps({"resource_class": "CUSTOM_GPU", "name": "t4"})),
        ("metrics", "weight_setting", "cpu.percent=-1.0, acme.power=1"),
    ]
    document["settings"] = settings(*dice.sample(found, dice.randint(0, len(found))))
    return document


@pytest.mark.parametrize("number", SEEDS)
def test_a_cloud_with_names_as_operators_choose_them_can_be_masked(number):
    document = lifelike(number)
    assert form.wrong(document) is None
    kept = {"keep_flavors": number % 3 == 1, "keep_traits": number % 3 == 2}
    assert form.wrong(masking.masked(document, **kept)[0]) is None


# Names that look like words or numbers of Nova's.


def odd(host, zone, alias, shelf):
    """A cloud with these names wherever names are."""
    first, *others = fleet.draw(4)
    document = saved.snapshot([first, *others], [{"availability_zone": zone}])
    text = json.dumps(document).replace(json.dumps(first.name), json.dumps(host))
    document = json.loads(text)
    compute = document["compute"]
    services = {"nova-compute": {"active": True, "available": True}}
    compute["availabilityZoneInfo"] = [
        {"zoneName": zone, "zoneState": {"available": True}, "hosts": {host: services}}
    ]
    hints = (
        {"query": json.dumps(["=", "$hypervisor_hostname", host])},
        {"query": json.dumps(["and", ["in", "$host", host], ["=", "$status", "up"]])},
        {"shelf": shelf, "case": {"shelf": [shelf, str(shelf)]}},
    )
    compute["flavors"] = [
        {
            **{"id": f"{number}", "name": f"m1.{number}", "vcpus": 1, "ram": 512},
            **{"disk": 1, "os-flavor-access:is_public": True, "extra_specs": each},
        }
        for number, each in enumerate(
            ({}, {"pci_passthrough:alias": f"{alias}:1"}, {"capabilities:host": host})
        )
    ]
    compute["servers"] = [
        {
            **{"id": str(uuid.UUID(int=number)), "name": host, "status": "ERROR"},
            **{"tenant_id": uuid.UUID(int=7).hex, "created": "2026-11-27T03:00:00Z"},
            **{"flavor": {**compute["flavors"][0], "original_name": "m1.0"}},
            "OS-EXT-SRV-ATTR:host": None,
            "scheduler_hints": each,
        }
        for number, each in enumerate(hints)
    ]
    device = {"vendor_id": "10de", "product_id": "1eb8", "device_type": "type-PCI"}
    options = (
        ("filter_scheduler", "isolated_hosts", f"{host},{others[0].name}"),
        ("filter_scheduler", "restrict_isolated_hosts_to_isolated_images", "true"),
        ("filter_scheduler", "enabled_filters", "ComputeFilter,IsolatedHostsFilter"),
        ("filter_scheduler", "host_subset_size", "17"),
        ("DEFAULT", "default_schedule_zone", zone),
        ("pci", "alias", json.dumps({**device, "name": alias})),
    )
    document["settings"] = settings(*options)
    return document


def settings(*options):
    """Settings of a nova.conf with these sections, keys and values."""
    rows = [[*each, "/etc/nova/nova.conf", 1, "", None] for each in options]
    named = {"nova_conf": ["/etc/nova/nova.conf"], "nova_release": ["34"]}
    files = {"nova_conf": [rows]}
    place = "/etc/nova/nova.conf"
    return {**saved.SETTINGS, "place": place, "named": named, "files": files}


def option(document, key):
    """The value of an option of nova.conf."""
    ((rows,),) = document["settings"]["files"].values()
    return [row[2] for row in rows if row[1] == key]


@pytest.mark.parametrize(
    ("host", "zone", "alias", "shelf"),
    [
        ("compute", "1", "a100", 4711),
        ("a001", "a", "gpt", 17),
        ("17", "beef", "17", 8),
        ("network", "compute", "1db6", 3),
        ("shared.1", "2", "image", 1.5),
    ],
)
def test_a_name_gets_its_word_though_it_looks_like_one_of_novas(
    host, zone, alias, shelf
):
    masked, originals = masking.masked(odd(host, zone, alias, shelf))
    words = {name: word for word, name in originals.items()}
    compute = masked["compute"]
    (found,) = compute["availabilityZoneInfo"]
    assert [*found["hosts"]] == [words[host]]
    assert option(masked, "isolated_hosts")[0].split(",")[0] == words[host]
    assert option(masked, "default_schedule_zone") == [words[zone]]
    assert option(masked, "host_subset_size") == ["17"]
    device = json.loads(*option(masked, "alias"))
    assert device == {
        **{"vendor_id": "10de", "product_id": "1eb8", "device_type": "type-PCI"},
        "name": words[alias],
    }
    first, second, own = (each["scheduler_hints"] for each in compute["servers"])
    assert json.loads(first["query"]) == ["=", "$hypervisor_hostname", words[host]]
    assert json.loads(second["query"])[1:] == [
        ["in", "$host", words[host]],
        ["=", "$status", "up"],
    ]
    assert str(shelf) not in re.findall(r"[\d.]+", json.dumps(own))
    specs = [each["extra_specs"] for each in compute["flavors"]]
    assert {"pci_passthrough:alias": f"{words[alias]}:1"} in specs
    assert {"capabilities:host": words[host]} in specs


@pytest.mark.parametrize(
    ("enabled", "available", "pattern"),
    [
        ("RackFilter", "acme.filters.RackFilter", r"(W),w\.filters\.\1"),
        ("RackFilter", "acme.filters.all", r"W,w\.filters\.w"),
        ("ComputFilter", "acme.RackFilter", r"ComputFilter,w\.W"),
        ("RamFilter", "nova.scheduler.filters.all_filters", r"RamFilter,.*all_filters"),
        ('"ComputeFilter', "", r'"ComputeFilter,'),
        ("acme.RackFilter", "acme.RackFilter", r"(w\.W),\1"),
    ],
)
def test_own_filters_stay_what_they_are(enabled, available, pattern):
    document = copy.deepcopy(NEIGHBOURS)
    document["identity"]["projects"] = [{"id": uuid.uuid4().hex, "name": "acme"}]
    paths = ["nova.scheduler.filters.all_filters", available]
    document["settings"] = settings(
        ("filter_scheduler", "enabled_filters", enabled),
        *(("filter_scheduler", "available_filters", path) for path in paths if path),
        (
            *("filter_scheduler", "weight_classes"),
            "nova.scheduler.weights.all_weighers,acme.weights.RackWeigher",
        ),
    )
    masked, _ = masking.masked(document)
    _, *last = option(masked, "available_filters")
    found = f"{option(masked, 'enabled_filters')[0]},{','.join(last)}"
    shape = re.sub(r"\bw\b", "[a-z]{10}", re.sub(r"\bW\b", "[A-Z][a-z]{9}", pattern))
    assert re.fullmatch(shape, found), found
    (weighers,) = option(masked, "weight_classes")
    assert weighers.startswith("nova.scheduler.weights.all_weighers,")
    assert not re.search("acme|rack", json.dumps(masked), re.I)


# What is written.


def save(tmp_path, document, *options):
    source = tmp_path / "in.json"
    source.write_text(json.dumps(document))
    command = ("trait-sched", "snapshot", "save", str(tmp_path / "out.json"), *options)
    return shell.run({}, *command, "--snapshot", str(source))


def test_a_saved_file_is_masked_without_the_cloud(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "out.json.map.json").symlink_to(victim)
    done = save(tmp_path, CLOUD, "--mask")
    assert (done.code, done.err) == (0, "")
    masked = json.loads((tmp_path / "out.json").read_text())
    originals = json.loads((tmp_path / "out.json.map.json").read_text())
    (host, *_) = (each["host"] for each in masked["compute"]["services"])
    assert originals[host] == CLOUD["compute"]["services"][0]["host"]
    assert victim.read_text() == "precious"
    assert snapshot.read(str(tmp_path / "out.json")).document == masked


@pytest.mark.parametrize("options", [(), ("--mask", "--light")])
def test_a_saved_file_can_only_be_masked(tmp_path, options):
    done = save(tmp_path, CLOUD, *options)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("a saved file can only be masked: add --mask")
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize("broken", ["leaves a name", "changes an answer"])
def test_nothing_is_left_if_the_masked_file_fails_its_test(
    tmp_path, monkeypatch, broken
):
    original = mask.masked

    def bad(*arguments):
        found, words = original(*arguments)
        found = copy.deepcopy(found)
        if broken == "leaves a name":
            found["compute"]["services"][0]["zone"] = "in-mallory's basement"
        else:
            found["compute"]["services"][0]["status"] = "disabled"
            found["compute"]["flavors"][0]["vcpus"] = 999
        return found, words

    monkeypatch.setattr(mask, "masked", bad)
    done = save(tmp_path, CLOUD, "--mask")
    reason = {
        "leaves a name": '"in-mallory\'s basement" would be left in it',
        "changes an answer": "(explain|check) would answer otherwise",
    }[broken]
    assert (done.code, done.out) == (2, "")
    line = f"the snapshot can't be masked: {reason}; nothing was written.*\n"
    assert re.fullmatch(line, done.err), done.err
    assert [each.name for each in tmp_path.iterdir()] == ["in.json"]


@pytest.mark.parametrize("text", ["", " ", "*", "-"])
def test_what_has_no_letter_gets_no_word(text):
    document = copy.deepcopy(CLOUD)
    port = {"id": str(uuid.uuid4()), "name": text, "binding:host_id": text}
    document["network"] = {"ports": [{**port, "device_id": text}]}
    masked, originals = masking.masked(document)
    (found,) = masked["network"]["ports"]
    assert (found["name"], found["binding:host_id"], found["device_id"]) == (text,) * 3
    assert text not in originals.values()


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("No valid host was found. There are not enough hosts available.", None),
        (
            "No valid host was found. rack 7 of bank has no power",
            "No valid host was found.",
        ),
        (
            "Insufficient compute resources: secret thing.",
            "Insufficient compute resources:",
        ),
        ("Compute host cmp9 could not be found.", "could not be found."),
        ("Traceback: /srv/bank/x.py, bob@bank.example, fe80::1", ""),
        ("TypeError", ""),
    ],
)
def test_of_failures_only_sentences_of_nova_stay(text, stays):
    document = copy.deepcopy(CLOUD)
    document["compute"]["servers"][0]["fault"]["message"] = text
    masked, _ = mask.masked(document)
    found = masked["compute"]["servers"][0]["fault"]["message"]
    if stays is None:
        assert found == text
    else:
        assert stays in found
        for hidden in ("rack", "bank", "secret", "cmp9", "bob", "fe80", "Type"):
            assert hidden not in found
        assert (" " in found) == (" " in text)


WORDS = {"W": "[A-Za-z]{10}", "U": "[A-Z]{10}"}


@pytest.mark.parametrize(
    ("key", "value", "pattern"),
    [
        ("filter_tenant_id_bank", "acme", r"filter_tenant_id_W=W"),
        ("filter_tenant_id3", "acme,umbrella", r"filter_tenant_id3=W,W"),
        ("mgmt_ip", "10.20.30.40", r"W=\d+\.\d+\.\d+\.\d+"),
        ("owner", "alice@bank.example", "owner=project-W"),
        ("os_customer", "bank", "W=W"),
        ("hw:vault", "bank", "hw:W=W"),
        ("rack", "12345", "W=W"),
        ("capabilities:host", "s== cmp01", "capabilities:host=s== W"),
        ("capabilities:free_ram_mb", ">= 1024", "capabilities:free_ram_mb=>= 1024"),
        ("capabilities:cpu_info:arch", "x86_64", "capabilities:cpu_info:arch=x86_64"),
        ("pci_passthrough:alias", "gpu:2, nic:1", "pci_passthrough:alias=W:2, W:1"),
        ("accel:device_profile", "gpu", "accel:device_profile=W"),
        ("code", "4711", "code=U"),
        ("section", "12", "section=U"),
        ("place", "beef", "place=W"),
        ("hw:cpu_policy", "c0de", "hw:cpu_policy=W"),
        ("capabilities:cpu_info:topology:cores", "16", ".*:cores=16"),
        ("capabilities:host", "= c101", "capabilities:host== W"),
        ("resources:CUSTOM_BANK", "3", "resources:CUSTOM_U=3"),
        ("resources:VGPU", "3", "resources:VGPU=3"),
        ("trait1:CUSTOM_BANK", "required", "trait1:CUSTOM_U=required"),
        ("trait:CUSTOM_VNIC_TYPE_DIRECT", "forbidden", ".*_VNIC_TYPE_DIRECT=forbidden"),
        ("trait:CUSTOM_PHYSNET_BANK", "required", "trait:CUSTOM_PHYSNET_U=required"),
        ("traits:CUSTOM_BANK", "required", "traits:CUSTOM_U=required"),
        ("resources_BANK:VCPU", "1", "resources_U:VCPU=1"),
        ("resource:BANK", "1", "resource:U=W"),
        ("capability:bank:x", "1", "capability:W=W"),
        ("hw:cpu_polciy", "dedicated", "hw:cpu_polciy=dedicated"),
        ("hw:cpu_policy", "dedikated", "hw:cpu_policy=W"),
        ("bank_weight_multiplier", "2.0", "W_weight_multiplier=2.0"),
        ("quota:disk_read_iops_sec", "5000", "quota:W=W"),
        ("hw_machine_type", "pc-q35-8.2", "hw_machine_type=pc-q35-8.2"),
        ("hw:mem_page_size", "2MB", "hw:mem_page_size=2MB"),
        ("hw:numa_cpus.1", "0-3,^2", r"hw:numa_cpus\.1=0-3,\^2"),
    ],
)
def test_keys_and_values_stay_as_far_as_nova_reads_them(key, value, pattern):
    document = saved.snapshot(fleet.draw(1), [{key: value}])
    masked, words = mask.masked(document)
    aggregates = masked["compute"]["aggregates"]
    assert mask.leaks(masked, words) == []
    ((key, value),) = (row for each in aggregates for row in each["metadata"].items())
    shape = re.sub(r"(?<![A-Z])[UW](?![A-Z])", lambda m: WORDS[m[0]], pattern)
    assert re.fullmatch(shape, f"{key}={value}"), f"{key}={value}"
