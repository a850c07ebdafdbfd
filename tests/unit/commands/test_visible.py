"""Nothing that a tenant named talks to the terminal, in any format."""

from __future__ import annotations

import argparse
import csv
import dataclasses
import io
import json
import logging
import types

import pytest
import yaml

from osc_traitsched.commands import base, explain
from osc_traitsched.core.inventory.snapshot import Aggregate, Compute
from osc_traitsched.core.inventory.snapshot import MembershipDifference as Difference
from osc_traitsched.core.judge.judge import Explanation
from osc_traitsched.views import config, listing
from osc_traitsched.views.listing import Indented, Names
from tests.cases.reading import Case
from tests.unit.views.test_schema import explained

NAME = "ok\n| flavor | all | changed |\x1b[2J\u202e\u2028\x85"
SHOWN = r"ok\n| flavor | all | changed |\x1b[2J\u202e\u2028\x85"
AGGREGATE = Aggregate("1", "a", NAME, (NAME,), {NAME: "1"})
MIRROR = Difference(AGGREGATE, missing=(Compute("c", NAME, NAME),))


class Rows(base.Lister):
    """One row of all kinds of cells, each with the name."""

    needs_login = False

    def take_action(self, args):
        mirror = listing.Mirror(MIRROR, whole=True)
        hosts = listing.Hosts([NAME], whole=True)
        cells = (NAME, Names([NAME]), Indented(NAME, 1), hosts, mirror)
        return ("text", "names", "indented", "hosts", "mirror"), [cells]


@pytest.fixture
def app():
    return types.SimpleNamespace(
        stdout=io.StringIO(),
        command_manager=types.SimpleNamespace(namespace="none"),
        options=argparse.Namespace(cloud="", region_name="", verbose_level=1),
        parser=argparse.ArgumentParser(),
    )


@pytest.fixture
def logged():
    """Return what was logged so far, a text a record."""
    handler = logging.StreamHandler(io.StringIO())
    handler.terminator = "\0"
    base.LOG.addHandler(handler)
    yield lambda: handler.stream.getvalue().split("\0")[:-1]
    base.LOG.removeHandler(handler)


def printed(app, *options):
    command = Rows(app, argparse.Namespace())
    assert command.run(command.get_parser("rows").parse_args(options)) == 0
    # cliff's csv doubles backslashes, where Python's csv module does.
    return app.stdout.getvalue().replace("\\\\", "\\")


@pytest.mark.parametrize("format_", ["table", "value", "csv"])
def test_a_name_is_visible_in_every_text_format(app, format_):
    text = printed(app, "-f", format_)
    assert text.count(SHOWN) == 5
    assert text.replace("\n", "").replace("\r", "").isprintable()
    body = {"table": 5, "value": 1, "csv": 2}
    assert len(text.splitlines()) == body[format_]


def test_a_name_in_csv_is_one_field(app):
    (row,) = csv.DictReader(io.StringIO(printed(app, "-f", "csv")))
    assert (row["text"], row["names"]) == (SHOWN, SHOWN)


@pytest.mark.parametrize(("format_", "read"), [("json", json), ("yaml", yaml)])
def test_a_program_gets_the_true_text(app, format_, read):
    load = read.loads if read is json else read.safe_load
    (row,) = load(printed(app, "-f", format_))
    assert (row["text"], row["names"], row["hosts"]) == (NAME, [NAME], [NAME])
    assert row["mirror"]["missing"] == [NAME]


def test_what_is_logged_is_one_visible_line(logged):
    base.LOG.warning("host %s", NAME)
    base.LOG.warning("100% of\n them")
    assert logged() == [f"host {SHOWN}", r"100% of\n them"]


@pytest.mark.parametrize("format_", ["text", "json"])
def test_an_explanation_says_what_others_named_visibly(app, format_):
    full = {"cmp00": {"inventories": {"VCPU": 0}}}
    found = explained(Case({"name": "full", "cloud": full})).judgement
    (host,) = found.hosts
    down = Compute(host.uuid, "cmp00", "cmp00", is_enabled=False, disabled_reason=NAME)
    flavor = {**found.question.flavor, "name": NAME}
    found = dataclasses.replace(
        found,
        question=dataclasses.replace(found.question, flavor=flavor),
        computes={host.uuid: down},
    )
    command = explain.Explain(app, argparse.Namespace())
    args = argparse.Namespace(format=format_, long=True)
    text = command._text(Explanation(found), args)
    if format_ == "json":
        assert json.loads(text)["request"]["flavor"]["name"] == NAME
        return
    assert all(line.isprintable() for line in text.split("\n"))
    assert f"\nRequest: flavor {SHOWN} (" in text
    assert f"its nova-compute is disabled: {SHOWN}" in text


def test_a_name_does_not_end_the_comment_that_it_is_in():
    turned = types.SimpleNamespace(
        wanted=(), assumptions=types.SimpleNamespace(release=33)
    )
    top = config.comments("nova-conf", turned, [NAME], has_body=True)
    assert all(line.startswith("# ") for line in top.splitlines())
