"""How Sphinx builds this documentation; it needs the project installed, and git."""

import argparse
import logging
import pathlib
import re
import sys
from importlib import metadata

from reno import scanner
from sphinx.util.docutils import SphinxDirective

from osc_traitsched.commands import arguments

sys.path.append(str(pathlib.Path(__file__).parents[1]))
from rows import table

project = "osc-traitsched"
copyright = "the osc-traitsched authors"
# Without what pbr adds between releases.
version = release = re.match(r"[\d.]*\d", metadata.version(project))[0]

extensions = [
    "checks",
    "commands",
    "json_pages",
    "reno.sphinxext",
    "session",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"{project} {version}"
if ".dev" in metadata.version(project):
    html_title += " (not released yet)"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {"top_of_page_buttons": []}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

# Commands are copied without their prompt and without their output.
copybutton_prompt_text = "$ "
copybutton_line_continuation_character = "\\"
copybutton_here_doc_delimiter = "EOF"

# Without any tag reno takes all notes for those of a release 0.0.0.
current_version = scanner.Scanner._get_current_version
scanner.Scanner._get_current_version = lambda *of: re.sub(
    r"^0\.0\.0$", "0.0.0-1", current_version(*of)
)

# accessible-pygments, of the theme, makes every module's log visible.
logging.getLogger("reno").setLevel(logging.WARNING)

# Two hyphens are an option's, and no dash.
smartquotes = False

class Sources(SphinxDirective):
    """``.. sources::``: the options of all sources of settings, in their order."""

    def run(self):
        """Parse the table as if it stood in the page."""
        parser = argparse.ArgumentParser(add_help=False)
        arguments.SCHEDULER(parser)
        lines = [".. list-table::", "   :widths: 30 70", ""]
        for action in parser._actions:
            name = f"{action.option_strings[0]} {action.metavar or 'NAME'}"
            text = f"{action.help[0].upper()}{action.help[1:]}."
            if action.choices:
                text += f" One of {', '.join(action.choices)}."
            lines += [f"   * - ``{name}``", f"     - {text}"]
        return self.parse_text_to_nodes("\n".join(lines))


class Rows(SphinxDirective):
    """``.. rows:: TABLE``: a table of ``doc/rows.py``."""

    required_arguments = 1

    def run(self):
        """Parse the table as if it stood in the page."""
        return self.parse_text_to_nodes(table(self.arguments[0]))


def setup(app):
    """Let Sphinx know the directives."""
    app.add_directive("sources", Sources)
    app.add_directive("rows", Rows)
