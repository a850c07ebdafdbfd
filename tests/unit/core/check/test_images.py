"""Images and their formats, images of other projects, and amounts of flavors."""

from __future__ import annotations

import dataclasses
import itertools
import json

import pytest

from osc_traitsched.core import check
from osc_traitsched.core.check.rule import ImagesOfOthers
from osc_traitsched.core.check.survey import Severity, SubjectKind
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.special import EXTRA_SPECS
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.placement.facts import Stock
from tests.unit.core.check.surveys import (
    aggregate,
    assert_told,
    assumed,
    findings,
    flavor,
    host,
    identity,
    image,
    survey,
    told,
)
from tests.unit.core.check.test_config import VIRTIO
from tests.unit.core.check.test_filters import given, with_computes
from tests.unit.core.filter.asked import REPORT

# Images that no flavor boots, and device profiles that Cyborg lacks.


OWN = "5a1e0000000000000000000000000001"
SMALL = "small vcpus=1; large ram=2048 disk=20 vcpus=1"
TOO_LARGE = [{**image("i"), "size": 21 * 1024**3}, image("j")]
FITTING = [{**image("i"), "size": 20 * 1024**3}]
REFUSING = "f hw:cpu_policy=shared hw:mem_page_size=small"


def idle(status, **more):
    of = {**image("i"), "status": status, "visibility": "public", "owner": "x", **more}
    return survey("a", "f", idle_images=(of,), own_project=OWN)


def without_cinder(images):
    return survey("a", SMALL, images, has_volumes=False)


PROFILE = survey("a", "f accel:device_profile=gpu; g")
MISSING = {
    "gpu": "the cloud has no Cyborg"
}  #: Flavors of these numbers of CPUs, with the same keys.
_REALTIME = [
    f"{name}{cpus} vcpus={cpus} hw:cpu_policy=dedicated hw:cpu_realtime=yes "
    "hw:cpu_realtime_mask=^0"
    for name, cpus in (("b", 2), ("a", 5))
]

FAULTS = {
    "warning images-not-active image i: queued: Nova rejects every new server of it -> "
    "upload its data, or delete it": idle("queued", owner=OWN),
    "warning images-not-active image i: deactivated: Nova rejects every new server of "
    "it -> if it may be used: openstack image set --activate "
    "83c90a1b-b3c9-51d1-b278-7ccf7b97387e": idle("deactivated", owner=OWN),
    "warning images-not-active image i: killed: Nova rejects every new server of it -> "
    "upload its data, or delete it": idle("killed", owner=OWN),
    "error images-no-flavor image i: Nova rejects every server of it, whatever the "
    "flavor: the flavor has less than the image needs, by ram,...": [
        survey("a", SMALL, "i min_ram=4096; j"),
        without_cinder("i min_ram=4096; j"),
    ],
    # A volume can be large enough.
    "warning images-no-flavor image i: ...with its disk on the "
    "host...min_disk...": survey("a", SMALL, "i min_disk=40; j"),
    "warning images-no-flavor image i: ...with its disk on the host...by "
    "disk, size...": survey("a", SMALL, TOO_LARGE),
    "error images-no-flavor image i...": without_cinder("i min_disk=40; j"),
    "error images-no-flavor image i: Nova rejects every server of it, whatever the "
    "flavor: the flavor has less than the image needs, by disk, "
    "size...": without_cinder(TOO_LARGE),
    # Each flavor has too few VCPUs, or too little memory.
    "error traits-rejected image i...": [
        survey("a", SMALL, "i hw_numa_nodes=2 min_ram=2048; j"),
        survey("a", REFUSING, "i hw_mem_page_size=1GB"),
    ],
    "error images-no-flavor image i...\n"
    "note traits-rejected image i (flavor f)...": survey(
        "a", REFUSING, "i hw_cpu_policy=dedicated"
    ),
    # Of flavors with the same keys only that with too few CPUs, in any order.
    "~note traits-rejected image i (flavor b2): Nova rejects every server of it with "
    "the flavor b2: the mask...": [
        survey("a", flavors, "i hw_cpu_realtime_mask=^0-1")
        for flavors in ("; ".join(_REALTIME), "; ".join(_REALTIME[::-1]))
    ],
    "~error resources-no-profile flavor f: accel:device_profile=gpu: the cloud has no "
    "Cyborg, and Nova rejects every server -> create the profile in Cyborg, or correct "
    "accel:device_profile": dataclasses.replace(PROFILE, missing_profiles=MISSING),
}


