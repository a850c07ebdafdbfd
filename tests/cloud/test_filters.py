"""Host filters and weighers, beside nova-scheduler's own and its log.

TRAITSCHED_FILTERED is the number of servers that are asked for, and TRAITSCHED_SEED
what they are drawn from.
"""

from __future__ import annotations

import dataclasses
import math
import os
import random
import shlex
import time
from collections.abc import Mapping
from typing import Any

import pytest

from tests.cloud import logs
from tests.cloud.cloud import ISOLATION, Cloud
from tests.cloud.factory import factory
from tests.functional import shell
from tests.services.process import PATIENCE
from tests.services.release import chosen

COUNT = int(os.environ.get("TRAITSCHED_FILTERED", "60"))
SEED = os.environ.get("TRAITSCHED_SEED", "12")
NO_HOST = "No valid host was found. "
NOT_ENOUGH = "No valid host was found. There are not enough hosts available."
#: As nova-operator sets it for RHOSO 18, in its order.
RHOSO = (
    "AggregateInstanceExtraSpecsFilter",
    "ComputeFilter",
    "ComputeCapabilitiesFilter",
    "ImagePropertiesFilter",
    "ServerGroupAntiAffinityFilter",
    "ServerGroupAffinityFilter",
    "SameHostFilter",
    "DifferentHostFilter",
    "PciPassthroughFilter",
    "NUMATopologyFilter",
)
SSD, CORES = "aggregate_instance_extra_specs:ssd", "aggregate_instance_extra_specs:n"
FLAVORS: dict[str, tuple[dict[str, str], dict[str, int]]] = {
    "plain": ({}, {}),
    "most": ({}, {"ram": 7000}),
    "ssd": ({SSD: "true"}, {}),
    "no-ssd": ({SSD: "false"}, {}),
    "any-disk": ({SSD: "<or> true <or> false"}, {}),
    "many": ({CORES: ">= 6"}, {}),
    "ssd-and-many": ({SSD: "true", CORES: "s== 8"}, {}),
    "unscoped": ({"ssd": "false"}, {}),
    "no-such-key": ({"aggregate_instance_extra_specs:none": "1"}, {}),
    "at-least": ({CORES: "= 4"}, {}),
    "exactly": ({CORES: "== 8"}, {}),
    "by-letters": ({CORES: "s< 5"}, {}),
    "part": ({SSD: "<in> als"}, {}),
    "not-known": ({"capabilities:ssd": "true"}, {}),
    "few-servers": ({"num_instances": "<= 1"}, {}),
    "other-scope": ({"other:ssd": "maybe"}, {}),
    "no-number": ({CORES: ">= six"}, {}),
    "fake": ({"capabilities:hypervisor_type": "fake"}, {}),
    "qemu": ({"capabilities:hypervisor_type": "QEMU"}, {}),
    "roomy": ({"capabilities:free_ram_mb": ">= 7000"}, {}),
    "numa": ({"hw:numa_nodes": "1"}, {}),
    # No API shows this; there are none.
    "failed": ({"capabilities:failed_builds": "7"}, {}),
}
#: A trait that only the host has that is down.
TRAIT = "CUSTOM_WISHED_FOR"
IMAGES = {
    "raw": {},
    "x86": {"hw_architecture": "x86_64"},
    "arm": {"hw_architecture": "aarch64"},
    "fake": {"img_hv_type": "fake", "hw_vm_mode": "hvm"},
    "newer": {"hw_vm_mode": "hvm", "img_hv_requested_version": ">=99.0"},
    "newer-alone": {"img_hv_requested_version": ">=99.0"},
}


@dataclasses.dataclass(frozen=True)
class Asked:
    """A request: a flavor, an image, hints, and a server group, all by name."""

    flavor: str
    image: str = "raw"
    hint: str = ""
    group: str = ""


#: Before 2025.1 nova-api passes on what Nova alone may say, and nobody asks Placement.
OF_NOVA, IS_PASSED_ON = Asked("plain", hint="_nova_check_type"), chosen().number < 31


