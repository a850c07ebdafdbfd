"""Every rule has words, a reason in the reference, and rows that anybody can read."""

from __future__ import annotations

import re
import shlex

import pytest

from osc_traitsched.core.check import RULES
from osc_traitsched.core.check.survey import Fault, Severity, SubjectKind
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.views import check
from tests.unit.core.check import surveys, test_config, test_isolation, test_others
from tests.unit.core.check.surveys import (
    aggregate,
    findings,
    flavor,
    host,
    identity,
    image,
    survey,
)
from tests.unit.core.check.test_others import owned, titled

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
    cloud = test_others.two_hosts(
        owned("t", hw_video_model="virtio"),
        surveys.assumed(image_metadata_prefilter=False),
        [test_config.VIRTIO],
    )
    ((_, severity, subject, problem, fix),) = check.rows(findings(cloud))[1]
    assert (severity, subject) == ("note", f"image {titled('t')}")
    assert problem.startswith("[scheduler]image_metadata_prefilter: off (nova.conf:1)")
    assert fix == "openstack trait-sched config nova-conf --enable image-metadata"


def test_no_line_on_images_of_others_is_long_however_much_they_have():
    properties = {f"trait__CUSTOM_N{n:02}": "odd" * 20 for n in range(100)}
    ((*_, problem, _),) = rows_of(owned("t", **properties))
    assert len(problem) < 2000


def rows_of(*images):
    return check.rows(findings(test_others.of(*images)))[1]
