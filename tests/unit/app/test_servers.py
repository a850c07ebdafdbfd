"""Servers that exist: what is read of them, and what they are in the way of."""

from __future__ import annotations

import pytest

from osc_traitsched.app import trait
from osc_traitsched.cloud import servers
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.snapshot import Selectors
from osc_traitsched.core.servers.fleet import ServersLoseHosts
from tests.unit.app import shorthands
from tests.unit.app.recorded import (
    BODIES,
    CMP01,
    CMP02,
    CMP03,
    GPU,
    IMAGE,
    ROCKY,
    RecordedCloud,
    providers,
)

A100 = {"resources1:VGPU": "1", "trait1:CUSTOM_A100": "required"}
GOLDEN = {"trait:CUSTOM_GOLD": "required"}
UNREAD = "whether a server still requires it can't be read"
THE_GPU = Selectors(providers=("cmp01_gpu",))
HOSTS = (CMP01, CMP02, CMP03)
SIZE = {"original_name": "any", "vcpus": 4, "ram": 4096, "disk": 20}


def body(name, host, extra_specs, node=None, image=IMAGE):
    """Return what the compute API lists; without extra specs policy hides them.

    :param image: its ID; None for a server that boots from a volume
    """
    shown = {} if extra_specs is None else {"extra_specs": extra_specs}
    return {
        "id": f"{name}-id",
        "name": name,
        "tenant_id": "project",
        "OS-EXT-SRV-ATTR:host": host,
        "OS-EXT-SRV-ATTR:hypervisor_hostname": node or host,
        "flavor": {**SIZE, **shown},
        "image": {"id": image} if image else "",
    }


def page(host):
    return f"/servers/detail?all_tenants=1&host={host}&limit=1000"


#: All servers of the cloud, those on no host too.
EVERY = "/servers/detail?all_tenants=1&limit=1000"


def images_of_ids(*found, ids=(IMAGE,)):
    """Return what Glance lists where it is asked for images by their IDs."""
    asked = f"/images?id=in:{','.join(ids)}&visibility=all&limit=1000&os_hidden="
    return {f"{asked}false": {"images": [*found]}, f"{asked}true": {"images": []}}


def cloud(compute, placement=None, image=None):
    """Return a cloud where CUSTOM_A100 is on one GPU, and nothing new requires it."""
    asked = "/images?trait:{}=required&visibility=all&limit=1000&os_hidden={}"
    return RecordedCloud(
        compute=compute,
        placement={
            "/resource_providers?required=CUSTOM_A100": providers(GPU),
            "/resource_providers?resources=VGPU:1": providers(GPU),
            **(placement or {}),
        },
        image={
            asked.format(name, hidden): {"images": []}
            for name in ("CUSTOM_A100", "CUSTOM_GOLD")
            for hidden in ("false", "true")
        }
        | {
            f"/images?visibility=all&limit=1000&os_hidden={hidden}": {"images": []}
            for hidden in ("false", "true")
        }
        | images_of_ids(ROCKY)
        | (image or {}),
    )


def listed(*bodies):
    return {"servers": list(bodies)}


def asked_servers(found):
    return [dict(query) for path, query in found.compute.asked if "servers" in path]


def test_the_servers_of_some_hosts_take_a_request_a_host_and_one_a_page():
    found = cloud(
        {
            page("cmp01"): listed(body("a", "cmp01", {}), body("b", "cmp01", GOLDEN)),
            page("cmp02"): listed(body("c", "cmp02", None)),
            page("cmp03"): listed(),
        }
    )
    read = servers.on_nodes(found, HOSTS)
    assert [(each.name, each.of_flavor) for each in read] == [
        ("a", frozenset()),
        ("b", {"CUSTOM_GOLD"}),
        ("c", None),
    ]
    asked = [each["host"] for each in asked_servers(found)]
    assert asked == ["cmp01", "cmp01", "cmp02", "cmp02", "cmp03"]