@dataclasses.dataclass(frozen=True)
class Scene:
    """The cloud, and what is made in it by name."""

    cloud: Cloud
    maker: Any
    flavors: Mapping[str, Any]
    images: Mapping[str, str]
    hints: Mapping[str, str]
    groups: Mapping[str, str]

    def explain(self, asked: Asked, *options: str) -> shell.Run:
        given = [*options, "--nova-conf", str(self.cloud.nova_conf), "-f", "json"]
        if asked.hint:
            given += ["--hint", f"{asked.hint}={self.hints[asked.hint]}"]
        if asked.group:
            given += ["--server-group", asked.group]
        words = ("trait-sched", "explain", asked.flavor, asked.image, *given)
        return shell.run(self.cloud.environment, *words)

    def boot(self, asked: Asked) -> Any:
        hints = {asked.hint: self.hints[asked.hint]} if asked.hint else {}
        if asked.group:
            hints["group"] = self.groups[asked.group]
        flavor, image = self.flavors[asked.flavor], self.images[asked.image]
        before = self.figures()
        boot = self.maker.boot(flavor, image, hints=hints)
        if boot.server:
            self.maker.delete(boot)
        end = time.monotonic() + PATIENCE
        # What the node reports follows what Placement knows.
        while self.figures() != before:
            assert time.monotonic() < end, "the figures do not become as before"
            time.sleep(0.05)
        return boot

    def figures(self) -> list[tuple[Any, ...]]:
        """Return what decides about the weights of each host."""
        answer = self.maker.admin.compute.get(
            "/os-hypervisors/detail", microversion="2.61"
        )
        keys = ("vcpus_used", "free_ram_mb", "free_disk_gb", "running_vms")
        return [
            (each["hypervisor_hostname"], *(each[key] for key in keys))
            for each in answer.json()["hypervisors"]
        ]


@pytest.fixture(scope="module")
def scene():
    """Six hosts, two of them with SSDs, one with a big server, one forced down."""
    options = (
        ISOLATION,
        f"filter_scheduler.enabled_filters={','.join(RHOSO)}",
        # For a minute after a build no API shows what it weighs.
        "filter_scheduler.io_ops_weight_multiplier=0",
    )
    cloud = Cloud(computes=6, nova_options=options)
    with cloud, factory(cloud.admin()) as maker:
        flavors = {
            name: maker.flavor(name, specs, **size)
            for name, (specs, size) in FLAVORS.items()
        }
        images = {name: maker.image(name, **each) for name, each in IMAGES.items()}
        maker.aggregate("ssd", "cmp00", "cmp01", ssd="true", n="8")
        maker.aggregate("disk", "cmp02", "cmp03", ssd="false", n="4")
        maker.aggregate("both", "cmp03", ssd="true, false")
        there = maker.boot(flavors["plain"], images["raw"], host="cmp00")
        maker.after(maker.delete, there)
        big = maker.boot(flavors["most"], images["raw"], host="cmp01")
        maker.after(maker.delete, big)
        groups = {name: maker.group(name) for name in ("affinity", "anti-affinity")}
        for identity in groups.values():
            hints = {"group": identity}
            one = maker.boot(flavors["ssd"], images["raw"], hints=hints)
            maker.after(maker.delete, one)
        maker.forced_down("cmp05")
        hints = dict.fromkeys(("same_host", "different_host"), there.server)
        hints["_nova_check_type"] = "rebuild"
        yield Scene(cloud, maker, flavors, images, hints, groups)


def requests():
    """Return different requests, those with each flavor first."""
    chance = random.Random(SEED)
    found = dict.fromkeys(Asked(flavor) for flavor in FLAVORS)
    found.update(
        dict.fromkeys(
            [
                Asked("plain", hint="same_host"),
                Asked("plain", hint="different_host"),
                *([] if IS_PASSED_ON else [OF_NOVA]),
                Asked("plain", group="affinity"),
                Asked("plain", group="anti-affinity"),
                Asked("plain", "x86"),
            ]
        )
    )
    while len(found) < COUNT:
        asked = Asked(
            chance.choice(list(FLAVORS)),
            chance.choice(["raw"] * 4 + list(IMAGES)),
            chance.choice(["", "", "same_host", "different_host"]),
            chance.choice(["", "", "affinity", "anti-affinity"]),
        )
        found.setdefault(asked)
    return list(found)[:COUNT]


def bounds(document):
    """Yield for each filter how many hosts pass it and all before it: least and most.

    Nova runs no further filter when none is left.
    """
    hosts = [host for host in document["hosts"] if host["given_by_placement"]]
    answers = {
        host["host"]: {each["filter"]: each["answer"] for each in host["filters"]}
        for host in hosts
    }
    sure = may = set(answers)
    for each in document["filters"]:
        name = each["filter"]
        may = {host for host in may if answers[host].get(name) != "no"}
        sure = {host for host in sure if name not in answers[host]}
        yield name, len(sure), len(may)


