"""Servers of the sample cloud against their own hosts, changed in what decides."""

from __future__ import annotations

import copy
import json
import types

import pytest

from osc_traitsched.app import misplaced
from osc_traitsched.app import server as app_server
from osc_traitsched.app.misplaced import Scope
from osc_traitsched.app.snapshot import Snapshot
from osc_traitsched.core.nova.filter.state import OWN, Fails
from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.views import misplaced as views
from tests.unit.conftest import WHOLE
from tests.unit.test_sample_changed import provided, server

CARD = "CUSTOM_CARD"


def provider(document, name):
    return next(p for p in document["placement"]["providers"] if p["name"] == name)


def asking(document, **specs):
    """Another copy of its flavor for a server on cmp02."""
    body = server(document, "app-1")["flavor"]
    body["extra_specs"] = {key.replace("__", ":"): each for key, each in specs.items()}


def judged(asked, change):
    """Exit code and verdict of ``server explain``; what ``server misplaced`` says."""
    explained = asked(change, "server explain app-1")
    rows = json.loads(asked(change, "server misplaced --unknown -f json").out)
    row = next((each for each in rows if each["name"] == "app-1"), {})
    verdict = explained.out.splitlines()[2]
    return explained.code, verdict, row.get("answer"), row.get("reason")


def test_a_full_host_without_a_class_is_told_from_one_with_it(asked):
    def change(document, has_card=False):
        asking(document, resources__CUSTOM_CARD="1")
        own = provider(document, "cmp02")
        document["placement"]["resource_classes"].append(CARD)
        card = {**own["inventories"]["DISK_GB"], "total": 1, "max_unit": 1, "used": 0}
        provider(document, "cmp03")["inventories"][CARD] = card
        if has_card:
            own["inventories"][CARD] = {**card, "used": 1}
        for each in own["inventories"].values():
            each["used"] = int(each["total"] * each["allocation_ratio"])

    assert judged(asked, change) == (
        3,
        "Nova would no longer allow cmp02: it has no CUSTOM_CARD.",
        "misplaced",
        ["has no CUSTOM_CARD (flavor)"],
    )
    code, _, answer, _ = judged(asked, lambda document: change(document, True))
    assert (code, answer) == (0, None)


def test_a_forbidden_trait_counts_if_only_a_pool_lacks_it(asked):
    def change(document):
        asking(document, trait__CUSTOM_SSD="forbidden")
        own = provider(document, "cmp02")
        own["traits"].append("CUSTOM_SSD")
        del own["inventories"]["DISK_GB"]
        pool = provided(document, "pool", DISK_GB=9000)
        pool["traits"] = ["MISC_SHARES_VIA_AGGREGATE"]
        pool["aggregates"] = own["aggregates"]

    assert judged(asked, change) == (
        3,
        "Nova would no longer allow cmp02: it has trait CUSTOM_SSD.",
        "misplaced",
        ["has trait CUSTOM_SSD (flavor) together with the rest"],
    )


@pytest.mark.parametrize(("units", "code", "answer"), [(0, 8, "unknown"), (4, 0, None)])
def test_a_host_without_dedicated_cpus_may_not_pin(asked, units, code, answer):
    def change(document):
        asking(document, hw__cpu_policy="dedicated")
        document["placement"]["resource_classes"].append("PCPU")
        own = provider(document, "cmp02")["inventories"]
        if units:
            more = {"total": units, "max_unit": units, "allocation_ratio": 1.0}
            own["PCPU"] = {**own["VCPU"], **more, "used": units}

    found = judged(asked, change)
    assert (found[0], found[2]) == (code, answer)
    assert ("its host has no dedicated CPUs" in found[1]) is (not units)


# Servers whose image is deleted.


GONE = {
    "id": "1a000001-0000-4000-8000-00000000000a",
    "name": "gone",
    "disk_format": "raw",
    "properties": {},
}
NOT_JUDGED = "its image is deleted, and so is what it required"


def without_image(**properties):
    """The sample with a deleted image of a server, and Nova's record of its request."""
    document = copy.deepcopy(WHOLE)
    body = server(document, "app-1")
    body["image"] = {"id": GONE["id"], "properties": {}}
    image = {**GONE, "properties": properties}
    record = {"availability_zone": None, "image": image, "devices": []}
    return document, {body["id"]: record}


