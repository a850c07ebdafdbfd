"""How much there is to think of a large cloud, in counts."""

from __future__ import annotations

from osc_traitsched.core.check import RULES
from osc_traitsched.core.check.study import Study
from tests.bench import lists
from tests.unit.core.check.surveys import aggregate, assumed, host, survey

HOSTS = 1000
GPU = "CUSTOM_GPU"
ON = assumed(
    enable_isolated_aggregate_filtering=True,
    query_placement_for_image_type_support=True,
)


def large(hosts=HOSTS):
    """Return a survey of 60 aggregates, 200 flavors, 100 images and many hosts."""
    names = [f"cmp{number:04}" for number in range(hosts)]
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


def thought(survey):
    """Run all rules, and return what they worked out."""
    study = Study.of(survey)
    for rule in RULES:
        list(rule.function(study))
    return study


def test_what_asks_for_the_same_is_worked_out_once_and_like_hosts_are_one():
    study = thought(large())
    things = lists.FLAVORS + lists.IMAGES
    assert study.builder.built <= 3 * things
    assert len(study.hosts.kinds) <= 150
    assert study.hosts.judged <= 5 * things * len(study.hosts.kinds)


def test_more_hosts_of_the_same_kinds_are_no_more_work():
    few, many = thought(large(500)), thought(large(HOSTS))
    assert few.builder.built == many.builder.built
    assert len(few.hosts.kinds) == len(many.hosts.kinds)
    assert few.hosts.judged == many.hosts.judged


def test_flavors_and_images_that_ask_for_the_same_are_asked_for_once():
    one = large()
    # What Nova does not read makes no difference.
    images = [
        {**one.images[0], "id": str(n), "name": str(n), "os_version": str(n)}
        for n in range(100)
    ]
    flavors = [{**one.flavors[0], "id": str(n), "name": str(n)} for n in range(200)]
    hosts = survey([host("a")], flavors, images, assumptions=ON)
    assert thought(hosts).builder.built <= 10
