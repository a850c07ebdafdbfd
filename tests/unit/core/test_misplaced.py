"""Servers against their own hosts: misplaced, fine, or not known."""

from __future__ import annotations

import dataclasses
import functools
import types

import pytest

from osc_traitsched.core.answer import Answer
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.filter.state import OWN as OWN_REASON
from osc_traitsched.core.nova.filter.state import Fails, ServerGroup
from osc_traitsched.core.servers.fleet import Fleet
from osc_traitsched.core.servers.misplaced import of_own_host
from tests.property.building import identity
from tests.unit.core.check.surveys import assert_agree, described
from tests.unit.core.filter.asked import REPORT
from tests.unit.core.residents import FINE, said, server
from tests.unit.core.scheduled import explained, judgement_of, question

#: What a text calls a field of a server.
FIELDS = {"zone": "pinned_availability_zone", "project": "tenant_id"}


def of(hosts, servers, *filters, aggregates="", **options):
    """A question, from lines of text.

    :param hosts: with their traits, such as ``a CUSTOM_GOLD; b``; or their bodies
    :param servers: with host, image, zone, project and the flavor's extra specs, such
        as ``s1 a image=gold trait:CUSTOM_GOLD=required``; or their bodies
    :param aggregates: with hosts and metadata, such as ``east a availability_zone=z``
    """
    if isinstance(hosts, str):
        hosts = {name: {"traits": traits} for name, traits, _ in described(hosts)}
    body = {"cloud": hosts, "aggregates": {}}
    for name, inside, metadata in described(aggregates) if aggregates else ():
        body["aggregates"][name] = {"hosts": inside, "metadata": metadata}
        for host in inside:
            hosts[host].setdefault("aggregates", []).append(name)
    if isinstance(servers, str):
        servers = [_server(*each) for each in described(servers)]
    return functools.partial(said, body, servers, *filters, **options)


def _server(name, host, pairs):
    image = pairs.pop("image", "raw")
    more = {FIELDS[key]: pairs.pop(key) for key in (*FIELDS,) if key in pairs}
    return server(name, *host, pairs, None if image == "none" else image, **more)


def lines(found):
    """Return a line for each server that is not fine: its name, and what is said."""
    return [
        f"{name} {each.answer}"
        + (f", elsewhere {each.destination}" if each.destination else "")
        + f": {', '.join(each.why)}"
        for name, each in found.items()
        if each != FINE
    ]


def group(policy, *members, most=1):
    return ServerGroup("pair", policy, most, frozenset(map(identity, members)))


def hinted(*servers):
    return [server(name, host, scheduler_hints=hints) for name, host, hints in servers]


GOLD, NOT_GOLD = "trait:CUSTOM_GOLD=required", "trait:CUSTOM_GOLD=forbidden"
LACKS = "lacks trait CUSTOM_GOLD (flavor)"
A_LACKS, A_HAS = "a; b CUSTOM_GOLD", "a CUSTOM_GOLD; b"
ON = {"enable_isolated_aggregate_filtering": True}
ISOLATED = {"aggregates": f"gold a {GOLD}"}
USED = {"VCPU": {"total": 8, "used": 8}, "MEMORY_MB": 4096, "DISK_GB": 100}
FULL = {
    "a": {"inventories": USED},
    "b": {"inventories": USED, "traits": ["CUSTOM_GOLD"]},
}
CARD = {"inventories": {"CUSTOM_CARD": 1}}
RED = {"traits": ["CUSTOM_RED"]}
CARDS = {"a": {"children": [CARD, {**CARD, **RED}]}, "b": {**RED, "children": [CARD]}}
RED_CARD = "resources1:CUSTOM_CARD=1 trait1:CUSTOM_RED=required"
MADE_OF_GOLD = {"image_id": "gold", "min_disk": "0", "trait:CUSTOM_GOLD": "required"}
ZONES = "east a availability_zone=az-east; west b availability_zone=az-west"
PROJECTS = "theirs a filter_tenant_id=p2; ours b filter_tenant_id=p1"
OF_PROJECTS = "s1 a; s2 b; s3 a project=p2"
LIMITED = {"limit_tenants_to_placement_aggregate": True}
APART = ("ServerGroupAntiAffinityFilter", "ServerGroupAffinityFilter")
OF_GROUP = {"groups": [group("anti-affinity", "s1", "s2")]}
HINTS = hinted(
    ("s1", "a", {}),
    ("s2", "a", {"different_host": [identity("s1")], "group": ["g"]}),
    ("s3", "b", {"same_host": identity("s1")}),
    ("s4", "b", {"different_host": [identity("s1"), identity("s4")]}),
)
AMOUNTS = "s1 a hw:numa_nodes=1 pci_passthrough:alias=card:1"
THAT_COMPARE_AMOUNTS = (
    *("AggregateNumInstancesFilter", "IoOpsFilter", "NUMATopologyFilter"),
    *("NumInstancesFilter", "PciPassthroughFilter"),
)

