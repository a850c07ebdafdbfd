"""What an answer's body may be, whatever its status says."""

import json
from unittest import mock

import pytest
import requests

from osc_traitsched.cloud.connection import HttpService
from osc_traitsched.core.errors import CloudBroke

#: More levels than Python's decoder goes down.
DEEP = b"[" * 100_000


def placement(status, body):
    """Return a service that answers this, whatever it is asked."""
    answer = requests.Response()
    answer.status_code = status
    answer.reason = "As It Is"
    answer._content = body
    adapter = mock.Mock(**{"request.return_value": answer, "session.timeout": None})
    return HttpService("placement", adapter)


def test_an_answer_is_its_json():
    assert placement(200, json.dumps({"a": [1]}).encode()).get("/") == {"a": [1]}


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff", DEEP])
def test_an_answer_that_is_no_json_names_the_service(body):
    with pytest.raises(CloudBroke) as caught:
        placement(200, body).get("/")
    assert (caught.value.service, caught.value.status) == ("placement", None)
    assert "not JSON" in caught.value.reason


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff", DEEP])
def test_an_error_whose_body_is_no_json_is_known_by_its_status(body):
    with pytest.raises(CloudBroke) as caught:
        placement(400, body).get("/")
    assert (caught.value.status, caught.value.reason) == (400, "400 As It Is")
