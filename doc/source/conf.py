"""How Sphinx builds this documentation; it needs the project installed, and git."""

from importlib import metadata

project = "osc-traitsched"
copyright = "the osc-traitsched authors"
release = metadata.version(project)
version = release

extensions = ["cliff.sphinxext", "reno.sphinxext"]
exclude_patterns = ["_build"]

html_theme = "alabaster"
html_theme_options = {
    "description": "Traits for hosts, safely: an OpenStackClient plugin",
    "fixed_sidebar": True,
}
html_copy_source = False

# Two hyphens are an option's, and no dash.
smartquotes = False

autoprogram_cliff_application = "openstack"
# The options of all commands that print rows would hide those of ours.
autoprogram_cliff_ignored = [
    "--help",
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
