"""Servers as Nova shows them: one, those of hosts, groups, builds and cells."""

from __future__ import annotations

import types

import pytest

from osc_traitsched.cloud import request_parts, servers, service
from osc_traitsched.core.errors import (
    AmbiguousName,
    CloudBroke,
    Forbidden,
    Hidden,
    NoServer,
    NothingMatches,
)
from osc_traitsched.core.servers.state import moment, read_state
from tests.services.pages import after
from tests.unit.app.recorded import OTHER, OWN, RecordedCloud
from tests.unit.cloud.services import Answering
from tests.unit.core import residents

# Where servers are being built, of answers that a test says.


HOST = "OS-EXT-SRV-ATTR:host"
SEEN = ("2026-01-01T00:02:50.000000", None, "2026-01-01T00:03:05.000000")
#: Three minutes before the newest of these.
SINCE = "2026-01-01T00:00:05Z"


def server(name, host):
    return {"id": name, HOST: host}


def cloud(building=(), changed=(), moved=(), seen=SEEN, **instead):
    """Return a cloud with these servers; an exception is raised instead of a list."""
    servers = {"BUILD": list(building), None: list(changed)}
    found = {
        "/os-services": {"services": [{"updated_at": each} for each in seen]},
        "/os-migrations": {"migrations": [{"source_compute": each} for each in moved]},
    }

    def answer(path, query):
        if path in instead:
            raise instead[path]
        if path == "/servers/detail":
            return after(query, {"servers": servers[query.get("status")]})
        return found[path]

    return types.SimpleNamespace(compute=Answering(answer))


def test_what_is_being_built_has_changed_or_was_moved_away_counts_once_per_server():
    found = servers.by_host(
        cloud(
            [server("1", "a"), server("2", "b"), server("3", None)],
            [server("1", "a"), server("4", "a")],
            ["c", None],
        )
    )
    assert found == {"a": 2, "b": 1, "c": 1}


def test_changes_are_those_of_the_last_minutes_by_novas_own_clock():
    nova = cloud([server("1", "a")])
    servers.by_host(nova)
    all_servers = {"all_tenants": "1", "limit": "1000"}
    assert nova.compute.asked == [
        ("/os-services", {"binary": "nova-compute"}),
        ("/servers/detail", {**all_servers, "status": "BUILD"}),
        ("/servers/detail", {**all_servers, "status": "BUILD", "marker": "1"}),
        ("/servers/detail", {**all_servers, "changes-since": SINCE}),
        ("/os-migrations", {"changes-since": SINCE, "limit": "1000"}),
    ]


@pytest.mark.parametrize("path", ["/os-services", "/servers/detail", "/os-migrations"])
def test_what_the_user_may_not_list_is_not_known_and_a_failure_is_one(path):
    assert servers.by_host(cloud(**{path: Forbidden("compute", "no")})) is None
    with pytest.raises(CloudBroke):
        servers.by_host(cloud(**{path: CloudBroke("compute", "no", 500)}))


@pytest.mark.parametrize("seen", [(), (None,), ("yesterday",)])
def test_without_a_time_of_novas_nothing_is_known(seen):
    assert servers.by_host(cloud(seen=seen)) is None


def test_without_the_hosts_of_servers_nothing_is_known():
    assert servers.by_host(cloud([{"id": "1"}])) is None


def test_more_than_a_few_pages_are_not_read():
    many = [server(str(number), "a") for number in range(3001)]
    assert servers.by_host(cloud(changed=many[1:])) == {"a": 3000}
    assert servers.by_host(cloud(changed=many)) is None
    assert servers.by_host(cloud(many)) is None
    assert servers.by_host(cloud(moved=["a"] * 1000)) is None


# One server by its name or its ID, of recorded answers.


ID, OTHER_ID = (f"5e000000-0000-4000-8000-00000000000{n}" for n in "12")
GONE = CloudBroke("compute", "Instance could not be found.", 404)
NOT_ALLOWED = Forbidden("compute", "Policy doesn't allow it")
EXISTING_SERVERS_SINCE = moment("2026-11-22T12:00:00Z")


