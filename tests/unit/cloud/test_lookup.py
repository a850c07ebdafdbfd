"""What is looked up: flavors, projects, hosts, networks, profiles and volumes."""

from __future__ import annotations

import dataclasses
import types

import pytest

from osc_traitsched.cloud import lookup, read, request_parts, write
from osc_traitsched.core import errors
from osc_traitsched.core.change.model import Object, ObjectKind
from osc_traitsched.core.errors import CloudBroke, NotInCatalog, Refusal
from osc_traitsched.core.judge.filtering import filtering
from osc_traitsched.core.nova.server import NO_PARTS, Network, Port
from tests.unit.cloud.services import Answering
from tests.unit.core import scheduled

# Flavors as far as Nova shows them to the user.


PUBLIC, PRIVATE = "os-flavor-access:is_public", {"os-flavor-access:is_public": False}


def flavor(name, **more):
    return {"id": name, "name": name, PUBLIC: True, "extra_specs": {}, **more}


class Cloud:
    """A cloud whose flavors its user sees, as an administrator or not."""

    def __init__(self, *flavors, is_admin=True):
        def answer(path, params):
            if "marker" in params:
                return {"flavors": []}
            only_private = is_admin and params["is_public"] == "False"
            found = [each for each in flavors if not (only_private and each[PUBLIC])]
            return {"flavors": found}

        self.compute = Answering(answer)

    def once(self, read):
        return read(self)


def without_specs(name):
    return {key: each for key, each in flavor(name).items() if key != "extra_specs"}


def test_hidden_extra_specs_are_not_taken_for_none():
    cloud = Cloud(without_specs("a"), without_specs("b"), flavor("c"))
    with pytest.raises(errors.ExtraSpecsHidden) as every:
        lookup.flavors(cloud)
    assert (every.value.hidden, every.value.total, every.value.flavor) == (2, 3, None)
    with pytest.raises(errors.ExtraSpecsHidden) as one:
        lookup.flavor(cloud, "b")
    assert one.value.flavor == "b"
    assert lookup.flavor(cloud, "c")["id"] == "c"


@pytest.mark.parametrize(
    "flavors", [[], [flavor("a")], [flavor("a"), flavor("b", **PRIVATE)]]
)
def test_an_administrator_is_shown_all_flavors(flavors):
    assert lookup.lists_private_flavors(Cloud(*flavors))


@pytest.mark.parametrize(
    "flavors", [[flavor("a")], [flavor("a", **PRIVATE), flavor("b")]]
)
def test_who_is_given_public_flavors_for_private_ones_is_not(flavors):
    assert not lookup.lists_private_flavors(Cloud(*flavors, is_admin=False))


# Keystone's projects are read to the end, and found by their exact names.


def keystone(*pages, truncated=False, path="/v3/projects"):
    """Return a Keystone with pages of projects, and a link after each but the last."""

    def answer(_, params):
        number = int(params.get("marker", 0))
        more = number + 1 < len(pages)
        following = f"http://keystone{path}?marker={number + 1}&limit=1"
        found = {"projects": [{"id": each, "name": each} for each in pages[number]]}
        links = {"next": following if more else None}
        return {**found, "links": links, "truncated": truncated or more}

    return Answering(answer, "identity")


def test_keystones_next_links_are_followed():
    service = keystone("ab", "cd", "e")
    assert [each["id"] for each in lookup.listed(service)] == list("abcde")
    assert service.asked[1] == ("/projects", {"marker": "1", "limit": "1"})


def test_a_list_that_keystone_cut_off_is_no_list():
    with pytest.raises(errors.CloudBroke, match="cuts its list of projects off"):
        list(lookup.listed(keystone("ab", truncated=True)))


def test_a_keystone_whose_links_lead_nowhere_is_not_asked_for_ever():
    body = {
        "projects": [{"id": "a", "name": "a"}],
        "links": {"next": "http://keystone/v3?marker=a"},
    }
    service = Answering(lambda path, params: body, "identity")
    with pytest.raises(errors.CloudBroke, match="cuts its list of projects off"):
        list(lookup.listed(service))
    assert len(service.asked) == 2