@pytest.mark.parametrize(("text", "surveys"), FAULTS.items())
def test_a_fault_is_told_once(text, surveys):
    assert_told(text, surveys)


ALLOWING = f"{REFUSING}; g vcpus=2 hw:mem_page_size=any"
HEALTHY = [
    idle("saving"),
    idle("queued", visibility="private"),
    # A shelved server may need it.
    idle("queued", image_type="snapshot"),
    idle("queued", instance_uuid="1"),
    survey("a", SMALL, "i min_ram=2048 min_disk=20"),
    survey("a", SMALL, FITTING),
    survey("a", "small; large ram=2048 disk=20 vcpus=2", "i hw_numa_nodes=2"),
    # A disk of 0 has the size of the image.
    survey("a", "z disk=0", "i min_disk=40"),
    (PROFILE, "resources-no-profile"),
]


@pytest.mark.parametrize("surveys", HEALTHY)
def test_images_that_some_flavor_boots_are_no_finding(surveys):
    assert_told("", surveys)


@pytest.mark.parametrize("pair", ["hw_cpu_policy=dedicated", "hw_mem_page_size=1GB"])
def test_an_image_that_one_flavor_allows_is_no_error(pair):
    texts = told(survey("a", ALLOWING, f"i {pair}"))
    assert not [
        text for text in texts if text.startswith("error") and "image i" in text
    ]


# Which hosts can read the formats of the images in use.


NO_QCOW2 = frozenset({"COMPUTE_IMAGE_TYPE_QCOW2"})
VMDK = "COMPUTE_IMAGE_TYPE_VMDK"
ON = assumed(query_placement_for_image_type_support=True)
OFF = assumed(query_placement_for_image_type_support=False)


def of(hosts="a; b", flavors=(), images="q qcow2", assumptions=ON, known=(VMDK,)):
    return survey(hosts, flavors, images, known=known, assumptions=assumptions)


def of_volume():
    root = {"boot_index": 0, "source_type": "snapshot", "destination_type": "volume"}
    device = json.dumps([root])
    return of(images=[image("v", "vmdk", bdm_v2="true", block_device_mapping=device)])


A_ALONE = "a; b -COMPUTE_IMAGE_TYPE_QCOW2"
LARGE = "large -COMPUTE_IMAGE_TYPE_QCOW2 VCPU=64 MEMORY_MB=65536 DISK_GB=100"
FLAVORS = "big ram=32768; small"
ASSUMED = assumed(given=False, query_placement_for_image_type_support=False)
IMAGE_TYPE_FAULTS = {
    "error image-type-no-host format vmdk (image v): no host has "
    "COMPUTE_IMAGE_TYPE_VMDK, so that none can take a server of the image v with "
    "its...": of(images="i; v vmdk"),
    # Placement does not know its trait.
    "error traits-unknown trait COMPUTE_IMAGE_TYPE_VMDK (image v)...": of(
        images="v vmdk", known=()
    ),
    "note image-type-few-hosts format qcow2 (image q, host b): 1 of 2 hosts lack "
    "COMPUTE_IMAGE_TYPE_QCOW2 and are left out for the image q: host b": of(A_ALONE),
    "error image-type-off option [scheduler]query_placement_for_image_type_support "
    "(image q): off (nova.conf:1), and of 2 hosts not all support...": of(
        A_ALONE, images="q qcow2; i", assumptions=OFF
    ),
    "warning image-type-off option [scheduler]query_placement_for_image_type_support "
    "(image q)...": of(A_ALONE, images="q qcow2; i", assumptions=ASSUMED),
    "warning image-type-flavor-no-host format qcow2 (flavor big, image q): no host "
    "that can take the flavor big has COMPUTE_IMAGE_TYPE_QCOW2,...": of(
        f"a; {LARGE}", FLAVORS
    ),
}


