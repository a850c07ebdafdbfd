"""One change of one object: when it is tried again, and what becomes of it."""

from __future__ import annotations

import time

import pytest
import tenacity

from osc_traitsched.cloud import write
from osc_traitsched.cloud.write import Patience
from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    Object,
    ObjectKind,
    State,
    Status,
)
from osc_traitsched.core.errors import CloudBroke, ConcurrentUpdate

HOST = Object(ObjectKind.PROVIDER_TRAITS, "cmp01", "cmp01", "cmp01")
FLAVOR = Object(ObjectKind.FLAVOR, "1", "small")
IMAGE = Object(ObjectKind.IMAGE, "2", "rocky")

TIMED_OUT = CloudBroke("placement", "no answer in time", passing=True)
GATEWAY = CloudBroke("placement", "gateway", 504, passing=True)
FORBIDDEN = CloudBroke("placement", "policy", 403)
NOT_FOUND = CloudBroke("compute", "no such thing", 404)
CONFLICT = CloudBroke("image", "no such property", 409)
TOO_LATE = ConcurrentUpdate("placement", "generation", 409)


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch):
    monkeypatch.setattr(write, "_WAIT", tenacity.wait_none())


class Cloud:
    """A provider, a flavor and an image, each a mapping of keys; they stand for all.

    :ivar before: problems and functions, for one request each in turn: what comes
        instead of carrying it out, or what is done first
    :ivar after: problems by the number of the request that is carried out first
    :ivar sent: the methods of all requests, in order
    """

    service_type = "placement"

    def __init__(self, *before, after=None, **keys):
        self.keys = dict(keys)
        self.generation = 3
        self.before = list(before)
        self.after = after or {}
        self.sent = []
        self.placement = self.compute = self.image = self

    def _send(self, method, act):
        self.sent.append(method)
        first = self.before.pop(0) if self.before else None
        if isinstance(first, Exception):
            raise first
        if first is not None:
            first()
        found = act()
        if len(self.sent) in self.after:
            raise self.after[len(self.sent)]
        return found

    def get(self, path, params=None, microversion=None, timeout=None):
        traits = {
            "traits": sorted(self.keys),
            "resource_provider_generation": self.generation,
        }
        image = path.startswith("/images")
        keys = {**self.keys}
        body = {"id": "2", **keys} if image else {**traits, "extra_specs": keys}
        return self._send("GET", lambda: body)

    def put(self, path, body, timeout=None):
        self._send("PUT", lambda: self._put(body))

    def _put(self, body):
        if body["resource_provider_generation"] != self.generation:
            raise TOO_LATE
        self.keys = dict.fromkeys(body["traits"], PRESENT)
        self.generation += 1

    def post(self, path, body, timeout=None):
        self._send("POST", lambda: self.keys.update(body["extra_specs"]))

    def delete(self, path, timeout=None):
        self._send("DELETE", lambda: self._remove([path.rpartition("/")[2]], NOT_FOUND))

    def patch(self, path, changes, content_type, timeout=None):
        removed = [each["path"][1:] for each in changes]
        self._send("PATCH", lambda: self._remove(removed, CONFLICT))

    def _remove(self, keys, problem):
        if not self.keys.keys() >= set(keys):
            raise problem
        for key in keys:
            del self.keys[key]


def removal(target, **found):
    generation = 3 if target is HOST else None
    return Change(target, State(found, generation), dict.fromkeys(found))


def apply(cloud, change, patience=None):
    return write.apply(cloud, change, patience or Patience())


def test_a_write_that_was_carried_out_and_can_t_be_read_again_is_no_failure():
    cloud = Cloud(None, *[GATEWAY] * 9, after={1: GATEWAY}, X=PRESENT)
    found = apply(cloud, removal(HOST, X=PRESENT))
    assert cloud.sent == ["PUT", *["GET"] * 9]
    assert cloud.keys == {}
    assert (found.status, found.problem) == (Status.UNKNOWN, GATEWAY)
    assert found.overwritten == State({"X": PRESENT}, 3)
    assert (found.added, found.removed) == (frozenset(), frozenset())


def test_what_was_never_written_has_failed():
    cloud = Cloud(*[GATEWAY] * 10, X=PRESENT)
    found = apply(cloud, removal(FLAVOR, X="1"))
    assert cloud.sent == ["GET"] * 10
    assert (found.status, found.overwritten) == (Status.FAILED, None)


