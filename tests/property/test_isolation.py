"""What isolate and unisolate say of flavors beforehand, and Placement afterwards.

On random clouds, flavors and aggregates, with zones and a project's hosts. Placement
is real; flavors and aggregates are values, since no Nova is needed to ask Placement
what Nova would ask.
``TRAITSCHED_CLOUDS`` says how many clouds to try.
"""

from __future__ import annotations

import dataclasses
import itertools
import os

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from osc_traitsched.app.desired import plan_desired, read_cloud
from osc_traitsched.app.impact import compute_effects, looks
from osc_traitsched.cloud import allocation_candidates, read, write
from osc_traitsched.cloud.write import Patience
from osc_traitsched.core.change.cloud_model import ANY_IMAGE
from osc_traitsched.core.change.impact import Combination, ImpactAnalysis
from osc_traitsched.core.change.model import ObjectKind, Status
from osc_traitsched.core.desired import export
from osc_traitsched.core.errors import BadQuestion, PlacementRefuses, Refusal
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Question, ServerSpec
from tests.functional.placement import Placement
from tests.property import building, clouds
from tests.services.nova import CloudWithImages, MadeUpNova

pytestmark = pytest.mark.full

CLOUDS = int(os.environ.get("TRAITSCHED_CLOUDS", "12"))

ISOLATING = SchedulerSettings.of(
    33,
    enable_isolated_aggregate_filtering=True,
    limit_tenants_to_placement_aggregate=True,
)
#: The last does not exist at first.
BY = ("CUSTOM_A", "CUSTOM_B", "HW_CPU_X86_AVX", "CUSTOM_NEW")
REQUIRED, FORBIDDEN = "required", "forbidden"
DISABLED = "COMPUTE_STATUS_DISABLED"
PROJECT = "a project"
WINDOWS = {
    "id": "image",
    "name": "windows",
    "status": "active",
    "visibility": "public",
    "owner": PROJECT,
    "disk_format": "raw",
}


@st.composite
def flavors(draw):
    """The bodies of some flavors; those that ask for nothing special are common."""
    traits = st.sampled_from(
        [
            *[{}] * 5,
            *({f"trait:{n}": REQUIRED} for n in BY),
            {"trait:CUSTOM_A": FORBIDDEN},
        ]
    )
    groups = st.sampled_from(
        [
            *[{}] * 7,
            {"resources:CUSTOM_CARD": "1"},
            {"resources1:CUSTOM_CARD": "1", "trait1:CUSTOM_A": REQUIRED},
            {"resources:CUSTOM_NONE": "1"},
        ]
    )
    return [
        {
            "id": str(number),
            "name": f"flavor{number}",
            "vcpus": draw(st.sampled_from([1, 1, 2, 4])),
            "ram": draw(st.sampled_from([1, 2, 4])),
            "disk": draw(st.sampled_from([0, 0, 1])),
            "extra_specs": {**draw(traits), **draw(groups)},
        }
        for number in range(4)
    ]


PLENTY = clouds.Inventory(8, 0, 1.0, 1, 8, 1, 0)


def usable(node):
    """Return a provider with room for most flavors, for others are soon rejected."""
    room = dict.fromkeys(["VCPU", "MEMORY_MB"], PLENTY)
    return dataclasses.replace(
        node,
        inventories={**node.inventories, **room},
        traits=node.traits - {"COMPUTE_STATUS_DISABLED"},
    )


def filled(node):
    """Return a host all of whose processors are in use."""
    full = dataclasses.replace(PLENTY, used=PLENTY.total)
    return dataclasses.replace(node, inventories={**node.inventories, "VCPU": full})


def units_go_by_size(nodes):
    """Tell whether those with the same capacities give the same amounts."""
    kinds = {}
    for node in every(nodes):
        sizes = {
            name: int((each.total - each.reserved) * each.ratio)
            for name, each in node.inventories.items()
        }
        units = {
            name: (each.min_unit, each.max_unit, each.step_size)
            for name, each in node.inventories.items()
        }
        key = tuple(sorted(sizes.items()))
        if kinds.setdefault(key, units) != units:
            return False
    return True


def every(nodes):
    for node in nodes:
        yield node
        yield from every(node.children)


def empty(placement, providers):
    """Delete all that is in use."""
    for provider in providers:
        path = f"/resource_providers/{provider.uuid}/allocations"
        for consumer in placement.call("GET", path)["allocations"]:
            placement.call("DELETE", f"/allocations/{consumer}")


