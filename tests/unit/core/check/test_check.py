"""What check costs, whom its findings name, and what it can't read."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from osc_traitsched.core import check
from osc_traitsched.core.check import RULES
from osc_traitsched.core.check import analysis as builder
from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.survey import NOTE, WARNING, Severity, SubjectKind
from osc_traitsched.core.errors import NothingMatches, Refusal
from osc_traitsched.core.judge import hosts as judge_hosts
from osc_traitsched.core.judge.hosts import matching_hosts
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.question import Question, ServerSpec
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import Matcher
from tests.bench import lists
from tests.fidelity import large as fidelity_large
from tests.unit.core.check.surveys import (
    aggregate,
    assumed,
    findings,
    flavor,
    host,
    identity,
    image,
    survey,
)

# An image or a flavor that can't be is a finding about itself, and about no other.


GOLD = "CUSTOM_GOLD"
ON = assumed(
    enable_isolated_aggregate_filtering=True,
    query_placement_for_image_type_support=True,
)
BOMBS = {
    "cpus": {"hw_numa_nodes": "1", "hw_numa_cpus.0": "0-999999999"},
    "nodes": {"hw_numa_nodes": "1000000000"},
    "digits": {"hw_numa_nodes": fidelity_large.DIGITS},
    "devices": {"block_device_mapping": "[" * fidelity_large.LONGEST},
}


def found(images=(), flavors=()):
    """Return what is found in a cloud with two images and two flavors, and more."""
    small = flavor("small", {"vcpus": 2})
    gold = flavor("gold", trait__CUSTOM_GOLD="required")
    two = [image("raw"), image("vmdk", "vmdk", trait__CUSTOM_GOLT="required")]
    gpu = aggregate("gpu", "b", trait__CUSTOM_GOLD="required")
    hosts = [host("a"), host("b", GOLD)]
    seen = survey(
        hosts, [small, gold, *flavors], [*two, *images], [gpu], assumptions=ON
    )
    return [
        (each.rule, each.severity.value, each.kind.value, each.name)
        for each in findings(seen)
    ]


@pytest.mark.parametrize("properties", BOMBS.values(), ids=BOMBS)
def test_an_image_that_can_t_be_is_a_finding_and_leaves_the_others(properties):
    bomb = image("bomb", **properties)
    own = ("traits-rejected", "error", "image", "bomb")
    assert found()
    assert sorted(found([bomb])) == sorted([*found(), own])


def test_an_image_whose_huge_list_leaves_the_right_cpus_is_no_finding():
    cpus = {"hw_numa_cpus.0": "0-999999999,^2-999999999", "hw_numa_mem.0": "512"}
    assert found([image("odd", **cpus)]) == found()


@pytest.mark.parametrize(
    "specs",
    [
        {"hw:cpu_policy": "mixed", "hw:cpu_dedicated_mask": "0-99999999"},
        {"hw:numa_nodes": "1", "hw:numa_cpus.0": "0-99999999", "hw:numa_mem.0": "512"},
        {"hw:mem_page_size": "²"},
    ],
)
def test_a_flavor_that_can_t_be_is_a_finding_and_leaves_the_others(specs):
    bomb = flavor("bomb", **specs)
    own = ("traits-rejected", "error", "flavor", "bomb")
    assert sorted(found(flavors=[bomb])) == sorted([*found(), own])


# What check says can't be, can't be: no flavor and image of the cloud disprove it.


CERTAIN_GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"
QCOW2, VIRTIO = "COMPUTE_IMAGE_TYPE_QCOW2", "COMPUTE_GRAPHICS_MODEL_VIRTIO"
TPM, TIS, CRB = (f"COMPUTE_SECURITY_TPM_{each}" for each in ("2_0", "TIS", "CRB"))
KNOWN = (CERTAIN_GOLD, SILVER, QCOW2, VIRTIO, TPM, TIS, CRB, "HW_CPU_HYPERTHREADING")
NAMES = ("a", "b", "c")

_SIZES = (
    {"VCPU": 16, "MEMORY_MB": 8192, "DISK_GB": 100},
    {"VCPU": 1, "MEMORY_MB": 1024, "DISK_GB": 100},
    {"PCPU": 8, "MEMORY_MB": 8192, "DISK_GB": 100},
    {"VCPU": 16, "MEMORY_MB": 8192},
    None,
)
_VALUES = st.sampled_from(("required", "forbidden"))
_SPECS = st.fixed_dictionaries(
    {},
    optional={
        "trait__CUSTOM_GOLD": _VALUES,
        "trait__CUSTOM_SILVER": _VALUES,
        "hw__cpu_policy": st.sampled_from(("dedicated", "shared")),
        "hw__cpu_thread_policy": st.sampled_from(("prefer", "require")),
        "hw__tpm_version": st.just("2.0"),
        "resources__CUSTOM_DISK": st.just("1"),
    },
)
_THREADS = ("hw:cpu_policy", "hw:cpu_thread_policy")
_PROPERTIES = st.fixed_dictionaries(
    {},
    optional={
        "trait__CUSTOM_GOLD": st.just("required"),
        "trait__CUSTOM_SILVER": st.just("required"),
        "hw_cpu_policy": st.just("dedicated"),
        "hw_cpu_thread_policy": st.just("require"),
        "hw_tpm_version": st.just("2.0"),
        "hw_tpm_model": st.just("tpm-crb"),
        "hw_video_model": st.just("virtio"),
    },
)
_SWITCH = st.booleans()


def _few(*names):
    return st.frozensets(st.sampled_from(names), max_size=3)


@st.composite
def clouds(draw):
    """Draw a survey of up to three hosts, some with a nested provider."""
    hosts = []
    for name in NAMES[: draw(st.integers(1, 3))]:
        child = {
            f"{name}-child": (draw(_few(CERTAIN_GOLD, SILVER)), {"CUSTOM_DISK": 1})
        }
        more = {"size": draw(st.sampled_from(_SIZES))}
        more["lacks"] = frozenset({QCOW2}) if draw(_SWITCH) else frozenset()
        more["children"] = child if draw(_SWITCH) else {}
        traits = draw(_few(CERTAIN_GOLD, SILVER, VIRTIO, TPM, TIS, CRB))
        hosts.append(host(name, *traits, **more))
    flavors = [
        flavor(f"f{n}", {"ram": draw(st.sampled_from((512, 4096)))}, **specs)
        for n, specs in enumerate(draw(st.lists(_SPECS, min_size=1, max_size=3)))
    ]
    formats = st.sampled_from(("raw", "qcow2"))
    images = [
        image(f"i{n}", draw(formats), **properties)
        for n, properties in enumerate(draw(st.lists(_PROPERTIES, max_size=3)))
    ]
    aggregates = [
        aggregate(f"{'g' * n}", *draw(_few(*NAMES)), **{f"trait__{name}": "required"})
        for n, name in enumerate(
            draw(st.lists(st.sampled_from((CERTAIN_GOLD, SILVER)))), 1
        )
    ][:2]
    options = {
        "enable_isolated_aggregate_filtering": draw(_SWITCH),
        "query_placement_for_image_type_support": draw(_SWITCH),
        "image_metadata_prefilter": draw(_SWITCH),
    }
    assumptions = assumed(draw(st.sampled_from((23, 32))), **options)
    return survey(hosts, flavors, images, aggregates, KNOWN, assumptions=assumptions)


class Truth:
    """Who could take what, each pair and each host tried by itself."""

    def __init__(self, of):
        self.of = of
        self.flavors = {each["name"]: each for each in of.flavors}
        self.images = {None: None, **{each["name"]: each for each in of.images}}

    def hosts(self, flavor, image, from_volume):
        """Return who could take it; None where Nova rejects it."""
        question = Question(
            self.flavors[flavor],
            self.images[image],
            self.of.nova.aggregates,
            self.of.assumptions,
            ServerSpec(boot_from_volume=from_volume),
        )
        try:
            request = question.request()
        except Refusal:
            return None
        return matching_hosts(request, self._facts(request))

    def anybody(self, flavors=None, images=None, ways=(False, True)):
        """Return who could take any of the flavors with any of the images."""
        pairs = itertools.product(
            self.flavors if flavors is None else flavors,
            self.images if images is None else images,
            ways,
        )
        return set().union(*(self.hosts(*each) or () for each in pairs))

    def _facts(self, request):
        of = self.of
        every = [r for r in (request, request.fallback) if r]
        offers = _Everything(
            lambda amount: frozenset(
                uuid
                for uuid in of.snapshot.by_uuid
                if uuid not in of.stock
                or (
                    amount[0] in of.stock[uuid]
                    and of.stock[uuid][amount[0]].capacity >= amount[1]
                )
            )
        )
        members = _Everything(
            lambda uuids: frozenset().union(*(of.members[uuid] for uuid in uuids))
        )
        assert every
        return Facts(of.snapshot, of.traits, offers, members, {}, of.stock, frozenset())


class _Everything(dict):
    """Answers worked out when they are asked for."""

    def __init__(self, answer):
        super().__init__()
        self._answer = answer

    def __missing__(self, key):
        return self._answer(key)


_OF_ONE_OR_A_PAIR = ("traits-not-together", "traits-contradiction", "traits-rejected")


def disproved(found, truth):
    """Return the hosts that disprove a finding; none for what claims nothing."""
    if found.rule in _OF_ONE_OR_A_PAIR:
        if found.kind is SubjectKind.FLAVOR:
            return truth.anybody([found.name])
        return truth.anybody(found.flavors or None, [found.name])
    if found.rule == "traits-no-host":
        return truth.anybody(found.flavors) | truth.anybody(images=found.images)
    if found.rule == "traits-few-hosts":
        is_error = found.severity is Severity.ERROR
        return truth.anybody([found.name]) if is_error else set()
    if found.rule in ("resources-not-together", "isolation-shuts-out"):
        return truth.anybody([found.name])
    if found.rule in ("image-type-no-host", "image-type-flavor-no-host"):
        return truth.anybody(found.flavors or None, found.images, ways=[False])
    if found.rule == "resources-no-host":
        ways = (False,) if found.severity is Severity.WARNING else (False, True)
        flavors = truth.anybody(found.flavors, ways=ways)
        return flavors | truth.anybody(images=found.images)
    if found.rule in ("isolation-member-lacks-trait", "isolation-not-required"):
        hosts = {identity(name) for name in found.hosts}
        is_on = truth.of.assumptions.value(options.ISOLATION)
        return truth.anybody() & hosts if is_on else set()
    return set()


@given(clouds())
@settings(max_examples=300, deadline=None)
def test_no_pair_of_flavor_and_image_finds_a_host_that_check_denies(of):
    truth = Truth(of)
    for found in findings(of, "image-type", "traits", "resources", "isolation"):
        event(f"{found.rule} {found.severity.value}")
        assert disproved(found, truth) == set(), found


@given(clouds())
@settings(max_examples=100, deadline=None)
def test_every_flavor_that_no_host_could_ever_take_is_an_error(of):
    # Isolation of all hosts is a finding about aggregates.
    assumptions = of.assumptions.changed(options.ISOLATION, False)
    of = dataclasses.replace(of, assumptions=assumptions)
    truth = Truth(of)
    # Any user can pin CPUs by an image.
    truth.images["pinning"] = image("pinning", hw_cpu_policy="dedicated")
    errors = [each for each in findings(of) if each.severity is Severity.ERROR]
    for name, body in truth.flavors.items():
        # Threads without pinning: Nova takes the flavor only with an image that pins.
        if {*_THREADS} & body["extra_specs"].keys() == {"hw:cpu_thread_policy"}:
            continue
        is_found = any(each.is_about(SubjectKind.FLAVOR, [name]) for each in errors)
        assert is_found or truth.anybody([name])


# How much there is to think of a large cloud, in counts.


HOSTS = 1000
GPU = "CUSTOM_GPU"


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

        monkeypatch.setattr(judge_hosts, "Matcher", Counting)
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


# Which findings are about the flavors and images that somebody named.


NAMING_GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"


@pytest.fixture
def cloud():
    flavors = [flavor("gold", trait__CUSTOM_GOLD="required"), flavor("plain")]
    images = [image("silver", trait__CUSTOM_SILVER="required")]
    return survey("a", flavors, images, known=[NAMING_GOLD, SILVER])


def objects(cloud, flavors=(), images=()):
    found, _ = check.run(check.select(["traits-no-host"]), cloud)
    wanted = check.named(cloud, flavors, images)
    return [finding.name for finding in check.concerning(found, wanted)]


def test_all_findings_are_wanted_where_nothing_is_named(cloud):
    assert objects(cloud) == [NAMING_GOLD, SILVER]


def test_a_flavor_or_an_image_is_named_by_its_name_or_id(cloud):
    assert objects(cloud, flavors=["gold"]) == [NAMING_GOLD]
    assert objects(cloud, images=[identity("silver")]) == [SILVER]
    assert objects(cloud, ["gold"], ["silver"]) == [NAMING_GOLD, SILVER]
    assert objects(cloud, flavors=["plain"]) == []


def test_a_finding_is_about_its_object_and_about_the_flavors_and_images_it_names():
    about = {"flavors": ("f",), "images": ("i",), "kind": SubjectKind.FORMAT}
    found = WARNING("raw", "no host has it", **about)
    assert found.is_about(SubjectKind.FORMAT, ["raw"])
    assert found.is_about(SubjectKind.FLAVOR, ["f", "g"])
    assert found.is_about(SubjectKind.IMAGE, ["i"])
    assert not found.is_about(SubjectKind.FLAVOR, ["i", "raw"])
    assert not found.is_about(SubjectKind.IMAGE, ["f", "raw"])
    # It names neither.
    unused = NOTE("CUSTOM_GOLD", "", hosts=("f",), kind=SubjectKind.TRAIT)
    assert not unused.is_about(SubjectKind.FLAVOR, ["f"])


def test_a_name_that_nothing_has_is_refused_with_those_like_it(cloud):
    with pytest.raises(NothingMatches) as caught:
        check.named(cloud, ["golt"], [])
    assert caught.value.nearest == ("gold",)


def test_an_image_that_is_not_among_those_looked_at_may_be_there_and_not_active(cloud):
    with pytest.raises(NothingMatches) as caught:
        check.named(cloud, [], ["deactivated"])
    assert caught.value.selector == "active image"


def test_a_pedantic_rule_runs_by_its_id_or_if_all_of_its_area_are_wanted():
    rule = "config-max-results"

    def runs(*names, **more):
        return rule in {each.id for each in check.select(names, **more)}

    assert runs(rule)
    assert not runs()
    assert not runs("config")
    assert runs(pedantic=True)
    assert runs("config", pedantic=True)
    assert not runs("traits", pedantic=True)


# Rules that need what the user may not read do not run, and are named.


TENANTS = aggregate("acme", "a", filter_tenant_id="0" * 32)
ISOLATED = aggregate("gold", "a", trait__CUSTOM_GOLD="required")


def unread(of, *rules):
    return check.run(check.select(rules), of)[1]


def test_a_rule_that_needs_the_list_of_projects_is_named_only_where_it_needs_it():
    denied = survey("a", aggregates=[TENANTS], projects=None)
    named = {"the list of projects": ("project-unknown",)}
    assert unread(denied, "project") == named
    assert unread(dataclasses.replace(denied, projects={}), "project") == {}
    assert unread(survey("a", projects=None), "project") == {}


def test_the_list_of_projects_is_needed_where_each_project_needs_an_aggregate():
    required = {
        "limit_tenants_to_placement_aggregate": True,
        "placement_aggregate_required_for_tenants": True,
    }
    denied = survey("a", projects=None, assumptions=assumed(**required))
    assert unread(denied) == {"the list of projects": ("project-without",)}


def test_nothing_is_said_to_be_unused_where_private_flavors_are_hidden():
    seen = survey("a CUSTOM_GOLD", aggregates=[ISOLATED])
    hidden = dataclasses.replace(seen, has_private_flavors=False)
    rules = ("isolation-not-required", "traits-unused")
    found, stopped = check.run(check.select(rules), seen)
    assert (found[0].rule, stopped) == (rules[0], {})
    found, stopped = check.run(check.select(rules), hidden)
    assert found == ()
    assert stopped == {"the flavors and images of all projects": (rules[0],)}
    alone = survey("a CUSTOM_X", has_private_flavors=False)
    assert unread(alone, rules[1]) == {
        "the flavors and images of all projects": (rules[1],)
    }


def test_findings_about_flavors_that_are_seen_stay_beside_what_is_hidden():
    of = survey(
        "a",
        "f trait:CUSTOM_NONE=required",
        has_private_flavors=False,
    )
    found, stopped = check.run(check.select(["traits-unknown", "traits-no-host"]), of)
    assert "traits-unknown" in {each.rule for each in found}
    assert list(stopped) == ["private flavors and images of other projects"]


def test_rules_that_read_servers_are_named_where_servers_were_denied():
    denied = survey("a")
    assert unread(denied, "servers") == {
        "the servers of all projects": ("servers-misplaced", "servers-not-known")
    }