PROJECTS = [
    {"id": "p1", "name": "red", "domain_id": "default"},
    {"id": "p2", "name": "Red", "domain_id": "default"},
    {"id": "p3", "name": "red", "domain_id": "d2"},
    {"id": "p4", "name": "blue", "domain_id": "d2"},
]
DOMAINS = [{"id": "default", "name": "Default"}, {"id": "d2", "name": "second"}]


class Keystone(Answering):
    """One that takes letters of either case for the same, as MariaDB does."""

    def __init__(self, domains=200):
        super().__init__(self.reply, "identity")
        self.domains = domains

    def reply(self, path, params):
        _, kind, *parts = path.split("/")
        if len(params.get("name", "")) > 64:
            raise errors.CloudBroke("identity", "Invalid input: too long", 400)
        if kind == "domains" and self.domains != 200:
            raise errors.CloudBroke("identity", "no", self.domains)
        every = {"projects": PROJECTS, "domains": DOMAINS}[kind]
        if parts:
            for each in every:
                if parts == [each["id"]]:
                    return {kind[:-1]: each}
            raise errors.CloudBroke("identity", "not found", 404)
        found = [
            each
            for each in every
            if each["name"].lower() == params.get("name", each["name"]).lower()
            and params.get("domain_id") in (None, each.get("domain_id"))
        ]
        return {kind: found, "links": {"next": None}}


class ProjectsCloud:
    own_project = "mine"

    def __init__(self, **options):
        self.identity = Keystone(**options)


@pytest.mark.parametrize(
    ("name", "domain", "found"),
    [
        (None, None, "mine"),
        ("blue", None, "p4"),
        ("Red", None, "p2"),
        ("p3", None, "p3"),
        ("red", "default", "p1"),
        ("red", "Default", "p1"),
        ("red", "second", "p3"),
        ("p3", "second", "p3"),
    ],
)
def test_a_project_is_the_one_that_was_named(name, domain, found):
    assert lookup.project(ProjectsCloud(), name, domain) == found


@pytest.mark.parametrize(
    ("name", "domain", "near"),
    [
        ("RED", None, ("Red", "red")),
        ("RED", "second", ("red",)),
        ("blue", "default", ()),
        ("p4", "default", ()),
        ("?", None, ()),
        ("..", None, ()),
        (".", None, ()),
        ("", None, ()),
        ("p4/", None, ()),
        ("#p4", None, ()),
        ("p" * 65, None, ()),
    ],
)
def test_no_other_project_is_taken_for_it(name, domain, near):
    with pytest.raises(errors.NothingMatches) as missed:
        lookup.project(ProjectsCloud(), name, domain)
    assert (missed.value.selector, missed.value.nearest) == ("project", near)


def test_a_name_in_two_domains_is_listed_with_the_domains():
    with pytest.raises(errors.AmbiguousName) as both:
        lookup.project(ProjectsCloud(), "red")
    assert [(each.id, each.domain) for each in both.value.namesakes] == [
        ("p1", "default"),
        ("p3", "d2"),
    ]


@pytest.mark.parametrize("domain", ["third", "", "..", "d" * 65])
def test_a_domain_that_is_not_there(domain):
    with pytest.raises(errors.NothingMatches) as missed:
        lookup.project(ProjectsCloud(), "red", domain)
    assert missed.value.selector == "project domain"


def test_a_domain_that_may_not_be_looked_up_is_taken_for_an_id():
    assert lookup.project(ProjectsCloud(domains=403), "red", "d2") == "p3"


# What Placement and Nova list becomes a snapshot, or an error that names them.


HOST, DEVICE, MISSING = "a", "b", "c"


