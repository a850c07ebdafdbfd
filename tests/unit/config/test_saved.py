"""Settings that are saved, and those in a snapshot."""

from __future__ import annotations

import dataclasses
import datetime
import json

import pytest

from osc_traitsched.app import settings as app_settings
from osc_traitsched.config import document, nova_conf, sources
from osc_traitsched.config import saved as config_saved
from osc_traitsched.config.nova_conf import Entry
from osc_traitsched.config.sources import SettingsSources, file_sources, resolve
from osc_traitsched.core.answer import NovaReading
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import OPTIONS
from osc_traitsched.runner import nova_runner
from osc_traitsched.views import config
from tests.unit.config import test_deployments as deployers
from tests.unit.config.test_deployments import PLANE

# What a document of settings may say, and what is wrong with it in one line.


WHOLE = """\
nova_release: caracal
baseline: kolla-ansible
nova_conf: [nova.conf, /etc/nova/nova.conf.d, ~/mine.conf]
environments:
- ../env.yaml
options:
  scheduler.max_placement_results: 50
  Scheduler.image_metadata_prefilter: yes
  filter_scheduler.enabled_filters: [ComputeFilter, NUMATopologyFilter]
  default.default_schedule_zone: null
ignore_rules: [traits-unused]
"""


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "settings").mkdir()

    def read(text):
        (tmp_path / "settings" / "prod.yaml").write_text(text, encoding="utf-8")
        return config_saved.read("settings/prod.yaml", "a test")

    return read


def test_everything_can_be_said_and_paths_start_where_the_document_lies(read):
    path = "settings/prod.yaml"
    found = read(WHOLE)
    filters = "ComputeFilter,NUMATopologyFilter"
    assert (found.place, found.lines["nova_release"]) == ("a test", f"{path}:1")
    assert found.named == {
        sources.NOVA_RELEASE: 29,
        sources.BASELINE: "kolla-ansible",
        sources.NOVA_CONF: (
            *("settings/nova.conf", "/etc/nova/nova.conf.d", "~/mine.conf"),
        ),
        sources.ENVIRONMENTS: ("env.yaml",),
        sources.SET: (
            (options.MAX_RESULTS, nova_conf.Entry("50", path, 7)),
            (options.IMAGE_METADATA, nova_conf.Entry("yes", path, 8)),
            (options.ENABLED_FILTERS, nova_conf.Entry(filters, path, 9)),
        ),
        sources.IGNORE_RULES: ("traits-unused",),
    }


def test_one_path_needs_no_list(read):
    assert read("nova_conf: nova.conf").paths == ("settings/nova.conf",)
    assert read("control_plane: plane.yaml").paths == ("settings/plane.yaml",)


def test_an_option_can_be_empty(read):
    empty = SettingsSources(options=((options.DEFAULT_ZONE, ""),))
    found = read(config_saved.text(empty))
    assert [entry.value for _, entry in found.named[sources.SET]] == [""]


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "{}", "nova_conf:\n", "null"])
def test_a_document_that_says_nothing_is_none(read, text):
    assert read(text) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "novaconf: a",
            "1: novaconf is not one of nova_release, baseline, nova_conf, ",
        ),
        ("- a", "1: the document is not a mapping"),
        ("nova_release: rocky", "1: nova_release is not one of train, ussuri, "),
        ("nova_release: [27]", "1: nova_release is not a text"),
        ("baseline: devstack", "1: baseline is not one of upstream, tripleo, "),
        ("nova_conf:\n- {a: b}", "2: nova_conf.0 is not a text"),
        ("nova_conf: ['']", "1: nova_conf.0 is empty"),
        ("nova_conf: [null]", "1: nova_conf.0 is not a text"),
        ("control_plane: [a]", "1: control_plane is not a text"),
        ("options: [a]", "1: options is not a mapping"),
        (
            "options:\n  max_results: 5",
            "2: options.max_results is no option that decides here. All: config show",
        ),
        ("options: {scheduler.max_placement_results: {a: b}}", "is not a text"),
        ("ignore_rules: {a: b}", "1: ignore_rules is not a text"),
        ("environments: [a]\ncontrol_plane: b", "1: environments and control_plane: "),
        ("a: b\n---\nc: d", "3: a second document"),
        ("a: 'b", "not YAML"),
    ],
)
def test_what_is_wrong_with_a_document_is_one_line_with_its_own(read, text, line):
    with pytest.raises(BadConfiguration) as caught:
        read(text)
    words = str(caught.value)
    assert words.startswith("settings/prod.yaml:")
    assert line in words
    assert len(words.splitlines()) == 1


