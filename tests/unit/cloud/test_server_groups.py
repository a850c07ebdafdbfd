"""Server groups, and where their servers are, of recorded answers."""

from __future__ import annotations

import pytest

from osc_traitsched.cloud import request_parts
from osc_traitsched.core.errors import AmbiguousName, CloudBroke, Hidden, NothingMatches
from tests.unit.app.recorded import OTHER, OWN, RecordedCloud

FIRST = "/os-server-groups?all_projects=true&offset=0"
HOST, NODE = "OS-EXT-SRV-ATTR:host", "OS-EXT-SRV-ATTR:hypervisor_hostname"


def group(number, name="web", policy="anti-affinity", project=OWN, **more):
    return {
        "id": f"90000000-0000-4000-8000-00000000000{number}",
        "name": name,
        "policy": policy,
        "project_id": project,
        "rules": {},
        "members": ["s1", "s2"],
        **more,
    }


def cloud(*groups, **servers):
    """Return a cloud with these groups, the last of them on a second page."""
    pages = {FIRST: groups[:-1], f"{FIRST[:-1]}{len(groups) - 1}": groups[-1:]}
    found = {path: {"server_groups": list(each)} for path, each in pages.items()}
    found[f"{FIRST[:-1]}{len(groups)}"] = {"server_groups": []}
    for name, body in servers.items():
        is_there = not isinstance(body, Exception)
        found[f"/servers/{name}"] = {"server": body} if is_there else body
    return RecordedCloud(compute=found)


def test_a_group_is_found_by_its_name_or_its_id_on_whatever_page():
    groups = group(1, "db"), group(2, rules={"max_server_per_host": 3})
    for name in ("web", groups[1]["id"]):
        found = request_parts.group(cloud(*groups), name)
        assert (found.name, found.policy) == ("web", "anti-affinity")
        assert (found.max_server_per_host, found.members) == (3, {"s1", "s2"})
    assert request_parts.group(cloud(*groups), "db").max_server_per_host == 1


def test_a_group_that_is_not_there_is_told_with_those_of_like_names():
    with pytest.raises(NothingMatches) as nothing:
        request_parts.group(cloud(group(1, "frontend"), group(2)), "frontent")
    assert nothing.value.nearest == ("frontend",)


def test_a_name_that_groups_of_two_projects_have_is_ambiguous():
    with pytest.raises(AmbiguousName):
        request_parts.group(cloud(group(1), group(2, project=OTHER)), "web")


def test_servers_are_where_nova_has_them_and_others_are_nowhere():
    gone = CloudBroke("compute", "Instance s2 could not be found.", 404)
    found = request_parts.whereabouts(
        cloud(group(1), s1=placed("a", "a1"), s2=gone, s3=placed(None, None)),
        ["s3", "s2", "s1", "s1"],
    )
    assert (found.nodes, found.silent) == ({"s1": ("a", "a1")}, set())


def test_of_a_server_in_a_cell_that_does_not_answer_it_is_not_known_where_it_is():
    """nova/api/openstack/compute/views/servers.py, _show_from_down_cell"""
    partial = {"id": "s2", "status": "UNKNOWN", "tenant_id": OWN, "links": []}
    found = request_parts.whereabouts(
        cloud(group(1), s1=placed("a", "a1"), s2=partial), ["s1", "s2"]
    )
    assert (found.nodes, found.silent) == ({"s1": ("a", "a1")}, {"s2"})


def placed(host, node):
    return {"name": "web", HOST: host, NODE: node}


def test_who_may_not_see_the_hosts_of_servers_gets_no_answer():
    with pytest.raises(Hidden, match="os-extended-server-attributes"):
        request_parts.whereabouts(cloud(group(1), s1={"name": "web"}), ["s1"])
