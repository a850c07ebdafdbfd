"""Images: which a name means, which are worth a try, and how properties are written."""

from __future__ import annotations

import pytest

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.judge.fix import other_formats
from osc_traitsched.core.nova import image as images
from osc_traitsched.core.nova import properties
from osc_traitsched.core.nova.extra_specs import near_flavor_key, near_image_key
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.properties import BY_NAME, OLD_NAMES
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.releases import NEWEST, OLDEST

# Which of the images of one name a request means.


MINE, OTHER = "mine", "other"


def image(name, **more):
    body = {"id": name, "name": "rocky", "status": "active", "owner": OTHER}
    return {**body, "visibility": "private", "os_hidden": False, **more}


PUBLIC = image("public", visibility="public")
COMMUNITY = image("community", visibility="community")
OWN = image("own", owner=MINE)
SHARED = image("shared", visibility="shared")
PRIVATE = image("private")
HIDDEN = image("hidden", visibility="public", os_hidden=True)
QUEUED = image("queued", visibility="public", status="queued")
DEACTIVATED = image("off", visibility="public", status="deactivated")


def likeliest(*found, accepted=(), project=MINE):
    def is_open(each):
        return images.image_is_open_to(each, project, lambda: accepted)

    return [each["id"] for each in images.likeliest_images(found, is_open)]


@pytest.mark.parametrize("clear", [PUBLIC, COMMUNITY, OWN], ids=lambda each: each["id"])
def test_the_one_that_a_server_can_be_booted_from_is_meant(clear):
    others = (HIDDEN, PRIVATE, SHARED, QUEUED, DEACTIVATED)
    assert likeliest(*others, clear) == [clear["id"]]
    assert likeliest(clear, *others) == [clear["id"]]


def test_a_shared_image_is_one_for_those_who_accepted_it():
    assert likeliest(PRIVATE, SHARED, HIDDEN, accepted=[MINE]) == ["shared"]
    assert likeliest(PRIVATE, SHARED, HIDDEN, accepted=[OTHER]) == ["hidden"]


def test_members_are_asked_for_only_of_images_that_others_share():
    def accepted():
        raise AssertionError

    for each in (PUBLIC, COMMUNITY, OWN):
        assert images.image_is_open_to(each, MINE, accepted)
    assert not images.image_is_open_to(PRIVATE, MINE, accepted)
    assert not images.image_is_open_to(SHARED, None, accepted)


def test_those_that_are_as_good_are_all_named():
    assert likeliest(PUBLIC, HIDDEN, OWN) == ["public", "own"]
    assert likeliest(PRIVATE, QUEUED) == ["private", "queued"]


def test_without_one_to_boot_those_that_are_seen_come_before_the_hidden():
    gone = {**HIDDEN, "status": "deactivated"}
    assert likeliest(gone, PRIVATE) == ["private"]
    assert likeliest(gone) == ["hidden"]


def test_a_user_of_no_project_owns_nothing():
    nobodys = image("nobodys", owner=None)
    assert likeliest(nobodys, HIDDEN, project=None) == ["hidden"]


def test_what_tells_an_image_from_its_namesakes():
    found = images.namesake_image({**HIDDEN, "created_at": "2026-01-31T10:00:00Z"})
    assert (found.id, found.owner, found.visibility) == ("hidden", OTHER, "public")
    assert (found.created, found.is_hidden) == ("2026-01-31T10:00:00Z", True)


# Images of the cloud that are worth a try.


SETTINGS = SchedulerSettings.of(33)
SIZE = {"id": "m1", "name": "m1", "vcpus": 4, "ram": 4096, "disk": 20}


def existing_image(name, disk_format, status="active"):
    body = {"id": f"{name}-{disk_format}-{status}", "name": name}
    return {**body, "disk_format": disk_format, "status": status}


ASKED = Question(SIZE, existing_image("rocky", "qcow2"), (), SETTINGS)


def named(fixes):
    return [fix.changes[0].body["id"] for fix in fixes]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("os_secure_boot", "required"),
        ("hw_tpm_version", "2.0"),
        ("hw_cpu_policy", "dedicated"),
        ("hw_mem_encryption", "true"),
        ("trait:CUSTOM_GOLD", "required"),
    ],
)
def test_an_image_without_the_guarantee_is_not_tried(key, value):
    asked = Question(
        SIZE, {**existing_image("rocky", "qcow2"), key: value}, (), SETTINGS
    )
    same = {**existing_image("rocky", "raw"), key: value, "id": "same"}
    found = other_formats(asked, [existing_image("rocky", "raw"), same])
    assert named(found) == ["same"]


def test_an_image_with_another_disk_bus_or_checksum_is_tried():
    other = {
        **existing_image("rocky", "raw"),
        "hw_disk_bus": "sata",
        "os_hash_value": "b",
    }
    assert named(other_formats(ASKED, [other])) == ["rocky-raw-active"]


