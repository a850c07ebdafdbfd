"""The request by itself: its clauses, where they come from, and what it leaves open."""

import json

import pytest

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.clause import MemberOf, Origin, Resource, RootTrait, Trait
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.server import NotEvaluated
from tests.aggregates import aggregate
from tests.unit.core.asking import asking

IMAGE = {"status": "active", "disk_format": "qcow2", "min_ram": 0, "min_disk": 0}


def flavor(**specs):
    """Return a flavor with these extra specs; ``__`` stands for a colon."""
    named = {key.replace("__", ":"): value for key, value in specs.items()}
    return {
        "name": "m1",
        "vcpus": 4,
        "ram": 2048,
        "disk": 20,
        "OS-FLV-EXT-DATA:ephemeral": 0,
        "swap": "",
        "extra_specs": named,
    }


def asked(body=None, image=IMAGE, release=33, **more):
    """Return the request for a flavor and an image, without options."""
    question = Question(body or flavor(), image, (), SchedulerSettings.of(release))
    return asking(question, **more).request()


def origins(found, name):
    """Return the origins of the clauses about a class or a trait, as keys."""
    return [
        [(origin.kind, origin.key) for origin in clause.origins]
        for clause in found.clauses
        if name in (getattr(clause, "name", ""), getattr(clause, "resource_class", ""))
    ]


def test_a_plain_flavor_asks_for_its_own_amounts_and_an_enabled_host():
    assert asked().clauses == (
        RootTrait(
            "COMPUTE_STATUS_DISABLED",
            True,
            (Origin("prefilter", "compute_status_filter"),),
        ),
        Resource("", "VCPU", 4, (Origin("flavor", "vcpus"),)),
        Resource("", "MEMORY_MB", 2048, (Origin("flavor", "ram"),)),
        Resource("", "DISK_GB", 20, (Origin("flavor", "disk"),)),
    )


def test_the_query_begins_with_the_limit():
    assert asked().query().startswith("limit=1000&resources=DISK_GB%3A20%2CMEMORY_MB")


@pytest.mark.parametrize(
    ("release", "microversion"),
    [(20, "1.32"), (21, "1.35"), (23, "1.35"), (24, "1.36"), (34, "1.36")],
)
def test_it_is_sent_with_the_microversion_of_the_release(release, microversion):
    assert asked(release=release).microversion == microversion


def test_clauses_come_in_the_order_of_nova():
    found = asked(flavor(hw__tpm_version="2.0", trait__CUSTOM_GPU="required"))

    names = [
        getattr(c, "name", getattr(c, "resource_class", "")) for c in found.clauses
    ]
    assert names == [
        "COMPUTE_STATUS_DISABLED",
        "COMPUTE_SECURITY_TPM_SECRET_SECURITY_USER",
        "CUSTOM_GPU",
        "VCPU",
        "MEMORY_MB",
        "DISK_GB",
        "COMPUTE_SECURITY_TPM_TIS",
        "COMPUTE_SECURITY_TPM_2_0",
    ]


def test_a_trait_of_flavor_and_image_is_one_clause_with_two_origins():
    image = {**IMAGE, "trait:CUSTOM_GPU": "required"}

    found = asked(flavor(trait__CUSTOM_GPU="required"), image)

    key = "trait:CUSTOM_GPU"
    assert origins(found, "CUSTOM_GPU") == [[("flavor", key), ("image", key)]]


def test_disk_comes_from_all_the_keys_that_it_is_made_of():
    body = {**flavor(), "OS-FLV-EXT-DATA:ephemeral": 3, "swap": 1025}

    found = asked(body)

    keys = ["disk", "OS-FLV-EXT-DATA:ephemeral", "swap"]
    assert found.resources()["DISK_GB"] == 25
    assert origins(found, "DISK_GB") == [[("flavor", key) for key in keys]]


def test_pinned_cpus_come_from_the_policy_and_the_number_of_cpus():
    found = asked(
        flavor(hw__emulator_threads_policy="isolate"),
        {**IMAGE, "hw_cpu_policy": "dedicated"},
    )

    assert found.resources()["PCPU"] == 5
    assert origins(found, "PCPU") == [
        [
            ("image", "hw_cpu_policy"),
            ("flavor", "vcpus"),
            ("flavor", "hw:emulator_threads_policy"),
        ]
    ]


def test_an_old_name_of_a_property_is_the_origin_as_the_user_wrote_it():
    found = asked(
        image={**IMAGE, "architecture": "amd64"},
        assumptions=SchedulerSettings.of(33, image_metadata_prefilter=True),
    )

    assert origins(found, "HW_ARCH_X86_64") == [
        [("prefilter", "transform_image_metadata"), ("image", "architecture")]
    ]


def test_a_pinned_server_has_a_second_query_without_pinning():
    found = asked(flavor(hw__cpu_policy="dedicated", hw__cpu_thread_policy="require"))

    assert found.resources() == {"PCPU": 4, "MEMORY_MB": 2048, "DISK_GB": 20}
    assert found.fallback.resources()["VCPU"] == 4
    assert not any(isinstance(c, Trait) for c in found.fallback.clauses)
    assert found.fallback.fallback is None


