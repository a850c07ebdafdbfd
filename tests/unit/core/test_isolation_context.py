"""For whom it is found out what a plan does: zones, projects, kinds of images."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from osc_traitsched.core.change.isolation import (
    ANYWHERE,
    Asked,
    Context,
    Course,
    Effect,
    LeavesNoHost,
    PredictedCloud,
    context,
    image_kinds,
    isolate_plan,
    predicted_stages,
    request_matrix,
)
from osc_traitsched.core.change.isolation.asking import Asking, pairs
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Aggregate, Compute, Nova
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.settings import SchedulerSettings
from tests.unit.core.isolated import GOLD, flavor, host, state

ZONES = SchedulerSettings.of(33, enable_isolated_aggregate_filtering=True)
BOTH = SchedulerSettings.of(33, limit_tenants_to_placement_aggregate=True)


def cloud(inside=("h1", "h2"), images=(), **metadata):
    """Return the stages in which hosts are isolated.

    :param metadata: of aggregates by name, each with its hosts
    """
    found = state(*map(host, inside), flavors=[flavor("small")], mirrored=())
    others = [
        {"id": number, "uuid": name, "name": name, "hosts": hosts, "metadata": pairs}
        for number, (name, (hosts, pairs)) in enumerate(metadata.items(), 10)
    ]
    bodies = (*found.aggregates, *others)
    nova = Nova(
        tuple(Compute(f"h{n}-uuid", f"h{n}", f"h{n}") for n in range(1, 5)),
        tuple(
            Aggregate(b["id"], b["uuid"], b["name"], tuple(b["hosts"]), b["metadata"])
            for b in bodies
        ),
    )
    snapshot = dataclasses.replace(found.snapshot, nova=nova)
    found = dataclasses.replace(found, snapshot=snapshot, aggregates=bodies)
    plan = isolate_plan(found, [GOLD], (), (), ())
    return predicted_stages(PredictedCloud.now(found, images), plan)


def contexts(found, assumptions):
    """Return the contexts where no two of them are alike."""
    alike = context.contexts(found, assumptions)
    assert all(len(each) == 1 for each in alike)
    return tuple(each for (each,) in alike)


def zone(name, *hosts):
    return hosts, {"availability_zone": name}


def project(name, *hosts, key="filter_tenant_id"):
    return hosts, {key: name}


def test_a_zone_that_the_plan_does_not_touch_is_not_asked_for():
    found = cloud(a=zone("az1", "h1"), b=zone("az2", "h3"), c=zone("az3", "h4", "h2"))
    assert contexts(found, ZONES) == (ANYWHERE, Context("az1"), Context("az3"))


def test_a_zone_may_be_of_several_aggregates():
    found = cloud(a=zone("az1", "h3"), b=zone("az1", "h2"))
    assert contexts(found, ZONES) == (ANYWHERE, Context("az1"))


def test_zones_that_are_equal_to_novas_database_are_one():
    found = cloud(a=zone("az1", "h3"), b=zone("AZ1", "h2"))
    assert contexts(found, ZONES) == (ANYWHERE, Context("az1"))
    sensitive = ZONES.changed(options.COLLATION, "case-sensitive")
    assert contexts(found, sensitive) == (ANYWHERE, Context("AZ1"))


def test_a_zone_and_a_project_count_together_where_a_host_is_in_both():
    found = cloud(
        a=zone("az1", "h1"),
        b=zone("az2", "h2"),
        c=project("p1", "h1", "h3"),
        d=project("p2", "h4"),
        e=project("p1", "h3", key="filter_tenant_id2"),
    )
    assert contexts(found, BOTH) == (
        ANYWHERE,
        Context(None, "p1"),
        Context("az1"),
        Context("az1", "p1"),
        Context("az2"),
    )


def test_what_the_scheduler_does_not_look_at_is_not_asked_for():
    found = cloud(a=zone("az1", "h1"), c=project("p1", "h1"))
    assert Context(None, "p1") not in contexts(found, ZONES)
    off = SchedulerSettings.of(26, query_placement_for_availability_zone=False)
    assert contexts(found, off) == (ANYWHERE,)


@pytest.mark.parametrize("odd", [zone("az:1", "h1"), project("p1,p2", "h1")])
def test_what_nobody_can_ask_for_or_be_is_left_out(odd):
    assert contexts(cloud(a=odd), BOTH) == (ANYWHERE,)


def test_a_project_without_an_aggregate_may_be_let_nowhere():
    found = cloud(c=project("p1", "h1", "h3"))
    required = SchedulerSettings.of(
        33,
        limit_tenants_to_placement_aggregate=True,
        placement_aggregate_required_for_tenants=True,
    )
    rows = {row.asked.context: row for row in request_matrix(found, required)}
    assert not any(rows[ANYWHERE].requests)
    assert all(rows[Context(None, "p1")].requests)


def test_projects_of_the_same_aggregates_are_alike():
    pairs = {f"filter_tenant_id{n}": f"p{n}" for n in range(3)}
    found = cloud(a=(("h1",), pairs), b=project("p3", "h1"), c=zone("az1", "h2"))
    three = tuple(Context(None, f"p{n}") for n in range(3))
    assert context.contexts(found, BOTH) == (
        (ANYWHERE,),
        three,
        (Context(None, "p3"),),
        (Context("az1"),),
    )


def test_requests_are_made_once_for_all_projects_of_the_same_aggregates(monkeypatch):
    made = []
    ask = Question.request
    monkeypatch.setattr(Question, "request", lambda q: made.append(q) or ask(q))
    pairs = {f"filter_tenant_id{n}": f"p{n}" for n in range(100)}
    rows = request_matrix(cloud(a=(("h1", "h2"), pairs)), BOTH)
    (everywhere, special) = rows
    assert (everywhere.asked.context, everywhere.others) == (ANYWHERE, ())
    assert len({special.asked.context, *special.others}) == 100
    # Before the aggregate's metadata, and with it.
    assert len(made) == 2


REQUIRED = BOTH.changed(options.TENANT_REQUIRED, True)


@pytest.mark.parametrize(
    "assumptions",
    [BOTH, REQUIRED, ZONES, ZONES.changed(options.TENANT_REQUIRED, True)],
)
def test_a_project_is_asked_for_as_nova_does(assumptions):
    """Its request is made of anyone's, and is the one that is built for it."""
    found = cloud(
        a=project("p1", "h1"),
        b=project("p1", "h2", key="filter_tenant_id_b"),
        c=project("p2", "h1"),
        d=project("P2", "h2", key="filter_tenant_id2"),
        e=project("p1,p2", "h1"),
        f=zone("az1", "h1", "h2"),
    )
    asking = Asking(found, assumptions)
    some = [next(pairs(each)) for each in found]
    asked = 0
    for zone_name, name in itertools.product((None, "az1"), ("p1", "p2", "p3", None)):
        requests, _ = asking.requests(some, Context(zone_name, name))
        for each, pair, request in zip(found, some, requests):
            question = Question(
                pair.flavor,
                pair.image,
                each.aggregates,
                assumptions,
                zone=zone_name,
                project=name or "of nobody",
            )
            if request is None:
                with pytest.raises(Refusal):
                    question.request()
            else:
                asked += 1
                assert request.query() == question.request().query()
    assert asked