def is_as_said(document, boot):
    if document["verdict"] == "rejected":
        return boot.status == "ERROR" and not boot.fault.startswith(NO_HOST)
    if document["verdict"] == "no host":
        return boot.status == "ERROR" and boot.fault in (NO_HOST, NOT_ENOUGH)
    if document["verdict"] == "unknown" and boot.status == "ERROR":
        return boot.fault == NOT_ENOUGH
    if document["uncertain_candidates"]:
        return boot.status == "ACTIVE" and boot.host in document["candidates"]
    return boot.status == "ACTIVE" and boot.host in document["picks"]


def weigh_as_said(document, weights):
    """Tell whether the hosts weigh what is said, where it is known which are left."""
    said = {
        host["host"]: host["weight"]["total"]
        for host in document["hosts"]
        if host["weight"]
    }
    if document["uncertain_candidates"] or not weights:
        return True
    return said.keys() == weights.keys() and all(
        math.isclose(said[host], weights[host], abs_tol=1e-9) for host in said
    )


def test_nova_passes_and_picks_the_hosts_that_explain_says(scene, record_property):
    rows, wrong, verdicts, weighed = [], [], set(), 0
    for asked in requests():
        document = scene.explain(asked).json
        boot = scene.boot(asked)
        left = logs.left(scene.cloud, boot.request)
        weights = logs.weights(scene.cloud, boot.request)
        verdicts.add(document["verdict"])
        found = {name: (least, most) for name, least, most in bounds(document)}
        fits = all(found[name][0] <= n <= found[name][1] for name, n in left.items())
        is_same = is_as_said(document, boot) and weigh_as_said(document, weights)
        weighed += bool(weights)
        if not fits or not is_same:
            wrong.append((asked, document["summary"], found, left, weights, boot))
        rows.append(f"{asked}: {document['verdict']}, {boot.status} {boot.host}")
    told = f"{len(rows) - len(wrong)} of {len(rows)} requests agree, filter by filter"
    record_property("table", "\n".join([*rows, told]))
    assert wrong == []
    assert weighed > COUNT / 4
    assert verdicts == {"candidates", "no host", "unknown", "rejected"}


def test_no_answer_is_given_where_a_hint_of_novas_own_would_be_passed_on(scene):
    done = scene.explain(OF_NOVA, "--nova-release", "2024.2")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "the hint _nova_check_type is Nova's own, and before 2025.1 nova-scheduler "
        "asks Placement nothing when a user gives it; leave it out\n"
    )


@pytest.mark.skipif(not IS_PASSED_ON, reason="nova-api does not pass the hint on")
def test_placement_is_asked_nothing_where_a_hint_of_novas_own_is_passed_on(scene):
    assert logs.queries(scene.cloud, scene.boot(Asked("plain")).request) != []
    boot = scene.boot(OF_NOVA)
    assert logs.queries(scene.cloud, boot.request) == []
    # One of the six is down.
    assert logs.left(scene.cloud, boot.request)["ComputeFilter"] == 6


@pytest.mark.parametrize(
    ("failed", "status"), [("0", "ACTIVE"), ("7", "ERROR")], ids=["passes", "keeps out"]
)
def test_what_is_offered_where_a_filter_decides_is_decided_by_it(scene, failed, status):
    """What is offered is the same: only nova-scheduler knows the failed builds."""
    name = f"wished-for-{failed}"
    specs = {f"trait:{TRAIT}": "required", "capabilities:failed_builds": failed}
    hosts = [f"cmp0{number}" for number in range(5)]
    with factory(scene.cloud.admin()) as make:
        make.traits(TRAIT, "cmp05")
        flavors = {**scene.flavors, name: make.flavor(name, specs)}
        there = dataclasses.replace(scene, flavors=flavors)
        document = there.explain(Asked(name), "--fixes").json
        assert document["verdict"] == "no host"
        (fix,) = (each for each in document["fixes"] if each["target"] == "hosts")
        assert fix["deciding_filters"] == ["ComputeCapabilitiesFilter"]
        assert fix["gained_hosts"] == hosts
        assert there.boot(Asked(name)).fault == NOT_ENOUGH
        program, *words = shlex.split(*fix["commands"])
        assert program == "openstack"
        done = shell.run(scene.cloud.environment, *words)
        assert done.code == 0, done.err
        boot = there.boot(Asked(name))
        undone = ["remove", *words[2:], "--force"]
        done = shell.run(scene.cloud.environment, words[0], *undone)
        assert done.code == 0, done.err
    assert boot.status == status
    assert boot.host in hosts if status == "ACTIVE" else boot.fault == NOT_ENOUGH