def test_the_second_query_can_be_switched_off():
    name = "workarounds.disable_fallback_pcpu_query"
    assumptions = SchedulerSettings(33, {name: Setting(True, "nova.conf")})

    found = asked(flavor(hw__cpu_policy="dedicated"), assumptions=assumptions)

    assert found.fallback is None


ISOLATED = [
    aggregate(name, **{f"trait:CUSTOM_{name.upper()}": "required"})
    for name in ("gold", "silver", "tin")
]


def isolating(body, *names):
    """Return the request of a cloud in which these aggregates are isolated."""
    return asked(
        body,
        aggregates=[each for each in ISOLATED if each.name in names],
        assumptions=SchedulerSettings.of(33, enable_isolated_aggregate_filtering=True),
    )


def forbidden(found):
    """Return the sets of aggregates that a request forbids, clause by clause."""
    return [
        {*clause.aggregates}
        for clause in found.clauses
        if isinstance(clause, MemberOf) and clause.forbidden
    ]


def test_what_is_forbidden_at_once_is_the_same_query_with_fewer_clauses():
    found = isolating(flavor(hw__cpu_policy="dedicated"), "gold", "silver", "tin")
    assert forbidden(found) == [{"gold"}, {"silver"}, {"tin"}]
    at_once = found.forbidding_at_once()
    for before, after in ((found, at_once), (found.fallback, at_once.fallback)):
        assert forbidden(after) == [{"gold", "silver", "tin"}]
        assert after.query() == before.query()
        assert len(after.clauses) == len(before.clauses) - 2


def test_what_another_request_forbids_too_stays_a_clause_of_its_own():
    found = isolating(flavor(), "gold", "silver", "tin")
    apart = isolating(flavor(), "silver")
    at_once = found.forbidding_at_once(apart)
    assert forbidden(at_once) == [{"silver"}, {"gold", "tin"}]
    assert at_once.query() == found.query()
    assert found.forbidding_at_once(found) == found


def test_groups_are_named_by_their_suffix():
    found = asked(flavor(resources_A__VGPU="1", group_policy="none"))

    assert found.groups == ("_A", "")
    assert found.resources("_A") == {"VGPU": 1}
    assert found.group_policy == "none"


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [
        ("resources:FOO", "1", "unknown resource class"),
        ("resources:VGPU", "1.5", "invalid amount"),
        ("trait:CUSTOM_A", "Required", "trait value neither required nor forbidden"),
        ("group_policy", "soft", "invalid group policy"),
        ("resources_" + "x" * 64 + ":VGPU", "1", "suffix of no group"),
        ("accel:device_profile", "fpga", "device profile"),
        ("pci_passthrough:alias", "gpu:1", "pci alias"),
    ],
)
def test_what_nova_leaves_out_or_only_others_know_is_named_with_its_key(
    key, value, kind
):
    body = flavor()
    body["extra_specs"][key] = value

    assert NotEvaluated(kind, key, value) in asked(body).not_evaluated


def test_misspelled_keys_are_named_with_the_keys_they_stand_for():
    body = flavor()
    body["extra_specs"]["hw:cpu_polcy"] = "dedicated"

    found = asked(body, {**IMAGE, "hw_firmware_typ": "uefi"})

    kind = "misspelled key"
    assert found.not_evaluated == (
        NotEvaluated(kind, "hw:cpu_polcy", "dedicated", "hw:cpu_policy"),
        NotEvaluated(kind, "hw_firmware_typ", "uefi", "hw_firmware_type"),
    )


#: A key that Nova takes for another one.
MISREAD = "misspelled key with another meaning"


@pytest.mark.parametrize(
    ("key", "meant", "release", "kind"),
    [
        ("traits:CUSTOM_SSD", "trait:CUSTOM_SSD", 34, MISREAD),
        ("traits:CUSTOM_SSD", "trait:CUSTOM_SSD", 20, "misspelled key"),
        ("resourcess:CUSTOM_FPGA", "resources:CUSTOM_FPGA", 29, MISREAD),
        ("group-policy", "group_policy", 34, MISREAD),
        ("hw_numa_nodes", "hw:numa_nodes", 34, MISREAD),
        ("hw:numa-nodes", "hw:numa_nodes", 34, "misspelled key"),
    ],
)
def test_a_misspelled_key_is_named_once_and_as_what_it_is_taken_for(
    key, meant, release, kind
):
    body = flavor()
    body["extra_specs"][key] = "nonsense"

    found = asked(body, release=release)

    assert found.not_evaluated == (NotEvaluated(kind, key, "nonsense", meant),)


def test_a_trait_that_an_image_can_not_forbid_is_named():
    image = {**IMAGE, "trait:CUSTOM_A": "forbidden"}

    found = asked(image=image)

    kind = "trait value neither required nor forbidden"
    assert found.not_evaluated == (NotEvaluated(kind, "trait:CUSTOM_A", "forbidden"),)


