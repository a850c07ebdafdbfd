"""The undo file brings back what was, and nothing else."""

from __future__ import annotations

import errno
import os
import stat

import pytest

from tests.unit.commands.desired import (
    GOLD,
    SILVER,
    WHOLE,
    broken_for,
    keystone,
    second,
    statuses,
    unlisted,
    whole,
    with_servers,
)


def test_what_is_applied_leaves_no_difference_and_the_undo_file_leads_back(
    apply, plan, trait_sched, cloud, tmp_path
):
    cloud.gives(SILVER, "cmp00", "cmp01")
    before = whole(cloud)
    done = apply(WHOLE, "--undo", "undo.yaml")
    assert done.code == 0, done.err
    assert set(statuses(done).values()) == {"changed"}
    assert cloud.having(GOLD) == {"cmp00", "cmp02"}
    assert cloud.having(SILVER) == {"cmp01", "cmp03"}
    assert cloud.aggregates["2"]["metadata"] == {"availability_zone": "az1"}
    assert cloud.specs("golden") == {f"trait:{GOLD}": "required"}
    assert (plan(None, "--exit-code").code, plan().json) == (0, [])

    assert stat.S_IMODE((tmp_path / "undo.yaml").stat().st_mode) == 0o600
    back = trait_sched("apply", "undo.yaml", "-f", "json", "--force")
    assert back.code == 0, back.err
    made = cloud.aggregates.pop("2")
    assert (made["name"], made["hosts"]) == ("vip", [])
    cloud.mirror.pop(made["uuid"])
    assert whole(cloud) == before
    assert "aggregate 'vip' was created" in (tmp_path / "undo.yaml").read_text("utf-8")


def test_an_undo_file_leads_back_to_a_project_that_is_gone_if_forced(
    apply, trait_sched, cloud, monkeypatch
):
    old, new = "1" * 32, "2" * 32
    cloud.metadata["filter_tenant_id"] = old
    keystone(cloud, monkeypatch, old, new)
    gold = f"{{projects: ['{new}'], absent: {{projects: ['{old}']}}}}"
    text = f"aggregates: {{gold: {gold}}}"
    assert apply(text, "--undo", "undo.yaml").code == 0
    after = dict(cloud.metadata)
    assert set(after.values()) == {new}
    keystone(cloud, monkeypatch, new)
    back = trait_sched("apply", "undo.yaml")
    assert (back.code, cloud.metadata) == (5, after)
    assert trait_sched("apply", "undo.yaml", "--force").code == 0
    assert set(cloud.metadata.values()) == {old}


def test_an_undo_file_that_can_not_be_finished_is_not_there(
    apply, cloud, tmp_path, monkeypatch
):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = apply("traits: {CUSTOM_GOLD: {hosts: [cmp00]}}", "--undo", "undo.yaml")
    assert (done.code, cloud.written) == (1, [])
    assert "undo.yaml" in done.err
    assert "No space left on device" in done.err
    assert not (tmp_path / "undo.yaml").exists()


def test_an_undo_file_that_is_there_is_kept_and_nothing_is_written(
    apply, cloud, tmp_path, golden
):
    broken_for(cloud, "action")
    done = apply("aggregates: {gold: {hosts: [cmp02]}}", "--undo", "first.yaml")
    golden("apply/failed-with-undo", done.err)
    cloud.written.clear()
    (tmp_path / "undo.yaml").write_text("mine", encoding="utf-8")
    done = apply(WHOLE, "--undo", "undo.yaml")
    assert (done.code, cloud.written) == (1, [])
    assert done.err.endswith("undo.yaml: exists; name a new file\n")
    assert (tmp_path / "undo.yaml").read_text("utf-8") == "mine"


