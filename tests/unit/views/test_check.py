"""Every rule has words, a section in the reference, and rows that anybody can read."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import shlex
import typing

import pytest

from osc_traitsched.core.check import RULES
from osc_traitsched.core.check.finding import Finding, Kind, Severity
from osc_traitsched.core.check.rules.config import ConfigFilterGone
from osc_traitsched.core.check.rules.traits import TraitsUnused
from osc_traitsched.core.check.rules.traits_together import TraitsNotTogether
from osc_traitsched.core.nova.clause import Trait
from osc_traitsched.core.nova.removed_filters import REMOVED_FILTERS
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.core.nova.switch import AZ_FILTER
from osc_traitsched.views import check
from osc_traitsched.views.check.wording import word
from tests.unit.core.check import test_config, test_isolation, test_traits
from tests.unit.core.check.surveys import (
    aggregate,
    findings,
    flavor,
    host,
    identity,
    image,
    survey,
)

REFERENCE = pathlib.Path(__file__).parents[3] / "doc/source/reference/checks"
GOLD = "CUSTOM_GOLD"


CLASSES = [rule.finding for rule in RULES]


def test_every_class_of_findings_is_a_rules_and_every_rule_has_words_of_its_own():
    assert (
        set(Finding.__subclasses__()) == set(CLASSES) == set(word.registry) - {object}
    )
    assert len(set(CLASSES)) == len(RULES)


@pytest.mark.parametrize("finding", CLASSES, ids=lambda each: each.rule)
def test_every_class_of_findings_is_named_like_its_rule_and_frozen(finding):
    assert finding.__name__ == "".join(map(str.title, finding.rule.split("-")))
    assert finding.__dataclass_params__.frozen


@pytest.mark.parametrize("finding", CLASSES, ids=lambda each: each.rule)
def test_every_finding_says_how_bad_it_is_and_what_it_is_about(finding):
    fields = {field.name for field in dataclasses.fields(finding)}
    types = {"rule": str, "severity": Severity, "kind": Kind, "name": str}
    for name, expected in types.items():
        assert name in fields or isinstance(getattr(finding, name), expected)


@pytest.mark.parametrize("finding", CLASSES, ids=lambda each: each.rule)
def test_names_of_things_are_tuples_of_names(finding):
    types = typing.get_type_hints(finding)
    for name in ("flavors", "images", "aggregates", "hosts"):
        assert types.get(name, tuple[str, ...]) == tuple[str, ...]


def test_every_rules_id_begins_with_its_area_and_is_its_own():
    assert all(rule.id.startswith(f"{rule.area}-") for rule in RULES)
    assert len({rule.id for rule in RULES}) == len(RULES)


def test_every_rule_has_a_section_that_can_be_linked_to():
    text = "\n".join(path.read_text() for path in sorted(REFERENCE.glob("*.rst")))
    anchors = re.findall(r"^\.\. _check-([a-z-]+):$", text, re.MULTILINE)
    assert {rule.id for rule in RULES} <= set(anchors)
    assert len(anchors) == len(set(anchors))


def test_a_row_has_the_true_name_of_what_it_is_about():
    name = "red\x1b[31m\nflavor"
    found = TraitsUnused(name, ("cmp00",))
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
        aggregates=[test_config.OF_PROJECT],
        assumptions=test_traits.assumed(max_placement_results=1),
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
                assumptions=test_traits.assumed(31),
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
def test_a_command_changes_a_flavor_by_its_id(of, command):
    # A name may be another flavor's ID, and is looked for as one first.
    fixes = [fix for *_, fix in check.rows(findings(of))[1]]
    assert f"openstack flavor {command} {identity('f')}" in fixes


def test_no_trait_is_to_be_added_where_another_group_forbids_it():
    both = Trait("", GOLD, False, ()), Trait("_A", GOLD, True, ())
    found = TraitsNotTogether(Severity.ERROR, Kind.FLAVOR, "f", both)
    ((*_, fix),) = check.rows([found])[1]
    assert "add" not in fix


def test_no_finding_is_one_line_with_how_many_rules_looked_at_what():
    of = survey([host("a"), host("b")], [flavor("f")])
    chosen = [rule for rule in RULES if rule.area == "image-type"]
    assert check.nothing(chosen, of) == (
        "Nothing found: 4 rules looked at 0 images, 1 flavor."
    )


@pytest.mark.parametrize("name", sorted(set(REMOVED_FILTERS) - {AZ_FILTER}))
def test_of_every_host_filter_that_is_gone_it_is_said_what_does_its_work(name):
    setting = Setting((name,), "nova.conf:7", given=True)
    _, (row,) = check.rows([ConfigFilterGone(name, 34, setting)])
    assert row[3] == (
        f"Nova 34 (2026.2) has no {name}, and nova-scheduler does not start "
        "(nova.conf:7)"
    )
    assert row[4].startswith("take it out of the list: ")
