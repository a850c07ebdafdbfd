"""Who has a trait, who needs it, and what a host could take, on a real Placement."""

from __future__ import annotations

import pytest

from tests.functional.nova import Nova, Says
from tests.schemas import closed

pytestmark = pytest.mark.one_client

GOLD, RED = "CUSTOM_GOLD", "CUSTOM_RED"
RELEASE = ("--nova-release", "2026.1")
NAMES = ("cmp00", "cmp01", "cmp02", "cmp03")
#: Extra specs and RAM of each flavor.
FLAVORS = {
    "small": ({}, 1000),
    "gold": ({f"trait:{GOLD}": "required"}, 1000),
    "not-gold": ({f"trait:{GOLD}": "forbidden"}, 1000),
    "huge": ({}, 90_000),
}
#: A key of a numbered group, which files can't write.
SUFFIXED = {"resources1:VCPU": "1", f"trait1:{RED}": "required", "group_policy": "none"}
#: The most requests besides the pages of lists.
MOST = 10
LISTS = ("/os-hypervisors", "/flavors", "/images", "/servers")


class Cloud(Nova):
    """A compute API and an image service, without hidden images."""

    def _answer(self, request):
        path = request.path
        if path.startswith("/images") and ("hidden=true" in path or RED in path):
            return Says(text=b'{"images": []}')
        return super()._answer(request)


@pytest.fixture
def nova(placement, proxy):
    """Four equal hosts; cmp00 and cmp01 have GOLD, cmp03 reserves RAM, and half of
    cmp02 is used.
    """
    placement.create_traits(GOLD, RED)
    having = {"cmp00": (GOLD,), "cmp01": (GOLD,)}
    sizes = {"VCPU": 64, "MEMORY_MB": 8000, "DISK_GB": 900}
    hosts = [
        (name, placement.add_host(name, having.get(name, ()), inventories=sizes))
        for name in NAMES
    ]
    placement.allocate(hosts[2][1], MEMORY_MB=4000)
    path = f"/resource_providers/{hosts[3][1]}/inventories/MEMORY_MB"
    body = {"resource_provider_generation": placement.generation(hosts[3][1])}
    placement.call("PUT", path, {**body, "total": 8000, "reserved": 6000})
    found = Cloud(proxy, hosts, {"vips": ({f"trait:{GOLD}": "required"}, ["cmp00"])})
    found._bodies["/flavors/detail"] = {
        "flavors": [
            {"id": f"f-{name}", "name": name, "vcpus": 1, "ram": ram, "disk": 1}
            | {"extra_specs": specs}
            for name, (specs, ram) in FLAVORS.items()
        ]
    }
    image = {"id": "i", "name": "windows", "visibility": "public", "owner": "o"}
    image |= {"status": "active", f"trait:{GOLD}": "required"}
    found._bodies["/images"] = {"images": [image]}
    found._bodies["/os-availability-zone"] = {"availabilityZoneInfo": []}
    found._bodies["/servers/detail"] = {
        "servers": [
            server("by-flavor", "cmp00", {f"trait:{GOLD}": "required"}, ""),
            server("by-image", "cmp02", {}, {"id": "i"}),
            server("other", "cmp02", {}, {"id": "another"}),
        ]
    }
    return found


def server(name, host, specs, image):
    return {
        "id": f"s-{name}",
        "name": name,
        "status": "ERROR" if name == "other" else "ACTIVE",
        "tenant_id": "p",
        "OS-EXT-SRV-ATTR:host": host,
        "OS-EXT-SRV-ATTR:hypervisor_hostname": host,
        "flavor": {"extra_specs": specs},
        "image": image,
    }


def uuid_of(nova, name):
    """The UUID of a host's provider."""
    listed = nova._bodies["/os-hypervisors/detail"]["hypervisors"]
    (found,) = (e["id"] for e in listed if e["hypervisor_hostname"] == name)
    return found


def others(proxy):
    """The requests that are no page of a list."""
    return [each.path for each in proxy.requests if not each.path.startswith(LISTS)]


