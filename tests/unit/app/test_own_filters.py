"""One's own filters, on a recorded cloud and with a program in place of the Python."""

from __future__ import annotations

import dataclasses
import itertools
import json
import shlex
import sys

import pytest

from osc_traitsched.app import (
    capacity,
    check,
    desired,
    drain,
    explain,
    own_filters,
    request,
    settings,
)
from osc_traitsched.app.desired import Isolation
from osc_traitsched.app.own_filters import NovaClaims, OwnSources
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import lookup, read
from osc_traitsched.cloud.saved.cloud import SavedCloud
from osc_traitsched.core.change.effects import LeavesNoHost
from osc_traitsched.core.errors import BadConfiguration, Refusal
from osc_traitsched.core.nova.filter import table
from osc_traitsched.core.nova.filter.state import PASSES, host_states
from osc_traitsched.core.nova.options import ENABLED_FILTERS, Setting
from osc_traitsched.core.nova.own import NovaPythonFails, PluginFails
from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.core.placement.facts import Room
from osc_traitsched.core.servers.fleet import ServersLoseHosts
from osc_traitsched.core.servers.usage import CapacityQuery
from osc_traitsched.views.explain import document
from osc_traitsched.views.explain import text as explain_text
from tests.schemas import closed
from tests.services.environment import REPOSITORY
from tests.unit.app import test_explain
from tests.unit.app.recorded import CMP01, CMP02, CMP03, KNOWN_OFF, RecordedCloud
from tests.unit.app.test_explain import names
from tests.unit.core.scheduled import COMPUTE


@pytest.fixture
def cloud():
    return RecordedCloud()


@pytest.fixture
def question(cloud):
    asked = ServerSpec("gold", "rocky")
    return request.question(
        cloud, asked, SettingsSources(nova_release=33, options=KNOWN_OFF)
    )


#: Answers what each class was told to, and says what it was asked.
ANSWERS = """import base64, json, pathlib, sys, zlib
packed = sys.stdin.read().splitlines()[-1].split('"')[1]
asked = json.loads(zlib.decompress(base64.b64decode(packed)))
here = pathlib.Path(__file__).parent
(here / "asked.json").write_text(json.dumps(asked))
told = json.loads((here / "told.json").read_text())
found = []
for each in asked["plugins"]:
    name = each["path"].rpartition(".")[2]
    say = told.get(name, {"": {"passes": True}})
    one = {"plugin": each["name"], "class": name, "together": False}
    answers = {h["uuid"]: say.get(h["host"], say[""]) for h in asked["hosts"]}
    if "value" in say[""]:
        one.update(figures=answers, limits=[None, None])
    else:
        one.update(answers=answers)
    found.append(one)
counts = {h["uuid"]: told.get("counts", {}).get(h["host"]) for h in asked["hosts"]}
known = {uuid: each for uuid, each in counts.items() if each}
answer = {"plugins": found}
def claims_of(more):
    rooms, says, kinds = told.get(f"rooms{more}", told.get("rooms", {})), {}, []
    for each in found:
        one = told.get(f"{each['class']}{more}") or told.get(each["class"])
        one = one or {"": {"passes": True}}
        says[each["class"]] = [one.get(h["host"], one[""]) for h in asked["hosts"]]
    claims = [
        {
            **{name: {"claim": False, **each[number]} for name, each in says.items()},
            "room": rooms.get(host["host"], [1, None]),
            "claim_room": rooms.get(host["host"], [1, None]),
        }
        for number, host in enumerate(asked["hosts"])
    ]
    free = [
        {name: (each[number].get("log") or [""])[0] for name, each in says.items()}
        for number in range(len(claims))
    ]
    return {
        "claims": [json.loads(json.dumps(claims)) for _ in asked["claims"]],
        "wanted": [dict.fromkeys(says, "")] * len(asked["claims"]),
        "free": free,
        "kinds": [[h["uuid"]] for h in asked["hosts"]],
    }
if "claims" in asked:
    answer = {**claims_of(""), "hosts": known, "emptied": claims_of("Emptied")}
print(json.dumps({"nova": "33.1.0", **answer}))
"""
YES = {"passes": True}
NO = {"passes": False, "log": ["cmp01: not this one"]}
NAMES = ("cmp01", "cmp02", "cmp03")