def body(identity=ID, name="web", project=OWN, **more):
    return {
        "id": identity,
        "name": name,
        "status": "ERROR",
        "tenant_id": project,
        "created": "2026-11-22T12:00:00Z",
        "flavor": {"original_name": "gold", "vcpus": 1, "ram": 1, "disk": 1},
        "image": "",
        **more,
    }


def listed(pattern, everywhere="1"):
    tenants = f"&all_tenants={everywhere}" if everywhere else ""
    return f"/servers/detail?name={pattern}{tenants}"


def begins(letters, everywhere="1"):
    tenants = f"&all_tenants={everywhere}" if everywhere else ""
    return f"/servers?name=^{letters}&limit=200{tenants}"


def existing_servers_cloud(**bodies):
    return RecordedCloud(compute=bodies.pop("compute", bodies))


def test_an_id_takes_one_request():
    found = existing_servers_cloud(compute={f"/servers/{ID}": {"server": body()}})
    assert servers.server(found, ID)["id"] == ID
    assert len(found.compute.asked) == 1


def test_a_server_of_a_cell_that_is_down_is_told_so():
    """From 2.69 on Nova shows what it has of it elsewhere, which is not its name."""
    partial = {"id": ID, "status": "UNKNOWN", "tenant_id": OWN, "created": "x"}
    found = existing_servers_cloud(compute={f"/servers/{ID}": {"server": partial}})
    with pytest.raises(CloudBroke, match=f"the cell that server {ID} is in"):
        servers.server(found, ID)


def test_an_answer_of_another_shape_is_not_taken():
    strange = existing_servers_cloud(
        compute={f"/servers/{ID}": {"server": body(flavor={})}}
    )
    with pytest.raises(CloudBroke, match="unexpected answer to GET /servers"):
        servers.server(strange, ID)


def test_a_name_is_no_pattern():
    alike = {"servers": [body(OTHER_ID, "webx"), body(name="web.1")]}
    found = existing_servers_cloud(
        compute={
            listed(r"^web\.1$"): alike,
            f"/servers/{ID}": {"server": body(name="web.1")},
        }
    )
    assert servers.server(found, "web.1")["id"] == ID


def test_a_name_that_two_servers_have_is_ambiguous():
    found = existing_servers_cloud(
        compute={listed("^web$"): {"servers": [body(), body(OTHER_ID, project=OTHER)]}}
    )
    with pytest.raises(AmbiguousName) as wrong:
        servers.server(found, "web")
    assert [(e.id, e.owner) for e in wrong.value.namesakes] == [
        (ID, OWN),
        (OTHER_ID, OTHER),
    ]


def test_a_server_that_is_gone_is_no_server():
    pattern = ID.replace("-", r"\-")
    gone = {f"/servers/{ID}": GONE, listed(f"^{pattern}$"): {"servers": []}}
    with pytest.raises(NoServer, match=ID):
        servers.server(existing_servers_cloud(compute=gone), ID)
    listed_once = {listed("^web$"): {"servers": [body()]}, f"/servers/{ID}": GONE}
    with pytest.raises(NoServer, match="web"):
        servers.server(existing_servers_cloud(compute=listed_once), "web")


def test_who_may_not_list_all_projects_servers_has_the_own_ones():
    found = existing_servers_cloud(
        compute={
            listed("^web$"): NOT_ALLOWED,
            listed("^web$", ""): {"servers": [body()]},
            f"/servers/{ID}": {"server": body()},
        }
    )
    assert servers.server(found, "web")["id"] == ID


def test_an_unknown_name_brings_those_like_it():
    alike = {"servers": [{"name": "web-1"}, {"name": "weather"}]}
    found = existing_servers_cloud(
        compute={listed("^web1$"): {"servers": []}, begins("we"): alike},
    )
    with pytest.raises(NoServer, match=r"'web1'; did you mean web-1\?"):
        servers.server(found, "web1")


@pytest.mark.parametrize("own_only", [False, True])
def test_whoever_may_not_list_all_is_told_so_where_there_is_none(own_only):
    none = {"servers": []}
    everywhere = NOT_ALLOWED if own_only else none
    found = existing_servers_cloud(
        compute={
            listed("^web$"): everywhere,
            listed("^web$", ""): none,
            begins("we", "" if own_only else "1"): none,
        }
    )
    with pytest.raises(NoServer):
        servers.server(found, "web")
    assert ("servers of other projects" in service.unread(found)) == own_only