FOUND = {
    f"s1 misplaced, elsewhere yes: {LACKS}": of(A_LACKS, f"s1 a {GOLD}; s2 b {GOLD}"),
    "s1 misplaced, elsewhere no: has trait CUSTOM_GOLD (flavor)": of(
        "a CUSTOM_GOLD", f"s1 a {NOT_GOLD}"
    ),
    # The image counts as it is now.
    "s1 misplaced, elsewhere no: lacks trait CUSTOM_GOLD (image)": of(
        "a", "s1 a image=gold"
    ),
    # Room is not asked for here, and is elsewhere.
    f"s2 misplaced, elsewhere no: {LACKS}": of(FULL, f"s1 a; s2 a {GOLD}"),
    # It is no matter of room that a host has nothing of a class.
    "s1 misplaced, elsewhere no: has no CUSTOM_CARD (flavor)": of(
        "a", "s1 a resources:CUSTOM_CARD=1"
    ),
    # A trait has to be where the amount is given.
    "s2 misplaced, elsewhere yes: lacks trait CUSTOM_RED (group 1) (flavor) together "
    "with the rest": of(CARDS, f"s1 a {RED_CARD}; s2 b {RED_CARD}"),
    "s1 misplaced, elsewhere yes: is in aggregate gold, isolated for CUSTOM_GOLD": of(
        A_HAS, f"s1 a; s2 a {GOLD}", **ISOLATED, **ON
    ),
    # The server that runs there is evidence against the option.
    "s1 unknown: depends on nova.conf: is in aggregate gold, isolated for "
    "CUSTOM_GOLD": of(A_HAS, f"s1 a; s2 a {GOLD}", **ISOLATED, by_evidence=True),
    "s1 misplaced, elsewhere yes: has trait CUSTOM_GOLD (flavor)": of(
        A_HAS, f"s1 a {NOT_GOLD}", **ISOLATED, by_evidence=True
    ),
    # Whatever its image says, the flavor of s3 requires the trait.
    "s1 unknown: its image is deleted, and so is what it required\n"
    "s2 unknown: it boots from a volume, and what image that is made of was not read\n"
    f"s3 misplaced, elsewhere unknown: {LACKS}": of(
        A_HAS,
        f"s1 a image=deleted; s2 a image=none; s3 b image=deleted {GOLD}",
        **ISOLATED,
        **ON,
    ),
    # What a root volume is made of counts as an image.
    "s2 misplaced, elsewhere yes: lacks trait CUSTOM_GOLD (image)": of(
        A_HAS,
        "s1 a image=none; s2 b image=none",
        volumes={"s1": MADE_OF_GOLD, "s2": MADE_OF_GOLD},
        **ISOLATED,
        **ON,
    ),
    "s1 misplaced...": of(
        "a",
        "s1 a image=none; s2 a image=none",
        "IsolatedHostsFilter",
        volumes={"s1": {"image_id": "i1"}, "s2": {"image_id": "i2"}},
        isolated=("i1",),
    ),
    "s1 misplaced, elsewhere yes: is outside the availability zone of aggregate "
    "west": of("a; b", "s1 a zone=az-west; s2 a zone=az-east; s3 a", aggregates=ZONES),
    "s1 unknown: the requested availability zone is not shown before compute API "
    "2.96": of("a; b", "s1 a", aggregates=ZONES, minor=95),
    # A filter reads hints that are not shown.
    "s1 unknown...": of("a", "s1 a", "DifferentHostFilter", minor=99),
    "s1 misplaced, elsewhere yes: is outside the project's aggregate ours": of(
        "a; b", OF_PROJECTS, aggregates=PROJECTS, **LIMITED
    ),
    "s1 misplaced, elsewhere yes: is reserved for other projects by filter_tenant_id "
    "(AggregateMultiTenancyIsolation)": of(
        "a; b", OF_PROJECTS, "AggregateMultiTenancyIsolation", aggregates=PROJECTS
    ),
    "s1 misplaced, elsewhere no: Nova rejects it on every host: ...": of(
        "a", "s1 a", **LIMITED, placement_aggregate_required_for_tenants=True
    ),
    "s1 misplaced, elsewhere no: already runs a member of group pair (max 1) "
    "(ServerGroupAntiAffinityFilter)\n"
    "s2 misplaced, elsewhere no: already runs a member of group pair (max 1) "
    "(ServerGroupAntiAffinityFilter)": of(
        "a; b",
        "s1 a; s2 a; s3 b",
        *APART,
        groups=[group("anti-affinity", "s1", "s2", "s3")],
    ),
    "s3 misplaced, elsewhere yes: runs no member of group pair, which is on a "
    "(ServerGroupAffinityFilter)": of(
        "a; b; c",
        "s1 a; s2 a; s3 b",
        *APART,
        groups=[group("affinity", "s1", "s2", "s3")],
    ),
    # As for a move, it is held by itself: nova/scheduler/utils.py,
    # setup_instance_group.
    f"s1 misplaced, elsewhere no: {LACKS}": of(
        A_LACKS, f"s1 a {GOLD}", *APART, groups=[group("affinity", "s1")]
    ),
    "s1 unknown: not all servers of its group or hints were looked for": of(
        "a",
        "s1 a",
        *APART,
        groups=[group("affinity", "s1", "s2")],
        unplaced=[identity("s2")],
    ),
    # Nor is another host certain then.
    f"s1 misplaced, elsewhere unknown: {LACKS}": of(
        A_LACKS, f"s1 a {GOLD}", *APART, **OF_GROUP, unplaced=[identity("s2")]
    ),
    "s2 misplaced, elsewhere yes: runs a server of hint different_host "
    "(DifferentHostFilter)\n"
    "s3 misplaced, elsewhere yes: runs no server of hint same_host "
    "(SameHostFilter)": of("a; b", HINTS, "SameHostFilter", "DifferentHostFilter"),
    # What the server itself uses is no capability.
    "s2 misplaced...": of(
        "a",
        [
            server("s1", "a", {"capabilities:free_ram_mb": ">= 99999"}),
            server("s2", "a", {"capabilities:hypervisor_type": "fake"}),
            server("s3", "a", {"capabilities:stats:num_instances": "<= 0"}),
        ],
        "ComputeCapabilitiesFilter",
    ),
    "s4 unknown...\ns5 misplaced...": of(
        "a",
        hinted(
            ("s4", "a", {"query": '[">=", "$free_ram_mb", 99999]'}),
            ("s5", "a", {"query": '["=", "$nodename", "b"]'}),
        ),
        "JsonFilter",
    ),
    "s1 unknown: its host is not known to pass OurFilter...": of(
        "a", "s1 a", "OurFilter"
    ),
    # Nova does not list the host.
    "s1 unknown: ...": of("a", "s1 gone"),
    "": [
        of(A_HAS, f"s1 a; s2 a {GOLD}", **ISOLATED),
        of(
            A_HAS,
            "s1 a image=none; s2 b image=none",
            **ISOLATED,
            volumes={"s1": {}, "s2": {}},
        ),
        # The zone that new servers get was not asked for.
        of("a; b", "s1 a", aggregates=ZONES, zone="az-west"),
        of("a", "s1 a", minor=95),
        of("a", "s1 a", "ComputeFilter", minor=99),
        of(
            "a",
            "s1 a; s2 a",
            *APART,
            groups=[group("anti-affinity", "s1", "s2", most=2)],
        ),
        # Filters that compare amounts are not asked.
        of("a", AMOUNTS, *THAT_COMPARE_AMOUNTS),
    ],
}


