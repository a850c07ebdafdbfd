"""A cloud as a file: what it has, what it leaves out, and that its plan is empty."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from osc_traitsched.app.desired import export_desired, plan_desired
from osc_traitsched.config import desired
from osc_traitsched.core.inventory.trait import Collation
from osc_traitsched.core.nova.options import SchedulerSettings
from tests.functional import shell
from tests.unit.app.living import HOSTS, LivingCloud

TRAITS = ("CUSTOM_GOLD", "CUSTOM_SILVER", "COMPUTE_NODE")
HOST_SETS = st.sets(st.sampled_from(sorted(HOSTS)))
NAMES = st.sampled_from(["no", "1e3", "0755", "a: b", "ä", "@x", "gold*", "[a]", "-"])
KEYS = st.dictionaries(
    st.sampled_from([f"trait:{name}" for name in (*TRAITS, "CUSTOM_NEW", "x")]),
    st.sampled_from(["required", "forbidden", "preferred"]),
)
#: In the first the host filter takes one key of projects only.
RELEASES = st.sampled_from([29, 34])
ONE, TWO = "1" * 32, "2" * 32
METADATA = st.dictionaries(
    st.sampled_from(
        [
            "availability_zone",
            "filter_tenant_id",
            "filter_tenant_id2",
            "trait:CUSTOM_GOLD",
            "TRAIT:CUSTOM_SILVER",
            "trait:CUSTOM_NEW",
            "ssd",
        ]
    ),
    st.sampled_from(["required", "Required", ONE, f"{ONE}, {TWO}", "az1", "demo"]),
)


def export(cloud):
    return shell.run(shell.login("http://nowhere"), "trait-sched", "export")


def test_a_cloud_as_a_file(cloud, golden):
    cloud.gives("CUSTOM_GOLD", "cmp00", "cmp01")
    cloud.gives("CUSTOM_SILVER", "cmp03")
    cloud.aggregates["1"]["metadata"] = {
        "trait:CUSTOM_GOLD": "required",
        "trait:CUSTOM_SILVER": "required",
        "filter_tenant_id": f"{ONE}, demo",
        "availability_zone": "no",
        "ssd": "true",
    }
    cloud.flavor("golden", CUSTOM_GOLD="required", CUSTOM_NEW="required")
    cloud.flavor("small", CUSTOM_GOLD="forbidden")
    found = export(cloud)
    assert (found.code, found.err) == (0, "")
    golden("export/cloud", found.out)


HOSTILE = ("\n", "\r", "\x1b", "\x7f", "\x85", "\u2028", "\u2029", "\u202e", "\u2066")


@pytest.mark.parametrize("char", HOSTILE)
def test_no_name_leaves_its_comment_or_turns_a_line_around(cloud, char):
    name = f"gone{char}flavors: {{m1: {{requires: [CUSTOM_GOLD]}}}}"
    cloud.gives("CUSTOM_GOLD", "cmp00")
    isolated = {"trait:CUSTOM_GOLD": "required"}
    cloud.aggregates["1"] |= {"name": f"agg{char}", "hosts": [name, "cmp00"]}
    cloud.aggregates["1"]["metadata"] = {"availability_zone": f"z{char}z", **isolated}
    found = export(cloud)
    assert found.code == 0
    assert char not in found.out.replace("\n", "")
    written = yaml.safe_load(found.out)
    assert written.keys() == {"version", "traits", "aggregates"}
    assert written["aggregates"] == {f"agg{char}": {"hosts": ["cmp00"]}}
    assert len([line for line in found.out.splitlines() if line[:1] == "#"]) == 3


def test_what_flavors_ask_for_by_groups_and_what_nova_ignores_is_said(cloud, golden):
    cloud.flavors = {}
    cloud.flavor("plain", CUSTOM_GOLD="required")
    cloud.flavor("odd", CUSTOM_GOLD="Required")
    cloud.specs("odd").update(
        {
            "resources1:VCPU": "1",
            "trait1:CUSTOM_GOLD": "required",
            "trait_GPU:CUSTOM_SILVER": "forbidden",
            "trait2:CUSTOM_GOLD": "maybe",
            "traits": "required",
        }
    )
    cloud.picture("rocky", CUSTOM_GOLD="forbidden")
    found = export(cloud)
    assert (found.code, found.err) == (0, "")
    golden("export/groups-and-ignored-values", found.out)


@settings(
    max_examples=150,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.data())
def test_the_plan_of_an_export_is_empty(data):
    cloud = LivingCloud()
    for name in TRAITS[:2]:
        cloud.gives(name, *sorted(data.draw(HOST_SETS)))
    for number, name in enumerate(sorted(data.draw(st.sets(NAMES, max_size=3)))):
        uuid = f"a000000{number}-0000-4000-8000-000000000000"
        hosts = sorted(data.draw(HOST_SETS))
        cloud.aggregates[str(number)] = {
            "id": number,
            "uuid": uuid,
            "name": name,
            "hosts": [*hosts, *data.draw(st.sampled_from([[], ["gone"]]))],
            "metadata": data.draw(METADATA),
        }
        cloud.mirror[uuid] = {*hosts} if data.draw(st.booleans()) else {"cmp00"}
    for name in data.draw(st.sets(NAMES, max_size=3)):
        cloud.flavor(name)
        cloud.specs(name).update(data.draw(KEYS))
    for number, name in enumerate(data.draw(st.lists(NAMES, max_size=3))):
        body = {"id": f"image-{number}", "name": name, "status": "active"}
        pairs = data.draw(KEYS)
        cloud.images[body["id"]] = {**body, "visibility": "public", **pairs}
    found = export_desired(cloud, Collation.CASE_INSENSITIVE)
    text = desired.text(found.desired)
    wanted, mistakes = desired.read_text("export.yaml", text)
    assert not mistakes, (text, mistakes)
    # Standard output of another encoding gets what every encoding has.
    escaped = desired.text(found.desired, (), "latin-1")
    assert desired.read_text("export.yaml", escaped) == (wanted, mistakes)
    assert escaped.isascii()
    todo = plan_desired(cloud, wanted, SchedulerSettings.of(data.draw(RELEASES)))
    assert not todo.draft.claims, (text, todo.draft.claims)
    assert not todo.plan.changes
    assert not cloud.written
