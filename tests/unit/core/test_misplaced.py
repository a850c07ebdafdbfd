"""Servers against their own hosts: misplaced, fine, or not known."""

from __future__ import annotations

import pytest

from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.servers.fleet import Fleet
from tests.property.building import identity
from tests.unit.core.residents import FINE, Said, said, server

GOLD = {"trait:CUSTOM_GOLD": "required"}
NOT_GOLD = {"trait:CUSTOM_GOLD": "forbidden"}
LACKS, HAS = (
    "lacks trait CUSTOM_GOLD (flavor)",
    "has trait CUSTOM_GOLD (flavor)",
)
PLAIN, GOLDEN = {}, {"traits": ["CUSTOM_GOLD"]}


def cloud(**hosts):
    return {"cloud": hosts}


def isolated(*hosts):
    """Return an aggregate that is isolated by CUSTOM_GOLD."""
    return {"hosts": list(hosts), "metadata": {"trait:CUSTOM_GOLD": "required"}}


def inside(node, *aggregates):
    return {**node, "aggregates": list(aggregates)}


def test_a_host_that_lost_a_trait_could_not_be_given_and_another_could():
    two = cloud(a=PLAIN, b=GOLDEN)
    found = said(two, [server("s1", "a", GOLD), server("s2", "b", GOLD)])
    assert found == {"s1": Said("misplaced", (LACKS,), "yes"), "s2": FINE}


def test_a_host_that_got_a_forbidden_trait_could_not_be_given():
    found = said(cloud(a=GOLDEN), [server("s1", "a", NOT_GOLD)])
    assert found == {"s1": Said("misplaced", (HAS,), "no")}


def test_the_image_counts_as_it_is_now():
    found = said(cloud(a=PLAIN), [server("s1", "a", image="gold")])
    why = ("lacks trait CUSTOM_GOLD (image)",)
    assert found == {"s1": Said("misplaced", why, "no")}


def test_room_is_not_asked_for_here_and_is_elsewhere():
    used = {"VCPU": {"total": 8, "used": 8}, "MEMORY_MB": 4096, "DISK_GB": 100}
    full, full_and_gold = {"inventories": used}, {"inventories": used, **GOLDEN}
    servers = [server("s1", "a"), server("s2", "a", GOLD)]
    found = said(cloud(a=full, b=full_and_gold), servers)
    assert found == {"s1": FINE, "s2": Said("misplaced", (LACKS,), "no")}


def test_a_class_that_the_host_has_nothing_of_is_no_matter_of_room():
    specs = {"resources:CUSTOM_CARD": "1"}
    found = said(cloud(a=PLAIN), [server("s1", "a", specs)])
    assert found["s1"].why == ("has no CUSTOM_CARD (flavor)",)


def test_a_trait_has_to_be_where_the_amount_is_given():
    card = {"inventories": {"CUSTOM_CARD": 1}}
    node = {"children": [card, {**card, "traits": ["CUSTOM_RED"]}]}
    other = {"traits": ["CUSTOM_RED"], "children": [card]}
    specs = {"resources1:CUSTOM_CARD": "1", "trait1:CUSTOM_RED": "required"}
    servers = [server("s1", "a", specs), server("s2", "b", specs)]
    found = said(cloud(a=node, b=other), servers)
    assert found["s1"] == FINE
    why = "lacks trait CUSTOM_RED (group 1) (flavor) together with the rest"
    assert found["s2"] == Said("misplaced", (why,), "yes")


def test_an_isolated_aggregate_is_for_those_who_require_its_trait():
    body = {
        **cloud(a=inside(GOLDEN, "gold"), b=PLAIN),
        "aggregates": {"gold": isolated("a")},
    }
    servers = [server("s1", "a"), server("s2", "a", GOLD)]
    found = said(body, servers, enable_isolated_aggregate_filtering=True)
    why = "is in aggregate gold, isolated for CUSTOM_GOLD"
    assert found == {"s1": Said("misplaced", (why,), "yes"), "s2": FINE}
    assert said(body, servers) == {"s1": FINE, "s2": FINE}
    # The server that runs there is evidence against the option.
    unsure = Said("unknown", (f"depends on nova.conf: {why}",))
    assert said(body, servers, by_evidence=True) == {"s1": unsure, "s2": FINE}
    lost = said(body, [server("s1", "a", NOT_GOLD)], by_evidence=True)
    assert lost == {"s1": Said("misplaced", (HAS,), "yes")}