def placement(root, parent):
    """Return a Placement with a host, and a device at this place of a tree."""

    def answer(path, params):
        listed = [provider(HOST, HOST, None), provider(DEVICE, root, parent)]
        return {"resource_providers": [] if params else listed}

    return Answering(answer, "placement")


def provider(uuid, root, parent):
    return {
        "uuid": uuid,
        "name": f"name-{uuid}",
        "generation": 1,
        "root_provider_uuid": root,
        "parent_provider_uuid": parent,
    }


def test_a_provider_of_a_listed_tree_is_taken():
    found = read.providers(placement(HOST, HOST))
    assert [each.uuid for each in found.providers] == [HOST, DEVICE]


@pytest.mark.parametrize(("root", "parent"), [(MISSING, HOST), (HOST, MISSING)])
def test_a_tree_of_which_a_provider_is_not_listed_is_an_error(root, parent):
    with pytest.raises(CloudBroke) as caught:
        read.providers(placement(root, parent))
    assert caught.value.reason == (
        "unexpected answer to GET /resource_providers: the tree of name-b lacks c"
    )


# Objects that a service answers for as nobody expects.


GENERATION = {"resource_provider_generation": 3}
FLAVOR = "/flavors/an%20id/os-extra_specs"


def state(kind, body):
    """Return what is read of an object, and what each service was asked."""
    service = Answering(lambda *_: body)
    cloud = types.SimpleNamespace(placement=service, compute=service, image=service)
    return write.access(cloud, Object(kind, "an id", "a name")).read()


@pytest.mark.parametrize(
    ("kind", "body", "keys", "generation"),
    [
        (ObjectKind.PROVIDER_TRAITS, {"traits": ["A"], **GENERATION}, ["A"], 3),
        (ObjectKind.PROVIDER_AGGREGATES, {"aggregates": ["u"], **GENERATION}, ["u"], 3),
        (ObjectKind.FLAVOR, {"extra_specs": {"k": "v"}}, ["k"], None),
        (ObjectKind.IMAGE, {"id": "i", "k": "v"}, ["id", "k"], None),
        (ObjectKind.AGGREGATE, {"aggregate": {"metadata": {}, "hosts": []}}, [], None),
    ],
)
def test_an_object_is_read_with_what_guards_its_write(kind, body, keys, generation):
    found = state(kind, body)
    assert sorted(found.keys) == keys
    assert found.generation == generation


@pytest.mark.parametrize(
    ("kind", "body", "where"),
    [
        (ObjectKind.PROVIDER_TRAITS, {"traits": ["A"]}, "resource_provider_generation"),
        (ObjectKind.PROVIDER_TRAITS, {"traits": None, **GENERATION}, "traits"),
        (
            ObjectKind.PROVIDER_AGGREGATES,
            {"aggregates": [1], **GENERATION},
            "aggregates",
        ),
        (ObjectKind.FLAVOR, {}, "extra_specs"),
        (ObjectKind.FLAVOR, {"extra_specs": {"k": 1}}, "k"),
        (ObjectKind.IMAGE, [], "the top"),
        (ObjectKind.AGGREGATE, {"aggregate": {"metadata": {}}}, "hosts"),
        (ObjectKind.AGGREGATE, {}, "aggregate"),
    ],
)
def test_an_answer_of_another_shape_is_one_clear_line(kind, body, where):
    with pytest.raises(CloudBroke) as broke:
        state(kind, body)
    assert broke.value.reason.startswith("unexpected answer to GET /")
    assert broke.value.reason.endswith(f"not as it should be at {where}")
    assert not broke.value.passing


def test_one_small_thing_is_not_waited_for_as_long_as_a_list():
    waited = []

    @dataclasses.dataclass
    class Waiting(Answering):
        def get(self, path, params=None, microversion=None, timeout=None):
            waited.append((path, timeout))
            return {"extra_specs": {}}

    cloud = types.SimpleNamespace(compute=Waiting(dict))
    write.access(cloud, Object(ObjectKind.FLAVOR, "an id", "a name")).read()
    assert waited == [(FLAVOR, write.TIMEOUT)]


