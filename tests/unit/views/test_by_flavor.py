"""Which flavors can boot an image, on one screen."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.judge.filtering import Filtering
from osc_traitsched.core.nova.filter.state import Unknown
from osc_traitsched.core.nova.filter.table import FilterAnswers
from osc_traitsched.views.explain import text
from tests.unit.core.test_explanation import explained

FILTER = "NUMATopologyFilter"


def of_flavor(name, hosts, is_sure=True):
    """Return a flavor that so many hosts can take."""
    names = [f"cmp{number:02d}" for number in range(hosts)]
    found = explained({"cloud": {each: {} for each in names}}, names)
    body = {**found.question.flavor, "name": name}
    question = dataclasses.replace(found.question, flavor=body, image={"name": "raw"})
    answers = {} if is_sure else {h.uuid: Unknown("cells") for h in found.hosts}
    judgment = FilterAnswers((FILTER,), {FILTER: answers})
    return dataclasses.replace(found, question=question, filtering=Filtering(judgment))


def test_a_flavor_that_filters_may_reject_is_not_said_to_boot():
    found = [of_flavor("small", 2), of_flavor("numa", 2, is_sure=False)]
    verdict, *groups, _ = (line.text for line in text.flavor_lines(found))
    assert verdict == "1 of 2 flavors can boot image raw now, 1 more may."
    assert groups == ["  Hosts: 2 of 2 for small", "  Hosts: at most 2 of 2 for numa"]


def test_many_different_flavors_are_one_screen():
    found = [of_flavor(f"m{number}", number) for number in range(1, 40)]
    lines = [line.text for line in text.flavor_lines(found)]
    assert len(lines) <= 24
    assert lines[-2] == "  and 24 more flavors (-f json)"


def test_many_names_are_one_line():
    found = [of_flavor(f"flavor-number-{number:02d}", 1) for number in range(30)]
    _, group, _ = (line.text for line in text.flavor_lines(found))
    assert len(group) <= 80
    assert group.endswith(" and 28 more")
