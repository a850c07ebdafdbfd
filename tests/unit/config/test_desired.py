"""Files of a desired state: what they say, and all that is wrong with them at once."""

from __future__ import annotations

import pytest

from osc_traitsched.config import desired
from osc_traitsched.core.desired.model import Part, Source
from tests.unit.config.mistakes import said


def entries(wanted):
    return [
        (w.part, w.of.text, w.value.text, w.absent, str(w.value.place))
        for w in wanted.entries
    ]


WHOLE = """
    version: 1
    groups:
      pinned: ["cmp-1[0-9]", cmp-20]
      shared: {inventory: az1_hosts, var: nova_host}
      racked: {aggregate: rack-7}
      zoned:
        zone: az1
    hold: [cmp-17]
    traits:
      CUSTOM_PINNED:
        hosts: ["@pinned"]
        only: true
      CUSTOM_VGPU:
        providers: ["*_pci_*"]
        absent:
          hosts: ["*"]
    aggregates:
      az1-pinned:
        zone: az1
        hosts: ["@pinned"]
        isolated_for: [CUSTOM_PINNED]
        projects: [demo]
        absent: {projects: [other]}
    flavors:
      "pinned.*": {requires: [CUSTOM_PINNED]}
      m1.small: {forbids: [CUSTOM_PINNED]}
    images:
      windows: {requires: [CUSTOM_LICENSED]}
"""


def test_every_line_is_a_entry_with_its_place(write):
    wanted = desired.read([write(WHOLE)])
    assert entries(wanted) == [
        (Part.TRAIT_HOSTS, "CUSTOM_PINNED", "@pinned", False, "desired.yaml:11"),
        (Part.TRAIT_PROVIDERS, "CUSTOM_VGPU", "*_pci_*", False, "desired.yaml:14"),
        (Part.TRAIT_HOSTS, "CUSTOM_VGPU", "*", True, "desired.yaml:16"),
        (Part.ZONE, "az1-pinned", "az1", False, "desired.yaml:19"),
        (Part.MEMBERS, "az1-pinned", "@pinned", False, "desired.yaml:20"),
        (Part.ISOLATION, "az1-pinned", "CUSTOM_PINNED", False, "desired.yaml:21"),
        (Part.PROJECTS, "az1-pinned", "demo", False, "desired.yaml:22"),
        (Part.PROJECTS, "az1-pinned", "other", True, "desired.yaml:23"),
        (Part.FLAVOR_REQUIRES, "pinned.*", "CUSTOM_PINNED", False, "desired.yaml:25"),
        (Part.FLAVOR_FORBIDS, "m1.small", "CUSTOM_PINNED", False, "desired.yaml:26"),
        (Part.IMAGE_REQUIRES, "windows", "CUSTOM_LICENSED", False, "desired.yaml:28"),
    ]
    assert [(o.section, o.of.text) for o in wanted.only] == [
        ("traits", "CUSTOM_PINNED")
    ]
    assert [
        (g.name.text, g.source, [v.text for v in g.values]) for g in wanted.groups
    ] == [
        ("pinned", Source.NAMES, ["cmp-1[0-9]", "cmp-20"]),
        ("shared", Source.INVENTORY, ["az1_hosts"]),
        ("racked", Source.AGGREGATE, ["rack-7"]),
        ("zoned", Source.ZONE, ["az1"]),
    ]
    assert [text.text for text in wanted.hold] == ["cmp-17"]


@pytest.mark.parametrize(
    "name", ["1e3", "no", "0755", "1_000", "2020-01-01", "true", "~x", "0x1F", ".5"]
)
def test_a_name_is_what_is_written_whatever_yaml_makes_of_it(write, name):
    wanted = desired.read(
        [write(f"version: 1\naggregates: {{{name}: {{zone: {name}}}}}")]
    )
    assert [(w.of.text, w.value.text) for w in wanted.entries] == [(name, name)]


def test_all_mistakes_are_said_at_once_each_with_its_line(write):
    path = write(
        """
        version: 2
        trait:
          X: 1
        traits:
          gold: {hosts: [a]}
          CUSTOM_GOLD:
            host: [a]
            hosts: a
            only: false
            absent: [a]
          CUSTOM_GOLD:
            hosts: [~, {a: b}]
        images:
          rocky: {forbids: [CUSTOM_GOLD]}
        groups: {a b: [x], c: {zone: a, aggregate: b}, d: ["@c"], e:}
        """
    )
    assert said(path) == [
        "desired.yaml:1: version is not 1, the one that this release reads",
        "desired.yaml:2: the document has no key 'trait'; did you mean traits?",
        "desired.yaml:5: traits 'gold' can't be a trait: a name has A-Z, 0-9 and _, "
        "and starts with CUSTOM_ unless os-traits defines it",
        "desired.yaml:7: traits.CUSTOM_GOLD has no key 'host'; did you mean hosts?",
        "desired.yaml:8: traits.CUSTOM_GOLD.hosts is not a list",
        "desired.yaml:9: traits.CUSTOM_GOLD.only is not true; leave it out for what is "
        "not so",
        "desired.yaml:10: traits.CUSTOM_GOLD.absent is not a mapping",
        "desired.yaml:11: the key CUSTOM_GOLD is on line 6, too",
        "desired.yaml:12: traits.CUSTOM_GOLD.hosts.0 is empty",
        "desired.yaml:12: traits.CUSTOM_GOLD.hosts.1 is not a name",
        "desired.yaml:14: images.rocky has no key 'forbids'; there are requires, "
        "absent",
        "desired.yaml:15: groups has the name 'a b', in which there is other than A-Z "
        "a-z 0-9 _ . -",
        "desired.yaml:15: groups.c is not one of inventory, aggregate, zone, or a list",
        "desired.yaml:15: groups.d.0 is a group, which can't be in a group",
        "desired.yaml:15: groups.e has nothing behind it",
    ]


