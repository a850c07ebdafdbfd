"""Plans: rows, refusals, reviewed ones, exports, and the same by commands."""

from __future__ import annotations

import json
import re

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from osc_traitsched.app.desired import export_desired, plan_desired
from osc_traitsched.commands import base
from osc_traitsched.config import desired
from osc_traitsched.core.inventory.trait import Collation
from osc_traitsched.core.nova.options import SchedulerSettings
from tests.functional import shell
from tests.unit.app.living import HOSTS, LivingCloud
from tests.unit.commands import desired as commands_desired
from tests.unit.commands.desired import keystone, requirers, second

# What differs from files: the rows, their lines, and what is refused.


GOLD = "CUSTOM_GOLD"


def rows(found):
    names = ("change", "step", "object", "key", "after", "desired_by")
    return [tuple(row[name] for name in names) for row in found.json]


def test_what_is_as_wanted_has_no_row(plan, cloud):
    cloud.gives(GOLD, "cmp00")
    found = plan("traits: {CUSTOM_GOLD: {hosts: [cmp00]}}", "--exit-code")
    assert (found.code, found.json, found.err) == (0, [], "")
    found = plan("traits: {CUSTOM_GOLD: {hosts: [cmp00]}}", form="table")
    assert found.out == "w.yaml: 2 as desired\n"


@pytest.mark.parametrize(("host", "is_said"), [("cmp02", True), ("cmp03", False)])
def test_only_of_traits_that_get_written_it_says_who_takes_them_again(
    plan, cloud, host, is_said
):
    cloud.known.add("COMPUTE_TRUSTED_CERTS")
    cloud.deletes_provider("cmp03")
    found = plan(f"traits: {{COMPUTE_TRUSTED_CERTS: {{hosts: [{host}]}}}}")
    assert [row["status"] for row in found.json] == [
        "would change" if is_said else "failed"
    ]
    assert ("it takes the trait away again" in found.err) is is_said


def test_a_row_names_the_line_that_wants_it(plan, cloud):
    cloud.gives("CUSTOM_SILVER", "cmp03")
    found = plan(
        """
        groups: {gold: [cmp00, "cmp0[12]"]}
        traits:
          CUSTOM_NEW:
            hosts:
              - "@gold"
          CUSTOM_SILVER:
            absent: {hosts: [cmp03]}
        """,
        "--exit-code",
    )
    assert (found.code, found.err) == (6, "")
    assert rows(found) == [
        ("add", "trait", "CUSTOM_NEW", "CUSTOM_NEW", "present", "w.yaml:4"),
        ("add", "host", "cmp00", "CUSTOM_NEW", "present", "w.yaml:6"),
        ("add", "host", "cmp01", "CUSTOM_NEW", "present", "w.yaml:6"),
        ("add", "host", "cmp02", "CUSTOM_NEW", "present", "w.yaml:6"),
        ("remove", "host", "cmp03", "CUSTOM_SILVER", None, "w.yaml:8"),
    ]


def test_a_person_gets_signs_and_sums(plan, cloud, golden):
    cloud.gives(GOLD, "cmp03")
    text = "traits: {CUSTOM_GOLD: {hosts: [cmp00], absent: {hosts: [cmp03]}}}"
    golden("plan/as-text", plan(text, form="text").out)
    golden("plan/as-table", plan(text, form="table").out)


def test_an_aggregate_is_made_filled_and_isolated_in_a_safe_order(plan, golden):
    found = plan(
        """
        aggregates:
          vip:
            zone: az1
            hosts: [cmp02, cmp03]
            isolated_for: [CUSTOM_GOLD]
        flavors:
          gol*: {requires: [CUSTOM_GOLD]}
        """
    )
    assert found.code == 0
    assert rows(found) == [
        ("add", "aggregate", "vip", "name", "vip", "w.yaml:3"),
        ("add", "aggregate", "vip", "availability_zone", "az1", "w.yaml:4"),
        ("add", "host", "cmp02", GOLD, "present", "w.yaml:6"),
        ("add", "host", "cmp03", GOLD, "present", "w.yaml:6"),
        ("add", "member", "vip", "cmp02", "present", "w.yaml:5"),
        ("add", "member", "vip", "cmp03", "present", "w.yaml:5"),
        ("add", "flavor", "golden", f"trait:{GOLD}", "required", "w.yaml:8"),
        ("add", "aggregate", "vip", f"trait:{GOLD}", "required", "w.yaml:6"),
    ]
    golden("plan/new-isolated-aggregate", found.err)


