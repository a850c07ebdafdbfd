"""A service of the catalog that is not reached is named, once and in time."""

from __future__ import annotations

import contextlib
import http.server
import json
import logging
import socket
import threading
import time

import pytest
import requests
from keystoneauth1 import access, session
from keystoneauth1.identity import base
from openstack import connection

from osc_traitsched.cloud.connection import HttpCloud
from osc_traitsched.commands import base as library_logs
from osc_traitsched.core.errors import CloudBroke

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