# Which networks a project's users see, and which segments a network has.


def neutron(*shared_with):
    """Return a cloud whose Neutron shares a network with projects."""
    policies = [{"target_tenant": each} for each in shared_with]
    service = Answering(lambda *_: {"rbac_policies": policies}, "network")
    return types.SimpleNamespace(network=service)


@pytest.mark.parametrize(
    ("network", "shared_with", "is_open", "asked"),
    [
        (Network("n"), (), True, 0),
        (Network("n", project="mine"), (), True, 0),
        (Network("n", project="theirs"), (), False, 1),
        (Network("n", project="theirs"), ("others",), False, 1),
        (Network("n", project="theirs"), ("others", "mine"), True, 1),
        (Network("n", project="theirs"), ("*",), True, 1),
    ],
)
def test_a_network_is_seen_by_its_project_and_whom_it_is_shared_with(
    network, shared_with, is_open, asked
):
    cloud = neutron(*shared_with)
    assert request_parts.is_open_to(cloud, network, "mine") is is_open
    assert len(cloud.network.asked) == asked


def test_a_segment_s_aggregates_are_read_once_however_many_subnets_it_has():
    bodies = {
        "/networks": {"networks": [{"id": "n", "name": "n", "subnets": ["a", "b"]}]},
        "/subnets": {
            "subnets": [{"id": each, "segment_id": "s"} for each in ("a", "b")]
        },
    }
    neutron = Answering(lambda path, _: bodies[path], "network")
    placement = Answering(lambda *_: {"aggregates": ["x"]}, "placement")
    cloud = types.SimpleNamespace(network=neutron, placement=placement)
    (found,) = request_parts.networks(cloud, ["n"])
    assert found.segments == (frozenset({"x"}),) * 2
    assert len(placement.asked) == 1


def pages_of_ports(page, stays=False):
    """Return a cloud whose Neutron gives two ports a page, each on its own server."""
    ports = [
        {
            "id": each,
            "name": "",
            "network_id": "n",
            "fixed_ips": [],
            "device_id": f"s-{each}",
        }
        for each in "abcde"
    ]

    def answer(path, params):
        if path == "/networks/n":
            return {"network": {"id": "n", "name": "n", "subnets": []}}
        if path == "/subnets":
            return {"subnets": []}
        after = "" if stays else params.get("marker", "")
        left = [each for each in ports if each["id"] > after]
        links = [{"rel": "next", "href": "there"}] if left[page:] else []
        return {"ports": left[:page], "ports_links": links}

    return types.SimpleNamespace(network=Answering(answer, "network"))


@pytest.mark.parametrize(("page", "requests"), [(2, 3), (5, 1), (9, 1)])
def test_all_ports_of_a_host_are_read_however_short_neutron_s_pages_are(page, requests):
    cloud = pages_of_ports(page)
    servers = [f"s-{each}" for each in "abcdef"]
    assert sorted(request_parts.ports_on(cloud, ["cmp1"], servers)) == servers[:5]
    lists = [params for path, params in cloud.network.asked if path == "/ports"]
    assert len(lists) == requests
    assert {each["binding:host_id"] for each in lists} == {"cmp1"}


def test_a_neutron_that_gives_one_page_for_ever_is_an_error():
    with pytest.raises(errors.CloudBroke, match="same page of /ports again"):
        request_parts.ports_on(pages_of_ports(2, stays=True), ["cmp1"], ["s-a"])


def test_ports_of_other_devices_on_a_host_cost_no_request_for_their_networks():
    cloud = pages_of_ports(9)
    assert not request_parts.ports_on(cloud, [None], ["s-f"])
    assert cloud.network.asked == [("/ports", {})]


# Device profiles: of Cyborg, of a cloud without it, and of one that hides it.


PROFILES_FLAVOR = {"extra_specs": {"accel:device_profile": "fpga"}}
BODY = {"cloud": {"a": {}}, "flavor": {"accel:device_profile": "fpga"}}