def test_of_a_host_with_several_nodes_the_servers_on_the_others_do_not_count():
    found = cloud(
        {page("cmp01"): listed(body("a", "cmp01", {}), body("b", "cmp01", {}, "node2"))}
    )
    assert [each.name for each in servers.on_nodes(found, [CMP01])] == ["a"]


def remove(found, force=False, name="CUSTOM_A100"):
    return trait.plan_remove(found, trait.TraitSelection([name], THE_GPU, force=force))


def test_a_trait_that_a_server_requires_does_not_go_from_its_last_host():
    found = cloud({EVERY: listed(body("a", "cmp01", A100))})
    (refusal,) = remove(found).refusals
    assert lost(refusal) == ["a"]
    assert refusal.traits == {"CUSTOM_A100"}


@pytest.mark.parametrize("host", [None, "cmp02"], ids=["shelved", "misplaced"])
def test_a_server_on_no_host_or_on_another_needs_the_trait_as_well(host):
    found = cloud({EVERY: listed(body("a", host, A100))})
    (refusal,) = remove(found).refusals
    assert f"'a' (a-id, on {host or 'no host'})" in str(refusal)
    assert remove(cloud({EVERY: listed(body("a", host, GOLDEN))})).refusals == ()


def test_force_removes_it_and_names_the_servers_that_require_it():
    found = cloud({EVERY: listed(body("a", "cmp01", A100))})
    todo = remove(found, force=True)
    assert todo.plan.has_changes
    assert ServersLoseHosts in map(type, todo.refusals)


def lost(refusal):
    return [server.name for server in refusal.servers]


@pytest.mark.parametrize("others", [(), [CMP02]])
def test_where_no_server_names_the_trait_its_hosts_are_not_read(others):
    found = cloud(
        {EVERY: listed(*(body(n, "cmp01", GOLDEN) for n in ("a", "b", "c")))},
        {"/resource_providers?required=CUSTOM_A100": providers(GPU, *others)},
    )
    assert remove(found).refusals == ()
    # The list, and the page that ends it.
    assert len(asked_servers(found)) == 2
    assert not any("candidates" in path for path, _ in found.placement.asked)


def test_servers_that_can_t_be_read_are_told_where_another_host_keeps_the_trait():
    why = CloudBroke("compute", "no", 403)
    kept = {"/resource_providers?required=CUSTOM_A100": providers(GPU, CMP02)}
    todo = remove(cloud({EVERY: why}, kept))
    assert (todo.refusals, todo.unread) == ((), why)


def test_a_trait_that_no_server_requires_goes():
    found = cloud({EVERY: listed(body("a", "cmp01", GOLDEN))})
    assert remove(found).plan.has_changes


def test_a_server_whose_extra_specs_are_hidden_is_in_the_way_too():
    found = cloud({EVERY: listed(body("a", "cmp01", None))})
    (refusal,) = remove(found).refusals
    assert UNREAD in str(refusal)


def test_where_servers_can_t_be_read_a_trait_does_not_go_from_its_last_host():
    found = cloud({EVERY: CloudBroke("compute", "no", 403)})
    assert UNREAD in str(remove(found).refusals[-1])


def test_a_trait_that_a_server_s_image_requires_does_not_go_from_its_last_host():
    requiring = images_of_ids({**ROCKY, "trait:CUSTOM_A100": "required"})
    gpu = {"resources:VGPU": "1"}
    compute = {EVERY: listed(body("a", "cmp01", gpu), body("b", "cmp01", gpu))}
    (refusal,) = remove(cloud(compute, image=requiring)).refusals
    assert lost(refusal) == ["a", "b"]
    forbidding = images_of_ids({**ROCKY, "trait:CUSTOM_A100": "forbidden"})
    assert remove(cloud(compute, image=forbidding)).plan.has_changes