def test_an_isolated_aggregate_covers_hosts_that_it_has_already(plan, cloud):
    cloud.mirror["a0000001-0000-4000-8000-000000000000"].discard("cmp01")
    found = plan("aggregates: {gold: {isolated_for: [CUSTOM_GOLD], hosts: [cmp02]}}")
    assert [row[1:4] for row in rows(found)] == [
        ("host", "cmp00", GOLD),
        ("host", "cmp01", GOLD),
        ("mirror", "cmp01", "gold"),
        ("host", "cmp02", GOLD),
        ("member", "gold", "cmp02"),
        ("aggregate", "gold", f"trait:{GOLD}"),
    ]


def test_only_takes_from_those_that_no_line_names(plan, cloud):
    cloud.gives(GOLD, "cmp00", "cmp01", "cmp02")
    found = plan("traits: {CUSTOM_GOLD: {hosts: [cmp00, cmp01], only: true}}")
    assert found.code == 0
    assert rows(found) == [("remove", "host", "cmp02", GOLD, None, "w.yaml:2")]
    assert found.json[0]["detail"] == "only: no line names it"
    found = plan("aggregates: {gold: {hosts: [cmp00, cmp02], only: true}}")
    assert [(r[0], r[1], r[3]) for r in rows(found)] == [
        ("add", "member", "cmp02"),
        ("remove", "member", "cmp01"),
    ]


def test_only_that_takes_from_most_or_from_the_last_is_refused(plan, cloud, golden):
    cloud.gives(GOLD, "cmp00", "cmp01", "cmp02")
    ids = [str(digit) * 32 for digit in range(1, 5)]
    cloud.metadata["filter_tenant_id"] = ",".join(ids)
    refused = [
        plan("traits: {CUSTOM_GOLD: {hosts: [cmp00], only: true}}"),
        plan("aggregates: {gold: {hosts: [cmp02], only: true}}"),
        plan(f"aggregates: {{gold: {{projects: ['{ids[0]}'], only: true}}}}"),
    ]
    cloud.leaves("cmp01")
    refused.append(plan("aggregates: {gold: {hosts: [cmp02], only: true}}"))
    assert [found.code for found in refused] == [5] * 4
    golden("plan/only-that-takes-most", "".join(found.err for found in refused))


def test_what_is_held_is_left_as_it_is(plan, cloud, golden):
    cloud.gives(GOLD, "cmp03")
    text = """
        hold: [cmp00, cmp03]
        traits: {CUSTOM_GOLD: {hosts: ["cmp0[012]"], only: true}}
    """
    assert [row[2] for row in rows(plan(text))] == ["cmp01", "cmp02"]
    golden("plan/held", plan(text, form="text").out)


def test_all_that_the_cloud_does_not_have_is_said_at_once(plan, golden):
    found = plan(
        """
        groups: {g: {aggregate: gould}}
        traits:
          CUSTOM_GOLD: {hosts: [cmp9, "@g", "x*"], providers: [y]}
          HW_CPU_X86_AVX: {hosts: [cmp00]}
          COMPUTE_NODE: {hosts: [cmp00]}
          COMPUTE_TRUSTED_CERTS: {absent: {hosts: [cmp00]}}
        aggregates:
          gold: {projects: [p1]}
        flavors:
          smal: {requires: [CUSTOM_GOLD]}
        images:
          rocky: {requires: [CUSTOM_GOLD]}
        """
    )
    assert (found.code, found.out) == (1, "")
    golden("plan/mistakes", found.err)


