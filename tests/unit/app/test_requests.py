"""Nova's records of the requests of servers: read, saved, masked, and explained."""

from __future__ import annotations

import copy
import json

import pytest

from osc_traitsched.app import masking, own_filters, server
from osc_traitsched.app.own_filters import NovaClaims, OwnSources
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.app.snapshot import Snapshot
from osc_traitsched.cloud.saved import form
from osc_traitsched.cloud.saved.cloud import SavedCloud
from osc_traitsched.core.errors import NothingMatches
from osc_traitsched.core.nova.own import NovaPythonFails
from osc_traitsched.core.nova.question import MoveKind, ServerSpec
from osc_traitsched.core.servers.state import Name, Source
from osc_traitsched.runner import nova_runner
from osc_traitsched.views import server_explain, servers
from tests.schemas import closed
from tests.services.environment import REPOSITORY
from tests.unit.app import test_server
from tests.unit.app.recorded import IMAGE
from tests.unit.app.test_server import ID, NOTHING, NOW, SOURCES, failed

SAMPLE = json.loads((REPOSITORY / "examples" / "cloud.json").read_text())
#: A server whose build failed, which needs SSDs.
(LOST,) = (each for each in SAMPLE["compute"]["servers"] if each["status"] == "ERROR")
GONE = {
    "id": LOST["image"]["id"],
    "name": "gone",
    "disk_format": "raw",
    "properties": {"trait:CUSTOM_GONE": "required", "hw_disk_bus": "scsi"},
}


def saved(request, maximum="2.104"):
    """The sample's document with a record of the request for a small server."""
    document = copy.deepcopy(SAMPLE)
    (small,) = (f for f in document["compute"]["flavors"] if f["name"] == "m1.small")
    size = {key: small[key] for key in ("vcpus", "ram", "disk", "extra_specs")}
    for each in document["compute"]["servers"]:
        if each["id"] == LOST["id"]:
            each["flavor"] = {**size, "original_name": "m1.small"}
    document["requests"] = {LOST["id"]: {"devices": [], **request}}
    document["compute_maximum"] = maximum
    assert form.wrong(document) is None
    return document


def explained(request, **more):
    document = saved(request, **more)
    return server.answer(SavedCloud(document), LOST["id"], NOTHING, sources(document))


def sources(document):
    return Snapshot("", document).sources


def part(found, name):
    return next((each for each in found.parts if each.name is name), None)


def lines(found, everything=False):
    seen = server_explain.Seen(found, NOW)
    return [each.text for each in server_explain.lines(seen, everything)]


def hosts(found):
    return {each.name for each in found.judgement.candidates}


def test_a_host_that_was_named_with_the_zone_is_the_only_one_again():
    every = explained({})
    assert part(every, Name.HOST) is None
    (name, *_) = sorted(hosts(every))
    for request in {"force_hosts": [name]}, {"force_nodes": [name]}:
        found = explained(request)
        assert hosts(found) == {name}
        assert part(found, Name.HOST).source is Source.SERVER
        assert f"named host {part(found, Name.HOST).value} (recorded by Nova)" in [
            line.strip() for line in lines(found, everything=True)
        ]
        seen = server_explain.Seen(found, NOW)
        whole = server_explain.ServerExplainDocument.of(seen)
        closed("server explain").validate(whole)
        document = saved(request)
        (kind,) = server.failed(SavedCloud(document), sources(document)).kinds
        assert hosts(kind.answer) == {name}
    document = saved({"force_hosts": [name]})
    given = ServerSpec(zone="nova")
    found = server.answer(SavedCloud(document), LOST["id"], given, sources(document))
    assert found.judgement.question.spec.zone == "nova"