@pytest.mark.parametrize(
    ("maximum", "minor"),
    [("2.79", 79), ("2.96", 96), ("2.100", 100), ("2.104", 100), (None, 79)],
)
def test_the_highest_microversion_is_taken_that_is_known_here(maximum, minor):
    found = existing_servers_cloud()
    found.compute_maximum = maximum
    assert servers.minor_version(found) == minor


def test_what_a_user_may_not_list_is_named_and_the_rest_is_read():
    then = "changes-since=2026-11-22T12:00:00Z&limit=100"
    down = {"binary": "nova-compute", "host": "cmp02", "state": "down"}
    found = existing_servers_cloud(
        compute={
            "/os-services": {
                "services": [{**down, "updated_at": "2026-11-22T13:00:00.0"}]
            },
            f"/servers/detail?{then}&all_tenants=1": {"servers": []},
            f"/os-migrations?{then}": NOT_ALLOWED,
        }
    )
    changed = servers.changes_since(found, read_state(body()), EXISTING_SERVERS_SINCE)
    assert (changed.went_down, changed.unread) == (("cmp02",), ("migrations",))
    assert not changed.is_cut


def test_a_full_page_may_not_be_all():
    then = "changes-since=2026-11-22T12:00:00Z&limit=100"
    many = {"id": "x", "created": "2026-11-22T11:00:00Z", "status": "ACTIVE"}
    found = existing_servers_cloud(
        compute={
            "/os-services": {"services": []},
            f"/servers/detail?{then}&all_tenants=1": {"servers": [many] * 100},
            f"/os-migrations?{then}": {"migrations": []},
        }
    )
    assert servers.changes_since(
        found, read_state(body()), EXISTING_SERVERS_SINCE
    ).is_cut


@pytest.mark.parametrize(
    ("attached", "root"),
    [
        ([("v1", None)], "v1"),
        ([("v1", "/dev/vdb"), ("v2", "/dev/vda")], "v2"),
        ([("v1", None), ("v2", None)], None),
        ([], None),
    ],
)
def test_the_root_volume_is_the_one_at_the_root_device(attached, root):
    found = [{"volumeId": volume, "device": device} for volume, device in attached]
    path = f"/servers/{ID}/os-volume_attachments"
    asked = body(**{"OS-EXT-SRV-ATTR:root_device_name": "/dev/vda"})
    has = existing_servers_cloud(compute={path: {"volumeAttachments": found}})
    assert servers.root_volume(has, asked) == root


# Many servers, and the cells that do not show theirs.


def test_the_hosts_of_a_cell_that_does_not_answer_are_those_of_status_unknown():
    """nova/api/openstack/compute/services.py, _get_service_detail"""
    services = [
        {"binary": "nova-compute", "host": "cmp1", "status": "UNKNOWN"},
        {"binary": "nova-compute", "host": "cmp2", "status": "disabled", "id": "2"},
        {"binary": "nova-compute", "host": "cmp3", "status": "enabled", "id": "3"},
    ]
    path = "/os-services?binary=nova-compute"
    cloud = RecordedCloud(compute={path: {"services": services}})
    assert servers.silent_hosts(cloud) == {"cmp1"}


def test_a_server_that_moves_between_two_hosts_is_read_once():
    moved = [residents.server("s1", host) for host in ("a", "b")]
    path = "/servers/detail?all_tenants=1&limit=1000&host="
    pages = {
        f"{path}a": moved[:1],
        f"{path}a&marker={moved[0]['id']}": [],
        f"{path}b": [moved[1], residents.server("s2", "b")],
        f"{path}b&marker={residents.server('s2', 'b')['id']}": [],
    }
    cloud = RecordedCloud(compute={k: {"servers": v} for k, v in pages.items()})
    found = servers.fleet(cloud, ["b", "a"])
    assert [(each.name, each.host) for each in found.residents] == [
        ("s1", "a"),
        ("s2", "b"),
    ]


# The servers of one host, as Nova shows them to this user.


