"""The OpenStackControlPlane of RHOSO, and the INI inside it."""

import pytest

from osc_traitsched.config import deployments, nova_conf
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.nova import options

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
def write(tmp_path, monkeypatch):
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


def test_the_schedulers_own_ini_is_read_with_the_lines_of_the_yaml(write):
    found = settings(write(PLANE))
    assert found[options.MAX_RESULTS].value == 50
    assert found[options.MAX_RESULTS].source == "cp.yaml:18"
    assert found[options.IMAGE_METADATA].source == "cp.yaml:20"


def test_the_control_plane_is_found_among_other_documents(write):
    found = settings(write(f"---\n---\n{SECRET}{PLANE}"))
    assert found[options.MAX_RESULTS].source == "cp.yaml:23"


def test_the_control_plane_is_found_in_a_list(write):
    inside = "".join(f"    {line}\n" for line in PLANE.splitlines())
    found = settings(write(f"kind: List\nitems:\n  -\n{inside}"))
    assert found[options.MAX_RESULTS].source == "cp.yaml:21"


def test_ini_in_quotes_stands_on_the_line_where_it_begins(write):
    ini = r'"[scheduler]\nmax_placement_results = 50\n"'
    found = settings(write(plane(f"{{customServiceConfig: {ini}}}")))
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
def test_a_control_plane_that_says_nothing_of_the_scheduler_sets_nothing(write, text):
    assert settings(write(text)) == {}


def test_broken_ini_is_refused_with_the_line_of_the_yaml(write):
    broken = PLANE.replace("# fewer", "fewer")
    assert refused(write(broken))[:2] == ("cp.yaml", 17)


def test_a_value_that_nova_refuses_is_refused_with_the_line_of_the_yaml(write):
    reason = "[scheduler] max_placement_results is not a whole number of 1 or more"
    assert refused(write(PLANE.replace("50", "0"))) == ("cp.yaml", 18, reason)


@pytest.mark.parametrize("config", ["5", "[a]", "{a: b}", "true"])
def test_a_config_that_is_no_text_is_refused(write, config):
    name = "spec.nova.template.schedulerServiceTemplate.customServiceConfig"
    path = write(plane(f"{{customServiceConfig: {config}}}"))
    assert refused(path) == ("cp.yaml", 2, f"{name} is not a text")


def test_something_else_on_the_way_is_refused(write):
    name = "spec.nova.template.schedulerServiceTemplate"
    assert refused(write(plane("[a]"))) == ("cp.yaml", 2, f"{name} is not a mapping")


@pytest.mark.parametrize("text", ["", SECRET[:-4], "kind: List\nitems: 5\n"])
def test_a_file_without_a_control_plane_is_refused(write, text):
    reason = "no OpenStackControlPlane in this file"
    assert refused(write(text)) == ("cp.yaml", None, reason)


def test_a_file_with_two_control_planes_is_refused(write):
    text = f"{PLANE}---\n{PLANE}"
    reason = "a second OpenStackControlPlane: leave one in the file"
    assert refused(write(text)) == ("cp.yaml", 22, reason)


def test_broken_yaml_is_refused_with_its_line(write):
    assert refused(write(PLANE.replace("replicas: 3", "replicas: 3: 4")))[1] == 13


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


def test_the_body_of_a_patch_needs_no_kind(write):
    found = settings(write(inside(TEMPLATE, "spec", "nova", "template")))
    assert found[options.MAX_RESULTS].source == "cp.yaml:7"


def test_the_values_of_published_architectures_are_a_config_map(write):
    head = "kind: ConfigMap\nmetadata: {name: service-values}\n"
    values = f"{SECRET}{head}{inside(TEMPLATE, 'data', 'nova')}"
    assert settings(write(values))[options.MAX_RESULTS].value == 50
    other = values.replace("service-values", "network-values")
    assert refused(write(other))[2] == "no OpenStackControlPlane in this file"