class Claims:
    """A Nova that can claim everything, and has these records of requests.

    :ivar read: IDs of the servers whose requests were read
    :ivar claimed: hosts whose claims were asked for, as if they were empty
    """

    counts = types.MappingProxyType({})

    def __init__(self, requests=(), failing=()):
        self.read, self.claimed = [], []
        self._requests, self._failing = dict(requests), failing
        self.emptied = types.SimpleNamespace(
            ask=self._ask, answers=self._never, counts={}
        )
        self.emptied.emptied = self.emptied

    def requests(self, servers):
        self.read.append([*servers])
        return self._requests

    def answers(self, name, hosts, spec, settings):
        return {}

    def ask(self, requests, hosts, most=1):
        pass

    def _never(self, name, hosts, spec, settings):
        answer = Fails(OWN, wanted="3 dedicated CPUs", found=("cells of 2",))
        failing = (each for each in hosts if each.host in self._failing)
        return {each.compute.uuid: answer for each in failing}

    def _ask(self, requests, hosts):
        if specs := [*requests]:
            self.claimed.append((len(specs), {each.host for each in hosts}))


def sources_with(document, claims):
    saved = Snapshot("cloud.json", document)
    sources = saved.sources
    sources.claims = claims
    return saved.cloud, sources


def placements(document, claims):
    """Names of misplaced and of unknown servers."""
    cloud, sources = sources_with(document, claims)
    found = misplaced.placements(cloud, Scope(), sources)
    return [{e.server.name for e in each} for each in (found.misplaced, found.unknown)]


@pytest.mark.parametrize(
    ("properties", "is_misplaced"),
    [({}, False), ({"trait:CUSTOM_SSD": "required"}, True)],
)
def test_a_record_has_what_a_deleted_image_required(properties, is_misplaced):
    document, requests = without_image(**properties)
    (identity,) = requests
    claims = Claims(requests)
    found, unknown = placements(document, claims)
    assert ("app-1" in found, unknown) == (is_misplaced, set())
    assert claims.read == [[identity]]
    assert placements(document, Claims())[1] == {"app-1"}


def test_a_record_has_the_zone_that_an_old_api_does_not_show(asked):
    def change(document):
        body, requests = without_image()
        document.update(body, compute_maximum="2.95", requests=requests)
        (found,) = requests.values()
        found["availability_zone"] = "az-west"

    rows = json.loads(asked(change, "server misplaced --unknown -f json").out)
    (row,) = (each for each in rows if each["name"] == "app-1")
    assert row["answer"] == "misplaced"
    assert row["reason"] == ["is outside the availability zone of aggregate west"]


def test_no_record_is_read_if_no_image_is_deleted():
    claims = Claims()
    placements(copy.deepcopy(WHOLE), claims)
    assert claims.read == claims.claimed == []


def test_nova_is_asked_at_once_what_hosts_of_pinned_servers_can_claim():
    document = copy.deepcopy(WHOLE)
    for name in ("app-1", "app-3"):
        server(document, name)["flavor"]["extra_specs"] = {"hw:cpu_policy": "dedicated"}
    claims = Claims()
    placements(document, claims)
    assert claims.claimed == [(1, {"cmp02", "cmp03"})]
    claims = Claims()
    cloud, sources = sources_with(document, claims)
    app_server.answer(cloud, "app-1", ServerSpec(), sources)
    assert claims.claimed == [(1, {"cmp02"})]


@pytest.mark.parametrize("failing", ["cmp02", ""])
def test_a_claim_that_fails_on_the_empty_host_counts_without_the_filter(failing):
    document = copy.deepcopy(WHOLE)
    body = server(document, "app-1")
    body["flavor"]["extra_specs"] = {"hw:mem_page_size": "4"}
    for node in document["compute"]["hypervisors"]:
        node["hypervisor_type"] = "QEMU"
    cloud, sources = sources_with(document, Claims(failing=[failing]))
    found = misplaced.placements(cloud, Scope(), sources).misplaced
    reasons = {each.server.name: each.verdict.reasons for each in found}
    texts = {name: [views.text(e, {}) for e in own] for name, own in reasons.items()}
    told = "fails nova-compute's claim (3 dedicated CPUs; cells of 2)"
    assert texts.get("app-1") == ([told] if failing else None)


@pytest.mark.parametrize("nodes", ["0", "x"])
def test_a_value_that_nova_rejects_is_no_claim(nodes):
    document = copy.deepcopy(WHOLE)
    server(document, "app-1")["flavor"]["extra_specs"] = {"hw:numa_nodes": nodes}
    claims = Claims()
    found, _ = placements(document, claims)
    assert ("app-1" in found, claims.claimed) == (True, [])
