"""Settings in a snapshot are those of the moment when it was saved, without files."""

from __future__ import annotations

import dataclasses
import json

import pytest

from osc_traitsched.config import saved as config_saved
from osc_traitsched.config.nova_conf import Entry
from osc_traitsched.config.sources import SettingsSources, file_sources, resolve
from osc_traitsched.core.nova import options
from osc_traitsched.views import config
from tests.unit.config import test_deployers as deployers
from tests.unit.config.test_rhoso import PLANE

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