@pytest.mark.parametrize(
    ("image", "found"), [(IMAGE, images_of_ids()), (None, images_of_ids(ids=()))]
)
def test_a_server_without_an_image_to_look_at_is_not_in_the_way(image, found):
    compute = {EVERY: listed(body("a", "cmp01", {}, image=image))}
    assert remove(cloud(compute, image=found)).refusals == ()
    needed = {EVERY: listed(body("a", "cmp01", A100, image=image))}
    (refusal,) = remove(cloud(needed, image=found)).refusals
    assert isinstance(refusal, ServersLoseHosts)


def test_where_images_can_t_be_read_a_trait_does_not_go_from_its_last_host():
    broken = dict.fromkeys(images_of_ids(), CloudBroke("image", "no", 403))
    compute = {EVERY: listed(body("a", "cmp01", {}))}
    assert UNREAD in str(remove(cloud(compute, image=broken)).refusals[-1])


def test_the_images_of_many_servers_are_asked_for_by_the_hundred():
    ids = [f"{number:08}-0000-4000-8000-000000000000" for number in range(150)]
    known = [{**ROCKY, "id": each} for each in ids]
    found = cloud(
        {page("cmp01"): listed(*(body(i, "cmp01", {}, image=i) for i in ids))},
        image={
            **images_of_ids(*known[:100], ids=ids[:100]),
            **images_of_ids(*known[100:], ids=ids[100:]),
        },
    )
    assert {each.of_image for each in servers.on_nodes(found, [CMP01])} == {frozenset()}
    # Each list ends with an empty page.
    assert len(found.image.asked) == 6


def without_node(host):
    """Return what Nova lists where one host has no mapping."""
    listed = RecordedCloud().compute.get("/os-hypervisors/detail")["hypervisors"]
    return {
        "/os-hypervisors/detail": {
            "hypervisors": [each for each in listed if each["id"] != host]
        }
    }


MARKED = "/resource_providers?required=COMPUTE_NODE"


def test_a_host_that_nova_does_not_list_keeps_a_trait_that_no_other_has():
    found = cloud(without_node(CMP01), {MARKED: providers(CMP01, CMP02, CMP03)})
    (refusal,) = remove(found).refusals
    assert "Nova does not list the compute nodes of cmp01, nor" in str(refusal)
    assert remove(found, force=True).plan.has_changes


@pytest.mark.parametrize(
    "marked", [providers(CMP02, CMP03), CloudBroke("placement", "no such trait", 400)]
)
def test_a_root_that_no_nova_compute_made_has_no_servers(marked):
    found = cloud({**without_node(CMP01), EVERY: listed()}, {MARKED: marked})
    assert remove(found).plan.has_changes


# Isolating


def isolated(compute, outside=(), image=None):
    """Return a cloud whose aggregate gold has cmp01 and cmp03."""
    return cloud(
        compute,
        {
            "/resource_classes": {"resource_classes": [{"name": "VCPU"}]},
            "/resource_providers?required=CUSTOM_GOLD": providers(
                CMP01, CMP03, *outside
            ),
            **{
                f"/resource_providers/{uuid}/traits": {
                    "traits": ["CUSTOM_GOLD"],
                    "resource_provider_generation": 1,
                }
                for uuid in outside
            },
        },
        image,
    )


def isolate(found, *others):
    """Isolate the aggregate gold, which is open."""
    gold, zone = BODIES["compute"]["/os-aggregates"]["aggregates"]
    bodies = [{**gold, "metadata": {}}, *(others or [zone])]
    found.compute.now_has("/os-aggregates", {"aggregates": bodies})
    return shorthands.isolated(found, "gold", ["CUSTOM_GOLD"]).misplaced["gold"]


