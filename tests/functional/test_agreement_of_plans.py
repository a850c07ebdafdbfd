"""A write is refused if, and only if, the judge takes somebody's last host by it.

Plans are drawn, and the cloud is judged before and after: without the sets of hosts
that the plan's own impact is made of.
"""

from __future__ import annotations

import copy
import itertools
import os
import random

import pytest
import yaml

from osc_traitsched.app import explain, server, settings, snapshot, trait
from osc_traitsched.app.desired import judged as judged_plan
from osc_traitsched.app.desired import plan_desired
from osc_traitsched.app.judging import FlavorScope, by_flavor
from osc_traitsched.config import desired
from osc_traitsched.core.answer import Reason
from osc_traitsched.core.change.effects import LeavesNoHost
from osc_traitsched.core.change.model import ObjectKind
from osc_traitsched.core.change.traits import LastHolder
from osc_traitsched.core.errors import AnswerIsNo, TraitSchedError
from osc_traitsched.core.inventory.snapshot import Selectors
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.core.servers.fleet import ServersLoseHosts
from tests.functional.test_agreement import with_stock
from tests.services import drawn
from tests.services.drawn import ANYONE, GOLD, OURS, SSD, THEIRS

pytestmark = pytest.mark.one_client

EACH, CLOUDS = 10, 5 * int(os.environ.get("TRAITSCHED_CLOUDS", "20"))
PARTS = [
    pytest.param(part, marks=pytest.mark.full if part else ())
    for part in range(max(1, CLOUDS // EACH))
]
#: An image that asks for nothing.
ANY_IMAGE = {"id": "", "name": "", "visibility": "public"}
NOW = frozenset([Reason.FITS, Reason.DEPENDS, Reason.UNKNOWN])
EVER = NOW | {Reason.DISABLED, Reason.FULL}
NOBODY = (frozenset(),) * 3


def isolating(document):
    """Let the cloud have a nova.conf that isolates aggregates, as plans assume."""
    conf = "/etc/nova/nova.conf"
    found = document["settings"]
    rows = [*found["options"], *itertools.chain(*found["files"].get("nova_conf", []))]
    name = drawn.SWITCHES[0]
    rows = [[*row[:3], conf, *row[4:]] for row in rows if row[1] != name]
    rows.append(["scheduler", name, "true", conf, 99, "", None])
    document["settings"] = drawn.of_nova_conf(rows)


def draw(dice, cloud):
    """Traits and hosts for ``add`` or ``remove``, or a file for ``apply``."""
    kind = dice.choice(["remove"] * 3 + ["add", "isolate", "unisolate", "members"])
    name, hosts = dice.choice([GOLD, SSD]), dice.sample(cloud.hosts, dice.randint(1, 2))
    if kind in ("remove", "add"):
        return kind, ([name], hosts)
    members = dice.choice([{"hosts": hosts[:1]}, {"absent": {"hosts": hosts}}])
    opens = {"isolated_for": [GOLD, SSD, drawn.AVX], "projects": [OURS, THEIRS]}
    entries = {
        "isolate": {"isolated_for": [name]},
        "unisolate": {"absent": opens},
        "members": members,
    }
    aggregates = [each["name"] for each in cloud.document["compute"]["aggregates"]]
    document = {"version": 1, "aggregates": {dice.choice(aggregates): entries[kind]}}
    if kind == "isolate" and dice.random() < 0.5:
        document["flavors"] = {dice.choice(cloud.flavors): {"requires": [name]}}
    return "apply", yaml.safe_dump(document)


def planned(saved, kind, wanted):
    """The plan with its refusals."""
    cloud, sources = saved.cloud, saved.sources
    if kind != "apply":
        names, hosts = wanted
        chosen = Selectors(hosts=tuple(hosts))
        if kind == "add":
            return trait.plan_add(
                cloud, trait.TraitSelection(names, chosen, create=True), sources
            )
        return trait.plan_remove(cloud, trait.TraitSelection(names, chosen), sources)
    state, mistakes = desired.read_text("w.yaml", wanted)
    assert not mistakes, wanted
    assumed = settings.of_cloud(cloud, sources)
    return judged_plan(cloud, plan_desired(cloud, state, assumed))


def applied(document, changes):
    """The document of the cloud once a plan is carried out."""
    document = copy.deepcopy(document)
    place, compute = document["placement"], document["compute"]
    providers = {each["uuid"]: each for each in place["providers"]}
    aggregates = {str(each["id"]): each for each in compute["aggregates"]}
    flavors = {each["id"]: each for each in compute["flavors"]}
    for change in changes:
        kind, identity = change.object.kind, change.object.id
        added = {key for key, value in change.after.items() if value is not None}
        removed = change.after.keys() - added
        if kind is ObjectKind.TRAIT:
            place["traits"] = sorted({*place["traits"], change.object.name})
        elif kind in (ObjectKind.PROVIDER_TRAITS, ObjectKind.PROVIDER_AGGREGATES):
            key = "traits" if kind is ObjectKind.PROVIDER_TRAITS else "aggregates"
            joined(providers[identity], key, added, removed)
        elif kind is ObjectKind.AGGREGATE_HOSTS:
            aggregate = aggregates[identity]
            joined(aggregate, "hosts", added, removed)
            # Nova tells Placement.
            own = aggregate["uuid"]
            for node in compute["hypervisors"]:
                host, provider = node["service"]["host"], providers[node["id"]]
                joins, leaves = [own] * (host in added), [own] * (host in removed)
                joined(provider, "aggregates", joins, leaves)
        else:
            bodies = flavors if kind is ObjectKind.FLAVOR else aggregates
            key = "extra_specs" if kind is ObjectKind.FLAVOR else "metadata"
            bodies[identity][key] = change.applied_to(bodies[identity][key])
    return document


def joined(body, key, added, removed):
    body[key] = sorted({*body[key], *added} - {*removed})


def able(document):
    """Hosts now, hosts that are enabled and emptied, and all of those: of each flavor
    with each image, zone and project, and of each server.
    """
    saved = snapshot.Snapshot("cloud.json", document)
    cloud, sources, compute = saved.cloud, saved.sources, document["compute"]
    off = {
        each["id"]
        for each in compute["hypervisors"]
        if (each["status"], each["state"]) != ("enabled", "up")
    }
    pairs = [each["metadata"] for each in compute["aggregates"]]
    zones = {each.get("availability_zone") for each in pairs}
    images = [ANY_IMAGE, *document["image"]["images"]]
    found, stock = {}, None
    for zone, project in itertools.product({None, *zones}, (ANYONE, OURS, THEIRS)):
        spec = ServerSpec(image="", zone=zone, project=project)
        try:
            every = by_flavor(cloud, spec, sources, FlavorScope(images=images))
        except AnswerIsNo:
            # No host of the zone is enabled.
            continue
        for one in every:
            question = one.question
            key = question.flavor["name"], question.image["name"], zone, project
            if isinstance(one, Judgement) and stock is None:
                stock = with_stock(cloud, one).facts.stock
            found[key] = sets(one, stock, off)
    for body in compute["servers"]:
        if body["status"] != "ERROR":
            _, question = server.asked_again(cloud, body["id"], ServerSpec(), sources)
            one = explain.explain(cloud, question, want_fixes=False).judgement
            # A server that runs has its room.
            found[body["name"]] = (frozenset(), *sets(one, stock, off)[1:])
    return found


def sets(found, stock, off):
    if not isinstance(found, Judgement):
        return NOBODY
    found = found.with_stock(stock or {})
    reasons = {host.uuid: found.reason_of(host.uuid) for host in found.hosts}
    now = frozenset(root for root, reason in reasons.items() if reason in NOW)
    ever = frozenset(root for root, reason in reasons.items() if reason in EVER)
    return now, ever - off, ever


def losers(document, plan):
    """Who loses the last host, by the judge: flavors, and servers."""
    sent = [change for change in plan.changes if change.is_sent]
    before, after = able(document), able(applied(document, sent))
    lost = {
        key
        for key in before.keys() & after.keys()
        if any(had and not has for had, has in zip(before[key], after[key]))
    }
    servers = {key for key in lost if isinstance(key, str)}
    return lost - servers, servers


@pytest.mark.parametrize("part", PARTS)
def test_a_write_is_refused_if_it_takes_a_last_host_and_only_then(part):
    counted = {True: 0, False: 0}
    for seed in itertools.count(part * 1000):
        dice = random.Random(f"plan {seed}")
        # The impact takes hosts of a project and hosts of a flavor for independent,
        # which they are not if a pool that hosts share is outside the aggregate.
        cloud = drawn.draw(f"plan {seed}", has_pools=False)
        isolating(cloud.document)
        saved = snapshot.Snapshot("cloud.json", cloud.document)
        kind, wanted = draw(dice, cloud)
        try:
            todo = planned(saved, kind, wanted)
        except TraitSchedError:
            # It is wrong by itself: a host in two zones, a trait of nova-compute's.
            continue
        if not todo.plan.has_changes:
            continue
        kinds = {type(each) for each in todo.refusals}
        flavors, servers = losers(cloud.document, todo.plan)
        what = seed, kind, wanted, todo.refusals, flavors, servers
        # Of a trait's last host, that is said instead.
        is_said = LastHolder in kinds and bool(flavors)
        assert (LeavesNoHost in kinds or is_said) is bool(flavors), what
        assert (ServersLoseHosts in kinds) is bool(servers), what
        counted[bool(flavors or servers)] += 1
        if sum(counted.values()) == EACH:
            break
    assert all(counted.values()), counted
