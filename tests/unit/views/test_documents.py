"""A full example of each document, and its schema."""

from __future__ import annotations

import dataclasses
import datetime
import json

import jsonschema
import pytest

from osc_traitsched.app import server
from osc_traitsched.core import errors
from osc_traitsched.core.change.effects import Server
from osc_traitsched.core.change.traits import Requirer
from osc_traitsched.core.inventory.snapshot import (
    Aggregate,
    Compute,
    Nova,
    Provider,
    Snapshot,
)
from osc_traitsched.core.judge import fix
from osc_traitsched.core.judge.capacity import FlavorFit, HostFit
from osc_traitsched.core.judge.fix import Advice, RequestChange, RequestFix, Topic
from osc_traitsched.core.judge.judge import Explanation, judge
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.nova.server import Network, Parts, Port, Volume
from osc_traitsched.core.placement.facts import Room, Stock
from osc_traitsched.core.servers.drain import RoomPlan
from osc_traitsched.core.servers.failure import (
    Changes,
    FailedKind,
    FailedServer,
    FailedServers,
    Failure,
    Stage,
)
from osc_traitsched.core.servers.state import Event, Migration
from osc_traitsched.core.servers.usage import (
    CapacityQuery,
    FlavorsView,
    FlavorView,
    HostView,
    ImageView,
    Oddity,
    TraitUse,
)
from osc_traitsched.documents import reference
from osc_traitsched.paste import Option
from osc_traitsched.views import capacity, drain, flavor, host, lose, schemas, trait
from osc_traitsched.views import destinations as server_explain
from osc_traitsched.views import server_explain as server_explain_views
from osc_traitsched.views.diff import DifferenceDocument
from osc_traitsched.views.explain import document as explain
from tests.cases import reading
from tests.cases.reading import cases
from tests.schemas import closed
from tests.unit.app import test_explain, test_server
from tests.unit.app.test_server import ID, NOTHING, SOURCES, body, cloud
from tests.unit.core import test_explanation, test_options
from tests.unit.core.scheduled import COMPUTE, SPECS, placed
from tests.unit.core.test_cases import facts
from tests.unit.views import (
    test_capacity,
    test_drain,
    test_lose,
    test_text,
    test_words,
)

# The schemas of documents, and documents that they describe.


ALWAYS = {"id", "kind", "text", "origins", "alone", "only", "left"}
#: The other fields of a condition, by its kind.
OF_KIND = {
    "resource": {"group", "resource_class", "amount"},
    "trait": {"group", "trait", "forbidden"},
    "root trait": {"trait", "forbidden"},
    "member of": {"aggregates", "forbidden"},
    "host filter": {"filter"},
    "move": {"rule"},
}


def explained(case):
    """Return what explain would say of a named case."""
    request = case.question.request()
    found = facts(case, request)
    computes = {h.uuid: Compute(h.uuid, h.name, h.name) for h in found.snapshot.hosts}
    judgement = judge(case.question, request, found, computes, placed(found.candidates))
    fixes = fix.on_hosts(
        judgement.verdict.matcher, judgement.verdict, case.question, computes
    )
    return Explanation(judgement, fixes=fixes)


@pytest.mark.parametrize("command", schemas.DOCUMENTS)
def test_a_schema_is_one_and_the_reference_has_its_fields(command):
    schema = schemas.schema(command)
    jsonschema.Draft202012Validator.check_schema(schema)
    kind = schemas.DOCUMENTS[command]
    tables = reference(kind)
    for name in schema["$defs"][kind.__name__]["properties"]:
        assert f"   * - ``{name}``\n" in tables


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_the_document_of_a_named_case_has_the_fields_that_it_names_and_no_others(case):
    found = explained(case)
    whole = explain.document(found)
    closed("explain").validate(whole)
    for clause in whole["clauses"]:
        assert set(clause) == ALWAYS | OF_KIND[clause["kind"]]


def test_a_field_that_it_does_not_name_is_allowed_to_a_later_release_only():
    found = explained(next(iter(cases())))
    whole = {**explain.document(found), "new": 1}
    assert jsonschema.Draft202012Validator(schemas.schema("explain")).is_valid(whole)
    assert not closed("explain").is_valid(whole)


# A full example of each document for programs, whole.