@pytest.mark.parametrize(
    "text",
    [
        'nova_conf: "\\uD800"',
        'control_plane: ["\\uDC80"]',
        'options: {DEFAULT.default_schedule_zone: "\\uD83D"}',
        '"\\uD800": x',
    ],
)
def test_half_a_character_is_refused_with_its_line(read, text):
    with pytest.raises(BadConfiguration) as caught:
        read(f"baseline: upstream\n{text}")
    assert caught.value.line == 2
    assert caught.value.reason == "not YAML: half of a surrogate pair"


@pytest.mark.parametrize("path", ["a\0b", "/a\0", "~/a\0b"])
def test_a_path_with_a_null_byte_names_no_file(path):
    for look in (
        document.read_text,
        nova_conf.files_of,
        lambda path: document.write(path, ""),
    ):
        with pytest.raises(BadConfiguration) as caught:
            look(path)
        assert (caught.value.path, caught.value.line) == (path, None)
        assert caught.value.reason == "has a null byte, which no path has"


# Settings in a snapshot are those of the moment when it was saved, without files.


FILES = {
    "nova.conf": "[DEFAULT]\nmy_ip = 10.0.0.1\n[scheduler]\nmax_placement_results = 2\n"
    "max_placement_results = 3\nquery_placement_for_image_type_support = true\n"
    "max_placement_result = 9\n[schedular]\nimage_metadata_prefilter = true\n"
    "[database]\nconnection = mysql://nova:secret@10.0.0.2/nova\n",
    "alias.conf": '[pci]\nalias = {"name": "a1"}\nalias = {"name": "b2"}\n',
    "conf.d/01.conf": "[scheduler]\nenable_isolated_aggregate_filtering = true\n",
    "conf.d/02.conf": "[filter_scheduler]\n"
    "enabled_filters = ComputeFilter,NUMATopologyFilter\n"
    "ram_weight_multiplier = -1.0\n",
    "env.yaml": "parameter_defaults:\n  NovaSchedulerQueryImageType: false\n"
    "  NovaSchedulerDefaultFilters: [ComputeFilter]\n",
    "more.yaml": "parameter_defaults: {NovaSchedulerQueryImageType: null}\n",
    "plane.yaml": PLANE,
    "helm.yaml": deployers.HELM,
    "rhoso.yaml": deployers.RHOSO,
}
SET = ((options.MAX_RESULTS, "4"), (options.PCI_ALIAS, '{"name": "c3"}'))
DOCUMENT = tuple(
    (name, Entry(text, "prod.yaml", line))
    for line, (name, text) in enumerate(
        (
            (options.MAX_RESULTS, "7"),
            (options.IMAGE_TYPE, "false"),
            (options.PCI_ALIAS, '{"name": "d4"}'),
        ),
        start=3,
    )
)


def found(**named):
    return {"found": SettingsSources("prod.yaml", options=DOCUMENT, **named)}


