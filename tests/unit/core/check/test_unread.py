"""Rules that need what the user may not read do not run, and are named."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core import check
from tests.unit.core.check.surveys import aggregate, assumed, survey

TENANTS = aggregate("acme", "a", filter_tenant_id="0" * 32)
ISOLATED = aggregate("gold", "a", trait__CUSTOM_GOLD="required")


def unread(of, *rules):
    return check.run(check.select(rules), of)[1]


def test_a_rule_that_needs_the_list_of_projects_is_named_only_where_it_needs_it():
    denied = survey("a", aggregates=[TENANTS], projects=None)
    named = {"the list of projects": ("project-unknown",)}
    assert unread(denied, "project") == named
    assert unread(dataclasses.replace(denied, projects={}), "project") == {}
    assert unread(survey("a", projects=None), "project") == {}


def test_the_list_of_projects_is_needed_where_each_project_needs_an_aggregate():
    required = {
        "limit_tenants_to_placement_aggregate": True,
        "placement_aggregate_required_for_tenants": True,
    }
    denied = survey("a", projects=None, assumptions=assumed(**required))
    assert unread(denied) == {"the list of projects": ("project-without",)}


def test_nothing_is_said_to_be_unused_where_private_flavors_are_hidden():
    seen = survey("a CUSTOM_GOLD", aggregates=[ISOLATED])
    hidden = dataclasses.replace(seen, has_private_flavors=False)
    rules = ("isolation-not-required", "traits-unused")
    found, stopped = check.run(check.select(rules), seen)
    assert (found[0].rule, stopped) == (rules[0], {})
    found, stopped = check.run(check.select(rules), hidden)
    assert found == ()
    assert stopped == {"the flavors and images of all projects": (rules[0],)}
    alone = survey("a CUSTOM_X", has_private_flavors=False)
    assert unread(alone, rules[1]) == {
        "the flavors and images of all projects": (rules[1],)
    }


def test_findings_about_flavors_that_are_seen_stay_beside_what_is_hidden():
    of = survey(
        "a",
        "f trait:CUSTOM_NONE=required",
        has_private_flavors=False,
    )
    found, stopped = check.run(check.select(["traits-unknown", "traits-no-host"]), of)
    assert "traits-unknown" in {each.rule for each in found}
    assert list(stopped) == ["private flavors and images of other projects"]


def test_rules_that_read_servers_are_named_where_servers_were_denied():
    denied = survey("a")
    assert unread(denied, "servers") == {
        "the servers of all projects": ("servers-misplaced", "servers-not-known")
    }
