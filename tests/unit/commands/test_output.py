"""What commands print: to paste, for a terminal, rows of writes, pages."""

from __future__ import annotations

import argparse
import csv
import dataclasses
import io
import json
import logging
import re
import shlex
import textwrap
import types
from collections.abc import Iterator

import pytest
import yaml
from openstackclient import shell

from osc_traitsched.commands import base, explain
from osc_traitsched.commands.explain import Explain
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.snapshot import Aggregate, Compute
from osc_traitsched.core.inventory.snapshot import MembershipDifference as Difference
from osc_traitsched.core.judge.judge import Explanation
from osc_traitsched.paste import Option, line, openstack, repeating
from osc_traitsched.views import config, listing
from osc_traitsched.views.listing import Indented, Names
from tests import examples
from tests.cases.reading import Case
from tests.functional import shell as functional_shell
from tests.services.environment import REPOSITORY
from tests.unit.app.recorded import CMP02, CMP03, ZONE1, RecordedCloud
from tests.unit.app.test_trait_changes import cloud as cloud_with_trait
from tests.unit.views.test_documents import explained

# What is pasted runs against the cloud that was looked at.


PROD = ("--os-cloud", "prod", "--os-region-name", "west")


@pytest.fixture
def made(monkeypatch):
    """Make the command of an ``openstack`` that was called with some options."""
    for name in ("OS_CLOUD", "OS_REGION_NAME", "OS_INTERFACE", "OS_SYSTEM_SCOPE"):
        monkeypatch.delenv(name, raising=False)

    def make(*argv, **environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        app = shell.OpenStackShell()
        options, _ = app.parser.parse_known_args([*argv, "trait-sched", "explain"])
        manager = types.SimpleNamespace(namespace="none")
        called = types.SimpleNamespace(
            parser=app.parser,
            options=options,
            command_manager=manager,
            stdout=io.StringIO(),
        )
        return Explain(called, argparse.Namespace())

    return make


#: Parts of the names of global options, by whether a pasted command repeats them.
REPEATED = (
    *("cloud", "interface", "region-name", "system-scope", "auth-url", "username"),
    *("project-name", "project-domain-name", "cacert", "cert", "key", "user-id"),
    *("default-domain", "user-domain-name", "trust-id", "identity-provider"),
    *("protocol", "client-id", "domain-id", "access-token-endpoint", "endpoint"),
    *("application-credential-id", "application-credential-name"),
    "remote-project-id",
)
SECRET_OR_VERSION = (
    *("password", "token", "passcode", "code", "client-secret", "access-token"),
    *("application-credential-secret", "oauth2-client-secret", "idp-otp-key"),
    "compute-api-version",
)


def test_options_of_the_cloud_and_the_login_are_repeated_and_no_secret_or_version(made):
    for flag in (*REPEATED, *SECRET_OR_VERSION):
        value = "internal" if flag == "interface" else "2"
        option = Option(f"--os-{flag}", value)
        expected = (option,) if flag in REPEATED else ()
        assert made(option.name, value).repeated_options == expected
    assert made(*PROD, "--os-token", "t0ken").repeated_options == (
        Option("--os-cloud", "prod"),
        Option("--os-region-name", "west"),
    )


def test_an_option_without_a_value_is_repeated(made):
    command = made(*PROD, "--insecure")
    show = openstack("trait-sched list")
    assert line(show, command.repeated_options) == (
        "openstack --insecure --os-cloud prod --os-region-name west trait-sched list"
    )


def test_no_address_with_a_password_in_it_is_repeated(made):
    for url in ("http://ops:hunter2@here/v3", "https://:x@here"):
        assert made("--os-auth-url", url).repeated_options == ()


def test_a_message_s_commands_repeat_the_options_too(made):
    command = made(*PROD)
    text = "run once: openstack trait-sched config save; see openstack --help"
    assert repeating(text, command.repeated_options) == (
        "run once: openstack --os-cloud prod --os-region-name west trait-sched config "
        "save; see openstack --help"
    )
    done = "openstack --os-cloud prod trait-sched list, /etc/openstack and more"
    assert repeating(done, command.repeated_options) == done
    assert repeating(text, ()) == text


@pytest.mark.parametrize(
    ("text", "repeats"),
    [
        ("openstack server list", True),
        ("a line\nopenstack trait delete X", True),
        ("    openstack trait-sched list ", True),
        ("list them (openstack aggregate list --long)", True),
        ("flavor openstack gold x", False),
        ("flavor openstack server x", False),
        ("flavors a, openstack gold and b", False),
        ("no host: openstack gold x", False),
    ],
)
def test_a_command_in_a_message_is_told_from_a_name(made, text, repeats):
    options = made(*PROD).repeated_options
    assert (repeating(text, options) != text) is repeats


def test_what_the_environment_says_is_not_repeated(made):
    command = made(OS_CLOUD="prod", OS_REGION_NAME="west")
    assert command.repeated_options == ()
    assert command.where == "Of cloud prod, region west:\n"


def test_an_option_goes_before_the_environment(made):
    command = made("--os-cloud", "prod", OS_CLOUD="staging")
    assert command.repeated_options == (Option("--os-cloud", "prod"),)
    assert command.where == "Of cloud prod:\n"


def test_where_nobody_named_a_cloud_none_is_named(made):
    assert made().where == ""
    assert made(OS_REGION_NAME="west").where == ""


def lacking_a_trait():
    flavor = {"trait:CUSTOM_A": "required"}
    hosts = {"cmp00": {}, "$(id)\n": {}, "-x": {"traits": ["CUSTOM_A"]}}
    return explained(Case({"name": "a", "cloud": hosts, "flavor": flavor}))


@pytest.mark.parametrize("format_", ["text", "json"])
def test_the_commands_of_an_explanation_have_them(made, format_):
    args = argparse.Namespace(format=format_, long=True)
    text = made(*PROD)._text(lacking_a_trait(), args)
    start = "openstack --os-cloud prod --os-region-name west trait-sched add CUSTOM_A"
    assert start in text
    assert text.count("openstack ") == text.count("openstack --os-cloud prod")
    if format_ == "text":
        assert text.startswith("Of cloud prod, region west:\nNo host can take it: ")


def test_a_host_whose_name_can_not_be_printed_is_chosen_by_its_uuid(made):
    found = lacking_a_trait()
    (uuid,) = (host.uuid for host in found.judgement.hosts if host.name == "$(id)\n")
    args = argparse.Namespace(format="text", long=True)
    (command,) = (
        text.strip()
        for text in made()._text(found, args).splitlines()
        if "trait-sched add" in text
    )
    assert command == f"openstack trait-sched add CUSTOM_A --host {uuid} --host cmp00"


# Nothing that a tenant named talks to the terminal, in any format.


NAME = "ok\n| flavor | all | changed |\x1b[2J\u202e\u2028\x85"
SHOWN = r"ok\n| flavor | all | changed |\x1b[2J\u202e\u2028\x85"
AGGREGATE = Aggregate("1", "a", NAME, (NAME,), {NAME: "1"})
MIRROR = Difference(AGGREGATE, missing=(Compute("c", NAME, NAME),))


class Rows(base.Lister):
    """One row of all kinds of cells, each with the name."""

    needs_login = False

    def take_action(self, args):
        mirror = listing.Mirror(MIRROR, whole=True)
        hosts = listing.HostsCell([NAME], whole=True)
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


# How commands that write end: first the rows, then all else that is to be said.


ADD = ("add", "CUSTOM_SILVER", "--all", "-f", "json")
REMOVE = ("remove", "CUSTOM_GOLD", "--host", "cmp03", "-f", "json")
REPAIR = ("mirror", "repair", "-f", "json")
AGGREGATES = f"/resource_providers/{CMP03}/aggregates"


def using(monkeypatch, found):
    monkeypatch.setattr(base.Command, "cloud", lambda command: found)
    return found


@pytest.fixture
def removing(monkeypatch):
    """A cloud in which cmp01 keeps the trait."""
    return using(monkeypatch, cloud_with_trait())


@pytest.fixture
def repairing(monkeypatch):
    """A cloud whose Placement lacks cmp03 in one aggregate."""
    inside = {"aggregates": [ZONE1], "resource_provider_generation": 3}
    return using(monkeypatch, RecordedCloud(placement={AGGREGATES: inside}))


def run(*arguments):
    return functional_shell.run(
        functional_shell.login("http://nowhere"), "trait-sched", *arguments
    )


def failing(problem, *uuids):
    """Return what makes a write of some providers end with a problem."""

    def fail(path):
        if any(uuid in path for uuid in uuids):
            raise problem

    return fail


def interrupted_read(*arguments, **options):
    raise KeyboardInterrupt


def lost(service):
    """Return what makes every read of a service hang, until somebody interrupts."""
    return lambda path: setattr(service, "get", interrupted_read)


def test_an_exception_is_told_after_the_rows_of_all_changes(monkeypatch, golden):
    cloud = using(monkeypatch, RecordedCloud())
    cloud.placement.when_put = failing(KeyError("traits"), CMP02)
    found = run(*ADD)
    assert found.code == 1
    assert found.statuses == {
        "cmp01": "changed",
        "cmp02": "unknown",
        "cmp03": "not done",
    }
    golden("add/unexpected-error", found.err)


@pytest.mark.parametrize("command", [ADD, REMOVE], ids=["add", "remove"])
def test_a_column_that_is_not_there_is_said_before_anything_is_written(
    removing, command
):
    found = run(*command, "-c", "nope")
    assert (found.code, found.out, removing.placement.written) == (2, "", [])
    assert found.err.startswith("no column 'nope'; there are host, provider, ")


def test_rows_of_a_removal_are_there_whatever_becomes_of_the_second_look(removing):
    removing.placement.when_put = lost(removing.placement)
    found = run(*REMOVE)
    assert (found.code, found.statuses) == (130, {"cmp03": "changed"})


def test_rows_of_a_repair_are_there_whatever_becomes_of_the_second_look(repairing):
    repairing.placement.when_put = lost(repairing.compute)
    found = run(*REPAIR)
    assert (found.code, found.statuses) == (130, {"cmp03": "changed"})


def test_that_nova_can_t_be_read_again_is_said_after_a_repair(repairing, golden):
    def fail(path):
        repairing.compute.now_has("/os-aggregates", CloudBroke("compute", "down", 503))

    repairing.placement.when_put = fail
    found = run(*REPAIR)
    assert (found.code, found.statuses) == (1, {"cmp03": "changed"})
    golden("mirror/not-read-again", found.err)


# Jobs and commands on the pages for automation and deployment tools.


SOURCE = REPOSITORY / "doc" / "source"
PAGES = sorted(
    page for name in ("automate", "deployments") for page in (SOURCE / name).glob("*")
)
_BLOCK = re.compile(
    r"^( *)\.\. code-block::(.*)\n(?:\1   :.*\n)*\n((?:\1   .*\n|\n)+)",
    re.M,
)
_OPTIONS = r"(?:-\S+(?:[= ](?!-|trait-sched)\S+)? )*"
_COMMAND = re.compile(rf"\bopenstack {_OPTIONS}trait-sched (.*)")
#: What ends the words of a command in a shell.
_END = re.compile(r"\s(?:\d?[|<>&]|;)|\)(?:\s|$)")
VERBS = [verb.removeprefix("trait-sched ") for verb in examples.verbs()]


def blocks(page, language=".*"):
    """The blocks of code of a page, without their indentation."""
    for block in _BLOCK.finditer(page.read_text("utf-8")):
        if re.fullmatch(language, block[2].strip()):
            yield textwrap.dedent(block[3])


def commands(page) -> Iterator[list[str]]:
    """The words behind ``trait-sched`` of each command of a page."""
    for block in blocks(page):
        for found in _COMMAND.finditer(re.sub(r"\\\n\s*", "", block)):
            words = shlex.split(_END.split(found[1])[0])
            if "$@" not in words:
                yield words


@pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}"
)
def test_every_block_of_yaml_is_yaml_and_every_command_takes_its_words(page):
    for block in blocks(page, "yaml"):
        assert isinstance(yaml.safe_load(block), (dict, list)), block
    for words in commands(page):
        verb = max(
            (verb for verb in VERBS if words[: len(verb.split())] == verb.split()),
            key=len,
        )
        parser = examples.command(f"trait-sched {verb}")(
            argparse.Namespace(command_manager=argparse.Namespace(namespace="none")),
            argparse.Namespace(),
        ).get_parser("it")
        parser.parse_args(words[len(verb.split()) :])


def test_the_page_on_pipelines_has_a_job_for_each_tool():
    page = SOURCE / "automate" / "ci.rst"
    whole = [yaml.safe_load(block) for block in blocks(page, "yaml")]
    assert len(whole) == 4
    text = "\n".join(blocks(page, "yaml"))
    assert text.count("plan desired --exit-code -f json > plan.json") == 3
    assert sum(words[0] == "explain" for words in commands(page)) == 2


# A table of list --by-trait has the traits that somebody chose.


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
