"""Reference pages of the commands, one for each, and their list by group."""

from __future__ import annotations

import argparse
import pathlib
import re
from collections.abc import Iterator, Mapping
from importlib import metadata
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from osc_traitsched.commands import help_text
from osc_traitsched.commands.overview import GROUPS
from osc_traitsched.views.schemas import DOCUMENTS

_START = "openstack trait-sched"
#: The commands, in the order of ``openstack trait-sched --all``, and what each does.
COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}

#: Where a guide uses the command: a page, or the label of a heading.
GUIDES = {
    "explain": "read-the-answer",
    "candidates": "/reference/weighers",
    "capacity": "/operate/capacity",
    "server explain": "server-error",
    "server destinations": "which-move",
    "server misplaced": "misplaced",
    "flavor show": "/troubleshoot/flavor",
    "image show": "/troubleshoot/flavor",
    "zone list": "/operate/capacity",
    "host show": "host-empty",
    "host drain": "/operate/drain",
    "filter try": "/reference/custom-filters",
    "check": "/reference/checks",
    "mirror repair": "fix-mirror",
    "aggregate list": "isolate-windows",
    "diff": "/troubleshoot/changed",
    "snapshot save": "save-every-night",
    "list": "/operate/traits",
    "trait list": "trait-users",
    "trait show": "trait-users",
    "trait rename": "rename-retire",
    "trait retire": "rename-retire",
    "add": "/operate/traits",
    "remove": "rename-retire",
    "isolate": "isolate-windows",
    "unisolate": "isolate-windows",
    "plan": "/automate/files",
    "apply": "/automate/files",
    "export": "/automate/files",
    "config doctor": "/administer/nova-conf",
    "config save": "/administer/nova-conf",
    "config show": "/administer/nova-conf",
    "config enable": "/reference/prefilters",
}

#: Options of cliff, which all commands that print rows have; the index names them.
_OF_CLIFF = ("output formatters", "csv formatter", "json formatter", "table formatter")
_HELP = ("help", "help_all")
#: Options that stand below the others of their table.
_SELDOM = (*help_text._SELDOM, "snapshot")
#: Headings of groups of options, instead of their title.
_HEADINGS = {"positional arguments": "Arguments"}
#: An option, or a command in quotes, in a text.
_CODE = re.compile(r'"(openstack [^"]*)"|(?<![\w-])(--[a-z][\w-]*)')


def slug(command: str) -> str:
    """The name of a command's page, and the end of its label."""
    return command.replace(" ", "-")


def link(command: str, text: str = "") -> str:
    """A link to a command's page."""
    return f":ref:`{text or command} <command-{slug(command)}>`"


def write_pages(app: Sphinx) -> None:
    """Write a page for each command: its content comes from the directive."""
    if COMMANDS.keys() != GUIDES.keys():
        odd = ", ".join(sorted(COMMANDS.keys() ^ GUIDES.keys()))
        raise ExtensionError(f"commands without a guide, or guides without one: {odd}")
    folder = pathlib.Path(app.srcdir, "reference", "commands")
    pages = {folder / f"{slug(command)}.rst": command for command in COMMANDS}
    for old in {*folder.glob("*.rst")} - {*pages, folder / "index.rst"}:
        old.unlink()
    for page, command in pages.items():
        bar = "=" * len(command)
        lines = f".. _command-{slug(command)}:", "", bar, command, bar, ""
        text = "\n".join((*lines, f".. command:: {command}", ""))
        # A page that is written again is read again.
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


class Commands(SphinxDirective):
    """``.. commands::``: all by group; their pages follow in the menu."""

    def run(self) -> list[nodes.Node]:
        """Parse the tables as if they stood in the page."""
        text = "\n".join(line for title in GROUPS for line in _group(title))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def _group(title: str) -> Iterator[str]:
    yield from (title, "=" * len(title), "", ".. list-table::")
    yield from ("   :widths: 30 70", "")
    for command, text in GROUPS[title].items():
        yield from (f"   * - {link(command)}", f"     - {text}")
    yield from ("", ".. toctree::", "   :hidden:", "")
    yield from (*map("   {}".format, map(slug, GROUPS[title])), "")


class CommandPage(SphinxDirective):
    """``.. command:: NAME``: what it does, its usage, examples and options."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Parse the sections as if they stood in the page."""
        (name,) = self.arguments
        text = "\n".join(_page(name))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def _page(name: str) -> Iterator[str]:
    command = _command(name)
    parser = _parser(name)
    first, *others = (parser.description or "").strip().split("\n\n")
    yield from (_prose(first), "", ".. code-block:: text", "   :class: usage", "")
    yield from (f"   {line}" for line in parser.usage.replace("%%", "%").splitlines())
    yield ""
    for paragraph in others:
        yield from (_prose(paragraph), "")
    yield from (" ".join(_links(name)), "")
    yield from ("Examples", "========", "")
    for row in command.examples.strip().splitlines():
        yield from _example(row.strip())
    for title in _groups(parser):
        yield from (title, "=" * len(title), "", f".. option-table:: {name}")
        yield from (f"   :group: {title}", "")


