"""Settings in the files of each deployment tool."""

from __future__ import annotations

import pytest

from osc_traitsched.config import deployments, nova_conf
from osc_traitsched.config.sources import SettingsSources, resolve
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import Setting

# Files as people have them, one of each deployment tool.


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
    own = {options.ISOLATION: "nova.yaml:7", "scheduler.max_attempts": "nova.yaml:6"}
    assert given(found) == own
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
    differing = ["nova-api", "nova-conductor"] if boots != moves else []
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
        name: {service: str(each.value) for service, each in of.items()}
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


# The OpenStackControlPlane of RHOSO, and the INI inside it.


PLANE = """\
apiVersion: core.openstack.org/v1beta1
kind: OpenStackControlPlane
metadata:
  name: openstack
spec:
  nova:
    template:
      apiServiceTemplate:
        customServiceConfig: |
          [scheduler]
          max_placement_results = 1
      schedulerServiceTemplate:
        replicas: 3
        customServiceConfig: |

          [scheduler]
          # fewer than there are
          max_placement_results = 50

          image_metadata_prefilter = false
"""
SECRET = "kind: Secret\nmetadata: {name: osp-secret}\n---\n"


@pytest.fixture
def rhoso_write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text):
        (tmp_path / "cp.yaml").write_text(text, encoding="utf-8")
        return "cp.yaml"

    return write


def plane(config):
    scheduler = f"{{schedulerServiceTemplate: {config}}}"
    return f"kind: OpenStackControlPlane\nspec: {{nova: {{template: {scheduler}}}}}\n"


def settings(path):
    return nova_conf.settings([each.entries for each in deployments.read(path)], 27, {})


def refused(path):
    with pytest.raises(BadConfiguration) as caught:
        settings(path)
    return caught.value.path, caught.value.line, caught.value.reason


def test_the_schedulers_own_ini_is_read_with_the_lines_of_the_yaml(rhoso_write):
    found = settings(rhoso_write(PLANE))
    assert found[options.MAX_RESULTS].value == 50
    assert found[options.MAX_RESULTS].source == "cp.yaml:18"
    assert found[options.IMAGE_METADATA].source == "cp.yaml:20"


def test_the_control_plane_is_found_among_other_documents(rhoso_write):
    found = settings(rhoso_write(f"---\n---\n{SECRET}{PLANE}"))
    assert found[options.MAX_RESULTS].source == "cp.yaml:23"


def test_the_control_plane_is_found_in_a_list(rhoso_write):
    inside = "".join(f"    {line}\n" for line in PLANE.splitlines())
    found = settings(rhoso_write(f"kind: List\nitems:\n  -\n{inside}"))
    assert found[options.MAX_RESULTS].source == "cp.yaml:21"


def test_ini_in_quotes_stands_on_the_line_where_it_begins(rhoso_write):
    ini = r'"[scheduler]\nmax_placement_results = 50\n"'
    found = settings(rhoso_write(plane(f"{{customServiceConfig: {ini}}}")))
    assert found[options.MAX_RESULTS].value == 50
    assert found[options.MAX_RESULTS].source == "cp.yaml:2"


@pytest.mark.parametrize(
    "text",
    [
        "kind: OpenStackControlPlane\n",
        "kind: OpenStackControlPlane\nspec: {nova: }\n",
        plane("{}"),
        plane("{customServiceConfig: }"),
        plane("{customServiceConfig: ''}"),
    ],
)
def test_a_control_plane_that_says_nothing_of_the_scheduler_sets_nothing(
    rhoso_write, text
):
    assert settings(rhoso_write(text)) == {}


def test_broken_ini_is_refused_with_the_line_of_the_yaml(rhoso_write):
    broken = PLANE.replace("# fewer", "fewer")
    assert refused(rhoso_write(broken))[:2] == ("cp.yaml", 17)


def test_a_value_that_nova_refuses_is_refused_with_the_line_of_the_yaml(rhoso_write):
    reason = "[scheduler] max_placement_results is not a whole number of 1 or more"
    assert refused(rhoso_write(PLANE.replace("50", "0"))) == ("cp.yaml", 18, reason)


@pytest.mark.parametrize("config", ["5", "[a]", "{a: b}", "true"])
def test_a_config_that_is_no_text_is_refused(rhoso_write, config):
    name = "spec.nova.template.schedulerServiceTemplate.customServiceConfig"
    path = rhoso_write(plane(f"{{customServiceConfig: {config}}}"))
    assert refused(path) == ("cp.yaml", 2, f"{name} is not a text")


