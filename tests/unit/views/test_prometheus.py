"""Metrics of all commands, and the dashboard and the alerts that read them."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import subprocess

import pytest
import yaml

from osc_traitsched.core.check.survey import ERROR, WARNING
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.servers.failure import FailedKind, FailedServer, FailedServers
from osc_traitsched.views import capacity, check, lose, server_explain
from tests.unit.views import test_capacity, test_lose

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"
DASHBOARD = json.loads((EXAMPLES / "grafana" / "trait-sched.json").read_text())
ALERTS = EXAMPLES / "prometheus" / "alerts.yaml"
#: Of Prometheus' node exporter.
MTIME = "node_textfile_mtime_seconds"

TWO = FailedKind(
    (FailedServer("1", "web"), FailedServer("2", "db")),
    None,
    CloudBroke("placement", "broken", 500),
)
FAILED = server_explain.metrics(FailedServers((TWO,), (FailedServer("3", "x"),)))
FINDINGS = [ERROR("a", "wrong"), ERROR("b", "wrong"), WARNING("c", "odd")]
CHECK = check.metrics(FINDINGS, (), {"images": ["x", "y"], "hosts": ["y"]})
CAPACITY = capacity.metrics(test_capacity.found(test_capacity.fit("small", 13)))
LOSE = lose.metrics(test_lose.SCREENS["no"])
PRINTED = {"failed": FAILED, "check": CHECK, "capacity": CAPACITY, "lose": LOSE}
NAMES = set(re.findall(r"(?m)^# TYPE (\S+) gauge$", "\n".join(PRINTED.values())))

promtool = pytest.mark.skipif(
    shutil.which("promtool") is None,
    reason="promtool of the distribution's package prometheus is missing",
)


def named(expression):
    without_labels = re.sub(r"\{[^}]*\}|\"[^\"]*\"", "", expression)
    return set(re.findall(r"\b(?:traitsched|node)_\w+", without_labels))


def test_failed_servers_are_counted_by_stage_and_reason():
    assert FAILED.splitlines()[2:] == [
        'traitsched_failed_servers{stage="unknown",reason="unknown"} 3',
        "# HELP traitsched_failed Servers that failed.",
        "# TYPE traitsched_failed gauge",
        "traitsched_failed 3",
    ]


def test_findings_are_counted_by_rule_and_severity():
    values = [line for line in CHECK.splitlines() if not line.startswith("#")]
    assert values == [
        f'traitsched_check_findings{{rule="{FINDINGS[0].rule}",severity="error"}} 2',
        f'traitsched_check_findings{{rule="{FINDINGS[0].rule}",severity="warning"}} 1',
        "traitsched_check_rules 0",
        "traitsched_check_rules_not_run 2",
    ]


def test_the_dashboard_shows_every_gauge_and_no_other():
    expressions = [
        target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]
    ]
    assert all(panel["targets"] for panel in DASHBOARD["panels"])
    assert set().union(*map(named, expressions)) == NAMES
    places = [tuple(panel["gridPos"].values())[:2] for panel in DASHBOARD["panels"]]
    assert len({*places}) == len(places)
    variables = {each["name"] for each in DASHBOARD["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(DASHBOARD["panels"])))
    assert used == variables


def test_alerts_read_only_metrics_that_are_printed():
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    for rule in group["rules"]:
        assert named(rule["expr"]) <= {*NAMES, MTIME}, rule["alert"]
        assert named(rule["expr"]), rule["alert"]


@promtool
def test_promtool_takes_the_alerts():
    subprocess.run(["promtool", "check", "rules", ALERTS], check=True)


@promtool
@pytest.mark.parametrize("command", PRINTED)
def test_promtool_takes_the_metrics(command):
    text = f"{PRINTED[command]}\n"
    done = subprocess.run(
        ["promtool", "check", "metrics"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
