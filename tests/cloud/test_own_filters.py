"""The example filters and weigher run in nova-scheduler as they do in the runner.

nova-scheduler imports the very files that the runner is given.
"""

from __future__ import annotations

import shutil

import pytest

from tests import scripts
from tests.cloud import logs
from tests.cloud.cloud import Cloud
from tests.cloud.factory import factory
from tests.functional import shell
from tests.printed import blocks
from tests.services import environment
from tests.services.release import NEWEST

FOLDER = environment.REPOSITORY / "examples" / "nova_filters"
CLASSES = {
    "log_everything_filter": "LogEverythingFilter",
    "source_network_filter": "SourceNetworkFilter",
    "aggregate_priority_weigher": "AggregatePriorityWeigher",
}
LOG, SOURCE, PRIORITY = CLASSES
FILTERS = [f"examples.nova_filters.{name}.{CLASSES[name]}" for name in (LOG, SOURCE)]
WEIGHER = f"examples.nova_filters.{PRIORITY}.{CLASSES[PRIORITY]}"
OPTIONS = (
    "filter_scheduler.available_filters=nova.scheduler.filters.all_filters",
    *(f"filter_scheduler.available_filters={each}" for each in FILTERS),
    "filter_scheduler.enabled_filters="
    "ComputeFilter,LogEverythingFilter,SourceNetworkFilter",
    f"filter_scheduler.weight_classes={WEIGHER}",
    "source_network_filter.rules=127.0.0.0/8=cmp1",
    "aggregate_priority_weigher.weight_multiplier=3.0",
)

PAGE = "doc/source/reference/custom-filters.rst"
RULES = "[source_network_filter]\nrules = 10.1.0.0/16=cmp00, 10.2.0.0/16=cmp03\n"
#: The Python that the page names.
PYTHON = "/opt/nova/bin/python"

#: What nova-scheduler has of a host beside what is visible, in the same attribute.
HAS_MORE = {"aggregates", "service", "stats"}


@pytest.fixture(scope="module")
def cloud():
    """A cloud whose scheduler has the examples on; two of its computes are cmp1x."""
    with Cloud(computes=12, nova_options=OPTIONS) as cloud:
        yield cloud


@pytest.fixture(scope="module")
def boot(cloud):
    """A server that was asked for from this machine."""
    with factory(cloud.admin()) as make:
        make.aggregate("newer", "cmp03", "cmp11", priority="10")
        flavor, image = make.flavor("small"), make.image("raw")
        boot = make.boot(flavor, image)
        yield boot
        make.delete(boot)


def tried(cloud, name, *more):
    plugin = f"{FOLDER / name}.py:{CLASSES[name]}"
    return shell.run(
        cloud.environment,
        *("trait-sched", "filter", "try", plugin, "small", "raw", "-f", "json"),
        *("--nova-python", str(cloud.release.python())),
        *("--nova-conf", str(cloud.nova_conf)),
        *more,
    )


def test_a_server_goes_where_filter_and_weigher_say(cloud, boot):
    done = tried(cloud, SOURCE, "--remote-address", "127.0.0.1")
    assert (done.code, done.err) == (0, "")
    passing = {row["host"] for row in done.json if row["answer"] == "passes"}
    assert passing == {"cmp10", "cmp11"}
    done = tried(cloud, PRIORITY)
    assert (done.code, done.err) == (0, "")
    scores = {row["host"]: row["score"] for row in done.json}
    assert {host for host, score in scores.items() if score == 3.0} == {
        "cmp03",
        "cmp11",
    }
    assert (boot.status, boot.host) == ("ACTIVE", "cmp11")


def test_the_scheduler_logs_the_reasons_that_the_runner_gave(cloud, boot):
    done = tried(cloud, SOURCE, "--remote-address", "127.0.0.1")
    reasons = {line for row in done.json for line in row["reason"]}
    assert len(reasons) == 10
    assert logs.said(cloud, boot.request, SOURCE) == reasons


def test_what_is_visible_of_a_host_is_what_the_scheduler_sees(cloud, boot):
    done = tried(cloud, LOG)
    found = {line for row in done.json for line in row["reason"]}
    of_hosts = {line for line in found if ": host." in line and name(line)}
    logged = logs.said(cloud, boot.request, LOG)
    # The server itself came after the scheduler had looked.
    elsewhere = {line for line in of_hosts if not line.startswith("cmp11: ")}
    assert len(elsewhere) > 11 * 15
    assert elsewhere - logged == set()


def name(line):
    """Return the attribute that a line is about; None if it is one of ``HAS_MORE``."""
    found = line.partition(": host.")[2].partition(" ")[0]
    return None if found in HAS_MORE else found


def test_the_scheduler_knows_where_a_request_comes_from(cloud, boot):
    logged = logs.said(cloud, boot.request, LOG)
    assert "cmp00: context.remote_address = 127.0.0.1" in logged


def test_without_an_address_it_is_unknown_whom_the_filter_keeps_out(cloud, boot):
    done = tried(cloud, SOURCE)
    assert done.code == 8
    reason = ["it reads where the request comes from: --remote-address says it"]
    assert {row["answer"] for row in done.json} == {"unknown"}
    assert all(row["reason"] == reason for row in done.json)


