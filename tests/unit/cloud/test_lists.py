"""Lists are read to their end, and no further."""

import pytest

from osc_traitsched.cloud import rest
from osc_traitsched.core import errors
from tests.unit.cloud.services import Answering

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