#: What the command line names, and what was found below it.
NAMED = {
    "nothing": {},
    "release": {"nova_release": 27},
    "baseline": {"baseline": "kolla-ansible"},
    "nova.conf": {"nova_conf": ("nova.conf", "alias.conf")},
    "rhoso": {"control_plane": "rhoso.yaml"},
    "folder": {"nova_conf": ("conf.d",)},
    "helm": {"nova_conf": ("helm.yaml",)},
    "environments": {"environments": ("env.yaml", "more.yaml")},
    "environments and baseline": {
        "environments": ("env.yaml",),
        "baseline": "upstream",
    },
    "control plane": {"control_plane": "plane.yaml"},
    "control plane and nova.conf": {
        "control_plane": "plane.yaml",
        "nova_conf": ("nova.conf",),
    },
    "set": {"options": SET},
    "set over nova.conf": {"options": SET, "nova_conf": ("nova.conf", "alias.conf")},
    "filters": {"filters": (("NUMATopologyFilter", True), ("ComputeFilter", False))},
    "filters over nova.conf": {
        "filters": (("NumInstancesFilter", True),),
        "nova_conf": ("conf.d",),
    },
    "ignored rules": {"ignore_rules": ("traits-unused",)},
    "document": found(),
    "document with files": found(nova_conf=("nova.conf", "alias.conf")),
    "document with environments": found(environments=("env.yaml",)),
    "files over a document": {**found(), "nova_conf": ("nova.conf", "alias.conf")},
    "set over a document": {**found(nova_conf=("nova.conf",)), "options": SET},
    "set and files over a document": {
        **found(baseline="tripleo"),
        "nova_conf": ("nova.conf",),
        "options": SET,
    },
}
#: What is tried on top, for a what-if.
TRIED = {
    "nothing": {},
    "set": {"options": ((options.ISOLATION, "true"), (options.MAX_RESULTS, "5"))},
    "filter": {"filters": (("AggregateInstanceExtraSpecsFilter", True),)},
    "release": {"nova_release": 30},
    "baseline": {"baseline": "rhoso"},
}


COMMAND = "the command line"
LISTS = ("options", "filters")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", NAMED)
def test_settings_are_as_they_were_saved_once_their_files_are_gone(folder, name):
    sources = SettingsSources(**NAMED[name])
    saved = json.dumps(config_saved.to_json(sources))
    was = shown(sources)
    # The same on top of what is live: as more options of the command line.
    tried = {each: shown(live(name, more)) for each, more in TRIED.items()}
    for path in FILES:
        (folder / path).unlink()
    assert "secret" not in saved
    again = config_saved.from_json(json.loads(saved))
    files = ", ".join(sources.paths) if file_sources(sources.named) else COMMAND
    place = sources.place and sources.place.replace(COMMAND, files)
    assert SettingsSources(found=again).place == place
    assert shown(SettingsSources(found=again)) == was
    for each, more in TRIED.items():
        now = shown(SettingsSources(found=again, **more))
        assert (each, *now) == (each, *tried[each])


def test_named_files_are_the_place_of_settings_that_were_saved(folder):
    saved = config_saved.to_json(SettingsSources(**NAMED["files over a document"]))
    assert saved["place"] == "nova.conf, alias.conf, over prod.yaml"


@pytest.mark.parametrize(
    ("line", "is_saved"),
    [
        ("[filter_scheduler]\nconnection = mysql://nova:hunter2@db/nova", False),
        ("[filter_scheduler]\nrack_filter_token = hunter2", False),
        ("[filter_scheduler]\nisolated_hots = hunter2", False),
        ("[DEFAULT]\ndefault_schedule_zones = hunter2", False),
        ("[scheduler]\ntoken = one\ntoken = hunter2", False),
        ("[filter_scheduler]\nisolated_hosts = hunter2", True),
    ],
)
def test_only_values_of_options_that_decide_here_are_saved(tmp_path, line, is_saved):
    path = tmp_path / "nova.conf"
    path.write_text(f"{line}\n")
    sources = SettingsSources(nova_conf=(str(path),))
    found = config_saved.to_json(sources)
    assert ("hunter2" in json.dumps(found)) == is_saved
    assert shown(SettingsSources(found=config_saved.from_json(found))) == shown(sources)