class Nova:
    """A Python with Nova in it that says of classes what it is told."""

    def __init__(self, folder):
        self._folder = folder
        (folder / "nova.py").write_text(ANSWERS)
        words = (sys.executable, str(folder / "nova.py"))
        self.command = " ".join(map(shlex.quote, words))

    def says(self, **classes):
        """Say this of hosts; the host ``_`` stands for all others."""
        told = {
            name: {"" if host == "_" else host: each for host, each in hosts.items()}
            for name, hosts in classes.items()
        }
        (self._folder / "told.json").write_text(json.dumps(told))
        return self

    @property
    def asked(self):
        return json.loads((self._folder / "asked.json").read_text())

    def sources(self, *plugins, **more):
        return OwnSources(self.command, plugins, **more)


@pytest.fixture
def nova(tmp_path):
    return Nova(tmp_path)


@pytest.fixture
def two():
    """A cloud of which two hosts are given, and which filters are on in it."""
    return test_explain.cloud()


def test_all_hosts_are_judged_with_the_texts_of_the_files(
    cloud, question, nova, tmp_path
):
    (tmp_path / "f.py").write_text("class F: ...")
    (tmp_path / "n.conf").write_text("[mine]")
    plugin, conf = f"{tmp_path}/f.py:F", f"{tmp_path}/n.conf"
    nova.says(F={"_": YES})
    trial = own_filters.try_plugin(cloud, question, plugin, nova.command, [conf])
    assert [each.host for each in trial.hosts] == ["cmp01", "cmp02", "cmp03"]
    expected = dict.fromkeys((CMP01, CMP02, CMP03), PASSES)
    assert trial.judgment.answers == {plugin: expected}
    (asked,) = nova.asked["plugins"]
    assert asked["source"] == "class F: ..."
    assert nova.asked["nova_conf"] == [{"name": conf, "text": "[mine]"}]
    assert nova.asked["spec"]["flavor"]["name"] == "gold"


@pytest.mark.parametrize(
    ("plugin", "error"), [("no-such.py:F", BadConfiguration), ("no.py", PluginFails)]
)
def test_a_file_that_is_not_there_or_names_no_class_is_said(
    cloud, question, plugin, error
):
    with pytest.raises(error, match=r"no.*\.py"):
        own_filters.try_plugin(cloud, question, plugin, sys.executable)


def test_what_nova_refuses_is_not_tried(cloud, question):
    refused = question.with_flavor({"hw:cpu_policy": "nonsense"})
    with pytest.raises(Refusal):
        own_filters.try_plugin(cloud, refused, "ComputeFilter", "false")


def ask(cloud, *filters, **more):
    return test_explain.ask(cloud, *(filters or (COMPUTE,)), **more)


def test_what_runs_is_what_is_named_and_what_the_settings_name(two, nova):
    nova.says(Mine={"_": YES}, Ours={"_": YES}, Heavy={"_": {"value": [1.0, 1.0]}})
    asked = ask(two, COMPUTE, "Ours", weighers=("our.weighers.Heavy",))
    nodes = read.computes(two.compute)
    found = own_filters.answered(asked, nodes, nova.sources("mine.Mine"))
    assert [(p["path"], p["kind"], p["is_novas"]) for p in nova.asked["plugins"]] == [
        ("mine.Mine", None, False),
        ("Ours", "filter", False),
        ("our.weighers.Heavy", "weigher", False),
    ]
    assert [*found.own.filters] == ["Mine", "Ours"]
    assert found.own.weighers.has("our.weighers.Heavy")
    assert not nova.asked["all_lines"]
    assert nova.asked["options"] == [
        {
            "section": "filter_scheduler",
            "option": "enabled_filters",
            "value": "ComputeFilter,Ours",
        },
        {
            "section": "filter_scheduler",
            "option": "weight_classes",
            "value": "our.weighers.Heavy",
        },
    ]


