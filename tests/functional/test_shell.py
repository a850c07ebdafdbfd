"""What the tests themselves rest on: each run of the shell is a run of its own."""

from __future__ import annotations

import pytest

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
