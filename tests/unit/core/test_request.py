"""The request by itself: what Nova rejects, its clauses, zones, parts and traits."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.inventory.trait import Collation
from osc_traitsched.core.nova import building, request
from osc_traitsched.core.nova.clause import MemberOf, Origin, Resource, RootTrait, Trait
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.nova.properties import CpuSet
from osc_traitsched.core.nova.question import Question, ServerSpec
from osc_traitsched.core.nova.server import Network, NotEvaluated, Parts, Port, Volume
from osc_traitsched.core.releases import NEWEST, RELEASES
from tests.aggregates import aggregate
from tests.fidelity import asking as fidelity_asking
from tests.fidelity import destinations, ours, recorded, with_parts
from tests.unit.core.scheduled import asking

# What Nova rejects before it looks at flavor and image together.


def question(**flavor):
    return Question({"id": "1", "name": "f", **flavor}, None, (), SchedulerSettings())


def test_a_disabled_flavor_is_not_found_by_nova_api():
    disabled = question(**{"OS-FLV-DISABLED:disabled": True})
    with pytest.raises(Refusal) as refused:
        disabled.check_enabled()
    assert (refused.value.exception, refused.value.http) == ("FlavorNotFound", 400)
    assert refused.value.stage == "api"


@pytest.mark.parametrize("flavor", [{}, {"OS-FLV-DISABLED:disabled": False}])
def test_any_other_flavor_is_taken(flavor):
    question(**flavor).check_enabled()


def test_the_filters_see_flavor_image_and_project_of_a_question():
    asked = dataclasses.replace(
        question(vcpus=1), image={"id": "i1", "name": "raw"}, project="p1"
    )
    spec = asked.request_spec()
    assert (spec.flavor_name, spec.image_id) == ("f", "i1")
    assert spec.server.project_id == "p1"
    from_volume = asked.with_spec(boot_from_volume=True)
    assert from_volume.request_spec().image_id == "i1"
    assert dataclasses.replace(from_volume, image=None).request_spec().image_id == ""


@pytest.mark.parametrize(
    ("release", "passed_on"),
    [(30, {"_nova_other", "reservation"}), (31, {"reservation"})],
)
def test_hints_that_nova_gives_to_itself_are_not_passed_on_from_2025_1_on(
    release, passed_on
):
    hints = {"_nova_other": ("1",), "reservation": ("r1",)}
    settings = SchedulerSettings(release=release)
    asked = dataclasses.replace(question(), assumptions=settings).with_spec(hints=hints)
    assert asked.request_spec().hints.keys() == passed_on


# The request by itself: its clauses, where they come from, and what it leaves open.


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


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("resources:VCPUX", "resources:VCPU"),
        ("resources_NIC:SRIOV_NET_VFS", "resources_NIC:SRIOV_NET_VF"),
        ("resources3:gpu", "resources3:PGPU or resources3:VGPU"),
        ("resources:CRYPTO", ""),
    ],
)
def test_a_class_that_does_not_exist_may_stand_for_one_with_a_near_name(key, meant):
    body = flavor()
    body["extra_specs"][key] = "1"
    (found,) = asked(body).not_evaluated
    assert found == NotEvaluated("unknown resource class", key, "1", meant)


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


# What the core makes of a flavor and an image, against what Nova makes of them.


CASES = recorded.read()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_request_or_the_refusal_is_nova_s_own_in_every_release(case):
    answers = dict(recorded.answers(case))

    assert {r: ours.answer(case, r) for r in answers} == answers
    assert set(answers) == set(RELEASES)


# What is asked for with the zone, as nova-api and nova-scheduler take it.


CMP = Compute("c1", "cmp1.example.org", "cmp1")
IRON = (Compute("i1", "iron-a", "ironic"), Compute("i2", "iron-b", "ironic"))
COMPUTES = (CMP, *IRON)
EAST = aggregate("east", "cmp1", uuid="e1", availability_zone="az-east")
DESTINATION_FLAVOR = {
    "id": "1",
    "name": "f",
    "vcpus": 1,
    "ram": 512,
    "disk": 0,
    "extra_specs": {},
}


@pytest.mark.parametrize(
    ("given", "parts", "checked"),
    [
        (None, ("home", None, None), "home"),
        ("az", ("az", None, None), "az"),
        ("az:cmp1", ("az", "cmp1", None), None),
        (":cmp1", ("home", "cmp1", None), None),
        ("az:cmp1:node", ("az", "cmp1", "node"), None),
        ("az::node", ("az", None, "node"), None),
        ("az:", ("az", "", None), None),
        ("az::", ("az", None, ""), "az"),
    ],
)
def test_zone_host_and_node_are_taken_apart_as_nova_does(given, parts, checked):
    found = request.read(given, "home")
    assert (found.zone, found.host, found.node) == parts
    assert found.checked_zone == checked


def test_a_colon_in_the_default_zone_is_part_of_its_name():
    found = request.read(None, "nova:cmp1")
    assert (found.checked_zone, found.is_named) == ("nova:cmp1", False)


def destination_asked(
    zone, release=34, computes=COMPUTES, host=None, node=None, **specs
):
    flavor = {**DESTINATION_FLAVOR, "extra_specs": specs}
    settings = SchedulerSettings.of(release, query_placement_for_availability_zone=True)
    spec = ServerSpec(zone=zone, boot_from_volume=True, on_host=host, on_node=node)
    question = Question(flavor, None, (EAST,), settings, spec, "p", computes)
    return question.request()


@pytest.mark.parametrize("zone", [":::", "a:b:c:d"])
def test_more_than_two_colons_are_refused_by_nova_api(zone):
    with pytest.raises(Refusal) as caught:
        destination_asked(zone)
    refusal = caught.value
    assert (refusal.exception, refusal.stage, refusal.http) == (
        "InvalidInput",
        "api",
        400,
    )


def test_one_node_is_asked_for_by_its_tree_in_both_queries():
    found = destination_asked("nova:cmp1", **{"hw:cpu_policy": "dedicated"})
    assert "in_tree=c1&limit=1000" in found.query()
    assert "in_tree=c1&limit=1000" in found.fallback.query()
    assert "in_tree=i2" in destination_asked("nova::iron-b").query()
    assert "in_tree=i1" in destination_asked("nova:ironic:iron-a").query()


def test_of_several_nodes_all_hosts_are_asked_for_without_a_limit():
    found = destination_asked("nova:ironic", **{"hw:cpu_policy": "dedicated"})
    assert (found.in_tree, found.limit, found.fallback.limit) == (None, None, None)


@pytest.mark.parametrize(
    ("zone", "named", "nearest"),
    [
        ("nova:cmp2", ("host: cmp2",), ("cmp1",)),
        ("nova::iron-c", ("node: iron-c",), ("iron-b", "iron-a")),
        ("nova:cmp1:iron-a", ("host: cmp1", "node: iron-a"), ("cmp1",)),
    ],
)
def test_a_host_that_is_not_there_is_no_valid_host(zone, named, nearest):
    with pytest.raises(Refusal) as caught:
        destination_asked(zone)
    refusal = caught.value
    assert (refusal.exception, refusal.reason) == ("NoValidHost", "no-such-host")
    assert (refusal.stage, refusal.keys) == ("no valid host", named)
    assert set(refusal.nearest) == set(nearest)


def test_the_zone_counts_only_where_the_host_is_in_it():
    assert "member_of=in%3Ae1" in destination_asked("az-east:cmp1").query()
    assert "member_of" not in destination_asked("az-west:cmp1").query()
    assert "member_of" not in destination_asked("az-east:ironic").query()
    assert "member_of" not in destination_asked("az-east::cmp1.example.org").query()


@pytest.mark.parametrize(("release", "is_asked"), [(22, True), (23, False)])
def test_until_22_the_zone_counts_whatever_the_named_host_is_in(release, is_asked):
    query = destination_asked("az-east:ironic", release).query()
    assert ("member_of=in%3Ae1" in query) is is_asked


def test_where_the_compute_nodes_are_not_known_that_is_said():
    found = destination_asked("nova:cmp1", computes=None)
    assert found.in_tree is None
    assert ("requested host", "cmp1") in [
        (each.kind, each.value) for each in found.not_evaluated
    ]


@pytest.mark.parametrize("zone", ["nova:cmp1", "az-west::cmp1.example.org"])
def test_the_policy_that_a_named_host_takes_is_named(zone):
    kinds = [each.kind for each in destination_asked(zone).not_evaluated]
    assert kinds == ["named host needs a policy"]


def test_the_default_zone_is_asked_for_with_a_host_that_is_in_it():
    kinds = [
        each.kind for each in destination_asked("nova::cmp1.example.org").not_evaluated
    ]
    assert "zone has no aggregate, so no restriction" in kinds


def test_a_zone_alone_takes_no_policy():
    assert not destination_asked("az-east").not_evaluated


def kinds(found):
    return [each.kind for each in found.not_evaluated]


def test_a_host_beside_the_zone_is_asked_for_by_its_tree_and_the_zone_counts():
    found = destination_asked("az-east", host="ironic", node="iron-b")
    assert "in_tree=i2" in found.query()
    assert "member_of=in%3Ae1" in found.query()
    assert "in_tree=c1&limit=1000" in destination_asked(None, host="cmp1").query()
    assert "in_tree=i1" in destination_asked(None, node="iron-a").query()
    assert destination_asked(None, host="ironic").limit is None


def test_a_host_beside_the_zone_takes_another_policy():
    assert kinds(destination_asked(None, host="cmp1")) == ["asked host needs a policy"]


@pytest.mark.parametrize(
    ("named", "keys"),
    [
        ({"host": "cmp2"}, ("host: cmp2",)),
        ({"node": "iron-c"}, ("node: iron-c",)),
        ({"host": "cmp1", "node": "iron-a"}, ("host: cmp1", "node: iron-a")),
        ({"host": "CMP1"}, ("host: CMP1",)),
    ],
)
def test_nova_api_refuses_a_host_beside_the_zone_that_is_not_there(named, keys):
    with pytest.raises(Refusal) as caught:
        destination_asked("az-east", **named)
    found = caught.value
    assert (found.exception, found.stage, found.http) == (
        "ComputeHostNotFound",
        "api",
        400,
    )
    assert (found.reason, found.keys) == ("no-such-host", keys)


def test_nova_api_refuses_a_host_that_is_named_twice():
    with pytest.raises(Refusal) as caught:
        destination_asked("az-east:cmp1", host="cmp1")
    found = caught.value
    assert (found.exception, found.stage, found.http) == ("HTTPBadRequest", "api", 400)
    assert found.keys == ("availability_zone", "host")
    assert destination_asked("az-east:", host="cmp1").in_tree == "c1"


# What the core makes of a host named with the zone, against Nova's own code.


DESTINATIONS_CASES = destinations.read()


@pytest.mark.parametrize("case", DESTINATIONS_CASES, ids=lambda case: case["name"])
def test_the_request_or_the_refusal_is_nova_s_own(case):
    assert ours.answer(case, NEWEST) == case["answer"]


def test_the_recorded_cases_are_those_that_are_compared():
    recorded = [
        {k: v for k, v in c.items() if k != "answer"} for c in DESTINATIONS_CASES
    ]
    assert recorded == list(destinations.named())


def test_there_are_hosts_that_are_taken_and_hosts_that_are_refused():
    found = [case["answer"].get("refused", "") for case in DESTINATIONS_CASES]
    by_api = {"InvalidInput", "HTTPBadRequest", "ComputeHostNotFound"}
    assert {*found} == {"", "NoValidHost", *by_api}


# What the core makes of ports, networks, volumes and devices, against Nova's code.


PARTS_CASES = with_parts.read()
PORT = Port("p", Network("n"), name="web-1")
VOLUME = Volume("v", "nova", is_bootable=True)


@pytest.mark.parametrize("case", PARTS_CASES, ids=lambda case: case["name"])
def test_the_request_or_the_refusal_is_nova_s_own_in_each_release(case):
    answers = dict(recorded.answers(case))
    assert {r: ours.answer(case, r) for r in answers} == answers
    assert tuple(answers) == fidelity_asking.releases()


def test_the_recorded_cases_are_those_that_are_compared_parts():
    asked = [{k: v for k, v in case.items() if k != "answers"} for case in PARTS_CASES]
    assert asked == list(with_parts.named())


@pytest.mark.parametrize(
    ("parts", "exception", "named"),
    [
        (Parts(ports=(PORT,)), "MultiplePortsNotApplicable", "web-1"),
        (Parts(volumes=(VOLUME,), boots_from="v"), "InvalidRequest", "v"),
    ],
    ids=["port", "volume"],
)
def test_several_servers_share_no_port_and_no_volume(parts, exception, named):
    flavor = {"name": "f", "vcpus": 1, "ram": 1, "disk": 1}
    asked = Question(
        flavor, None, (), SchedulerSettings.of(34), ServerSpec(count=2), parts=parts
    )
    with pytest.raises(Refusal) as caught:
        asked.request()
    found = caught.value
    assert (found.exception, found.keys, found.http) == (exception, (named,), 400)


def parts_asked(*, release=34, options=(), **parts):
    flavor = {"name": "f", "vcpus": 1, "ram": 1, "disk": 1}
    settings = {k: Setting(v, "given", given=True) for k, v in dict(options).items()}
    assumptions = SchedulerSettings(release, settings, "given")
    return Question(flavor, None, (), assumptions, parts=Parts(**parts))


@pytest.mark.parametrize(("release", "is_refused"), [(23, False), (24, True)])
def test_a_port_that_is_named_twice_is_refused_from_xena_on(release, is_refused):
    question = parts_asked(release=release, ports=(PORT, PORT))
    if not is_refused:
        assert question.request().clauses
        return
    with pytest.raises(Refusal) as caught:
        question.request()
    assert (caught.value.reason, caught.value.http) == ("port-twice", 400)


@pytest.mark.parametrize(
    ("status", "is_multiattach", "is_refused"),
    [
        ("available", False, False),
        ("downloading", False, False),
        ("in-use", False, True),
        ("in-use", True, False),
        ("reserved", True, True),
        ("error", True, True),
        ("error_deleting", False, True),
        ("maintenance", False, True),
    ],
)
def test_cinder_reserves_a_volume_by_its_status(status, is_multiattach, is_refused):
    volume = Volume(
        "v", "nova", is_bootable=True, is_multiattach=is_multiattach, status=status
    )
    question = parts_asked(volumes=(volume,), boots_from="v")
    if not is_refused:
        assert question.request().clauses
        return
    with pytest.raises(Refusal) as caught:
        question.request()
    found = caught.value
    assert (found.exception, found.http) == ("InvalidVolume", 400)
    assert found.keys == (f"v ({status})",)


def test_what_comes_before_a_volume_s_status_is_refused_first():
    volume = Volume("v", "nova", status="error")
    with pytest.raises(Refusal) as caught:
        parts_asked(volumes=(volume,), boots_from="v").request()
    assert caught.value.exception == "InvalidBDMVolumeNotBootable"


def test_each_subnet_of_a_segment_names_its_aggregates_once_more():
    first, second = frozenset({"a"}), frozenset({"b"})
    network = Network("n", segments=(first, second, first, first))
    on = {"scheduler.query_placement_for_routed_network_aggregates": True}
    query = parts_asked(networks=(network,), options=on).request().query()
    assert "member_of=in%3Aa%2Ca%2Ca%2Cb" in query


@pytest.mark.parametrize(
    ("zone", "counts", "is_named"),
    [("nova", True, True), ("east", True, False), ("nova", False, False)],
)
def test_a_volume_of_the_default_zone_is_named_where_zones_count(
    zone, counts, is_named
):
    volume = Volume("v", zone, is_bootable=True, status="available")
    off = {"cinder.cross_az_attach": not counts}
    question = parts_asked(volumes=(volume,), boots_from="v", options=off)
    found = {e.kind: e.value for e in question.request().not_evaluated}
    assert found.get("volume zone") == ("nova" if is_named else None)


# Which keys of flavors, images and aggregates require traits.


@pytest.mark.parametrize(
    ("key", "value", "required"),
    [
        ("trait:CUSTOM_X", "required", "CUSTOM_X"),
        ("trait1:CUSTOM_X", "required", "CUSTOM_X"),
        ("trait_gpu-0:CUSTOM_X", "required", "CUSTOM_X"),
        ("trait:CUSTOM_X", "forbidden", None),
        ("trait:", "required", None),
        ("resources:CUSTOM_X", "required", None),
        # To Nova this is the granular group "s".
        ("traits:CUSTOM_X", "required", "CUSTOM_X"),
        ("traitgold!:CUSTOM_X", "required", None),
        ("quota:trait", "required", None),
    ],
)
def test_which_keys_require_a_trait(key, value, required):
    assert trait.requires(key, value) == required


ODD = {
    "Trait:CUSTOM_A": "required",
    "trait:custom_b": "required",
    "trait:CUSTOM_C": "Required",
    "trait:CUSTOM_D": "forbidden",
}


def test_sqlite_takes_trait_in_any_case_and_nothing_else():
    found = trait.isolated_by(ODD, Collation.CASE_SENSITIVE)
    assert found == {"CUSTOM_A": "Trait:CUSTOM_A", "custom_b": "trait:custom_b"}


def test_mariadb_takes_keys_and_values_in_any_case():
    found = trait.isolated_by(ODD, Collation.CASE_INSENSITIVE)
    assert found == {
        "CUSTOM_A": "Trait:CUSTOM_A",
        "CUSTOM_B": "trait:custom_b",
        "CUSTOM_C": "trait:CUSTOM_C",
    }


def test_a_flavor_requires_what_any_of_its_groups_requires():
    specs = {
        "trait:CUSTOM_A": "required",
        "trait1:CUSTOM_B": "required",
        "trait:CUSTOM_C": "forbidden",
        "hw:cpu_policy": "dedicated",
    }
    assert trait.required_by(specs) == {"CUSTOM_A", "CUSTOM_B"}


# Sets of CPUs as ranges are the sets of numbers that they stand for.


RANGES = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 6)).map(lambda r: (r[0], sum(r)))
)


def numbers(ranges):
    return {n for first, last in ranges for n in range(first, last + 1)}


def of(found):
    """Return the numbers of a set, which are in order and none twice."""
    listed = [n for first, last in found.ranges for n in range(first, last + 1)]
    assert listed == sorted(set(listed))
    return set(listed)


@given(RANGES)
def test_a_union_of_ranges_has_their_numbers(ranges):
    found = CpuSet.of(ranges)
    assert of(found) == numbers(ranges)
    assert found.size == len(numbers(ranges))
    assert bool(found) is bool(ranges)
    if ranges:
        assert found.lowest == min(numbers(ranges))


@given(RANGES, RANGES)
def test_differences_and_parts_are_those_of_sets(one, other):
    this, that = CpuSet.of(one), CpuSet.of(other)
    assert of(this - that) == numbers(one) - numbers(other)
    assert (this <= that) is (numbers(one) <= numbers(other))
    assert (this < that) is (numbers(one) < numbers(other))
    assert (this == that) is (numbers(one) == numbers(other))


def test_the_numbers_below_none_are_none():
    assert CpuSet.below(3) == CpuSet.of([(0, 2)])
    assert CpuSet.below(0) == CpuSet.below(-1) == CpuSet()


def test_a_set_can_have_more_numbers_than_a_list_could():
    last = 10**4000
    huge = CpuSet.of([(0, last)])
    assert huge.size == last + 1
    assert huge - CpuSet.below(last) == CpuSet.of([(last, last)])


def test_a_refusal_keeps_all_of_itself_when_its_stage_is_known():
    raised = Refusal(
        "ImageNotAcceptable",
        "cpu-twice",
        ("hw:b",),
        nearest=("hw:a",),
        allowed=("1",),
        text="no",
        ends_by_enabling=True,
    )
    with pytest.raises(Refusal) as caught, building.at(building.SCHEDULER, NEWEST):
        raise raised
    changed = {"stage": building.SCHEDULER}
    assert vars(caught.value) == {**vars(raised), **changed}
