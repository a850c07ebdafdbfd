"""What an answer's body may be, whatever its status says."""

from unittest import mock

import pytest
import requests

from osc_traitsched.cloud.connection import HttpService
from osc_traitsched.core.errors import CloudBroke


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
    placement(status, b"").put("/", {})


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
