"""openstack trait-sched config, without a cloud."""

from __future__ import annotations

import csv
import functools
import io
import os
import threading

import pytest
import yaml

from tests.functional import shell

WRITERS = ["nova", "tripleo", "rhoso"]
FILTERS = "ComputeFilter,AvailabilityZoneFilter,NUMATopologyFilter"
PLANE = """\
kind: OpenStackControlPlane
metadata:
  name: openstack
spec:
  nova:
    template:
      schedulerServiceTemplate:
        customServiceConfig: |
          [scheduler]
          max_placement_results = 50
"""


@pytest.fixture
def config():
    """Run ``openstack trait-sched config ARGUMENTS`` with no login at all."""
    return functools.partial(shell.run, {}, "trait-sched", "config")


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nova.conf").write_text(
        f"[filter_scheduler]\nenabled_filters = {FILTERS}\n"
        "[scheduler]\nquery_placement_for_availability_zone = false\n"
    )
    (tmp_path / "env.yaml").write_text(
        f"parameter_defaults:\n  NovaSchedulerEnabledFilters: [{FILTERS}]\n"
    )
    (tmp_path / "plane.yaml").write_text(PLANE)


def shown(config, *arguments):
    run = config("show", *arguments, "-f", "json")
    assert (run.code, run.err) == (0, "")
    return {row["option"]: row for row in run.json}


def test_show_says_of_every_option_what_it_is_and_where_that_is_from(config):
    found = shown(config, "--nova-release", "wallaby", "--nova-conf", "nova.conf")
    assert found["release"] == {
        "option": "release",
        "value": 23,
        "source": "--nova-release",
        "status": "given",
    }
    assert found["filter_scheduler.enabled_filters"] == {
        "option": "filter_scheduler.enabled_filters",
        "value": FILTERS.split(","),
        "source": "nova.conf:2",
        "status": "given",
    }
    assert found["scheduler.enable_isolated_aggregate_filtering"] == {
        "option": "scheduler.enable_isolated_aggregate_filtering",
        "value": False,
        "source": "the default of wallaby",
        "status": "assumed",
    }
    assert found["database_collation"] == {
        "option": "database_collation",
        "value": "case-insensitive",
        "source": "the default of MariaDB and MySQL",
        "status": "assumed",
    }
    assert "filter_scheduler.pci_in_placement" not in found
    assert list(found)[:2] == ["release", "settings"]
    assert len(found) == 46


def test_show_names_an_option_that_the_release_does_not_look_at(config):
    found = shown(config, "--nova-release", "2023.2", "--nova-conf", "nova.conf")
    assert found["scheduler.query_placement_for_availability_zone"] == {
        "option": "scheduler.query_placement_for_availability_zone",
        "value": None,
        "source": "nova.conf:4",
        "status": "ignored",
    }


def test_a_person_sees_only_what_is_not_the_default(config):
    run = config("show", "--nova-release", "2025.1", "--nova-conf", "nova.conf")
    assert run.code == 0
    lines = run.out.splitlines()
    assert lines[0] == "Settings: the command line"
    assert "nova.conf:4: " in run.out
    assert lines[-1].endswith("options at their default (--all)")
    assert len(lines) < 10
    whole = config("show", "--nova-release", "2025.1", "--all").out
    assert "[scheduler]max_placement_results = 1000" in whole


def test_every_format_has_every_row(config):
    run = functools.partial(config, "show", "--nova-release", "27", "-f")
    rows = run("json").json
    assert yaml.safe_load(run("yaml").out) == rows
    table = list(csv.DictReader(io.StringIO(run("csv").out)))
    assert [row["option"] for row in table] == [row["option"] for row in rows]
    assert "2023.1 (Nova 27)" in run("table").out
    assert config("show", "--nova-release", "27", "-f", "value", "-c", "value").out


def test_without_a_release_or_a_login_there_is_one_line_on_what_is_missing(config):
    run = config("show")
    assert (run.code, run.out) == (1, "")
    assert "auth" in run.err
    assert len(run.err.splitlines()) == 1


