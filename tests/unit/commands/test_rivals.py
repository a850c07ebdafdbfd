"""isolate while others change the same cloud: what differs, and what mends it."""

from __future__ import annotations

import functools

import pytest

from osc_traitsched.core.errors import CloudBroke
from tests.unit.app.living import GOLD as AGGREGATE
from tests.unit.app.living import HOSTS
from tests.unit.commands.rivals import (
    AGAIN,
    GOLD,
    ISOLATE,
    KEY,
    OTHER_KEY,
    SILVER,
    TAKEN_BACK,
    UNISOLATE,
    another,
    differing,
    hosts_of,
    paste,
    rival,
    run,
    said,
    statuses,
)

ALSO = (
    f"'{OTHER_KEY}' came to isolate the aggregate, too: a request needs all of its "
    "traits"
)


def test_where_nobody_else_writes_nothing_differs(cloud):
    found = run(*ISOLATE)
    assert (found.code, differing(found), said(found)) == (0, {}, [])
    columns = ["step", "object", "status", "detail", "differs"]
    assert [list(row) for row in found.json] == [columns] * 7
    assert "differs" not in run(*ISOLATE[:-2]).out


def test_where_nothing_was_written_nothing_is_read_again(cloud):
    assert run(*ISOLATE).code == 0
    assert ("os-aggregates", "1") in cloud.asked
    cloud.asked.clear()
    assert run(*ISOLATE).code == 0
    assert ("os-aggregates", "1") not in cloud.asked


def test_hosts_add_no_requests_to_what_is_read_again(cloud):
    def count():
        rival(cloud, "action", (cloud.asked.clear,))
        assert run(*ISOLATE, "--force").code == 0
        return len(cloud.asked)

    few = count()
    assert run(*UNISOLATE, "--force").code == 0
    for host in ("cmp02", "cmp03"):
        cloud.joins(host)
    assert count() == few
    # Traits, providers and who has which, the mirror, the flavor, the aggregate and
    # all aggregates.
    assert few == 7


# Others isolate the aggregate by another trait


def another_isolates(cloud):
    cloud.gives(SILVER, "cmp00", "cmp01")
    cloud.flavor("silver", CUSTOM_SILVER="required")
    cloud.metadata[OTHER_KEY] = "required"


def test_the_second_of_two_is_told_what_is_left_and_what_takes_it_back(cloud):
    rival(cloud, "golden-id", (another_isolates, cloud))
    found = run(*ISOLATE)
    assert (found.code, statuses(found)[-2:]) == (1, ["changed", "failed"])
    assert found.json[-1]["detail"] == (
        f"'{OTHER_KEY}' came to isolate the aggregate meanwhile; run the command again"
    )
    assert said(found) == [
        "1 of 7 failed; the same command again would end with: nothing written: no "
        "host would be left for flavor 'silver'; --force overrides this",
        f"written and still there: flavor 'golden' with {KEY}=required; hosts cmp00, "
        f"cmp01 with {GOLD}; to take it back:",
        *TAKEN_BACK,
    ]
    # It is true.
    again = run(*ISOLATE)
    assert (again.code, again.err.splitlines()[-1]) == (
        5,
        "nothing written: no host would be left for flavor 'silver'; --force overrides "
        "this",
    )
    del cloud.specs("golden")[KEY]
    assert paste(TAKEN_BACK[1].strip()).code == 0
    assert (cloud.specs("golden"), cloud.having(GOLD)) == ({}, set())
    assert cloud.having(SILVER) == {"cmp00", "cmp01"}


def test_the_second_of_two_whom_nobody_suffers_from_goes_on(cloud):
    rival(cloud, "golden-id", (cloud.metadata.update, {OTHER_KEY: "required"}))
    found = run(*ISOLATE, "--force")
    assert said(found)[0] == "1 of 7 failed; the same command again goes on"
    assert said(found)[-2:] == TAKEN_BACK
    assert run(*ISOLATE, "--force").code == 0


