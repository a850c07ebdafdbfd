"""The schema of explain's document is one, and describes every field."""

from __future__ import annotations

import dataclasses
import pathlib
import re

import jsonschema
import pytest

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.explain import fix
from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.explain.filtering import Filtering
from osc_traitsched.core.explain.option_impact import OptionImpact, ReleaseImpact
from osc_traitsched.core.explain.verdict import reach
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import state
from osc_traitsched.core.nova.filter.state import PASSES, Fails
from osc_traitsched.core.nova.filter.table import Judgment
from osc_traitsched.core.nova.own import Difference, OwnAnswers
from osc_traitsched.core.nova.server.parts import Network, Parts, Port, Volume
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting
from osc_traitsched.core.nova.weigher.ranking import Ranking
from osc_traitsched.core.nova.weigher.weighing import NONE, Assumption, Column
from osc_traitsched.core.placement.matcher import Matcher
from osc_traitsched.views.explain import comparison, document
from tests.cases.reading import Case, cases
from tests.explain_schema import CLOSED, OPEN, SCHEMA
from tests.unit.core.asking import asking
from tests.unit.core.test_cases import facts


def objects(schema, path="document"):
    """Yield every mapping that the schema describes, with where it is."""
    if "object" in (schema.get("type"), *schema.get("type", ())):
        yield path, schema
    for name, each in schema.get("properties", {}).items():
        yield from objects(each, f"{path}.{name}")
    if "items" in schema:
        yield from objects(schema["items"], f"{path}[]")


def mappings(value, path="document"):
    """Yield every mapping of a document, with where it is."""
    if isinstance(value, dict):
        yield path, value
        for name, each in value.items():
            yield from mappings(each, f"{path}.{name}")
    elif isinstance(value, list):
        for each in value:
            yield from mappings(each, f"{path}[]")


def explanation(case):
    """Return what explain would say of a named case."""
    request = case.question.request()
    found = facts(case, request)
    matcher = Matcher(request.clauses, request.group_policy, found)
    other = request.fallback
    second = other and Matcher(other.clauses, other.group_policy, found)
    verdict = reach(matcher, found, second)
    computes = {h.uuid: Compute(h.uuid, h.name, h.name) for h in found.snapshot.hosts}
    fixes = fix.on_hosts(matcher, verdict, case.question, computes)
    return Explanation(
        case.question,
        request,
        facts=found,
        verdict=verdict,
        fixes=fixes,
        computes=computes,
    )


def with_everything():
    """Return a document with every object that the schema describes.

    Placement lost a host from the zone's aggregate, and the other one has no room.
    """
    made = explanation(
        Case(
            {
                "name": "everything",
                "cloud": {
                    "cmp00": {},
                    "cmp01": {"aggregates": ["east"], "inventories": {"VCPU": 0}},
                },
                "aggregates": {
                    "east": {
                        "metadata": {"availability_zone": "az-east"},
                        "hosts": ["cmp00", "cmp01"],
                    }
                },
                "zone": "az-east",
            }
        )
    )
    name = options.DEFAULT_ZONE
    setting = made.question.assumptions.setting(name)
    other = SchedulerSettings(29)
    assumed = dataclasses.replace(made.question.assumptions, others=(other,))
    hints = {"same_host": ("u",)}
    answers = {host.uuid: Fails(state.SERVICE_DOWN) for host in made.hosts}
    network = Network("n")
    parts = Parts(
        (Port("p", network),), (network,), (Volume("v", "nova", is_multiattach=True),)
    )
    question = asking(made.question, assumptions=assumed, hints=hints, parts=parts)
    name_of_filter, host = "ComputeFilter", made.hosts[0].uuid
    no = answers[host]
    own = OwnAnswers(
        question.request_spec(),
        question.assumptions,
        novas={name_of_filter: {}},
        version="34.0.0",
    )
    differences = (Difference(name_of_filter, host, PASSES, no),)
    judgment = Judgment((name_of_filter,), {name_of_filter: answers})
    made = dataclasses.replace(
        made,
        question=dataclasses.replace(question, own=own),
        others_on={"MetricsFilter": made.hosts[:1]},
        ranking=_ranking([host.uuid for host in made.hosts]),
        filtering=Filtering(judgment, differences=differences),
        release_impacts=(ReleaseImpact(29, gained=1, lost=0),),
        refusal=Refusal("Invalid", "unknown-value", ("hw:tpm_version",), stage="api"),
        option_impacts=(OptionImpact(name, setting, gained=1, lost=0),),
    )
    compared = comparison.document(_with_set(made))
    return {**document.document(made, made.hosts), "without_set": compared}