def test_a_write_that_is_refused_has_failed_and_is_not_tried_again():
    cloud = Cloud(FORBIDDEN, X=PRESENT)
    found = apply(cloud, removal(HOST, X=PRESENT))
    assert cloud.sent == ["PUT"]
    assert (found.status, found.problem) == (Status.FAILED, FORBIDDEN)


def test_a_flavor_that_is_written_by_halves_is_told_as_it_was_before_the_first():
    cloud = Cloud(None, None, GATEWAY, a="1", b="2")
    found = apply(cloud, removal(FLAVOR, a="1", b="2"))
    assert cloud.sent == ["GET", "DELETE", "DELETE", "GET", "DELETE"]
    assert (found.status, found.removed) == (Status.CHANGED, {"a", "b"})


def test_a_flavor_that_stays_half_written_is_no_failure():
    cloud = Cloud(None, None, FORBIDDEN, a="1", b="2")
    found = apply(cloud, removal(FLAVOR, a="1", b="2"))
    assert cloud.keys == {"b": "2"}
    assert (found.status, found.problem) == (Status.UNKNOWN, FORBIDDEN)
    assert found.overwritten.keys == {"a": "1", "b": "2"}


@pytest.mark.parametrize("target", [FLAVOR, IMAGE], ids=["flavor", "image"])
def test_a_key_that_others_removed_right_before_is_as_wanted(target):
    cloud = Cloud(None, lambda: cloud.keys.clear(), a="1")
    found = apply(cloud, removal(target, a="1"))
    assert (found.status, found.problem) == (Status.UNCHANGED, None)


@pytest.mark.parametrize("target", [FLAVOR, IMAGE], ids=["flavor", "image"])
def test_of_two_keys_the_one_that_others_left_is_still_removed(target):
    cloud = Cloud(None, lambda: cloud.keys.pop("a"), a="1", b="2")
    found = apply(cloud, removal(target, a="1", b="2"))
    assert cloud.keys == {}
    assert (found.status, found.removed) == (Status.CHANGED, {"b"})


def test_a_flavor_that_others_delete_has_failed():
    cloud = Cloud(None, NOT_FOUND, NOT_FOUND, a="1")
    found = apply(cloud, removal(FLAVOR, a="1"))
    assert cloud.sent == ["GET", "DELETE", "GET"]
    assert (found.status, found.problem) == (Status.FAILED, NOT_FOUND)


def test_a_conflict_over_something_that_is_as_it_was_is_not_tried_again():
    cloud = Cloud(CONFLICT, X=PRESENT)
    found = apply(cloud, removal(HOST, X=PRESENT))
    assert cloud.sent == ["PUT", "GET"]
    assert (found.status, found.problem) == (Status.FAILED, CONFLICT)


def test_a_flavor_s_key_that_others_removed_is_not_set():
    cloud = Cloud()
    wanted = Change(FLAVOR, State({"a": "1"}), {"a": "2"})
    found = apply(cloud, wanted)
    assert str(found.problem).startswith("changed meanwhile: 'a' is gone")
    assert (found.status, cloud.sent) == (Status.FAILED, ["GET"])


def test_one_dropped_connection_after_many_refusals_does_not_end_a_change(monkeypatch):
    monkeypatch.setattr(write, "_PATIENCE", 0.05)

    def refuse():
        time.sleep(0.06)
        raise TOO_LATE

    cloud = Cloud(refuse, TIMED_OUT, X=PRESENT)
    assert apply(cloud, removal(HOST, X=PRESENT)).status is Status.CHANGED
    assert cloud.sent == ["PUT", "GET", "GET", "PUT"]


def test_a_service_that_stays_silent_ends_a_change_in_time(monkeypatch):
    monkeypatch.setattr(write, "_PATIENCE", 0.05)

    def hang():
        time.sleep(0.03)
        raise TIMED_OUT

    cloud = Cloud(*[hang] * 10, X=PRESENT)
    assert apply(cloud, removal(HOST, X=PRESENT)).problem is TIMED_OUT
    assert cloud.sent == ["PUT", "GET"]


@pytest.mark.parametrize(("stops", "times"), [(True, 1), (False, 10)])
def test_it_is_known_how_many_writes_came_too_late(stops, times):
    patience = Patience()
    if stops:
        patience.stopped.set()
    cloud = Cloud(*[TOO_LATE, None] * 10, X=PRESENT)
    found = apply(cloud, removal(HOST, X=PRESENT), patience)
    assert (found.status, found.problem.times) == (Status.FAILED, times)
