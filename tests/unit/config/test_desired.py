"""Files of a desired state: what they say, their paths, and the published schema."""

from __future__ import annotations

import importlib.resources
import io
import json
import os
import pathlib
import stat
import sys
import textwrap

import jsonschema
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from osc_traitsched import config
from osc_traitsched.config import desired
from osc_traitsched.core.desired import model
from osc_traitsched.core.desired.model import DesiredState, Part, Source
from osc_traitsched.core.desired.planner import IDENTITY
from osc_traitsched.core.errors import (
    BadConfiguration,
    BadQuestion,
    Mistakes,
    NothingMatches,
)

# What is said of files of a desired state.


def said(*paths):
    """Return the lines of all mistakes."""
    with pytest.raises(Mistakes) as caught:
        desired.read(paths)
    return [str(each) for each in caught.value.mistakes]


# Files of a desired state: what they say, and all that is wrong with them at once.


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


# What else is read and written for a desired state: an inventory, a reviewed plan.


ROW = {**dict.fromkeys(IDENTITY, "x"), "cloud": "http://here"}


@pytest.fixture
def desired_inputs_write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(content):
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / "file").write_text(text, encoding="utf-8")
        return "file"

    return write


def refused(read, path):
    with pytest.raises(BadConfiguration) as caught:
        read(path)
    return str(caught.value)


def test_groups_have_the_hosts_of_the_groups_below_them_even_in_a_circle(
    desired_inputs_write,
):
    found = desired.read_inventory(
        desired_inputs_write(
            {
                "_meta": {"hostvars": {"a": {"ip": 1, "x": [1]}, "b": {"ip": "::2"}}},
                "all": {"children": ["row", "ungrouped"]},
                "row": {"hosts": ["b", "a"], "children": ["all"]},
            }
        )
    )
    assert found.of_group("all") == ("a", "b")
    assert found.of_group("row", "ip") == ("1", "::2")
    for group in ("rows", "ungrouped"):
        with pytest.raises(NothingMatches):
            found.of_group(group)
    for variable, said in (
        ("x", "a has no variable 'x' in the inventory that is a name"),
        ("ipv6", "a has no variable 'ipv6' in the inventory that is a name"),
    ):
        with pytest.raises(BadQuestion) as caught:
            found.of_group("row", variable)
        assert str(caught.value) == said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "file:1: is no JSON; ansible-inventory --list prints it"),
        ("[" * 99_999, "file: is no JSON; ansible-inventory --list prints it"),
        ([], "file: has no groups, as ansible-inventory has"),
        ({"a": []}, "file: group a: hosts is no list of names"),
        ({"a": {"hosts": {"b": {}}}}, "file: group a: hosts is no list of names"),
        ({"a": {"children": [1]}}, "file: group a: children is no list of names"),
    ],
)
def test_what_is_no_inventory_is_refused_in_one_line(
    desired_inputs_write, content, said
):
    assert refused(desired.read_inventory, desired_inputs_write(content)) == said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "file:1: is no JSON; plan -f json prints it"),
        ({}, "file: is no plan, as plan -f json prints it"),
        ([1], "file: is no plan, as plan -f json prints it"),
        ([{}], "file: is no plan, as plan -f json prints it"),
        ([{**ROW, "cloud": ""}], "file: is no plan, as plan -f json prints it"),
        ([{**ROW, "cloud": None}], "file: is no plan, as plan -f json prints it"),
        ([{**ROW, "before": [1]}], "file: is no plan, as plan -f json prints it"),
    ],
)
def test_what_is_no_plan_is_refused_in_one_line(desired_inputs_write, content, said):
    assert refused(desired.read_plan, desired_inputs_write(content)) == said
    assert desired.read_plan(desired_inputs_write([{**ROW, "before": None}]))


def test_a_file_is_never_written_where_one_is_or_where_none_can_be(
    desired_inputs_write,
):
    path = desired_inputs_write("mine")
    text = desired.text(DesiredState(), ["one", "two"])
    assert text == "# one\n# two\nversion: 1\n"
    for place, said in (
        (path, "file: exists; name a new file"),
        ("no/file", "no/file: No such file or directory"),
    ):
        with pytest.raises(BadConfiguration) as caught:
            desired.write_new(place, text)
        assert str(caught.value) == said


def test_a_new_file_and_its_name_are_on_the_disk(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle)))
    desired.write_new(str(tmp_path / "new"), "text")
    assert [stat.S_ISDIR(each.st_mode) for each in synced] == [False, True]
    assert synced[0].st_size == len("text")


# Paths of a desired state: files, folders of them, standard input, and their order.


def test_mistakes_come_in_the_order_of_files_as_given_and_of_their_lines(
    write, tmp_path
):
    bad = "groups: {a b: [x]}\nhold: ['@c']\nversion: 2\n"
    (tmp_path / "none").mkdir()
    write(bad, "b.yaml")
    write(bad, "a.yaml")
    found = [each.split(": ")[0] for each in said("b.yaml", "none", "a.yaml")]
    assert found == [
        *("b.yaml:1", "b.yaml:2", "b.yaml:3", "none"),
        *("a.yaml:1", "a.yaml:2", "a.yaml:3"),
    ]


