"""check mirror, isolate and candidates beside a Placement."""

from __future__ import annotations

import sys
import uuid

import pytest

from tests.functional import shell
from tests.functional.nova import Nova
from tests.functional.shell import login

# Hosts that Nova and Placement have otherwise, with a Nova that is made up.


CHECK = ("check", "mirror", "--nova-release", "2026.1")
SETTINGS = (
    "nova.conf unknown; run once: openstack trait-sched config save --nova-conf FILE\n"
)


@pytest.fixture
def check(openstack):
    """Return ID, severity and object of each finding."""

    def run():
        done = openstack(*CHECK, "-f", "json")
        for row in done.json:
            print(row)
        return [(row["id"], row["severity"], row["object"]) for row in done.json]

    return run


def known(placement, *names):
    return [(name, placement.add_host(name)) for name in names]


def put(placement, provider, *aggregates):
    generation = placement.generation(provider)
    body = {"resource_provider_generation": generation, "aggregates": [*aggregates]}
    placement.call("PUT", f"/resource_providers/{provider}/aggregates", body)


def test_hosts_that_both_have_alike_are_no_finding(placement, proxy, check, openstack):
    Nova(proxy, known(placement, "cmp00", "cmp01"), {})
    assert check() == []
    done = openstack(*CHECK)
    assert done.out == "Nothing found: 9 rules looked at 0 aggregates, 2 hosts.\n"
    assert done.err == SETTINGS


def test_a_hypervisor_without_a_provider(placement, proxy, check):
    hosts = known(placement, "cmp00")
    Nova(proxy, [*hosts, ("cmp01", str(uuid.uuid4()))], {})
    assert check() == [("mirror-no-provider", "error", "host cmp01")]


ORPHAN = """\
WARNING  mirror-no-hypervisor  provider cmp01
  Nova lists 1 of the 2 compute nodes that Placement has, and not this one (ID): its \
list may be incomplete, so no provider is called orphaned
  if the host exists, restart its nova-compute (unless openstack compute service list \
shows it), then run nova-manage cell_v2 discover_hosts --by-service; what is allocated \
from it:
    openstack resource provider show --allocations ID

1 warning
"""


def test_a_person_gets_blocks_and_chosen_columns_are_a_table(
    placement, proxy, openstack
):
    hosts = known(placement, "cmp00", "cmp01")
    Nova(proxy, hosts[:1], {})
    blocks = ORPHAN.replace("ID", hosts[1][1])
    for arguments in ((), ("-f", "text")):
        assert openstack(*CHECK, *arguments).out == blocks
    table = openstack(*CHECK, "-c", "id", "-c", "object").out
    assert table.splitlines()[1:4:2] == [
        "| id                   | object         |",
        "| mirror-no-hypervisor | provider cmp01 |",
    ]
    assert openstack(*CHECK, "-f", "table").out.startswith("+---")
    assert openstack(*CHECK, "--sort-column", "id").out.startswith("+---")


def test_a_rule_that_is_ignored_finds_nothing(placement, proxy, openstack):
    Nova(proxy, known(placement, "cmp00", "cmp01")[:1], {})
    strict = (*CHECK, "--fail-on", "warning")
    assert openstack(*strict).code == 7
    run = openstack(*strict, "--ignore", "mirror-no-hypervisor")
    assert (run.code, run.out) == (
        0,
        "Nothing found: 8 rules looked at 0 aggregates, 1 host.\n",
    )


def test_the_mirror_alone_can_be_checked(placement, proxy, openstack):
    Nova(proxy, known(placement, "cmp00", "cmp01")[:1], {})
    options = ("--nova-release", "2026.1", "--fail-on", "warning")
    for more in ((), ("-f", "json"), ("--ignore", "mirror-no-hypervisor")):
        found = openstack("check", "mirror", *options, *more)
        assert found.code == (0 if "--ignore" in more else 7)
    assert {request.method for request in proxy.requests} == {"GET"}


def test_checks_have_no_option_that_mends(openstack):
    run = openstack("check", "--mend")
    assert run.code == shell.USAGE
    assert "unrecognized arguments: --mend" in run.err


def test_programs_get_what_they_always_got(placement, proxy, openstack):
    hosts = known(placement, "cmp00", "cmp01")
    Nova(proxy, hosts[:1], {})
    _, problem, when, command, *_ = ORPHAN.replace("ID", hosts[1][1]).splitlines()
    row = {
        "id": "mirror-no-hypervisor",
        "severity": "warning",
        "object": "provider cmp01",
        "problem": problem.strip(),
        "fix": f"{when.strip()} {command.strip()}",
    }
    assert openstack(*CHECK, "-f", "json").json == [{**row, "affects": []}]
    assert openstack(*CHECK, "-f", "value").out == " ".join(row.values()) + "\n"
    header, line = openstack(*CHECK, "-f", "csv", "--quote", "all").out.splitlines()
    assert header == ",".join(f'"{name}"' for name in row)
    assert line == ",".join(f'"{value}"' for value in row.values())


