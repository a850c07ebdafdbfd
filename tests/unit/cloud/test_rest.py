"""Paths, bodies, lists, and services that are not reached."""

from __future__ import annotations

import contextlib
import http.server
import json
import logging
import socket
import threading
import time
from unittest import mock

import pytest
import requests
from keystoneauth1 import access, session
from keystoneauth1.identity import base
from openstack import connection

from osc_traitsched.cloud import allocation_candidates, rest
from osc_traitsched.cloud.connection import HttpCloud, HttpService
from osc_traitsched.commands import base as library_logs
from osc_traitsched.core import errors
from osc_traitsched.core.errors import CloudBroke
from tests.unit.cloud.services import Answering

# Paths and the shape of answers.


THINGS = {"things": [{"id": str, "size": rest.NUMBER, "owner": rest.OPTIONAL_TEXT}]}
THING = {"id": "a", "size": 1, "owner": None}


def get(body, shape=THINGS):
    return rest.get(Answering(lambda *_: body, "identity"), "/things?all=1", shape)


def test_an_answer_of_the_right_shape_comes_as_it_is():
    body = {"things": [{**THING, "more": 1}], "more": None}
    assert get(body) is body
    assert get({"things": []}) == {"things": []}


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (None, "the top"),
        ("things", "the top"),
        ([], "the top"),
        ({}, "things"),
        ({"versions": []}, "things"),
        ({"things": None}, "things"),
        ({"things": {}}, "things"),
        ({"things": [None]}, "things"),
        ({"things": [THING, {"id": "b", "owner": None}]}, "size"),
        ({"things": [{**THING, "id": None}]}, "id"),
        ({"things": [{"id": "a", "size": 1}]}, "owner"),
    ],
)
def test_an_answer_of_another_shape_is_one_clear_line(body, where):
    with pytest.raises(errors.CloudBroke) as broke:
        get(body)
    assert broke.value.service == "identity"
    assert broke.value.reason == (
        f"unexpected answer to GET /things: not as it should be at {where}"
    )


def test_keys_that_nobody_knows_before_can_have_a_shape():
    shape = {"things": {str: {"id": str}}}
    assert get({"things": {"a": {"id": "a"}}}, shape)
    assert get({"things": {}}, shape) == {"things": {}}
    with pytest.raises(errors.CloudBroke, match=r"at b$"):
        get({"things": {"a": {"id": "a"}, "b": []}}, shape)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a", "/things/a"),
        ("?x=y", "/things/%3Fx%3Dy"),
        ("#x", "/things/%23x"),
        ("/", "/things/%2F"),
        ("../..", "/things/..%2F.."),
        ("a b%", "/things/a%20b%25"),
        ("ä", "/things/%C3%A4"),
    ],
)
def test_a_name_is_one_part_of_a_path_whatever_it_is(name, path):
    assert rest.path("things", name) == path


# Lists are read to their end, and no further.


NODES = "abcdef"


def nova(hidden="", page=2, key="things"):
    """Return a Nova that leaves items out after it has cut a page."""

    def answer(path, params):
        start = NODES.index(params["marker"]) + 1 if "marker" in params else 0
        found = NODES[start : start + page]
        return {key: [{"id": each} for each in found if each not in hidden]}

    return Answering(answer)


def ids(service, **params):
    return "".join(
        each["id"] for each in rest.pages(service, "/t", "things", {}, params)
    )


@pytest.mark.parametrize(
    ("hidden", "page"), [("", 2), ("", 9), ("a", 2), ("b", 2), ("f", 2), ("bd", 3)]
)
def test_a_page_that_is_not_full_is_not_the_last_one(hidden, page):
    expected = "".join(each for each in NODES if each not in hidden)
    assert ids(nova(hidden, page)) == expected


def test_what_was_asked_for_is_asked_for_on_every_page():
    service = nova(page=4)
    assert ids(service, colour="blue") == NODES
    assert service.asked == [
        ("/t", {"colour": "blue"}),
        ("/t", {"colour": "blue", "marker": "d"}),
        ("/t", {"colour": "blue", "marker": "f"}),
    ]


def test_an_empty_list_is_one_request():
    service = Answering(lambda path, params: {"things": []})
    assert ids(service) == ""
    assert len(service.asked) == 1


def test_a_service_that_takes_no_marker_is_not_asked_for_ever():
    service = Answering(lambda path, params: {"things": [{"id": "a"}]})
    with pytest.raises(errors.CloudBroke, match="the same page of /t again") as broke:
        ids(service)
    assert broke.value.service == "compute"
    assert len(service.asked) == 2


def test_what_two_pages_have_is_told_once():
    pages = iter(["ab", "bc", ""])
    service = Answering(lambda *_: {"things": [{"id": each} for each in next(pages)]})
    assert ids(service) == "abc"