def live(name, more):
    """The named sources with more options."""
    values = {**NAMED[name]}
    for key, value in more.items():
        values[key] = (*values.get(key, ()), *value) if key in LISTS else value
    return SettingsSources(**values)


def shown(sources):
    """What the judge knows of the settings, and the rows of config show on options."""
    assumed = resolve(sources, "2.95")
    rows = [
        (name, plain(value), *more)
        for name, value, *more in config.rows(assumed, sources.release is not None)[1]
    ]
    rows = [row for row in rows if row[0] != "settings"]
    others = tuple(map(placeless, assumed.others))
    return placeless(dataclasses.replace(assumed, others=others)), rows


def plain(value):
    """A cell as programs get it; before 4.0 cliff's own cells are never equal."""
    return value.machine_readable() if hasattr(value, "machine_readable") else value


def placeless(assumed):
    return dataclasses.replace(assumed, place=None, without_set=None)


# What Nova said of itself.


def reading(service="", on="ctl7", **options_read):
    found = {
        name: {"value": value, "source": "nova.conf"}
        for name, value in options_read.items()
    }
    return NovaReading(
        "2026-11-02T10:20:30Z", on, "ssh ctl7 python3", service, "33.1.0", (), found
    )


ZONE = "DEFAULT.default_schedule_zone"
ISOLATED = {options.ISOLATION: ["True"], options.PCI_ALIAS: ['{"name": "a"}', "{}"]}


def test_what_nova_said_is_read_from_its_document(read):
    said = reading(**ISOLATED, **{ZONE: ["$5 east"]})
    found = read(config_saved.text(SettingsSources(nova=(said,), nova_release=33)))
    assert found.readings == (dataclasses.replace(said, cells=[]),)
    settings = resolve(found)
    alias = settings.setting(options.PCI_ALIAS)
    assert (settings.release, alias.value) == (33, ('{"name": "a"}', "{}"))
    assert settings.value(options.ISOLATION) is True
    assert settings.value(ZONE) == "$5 east"
    assert alias.source == "nova.conf of Nova on ctl7, read 2026-11-02T10:20:30Z"
    assert all(map(settings.is_known, filter(lambda name: "." in name, OPTIONS)))


def test_the_baseline_of_a_distribution_does_not_matter_if_nova_was_read():
    sources = SettingsSources(nova=(reading(),), baseline="rhoso")
    assert resolve(sources).value(options.ISOLATION) is False


def test_each_service_has_said_its_own():
    filters = {options.ENABLED_FILTERS: ["ComputeFilter"]}
    aliased = {options.PCI_IN_PLACEMENT: ["True"]}
    sources = SettingsSources(
        nova=(
            reading("nova-scheduler", **filters),
            reading("nova-api", **filters, **aliased),
            reading("nova-conductor", **filters),
        )
    )
    settings = resolve(sources)
    assert settings.value(options.PCI_IN_PLACEMENT) is True
    assert settings.for_moves().value(options.PCI_IN_PLACEMENT) is False
    assert list(settings.disagreements) == [options.PCI_IN_PLACEMENT]
    alone = resolve(SettingsSources(nova=(reading("nova-scheduler", **filters),)))
    assert not alone.is_known(options.PCI_IN_PLACEMENT)
    assert alone.is_known(options.ISOLATION)


