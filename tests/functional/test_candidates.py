"""What candidates prints for programs where there is no host."""

from __future__ import annotations

import sys

import pytest

from tests.functional import shell
from tests.functional.nova import Nova
from tests.functional.shell import login

NO_IMAGE = ("-", "--nova-release", "2026.1")
UNKNOWN = {"resources:CUSTOM_FOO": "1"}
#: Nova takes no such number.
MALFORMED = {"hw:numa_nodes": "many"}
SLEEP = "sh -c 'sleep 9'"
TOO_MUCH = {"resources:VCPU": "1000"}


@pytest.fixture
def candidates(placement, proxy, openstack):
    """Run candidates for a flavor with these extra specs."""
    nova = Nova(proxy, [("cmp01", placement.add_host("cmp01"))], {})

    def run(extra_specs, *options):
        flavor = {"id": "1", "name": "odd", "vcpus": 1, "ram": 512, "disk": 1}
        nova._bodies["/flavors/detail"] = {
            "flavors": [{**flavor, "extra_specs": extra_specs}]
        }
        return openstack("candidates", "odd", *NO_IMAGE, *options)

    return run


@pytest.mark.parametrize("extra_specs", [TOO_MUCH, UNKNOWN, MALFORMED], ids=str)
@pytest.mark.parametrize("kind", ["json", "yaml"])
def test_no_host_and_a_refusal_have_one_shape(candidates, extra_specs, kind):
    run = candidates(extra_specs, "-f", kind)
    assert (run.code, run.out.strip()) == (3, "[]")
    assert len(run.err.splitlines()) == (extra_specs is not TOO_MUCH)


def test_a_refused_query_is_an_empty_list(candidates):
    run = candidates(MALFORMED, "--print-query", "-f", "json", "-c", "query")
    assert (run.code, run.json) == (3, [])
    assert "numa" in run.err


def test_a_person_is_told_the_refusal_alone(candidates):
    run = candidates(UNKNOWN)
    assert (run.code, run.out) == (3, "")
    assert run.err.endswith("No such resource class CUSTOM_FOO.\n")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--custom-filter", "f.py:F"), "--custom-filter requires --nova-python"),
        (
            ("--custom-filter", "no-such.py:F", "--nova-python", "python3"),
            "no-such.py: No such file or directory",
        ),
        (
            ("--custom-filter", "no-such.py", "--nova-python", "python3"),
            "'no-such.py' can't be loaded: no class is named: FILE.py:CLASS",
        ),
        (
            ("--custom-filter", "m:F", "--nova-python", "no-such-python"),
            "'no-such-python' can't be started: No such file or directory",
        ),
        (
            (
                "--custom-filter",
                "m:F",
                "--nova-python",
                SLEEP,
                "--nova-python-timeout",
                "1",
            ),
            "\"sh -c 'sleep 9'\" took longer than 1 seconds",
        ),
        (
            ("--custom-filter", "m:F", "--nova-python", sys.executable),
            f"'{sys.executable}' has no Nova: no module nova in",
        ),
        (
            ("--on-host", "cmp02"),
            "nova-api rejects it (HTTP 400): Nova lists no compute node with host",
        ),
    ],
)
def test_what_can_not_be_asked_is_one_line(candidates, options, line):
    run = candidates({}, *options)
    assert run.code != 0
    assert run.out == ""
    (said,) = run.err.splitlines()
    assert said.startswith(line)


def test_quiet_prints_the_name_of_every_host(placement, proxy):
    names = [f"cmp{number:02d}" for number in range(12)]
    nova = Nova(proxy, [(name, placement.add_host(name)) for name in names], {})
    flavor = {"id": "1", "name": "odd", "vcpus": 1, "ram": 512, "disk": 1}
    nova._bodies["/flavors/detail"] = {"flavors": [{**flavor, "extra_specs": {}}]}
    command = ("-q", "trait-sched", "candidates", "odd", *NO_IMAGE)
    run = shell.run(login(proxy.url), *command)
    assert run.out == f"12 hosts, best first: {', '.join(names)}\n"