def test_zone_and_hints_are_known_whatever_the_compute_api_shows():
    request = {"availability_zone": "az-west", "scheduler_hints": {"a": ["b", "c"]}}
    found = explained(request, maximum="2.90")
    assert part(found, Name.ZONE).value == "az-west"
    assert part(found, Name.HINTS).value == "a=b, a=c"
    assert found.judgement.question.spec.zone == "az-west"
    assert found.judgement.question.spec.hints == {"a": ("b", "c")}
    assert found.minor == 90
    assert not part(explained({}, maximum="2.90"), Name.HINTS).value
    none = copy.deepcopy(saved(request, maximum="2.90"))
    del none["requests"]
    answer = server.answer(SavedCloud(none), LOST["id"], NOTHING, sources(none))
    assert not part(answer, Name.HINTS).is_known


def test_an_image_that_is_deleted_still_has_its_traits():
    document = saved({"image": GONE})
    document["image"]["images"] = []
    found = server.answer(SavedCloud(document), LOST["id"], NOTHING, sources(document))
    assert part(found, Name.IMAGE).value == "gone"
    assert part(found, Name.MORE).source is Source.SERVER
    query = found.judgement.question.request().query()
    assert "CUSTOM_GONE" in query
    assert found.judgement.question.image["hw_disk_bus"] == "scsi"


def test_traits_that_an_image_got_later_are_not_in_the_request():
    document = saved({"image": {**GONE, "properties": {}}})
    for each in document["image"]["images"]:
        each["trait:CUSTOM_LATER"] = "required"
    cloud, of_then = SavedCloud(document), sources(document)
    found = server.answer(cloud, LOST["id"], NOTHING, of_then)
    assert hosts(found)
    assert "CUSTOM_LATER" not in found.judgement.question.request().query()
    del document["requests"]
    found = server.answer(SavedCloud(document), LOST["id"], NOTHING, of_then)
    assert "CUSTOM_LATER" in found.judgement.question.request().query()


def test_pci_devices_of_the_request_are_named():
    devices = [
        {"count": 2, "alias_name": "a1", "requester_id": None},
        {"count": 1, "alias_name": None, "requester_id": ID},
    ]
    assert part(explained({"devices": devices}), Name.DEVICES).value == (
        f"2 x a1, 1 x {ID}"
    )
    assert part(explained({}), Name.DEVICES) is None


class Records:
    """Stands for a Nova that is asked for its records."""

    def __init__(self, request):
        self.request, self.asked = {"devices": [], **request}, []
        self.counts = {}

    def requests(self, servers):
        self.asked.append(tuple(servers))
        return dict.fromkeys(servers, self.request)

    def answers(self, *arguments):
        return {}

    rooms = answers

    def ask(self, *arguments):
        pass


def with_records(**request):
    found = SettingsSources(found=SOURCES)
    found.claims = Records(request)
    return found


TOGETHER = "{} servers were created at once: Nova fails all if one has no host."


def test_servers_that_were_created_at_once_may_have_failed_together():
    cloud = test_server.cloud(test_server.body())
    found = server.answer(cloud, ID, NOTHING, with_records(num_instances=2))
    assert found.is_unexplained
    summary, together, cause, *_ = lines(found)
    assert "Now all 2 may find a host; why it failed is not known." in summary
    assert together == TOGETHER.format(2)
    assert "or a host named by --host, a port" in cause
    alone = server.answer(cloud, ID, NOTHING, with_records(num_instances=1))
    assert not [each for each in lines(alone) if "at once" in each]


def test_servers_that_were_created_at_once_are_judged_together():
    """The named host has room for 5 such servers."""
    for number, has_room in (5, True), (6, False):
        document = saved({"force_hosts": ["cmp02"], "num_instances": number})
        cloud, of_then = SavedCloud(document), sources(document)
        found = server.answer(cloud, LOST["id"], NOTHING, of_then)
        assert found.judgement.question.spec.count == number
        assert found.has_room is has_room
        everything = [each.strip() for each in lines(found, everything=True)]
        assert TOGETHER.format(number) in everything
        (kind,) = server.failed(cloud, of_then).kinds
        assert kind.answer.has_room is has_room
    again = "It would fail again. Room for 5 of 6 (cmp02 5); Nova would fail all 6."
    assert lines(found)[0].endswith(again)
    customer = "The cloud has no room for 6 servers of m1.small now."
    assert servers.for_customer(found) == customer
    given = ServerSpec(ports=("none-for-several",))
    with pytest.raises(NothingMatches):
        server.answer(cloud, LOST["id"], given, of_then)