def test_something_else_on_the_way_is_refused(rhoso_write):
    name = "spec.nova.template.schedulerServiceTemplate"
    assert refused(rhoso_write(plane("[a]"))) == (
        "cp.yaml",
        2,
        f"{name} is not a mapping",
    )


@pytest.mark.parametrize("text", ["", SECRET[:-4], "kind: List\nitems: 5\n"])
def test_a_file_without_a_control_plane_is_refused(rhoso_write, text):
    reason = "no OpenStackControlPlane in this file"
    assert refused(rhoso_write(text)) == ("cp.yaml", None, reason)


def test_a_file_with_two_control_planes_is_refused(rhoso_write):
    text = f"{PLANE}---\n{PLANE}"
    reason = "a second OpenStackControlPlane: leave one in the file"
    assert refused(rhoso_write(text)) == ("cp.yaml", 22, reason)


def test_broken_yaml_is_refused_with_its_line(rhoso_write):
    assert refused(rhoso_write(PLANE.replace("replicas: 3", "replicas: 3: 4")))[1] == 13


TEMPLATE = """\
schedulerServiceTemplate:
  customServiceConfig: |
    [scheduler]
    max_placement_results = 50
"""


def inside(text, *keys):
    for key in reversed(keys):
        text = f"{key}:\n" + "".join(f"  {line}\n" for line in text.splitlines())
    return text


def test_the_body_of_a_patch_needs_no_kind(rhoso_write):
    found = settings(rhoso_write(inside(TEMPLATE, "spec", "nova", "template")))
    assert found[options.MAX_RESULTS].source == "cp.yaml:7"


def test_the_values_of_published_architectures_are_a_config_map(rhoso_write):
    head = "kind: ConfigMap\nmetadata: {name: service-values}\n"
    values = f"{SECRET}{head}{inside(TEMPLATE, 'data', 'nova')}"
    assert settings(rhoso_write(values))[options.MAX_RESULTS].value == 50
    other = values.replace("service-values", "network-values")
    assert refused(rhoso_write(other))[2] == "no OpenStackControlPlane in this file"


# The environment files of TripleO, as Heat reads them.


@pytest.fixture
def tripleo_write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, *lines):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return name

    return write


@pytest.fixture
def defaults(tripleo_write):
    return lambda *lines: tripleo_write(
        "env.yaml", "parameter_defaults:", *(f"  {line}" for line in lines)
    )


def tripleo_settings(paths):
    return nova_conf.settings([deployments.environments(paths)], 23, {})


def tripleo_refused(*paths):
    with pytest.raises(BadConfiguration) as caught:
        tripleo_settings(paths)
    return caught.value.path, caught.value.line, caught.value.reason


def test_a_parameter_sets_its_option_and_is_named_with_its_line(tripleo_write):
    tripleo_write(
        "env.yaml",
        "# of the overcloud",
        "resource_registry:",
        "  OS::TripleO::Services::NovaScheduler: nova.yaml",
        "parameter_defaults:",
        "  ComputeCount: 3",
        "  NovaSchedulerEnableIsolatedAggregateFiltering: true",
    )
    assert tripleo_settings(["env.yaml"]) == {
        options.ISOLATION: Setting(
            True,
            "env.yaml:6 (NovaSchedulerEnableIsolatedAggregateFiltering)",
            given=True,
        )
    }


@pytest.mark.parametrize("parameter", deployments.PARAMETERS)
def test_every_switch_is_a_parameter(defaults, parameter):
    found = tripleo_settings([defaults(f"{parameter}: 'yes'")])
    assert found[deployments.PARAMETERS[parameter]].value is True


@pytest.mark.parametrize("written", ["false", "no", "'Off'", "0", "n"])
def test_heat_takes_many_words_for_false(defaults, written):
    found = tripleo_settings([defaults(f"NovaSchedulerQueryImageType: {written}")])
    assert found[options.IMAGE_TYPE].value is False