def test_a_key_that_comes_right_after_the_last_write_is_seen(cloud):
    cloud.when_read["os-aggregates", "1"] = [
        lambda: None,
        lambda: cloud.metadata.update({OTHER_KEY: "required"}),
    ]
    found = run(*ISOLATE)
    back = f"openstack trait-sched unisolate gold {GOLD}"
    assert (found.code, statuses(found)[-1]) == (1, "changed")
    assert differing(found) == {"gold": {"also-isolated": []}}
    assert hosts_of(cloud, "golden") == set()
    assert said(found) == [
        ALSO,
        f"written and still there: aggregate 'gold' with {KEY}=required; flavor "
        f"'golden' with {KEY}=required; hosts cmp00, cmp01 with {GOLD}; to take it "
        "back:",
        f"  {back}",
        *TAKEN_BACK,
    ]
    assert paste(back).code == 0
    assert cloud.metadata == {OTHER_KEY: "required"}
    del cloud.specs("golden")[KEY]
    assert paste(TAKEN_BACK[1].strip()).code == 0
    assert hosts_of(cloud, "golden") == {"cmp02", "cmp03"}


def closes_last(cloud):
    """Let others isolate it by another trait right after the last write."""
    closing = functools.partial(cloud.metadata.update, {OTHER_KEY: "required"})
    cloud.when_read["os-aggregates", "1"] = [lambda: None, closing]


def test_of_an_aggregate_that_was_isolated_before_only_what_came_is_said(cloud):
    assert run(*ISOLATE).code == 0
    cloud.flavor("late")
    rival(cloud, "late-id", (cloud.metadata.update, {OTHER_KEY: "required"}))
    found = run("isolate", "gold", GOLD, "--flavor", "late", "-f", "json")
    assert (found.code, statuses(found)) == (1, ["changed"])
    assert said(found)[-1] == ALSO
    assert "unisolate" not in found.err


def test_only_what_this_run_wrote_is_offered_to_be_taken_back(cloud):
    cloud.known.add("CUSTOM_PLAT")
    assert run(*ISOLATE).code == 0
    closes_last(cloud)
    settings = ("--set", "scheduler.limit_tenants_to_placement_aggregate=true")
    given = ("--flavor", "golden", "-f", "json", *settings)
    found = run("isolate", "gold", GOLD, "CUSTOM_PLAT", *given)
    assert found.code == 1
    assert said(found)[-3:] == [
        f"  openstack trait-sched unisolate gold CUSTOM_PLAT {' '.join(settings)}",
        "  openstack flavor unset --property trait:CUSTOM_PLAT golden-id",
        "  openstack trait-sched remove CUSTOM_PLAT --provider cmp00 --provider cmp01",
    ]
    assert paste(said(found)[-3].strip()).code == 0
    del cloud.specs("golden")["trait:CUSTOM_PLAT"]
    assert paste(said(found)[-1].strip()).code == 0
    assert cloud.having(GOLD) == {"cmp00", "cmp01"}
    assert cloud.having("CUSTOM_PLAT") == set()


def test_what_another_aggregate_relies_on_by_now_is_not_taken_back(cloud):
    def rivals():
        another(cloud, "cmp01", "cmp03")
        cloud.metadata[OTHER_KEY] = "required"

    rival(cloud, "golden-id", (rivals,))
    found = run(*ISOLATE, "--force")
    assert found.code == 1
    assert said(found)[-2:] == [
        f"written and still there: host cmp00 with {GOLD}; to take it back:",
        f"  openstack trait-sched remove {GOLD} --provider cmp00",
    ]


def test_what_others_close_the_same_aggregate_by_is_not_taken_back(cloud):
    def rivals():
        cloud.metadata[KEY] = "required"
        del cloud.flavors["late-id"]

    cloud.flavor("late")
    rival(cloud, "golden-id", (rivals,))
    found = run(*ISOLATE, "--flavor", "late")
    assert (found.code, "failed" in statuses(found)) == (1, True)
    assert cloud.specs("golden") == {KEY: "required"}
    assert "to take it back" not in found.err


