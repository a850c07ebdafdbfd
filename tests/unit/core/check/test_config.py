"""Options, zones, projects, weighers and servers against what needs them."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.config.sources import SettingsSources, resolve
from osc_traitsched.core import check
from osc_traitsched.core.check.survey import PlacedServer, ServerCounts
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import (
    NoEffect,
    SchedulerSettings,
    Setting,
)
from osc_traitsched.text import quoted
from tests.unit.core.check.surveys import (
    aggregate,
    assert_told,
    assumed,
    findings,
    host,
    identity,
    survey,
    told,
)

# Options against what the cloud has that needs them.


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
    "nova-api": Setting(True, "api.conf:3", given=True),
    "nova-conductor": Setting(False, "the default"),
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
    "warning config-services-differ option [filter_scheduler]pci_in_placement: new "
    "servers and moves get their PCI devices in two ways: nova-api has True "
    "(api.conf:3); nova-conductor has False (the default) -> set the same value for "
    "all": of(
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
    ("files", "tool"),
    [
        ({"environments": ("env.yaml",)}, "tripleo"),
        ({"control_plane": "plane.yaml"}, "rhoso"),
        ({}, "nova"),
    ],
)
def test_the_command_is_for_the_deployment_tool_whose_file_was_given(
    files, tool, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "env.yaml").write_text("parameter_defaults: {A: 3}", encoding="utf-8")
    (tmp_path / "plane.yaml").write_text("kind: OpenStackControlPlane\n")
    off = (("scheduler.enable_isolated_aggregate_filtering", "false"),)
    settings = resolve(SettingsSources(nova_release=23, options=off, **files))
    (text,) = told(
        of(settings, aggregates="g a trait:CUSTOM_G=required"), "isolation-off"
    )
    assert f"trait-sched config enable isolation --for {tool}" in text


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


# What decides whether a zone's servers land in the zone.


EAST = aggregate("in-east", "a", availability_zone="east")
WEST = aggregate("in-the-west", "b", availability_zone="west")
OTHERS = ("ComputeFilter", "ImagePropertiesFilter")
FILTER = ("AvailabilityZoneFilter", *OTHERS)


def scheduler(release, filters=None, **switched):
    """Return assumptions; the filters are Nova's own unless they are given."""
    found = assumed(release, **switched)
    if filters is None:
        return found
    given = {options.ENABLED_FILTERS: Setting(filters, "nova.conf:2", given=True)}
    return dataclasses.replace(found, settings={**found.settings, **given})


NEW = scheduler(33)
QUERY = scheduler(27, query_placement_for_availability_zone=True)
AZ_BOTH = scheduler(27, FILTER, query_placement_for_availability_zone=True)
FILTER_ALONE = scheduler(23)
NEITHER = scheduler(23, OTHERS)


def az_of(assumptions=NEW, aggregates=(EAST, WEST), hosts="ab", **more):
    """Return a survey of hosts that are in zones as the aggregates say."""
    found = survey(
        [host(name) for name in hosts],
        aggregates=aggregates,
        assumptions=assumptions,
        **more,
    )
    nova = found.nova
    computes = (
        dataclasses.replace(each, zones=zones(each.service_host, aggregates))
        for each in nova.computes
    )
    nova = dataclasses.replace(nova, computes=tuple(computes))
    return dataclasses.replace(found, snapshot=found.snapshot.with_nova(nova))


def zones(name, aggregates):
    """Return a host's zones as os-services has them."""
    found = {each.zone for each in aggregates if each.zone and name in each.hosts}
    return tuple(sorted(found)) or ("nova",)


def mirrored(east="", west=""):
    """Return members of the zones' aggregates."""
    pairs = {EAST.uuid: east, WEST.uuid: west}
    return {uuid: frozenset(map(identity, names)) for uuid, names in pairs.items()}


def zoned(name, *hosts, zone):
    return aggregate(name, *hosts, availability_zone=zone)


def in_other_letters(collation):
    """A zone's key that is the zones' key in some databases only."""
    east = dataclasses.replace(EAST, metadata={"Availability_Zone": "east"})
    members = {**mirrored(west="b"), east.uuid: frozenset()}
    assumptions = NEW.changed(options.COLLATION, collation)
    return az_of(assumptions, [east, WEST], members=members), "mirror"


