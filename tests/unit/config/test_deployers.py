"""Files as people have them, one of each deployment tool."""

from __future__ import annotations

import pytest

from osc_traitsched.config.sources import SettingsSources, resolve
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import Service

ALIAS = '{ "vendor_id":"10de", "product_id":"20f1", "name":"a1" }'

HELM = """\
pod:
  replicas: {scheduler: 2}
conf:
  nova:
    scheduler:
      max_attempts: 5
      enable_isolated_aggregate_filtering: true
  filter_scheduler:
    enabled_filters: ComputeFilter,NUMATopologyFilter
"""
ATMOSPHERE = """\
nova_helm_values:
  conf:
    nova:
      scheduler:
        max_placement_results: 50
"""
OSA = """\
haproxy_keepalived_external_vip_cidr: 203.0.113.5/32
nova_virt_type: kvm
nova_scheduler_extra_filters: "NUMATopologyFilter,PciPassthroughFilter"
nova_pci_alias:
  - '{"vendor_id": "10de", "product_id": "20f1", "name": "a1"}'
nova_nova_conf_overrides:
  scheduler:
    enable_isolated_aggregate_filtering: True
"""
KOLLA = """\
kolla_base_distro: rocky
kolla_internal_vip_address: 10.0.0.10
enable_cinder: "yes"
nova_compute_virt_type: kvm
"""
CHARM = """\
series: jammy
applications:
  nova-cloud-controller:
    charm: ch:nova-cloud-controller
    options:
      openstack-origin: cloud:jammy-caracal
      scheduler-default-filters: ComputeFilter,NUMATopologyFilter
"""
RHOSO = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: service-values}
data:
  nova:
    apiServiceTemplate:
      customServiceConfig: |
        [pci]
        alias = { "vendor_id":"10de", "product_id":"20f1", "name":"a1" }
        [filter_scheduler]
        host_subset_size = 3
    schedulerServiceTemplate:
      customServiceConfig: |
        [filter_scheduler]
        enabled_filters = ComputeFilter,PciPassthroughFilter
    cellTemplates:
      cell1:
        conductorServiceTemplate:
          customServiceConfig: |
            [workarounds]
            skip_hypervisor_version_check_on_lm = true
"""
TRIPLEO = """\
resource_registry: {}
parameter_defaults:
  NovaSchedulerHostSubsetSize: 3
  NovaSchedulerShuffleBestSameWeighedHosts: true
  ControllerExtraConfig:
    nova::api::pci_alias:
      - {name: a1, product_id: '20f1', vendor_id: '10de'}
    nova::scheduler::filter::scheduler_enabled_filters: [ComputeFilter, JsonFilter]
    nova::cross_az_attach: false
  ComputeExtraConfig:
    nova::compute::allow_resize_to_same_host: true
  CinderExtraConfig:
    cinder::scheduler_default_filters: [CapacityFilter]
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return name

    return write


def join(release=27, **named):
    return resolve(SettingsSources(nova_release=release, **named))


def given(settings):
    return {name: each.source for name, each in settings.settings.items() if each.given}


def test_a_chart_writes_its_own_section_alone(write):
    found = join(nova_conf=(write("nova.yaml", HELM),))
    assert given(found) == {options.ISOLATION: "nova.yaml:7"}
    (line,) = found.no_effect
    assert (line.meant, line.source) == (options.ENABLED_FILTERS, "nova.yaml:9")
    assert line.reason.endswith("not conf.filter_scheduler.enabled_filters")
    filters = found.setting(options.ENABLED_FILTERS).source
    assert filters == "the default of 2023.1; nova.yaml:9 has no effect"


def test_the_values_of_a_chart_may_stand_deeper(write):
    found = join(nova_conf=(write("all.yml", ATMOSPHERE),))
    assert given(found) == {options.MAX_RESULTS: "all.yml:5"}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (OSA, ("OpenStack-Ansible's", "nova_scheduler_extra_filters (line 3)")),
        (OSA, ("nova_pci_alias (line 5)", "enable_isolated_aggregate_filtering (line")),
        (KOLLA, ("Kolla-Ansible's", "use the rendered nova.conf")),
        (CHARM, ("a charm's", "scheduler-default-filters (line 7)")),
        ("a: 1\n", ("parameter_defaults|conf.nova|OpenStackControlPlane",)),
    ],
)
@pytest.mark.parametrize("way", ["nova_conf", "environments", "control_plane"])
def test_another_file_is_refused_by_the_name_of_its_tool(write, text, named, way):
    path = write("user_variables.yml", text)
    with pytest.raises(BadConfiguration) as caught:
        join(**{way: path if way == "control_plane" else (path,)})
    for words in named:
        assert any(word in str(caught.value) for word in words.split("|"))


