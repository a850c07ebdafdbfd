"""A trait goes from its last host only if nothing goes on to require it."""

from __future__ import annotations

import pytest

from tests.unit.commands.desired import GOLD, SILVER, requirers, statuses, with_servers

FORBIDDEN_INSTEAD = """
    traits: {CUSTOM_SILVER: {absent: {hosts: ["*"]}}}
    flavors: {golden: {forbids: [CUSTOM_SILVER]}}
"""


def test_a_trait_stays_where_its_removal_waits_for_what_fails(plan, cloud, monkeypatch):
    cloud.flavor("golden", CUSTOM_GOLD="required")
    cloud.gives(GOLD, "cmp00")
    cloud.deletes_provider("cmp03")
    with_servers(cloud, monkeypatch, cmp00={"a": {f"trait:{GOLD}": "required"}})
    found = plan(
        """
        traits:
          CUSTOM_GOLD: {hosts: [cmp03], absent: {hosts: [cmp00]}}
          CUSTOM_SILVER: {hosts: [cmp02]}
        """
    )
    assert statuses(found) == {
        ("host", "cmp02", SILVER): "would change",
        ("host", "cmp03", GOLD): "failed",
        ("host", "cmp00", GOLD): "not done",
    }
    assert (found.code, found.err) == (1, "")
    assert ("servers", "detail") not in cloud.asked


@pytest.mark.parametrize(
    ("wanted", "requirer"),
    [
        ("flavors: {golden: {requires: [CUSTOM_SILVER]}}", "flavor 'golden'"),
        ("images: {win: {requires: [CUSTOM_SILVER]}}", "image 'win'"),
        ("aggregates: {gold: {isolated_for: [CUSTOM_SILVER]}}", "aggregate 'gold'"),
    ],
)
def test_what_the_same_file_has_require_a_trait_keeps_it(plan, cloud, wanted, requirer):
    cloud.gives(SILVER, "cmp02", "cmp03")
    cloud.picture("win")
    cloud.aggregates["1"]["hosts"] = []
    found = plan(
        f"""
        traits: {{CUSTOM_SILVER: {{absent: {{hosts: [cmp02, cmp03]}}}}}}
        {wanted}
        """
    )
    assert found.code == 5
    assert requirers(found) == f"{requirer} (trait:{SILVER})"


def test_what_comes_to_forbid_a_trait_requires_it_no_more(apply, cloud):
    cloud.flavor("golden", CUSTOM_SILVER="required")
    cloud.gives(SILVER, "cmp00", "cmp01")
    done = apply(FORBIDDEN_INSTEAD)
    assert {*statuses(done).values()} == {"changed"}, done.err
    assert cloud.specs("golden") == {f"trait:{SILVER}": "forbidden"}
    assert cloud.having(SILVER) == set()


def test_a_flavor_that_a_file_names_by_its_id_gives_a_trait_up(plan, cloud):
    cloud.gives(GOLD, "cmp00")
    cloud.flavor("golden", CUSTOM_GOLD="required")
    found = plan(
        """
        traits: {CUSTOM_GOLD: {absent: {hosts: [cmp00]}}}
        flavors: {golden-id: {absent: {requires: [CUSTOM_GOLD]}}}
        """
    )
    assert {*statuses(found).values()} == {"would change"}, found.err
    assert found.code == 0


def test_of_images_with_one_name_only_that_which_gives_a_trait_up_does(plan, cloud):
    cloud.gives(GOLD, "cmp00")
    for name in ("win", "other"):
        cloud.picture(name, CUSTOM_GOLD="required")
        cloud.images[f"{name}-id"]["name"] = "win"
    text = """
        traits: {CUSTOM_GOLD: {absent: {hosts: [cmp00]}}}
        images: {win-id: {absent: {requires: [CUSTOM_GOLD]}}}
    """
    found = plan(text)
    assert found.code == 5
    assert requirers(found) == f"image 'win' (trait:{GOLD})"
    del cloud.images["other-id"]
    assert plan(text).code == 0