def test_a_disabled_host_whose_trait_placement_lost_is_enabled(scene):
    asked = Asked("plain", hint="same_host")
    with factory(scene.cloud.admin()) as make:
        make.disabled("cmp00", "")
        make.takes("COMPUTE_STATUS_DISABLED", "cmp00")
        document = scene.explain(asked, "--fixes").json
        assert document["verdict"] == "no host"
        assert scene.boot(asked).fault == NOT_ENOUGH
        (fix,) = (each for each in document["fixes"] if each["target"] == "hosts")
        assert fix["text"] == "enable nova-compute on cmp00"
        assert (fix["gained_hosts"], fix["deciding_filters"]) == (["cmp00"], [])
        _, *words = shlex.split(*fix["commands"])
        assert shell.run(scene.cloud.environment, *words).code == 0
        assert scene.boot(asked).host == "cmp00"


FEWER = ",".join(RHOSO[1:])


@pytest.mark.parametrize(
    ("flavor", "what_if"),
    [
        ("plain", "ram_weight_multiplier=-9"),
        ("ssd", f"enabled_filters={FEWER}"),
        ("roomy", "host_subset_size=99"),
    ],
)
def test_what_would_be_without_what_is_set_is_what_the_scheduler_does(
    scene, flavor, what_if
):
    asked = Asked(flavor)
    plain = scene.explain(asked).json
    found = scene.explain(asked, "--set", f"filter_scheduler.{what_if}").json
    without = found["without_set"]
    assert plain["without_set"] is None
    for each in ("summary", "candidates", "uncertain_candidates", "picks"):
        assert without[each] == plain[each]
    gained = {*found["candidates"]} - {*plain["candidates"]}
    assert {each["host"] for each in without["let_in"]} == gained
    assert without["kept_out"] == []
    assert scene.boot(asked).host in without["picks"]


@pytest.mark.parametrize(("host", "passes"), [("cmp03", True), ("cmp02", False)])
def test_filters_run_on_a_host_that_is_asked_for_beside_the_zone(scene, host, passes):
    document = scene.explain(Asked("ssd"), "--on-host", host).json
    assert document["candidates"] == [host] * passes
    flavor, image = scene.flavors["ssd"], scene.images["raw"]
    boot = scene.maker.boot(flavor, image, host=host)
    scene.maker.delete(boot)
    assert (boot.status, boot.host) == (("ACTIVE", host) if passes else ("ERROR", None))
    assert logs.left(scene.cloud, boot.request)[RHOSO[0]] == int(passes)


def test_none_runs_on_a_host_that_is_named_with_the_zone(scene):
    document = scene.explain(Asked("ssd"), "--availability-zone", "nova:cmp02").json
    assert document["candidates"] == ["cmp02"]
    flavor, image = scene.flavors["ssd"], scene.images["raw"]
    boot = scene.maker.boot(flavor, image, availability_zone="nova:cmp02")
    scene.maker.delete(boot)
    assert (boot.status, boot.host) == ("ACTIVE", "cmp02")


def test_nova_api_refuses_a_host_beside_the_zone_as_explain_says(scene):
    for zone, host in (None, "cmp09"), ("nova:cmp02", "cmp02"), (None, "CMP02"):
        named = {"availability_zone": zone} if zone else {}
        options = [f"--availability-zone={zone}"] if zone else []
        done = scene.explain(Asked("plain"), "--on-host", host, *options)
        assert (done.code, done.json["rejection"]["stage"]) == (3, "api")
        boot = scene.maker.boot(
            scene.flavors["plain"], scene.images["raw"], host=host, **named
        )
        assert boot.refused


@pytest.mark.parametrize(("limit", "code"), [(1, 8), (5, 0)])
def test_a_host_is_sure_only_if_every_answer_of_novas_size_has_one(scene, limit, code):
    """Two of the six hosts have SSDs, and Placement knows nothing of it."""
    option = f"scheduler.max_placement_results={limit}"
    done = scene.explain(Asked("ssd"), "--set", option)
    assert done.code == code
    document = done.json
    assert document["candidates"] == scene.explain(Asked("ssd")).json["candidates"]
    assert document["uncertain_candidates"] == (document["candidates"] if code else [])
