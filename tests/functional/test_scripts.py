"""The documentation's script that gives hosts their traits, for real."""

from __future__ import annotations

import shutil

import pytest

from tests import scripts
from tests.functional import shell

pytestmark = [
    pytest.mark.one_client,
    pytest.mark.skipif(not shutil.which("jq"), reason="the scripts need jq"),
]


def test_hosts_are_given_their_traits_once(placement, proxy, tmp_path):
    uuids = [placement.add_host(name) for name in ("cmp1", "cmp2", "cmp3")]
    (tmp_path / "hosts.gold").write_text("cmp1\ncmp2")
    login = shell.login(proxy.url)

    def deploy():
        name = "post-deploy-traits"
        return scripts.run(tmp_path, name, "hosts.gold", "CUSTOM_GOLD", variables=login)

    first = deploy()
    assert first.code == 0
    assert first.out.splitlines()[-2:] == ["cmp1: changed ", "cmp2: changed "]
    traits = ["CUSTOM_GOLD" in placement.traits(uuid) for uuid in uuids]
    assert traits == [True, True, False]

    second = deploy()
    assert second.code == 0
    assert second.out.splitlines()[-1] == "nothing to do"


def test_an_error_ends_it_before_anything_is_written(placement, proxy, tmp_path):
    (tmp_path / "hosts.gold").write_text("cmp9\n")
    done = scripts.run(
        tmp_path,
        "post-deploy-traits",
        "hosts.gold",
        "CUSTOM_GOLD",
        variables=shell.login(proxy.url),
    )
    assert (done.code, done.out) == (1, "")
    assert "no host matches 'cmp9'" in done.err
    assert not proxy.writes