@pytest.mark.parametrize(("text", "surveys"), IMAGE_TYPE_FAULTS.items())
def test_a_fault_is_told_once_image_type(text, surveys):
    assert_told(text, surveys)


IMAGE_TYPE_HEALTHY = [
    of(flavors="f", images="i; q qcow2"),
    of_volume(),
    of(assumptions=OFF),
    # A full host may be large enough.
    (of(f"full ?; {LARGE}", "big ram=32768"), "image-type-flavor-no-host"),
    # An image that pins CPUs is not judged by the flavor's own.
    (
        of(f"a; {LARGE}", FLAVORS, "q qcow2 hw_cpu_policy=dedicated"),
        "image-type-flavor-no-host",
    ),
]


@pytest.mark.parametrize("surveys", IMAGE_TYPE_HEALTHY)
def test_formats_that_hosts_support_are_no_finding(surveys):
    assert_told("", surveys)


# Images of other projects: what they alone bring about is one note a rule.


OTHERS_OWN, OTHER = (
    "5a1e0000000000000000000000000001",
    "5a1e0000000000000000000000000002",
)
GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"

NEEDS_GOLD = {"trait__CUSTOM_GOLD": "required"}


def others_of(*images, **more):
    """Return a cloud with one host and these images, asked by a user of OWN."""
    return survey("a", images=images, own_project=OTHERS_OWN, **more)


def owned(name, owner=OTHER, visibility="private", disk_format="raw", **properties):
    own = image(name, disk_format, **properties)
    return {**own, "owner": owner, "visibility": visibility}


def titled(name):
    return f"{name} ({identity(name)}, owner {OTHER})"


@pytest.mark.parametrize("visibility", ["private", "shared", "community"])
def test_a_hundred_traits_of_one_image_are_one_note_about_it(visibility):
    names = [f"CUSTOM_N{n}" for n in range(100)]
    required = {f"trait__{name}": "required" for name in names}
    (found,) = findings(others_of(owned("t", visibility=visibility, **required)))
    assert isinstance(found, ImagesOfOthers)
    assert (found.rule, found.severity) == ("traits-unknown", Severity.NOTE)
    assert (found.kind, found.name) == (SubjectKind.IMAGE, titled("t"))
    assert {each.name for each in found.found} == set(names)


@pytest.mark.parametrize(
    ("owner", "visibility"),
    [(OTHERS_OWN, "private"), (OTHERS_OWN, "public"), (OTHER, "public")],
)
def test_images_that_are_public_or_the_callers_own_count_as_flavors_do(
    owner, visibility
):
    (found,) = findings(others_of(owned("t", owner, visibility, **NEEDS_GOLD)))
    assert (found.rule, found.severity) == ("traits-unknown", Severity.ERROR)
    assert (found.kind, found.name) == (SubjectKind.TRAIT, GOLD)


def test_to_who_is_logged_in_to_no_project_only_public_images_count():
    private, public = (
        owned("t", OTHERS_OWN, **NEEDS_GOLD),
        owned("p", OTHERS_OWN, "public"),
    )
    cloud = survey("a", images=[private, public], own_project=None)
    (found,) = findings(cloud)
    assert found.severity is Severity.NOTE


