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
#: The values of parts of a command that depend on the finding.
_VALUES = {"kind.value": ("flavor", "image"), "setting.tool": ("nova-conf",)}


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
    return tuple(dict.fromkeys(_verbs(inspect.unwrap(rule.find), set())))


def _verbs(function: Callable[..., Any], visited: set[Any]) -> Iterator[str]:
    visited.add(function)
    names = function.__globals__
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
        if isinstance(node, ast.Call) and _is_command(node.func):
            yield from _texts(node.args[0])
        value = names.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(value, paste.Command):
            yield value.verb
        elif _is_of_check(value) and value not in visited:
            yield from _verbs(value, visited)


def _is_of_check(value: Any) -> bool:
    is_function = isinstance(value, types.FunctionType)
    return is_function and value.__module__.startswith("osc_traitsched.core.check")


def _is_command(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == paste.openstack.__name__


def _texts(node: ast.expr) -> Iterator[str]:
    """A verb, or one for each value that a part of it may have."""
    if isinstance(node, ast.Constant):
        yield str(node.value)
    elif isinstance(node, ast.JoinedStr):
        (part,) = (each for each in node.values if isinstance(each, ast.FormattedValue))
        expression = ast.unparse(part.value)
        template = ast.unparse(node)[2:-1]
        for value in _VALUES[expression]:
            yield template.replace(f"{{{expression}}}", value)
    else:
        raise ExtensionError(f"a verb of another kind: {ast.unparse(node)}")


def setup(app: Sphinx) -> dict[str, Any]:
    """Let Sphinx know the directive."""
    app.add_directive("rules", Rules)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
