"""Options against what the cloud has that needs them."""

from __future__ import annotations

import dataclasses
import re

import pytest

from osc_traitsched.config.joining import SettingsSources, resolve
from osc_traitsched.core.check.finding import Severity
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import NoEffect
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting
from osc_traitsched.text import quoted
from tests.unit.core.check.surveys import (
    aggregate,
    assumed,
    findings,
    host,
    ids,
    image,
    survey,
)

VIRTIO = "COMPUTE_GRAPHICS_MODEL_VIRTIO"


def test_a_cloud_that_needs_no_option_is_no_finding():
    assert findings(survey([host("a")])) == []


def test_an_option_that_the_release_does_not_have_is_a_note():
    assumptions = dataclasses.replace(
        assumed(), ignored=(("scheduler.image_metadata_prefilter", "nova.conf:3"),)
    )
    (found,) = findings(survey([host("a")], assumptions=assumptions))
    assert (found.rule, found.severity) == ("config-ignored", Severity.NOTE)
    assert (
        found.problem == "set (nova.conf:3), and Nova 33 (2026.1) does not look at it"
    )


def with_filters(release, *names):
    setting = Setting(names, "nova.conf:7", given=True)
    return SchedulerSettings(release, {options.ENABLED_FILTERS: setting}, "given")


@pytest.mark.parametrize(
    ("name", "until"),
    [
        ("CoreFilter", 20),
        ("RetryFilter", 22),
        ("AggregateCoreFilter", 22),
    ],
)
def test_a_host_filter_that_the_release_does_not_have_any_more_is_an_error(name, until):
    of = survey([host("a")], assumptions=with_filters(until, "ComputeFilter", name))
    (found,) = findings(of)
    assert (found.rule, found.severity) == ("config-filter-gone", Severity.ERROR)
    assert re.fullmatch(
        rf"Nova {until} \(.+\) has no {name}, .* does not start \(nova.conf:7\)",
        found.problem,
    )
    if until > 20:
        before = with_filters(until - 1, "ComputeFilter", name)
        assert ids(dataclasses.replace(of, assumptions=before)) == []


def test_that_of_zones_is_not_the_rules_matter():
    assumptions = with_filters(28, "ComputeFilter", "AvailabilityZoneFilter")
    assert ids(survey([host("a")], assumptions=assumptions)) == ["az-filter"]


def with_available(found, *paths):
    setting = Setting(paths, "nova.conf:8", given=True)
    return dataclasses.replace(
        found, settings={**found.settings, options.AVAILABLE_FILTERS: setting}
    )


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("NUMATopolgyFilter", "write NUMATopologyFilter"),
        ("['NumInstancesFilter'", "write NumInstancesFilter"),
        ("nova.scheduler.filters.json_filter.JsonFilter", "write JsonFilter"),
        ("BlazarFilter", "take it out, or add the path of its class to [filter_sch"),
        ("", "write class names with commas between them"),
    ],
)
def test_a_host_filter_that_can_not_be_loaded_is_an_error(name, fix):
    of = survey([host("a")], assumptions=with_filters(33, "ComputeFilter", name))
    (found,) = findings(of)
    assert (found.rule, found.severity) == ("config-filter-unknown", Severity.ERROR)
    assert found.fix.startswith(fix)
    assert "does not start" in found.problem
    assert f"can't load a host filter {quoted(name)} (nova.conf:7)" in found.problem


def test_own_filters_are_loaded_by_the_paths_of_their_classes():
    listed = with_filters(33, "ComputeFilter", "BlazarFilter")
    own = "blazarnova.scheduler.filters.blazar_filter.BlazarFilter"
    both = with_available(listed, options.ALL_FILTERS, own)
    assert ids(survey([host("a")], assumptions=both)) == []
    (found,) = findings(survey([host("a")], assumptions=with_available(listed, own)))
    assert "can't load a host filter 'ComputeFilter'" in found.problem
    assert found.fix.endswith(f"available_filters: {options.ALL_FILTERS}")
    broken = with_available(listed, f"['{options.ALL_FILTERS}']", own)
    assert ids(survey([host("a")], assumptions=broken)) == ["config-filter-unknown"]
    unknown = with_available(listed, "site.filters.all_of_ours")
    assert ids(survey([host("a")], assumptions=unknown)) == []


