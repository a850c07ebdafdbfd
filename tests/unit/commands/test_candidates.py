"""The candidates command: filters, weighers, and what it exits with."""

from __future__ import annotations

import json

import pytest

from osc_traitsched.commands import base
from osc_traitsched.commands.base import ExitCode
from tests.services.nova import FIGURES, NO_FIGURES
from tests.unit.app import test_explain
from tests.unit.commands.desired import run
from tests.unit.core.scheduled import OWN, SPECS

ENABLED = "filter_scheduler.enabled_filters"
OFF = "--set=scheduler.enable_isolated_aggregate_filtering=false"
GOLD = "aggregate_instance_extra_specs:trait:CUSTOM_GOLD"


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    cloud = test_explain.cloud()
    monkeypatch.setattr(base.Command, "cloud", lambda command: cloud)


def listed(*arguments, filters=SPECS, specs=()):
    """Return the run, and the rows by host, where these filters are on."""
    specs = ["trait:CUSTOM_GOLD=", *specs]
    properties = [f"--flavor-property={each}" for each in specs]
    on = ("--set", f"{ENABLED}={filters}", "-f", "json")
    found = run("candidates", "gold", "rocky", OFF, *on, *properties, *arguments)
    return found, {row["host"]: row for row in json.loads(found.out)}


def test_the_hosts_that_a_filter_keeps_out_are_not_there_and_named(golden):
    found, rows = listed(specs=[f"{GOLD}=required"])
    # No option tells of the image type check.
    assert (found.code, [*rows]) == (ExitCode.UNKNOWN, ["cmp01"])
    golden("candidates/kept-out-by-a-filter", found.err)


@pytest.mark.parametrize(
    ("options", "columns"),
    [
        ((), "host free aggregates zone"),
        (("--weights",), "host zone weight weighers"),
        (("-c", "host", "-c", "allocates", "-c", "free", "-c", "provider"), None),
    ],
)
def test_a_table_fits_the_terminal(options, columns, monkeypatch):
    words = ("candidates", "gold", "rocky", OFF)
    words += ("--flavor-property=trait:CUSTOM_GOLD=", *options)
    in_pipe = run(*words).out.splitlines()
    assert max(map(len, in_pipe)) > 80
    monkeypatch.setattr(base, "_columns", lambda stream: 80)
    rows = run(*words).out.splitlines()
    assert max(map(len, rows)) <= 80
    assert columns in (None, " ".join(rows[1].replace("|", "").split()))


def test_where_filters_keep_all_hosts_out_there_is_none():
    found, rows = listed(specs=[f"{GOLD}=none"])
    assert (found.code, rows) == (ExitCode.NO_HOST, {})
    assert found.err.endswith(f"{SPECS} rejects cmp01, cmp02 (see explain)\n")


def test_a_person_reads_why_there_is_none():
    specs = ("trait:CUSTOM_GOLD=", f"{GOLD}=none")
    properties = [f"--flavor-property={each}" for each in specs]
    on = ("--set", f"{ENABLED}={SPECS}")
    found = run("candidates", "gold", "rocky", OFF, *on, *properties)
    why = "filters reject the 2 hosts that Placement returns"
    assert found.out.splitlines()[0] == f"none: {why}; see trait-sched explain"


def test_where_nothing_is_known_of_a_filter_no_host_is_sure():
    found, rows = listed(filters=OWN)
    assert found.code == ExitCode.UNKNOWN
    assert {host: row["unknown"] for host, row in rows.items()} == {
        host: [OWN] for host in ("cmp01", "cmp02")
    }


def assumed(*options):
    """Return what is warned of where it is only assumed which filters are on."""
    properties = ("--flavor-property", "trait:CUSTOM_GOLD=")
    wanted = ("--flavor-property", f"{GOLD}=required")
    known = "--set=scheduler.query_placement_for_image_type_support=false"
    words = ("candidates", "gold", "rocky", OFF, known, *properties, *wanted)
    found = run(*words, *options)
    return [line for line in found.err.splitlines() if line.startswith("Depends on ")]


def test_a_filter_that_is_only_assumed_to_be_off_is_named_with_its_hosts(golden):
    golden("candidates/filters-assumed-off", assumed())
    assert assumed("--set", f"{ENABLED}=ComputeFilter") == []


def test_hosts_that_only_a_filter_by_evidence_rejects_are_counted():
    specs = ("trait:CUSTOM_GOLD=", f"{GOLD}=none")
    properties = [f"--flavor-property={each}" for each in specs]
    found = run("candidates", "gold", "rocky", OFF, *properties)
    assert found.code == ExitCode.UNKNOWN
    assert (
        "Depends on nova.conf: 2 of 3 hosts if AggregateInstanceExtraSpecsFilter is "
        "disabled, 0 of 3 if it is enabled." in " ".join(found.err.split())
    )


def test_a_request_that_a_filter_ends_has_no_host():
    found, rows = listed(specs=[f"{GOLD}=>= many"])
    assert (found.code, rows) == (ExitCode.NO_HOST, {})
    assert SPECS in found.err
    assert "Traceback" not in found.err


def test_the_weights_are_shown_where_they_are_wanted(monkeypatch):
    nodes = dict.fromkeys(("cmp01", "cmp02", "cmp03"), NO_FIGURES)
    cloud = test_explain.cloud(**nodes)
    monkeypatch.setattr(base.Command, "cloud", lambda command: cloud)
    _, rows = listed()
    assert not {"weight", "weighers"} & rows["cmp01"].keys()
    found, rows = listed("--weights", "--limit", "1")
    assert (found.code, [*rows]) == (ExitCode.UNKNOWN, ["cmp01"])
    assert (rows["cmp01"]["weight"], rows["cmp01"]["weighers"]) == (0.0, [])


def test_the_weighers_that_add_something_to_a_weight_are_named(monkeypatch):
    more = {"free_ram_mb": 2 * FIGURES["free_ram_mb"]}
    cloud = test_explain.cloud(cmp02=more)
    monkeypatch.setattr(base.Command, "cloud", lambda command: cloud)
    no_cpu = ("--set", "filter_scheduler.cpu_weight_multiplier=0")
    _, rows = listed("--weights", *no_cpu)
    assert [(name, row["weighers"]) for name, row in rows.items()] == [
        ("cmp02", ["DiskWeigher=1.0", "RAMWeigher=1.0"]),
        ("cmp01", ["DiskWeigher=1.0", "RAMWeigher=0.5"]),
    ]


@pytest.mark.parametrize("option", [("--custom-filter", "a.py:A"), ("--with-nova",)])
@pytest.mark.parametrize("verb", ["explain", "candidates"])
def test_what_runs_in_nova_needs_a_python_with_nova(verb, option):
    found = run(verb, "gold", "rocky", *option)
    assert (found.code, found.out) == (ExitCode.USAGE, "")
    assert found.err.splitlines()[-1] == f"{option[0]} requires --nova-python"


def test_a_hint_that_nobody_reads_is_named(golden):
    found, _ = listed("--hint", "rack=2")
    golden("candidates/hint-without-effect", found.err)
