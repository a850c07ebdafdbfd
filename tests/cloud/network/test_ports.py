"""What explain says of ports and networks, against a real Neutron and a real Nova."""

from __future__ import annotations

import re

import pytest

from tests.cloud import logs
from tests.cloud.agents import BANDWIDTH
from tests.cloud.parts import Parts
from tests.functional import shell
from tests.services import process

ALL = ["cmp00", "cmp01", "cmp02", "cmp03"]
WIDTH = ("minimum_bandwidth", {"min_kbps": 1000, "direction": "egress"})
BACK = ("minimum_bandwidth", {"min_kbps": 2000, "direction": "ingress"})
RATE = ("minimum_packet_rate", {"min_kpps": 10, "direction": "any"})
TOO_WIDE = ("minimum_bandwidth", {"min_kbps": 2 * BANDWIDTH, "direction": "egress"})
NO_UUID = "a0000000-0000-4000-8000-000000000000"
HTTP = re.compile(r"nova-api rejects it \(HTTP (\d+)\)")


@pytest.fixture(scope="module")
def raw(lasting):
    return lasting.image("raw")


@pytest.fixture(scope="module")
def web(lasting, small):
    """A network of all hosts."""
    return Parts(lasting).network("web")


@pytest.fixture
def explained(connected, small, raw):
    """Explains a server of the small flavor with more, and returns the document."""

    def run(*options, code=0):
        how = ("--no-fixes", "--nova-conf", str(connected.nova_conf), "-f", "json")
        asked = ("trait-sched", "explain", "small", "raw", *options, *how)
        done = shell.run(connected.environment, *asked)
        assert (done.code, done.err) == (code, "")
        return done.json

    return run


@pytest.fixture
def booted(make, small, raw):
    """Asks Nova for the same server, which is deleted at the end."""

    def run(*networks, user=None):
        boot = make.boot(small, raw, user, networks=list(networks))
        if boot.server:
            make.after(make.delete, boot)
        return boot

    return run


@pytest.mark.parametrize(
    ("rules", "asked"),
    [
        ((), 0),
        ((WIDTH,), 1),
        ((WIDTH, BACK), 1),
        ((RATE,), 1),
        ((WIDTH, RATE), 2),
    ],
    ids=["nothing", "bandwidth", "both ways", "packets", "bandwidth and packets"],
)
def test_a_port_asks_for_what_nova_asks_for(
    rules, asked, connected, parts, web, explained, booted
):
    policy = parts.policy("of-port", *rules)
    port = parts.port(web, "web-1", qos_policy_id=policy)
    found = explained("--port", "web-1")
    boot = booted({"port": port})
    assert [found["query"]] == logs.queries(connected, boot.request)
    assert found["query"].count("&resources") == 1 + asked
    assert ("same_subtree" in found["query"]) == bool(asked)
    assert found["candidates"] == ALL
    assert (boot.status, boot.host in ALL) == ("ACTIVE", True)


def test_two_ports_are_two_groups_with_a_policy(
    connected, parts, web, explained, booted
):
    policy = parts.policy("of-port", WIDTH)
    ports = [parts.port(web, name, qos_policy_id=policy) for name in ("a", "b")]
    found = explained("--port", "a", "--port", "b")
    boot = booted(*({"port": port} for port in ports))
    assert [found["query"]] == logs.queries(connected, boot.request)
    assert "group_policy=none" in found["query"]
    assert boot.status == "ACTIVE"


def test_a_port_wants_more_than_any_host_has(connected, parts, web, explained, booted):
    policy = parts.policy("of-port", TOO_WIDE)
    port = parts.port(web, "web-1", qos_policy_id=policy)
    found = explained("--port", "web-1", code=3)
    boot = booted({"port": port})
    assert [found["query"]] == logs.queries(connected, boot.request)
    assert boot.fault == "No valid host was found. "
    ((conflict,),) = found["conflicts"]
    clauses = {each["id"]: each for each in found["clauses"]}
    (origin,) = clauses[conflict]["origins"]
    assert (origin["kind"], origin["name"]) == ("port", "web-1")