@pytest.mark.parametrize(("text", "questions"), FOUND.items())
def test_what_is_said_of_servers_that_are_not_fine(text, questions):
    for ask in questions if isinstance(questions, list) else [questions]:
        assert_agree(text, lines(ask()))


def test_whether_another_host_is_certain_depends_on_the_group():
    for groups in ((), OF_GROUP["groups"]):
        found = of(A_LACKS, f"s1 a {GOLD}", *APART, groups=groups)()
        assert found["s1"].destination == "yes"


@pytest.mark.parametrize(
    ("hosts", "groups", "destination"),
    [
        ("a; b CUSTOM_GOLD; c CUSTOM_GOLD", (), "no"),
        # The group's filter may reject c before.
        ("a; b CUSTOM_GOLD; c CUSTOM_GOLD", OF_GROUP["groups"], "unknown"),
        # Filters do not see what Placement does not return, nor the server's own host.
        ("a; b CUSTOM_GOLD; c", (), "yes"),
        ("a CUSTOM_RED; b CUSTOM_GOLD; c", (), "yes"),
    ],
)
def test_a_filter_that_raises_on_one_host_ends_the_whole_request(
    hosts, groups, destination
):
    number = "aggregate_instance_extra_specs:speed"
    asks = {"trait:CUSTOM_GOLD": "required", number: ">= 5"}
    names = ("AggregateInstanceExtraSpecsFilter", *APART)
    speeds = "fast a b speed=9; odd c speed=fast"
    if "RED" in hosts:
        speeds = "odd a speed=fast; fast b c speed=9"
    servers = [server("s1", "a", asks)]
    found = of(hosts, servers, *names, aggregates=speeds, groups=groups)()
    assert (found["s1"].answer, found["s1"].destination) == ("misplaced", destination)