def test_folders_stand_for_their_files_and_each_is_read_once(write, monkeypatch):
    for name in ("b.yml", "a.yaml", "c.JSON", ".hidden.yaml", "notes.txt"):
        write(f'{{"version": 1, "hold": ["{name}"]}}', f"folder/{name}")
    monkeypatch.setattr(sys, "stdin", io.StringIO("version: 1\nhold: [piped]"))
    wanted = desired.read(["folder", "-", "folder/a.yaml", "-"])
    assert [text.text for text in wanted.hold] == ["a.yaml", "b.yml", "c.JSON", "piped"]
    assert str(wanted.hold[-1].place) == "-:2"


def test_all_files_are_tried(write, tmp_path, monkeypatch):
    (tmp_path / "none").mkdir()
    (tmp_path / "latin").write_bytes(b"\xe9")
    monkeypatch.setattr(sys, "stdin", None)
    assert said(
        "none", "latin", "missing", write("", "empty"), write("{", "bad"), "-"
    ) == [
        "none: has no file that ends with .yaml, .yml, .json",
        "latin: not a text file (UTF-8)",
        "missing: No such file or directory",
        "empty: is empty",
        "bad:1: not YAML: expected the node content, but found '<stream end>'",
        "-: standard input is closed",
    ]


def test_standard_input_without_a_document_is_empty(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("# none\n"))
    assert said("-") == ["-: standard input is empty"]


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_standard_input_that_is_no_text_is_said_as_of_a_file(
    write, tmp_path, monkeypatch, errors
):
    body = b"version: 1\nhold: [\xe9]"
    given = io.TextIOWrapper(io.BytesIO(body), encoding="utf-8", errors=errors)
    monkeypatch.setattr(sys, "stdin", given)
    (tmp_path / "latin").write_bytes(body)
    reason = "not a text file (UTF-8)"
    assert said("-", "latin") == [f"-: {reason}", f"latin: {reason}"]


def test_folders_in_a_folder_and_hidden_files_do_not_count(write, tmp_path):
    write("version: 1\nhold: [good]", "folder/good.yaml")
    write("version: 1\nhold: [deep]", "folder/inner.yaml/a.yaml")
    write("version: 1\nhold: [deep]", "folder/sub/a.yaml")
    (tmp_path / "folder" / "gone.yaml").symlink_to("nowhere")
    assert said("folder") == ["folder/gone.yaml: No such file or directory"]
    (tmp_path / "folder" / "gone.yaml").unlink()
    assert [text.text for text in desired.read(["folder"]).hold] == ["good"]


@pytest.mark.skipif(not os.geteuid(), reason="root may read everything")
def test_a_folder_that_can_not_be_read_is_said(write, tmp_path):
    write("version: 1", "folder/a.yaml")
    (tmp_path / "folder").chmod(0)
    found = said("folder")
    (tmp_path / "folder").chmod(0o700)
    assert found == ["folder: Permission denied"]


# The published schema and the reader take the same documents, drawn at random.


ROOT = pathlib.Path(__file__).parents[3]