def test_it_is_told_how_many_servers_there_are(two, nova):
    nova.says(Mine={"_": YES})
    asked = ask(two).with_spec(count=3)
    own_filters.answered(asked, read.computes(two.compute), nova.sources("mine.Mine"))
    assert nova.asked["spec"]["num_instances"] == 3


def test_novas_own_filters_run_where_they_are_asked_for(two, nova):
    nova.says(ComputeFilter={"_": YES})
    nodes = read.computes(two.compute)
    sources = nova.sources(with_nova=True)
    found = own_filters.answered(ask(two), nodes, sources)
    (plugin,) = nova.asked["plugins"]
    assert (plugin["path"], plugin["is_novas"]) == (COMPUTE, True)
    assert [*found.own.novas] == [COMPUTE]
    assert found.own.filters == {}


@pytest.mark.parametrize("zone", [None, "nova:cmp01"])
def test_nothing_starts_where_there_is_nothing_to_run(two, zone):
    broken = OwnSources("no-such-python", ("a.B",) if zone else ())
    asked = ask(two, zone=zone)
    nodes = read.computes(two.compute)
    assert own_filters.answered(asked, nodes, broken) is asked
    assert own_filters.answered(asked, nodes, None) is asked


def text(explanation):
    return "\n".join(each.text for each in explain_text.lines(explanation, (), True))


def test_a_no_of_ones_own_filter_keeps_a_host_out_with_its_own_reason(two, nova):
    nova.says(Mine={"_": YES, "cmp01": NO})
    sources = nova.sources("mine.Mine")
    explanation = explain.explain(two, ask(two), own=sources)
    found = explanation.judgement
    assert [host.name for host in found.candidates] == ["cmp02"]
    assert "cmp01 is kept out by Mine (not this one)" in text(explanation)
    whole = document.document(explanation)
    (row,) = [each for each in whole["filters"] if each["own"]]
    counts = {"yes": 2, "no": 1, "unknown": 0, "exception": 0}
    assert row == {"filter": "Mine", "own": True, **counts}
    assert whole["in_nova"] == {"nova": "33.1.0", "compared": [], "differences": []}
    assert closed("explain").is_valid(whole)
    listed = explain.candidates(two, ask(two), sources)
    assert (names(listed.hosts), names(listed.kept_out)) == (["cmp02"], ["cmp01"])


def test_what_ones_own_filter_reads_and_nobody_sees_is_said(two, nova):
    nova.says(Mine={"_": {"unknown": "numa_topology"}})
    explanation = explain.explain(two, ask(two), own=nova.sources("mine.Mine"))
    assert explanation.judgement.candidates.is_uncertain
    line = "Mine may keep out cmp01, cmp02: it reads numa_topology, which no API shows."
    assert line in text(explanation)
    nova.says(Mine={"_": {"unknown": "context.remote_address"}})
    explanation = explain.explain(two, ask(two), own=nova.sources("mine.Mine"))
    assert "(--remote-address says it)" in text(explanation)


def test_without_a_python_it_is_said_how_to_run_a_filter_of_the_settings(two):
    explanation = explain.explain(two, ask(two, "Ours"))
    assert "Ours may keep out cmp01, cmp02: it is none of Nova's (" in text(explanation)


def test_a_filter_of_ones_own_that_raises_ends_the_request(two, nova):
    nova.says(Mine={"_": {"raises": "KeyError: 'rack'"}})
    sources = nova.sources("mine.Mine")
    found = explain.explain(two, ask(two), own=sources).judgement
    assert (found.refusal.exception, found.refusal.keys) == (
        "KeyError",
        ("Mine", "'rack'"),
    )
    with pytest.raises(Refusal, match="a host filter ends the request"):
        explain.candidates(two, ask(two), sources)


