"""Servers on the hosts of a case's cloud, and what is said of each."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.evidence import with_evidence
from osc_traitsched.core.nova.filter.state import host_states
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.servers.fleet import Demands, Fleet, PeerIndex
from osc_traitsched.core.servers.misplaced import FleetJudge, OtherHosts, OwnHosts
from osc_traitsched.views import misplaced as words
from tests.cases.reading import Case
from tests.property.building import identity
from tests.unit.core.filter.asked import REPORT
from tests.unit.core.test_cases import facts_of

RAW = {"id": "raw", "name": "raw", "disk_format": "raw"}
IMAGES = {
    "raw": RAW,
    "gold": {**RAW, "id": "gold", "trait:CUSTOM_GOLD": "required"},
    "arm": {**RAW, "id": "arm", "hw_architecture": "aarch64"},
}
NO_FILTERS = ("AllHostsFilter",)


def server(name, host, specs=(), image="raw", **more):
    """Return the body of a server on a host; an image of None is a volume's."""
    return {
        "id": identity(name),
        "name": name,
        "tenant_id": "p1",
        "OS-EXT-SRV-ATTR:host": host,
        "OS-EXT-SRV-ATTR:hypervisor_hostname": host,
        "flavor": {
            "original_name": "flavor",
            "vcpus": 1,
            "ram": 512,
            "disk": 1,
            "ephemeral": 0,
            "swap": 0,
            "extra_specs": dict(specs),
        },
        "image": {"id": image} if image else "",
        **more,
    }


@dataclasses.dataclass(frozen=True)
class Said:
    """What is said of a server, in words."""

    answer: str
    why: tuple[str, ...] = ()
    destination: str = ""


FINE = Said("fine")


def said(
    body,
    servers,
    *filters,
    minor=100,
    groups=(),
    unplaced=(),
    release=33,
    zone="",
    volumes=None,
    isolated=(),
    by_evidence=False,
    **given,
):
    """Return what is said of each server, by name.

    :param body: a case's, with aggregates and their hosts
    :param filters: those that are on
    :param unplaced: the IDs of servers that were not looked for
    :param zone: that nova-api gives new servers which ask for none
    :param volumes: what Cinder keeps of images, by the names of servers
    :param isolated: the images that IsolatedHostsFilter keeps apart
    :param by_evidence: aggregates show which options are on
    :param given: options of [scheduler]
    """
    case = Case({"name": "made up", "release": release, "options": given, **body})
    asked = case.question
    on = Setting(filters or NO_FILTERS, "a test", given=True)
    found = asked.assumptions.settings
    settings = SchedulerSettings(release, {**found, options.ENABLED_FILTERS: on})
    settings = settings.changed(options.COLLATION, "case-sensitive")
    settings = settings.changed(options.DEFAULT_ZONE, zone)
    settings = settings.changed(options.CROSS_AZ_ATTACH, False)
    settings = settings.changed(options.ISOLATED_IMAGES, isolated)
    if by_evidence:
        settings = with_evidence(settings, asked.aggregates)
    fleet = Fleet(minor)
    fleet.add(servers)
    fleet.with_volumes({identity(n): each for n, each in (volumes or {}).items()})
    peer_index = PeerIndex(groups, fleet)
    peer_index.add_hosts({}, unplaced)
    demands = Demands(minor, IMAGES, asked.aggregates, settings)
    computes = [
        Compute(identity(name), name, name, report=REPORT) for name in body["cloud"]
    ]
    judging = FleetJudge(fleet, demands, peer_index, computes)
    requests = [
        each
        for demand in judging.demands
        if demand.request
        for each in (demand.request, demand.request.fallback)
        if each
    ]
    facts = facts_of(case.cloud, requests)
    states = {
        each.compute.uuid: each for each in host_states(computes, asked.aggregates)
    }
    classes = {name for name, _ in facts.offers}
    own = OwnHosts(dataclasses.replace(facts, offers={}), classes, states, settings)
    other_hosts = OtherHosts(facts, states, settings)
    placed = judging.with_destinations(judging.not_fine(own), other_hosts)
    names = {each.uuid: each.name for each in asked.aggregates}
    return {
        **dict.fromkeys((each["name"] for each in servers if "name" in each), FINE),
        **{each.server.name: _said(each, names) for each in placed},
    }


def _said(placed, names):
    verdict = placed.verdict
    why = tuple(words.text(each, names) for each in verdict.shown)
    destination = placed.destination.value if placed.destination else ""
    return Said(verdict.answer.value, why, destination)