def test_the_last_of_several_files_wins(tripleo_write):
    one = tripleo_write(
        "a.yaml", "parameter_defaults: {NovaSchedulerQueryImageType: true}"
    )
    two = tripleo_write(
        "b.yaml", "parameter_defaults: {NovaSchedulerQueryImageType: false}"
    )
    found = tripleo_settings([one, two])[options.IMAGE_TYPE]
    assert found.source == "b.yaml:1 (NovaSchedulerQueryImageType)"
    assert tripleo_settings([two, one])[options.IMAGE_TYPE].value is True


def test_a_null_takes_back_what_an_earlier_file_gave(tripleo_write):
    one = tripleo_write(
        "a.yaml", "parameter_defaults: {NovaSchedulerQueryImageType: true}"
    )
    two = tripleo_write("b.yaml", "parameter_defaults: {NovaSchedulerQueryImageType: }")
    assert tripleo_settings([one, two]) == {}


@pytest.mark.parametrize("written", ["[A, B]", "'A,B'", "A, B", "\n  - A\n  - B"])
def test_filters_are_a_list_or_a_text_with_commas(defaults, written):
    found = tripleo_settings([defaults(f"NovaSchedulerEnabledFilters: {written}")])
    assert found[options.ENABLED_FILTERS].value == ("A", "B")


def test_the_older_list_of_filters_counts_only_where_the_newer_is_empty(defaults):
    old, new = "NovaSchedulerDefaultFilters: [Old]", "NovaSchedulerEnabledFilters: "
    for lines, expected in [
        ([old], ("Old",)),
        ([old, f"{new}[]"], ("Old",)),
        ([old, f"{new}''"], ("Old",)),
        ([old, f"{new}[New]"], ("New",)),
    ]:
        found = tripleo_settings([defaults(*lines)])
        assert found[options.ENABLED_FILTERS].value == expected


def test_empty_filters_leave_novas_own(defaults):
    assert tripleo_settings([defaults("NovaSchedulerEnabledFilters: []")]) == {}


@pytest.mark.parametrize(
    "lines",
    [[], ["---"], ["parameter_defaults:"], ["resource_registry: {}"], ["# nothing"]],
)
def test_a_file_without_parameters_sets_nothing(tripleo_write, lines):
    assert tripleo_settings([tripleo_write("env.yaml", *lines)]) == {}


def test_anchors_and_merges_are_followed(tripleo_write):
    tripleo_write(
        "env.yaml",
        "base: &base",
        "  NovaSchedulerQueryImageType: false",
        "parameter_defaults:",
        "  <<: *base",
    )
    found = tripleo_settings(["env.yaml"])[options.IMAGE_TYPE]
    assert found.source == "env.yaml:2 (NovaSchedulerQueryImageType)"


def test_values_that_nobody_asks_for_may_be_anything(defaults):
    assert tripleo_settings([defaults("Day: 2024-13-45", "Key: !secret x")]) == {}


@pytest.mark.parametrize("written", ["maybe", "2", "[true]", "{}", "''"])
def test_a_switch_that_is_not_true_or_false_is_refused(defaults, written):
    path = defaults("A: 1", f"NovaSchedulerQueryImageType: {written}")
    name = "parameter_defaults.NovaSchedulerQueryImageType"
    assert tripleo_refused(path) == (path, 3, f"{name} is not true or false")


@pytest.mark.parametrize("written", ["{A: B}", "[[A]]"])
def test_filters_that_are_no_list_of_names_are_refused(defaults, written):
    assert tripleo_refused(defaults(f"NovaSchedulerEnabledFilters: {written}"))[1] == 2


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (["parameter_defaults:", "  a: b: c"], 2),
        (["parameter_defaults: {", "a: 1"], 3),
        (["a: 1", "\tb: 2"], 2),
        (["a: *nowhere"], 1),
        (["parameter_defaults:", "  <<: 1"], 2),
        (["a: 1", "b: \x01"], 2),
        (["a: 1", "b: " + "[" * 2000], 2),
        (["- a"], 1),
        (["a"], 1),
        (["parameter_defaults: [a]"], 1),
        (["a: 1", "---", "b: 2"], 3),
    ],
)
def test_what_heat_cannot_read_is_refused_with_its_line(tripleo_write, lines, line):
    assert tripleo_refused(tripleo_write("env.yaml", *lines))[:2] == ("env.yaml", line)


def test_a_file_that_is_not_there_is_refused():
    assert tripleo_refused("none.yaml") == (
        "none.yaml",
        None,
        "No such file or directory",
    )