OPTIONS = (Option("--os-cloud", "east"),)
THEN = datetime.datetime(2026, 11, 22, 12, tzinfo=datetime.timezone.utc)
NOW = THEN + datetime.timedelta(hours=3)
IMAGE = {"id": "i1", "name": "raw"}
GOLD = "CUSTOM_GOLD"


def _with_image(judgement):
    question = judgement.question
    flavor = {**question.flavor, "id": "f1"}
    question = dataclasses.replace(question, image=IMAGE, flavor=flavor)
    return dataclasses.replace(judgement, question=question)


def _explanation():
    explanation, _, _ = test_explain.compared(
        {options.ENABLED_FILTERS: (SPECS,)},
        {options.ENABLED_FILTERS: (COMPUTE,)},
        test_explain.GOLD,
    )
    network = Network("n1", "net")
    parts = Parts(
        (Port("p1", network, "port"),), (network,), (Volume("v1", "nova", "disk"),)
    )
    question = dataclasses.replace(
        explanation.judgement.question, group=ServerGroup("g", "affinity"), parts=parts
    ).with_spec(hints={"same_host": ("s1", "s2")})
    names = {host.name: host.uuid for host in explanation.judgement.hosts}
    shape = RequestChange("size", "ram", 512)
    trait = RequestChange("flavor", f"trait:{GOLD}", "required")
    return dataclasses.replace(
        explanation,
        since=test_text.SINCE,
        ratios=("ratio MEMORY_MB=2",),
        judgement=dataclasses.replace(explanation.judgement, question=question),
        advice=(Advice(Topic.MISSPELLED, GOLD, corrections=(trait,)),),
        fixes=(
            RequestFix(
                (shape,),
                (names["cmp02"],),
                (names["cmp01"],),
                is_cut=True,
                deciding=(SPECS,),
                room=Room(1, 2),
            ),
        ),
        make_room=RoomPlan(
            ("cmp00",),
            (test_drain.step("odd", unknown=test_drain.UNKNOWN),),
            ("cmp00",),
            (SPECS,),
        ),
    )


def _capacity():
    home = test_drain.drain([test_drain.step()])
    flavor = test_capacity.fit(
        "small",
        13,
        is_sure=False,
        kept_away=(test_capacity.KEPT,),
        after=Room(9, 9),
        groups=test_capacity.GROUPS,
    )
    flavor = dataclasses.replace(flavor, judgement=_with_image(flavor.judgement))
    return dataclasses.replace(
        test_capacity.SCREENS["kept away, stranded, rejected"],
        flavors=(flavor,),
        query=CapacityQuery(
            by="zone", added={"cmp00": 2}, set_then=("scheduler.max_attempts=3",)
        ),
        removed=("cmp01",),
        drain=home,
        since=test_text.SINCE,
    )


def _server():
    answer = server.answer(cloud(body()), ID, NOTHING, SOURCES)
    step = Event("compute_prep_resize", "c", True, "No.", THEN)
    return dataclasses.replace(
        answer,
        state=dataclasses.replace(answer.state, host="cmp01"),
        failure=Failure(
            Stage.COMPUTE,
            "resize",
            "req-1",
            THEN,
            "No.",
            attempts=("cmp02",),
            steps=(step,),
        ),
        moves=(Migration("resize", "error", "cmp01", "cmp02"),),
        changes=Changes(("d1",), ("d2",), ("a",), ("b",), (("a", "b"),), True, ("x",)),
        problem=errors.Forbidden("placement", "no"),
    )


def _trait():
    host = Provider("h1", "cmp00", 1, "h1")
    pool = Provider("s1", "pool", 1, "s1")
    nodes = (Compute("h1", "cmp00", "cmp00"),)
    snapshot = Snapshot((host, pool), sharing=frozenset({"s1"}), nova=Nova(nodes))
    requiring = (
        Requirer(kind, f"{kind}-name", f"trait:{GOLD}", f"{kind}-id")
        for kind in ("flavor", "image", "aggregate")
    )
    forbids = Requirer("flavor", "other", f"trait:{GOLD}", "f2")
    servers = (Server("s1", "web", "cmp01", "p1", frozenset({GOLD})),)
    return TraitUse(GOLD, snapshot, (host, pool), tuple(requiring), (forbids,), servers)