def test_a_weigher_of_ones_own_decides_or_ends_the_request(two, nova):
    less, more = {"value": [1.0, 1.0]}, {"value": [2.0, 1.0]}
    sources = nova.sources("mine.Mine")
    for best, other in (NAMES[:2], NAMES[1::-1]):
        nova.says(Mine={"_": less, best: more})
        listed = explain.candidates(two, ask(two), sources)
        assert names(listed.hosts) == [best, other]
    nova.says(Mine={"_": less, "cmp02": {"raises": "ValueError: x"}})
    with pytest.raises(Refusal, match="a weigher ends the request"):
        explain.candidates(two, ask(two), sources)
    explanation = explain.explain(two, ask(two), own=sources)
    found = explanation.judgement
    assert found.refusal.keys == ("Mine", "x")
    unknown = {"_": YES, "cmp02": {"unknown": "metrics"}}
    nova.says(Mine={"_": less, "cmp02": {"raises": "ValueError: x"}}, Other=unknown)
    some = nova.sources("mine.Mine", "mine.Other")
    assert names(explain.candidates(two, ask(two), some).hosts) == ["cmp01", "cmp02"]
    explanation = explain.explain(two, ask(two), own=some)
    assert explanation.judgement.refusal is None
    line = "Mine: it raises ValueError on a host that may not be weighed"
    assert line in text(explanation)
    nova.says(Mine={"_": less, "cmp02": {"unknown": "metrics"}})
    explanation = explain.explain(two, ask(two), own=sources)
    found = explanation.judgement
    line = "Mine: it reads metrics, and is taken to weigh all hosts alike"
    assert line in text(explanation)
    assumed = {"weigher": "Mine", "missing": "metrics", "hosts": [], "text": line}
    assert assumed in document.document(explanation)["weight_assumptions"]


def test_where_nova_scheduler_does_not_start_nothing_runs_and_that_is_the_answer(two):
    broken = OwnSources("no-such-python", ("mine.Mine",))
    found = explain.explain(two, ask(two, "RetryFilter"), own=broken).judgement
    assert found.refusal.keys == ("RetryFilter",)
    with pytest.raises(Refusal, match="RetryFilter"):
        explain.candidates(two, ask(two, "RetryFilter"), broken)


def test_novas_own_filters_are_of_the_clouds_release(two, nova):
    nova.says(ComputeFilter={"_": YES}, Mine={"_": YES})
    asked = ask(two)
    other = dataclasses.replace(asked.assumptions, release=34)
    asked = dataclasses.replace(asked, assumptions=other)
    nodes = read.computes(two.compute)
    own_filters.answered(asked, nodes, nova.sources("mine.Mine"))
    with pytest.raises(NovaPythonFails, match=r"33\.1\.0, and the cloud's is 34"):
        own_filters.answered(asked, nodes, nova.sources(with_nova=True))


def test_where_nova_says_otherwise_that_is_said_and_nova_believed(two, nova):
    nova.says(ComputeFilter={"_": YES, "cmp01": NO})
    explanation = explain.explain(two, ask(two), own=nova.sources(with_nova=True))
    found = explanation.judgement
    assert [host.name for host in found.candidates] == ["cmp02"]
    assert (
        "Of cmp01 the ComputeFilter of Nova 33.1.0 says 'fails', and the one here "
        "'passes'. Nova is believed."
    ) in text(explanation)
    whole = document.document(explanation)
    assert closed("explain").is_valid(whole)
    assert whole["in_nova"]["differences"] == [
        {"filter": "ComputeFilter", "host": "cmp01", "here": "yes", "nova": "no"}
    ]


# Nova's database tells what no API shows of hosts.

NUMA, PCI = "NUMATopologyFilter", "PciPassthroughFilter"
CELLS = {"hw:numa_nodes": "2"}
NO_ROOM = {"passes": False, "log": ["cell 0: 64 MB free"]}
NO_CELLS = {"passes": False, "claim": True, "log": ["no NUMA cells"]}


def claiming(question, sources):
    """The question, with a Nova that is asked what hosts can claim."""
    settings = dataclasses.replace(question.assumptions, claims=NovaClaims(sources))
    return dataclasses.replace(question, assumptions=settings)