NAMES = (" new", "new ", r"a\x1bb", r"\U0001f600", r"a\Lb", "silv*d?", "gpu[a100]")
MISTAKES = [
    # An aggregate goes by its exact name.
    "aggregates: {'gold?': {hosts: [cmp00]}}",
    "aggregates: {a0000001-0000-4000-8000-000000000000: {hosts: [cmp00]}}",
    "aggregates: {'*': {hosts: [cmp00]}}",
    # Nova takes no such name, or it looks like a pattern.
    *(f'aggregates: {{"{name}": {{zone: az1, hosts: [cmp00]}}}}' for name in NAMES),
    "traits: {CUSTOM_GOLD: {hosts: ['*'], absent: {hosts: [cmp03]}}}",
    "groups: {none: []}\ntraits: {CUSTOM_GOLD: {hosts: ['@none'], only: true}}",
    "groups: {none: []}\naggregates: {gold: {hosts: ['@none'], only: true}}",
    "groups: {g: {inventory: gold, var: nova}}\ntraits: {CUSTOM_A: {hosts: ['@g']}}",
]


def test_a_mistake_ends_it_even_if_forced(apply, cloud, golden):
    cloud.gives(GOLD, "cmp00", "cmp03")
    second(cloud, called="gold2")
    said = []
    for text in MISTAKES:
        done = apply(text, "--force")
        assert (done.code, done.out, cloud.written) == (1, "", []), text
        said += [text, *(f"    {line}" for line in done.err.splitlines())]
    golden("plan/mistakes-of-one-line", said)


def test_what_is_to_be_taken_and_is_not_there_is_told(plan, cloud, golden):
    cloud.metadata["filter_tenant_id"] = "odd"
    texts = (
        "aggregates: {golt: {absent: {hosts: [cmp00], isolated_for: [CUSTOM_GOLD]}}}",
        "aggregates: {gold: {absent: {projects: [odd, '*']}}}",
    )
    unknown, known = map(plan, texts)
    assert (unknown.code, unknown.json, known.code) == (0, [], 0)
    assert [row[3:5] for row in rows(known)] == [("filter_tenant_id", None)]
    golden("plan/nothing-to-remove", unknown.err + known.err)


def test_a_name_where_nova_wants_the_id_of_a_project_is_not_as_wanted(
    plan, cloud, monkeypatch
):
    project = "1" * 32
    keystone(cloud, monkeypatch, project)
    cloud.aggregates["1"]["metadata"] = {"filter_tenant_id": "demo"}
    found = plan("aggregates: {gold: {projects: [demo]}}", "--nova-release", "2024.2")
    assert [row[2:5] for row in rows(found)] == [
        ("gold", f"filter_tenant_id_{project}", project)
    ]
    found = plan("aggregates: {gold: {projects: [demo], only: true}}")
    assert [row[2:5] for row in rows(found)] == [("gold", "filter_tenant_id", project)]
    found = plan("aggregates: {gold: {absent: {projects: [demo]}}}")
    assert [row[2:5] for row in rows(found)] == [("gold", "filter_tenant_id", None)]


def test_projects_open_where_some_are_named_and_close_where_none_is(plan, cloud):
    one, two, three = ("1" * 32, "2" * 32, "3" * 32)
    cloud.aggregates["1"]["metadata"] = {
        "filter_tenant_id": one,
        "filter_tenant_id2": f"{two},{three}",
    }
    text = f"""
        aggregates:
         gold: {{projects: ["{one}", "{two}"], only: true, isolated_for: [CUSTOM_GOLD]}}
    """
    found = plan(text)
    assert rows(found)[-2:] == [
        ("set", "aggregate", "gold", "filter_tenant_id2", two, "w.yaml:3"),
        ("add", "aggregate", "gold", f"trait:{GOLD}", "required", "w.yaml:3"),
    ]


def test_hosts_of_an_inventory_by_a_variable(plan, tmp_path):
    (tmp_path / "inventory.json").write_text(
        """{"_meta": {"hostvars": {"a": {"nova": "cmp00"}, "b": {"nova": "cmp01"}}},
        "gold": {"children": ["row1"]}, "row1": {"hosts": ["a", "b"]}}""",
        encoding="utf-8",
    )
    text = """
        groups: {g: {inventory: gold, var: nova}}
        traits: {CUSTOM_GOLD: {hosts: ["@g"]}}
    """
    found = plan(text, "--inventory", "inventory.json")
    assert [row[2] for row in rows(found)] == ["cmp00", "cmp01"]


