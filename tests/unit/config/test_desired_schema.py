"""The published schema and the reader take the same documents, drawn at random."""

from __future__ import annotations

import importlib.resources
import json
import pathlib
import textwrap

import jsonschema
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from osc_traitsched import config
from osc_traitsched.config import desired
from osc_traitsched.core.desired import model

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
