"""What the tests themselves rest on: each run of the shell is a run of its own."""

from __future__ import annotations

import json

import pytest
from openstack.config import loader

from tests.functional import shell
from tests.functional.proxy import Proxy

COMMANDS = {
    "openstackclient": ("resource", "provider", "list"),
    "this project": ("trait-sched", "list"),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_run_asks_the_cloud_that_it_has_logged_in_to(placement, command):
    placement.add_host("cmp01")
    for _ in range(2):
        proxy = Proxy(placement.url)
        done = shell.run(shell.login(proxy.url), *command)
        proxy.stop()
        assert (done.code, done.err) == (0, "")
        assert "cmp01" in done.out
        assert proxy.requests


def test_a_run_finds_no_clouds_file_that_was_named_to_the_one_before(clouds_file):
    named = {"OS_CLIENT_CONFIG_FILE": str(clouds_file), "OS_CLOUD": "only"}
    done = shell.run(named, *COMMANDS["this project"])
    assert (done.code, done.err) == (0, "")
    assert_has_no_login()


def test_a_run_finds_no_clouds_file_of_the_developers(clouds_file, monkeypatch):
    monkeypatch.setattr(loader, "CONFIG_FILES", [str(clouds_file)])
    assert_has_no_login()


@pytest.fixture
def clouds_file(proxy, tmp_path):
    auth = {"endpoint": proxy.url, "token": "admin"}
    only = {"auth_type": "admin_token", "auth": auth}
    file = tmp_path / "clouds.yaml"
    file.write_text(json.dumps({"clouds": {"only": only}}))
    return file


def assert_has_no_login():
    run = shell.run({}, *COMMANDS["this project"])
    assert (run.code, run.out) == (1, "")
    assert "auth-url" in run.err