def test_what_takes_a_trait_from_its_last_host_is_refused(plan, cloud):
    cloud.gives(GOLD, "cmp00")
    cloud.flavor("vip", CUSTOM_GOLD="required")
    found = plan("traits: {CUSTOM_GOLD: {absent: {hosts: ['*']}}}")
    assert found.code == 5
    assert requirers(found) == "flavor 'vip' (trait:CUSTOM_GOLD)"
    text = """
        traits: {CUSTOM_GOLD: {absent: {hosts: ["*"]}}}
        flavors: {vip: {absent: {requires: [CUSTOM_GOLD]}}}
    """
    found = plan(text)
    assert found.code == 0
    assert [row[1] for row in rows(found)] == ["flavor", "host"]


def test_images_of_others_that_will_have_no_host_are_told_and_in_nobodys_way(
    plan, cloud, golden
):
    cloud.gives("CUSTOM_GOLD", "cmp00")
    cloud.picture("theirs", CUSTOM_GOLD="required")
    cloud.images["theirs-id"].update(owner="theirs", visibility="private")
    found = plan("traits: {CUSTOM_GOLD: {absent: {hosts: [cmp00]}}}")
    assert (found.code, [row["status"] for row in found.json]) == (0, ["would change"])
    golden("plan/images-of-others", found.err)


# A plan that was reviewed: what is written of it, and what is not in it.


BOTH = "traits: {CUSTOM_GOLD: {hosts: [cmp00, cmp03]}}"
WAITS = """
    traits: {CUSTOM_GOLD: {hosts: [cmp03]}}
    flavors: {golden: {requires: [CUSTOM_GOLD]}}
"""


@pytest.fixture
def review(trait_sched, tmp_path):
    """Writes a file's plan to p.json, or another text, and returns the run."""

    def run(text, instead=None):
        found = trait_sched("plan", "w.yaml", "-f", "json", w=text)
        (tmp_path / "p.json").write_text(instead or found.out, encoding="utf-8")
        return found

    return run


@pytest.fixture
def apply_reviewed(apply, cloud):
    """Applies a file with p.json."""

    def run(text):
        cloud.written.clear()
        return apply(text, "--reviewed", "p.json")

    return run


@pytest.fixture
def unreviewed(apply_reviewed, cloud):
    """The steps for which a file is refused with p.json."""

    def run(text):
        done = apply_reviewed(text)
        assert (done.code, done.out, cloud.written) == (5, "", []), done.err
        return re.findall(r"p\.json: (.*); review a new plan", done.err)

    return run


def statuses(found):
    return [row["status"] for row in found.json]


def test_a_step_that_was_not_reviewed_is_not_taken(
    review, apply_reviewed, unreviewed, cloud
):
    cloud.gives(commands_desired.GOLD, "cmp00")
    review(BOTH)
    cloud.takes(commands_desired.GOLD, "cmp00")
    assert unreviewed(BOTH) == ["add host cmp00 CUSTOM_GOLD"]
    cloud.gives(commands_desired.GOLD, "cmp00")
    assert apply_reviewed(BOTH).code == 0
    # What the plan has and is done by now needs no step.
    assert apply_reviewed(BOTH).json == []


def test_what_is_no_plan_or_of_another_cloud_is_no_reviewed_one(
    review, apply_reviewed, cloud, golden
):
    reviewed = review(BOTH, "[{}]").out
    refused = [apply_reviewed(BOTH)]
    assert json.loads(reviewed)[0]["cloud"] == "http://nowhere"
    there = reviewed.replace("http://nowhere", "https://paris/placement")
    review(BOTH, there)
    refused += [apply_reviewed(BOTH)]
    assert [(done.code, done.out) for done in refused] == [(1, ""), (5, "")]
    assert cloud.written == []
    golden("apply/reviewed-elsewhere", "".join(done.err for done in refused))
    review(BOTH)
    assert apply_reviewed(BOTH).code == 0


