"""host drain at the shell: what it refuses, and who is asked."""

from __future__ import annotations

import pytest

from tests.functional.nova import Nova


@pytest.fixture
def nova(placement, proxy):
    return Nova(proxy, [("cmp01", placement.add_host("cmp01"))], {})


def test_without_plan_nothing_is_even_read(openstack, nova, proxy):
    done = openstack("host", "drain", "cmp01")
    assert (done.code, done.out) == (2, "")
    assert done.err == "host drain moves nothing: --plan prints how it could be\n"
    assert proxy.requests == []


def test_a_host_that_is_not_there_is_not_guessed(openstack, nova):
    done = openstack("host", "drain", "cmp1", "--plan")
    assert done.code == 1
    assert done.err == "no host matches 'cmp1'; did you mean cmp01?\n"
