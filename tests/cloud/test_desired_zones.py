"""The rules of zones that foretold rows are tried with are those of a real Nova."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from osc_traitsched.core.errors import CloudBroke
from tests.cloud.factory import factory
from tests.cloud.test_desired import KEEPS_ZONES
from tests.services.release import chosen
from tests.unit.app.zoned import ZONE, ZonedCloud

HOSTS = ("cmp00", "cmp01", "cmp02", "cmp03")
BUSY = "cmp02"


@pytest.fixture
def make(admin):
    with factory(admin) as maker:
        yield maker


def drawn(model, chance):
    """Return a change of one aggregate, by its ID: of its zone, or of one host."""
    number = chance.choice(sorted(model.aggregates))
    if not chance.randrange(3):
        zone = chance.choice(["az1", "az2"])
        return number, {"set_metadata": {"metadata": {ZONE: zone}}}
    host = chance.choice(HOSTS)
    inside = host in model.aggregates[number]["hosts"]
    return number, {"remove_host" if inside else "add_host": {"host": host}}


@pytest.mark.skipif(
    chosen().number < KEEPS_ZONES, reason="this Nova lets servers change their zone"
)
def test_the_small_cloud_refuses_what_nova_does(make, admin):
    made = [make.aggregate(name) for name in ("rack", "spare")]
    gold = make.aggregate("gold", BUSY, availability_zone="az1")
    make.used(BUSY, make.flavor("used"), make.image("used"))
    model, chance, seen = ZonedCloud(), random.Random(1), Counter()
    model.busy = {BUSY}
    model.aggregates = {
        str(each.id): {"uuid": each.uuid, "hosts": [], "metadata": {}} for each in made
    }
    model.aggregates[str(gold.id)] = {
        "uuid": gold.uuid,
        "hosts": [BUSY],
        "metadata": {ZONE: "az1"},
    }
    for _ in range(200):
        number, body = drawn(model, chance)
        path = f"/os-aggregates/{number}/action"
        status = admin.compute.post(path, json=body).status_code
        try:
            model.compute_post(("os-aggregates", number, "action"), body)
            expected = 200
        except CloudBroke as exc:
            expected = exc.status
        assert status == expected, (number, body, model.aggregates)
        seen[next(iter(body)), status] += 1
    refused = {"set_metadata": 400, "add_host": 409, "remove_host": 409}
    assert seen.keys() == {*refused.items(), *((kind, 200) for kind in refused)}