def test_a_deleted_image_may_have_opened_an_isolated_aggregate():
    body = {
        **cloud(a=inside(GOLDEN, "gold"), b=PLAIN),
        "aggregates": {"gold": isolated("a")},
    }
    servers = [
        server("s1", "a", image="deleted"),
        server("s2", "a", image=None),
        server("s3", "b", GOLD, image="deleted"),
    ]
    found = said(body, servers, enable_isolated_aggregate_filtering=True)
    gone = "its image is deleted, and so is what it required"
    volume = "it boots from a volume, and what image that is made of was not read"
    assert found == {
        "s1": Said("unknown", (gone,)),
        "s2": Said("unknown", (volume,)),
        # Whatever the image says, the flavor requires the trait.
        "s3": Said("misplaced", (LACKS,), "unknown"),
    }


def test_what_a_root_volume_is_made_of_counts_as_an_image():
    body = {
        **cloud(a=inside(GOLDEN, "gold"), b=PLAIN),
        "aggregates": {"gold": isolated("a")},
    }
    servers = [
        server(name, host, image=None) for name, host in (("s1", "a"), ("s2", "b"))
    ]
    gold = {"image_id": "gold", "min_disk": "0", **GOLD}
    found = said(
        body,
        servers,
        volumes={"s1": gold, "s2": gold},
        enable_isolated_aggregate_filtering=True,
    )
    assert found == {
        "s1": FINE,
        "s2": Said("misplaced", ("lacks trait CUSTOM_GOLD (image)",), "yes"),
    }
    found = said(body, servers, volumes={"s1": {}, "s2": {}})
    assert found == {"s1": FINE, "s2": FINE}


def test_the_image_of_a_root_volume_may_be_an_isolated_one():
    servers = [server("s1", "a", image=None), server("s2", "a", image=None)]
    volumes = {"s1": {"image_id": "i1"}, "s2": {"image_id": "i2"}}
    filters = ("IsolatedHostsFilter",)
    found = said(cloud(a=PLAIN), servers, *filters, volumes=volumes, isolated=("i1",))
    assert {name: each.answer for name, each in found.items()} == {
        "s1": "misplaced",
        "s2": "fine",
    }


def east_and_west(**more):
    return {
        **cloud(a=inside(PLAIN, "east"), b=inside(PLAIN, "west")),
        "aggregates": {
            name: {"hosts": [host], "metadata": {"availability_zone": f"az-{name}"}}
            for name, host in (("east", "a"), ("west", "b"))
        },
        **more,
    }


def test_a_zone_that_was_asked_for_is_compared_where_it_is_shown():
    servers = [
        server("s1", "a", pinned_availability_zone="az-west"),
        server("s2", "a", pinned_availability_zone="az-east"),
        server("s3", "a"),
    ]
    found = said(east_and_west(), servers)
    why = "is outside the availability zone of aggregate west"
    assert found.pop("s1") == Said("misplaced", (why,), "yes")
    assert found == {"s2": FINE, "s3": FINE}


def test_a_zone_that_new_servers_get_was_not_asked_for():
    found = said(east_and_west(), [server("s1", "a")], zone="az-west")
    assert found == {"s1": FINE}


def test_a_zone_that_is_not_shown_is_not_known_where_there_are_zones():
    found = said(east_and_west(), [server("s1", "a")], minor=95)
    why = "the requested availability zone is not shown before compute API 2.96"
    assert found == {"s1": Said("unknown", (why,))}
    assert said(cloud(a=PLAIN), [server("s1", "a")], minor=95) == {"s1": FINE}


@pytest.mark.parametrize(("filters", "answer"), [((), "fine"), (("x",), "unknown")])
def test_hints_that_are_not_shown_matter_where_a_filter_reads_them(filters, answer):
    on = ("DifferentHostFilter",) if filters else ("ComputeFilter",)
    found = said(cloud(a=PLAIN), [server("s1", "a")], *on, minor=99)
    assert found["s1"].answer == answer