def mirror(assumptions, east):
    return az_of(assumptions, members=mirrored(east, west="b")), "mirror"


AZ_FAULTS = {
    "error az-several host a (aggregate both, aggregate in-east, zone east, zone "
    "west): in the zones 'east' and 'west' at once, by the aggregates...": az_of(
        aggregates=[EAST, zoned("both", "a", "b", zone="west")]
    ),
    "warning az-default-zone zone nova (host c, host d): the hosts c, d are in no "
    "zone's aggregate; a request for it can get any host: no aggregate...": [
        az_of(hosts="abcd"),
        az_of(QUERY, hosts="abcd"),
    ],
    "note az-default-zone zone nova (host c, host d): the hosts c, d are in no zone's "
    "aggregate; a request for it gets them, as long as...": az_of(
        FILTER_ALONE, hosts="abcd"
    ),
    "warning az-default-zone zone nova (host c): the host c is in no zone's aggregate; "
    "a request for it does not get them: an aggregate has its name...": az_of(
        aggregates=[EAST, zoned("named", "b", zone="nova")], hosts="abc"
    ),
    # Wallaby's own filters have that of zones.
    "warning az-filter option [filter_scheduler]enabled_filters: "
    "AvailabilityZoneFilter does again what Placement did, and 2023.2 (Nova 28) does "
    "not...": [
        az_of(AZ_BOTH),
        az_of(scheduler(23, query_placement_for_availability_zone=True)),
    ],
    "error az-ignored option [scheduler]query_placement_for_availability_zone (zone "
    "east, zone west): unknown, taken as off (the default of wallaby), and...": az_of(
        NEITHER
    ),
    "error az-without-host option [DEFAULT]default_schedule_zone: no enabled "
    "nova-compute is in the zone weast (InvalidRequest): Nova rejects every new server "
    "that names no zone...-> name another zone; did you mean east or west?": az_of(
        NEW.changed(options.DEFAULT_ZONE, "weast")
    ),
    # One pair of rules for zones, whoever asks Placement for them.
    "error mirror-missing aggregate in-east (host a): Placement lacks the host a in "
    "it: no request for the zone gets there -> openstack trait-sched...\n"
    "error mirror-extra aggregate in-east (host b): Placement has in it the host b, "
    "which Nova has not: requests for the zone can land there ->...": [
        mirror(NEW, "b"),
        mirror(QUERY, "b"),
    ],
    # AvailabilityZoneFilter still keeps requests away from an extra host.
    "warning mirror-extra aggregate in-east (host b): Placement has in it the host b, "
    "which Nova has not: only AvailabilityZoneFilter keeps requests...": mirror(
        AZ_BOTH, "ab"
    ),
    "error mirror-missing aggregate in-east (host a): Placement lacks the host a in "
    "it: no request for the zone gets there -> openstack trait-sched...": [
        mirror(AZ_BOTH, ""),
        in_other_letters("case-insensitive"),
    ],
    # Placement is not asked for zones.
    "warning mirror-missing aggregate in-east (host a): Placement lacks the host a in "
    "it: no active prefilter uses the aggregate now -> openstack...": [
        mirror(FILTER_ALONE, ""),
        in_other_letters("case-sensitive"),
    ],
}


@pytest.mark.parametrize(("text", "surveys"), AZ_FAULTS.items())
def test_a_fault_is_one_finding(text, surveys):
    assert_told(text, surveys)


AZ_HEALTHY = [
    *(az_of(assumptions) for assumptions in (NEW, QUERY, FILTER_ALONE)),
    az_of(NEW.changed(options.DEFAULT_ZONE, "west")),
    az_of(aggregates=[EAST, zoned("again", "a", "b", zone="east")]),
    az_of(aggregates=[aggregate("plain", "a")]),
    az_of(NEITHER, aggregates=[aggregate("plain", "a")]),
]


def test_zones_as_they_should_be_are_no_finding():
    assert_told("", AZ_HEALTHY)


# Aggregates that are for certain projects.