_ON = assumed(query_placement_for_image_type_support=True)
_OFF = assumed(query_placement_for_image_type_support=False)
_NO_METADATA = assumed(image_metadata_prefilter=False)
_METADATA = assumed(image_metadata_prefilter=True)
_VMDK = "COMPUTE_IMAGE_TYPE_VMDK"


def two_hosts(image, assumptions=None, traits=(), flavors=(), known=()):
    hosts = [host("a", *traits), host("b")]
    more = {"assumptions": assumptions} if assumptions else {}
    return survey(hosts, flavors, [image], known=known, own_project=OTHERS_OWN, **more)


@pytest.mark.parametrize(
    ("rule", "cloud"),
    [
        ("traits-bad-value", others_of(owned("t", trait__CUSTOM_GOLD="forbidden"))),
        ("traits-no-host", others_of(owned("t", **NEEDS_GOLD), known=[GOLD])),
        (
            "traits-not-together",
            survey(
                [host("a", GOLD), host("b", SILVER)],
                images=[owned("t", trait__CUSTOM_SILVER="required", **NEEDS_GOLD)],
                own_project=OTHERS_OWN,
            ),
        ),
        (
            "traits-rejected",
            others_of(owned("t", hw_cpu_policy="odd"), flavors=[flavor("f")]),
        ),
        (
            "image-type-no-host",
            two_hosts(owned("t", disk_format="vmdk"), _ON, known=[_VMDK]),
        ),
        (
            "image-type-off",
            two_hosts(owned("t", disk_format="vmdk"), _OFF, [_VMDK]),
        ),
        (
            "image-type-flavor-no-host",
            two_hosts(
                owned("t", disk_format="vmdk"),
                _ON,
                [_VMDK, GOLD],
                [flavor("f", trait__CUSTOM_GOLD="forbidden")],
            ),
        ),
        (
            "config-image-metadata-off",
            two_hosts(owned("t", hw_video_model="virtio"), _NO_METADATA, [VIRTIO]),
        ),
        (
            "config-image-metadata-no-trait",
            two_hosts(owned("t", hw_viommu_model="virtio"), _METADATA),
        ),
    ],
)
def test_no_rule_has_an_error_or_a_warning_for_images_of_others_alone(rule, cloud):
    (found,) = findings(cloud, rule)
    assert found.rule == rule
    assert (found.severity, found.images) == (Severity.NOTE, (titled("t"),))
    mine = {**cloud.images[0], "owner": OTHERS_OWN}
    (found,) = findings(dataclasses.replace(cloud, images=(mine,)), rule)
    assert found.severity is not Severity.NOTE


def test_a_trait_that_a_flavor_names_too_is_an_error_that_names_both():
    cloud = others_of(owned("t", **NEEDS_GOLD), flavors=[flavor("f", **NEEDS_GOLD)])
    (found,) = findings(cloud)
    assert (found.severity, found.name) == (Severity.ERROR, GOLD)
    assert (found.flavors, found.images) == (("f",), (titled("t"),))


def test_an_aggregates_unknown_trait_is_no_worse_for_an_image_of_others():
    empty = aggregate("empty", **NEEDS_GOLD)
    (found,) = findings(
        others_of(owned("t", **NEEDS_GOLD), aggregates=[empty]), "traits-unknown"
    )
    assert (found.severity, found.aggregates) == (Severity.WARNING, ("empty",))


def test_own_images_are_named_before_those_of_others():
    images = [owned("a", **NEEDS_GOLD), owned("z", OTHERS_OWN, **NEEDS_GOLD)]
    (found,) = findings(others_of(*images))
    assert (found.severity, found.images) == (Severity.ERROR, ("z", titled("a")))


def test_many_images_of_others_are_one_note_a_rule_and_come_last():
    theirs = [owned(f"t{n}", **NEEDS_GOLD) for n in range(30)]
    theirs += [owned("odd", trait__CUSTOM_GOLD="odd")]
    note = flavor("g", trait__CUSTOM_SILVER="required")
    cloud = survey(
        [host("a", SILVER), host("b")], [note], theirs, own_project=OTHERS_OWN
    )
    found = findings(cloud)
    assert [each.rule for each in found] == [
        "traits-few-hosts",
        "traits-unknown",
        "traits-bad-value",
    ]
    assert len(found[1].images) == 30


