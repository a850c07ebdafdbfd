"""Keystone's projects are read to the end, and found by their exact names."""

import pytest

from osc_traitsched.cloud import lookup
from osc_traitsched.core import errors
from tests.unit.cloud.services import Answering


def keystone(*pages, truncated=False, path="/v3/projects"):
    """Return a Keystone with pages of projects, and a link after each but the last."""

    def answer(_, params):
        number = int(params.get("marker", 0))
        more = number + 1 < len(pages)
        following = f"http://keystone{path}?marker={number + 1}&limit=1"
        found = {"projects": [{"id": each, "name": each} for each in pages[number]]}
        links = {"next": following if more else None}
        return {**found, "links": links, "truncated": truncated or more}

    return Answering(answer, "identity")


def test_keystones_next_links_are_followed():
    service = keystone("ab", "cd", "e")
    assert [each["id"] for each in lookup.listed(service)] == list("abcde")
    assert service.asked[1] == ("/projects", {"marker": "1", "limit": "1"})


def test_a_list_that_keystone_cut_off_is_no_list():
    with pytest.raises(errors.CloudBroke, match="cuts its list of projects off"):
        list(lookup.listed(keystone("ab", truncated=True)))


def test_a_keystone_whose_links_lead_nowhere_is_not_asked_for_ever():
    body = {
        "projects": [{"id": "a", "name": "a"}],
        "links": {"next": "http://keystone/v3?marker=a"},
    }
    service = Answering(lambda path, params: body, "identity")
    with pytest.raises(errors.CloudBroke, match="cuts its list of projects off"):
        list(lookup.listed(service))
    assert len(service.asked) == 2


PROJECTS = [
    {"id": "p1", "name": "red", "domain_id": "default"},
    {"id": "p2", "name": "Red", "domain_id": "default"},
    {"id": "p3", "name": "red", "domain_id": "d2"},
    {"id": "p4", "name": "blue", "domain_id": "d2"},
]
DOMAINS = [{"id": "default", "name": "Default"}, {"id": "d2", "name": "second"}]


class Keystone(Answering):
    """One that takes letters of either case for the same, as MariaDB does."""

    def __init__(self, domains=200):
        super().__init__(self.reply, "identity")
        self.domains = domains

    def reply(self, path, params):
        _, kind, *parts = path.split("/")
        if len(params.get("name", "")) > 64:
            raise errors.CloudBroke("identity", "Invalid input: too long", 400)
        if kind == "domains" and self.domains != 200:
            raise errors.CloudBroke("identity", "no", self.domains)
        every = {"projects": PROJECTS, "domains": DOMAINS}[kind]
        if parts:
            for each in every:
                if parts == [each["id"]]:
                    return {kind[:-1]: each}
            raise errors.CloudBroke("identity", "not found", 404)
        found = [
            each
            for each in every
            if each["name"].lower() == params.get("name", each["name"]).lower()
            and params.get("domain_id") in (None, each.get("domain_id"))
        ]
        return {kind: found, "links": {"next": None}}


class Cloud:
    own_project = "mine"

    def __init__(self, **options):
        self.identity = Keystone(**options)


@pytest.mark.parametrize(
    ("name", "domain", "found"),
    [
        (None, None, "mine"),
        ("blue", None, "p4"),
        ("Red", None, "p2"),
        ("p3", None, "p3"),
        ("red", "default", "p1"),
        ("red", "Default", "p1"),
        ("red", "second", "p3"),
        ("p3", "second", "p3"),
    ],
)
def test_a_project_is_the_one_that_was_named(name, domain, found):
    assert lookup.project(Cloud(), name, domain) == found


@pytest.mark.parametrize(
    ("name", "domain", "near"),
    [
        ("RED", None, ("Red", "red")),
        ("RED", "second", ("red",)),
        ("blue", "default", ()),
        ("p4", "default", ()),
        ("?", None, ()),
        ("..", None, ()),
        (".", None, ()),
        ("", None, ()),
        ("p4/", None, ()),
        ("#p4", None, ()),
        ("p" * 65, None, ()),
    ],
)
def test_no_other_project_is_taken_for_it(name, domain, near):
    with pytest.raises(errors.NothingMatches) as missed:
        lookup.project(Cloud(), name, domain)
    assert (missed.value.selector, missed.value.nearest) == ("project", near)


def test_a_name_in_two_domains_is_listed_with_the_domains():
    with pytest.raises(errors.AmbiguousName) as both:
        lookup.project(Cloud(), "red")
    assert [(each.id, each.domain) for each in both.value.namesakes] == [
        ("p1", "default"),
        ("p3", "d2"),
    ]


@pytest.mark.parametrize("domain", ["third", "", "..", "d" * 65])
def test_a_domain_that_is_not_there(domain):
    with pytest.raises(errors.NothingMatches) as missed:
        lookup.project(Cloud(), "red", domain)
    assert missed.value.selector == "project domain"


def test_a_domain_that_may_not_be_looked_up_is_taken_for_an_id():
    assert lookup.project(Cloud(domains=403), "red", "d2") == "p3"
