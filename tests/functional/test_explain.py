"""explain beside a real Placement: flavors, refusals, cut and recorded answers."""

from __future__ import annotations

import json
from urllib import parse

import pytest

from osc_traitsched.app import explain, listing
from osc_traitsched.core.errors import PlacementRefuses
from osc_traitsched.core.inventory.snapshot import Aggregate, Selectors
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Question, ServerSpec
from osc_traitsched.views.explain.document import document
from tests.functional import shell
from tests.functional.nova import Nova, Says
from tests.functional.placement import INVENTORIES
from tests.functional.shell import login
from tests.schemas import closed
from tests.services.nova import HalfCloud, MadeUpNova
from tests.services.placement import PlacementServer
from tests.unit.app.recorded import RecordedService

# Questions with an image or a flavor alone, and answers that are one line.


pytestmark = pytest.mark.one_client

GOLD, RED = "CUSTOM_GOLD", "CUSTOM_RED"
IMAGE = {"id": "i", "name": "windows", "status": "active", "visibility": "public"}
RELEASE = ("--nova-release", "2026.1")
#: Without it, an image type that no host has decides.
KNOWN = (
    *RELEASE,
    "--set",
    "scheduler.query_placement_for_image_type_support=false",
)
DEPENDS = (
    "Depends on nova.conf: 1 of 4 hosts if the image type check is off, "
    "0 of 4 if it is on."
)
SIZES = {"VCPU": 8, "MEMORY_MB": 8192, "DISK_GB": 100}
#: Extra specs, RAM and disk of each flavor.
FLAVORS = {
    "small": ({}, 512, 1),
    "small2": ({}, 512, 1),
    "half": ({}, 6000, 1),
    "gold": ({f"trait:{GOLD}": "required"}, 512, 1),
    "red": ({f"trait:{RED}": "required"}, 512, 1),
    "missing": ({"trait:CUSTOM_NONE": "required"}, 512, 1),
    "typo": ({"trait:CUSTOM_GLOD": "required"}, 512, 1),
    "typo2": ({"trait:CUSTOM_GLOD": "required"}, 512, 1),
    "unknown": ({"resources:CUSTOM_FOO": "1"}, 512, 1),
    "huge": ({}, 90_000, 1),
    "malformed": ({"hw:numa_nodes": "many"}, 512, 1),
    "tiny": ({}, 64, 1),
    "groups": ({"resources1:VCPU": "1", "resources2:VCPU": "1"}, 512, 1),
    "unknown2": (
        {
            "resources1:CUSTOM_FOO": "1",
            "resources2:CUSTOM_FOO": "1",
            "group_policy": "none",
        },
        512,
        1,
    ),
    "giant": ({"resources1:VCPU": str(2**31), "group_policy": "none"}, 2**40, 1),
    "pinned": ({"hw:cpu_policy": "dedicated"}, 512, 1),
}


class NovaWithImages(Nova):
    """A compute API and an image service, without hidden images."""

    def _answer(self, request):
        if request.path.startswith("/images") and "os_hidden=true" in request.path:
            return Says(text=b'{"images": []}')
        return super()._answer(request)


@pytest.fixture
def nova(placement, proxy):
    """Four hosts; half of cmp01 is used, and cmp02 has CUSTOM_GOLD."""
    placement.create_traits(GOLD, RED)
    traits = {"cmp02": (GOLD,)}
    hosts = [
        (name, placement.add_host(name, traits.get(name, ()), inventories=SIZES))
        for name in ("cmp00", "cmp01", "cmp02", "cmp03")
    ]
    placement.allocate(hosts[1][1], MEMORY_MB=4096)
    found = NovaWithImages(proxy, hosts, {})
    image = {**IMAGE, "disk_format": "raw", "min_ram": 128, "min_disk": 0}
    found._bodies["/images"] = {"images": [image]}
    found._bodies["/os-availability-zone"] = {"availabilityZoneInfo": []}
    found._bodies["/flavors/detail"] = {
        "flavors": [
            {"id": f"f-{name}", "name": name, "vcpus": 1, "ram": ram, "disk": disk}
            | {"extra_specs": specs}
            for name, (specs, ram, disk) in FLAVORS.items()
        ]
    }
    return found