def _links(name: str) -> Iterator[str]:
    guide = GUIDES[name]
    role = "doc" if guide.startswith("/") else "ref"
    yield f"Guide: :{role}:`{guide}`."
    documents = [each for each in DOCUMENTS if each.partition(" --")[0] == name]
    titles = {group.title for group in _parser(name)._action_groups}
    if documents:
        links = (f":ref:`{each} <json-{_label(each)}>`" for each in documents)
        yield f"JSON: {', '.join(links)}."
    if _OF_CLIFF[0] in titles:
        yield "JSON and CSV: :ref:`-f FORMAT <json-rows>`."
    yield ":ref:`exit-codes`."


def _label(document: str) -> str:
    return re.sub(r"\W+", "-", document)


def _example(row: str) -> Iterator[str]:
    if row.startswith("#"):
        yield from (f"{_prose(row.lstrip('# '))}:", "")
        return
    lines = help_text.wrapped(f"$ {_START} {row}").splitlines()
    yield from (".. code-block:: console", "")
    yield from (f"   {line[2:]}" for line in lines)
    yield ""


class OptionTable(SphinxDirective):
    """``.. option-table:: COMMAND``: a group of its options; each has an anchor."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {"group": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Make a paragraph of the group's description, and the table."""
        group = _groups(_parser(self.arguments[0]))[self.options["group"]]
        actions = sorted(
            filter(_is_shown, group._group_actions),
            key=lambda action: action.dest in _SELDOM,
        )
        rows = list(map(_row, actions))
        columns = [nodes.colspec(colwidth=width) for width in (35, 65)]
        body = nodes.tgroup("", *columns, nodes.tbody("", *rows), cols=2)
        about = [_paragraph(group.description)] if group.description else []
        return [*about, nodes.table("", body, classes=["options"])]


def _groups(parser: argparse.ArgumentParser) -> Mapping[str, Any]:
    """Groups of options with their heading, in the order of ``--help-all``."""
    shared = list(help_text._SHARED_GROUPS)

    def place(group: Any) -> int:
        title = (group.title or "").lower()
        return shared.index(title) + 1 if title in shared else 0

    groups = {}
    for group in sorted(parser._action_groups, key=place):
        title = group.title or ""
        if title.lower() not in _OF_CLIFF and any(map(_is_shown, group._group_actions)):
            heading = _HEADINGS.get(title, f"{title[:1].upper()}{title[1:]}")
            groups[heading] = group
    return groups


def _is_shown(action: argparse.Action) -> bool:
    return action.dest not in _HELP and action.help is not argparse.SUPPRESS


def _row(action: argparse.Action) -> nodes.row:
    names = action.option_strings or [""]
    value = "" if action.nargs == 0 else _value(action)
    shown = [*names[:-1], f"{names[-1]} {value}".strip()]
    anchor = (action.option_strings or [action.dest])[-1].lstrip("-")
    term = nodes.paragraph()
    for number, text in enumerate(shown):
        term += nodes.Text(", " if number else "")
        link = nodes.reference("", "", nodes.literal("", text), refid=anchor)
        term += link if number == len(shown) - 1 else nodes.literal("", text)
    cells = (nodes.entry("", term), nodes.entry("", _paragraph(_help(action))))
    return nodes.row("", *cells, ids=[anchor])


def _value(action: argparse.Action) -> str:
    if _is_closed(action):
        return "|".join(map(str, action.choices or ()))
    metavar = action.metavar or action.dest.upper()
    return metavar if isinstance(metavar, str) else " ".join(metavar)


def _is_closed(action: argparse.Action) -> bool:
    """Whether its few choices stand for its value."""
    return 0 < len(list(action.choices or ())) < 4


def _help(action: argparse.Action) -> str:
    formatter = argparse.HelpFormatter("")
    text = formatter._expand_help(action)
    choices = ", ".join(map(str, action.choices or ()))
    is_told = _is_closed(action) or choices in text
    more = "" if is_told else f"; one of {choices}"
    # A value keeps its case.
    is_value = re.split(r"[ ,]", text)[0] in map(str, action.choices or ())
    return f"{text[:1] if is_value else text[:1].upper()}{text[1:]}{more}."


def _paragraph(text: str) -> nodes.paragraph:
    paragraph, end = nodes.paragraph(), 0
    for code in _CODE.finditer(text):
        paragraph += nodes.Text(text[end : code.start()])
        paragraph += nodes.literal("", code[1] or code[2])
        end = code.end()
    paragraph += nodes.Text(text[end:])
    return paragraph


def _prose(text: str) -> str:
    """Plain text as reStructuredText."""
    escaped = re.sub(r"[\\*`|_]", r"\\\g<0>", " ".join(text.split()))
    return _CODE.sub(lambda code: f"``{code[1] or code[2]}``", escaped)


def _command(name: str) -> Any:
    entry = f"trait-sched {name}".replace(" ", "_")
    (point,) = metadata.entry_points(group="openstack.extension", name=entry)
    return point.load()(None, None)


def _parser(name: str) -> Any:
    return _command(name).get_parser(f"{_START} {name}")


def setup(app: Sphinx) -> dict[str, Any]:
    """Let Sphinx know the directives, and write the pages before it reads any."""
    app.connect("builder-inited", write_pages)
    app.add_directive("commands", Commands)
    app.add_directive("command", CommandPage)
    app.add_directive("option-table", OptionTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