PROJECTS = {"1d1d": "red", "2d2d": "blue"}
OFF = assumed()
LIMITED = assumed(limit_tenants_to_placement_aggregate=True)
REQUIRED = assumed(
    limit_tenants_to_placement_aggregate=True,
    placement_aggregate_required_for_tenants=True,
)
HOST_FILTER = dataclasses.replace(
    OFF,
    settings={
        options.ENABLED_FILTERS: Setting(
            ("ComputeFilter", "AggregateMultiTenancyIsolation"),
            "nova.conf:2",
            given=True,
        )
    },
)
ON = dataclasses.replace(LIMITED, settings={**LIMITED.settings, **HOST_FILTER.settings})


def project_of(assumptions=ON, projects=PROJECTS, members=None, **metadata):
    """Return a survey of one aggregate with host a."""
    made = aggregate("reds", "a", **metadata)
    more = {} if members is None else {"members": {made.uuid: members}}
    return survey(
        "a; b",
        aggregates=[made],
        assumptions=assumptions,
        projects=projects,
        **more,
    )


def collated(collation):
    assumptions = REQUIRED.changed(options.COLLATION, collation)
    return project_of(assumptions, filter_tenant_id="1D1D", filter_tenant_id2="2d2d")


def project_mirror(assumptions, members, **more):
    members = frozenset(map(identity, members))
    return project_of(
        assumptions, members=members, filter_tenant_id="1d1d", **more
    ), "mirror"


def with_residents():
    where = (("red-1", "1D1D", "a"), ("blue-1", "2d2d", "a"), ("blue-2", "2d2d", "a"))
    residents = [PlacedServer(*each) for each in (*where, ("blue-3", "2d2d", "b"))]
    servers = ServerCounts(4, 0, 0, (), residents=tuple(residents))
    return dataclasses.replace(project_of(LIMITED, **RED), servers=servers), "project"


RED, LIST = {"filter_tenant_id": "1d1d"}, {"filter_tenant_id": "1d1d,2d2d"}
BY_ID = {**RED, "filter_tenant_id2": "2d2d"}
SPACED = {"filter_tenant_id": "1d1d, 2d2d"}
GIVEN_OFF = assumed(limit_tenants_to_placement_aggregate=False)
PROJECT_FILTERS = Setting(("ComputeFilter",), "nova.conf:2", given=True)
NO_FILTERS = {**GIVEN_OFF.settings, options.ENABLED_FILTERS: PROJECT_FILTERS}
PROJECT_FAULTS = {
    "~error project-list aggregate reds (project 1d1d, project 2d2d): filter_tenant_id "
    "is a list: Nova compares it as a whole, and it equals no...": project_of(**SPACED),
    "~warning project-list aggregate reds (project 1d1d, project 2d2d)...": project_of(
        OFF, **SPACED
    ),
    "~note project-list aggregate reds (project 1d1d, project 2d2d)...": project_of(
        HOST_FILTER, **SPACED
    ),
    "error project-list aggregate reds (project 1d1d, project 2d2d)...": [
        project_of(ON, **LIST, filter_tenant_id_1="1d1d"),
        project_of(REQUIRED, **LIST),
    ],
    "warning project-unknown aggregate reds: filter_tenant_id=gone: no project has "
    "this ID -> openstack aggregate unset --property filter_tenant_id reds": project_of(
        filter_tenant_id="gone"
    ),
    "~error project-unknown aggregate reds: filter_tenant_id_red=red: must be a "
    "project's ID, not its name -> openstack aggregate set reds --property "
    "filter_tenant_id_red=1d1d": project_of(filter_tenant_id_red="red"),
    "~warning project-unknown aggregate reds...": project_of(
        OFF, filter_tenant_id_red="red"
    ),
    "warning project-without option "
    "[scheduler]placement_aggregate_required_for_tenants (project blue)...": project_of(
        REQUIRED, **RED
    ),
    "error project-without option [scheduler]placement_aggregate_required_for_tenants "
    "(project blue, project red)...": project_of(REQUIRED),
    # A project that a list or a name means is not named twice.
    "error project-unknown aggregate reds...": project_of(
        REQUIRED, **RED, filter_tenant_id2="blue"
    ),
    "warning project-unknown aggregate reds...\n"
    "warning project-without option "
    "[scheduler]placement_aggregate_required_for_tenants (project red)...": collated(
        "case-sensitive"
    ),
    "error mirror-missing aggregate reds (host a): Placement lacks the host a in it: "
    "its projects' servers do not get there -> openstack trait-sched mirror "
    "repair": project_mirror(ON, ""),
    "error mirror-extra aggregate reds (host b): Placement has in it the host b, which "
    "Nova has not: its projects' servers can land there -> openstack trait-sched "
    "mirror repair": project_mirror(ON, "ab"),
    "warning mirror-missing aggregate reds (host a): Placement lacks the host a in it: "
    "no active prefilter uses the aggregate now -> openstack trait-sched "
    "mirror repair": project_mirror(HOST_FILTER, ""),
    # A zone comes first.
    "error mirror-missing aggregate reds (host a): Placement lacks the host a in it: "
    "no request for the zone gets there -> openstack trait-sched mirror "
    "repair": project_mirror(ON, "", availability_zone="east"),
    "warning project-off option [scheduler]limit_tenants_to_placement_aggregate "
    "(aggregate reds)...-> to keep other projects off these hosts, add "
    "AggregateMultiTenancyIsolation...limit_tenants_to_placement_aggregate "
    "on...": project_of(OFF, **RED),
    "warning project-off option [scheduler]limit_tenants_to_placement_aggregate "
    "(aggregate reds)...": project_of(GIVEN_OFF, **RED),
    "error project-off option [scheduler]limit_tenants_to_placement_aggregate "
    "(aggregate reds)...": project_of(
        dataclasses.replace(GIVEN_OFF, settings=NO_FILTERS), **RED
    ),
    "warning project-not-exclusive aggregate reds (host a): other projects may land "
    "here (AggregateMultiTenancyIsolation is taken as off) -> add Aggr...": project_of(
        LIMITED, **RED
    ),
    "warning project-not-exclusive aggregate reds (host a): other projects may land "
    "here (AggregateMultiTenancyIsolation is off) -> add Aggr...": project_of(
        dataclasses.replace(LIMITED, files=("nova.conf",)), **RED
    ),
    "warning project-not-exclusive aggregate reds (host a, server blue-1, server "
    "blue-2): other projects may land here (AggregateMultiTenancyIsolation is "
    "taken as off); 2 servers do: blue-1, blue-2 -> add Aggr...": with_residents(),
}