def test_a_trait_has_all_that_name_it(nova, proxy, openstack):
    run = openstack("trait", "show", GOLD, "-f", "json")
    assert run.code == 0, run.err
    closed("trait show").validate(run.json)
    found = run.json
    assert (found["hosts"], found["total_hosts"]) == (["cmp00", "cmp01"], 4)
    named = {
        kind: [each["name"] for each in found[kind]]
        for kind in ("flavors", "images", "aggregates", "forbidden_by")
    }
    assert named == {
        "flavors": ["gold"],
        "images": ["windows"],
        "aggregates": ["vips"],
        "forbidden_by": ["not-gold"],
    }
    placed = [(each["name"], each["misplaced"]) for each in found["servers"]]
    assert placed == [("by-flavor", False), ("by-image", True)]
    assert len(others(proxy)) <= MOST
    assert proxy.writes == []


def test_the_first_line_counts_who_needs_a_trait(nova, openstack):
    first, *_ = openstack("trait", "show", GOLD).out.splitlines()
    assert first == (
        f"{GOLD}: on 2 of 4 hosts; required by 1 flavor, 1 image, 1 aggregate, "
        "2 servers."
    )


def test_a_mistyped_trait_brings_the_right_one(nova, openstack):
    run = openstack("trait", "show", "CUSTOM_GLOD")
    assert (run.code, run.out) == (6, "") or run.code != 0
    assert "did you mean CUSTOM_GOLD?" in run.err


def test_the_list_has_traits_that_somebody_chose(nova, proxy, openstack):
    run = openstack("trait", "list")
    assert run.out.splitlines() == [
        "1 trait in use.",
        "  CUSTOM_GOLD  on 2 of 4 hosts (cmp00, cmp01), 1 flavor, 1 image, 1 aggregate",
    ]
    assert len(others(proxy)) <= MOST
    (row,) = openstack("trait", "list", "-f", "json").json
    assert row["hosts"] == ["cmp00", "cmp01"]
    assert row["forbidden_by"] == ["not-gold"]


def test_servers_that_are_hidden_are_null(nova, openstack):
    del nova._bodies["/servers/detail"]
    nova.fault = lambda request: (
        Says(status=403, text=b"{}") if "/servers/detail" in request.path else None
    )
    run = openstack("trait", "show", GOLD, "-f", "json")
    assert (run.code, run.json["servers"]) == (8, None)


def test_a_host_counts_servers_and_names_what_is_unusual(nova, proxy, openstack):
    run = openstack("host", "show", "cmp03", "-f", "json", *RELEASE)
    assert run.code == 0, run.err
    closed("host show").validate(run.json)
    fits = {each["flavor"]: each["servers"] for each in run.json["fits"]}
    assert fits == {
        "small": {"min": 2, "max": 2},
        "not-gold": {"min": 2, "max": 2},
    }
    reasons = {
        name: each["reason"]
        for each in run.json["does_not_fit"]
        for name in each["flavors"]
    }
    assert reasons == {
        "gold": "lacks trait CUSTOM_GOLD",
        "huge": "is short of RAM",
    }
    assert run.json["unusual"] == [
        {
            "resource_class": "MEMORY_MB",
            "figure": "reserved",
            "value": 6000,
            "usual": 0,
            "peers": 3,
        }
    ]
    assert proxy.writes == []


def test_a_usual_host_is_not_compared(nova, openstack):
    run = openstack("host", "show", "cmp00", "-f", "json", *RELEASE)
    assert run.json["unusual"] == []
    assert run.json["traits"] == {"cmp00": [GOLD]}
    assert run.json["aggregates"] == ["vips"]


def test_an_assumed_option_takes_no_flavor_off_a_host_for_sure(
    nova, placement, openstack
):
    (vips,) = nova.aggregates
    vips["metadata"] = {f"trait:{RED}": "required"}
    host = uuid_of(nova, "cmp00")
    body = {"aggregates": [vips["uuid"]]}
    body["resource_provider_generation"] = placement.generation(host)
    placement.call("PUT", f"/resource_providers/{host}/aggregates", body)
    run = openstack("host", "show", "cmp00", *RELEASE)
    assert run.code == 8
    lines = run.out.splitlines()
    assert lines[0] == "cmp00 may take 2 of 4 flavors now; up and enabled."
    why = "depends on nova.conf: is in the isolated aggregate vips"
    assert f"  may          gold, small: {why}" in lines
    given = ("--set", "scheduler.enable_isolated_aggregate_filtering=true")
    run = openstack("host", "show", "cmp00", *given, *RELEASE)
    assert run.code == 3
    assert run.out.startswith("cmp00 can take 0 of 4 flavors now; up and enabled.")