class CloudOf:
    """A cloud whose catalog or Cyborg does not give the service."""

    def __init__(self, error):
        self._error = error

    @property
    def accelerator(self):
        raise self._error


def asked(error, release=33):
    parts = request_parts.with_profiles(CloudOf(error), NO_PARTS, PROFILES_FLAVOR)
    question = scheduled.question(BODY, release=release)
    return dataclasses.replace(question, parts=parts)


def test_a_catalog_without_cyborg_has_no_profile_and_nova_api_refuses():
    with pytest.raises(Refusal) as caught:
        asked(NotInCatalog("accelerator")).request()
    assert (caught.value.http, caught.value.stage) == (400, "api")
    assert caught.value.exception == "DeviceProfileError"
    assert "Cyborg is not in the catalog" in str(caught.value)
    # Train does not read the key.
    assert asked(NotInCatalog("accelerator"), release=20).request()


@pytest.mark.parametrize("status", [403, 404, 500, None])
def test_where_cyborg_does_not_answer_its_profiles_are_unknown(status):
    question = asked(CloudBroke("accelerator", "no", status))
    assert question.request()
    assert question.parts.device_profiles == {}
    found = filtering(question, scheduled.computes(BODY).values())
    assert found.unsettled == ("Cyborg",)


def test_a_port_with_a_profile_gets_its_device_of_cyborg_too():
    port = Port("p", Network("n"), device_profile="fpga", vnic_type="normal")
    parts = dataclasses.replace(NO_PARTS, ports=(port,))
    question = scheduled.question({"cloud": {"a": {}}}, parts=parts)
    found = filtering(question, scheduled.computes(BODY).values())
    assert found.unsettled == ("Cyborg",)


# What root volumes are made of, of recorded answers.


RAW, GOLD = {"image_id": "raw"}, {"image_id": "gold", "trait:CUSTOM_GOLD": "required"}


def volume(number, image, *attached):
    """Return a body; each attachment is a server and a device."""
    attachments = [{"server_id": s, "device": device} for s, device in attached]
    metadata = {"volume_image_metadata": image} if image else {}
    return {"id": f"v{number}", "attachments": attachments, **metadata}


def root_images(roots, *bodies):
    """Return what is found, and how often Cinder was asked."""

    def answer(path, params):
        assert path == "/volumes/detail"
        assert (params["all_tenants"], params["bootable"]) == ("1", "true")
        return {"volumes": [] if "marker" in params else list(bodies)}

    service = Answering(answer, "block-storage")
    cloud = types.SimpleNamespace(block_storage=service)
    return request_parts.root_images(cloud, roots), len(service.asked)


def test_the_root_volume_is_the_one_at_the_root_device():
    found, asked = root_images(
        {"s1": "/dev/vda", "s2": "/dev/vda", "s3": ""},
        volume(1, RAW, ("s1", "/dev/vda")),
        volume(2, GOLD, ("s1", "/dev/vdb"), ("s2", "/dev/vda")),
        volume(3, None, ("s3", "/dev/vdc")),
        volume(4, RAW, ("other", "/dev/vda")),
        volume(5, RAW),
    )
    assert found == {"s1": RAW, "s2": GOLD, "s3": {}}
    assert asked == 2


def test_a_root_volume_that_can_not_be_told_is_left_out():
    found, _ = root_images(
        {"s1": "", "s2": "/dev/vda"},
        volume(1, RAW, ("s1", "/dev/vda")),
        volume(2, GOLD, ("s1", "/dev/vdb")),
    )
    assert found == {}


def test_equal_images_are_kept_once():
    found, _ = root_images(
        {"s1": "/dev/vda", "s2": "/dev/vda"},
        volume(1, dict(RAW), ("s1", "/dev/vda")),
        volume(2, dict(RAW), ("s2", "/dev/vda")),
    )
    assert found["s1"] is found["s2"]
