"""isolate and unisolate while flavors, hosts and aggregates come and go."""

from __future__ import annotations

import pytest

from osc_traitsched.core.change.model import Change, Kept, Kind, Object, Reason, State
from osc_traitsched.views import afterwards
from tests.unit.app.living import HOSTS
from tests.unit.commands.rivals import (
    AGAIN,
    GOLD,
    ISOLATE,
    KEY,
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

CMP01 = HOSTS["cmp01"]


# Flavors that go


def deleted(name):
    return f"flavor '{name}' was deleted meanwhile"


def test_without_a_flavor_that_was_deleted_before_its_step_it_goes_on(cloud):
    # A name like that of the flavor, which nobody shall take for it.
    cloud.flavor("golde")
    cloud.flavor("other")
    rival(cloud, CMP01, (cloud.flavors.pop, "golden-id"))
    found = run(*ISOLATE, "--flavor", "other")
    on = f"openstack trait-sched isolate gold {GOLD} --flavor other"
    assert (found.code, statuses(found)[-3:]) == (1, ["failed", "changed", "not done"])
    assert said(found)[:2] == [
        "1 of 8 failed, 1 not done; without flavor 'golden', deleted meanwhile, "
        f"{on} goes on",
        deleted("golden"),
    ]
    assert differing(found) == {"golden": {"gone": []}}
    assert "did you mean" not in found.err
    assert paste(on).code == 0
    assert cloud.metadata == {KEY: "required"}


def test_where_the_only_flavor_was_deleted_it_says_that_none_could_get_in(cloud):
    rival(cloud, CMP01, (cloud.flavors.pop, "golden-id"))
    found = run(*ISOLATE)
    assert any(f"no flavor requires {GOLD}" in each for each in said(found))
    assert said(found)[-1] == TAKEN_BACK[1]
    assert paste(said(found)[-1].strip()).code == 0
    assert not cloud.having(GOLD)


def test_a_flavor_that_is_deleted_after_its_step_is_said(cloud):
    rival(cloud, "os-aggregates", (cloud.flavors.pop, "golden-id"))
    found = run(*ISOLATE)
    assert (found.code, said(found)[-1]) == (1, deleted("golden"))


def test_the_way_back_goes_on_without_a_flavor_that_was_deleted(cloud):
    assert run(*ISOLATE).code == 0
    rival(cloud, "os-aggregates", (cloud.flavors.pop, "golden-id"))
    found = run(*UNISOLATE)
    on = f"openstack trait-sched unisolate --remove-traits gold {GOLD}"
    assert (found.code, said(found)[0]) == (
        1,
        f"1 of 4 failed, 2 not done; without flavor 'golden', deleted meanwhile, {on} "
        "goes on",
    )
    assert paste(on).code == 0
    assert not cloud.having(GOLD)


def stopped_opening(cloud, *options):
    """Open it, while others delete one of two flavors; return what is said."""
    rival(cloud, "golden-id", (cloud.flavors.pop, "late-id"))
    found = run(*UNISOLATE, *options)
    assert (found.code, statuses(found)[:3]) == (1, ["changed", "changed", "failed"])
    return said(found)


def test_what_opening_wrote_is_taken_back_by_isolating_again(cloud):
    cloud.flavor("late")
    assert run(*ISOLATE, "--flavor", "late").code == 0
    settings = "--set scheduler.limit_tenants_to_placement_aggregate=true"
    lines = stopped_opening(cloud, *settings.split())
    back = f"openstack trait-sched isolate gold {GOLD} --flavor golden-id {settings}"
    on = f"openstack trait-sched unisolate --remove-traits gold {GOLD} {settings}"
    assert f"{on} goes on" in lines[0]
    assert lines[-2:] == [
        f"written and still there: flavor 'golden' without {KEY}; aggregate 'gold' "
        f"without {KEY}; to take it back:",
        f"  {back}",
    ]
    assert paste(back).code == 0
    assert (cloud.specs("golden"), cloud.metadata) == (
        {KEY: "required"},
        {KEY: "required"},
    )


def test_where_isolating_again_would_do_more_no_command_takes_opening_back(cloud):
    cloud.flavor("late")
    assert run(*ISOLATE, "--flavor", "late").code == 0
    cloud.known.add("CUSTOM_PLAT")
    cloud.metadata["trait:CUSTOM_PLAT"] = "required"
    lines = stopped_opening(cloud, "--force")
    assert lines[-1] == (
        f"written and still there: flavor 'golden' without {KEY}; aggregate 'gold' "
        f"without {KEY}, trait:CUSTOM_PLAT"
    )


# Hosts that go, and hosts that come


def test_a_host_that_leaves_before_the_last_step_is_said_with_what_it_keeps(cloud):
    rival(cloud, "os-aggregates", (cloud.leaves, "cmp01"))
    found = run(*ISOLATE)
    mends = f"openstack trait-sched remove {GOLD} --provider cmp01"
    assert (found.code, differing(found)) == (1, {"cmp01": {"host-left": [mends]}})
    assert said(found) == [
        f"host cmp01 left the aggregate meanwhile and keeps {GOLD}; {mends} mends it"
    ]
    assert paste(mends).code == 0
    assert cloud.having(GOLD) == {"cmp00"}


def test_a_host_that_moves_to_an_aggregate_of_the_same_trait_keeps_it(cloud):
    another(cloud, "cmp03")

    def moves():
        cloud.leaves("cmp01")
        cloud.aggregates["2"]["hosts"].append("cmp01")

    rival(cloud, "os-aggregates", (moves,))
    found = run(*ISOLATE)
    assert (found.code, said(found)) == (0, [])
    assert hosts_of(cloud, "golden") == {"cmp00", "cmp01", "cmp03"}


def test_a_host_that_leaves_and_had_the_trait_before_is_left_alone(cloud):
    cloud.gives(GOLD, "cmp01")
    rival(cloud, "os-aggregates", (cloud.leaves, "cmp01"))
    assert run(*ISOLATE).code == 0


def test_a_host_that_joins_after_the_last_write_is_said(cloud):
    cloud.when_read["os-aggregates", "1"] = [
        lambda: None,
        lambda: cloud.joins("cmp02"),
    ]
    found = run(*ISOLATE)
    assert (found.code, differing(found)) == (1, {"gold": {"hosts-joined": [AGAIN]}})
    assert paste(AGAIN).code == 0
    assert cloud.having(GOLD) == {"cmp00", "cmp01", "cmp02"}


@pytest.mark.parametrize(
    ("part", "status"), [(CMP01, "failed"), ("golden-id", "changed")]
)
def test_a_provider_that_goes_is_said_with_what_its_host_needs_later(
    cloud, part, status
):
    rival(cloud, part, (cloud.deletes_provider, "cmp01"))
    found = run(*ISOLATE)
    row = found.json[2]
    assert (found.code, row["object"], row["status"]) == (1, "cmp01", status)
    assert differing(found) == {"cmp01": {"gone": [AGAIN]}}
    assert (
        "the provider of host cmp01 was deleted meanwhile, and its traits with it; "
        f"{AGAIN} mends it once nova-compute has made it again"
    ) in said(found)
    assert said(found)[0].endswith(
        "the same command again would end with: cmp01: Placement has no provider for "
        "it, as far as Nova lists it"
    )
    assert "goes on" not in found.err


def test_of_an_aggregate_that_was_deleted_it_says_what_takes_the_rest_back(cloud):
    rival(cloud, "golden-id", (cloud.aggregates.clear,))
    found = run(*ISOLATE)
    assert (found.code, said(found)[0]) == (
        1,
        "1 of 7 failed; nothing goes on: the aggregate was deleted meanwhile",
    )
    assert said(found)[-2:] == TAKEN_BACK


# The way back afterwards


def test_opening_says_what_a_host_that_left_keeps_required(cloud):
    assert run(*ISOLATE).code == 0
    cloud.leaves("cmp01")
    found = run(*UNISOLATE)
    mends = f"openstack trait-sched remove {GOLD} --provider cmp01"
    assert (found.code, cloud.specs("golden")) == (0, {KEY: "required"})
    assert said(found)[-3:] == [
        f"flavor 'golden' will go on to require {GOLD}, since host cmp01 outside of "
        "the aggregate has it; if it is left over there, these remove it:",
        f"  openstack flavor unset --property {KEY} golden-id",
        f"  {mends}",
    ]
    del cloud.specs("golden")[KEY]
    assert paste(mends).code == 0
    assert not cloud.having(GOLD)


def test_of_a_trait_that_many_hosts_have_outside_only_the_row_speaks():
    kept = Kept(GOLD, Reason.OTHER_HOSTS, tuple(f"h{n}" for n in range(11)))
    change = Change(Object(Kind.FLAVOR, "f", "f"), State({}), {}, kept=(kept,))
    assert list(afterwards.still_required([change])) == []


def test_opening_without_a_trait_does_not_advise_to_remove_what_hosts_have(cloud):
    cloud.known.add("CUSTOM_RACK")
    cloud.gives("CUSTOM_RACK", "cmp00", "cmp01")
    found = run(*UNISOLATE)
    assert (found.code, found.err.splitlines()[-1]) == (
        1,
        "no trait isolates aggregate 'gold', so that it is not known what to remove; "
        "if an earlier run was stopped half way, name the traits that it was to "
        "remove; all of its hosts have CUSTOM_RACK, which may have other purposes",
    )


# add and remove


@pytest.mark.parametrize("verb", ["add", "remove"])
def test_of_a_provider_that_is_gone_no_command_goes_on_by_its_name(cloud, verb):
    cloud.gives(GOLD, *(["cmp00", "cmp01"] if verb == "remove" else []))
    rival(cloud, CMP01, (cloud.deletes_provider, "cmp01"))
    found = run(verb, GOLD, "--host", "cmp01", "-f", "json")
    assert (found.code, found.json[0]["status"]) == (1, "failed")
    assert found.err == (
        "1 of 1 failed; the same command again would end with: cmp01: Placement has no "
        "provider for it, as far as Nova lists it\n"
    )


def test_a_host_that_is_gone_is_not_taken_for_one_of_a_like_name(cloud):
    rival(cloud, CMP01, (cloud.deletes_provider, "cmp01"))
    found = run("add", GOLD, "--provider", "cmp01")
    assert found.err == (
        "1 of 1 failed; the same command again would end with: no provider matches "
        "'cmp01'\n"
    )


def test_without_a_provider_that_is_gone_a_command_for_all_goes_on(cloud):
    rival(cloud, CMP01, (cloud.deletes_provider, "cmp01"))
    found = run("add", GOLD, "--all")
    assert found.err == "1 of 4 failed; the same command again goes on\n"
    assert run("add", GOLD, "--all").code == 0


NO_PROVIDER = "Placement has no provider for it, as far as Nova lists it"


@pytest.mark.parametrize("arguments", [ISOLATE, ("add", GOLD, "--host", "cmp01")])
@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_where_a_host_has_no_provider_the_same_command_is_not_said_to_go_on(
    cloud, arguments, dry
):
    cloud.deletes_provider("cmp01")
    found = run(*arguments, *dry)
    assert found.code == 1
    assert said(found)[-1].endswith(
        f"; the same command again would end with: cmp01: {NO_PROVIDER}"
    )
