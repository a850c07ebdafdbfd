"""What a row that fails stops, foreseen and carried out, and what it leaves alone."""

from __future__ import annotations

import textwrap

import pytest

from osc_traitsched.app.wanted import planning
from osc_traitsched.core.errors import CloudBroke
from tests.unit.app.living import HOSTS
from tests.unit.commands.wanted import broken_for, second, statuses

GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"
#: cmp01 is to get into a zone, which its servers forbid; all else has nothing to do
#: with that.
STUCK = """
    traits: {CUSTOM_SILVER: {hosts: [cmp02], absent: {hosts: [cmp03]}}}
    aggregates:
      gold: {isolated_for: [CUSTOM_GOLD]}
      zoned: {zone: az1, hosts: [cmp00, cmp01]}
    flavors: {golden: {requires: [CUSTOM_GOLD]}}
"""


@pytest.fixture
def stuck(cloud, monkeypatch):
    """Let cmp01 have servers, so that it can't get into another zone."""
    monkeypatch.setattr(planning.servers, "counted", lambda cloud, hosts: {"cmp01": 3})
    cloud.gives(SILVER, "cmp03")


def test_a_row_that_is_known_to_fail_stops_nothing_else(stuck, apply, cloud):
    done = apply(STUCK)
    assert {k: v for k, v in statuses(done).items() if v != "changed"} == {
        ("member", "zoned", "cmp01"): "failed"
    }
    assert cloud.metadata == {f"trait:{GOLD}": "required"}
    assert cloud.having(SILVER) == {"cmp02"}


def test_what_opens_hosts_and_fails_only_then_stops_what_closes(apply, cloud):
    cloud.gives(SILVER, "cmp03")
    broken_for(cloud, "action")
    done = statuses(apply(STUCK))
    assert done["member", "zoned", "cmp00"] == "failed"
    assert done["aggregate", "gold", f"trait:{GOLD}"] == "not done"
    assert cloud.having(SILVER) == {"cmp02", "cmp03"}


def test_a_plan_says_what_will_not_be_done(stuck, trait_sched, apply, cloud):
    cloud.metadata["availability_zone"] = "az1"
    cloud.aggregates["1"]["hosts"] = ["cmp00"]
    text = """
        aggregates: {gold: {hosts: [cmp01], isolated_for: [CUSTOM_GOLD]}}
        flavors: {golden: {requires: [CUSTOM_GOLD]}}
    """
    said = trait_sched("plan", "w.yaml", "-f", "json", w=text)
    assert not cloud.written
    done = apply(text)
    assert statuses(done) == {
        ("host", "cmp00", GOLD): "changed",
        ("host", "cmp01", GOLD): "changed",
        ("member", "gold", "cmp01"): "failed",
        ("flavor", "golden", f"trait:{GOLD}"): "changed",
        ("aggregate", "gold", f"trait:{GOLD}"): "not done",
    }
    foreseen = {
        k: v.replace("would change", "changed") for k, v in statuses(said).items()
    }
    assert foreseen == statuses(done)
    assert (said.code, done.code) == (1, 1)
    # Nothing is closed, so who does not require the trait loses no host.
    assert ("'golden' will lose" in said.err, "'small'" in said.err) == (True, False)


MOVED = """
    aggregates:
      gold: {%s}
      rack: {hosts: [cmp00, cmp01]}
"""
OPENED = "absent: {isolated_for: [CUSTOM_GOLD]}"


def test_what_closes_hosts_stays_until_all_have_joined_what_is_closed(apply, cloud):
    cloud.metadata[f"trait:{GOLD}"] = "required"
    second(cloud, CUSTOM_SILVER="required")
    broken_for(cloud, "action")
    done = apply(MOVED % OPENED)
    assert statuses(done) == {
        ("member", "rack", "cmp00"): "failed",
        ("member", "rack", "cmp01"): "changed",
        ("aggregate", "gold", f"trait:{GOLD}"): "not done",
    }
    assert cloud.metadata == {f"trait:{GOLD}": "required"}
    assert apply(MOVED % OPENED).code == 0
    assert cloud.metadata == {}