def enable(placement, providers):
    """Take from all providers the trait of disabled services."""
    for provider in providers:
        path = f"/resource_providers/{provider.uuid}/traits"
        body = placement.call("GET", path)
        if DISABLED in body["traits"]:
            body["traits"].remove(DISABLED)
            placement.call("PUT", path, body)


#: Any cloud, with some hosts more that servers can really be on.
NODES = st.tuples(
    st.lists(clouds.nodes(0).map(usable), min_size=2, max_size=4), clouds.CLOUDS
).map(lambda parts: [node for part in parts for node in part])


@dataclasses.dataclass(frozen=True)
class Case:
    """What is isolated by what, and what is so already.

    :ivar metadata: of each aggregate the traits that it is isolated by
    :ivar hosts: of each aggregate the numbers of the hosts that Nova has in it
    :ivar zones: of each aggregate the zone that it makes
    :ivar theirs: of each aggregate whether it is a project's
    :ivar full: the numbers of the hosts that have no processor left
    """

    flavors: list
    metadata: list
    hosts: list
    zones: list
    theirs: list
    full: frozenset
    names: list
    named: frozenset
    windows: bool
    remove_traits: bool


CASES = st.builds(
    Case,
    flavors=flavors(),
    metadata=st.lists(
        st.sampled_from([*[()] * 6, *((name,) for name in BY[:3])]),
        min_size=3,
        max_size=3,
    ),
    hosts=st.lists(
        st.frozensets(st.integers(0, 5), max_size=3), min_size=3, max_size=3
    ),
    zones=st.lists(st.sampled_from([None, None, "az1", "az2"]), min_size=3, max_size=3),
    theirs=st.lists(st.sampled_from([False, False, True]), min_size=3, max_size=3),
    full=st.one_of(st.just(frozenset(range(6))), st.frozensets(st.integers(0, 5))),
    names=st.lists(st.sampled_from(BY), min_size=1, max_size=2, unique=True),
    named=st.frozensets(st.integers(0, 3), max_size=2),
    windows=st.booleans(),
    remove_traits=st.booleans(),
)


def bodies(nodes, case):
    """Return the aggregates as Nova has them; not all that Placement has differ."""
    hosts = {f"host{number}" for number, node in enumerate(nodes) if is_host(node)}
    return [
        {
            "id": number,
            "uuid": uuid,
            "name": f"aggregate{number}",
            "hosts": sorted(hosts & {f"host{n}" for n in numbers}),
            "metadata": {
                **{f"trait:{name}": REQUIRED for name in traits},
                **({"availability_zone": zone} if zone else {}),
                **({"filter_tenant_id": PROJECT} if is_theirs else {}),
            },
        }
        for number, (uuid, numbers, traits, zone, is_theirs) in enumerate(
            zip(clouds.AGGREGATES, case.hosts, case.metadata, case.zones, case.theirs)
        )
    ]


def is_host(node):
    return clouds.SHARING not in node.traits


class RealCloud:
    """A real Placement; flavors, images and aggregates as values that change."""

    def __init__(self, url, case, aggregates):
        self.url = url
        placement = CloudWithImages(url, MadeUpNova()).placement
        self.hosts_of_nova = [
            (each.name, each.uuid) for each in read.providers(placement).hosts
        ]
        self.flavors = {body["id"]: body for body in case.flavors}
        self.images = {body["id"]: body for body in [WINDOWS] if case.windows}
        self.aggregates = {str(body["id"]): body for body in aggregates}
        self.cloud = self.now()

    def now(self):
        """The cloud, with all values as they are now."""
        nova = MadeUpNova(self.hosts_of_nova, flavors=self.flavors.values())
        nova.aggregates += self.aggregates.values()
        self.cloud = CloudWithImages(self.url, nova)
        self.cloud.image.listed = [*self.images.values()]
        return self.cloud

    def carry_out(self, change):
        kinds = {
            ObjectKind.FLAVOR: (self.flavors, "extra_specs"),
            ObjectKind.IMAGE: (self.images, None),
            ObjectKind.AGGREGATE: (self.aggregates, "metadata"),
        }
        if change.object.kind not in kinds:
            expected = Status.CHANGED if change.is_needed else Status.UNCHANGED
            assert write.apply(self.cloud, change, Patience()).status is expected
            return
        bodies, part = kinds[change.object.kind]
        body = dict(bodies[change.object.id])
        pairs = dict(body[part]) if part else body
        for key, value in change.after.items():
            if value is None:
                assert pairs.pop(key) == REQUIRED
            else:
                pairs[key] = value
        bodies[change.object.id] = {**body, part: pairs} if part else pairs

    def asked(self):
        """Return each flavor, without an image and with each."""
        flavors = (each["name"] for each in self.flavors.values())
        images = (None, *(each["name"] for each in self.images.values()))
        return {Combination(*each) for each in itertools.product(flavors, images)}

    def hosts(self, roots, cases):
        """Return the hosts that Placement gives for what is asked for."""
        answers = {}
        aggregates = tuple(map(Aggregate.read, self.aggregates.values()))
        flavors = {each["name"]: each for each in self.flavors.values()}
        images = {None: {}, **{each["name"]: each for each in self.images.values()}}
        return {
            asked: self._given(
                Question(
                    flavors[asked.flavor],
                    images[asked.image],
                    aggregates,
                    ISOLATING,
                    ServerSpec(zone=asked.context.zone),
                    project=asked.context.project or "another project",
                ),
                answers,
                roots,
            )
            for asked in cases
        }

    def _given(self, question, answers, roots):
        try:
            request = question.request()
            if request.query() not in answers:
                answer = allocation_candidates.ask(self.cloud.placement, request)
                answers[request.query()] = answer.roots & roots
            return answers[request.query()]
        except (Refusal, PlacementRefuses):
            return frozenset()