def test_what_is_said_of_one_image_is_folded_without_the_others():
    cloud = others_of(
        owned("t", **NEEDS_GOLD), owned("u", trait__CUSTOM_SILVER="required")
    )
    wanted = check.named(cloud, [], ["t"])
    (found,), _ = check.run(check.select([]), cloud, wanted)
    assert (found.images, len(found.found)) == ((titled("t"),), 1)


@pytest.mark.parametrize("name", ["t", identity("t"), titled("t")])
def test_an_image_of_others_is_named_by_its_name_its_id_or_both(name):
    cloud = others_of(owned("t"), owned("u"))
    assert check.named(cloud, [], [name])[SubjectKind.IMAGE] == {titled("t")}


def test_a_public_image_of_another_project_is_named_with_its_id_and_owner():
    cloud = others_of(owned("t", visibility="public", trait__CUSTOM_GOLD="odd"))
    (found,) = findings(cloud)
    assert (found.severity, found.name) == (Severity.ERROR, titled("t"))


# Amounts of flavors that Placement rejects, or Nova ignores.


NO_AMOUNTS = "resources:VCPU=0 resources:MEMORY_MB=0"
NOTHING = f"f {NO_AMOUNTS} resources:DISK_GB=0"
TWO = "f resources1:VCPU=1 resources2:VCPU="
ENCRYPTED = "i; e hw_mem_encryption=true hw_firmware_type=uefi"
ALIASED = SchedulerSettings(
    34,
    {
        options.PCI_IN_PLACEMENT: Setting(True, "nova.conf:3", given=True),
        options.PCI_ALIAS: Setting(
            ('{"name": "nic", "resource_class": "nic"}',), "nova.conf:4", given=True
        ),
    },
    "given",
)
CARD = {"card": (frozenset(), {"CUSTOM_GPU": 1})}


def leaking(used, up=True, **report):
    """Nova counts no memory but what is reserved, on a host with or without servers."""
    stock = {identity("a"): {"MEMORY_MB": Stock(7936, used, 8192, reserved=256)}}
    figures = {"memory_mb": 8192, "free_ram_mb": 8192 - 256, "running_vms": 0, **report}
    report = {"report": dataclasses.replace(REPORT, **figures), "is_up": up}
    of = with_computes(survey("a"), lambda _: report)
    return dataclasses.replace(of, stock=stock), "resources"


