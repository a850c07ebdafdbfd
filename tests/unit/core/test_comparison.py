"""The answer without --set, where filters and weighers of one's own ran in Nova."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.judge.judge import compared, differing, kept_out_by
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.state import PASSES
from osc_traitsched.core.nova.options import Setting
from osc_traitsched.core.nova.weighers import OwnWeigher
from tests.unit.core.scheduled import COMPUTE, OWN, judgement_of, question
from tests.unit.core.test_own import CLOUD, NO, ran, run


def with_set(asked, own, name=options.ENABLED_FILTERS):
    """Return the question with an option that is another without --set."""
    settings = {**asked.assumptions.settings, name: Setting(own, "nova.conf", True)}
    before = dataclasses.replace(asked.assumptions, settings=settings)
    now = dataclasses.replace(asked.assumptions, without_set=before)
    return dataclasses.replace(asked, assumptions=now)


def answered(asked):
    """Return the judgement of hosts that Placement all gives, and that without it."""
    now = judgement_of(asked, CLOUD, "ab")
    return now, compared(now)


def names(hosts):
    return [host.name for host in hosts]


def test_a_filter_of_ones_own_that_is_set_on_keeps_hosts_out():
    asked = ran(question(CLOUD, COMPUTE, OWN), [run(OWN, NO, PASSES)])
    now, before = answered(with_set(asked, (COMPUTE,)))
    assert before.filtering.judgment.names == (COMPUTE,)
    gained, lost = differing(now, before)
    assert (names(gained), names(lost)) == ([], ["a"])
    assert [*kept_out_by(now, lost)] == [(OWN,)]


def test_one_that_no_setting_has_on_runs_with_and_without_it():
    asked = ran(question(CLOUD, COMPUTE), [run("Mine", NO, PASSES)])
    now, before = answered(with_set(asked, (COMPUTE, "AllHostsFilter")))
    assert differing(now, before) == ((), ())
    assert names(before.candidates) == ["b"]


def test_what_novas_own_filter_said_in_nova_counts_only_where_that_is_on():
    asked = ran(question(CLOUD, COMPUTE), [run(COMPUTE, NO, PASSES)], novas=(COMPUTE,))
    now, before = answered(with_set(asked, ("AllHostsFilter",)))
    assert names(now.candidates) == ["b"]
    assert names(before.candidates) == ["a", "b"]


def test_what_a_weigher_of_ones_own_would_add_without_it_is_not_known():
    weigher = OwnWeigher("Heavy", {}, {})
    asked = ran(
        question(CLOUD, COMPUTE), [run("Heavy", PASSES, PASSES, weigher=weigher)]
    )
    _, before = answered(with_set(asked, ("x.Other",), options.WEIGHT_CLASSES))
    assert before.ranking is None


def test_filters_that_the_release_lacks_are_a_refusal_without_it():
    asked = ran(question(CLOUD, COMPUTE), [run("Mine", NO, PASSES)])
    now, before = answered(with_set(asked, ("RetryFilter",)))
    assert "RetryFilter" in str(before.refusal)
    assert differing(now, before) == ((), ())