@pytest.mark.parametrize(("text", "surveys"), PROJECT_FAULTS.items())
def test_a_fault_is_told_once_project(text, surveys):
    assert_told(text, surveys)


PROJECT_HEALTHY = [
    *(project_of(assumptions, **BY_ID) for assumptions in (HOST_FILTER, ON, REQUIRED)),
    # Each of the list has a key of its own.
    project_of(ON, **LIST, filter_tenant_id_1="1d1d", filter_tenant_id_2="2d2d"),
    # Keystone said nothing.
    project_of(REQUIRED, projects=None, filter_tenant_id="gone"),
    collated("case-insensitive"),
    *(project_of(assumptions) for assumptions in (OFF, GIVEN_OFF, LIMITED)),
    # No host.
    survey("a", aggregates="reds filter_tenant_id=1", assumptions=LIMITED),
]


@pytest.mark.parametrize("surveys", PROJECT_HEALTHY)
def test_aggregates_for_projects_by_their_ids_are_no_finding(surveys):
    assert_told("", surveys)


# Weighers that are on, and what aggregates say of them.


RAM = "nova.scheduler.weights.ram.RAMWeigher"
NUM_INSTANCES = "nova.scheduler.weights.num_instances.NumInstancesWeigher"


def given(*names, release=34):
    setting = Setting(names, "nova.conf:9", given=True)
    return SchedulerSettings(release, {options.WEIGHT_CLASSES: setting})


def weighers_of(key, *names, release=34):
    settings = given(*names, release=release) if names else SchedulerSettings(release)
    return survey("a", aggregates=f"agg a {key}=2", assumptions=settings)