def test_the_options_own_word_for_projects_turns_them_on_as_well(config):
    release = ("--nova-release", "27")
    found = [
        config("enable", name, "--for", "nova", *release).out
        for name in ("tenant", "projects")
    ]
    assert found[0] == found[1]
    assert "limit_tenants_to_placement_aggregate = true" in found[0]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_fragment_is_all_that_is_printed_and_show_reads_it(config, writer):
    base = {
        "nova": ("--nova-conf", "nova.conf"),
        "tripleo": ("--environment", "env.yaml"),
        "rhoso": ("--control-plane", "plane.yaml"),
    }[writer]
    release = ("--nova-release", "27")
    run = config("enable", "isolation", "az", "--for", writer, *base, *release)
    assert (run.code, run.err) == (0, "")
    with open("fragment", "w", encoding="utf-8") as file:
        file.write(run.out)
    more = () if writer == "rhoso" else base
    found = shown(config, *more, base[0], "fragment", *release)
    for option in ("enable_isolated_aggregate_filtering", "query_placement_for_avai"):
        (row,) = (row for name, row in found.items() if f".{option}" in name)
        assert (row["value"], row["status"]) == (True, "given")
        assert row["source"].startswith("fragment:")
    filters = found["filter_scheduler.enabled_filters"]["value"]
    assert "AvailabilityZoneFilter" not in filters
    assert "NUMATopologyFilter" in filters
    if writer == "rhoso":
        assert found["scheduler.max_placement_results"]["value"] == 50


def test_a_control_plane_can_come_through_a_pipe(config):
    os.mkfifo("pipe")

    def oc_get():
        with open("pipe", "w", encoding="utf-8") as pipe:
            pipe.write(PLANE)

    threading.Thread(target=oc_get, daemon=True).start()
    run = config("enable", "isolation", "--for", "rhoso", "--control-plane", "pipe")
    assert (run.code, run.err) == (0, "")
    assert "max_placement_results = 50" in run.out


def test_rhoso_is_of_one_release_and_needs_no_cloud(config):
    run = config("enable", "az", "--for", "rhoso")
    assert run.code == 0
    assert run.out.startswith("# Turns on az: 2023.1 (Nova 27)\n")


def test_what_could_be_lost_is_a_caution_in_the_file_and_a_warning(config):
    run = config("enable", "az", "--for", "tripleo", "--nova-release", "wallaby")
    (warning,) = run.err.splitlines()
    assert f"# Caution: {warning}" in run.out.splitlines()
    given = f"filter_scheduler.enabled_filters={FILTERS}"
    run = config(
        *(
            "enable",
            "az",
            "--for",
            "tripleo",
            "--nova-release",
            "wallaby",
            "--set",
            given,
        )
    )
    assert (run.code, run.err) == (0, "")
    assert yaml.safe_load(run.out)["parameter_defaults"] == {
        "NovaSchedulerQueryPlacementForAvailabilityZone": True,
        "NovaSchedulerEnabledFilters": ["ComputeFilter", "NUMATopologyFilter"],
    }


def test_zones_that_are_always_on_are_a_comment_and_the_filter_goes(config):
    run = config(
        *("enable", "az", "--for", "nova", "--nova-release", "2024.1"),
        *("--nova-conf", "nova.conf"),
    )
    lines = run.out.splitlines()
    assert "# az is always on in this release; no option is needed" in lines
    assert [line for line in lines if not line.startswith("#")] == [
        "[filter_scheduler]",
        "enabled_filters = ComputeFilter,NUMATopologyFilter",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("enable", "image-metadata", "--for", "nova", "--nova-release", "train"),
            "image-metadata: Train (Nova 20) has no "
            "[scheduler]image_metadata_prefilter\n",
        ),
        (
            (
                "enable",
                "image-metadata",
                "--for",
                "tripleo",
                "--nova-release",
                "wallaby",
            ),
            "TripleO has no parameter for [scheduler]image_metadata_prefilter; it "
            "takes hieradata, which this command does not write\n",
        ),
    ],
)
def test_what_cannot_be_is_a_usage_error_and_prints_nothing(config, arguments, words):
    run = config(*arguments)
    assert (run.code, run.out, run.err) == (2, "", words)


@pytest.mark.parametrize("arguments", [(), ("everything",)])
def test_it_has_to_be_said_what_to_turn_on(config, arguments):
    run = config("enable", *arguments, "--nova-release", "27")
    assert run.code != 0
    assert run.out == ""


@pytest.mark.parametrize("writer", ["", *WRITERS])
def test_with_the_release_named_nobody_is_asked_anything(openstack, proxy, writer):
    words = ("enable", "isolation", "--for", writer) if writer else ("show",)
    run = openstack("config", *words, "--nova-release", "27")
    assert run.code == 0
    assert proxy.requests == []