def _with_set(made):
    """Return an explanation in which --set lets one host in, and keeps another out."""
    one, other = made.hosts
    facts = dataclasses.replace(
        made.facts, candidates=frozenset({one.uuid, other.uuid})
    )
    made = dataclasses.replace(made, facts=facts, refusal=None)
    setting = Setting(3, "a test", given=True)
    own = SchedulerSettings(33, {options.MAX_RESULTS: setting}, place="a test")
    return dataclasses.replace(
        made,
        question=dataclasses.replace(
            made.question, assumptions=SchedulerSettings(33, without_set=own)
        ),
        filtering=_down(one),
        without_set=dataclasses.replace(
            made,
            question=dataclasses.replace(made.question, assumptions=own),
            filtering=_down(other),
        ),
    )


def _down(host):
    answers = {host.uuid: Fails(state.SERVICE_DOWN)}
    return Filtering(Judgment(("ComputeFilter",), {"ComputeFilter": answers}))


def _ranking(hosts):
    column = Column("RAMWeigher", (1.0, 2.0), (0.0, 1.0), (1.0, 1.0))
    places = tuple((host,) for host in reversed(hosts))
    assumed = Assumption("PCIWeigher", "pci_stats", NONE, frozenset(hosts[:1]))
    return Ranking(tuple(hosts), (0.0, 1.0), (column,), places, assumed=(assumed,))


OBJECTS = dict(objects(SCHEMA))
PAGE = pathlib.Path(__file__).parents[3] / "doc/source/reference/explain-json.rst"


def test_it_is_a_json_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_it_is_of_the_number_that_documents_carry():
    assert SCHEMA["properties"]["schema"]["const"] == document.SCHEMA


@pytest.mark.parametrize("path", OBJECTS)
def test_every_field_and_word_is_on_the_page_of_the_document(path):
    page = PAGE.read_text("utf-8").partition("\nAn example\n")[0]
    said = set(re.findall(r"``(.+?)``", page))
    for name, field in OBJECTS[path]["properties"].items():
        words = {each for each in field.get("enum", ()) if each is not None}
        assert {name, *words} <= said


@pytest.mark.parametrize("path", OBJECTS)
def test_every_field_is_described(path):
    for name, field in OBJECTS[path]["properties"].items():
        assert field["description"].endswith("."), name


@pytest.mark.parametrize("path", OBJECTS)
def test_every_field_is_always_there(path):
    # A clause alone has fields of its kind; which ones, its oneOf says.
    some = {
        name for kind in OBJECTS[path].get("oneOf", ()) for name in kind["required"]
    }
    assert set(OBJECTS[path]["required"]) == set(OBJECTS[path]["properties"]) - some


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_the_document_of_a_named_case_has_the_fields_that_it_names_and_no_others(case):
    found = explanation(case)
    errors = CLOSED.iter_errors(document.document(found, found.hosts))
    assert list(errors) == []


@pytest.mark.parametrize("path", OBJECTS)
def test_a_field_that_it_does_not_name_is_allowed_to_a_later_release_only(path):
    found = with_everything()
    assert CLOSED.is_valid(found)
    at = dict(mappings(found))[path]
    at["new"] = 1
    assert OPEN.is_valid(found)
    assert not CLOSED.is_valid(found)


def test_a_field_of_another_kind_of_clause_is_allowed_to_a_later_release_only():
    found = with_everything()
    (clause,) = (each for each in found["clauses"] if each["kind"] == "member of")
    clause["group"] = ""
    assert OPEN.is_valid(found)
    assert not CLOSED.is_valid(found)
