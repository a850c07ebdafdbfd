"""Hosts that a plan takes from projects, where a real nova-scheduler keeps them out."""

from __future__ import annotations

import pytest

from tests.cloud.cloud import ISOLATION, Cloud
from tests.cloud.factory import factory
from tests.functional import shell

FILTERS = (
    "filter_scheduler.enabled_filters=ComputeFilter,AggregateMultiTenancyIsolation"
)
WANTED = "version: 1\naggregates: {{ours: {{hosts: [{}], tenants: [demo]}}}}\n"


@pytest.fixture
def cloud():
    with Cloud(computes=2, nova_options=(ISOLATION, FILTERS)) as cloud:
        yield cloud


def test_all_hosts_go_to_a_project_only_with_force(cloud, tmp_path):
    def run(verb, hosts, *more):
        path = tmp_path / "wanted.yaml"
        path.write_text(WANTED.format(hosts), encoding="utf-8")
        file = ("--nova-conf", str(cloud.nova_conf), *more)
        return shell.run(cloud.environment, "trait-sched", verb, str(path), *file)

    with factory(cloud.admin()) as make:
        make.dropped("ours")
        asked = (make.flavor("small"), make.image("raw"))

        def boots():
            boot = make.boot(*asked)
            if boot.server:
                make.after(make.delete, boot)
            return boot.host

        some = run("apply", "cmp00")
        assert some.code == 0, some.err
        assert (
            "projects that no aggregate names will lose 1 of 2 hosts and keep 1, by "
            "aggregate 'ours' (AggregateMultiTenancyIsolation"
        ) in some.err
        assert boots() == "cmp01"
        refused = run("apply", "'*'")
        assert refused.code == 5, refused.err
        assert "no host would be left for projects" in refused.err
        assert boots() == "cmp01"
        forced = run("apply", "'*'", "--force")
        assert forced.code == 0, forced.err
        assert boots() is None