def test_projects_are_kept_apart_by_the_prefilter_and_by_the_filter():
    body = {
        **cloud(a=inside(PLAIN, "theirs"), b=inside(PLAIN, "ours")),
        "aggregates": {
            "theirs": {"hosts": ["a"], "metadata": {"filter_tenant_id": "p2"}},
            "ours": {"hosts": ["b"], "metadata": {"filter_tenant_id": "p1"}},
        },
    }
    servers = [server("s1", "a"), server("s2", "b"), server("s3", "a", tenant_id="p2")]
    found = said(body, servers, limit_tenants_to_placement_aggregate=True)
    why = "is outside the project's aggregate ours"
    assert found == {"s1": Said("misplaced", (why,), "yes"), "s2": FINE, "s3": FINE}
    found = said(body, servers, "AggregateMultiTenancyIsolation")
    by = "filter_tenant_id (AggregateMultiTenancyIsolation)"
    why = f"is reserved for other projects by {by}"
    assert found == {"s1": Said("misplaced", (why,), "yes"), "s2": FINE, "s3": FINE}


def test_a_project_without_an_aggregate_is_refused_with_all_hosts():
    options = ("limit_tenants_to_placement_aggregate",)
    options += ("placement_aggregate_required_for_tenants",)
    found = said(cloud(a=PLAIN), [server("s1", "a")], **dict.fromkeys(options, True))
    assert found["s1"].answer == "misplaced"
    assert found["s1"].why[0].startswith("Nova rejects it on every host: ")
    assert found["s1"].destination == "no"


def group(policy, *members, most=1):
    return ServerGroup("pair", policy, most, frozenset(map(identity, members)))


APART = ("ServerGroupAntiAffinityFilter", "ServerGroupAffinityFilter")


def test_two_of_a_group_that_are_to_be_apart_are_both_misplaced():
    servers = [server("s1", "a"), server("s2", "a"), server("s3", "b")]
    groups = [group("anti-affinity", "s1", "s2", "s3")]
    found = said(cloud(a=PLAIN, b=PLAIN), servers, *APART, groups=groups)
    why = "already runs a member of group pair (max 1) (ServerGroupAntiAffinityFilter)"
    assert found == {
        "s1": Said("misplaced", (why,), "no"),
        "s2": Said("misplaced", (why,), "no"),
        "s3": FINE,
    }


def test_a_group_may_have_more_than_one_on_a_host():
    servers = [server("s1", "a"), server("s2", "a")]
    groups = [group("anti-affinity", "s1", "s2", most=2)]
    assert set(said(cloud(a=PLAIN), servers, *APART, groups=groups).values()) == {FINE}


def test_one_of_a_group_that_is_away_from_the_others_is_misplaced():
    servers = [server("s1", "a"), server("s2", "a"), server("s3", "b")]
    groups = [group("affinity", "s1", "s2", "s3")]
    found = said(cloud(a=PLAIN, b=PLAIN, c=PLAIN), servers, *APART, groups=groups)
    why = "runs no member of group pair, which is on a (ServerGroupAffinityFilter)"
    assert found == {"s1": FINE, "s2": FINE, "s3": Said("misplaced", (why,), "yes")}


def test_a_group_that_is_to_be_together_holds_the_only_one_it_has_on_a_host():
    """nova/scheduler/utils.py, setup_instance_group: as it is for a move"""
    two, servers = cloud(a=PLAIN, b=GOLDEN), [server("s1", "a", GOLD)]
    groups = [group("affinity", "s1")]
    found = said(two, servers, *APART, groups=groups)
    assert found == {"s1": Said("misplaced", (LACKS,), "no")}
    assert said(two, servers, *APART)["s1"].destination == "yes"


def test_a_group_whose_filter_is_off_is_refused():
    groups = [group("affinity", "s1")]
    found = said(cloud(a=PLAIN), [server("s1", "a")], groups=groups)
    assert found["s1"].answer == "misplaced"
    (why,) = found["s1"].why
    assert "ServerGroupAffinityFilter" in why
    # It is there, and a list has no room for what would become of a new one.
    assert "goes to ERROR" not in why