@pytest.mark.parametrize(
    ("rival", "said"),
    [
        (lambda rack: rack["metadata"].clear(), "'{key}' of aggregate 'rack' changed"),
        (lambda rack: rack["hosts"].pop(0), "host cmp00 left aggregate 'rack'"),
    ],
    ids=["opened", "left"],
)
@pytest.mark.parametrize("by", [{SILVER: "required"}, {"filter_tenant_id": "p1"}])
@pytest.mark.parametrize(
    ("wanted", "row"),
    [
        (OPENED, ("aggregate", "gold", f"trait:{GOLD}")),
        ("absent: {hosts: [cmp00]}", ("member", "gold", "cmp00")),
    ],
)
def test_hosts_stay_closed_where_others_open_what_was_to_go_on_closing_them(
    apply, cloud, rival, said, by, wanted, row
):
    cloud.metadata[f"trait:{GOLD}"] = "required"
    second(cloud, "cmp00", "cmp01", **by)
    rack_keys = tuple(cloud.aggregates["2"]["metadata"])
    # The first write: by then the plan is made.
    cloud.rivals[HOSTS["cmp03"]] = lambda: rival(cloud.aggregates["2"])
    text = f"""
        traits: {{CUSTOM_SILVER: {{hosts: [cmp03]}}}}
        aggregates: {{gold: {{{wanted}}}}}
    """
    done = apply(text)
    assert statuses(done) == {("host", "cmp03", SILVER): "changed", row: "failed"}
    assert done.json[-1]["detail"] == (
        f"{said.format(key=rack_keys[0])} meanwhile, which was to keep "
        "others out; run the command again"
    )
    assert cloud.metadata == {f"trait:{GOLD}": "required"}
    assert cloud.aggregates["1"]["hosts"] == ["cmp00", "cmp01"]
    # Whoever runs it again sees that nothing else closes them.
    assert statuses(apply(text)) == {row: "changed"}


def opened_by_others(cloud, key, aggregate):
    """Let others take a key from an aggregate right after it is written."""
    write = cloud.compute_post

    def compute_post(parts, body):
        write(parts, body)
        if (body.get("set_metadata") or {}).get("metadata", {}).get(key):
            cloud.aggregates[aggregate]["metadata"].pop(key, None)

    cloud.compute_post = compute_post


@pytest.mark.parametrize(
    ("aggregate", "wanted", "row"),
    [
        (
            "1",
            """
            gold:
              isolated_for: [CUSTOM_SILVER]
              absent: {isolated_for: [CUSTOM_GOLD]}
            """,
            ("aggregate", "gold", f"trait:{GOLD}"),
        ),
        (
            "2",
            """
            rack: {hosts: [cmp00], isolated_for: [CUSTOM_SILVER]}
            gold: {absent: {hosts: [cmp00]}}
            """,
            ("member", "gold", "cmp00"),
        ),
        (
            "2",
            """
            new: {hosts: [cmp00], isolated_for: [CUSTOM_SILVER]}
            gold: {absent: {hosts: [cmp00]}}
            """,
            ("member", "gold", "cmp00"),
        ),
    ],
    ids=["its own", "another", "a new one"],
)
def test_hosts_stay_closed_where_others_open_what_has_just_closed_them(
    apply, cloud, aggregate, wanted, row
):
    cloud.flavors = {}
    cloud.metadata[f"trait:{GOLD}"] = "required"
    for trait in (GOLD, SILVER):
        cloud.gives(trait, "cmp00", "cmp01")
    if "rack" in wanted:
        second(cloud)
    opened_by_others(cloud, f"trait:{SILVER}", aggregate)
    done = apply(f"aggregates:\n{textwrap.indent(textwrap.dedent(wanted), '  ')}")
    (failed,) = (r for r in done.json if r["status"] != "changed")
    assert (failed["step"], failed["object"], failed["key"]) == row
    assert f"'trait:{SILVER}' of aggregate" in failed["detail"]
    assert cloud.metadata[f"trait:{GOLD}"] == "required"
    assert "cmp00" in cloud.aggregates["1"]["hosts"]