# How many inventories are read of hosts that are full.


def inventories(path, params):
    """Return an inventory of as many VCPUs as the provider's name says."""
    provider = path.split("/")[2]
    if provider == "gone":
        raise CloudBroke("placement", "no such provider", 404)
    units = {"min_unit": 1, "max_unit": int(provider), "step_size": 1}
    total = {"total": int(provider), "reserved": 0, "allocation_ratio": 1.0}
    return {"inventories": {"VCPU": {**total, **units}}}


def read(kinds):
    """Return what was read of kinds of providers, and of which it was asked for."""
    placement = Answering(inventories, "placement")
    found = allocation_candidates.unused(placement, kinds)
    return found, [path.split("/")[2] for path, _ in placement.asked]


def numbered(first, count):
    return [str(number) for number in range(first, first + count)]


def test_each_of_a_few_is_read():
    found, asked = read([numbered(1, 20), numbered(21, 5)])
    assert asked == numbered(1, 25)
    assert found["7"]["VCPU"].max_unit == 7


def test_of_many_one_of_each_size_is_read_and_the_others_are_like_it():
    found, asked = read([numbered(1, 20), numbered(21, 6)])
    assert asked == ["1", "21"]
    assert {found[each]["VCPU"].max_unit for each in numbered(1, 20)} == {1}
    assert found["26"]["VCPU"].max_unit == 21


def test_of_very_many_sizes_some_are_not_read():
    found, asked = read([[each] for each in numbered(1, 40)])
    assert asked == list(found) == numbered(1, 25)


def test_a_provider_that_was_deleted_gives_nothing():
    found, _ = read([["gone"]])
    assert found == {"gone": {}}


# A service of the catalog that is not reached is named, once and in time.


TIMEOUT = 1


class LoggedIn(base.BaseIdentityPlugin):
    """A login whose catalog has Placement, Nova and Glance at one URL."""

    def __init__(self, url):
        super().__init__()
        self._url = url

    def get_auth_ref(self, session, **kwargs):
        return access.create(body={"token": self._token}, auth_token="token")

    @property
    def _token(self):
        endpoint = {"interface": "public", "region_id": "RegionOne", "url": self._url}
        return {
            "expires_at": "2999-01-01T00:00:00.000000Z",
            "issued_at": "2001-01-01T00:00:00.000000Z",
            "catalog": [
                {"type": each, "endpoints": [endpoint]}
                for each in ("placement", "compute", "image")
            ],
        }

    def get_cache_id_elements(self):
        return {}


