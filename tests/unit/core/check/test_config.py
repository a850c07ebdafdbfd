"""Options against what the cloud has that needs them."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.config.sources import SettingsSources, resolve
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import (
    NoEffect,
    SchedulerSettings,
    Service,
    Setting,
)
from osc_traitsched.text import quoted
from tests.unit.core.check.surveys import assert_told, assumed, survey, told

VIRTIO = "COMPUTE_GRAPHICS_MODEL_VIRTIO"
FILTERS = "option [filter_scheduler]enabled_filters"
GONE = {"CoreFilter": 20, "RetryFilter": 22, "AggregateCoreFilter": 22}


def of(assumptions, hosts="a", **more):
    return survey(hosts, assumptions=assumptions, **more)


def with_filters(release, *names):
    setting = Setting(names, "nova.conf:7", given=True)
    return SchedulerSettings(release, {options.ENABLED_FILTERS: setting}, "given")


def available(*paths, filters=("ComputeFilter", "BlazarFilter")):
    found = with_filters(33, *filters)
    setting = Setting(paths, "nova.conf:8", given=True)
    settings = {**found.settings, options.AVAILABLE_FILTERS: setting}
    return of(dataclasses.replace(found, settings=settings))


def without_effect(line, **options):
    found = dataclasses.replace(assumed(**options), no_effect=(line,))
    return of(dataclasses.replace(found, files=("env.yaml",)))


def unset(given, *hosts):
    off = assumed(given=given, image_metadata_prefilter=False)
    return of(off, "; ".join(hosts), images="i hw_video_model=virtio")


def limited(given, hosts="a; b"):
    return of(assumed(given=given, max_placement_results=1), hosts)


def for_projects(**more):
    return of(assumed(placement_aggregate_required_for_tenants=True, **more))


PCI = {
    Service.API: Setting(True, "api.conf:3", given=True),
    Service.CONDUCTOR: Setting(False, "the default"),
}
MAX_RESULTS = NoEffect(
    "DEFAULT.max_placement_results", "nova.conf:9", options.MAX_RESULTS
)
UNREAD = NoEffect("pci.alias", "env.yaml:9", "pci.alias", "of Compute", (), True)
OLD = (("scheduler.image_metadata_prefilter", "nova.conf:3"),)
BLAZAR = "blazarnova.scheduler.filters.blazar_filter.BlazarFilter"
NO_TRAIT = "i hw_viommu_model=virtio; j hw_disk_bus=virtio"
METADATA = assumed(image_metadata_prefilter=True)
FAULTS = {
    "note config-ignored option [scheduler]image_metadata_prefilter: set "
    "(nova.conf:3), and 2026.1 (Nova 33) does not look at it -> take it out, or name "
    "the release by --nova-release": of(dataclasses.replace(assumed(), ignored=OLD)),
    **{
        f"error config-filter-gone {FILTERS}: ... (Nova {until}) has no {name}, and "
        "nova-scheduler does not start (nova.conf:7)...": of(
            with_filters(until, "ComputeFilter", name)
        )
        for name, until in GONE.items()
    },
    "error config-filter-gone option [filter_scheduler]enabled_filters: 2026.2 (Nova "
    "34) has no AvailabilityZoneFilter, and nova-scheduler does not start "
    "(nova.conf:7) -> take it out of the list: Placement looks up zones": of(
        with_filters(34, "ComputeFilter", "AvailabilityZoneFilter")
    ),
    **{
        f"error config-filter-unknown {FILTERS}: nova-scheduler does not start: it "
        f"can't load a host filter {quoted(name)} (nova.conf:7) -> {fix}": of(
            with_filters(33, "ComputeFilter", name)
        )
        for name, fix in (
            ("NUMATopolgyFilter", "write NUMATopologyFilter"),
            ("['NumInstancesFilter'", "write NumInstancesFilter"),
            ("nova.scheduler.filters.json_filter.JsonFilter", "write JsonFilter"),
            ("BlazarFilter", "take it out, or add the path of its class to [..."),
            ("", "write class names with commas between them..."),
        )
    },
    # Own filters are loaded by the paths of their classes.
    "error config-filter-unknown option [filter_scheduler]enabled_filters: "
    "nova-scheduler does not start: it can't load a host filter 'ComputeFilter' "
    "(nova.conf:7) -> add a line to [filter_scheduler]available_filters: "
    "nova.scheduler.filters.all_filters": available(BLAZAR),
    "error config-filter-unknown option "
    "[filter_scheduler]enabled_filters...": available(
        f"['{options.ALL_FILTERS}']", BLAZAR
    ),
    "warning config-no-compute-filter option [filter_scheduler]enabled_filters...": of(
        with_filters(33, "JsonFilter")
    ),
    "warning config-no-effect option [DEFAULT]max_placement_results: no effect: Nova "
    "does not read this line (nova.conf:9) -> set [scheduler]max_placement_results "
    "instead": without_effect(MAX_RESULTS),
    "note config-no-effect option [DEFAULT]max_placement_results...": without_effect(
        MAX_RESULTS, max_placement_results=9
    ),
    "warning config-not-read option [pci]alias: seen, not read: of Compute "
    "(env.yaml:9) -> give its value: --set pci.alias=VALUE": without_effect(UNREAD),
    "warning config-services-differ option [filter_scheduler]pci_in_placement: "
    "nova-api has True (api.conf:3); nova-conductor has False (the default) -> set the "
    "same value for both": of(
        dataclasses.replace(assumed(), disagreements={options.PCI_IN_PLACEMENT: PCI})
    ),
    "warning config-max-results option [scheduler]max_placement_results: "
    "nova-scheduler sees at most 1 of 2 hosts (nova.conf:1). A request "
    "fails...": limited(True),
    "note config-max-results option [scheduler]max_placement_results...": limited(
        False
    ),
    "warning config-project-required option "
    "[scheduler]placement_aggregate_required_for_tenants...": for_projects(),
    "error config-image-metadata-off option [scheduler]image_metadata_prefilter (image "
    "i): ...and not every host has COMPUTE_GRAPHICS_MODEL_VIRTIO: servers of the image "
    "i...": unset(True, f"a {VIRTIO}", "b"),
    "warning config-image-metadata-off option [scheduler]image_metadata_prefilter "
    "(image i)...": unset(False, f"a {VIRTIO}", "b"),
    "warning config-image-metadata-no-trait image i: no trait stands for "
    "hw_viommu_model=virtio, so that image_metadata_prefilter looks at none of...": of(
        METADATA, "a COMPUTE_STORAGE_BUS_VIRTIO", images=NO_TRAIT
    ),
}


@pytest.mark.parametrize(("text", "surveys"), FAULTS.items())
def test_a_fault_is_told_once(text, surveys):
    assert_told(text, surveys)


HEALTHY = [
    of(assumed()),
    *(
        of(with_filters(until - 1, "ComputeFilter", name))
        for name, until in GONE.items()
        if until > 20
    ),
    available(options.ALL_FILTERS, BLAZAR),
    # Nobody knows what it names.
    available("site.filters.all_of_ours"),
    limited(True, "a"),
    limited(False, "a"),
    for_projects(limit_tenants_to_placement_aggregate=True),
    unset(True, f"a {VIRTIO}"),
    # A host filter looks at the architecture, too.
    of(assumed(), "a; b HW_ARCH_AARCH64", images="i hw_architecture=aarch64"),
    # The release has no prefilter for it.
    (of(assumed(20), f"a {VIRTIO}; b", images="i hw_video_model=virtio"), "config"),
]


@pytest.mark.parametrize("surveys", HEALTHY)
def test_options_that_fit_the_cloud_are_no_finding(surveys):
    assert_told("", surveys)


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
    settings = resolve(SettingsSources(nova_release=23, options=off, **files))
    (text,) = told(
        of(settings, aggregates="g a trait:CUSTOM_G=required"), "isolation-off"
    )
    assert f"openstack trait-sched {verb}" in text


def read(tmp_path, text):
    path = tmp_path / "nova.conf"
    path.write_text(f"[filter_scheduler]\n{text}\n", encoding="utf-8")
    found = resolve(SettingsSources(nova_release=34, nova_conf=(str(path),)))
    found = dataclasses.replace(found, files=("nova.conf",))
    return "\n".join(told(of(found)))


def test_names_that_no_nova_has_are_findings_with_their_line(tmp_path):
    found = read(
        tmp_path,
        "[scheduler]\nhost_manager = ironic_host_manager\nmax_atempts = 3\n"
        "query_placement_for_isolated_aggregates = true\n",
    )
    option = " config-no-effect option [scheduler]"
    gone = f"{option}host_manager: no effect: 2026.2 (Nova 34) has no such option ("
    assert f"{gone}" in found
    assert "nova.conf:3)" in found
    assert f"{option}max_atempts: " in found
    (invented,) = (line for line in found.splitlines() if f"{option}query" in line)
    meant = "-> set [scheduler]enable_isolated_aggregate_filtering instead"
    assert invented.endswith(meant)


NO_EFFECT = "config-no-effect option [filter_scheduler]my_limit: "
READER_OFF = "note config-reader-off option [filter_scheduler]"
CPU_ALONE = "weight_classes = nova.scheduler.weights.cpu.CPUWeigher"
BOTH = "enabled_filters = ComputeFilter,NumInstancesFilter,IsolatedHostsFilter"
OWN = "available_filters = mine.MyFilter\nenabled_filters = MyFilter"


@pytest.mark.parametrize(
    ("line", "off", "on", "start", "part"),
    [
        ("my_limit = 3", "enabled_filters = ComputeFilter", OWN, NO_EFFECT, ""),
        (
            "max_instances_per_host = 20",
            CPU_ALONE,
            BOTH,
            READER_OFF,
            "NumInstancesFilter",
        ),
        ("isolated_hosts = a", CPU_ALONE, BOTH, READER_OFF, "IsolatedHostsFilter"),
        ("ram_weight_multiplier = 2", CPU_ALONE, BOTH, READER_OFF, "RAMWeigher"),
    ],
)
def test_an_option_that_nothing_enabled_reads_is_found(
    line, off, on, start, part, tmp_path
):
    (text,) = (t for t in read(tmp_path, f"{line}\n{off}").splitlines() if start in t)
    assert line.split()[0] in text
    assert part in text
    assert start not in read(tmp_path, f"{line}\n{on}")


def test_a_weigher_that_cannot_be_loaded_is_an_error(tmp_path):
    name = "nova.scheduler.weights.ram.RAMWeighr"
    found = read(tmp_path, f"weight_classes = {name}\n")
    start = "error config-weigher-unknown option [filter_scheduler]weight_classes: "
    assert any(t.startswith(start) and name in t for t in found.splitlines())