def test_a_reason_of_many_failed_servers_is_not_one_of_a_single_server():
    """All hosts together, if empty, have less room, but one server finds a host."""
    document = saved({"num_instances": 4000})
    found = server.failed(SavedCloud(document), sources(document))
    text = "\n".join(each.text for each in server_explain.failed_lines(found, height=9))
    assert "Nova would fail all 4000" in text
    assert "no host suits" not in text


@pytest.mark.parametrize(
    ("more", "stage"),
    [
        ("", "Placement returned no hosts"),
        (
            "There are not enough hosts available.",
            "not all 2 servers of its request found a host",
        ),
    ],
)
def test_some_of_several_servers_may_have_found_a_host(more, stage):
    body = test_server.body()
    body["fault"]["message"] += more
    cloud = test_server.cloud(body)
    found = server.answer(cloud, ID, NOTHING, with_records(num_instances=2))
    assert f"({stage})" in lines(found)[0]


def test_a_server_that_got_a_host_or_moves_is_alone():
    for action in "live-migration", "rebuild":
        known = with_records(num_instances=9)
        found = server.answer(failed(action), ID, NOTHING, known)
        assert found.judgement.question.spec.count == 1
        assert found.together == 1


def test_a_failed_resize_is_judged_with_its_new_flavor():
    found = server.answer(
        failed("resize"), ID, NOTHING, with_records(resized_to="gold")
    )
    assert found.kind is MoveKind.RESIZE
    assert found.judgement.question.move.kind is MoveKind.RESIZE
    assert (found.unrecorded, found.is_flavor_changed) == ("", False)
    assert lines(found)[0].startswith("web-3: resize to gold failed 60 min ago (")


@pytest.mark.parametrize(
    ("request_", "new", "verdict", "which"),
    [
        ({}, "", "Nova does not record the new flavor.", "the"),
        ({"resized_to": ""}, "", "The new flavor is deleted.", "another"),
        (
            {"resized_to": "x"},
            " to x",
            "The new flavor is deleted or hidden from you.",
            "another",
        ),
    ],
)
def test_a_new_flavor_that_is_gone_is_not_judged(request_, new, verdict, which):
    found = server.answer(failed("resize"), ID, NOTHING, with_records(**request_))
    assert found.unrecorded == "flavor"
    summary, command = lines(found)
    assert summary.startswith(f"web-3: resize{new} failed 60 min ago")
    assert summary.endswith(verdict)
    assert command.startswith(f"Judge it with {which} flavor: ")
    assert command.endswith(" --for resize --flavor <FLAVOR>")


def test_a_failed_rebuild_names_its_image():
    new = {"id": ID, "name": "jammy", "properties": {}}
    found = server.answer(failed("rebuild"), ID, NOTHING, with_records(image=new))
    first, second = lines(found)
    assert first.startswith("web-3: rebuild to jammy failed")
    assert first.endswith("Whether it would fail again is not judged here.")
    assert second.endswith("web-3 --for rebuild --image jammy")
    same = {**new, "id": IMAGE}
    found = server.answer(failed("rebuild"), ID, NOTHING, with_records(image=same))
    assert found.asked_for == ""


def test_no_nova_is_asked_if_apis_show_all_of_a_request():
    known = with_records()
    server.answer(failed("live-migration"), ID, NOTHING, known)
    assert known.claims.asked == []


