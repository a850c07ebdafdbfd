"""What check says can't be, can't be: no flavor and image of the cloud disprove it."""

from __future__ import annotations

import dataclasses
import itertools

from hypothesis import event, given, settings
from hypothesis import strategies as st

from osc_traitsched.core.check.survey import Severity, SubjectKind
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.question import Question, ServerSpec
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import matching_hosts
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

GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"
QCOW2, VIRTIO = "COMPUTE_IMAGE_TYPE_QCOW2", "COMPUTE_GRAPHICS_MODEL_VIRTIO"
TPM, TIS, CRB = (f"COMPUTE_SECURITY_TPM_{each}" for each in ("2_0", "TIS", "CRB"))
KNOWN = (GOLD, SILVER, QCOW2, VIRTIO, TPM, TIS, CRB, "HW_CPU_HYPERTHREADING")
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
        child = {f"{name}-child": (draw(_few(GOLD, SILVER)), {"CUSTOM_DISK": 1})}
        more = {"size": draw(st.sampled_from(_SIZES))}
        more["lacks"] = frozenset({QCOW2}) if draw(_SWITCH) else frozenset()
        more["children"] = child if draw(_SWITCH) else {}
        traits = draw(_few(GOLD, SILVER, VIRTIO, TPM, TIS, CRB))
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
        for n, name in enumerate(draw(st.lists(st.sampled_from((GOLD, SILVER)))), 1)
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
