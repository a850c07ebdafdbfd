"""Which setting of an option wins, and where it is said to come from."""

import dataclasses

import pytest

from osc_traitsched.config import baseline, nova_conf
from osc_traitsched.config.joining import SettingsSources, resolve
from osc_traitsched.core import releases
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import Setting

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
        "az.conf": "[scheduler]\nquery_placement_for_availability_zone = false\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")


def join(release=ANTELOPE, **named):
    return resolve(SettingsSources(nova_release=release, **named))


def test_with_nothing_named_the_releases_defaults_hold():
    found = join()
    assert found.settings == {}
    assert (found.release, found.release_source) == (ANTELOPE, "--nova-release")
    assert found.setting(options.MAX_RESULTS).source == "the default of 2023.1"


def test_a_baseline_is_assumed_and_names_itself():
    expected = Setting(True, "the baseline tripleo")
    assert join(baseline="tripleo").settings[options.IMAGE_TYPE] == expected


def test_rhosos_baseline_has_the_schedulers_filters_and_workaround_too():
    found = join(baseline="rhoso")
    assert found.value(options.NO_PCPU_FALLBACK) is True
    assert "NUMATopologyFilter" in found.value(options.ENABLED_FILTERS)
    assert found.value(options.TENANT_REQUIRED) is False


def test_environment_files_imply_tripleo_and_have_the_word_over_it():
    found = join(environments=("env.yaml",))
    given = Setting(False, "env.yaml:1 (NovaSchedulerQueryImageType)", given=True)
    assert found.setting(options.IMAGE_TYPE) == given
    assert found.setting(options.AZ_QUERY).source == "the baseline tripleo"


def test_a_control_plane_implies_rhoso_and_has_the_word_over_it():
    found = join(control_plane="cp.yaml")
    given = Setting(False, "cp.yaml:2", given=True)
    assert found.setting(options.IMAGE_METADATA) == given
    assert found.setting(options.ISOLATION).source == "the baseline rhoso"


def test_a_baseline_that_is_named_is_not_implied():
    found = join(environments=("env.yaml",), baseline="upstream")
    assert list(found.settings) == [options.IMAGE_TYPE]


def test_nova_conf_has_the_word_over_the_deployments_files():
    tripleo = join(environments=("env.yaml",), nova_conf=("nova.conf",))
    assert tripleo.setting(options.IMAGE_TYPE).source == "nova.conf:3"
    plane = join(control_plane="cp.yaml", nova_conf=("nova.conf",))
    assert plane.setting(options.MAX_RESULTS).source == "nova.conf:2"
    assert plane.setting(options.IMAGE_METADATA).source == "cp.yaml:2"


def test_what_is_set_by_hand_has_the_last_word_and_the_last_of_that():
    given = ((options.MAX_RESULTS, "3"), (options.MAX_RESULTS, "4"))
    found = join(nova_conf=("nova.conf",), options=given)
    assert found.setting(options.MAX_RESULTS) == Setting(4, "--set", given=True)


def test_what_is_set_by_hand_has_the_options_type():
    with pytest.raises(BadConfiguration) as caught:
        join(options=((options.MAX_RESULTS, "0"),))
    assert (caught.value.path, caught.value.line) == ("--set", None)
    assert caught.value.value == "0"


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


def test_options_of_a_document_win_over_its_files_and_lose_to_what_is_set_by_hand():
    saved = SettingsSources(
        "prod.yaml",
        nova_conf=("nova.conf",),
        options=(
            (options.MAX_RESULTS, nova_conf.Entry("7", "prod.yaml", 3)),
            (options.IMAGE_METADATA, nova_conf.Entry("true", "prod.yaml", 4)),
        ),
    )
    found = join(found=saved, options=((options.IMAGE_METADATA, "false"),))
    assert found.setting(options.MAX_RESULTS) == Setting(7, "prod.yaml:3", given=True)
    assert found.setting(options.IMAGE_METADATA).source == "--set"


@pytest.mark.parametrize(
    ("named", "option", "source"),
    [
        ({"nova_conf": ("nova.conf",)}, options.MAX_RESULTS, "nova.conf:2"),
        (
            {"environments": ("env.yaml",)},
            options.IMAGE_TYPE,
            "env.yaml:1 (NovaSchedulerQueryImageType)",
        ),
    ],
)
def test_files_that_are_not_the_documents_own_win_over_its_options(
    named, option, source
):
    entries = (
        (options.MAX_RESULTS, nova_conf.Entry("7", "prod.yaml", 3)),
        (options.IMAGE_TYPE, nova_conf.Entry("true", "prod.yaml", 4)),
        (options.TENANT, nova_conf.Entry("true", "prod.yaml", 5)),
    )
    found = join(found=SettingsSources("prod.yaml", options=entries), **named)
    assert found.setting(option).source == source
    assert found.setting(options.TENANT).source == "prod.yaml:5"


@pytest.mark.parametrize("name", baseline.NAMES)
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
