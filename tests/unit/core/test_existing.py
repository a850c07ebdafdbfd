"""Flavors and images of the cloud that are worth a try."""

from __future__ import annotations

from osc_traitsched.core.explain.fix import other_flavors, other_formats
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.settings import SchedulerSettings

PUBLIC = "os-flavor-access:is_public"
SPECS = {"trait:CUSTOM_GOLD": "required"}


def flavor(name, vcpus=4, ram=4096, disk=20, specs=SPECS, **more):
    size = {"vcpus": vcpus, "ram": ram, "disk": disk}
    return {"id": name, "name": name, **size, "extra_specs": specs, **more}


def image(name, disk_format, status="active"):
    body = {"id": f"{name}-{disk_format}-{status}", "name": name}
    return {**body, "disk_format": disk_format, "status": status}


ASKED = Question(flavor("gold"), image("rocky", "qcow2"), (), SchedulerSettings.of(33))


def named(fixes):
    return [fix.changes[0].body["id"] for fix in fixes]


def test_the_nearest_flavor_of_the_same_size_or_more_comes_first():
    found = other_flavors(
        ASKED,
        [
            flavor("twice", 8, 8192, 40),
            flavor("same", specs={}),
            flavor("less-memory", ram=2048),
            flavor("fewer-cpus", vcpus=2),
            flavor("more-disk", disk=40),
        ],
    )
    assert named(found) == ["same", "more-disk", "twice"]


def test_flavors_that_can_not_be_asked_for_or_change_nothing_are_not_tried():
    hidden = flavor("hidden")
    del hidden["extra_specs"]
    found = other_flavors(
        ASKED,
        [
            flavor("gold"),
            flavor("twin"),
            hidden,
            flavor("private", 8, **{PUBLIC: False}),
            flavor("disabled", 8, **{"OS-FLV-DISABLED:disabled": True}),
            flavor("left", 8, **{PUBLIC: True}),
        ],
    )
    assert named(found) == ["left"]


SSD = {**SPECS, "trait:CUSTOM_SSD": "required"}


def test_flavors_that_ask_for_other_kinds_of_things_are_not_tried():
    found = other_flavors(
        ASKED,
        [
            flavor("gpu", specs={**SPECS, "resources:VGPU": "1"}),
            flavor("pinned", specs={**SPECS, "hw:cpu_policy": "dedicated"}),
            flavor("disks", specs=SSD),
            flavor("limited", specs={**SPECS, "quota:cpu_shares": "1"}),
        ],
    )
    assert named(found) == ["limited"]


def test_no_flavor_or_image_without_the_guarantee_is_tried():
    locked = flavor("locked", specs={"hw:mem_encryption": "true"})
    secure = {**image("rocky", "qcow2"), "os_secure_boot": "required"}
    asked = Question(locked, secure, (), SchedulerSettings.of(33))
    assert named(other_flavors(asked, [flavor("open", 8, specs={})])) == []
    same = {**image("rocky", "raw"), "os_secure_boot": "required", "id": "same"}
    assert named(other_formats(asked, [image("rocky", "raw"), same])) == ["same"]


def test_an_image_that_requires_another_trait_is_not_tried():
    more = {**image("rocky", "raw"), "trait:CUSTOM_GOLD": "required"}
    assert named(other_formats(ASKED, [more])) == []


def test_no_more_than_a_dozen_are_tried():
    found = other_flavors(ASKED, [flavor(f"f{n:02}", 5 + n) for n in range(40)])
    assert named(found) == [f"f{n:02}" for n in range(12)]


def test_a_flavor_without_any_disk_has_larger_ones():
    asked = Question(flavor("none", disk=0), None, (), SchedulerSettings.of(33))
    assert named(other_flavors(asked, [flavor("some", disk=1)])) == ["some"]


def test_another_format_is_an_active_image_of_the_same_name():
    found = other_formats(
        ASKED,
        [
            image("rocky", "qcow2"),
            image("rocky", "raw", "queued"),
            image("rocky", "raw"),
            image("debian", "raw"),
        ],
    )
    assert named(found) == ["rocky-raw-active"]


def test_the_question_is_then_of_the_other_flavor():
    (fix,) = other_flavors(ASKED, [flavor("same", specs={})])
    (change,) = fix.changes
    assert change.applied(ASKED).flavor["name"] == "same"
    assert change.applied(ASKED).image == ASKED.image