def test_a_flavor_counts_hosts_servers_and_images_that_can_not_go_with_it(
    nova, proxy, openstack
):
    run = openstack("flavor", "show", "not-gold", "-f", "json", *RELEASE)
    assert run.code == 0, run.err
    closed("flavor show").validate(run.json)
    assert run.json["requires"] == {f"trait:{GOLD}": "forbidden"}
    assert run.json["servers_that_fit"] == {"min": 4 + 2, "max": 4 + 2}
    zone = {"hosts": 2, "suitable_hosts": 2, "servers": run.json["servers_that_fit"]}
    assert run.json["zones"] == {"nova": zone}
    assert run.json["never_on"] == {"have trait CUSTOM_GOLD": ["cmp00", "cmp01"]}
    (why,) = run.json["unusable_images"]
    assert run.json["unusable_images"][why] == ["windows"]
    assert run.json["servers"] == {
        "ACTIVE": ["by-flavor", "by-image"],
        "ERROR": ["other"],
    }
    assert run.json["is_public"] is True
    first, *_ = openstack("flavor", "show", "not-gold", *RELEASE).out.splitlines()
    assert first == (
        "not-gold: 1 VCPU, 1000 MB, 1 GB; room for 6 more (2 of 2 suitable hosts)."
    )
    assert proxy.writes == []


def test_equal_images_are_judged_once_and_kinds_beyond_thirty_are_counted(
    nova, openstack
):
    kinds = [
        {"id": f"{number}-{copy}", "name": f"image-{number}-{copy}"}
        | {"min_ram": 2000 if number == 1 else number, "build": copy}
        | {"visibility": "public", "status": "active", "owner": "o"}
        for number in range(32)
        for copy in range(2)
    ]
    nova._bodies["/images"] = {"images": kinds}
    found = openstack("flavor", "show", "small", "-f", "json", *RELEASE).json
    (names,) = found["unusable_images"].values()
    assert (names, found["unjudged_images"]) == (["image-1-0", "image-1-1"], 4)


@pytest.mark.parametrize(
    ("flavor", "code", "first"),
    [
        (
            "huge",
            3,
            "huge: 1 VCPU, 90000 MB, 1 GB; room for 0 more (no host suits it).",
        ),
        ("smal", 1, ""),
    ],
)
def test_a_flavor_that_fits_nowhere_exits_as_capacity_does(
    nova, openstack, flavor, code, first
):
    run = openstack("flavor", "show", flavor, *RELEASE)
    assert run.code == openstack("capacity", flavor, *RELEASE).code == code
    assert run.out.startswith(first)


def test_a_private_flavor_names_its_projects(nova, openstack):
    private = nova._bodies["/flavors/detail"]["flavors"][0]
    private["os-flavor-access:is_public"] = False
    access = {"flavor_access": [{"flavor_id": "f-small", "tenant_id": "0a" * 16}]}
    nova._bodies["/flavors/f-small/os-flavor-access"] = access
    found = openstack("flavor", "show", "small", "-f", "json", *RELEASE).json
    assert (found["is_public"], found["projects"]) == (False, ["0a" * 16])


