"""One's own filters, on a recorded cloud and with a program in place of the Python."""

from __future__ import annotations

import shlex
import sys

import pytest

from osc_traitsched.app import own_filters, request
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.core.errors import BadConfiguration, Refusal
from osc_traitsched.core.nova.filter.answer import PASSES
from osc_traitsched.core.nova.plugin import NovaPythonFails, PluginFails
from tests.unit.app.recorded import CMP01, CMP02, CMP03, RecordedCloud

#: Unpacks the question, and lets through the hosts of which it was told something.
PYTHON = """import base64, json, sys, zlib
packed = sys.stdin.read().splitlines()[-1].split('"')[1]
asked = json.loads(zlib.decompress(base64.b64decode(packed)))
answers = {each["uuid"]: {"passes": True} for each in asked["hosts"]}
(plugin,) = asked["plugins"]
name = asked["spec"]["flavor"]["name"]
log = [plugin["source"], json.dumps(asked["nova_conf"]), name]
for each in answers.values():
    each["log"] = log
found = {"plugin": plugin["name"], "class": "F", "answers": answers}
print(json.dumps({"nova": "34.0.0", "plugins": [found]}))
"""


@pytest.fixture
def cloud():
    return RecordedCloud()


@pytest.fixture
def question(cloud):
    asked = request.ServerRequest("gold", "rocky")
    return request.question(cloud, asked, SettingsSources(nova_release=33))


@pytest.fixture
def python(tmp_path):
    path = tmp_path / "python.py"
    path.write_text(PYTHON)
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


def test_all_hosts_are_judged_with_the_texts_of_the_files(
    cloud, question, python, tmp_path
):
    (tmp_path / "f.py").write_text("class F: ...")
    (tmp_path / "n.conf").write_text("[mine]")
    plugin, conf = f"{tmp_path}/f.py:F", f"{tmp_path}/n.conf"
    trial = own_filters.try_plugin(cloud, question, plugin, python, [conf])
    assert [each.host for each in trial.hosts] == ["cmp01", "cmp02", "cmp03"]
    expected = dict.fromkeys((CMP01, CMP02, CMP03), PASSES)
    assert trial.judgment.answers == {plugin: expected}
    files = f'[{{"name": "{conf}", "text": "[mine]"}}]'
    assert trial.judgment.logs[plugin][CMP01] == ("class F: ...", files, "gold")


def test_a_file_that_is_not_there_is_named(cloud, question, python):
    with pytest.raises(BadConfiguration, match=r"no-such\.py"):
        own_filters.try_plugin(cloud, question, "no-such.py:F", python)


def test_a_file_without_a_class_is_no_plugin(cloud, question, python):
    with pytest.raises(PluginFails):
        own_filters.try_plugin(cloud, question, "no-such.py", python)


def test_a_python_without_nova_is_an_error(cloud, question):
    with pytest.raises(NovaPythonFails) as raised:
        own_filters.try_plugin(cloud, question, "ComputeFilter", sys.executable)
    assert raised.value.kind == "no-nova"


def test_what_nova_refuses_is_not_tried(cloud, question):
    refused = question.with_flavor({"hw:cpu_policy": "nonsense"})
    with pytest.raises(Refusal):
        own_filters.try_plugin(cloud, refused, "ComputeFilter", "false")