WEIGHERS_FAULTS = {
    f"{severity} weighers-key-off aggregate agg: {key}=2 has no effect: {why} -> "
    "openstack "
    f"aggregate unset --property {key} agg": weighers_of(key, *names, release=release)
    for key, severity, release, names, why in [
        (
            "cpu_weight_multiplier",
            "warning",
            34,
            [RAM],
            "CPUWeigher is not on (nova.conf:9)",
        ),
        (
            "num_instances_weight_multiplier",
            "note",
            27,
            [],
            "2023.1 (Nova 27) has no NumInstancesWeigher",
        ),
        (
            "image_props_weight_multiplier",
            "note",
            34,
            [],
            "ImagePropertiesWeigher weighs nothing while "
            "[filter_scheduler]image_props_weight_multiplier is 0 (the default of "
            "2026.2)",
        ),
        (
            "cpus_weight_multiplier",
            "note",
            34,
            [],
            "no weigher has such a multiplier; did you mean cpu_weight_multiplier?",
        ),
    ]
}


@pytest.mark.parametrize(("text", "surveys"), WEIGHERS_FAULTS.items())
def test_a_multiplier_that_no_weigher_reads_has_no_effect(text, surveys):
    assert_told(text, surveys)


WEIGHERS_HEALTHY = [
    *(
        survey("a", assumptions=given(*names))
        for names in (
            (RAM, "mine.weighers.Best"),
            (options.ALL_WEIGHERS,),
            (NUM_INSTANCES,),
            (),
        )
    ),
    weighers_of("cpu_weigth_multiplier"),
    weighers_of("best_weight_multiplier", RAM, "mine.Best"),
    weighers_of("cpu_weight_multiplier", RAM, "mine.Best"),
    weighers_of("ram_weight_multiplier", RAM),
    weighers_of("metrics_weight_multiplier"),
    # nova-scheduler does not start with this list, which is another rule's matter.
    (weighers_of("cpu_weight_multiplier", "RAMWeigher"), "weighers"),
]


@pytest.mark.parametrize("surveys", WEIGHERS_HEALTHY)
def test_a_multiplier_or_a_weigher_that_may_have_an_effect_is_no_finding(surveys):
    assert_told("", surveys)


# Servers are counted where they were read, and read on demand only.


RULE, AREA, UNKNOWN = "servers-misplaced", "servers", "servers-not-known"


def counted(looked_at, misplaced, unknown=0, hosts=("a",), silent=()):
    counts = ServerCounts(looked_at, misplaced, unknown, hosts, silent)
    return dataclasses.replace(survey("a"), servers=counts)


@pytest.mark.parametrize(
    ("names", "with_servers", "is_there"),
    [
        ((), False, False),
        ((), True, True),
        (["traits"], False, False),
        (["traits"], True, True),
        ([AREA], False, True),
        ([RULE], False, True),
    ],
)
def test_servers_are_read_on_demand_only(names, with_servers, is_there):
    found = check.select(names, with_servers=with_servers)
    assert (RULE in [rule.id for rule in found]) is is_there


def test_an_ignored_rule_reads_no_server():
    found = check.select((), [RULE, UNKNOWN], with_servers=True)
    assert not any(rule.reads_servers for rule in found)


def test_misplaced_servers_are_one_finding_with_their_hosts():
    (found,) = findings(counted(3450, 12, 0, ("cmp0", "cmp1", "cmp2")), AREA)
    assert (found.rule, found.name) == (RULE, "12 of 3450")
    assert found.words().problem == (
        "12 servers could not be given their hosts today: hosts cmp[0-2]"
    )


@pytest.mark.parametrize(
    ("unknown", "silent", "problem"),
    [
        (30, (), "not known of 30 servers if their hosts could be given to a new one"),
        (
            0,
            ("cmp7", "cmp8", "cmp9"),
            "not read: the servers of hosts cmp[7-9], whose cell does not answer",
        ),
        (
            1,
            ("cmp7",),
            "not known of 1 server if its host could be given to a new one; not read: "
            "the servers of host cmp7, whose cell does not answer",
        ),
    ],
)
def test_servers_of_which_it_is_not_known_are_a_note(unknown, silent, problem):
    (found,) = findings(counted(60, 0, unknown, (), silent), AREA)
    assert (found.rule, found.severity.value) == (UNKNOWN, "note")
    assert (found.name, found.words().problem) == (f"{unknown} of 60", problem)


def test_no_misplaced_server_is_no_finding():
    assert findings(counted(5, 0), AREA) == []
    assert findings(survey("a"), AREA) == []
