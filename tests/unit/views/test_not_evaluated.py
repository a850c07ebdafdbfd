"""What nova-api may refuse is said where it is not looked at."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.nova.server import server as kinds
from osc_traitsched.core.nova.server.server import NotEvaluated
from osc_traitsched.views.explain import words
from tests.cases.reading import Case
from tests.unit.views.test_schema import explanation

ALIAS = NotEvaluated(kinds.PCI_ALIAS, "pci_passthrough:alias", "a1:1")
PLACED = dataclasses.replace(ALIAS, kind=kinds.PCI_ALIAS_IN_PLACEMENT)
HOST = NotEvaluated(kinds.FORCED_HOST, "availability_zone", "cmp01")
BESIDE = NotEvaluated(kinds.REQUESTED_DESTINATION, "host", "cmp01")


@pytest.mark.parametrize(
    ("found", "parts"),
    [
        (ALIAS, ("pci_passthrough:alias=a1:1: nova-api refuses", "400", "[pci]alias")),
        (PLACED, ("pci_passthrough:alias=a1:1: nova-api refuses", "400", "[pci]alias")),
        (HOST, ("cmp01", "nova-api refuses", "403", "create:forced_host")),
        (BESIDE, ("cmp01", "nova-api refuses", "403", "create:requested_destination")),
    ],
    ids=lambda value: value.kind if isinstance(value, NotEvaluated) else "",
)
def test_what_nova_api_may_refuse_is_said(found, parts):
    told = explanation(Case({"name": "one", "cloud": {"cmp00": {}}}))
    assert told.request is not None
    asked = dataclasses.replace(told.request, not_evaluated=(found,))
    *_, item = words.not_evaluated(dataclasses.replace(told, request=asked))
    assert item.kind == found.kind
    for part in parts:
        assert part in item.text