def asked(cloud, verb, *more):
    # The filters of nova.conf are modules that this Python has to find.
    path = {"PYTHONPATH": str(environment.REPOSITORY)}
    return shell.run(
        {**cloud.environment, **path},
        *("trait-sched", verb, "small", "raw", "-f", "json"),
        *("--nova-python", str(cloud.release.python())),
        *more,
    )


OWN = [
    f"--custom-filter={FOLDER / name}.py:{CLASSES[name]}" for name in (SOURCE, PRIORITY)
]
HERE = ("--remote-address", "127.0.0.1")


@pytest.fixture(params=["of the settings", "named"])
def running(request, cloud, tmp_path):
    """The options that run the examples: by the scheduler's nova.conf, or named."""
    if request.param == "of the settings":
        return ("--nova-conf", str(cloud.nova_conf), *HERE)
    rules = tmp_path / "rules.conf"
    rules.write_text(
        "[source_network_filter]\nrules = 127.0.0.0/8=cmp1\n"
        "[aggregate_priority_weigher]\nweight_multiplier = 3.0\n"
        "[filter_scheduler]\nenabled_filters = ComputeFilter\nweight_classes =\n"
    )
    return ("--nova-conf", str(rules), *HERE, *OWN)


def test_explain_and_candidates_with_the_filters_agree_with_the_scheduler(
    cloud, boot, running
):
    done = asked(cloud, "explain", *running)
    assert (done.code, done.err) == (0, "")
    found = done.json
    assert found["candidates"] == ["cmp10", "cmp11"]
    assert found["picks"] == [boot.host]
    (condition,) = [
        each for each in found["clauses"] if each["id"] == "SourceNetworkFilter"
    ]
    assert (condition["alone"], condition["only"]) == (2, 10)
    of_hosts = {each["host"]: each["filters"] for each in found["hosts"]}
    texts = {each["text"] for filters in of_hosts.values() for each in filters}
    logged = logs.said(cloud, boot.request, SOURCE)
    assert texts == {
        f"is kept out by SourceNetworkFilter ({line.partition(': ')[2]})"
        for line in logged
    }
    assert {line.partition(": ")[0] for line in logged} == {
        host for host, filters in of_hosts.items() if filters
    }
    done = asked(cloud, "candidates", *running, "--weights")
    assert done.code == 0
    assert [row["host"] for row in done.json] == ["cmp11", "cmp10"]
    assert [row["weight"] for row in done.json] == [3.0, 0.0]


def test_the_filters_here_say_what_that_novas_own_say(cloud, boot):
    done = asked(
        cloud,
        "explain",
        "--with-nova",
        # The compute API of 2023.1 and of 2023.2 is the same.
        *("--nova-release", cloud.release.name),
        *("--flavor-property", "capabilities:hypervisor_type=QEMU"),
        *("--flavor-property", "capabilities:vcpus_total=<in> nothing"),
    )
    assert (done.code, done.err) == (3, "")
    found = done.json["in_nova"]
    # Until Wallaby zones are a filter's by default.
    assert len(found["compared"]) == (6 if cloud.release.number < 24 else 5)
    assert found["differences"] == []
    counts = {each["filter"]: each["no"] for each in done.json["filters"]}
    assert counts["ComputeCapabilitiesFilter"] == 12


def test_a_filter_that_can_not_run_is_one_line(cloud, boot, tmp_path):
    (tmp_path / "wrong.py").write_text("import nothing_like_this\n")
    for plugin, line in (
        (f"{tmp_path}/wrong.py:F", "No module named 'nothing_like_this' (line 1)"),
        (f"{tmp_path}/missing.py:F", "missing.py"),
    ):
        done = asked(cloud, "explain", "--custom-filter", plugin)
        assert (done.code, done.out) == (1, "")
        (text,) = done.err.splitlines()
        assert line in text


PRINTED = [*blocks(PAGE, "filter try"), *blocks(PAGE, "explain")]
SAMPLE = "examples/cloud.json"


@pytest.mark.parametrize(
    "block", PRINTED, ids=lambda block: f"{block.scene} {block.number}"
)
def test_what_the_page_prints_is_the_answer_on_the_sample_cloud(tmp_path, block):
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    (tmp_path / SAMPLE).parent.mkdir()
    shutil.copy(environment.REPOSITORY / SAMPLE, tmp_path / SAMPLE)
    (tmp_path / "rules.conf").write_text(RULES)
    command = block.command.replace(PYTHON, str(NEWEST.python()))
    done = scripts.type_in(tmp_path, command, {"TRAITSCHED_SNAPSHOT": SAMPLE})
    assert not block.differs_from(done.out), done.out + done.err


def test_the_page_prints_the_rules_a_trial_and_an_explanation():
    text = (environment.REPOSITORY / PAGE).read_text()
    assert all(f"   {line}\n" in text for line in RULES.splitlines())
    assert len(PRINTED) == 2