def told(two, nova, *filters):
    """Explain what Nova's database decides."""
    asked = ask(two, COMPUTE, *filters).with_flavor(CELLS)
    asked = claiming(asked, nova.sources(service="nova-scheduler"))
    return explain.explain(two, asked, want_fixes=False)


def test_filters_run_in_nova_if_no_api_shows_what_they_read(two, nova):
    nova.says(**{NUMA: {"_": YES, "cmp02": NO_ROOM}})
    explanation = told(two, nova, NUMA, PCI)
    assert [each["path"] for each in nova.asked["plugins"]] == [NUMA, PCI]
    assert nova.asked["service"] == "nova-scheduler"
    assert [host.name for host in explanation.judgement.candidates] == ["cmp01"]
    assert not explanation.judgement.candidates.is_uncertain
    assert f"cmp02 is kept out by {NUMA} (cell 0: 64 MB free)" in text(explanation)


def test_no_python_starts_if_the_apis_show_everything(two):
    broken = OwnSources("no-such-python", service="nova-scheduler")
    asked = claiming(ask(two, COMPUTE, NUMA), broken)
    assert explain.explain(two, asked, own=broken).judgement.has_room


@pytest.mark.parametrize(
    ("cmp01", "cmp02", "candidates", "is_uncertain"),
    [
        (YES, YES, ["cmp01", "cmp02"], False),
        (YES, NO_CELLS, ["cmp01", "cmp02"], False),
        (NO_ROOM, NO_ROOM, [], False),
        (YES, NO_ROOM, ["cmp01"], True),
        (YES, {"unknown": "numa_topology"}, ["cmp01", "cmp02"], True),
    ],
)
def test_a_claim_is_judged_by_a_filter_that_is_not_enabled(
    two, nova, cmp01, cmp02, candidates, is_uncertain
):
    nova.says(**{NUMA: {"_": YES, "cmp01": cmp01, "cmp02": cmp02}})
    found = told(two, nova).judgement
    assert [host.name for host in found.candidates] == candidates
    assert found.candidates.is_uncertain is is_uncertain


def test_a_host_without_cells_stays_open_if_the_filter_may_be_on(two, nova):
    nova.says(**{NUMA: {"_": YES, "cmp02": NO_CELLS}})
    sources = nova.sources(service="nova-scheduler")
    asked = ask(two, COMPUTE).with_flavor(CELLS)
    assumed = {ENABLED_FILTERS: Setting((COMPUTE,), "the default")}
    settings = {**asked.assumptions.settings, **assumed}
    settings = dataclasses.replace(asked.assumptions, settings=settings)
    asked = dataclasses.replace(asked, assumptions=settings)
    explanation = explain.explain(two, claiming(asked, sources))
    found = explanation.judgement
    assert [host.name for host in found.candidates.uncertain] == ["cmp02"]
    line = f"Depends on nova.conf: if {NUMA} is enabled, cmp02 drops out."
    assert line in text(explanation)


def test_hosts_stay_unknown_if_nova_does_not_answer(two, nova):
    warnings = []
    sources = OwnSources("none", service="nova-scheduler", warn=warnings.append)
    asked = ask(two, COMPUTE, NUMA).with_flavor(CELLS)
    found = explain.explain(two, claiming(asked, sources)).judgement
    assert found.candidates.is_uncertain
    (warning,) = warnings
    assert warning.startswith("'none' can't be started: No such file")
    nova.says(**{NUMA: {"_": YES}})
    other = dataclasses.replace(asked.assumptions, release=32)
    asked = dataclasses.replace(asked, assumptions=other)
    sources = nova.sources(service="nova-scheduler", warn=warnings.append)
    found = explain.explain(two, claiming(asked, sources)).judgement
    assert found.candidates.is_uncertain
    assert "is Nova 33.1.0, and the cloud's is 32" in warnings[-1]
    strict = nova.sources(service="nova-scheduler")
    with pytest.raises(NovaPythonFails, match="config save --nova-python"):
        explain.explain(two, claiming(asked, strict))