def _host():
    fits, full = test_capacity.fit("small", 13), test_capacity.fit("large", 0)
    host = fits.judgement.candidates.hosts[0]
    return HostView(
        host,
        Compute(host.uuid, host.name, host.name),
        (
            Aggregate(
                1,
                "a1",
                "east",
                (host.name,),
                {"availability_zone": "az", "filter_tenant_id": "p1"},
            ),
        ),
        (host,),
        {host.uuid: {"VCPU": Stock(8, 2, 4, 0, 2.0, 1, 4, 1)}},
        {host.uuid: frozenset({GOLD, "CUSTOM_A"})},
        ("web",),
        test_capacity.found(fits, full),
        (Oddity("VCPU", "total", 4.0, 8.0, 3),),
        {"p1": "acme"},
        True,
        "cmp09",
        down_since="2026-11-22T12:00:00.000000",
    )


def _flavor():
    ram = {"VCPU": 8, "DISK_GB": 9, "MEMORY_MB": {"total": 1024, "used": 1000}}
    hosts = {"fits": {"traits": [GOLD]}, "full": {"traits": [GOLD], "inventories": ram}}
    body = {"cloud": {**hosts, "without": {}}, "flavor": {f"trait:{GOLD}": "required"}}
    judgement = _with_image(test_explanation.explained(body, ["fits"]))
    question = dataclasses.replace(judgement.question, project="p1")
    judgement = dataclasses.replace(judgement, question=question)
    fit = FlavorFit(
        judgement,
        {judgement.candidates.hosts[0].uuid: HostFit(Room(13, 13), "VCPU")},
        Room(13, 13),
        groups={"az": (1, Room(13, 13), 2)},
        suited=frozenset(judgement.hosts[place].uuid for place in (0, 1)),
    )
    found = test_capacity.found(fit)
    rejected = _with_image(test_capacity.rejected("odd"))
    return FlavorView(
        found,
        {"ACTIVE": ("web",), "ERROR": ("db",)},
        ("acme",),
        {"uefi": rejected},
        3,
    )


def _failed():
    servers = (FailedServer("1", "web", "p1", THEN),)
    return FailedServers((FailedKind(servers, _server()),), servers)


def _destinations():
    where = test_server.running("cmp02")
    refused, _ = test_server.found(where, test_server.EVACUATION)
    return refused


def _flavors():
    fits = []
    for number, extra_specs in enumerate(({}, {"hw:cpu_policy": "dedicated"})):
        found = _with_image(test_words.of_flavor(f"m{number}", 2))
        body = {**found.question.flavor, "id": f"{number}", "extra_specs": extra_specs}
        question = dataclasses.replace(found.question, flavor=body)
        judgement = dataclasses.replace(found, question=question)
        hosts = dict.fromkeys(found.candidates.uuids, HostFit(Room(2, 2), "VCPU"))
        fits.append(
            FlavorFit(judgement, hosts, Room(4, 4), suited=frozenset(hosts.keys()))
        )
    query = CapacityQuery(flavors=("1", "0"))
    return FlavorsView(test_capacity.found(*fits, query=query, facts=found.facts))


def _image():
    judgement = _with_image(test_words.of_flavor("numa", 2, is_sure=False))
    root = min(judgement.candidates.uuids)
    hosts = {root: HostFit(Room(0, 13), "VCPU")}
    fit = FlavorFit(judgement, hosts, Room(0, 13), suited=frozenset({root}))
    rejected = _with_image(test_capacity.rejected("odd"))
    found = test_capacity.found(fit, rejected=(rejected,), facts=judgement.facts)
    return ImageView(found, {"ACTIVE": ("web",)}, test_text.SINCE)


def _drain():
    steps = [
        test_drain.step("odd", unknown=test_drain.UNKNOWN),
        test_drain.step("a", parts=test_drain.NOT_SHOWN),
    ]
    stuck = test_drain.STATES["some-stuck"].stuck
    return test_drain.drain(steps, stuck, unconfirmed=("id-1",))


