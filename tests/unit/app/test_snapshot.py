"""Snapshots: masked ones tell no names and give the same counts; bad files are told."""

from __future__ import annotations

import json
import re

import pytest

from osc_traitsched.app import snapshot
from osc_traitsched.app.by_flavor import by_flavor
from osc_traitsched.app.snapshot import Snapshot
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.nova.question import ServerSpec
from tests.services import fleet, saved

ACME, OTHER = "5a1e0000000000000000000000000001", "5a1e0000000000000000000000000002"
IMAGE = "1a000001-0000-4000-8000-000000000000"
FAILED = "5e000001-0000-4000-8000-000000000000"
PROJECTS = [{"id": ACME, "name": "acme"}, {"id": OTHER, "name": "other"}]
HOSTS = fleet.draw(60, nested=0.1)
#: Of zones and racks, in their order.
METADATA = (
    {"availability_zone": "berlin", "filter_tenant_id": ACME},
    {"tier": "Gold,silver", "cpu_allocation_ratio": "2.0"},
    {"trait:CUSTOM_GPU_NODE": "required", "filter_tenant_id_2": "acme"},
    {"tier": "bronze", "hw_disk_bus": "scsi"},
)
SPECS = {
    "plain": {},
    "scoped": {"aggregate_instance_extra_specs:tier": "<or> gold <or> Gold"},
    "free": {"tier": "bronze"},
    "trait": {"trait:CUSTOM_GPU_NODE": "required"},
    "standard": {"trait:HW_CPU_X86_AVX512F": "required", "hw:cpu_policy": "shared"},
    "missing": {"trait:CUSTOM_GPU_NOED": "required"},
    "nested": {"resources:PCPU": "2"},
}
FILTERS = (
    "ComputeFilter,AggregateInstanceExtraSpecsFilter,"
    "AggregateImagePropertiesIsolation,AggregateMultiTenancyIsolation,"
    "ImagePropertiesFilter,SimpleCIDRAffinityFilter"
)
SERVER = {
    "id": FAILED,
    "name": "acme-db",
    "status": "ERROR",
    "tenant_id": ACME,
    "created": "2026-11-27T03:00:00Z",
    "OS-EXT-SRV-ATTR:host": HOSTS[0].name,
    "fault": {"message": f"No valid host was found. {HOSTS[0].name}, acme-db, acme"},
    "scheduler_hints": {"query": f'["=", "$host", "{HOSTS[1].name}"]', "my": "secret"},
}
CLOUD = saved.snapshot(
    HOSTS,
    METADATA,
    [
        {
            "id": name,
            "name": name,
            "description": "for Acme",
            "vcpus": 8,
            "ram": 8192,
            "disk": 10,
            "swap": "",
            "OS-FLV-EXT-DATA:ephemeral": 0,
            "os-flavor-access:is_public": True,
            "extra_specs": specs,
        }
        for name, specs in SPECS.items()
    ],
    image={
        "images": [
            {
                "id": IMAGE,
                "name": "acme-os",
                "status": "active",
                "visibility": "public",
                "owner": ACME,
                "disk_format": "qcow2",
                "hw_disk_bus": "scsi",
                "trait:CUSTOM_GPU_NODE": "required",
                "owner_user_name": "acme-admin",
                "locations": [{"url": "rbd://acme"}],
            }
        ]
    },
    identity={"domains": [], "projects": PROJECTS},
)
CLOUD["compute"]["servers"] = [SERVER]
CLOUD["compute"]["services"][0] |= {"disabled_reason": "rack of Acme is down"}
CLOUD["settings"] = {
    **saved.SETTINGS,
    "place": "/home/acme/nova.conf",
    "files": {
        "nova_conf": [
            [
                [
                    "filter_scheduler",
                    "enabled_filters",
                    FILTERS,
                    "/acme/a",
                    1,
                    "",
                    None,
                ],
                ["filter_scheduler", "isolated_images", FAILED, "/acme/a", 2, "", None],
                ["filter_scheduler", "isolated_hosts", HOSTS[2].name, "a", 3, "", None],
            ]
        ]
    },
    "named": {"nova_release": ["33"]},
}
MASKED, ORIGINALS = snapshot.masked(CLOUD)


