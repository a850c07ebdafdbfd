"""Rows of several providers of one host, for a person."""

from __future__ import annotations

import argparse

import pytest

from osc_traitsched.commands import base
from osc_traitsched.views import listing

HOST = ("cmp01", "u1", "", "unchanged", "")
GPU = ("cmp01", "u2", "", "unchanged", "cmp01_gpu")


def test_a_nested_provider_that_did_not_change_has_its_own_name():
    rows, line = listing.for_people(listing.ADDED, [HOST, GPU])
    assert (rows, line) == ([], "Unchanged: cmp01, cmp01_gpu")


NESTED = ("cmp01", "u2", "CUSTOM_GOLD", "added", "cmp01_gpu")
FAILED = ("cmp01", "u2", "", "failed", "no answer")


@pytest.mark.parametrize(
    ("rows", "is_shown"),
    [([HOST, NESTED], False), ([FAILED, (*FAILED[:1], "u3", *FAILED[2:])], True)],
)
def test_the_uuid_is_shown_if_nothing_else_tells_providers_apart(rows, is_shown):
    shown = base._for_people(argparse.Namespace(), listing.ADDED, rows)
    assert ("provider" in shown) is is_shown