@pytest.mark.parametrize(
    ("text", "reviewed", "step"),
    [
        (BOTH, ["would change", "failed"], "add host cmp03 CUSTOM_GOLD"),
        (WAITS, ["failed", "not done"], "add flavor golden trait:CUSTOM_GOLD"),
    ],
)
def test_what_failed_or_waited_in_the_reviewed_plan_was_not_agreed_to(
    review, unreviewed, cloud, text, reviewed, step
):
    traits = cloud.traits.pop("cmp03")
    assert statuses(review(text)) == reviewed
    cloud.traits["cmp03"] = traits
    if text == WAITS:
        cloud.gives(commands_desired.GOLD, "cmp03")
    assert unreviewed(text) == [step]


def test_a_plan_with_rows_that_fail_or_wait_is_carried_out_but_for_these(
    review, apply_reviewed, cloud
):
    cloud.traits.pop("cmp03")
    cloud.gives(commands_desired.GOLD, "cmp00")
    text = """
        traits:
          CUSTOM_GOLD: {hosts: [cmp01, cmp03], absent: {hosts: [cmp00]}}
          CUSTOM_SILVER: {hosts: [cmp02]}
    """
    left_out = ["failed", "not done"]
    assert statuses(review(text)) == ["would change", "would change", *left_out]
    done = apply_reviewed(text)
    assert (done.code, statuses(done)) == (1, ["changed", "changed", *left_out])
    assert cloud.having(commands_desired.GOLD) == {"cmp00", "cmp01"}
    # The same plan goes on as long as nothing else can be written.
    assert apply_reviewed(text).code == 1
    assert cloud.written == []


def test_a_row_that_fails_by_now_takes_nothing_else_out_of_the_reviewed_plan(
    review, apply_reviewed, cloud
):
    review(BOTH)
    cloud.deletes_provider("cmp03")
    done = apply_reviewed(BOTH)
    assert done.code == 1, done.err
    assert cloud.having(commands_desired.GOLD) == {"cmp00"}


def test_a_row_that_fails_as_reviewed_is_of_the_same_object(review, unreviewed, cloud):
    cloud.metadata["availability_zone"] = "az1"
    second(cloud, "cmp02", availability_zone="az2")
    text = "aggregates: {gold: {hosts: [cmp02, cmp03]}}"
    assert statuses(review(text)) == ["failed", "would change"]
    cloud.aggregates["2"]["hosts"] = []
    assert unreviewed(text) == ["add member gold cmp02"]


def test_a_plan_for_one_image_is_none_for_another_of_its_name(
    review, unreviewed, cloud
):
    whole = {"name": "win", "visibility": "public", "owner": "", "status": "active"}
    cloud.images.update({each: {"id": each, **whole} for each in ("first", "second")})
    cloud.gives(commands_desired.GOLD, "cmp00")
    review("images: {first: {requires: [CUSTOM_GOLD]}}")
    found = unreviewed("images: {second: {requires: [CUSTOM_GOLD]}}")
    assert found == ["add image second trait:CUSTOM_GOLD"]


def _anew(objects, identity, other):
    body = objects.pop(identity)
    objects[other] = {**body, "id": type(body["id"])(other)}


@pytest.mark.parametrize(
    ("text", "part", "identity"),
    [
        ("flavors: {golden: {requires: [CUSTOM_GOLD]}}", "flavors", "golden-id"),
        ("aggregates: {gold: {hosts: [cmp02]}}", "aggregates", "1"),
        ("images: {win: {requires: [CUSTOM_GOLD]}}", "images", "win-id"),
    ],
)
def test_what_was_made_anew_under_its_name_was_not_reviewed(
    review, apply_reviewed, unreviewed, cloud, text, part, identity
):
    cloud.picture("win")
    cloud.gives(commands_desired.GOLD, "cmp00")
    review(text)
    _anew(getattr(cloud, part), identity, "9")
    assert unreviewed(text)
    review(text)
    assert apply_reviewed(text).code == 0


def test_a_host_that_was_installed_anew_was_not_reviewed(
    review, unreviewed, monkeypatch
):
    text = "traits: {CUSTOM_SILVER: {hosts: [cmp00]}}"
    review(text)
    monkeypatch.setitem(HOSTS, "cmp00", "d0000000-0000-4000-8000-000000000000")
    assert unreviewed(text) == ["add host cmp00 CUSTOM_SILVER"]