def test_all_failed_servers_are_asked_for_at_once(monkeypatch):
    asked = []

    def records(command, service, servers, with_hosts, timeout):
        asked.append([*servers])
        record = {"devices": [], "force_hosts": ["none"]}
        return {"requests": {LOST["id"]: record}, "unread": {}}

    monkeypatch.setattr(own_filters.document, "records", records)
    document = copy.deepcopy(SAMPLE)
    document["compute"]["servers"].append({**LOST, "id": ID, "name": "other"})
    warnings = []
    own = OwnSources("n", service="nova-scheduler", warn=warnings.append)
    of_nova = sources(document)
    of_nova.claims = NovaClaims(own)
    found = server.failed(SavedCloud(document), of_nova)
    assert [set(each) for each in asked] == [{LOST["id"], ID}]
    assert warnings == ["Nova has no record of the request of 1 server"]
    answers = {each.id: kind.answer for kind in found.kinds for each in kind.servers}
    assert not answers[LOST["id"]].judgement.has_room
    assert len(found.kinds) == 2


PORTS = [{"count": 1, "alias_name": None, "requester_id": each} for each in "ab"]


@pytest.mark.parametrize(
    ("first", "second", "is_alike"),
    [
        ({}, {"force_hosts": ["cmp02"]}, False),
        ({"availability_zone": "az-west"}, {"availability_zone": None}, False),
        ({}, {"scheduler_hints": {"same_host": [ID]}}, False),
        ({"num_instances": 1}, {"num_instances": 20}, False),
        ({"devices": PORTS[:1]}, {"devices": PORTS[1:]}, True),
        ({"devices": PORTS[:1]}, {"devices": PORTS}, False),
        ({"devices": [{"count": 1, "alias_name": "a1"}]}, {}, False),
    ],
)
def test_failed_servers_are_alike_if_their_records_say_so(first, second, is_alike):
    document = saved(first)
    compute = document["compute"]
    (lost,) = (each for each in compute["servers"] if each["id"] == LOST["id"])
    compute["servers"].append({**lost, "id": ID, "name": "other"})
    document["requests"][ID] = {"devices": [], **second}
    kinds = server.failed(SavedCloud(document), sources(document)).kinds
    names = [{each.name for each in kind.servers} for kind in kinds]
    assert names == ([{"db-2", "other"}] if is_alike else [{"db-2"}, {"other"}])


def test_records_that_can_not_be_read_are_one_warning(monkeypatch):
    unread = {ID: "ValueError", "other": "KeyError"}
    answer = {"requests": {}, "unread": unread}
    monkeypatch.setattr(own_filters.document, "records", lambda *arguments: answer)
    warnings = []
    own = OwnSources("n", service="nova-scheduler", warn=warnings.append)
    found = NovaClaims(own).requests([*unread, "gone"])
    assert [found[server] for server in (*unread, "gone")] == [{}, {}, {}]
    problem = "2 servers can't be read (KeyError, ValueError)"
    assert warnings == [
        f"Nova's record of the request of {problem}",
        "Nova has no record of the request of 1 server",
    ]


def test_a_nova_that_does_not_answer_is_one_warning():
    warnings = []
    own = OwnSources("no-such", service="nova-scheduler", warn=warnings.append)
    claims = NovaClaims(own)
    assert claims.requests([ID]) == claims.requests(["other"]) == {}
    (warning,) = warnings
    assert warning.startswith("'no-such' can't be started")
    with pytest.raises(NovaPythonFails):
        NovaClaims(OwnSources("no-such", service="nova-scheduler")).requests([ID])


def test_records_of_requests_are_masked_and_answer_alike():
    name = "secret-host"
    request = {
        "availability_zone": "secret-zone",
        "force_hosts": [name],
        "scheduler_hints": {"secret-hint": ["secret-value"]},
        "num_instances": 4,
        "image": {**GONE, "name": "secret-image"},
        "resized_to": "secret-flavor",
        "devices": [{"count": 1, "alias_name": "secret-alias", "requester_id": ID}],
    }
    assert {*request} <= {*nova_runner.REQUEST_FIELDS, "image", "resized_to", "devices"}
    found, originals = masking.masked(saved(request))
    text = json.dumps(found)
    assert "secret" not in text
    assert ID not in text
    ((identity, masked),) = found["requests"].items()
    assert originals[identity] == LOST["id"]
    assert originals[masked["force_hosts"][0]] == name
    assert masked["num_instances"] == 4
    assert form.wrong(found) is None