def test_a_hypervisor_whose_name_a_provider_of_another_uuid_has(
    placement, proxy, check
):
    first, (name, _) = known(placement, "cmp00", "cmp01")
    Nova(proxy, [first, (name, str(uuid.uuid4()))], {})
    assert check() == [("mirror-other-uuid", "error", "host cmp01")]


def test_a_provider_of_a_host_that_is_gone(placement, proxy, check):
    Nova(proxy, known(placement, "cmp00", "cmp01")[:1], {})
    assert check() == [("mirror-no-hypervisor", "warning", "provider cmp01")]


def test_a_provider_that_hosts_share_is_no_host_that_is_gone(placement, proxy, check):
    placement.add_host("pool", ["MISC_SHARES_VIA_AGGREGATE"])
    Nova(proxy, known(placement, "cmp00"), {})
    assert check() == []


def test_all_nodes_of_a_host_but_one_are_missing_and_mended(
    placement, proxy, check, openstack
):
    (first, *others) = known(placement, "node0", "node1", "node2")
    nova = Nova(proxy, [], {"metal": ({}, ("ironic",))})
    for name, identity in (first, *others):
        nova.runs(name, identity, "ironic")
    put(placement, first[1], nova.uuid("metal"))
    assert check() == [("mirror-node-missing", "warning", "host ironic")]
    run = openstack("mirror", "repair", "-f", "json")
    assert run.statuses == {"node1": "changed", "node2": "changed"}
    assert check() == []


def test_findings_of_an_earlier_run_are_left_out(placement, proxy, openstack, tmp_path):
    hosts = known(placement, "cmp00")
    Nova(proxy, [*hosts, ("cmp01", str(uuid.uuid4()))], {})
    first = openstack(*CHECK, "-f", "json")
    assert first.code == 7
    earlier = tmp_path / "earlier.json"
    earlier.write_text(first.out)
    known_one = openstack(*CHECK, "--new-since", str(earlier))
    assert known_one.code == 0
    assert known_one.out.startswith("Nothing to show: 1 finding left out.\n")
    assert known_one.err == f"1 finding of {earlier} not shown\n{SETTINGS}"
    Nova(proxy, [*hosts, *((f"cmp0{n}", str(uuid.uuid4())) for n in (1, 2))], {})
    found = openstack(*CHECK, "--new-since", str(earlier), "-f", "json")
    assert (found.code, [row["object"] for row in found.json]) == (7, ["host cmp02"])
    earlier.write_text("[1]")
    wrong = openstack(*CHECK, "--new-since", str(earlier))
    assert wrong.code == 1
    assert "not the output of trait-sched check -f json" in wrong.err


def test_a_severity_hides_what_is_less_severe(placement, proxy, openstack):
    Nova(proxy, known(placement, "cmp00", "cmp01")[:1], {})
    rows = openstack(*CHECK, "-f", "json").json
    assert {row["severity"] for row in rows} == {"warning"}
    assert openstack(*CHECK, "--severity", "error", "-f", "json").json == []
    shown = openstack(*CHECK, "--severity", "error").out
    assert shown.startswith("Nothing to show: 1 finding left out.\n")


def test_the_hint_repeats_the_login_options_of_the_call(placement, proxy):
    Nova(proxy, known(placement, "cmp00"), {})
    options = ("--os-interface", "internal", "trait-sched", *CHECK)
    done = shell.run(shell.login(proxy.url), *options)
    assert "run once: openstack --os-interface internal trait-sched config" in done.err


# isolate and unisolate, before they ask Nova for anything.


BOTH = pytest.mark.parametrize("verb", ["isolate", "unisolate"])


@BOTH
def test_options_that_do_not_go_together_are_a_usage_error(openstack, proxy, verb):
    run = openstack(verb, "gold", "CUSTOM_GOLD", "--exit-code")
    assert (run.code, run.out) == (2, "")
    assert run.err == "--exit-code requires --dry-run\n"
    assert not proxy.requests


def test_images_of_other_projects_lose_no_trait_that_all_else_keeps(openstack, proxy):
    run = openstack("unisolate", "gold", "--all-images")
    assert (run.code, run.err) == (2, "--all-images requires --remove-traits\n")
    assert not proxy.requests


@BOTH
def test_what_can_be_no_trait_is_told_before_anything_is_asked(openstack, proxy, verb):
    run = openstack(verb, "gold", "custom-gold")
    assert (run.code, run.out) == (1, "")
    assert "'custom-gold' can't be a trait" in run.err
    assert not proxy.requests


@BOTH
def test_without_nova_there_is_one_line_and_nothing_is_written(openstack, proxy, verb):
    run = openstack(verb, "gold", "CUSTOM_GOLD")
    assert (run.code, run.out) == (1, "")
    assert len(run.err.splitlines()) == 1
    assert run.err.startswith("compute")
    assert not proxy.writes


# What candidates prints for programs where there is no host.


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