def test_an_aggregate_that_the_reviewed_plan_made_by_halves_is_gone_on_with(
    review, apply, apply_reviewed
):
    text = "aggregates: {new: {hosts: [cmp00, cmp01]}}"
    assert {row["id"] for row in review(text).json} == {None}
    assert apply("aggregates: {new: {hosts: [cmp00]}}").code == 0
    done = apply_reviewed(text)
    assert (done.code, [row["key"] for row in done.json]) == (0, ["cmp01"]), done.err


# A cloud as a file: what it has, what it leaves out, and that its plan is empty.


TRAITS = ("CUSTOM_GOLD", "CUSTOM_SILVER", "COMPUTE_NODE")
HOST_SETS = st.sets(st.sampled_from(sorted(HOSTS)))
EXPORT_NAMES = st.sampled_from(
    ["no", "1e3", "0755", "a: b", "ä", "@x", "gold*", "[a]", "-"]
)
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
    for number, name in enumerate(sorted(data.draw(st.sets(EXPORT_NAMES, max_size=3)))):
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
    for name in data.draw(st.sets(EXPORT_NAMES, max_size=3)):
        cloud.flavor(name)
        cloud.specs(name).update(data.draw(KEYS))
    for number, name in enumerate(data.draw(st.lists(EXPORT_NAMES, max_size=3))):
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


# A command, and a file that wants the same, send the same writes in the same order.


WANTED, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"


def open_cloud():
    cloud = LivingCloud()
    for name in ("golden", "small"):
        cloud.flavor(name)
    cloud.picture("fast")
    cloud.gives(SILVER, "cmp00", "cmp03")
    cloud.mirror[cloud.aggregates["1"]["uuid"]].discard("cmp01")
    return cloud


def isolated_cloud():
    cloud = open_cloud()
    cloud.flavor("golden", **{WANTED: "required"})
    cloud.picture("fast", **{WANTED: "required"})
    cloud.gives(WANTED, "cmp00", "cmp01")
    cloud.metadata[f"trait:{WANTED}"] = "required"
    return cloud


@pytest.mark.parametrize(
    ("made", "command", "wanted"),
    [
        (
            open_cloud,
            f"add CUSTOM_NEW {SILVER} --all --create",
            "traits: {CUSTOM_NEW: {hosts: ['*']}, CUSTOM_SILVER: {hosts: ['*']}}",
        ),
        (
            open_cloud,
            f"remove {SILVER} --host cmp00 --host cmp01",
            "traits: {CUSTOM_SILVER: {absent: {hosts: [cmp00, cmp01]}}}",
        ),
        (
            open_cloud,
            f"isolate gold {WANTED} CUSTOM_NEW --create --flavor golden --image fast",
            """
            aggregates: {gold: {isolated_for: [CUSTOM_GOLD, CUSTOM_NEW]}}
            flavors: {golden: {requires: [CUSTOM_GOLD, CUSTOM_NEW]}}
            images: {fast: {requires: [CUSTOM_GOLD, CUSTOM_NEW]}}
            """,
        ),
        (
            isolated_cloud,
            "unisolate gold --remove-traits",
            """
            traits: {CUSTOM_GOLD: {absent: {hosts: [cmp00, cmp01]}}}
            aggregates: {gold: {absent: {isolated_for: [CUSTOM_GOLD]}}}
            flavors: {golden: {absent: {requires: [CUSTOM_GOLD]}}}
            images: {fast: {absent: {requires: [CUSTOM_GOLD]}}}
            """,
        ),
    ],
)
def test_a_file_that_wants_the_same_is_written_as_by_the_command(
    monkeypatch, tmp_path, made, command, wanted
):
    path = tmp_path / "desired.yaml"
    lines = [line.strip() for line in wanted.strip().splitlines()]
    path.write_text("\n".join(["version: 1", *lines]), encoding="utf-8")
    clouds = []
    for words in (command.split(), ["apply", str(path)]):
        cloud = made()
        monkeypatch.setattr(base.Command, "cloud", lambda command, cloud=cloud: cloud)
        done = shell.run(shell.login("http://nowhere"), "trait-sched", *words)
        assert done.code == 0, done.err
        clouds.append(cloud)
    by_command, by_file = clouds
    assert by_command.written
    assert sorted(by_file.written) == sorted(by_command.written)
    assert by_file.traits == by_command.traits
    assert by_file.mirror == by_command.mirror
    assert by_file.aggregates == by_command.aggregates
    assert by_file.flavors == by_command.flavors
    assert by_file.images == by_command.images