class Quiet(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        """Say nothing."""


class Unavailable(Quiet):
    """What a load balancer says of a service whose servers are down."""

    def do_GET(self):
        self.send_error(503)


class Busy(Quiet):
    """Glance behind a load balancer that says when to come back."""

    def do_GET(self):
        if not self.path.startswith("/v2/images"):
            url = f"http://{self.headers['Host']}/v2/"
            links = [{"rel": "self", "href": url}]
            version = {"id": "v2.9", "status": "CURRENT", "links": links}
            body = json.dumps({"versions": [version]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        self.do_PATCH()

    def do_PATCH(self):
        self.server.asked.append(self.command)
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(503)
        self.send_header("Retry-After", "3600")
        self.send_header("Content-Length", "0")
        self.end_headers()


class Garbled(Quiet):
    """Something that answers JSON, and is no service of OpenStack's."""

    document = b""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(self.document)))
        self.end_headers()
        self.wfile.write(self.document)


def cloud(url, timeout=TIMEOUT):
    logged_in = session.Session(auth=LoggedIn(url))
    found = connection.Connection(session=logged_in, region_name="RegionOne")
    return HttpCloud(found, timeout)


@pytest.fixture
def closed():
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/placement"
    return url


@contextlib.contextmanager
def answering(handler, **more):
    """Yield a server, on which the handler's answers wait."""
    with http.server.HTTPServer(("127.0.0.1", 0), handler) as server:
        vars(server).update(more)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server, f"http://127.0.0.1:{server.server_port}/placement"
        server.shutdown()


@pytest.fixture
def unavailable():
    with answering(Unavailable) as (_, url):
        yield url


def garbled(document):
    return answering(type("Garbled", (Garbled,), {"document": document.encode()}))


@pytest.fixture
def logged():
    """What keystoneauth says while the test runs."""
    records = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = records.append
    logger = logging.getLogger("keystoneauth")
    logger.addHandler(handler)
    yield records
    logger.removeHandler(handler)


def test_the_highest_microversion_is_asked_of_a_service_that_is_there(closed):
    with pytest.raises(CloudBroke) as caught:
        _ = cloud(closed).compute_maximum
    assert caught.value.service == "compute"


def test_a_service_that_is_unavailable_says_so(unavailable):
    with pytest.raises(CloudBroke) as caught:
        cloud(unavailable).placement.get("/")
    assert (caught.value.status, caught.value.passing) == (503, True)
    assert "Service Unavailable" in caught.value.reason


@pytest.mark.parametrize("timeout", [1e10, 1e308])
def test_a_timeout_may_be_longer_than_sockets_wait(unavailable, timeout):
    with pytest.raises(CloudBroke) as caught:
        cloud(unavailable, timeout).placement.get("/")
    assert caught.value.status == 503


@pytest.mark.parametrize(
    "document",
    [
        '{"versions": 5}',
        '{"versions": [null]}',
        '{"versions": ["v1.0"]}',
        '{"versions": [{"id": [[false]], "status": "CURRENT", "links": []}]}',
        '{"versions": [{"id": "v1.0", "status": 5, "links": []}]}',
        '{"version": {"id": "nonsense", "status": "CURRENT", "links": []}}',
    ],
)
def test_a_service_that_garbles_its_versions_is_named(document):
    with garbled(document) as (_, url):
        for service in ("placement", "compute"):
            with pytest.raises(CloudBroke) as caught:
                getattr(cloud(url), service).get("/")
            assert caught.value.service == service
            assert not caught.value.passing
        with pytest.raises(CloudBroke):
            _ = cloud(url).compute_maximum


def test_a_service_whose_versions_nest_too_deeply_is_named(monkeypatch):
    def too_deep(self, **kwargs):
        raise RecursionError

    monkeypatch.setattr(requests.Response, "json", too_deep)
    with garbled("[]") as (_, url), pytest.raises(CloudBroke) as caught:
        cloud(url).placement.get("/")
    assert caught.value.service == "placement"


@pytest.mark.parametrize("is_silenced", [True, False])
def test_what_a_discovery_warns_of_is_left_out_for_our_commands(
    unavailable, logged, is_silenced
):
    quiet = library_logs.silenced() if is_silenced else contextlib.nullcontext()
    with quiet, pytest.raises(CloudBroke):
        cloud(unavailable).placement.get("/")
    assert bool(logged) is not is_silenced


def test_glance_is_asked_once_whenever_it_wants_to_be_asked_again():
    with answering(Busy, asked=[]) as (server, url):
        image = cloud(url.removesuffix("placement")).image
        for send in (
            lambda: image.get("/images/i"),
            lambda: image.patch("/images/i", [], "application/json"),
        ):
            start = time.monotonic()
            with pytest.raises(CloudBroke) as caught:
                send()
            assert (caught.value.status, caught.value.passing) == (503, True)
            assert time.monotonic() - start < 5
    assert server.asked == ["GET", "PATCH"]


# What an answer's body may be, whatever its status says.


def placement(status, body):
    """Return a service that answers this, whatever it is asked."""
    answer = requests.Response()
    answer.status_code = status
    answer.reason = "As It Is"
    answer._content = body
    adapter = mock.Mock(**{"request.return_value": answer, "session.timeout": None})
    return HttpService("placement", adapter)


@pytest.fixture
def too_deep(monkeypatch):
    """Let all answers nest more deeply than Python's decoder goes."""
    deep = mock.Mock(side_effect=RecursionError)
    monkeypatch.setattr(requests.Response, "json", deep)


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff"])
def test_an_answer_that_is_no_json_names_the_service(body):
    with pytest.raises(CloudBroke) as caught:
        placement(200, body).get("/")
    assert (caught.value.service, caught.value.status) == ("placement", None)
    assert "not JSON" in caught.value.reason


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff"])
def test_an_error_whose_body_is_no_json_is_known_by_its_status(body):
    with pytest.raises(CloudBroke) as caught:
        placement(400, body).get("/")
    assert (caught.value.status, caught.value.reason) == (400, "400 As It Is")


@pytest.mark.parametrize("status", [200, 201, 202, 204])
def test_a_write_is_done_where_the_service_says_so(status):
    service = placement(status, b"")
    service.put("/", {})
    assert service.requests == 1


@pytest.mark.parametrize("status", [300, 302, 304, 307])
def test_an_answer_from_elsewhere_is_no_answer_to_a_write(status):
    with pytest.raises(CloudBroke) as caught:
        placement(status, b"").put("/", {})
    assert (caught.value.status, caught.value.passing) == (status, False)
    assert caught.value.reason == f"{status} As It Is"


@pytest.mark.usefixtures("too_deep")
@pytest.mark.parametrize(
    ("status", "reason"), [(200, "not JSON"), (400, "400 As It Is")]
)
def test_an_answer_that_nests_too_deeply_is_no_json(status, reason):
    with pytest.raises(CloudBroke) as caught:
        placement(status, b"[]").get("/")
    assert reason in caught.value.reason