RESOURCES_FAULTS = {
    "~warning resources-near-key flavor f: Nova ignores Trait:CUSTOM_A=required; did "
    "you mean trait:CUSTOM_A? -> set trait:CUSTOM_A=required first, if that is meant: "
    "openstack flavor unset --property Trait:CUSTOM_A f": survey(
        "a", "f Trait:CUSTOM_A=required"
    ),
    "~warning resources-near-key image i: Nova ignores hw_cpu_polcy=dedicated; did you "
    "mean hw_cpu_policy? -> set hw_cpu_policy=dedicated first, if...": survey(
        "a", "f", "i hw_cpu_polcy=dedicated"
    ),
    # One finding for each key, whatever Nova takes it for.
    "error resources-near-key flavor f: Nova reads traits:CUSTOM_A=required as a key "
    'of a group "s", and Placement rejects every request of it; did you mean '
    "trait:CUSTOM_A? -> set trait:CUSTOM_A=required first, if that is meant: openstack "
    "flavor unset --property traits:CUSTOM_A f": (
        survey("a CUSTOM_A", "f traits:CUSTOM_A=required"),
    ),
    "warning resources-near-key flavor f: Nova reads resourcess:DISK_GB=7 as a key of "
    'a group "s"; did you mean resources:DISK_GB?...': (
        survey("a", "f resourcess:DISK_GB=7"),
    ),
    **{
        f"warning resources-near-key flavor f: Nova ignores {key}; did you mean "
        f"trait:CUSTOM_A? -> set trait:CUSTOM_A=required first, if that...": (
            survey("a CUSTOM_A", f"f {key}", assumptions=assumed(20)),
        )
        for key in ("traits:CUSTOM_A=required", "traits:CUSTOM_A=True")
    },
    "error resources-near-key flavor f: Nova ignores group-policy=isolate, and "
    "Placement rejects every request of it; did you mean group_policy? -> set "
    "group_policy=isolate first, if that is meant: openstack flavor unset --property "
    "group-policy f": (survey("a", f"{TWO}3 group-policy=isolate"),),
    "error resources-near-key flavor f: AggregateInstanceExtraSpecsFilter looks for "
    "hw_cpu_policy=shared in the aggregates of hosts, and keeps all hosts out; did you "
    "mean hw:cpu_policy?...": (
        survey(
            "a",
            "f hw_cpu_policy=shared",
            assumptions=given("ComputeFilter", EXTRA_SPECS),
        ),
    ),
    # What is wrong with one image is said of it alone, in any order.
    "warning resources-near-key image t1: Nova ignores hw_rng_modell=virtio; did you "
    "mean hw_rng_model?...\nwarning resources-near-key image t2: Nova ignores "
    "hw_vif_modle=e1000...": [
        (survey("a", "f", images),)
        for images in itertools.starmap(
            "{}; {}; {}".format,
            itertools.permutations(
                ("t1 hw_rng_modell=virtio", "t2 hw_vif_modle=e1000", "plain")
            ),
        )
    ],
    "error resources-unknown resource class CUSTOM_GPUS (flavor f, flavor g): "
    "Placement does not know it, and rejects every request of the flavors...": survey(
        [host("a", children=CARD)],
        "f resources:CUSTOM_GPUS=1; g resources1:CUSTOM_GPUS=1",
    ),
    "error resources-unknown resource class CUSTOM_PMEM_NAMESPACE_6GB (flavor "
    "f)... -> check [libvirt]pmem_namespaces on the hosts": survey(
        "a", "f hw:pmem=6GB"
    ),
    "error resources-unknown resource class CUSTOM_PCI_8086_1572 (flavor f): Placement "
    "does not know it, and rejects every request of the flavor f -> set "
    "[pci]report_in_placement on every compute first...": survey(
        "a", "f resources:CUSTOM_PCI_8086_1572=1"
    ),
    # Another product's devices are in Placement.
    "error resources-unknown resource class CUSTOM_PCI_8086_1572 (flavor f)...did you "
    "mean CUSTOM_PCI_8086_157C? -> correct the key if that is meant, else set "
    "[pci]report_in_placement...": survey(
        [host("a", children={"nic": (frozenset(), {"CUSTOM_PCI_8086_157C": 2})})],
        "f resources:CUSTOM_PCI_8086_1572=1",
    ),
    # An alias asks for a class of the operator's own.
    "error resources-unknown resource class CUSTOM_NIC (flavor f)... -> set "
    "[pci]report_in_placement on every compute first...": survey(
        "a", "f pci_passthrough:alias=nic:1", assumptions=ALIASED
    ),
    "error resources-ignored flavor f: Nova ignores resources:VGPUS=1 (no resource "
    "class); did you mean resources:VGPU? -> openstack flavor unset --property "
    "resources:VGPUS f": survey("a", "f resources:VGPUS=1"),
    **{
        f"error resources-ignored flavor f: Nova ignores {key}={value} ({reason}) -> "
        f"openstack flavor unset --property {key} f": survey("a", f"f {key}={value}")
        for key, value, reason in (
            ("resources:CUSTOM_GPU", "one", "no amount"),
            ("resources:CUSTOM_GPU", "-1", "no amount"),
            ("resources.1:CUSTOM_GPU", "1", "no suffix of a group"),
        )
    },
    "~error resources-ignored flavor f...": survey(
        "a", "f resources_A:VCPU=1", assumptions=assumed(20)
    ),
    "warning resources-leaked host a: Placement counts 512 MB of memory in use, but "
    "Nova has no server there -> if a second check a minute later...": leaking(512),
    # A resize that is not confirmed takes part of it.
    "warning resources-leaked host a: Placement counts 1024 MB of memory in use, but "
    "Nova has no server there -> if a second check a minute later...": leaking(
        1024, free_ram_mb=8192 - 256 - 512
    ),
    "error resources-no-policy flavor f (group 1, group 2): groups 1, 2 and no "
    "group_policy: Placement rejects every request of it -> isolate instead of none "
    "gives each group a provider of its own: openstack flavor set --property "
    "group_policy=none f": [
        survey("a", f"{TWO}1", assumptions=assumed(release)) for release in (20, 34)
    ],
    "error resources-no-policy flavor f (group 1, group 2): groups 1, 2 and no "
    "group_policy (Nova ignores 'any'): Placement rejects every request...": survey(
        "a", f"{TWO}1 group_policy=any"
    ),
    "error resources-none flavor f: asks for no amount outside of groups: "
    "Placement rejects every request of it -> ask for an amount of...": survey(
        "a", NOTHING
    ),
    "error resources-none flavor f (group 1): group 1: traits and no amount, and "
    "Placement rejects every request of it -> ask for an amount of some class by "
    "resources1:CLASS=AMOUNT": (
        survey("a CUSTOM_GOLD", "f trait1:CUSTOM_GOLD=required"),
        "resources",
    ),
    # No image gives it an amount.
    "~error resources-none flavor f: asks for no amount...": survey("a", NOTHING, "i"),
}


