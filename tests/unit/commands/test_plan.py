"""What differs from files: the rows, their lines, and what is refused."""

from __future__ import annotations

import pytest

from tests.unit.commands.desired import keystone, requirers, second

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
