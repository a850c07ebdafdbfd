"""Who gets in where once a plan is carried out, and who does not."""

from __future__ import annotations

import pytest

from osc_traitsched.core.change.effects import lets_in, lines_on
from osc_traitsched.core.change.impact import Hosts, ImpactAnalysis
from osc_traitsched.core.change.model import ObjectKind
from osc_traitsched.core.change.traits import gone, present
from tests.aggregates import aggregate
from tests.unit.core.test_impact import (
    GOLD,
    ON,
    SILVER,
    cloud,
    facts,
    flavor,
    gives,
    requires,
    sets,
)

KEY = f"trait:{GOLD}"
REQUIRED = {KEY: "required"}
GOLDEN = aggregate("gold", "h1", trait__CUSTOM_GOLD="required")
TENANT = aggregate("theirs", "h1", "h2", filter_tenant_id="p1")


def lines(model, changes, **traits):
    then = model.after(changes)
    impact = ImpactAnalysis([model, then], ON)
    hosts = Hosts(impact, facts(model, **traits))
    found = tuple(impact.effects(hosts, hosts, hosts))
    return lets_in(found, model, then, ON.collation)


def drops(kind, name, key=KEY):
    return sets(kind, name, {key: None}, {key: "required"})


def leaves(host, name):
    return sets(ObjectKind.AGGREGATE_HOSTS, name, gone([host]), present([host]))


def takes(host, trait=GOLD):
    return sets(ObjectKind.PROVIDER_TRAITS, host, gone([trait]), present([trait]))


@pytest.mark.parametrize(
    ("aggregates", "flavors", "changes", "said"),
    [
        (
            [GOLDEN],
            [flavor("small")],
            [drops(ObjectKind.AGGREGATE, "gold")],
            ["gold (h1): any server may land here, 1 more flavor"],
        ),
        (
            # Another aggregate goes on to isolate the host.
            [GOLDEN, aggregate("also", "h1", trait__CUSTOM_SILVER="required")],
            [flavor("small")],
            [drops(ObjectKind.AGGREGATE, "gold")],
            [],
        ),
        (
            [
                aggregate(
                    "gold",
                    "h1",
                    trait__CUSTOM_GOLD="required",
                    trait__CUSTOM_SILVER="required",
                )
            ],
            [flavor("small"), flavor("half", **{f"trait:{SILVER}": "required"})],
            [drops(ObjectKind.AGGREGATE, "gold")],
            ["gold (h1): flavor 'half' may land here"],
        ),
        (
            [aggregate("gold", "h1", "h2", trait__CUSTOM_GOLD="required")],
            [flavor("small")],
            [leaves("h2", "gold")],
            ["gold (h2): any server may land here, 1 more flavor"],
        ),
        (
            [],
            [flavor("golden", **REQUIRED), flavor("small")],
            [drops(ObjectKind.FLAVOR, "golden")],
            ["CUSTOM_GOLD: flavor 'golden' may land on any host"],
        ),
        (
            [aggregate("other", "h3", trait__CUSTOM_SILVER="required")],
            [flavor("golden", **REQUIRED), flavor("small")],
            [drops(ObjectKind.FLAVOR, "golden")],
            ["CUSTOM_GOLD: flavor 'golden' may land on any host that is not isolated"],
        ),
        (
            [],
            [flavor("never", **{KEY: "forbidden"}), flavor("small")],
            [takes("h1")],
            ["CUSTOM_GOLD: flavor 'never' may land on h1"],
        ),
        (
            [],
            [flavor("golden", **REQUIRED), flavor("small")],
            [gives("h2")],
            ["CUSTOM_GOLD: flavor 'golden' may land on h2"],
        ),
        (
            [TENANT],
            [flavor("small")],
            [drops(ObjectKind.AGGREGATE, "theirs", "filter_tenant_id")],
            ["theirs (h1, h2): servers of any project may land here"],
        ),
        (
            [TENANT],
            [flavor("small")],
            [sets(ObjectKind.AGGREGATE, "theirs", {"filter_tenant_id2": "p2"})],
            ["theirs (h1, h2): servers of project 'p2' may land here"],
        ),
        (
            # Renamed on the only host: all stays as it is.
            [],
            [flavor("golden", **REQUIRED)],
            [
                drops(ObjectKind.FLAVOR, "golden"),
                requires("golden", SILVER),
                takes("h1"),
            ],
            [],
        ),
        (
            [GOLDEN],
            [flavor("small")],
            [requires("small")],
            ["CUSTOM_GOLD: flavor 'small' may land on h1"],
        ),
        (
            [aggregate("gold", "h1", **REQUIRED, filter_tenant_id="p1")],
            [flavor("small")],
            [drops(ObjectKind.AGGREGATE, "gold")],
            [
                "gold (h1): any server, with AggregateMultiTenancyIsolation of its "
                "projects, may land here, 1 more flavor"
            ],
        ),
        ([aggregate("a", "h1")], [flavor("golden", **REQUIRED)], [takes("h1")], []),
    ],
    ids=[
        "opened",
        "isolated by another",
        "one of two traits",
        "a host leaves",
        "a flavor requires it no more",
        "a flavor, and another isolated host",
        "a flavor forbids it",
        "a host gets it",
        "no project is named",
        "another project is named",
        "renamed",
        "a flavor comes to require it",
        "opened, and a project's",
        "the only host loses it",
    ],
)
def test_who_gets_in_is_told_on_a_line_by_aggregate_or_trait(
    aggregates, flavors, changes, said
):
    model = cloud(*flavors, aggregates=tuple(aggregates))
    found = lines(model, changes, h1=(GOLD, SILVER))
    assert [*found.values()] == said


def test_an_image_that_requires_no_trait_any_more_is_named_once():
    image = {"id": "i", "name": "rocky", **REQUIRED}
    model = cloud(flavor("a"), flavor("b"), images=[image])
    found = lines(model, [drops(ObjectKind.IMAGE, "i")], h1=(GOLD,))
    assert [*found.values()] == ["CUSTOM_GOLD: image 'rocky' may land on any host"]


def test_a_row_has_the_line_on_its_aggregate_or_its_trait():
    said = {"gold": "G", GOLD: "T", "other": "O"}
    assert lines_on(drops(ObjectKind.AGGREGATE, "gold"), said) == "G; T"
    assert lines_on(takes("h1"), said) == "T"
    assert lines_on(takes("h1", SILVER), said) == ""
