"""The schemas of documents, and documents that they describe."""

from __future__ import annotations

import jsonschema
import pytest

from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.judge import fix
from osc_traitsched.core.judge.judge import Explanation, judge
from osc_traitsched.documents import reference
from osc_traitsched.views import schemas
from osc_traitsched.views.explain import document
from tests.cases.reading import cases
from tests.schemas import closed
from tests.unit.core.scheduled import placed
from tests.unit.core.test_cases import facts

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
    fixes = fix.on_hosts(judgement.matcher, judgement.verdict, case.question, computes)
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
    whole = document.document(found)
    closed("explain").validate(whole)
    for clause in whole["clauses"]:
        assert set(clause) == ALWAYS | OF_KIND[clause["kind"]]


def test_a_field_that_it_does_not_name_is_allowed_to_a_later_release_only():
    found = explained(next(iter(cases())))
    whole = {**document.document(found), "new": 1}
    assert jsonschema.Draft202012Validator(schemas.schema("explain")).is_valid(whole)
    assert not closed("explain").is_valid(whole)