def test_a_group_of_which_a_server_was_not_looked_for_is_not_known():
    groups = [group("affinity", "s1", "s2")]
    servers = [server("s1", "a")]
    found = said(
        cloud(a=PLAIN), servers, *APART, groups=groups, unplaced=[identity("s2")]
    )
    why = "not all servers of its group or hints were looked for"
    assert found == {"s1": Said("unknown", (why,))}


def test_another_host_is_not_certain_where_its_group_was_not_all_looked_for():
    groups = [group("anti-affinity", "s1", "s2")]
    two, servers = cloud(a=PLAIN, b=GOLDEN), [server("s1", "a", GOLD)]
    assert said(two, servers, *APART, groups=groups)["s1"].destination == "yes"
    found = said(two, servers, *APART, groups=groups, unplaced=[identity("s2")])
    assert found == {"s1": Said("misplaced", (LACKS,), "unknown")}


def test_hints_go_by_where_the_other_servers_are():
    first, last = identity("s1"), identity("s4")
    hints = {"different_host": [first], "group": ["g"]}
    servers = [
        server("s1", "a"),
        server("s2", "a", scheduler_hints=hints),
        server("s3", "b", scheduler_hints={"same_host": first}),
        server("s4", "b", scheduler_hints={"different_host": [first, last]}),
    ]
    on = ("SameHostFilter", "DifferentHostFilter")
    found = said(cloud(a=PLAIN, b=PLAIN), servers, *on)
    assert found == {
        "s1": FINE,
        "s2": Said(
            "misplaced",
            ("runs a server of hint different_host (DifferentHostFilter)",),
            "yes",
        ),
        "s3": Said(
            "misplaced",
            ("runs no server of hint same_host (SameHostFilter)",),
            "yes",
        ),
        "s4": FINE,
    }


def test_what_the_server_itself_uses_is_no_capability():
    servers = [
        server("s1", "a", {"capabilities:free_ram_mb": ">= 99999"}),
        server("s2", "a", {"capabilities:hypervisor_type": "fake"}),
        server("s3", "a", {"capabilities:stats:num_instances": "<= 0"}),
        server("s4", "a", scheduler_hints={"query": '[">=", "$free_ram_mb", 99999]'}),
        server("s5", "a", scheduler_hints={"query": '["=", "$nodename", "b"]'}),
    ]
    found = said(cloud(a=PLAIN), servers, "ComputeCapabilitiesFilter", "JsonFilter")
    assert {name: each.answer for name, each in found.items()} == {
        "s1": "fine",
        "s2": "misplaced",
        "s3": "fine",
        "s4": "unknown",
        "s5": "misplaced",
    }


def test_filters_that_compare_amounts_are_not_asked():
    specs = {"hw:numa_nodes": "1", "pci_passthrough:alias": "card:1"}
    on = (
        "AggregateNumInstancesFilter",
        "IoOpsFilter",
        "NUMATopologyFilter",
        "NumInstancesFilter",
        "PciPassthroughFilter",
    )
    assert said(cloud(a=PLAIN), [server("s1", "a", specs)], *on) == {"s1": FINE}


def test_ones_own_filter_may_keep_the_host_out():
    found = said(cloud(a=PLAIN), [server("s1", "a")], "OurFilter")
    assert found["s1"].answer == "unknown"
    assert found["s1"].why[0].startswith("its host is not known to pass OurFilter")


def test_a_host_that_nova_does_not_list_says_nothing():
    found = said(cloud(a=PLAIN), [server("s1", "gone")])
    assert found["s1"].answer == "unknown"


def test_servers_are_kept_once_for_all_that_were_asked_for_alike():
    fleet = Fleet(100)
    fleet.add(server(f"s{number}", "a") for number in range(5))
    fleet.add([server("s5", "a", GOLD), server("s6", None)])
    assert (len(fleet.residents), len(fleet.kinds)) == (6, 2)
    assert fleet.homeless == 1
    assert len({id(each.project) for each in fleet.residents}) == 1