def test_an_image_alone_has_the_hosts_of_each_flavor_with_it(nova, openstack):
    run = openstack("explain", "--image", "windows", "-f", "json", *KNOWN)
    assert run.code == 0
    closed("image show").validate(run.json)
    found = {each["flavor"]["name"]: each for each in run.json["flavors"]}
    assert list(found) == sorted(FLAVORS)
    for name, each in found.items():
        one = openstack("explain", name, "windows", "-f", "json", "--no-fixes", *KNOWN)
        assert each["candidates"] == one.json["candidates"], name
        assert bool(each["rejection"]) is bool(one.json["rejection"]), name
    assert found["half"]["candidates"] == ["cmp00", "cmp02", "cmp03"]
    assert found["gold"]["candidates"] == ["cmp02"]
    assert found["typo2"]["rejection"].startswith("Flavor typo2 requires trait")


def test_flavors_with_the_same_answer_are_one_line(nova, openstack):
    run = openstack("explain", "--image", "windows", *KNOWN)
    verdict, remark, *rows, hint = run.out.splitlines()
    assert verdict == (
        "windows: 4 of 4 hosts now (cmp[00-03]), 4 if empty; "
        "4 of 16 flavors can boot it, 1 more may."
    )
    assert "NUMATopologyFilter" in remark
    found = {row[:15].strip(): row[15:].split("; ") for row in rows}
    assert found["now"] == ["gold, half, small, small2"]
    assert found["may"] == ["pinned"]
    assert found["never"] == [
        "giant needs 2147483648 VCPU, the largest host has 8",
        "huge needs 90000 MB of RAM, the largest host has 8192 MB",
        "red: 4 lack trait CUSTOM_RED",
    ]
    assert found["rejected"] == [
        "typo, typo2 (requires trait CUSTOM_GLOD, which does not exist)",
        "unknown, unknown2 (Invalid resource class in resources parameter: No such "
        "resource class CUSTOM_FOO.)",
        "groups (its groups lack a resource or a group_policy)",
        "malformed (hw:numa_nodes is no number that Nova takes "
        "(InvalidNUMANodesNumber))",
        "missing, tiny (other reasons: -f json)",
    ]
    assert found["servers"] == ["none"]
    assert (
        hint == "explain FLAVOR IMAGE shows hosts, fixes and what depends on nova.conf."
    )


def test_a_flavor_that_only_assumed_options_reject_depends(nova, placement, openstack):
    hosts = nova._bodies["/os-hypervisors/detail"]["hypervisors"]
    names = [host["hypervisor_hostname"] for host in hosts]
    uuid = "11111111-1111-4111-8111-111111111111"
    aggregate = {"id": 1, "uuid": uuid, "name": "red", "hosts": names}
    metadata = {f"trait:{RED}": "required"}
    nova.aggregates.append({**aggregate, "metadata": metadata})
    for host in hosts:
        path = f"/resource_providers/{host['id']}"
        generation = placement.generation(host["id"])
        body = {"resource_provider_generation": generation, "aggregates": [uuid]}
        placement.call("PUT", f"{path}/aggregates", body)
    scoped = {"aggregate_instance_extra_specs:ssd": "true"}
    nova._bodies["/flavors/detail"]["flavors"] = [
        {"id": name, "name": name, "vcpus": 1, "ram": ram, "disk": 1}
        | {"extra_specs": specs}
        for name, ram, specs in (
            ("huge", 90_000, {}),
            ("scoped", 512, scoped),
            ("small", 512, {}),
        )
    ]
    codes = {
        name: openstack("explain", name, "windows", "--no-fixes", *RELEASE).code
        for name in ("huge", "scoped", "small")
    }
    assert codes == {"huge": 3, "scoped": 8, "small": 8}
    run = openstack("explain", "--image", "windows", *RELEASE)
    assert run.code == 8
    verdict, assumed, *rows, _ = run.out.splitlines()
    assert verdict.endswith("2 of 3 flavors may boot it.")
    assert assumed.startswith("Unknown options: counted as if isolation is on ")
    assert rows[:3] == [
        "  not on       red (isolated)",
        "  may          scoped, small (depends on nova.conf)",
        "  never        huge needs 90000 MB of RAM, the largest host has 8192 MB",
    ]


def test_the_cloud_is_read_once_for_all_flavors(nova, openstack):
    seen = []
    nova.fault = lambda request: seen.append(request.path)
    many = [
        {"id": f"m{n}", "name": f"m{n}", "vcpus": 1, "ram": 512, "disk": 1}
        | {"extra_specs": {"resources:VCPU": str(1 + n % 2)}}
        for n in range(50)
    ]
    nova._bodies["/flavors/detail"] = {"flavors": many}
    run = openstack("explain", "--image", "windows", *KNOWN)
    assert run.code == 0, run.err
    # Four of them are figures of the two kinds of hosts.
    assert len(seen) <= 14


