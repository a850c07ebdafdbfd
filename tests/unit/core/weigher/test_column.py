"""Weights are normalized and multiplied as Nova does it."""

from __future__ import annotations

import pytest

from osc_traitsched.core.nova.weighers import WEIGHERS, multiplier, normalized, ranking
from tests.unit.core.weigher import host, settings, spec

RAM = "ram_weight_multiplier"


def of(*metadata, weigher="RAMWeigher", default=1.5):
    return multiplier(host("a", *metadata), WEIGHERS[weigher], default)


def test_the_lowest_multiplier_of_a_host_s_aggregates_overrides_the_option():
    assert of() == 1.5
    assert of({"ssd": "true"}) == 1.5
    assert of({RAM: "3"}) == 3.0
    assert of({RAM: "3"}, {RAM: "-2"}, {RAM: "4"}) == -2.0


@pytest.mark.parametrize("text", ["x", "", "1,2", "2 3"])
def test_one_multiplier_that_is_no_number_brings_the_option_back(text):
    assert of({RAM: text}) == 1.5
    assert of({RAM: text}, {RAM: "0.5"}) == 1.5


@pytest.mark.parametrize(("text", "number"), [(" 3 ", 3), ("1e3", 1000), ("1_0", 10)])
def test_a_multiplier_is_a_number_as_python_reads_it(text, number):
    assert of({RAM: text}) == number


def test_the_multiplier_of_failed_builds_is_taken_with_the_other_sign():
    key = "build_failure_weight_multiplier"
    assert of(weigher="BuildFailureWeigher") == -1.5
    assert of({key: "-7"}, weigher="BuildFailureWeigher") == 7.0


def test_the_key_of_metrics_has_the_section_s_name():
    assert of({"metrics_weight_multiplier": "7"}, weigher="MetricsWeigher") == 7.0
    assert of({"weight_multiplier": "7"}, weigher="MetricsWeigher") == 1.5


def test_each_host_has_the_multiplier_of_its_own_aggregates():
    hosts = [host("a", {RAM: "-1"}), host("b"), host("c", {RAM: "2"})]
    found = ranking(hosts, spec(), settings(ram_weight_multiplier=5.0))
    (ram,) = (each for each in found.columns if each.weigher == "RAMWeigher")
    assert list(ram.multipliers) == [-1.0, 5.0, 2.0]


def test_weights_are_normalized_to_the_highest_and_the_lowest():
    assert list(normalized([4, 2, 6], None, 34)) == [0.5, 0.0, 1.0]
    assert list(normalized([-3, -3], None, 34)) == [0.0, 0.0]


def test_with_a_minimum_the_lowest_weight_is_not_zero():
    assert list(normalized([4, 8], 0, 34)) == [0.5, 1.0]
    assert list(normalized([8, 8], 0, 34)) == [1.0, 1.0]
    assert list(normalized([0, 0], 0, 34)) == [0.0, 0.0]


def test_what_is_below_the_minimum_counts_as_the_minimum():
    hosts = [host("a", free_ram_mb=-4096), host("b", free_ram_mb=4096)]
    found = ranking(hosts, spec(), settings(22))
    (ram,) = (each for each in found.terms("a") if each.weigher == "RAMWeigher")
    assert (ram.raw, ram.normalized) == (0, 0.0)


def test_before_victoria_what_is_below_the_minimum_is_the_minimum():
    hosts = [host(n, free_ram_mb=4096 * f) for n, f in zip("abc", (-1, 0, 1))]
    found = ranking(hosts, spec(), settings(21))
    (ram,) = (each for each in found.columns if each.weigher == "RAMWeigher")
    assert list(ram.raw) == [-4096, 0, 4096]
    assert list(ram.normalized) == [0.0, 0.5, 1.0]
