"""Findings of check: words, blocks, rows, and what is new."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
import subprocess

import pytest

from osc_traitsched.core.check import RULES
from osc_traitsched.core.check.survey import (
    ERROR,
    NOTE,
    WARNING,
    Fault,
    Severity,
    SubjectKind,
)
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.paste import Option, openstack
from osc_traitsched.views import check
from osc_traitsched.views.terminal import Tone, painted
from tests.unit.core.check import surveys, test_config, test_images, test_isolation
from tests.unit.core.check.surveys import (
    aggregate,
    findings,
    flavor,
    host,
    identity,
    image,
    survey,
)
from tests.unit.core.check.test_images import owned, titled

# Every rule has words, a reason in the reference, and rows that anybody can read.


GOLD = "CUSTOM_GOLD"


def test_every_rules_id_begins_with_its_area_and_is_its_own():
    assert all(rule.id.startswith(f"{rule.area}-") for rule in RULES)
    assert len({rule.id for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda each: each.id)
def test_the_reference_says_why_and_how_bad_a_finding_is(rule):
    assert len(rule.reference.split("\n\n")) >= 2
    assert re.search("error|warning|note", rule.reference, re.IGNORECASE)


def test_a_row_has_the_true_name_of_what_it_is_about():
    name = "red\x1b[31m\nflavor"
    found = Fault(Severity.NOTE, name, "unused", kind=SubjectKind.TRAIT)
    _, (row,) = check.rows([found])
    assert row[2] == f"trait {name}"


SURVEYS = [
    survey([host("a")], [flavor("f", trait__CUSTOM_GOLD="required")]),
    survey([host("a")], [flavor("f", trait__CUSTOM_GOLD="required")], known=[GOLD]),
    survey([host("a", GOLD)], [flavor("f f", trait__CUSTOM_GOLD="forbidden")]),
    survey([host("a", GOLD), host("b")], [flavor("f", trait__CUSTOM_GOLD="odd")]),
    survey([host("a", GOLD)], images=[image("i", trait__CUSTOM_GOLD="forbidden")]),
    test_isolation.of(
        [host("a", GOLD), host("b")],
        [aggregate("an aggregate", "a", "b", trait__CUSTOM_GOLD="required")],
        [test_isolation.NEEDS_GOLD, flavor("f")],
    ),
    test_isolation.of([host("a", GOLD), host("b", GOLD)], [test_isolation.OF_GOLD]),
    survey(
        [host("a", test_config.VIRTIO), host("b")],
        images=[image("i", hw_video_model="virtio")],
        aggregates=[aggregate("p", "a", filter_tenant_id="1d1d")],
        assumptions=surveys.assumed(max_placement_results=1),
    ),
]


@pytest.mark.parametrize("of", SURVEYS)
def test_a_row_is_lines_of_plain_words_and_a_command_that_a_shell_takes(of):
    _, rows = check.rows(findings(of))
    assert rows
    for _, severity, subject, problem, fix in rows:
        assert severity in ("error", "warning", "note")
        assert len(subject.split(maxsplit=1)) == 2
        assert problem
        assert "{" not in problem
        assert "\n" not in problem
        if fix.startswith("openstack "):
            assert shlex.split(fix)[1] in ("trait-sched", "flavor", "image", "trait")


_TPM = "COMPUTE_SECURITY_TPM_2_0"


@pytest.mark.parametrize(
    ("of", "command"),
    [
        (
            survey([host("a", GOLD)], [flavor("f", trait__CUSTOM_GOLD="forbidden")]),
            "unset --property <KEY>",
        ),
        (
            survey(
                [host("a", _TPM, "COMPUTE_SECURITY_TPM_TIS")],
                [flavor("f", hw__tpm_version="2.0", **{f"trait__{_TPM}": "forbidden"})],
                assumptions=surveys.assumed(31),
            ),
            f"unset --property trait:{_TPM}",
        ),
        (
            test_isolation.of(
                [host("a", GOLD)],
                [test_isolation.OF_GOLD],
                [test_isolation.NEEDS_GOLD, flavor("f")],
            ),
            "set --property <trait:TRAIT=required>",
        ),
    ],
)
def test_a_command_changes_a_flavor_by_its_name(of, command):
    fixes = [fix for *_, fix in check.rows(findings(of))[1]]
    assert f"openstack flavor {command} f" in fixes


def test_a_name_that_is_another_flavors_id_is_not_in_a_command():
    odd = flavor("f", **{"trait:CUSTOM_GOLD": "odd", "trait:": "required"})
    other = {**flavor("g"), "id": "f"}
    fixes = [fix for *_, fix in check.rows(findings(survey([], [odd, other])))[1]]
    assert [fix for fix in fixes if identity("f") in fix]
    assert not [fix for fix in fixes if fix.endswith(" f")]


def test_no_trait_is_to_be_added_where_another_group_forbids_it():
    group = {"trait_A__CUSTOM_GOLD": "forbidden", "resources_A__VCPU": "1"}
    both = flavor("f", trait__CUSTOM_GOLD="required", **group)
    of = survey([host("a", GOLD), host("b")], [both])
    ((*_, fix),) = check.rows(findings(of, "traits-not-together"))[1]
    assert fix == "require it or forbid it in one group, not both in two"


def test_no_finding_is_one_line_with_how_many_rules_looked_at_what():
    of = survey([host("a"), host("b")], [flavor("f")])
    chosen = [rule for rule in RULES if rule.area == "image-type"]
    assert check.nothing(chosen, of) == (
        "Nothing found: 4 rules looked at 0 images, 1 flavor."
    )


@pytest.mark.parametrize(
    "name",
    [
        "CoreFilter",
        "TrustedFilter",
        *(n for n, f in FILTERS.items() if not f.is_in(34) and n != special.ZONE),
    ],
)
def test_of_every_host_filter_that_is_gone_it_is_said_what_does_its_work(name):
    of = survey([host("a")], assumptions=test_config.with_filters(34, name))
    _, (row,) = check.rows(findings(of, "config-filter-gone"))
    assert row[3] == (
        f"2026.2 (Nova 34) has no {name}, and nova-scheduler does not start "
        "(nova.conf:7)"
    )
    assert re.fullmatch(r"take it out of the list: .+ work", row[4])


def of_flavor(**properties):
    return survey([host("a", GOLD)], [flavor("f f", **properties)])


@pytest.mark.parametrize(
    ("key", "value", "name", "then", "shown"),
    [
        (
            "trait:CUSTOM_GOLD ",
            "required",
            "'CUSTOM_GOLD '",
            "; did you mean CUSTOM_GOLD?",
            "'trait:CUSTOM_GOLD '",
        ),
        ("trait:CUSTOM_\x1b[31mX", "required", "'CUSTOM_\\x1b[31mX'", "", "<KEY>"),
        ("trait:", "required", "''", "", "trait:"),
        (
            "trait_A:!CUSTOM_X",
            "forbidden",
            "'!CUSTOM_X'",
            ", or takes it for something else; did you mean CUSTOM_GOLD?",
            "'trait_A:!CUSTOM_X'",
        ),
    ],
)
def test_a_key_that_names_no_trait_is_to_be_taken_off_by_the_flavors_id(
    key, value, name, then, shown
):
    group = {"resources_A:CUSTOM_X": "1"} if "_A" in key else {}
    found = findings(of_flavor(**{key: value}, **group))
    ((_, severity, subject, problem, fix),) = [
        row for row in check.rows(found)[1] if row[0] == "traits-malformed"
    ]
    assert (severity, subject) == ("error", "flavor f f")
    assert problem == (
        f"no trait can be named {name}: Placement rejects every request that names it"
        f"{then}"
    )
    command = f"openstack flavor unset --property {shown} 'f f'"
    is_near = "did you mean" in then
    assert fix == (f"correct {shown}" if is_near else f"take the key off: {command}")


def test_a_key_of_an_aggregate_that_names_no_trait_is_to_be_replaced():
    odd = aggregate("odd", "a", **{"trait:X Y": "required"})
    found = findings(survey([host("a")], aggregates=[odd]), "traits-malformed")
    ((*_, problem, fix),) = check.rows(found)[1]
    assert problem == (
        "no trait can be named 'X Y': no request can require it, and so get in"
    )
    assert fix == (
        "take the key off, once the right one is set: openstack aggregate unset "
        "--property 'trait:X Y' odd"
    )


def test_no_fix_is_empty_for_a_key_that_no_command_can_print():
    found = findings(of_flavor(**{"trait:CUSTOM_\x1b": "true", "trait:\n": "true"}))
    ((*_, fix),) = [row for row in check.rows(found)[1] if "value" in row[0]]
    assert fix == "openstack flavor set --property <KEY=required> 'f f'"


def test_traits_of_an_image_of_others_are_one_row_and_no_trait_is_to_be_created():
    properties = {f"trait__CUSTOM_N{n:02}": "required" for n in range(100)}
    ((rule, severity, subject, problem, fix),) = rows_of(owned("t", **properties))
    assert (rule, severity) == ("traits-unknown", "note")
    assert subject == f"image {titled('t')}"
    assert problem == (
        "trait CUSTOM_N00: Placement rejects every request that names it; named by "
        f"image {titled('t')}; 99 more like it: traits CUSTOM_N01, CUSTOM_N02, "
        "CUSTOM_N03, CUSTOM_N04, CUSTOM_N05, CUSTOM_N06, CUSTOM_N07, CUSTOM_N08, "
        "CUSTOM_N09, CUSTOM_N10 and 89 more"
    )
    assert fix == "leave it to the project that owns the image"


def test_images_of_others_are_named_with_id_and_owner_ten_of_them():
    gold, silver = ({f"trait__{n}": "required"} for n in (GOLD, "CUSTOM_SILVER"))
    ((*_, problem, _),) = rows_of(owned("t", **gold), owned("u", **silver))
    assert problem == (
        f"trait {GOLD}: Placement rejects every request that names it; named by image "
        f"{titled('t')}; 1 more like it: trait CUSTOM_SILVER; all by the images "
        f"{titled('t')}, {titled('u')}"
    )
    odd = [owned(f"t{n:02}", trait__CUSTOM_GOLD="odd") for n in range(30)]
    ((_, _, subject, problem, _),) = rows_of(*odd)
    assert subject == f"image {titled('t00')}"
    assert f"; 29 more like it: images {titled('t01')}, {titled('t02')}" in problem
    assert problem.endswith(f"{titled('t10')} and 19 more")


def test_an_option_is_still_to_be_turned_on_for_images_of_others():
    cloud = test_images.two_hosts(
        owned("t", hw_video_model="virtio"),
        surveys.assumed(image_metadata_prefilter=False),
        [test_config.VIRTIO],
    )
    ((_, severity, subject, problem, fix),) = check.rows(findings(cloud))[1]
    assert (severity, subject) == ("note", f"image {titled('t')}")
    assert problem.startswith("[scheduler]image_metadata_prefilter: off (nova.conf:1)")
    assert fix == "openstack trait-sched config enable image-metadata --for nova"


def test_no_line_on_images_of_others_is_long_however_much_they_have():
    properties = {f"trait__CUSTOM_N{n:02}": "odd" * 20 for n in range(100)}
    ((*_, problem, _),) = rows_of(owned("t", **properties))
    assert len(problem) < 2000


def rows_of(*images):
    return check.rows(findings(test_images.others_of(*images)))[1]


# Findings for a person: a block each, the worst first, and a line that counts.


CHECK_BLOCKS_GOLD = "CUSTOM_GOLD"
RACK = tuple(f"cmp{number:03d}" for number in range(1, 213))
(LACKING,) = findings(
    test_isolation.of(
        [host("cmp000", CHECK_BLOCKS_GOLD), *map(host, RACK)],
        [aggregate("gold", "cmp000", *RACK, trait__CUSTOM_GOLD="required")],
    ),
    "isolation-member-lacks-trait",
)
(SHUT_OUT,) = findings(
    test_isolation.of(
        [host("a", CHECK_BLOCKS_GOLD)],
        [test_isolation.OF_GOLD],
        [test_isolation.NEEDS_GOLD, flavor("f")],
    )
)
(ORPHAN,) = findings(test_isolation.with_orphan("COMPUTE_STATUS_DISABLED"), "mirror")
(UNUSED,) = findings(
    survey([host("cmp1", CHECK_BLOCKS_GOLD), host("cmp2", CHECK_BLOCKS_GOLD)])
)


def text(*shown, options=(), **more):
    return [painted(each, 0) for each in check.blocks(shown, options, **more)]


def unknown(name):
    named = flavor("f", **{f"trait:{name}": "required"})
    (found,) = findings(survey([host("a")], [named]))
    return found


def test_a_block_says_what_why_and_has_the_command_on_a_line_of_its_own():
    assert text(LACKING) == [
        "ERROR  isolation-member-lacks-trait  aggregate gold",
        "  cmp[001-212] lack CUSTOM_GOLD, so no server can be scheduled on them "
        "(212 of 213 members)",
        "    openstack trait-sched add CUSTOM_GOLD --aggregate gold",
        "",
        "1 error",
    ]


def test_what_has_to_be_so_first_stands_above_the_command():
    *_, when, command, _, _ = text(ORPHAN)
    assert when == (
        "  note the aggregate plain, and delete it if the host is gone and this shows "
        "no allocations:"
    )
    show = "openstack resource provider show --allocations"
    assert command == f"    {show} {identity('d')}"


def test_advice_without_a_command_is_a_line_of_prose():
    assert text(unknown("HW_CPU_NONE"))[2:] == ["  correct flavor f", "", "1 error"]


def test_a_problem_without_advice_has_no_line_for_it():
    _, problem, *rest = text(ERROR("for red", "must be a project's ID, not its name"))
    assert "not its name" in problem
    assert rest[0] == ""


def test_the_last_line_counts_each_severity_that_there_is():
    found = (LACKING, LACKING, ORPHAN, UNUSED, UNUSED)
    assert (
        text(*found)[-1]
        == "2 errors (1 rule), 1 warning, 2 notes (1 rule) (--long shows notes)"
    )
    assert text(LACKING)[-1] == "1 error"


def few(name, *hosts):
    problem = f"CUSTOM_SSD: leaves {', '.join(hosts)}"
    about = {"rule": "traits-few-hosts", "kind": SubjectKind.FLAVOR}
    return NOTE(name, problem, hosts=hosts, **about)


def test_findings_with_one_cause_are_one_block_and_the_rest_is_counted():
    alike = [few(f"f{number}") for number in range(7)]
    title, _, summary = text(*alike, least=Severity.NOTE, width=80)
    assert title == "NOTE  traits-few-hosts  flavors f0, f1, f2, f3, f4 and 2 more"
    assert summary == "7 notes (1 rule)"
    assert "f6" in text(*alike, least=Severity.NOTE)[0]


def test_each_cause_of_one_rule_names_its_objects():
    causes = [few("f0"), few("f1"), *(few(f"g{n}", f"h{n}") for n in range(4))]
    _, first, *_ = text(*causes, least=Severity.NOTE, width=80)
    assert first.startswith("  flavors f0, f1: ")
    assert first.endswith("(4 more: --long)")
    assert "  flavor g3: " in "\n".join(text(*causes, least=Severity.NOTE))


def test_the_worst_of_many_rules_are_last_on_a_screen_of_40_rows():
    found = [
        dataclasses.replace(error, rule=f"rule-{number}")
        for number in range(8)
        for error in [ERROR(f"a{n}", f"{'wrong ' * 40}{n}") for n in range(5)]
    ]
    rows = [painted(each, 80) for each in check.blocks(found, width=80)]
    rows = "\n".join(rows).splitlines()
    titles = [
        row.split()[1] for row in rows if row.startswith("\x1b") or "rule-" in row
    ]
    assert len(rows) <= 40
    assert max(map(len, rows)) <= 80
    assert titles[0] == "rule-7"
    assert rows[-1] == "40 errors (8 rules)"


def test_a_small_screen_has_a_row_for_each_rule_and_the_worst_last():
    found = (
        LACKING,
        *(ERROR(f"f{n}", "wrong " * 40, rule="r") for n in range(3)),
        ORPHAN,
    )
    rows = [painted(each, 80) for each in check.blocks(found, width=80, height=8)]
    assert rows[-2:] == [
        "The words and the fix of one: openstack trait-sched check RULE",
        "4 errors (2 rules), 1 warning",
    ]
    first, second, last = (row.split()[1] for row in rows[:-2])
    assert (second, last) == ("r", "isolation-member-lacks-trait")
    assert first.startswith("mirror-")
    assert "f0 and 2 more: wrong" in rows[1]
    assert "\n" not in "".join(rows)
    # There is a rule that can be shown whole, and room for all.
    assert text(LACKING, width=80, height=3) == text(LACKING, width=80)
    assert text(*found, width=80, height=40) == text(*found, width=80)
    # Not a terminal.
    assert text(*found, height=8) == text(*found)


def test_notes_are_counted_if_they_are_not_asked_for():
    assert text(UNUSED) == ["1 note (--long shows notes)"]


def test_a_severity_has_the_tone_that_explain_has_for_what_is_as_bad():
    found = check.blocks((LACKING, ORPHAN, UNUSED), least=Severity.NOTE)
    titles = [each for each in found if each.tone]
    assert [each.tone for each in titles] == [Tone.NO, Tone.DOUBT, Tone.TITLE]


def test_a_command_is_for_the_cloud_that_was_looked_at():
    found = text(LACKING, options=[Option("--os-cloud", "prod")])
    assert found[2].startswith("    openstack --os-cloud prod trait-sched add ")


def test_on_a_terminal_a_long_fix_has_its_command_on_a_line_of_its_own():
    when = "use a smaller flavor, or else a larger host, and look at its limits"
    command = openstack("trait-sched list")
    fault = ERROR("f", "big", command, when, kind=SubjectKind.FLAVOR)
    rows = text(fault, width=80)
    assert rows[2:4] == [f"  {when}:", "    openstack trait-sched list"]


def test_a_name_is_nothing_that_a_terminal_obeys():
    named = NOTE("red\x1b[31m\nflavor", "unused", kind=SubjectKind.FLAVOR)
    assert all(each.isprintable() for each in text(named))


@pytest.mark.parametrize("finding", [SHUT_OUT, unknown(CHECK_BLOCKS_GOLD)])
def test_a_command_with_something_to_fill_in_does_not_run_as_it_is(finding, tmp_path):
    (command,) = (each for each in text(finding) if each.startswith("    openstack"))
    assert "<" in command
    stub = "openstack() { echo it ran; }\n"
    done = subprocess.run(
        ["/bin/sh", "-c", stub + command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


# What of a run of check is new since an earlier one.


BIG, HUGE = flavor("big", {"ram": 16384}), flavor("huge", {"ram": 65536})
CHECK_NEW_SINCE_GOLD = {"trait__CUSTOM_GOLD": "required"}
EAST = aggregate("east", "a", "b", availability_zone="east")


def mirrored(*names):
    return survey(
        [host("a"), host("b")],
        aggregates=[EAST],
        members={EAST.uuid: frozenset(map(identity, names))},
    )


def saved(of, *without):
    """Rows of a run as JSON has them."""
    columns, rows = check.table(findings(of), ())
    bodies = [
        dict(zip(columns, [getattr(c, "machine_readable", lambda c=c: c)() for c in r]))
        for r in rows
    ]
    kept = [{k: v for k, v in body.items() if k not in without} for body in bodies]
    return json.loads(json.dumps(kept))


WORSE = [
    (survey([host("a")], [BIG]), survey([host("a")], [BIG, HUGE])),
    (
        survey(
            [host("a")], [flavor("f", **CHECK_NEW_SINCE_GOLD)], known=["CUSTOM_GOLD"]
        ),
        survey(
            [host("a")],
            [flavor("f", **CHECK_NEW_SINCE_GOLD), flavor("g", **CHECK_NEW_SINCE_GOLD)],
            known=["CUSTOM_GOLD"],
        ),
    ),
    (mirrored("b"), mirrored()),
]


@pytest.mark.parametrize(("before", "after"), WORSE)
def test_what_got_worse_within_a_finding_is_new(before, after):
    (new,) = check.new_since(findings(after), saved(before))
    assert new in findings(after)
    assert check.new_since(findings(before), saved(before)) == []
    assert check.new_since(findings(before), saved(after)) == []


@pytest.mark.parametrize(("before", "after"), WORSE)
def test_an_old_file_without_objects_compares_rules_and_objects(before, after):
    assert check.new_since(findings(after), saved(before, "affects")) == []
    assert check.new_since(findings(after), []) == findings(after)


def test_what_an_earlier_run_could_not_read_is_no_finding_of_it():
    columns, _ = check.table([], ())
    unread = [dict(zip(columns, row)) for row in check.unread_rows({"images": ["r"]})]
    before, after = WORSE[0]
    earlier = [*json.loads(json.dumps(unread, default=str)), *saved(before)]
    assert check.new_since(findings(before), earlier) == []
    (new,) = check.new_since(findings(after), earlier)
    assert new in findings(after)


def test_an_error_that_was_a_warning_and_a_second_fault_of_an_object_are_new():
    def of(fault: Fault) -> Fault:
        return Fault(**{**vars(fault), "rule": "r", "kind": SubjectKind.FLAVOR})

    warning, error = of(WARNING("f", "bad")), of(ERROR("f", "bad"))
    row = {"id": "r", "severity": "warning", "object": "flavor f"}
    assert check.new_since([warning], [row]) == []
    assert check.new_since([error], [row]) == [error]
    assert check.new_since([warning, warning], [row]) == [warning, warning]


# The words on zones, projects and the mirror.


D = identity("d")


def rows(found, *areas):
    """Return ID, problem and what fixes it, of each finding."""
    return [(row[0], row[3], row[4]) for row in check.rows(findings(found, *areas))[1]]


def test_a_differing_mirror_is_said_for_either_way():
    found = test_config.az_of(members=test_config.mirrored(east="b", west="b"))
    assert rows(found) == [
        (
            "mirror-missing",
            "Placement lacks the host a in it: no request for the zone gets there",
            "openstack trait-sched mirror repair",
        ),
        (
            "mirror-extra",
            "Placement has in it the host b, which Nova has not: requests for the zone "
            "can land there",
            "openstack trait-sched mirror repair",
        ),
    ]


def test_a_compute_node_that_nova_does_not_list_is_not_called_orphaned():
    ((_, problem, fix),) = rows(test_isolation.with_orphan("COMPUTE_NODE"), "mirror")
    assert problem == (
        "Nova lists 3 of the 4 compute nodes that Placement has, and not this one "
        f"({D}): its list may be incomplete, so no provider is called orphaned"
    )
    assert fix.endswith(f"openstack resource provider show --allocations {D}")


@pytest.mark.parametrize(
    "of",
    [
        test_isolation.with_orphan(),
        test_isolation.with_orphan("CUSTOM_OWN", "COMPUTE_STATUS_DISABLED"),
        test_isolation.with_orphan("COMPUTE_NODE", "CUSTOM_OWN"),
        test_isolation.with_other_uuid("CUSTOM_OWN"),
    ],
)
def test_no_command_deletes_a_provider(of):
    ((_, problem, fix),) = rows(of, "mirror")
    assert "provider delete" not in problem + fix
    assert "openstack resource provider show --allocations" in fix


def test_what_is_lost_with_a_provider_is_named_before_it_is_deleted():
    ((_, _, fix),) = rows(test_isolation.with_orphan("CUSTOM_OWN"), "mirror")
    assert fix.startswith(
        "note the trait CUSTOM_OWN and the aggregate plain, and delete it if "
    )
    ((_, _, fix),) = rows(test_isolation.with_other_uuid("CUSTOM_OWN"), "mirror")
    assert fix.startswith("note the trait CUSTOM_OWN, and delete the old one if ")


def test_a_host_that_one_aggregate_does_not_isolate_may_be_isolated_by_another():
    ((_, problem, _),) = rows(test_isolation.isolated("b"), "mirror")
    assert problem == "Placement lacks the host a in it: not isolated by it"


def test_a_host_that_was_made_again_gets_the_trait_before_its_place_in_the_mirror():
    ((_, problem, fix),) = rows(test_isolation.isolated("a", having="a"), "mirror")
    assert problem == (
        "Placement lacks the host b in it: not isolated by it; the host b also lacks "
        "CUSTOM_GOLD, so that no server gets there once Placement has it right"
    )
    assert fix == "openstack trait-sched isolate isolated CUSTOM_GOLD"


@pytest.mark.parametrize(
    ("assumptions", "names", "words"),
    [
        (test_config.NEW, "west", "a request for it can get any host"),
        (test_config.NEW, "nova", "a request for it does not get them"),
        (test_config.FILTER_ALONE, "west", "as long as AvailabilityZoneFilter is on"),
    ],
)
def test_what_the_default_zone_means_depends(assumptions, names, words):
    zones = [test_config.EAST, aggregate("in-the-west", "b", availability_zone=names)]
    found = test_config.az_of(assumptions, aggregates=zones, hosts="abcd")
    ((rule, problem, _),) = rows(found)
    assert rule == "az-default-zone"
    assert "the hosts c, d" in problem
    assert words in problem


def test_a_filter_that_is_useless_is_worded_so():
    ((_, useless, _),) = rows(test_config.az_of(test_config.AZ_BOTH))
    assert "does again what Placement did" in useless


def test_the_command_for_a_list_keeps_the_keys_that_are_there():
    found = test_config.project_of(
        filter_tenant_id="1d1d, 2d2d", filter_tenant_id2="3d3d"
    )
    (fix,) = (row[2] for row in rows(found) if row[0] == "project-list")
    _, *words = shlex.split(fix)
    assert words[:2] == ["aggregate", "set"]
    assert words[3:] == [
        "--property",
        "filter_tenant_id=1d1d",
        "--property",
        "filter_tenant_id_2d2d=2d2d",
    ]


def test_an_id_is_offered_only_where_one_project_has_the_name():
    found = test_config.project_of(filter_tenant_id="red")
    ((_, _, fix),) = rows(found)
    assert fix.endswith("--property filter_tenant_id=1d1d")
    twice = {**test_config.PROJECTS, "4d4d": "red"}
    ((_, _, fix),) = rows(dataclasses.replace(found, projects=twice))
    assert fix == ""
