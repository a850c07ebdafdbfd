"""Masked snapshots: no name of the cloud is in them, and they answer alike."""

from __future__ import annotations

import copy
import ipaddress
import itertools
import json
import random
import re
import uuid

import pytest

from osc_traitsched.app import masking, snapshot
from osc_traitsched.cloud.saved import allowed, form, mask
from osc_traitsched.cloud.saved.lists import LISTS
from osc_traitsched.core.errors import BadUsage
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
            ("", "", "hw:", "os_", "hw_", "img_", "capabilities:", "trait:", "trait1:")
            + ("resources:CUSTOM_", "resources_", "filter_tenant_id_", "quota:")
            + ("aggregate_instance_extra_specs:", "accel:")
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
    query = json.dumps(["=", "$host", hosts[-1].name])
    fault = (
        "No valid host was found. There are not enough hosts available.",
        "No valid host was found. ",
        "Exceeded maximum number of retries. Exceeded max scheduling attempts 3 for "
        f"instance {hide.identity()}. Last exception: {hide.name()}",
        f"Build of instance {hide.identity()} aborted: {hide.name()} on {hosts[0].name}",
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


def filled(document, hide):
    """A secret in each key of each list that objects do not have."""
    for each in LISTS:
        keys = each.keys.split() or [k for k in allowed.RULES if not k.isnumeric()]
        bodies = document.setdefault(each.service, {}).setdefault(each.kind, [])
        if not bodies:
            continue
        known = set().union(*bodies) | {"service", "flavor", "image", "fault"}
        bodies[-1].update({k: hide.name() for k in keys if k not in known | IGNORED})


#: With other than Nova's own values of these, readers fail.
IGNORED = frozenset(["scheduler_hints", "extra_specs", "metadata", "hosts", "members"])


def replaced(document, hide):
    """A secret instead of one string behind each key, and instead of own keys."""
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


ALWAYS, ALL = 15, 300
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