# Others change what was written before


def test_a_trait_that_is_taken_before_the_aggregate_is_closed_is_seen(cloud):
    rival(cloud, "golden-id", (cloud.takes, GOLD, "cmp01"))
    found = run(*ISOLATE)
    mends = f"openstack trait-sched add {GOLD} --provider cmp01"
    assert (found.code, set(statuses(found))) == (1, {"changed"})
    assert differing(found) == {"cmp01": {"overwritten": [mends]}}
    assert said(found) == [
        f"host cmp01 lacks {GOLD}: others changed it meanwhile; {mends} mends it"
    ]
    assert paste(mends).code == 0
    assert cloud.having(GOLD) == {"cmp00", "cmp01"}


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (None, f"lacks {KEY}=required"),
        ("forbidden", f"has {KEY}=forbidden"),
    ],
)
def test_a_flavor_that_others_change_after_its_step_is_seen(cloud, value, what):
    def change():
        cloud.specs("golden").pop(KEY)
        if value is not None:
            cloud.specs("golden")[KEY] = value

    rival(cloud, "os-aggregates", (change,))
    found = run(*ISOLATE)
    assert found.code == 1
    assert said(found)[-1] == (
        f"flavor 'golden' {what}: others changed it meanwhile; openstack flavor set "
        f"--property {KEY}=required golden-id mends it"
    )


def test_a_flavor_that_requires_the_trait_by_a_group_no_longer_is_seen(cloud):
    grouped = f"trait1:{GOLD}"
    cloud.specs("golden")[grouped] = "required"
    rival(cloud, "os-aggregates", (cloud.specs("golden").pop, grouped))
    found = run(*ISOLATE)
    assert found.code == 1
    assert said(found)[-1] == (
        f"flavor 'golden' lacks {grouped}=required: others changed it meanwhile; "
        f"openstack flavor set --property {grouped}=required golden-id mends it"
    )


def test_a_host_that_placement_loses_from_the_aggregate_is_seen(cloud):
    rival(cloud, "os-aggregates", (cloud.mirror[AGGREGATE].discard, "cmp00"))
    found = run(*ISOLATE)
    assert (found.code, differing(found)) == (1, {"cmp00": {"overwritten": [AGAIN]}})
    assert "host cmp00 is not in the aggregate in Placement any more" in found.err
    assert paste(AGAIN).code == 0
    assert cloud.mirror[AGGREGATE] == {"cmp00", "cmp01"}


def test_an_aggregate_that_others_open_at_once_is_seen(cloud):
    cloud.when_read["os-aggregates", "1"] = [lambda: None, cloud.metadata.clear]
    found = run(*ISOLATE)
    assert (found.code, differing(found)) == (1, {"gold": {"overwritten": [AGAIN]}})
    assert f"aggregate 'gold' lacks {KEY}=required" in found.err


def test_what_can_t_be_read_again_is_said_and_is_no_failure(cloud):
    def fail():
        raise CloudBroke("compute", "out of order", 500)

    cloud.when_read["os-aggregates", "1"] = [lambda: None, fail]
    found = run(*ISOLATE)
    assert (found.code, said(found)) == (
        0,
        [
            "whether others changed anything meanwhile can't be read (compute: out of "
            "order (HTTP 500))"
        ],
    )


# What was there before


def test_an_aggregate_that_is_isolated_by_more_lets_no_flavor_in_and_says_so(cloud):
    cloud.metadata[OTHER_KEY] = "required"
    assert run(*ISOLATE, "--force").code == 0
    again = run(*ISOLATE)
    assert (again.code, statuses(again)) == (0, [])
    assert said(again) == [
        f"aggregate 'gold' is isolated by {SILVER} as well: a request needs that, too, "
        "until unisolate takes it off",
        f"no flavor requires {GOLD}, {SILVER}: none could use these hosts unless its "
        "image does; name some with --flavor, or images with --image",
    ]
    cloud.specs("golden")[OTHER_KEY] = "required"
    assert said(run(*ISOLATE))[1:] == []