def test_zones_have_their_use_and_what_is_odd_in_them(nova, placement, openstack):
    nova.aggregates[0]["metadata"] |= {
        "availability_zone": "az",
        "trait:CUSTOM_RED": "required",
    }
    nodes = nova._bodies["/os-hypervisors/detail"]["hypervisors"]
    nodes[3].update(status="disabled")
    isolation = ("--set", "scheduler.enable_isolated_aggregate_filtering=true")
    run = openstack("zone", "list", "-f", "json", *isolation, *RELEASE)
    assert run.code == 0, run.err
    assert run.json == [
        {
            "zone": "az",
            "hosts": 1,
            "RAM used": 0,
            "largest free": None,
            "notes": ["cmp00 isolated (vips), unusable"],
        },
        {
            "zone": "nova",
            "hosts": 3,
            "RAM used": 22,
            "largest free": {"host": "cmp01", "ram": 8000},
            "notes": ["cmp03 disabled"],
        },
    ]


def test_a_host_that_is_down_is_judged_as_if_it_were_enabled(
    nova, placement, openstack
):
    nova.aggregates[0]["hosts"][:] = ["cmp01"]
    nova.aggregates[0]["metadata"].clear()
    nodes = nova._bodies["/os-hypervisors/detail"]["hypervisors"]
    nodes[2].update(status="disabled", state="down")
    placement.set_traits(uuid_of(nova, "cmp02"), ("COMPUTE_STATUS_DISABLED",))
    services = nova._bodies["/os-services"]["services"]
    services[2]["updated_at"] = "2026-11-22T12:00:01.000000"
    services[:] = services[2:3]
    now = openstack("host", "show", "cmp02", *RELEASE)
    assert now.code == 3
    since = "nova-compute is down since 2026-11-22 12:00 UTC (1 node)."
    assert now.out.splitlines()[0] == f"cmp02 can take 0 of 4 flavors now; {since}"
    then = openstack("host", "show", "cmp02", "--if-enabled", *RELEASE)
    assert then.code == 0
    lines = then.out.splitlines()
    assert lines[0] == f"If enabled, cmp02 can take 2 of 4 flavors; {since}"
    assert "  fits         not-gold 4, small 4" in lines
    place = lines.index("In no zone and no aggregate. Like cmp01?")
    command = "openstack trait-sched add --like cmp01 --aggregates cmp02"
    assert lines[place + 1] == f"  {command}"


def test_nodes_of_one_service_are_named_with_it(nova, openstack):
    nodes = nova._bodies["/os-hypervisors/detail"]["hypervisors"]
    for node in nodes[1:]:
        node["service"]["host"], node["state"] = "metal-7", "down"
    for service in nova._bodies["/os-services"]["services"]:
        service["updated_at"] = "2026-09-03T10:20:30.000000"
    several = openstack("host", "show", "metal-7", *RELEASE)
    assert (several.code, several.err) == (
        2,
        "'metal-7' matches 3 hosts: cmp[01-03]. Name one of them, such as cmp01\n",
    )
    one = openstack("host", "show", "cmp02", *RELEASE)
    assert "nova-compute on metal-7 is down since 2026-09-03" in one.out, one.err
    long = openstack("explain", "small", "-", "--long", *RELEASE)
    assert "  3 have nova-compute down (service metal-7): cmp[01-03]" in long.out


@pytest.mark.parametrize("word", ["rename", "retire"])
def test_a_prohibition_is_removed_as_one(nova, openstack, word):
    specs = {f"trait:{RED}": "forbidden"}
    body = {"id": "f-no", "name": "no-red", "vcpus": 1, "ram": 1, "disk": 1}
    nova._bodies["/flavors/detail"]["flavors"] += [{**body, "extra_specs": specs}]
    names = (RED, "CUSTOM_CRIMSON") if word == "rename" else (RED,)
    run = openstack("trait", word, *names, "--dry-run", "--long", *RELEASE)
    assert f"without trait:{RED}=forbidden" in run.out, run.err
    assert f"without trait:{RED}=required" not in run.out


@pytest.mark.parametrize("is_on", [True, False])
def test_a_host_names_the_projects_that_may_land_there(nova, openstack, is_on):
    nova.aggregates[0]["metadata"] = {"filter_tenant_id": "0a" * 16}
    filters = "ComputeFilter" + ",AggregateMultiTenancyIsolation" * is_on
    option = f"filter_scheduler.enabled_filters={filters}"
    run = openstack("host", "show", "cmp00", "--set", option, *RELEASE)
    alone = " alone" if is_on else "; others too: AggregateMultiTenancyIsolation is off"
    assert f"  projects     {'0a' * 16}{alone}" in run.out.splitlines()
    nova.aggregates[0]["metadata"] = {"filter_tenant_id": "demo"}
    run = openstack("host", "show", "cmp00", "--set", option, *RELEASE)
    none = "none: filter_tenant_id=demo is not a project's ID"
    assert f"  projects     {none}" in run.out.splitlines()


