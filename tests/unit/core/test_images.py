"""Which of the images of one name a request means."""

import pytest

from osc_traitsched.core.nova import image as images

MINE, OTHER = "mine", "other"


def image(name, **more):
    body = {"id": name, "name": "rocky", "status": "active", "owner": OTHER}
    return {**body, "visibility": "private", "os_hidden": False, **more}


PUBLIC = image("public", visibility="public")
COMMUNITY = image("community", visibility="community")
OWN = image("own", owner=MINE)
SHARED = image("shared", visibility="shared")
PRIVATE = image("private")
HIDDEN = image("hidden", visibility="public", os_hidden=True)
QUEUED = image("queued", visibility="public", status="queued")
DEACTIVATED = image("off", visibility="public", status="deactivated")


def likeliest(*found, accepted=(), project=MINE):
    def is_open(each):
        return images.image_is_open_to(each, project, lambda: accepted)

    return [each["id"] for each in images.likeliest_images(found, is_open)]


@pytest.mark.parametrize("clear", [PUBLIC, COMMUNITY, OWN], ids=lambda each: each["id"])
def test_the_one_that_a_server_can_be_booted_from_is_meant(clear):
    others = (HIDDEN, PRIVATE, SHARED, QUEUED, DEACTIVATED)
    assert likeliest(*others, clear) == [clear["id"]]
    assert likeliest(clear, *others) == [clear["id"]]


def test_a_shared_image_is_one_for_those_who_accepted_it():
    assert likeliest(PRIVATE, SHARED, HIDDEN, accepted=[MINE]) == ["shared"]
    assert likeliest(PRIVATE, SHARED, HIDDEN, accepted=[OTHER]) == ["hidden"]


def test_members_are_asked_for_only_of_images_that_others_share():
    def accepted():
        raise AssertionError

    for each in (PUBLIC, COMMUNITY, OWN):
        assert images.image_is_open_to(each, MINE, accepted)
    assert not images.image_is_open_to(PRIVATE, MINE, accepted)
    assert not images.image_is_open_to(SHARED, None, accepted)


def test_those_that_are_as_good_are_all_named():
    assert likeliest(PUBLIC, HIDDEN, OWN) == ["public", "own"]
    assert likeliest(PRIVATE, QUEUED) == ["private", "queued"]


def test_without_one_to_boot_those_that_are_seen_come_before_the_hidden():
    gone = {**HIDDEN, "status": "deactivated"}
    assert likeliest(gone, PRIVATE) == ["private"]
    assert likeliest(gone) == ["hidden"]


def test_a_user_of_no_project_owns_nothing():
    nobodys = image("nobodys", owner=None)
    assert likeliest(nobodys, HIDDEN, project=None) == ["hidden"]


def test_what_tells_an_image_from_its_namesakes():
    found = images.namesake_image({**HIDDEN, "created_at": "2026-01-31T10:00:00Z"})
    assert (found.id, found.owner, found.visibility) == ("hidden", OTHER, "public")
    assert (found.created, found.is_hidden) == ("2026-01-31T10:00:00Z", True)