def test_a_zone_and_a_project_of_the_same_aggregate_are_asked_for_together():
    both = {"availability_zone": "az1", "filter_tenant_id": "p1"}
    _, either, _ = request_matrix(cloud(a=(("h1",), both)), BOTH)
    assert either.asked.context == Context(None, "p1")
    assert either.others == (Context("az1"),)


def test_what_did_not_change_is_asked_for_once():
    found = cloud()
    (row,) = request_matrix(found, ZONES)
    *before, last = row.requests
    # Traits, hosts and the mirror make no difference; at last the aggregate does.
    assert all(each is before[0] for each in before)
    assert last is not None
    assert row.texts[-1] != row.texts[0]


IMAGE_TYPE = {"query_placement_for_image_type_support": True}
METADATA = {"image_metadata_prefilter": True}


def image(**properties):
    return {"id": "i", "name": "rocky", "status": "active", **properties}


def test_images_are_of_a_kind_if_the_prefilters_see_no_difference():
    images = [
        image(disk_format="qcow2", hw_disk_bus="scsi"),
        image(disk_format="qcow2", hw_disk_bus="virtio", os_distro="rocky"),
        image(disk_format="raw", architecture="x86_64"),
        image(disk_format=None),
    ]
    assert image_kinds(images, SchedulerSettings.of(33)) == ()
    assert image_kinds(images, SchedulerSettings.of(33, **IMAGE_TYPE)) == (
        {"disk_format": "qcow2"},
        {"disk_format": "raw"},
    )
    assert image_kinds(images, SchedulerSettings.of(33, **METADATA)) == (
        {"architecture": "x86_64"},
        {"hw_disk_bus": "scsi"},
        {"hw_disk_bus": "virtio"},
    )


def test_a_kind_that_asks_for_nothing_more_is_not_looked_at():
    kinds = ({"disk_format": "unknown"},)
    (row,) = request_matrix(cloud(images=kinds), SchedulerSettings.of(33, **IMAGE_TYPE))
    assert row.asked == Asked("small", None)


def course(*stages):
    return Course(tuple(map(frozenset, stages)))


def effect(*, room, ever, zone=None, project=None):
    return Effect(Asked("f", None, Context(zone, project)), room, ever)


def test_a_flavor_that_no_host_has_room_for_has_a_host_at_every_step_all_the_same():
    full = course("", "", "")
    assert not effect(room=full, ever=course("ab", "a", "a")).leaves_no_host
    assert effect(room=full, ever=course("ab", "", "b")).leaves_no_host
    between = Course((frozenset("a"), frozenset("b")), ((1, frozenset()),))
    assert effect(room=full, ever=between).leaves_no_host
    assert not effect(room=full, ever=full).leaves_no_host


def test_what_a_general_effect_says_is_not_said_of_zones_and_projects_again():
    gone, kept = course("a", ""), course("ab", "b")
    everywhere = effect(room=gone, ever=gone)
    in_zone = effect(room=gone, ever=gone, zone="az1")
    in_both = effect(room=gone, ever=gone, zone="az1", project="p1")
    assert LeavesNoHost([everywhere, in_zone, in_both]).effects == (everywhere,)
    assert LeavesNoHost([in_zone, in_both]).effects == (in_zone,)
    # In the zone it is for good, which is more.
    for_now = effect(room=gone, ever=kept)
    assert LeavesNoHost([for_now, in_zone, in_both]).effects == (for_now, in_zone)


def test_hosts_on_their_way_count_from_when_they_come_again():
    stages = ("ab", "ab", "b", "ab")
    between = ((1, frozenset("ab")), (2, frozenset("a")), (3, frozenset("a")))
    found = dataclasses.replace(course(*stages), between=between)
    found = found.without_at_first(frozenset("a"))
    assert found.hosts == course("b", "b", "b", "ab").hosts
    assert [there for _, there in found.between] == [
        frozenset("b"),
        frozenset(),
        frozenset("a"),
    ]
