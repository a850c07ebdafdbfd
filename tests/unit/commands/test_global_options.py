"""What is pasted runs against the cloud that was looked at."""

from __future__ import annotations

import argparse
import io
import types

import pytest
from openstackclient import shell

from osc_traitsched.commands.explain import Explain
from osc_traitsched.paste import Option, line, openstack, repeating
from tests.cases.reading import Case
from tests.unit.views.test_schema import explained

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