@pytest.mark.parametrize(("text", "surveys"), RESOURCES_FAULTS.items())
def test_a_fault_is_told_once_resources(text, surveys):
    assert_told(text, surveys)


RESOURCES_HEALTHY = [
    # A key without a colon that an aggregate has is meant for it.
    survey(
        "a",
        "f hw_cpu_policy=pinned",
        aggregates="gold a hw_cpu_policy=pinned",
        assumptions=given("ComputeFilter", EXTRA_SPECS),
    ),
    (
        survey(
            "a",
            "f trait:CUSTOM_A=forbidden ssd=true quota:cpu_quota=1",
            "i os_version=12",
        ),
        "resources-near-key",
    ),
    survey("a", "f resources:CUSTOM_GPU=0"),
    (survey("a", "f resources_A:VCPU=1", assumptions=assumed(21)), "resources"),
    *(
        leaking(512, **more)
        for more in (
            {"running_vms": 1},
            {"current_workload": 1},
            {"hypervisor_type": "ironic"},
            # A resize that is not confirmed.
            {"free_ram_mb": 8192 - 256 - 512},
            {"up": False},
        )
    ),
    leaking(0),
    *(
        (survey("a", specs), "resources-no-policy")
        for specs in (
            f"{TWO}1 group_policy=none",
            f"{TWO}1 group_policy=isolate",
            "f resources1:VCPU=1",
            f"{TWO}0",
        )
    ),
    *(
        (survey("a", specs), "resources")
        for specs in (
            f"f {NO_AMOUNTS}",
            f"f {NO_AMOUNTS} resources:DISK_GB=1",
            f"{NOTHING} resources1:DISK_GB=1",
        )
    ),
    # An image gives the flavor an amount.
    (survey("a", NOTHING, ENCRYPTED), "resources-none"),
]


@pytest.mark.parametrize("surveys", RESOURCES_HEALTHY)
def test_amounts_that_placement_takes_are_no_finding(surveys):
    assert_told("", surveys)
