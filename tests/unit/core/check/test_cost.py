"""How much there is to think of a large cloud, in counts."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.check import RULES
from osc_traitsched.core.check import analysis as builder
from osc_traitsched.core.check import survey as check_survey
from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.placement.matcher import Matcher
from tests.bench import lists
from tests.unit.core.check.surveys import aggregate, assumed, host, survey

HOSTS = 1000
GPU = "CUSTOM_GPU"
ON = assumed(
    enable_isolated_aggregate_filtering=True,
    query_placement_for_image_type_support=True,
)


def large(number=HOSTS):
    """Return a survey of 60 aggregates, 200 flavors, 100 images and many hosts."""
    names = [f"cmp{n:04}" for n in range(number)]
    isolated = [
        aggregate(each["name"], *each["hosts"], **each["metadata"])
        for each in lists.isolated(names)
    ]
    rest = lists.AGGREGATES - len(isolated)
    zones = [
        aggregate(f"az{n}", *names[n::3], availability_zone=f"az{n}") for n in range(3)
    ]
    racks = [aggregate(f"rack{n}", *names[n :: rest - 3]) for n in range(rest - 3)]
    return survey(
        [_host(number, name) for number, name in enumerate(names)],
        lists.flavors([GPU]),
        lists.images(),
        [*isolated, *zones, *racks],
        known=["COMPUTE_IMAGE_TYPE_ISO", "HW_CPU_HYPERTHREADING"],
        assumptions=ON,
    )


def _host(number, name):
    traits = [GPU] if number % 20 == 0 else []
    if number < lists.ISOLATED * lists.MEMBERS:
        traits.append(lists.isolation_trait(number // lists.MEMBERS))
    scale = 1 + number % 3
    size = {"VCPU": 256 * scale, "MEMORY_MB": 262144 * scale, "DISK_GB": 2000}
    return host(name, *traits, size=size)


@dataclasses.dataclass(frozen=True)
class Work:
    """What was done for all rules.

    :ivar built: how many requests
    :ivar kinds: the most hosts that were judged for one request
    :ivar judged: the hosts that were judged, for all requests together
    """

    built: int
    kinds: int
    judged: int


@pytest.fixture
def work(monkeypatch):
    """Return a function that runs all rules and counts what that takes."""

    def run(survey):
        matchers = []

        class Counting(Matcher):
            def __init__(self, *given):
                super().__init__(*given)
                self.judged = 0
                matchers.append(self)

            def meets(self, host, mask):
                self.judged += 1
                return super().meets(host, mask)

        questions = []

        def counting(*given):
            questions.append(given)
            return Question(*given)

        monkeypatch.setattr(check_survey, "Matcher", Counting)
        monkeypatch.setattr(builder, "Question", counting)
        analysis = Analysis(survey)
        for rule in RULES:
            list(rule.find(analysis))
        judged = [matcher.judged for matcher in matchers]
        return Work(len(questions), max(judged), sum(judged))

    return run


def test_what_asks_for_the_same_is_worked_out_once_and_like_hosts_are_one(work):
    done = work(large())
    things = lists.FLAVORS + lists.IMAGES
    assert done.built <= 3 * things
    assert done.kinds <= 150
    assert done.judged <= 5 * things * done.kinds


def test_more_hosts_of_the_same_kinds_are_no_more_work(work):
    assert work(large(500)) == work(large(HOSTS))


def test_flavors_and_images_that_ask_for_the_same_are_asked_for_once(work):
    one = large()
    # What Nova does not read makes no difference.
    images = [
        {**one.images[0], "id": str(n), "name": str(n), "os_version": str(n)}
        for n in range(100)
    ]
    flavors = [{**one.flavors[0], "id": str(n), "name": str(n)} for n in range(200)]
    few = survey("a", flavors, images, assumptions=ON)
    assert work(few).built <= 10