def hosts_by_flavor(document, project, image):
    """How many hosts each flavor has."""
    opened = Snapshot("", document)
    spec = ServerSpec("", image, project=project)
    return {
        each.question.flavor["name"]: len(each.candidates)
        for each in by_flavor(opened.cloud, spec, opened.sources)
    }


@pytest.mark.parametrize("image", ["", IMAGE])
@pytest.mark.parametrize("project", [ACME, OTHER])
@pytest.mark.parametrize("keep_traits", [False, True])
def test_a_masked_snapshot_gives_each_flavor_as_many_hosts(keep_traits, project, image):
    masked, originals = snapshot.masked(CLOUD, keep_traits)
    words = {original: word for word, original in originals.items()}
    real = hosts_by_flavor(CLOUD, project, image)
    assert len(set(real.values())) > 1, real
    same = words.get(project, project), words.get(image, image)
    assert hosts_by_flavor(masked, *same) == real


def test_a_masked_snapshot_has_no_name_and_no_id_of_the_cloud():
    text = json.dumps(MASKED)
    secrets = [
        *("acme", "berlin", "gold", "silver", "bronze", "tier", "secret", "10.0.0.1"),
        *("example", "rack", "GPU_NO", "url", "my"),
        *(ACME, IMAGE, FAILED, HOSTS[0].uuid, HOSTS[0].aggregates[0]),
        *(each.name.partition(".")[0] for each in HOSTS),
    ]
    assert [each for each in secrets if re.search(rf"\b{each}", text, re.I)] == []


@pytest.mark.parametrize(
    "kept",
    [
        "availability_zone",
        "trait:HW_CPU_X86_AVX512F",
        "hw:cpu_policy",
        "aggregate_instance_extra_specs:",
        "resources:PCPU",
        "cpu_allocation_ratio",
        "filter_tenant_id_2",
        "No valid host was found.",
        '"standard"',
        FILTERS,
        '"x86_64"',
    ],
)
def test_what_has_a_meaning_to_nova_is_kept(kept):
    assert kept in json.dumps(MASKED)


def test_a_name_has_the_same_word_wherever_it_is():
    compute = MASKED["compute"]
    (server,) = compute["servers"]
    host = server["OS-EXT-SRV-ATTR:host"]
    assert ORIGINALS[host.partition(".")[0]] == HOSTS[0].name.partition(".")[0]
    assert server["fault"]["message"] == (
        f"No valid host was found. {host}, server-01, project-01"
    )
    assert MASKED["placement"]["providers"][0]["name"] == host == "cmp-001.domain-01"
    (isolated,) = (
        each
        for each in compute["aggregates"]
        if "filter_tenant_id_2" in each["metadata"]
    )
    assert isolated["metadata"]["filter_tenant_id_2"] == "project-01"
    assert compute["services"][0]["disabled_reason"] == "masked"


def test_traits_and_metadata_can_be_kept():
    text = json.dumps(snapshot.masked(CLOUD, keep_traits=True)[0])
    for kept in ("trait:CUSTOM_GPU_NODE", '"tier": "Gold,silver"', "<or> gold"):
        assert kept in text
    assert "acme-" not in text
    assert "acme:" not in text


def test_a_masked_snapshot_is_compared_with_masked_ones_only():
    plain, masked = Snapshot("a", CLOUD), Snapshot("b", MASKED)
    masked.check_masked_as(masked)
    plain.check_masked_as(None)
    for one, other in ((plain, masked), (masked, plain), (masked, None)):
        with pytest.raises(BadUsage, match="a masked snapshot has other names"):
            one.check_masked_as(other)
