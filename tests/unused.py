"""Names in osc_traitsched that nothing in it uses: python -m tests.unused.

What only tests use is unused. vulture compares names alone: an unused name that another
object has, too, is not found, unless it is that of a method.
"""

from __future__ import annotations

import ast
import configparser
import functools
import pathlib
import sys
from typing import TypeGuard

from vulture import Vulture
from vulture.core import Item

PACKAGE = pathlib.Path("osc_traitsched").resolve()

#: What is called or read by its name from outside.
BY_NAME = {
    "Python": ("__*__", "emit"),
    "argparse": ("allow_abbrev", "option_string"),
    "cliff": ("app_args", "auth_required", "formatter_default", "take_action"),
    "oslo.config's parser": ("assignment", "new_section"),
    "Nova's filters": ("obj_load_attr", "service_is_up", "transport_url"),
    "Nova's objects": (
        "_migrate_legacy_dedicated_instance_cpuset",
        *("cpu_usage", "memory_usage", "pinned_cpus"),
        *("cpu_allocation_ratio", "ram_allocation_ratio"),
    ),
    "the body of their class": ("_all",),
    "the Python that app/own_filters.py starts": ("main_packed",),
}

#: Functions with them are called through what they are registered in.
DECORATORS = ("@*.register",)

#: What makes a field of a document.
FIELDS = ("field", "named")


class Finder(Vulture):
    """Knows a method by its reads as an attribute, not by any name."""

    def __init__(self) -> None:
        names = [*commands(), *(name for group in BY_NAME.values() for name in group)]
        super().__init__(ignore_names=names, ignore_decorators=DECORATORS)
        self.attributes: set[str] = set()

    def visit_Attribute(self, node: ast.Attribute) -> None:  # noqa: N802
        super().visit_Attribute(node)
        if isinstance(node.ctx, ast.Load):
            self.attributes.add(node.attr)

    def visit_Call(self, node: ast.Call) -> None:  # noqa: N802
        """A document's field names the path of its value."""
        if isinstance(node.func, ast.Name) and node.func.id in FIELDS:
            paths = (each.value for each in node.args if isinstance(each, ast.Constant))
            parts = {part for path in paths for part in str(path).split(".")}
            self.attributes |= parts
            self.used_names |= parts

    def unused(self) -> list[Item]:
        """Return what the package defines and does not use."""
        methods = (*self.defined_methods, *self.defined_props)
        unread = {item for item in methods if item.name not in self.attributes}
        items = {*self.get_unused_code(), *unread}
        return sorted(filter(is_ours, items), key=lambda item: str(item.get_report()))


def commands() -> list[str]:
    """Return the classes of commands: entry.py finds them in setup.cfg."""
    setup = configparser.ConfigParser()
    setup.read("setup.cfg", encoding="utf-8")
    points = setup["entry_points"]["openstack.extension"].split()
    return [point.rpartition(".")[2] for point in points if PACKAGE.name in point]


@functools.cache
def fields(path: pathlib.Path) -> frozenset[int]:
    """Return the lines of fields of documents in a file."""
    classes = (n for n in ast.walk(ast.parse(path.read_text())) if is_document(n))
    return frozenset(line.lineno for each in classes for line in each.body)


def is_document(node: ast.AST) -> TypeGuard[ast.ClassDef]:
    """Tell whether a statement is the class of a JSON object."""
    if not isinstance(node, ast.ClassDef):
        return False
    return "JsonObject" in map(ast.unparse, node.bases)


def is_ours(item: Item) -> bool:
    """Tell whether it is the package's and no field that is written as JSON."""
    is_field = item.typ == "variable" and item.first_lineno in fields(item.filename)
    return PACKAGE in item.filename.resolve().parents and not is_field


def main() -> int:
    """Print unused names, a line each."""
    finder = Finder()
    # The documentation's reference uses some.
    finder.scavenge([str(PACKAGE), "doc"])
    unused = finder.unused()
    for item in unused:
        print(item.get_report())
    return 1 if unused else 0


if __name__ == "__main__":
    sys.exit(main())
