"""isolate and unisolate, before they ask Nova for anything."""

from __future__ import annotations

import pytest

BOTH = pytest.mark.parametrize("verb", ["isolate", "unisolate"])


@BOTH
def test_options_that_do_not_go_together_are_a_usage_error(openstack, proxy, verb):
    run = openstack(verb, "gold", "CUSTOM_GOLD", "--exit-code")
    assert (run.code, run.out) == (2, "")
    assert run.err == "--exit-code requires --dry-run\n"
    assert not proxy.requests


def test_images_of_other_projects_lose_no_trait_that_all_else_keeps(openstack, proxy):
    run = openstack("unisolate", "gold", "--all-images")
    assert (run.code, run.err) == (2, "--all-images requires --remove-traits\n")
    assert not proxy.requests


@BOTH
def test_what_can_be_no_trait_is_told_before_anything_is_asked(openstack, proxy, verb):
    run = openstack(verb, "gold", "custom-gold")
    assert (run.code, run.out) == (1, "")
    assert "'custom-gold' can't be a trait" in run.err
    assert not proxy.requests


@BOTH
def test_without_nova_there_is_one_line_and_nothing_is_written(openstack, proxy, verb):
    run = openstack(verb, "gold", "CUSTOM_GOLD")
    assert (run.code, run.out) == (1, "")
    assert len(run.err.splitlines()) == 1
    assert run.err.startswith("compute")
    assert not proxy.writes