def test_isolating_says_which_servers_stay_on_either_side():
    found = isolated(
        {
            page("cmp01"): listed(body("a", "cmp01", {}), body("b", "cmp01", GOLDEN)),
            page("cmp02"): listed(body("c", "cmp02", GOLDEN), body("d", "cmp02", {})),
            page("cmp03"): listed(),
        },
        outside=[CMP02],
    )
    said = isolate(found)
    assert [each.name for each in said.inside] == ["a"]
    assert [each.name for each in said.outside] == ["c"]
    assert {each.get("host") for each in asked_servers(found)} == {
        None,
        "cmp01",
        "cmp02",
        "cmp03",
    }


@pytest.mark.parametrize(("trait", "told"), [("GOLD", []), ("SILVER", ["c"])])
def test_servers_that_another_aggregate_keeps_for_the_same_are_on_no_wrong_side(
    trait, told
):
    found = isolated(
        {
            page("cmp01"): listed(),
            page("cmp02"): listed(body("c", "cmp02", GOLDEN)),
            page("cmp03"): listed(),
        },
        outside=[CMP02],
    )
    _, zone = BODIES["compute"]["/os-aggregates"]["aggregates"]
    key = f"trait:CUSTOM_{trait}"
    other = {**zone, "hosts": ["cmp02"], "metadata": {key: "required"}}
    assert [each.name for each in isolate(found, other).outside] == told


def test_isolating_counts_what_the_images_of_servers_require():
    golden = "1a000002-0000-4000-8000-000000000000"
    bodies = {"a": {}, "b": {"image": golden}, "c": {"image": None}}
    found = isolated(
        {
            page("cmp01"): listed(
                *(body(n, "cmp01", {}, **b) for n, b in bodies.items())
            ),
            page("cmp02"): listed(
                *(body(n, "cmp02", {}, **b) for n, b in bodies.items())
            ),
            page("cmp03"): listed(),
        },
        outside=[CMP02],
        image=images_of_ids(
            ROCKY,
            {**ROCKY, "id": golden, "trait:CUSTOM_GOLD": "required"},
            ids=(IMAGE, golden),
        ),
    )
    said = isolate(found)
    assert [(each.name, each.host) for each in said.inside] == [("a", "cmp01")]
    assert [(each.name, each.host) for each in said.outside] == [("b", "cmp02")]
    assert [(each.name, each.host) for each in said.without_image] == [
        ("c", "cmp01"),
        ("c", "cmp02"),
    ]


def test_hosts_outside_that_lack_the_trait_are_not_asked_for_their_servers():
    found = isolated({page("cmp01"): listed(), page("cmp03"): listed()})
    assert isolate(found).inside == ()
    asked = [each.get("host") for each in asked_servers(found)]
    assert asked == [None, "cmp01", "cmp03"]


def test_isolating_goes_on_where_servers_can_t_be_read_and_says_so():
    why = CloudBroke("compute", "no", 403)
    assert isolate(isolated({page("cmp01"): why})) is why


def test_hosts_of_an_aggregate_keep_a_trait_that_only_they_have_and_a_server_requires():
    servers = {
        EVERY: listed(body("a", "cmp01", GOLDEN), body("b", "cmp03", {})),
    }
    todo, _ = shorthands.opened(isolated(servers), "gold", remove_traits=True)
    (refusal,) = [r for r in todo.refusals if isinstance(r, ServersLoseHosts)]
    assert lost(refusal) == ["a"]
    # On cmp02 the server could be.
    elsewhere = isolated({}, outside=[CMP02])
    todo, _ = shorthands.opened(elsewhere, "gold", remove_traits=True)
    assert not any(isinstance(each, ServersLoseHosts) for each in todo.refusals)


def test_opening_an_aggregate_takes_no_trait_away_and_reads_no_servers_and_images():
    found = isolated({})
    plan = shorthands.opened(found, "gold")[0].plan
    assert [(c.object.name, *c.removed) for c in plan.changes] == [
        ("gold", "trait:CUSTOM_GOLD")
    ]
    assert not asked_servers(found)
    assert not found.image.asked