@pytest.mark.parametrize("service", ["", "nova-scheduler"])
def test_schedulers_that_differ_leave_it_unknown_which_filters_run(service):
    one = {options.ENABLED_FILTERS: ["ComputeFilter,NUMATopologyFilter"]}
    other = {options.ENABLED_FILTERS: ["ComputeFilter"]}
    first, second = reading(service, "ctl1", **one), reading(service, "ctl2", **other)
    name = options.ENABLED_FILTERS
    settings = resolve(SettingsSources(nova=(first, second)))
    who = [f"{service or 'Nova'} on {host}" for host in ("ctl1", "ctl2")]
    assert list(settings.disagreements[name]) == who
    assert settings.items(name) == ("ComputeFilter",)
    assert not settings.is_known(name)
    alike = resolve(SettingsSources(nova=(first, dataclasses.replace(first, host="b"))))
    assert alike.is_known(name)
    assert not alike.disagreements
    # What only one has is not at its default on the other.
    more = reading(service, "ctl3", **other, **ISOLATED)
    settings = resolve(SettingsSources(nova=(second, more)))
    assert options.ISOLATION in settings.disagreements
    assert not settings.is_known(options.ISOLATION)


def test_a_named_nova_conf_wins_over_what_nova_said(tmp_path):
    (tmp_path / "nova.conf").write_text("[scheduler]\nmax_placement_results = 7\n")
    found = SettingsSources("saved", nova=(reading(**ISOLATED),))
    named = SettingsSources(found=found, nova_conf=(str(tmp_path / "nova.conf"),))
    assert resolve(named).value(options.MAX_RESULTS) == 7
    assert resolve(named).value(options.ISOLATION) is False


def test_a_snapshot_keeps_the_options_that_nova_said_and_no_command():
    sources = SettingsSources("saved", nova=(reading(**ISOLATED),))
    kept = json.loads(json.dumps(config_saved.to_json(sources)))
    assert "ssh" not in json.dumps(kept)
    found = config_saved.from_json(kept)
    assert resolve(found) == resolve(sources)
    assert [each.label for each in found.readings] == [reading().label]


def test_a_document_that_nova_did_not_write_is_refused(read):
    with pytest.raises(BadConfiguration, match=r"nova.0 is not what config save"):
        read("nova: [nova.conf]")


def test_an_old_reading_shows_how_to_read_again():
    cells = [
        {"name": "a", "computes": 2, "numa": 1, "pci": 0},
        {"name": "b", "down": "E"},
    ]
    said = dataclasses.replace(reading("nova-api"), cells=cells)
    then = datetime.datetime(2026, 11, 2, 10, 25, tzinfo=datetime.timezone.utc)
    lines = [
        "nova-api 33.1.0 on ctl7, read 4 min ago",
        "  a: 2 compute nodes, 1 with NUMA cells, 0 with PCI devices",
        "  b: no answer (E); its hosts are unknown",
    ]
    assert list(config.nova_lines([said], then)) == lines
    later = then + datetime.timedelta(days=3)
    *_, last = config.nova_lines([said], later)
    assert last == (
        "Nova's options were read 3 days ago; read them again: "
        "openstack trait-sched config save"
    )
    # Of a snapshot nothing can be read again.
    assert config.old([dataclasses.replace(said, command="")], later) == ""


def test_a_dry_run_names_all_that_other_commands_read():
    then = datetime.datetime(2026, 11, 2, 10, 25, tzinfo=datetime.timezone.utc)
    found = list(config.nova_lines([reading()], then, later=app_settings.READ_LATER))
    *_, nodes, request = found
    assert nodes.startswith("Other commands read of each compute node that they need: ")
    names = {*nodes.partition(": ")[2].split(", ")}
    assert names == nova_runner.FIELDS
    names = {*request.partition(": ")[2].split(", ")}
    assert {*nova_runner.REQUEST_FIELDS, "resized_to", "image.trait:*"} < names
    assert list(config.nova_lines([], then, later=app_settings.READ_LATER)) == []


def test_the_place_of_what_nova_said_has_its_time(read):
    said = (reading("nova-scheduler"), reading("nova-api"))
    found = read(config_saved.text(SettingsSources(nova=said)))
    assert found.place == "a test (Nova, read 2026-11-02 10:20 UTC)"
