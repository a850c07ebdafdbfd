"""The scheduler's settings are named once, and every later command finds them."""

from __future__ import annotations

import functools
import json
import os
import pathlib

import pytest

from osc_traitsched.config import saved
from tests.functional import shell

OPTION = "scheduler.max_placement_results"


@pytest.fixture(autouse=True)
def conf(tmp_path, monkeypatch):
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    (work / "nova.conf").write_text("[scheduler]\nmax_placement_results = 50\n")
    return work / "nova.conf"


@pytest.fixture
def variables(tmp_path):
    """The environment of a user whose home is empty."""
    return {"HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": ""}


@pytest.fixture
def openstack(variables):
    return functools.partial(shell.run, variables)


def shown(openstack, *arguments, cloud=("--os-cloud", "prod")):
    run = openstack(*cloud, "trait-sched", "config", "show", *arguments, "-f", "json")
    assert (run.code, run.err) == (0, "")
    return {row["option"]: row for row in run.json}


@pytest.fixture
def clouds(tmp_path, variables):
    """Write a clouds.yaml with the cloud prod, and some keys of its own."""

    def write(more):
        path = tmp_path / "clouds.yaml"
        prod = {"auth_type": "none", "endpoint": "http://localhost:9", **more}
        path.write_text(json.dumps({"clouds": {"prod": prod}}))
        variables["OS_CLIENT_CONFIG_FILE"] = str(path)
        return path

    write({})
    return write


def test_what_is_saved_is_written_once_and_found_by_the_next_command(
    clouds, openstack, variables, conf
):
    save = functools.partial(
        *(openstack, "--os-cloud", "prod", "trait-sched", "config", "save"),
        *("--nova-conf", "nova.conf", "--nova-release", "caracal"),
    )
    document = "~/.config/osc-traitsched/prod.yaml"
    text = f":\nnova_release: '2024.1'\nnova_conf:\n- {conf}\n"
    written = pathlib.Path(variables["HOME"], ".config/osc-traitsched/prod.yaml")

    run = save("--dry-run")
    assert (run.code, run.out) == (0, f"Would write {document}{text}")
    assert not written.exists()
    run = save()
    assert (run.code, run.out) == (0, f"Wrote {document}{text}")
    run = save()
    assert (run.code, run.out) == (0, f"{document} unchanged\n")

    os.chdir("/")
    found = shown(openstack)
    assert found["release"]["value"] == 29
    assert (found["release"]["source"], found["release"]["status"]) == (
        *(f"{document}:1", "given"),
    )
    assert found["settings"]["source"] == document
    assert (found[OPTION]["value"], found[OPTION]["source"]) == (50, f"{conf}:2")


def test_other_content_is_replaced_only_by_force(clouds, openstack):
    save = functools.partial(
        openstack, "--os-cloud", "prod", "trait-sched", "config", "save"
    )
    assert save("--baseline", "charmed").code == 0
    run = save("--baseline", "kolla-ansible")
    assert (run.code, run.out) == (5, "")
    assert run.err.startswith("~/.config/osc-traitsched/prod.yaml says something else;")
    assert save("--baseline", "kolla-ansible", "--force").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "nothing to keep"),
        (("--enable-filter", "JsonFilter"), 2, "config save keeps --set filter_sch"),
        (("--nova-conf", "none.conf"), 1, "none.conf: No such file or directory"),
        pytest.param(
            *(("--set", f"{OPTION}=many"), 2, "argument --set: scheduler."),
            # The oldest clients end with 1, whatever argument is wrong.
            marks=pytest.mark.one_client,
        ),
    ],
)
def test_what_cannot_be_kept_is_one_line(openstack, variables, arguments, code, words):
    run = openstack("trait-sched", "config", "save", *arguments)
    assert (run.code, run.out) == (code, "")
    assert words in run.err
    assert len(run.err.splitlines()) == 1
    assert not os.path.exists(variables["HOME"])