@pytest.mark.parametrize(
    ("files", "verb"),
    [
        ({"environments": ("env.yaml",)}, "config tripleo"),
        ({"control_plane": "plane.yaml"}, "config rhoso"),
        ({}, "config nova-conf"),
    ],
)
def test_the_command_is_for_the_deployment_tool_whose_file_was_given(
    files, verb, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "env.yaml").write_text("parameter_defaults: {A: 3}", encoding="utf-8")
    (tmp_path / "plane.yaml").write_text("kind: OpenStackControlPlane\n")
    off = (("scheduler.enable_isolated_aggregate_filtering", "false"),)
    of = survey(
        [host("a")],
        aggregates=[aggregate("gold", "a", trait__CUSTOM_GOLD="required")],
        assumptions=resolve(SettingsSources(nova_release=23, options=off, **files)),
    )
    (found,) = (each for each in findings(of) if each.rule == "isolation-off")
    assert found.words().fix.verb == f"trait-sched {verb}"


def test_a_list_without_computefilter_is_a_warning_if_somebody_gave_it():
    (found,) = findings(survey([host("a")], assumptions=with_filters(33, "JsonFilter")))
    assert found.rule == "config-no-compute-filter"
    assert found.severity == Severity.WARNING


@pytest.mark.parametrize(
    ("is_set", "severity"), [(False, Severity.WARNING), (True, Severity.NOTE)]
)
def test_a_line_without_effect_is_a_finding(is_set, severity):
    line = NoEffect("DEFAULT.max_placement_results", "nova.conf:9", options.MAX_RESULTS)
    found = assumed(max_placement_results=9) if is_set else assumed()
    found = dataclasses.replace(found, no_effect=(line,))
    (finding,) = findings(survey([host("a")], assumptions=found))
    assert (finding.rule, finding.severity) == ("config-no-effect", severity)
    assert finding.name == "DEFAULT.max_placement_results"
    assert "nova.conf:9" in finding.words().problem
    assert finding.words().fix == "set [scheduler]max_placement_results instead"


def read(tmp_path, text, release=34):
    path = tmp_path / "nova.conf"
    path.write_text(text, encoding="utf-8")
    found = resolve(SettingsSources(nova_release=release, nova_conf=(str(path),)))
    found = dataclasses.replace(found, files=("nova.conf",))
    return {
        (each.rule, each.name): each.words()
        for each in findings(survey([host("a")], assumptions=found))
    }


def test_names_that_no_nova_has_are_findings_with_their_line(tmp_path):
    found = read(
        tmp_path,
        "[scheduler]\nhost_manager = ironic_host_manager\nmax_atempts = 3\n"
        "query_placement_for_isolated_aggregates = true\n",
    )
    gone = found["config-no-effect", "scheduler.host_manager"]
    assert gone.problem.startswith("no effect: Nova 34 (2026.2) has no such option (")
    assert gone.problem.endswith("nova.conf:2)")
    invented = "scheduler.query_placement_for_isolated_aggregates"
    meant = found["config-no-effect", invented].fix
    assert meant == "set [scheduler]enable_isolated_aggregate_filtering instead"
    assert ("config-no-effect", "scheduler.max_atempts") in found


def test_a_name_that_an_own_filter_may_read_is_no_finding(tmp_path):
    own = "available_filters = mine.MyFilter\n"
    text = f"[filter_scheduler]\n{own}my_limit = 3\nenabled_filters = MyFilter\n"
    assert ("config-no-effect", "filter_scheduler.my_limit") not in read(tmp_path, text)
    text = text.replace(own, "").replace("MyFilter", "ComputeFilter")
    assert ("config-no-effect", "filter_scheduler.my_limit") in read(tmp_path, text)


def test_a_weigher_that_cannot_be_loaded_is_an_error(tmp_path):
    name = "nova.scheduler.weights.ram.RAMWeighr"
    found = read(tmp_path, f"[filter_scheduler]\nweight_classes = {name}\n")
    assert name in found["config-weigher-unknown", options.WEIGHT_CLASSES].problem


