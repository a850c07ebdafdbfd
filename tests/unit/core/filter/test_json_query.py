"""The query of a hint, in JSON."""

import pytest

from tests.unit.core.filter.asked import host, says, spec


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("", "yes"),
        ("[]", "yes"),
        ("0", "yes"),
        ('[">=", "$free_ram_mb", 1024]', "yes"),
        ('["<", "$free_ram_mb", 1024]', "no"),
        ('["and", ["=", "$host", "cmp1"], [">", "$vcpus_total", 7]]', "yes"),
        ('["or", ["=", "$host", "x"], [">", "$vcpus_total", 9]]', "no"),
        ('["not", ["=", "$host", "x"]]', "yes"),
        ('["not", ["=", "$host", "cmp1"]]', "no"),
        ('["in", "$host", "cmp0", "cmp1"]', "yes"),
        ('["in", "$host", "cmp0"]', "no"),
        # What is not there is left out, and one value compares with nothing.
        ('["=", "$nothing", 1]', "no"),
        ('["=", "", 1, 1]', "yes"),
        ('["=", "$stats.num_instances", "3"]', "yes"),
        ('["=", "$stats.num_instances", 3]', "no"),
        # The address is no text.
        ('["=", "$host_ip", "10.0.0.5"]', "no"),
        ('["=", "$host_ip", "$host_ip"]', "yes"),
        ('["=", "$num_io_ops", 0]', "unknown: num_io_ops"),
        ('["or", true, ["=", "$num_io_ops", 0]]', "unknown: num_io_ops"),
        ('["xor", 1, 2]', "raises: KeyError"),
        ('{"a": 1}', "raises: KeyError"),
        ("1", "raises: TypeError"),
        ('[["and"], 1]', "raises: TypeError"),
        ('["<", "$host", 1]', "raises: TypeError"),
        ('["<", "$host", "a", 1]', "raises: TypeError"),
        ('["=", "$host.x", 1]', "raises: AttributeError"),
        ('["=", "$cpu_info.arch", "x86_64"]', "raises: AttributeError"),
        ("[", "raises: JSONDecodeError"),
    ],
)
def test_a_host_has_to_be_what_the_query_says(query, answer):
    found = says("JsonFilter", host(), spec(hints={"query": (query,)}))
    assert found.startswith(answer)


def test_without_a_query_every_host_passes():
    assert says("JsonFilter", host(), spec()) == "yes"


def test_two_queries_raise():
    asked = spec(hints={"query": ('["=", 1, 1]', '["=", 1, 1]')})
    assert says("JsonFilter", host(), asked) == "raises: TypeError"


def test_a_query_may_be_deep():
    query = "[" * 100_000
    asked = spec(hints={"query": (query,)})
    assert says("JsonFilter", host(), asked).startswith("raises: ")
