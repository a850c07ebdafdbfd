"""Rows that are known to fail: what they keep from being written, and what not."""

from __future__ import annotations

from tests.unit.commands.desired import GOLD, SILVER, statuses


def test_what_is_known_not_to_be_gained_keeps_no_aggregate_open(apply, cloud):
    cloud.gives(SILVER, "cmp00")
    cloud.deletes_provider("cmp03")
    done = apply("""
        traits: {CUSTOM_SILVER: {hosts: [cmp03]}}
        aggregates: {gold: {isolated_for: [CUSTOM_GOLD]}}
        flavors: {golden: {requires: [CUSTOM_GOLD]}}
    """)
    off = {row: became for row, became in statuses(done).items() if became != "changed"}
    assert off == {("host", "cmp03", SILVER): "failed"}
    assert cloud.metadata == {f"trait:{GOLD}": "required"}


def test_no_flavor_comes_to_require_what_no_host_can_gain(apply, cloud):
    cloud.deletes_provider("cmp03")
    text = """
        traits: {CUSTOM_GOLD: {hosts: [cmp03]}, CUSTOM_SILVER: {hosts: [cmp02]}}
        flavors: {small: {requires: [CUSTOM_GOLD]}}
    """
    assert statuses(apply(text, "--force")) == {
        ("host", "cmp03", GOLD): "failed",
        ("host", "cmp02", SILVER): "changed",
        ("flavor", "small", f"trait:{GOLD}"): "not done",
    }