def test_an_undo_file_can_be_applied_whatever_was_changed(
    apply, trait_sched, cloud, tmp_path, monkeypatch, golden
):
    unlisted(cloud, monkeypatch, "cmp03")
    cloud.known.add("HW_CPU_X86_VMX")
    cloud.aggregates["1"]["hosts"].append("gone")
    before = {host: set(traits) for host, traits in cloud.traits.items()}
    done = apply(
        """
        traits:
          CUSTOM_GOLD: {providers: [cmp03]}
          HW_CPU_X86_VMX: {hosts: [cmp02]}
        aggregates: {gold: {hosts: [cmp0*], only: true}}
        """,
        "--undo",
        "undo.yaml",
    )
    assert [(r["step"], r["object"], r["key"]) for r in done.json] == [
        ("host", "cmp02", "HW_CPU_X86_VMX"),
        ("provider", "cmp03", GOLD),
        ("member", "gold", "cmp02"),
        ("member", "gold", "gone"),
    ]
    undo = (tmp_path / "undo.yaml").read_text("utf-8")
    golden("apply/undo-file", undo)
    back = trait_sched("apply", "undo.yaml", "-f", "json", "--force")
    assert back.code == 0, back.err
    assert cloud.traits == {**before, "cmp02": before["cmp02"] | {"HW_CPU_X86_VMX"}}
    assert cloud.aggregates["1"]["hosts"] == ["cmp00", "cmp01"]


def test_an_undo_file_leads_back_from_an_aggregate_that_was_not_made(
    apply, trait_sched, cloud
):
    before = whole(cloud)
    broken_for(cloud, "os-aggregates")
    text = "aggregates: {new: {hosts: [cmp03], isolated_for: [CUSTOM_GOLD]}}"
    done = apply(text, "--undo", "undo.yaml")
    assert done.code == 1
    assert cloud.having(GOLD) == set()
    back = trait_sched("apply", "undo.yaml", "-f", "json")
    assert (back.code, len(back.json)) == (0, 0), back.err
    assert whole(cloud) == before
    assert "nothing to remove: undo.yaml:" in back.err
    assert "no aggregate matches 'new'" in back.err


def test_an_undo_file_names_no_project_by_what_is_no_id(
    apply, cloud, tmp_path, monkeypatch
):
    project = "1" * 32
    keystone(cloud, monkeypatch, project)
    cloud.aggregates["1"]["metadata"] = {"filter_tenant_id": f"demo,{project}"}
    text = "aggregates: {gold: {absent: {projects: [demo]}}}"
    assert apply(text, "--undo", "undo.yaml").code == 0
    assert cloud.metadata == {}
    undo = (tmp_path / "undo.yaml").read_text("utf-8")
    assert undo.splitlines()[0].startswith(
        "# Not brought back: filter_tenant_id of 'gold': "
    )
    assert undo.endswith(f"    projects:\n    - '{project}'\n")


def test_an_undo_file_means_the_same_flavor(apply, trait_sched, cloud):
    cloud.flavors["small-id"]["name"] = "golden-id"
    done = apply("flavors: {small-id: {forbids: [CUSTOM_GOLD]}}", "--undo", "undo.yaml")
    assert cloud.specs("small") == {f"trait:{GOLD}": "forbidden"}, done.err
    assert trait_sched("apply", "undo.yaml", "-f", "json").code == 0
    assert (cloud.specs("small"), cloud.specs("golden")) == ({}, {})


def test_a_key_that_isolates_nothing_is_not_taken_and_not_brought_back_as_one(
    apply, cloud, tmp_path
):
    cloud.metadata[f"trait:{GOLD}"] = "forbidden"
    absent = "aggregates: {gold: {absent: {isolated_for: [CUSTOM_GOLD]}}}"
    assert (apply(absent).json, cloud.written) == ([], [])
    done = apply("aggregates: {gold: {isolated_for: [CUSTOM_GOLD]}}", "--undo", "u")
    assert (done.code, cloud.metadata) == (0, {f"trait:{GOLD}": "required"})
    undo = (tmp_path / "u").read_text("utf-8")
    assert undo.startswith(f"# Not brought back: trait:{GOLD} of 'gold'")
    assert "isolated_for" not in undo


def test_what_was_isolated_by_halves_is_not_isolated_whole_again(
    apply, trait_sched, cloud, tmp_path
):
    cloud.gives(GOLD, "cmp00")
    cloud.metadata[f"trait:{GOLD}"] = "required"
    absent = "aggregates: {gold: {zone: az1, absent: {isolated_for: [CUSTOM_GOLD]}}}"
    done = apply(absent, "--undo", "undo.yaml")
    assert (done.code, cloud.metadata) == (0, {"availability_zone": "az1"})
    assert f"trait:{GOLD} of 'gold'" in (tmp_path / "undo.yaml").read_text("utf-8")
    cloud.written.clear()
    assert trait_sched("apply", "undo.yaml", "-f", "json").json == []
    assert (cloud.written, cloud.having(GOLD)) == ([], {"cmp00"})