@pytest.mark.parametrize(
    ("text", "way", "option"),
    [
        (TRIPLEO, "nova_conf", "--environment"),
        (HELM, "environments", "--nova-conf"),
        (RHOSO, "environments", "--control-plane"),
    ],
)
def test_a_file_that_another_option_takes_names_the_option(write, text, way, option):
    with pytest.raises(BadConfiguration, match=f"name it by {option}"):
        join(**{way: (write("a.yaml", text),)})


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("{% if nova_pci_alias %}", 3),
        ("enabled_filters = {{ nova_filters | join(',') }}", 3),
        ("<% if @filters -%>", 3),
        ("{{- if .Values.conf }}", 3),
    ],
)
def test_a_template_is_refused_with_its_first_line(write, line, number):
    text = f"# {{{{ ansible_managed }}}}\n[filter_scheduler]\n{line}\n"
    with pytest.raises(BadConfiguration, match="a template") as caught:
        join(nova_conf=(write("nova.conf.j2", text),))
    assert caught.value.line == number


def test_a_template_of_yaml_is_refused_with_its_first_line(write):
    with pytest.raises(BadConfiguration, match="a template") as caught:
        join(environments=(write("a.yaml", "a: 1\n{% if b %}\nc: 2\n{% endif %}\n"),))
    assert caught.value.line == 2


def test_each_part_of_rhoso_is_read_by_its_own_service(write):
    found = join(control_plane=write("plane.yaml", RHOSO))
    assert given(found) == {
        options.PCI_ALIAS: "plane.yaml:9",
        options.ENABLED_FILTERS: "plane.yaml:15",
    }
    assert found.value(options.PCI_ALIAS) == (ALIAS,)
    lines = {o.meant: (o.source, o.reason, o.fix) for o in found.no_effect}
    assert lines == {
        options.HOST_SUBSET_SIZE: (
            "plane.yaml:11",
            "nova-api does not read it",
            "set [filter_scheduler]host_subset_size in schedulerServiceTemplate",
        ),
        options.SKIP_VERSION_CHECK: (
            "plane.yaml:21",
            "cell1.conductorServiceTemplate does not read it",
            "set [workarounds]skip_hypervisor_version_check_on_lm in "
            "cell0.conductorServiceTemplate",
        ),
    }


IN_PLACEMENT = """\
kind: OpenStackControlPlane
spec:
  nova:
    template:
      {}:
        customServiceConfig: |
          [filter_scheduler]
          pci_in_placement = true
      cellTemplates:
        cell0:
          {}:
            customServiceConfig: |
              [filter_scheduler]
              pci_in_placement = true
"""


@pytest.mark.parametrize(
    ("template", "of_cell", "boots", "moves", "named"),
    [
        ("apiServiceTemplate", "conductorServiceTemplate", True, True, []),
        ("apiServiceTemplate", "metadataServiceTemplate", True, False, []),
        (
            *("schedulerServiceTemplate", "conductorServiceTemplate", False, True),
            ["in apiServiceTemplate"],
        ),
        (
            *("schedulerServiceTemplate", "metadataServiceTemplate", False, False),
            ["in apiServiceTemplate", "in apiServiceTemplate"],
        ),
    ],
)
def test_nova_api_puts_devices_into_new_servers_and_nova_conductor_into_moves(
    write, template, of_cell, boots, moves, named
):
    text = IN_PLACEMENT.format(template, of_cell)
    found = join(control_plane=write("cp.yaml", text))
    assert found.value(options.PCI_IN_PLACEMENT) is boots
    assert found.for_moves().value(options.PCI_IN_PLACEMENT) is moves
    assert found.is_known(options.PCI_IN_PLACEMENT)
    name = "set [filter_scheduler]pci_in_placement"
    assert [each.fix for each in found.no_effect] == [f"{name} {p}" for p in named]
    differing = [Service.API, Service.CONDUCTOR] if boots != moves else []
    assert [*found.disagreements.get(options.PCI_IN_PLACEMENT, ())] == differing