def test_an_image_that_requires_another_trait_is_not_tried():
    more = {**existing_image("rocky", "raw"), "trait:CUSTOM_GOLD": "required"}
    assert named(other_formats(ASKED, [more])) == []


def test_another_format_is_an_active_image_of_the_same_name():
    found = other_formats(
        ASKED,
        [
            existing_image("rocky", "qcow2"),
            existing_image("rocky", "raw", "queued"),
            existing_image("rocky", "raw"),
            existing_image("debian", "raw"),
        ],
    )
    assert named(found) == ["rocky-raw-active"]


# How a property's value is written, by itself and as that of an image.


def values(known):
    """Yield what may be written of a property, right or wrong."""
    if known.kind == properties.SWITCH:
        return ["true", "True", "yes", "1"]
    if known.kind == properties.NUMBER:
        return ["4", "04", " 4", "four", ""]
    written = [*known.choices, *known.renamed]
    return [*written, *map(str.upper, written), "nothing"]


KINDS = (properties.CHOICE, properties.SWITCH, properties.NUMBER)
KNOWN = [each for each in properties.PROPERTIES if each.kind in KINDS]


@pytest.mark.parametrize("release", [20, 27, 34])
@pytest.mark.parametrize("known", KNOWN, ids=lambda each: each.name)
def test_a_text_stands_for_what_an_image_with_it_is_compared_by(known, release):
    if not images.is_property(known.name, release):
        assert images.as_written(known.name, values(known)[0], release) is None
        return
    for value in values(known):
        written = images.as_written(known.name, value, release)
        try:
            found = images.read({"id": "i", known.name: value}, release)
        except Refusal:
            assert written is None, value
        else:
            assert written == images.text(found, known.name, release), value


@pytest.mark.parametrize(
    ("old", "name"),
    [
        ("architecture", "hw_architecture"),
        ("owner_id", "img_owner_id"),
        ("hw_architecture", None),
        ("licence", None),
    ],
)
def test_a_property_may_have_an_old_name(old, name):
    assert images.current_name(old) == name


# Keys of flavors and images that Nova ignores, and the ones they are meant for.


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("RESOURCES:CUSTOM_X", "resources:CUSTOM_X"),
        ("resource:VGPU", "resources:VGPU"),
        ("Trait:CUSTOM_X", "trait:CUSTOM_X"),
        ("traits:CUSTOM_X", "trait:CUSTOM_X"),
        ("hw:cpu_polcy", "hw:cpu_policy"),
        ("hw_cpu_policy", "hw:cpu_policy"),
        ("HW:mem_page_size", "hw:mem_page_size"),
        ("hw:numa_mems.1", "hw:numa_mem.1"),
        ("accel:device-profile", "accel:device_profile"),
        ("pci_passthrough:aliases", "pci_passthrough:alias"),
        ("aggregate_instance_extra_spec:ssd", "aggregate_instance_extra_specs:ssd"),
        ("capability:hypervisor_type", "capabilities:hypervisor_type"),
        ("os:secureboot", "os:secure_boot"),
    ],
)
def test_a_key_of_a_flavor_that_nova_ignores_stands_for_one_it_reads(key, meant):
    assert near_flavor_key(key) == meant
    assert near_flavor_key(meant) == ""


@pytest.mark.parametrize(
    "key",
    [
        "trait1:CUSTOM_X",
        "traitGOLD:CUSTOM_X",
        "resources_net:VGPU",
        "hw:numa_cpus.0",
        "quota:cpu_quota",
        "hide_hypervisor_id",
        "group_policy",
        "ssd",
        "vendor:anything",
    ],
)
def test_groups_and_keys_of_others_are_no_misspelling(key):
    assert near_flavor_key(key) == ""


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("hw:cpu_policy", "hw_cpu_policy"),
        ("hw_firmware_typ", "hw_firmware_type"),
        ("hw-disk-bus", "hw_disk_bus"),
        ("Traits:CUSTOM_X", "trait:CUSTOM_X"),
        ("trait1:CUSTOM_X", "trait:CUSTOM_X"),
    ],
)
def test_a_property_of_an_image_that_nova_ignores_stands_for_one_it_reads(key, meant):
    assert near_image_key(key, NEWEST) == meant
    assert near_image_key(meant, NEWEST) == ""


@pytest.mark.parametrize("release", [OLDEST, NEWEST])
def test_no_property_that_nova_reads_is_a_misspelling(release):
    read = [name for name, each in BY_NAME.items() if each.since <= release]
    for name in (*read, *OLD_NAMES, "os_hash_algo", "os_distro", "os_version", "owner"):
        assert near_image_key(name, release) == ""