def test_a_group_whose_filter_is_off_is_refused():
    found = of("a", "s1 a", groups=[group("affinity", "s1")])()
    assert found["s1"].answer == "misplaced"
    (why,) = found["s1"].why
    assert "ServerGroupAffinityFilter" in why
    # It is there, and a list has no room for what would become of a new one.
    assert "goes to ERROR" not in why


def test_servers_are_kept_once_for_all_that_were_asked_for_alike():
    fleet = Fleet(100)
    fleet.add(server(f"s{number}", "a") for number in range(5))
    fleet.add(
        [server("s5", "a", {"trait:CUSTOM_GOLD": "required"}), server("s6", None)]
    )
    assert (len(fleet.residents), len(fleet.kinds)) == (6, 2)
    assert fleet.homeless == 1
    assert len({id(each.project) for each in fleet.residents}) == 1


# One server on its own host, by the judgement of a new server like it.


REPORTED = {"a": {"report": dataclasses.replace(REPORT, free_ram_mb=64)}}
OWN = {
    "use of the host": ({"capabilities:free_ram_mb": ">= 4096"}, Answer.YES),
    "the host itself": ({"capabilities:hypervisor_type": "ironic"}, Answer.NO),
    "a trait": ({"trait:CUSTOM_GOLD": "required"}, Answer.NO),
    "an amount": ({"resources:VCPU": "99"}, Answer.YES),
}


@pytest.mark.parametrize(("specs", "can"), OWN.values(), ids=OWN)
def test_a_server_on_its_host_is_judged_as_all_servers_are(specs, can):
    body = {"cloud": {"a": {"traits": []}}, "flavor": specs}
    found = explained(body, [], special.CAPABILITIES, **REPORTED)
    assert of_own_host(found, "a").can is can


#: What Nova, if it is asked, says that the host can't claim even if it is empty.
NOTHING_CLAIMED = {}, frozenset([identity("a")])
NO_CPUS = (
    {identity("a"): Fails(OWN_REASON, "", "1 CPU", ("0 CPUs",))},
    NOTHING_CLAIMED[1],
)
PINNED = {
    "no Nova": (None, 0, Answer.UNKNOWN),
    "no Nova, and dedicated CPUs": (None, 4, Answer.YES),
    "it can't pin": (NO_CPUS, 0, Answer.NO),
    "it can pin": (NOTHING_CLAIMED, 0, Answer.YES),
    "it is not known": (({}, ()), 0, Answer.UNKNOWN),
}


@pytest.mark.parametrize(("says", "dedicated", "can"), PINNED.values(), ids=PINNED)
def test_a_pinned_server_is_on_a_host_that_can_pin(says, dedicated, can):
    free = {"VCPU": 4, "MEMORY_MB": 4096, "DISK_GB": 10}
    stock = {**free, "PCPU": dedicated} if dedicated else free
    body = {"cloud": {"a": {"inventories": stock}}}
    body["flavor"] = {"vcpus": 1, "ram": 512, "disk": 1, "hw:cpu_policy": "dedicated"}
    found = explained(body, [], special.NUMA_TOPOLOGY)
    if says is not None:
        answers, counts = says
        quiet = types.SimpleNamespace(answers=lambda *asked: answers, counts=counts)
        settings = found.question.assumptions
        claims = types.SimpleNamespace(emptied=quiet)
        settings = dataclasses.replace(settings, claims=claims)
        asked = dataclasses.replace(found.question, assumptions=settings)
        found = dataclasses.replace(found, question=asked)
    assert of_own_host(found, "a").can is can


@pytest.mark.parametrize(("place", "can"), [("a", Answer.NO), ("b", Answer.YES)])
def test_a_member_of_its_group_on_its_host_stands_against_it(place, can):
    body = {"cloud": {"a": {}, "b": {}}}
    asked = question(body, special.ANTI_AFFINITY)
    asked = dataclasses.replace(
        asked,
        group=group("anti-affinity", "s2"),
        servers={identity("s2"): (place,) * 2},
    )
    found = judgement_of(asked, body)
    assert of_own_host(found, "a").can is can
