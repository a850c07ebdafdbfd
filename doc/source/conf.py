"""How Sphinx builds this documentation; it needs the project installed, and git."""

import argparse
import json
import pathlib
import re
import sys
from importlib import metadata

from cliff import sphinxext
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from osc_traitsched.cloud.saved import form
from osc_traitsched.commands import arguments
from osc_traitsched.core.check import RULES
from osc_traitsched.core.check.rule import AREAS
from osc_traitsched.documents import reference
from osc_traitsched.views.schemas import DOCUMENTS

sys.path.append(str(pathlib.Path(__file__).parents[1]))
from rows import table

project = "osc-traitsched"
copyright = "the osc-traitsched authors"
release = metadata.version(project)
version = release

extensions = ["cliff.sphinxext", "openstackdocstheme", "reno.sphinxext"]
exclude_patterns = ["_build"]

html_theme = "openstackdocs"
html_theme_options = {"show_other_versions": False}
# The name and the version are the project's own, and not those of its repository.
openstackdocs_auto_name = False
openstackdocs_auto_version = False
openstackdocs_pdf_link = False

man_pages = [
    (
        "reference/commands/index",
        "openstack-trait-sched",
        "traits, aggregates and the scheduler, from openstack",
        "",
        1,
    )
]
html_copy_source = False

# Two hyphens are an option's, and no dash.
smartquotes = False

autoprogram_cliff_application = "openstack"
# The options of all commands that print rows would hide those of ours.
autoprogram_cliff_ignored = [
    "--help",
    "--help-all",
    "--exit-zero",
    "--format",
    "--column",
    "--quote",
    "--noindent",
    "--max-width",
    "--fit-width",
    "--print-empty",
    "--sort-column",
    "--sort-ascending",
    "--sort-descending",
]

format_epilog = sphinxext._format_epilog


def with_literal_examples(parser):
    """Show examples line by line, as the help does."""
    parser.epilog = re.sub(r"(?m)^(Examples?):$", r"\1::", parser.epilog)
    return format_epilog(parser)


sphinxext._format_epilog = with_literal_examples


class DocumentFields(SphinxDirective):
    """``.. document:: COMMAND``: tables of what the command prints with -f json."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        """Parse the tables as if they stood in the page."""
        text = reference(DOCUMENTS[self.arguments[0]])
        return self.parse_text_to_nodes(text, allow_section_headings=True)


class SnapshotSchema(SphinxDirective):
    """``.. snapshot-schema::``: the JSON Schema of a snapshot."""

    def run(self):
        """Show it as JSON."""
        text = json.dumps(form.schema(), indent=1)
        return [nodes.literal_block(text, text, language="json")]


class Rules(SphinxDirective):
    """``.. rules::``: the rules of check, by area, from their docstrings."""

    def run(self):
        """Parse the sections as if they stood in the page."""
        text = "\n".join(line for area in AREAS for line in _area(area))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


class Sources(SphinxDirective):
    """``.. sources::``: the options of all sources of settings, in their order."""

    def run(self):
        """Parse the table as if it stood in the page."""
        parser = argparse.ArgumentParser(add_help=False)
        arguments.add_options(parser)
        lines = [".. list-table::", "   :widths: 30 70", ""]
        for action in parser._actions:
            name = f"{action.option_strings[0]} {action.metavar or 'NAME'}"
            text = f"{action.help[0].upper()}{action.help[1:]}."
            if action.choices:
                text += f" One of {', '.join(action.choices)}."
            lines += [f"   * - ``{name}``", f"     - {text}"]
        return self.parse_text_to_nodes("\n".join(lines))


def _area(area):
    yield from (area, "=" * len(area), "")
    for rule in RULES:
        if rule.area == area:
            yield from (f".. _check-{rule.id}:", "", rule.id, "-" * len(rule.id), "")
            about = rule.reference
            if rule.pedantic:
                about += " Runs only with ``--pedantic``, or if you name it."
            yield from (about, "")


class Rows(SphinxDirective):
    """``.. rows:: TABLE``: a table of ``doc/rows.py``."""

    required_arguments = 1

    def run(self):
        """Parse the table as if it stood in the page."""
        return self.parse_text_to_nodes(table(self.arguments[0]))


def setup(app):
    """Let Sphinx know the directives."""
    app.add_directive("document", DocumentFields)
    app.add_directive("rules", Rules)
    app.add_directive("snapshot-schema", SnapshotSchema)
    app.add_directive("sources", Sources)
    app.add_directive("rows", Rows)
