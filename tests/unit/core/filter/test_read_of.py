"""What ``read_of`` leaves out of a request is what no filter reads.

Requests that are equal in it share answers, so a filter that reads more gives a wrong
one. Each filter has recorded answers and a trap.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from osc_traitsched.core.nova.filter import table
from osc_traitsched.core.nova.filter.table import FILTERS, read_of
from osc_traitsched.core.nova.server import Network, Parts, Port
from tests.fidelity.scheduling import ours, recorded, traps

CASES = [*recorded.questions(), *(trap.case for trap in traps.read())]
PORT = Port("p1", Network("n1", "n1"), vnic_type="direct", device_profile="gpu")
#: The parts of a request that have fields, the innermost first.
PLACES = (
    ("server", "parts", "ports", 0),
    ("server", "parts"),
    ("server", "flavor"),
    ("server",),
    (),
)
OTHERS = object(), ""


def at(found: Any, place: Any) -> Any:
    for key in place:
        found = found[key] if isinstance(key, int) else getattr(found, key)
    return found


def put(found: Any, place: Any, new: Any) -> Any:
    """The request with something else in one place."""
    if not place:
        return new
    key, *rest = place
    inner = put(at(found, [key]), rest, new)
    if isinstance(key, int):
        return (*found[:key], inner, *found[key + 1 :])
    return dataclasses.replace(found, **{key: inner})


def is_left_out(spec: Any, place: Any) -> bool:
    """Whether requests share answers whatever they have there."""
    try:
        found = [read_of(put(spec, place, each)) for each in OTHERS]
        return all(each == read_of(spec) for each in found)
    except (AttributeError, TypeError):
        return False


def guarded(spec: Any) -> Any:
    """The request without what is left out; to read that raises."""
    found = spec
    for place in PLACES:
        names = [each.name for each in dataclasses.fields(at(spec, place))]
        left_out = [name for name in names if is_left_out(spec, (*place, name))]
        found = put(found, place, without(at(found, place), left_out))
    return found


def without(found: Any, names: list[str]) -> Any:
    class Guarded(type(found)):  # type: ignore[misc]
        def __getattribute__(self, name: str) -> Any:
            assert name not in names, f"{name} is not in read_of"
            return super().__getattribute__(name)

    made = object.__new__(Guarded)
    for name, value in vars(found).items():
        object.__setattr__(made, name, value)
    return made


def requests(release: int) -> Iterator[tuple[Any, Any, Any]]:
    for case in CASES:
        spec, hosts = ours.spec(case, release), ours.states(case)
        every = tuple(each for host in hosts for each in host.aggregates)
        spec = put(spec, ("server", "aggregates"), every)
        spec = put(spec, ("server", "parts"), Parts(ports=(PORT,)))
        yield spec, hosts, ours.settings(case, release)


ROWS = {**FILTERS, **table.without_filter()}.values()


@pytest.mark.parametrize("release", sorted({row.until - 1 for row in ROWS}))
def test_no_filter_reads_what_is_left_out(release):
    rows = [row for row in ROWS if row.is_in(release)]
    for spec, hosts, settings in requests(release):
        specs = {**spec.server.flavor.specs, "trait:CUSTOM_GOLD": "required"}
        alike = put(spec, ("server", "flavor", "specs"), specs)
        assert read_of(alike) == read_of(spec)
        alike = guarded(alike)
        for row in rows:
            assert row.varies(alike, settings) == row.varies(spec, settings)
            for host in hosts:
                found = row.judge(host, alike, settings)
                assert found == row.judge(host, spec, settings), row.name


def test_of_a_request_some_things_are_left_out():
    spec, *_ = next(requests(34))
    for name in ("name", "in_use"):
        assert is_left_out(spec, (*PLACES[0], name))
    for place in (*PLACES[0], "vnic_type"), ("server", "flavor", "specs"), ("hints",):
        assert not is_left_out(spec, place)
