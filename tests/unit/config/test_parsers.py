"""libyaml, where PyYAML has it, and PyYAML's own parser: the same is read."""

from __future__ import annotations

import pathlib
import random
import sys

import pytest
import yaml

from osc_traitsched.config import document
from osc_traitsched.core.errors import BadConfiguration

EXAMPLES = sorted(pathlib.Path(__file__).parents[3].glob("examples/**/*.y*ml"))
TEXTS = [
    *(path.read_text(encoding="utf-8") for path in EXAMPLES),
    "a: {b: [c, d], e: 'f'}\n",
    "- x\n- y: |\n    lit\n    two\n",
    "a: &x {b: 1}\nc: {<<: *x, d: no}\n",
    "version: 1\ntraits: {CUSTOM_A: {hosts: ['cmp*', \"x\"]}}\n---\nversion: 1\n",
]
PARTS = [
    *"abAB01 \n:-,[]{}#&*|>'\"%@=~.x",
    *("\n  ", "\n- ", ": ", "\n---\n", "<<: ", "''"),
]
BROKEN = [
    "a: [b\nc: d",
    "a: 'b",
    "a: b: c",
    "\tx: 1",
    "a: \x00",
    'a: "\\uD800"',
    "a: !!python/name:os.system x\nb: [",
    "a: *unknown",
    "[" * 9000 + "]" * 9000,
]

with_both = pytest.mark.skipif(
    not yaml.__with_libyaml__, reason="PyYAML is built without libyaml here"
)
with_limit = pytest.mark.skipif(
    not hasattr(sys, "get_int_max_str_digits"), reason="this Python reads any number"
)


def read(text, monkeypatch, *, fast):
    """Return what is read of a text as tuples, or what is wrong with it."""
    monkeypatch.setattr(yaml, "__with_libyaml__", fast)
    try:
        return [_tree(each.node) for each in document.parse("f", text)]
    except BadConfiguration as exc:
        return str(exc)


def _tree(node):
    place = node.tag, node.start_mark.line
    if isinstance(node, yaml.ScalarNode):
        return (*place, node.value, node.style or None)
    if isinstance(node, yaml.SequenceNode):
        return (*place, *map(_tree, node.value))
    return (*place, *((_tree(key), _tree(value)) for key, value in node.value))


@with_both
def test_drawn_documents_are_read_alike(monkeypatch):
    drawn, same, refused = random.Random(4), 0, 0
    for _ in range(4000):
        text = drawn.choice(TEXTS)
        for _ in range(drawn.randint(0, 4)):
            at = drawn.randint(0, len(text))
            text = text[:at] + drawn.choice(PARTS) + text[at + drawn.randint(0, 2) :]
        own = read(text, monkeypatch, fast=False)
        found = read(text, monkeypatch, fast=True)
        if isinstance(found, str):
            assert found == own
            refused += 1
        elif not isinstance(own, str):
            assert found == own, text
            same += 1
    assert min(same, refused) > 500


@with_both
@pytest.mark.parametrize("text", BROKEN)
def test_what_is_wrong_is_said_alike(text, monkeypatch):
    own = read(text, monkeypatch, fast=False)
    assert isinstance(own, str)
    assert read(text, monkeypatch, fast=True) == own


@pytest.mark.parametrize("fast", [False, pytest.param(True, marks=with_both)])
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a: b\nc: "\\U00110000"', 2),
        ('a: b\nc: "d\n  \\UFFFFFFFF"', 3),
        pytest.param(f"# a\n%YAML 1.{'9' * 5000}\n---\nb: c", 2, marks=with_limit),
    ],
)
def test_what_pyyaml_itself_breaks_on_is_no_yaml(text, line, fast, monkeypatch):
    monkeypatch.setattr(yaml, "__with_libyaml__", fast)
    with pytest.raises(BadConfiguration) as caught:
        document.parse("f", text)
    said = str(caught.value)
    assert said == f"f:{line}: not YAML: a version or an escape is too large"