@pytest.mark.parametrize("option", [("--fixes",), ("--count", "2")], ids=str)
def test_an_image_alone_goes_without_options_of_one_answer(nova, openstack, option):
    run = openstack("explain", "--image", "windows", *option, *RELEASE)
    assert (run.code, run.out) == (2, "")
    assert "FLAVOR" in run.err


@pytest.mark.parametrize("verb", ["explain", "candidates"])
@pytest.mark.parametrize("flavor", [("gold",), ("--flavor", "gold")], ids=str)
def test_a_flavor_alone_is_judged_without_properties(nova, openstack, verb, flavor):
    run = openstack(verb, *flavor, *RELEASE)
    assert run.code == 0
    assert "cmp02" in run.out
    assert run.err.startswith("No image named: judged with an image without properties")


def test_positional_arguments_may_stand_apart(nova, openstack):
    apart = openstack("candidates", "gold", *RELEASE, "windows", "-f", "json")
    options = ("--image", "windows", "--flavor", "gold")
    assert apart.json == openstack("candidates", *options, *RELEASE, "-f", "json").json
    assert [each["host"] for each in apart.json] == ["cmp02"]


@pytest.mark.parametrize(
    "given",
    [(), ("--image", "-"), ("gold", "windows", "--flavor", "gold")],
    ids=["nothing", "no image", "twice"],
)
def test_what_is_missing_or_named_twice_is_a_usage_error(nova, openstack, given):
    run = openstack("explain", *given, *RELEASE)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("name ")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("explain", "gold", "windows"), DEPENDS),
        (
            ("explain", "--image", "windows"),
            "windows: 4 of 4 hosts now (cmp[00-03]), 4 if empty; "
            "5 of 16 flavors may boot it.",
        ),
        (("candidates", "gold", "windows"), "1 host, best first: cmp02"),
        (("check", "traits"), "4 errors (3 rules), 1 note (--long shows notes)"),
        (
            ("check", "mirror"),
            "Nothing found: 9 rules looked at 0 aggregates, 4 hosts.",
        ),
        (
            ("candidates", "red", "windows"),
            "none: Placement returns no host; see trait-sched explain",
        ),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_quiet_is_one_line(nova, proxy, arguments, line):
    run = shell.run(login(proxy.url), "-q", "trait-sched", *arguments, *RELEASE)
    assert run.out == f"{line}\n"


def test_a_disk_of_zero_is_said_by_every_command(nova, openstack):
    zero = {"id": "f", "name": "zero", "vcpus": 1, "ram": 512, "disk": 0}
    nova._bodies["/flavors/detail"] = {"flavors": [{**zero, "extra_specs": {}}]}
    projects = [{"id": "d", "name": "demo"}]
    nova._bodies["/projects"] = {"projects": projects, "links": {"next": None}}
    for command in (
        ("explain", "zero", "windows"),
        ("explain", "--image", "windows"),
        ("candidates", "zero", "windows"),
        ("capacity", "zero", "--image", "windows"),
    ):
        done = openstack(*command, *RELEASE, "--project", "demo")
        assert "zero_disk_flavor" in done.out + done.err, command
        assert "zero_disk_flavor" not in openstack(*command, *RELEASE).out, command


# What Placement rejects is refused, however the request reaches it.


FLAVOR = {"name": "odd", "vcpus": 1, "ram": 512, "disk": 1}
UNKNOWN_CLASS = {"resources:CUSTOM_FOO": "1"}
SCSI = {"name": "image", "disk_format": "qcow2", "hw_disk_bus": "scsi"}


@pytest.fixture
def refused_requests_cloud(placement):
    """One host, without any trait of images."""
    return HalfCloud(
        placement.url, MadeUpNova([("cmp01", placement.add_host("cmp01"))])
    )


def asked(extra_specs, image=None, **options):
    flavor = {**FLAVOR, "extra_specs": extra_specs}
    return Question(flavor, image, (), SchedulerSettings.of(33, **options))


@pytest.mark.parametrize(
    "question",
    [
        asked(UNKNOWN_CLASS),
        asked(UNKNOWN_CLASS, SCSI, image_metadata_prefilter=True),
    ],
    ids=["alone", "behind a trait that no host has"],
)
def test_an_unknown_resource_class_is_refused_with_placements_own_words(
    refused_requests_cloud, question
):
    found = explain.explain(refused_requests_cloud, question).judgement
    assert isinstance(found.refusal, PlacementRefuses)
    assert found.refusal.reason.endswith("No such resource class CUSTOM_FOO.")


