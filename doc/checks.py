"""``.. rules::``: the rules of check by area, each with the commands of its fixes."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from collections.abc import Callable, Iterator
from typing import Any

from commands import COMMANDS, link
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from osc_traitsched import paste
from osc_traitsched.core.check import RULES
from osc_traitsched.core.check.rule import AREAS, Rule

Kinds = tuple[str, ...]
Visited = set[tuple[Callable[..., Any], Kinds]]

_OURS = "trait-sched "
#: What an area is about.
_ABOUT = {
    "image-type": "Nova asks only for hosts that support the disk format of an image.",
    "images": "Images that no server can boot.",
    "traits": "Traits that flavors, images and aggregates name, and hosts with them.",
    "resources": "Resource classes, inventories and groups of resources of flavors.",
    "isolation": "Aggregates that accept only servers that require their traits.",
    "az": "Availability zones, their hosts, and how requests reach them.",
    "project": "Aggregates that are reserved for projects, or the other way round.",
    "mirror": "Placement's copies of Nova's aggregates, hosts and their status.",
    "config": "Options of nova-scheduler that contradict each other or the cloud.",
    "weighers": "Metadata that weighers read.",
    "filters": "Flavors, images and aggregates as host filters read them.",
    "servers": "Servers that the scheduler would not put on their host today.",
}
#: Kinds of objects whose keys a fix can change, by a command of their name.
_KINDS = ("flavor", "image", "aggregate")


class Rules(SphinxDirective):
    """``.. rules::``: all rules, by area, from their docstrings."""

    def run(self) -> list[nodes.Node]:
        """Parse the sections as if they stood in the page."""
        if _ABOUT.keys() != set(AREAS):
            raise ExtensionError("each area of check needs one sentence in checks.py")
        text = "\n".join(line for area in AREAS for line in _area(area))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def _area(area: str) -> Iterator[str]:
    yield from (area, "-" * len(area), "", _ABOUT[area], "")
    for rule in RULES:
        if rule.area == area:
            yield from (f".. _check-{rule.id}:", "", rule.id, "~" * len(rule.id), "")
            about = rule.reference
            if rule.pedantic:
                about += " Runs only with ``--pedantic``, or if you name it."
            yield from (about, "")
            fixes = " or ".join(map(_fix, commands_of(rule)))
            if fixes:
                yield from (f"Fix: {fixes}", "")


def _fix(verb: str) -> str:
    name = verb.removeprefix(_OURS)
    if verb.startswith(_OURS) and name in COMMANDS:
        return link(name, f"openstack {verb}")
    return f"``openstack {verb}``"


def commands_of(rule: Rule) -> tuple[str, ...]:
    """The commands that its fixes may name, without ``openstack``.

    They are read from its source and from the functions that it calls.
    """
    about, *_ = rule.reference.split("\n\n")
    kinds = tuple(kind for kind in _KINDS if kind in about)
    return tuple(dict.fromkeys(_verbs(inspect.unwrap(rule.find), kinds, set())))


def _verbs(
    function: Callable[..., Any], kinds: Kinds, visited: Visited
) -> Iterator[str]:
    """The commands of a function for objects of these kinds, and of those it calls."""
    visited.add((function, kinds))
    names = function.__globals__
    nodes = list(ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))))
    calls = {id(node.func): node for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        if isinstance(node, ast.Call) and _is_command(node.func):
            yield from _texts(node.args[0], kinds)
        value = names.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(value, paste.Command):
            yield value.verb
        elif _is_of_check(value):
            named = _kind(calls.get(id(node))) or kinds
            if (value, named) not in visited:
                yield from _verbs(value, named, visited)


def _kind(call: ast.Call | None) -> Kinds:
    """The kind that a call names first, as in ``unset(SubjectKind.IMAGE, ...)``."""
    if call is None or not call.args or not isinstance(call.args[0], ast.Attribute):
        return ()
    kind = call.args[0].attr.lower()
    return (kind,) if kind in _KINDS else ()


def _is_of_check(value: Any) -> bool:
    is_function = isinstance(value, types.FunctionType)
    return is_function and value.__module__.startswith("osc_traitsched.core.check")


def _is_command(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == paste.openstack.__name__


def _texts(node: ast.expr, kinds: Kinds) -> Iterator[str]:
    """A verb, or one for each value that a part of it may have."""
    values = {"kind.value": kinds, "setting.tool": ("nova-conf",)}
    if isinstance(node, ast.Constant):
        yield str(node.value)
    elif isinstance(node, ast.JoinedStr):
        (part,) = (each for each in node.values if isinstance(each, ast.FormattedValue))
        expression = ast.unparse(part.value)
        template = ast.unparse(node)[2:-1]
        for value in values[expression]:
            yield template.replace(f"{{{expression}}}", value)
    else:
        raise ExtensionError(f"a verb of another kind: {ast.unparse(node)}")


def setup(app: Sphinx) -> dict[str, Any]:
    """Let Sphinx know the directive."""
    app.add_directive("rules", Rules)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