def test_servers_are_not_taken_for_those_of_no_host_where_nova_hides_hosts():
    body = {"status": "ACTIVE", **residents.server("s1", "cmp1")}
    del body["OS-EXT-SRV-ATTR:host"]
    path = "/servers/detail?all_tenants=1&host=cmp1&limit=1000"
    cloud = RecordedCloud(compute={path: {"servers": [body]}})
    with pytest.raises(Hidden, match="os-extended-server-attributes"):
        servers.residents(cloud, ["cmp1"])


# Server groups, and where their servers are, of recorded answers.


FIRST = "/os-server-groups?all_projects=true&offset=0"
SERVER_GROUPS_HOST, NODE = "OS-EXT-SRV-ATTR:host", "OS-EXT-SRV-ATTR:hypervisor_hostname"


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


def server_groups_cloud(*groups, **servers):
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
        found = request_parts.group(server_groups_cloud(*groups), name)
        assert (found.name, found.policy) == ("web", "anti-affinity")
        assert (found.max_server_per_host, found.members) == (3, {"s1", "s2"})
    assert (
        request_parts.group(server_groups_cloud(*groups), "db").max_server_per_host == 1
    )


def test_a_group_that_is_not_there_is_told_with_those_of_like_names():
    with pytest.raises(NothingMatches) as nothing:
        request_parts.group(
            server_groups_cloud(group(1, "frontend"), group(2)), "frontent"
        )
    assert nothing.value.nearest == ("frontend",)


def test_a_name_that_groups_of_two_projects_have_is_ambiguous():
    with pytest.raises(AmbiguousName):
        request_parts.group(
            server_groups_cloud(group(1), group(2, project=OTHER)), "web"
        )


def test_servers_are_where_nova_has_them_and_others_are_nowhere():
    gone = CloudBroke("compute", "Instance s2 could not be found.", 404)
    found = request_parts.whereabouts(
        server_groups_cloud(
            group(1), s1=placed("a", "a1"), s2=gone, s3=placed(None, None)
        ),
        ["s3", "s2", "s1", "s1"],
    )
    assert (found.nodes, found.silent) == ({"s1": ("a", "a1")}, set())


def test_of_a_server_in_a_cell_that_does_not_answer_it_is_not_known_where_it_is():
    """nova/api/openstack/compute/views/servers.py, _show_from_down_cell"""
    partial = {"id": "s2", "status": "UNKNOWN", "tenant_id": OWN, "links": []}
    found = request_parts.whereabouts(
        server_groups_cloud(group(1), s1=placed("a", "a1"), s2=partial), ["s1", "s2"]
    )
    assert (found.nodes, found.silent) == ({"s1": ("a", "a1")}, {"s2"})


def placed(host, node):
    return {"name": "web", SERVER_GROUPS_HOST: host, NODE: node}


def test_who_may_not_see_the_hosts_of_servers_gets_no_answer():
    with pytest.raises(Hidden, match="os-extended-server-attributes"):
        request_parts.whereabouts(
            server_groups_cloud(group(1), s1={"name": "web"}), ["s1"]
        )


# Servers of hosts: few requests, however many hosts there are.


HOSTS = [f"cmp{n:03}" for n in range(400)]
SERVERS_HOST = "OS-EXT-SRV-ATTR:host"


def on(host):
    return {
        "id": f"server-{host}",
        "name": host or "shelved",
        "tenant_id": "p",
        SERVERS_HOST: host,
        "OS-EXT-SRV-ATTR:hypervisor_hostname": host,
        "flavor": {},
        "image": "",
    }


def answer(path, params):
    """Answer with one server a host, and one that is on none."""
    found = [on(host) for host in (*HOSTS, None)]
    if "host" in params:
        found = [body for body in found if body[SERVERS_HOST] == params["host"]]
    return after(params, {"servers": found})


@pytest.mark.parametrize(
    # What ends a list is an empty page.
    ("number", "requests"),
    [(2, 2 * 2 + 1), (19, 19 * 2 + 1), (300, 2)],
)
def test_servers_of_many_hosts_are_read_with_all_others(number, requests):
    compute = Answering(answer)
    cloud = types.SimpleNamespace(compute=compute)
    some = HOSTS[:number]
    counted = servers.counted(cloud, [*some, "empty"])
    assert counted == {**dict.fromkeys(some, 1), "empty": 0}
    assert len(compute.asked) == requests