def test_a_flavor_that_comes_to_require_a_trait_while_it_is_removed_is_named(cloud):
    assert run(*ISOLATE).code == 0
    rival(cloud, "action", (lambda: cloud.flavor("late", **{GOLD: "required"}),))
    found = run(*UNISOLATE)
    assert (found.code, cloud.having(GOLD)) == (1, set())
    assert any(
        f"no host has {GOLD} any more" in line and "flavor 'late'" in line
        for line in said(found)
    )


def test_what_requires_a_trait_as_planned_is_said_before_and_laid_on_nobody(cloud):
    assert run("isolate", "gold", GOLD).code == 0
    another(cloud)
    planned, found = run(*UNISOLATE, "--dry-run"), run(*UNISOLATE)
    assert (found.code, cloud.having(GOLD)) == (0, set())
    line = f"no host will have {GOLD}, still required by aggregate 'gold2' ({KEY})"
    assert said(planned) == said(found) == [line]


def test_of_an_aggregate_that_is_closed_again_meanwhile_one_way_is_printed(cloud):
    assert run(*ISOLATE).code == 0
    rival(cloud, HOSTS["cmp01"], (cloud.metadata.update, {KEY: "required"}))
    found = run(*UNISOLATE)
    on = f"openstack trait-sched unisolate --remove-traits gold {GOLD}"
    assert (found.code, said(found)) == (
        1,
        [
            f"aggregate 'gold' has {KEY}=required: others changed it meanwhile; {on} "
            "mends it"
        ],
    )
    assert paste(on).code == 0
    assert hosts_of(cloud, "golden") == set(HOSTS)


def test_nothing_is_stripped_of_what_an_aggregate_needs_that_is_closed_again(cloud):
    assert run(*ISOLATE).code == 0
    close = functools.partial(cloud.metadata.update, {KEY: "required"})
    cloud.when_read["os-aggregates", "1"] = [lambda: None, close]
    found = run(*UNISOLATE)
    assert (found.code, statuses(found)) == (
        1,
        ["changed", "failed", "not done", "not done"],
    )
    assert found.json[1]["detail"] == (
        f"'{KEY}' came to isolate the aggregate meanwhile; run the command again"
    )
    assert cloud.specs("golden") == {KEY: "required"}
    assert (cloud.having(GOLD), hosts_of(cloud, "golden")) == (
        {"cmp00", "cmp01"},
        {"cmp00", "cmp01"},
    )


def test_hosts_keep_what_isolates_their_aggregate_again_by_then(cloud):
    assert run(*ISOLATE).code == 0
    rival(cloud, "golden-id", (cloud.metadata.update, {KEY: "required"}))
    found = run(*UNISOLATE)
    assert (found.code, statuses(found)) == (1, ["changed", "changed", *["failed"] * 2])
    assert cloud.having(GOLD) == {"cmp00", "cmp01"}


def test_a_host_that_left_keeps_what_isolates_where_it_went(cloud):
    assert run(*ISOLATE).code == 0

    def moves():
        cloud.leaves("cmp01")
        another(cloud, "cmp01")

    rival(cloud, "golden-id", (moves,))
    found = run(*UNISOLATE)
    assert (found.code, statuses(found)[-2:]) == (1, ["changed", "failed"])
    assert (
        found.json[-1]["detail"]
        == "cmp01 left the aggregate meanwhile; its traits stay"
    )
    assert cloud.having(GOLD) == {"cmp01"}


def test_an_aggregate_that_others_isolate_while_it_is_opened_is_said(cloud):
    assert run(*ISOLATE).code == 0
    cloud.when_read["os-aggregates", "1"] = [
        lambda: None,
        lambda: cloud.metadata.update({OTHER_KEY: "required"}),
    ]
    found = run(*UNISOLATE)
    assert (found.code, said(found)) == (1, [ALSO])
    assert differing(found) == {"gold": {"also-isolated": []}}
    assert (cloud.metadata, cloud.having(GOLD)) == ({OTHER_KEY: "required"}, set())