# What plan and isolate say of an aggregate that no flavor will get into.


ISOLATES = ("--set", "scheduler.enable_isolated_aggregate_filtering=true")


@pytest.fixture
def said(trait_sched):
    """What plan says of a file."""

    def run(text, *more, code=0):
        found = trait_sched("plan", "w.yaml", *ISOLATES, *more, w=text)
        assert found.code == code, found.err
        return found.err

    return run


def specs(cloud, **flavors):
    """Let there be these flavors alone, by their names."""
    cloud.flavors = {}
    for name, found in flavors.items():
        cloud.flavor(name)
        cloud.flavors[f"{name}-id"]["extra_specs"] = found


def test_an_aggregate_that_no_flavor_will_get_into_is_told(said, cloud, golden):
    text = "aggregates: {gold: {isolated_for: [CUSTOM_GOLD, CUSTOM_SILVER]}}"
    golden("isolate/closed-to-all", said(text))
    both = "flavors: {golden: {requires: [CUSTOM_GOLD, CUSTOM_SILVER]}}"
    assert "no listed flavor" not in said(f"{text}\n{both}")
    cloud.metadata.update(
        {"trait:CUSTOM_GOLD": "required", "trait:CUSTOM_SILVER": "required"}
    )
    # It is so already, and nothing that the plan does.
    assert said(text) == ""


TPM_2 = "COMPUTE_SECURITY_TPM_2_0"
TPM = {"hw:tpm_version": "2.0", "hw:tpm_model": "tpm-crb"}


@pytest.mark.parametrize(
    ("trait", "flavor"),
    [
        (TPM_2, TPM),
        ("COMPUTE_SECURITY_UEFI_SECURE_BOOT", {"os:secure_boot": "required"}),
        # Nova takes no server of it, and so asks for nothing.
        ("CUSTOM_GOLD", {"trait:CUSTOM_GOLD": "required", "hw:tpm_version": "3"}),
    ],
)
def test_what_nova_makes_of_a_flavor_lets_it_in(said, cloud, trait, flavor):
    cloud.known.add(trait)
    text = f"aggregates: {{gold: {{isolated_for: [{trait}]}}}}"
    newest = ("--nova-release", "34")
    specs(cloud, other={})
    assert f"no listed flavor requires {trait}" in said(text, *newest)
    specs(cloud, other={}, vip=flavor)
    assert "no listed flavor" not in said(text, *newest)


@pytest.mark.parametrize(("release", "is_told"), [("29", True), ("30", False)])
def test_what_nova_makes_of_a_flavor_is_of_its_release(said, cloud, release, is_told):
    cloud.known.add("COMPUTE_SECURITY_TPM_CRB")
    specs(cloud, vip=TPM)
    text = "aggregates: {gold: {isolated_for: [COMPUTE_SECURITY_TPM_CRB]}}"
    assert ("no listed flavor" in said(text, "--nova-release", release)) is is_told


@pytest.fixture
def hidden(cloud, monkeypatch):
    """Let Nova list public flavors alone, as for all but administrators."""
    read = cloud.compute_get

    def only_public(parts, params):
        if parts == ("flavors", "detail"):
            return read(parts, {**params, "is_public": "None"})
        return read(parts, params)

    monkeypatch.setattr(cloud, "compute_get", only_public)


@pytest.mark.usefixtures("hidden")
def test_flavors_that_are_hidden_may_get_in(said, trait_sched, golden):
    planned = said("aggregates: {gold: {isolated_for: [CUSTOM_GOLD]}}", code=8)
    isolate = ("isolate", "gold", "CUSTOM_GOLD", "--dry-run", *ISOLATES)
    golden("isolate/hidden-flavors", planned + trait_sched(*isolate).err)