def test_hieradata_for_nova_conf_is_read_with_its_lines(tripleo_write):
    tripleo_write(
        "env.yaml",
        "parameter_defaults:",
        "  ExtraConfig:",
        "    nova::config::nova_config:",
        "      scheduler/max_placement_results: {value: 5}",
        "      DEFAULT/default_schedule_zone: {value: one}",
        "  ControllerExtraConfig:",
        "    nova::config::nova_config:",
        "      scheduler/max_placement_results:",
        "        value: 7",
        "      scheduler/image_metadata_prefilter: {value: true}",
        "      filter_scheduler/weight_classes: {value: [a.A, b.B]}",
        "      scheduler/workers: {ensure: absent}",
        "  ComputeExtraConfig:",
        "    nova::config::nova_config:",
        "      scheduler/max_placement_results: {value: 9}",
    )
    found = resolve(SettingsSources(nova_release=23, environments=("env.yaml",)))
    given = {k: (v.value, v.source) for k, v in found.settings.items() if v.given}
    assert given == {
        options.MAX_RESULTS: (7, "env.yaml:9"),
        options.DEFAULT_ZONE: ("one", "env.yaml:5"),
        options.IMAGE_METADATA: (True, "env.yaml:10"),
        options.WEIGHT_CLASSES: (("a.A", "b.B"), "env.yaml:11"),
    }
    assert found.value(options.IMAGE_TYPE) is True


def test_the_filters_that_can_be_loaded_are_a_parameter(defaults):
    found = tripleo_settings([defaults("NovaSchedulerAvailableFilters: [a.A, b]")])
    assert found[options.AVAILABLE_FILTERS].value == ("a.A", "b")
    assert options.ENABLED_FILTERS not in found


# The line that starts a Python beside Nova.


#: What nova-scheduler's host is called, by deployment, and the command from elsewhere.
STARTS = {
    "overcloud-controller-0.example.com": (
        "TripleO",
        "ssh overcloud-controller-0.example.com sudo podman exec -i nova_scheduler "
        "python3",
    ),
    "nova-scheduler-0": ("RHOSO", "scheduler=oc exec -i nova-scheduler-0 -- python3"),
    "nova-scheduler-7c9f5d8b6d-x2lqz": (
        "Helm",
        "kubectl -n openstack exec -i deploy/nova-scheduler -- python3",
    ),
    "az1-infra1-nova-api-container-1f2e3d4c": (
        "OSA",
        "ssh az1-infra1 lxc-attach -n az1_infra1_nova_api_container-1f2e3d4c -- "
        "sh -c /openstack/venvs/nova-*/bin/python",
    ),
    "juju-3f2a1c-0-lxd-7": (
        "charms",
        "juju ssh --pty=false nova-cloud-controller/leader sudo -u nova python3",
    ),
}


@pytest.fixture
def elsewhere(monkeypatch):
    """A machine with no file of a deployment tool."""
    monkeypatch.setattr(deployments.os.path, "exists", lambda path: False)


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("host", STARTS)
def test_the_host_of_the_scheduler_tells_who_deployed_it(host):
    (found,) = deployments.nova_pythons([host, "other"], "laptop")
    assert (found.tool, found.commands[0]) == STARTS[host]
    assert found.host == host


@pytest.mark.usefixtures("elsewhere")
def test_services_of_rhoso_have_a_command_each():
    (found,) = deployments.nova_pythons(["nova-scheduler-0"], "laptop")
    names = [each.partition("=")[0] for each in found.commands]
    assert names == ["scheduler", "api", "conductor"]


@pytest.mark.usefixtures("elsewhere")
def test_a_name_that_tells_nothing_leaves_tools_without_names_of_their_own():
    found = deployments.nova_pythons(["ctl1"], "laptop")
    assert [each.tool for each in found] == ["Kolla", "package"]
    assert found[0].commands == ("ssh ctl1 sudo docker exec -i nova_scheduler python3",)
    assert all(not each.host for each in deployments.nova_pythons([], "laptop"))
    assert len(deployments.nova_pythons([], "laptop")) == 7


def test_files_of_a_tool_tell_it_and_this_machine_needs_no_ssh(monkeypatch):
    monkeypatch.setattr(
        deployments.os.path, "exists", lambda path: path == "/etc/kolla"
    )
    (found,) = deployments.nova_pythons(["ctl1"], "ctl1")
    assert found.commands == ("sudo docker exec -i nova_scheduler python3",)