def test_counts_that_nova_has_decide_which_host_is_first(two, nova):
    sources = nova.sources(service="nova-scheduler")
    asked = ask(two, COMPUTE, NUMA).with_flavor(CELLS)
    pairs = (NAMES[:2], NAMES[1::-1])
    for (first, other), few in itertools.product(pairs, ([3, 0, 0], [0, 0, 4])):
        nova.says(**{NUMA: {"_": YES}}, counts={other: few, first: [0, 0, 0]})
        listed = explain.candidates(two, claiming(asked, sources))
        assert names(listed.hosts) == [first, other]
        missing = {each.missing for each in listed.judgement.ranking.assumed}
        assert missing.isdisjoint({"failed_builds", "num_io_ops", "pci_stats"})


def test_a_snapshot_has_what_the_filters_read(two, nova):
    nova.says(**{NUMA: {"_": YES, "cmp02": NO_ROOM}})
    asked = ask(two, COMPUTE, NUMA).with_flavor(CELLS)
    some = {CMP01: {"of": "cmp01"}, "of-no-host": {}}
    explanation = explain.explain(two, claiming(asked, nova.sources(facts=some)))
    assert [host.name for host in explanation.judgement.candidates] == ["cmp01"]
    assert nova.asked["facts"] == {CMP01: {"of": "cmp01"}}
    assert nova.asked["service"] == ""


def test_several_servers_need_the_cells_of_each(two, nova):
    nova.says(**{NUMA: {"_": YES}}, rooms={"cmp01": [1, 1], "cmp02": [1, 1]})
    sources = nova.sources(service="nova-scheduler")
    for filters, count, code in ((NUMA,), 2, True), ((NUMA,), 3, False), ((), 2, None):
        asked = ask(two, COMPUTE, *filters).with_flavor(CELLS).with_spec(count=count)
        asked = claiming(asked, sources)
        found = explain.explain(two, asked, want_fixes=False).judgement
        assert (None if found.candidates.is_uncertain else found.has_room) is code


def asked_once(nova, monkeypatch):
    """Collect the questions that the Python gets."""
    questions, whole = [], own_filters.document.ask

    def ask_once(command, question, timeout):
        questions.append(question)
        return whole(command, question, timeout)

    monkeypatch.setattr(own_filters.document, "ask", ask_once)
    return questions


@pytest.fixture
def example():
    """The document of the sample cloud, with an aggregate of one host."""
    document = json.loads((REPOSITORY / "examples" / "cloud.json").read_text())
    aggregates = document["compute"]["aggregates"]
    more = {"id": 9, "uuid": RACK, "name": "rack", "hosts": ["cmp00"], "metadata": {}}
    aggregates.append({**aggregates[0], **more})
    return document


@pytest.fixture
def sample(example):
    """The sample cloud, with libvirt and two flavors that claim NUMA cells."""
    document = example
    flavors = document["compute"]["flavors"]
    plain = next(each for each in flavors if each["name"] == "m1.small")
    kinds = {"numa": {"hw:numa_nodes": "1"}, "pinned": {"hw:cpu_policy": "dedicated"}}
    for name, keys in kinds.items():
        flavors.append({**plain, "id": name, "name": name, "extra_specs": keys})
    for each in document["compute"]["hypervisors"]:
        each["hypervisor_type"] = "QEMU"
    return SavedCloud(document)


def test_all_flavors_are_asked_for_at_once_and_counted_as_nova_takes_them(
    sample, nova, monkeypatch
):
    questions = asked_once(nova, monkeypatch)
    names = sorted(each.node for each in lookup.computes(sample))
    few = {name: [number, number] for number, name in enumerate(names)}
    two = {name: [2, 2] for name in names}
    nova.says(**{NUMA: {"_": YES}}, rooms=few, roomsEmptied=two)
    sources = SettingsSources(nova_release=33, options=KNOWN_OFF)
    sources.claims = NovaClaims(nova.sources(service="nova-scheduler"))
    query = CapacityQuery(flavors=("m1.small", "numa", "pinned"))
    found = capacity.capacity(sample, ServerSpec(image=""), sources, query)
    (question,) = questions
    assert len(question["claims"]) == 2
    fits = {each.name: each for each in found.flavors}
    uuids = {each.uuid: each.node for each in lookup.computes(sample)}
    plain = {uuid: each.room for uuid, each in fits["m1.small"].hosts.items()}
    expected = {u: each.capped(*few[uuids[u]]) for u, each in plain.items()}
    expected = {uuid: each for uuid, each in expected.items() if each.most}
    for name in ("numa", "pinned"):
        hosts = fits[name].hosts
        assert {uuid: each.room for uuid, each in hosts.items()} == expected
        assert "" in {each.limit for each in hosts.values()}
        most = 2 * len(fits[name].suited)
        assert fits[name].empty == Room(most, most)
    assert 0 < len(expected) < len(plain)


