"""What a document of settings may say, and what is wrong with it in one line."""

import pytest

from osc_traitsched.config import document, nova_conf, saved, sources
from osc_traitsched.config.sources import SettingsSources
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.nova import options

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
        return saved.read("settings/prod.yaml", "a test")

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
    found = read(saved.text(empty))
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