_FOLDER = importlib.resources.files(config)
SCHEMA = json.loads(
    (_FOLDER / "desired-state-1.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)

_SURE = settings(
    max_examples=1000,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

_JUNK = st.sampled_from([None, "", " ", [], {}, [None], [[]], {"a": 1}, 7, "x", False])
_TEXTS = st.sampled_from(["a", "cmp-1*", "@silver", "1e3", 7, 1.5, True, "no", "0755"])
_TRAITS = st.sampled_from(["CUSTOM_A", "HW_CPU_X86_AVX", "CUSTOM_0"])
_LONG = "CUSTOM_" + "A" * 243
_ZONES = st.sampled_from(["az1", 7, "a b", "a" * 255])
_NO_ZONES = st.sampled_from(["az1:cmp00", " az1", "az1 ", "a" * 256, ":", "a\nb"])
_NO_TRAITS = st.sampled_from(
    ["gold", "CUSTOM_", "NO", "1_0", 7, "CUSTOM_A" * 40, _LONG]
)


def mostly(likely, unlikely=_JUNK):
    """Draw what is right in twenty-nine of thirty cases."""
    return st.integers(0, 29).flatmap(lambda n: likely if n else unlikely)


def mapping(**parts):
    """Draw some of the keys, and rarely another one."""
    known = st.fixed_dictionaries({}, optional=parts)
    odd = st.sampled_from(["host", "required", "Only", "ID", ""])
    other = st.tuples(known, odd).map(lambda both: {**both[0], both[1]: ["a"]})
    return mostly(known, st.one_of(other, _JUNK))


def some(keys, values):
    return mostly(st.dictionaries(keys, values, max_size=3))


NAMES = mostly(st.lists(mostly(_TEXTS), max_size=3))
TRAITS = mostly(st.lists(mostly(_TRAITS, _NO_TRAITS), max_size=3))
ONLY = mostly(st.just(True))
GROUPS = some(
    mostly(st.sampled_from(["silver", "a.b-c", "1"]), st.sampled_from(["a b", ""])),
    mostly(
        st.one_of(
            st.lists(mostly(st.sampled_from(["a", "b*", 7]), _TEXTS), max_size=3),
            st.fixed_dictionaries(
                {"inventory": mostly(_TEXTS)}, optional={"var": mostly(_TEXTS)}
            ),
            st.sampled_from(["aggregate", "zone"]).flatmap(
                lambda key: st.fixed_dictionaries({key: mostly(_TEXTS)})
            ),
            mapping(zone=_TEXTS, aggregate=_TEXTS, var=_TEXTS),
        )
    ),
)
_OBJECTS = mostly(st.sampled_from(["gold", "m1.*", "0755"]), st.sampled_from(["", " "]))
_AGGREGATES = mostly(_OBJECTS, st.just("a" * 256))
DOCUMENTS = mostly(
    st.fixed_dictionaries(
        {"version": mostly(st.sampled_from([1, "1"]), st.sampled_from([2, "x", None]))},
        optional={
            "groups": GROUPS,
            "hold": NAMES,
            "traits": some(
                mostly(_TRAITS, _NO_TRAITS.map(str)),
                mapping(
                    hosts=NAMES,
                    providers=NAMES,
                    only=ONLY,
                    absent=mapping(hosts=NAMES, providers=NAMES),
                ),
            ),
            "aggregates": some(
                _AGGREGATES,
                mapping(
                    zone=mostly(_ZONES, _NO_ZONES),
                    hosts=NAMES,
                    isolated_for=TRAITS,
                    projects=NAMES,
                    only=ONLY,
                    absent=mapping(hosts=NAMES, isolated_for=TRAITS, projects=NAMES),
                ),
            ),
            "flavors": some(
                _OBJECTS,
                mapping(
                    requires=TRAITS,
                    forbids=TRAITS,
                    absent=mapping(requires=TRAITS, forbids=TRAITS),
                ),
            ),
            "images": some(
                _OBJECTS, mapping(requires=TRAITS, absent=mapping(requires=TRAITS))
            ),
        },
    )
)


def test_the_schema_is_one():
    jsonschema.Draft7Validator.check_schema(SCHEMA)


def test_reader_and_schema_take_the_same_documents():
    verdicts = []

    @_SURE
    @given(DOCUMENTS)
    def check(document):
        text = yaml.safe_dump(document)
        _, mistakes = desired.read_text("desired.yaml", text)
        refused = [each.message for each in VALIDATOR.iter_errors(document)]
        assert bool(mistakes) == bool(refused), (
            text,
            refused,
            list(map(str, mistakes)),
        )
        verdicts.append(bool(refused))

    check()
    assert len(verdicts) >= 1000
    # Else one of the two sorts would be hardly tried.
    assert 250 < sum(verdicts) < len(verdicts) - 250


def test_what_is_no_document_gets_lines_and_never_a_traceback():
    broken = []

    @settings(_SURE, max_examples=200)
    @given(DOCUMENTS, st.data())
    def check(document, data):
        text = yaml.safe_dump(document, default_flow_style=data.draw(st.booleans()))
        for _ in range(data.draw(st.integers(1, 5))):
            place = data.draw(st.integers(0, len(text)))
            end = place + data.draw(st.integers(0, 3))
            other = data.draw(
                st.sampled_from([*"{}[]:,-&*!%@'\"\n\t #|>?", "<<: ", ""])
            )
            text = text[:place] + other + text[end:]
        _, mistakes = desired.read_text("desired.yaml", text)
        for each in mistakes:
            assert each.line is None or 1 <= each.line <= text.count("\n") + 1
            assert each.reason
            assert "\n" not in each.reason
        broken.append(bool(mistakes))

    check()
    assert sum(broken) >= 100


EXAMPLES = sorted((ROOT / "examples" / "desired").glob("*.yaml"))
PAGE = (ROOT / "doc/source/automate/files.rst").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_are_short_and_right(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 25
    assert desired.read_text(path.name, text)[1] == ()
    VALIDATOR.validate(yaml.safe_load(text))
    assert not list(model.mistakes(desired.read_text(path.name, text)[0]))


def test_the_format_that_the_page_shows_is_right():
    block = PAGE.partition(".. code-block:: yaml\n")[2].partition("\n\n``share")[0]
    text = textwrap.dedent(block)
    assert desired.read_text("page", text)[1] == ()
    assert len(desired.read_text("page", text)[0].entries) > 8
    VALIDATOR.validate(yaml.safe_load(text))