def test_an_amount_that_another_key_overwrites_is_named():
    body = flavor(resources__MEM_ENCRYPTION_CONTEXT="5", hw__mem_encryption="true")

    found = asked(body, {**IMAGE, "hw_firmware_type": "uefi"})

    assert found.resources()["MEM_ENCRYPTION_CONTEXT"] == 1
    key = "resources:MEM_ENCRYPTION_CONTEXT"
    assert NotEvaluated("overwritten", key, "5") in found.not_evaluated


def test_a_disk_of_zero_is_asked_for_and_the_policy_it_takes_is_named():
    found = asked({**flavor(), "disk": 0})

    assert "DISK_GB" not in found.resources()
    assert found.not_evaluated == (
        NotEvaluated("zero disk needs a policy", "disk", "0"),
    )


def test_a_server_without_an_image_asks_for_what_its_flavor_says():
    found = asked(image=None, boot_from_volume=True)

    assert found.resources() == {"VCPU": 4, "MEMORY_MB": 2048}


def test_a_host_that_is_asked_for_with_the_zone_is_named():
    found = asked(zone="nova:compute1")

    not_evaluated = NotEvaluated("requested host", "availability_zone", "compute1")
    assert not_evaluated in found.not_evaluated


def test_the_api_refuses_with_nova_s_exception_the_keys_and_a_status():
    image = {**IMAGE, "hw_cpu_policy": "dedicated"}

    with pytest.raises(Refusal) as caught:
        asked(flavor(hw__cpu_policy="shared"), image)

    refusal = caught.value
    assert refusal.exception == "ImageCPUPinningForbidden"
    assert refusal.keys == ("hw:cpu_policy", "hw_cpu_policy")
    assert (refusal.stage, refusal.http) == ("api", 400)
    assert refusal.reason == "image-pins-more"


def test_the_scheduler_refuses_what_the_api_lets_through():
    image = {**IMAGE, "os_secure_boot": "optional"}

    with pytest.raises(Refusal) as caught:
        asked(flavor(os__secure_boot="required"), image)

    refusal = caught.value
    assert refusal.exception == "FlavorImageConflict"
    assert refusal.keys == ("os:secure_boot", "os_secure_boot")
    assert (refusal.stage, refusal.http) == ("scheduler", None)


SNAPSHOT = "22222222-2222-3333-4444-555555555555"
#: The root disk of an image in the format of today, and in the one before Havana.
NEW_ROOT = {
    "boot_index": 0,
    "source_type": "snapshot",
    "destination_type": "volume",
    "snapshot_id": SNAPSHOT,
}
OLD_ROOT = {"device_name": "/dev/vda", "snapshot_id": SNAPSHOT}
SMALLER, FLAVOR = "VolumeSmallerThanMinDisk", "FlavorDiskSmallerThanMinDisk"


@pytest.mark.parametrize(
    ("device", "properties", "ends"),
    [
        # Nova 34's own answers, for min_disk of 30 and a flavor with a disk of 20
        ({**NEW_ROOT, "volume_size": 29}, {"bdm_v2": "true"}, SMALLER),
        ({**NEW_ROOT, "volume_size": "29"}, {"bdm_v2": "True"}, SMALLER),
        ({**NEW_ROOT, "volume_size": 0}, {"bdm_v2": "true"}, SMALLER),
        ({**NEW_ROOT, "volume_size": 30}, {"bdm_v2": "true"}, None),
        ({**NEW_ROOT, "boot_index": "0"}, {"bdm_v2": "true"}, None),
        (NEW_ROOT, {"bdm_v2": "true"}, None),
        ({**NEW_ROOT, "boot_index": 1}, {"bdm_v2": "true"}, FLAVOR),
        ({**NEW_ROOT, "destination_type": "local"}, {"bdm_v2": "true"}, FLAVOR),
        (NEW_ROOT, {}, FLAVOR),
        (OLD_ROOT, {}, None),
        ({**OLD_ROOT, "volume_size": 29}, {}, SMALLER),
        ({**OLD_ROOT, "device_name": "vda", "volume_size": 30}, {}, None),
        ({**OLD_ROOT, "device_name": "sda"}, {}, FLAVOR),
        ({**OLD_ROOT, "device_name": "sda"}, {"root_device_name": "/dev/sda"}, None),
        (OLD_ROOT, {"bdm_v2": "true"}, "InvalidBDMFormat"),
        ({"device_name": "vda"}, {}, "InvalidBDMFormat"),
    ],
)
@pytest.mark.parametrize("boots_from_volume", [False, True])
def test_an_image_of_a_volume_has_the_size_of_its_root_volume(
    device, properties, ends, boots_from_volume
):
    image = {**IMAGE, "min_disk": 30, **properties}
    image["block_device_mapping"] = json.dumps([device])
    settings = SchedulerSettings.of(34)
    question = Question(flavor(), image, (), settings).with_spec(
        boot_from_volume=boots_from_volume
    )
    if ends is None or (ends == FLAVOR and boots_from_volume):
        assert "DISK_GB" not in question.request().query()
        return
    with pytest.raises(Refusal) as raised:
        question.request()
    assert (raised.value.exception, raised.value.http) == (ends, 400)