# A Placement that gives no more answers than its own maximum, and does not say so.


MAXIMUM = 2
OPTIONS = f"\n[placement]\nmax_allocation_candidates = {MAXIMUM}\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    state = tmp_path_factory.mktemp("cut")
    with PlacementServer(state, options=OPTIONS) as running:
        yield running


def explained(placement, hosts, count=1, **specs):
    made = [(f"cmp{n:02}", placement.add_host(f"cmp{n:02}")) for n in range(hosts)]
    full = placement.add_host("full", inventories={"VCPU": 1})
    nova = MadeUpNova([*made, ("full", full)])
    flavor = {"name": "f", "vcpus": 1, "ram": 512, "disk": 1, "extra_specs": specs}
    question = Question(
        flavor, None, (), SchedulerSettings.of(33), ServerSpec(count=count)
    )
    return explain.explain(HalfCloud(placement.url, nova), question).judgement


@pytest.mark.full
@pytest.mark.parametrize("hosts", [3, 30])
def test_all_hosts_that_can_take_a_server_are_candidates(placement, hosts):
    found = explained(placement, hosts)
    assert len(found.candidates) == hosts
    assert len(found.cut_off_candidates) == hosts - MAXIMUM
    assert (found.agrees, found.is_in_doubt) == (True, False)
    assert [host.name for host in found.hosts if host not in found.candidates] == [
        "full"
    ]


def test_hosts_that_are_cut_off_have_room_too(placement):
    on_one = INVENTORIES["VCPU"]
    found = explained(placement, 4, count=MAXIMUM * on_one + 1)
    assert found.has_room
    assert found.room.most == 4 * on_one


# What was recorded of a real Placement is answered as the real one is.


RECORDED_FLAVOR = {
    "id": "gold",
    "name": "gold",
    "vcpus": 1,
    "ram": 512,
    "disk": 1,
    "extra_specs": {"trait:CUSTOM_GOLD": "required"},
}


class Recording:
    """Passes every GET on to a service, and keeps what it answers."""

    def __init__(self, service):
        self.service_type = service.service_type
        self.bodies = {}
        self._service = service

    def get(self, path, params=None, microversion=None, timeout=None):
        body = self._service.get(path, params, microversion)
        # As a file would have it.
        text = json.dumps(body)
        key = f"{path}{'&' if '?' in path else '?'}{parse.urlencode(params or {})}"
        self.bodies[key] = json.loads(text)
        return body


class Recorded:
    """The cloud, with Placement's recorded answers in place of Placement."""

    def __init__(self, recorded_nova, bodies):
        self.compute = recorded_nova
        self.placement = RecordedService("placement", bodies)

    def once(self, read):
        return read(self)


@pytest.fixture
def recorded_nova(placement):
    """Twelve hosts, of which every third is gold."""
    placement.create_traits("CUSTOM_GOLD")
    hosts = []
    for number in range(12):
        gold = ("CUSTOM_GOLD",) if number % 3 == 0 else ()
        name = f"cmp{number:02d}"
        hosts.append((name, placement.add_host(name, traits=gold)))
    return MadeUpNova(hosts, {"gold": ({}, ["cmp00", "cmp03"])})


def all_answers(cloud, recorded_nova):
    """Ask everything, and return what a program could print of it."""
    recorded_nova._bodies["/os-services"] = {"services": []}
    question = Question(
        RECORDED_FLAVOR,
        None,
        tuple(map(Aggregate.read, recorded_nova.aggregates)),
        SchedulerSettings.of(33),
    )
    found = explain.explain(cloud, question, want_figures=True)
    everything = Selectors(everything=True)
    return (
        document(found),
        listing.by_host(cloud, everything),
        listing.by_trait(cloud, everything),
        listing.compare(cloud),
    )


def test_recorded_answers_of_placement_say_what_placement_said(
    placement, recorded_nova
):
    live = HalfCloud(placement.url, recorded_nova)
    recording = Recording(live.placement)
    live._services["placement"] = recording
    said = all_answers(live, recorded_nova)
    assert said[0]["candidates"] == ["cmp00", "cmp03", "cmp06", "cmp09"]

    placement.wipe()
    assert all_answers(Recorded(recorded_nova, recording.bodies), recorded_nova) == said
