"""How a filter or weigher of one's own is named."""

import pytest

from osc_traitsched.core.nova.own import PluginFails, PluginName, Weighed


@pytest.mark.parametrize(
    ("text", "file", "path"),
    [
        ("ssd.py:SsdFilter", "ssd.py", "SsdFilter"),
        ("/etc/nova:x/ssd.py:SsdFilter", "/etc/nova:x/ssd.py", "SsdFilter"),
        ("site.ssd:SsdFilter", None, "site.ssd:SsdFilter"),
        ("site.ssd.SsdFilter", None, "site.ssd.SsdFilter"),
        ("ComputeFilter", None, "ComputeFilter"),
    ],
)
def test_a_class_is_in_a_file_or_where_the_other_python_finds_it(text, file, path):
    assert PluginName.read(text) == PluginName(text, file, path)


@pytest.mark.parametrize("text", ["ssd.py", "ssd.py:"])
def test_a_file_goes_with_a_class(text):
    with pytest.raises(PluginFails, match=r"FILE\.py:CLASS"):
        PluginName.read(text)


def test_a_score_is_what_the_scheduler_adds_to_the_weight_of_a_host():
    found = Weighed({"u": 7.0}, {"u": 0.5}, {"u": -2.0})
    assert found.score("u") == -1.0