def test_servers_that_join_a_host_leave_unknown_how_many_more_fit(sample, nova):
    nova.says(**{NUMA: {"_": YES}})
    sources = SettingsSources(nova_release=33, options=KNOWN_OFF)
    sources.claims = NovaClaims(nova.sources(service="nova-scheduler"))
    question = request.question(sample, ServerSpec("numa", image=""), sources)
    claims, spec = sources.claims, question.request_spec()
    hosts = host_states(lookup.computes(sample), question.aggregates)
    before = claims.answers(NUMA, hosts, spec, question.assumptions)
    assert before.keys() == {each.compute.uuid for each in hosts}
    report = hosts[0].compute.report.with_server(1, 512, 1)
    joined = dataclasses.replace(hosts[0].compute, report=report)
    (joined,) = host_states([joined], question.aggregates)
    assert not claims.answers(NUMA, [joined], spec, question.assumptions)
    assert not table.servers_left([joined], spec, question.assumptions)


def rejected_by_check(cloud, sources):
    """Flavors that no host could take even if it is empty, by the rule on filters."""
    found = check.check(cloud, sources, ["filters-flavor-no-host"]).findings
    return {each.name: each.words().problem for each in found}


def test_check_names_flavors_that_no_empty_host_can_claim(sample, nova, monkeypatch):
    questions = asked_once(nova, monkeypatch)
    on = ("filter_scheduler.enabled_filters", f"{COMPUTE},{NUMA}")
    options = (*KNOWN_OFF, on)
    sources = SettingsSources(nova_release=33, options=options)
    assert rejected_by_check(sample, sources) == {}
    names = sorted(each.node for each in lookup.computes(sample))
    for some, rejected in (
        ({"_": NO_ROOM}, {"numa", "pinned"}),
        ({"_": NO_ROOM, names[0]: YES}, set()),
        ({"_": {"unknown": "numa_topology"}}, set()),
    ):
        nova.says(**{NUMA: some})
        sources.claims = NovaClaims(nova.sources(service="nova-scheduler"))
        problems = rejected_by_check(sample, sources)
        assert problems.keys() == rejected
        assert all("cell 0: 64 MB free" in each for each in problems.values())
    assert len(questions) == 3
    assert len(questions[0]["claims"]) == 2


def test_moves_that_would_free_cells_are_named_and_not_tried(sample, nova):
    nova.says(**{NUMA: NONE_HAS, f"{NUMA}Emptied": {**NONE_HAS, "cmp02": YES}})
    sources = SettingsSources(nova_release=33, options=KNOWN_OFF)
    question = request.question(sample, ServerSpec("numa", image=""), sources)
    question = claiming(question, nova.sources(service="nova-scheduler"))
    found = drain.with_moves(sample, explain.explain(sample, question))
    assert "Moves off cmp02 may free NUMA cells or PCI devices, but" in text(found)
    assert "No moves" not in text(found)