def test_explain_with_a_host_alone_leads_to_host_show(nova, openstack):
    run = openstack("explain", "--host", "cmp01")
    assert (run.code, run.out) == (2, "")
    assert "openstack trait-sched host show cmp01" in run.err


def test_a_new_host_gets_what_its_peer_has_and_keeps_its_own(
    nova, placement, proxy, openstack
):
    cmp02 = uuid_of(nova, "cmp02")
    placement.set_traits(cmp02, (RED,))
    like = ("add", "--like", "cmp00", "cmp02", "-f", "json")
    for status in ("changed", "unchanged"):
        run = openstack(*like)
        assert run.code == 0, run.err
        rows = {
            row["object"]: row["status"] for row in run.json if row["step"] == "host"
        }
        assert rows == {"cmp02": status}
        assert placement.traits(cmp02) >= {GOLD, RED}
    assert len(proxy.writes) == 1


def test_a_trait_that_a_numbered_group_requires_is_not_renamed(
    nova, placement, proxy, openstack
):
    placement.set_traits(uuid_of(nova, "cmp02"), (RED,))
    nova._bodies["/servers/detail"] = {"servers": []}
    body = {"id": "f-suffixed", "name": "suffixed", "vcpus": 1, "ram": 1, "disk": 1}
    nova._bodies["/flavors/detail"]["flavors"] += [{**body, "extra_specs": SUFFIXED}]
    for words in (("rename", RED, "CUSTOM_BLUE"), ("retire", RED)):
        run = openstack("trait", *words, "--dry-run", *RELEASE)
        assert run.code == 5, run.out + run.err
        assert "flavor 'suffixed' (trait1:CUSTOM_RED)" in run.err
    assert proxy.writes == []


def test_a_rename_turns_no_prohibition_into_a_requirement(nova, proxy, openstack):
    specs = {f"trait:{GOLD}": "required", f"trait:{RED}": "forbidden"}
    body = {"id": "f-both", "name": "both", "vcpus": 1, "ram": 1, "disk": 1}
    nova._bodies["/flavors/detail"]["flavors"] += [{**body, "extra_specs": specs}]
    for old, new in ((GOLD, RED), (RED, GOLD)):
        run = openstack("trait", "rename", old, new, "--dry-run", *RELEASE)
        assert run.code == 2, run.out
        assert "flavor 'both' requires one of" in run.err
    assert proxy.writes == []


@pytest.mark.parametrize(
    ("specs", "code", "first", "deciding"),
    [
        ({}, 0, "can take 2 of 2 flavors now", ""),
        (
            {"hw:numa_nodes": "1"},
            0,
            "can take 1 of 2 flavors now, 1 more may",
            "NUMATopology",
        ),
        ({"pci_passthrough:alias": "x:1"}, 8, "may take 1 of 1 flavor now", "Pci"),
    ],
)
def test_a_flavor_that_a_filter_may_reject_fits_only_perhaps(
    nova, openstack, specs, code, first, deciding
):
    flavors = nova._bodies["/flavors/detail"]["flavors"]
    asking = {**flavors[0], "id": "f-asking", "name": "asking", "extra_specs": specs}
    flavors[:] = [asking] if code else [flavors[0], asking]
    shown = openstack("host", "show", "cmp00", *RELEASE)
    assert shown.code == code
    assert shown.out.startswith(f"cmp00 {first}; up and enabled.")
    lines = [each for each in shown.out.splitlines() if each.startswith("  at most ")]
    assert bool(lines) is bool(deciding)
    assert all(f" {deciding}" in line for line in lines)
    counted = openstack("capacity", *RELEASE)
    assert counted.code == code
