"""Which setting of an option wins, and where it is said to come from."""

import dataclasses

import pytest

from osc_traitsched.config import deployments, nova_conf
from osc_traitsched.config.sources import SettingsSources, resolve
from osc_traitsched.core import releases
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import Setting

WALLABY, ANTELOPE, BOBCAT = 23, 27, 28


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {
        "env.yaml": "parameter_defaults: {NovaSchedulerQueryImageType: false}\n",
        "cp.yaml": "kind: OpenStackControlPlane\n"
        "spec: {nova: {template: {schedulerServiceTemplate: {customServiceConfig: "
        '"[scheduler]\\nmax_placement_results=1\\nimage_metadata_prefilter=off"}}}}\n',
        "nova.conf": "[scheduler]\nmax_placement_results = 2\n"
        "query_placement_for_image_type_support = true\n",
        "alias.conf": "[pci]\nalias = []\n",
        "az.conf": "[scheduler]\nquery_placement_for_availability_zone = false\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")


def join(release=ANTELOPE, **named):
    return resolve(SettingsSources(nova_release=release, **named))


ENV, PLANE = {"environments": ("env.yaml",)}, {"control_plane": "cp.yaml"}
CONF, SET = {"nova_conf": ("nova.conf",)}, {"options": ((options.MAX_RESULTS, "4"),)}
IN_DOCUMENT = tuple(
    (name, nova_conf.Entry(text, "prod.yaml", line))
    for line, (name, text) in enumerate(
        (
            (options.MAX_RESULTS, "7"),
            (options.IMAGE_TYPE, "true"),
            (options.PCI_ALIAS, "{}"),
        ),
        start=3,
    )
)
FOUND = {"found": SettingsSources("prod.yaml", options=IN_DOCUMENT)}
BOTH = {"found": SettingsSources("prod.yaml", options=IN_DOCUMENT, **CONF)}


@pytest.mark.parametrize(
    ("named", "option", "value", "source"),
    [
        ({}, options.MAX_RESULTS, 1000, "the default of 2023.1"),
        ({"baseline": "tripleo"}, options.IMAGE_TYPE, True, "the baseline tripleo"),
        (ENV, options.IMAGE_TYPE, False, "env.yaml:1 (NovaSchedulerQueryImageType)"),
        (ENV, options.AZ_QUERY, False, "the baseline tripleo"),
        (PLANE, options.IMAGE_METADATA, False, "cp.yaml:2"),
        (PLANE, options.ISOLATION, True, "the baseline rhoso"),
        (
            {**ENV, "baseline": "upstream"},
            *(options.AZ_QUERY, True, "the default of 2023.1"),
        ),
        ({**ENV, **CONF}, options.IMAGE_TYPE, True, "nova.conf:3"),
        ({**PLANE, **CONF}, options.MAX_RESULTS, 2, "nova.conf:2"),
        ({**PLANE, **CONF}, options.IMAGE_METADATA, False, "cp.yaml:2"),
        ({**CONF, **SET}, options.MAX_RESULTS, 4, "--set"),
        (BOTH, options.MAX_RESULTS, 7, "prod.yaml:3"),
        ({**BOTH, **SET}, options.MAX_RESULTS, 4, "--set"),
        ({**FOUND, **CONF}, options.MAX_RESULTS, 2, "nova.conf:2"),
        (
            {**FOUND, **ENV},
            *(options.IMAGE_TYPE, False, "env.yaml:1 (NovaSchedulerQueryImageType)"),
        ),
        ({**FOUND, **CONF}, options.PCI_ALIAS, ("{}",), "prod.yaml:5"),
        (
            {**FOUND, "nova_conf": ("alias.conf",)},
            *(options.PCI_ALIAS, ("[]",), "alias.conf:2"),
        ),
    ],
)
def test_a_higher_source_wins_and_is_named(named, option, value, source):
    is_given = not source.startswith("the ")
    assert join(**named).setting(option) == Setting(value, source, given=is_given)


def test_the_last_option_that_is_set_by_hand_wins():
    given = ((options.MAX_RESULTS, "3"), *SET["options"])
    assert join(options=given).value(options.MAX_RESULTS) == 4


