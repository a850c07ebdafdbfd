"""Files that stand for far more than they are long are refused in one line."""

from __future__ import annotations

import pytest

from osc_traitsched.config import deployments, document, nova_conf
from osc_traitsched.core.errors import BadConfiguration

_FILTERS = "[filter_scheduler]\n"


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def write(tmp_path):
    def write(text):
        (tmp_path / "file").write_text(text, encoding="utf-8")
        return "file"

    return write


def refused(read, path):
    """Return the line and the reason of a refusal."""
    with pytest.raises(BadConfiguration) as caught:
        read(path)
    assert caught.value.path == path
    return caught.value.line, caught.value.reason


def scheduler(path):
    return nova_conf.settings(deployments.read_files([path]), 34, {})


def environment(path):
    return deployments.environments([path])


def merges(levels, width):
    """Return YAML of mappings that each merge the one before many times."""
    lines = ["a0: &a0 {k: 1}"]
    for level in range(1, levels):
        names = ", ".join([f"*a{level - 1}"] * width)
        lines.append(f"a{level}: &a{level} {{<<: [{names}]}}")
    return "\n".join([*lines, f"parameter_defaults: {{<<: *a{levels - 1}}}"])


def test_many_small_merges_are_followed(write):
    path = write(merges(4, 10))
    assert environment(path) == {}


def test_aliases_stand_for_one_value_each(write):
    laughs = ["resource_registry: {}", "a0: &a0 [x]"]
    laughs += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 20)]
    assert environment(write("\n".join(laughs))) == {}


@pytest.mark.parametrize("opened", ["[", "{a: ", "- ", "? "])
def test_what_nests_too_deeply_is_refused_with_its_line(write, opened):
    path = write("a: 1\n---\n" + opened * 9000)
    assert refused(document.read, path) == (3, "nested too deeply")


@pytest.mark.parametrize("read", [scheduler, environment, deployments.read])
def test_a_file_that_is_too_large_is_refused_though_it_never_ends(read):
    assert refused(read, "/dev/zero") == (None, "larger than 10 MB")


def test_the_largest_file_is_read(write):
    text = "#" * document.MOST
    assert document.read_text(write(text)) == text
    assert refused(document.read_text, write(f"{text}#")) == (None, "larger than 10 MB")


@pytest.mark.parametrize("value", ["x", ""])
def test_options_that_repeat_each_other_are_refused(write, value):
    laughs = [f"l{n}={f'$l{n - 1}' * 10}\n" for n in range(1, 10)]
    path = write(f"{_FILTERS}l0={value}\n{''.join(laughs)}enabled_filters=$l9\n")
    line, reason = refused(scheduler, path)
    assert reason == "refers to more than 100000 characters"
    assert 3 <= line <= 12


def test_options_that_refer_to_each_other_in_a_long_row_are_refused(write):
    row = "".join(f"l{n}=$l{n - 1}\n" for n in range(1, 999))
    path = write(f"{_FILTERS}l0=x\n{row}enabled_filters=$l998\n")
    assert refused(scheduler, path)[1] == "refers to too many others in a row"


def test_a_few_options_may_refer_to_each_other_in_a_row(write):
    row = "".join(f"l{n}=$l{n - 1}\n" for n in range(1, 20))
    path = write(f"{_FILTERS}l0=A\n{row}enabled_filters=$l19\n")
    assert scheduler(path)["filter_scheduler.enabled_filters"].value == ("A",)


@pytest.mark.parametrize("part", ["a,", '"a', "$", "$$a", "${"])
def test_a_value_that_is_too_long_is_refused_with_its_line(write, part):
    path = write(f"{_FILTERS}enabled_filters={part * 1_000_000}\n")
    assert refused(scheduler, path) == (2, "a value of more than 100000 characters")


def test_the_home_of_nobody_is_named():
    for read in (scheduler, environment, deployments.read):
        assert refused(read, "~nobody-here/x") == (None, "no such user, or no home")


def test_a_name_that_is_too_long_is_named():
    for read in (scheduler, environment, deployments.read):
        assert refused(read, "x" * 5000) == (None, "File name too long")