def test_one_filter_more_or_less_needs_no_list(clouds, openstack):
    name, release = "filter_scheduler.enabled_filters", ("--nova-release", "27")
    before = shown(openstack, *release)[name]["value"]
    changes = ("--disable-filter", "ComputeFilter", "--enable-filter", "JsonFilter")
    found = shown(openstack, *release, *changes)[name]
    assert set(before) - set(found["value"]) == {"ComputeFilter"}
    assert found["value"][-1] == "JsonFilter"
    cloud = ("--os-cloud", "prod", "trait-sched", "config", "show")
    run = openstack(*cloud, *release, "--enable-filter", "JsonFiltr")
    assert (run.code, run.out) == (2, "")
    assert run.err == "no host filter 'JsonFiltr'; did you mean JsonFilter?\n"


def test_where_nothing_is_found_that_is_said(openstack):
    found = shown(openstack, "--nova-release", "27", cloud=())
    assert found["settings"] == {
        "option": "settings",
        "value": None,
        "source": "none found, upstream defaults assumed (see trait-sched config save)",
        "status": "assumed",
    }


def test_a_cloud_of_clouds_yaml_can_have_them_and_the_login_does_not_mind(
    placement, proxy, clouds, openstack
):
    settings = {"nova_release": 27, "options": {OPTION: 70}}
    login = {"auth_type": "admin_token", "endpoint": proxy.url, "token": "admin"}
    path = clouds({**login, "traitsched": settings})
    found = shown(openstack)
    assert found["release"]["value"] == 27
    assert found["settings"]["source"] == f"{path}:1 (cloud prod)"
    assert (found[OPTION]["value"], found[OPTION]["source"]) == (70, f"{path}:1")
    assert proxy.requests == []

    placement.add_host("cmp1")
    run = openstack("--os-cloud", "prod", "trait-sched", "list", "-f", "json")
    assert run.code == 0
    assert {row["host"] for row in run.json} == {"cmp1"}


def test_the_variable_goes_before_clouds_yaml_and_options_before_all(
    clouds, openstack, variables, tmp_path
):
    clouds({"traitsched": {"nova_release": 27}})
    named = tmp_path / "named.yaml"
    named.write_text(f"nova_release: 29\noptions: {{{OPTION}: 70}}\n")
    variables[saved.VARIABLE] = str(named)
    found = shown(openstack)
    assert found["release"]["value"] == 29
    assert found["settings"]["source"] == f"{named} (TRAITSCHED_SETTINGS)"
    found = shown(openstack, "--nova-release", "30", "--nova-conf", "nova.conf")
    assert found["release"]["source"] == "--nova-release"
    assert found[OPTION]["source"] == "nova.conf:2"
    assert found["settings"]["source"].startswith("the command line, over ")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"nova_relase": 27}, "nova_relase is not one of nova_release, baseline"),
        ({"options": {"a.b": 1}}, "options.a.b is no option that decides here."),
        ({"nova_conf": [{}]}, "nova_conf.0 is not a text"),
        (["nova.conf"], "is not a mapping"),
    ],
)
def test_found_settings_that_cannot_be_are_one_line(clouds, openstack, settings, words):
    path = clouds({"traitsched": settings})
    run = openstack("--os-cloud", "prod", "trait-sched", "config", "show")
    assert (run.code, run.out) == (1, "")
    assert run.err.startswith(f"{path}:1: clouds.prod.traitsched")
    assert words in run.err
    assert len(run.err.splitlines()) == 1


def test_a_fragment_is_made_from_the_files_that_are_found(clouds, openstack, conf):
    conf.write_text("[filter_scheduler]\nenabled_filters = A,AvailabilityZoneFilter\n")
    clouds({"traitsched": {"nova_release": 27, "nova_conf": str(conf)}})
    run = openstack(*("--os-cloud", "prod", "trait-sched", "config", "enable", "az"))
    assert (run.code, run.err) == (0, "")
    assert "enabled_filters = A\n" in run.out