def test_others_may_close_further_what_goes_on_closing_hosts(apply, cloud):
    cloud.metadata[f"trait:{GOLD}"] = "required"
    second(cloud, "cmp00", "cmp01", CUSTOM_SILVER="required")

    def rival():
        cloud.aggregates["2"]["metadata"]["filter_tenant_id"] = "p1"
        cloud.aggregates["2"]["hosts"].append("cmp02")

    cloud.rivals[HOSTS["cmp03"]] = rival
    done = apply(f"""
        traits: {{CUSTOM_SILVER: {{hosts: [cmp03]}}}}
        aggregates: {{gold: {{{OPENED}}}}}
    """)
    assert done.code == 0
    assert cloud.metadata == {}


def test_hosts_leave_several_closed_aggregates_at_once(apply, cloud):
    cloud.metadata[f"trait:{GOLD}"] = "required"
    second(cloud, "cmp00", "cmp01", CUSTOM_SILVER="required")
    left = "absent: {hosts: [cmp00]}"
    done = apply(f"aggregates: {{gold: {{{left}}}, rack: {{{left}}}}}")
    assert done.code == 0
    assert [each["hosts"] for each in cloud.aggregates.values()] == [["cmp01"]] * 2


def test_an_aggregate_is_opened_whoever_can_not_join_one_that_is_open(apply, cloud):
    cloud.metadata[f"trait:{GOLD}"] = "required"
    second(cloud)
    broken_for(cloud, "action")
    assert statuses(apply(MOVED % OPENED)) == {
        ("member", "rack", "cmp00"): "failed",
        ("member", "rack", "cmp01"): "changed",
        ("aggregate", "gold", f"trait:{GOLD}"): "changed",
    }


def test_hosts_of_others_that_fail_to_join_keep_no_aggregate_closed(apply, cloud):
    cloud.metadata[f"trait:{GOLD}"] = "required"
    second(cloud, CUSTOM_SILVER="required")
    broken_for(cloud, "action")
    moved = "aggregates: {gold: {%s}, rack: {hosts: [cmp03]}}"
    assert statuses(apply(moved % OPENED)) == {
        ("member", "rack", "cmp03"): "failed",
        ("aggregate", "gold", f"trait:{GOLD}"): "changed",
    }


CROSSING = """
    aggregates:
      gold: {absent: {hosts: [%s]}}
      other: {zone: az2, hosts: [%s]}
"""


def test_hosts_that_are_in_no_zone_for_a_moment_are_told(trait_sched, apply, cloud):
    cloud.metadata["availability_zone"] = "az1"
    said = trait_sched("plan", "w.yaml", w=CROSSING % (("cmp00, cmp01",) * 2))
    assert said.err.splitlines()[1] == (
        "hosts cmp00, cmp01 leave aggregate 'gold' one after the other, each before it "
        "joins that of another zone, since Nova takes no host into two: in between, "
        "and for good if that fails, it is in the default zone"
    )
    done = apply(CROSSING % (("cmp01",) * 2))
    assert done.code == 0
    assert "host cmp01 leaves aggregate 'gold' before it joins that" in done.err


def moves(cloud, *, fails=None):
    """Note each host that joins or leaves an aggregate; some writes may fail."""
    found, write = [], cloud.compute_post

    def compute_post(parts, body):
        ((action, what),) = body.items()
        if "host" in what:
            found.append((action, what["host"]))
            if found[-1] == fails:
                raise CloudBroke("compute", "no", 403)
        write(parts, body)

    cloud.compute_post = compute_post
    return found


def test_hosts_change_their_zone_one_after_the_other(apply, cloud):
    cloud.metadata["availability_zone"] = "az1"
    seen = moves(cloud)
    assert apply(CROSSING % (("cmp00, cmp01",) * 2), "--force").code == 0
    assert seen == [
        ("remove_host", "cmp00"),
        ("add_host", "cmp00"),
        ("remove_host", "cmp01"),
        ("add_host", "cmp01"),
    ]


def test_no_other_host_leaves_its_zone_once_one_could_not_join(apply, cloud):
    cloud.metadata["availability_zone"] = "az1"
    moves(cloud, fails=("add_host", "cmp00"))
    done = statuses(apply(CROSSING % (("cmp00, cmp01",) * 2), "--force"))
    assert {key[1:]: became for key, became in done.items() if key[0] == "member"} == {
        ("gold", "cmp00"): "changed",
        ("other", "cmp00"): "failed",
        ("gold", "cmp01"): "not done",
        ("other", "cmp01"): "not done",
    }
    assert cloud.aggregates["1"]["hosts"] == ["cmp01"]