def test_a_line_that_is_seen_and_not_read_is_a_warning():
    line = NoEffect("pci.alias", "env.yaml:9", "pci.alias", "of Compute", (), True)
    found = dataclasses.replace(assumed(), no_effect=(line,), files=("env.yaml",))
    (finding,) = findings(survey([host("a")], assumptions=found))
    assert (finding.rule, finding.severity) == ("config-not-read", Severity.WARNING)
    assert finding.words().problem == "seen, not read: of Compute (env.yaml:9)"
    assert finding.words().fix == "give its value: --set pci.alias=VALUE"


@pytest.mark.parametrize(
    ("line", "reader"),
    [
        ("max_instances_per_host = 20", "NumInstancesFilter"),
        ("isolated_hosts = a", "IsolatedHostsFilter"),
        ("ram_weight_multiplier = 2", "RAMWeigher"),
    ],
)
def test_an_option_that_nothing_enabled_reads_is_a_note(tmp_path, line, reader):
    name = f"filter_scheduler.{line.split()[0]}"
    weighers = "weight_classes = nova.scheduler.weights.cpu.CPUWeigher\n"
    text = f"[filter_scheduler]\n{line}\n{weighers}"
    assert reader in read(tmp_path, text)["config-reader-off", name].problem
    on = (
        f"[filter_scheduler]\n{line}\n"
        "enabled_filters = ComputeFilter,NumInstancesFilter,IsolatedHostsFilter\n"
    )
    assert ("config-reader-off", name) not in read(tmp_path, on)


@pytest.mark.parametrize(
    ("given", "severity"), [(True, Severity.WARNING), (False, Severity.NOTE)]
)
def test_more_hosts_than_placement_is_asked_for_are_found(given, severity):
    assumptions = assumed(given=given, max_placement_results=1)
    (found,) = findings(survey([host("a"), host("b")], assumptions=assumptions))
    assert (found.rule, found.severity) == ("config-max-results", severity)
    assert found.problem.startswith("nova-scheduler sees at most 1 of 2 hosts (")
    assert ids(survey([host("a")], assumptions=assumptions)) == []


def test_aggregates_that_projects_must_have_take_the_other_option():
    required = assumed(placement_aggregate_required_for_tenants=True)
    (found,) = findings(survey([host("a")], assumptions=required))
    assert (found.rule, found.severity) == ("config-project-required", Severity.WARNING)
    both = assumed(
        placement_aggregate_required_for_tenants=True,
        limit_tenants_to_placement_aggregate=True,
    )
    assert ids(survey([host("a")], assumptions=both)) == []


@pytest.mark.parametrize(
    ("given", "severity"), [(True, Severity.ERROR), (False, Severity.WARNING)]
)
def test_devices_of_images_that_not_all_hosts_have_take_the_prefilter(given, severity):
    images = [image("i", hw_video_model="virtio")]
    off = assumed(given=given, image_metadata_prefilter=False)
    of = survey([host("a", VIRTIO), host("b")], images=images, assumptions=off)
    (found,) = findings(of)
    assert (found.rule, found.severity) == ("config-image-metadata-off", severity)
    assert f"not every host has {VIRTIO}: servers of the image i" in found.problem
    assert found.images == ("i",)
    everywhere = survey([host("a", VIRTIO)], images=images, assumptions=off)
    assert ids(everywhere) == []


def test_a_host_filter_looks_at_the_architecture_too():
    images = [image("i", hw_architecture="aarch64")]
    of = survey([host("a"), host("b", "HW_ARCH_AARCH64")], images=images)
    assert ids(of) == []


def test_a_release_without_the_prefilter_is_not_told_to_use_it():
    images = [image("i", hw_video_model="virtio")]
    hosts = [host("a", VIRTIO), host("b")]
    assert ids(survey(hosts, images=images, assumptions=assumed(20)), "config") == []


def test_one_value_without_a_trait_turns_the_prefilter_off_for_its_image():
    images = [image("i", hw_viommu_model="virtio"), image("j", hw_disk_bus="virtio")]
    on = assumed(image_metadata_prefilter=True)
    hosts = [host("a", "COMPUTE_STORAGE_BUS_VIRTIO")]
    (found,) = findings(survey(hosts, images=images, assumptions=on))
    assert (found.rule, found.severity) == (
        "config-image-metadata-no-trait",
        Severity.WARNING,
    )
    assert found.name == "i"
    assert found.problem.startswith("no trait stands for hw_viommu_model=virtio, ")