def test_what_nova_would_not_take_is_said_before_anything_is_written(write):
    long = "CUSTOM_" + "A" * 243
    path = write(
        f"""
        version: 1
        aggregates:
          {"a" * 256}: {{hosts: [x]}}
          gold:
            zone: "az1:cmp00"
            isolated_for: [{long}]
          silver: {{zone: "az1 "}}
        flavors: {{small: {{forbids: [{long}]}}}}
        traits: {{{long}: {{hosts: [x]}}}}
        """
    )
    rule = "it has 1 to 255 letters, none of them a colon, and neither begins nor ends"
    key = "is a trait of more than 249 letters, which no key has room for"
    assert said(path) == [
        "desired.yaml:3: aggregates has a name of more than 255 letters",
        f"desired.yaml:5: aggregates.gold.zone 'az1:cmp00' can't be a zone: {rule} "
        "with a space",
        f"desired.yaml:6: aggregates.gold.isolated_for.0 {key}",
        f"desired.yaml:7: aggregates.silver.zone 'az1 ' can't be a zone: {rule} with a "
        "space",
        f"desired.yaml:8: flavors.small.forbids.0 {key}",
    ]


def test_what_files_can_not_want_together_names_both_lines(write):
    one = write(
        """
        version: 1
        groups: {silver: [a]}
        traits:
          CUSTOM_A: {hosts: [x, y]}
          CUSTOM_B: {only: true, absent: {hosts: [x]}}
        aggregates:
          east: {zone: az1, hosts: ["@silber"]}
        flavors:
          small: {requires: [CUSTOM_A]}
        """,
        "one.yaml",
    )
    two = write(
        """
        version: 1
        groups: {silver: [b]}
        traits:
          CUSTOM_A: {absent: {hosts: [y]}}
        aggregates:
          east: {zone: az2}
        flavors:
          small: {forbids: [CUSTOM_A]}
        """,
        "two.yaml",
    )
    assert said(one, two) == [
        "one.yaml:5: only of CUSTOM_B: nothing is named that it could be",
        "one.yaml:7: no group 'silber'; did you mean silver?",
        "two.yaml:2: group silver is at one.yaml:2, too",
        "two.yaml:4: y in hosts of CUSTOM_A is absent, and desired at one.yaml:4",
        "two.yaml:6: east has the zone az2, and az1 at one.yaml:7",
        "two.yaml:8: small forbids CUSTOM_A, and requires it at one.yaml:9",
    ]


def test_what_a_line_can_not_want_together_with_itself_does_not_name_it(write):
    path = write(
        """
        {version: 1, groups: {a: [x]},
        traits: {CUSTOM_A: {hosts: [x], absent: {hosts: [x]}}},
        flavors: {small: {requires: [CUSTOM_A], forbids: [CUSTOM_A]}}}
        """
    )
    assert said(path) == [
        "desired.yaml:2: x in hosts of CUSTOM_A is absent, and desired on the same "
        "line",
        "desired.yaml:3: small forbids CUSTOM_A, and requires it on the same line",
    ]


def test_what_has_no_name_is_said_by_where_it_stands(write):
    path = write(
        """
        hold: ["@"]
        aggregates: {"": {hosts: [x]}}
        ---
        ---
        [version]
        """
    )
    assert said(path) == [
        "desired.yaml:1: the document has no version; write version: 1",
        "desired.yaml:1: '@' names no group: write the name of one behind it",
        "desired.yaml:2: aggregates has an empty name",
        "desired.yaml:4: the document is empty",
        "desired.yaml:4: the document has no version; write version: 1",
        "desired.yaml:5: the document is not a mapping",
        "desired.yaml:5: the document has no version; write version: 1",
    ]


def test_what_is_required_no_more_may_be_forbidden(write):
    text = "version: 1\nflavors: {f: {forbids: [C_A], absent: {requires: [C_A]}}}"
    assert len(desired.read([write(text)]).entries) == 2


def test_documents_of_one_file_add_up(write):
    wanted = desired.read([write("version: 1\nhold: [a]\n---\nversion: 1\nhold: [b]")])
    assert [text.text for text in wanted.hold] == ["a", "b"]


def test_keys_may_be_merged_and_are_not_twice_for_that(write):
    wanted = desired.read(
        [
            write(
                """
                version: 1
                traits:
                  CUSTOM_A: &a {hosts: [x], only: true}
                  CUSTOM_B: {<<: *a, hosts: [y]}
                """
            )
        ]
    )
    assert [(w.of.text, w.value.text) for w in wanted.entries] == [
        ("CUSTOM_A", "x"),
        ("CUSTOM_B", "y"),
    ]
    assert len(wanted.only) == 2


def test_a_list_that_holds_itself_is_no_name(write):
    assert said(write("version: 1\nhold: &a [*a]")) == [
        "desired.yaml:2: hold.0 is not a name"
    ]