#: Of each command: its golden file, and what makes the document.
EXAMPLES = {
    "explain": (
        "documents/explain",
        lambda: explain.document(_explanation(), OPTIONS),
    ),
    "capacity": (
        "documents/capacity",
        lambda: capacity.CapacityDocument.of(_capacity()),
    ),
    "capacity --lose": (
        "documents/capacity-lose",
        lambda: lose.LossesDocument.of(test_lose.SCREENS["no"]),
    ),
    "server explain": (
        "documents/server-explain",
        lambda: server_explain_views.ServerExplainDocument.of(
            server_explain_views.Seen(_server(), NOW), OPTIONS
        ),
    ),
    "server explain --failed": (
        "documents/failed",
        lambda: server_explain_views.FailedDocument.of(_failed()),
    ),
    "server destinations": (
        "documents/destinations",
        lambda: server_explain.destinations(_destinations(), OPTIONS),
    ),
    "host drain": (
        "documents/drain",
        lambda: drain.DrainDocument.of(_drain(), OPTIONS),
    ),
    "trait show": ("documents/trait", lambda: trait.TraitDocument.of(_trait())),
    "flavor show": ("documents/flavor", lambda: flavor.FlavorUseDocument.of(_flavor())),
    "flavor show A B": (
        "documents/flavors",
        lambda: flavor.FlavorsDocument.of(_flavors()),
    ),
    "image show": ("documents/image", lambda: flavor.ImageDocument.of(_image())),
    "host show": ("documents/host", lambda: host.HostDocument.of(_host())),
    "diff": (
        "documents/diff",
        lambda: DifferenceDocument.of(test_text.NIGHTS),
    ),
}


def _fields(schema, definitions, value):
    """The fields of each class that have a value somewhere in a document."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        for key, own in definitions[name]["properties"].items():
            if value.get(key) not in (None, [], {}):
                yield name, key
                yield from _fields(own, definitions, value[key])
    for one in schema.get("anyOf", ()):
        if "$ref" in one or isinstance(value, list):
            yield from _fields(one, definitions, value)
    for each in value if "items" in schema else ():
        yield from _fields(schema["items"], definitions, each)
    if "additionalProperties" in schema:
        for each in value.values():
            yield from _fields(schema["additionalProperties"], definitions, each)


#: What no example has a value for; tests of explain compare these with words.
ELSEWHERE = {
    "Clause": {"filter", "rule"},
    "Dependence": {"more"},
    "DestinationsDocument": {"uncertain_destinations"},
    "Difference": {"filter", "here", "host", "nova"},
    "Disagreement": {"unjudged_roots"},
    "ExplainDocument": {
        "computes_without_provider",
        "cut_off_candidates",
        "filters_assumed_off",
        "in_nova",
        "unlisted_computes",
        "unmanaged_roots",
    },
    "FilterAssumedOff": {"filter", "hosts"},
    "FlavorCapacity": {"reasons"},
    "FlavorHosts": {"reasons"},
    "FlavorUseDocument": {"rejected"},
    "InNova": {"compared", "differences", "nova"},
    "OtherRelease": {"impact", "major", "name"},
    "Release": {"others"},
    "Request": {"host", "hypervisor_hostname"},
    "Service": {"disabled_reason"},
    "WithoutSet": {"kept_out", "rejection", "uncertain_candidates"},
}


def _others():
    """Explanations that together have what the example of explain lacks."""
    yield from map(explained, reading.cases())
    yield from map(
        Explanation,
        (
            test_capacity.rejected("odd"),
            test_words.of_flavor("numa", 2, is_sure=False),
            test_explanation.explained(
                {"cloud": {"a": {}, "b": {"inventories": {}}}}, ["b"]
            ),
            test_options.found("ab", (test_options.DEFAULT, "", "ab")),
        ),
    )


def _lines(document):
    for key, value in document.items():
        if isinstance(value, list):
            yield f"{key}:"
            yield from (f"- {json.dumps(each)}" for each in value)
        else:
            yield f"{key}: {json.dumps(value)}"


@pytest.mark.parametrize("command", schemas.DOCUMENTS)
def test_each_field_of_a_document_has_a_value_in_an_example(command, golden):
    file, made = EXAMPLES[command]
    document = made()
    closed(command).validate(document)
    schema = schemas.schema(command)
    filled = set(_fields(schema, schema["$defs"], document))
    for other in _others() if command == "explain" else ():
        more = explain.document(other)
        filled |= set(_fields(schema, schema["$defs"], more))
    nested = set(schemas.schema("explain")["$defs"]) if command != "explain" else set()
    empty = {
        (name, key)
        for name, one in schema["$defs"].items()
        for key in one["properties"]
        if name not in nested and key not in ELSEWHERE.get(name, ())
    }
    assert empty - filled == set()
    for key in ("now", "explanation"):
        if isinstance(document.get(key), dict):
            document[key] = document[key]["summary"]
    golden(file, _lines(document))