def test_the_others_change_their_zone_if_a_host_could_not_leave(apply, cloud):
    cloud.metadata["availability_zone"] = "az1"
    moves(cloud, fails=("remove_host", "cmp00"))
    done = statuses(apply(CROSSING % (("cmp00, cmp01",) * 2), "--force"))
    assert {key[1:]: became for key, became in done.items() if key[0] == "member"} == {
        ("gold", "cmp00"): "failed",
        ("other", "cmp00"): "not done",
        ("gold", "cmp01"): "changed",
        ("other", "cmp01"): "changed",
    }


@pytest.mark.parametrize("zone", [{}, {"availability_zone": "az2"}])
def test_hosts_that_join_first_are_never_in_no_zone(apply, cloud, zone):
    cloud.metadata.update(zone)
    done = apply(CROSSING % (("cmp01",) * 2))
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (403, "the host has left 'gold', and is in the default zone"),
        (None, "the host has left 'gold'"),
    ],
)
def test_a_host_that_has_left_a_zone_and_joined_no_other_is_told(
    apply, cloud, monkeypatch, status, said
):
    cloud.metadata["availability_zone"] = "az1"
    write = cloud.compute_post

    def compute_post(parts, body):
        if "add_host" in body:
            raise CloudBroke("compute", "no", status, passing=status is None)
        write(parts, body)

    monkeypatch.setattr(cloud, "compute_post", compute_post)
    done = apply(CROSSING % (("cmp01",) * 2))
    details = {(r["change"], r["step"]): r["detail"] for r in done.json}
    assert details["remove", "member"] == ""
    assert details["add", "member"].endswith(f"; {said}")


def test_a_host_that_may_have_left_its_zone_is_told(apply, cloud, monkeypatch):
    cloud.metadata["availability_zone"] = "az1"

    def compute_post(parts, body):
        if "remove_host" in body:
            raise CloudBroke("compute", "no answer", None, passing=True)

    monkeypatch.setattr(cloud, "compute_post", compute_post)
    second(cloud, availability_zone="az2")
    done = apply(
        "aggregates: {gold: {absent: {hosts: [cmp01]}}, rack: {hosts: [cmp01]}}"
    )
    assert [(row["status"], row["detail"]) for row in done.json if row["after"]] == [
        ("not done", "waits for member 'gold' cmp01; the host may have left 'gold'")
    ]


def test_a_host_moves_to_a_closed_zone_only_once_that_is_closed_as_wanted(apply, cloud):
    cloud.metadata.update({f"trait:{GOLD}": "required", "availability_zone": "az1"})
    second(cloud, filter_tenant_id="p1", availability_zone="az2")
    cloud.gives(SILVER, "cmp01")
    broken_for(cloud, "action")
    move = """
        aggregates:
          gold: {absent: {hosts: [cmp01]}}
          rack: {hosts: [cmp01], isolated_for: [CUSTOM_SILVER]}
    """
    assert statuses(apply(move)) == {
        ("aggregate", "rack", f"trait:{SILVER}"): "failed",
        ("member", "gold", "cmp01"): "not done",
        ("member", "rack", "cmp01"): "not done",
    }
    assert apply(move).code == 0
    assert cloud.aggregates["2"]["hosts"] == ["cmp01"]


def test_a_flavor_gives_up_no_trait_for_one_that_it_could_not_require(apply, cloud):
    cloud.flavors = {}
    cloud.flavor("vip", **{GOLD: "required"})
    cloud.gives(GOLD, "cmp00")
    cloud.gives(SILVER, "cmp00")
    broken_for(cloud, "os-extra_specs")
    asked = "requires: [CUSTOM_SILVER], absent: {requires: [CUSTOM_GOLD]}"
    done = apply(f"flavors: {{vip: {{{asked}}}}}")
    assert statuses(done) == {
        ("flavor", "vip", f"trait:{SILVER}"): "failed",
        ("flavor", "vip", f"trait:{GOLD}"): "not done",
    }
    assert cloud.flavors["vip-id"]["extra_specs"] == {f"trait:{GOLD}": "required"}
