"""A table of list --by-trait has the traits that somebody chose."""

from __future__ import annotations

from osc_traitsched.core.errors import CloudBroke

REQUIRED = "COMPUTE_NODE"


def rows(done):
    """The first column of a table, and what is said beside it."""
    cells = [line.split("|")[1].strip() for line in done.out.splitlines()[3:-1]]
    return [cell for cell in cells if cell], done.err


def test_other_standard_traits_are_counted(cloud, trait_sched, monkeypatch):
    listed = ("list", "--by-trait")
    every = [row["trait"] for row in trait_sched(*listed, "-f", "json").json]
    custom = [name for name in every if name.startswith("CUSTOM_")]
    assert REQUIRED in every
    cloud.flavor("node", **{REQUIRED: "required"})
    (other,) = {*every} - {*custom, REQUIRED}
    err = "1 standard trait that nothing requires: --all\n"
    names, said = rows(trait_sched(*listed))
    assert (names, other in names, said) == ([*custom, REQUIRED], False, err)
    for option in ("--all", "--long"):
        assert rows(trait_sched(*listed, option)) == (every, "")

    def broken(parts, params):
        raise CloudBroke("image", "broken", 500)

    monkeypatch.setattr(cloud, "image_get", broken)
    names, said = rows(trait_sched(*listed))
    assert names == custom
    assert "broken" in said.splitlines()[0]