def check(real, wanted):
    """Foresee, then carry out change by change, and ask Placement after each."""
    todo = plan_desired(real.now(), wanted, ISOLATING)
    state, plan = todo.found, todo.plan
    model = dataclasses.replace(state, images=(ANY_IMAGE, *real.images.values()))
    impact = ImpactAnalysis(looks(model, plan), ISOLATING)
    foreseen = {
        effect.asked: effect
        for effect in compute_effects(real.cloud.placement, impact)
        # No settings are given, so that a host filter of projects may be on as well.
        if not effect.asked.context.answer
    }
    roots = {host.uuid for host in state.snapshot.hosts}
    every = real.asked() | foreseen.keys()
    before = found = real.hosts(roots, every)
    lacking = set()
    for change in plan.changes:
        real.carry_out(change)
        found = real.hosts(roots, every) if change.is_needed else found
        lacking |= {case for case in every if before[case] and not found[case]}
    now = {case: effect.room.now for case, effect in foreseen.items()}
    then = {case: effect.room.then for case, effect in foreseen.items()}
    assert {**before, **now} == before
    assert {**before, **then} == found
    # What lacked a host on the way has none at the end, or that was said.
    assert {c for c in lacking if found[c]} <= {
        case for case, effect in foreseen.items() if effect.for_a_moment
    }
    return foreseen


@settings(
    max_examples=CLOUDS,
    deadline=None,
    derandomize=True,
    # Each example is hundreds of requests: too slow to shrink.
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(nodes=NODES, case=CASES)
def test_there_and_back_every_flavor_has_the_hosts_that_were_said_at_every_step(
    server, nodes, case
):
    placement = Placement(server.url)
    try:
        nodes = [
            filled(node) if number in case.full and is_host(node) else node
            for number, node in enumerate(nodes)
        ]
        building.build(placement, nodes)
        real = RealCloud(server.url, case, bodies(nodes, case))
        isolate(real, case)
        found = read_cloud(real.now(), ())
        aggregate = found.aggregates[0]
        opening = export.unisolate(aggregate, case.names)
        if case.remove_traits:
            names = [f"trait:{name}" for name in case.names]
            images = [b for b in real.images.values() if not b.keys().isdisjoint(names)]
            held = export.Holders(found, aggregate)
            opening = export.with_removal(opening, case.names, held, images, {})
        foreseen = check(real, opening.desired)
        emptied = {
            asked: effect
            for asked, effect in foreseen.items()
            if not effect.room.then and effect.ever.now
        }
        if emptied and units_go_by_size(nodes):
            empty(placement, found.snapshot.providers)
            enable(placement, found.snapshot.providers)
            roots = {host.uuid for host in found.snapshot.hosts}
            then = {case: e.ever.then for case, e in emptied.items()}
            assert then == real.hosts(roots, emptied)
    finally:
        placement.wipe()


def isolate(real, case):
    name = real.aggregates["0"]["name"]
    named = [list(real.flavors.values())[number] for number in sorted(case.named)]
    try:
        wanted = export.isolate(name, case.names, named, real.images.values()).desired
    except BadQuestion as exc:
        (flavor,) = (f for f in named if str(exc).startswith(f"flavor '{f['name']}' "))
        assert FORBIDDEN in flavor["extra_specs"].values()
    else:
        check(real, wanted)