def test_rhosos_baseline_has_the_schedulers_filters_and_workaround_too():
    found = join(baseline="rhoso")
    assert found.value(options.NO_PCPU_FALLBACK) is True
    assert "NUMATopologyFilter" in found.value(options.ENABLED_FILTERS)
    assert found.value(options.TENANT_REQUIRED) is False


def test_an_option_that_the_release_has_no_more_is_kept_out_and_noted():
    found = join(BOBCAT, nova_conf=("az.conf",))
    assert options.AZ_QUERY not in found.settings
    assert found.ignored == ((options.AZ_QUERY, "az.conf:2"),)
    assert join(ANTELOPE, nova_conf=("az.conf",)).ignored == ()


def test_an_option_that_the_release_has_not_yet_is_kept_out_and_noted():
    found = join(WALLABY, options=((options.PCI_IN_PLACEMENT, "perhaps"),))
    assert options.PCI_IN_PLACEMENT not in found.settings
    assert found.ignored == ((options.PCI_IN_PLACEMENT, "--set"),)


ZONE = "AvailabilityZoneFilter"


@pytest.mark.parametrize(
    ("name", "release", "first", "last"),
    [
        ("openstack-ansible", 24, ZONE, "NUMATopologyFilter"),
        ("openstack-ansible", 25, "ComputeFilter", "NUMATopologyFilter"),
        ("charmed", 21, "RetryFilter", "SameHostFilter"),
        ("charmed", 22, ZONE, "SameHostFilter"),
        ("charmed", 27, ZONE, "SameHostFilter"),
        ("charmed", 28, "ComputeFilter", "SameHostFilter"),
    ],
)
def test_a_baselines_filters_are_those_of_the_release(name, release, first, last):
    found = join(release, baseline=name).setting(options.ENABLED_FILTERS)
    assert (found.value[0], found.value[-1]) == (first, last)
    assert (found.source, found.given) == (f"the baseline {name}", False)


@pytest.mark.parametrize(
    ("name", "release", "option", "value"),
    [
        ("rhoso", 27, options.SHUFFLE, True),
        ("openstack-ansible", 28, options.HOST_SUBSET_SIZE, 10),
        ("openstack-ansible", 27, options.RAM, 5.0),
        ("openstack-ansible", 29, options.RAM, 1.0),
        ("charmed", 20, options.BUILD_FAILURE, 0.0),
        ("tripleo", 20, options.BUILD_FAILURE, 1000000.0),
    ],
)
def test_a_baselines_weighers_are_those_of_the_release(name, release, option, value):
    assert join(release, baseline=name).value(option) == value


def test_another_release_that_it_may_be_has_the_baselines_filters_of_its_own():
    found = resolve(SettingsSources(baseline="charmed"), "2.95")
    assert ZONE not in found.value(options.ENABLED_FILTERS)
    assert ZONE in found.others[0].value(options.ENABLED_FILTERS)


def test_kolla_ansible_sets_nothing_that_upstream_does_not():
    assert join(baseline="kolla-ansible") == join(baseline="upstream")


@pytest.mark.parametrize("name", deployments.NAMES)
@pytest.mark.parametrize("release", releases.RELEASES)
def test_what_a_baseline_sets_for_other_releases_is_nobodys_mistake(name, release):
    found = join(release, baseline=name)
    assert found.ignored == ()
    assert all(options.OPTIONS[each].is_in(release) for each in found.settings)


def test_what_holds_in_another_release_that_it_may_be_is_read_from_the_same_files():
    found = resolve(SettingsSources(nova_conf=("az.conf",)), "2.95")
    (other,) = found.others
    for each, release in ((found, BOBCAT), (other, ANTELOPE)):
        named = join(release, nova_conf=("az.conf",))
        assert each == dataclasses.replace(
            named, others=each.others, release_source=each.release_source
        )
    assert (found.ignored, other.value(options.AZ_QUERY)) == (
        ((options.AZ_QUERY, "az.conf:2"),),
        False,
    )


def test_a_release_whose_nova_would_not_start_with_the_files_is_none_that_it_may_be():
    given = (("scheduler.query_placement_for_availability_zone", "maybe"),)
    assert resolve(SettingsSources(options=given), "2.95").others == ()