def test_what_hosts_have_left_is_counted(make, parts, web, small, raw, explained):
    most = ("minimum_bandwidth", {"min_kbps": BANDWIDTH - 500, "direction": "egress"})
    policy, other = parts.policy("most", most), parts.policy("some", WIDTH)
    first = parts.port(web, "first", qos_policy_id=policy)
    parts.port(web, "second", qos_policy_id=other)
    boot = make.boot(small, raw, networks=[{"port": first}])
    make.after(make.delete, boot)
    left = explained("--port", "second")["candidates"]
    assert left == [host for host in ALL if host != boot.host]


@pytest.mark.parametrize("subnets", [1, 2], ids=["one subnet", "two subnets"])
def test_a_routed_network_is_one_of_its_segments(
    subnets, connected, parts, explained, booted
):
    routed, *_ = parts.routed_network("routed", "rack0", "rack1", subnets=subnets)
    found = explained("--network", "routed")
    boot = booted({"uuid": routed})
    assert [found["query"]] == logs.queries(connected, boot.request)
    (asked,) = re.findall(r"member_of=in%3A([^&]+)", found["query"])
    assert len(asked.split("%2C")) == 2 * subnets
    assert found["candidates"] == ALL


def test_a_port_with_an_address_is_in_its_segment(
    connected, parts, admin, explained, booted
):
    routed, first, _ = parts.routed_network("routed", "rack0", "rack1")
    (subnet,) = admin.network.get(f"/subnets?segment_id={first}").json()["subnets"]
    later = parts.port(routed, "later")
    fixed = [{"subnet_id": subnet["id"]}]
    there = parts.port(routed, "there", fixed_ips=fixed)
    for name, port, hosts in (("later", later, ALL), ("there", there, ALL[:2])):
        found = explained("--port", name)
        boot = booted({"port": port})
        assert [found["query"]] == logs.queries(connected, boot.request)
        assert (found["candidates"], boot.host in hosts) == (hosts, True)


def test_a_port_of_a_device_and_one_that_others_manage(
    connected, parts, web, explained, booted
):
    network = parts.network("cards", "devices")
    direct = parts.port(network, "card", **{"binding:vnic_type": "direct"})
    # No API shows what PciPassthroughFilter looks at.
    found = explained("--port", "card", code=8)
    boot = booted({"port": direct})
    assert [found["query"]] == logs.queries(connected, boot.request)
    # The hosts have no devices: nova-compute says so, for Placement knows none.
    assert (found["candidates"], boot.status) == (ALL, "ERROR")

    remote = parts.port(web, "remote", **{"binding:vnic_type": "remote-managed"})
    found = explained("--port", "remote", code=3)
    boot = booted({"port": remote})
    assert [found["query"]] == logs.queries(connected, boot.request)
    assert boot.fault == "No valid host was found. "


def test_what_nova_refuses_of_ports_and_networks(parts, web, explained, booted):
    bare = parts.bare_network("bare")
    port = parts.port(web, "free")
    used = parts.port(web, "used", device_id="somebody")
    lost = parts.port(bare, "lost")
    for options, asked, exception in (
        (("--network", "bare"), [{"uuid": bare}], "NetworkRequiresSubnet"),
        (("--port", "used"), [{"port": used}], "PortInUse"),
        (("--port", "lost"), [{"port": lost}], "PortRequiresFixedIP"),
        (("--port", "free") * 2, [{"port": port}] * 2, "HTTPBadRequest"),
    ):
        refusal = explained(*options, code=3)["rejection"]
        boot = booted(*asked)
        said = int(HTTP.match(refusal["text"])[1])
        assert (refusal["exception"], said) == (exception, boot.http), boot


def test_what_is_another_project_s_nova_does_not_find(
    connected, parts, web, explained, booted
):
    user = connected.connection_of("demo")
    port = parts.port(web, "ours")
    shared = parts.network("everybody", shared=True)
    for options, asked, refused in (
        (("--port", "ours"), {"port": port}, True),
        (("--network", "web"), {"uuid": web}, True),
        (("--network", "everybody"), {"uuid": shared}, False),
    ):
        code = 3 if refused else 0
        found = explained(*options, "--project", "demo", code=code)
        boot = booted(asked, user=user)
        assert (boot.http, found["verdict"]) == (
            (400, "rejected") if refused else (202, "candidates")
        )


