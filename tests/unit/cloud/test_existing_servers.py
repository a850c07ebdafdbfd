"""One server by its name or its ID, of recorded answers."""

from __future__ import annotations

import pytest

from osc_traitsched.cloud import servers, service
from osc_traitsched.core.errors import AmbiguousName, CloudBroke, Forbidden, NoServer
from osc_traitsched.core.servers.state import moment, read_state
from tests.unit.app.recorded import OTHER, OWN, RecordedCloud

ID, OTHER_ID = (f"5e000000-0000-4000-8000-00000000000{n}" for n in "12")
GONE = CloudBroke("compute", "Instance could not be found.", 404)
NOT_ALLOWED = Forbidden("compute", "Policy doesn't allow it")
SINCE = moment("2026-11-22T12:00:00Z")


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


def cloud(**bodies):
    return RecordedCloud(compute=bodies.pop("compute", bodies))


def test_an_id_takes_one_request():
    found = cloud(compute={f"/servers/{ID}": {"server": body()}})
    assert servers.server(found, ID)["id"] == ID
    assert len(found.compute.asked) == 1


def test_a_server_of_a_cell_that_is_down_is_told_so():
    """From 2.69 on Nova shows what it has of it elsewhere, which is not its name."""
    partial = {"id": ID, "status": "UNKNOWN", "tenant_id": OWN, "created": "x"}
    found = cloud(compute={f"/servers/{ID}": {"server": partial}})
    with pytest.raises(CloudBroke, match=f"the cell that server {ID} is in"):
        servers.server(found, ID)


def test_an_answer_of_another_shape_is_not_taken():
    strange = cloud(compute={f"/servers/{ID}": {"server": body(flavor={})}})
    with pytest.raises(CloudBroke, match="unexpected answer to GET /servers"):
        servers.server(strange, ID)


def test_a_name_is_no_pattern():
    alike = {"servers": [body(OTHER_ID, "webx"), body(name="web.1")]}
    found = cloud(
        compute={
            listed(r"^web\.1$"): alike,
            f"/servers/{ID}": {"server": body(name="web.1")},
        }
    )
    assert servers.server(found, "web.1")["id"] == ID


def test_a_name_that_two_servers_have_is_ambiguous():
    found = cloud(
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
        servers.server(cloud(compute=gone), ID)
    listed_once = {listed("^web$"): {"servers": [body()]}, f"/servers/{ID}": GONE}
    with pytest.raises(NoServer, match="web"):
        servers.server(cloud(compute=listed_once), "web")


def test_who_may_not_list_all_projects_servers_has_the_own_ones():
    found = cloud(
        compute={
            listed("^web$"): NOT_ALLOWED,
            listed("^web$", ""): {"servers": [body()]},
            f"/servers/{ID}": {"server": body()},
        }
    )
    assert servers.server(found, "web")["id"] == ID


def test_an_unknown_name_brings_those_like_it():
    alike = {"servers": [{"name": "web-1"}, {"name": "weather"}]}
    found = cloud(
        compute={listed("^web1$"): {"servers": []}, begins("we"): alike},
    )
    with pytest.raises(NoServer, match=r"'web1'; did you mean web-1\?"):
        servers.server(found, "web1")


@pytest.mark.parametrize("own_only", [False, True])
def test_whoever_may_not_list_all_is_told_so_where_there_is_none(own_only):
    none = {"servers": []}
    everywhere = NOT_ALLOWED if own_only else none
    found = cloud(
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
    found = cloud()
    found.compute_maximum = maximum
    assert servers.minor_version(found) == minor


def test_what_a_user_may_not_list_is_named_and_the_rest_is_read():
    then = "changes-since=2026-11-22T12:00:00Z&limit=100"
    down = {"binary": "nova-compute", "host": "cmp02", "state": "down"}
    found = cloud(
        compute={
            "/os-services": {
                "services": [{**down, "updated_at": "2026-11-22T13:00:00.0"}]
            },
            f"/servers/detail?{then}&all_tenants=1": {"servers": []},
            f"/os-migrations?{then}": NOT_ALLOWED,
        }
    )
    changed = servers.changes_since(found, read_state(body()), SINCE)
    assert (changed.went_down, changed.unread) == (("cmp02",), ("migrations",))
    assert not changed.is_cut


def test_a_full_page_may_not_be_all():
    then = "changes-since=2026-11-22T12:00:00Z&limit=100"
    many = {"id": "x", "created": "2026-11-22T11:00:00Z", "status": "ACTIVE"}
    found = cloud(
        compute={
            "/os-services": {"services": []},
            f"/servers/detail?{then}&all_tenants=1": {"servers": [many] * 100},
            f"/os-migrations?{then}": {"migrations": []},
        }
    )
    assert servers.changes_since(found, read_state(body()), SINCE).is_cut


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
    has = cloud(compute={path: {"volumeAttachments": found}})
    assert servers.root_volume(has, asked) == root
