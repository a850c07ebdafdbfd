"""Images that no flavor boots, and device profiles that Cyborg lacks."""

from __future__ import annotations

import dataclasses

import pytest

from tests.unit.core.check.surveys import (
    assert_told,
    image,
    survey,
    told,
)

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