def test_a_network_that_is_shared_with_one_project_is_that_one_s(
    connected, parts, admin, web, explained, booted
):
    demo = admin.identity.find_project("demo").id
    body = {"object_type": "network", "object_id": web, "target_tenant": demo}
    parts.shares(action="access_as_shared", **body)
    found = explained("--network", "web", "--project", "demo")
    boot = booted({"uuid": web}, user=connected.connection_of("demo"))
    assert (found["candidates"], boot.http) == (ALL, 202)


# Bad input


@pytest.mark.parametrize(
    ("option", "name", "said"),
    [
        ("--port", "web-9", "no port matches 'web-9'"),
        ("--port", NO_UUID, f"no port matches '{NO_UUID}'"),
        ("--network", "webb", "no network matches 'webb'; did you mean web?"),
    ],
)
def test_what_is_not_there_is_one_line(connected, web, option, name, said):
    asked = ("trait-sched", "explain", "small", "raw", option, name)
    done = shell.run(connected.environment, *asked)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert done.err.startswith(said)


@pytest.fixture
def gone(connected):
    """The cloud's variables, with a Neutron that is not there."""
    listener = process.listen()
    url = process.url_of(listener)
    listener.close()
    return {**connected.environment, "OS_NETWORK_ENDPOINT_OVERRIDE": url}


@pytest.fixture
def hanging(connected):
    """The cloud's variables, with a Neutron that never answers."""
    with process.listen() as listener:
        url = process.url_of(listener)
        yield {**connected.environment, "OS_NETWORK_ENDPOINT_OVERRIDE": url}


def test_without_a_neutron_one_line_says_so(gone, web):
    asked = ("trait-sched", "explain", "small", "raw", "--port", "web-1")
    done = shell.run(gone, *asked)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert done.err.startswith("network: no connection to http://127.0.0.1:")


def test_a_neutron_that_does_not_answer_is_waited_for_as_long_as_is_said(hanging, web):
    asked = ("trait-sched", "explain", "small", "raw", "--port", "web-1")
    # Long enough for the services that do answer.
    done = shell.run(hanging, *asked, "--timeout", "20")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert done.err.startswith("network: no answer from http://127.0.0.1:")
    assert done.err.endswith(" within 20 s\n")


# Servers that exist


def test_a_server_s_own_ports_are_in_its_request(
    connected, make, parts, web, small, raw, booted
):
    policy = parts.policy("of-port", WIDTH, RATE)
    port = parts.port(web, "web-1", qos_policy_id=policy)
    boot = booted({"port": port})
    asked = ("trait-sched", "server", "explain", boot.server, "--no-fixes")
    file = str(connected.nova_conf)
    done = shell.run(connected.environment, *asked, "--nova-conf", file, "-f", "json")
    assert (done.code, done.err) == (0, "")
    assert [done.json["now"]["query"]] == logs.queries(connected, boot.request)
    (part,) = (each for each in done.json["request"] if each["part"] == "ports")
    assert (part["source"], part["value"]) == ("bound now", "web-1")


def test_without_a_neutron_a_server_is_explained_but_for_its_ports(
    gone, parts, web, booted
):
    boot = booted({"port": parts.port(web, "web-1")})
    asked = ("trait-sched", "server", "explain", boot.server, "--no-fixes")
    done = shell.run(gone, *asked)
    assert done.code == 0
    assert "network" not in done.err
    assert "Not read: ports (network: no connection to http://127.0.0.1:" in done.out
    done = shell.run(gone, *asked, "-f", "json")
    (part,) = (each for each in done.json["request"] if each["part"] == "ports")
    assert (part["known"], part["source"]) == (False, "not read")
    assert done.json["now"]["verdict"] == "candidates"