@pytest.mark.parametrize(("emptied", "has_moves"), [(YES, True), (NO_ROOM, False)])
def test_moves_make_no_room_on_hosts_that_can_not_claim_even_if_empty(
    sample, nova, emptied, has_moves
):
    nova.says(**{NUMA: {"_": NO_ROOM}, f"{NUMA}Emptied": {"_": emptied}})
    on = ("filter_scheduler.enabled_filters", f"{COMPUTE},{NUMA}")
    sources = SettingsSources(nova_release=33, options=(*KNOWN_OFF, on))
    spec = ServerSpec("ssd.medium", image="", flavor_properties={"hw:numa_nodes": "1"})
    question = request.question(sample, spec, sources)
    question = claiming(question, nova.sources(service="nova-scheduler"))
    found = drain.with_moves(sample, explain.explain(sample, question))
    assert bool(found.make_room.steps) is has_moves


RACK = "7a3c1f54-0c6e-4a3c-8a35-0c3b1c4d2e9f"
ONE_HAS, NONE_HAS = {"_": NO_ROOM, "cmp00": YES}, {"_": NO_ROOM}


def plan_of(cloud, sources, **isolation):
    """The judged plan to isolate cmp00 by a new trait."""
    wanted = Isolation(["CUSTOM_RACK"], create=True, **isolation)
    _, shorthand = desired.isolate(cloud, "rack", wanted)
    assumed = settings.of_cloud(cloud, sources)
    return desired.judged(
        cloud, desired.plan_desired(cloud, shorthand.desired, assumed)
    )


@pytest.mark.parametrize("filters", [(COMPUTE, NUMA), (COMPUTE,)])
@pytest.mark.parametrize(
    ("now", "if_empty", "lost"),
    [
        ({"_": YES}, {"_": YES}, {}),
        (ONE_HAS, {"_": YES}, {"numa": False, "pinned": False}),
        (NONE_HAS, ONE_HAS, {"numa": True, "pinned": True}),
        (NONE_HAS, {"_": YES}, {}),
        (NONE_HAS, NONE_HAS, {}),
        ({"_": {"unknown": "numa_topology"}}, {"_": YES}, {}),
    ],
)
def test_no_plan_takes_the_last_host_that_can_claim_what_a_flavor_needs(
    sample, nova, monkeypatch, filters, now, if_empty, lost
):
    questions = asked_once(nova, monkeypatch)
    nova.says(**{NUMA: now, f"{NUMA}Emptied": if_empty})
    on = ("filter_scheduler.enabled_filters", ",".join(filters))
    sources = SettingsSources(nova_release=33, options=(*KNOWN_OFF, on))
    sources.claims = NovaClaims(nova.sources(service="nova-scheduler"))
    todo = plan_of(sample, sources)
    found = [each for each in todo.effects if each.leaves_no_host]
    assert {each.flavor: each.is_for_good for each in found} == lost
    assert [type(each) for each in todo.refusals] == [LeavesNoHost] * bool(lost)
    # Before, after and in between; none of the servers claims anything.
    (question,) = questions
    assert len(question["claims"]) == 2


def test_no_python_starts_for_a_plan_if_nothing_claims(example):
    sources = SettingsSources(nova_release=33, options=KNOWN_OFF)
    sources.claims = NovaClaims(OwnSources("no-such-python", service="nova-scheduler"))
    assert plan_of(SavedCloud(example), sources).effects


def test_no_plan_takes_the_last_host_that_can_claim_what_a_server_needs(
    example, sample, nova
):
    on = "OS-EXT-SRV-ATTR:host"
    servers = example["compute"]["servers"]
    server = next(each for each in servers if each[on] == "cmp00")
    server["flavor"]["extra_specs"] = {"hw:numa_nodes": "1"}
    on = ("scheduler.enable_isolated_aggregate_filtering", "true")
    sources = SettingsSources(nova_release=33, options=(*KNOWN_OFF, on))
    for if_empty, is_refused in ((ONE_HAS, True), ({"_": YES}, False)):
        nova.says(**{NUMA: NONE_HAS, f"{NUMA}Emptied": if_empty})
        sources.claims = NovaClaims(nova.sources(service="nova-scheduler"))
        refusals = plan_of(sample, sources).refusals
        lost = [each for each in refusals if isinstance(each, ServersLoseHosts)]
        assert bool(lost) is is_refused
        assert [[s.id for s in each.servers] for each in lost] == [
            [server["id"]]
        ] * is_refused