def test_an_alias_in_the_part_of_rhosos_scheduler_has_no_effect(write):
    text = RHOSO.replace("apiServiceTemplate", "x").replace("schedulerService", "y")
    text = text.replace("    x:", "    schedulerServiceTemplate:")
    found = join(control_plane=write("plane.yaml", text))
    assert not found.setting(options.PCI_ALIAS).given
    assert "plane.yaml:9 has no effect" in found.setting(options.PCI_ALIAS).source


def of_service(write, tmp_path):
    (tmp_path / "nova-scheduler").mkdir()
    gpu = '[pci]\nalias = {{"name": "gpu", "device_type": "type-{}"}}\n'
    write("nova-api.conf", f"{gpu.format('PF')}[DEFAULT]\ndefault_schedule_zone=z1\n")
    zone = "[DEFAULT]\ndefault_availability_zone = nowhere\n"
    write("nova-scheduler/nova.conf", f"{gpu.format('PCI')}{zone}")
    return "nova-api.conf", "nova-scheduler/nova.conf"


def test_files_of_several_services_are_each_read_by_its_own(write, tmp_path):
    found = join(nova_conf=of_service(write, tmp_path))
    (alias,) = found.items(options.PCI_ALIAS)
    assert "type-PF" in alias
    assert found.value(options.DEFAULT_ZONE) == "z1"
    # What nova-conductor has is not known.
    assert found.is_known(options.PCI_IN_PLACEMENT)
    assert not found.for_moves().is_known(options.PCI_IN_PLACEMENT)
    assert {
        name: {service.value: str(each.value) for service, each in of.items()}
        for name, of in found.disagreements.items()
    } == {options.DEFAULT_HOST_ZONE: {"nova-scheduler": "nowhere", "nova-api": "nova"}}


def test_the_scheduler_s_own_file_does_not_tell_what_nova_api_reads(write, tmp_path):
    _, scheduler = of_service(write, tmp_path)
    found = join(nova_conf=(scheduler,))
    assert not found.value(options.PCI_ALIAS)
    for name in (options.PCI_ALIAS, options.DEFAULT_ZONE, options.PCI_IN_PLACEMENT):
        assert not found.is_known(name)
        assert "no nova.conf of nova-api was supplied" in found.setting(name).source
    assert found.is_known(options.ISOLATION)
    assert not found.disagreements
    assert not found.no_effect
    by_hand = ((options.PCI_IN_PLACEMENT, "true"),)
    assert join(nova_conf=(scheduler,), options=by_hand).is_known(
        options.PCI_IN_PLACEMENT
    )


def test_a_file_without_a_service_in_its_name_is_read_by_all(write, tmp_path):
    _, scheduler = of_service(write, tmp_path)
    write("nova.conf", "[filter_scheduler]\npci_in_placement = true\n")
    found = join(nova_conf=("nova.conf", scheduler))
    assert found.is_known(options.PCI_ALIAS)
    assert not found.value(options.PCI_ALIAS)
    assert found.value(options.PCI_IN_PLACEMENT)
    assert found.for_moves().value(options.PCI_IN_PLACEMENT)
    (line,) = found.no_effect
    assert line.fix == "set [pci]alias in the nova.conf of nova-api"


def test_hieradata_under_puppets_own_names_is_read(write):
    found = join(environments=(write("env.yaml", TRIPLEO),))
    assert {name: line.partition(" ")[0] for name, line in given(found).items()} == {
        options.HOST_SUBSET_SIZE: "env.yaml:3",
        options.SHUFFLE: "env.yaml:4",
        options.PCI_ALIAS: "env.yaml:7",
        options.ENABLED_FILTERS: "env.yaml:8",
        options.CROSS_AZ_ATTACH: "env.yaml:9",
    }
    assert found.value(options.PCI_ALIAS) == (
        '{"name": "a1", "product_id": "20f1", "vendor_id": "10de"}',
    )
    assert found.value(options.HOST_SUBSET_SIZE) == 3


def test_hieradata_of_another_role_is_seen_and_said_with_its_line(write):
    found = join(environments=(write("env.yaml", TRIPLEO),))
    (line,) = found.no_effect
    assert (line.meant, line.source) == (options.RESIZE_TO_SAME_HOST, "env.yaml:11")
    assert line.is_unread
    assert found.setting(line.meant).source == "env.yaml:11: seen, not read"
    assert not found.is_known(line.meant)