@pytest.mark.parametrize(
    ("rack", "text", "undone"),
    [
        (
            # rack had a zone, gold gets its first one: cmp01 comes back to rack alone.
            {"availability_zone": "az2"},
            "gold: {zone: az3, absent: {hosts: [cmp01]}}, "
            "rack: {absent: {hosts: [cmp01]}}",
            {("member", "rack", "cmp01")},
        ),
        (
            # cmp01 stays in gold, which keeps its zone: it can't come back to rack.
            {"availability_zone": "az2"},
            "rack: {absent: {hosts: [cmp01]}}, gold: {zone: az3}",
            set(),
        ),
        (
            # The same zone keeps nothing out.
            {"availability_zone": "az2"},
            "rack: {absent: {hosts: [cmp01]}}, gold: {zone: az2}",
            {("member", "rack", "cmp01")},
        ),
        (
            # The zone of rack can't come back while gold has another.
            {"availability_zone": "az2"},
            "rack: {zone: az3}, gold: {zone: az3}",
            set(),
        ),
    ],
    ids=["of two", "stays in another", "same zone", "zone itself"],
)
def test_an_undo_file_has_no_row_that_a_first_zone_makes_impossible(
    apply, trait_sched, cloud, rack, text, undone
):
    cloud.flavors.clear()
    second(cloud, "cmp01", **rack)
    # A second run does what the first could only do once a host has left its zone.
    done = apply(f"aggregates: {{{text}}}", "--undo", "undo.yaml")
    assert apply(f"aggregates: {{{text}}}").code == 0
    first = "availability_zone of 'gold': Nova can't unset it"
    assert f"Not brought back: {first}" in done.err
    back = trait_sched("apply", "undo.yaml", "-f", "json")
    assert (back.code, {*statuses(back).values()} <= {"changed"}) == (0, True), back.out
    assert statuses(back).keys() == undone


def test_what_no_undo_brings_back_is_told_before_anything_is_written(apply, cloud):
    cloud.flavors.clear()
    done = apply("aggregates: {gold: {zone: az1}}", "--undo", "u.yaml", "--dry-run")
    assert "Not brought back: availability_zone of 'gold'" in done.err
    assert (done.code, cloud.written) == (0, [])


@pytest.mark.parametrize("has_other", [False, True])
def test_an_undo_file_that_will_be_refused_says_so_when_it_is_written(
    apply, trait_sched, cloud, has_other
):
    cloud.flavor("golden", CUSTOM_GOLD="required")
    if has_other:
        cloud.gives(GOLD, "cmp03")
    done = apply("traits: {CUSTOM_GOLD: {hosts: [cmp00]}}", "--undo", "undo.yaml")
    said = "undo.yaml will need --force: no host would be left for flavor 'golden'"
    assert (done.code, said in done.err) == (0, not has_other)
    assert trait_sched("apply", "undo.yaml").code == (0 if has_other else 5)


@pytest.mark.parametrize("required", [True, False])
def test_an_undo_file_says_which_servers_it_would_harm(
    apply, trait_sched, cloud, monkeypatch, required
):
    # It was booted when its host had the trait.
    specs = {f"trait:{GOLD}": "required"} if required else {}
    with_servers(cloud, monkeypatch, cmp00={"gold-8": specs})
    done = apply("traits: {CUSTOM_GOLD: {hosts: [cmp00]}}", "--undo", "undo.yaml")
    line = "undo.yaml will need --force: no host would suit server 'gold-8'"
    assert (done.code, line in done.err, "'gold-8'" in done.err) == (
        0,
        required,
        required,
    )
    assert trait_sched("apply", "undo.yaml").code == (5 if required else 0)


def test_a_first_zone_that_stays_needs_no_force(apply, trait_sched, cloud):
    done = apply("aggregates: {gold: {zone: az1}}", "--undo", "undo.yaml")
    assert (done.code, "will need --force" in done.err) == (0, False)
    assert trait_sched("apply", "undo.yaml").code == 0
