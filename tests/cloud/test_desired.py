"""plan and apply where a real Nova, Placement and Glance answer."""

from __future__ import annotations

import itertools
import textwrap
import threading

import pytest

from tests.cloud.factory import PLACEMENT, factory, providers
from tests.cloud.proxied import services
from tests.functional import shell
from tests.functional.proxy import CutAfter, CutBefore

#: The first Nova that lets no host with servers into another zone.
KEEPS_ZONES = 29
PINNED, OLD = "CUSTOM_PINNED", "CUSTOM_OLD"
PINNED_KEY = f"trait:{PINNED}"
REQUIRED = {PINNED_KEY: "required"}
WHOLE = f"""
    version: 1
    groups: {{pinned: ["cmp0[01]"]}}
    traits:
      {OLD}: {{absent: {{hosts: ["*"]}}}}
    aggregates:
      before: {{absent: {{hosts: [cmp01]}}}}
      pinned:
        hosts: ["@pinned"]
        isolated_for: [{PINNED}]
        projects: [demo]
    flavors:
      "pinned.*": {{requires: [{PINNED}]}}
    images:
      rocky: {{requires: [{PINNED}]}}
"""
#: What contradicts all of that, but for what takes from everybody.
CONTRARY = f"""
    version: 1
    groups: {{pinned: ["cmp0[01]"]}}
    traits:
      {PINNED}: {{hosts: [cmp02], absent: {{hosts: ["@pinned"]}}}}
    aggregates:
      before: {{hosts: [cmp01]}}
      pinned:
        hosts: [cmp02]
        absent: {{hosts: ["@pinned"], isolated_for: [{PINNED}], projects: [demo]}}
    flavors:
      "pinned.*": {{absent: {{requires: [{PINNED}]}}}}
    images:
      rocky: {{absent: {{requires: [{PINNED}]}}}}
"""


@pytest.fixture
def make(admin):
    with factory(admin) as maker:
        yield maker


@pytest.fixture
def scene(make, admin):
    """Flavors, an image and an aggregate that WHOLE is about; it is all taken back."""
    make.dropped("pinned")
    make.traits(OLD, "cmp00", "cmp03")
    make.traits(PINNED)
    make.flavor("pinned.small")
    make.flavor("small")
    make.image("rocky")
    make.aggregate("before", "cmp00", "cmp01", kind="plain")


@pytest.fixture
def openstack(cloud, tmp_path, monkeypatch):
    """Runs a verb, with the settings of the cloud's own scheduler."""
    monkeypatch.chdir(tmp_path)
    file = ("--nova-conf", str(cloud.nova_conf))

    def run(verb, *arguments, variables=cloud.environment):
        return shell.run(variables, "trait-sched", verb, *arguments, *file)

    return run


@pytest.fixture
def write(tmp_path):
    def write(text, name="desired.yaml"):
        (tmp_path / name).write_text(textwrap.dedent(text).lstrip("\n"), "utf-8")
        return name

    return write


def whole(admin):
    """Return the state of all that can be written, generations left out."""
    names = {uuid: name for name, uuid in providers(admin).items()}
    found = {
        part: {
            names[uuid]: sorted(_of_provider(admin, uuid, part)[part]) for uuid in names
        }
        for part in ("traits", "aggregates")
    }
    found["nova"] = {
        each.name: (sorted(each.hosts or ()), dict(each.metadata or {}))
        for each in admin.compute.aggregates()
    }
    found["flavors"] = {
        each.name: dict(each.extra_specs)
        for each in admin.compute.flavors(get_extra_specs=True)
    }
    found["images"] = {
        image["name"]: image.get(PINNED_KEY)
        for image in admin.image.get("/images").json()["images"]
    }
    return found


def _of_provider(admin, uuid, part):
    path = f"/resource_providers/{uuid}/{part}"
    return admin.placement.get(path, microversion=PLACEMENT).json()


def generations(admin):
    return {
        name: _of_provider(admin, uuid, "traits")["resource_provider_generation"]
        for name, uuid in providers(admin).items()
    }


@pytest.mark.short
def test_what_is_applied_leaves_no_difference_and_the_undo_file_leads_back(
    scene, make, admin, openstack, write
):
    path = write(WHOLE)
    before = whole(admin)
    reviewed = openstack("plan", path, "-f", "json")
    assert reviewed.code == 0, reviewed.err
    write(reviewed.out, "p.json")
    more = ("--reviewed", "p.json", "--undo", "undo.yaml", "-f", "json")
    done = openstack("apply", path, *more)
    assert done.code == 0, done.err
    assert {row["status"] for row in done.json} == {"changed"}
    after = whole(admin)
    demo = admin.identity.find_project("demo").id
    assert after["nova"]["before"] == (["cmp00"], {"kind": "plain"})
    metadata = {**REQUIRED, "filter_tenant_id": demo}
    assert after["nova"]["pinned"] == (["cmp00", "cmp01"], metadata)
    assert after["flavors"]["pinned.small"] == REQUIRED
    assert after["flavors"]["small"] == {}
    assert after["images"]["rocky"] == "required"
    again = openstack("plan", path, "--exit-code", "-f", "json")
    assert (again.code, again.json) == (0, [])

    back = openstack("apply", "undo.yaml", "-f", "json")
    assert back.code == 0, back.err
    make.drops("pinned")
    assert whole(admin) == before


def test_what_is_not_named_keeps_its_generation(scene, admin, openstack, write):
    before = generations(admin)
    path = write(f"version: 1\ntraits: {{{PINNED}: {{hosts: [cmp02]}}}}")
    for _ in range(2):
        assert openstack("apply", path).code == 0
    assert generations(admin) == {**before, "cmp02": before["cmp02"] + 1}


@pytest.fixture
def proxied(cloud):
    """Proxies before the services that are written to, and what leads there."""
    with services(cloud, "placement", "compute", "image") as found:
        yield found


def test_a_plan_names_its_cloud_by_where_it_writes_and_by_keystones_id(
    scene, admin, openstack, write, proxied
):
    variables, _ = proxied
    kinds = {each.id: each.type for each in admin.identity.services()}
    (endpoint,) = (
        each
        for each in admin.identity.endpoints(interface="public")
        if kinds[each.service_id] == "placement"
    )
    path = write(f"version: 1\ntraits: {{{PINNED}: {{hosts: [cmp02]}}}}")
    (row,) = openstack("plan", path, "-f", "json").json
    address = admin.placement.get_endpoint().rstrip("/")
    assert row["cloud"] == f"{address} {endpoint.id}"
    planned = shell.run(variables, "trait-sched", "plan", path, "-f", "json")
    (row,) = planned.json
    address = variables["OS_PLACEMENT_ENDPOINT_OVERRIDE"].rstrip("/")
    assert row["cloud"] == f"{address} {endpoint.id}"


def test_killed_between_any_two_writes_and_applied_again_it_is_the_same(
    scene, admin, openstack, write, killed
):
    path = write(WHOLE)
    steps = len(openstack("plan", path, "-f", "json").json)
    written = []
    for _ in range(steps + 1):
        request, ended = killed(path, CutBefore(), lambda number, each: number == 2)
        # Whoever could have a server before has a host for it at any moment.
        for flavor in ("small", "pinned.small"):
            assert openstack("candidates", flavor, "-").code == 0
        required_before_closed(admin)
        if request is None:
            assert ended.code == 0, ended.err
            break
        written.append(request)
    # Both keys of the aggregate are set at once, and so is a provider's trait set.
    assert len(written) >= steps - 3
    assert "PATCH" in {each.method for each in written}
    again = openstack("plan", path, "--exit-code", "-f", "json")
    assert (again.code, again.json) == (0, [])
    assert whole(admin)["nova"]["pinned"][0] == ["cmp00", "cmp01"]


def test_killed_while_glance_writes_and_applied_again_it_is_the_same(
    scene, admin, openstack, write, killed
):
    path = write(WHOLE)
    request, _ = killed(path, CutAfter(), lambda number, each: each.method == "PATCH")
    assert request is not None
    assert whole(admin)["images"]["rocky"] == "required"
    # What closes comes after all that has to require the trait.
    assert whole(admin)["nova"]["pinned"] == (["cmp00", "cmp01"], {})
    done = openstack("apply", path, "-f", "json")
    assert done.code == 0, done.err
    images = [row["object"] for row in done.json if row["step"] == "image"]
    assert images == []
    required_before_closed(admin)
    again = openstack("plan", path, "--exit-code", "-f", "json")
    assert (again.code, again.json) == (0, [])


@pytest.fixture
def killed(proxied, cloud, tmp_path):
    """Runs apply, and kills it at the write that a function picks, if there is one.

    Returns that request, or None, and how the command ended by itself.
    """
    variables, proxies = proxied
    numbers = itertools.count()

    def run(path, cut, picks):
        writes, cuts, is_over = itertools.count(1), [], threading.Event()

        def fault(request):
            if cuts:
                # Whoever asks again has seen how the write ended.
                is_over.set()
                return CutBefore()
            if not (request.is_write and picks(next(writes), request)):
                return None
            cuts.append(request)
            return cut

        for proxy in proxies:
            proxy.fault = fault
        file = ("--nova-conf", str(cloud.nova_conf))
        arguments = ("trait-sched", "apply", str(tmp_path / path), *file)
        out = tmp_path / f"run-{next(numbers)}.json"
        process = shell.Background(variables, arguments, out)
        while process.runs and not is_over.wait(0.05):
            pass
        process.kill()
        return (cuts[0], None) if cuts else (None, process.wait())

    return run


def required_before_closed(admin):
    """An aggregate is closed only once all require its trait that shall get in."""
    found = whole(admin)
    if PINNED_KEY in found["nova"].get("pinned", ((), {}))[1]:
        assert found["flavors"]["pinned.small"] == REQUIRED
        assert found["images"]["rocky"] == "required"


@pytest.fixture
def started(cloud, tmp_path):
    """Starts apply on a file, in a process of its own."""
    numbers = itertools.count()
    file = ("-f", "json", "--nova-conf", str(cloud.nova_conf))

    def start(path, variables=cloud.environment):
        arguments = ("trait-sched", "apply", str(tmp_path / path), *file)
        out = tmp_path / f"started-{next(numbers)}.json"
        return shell.Background(variables, arguments, out)

    return start


def test_two_at_once_of_one_file_end_with_what_it_wants(
    scene, admin, openstack, write, started
):
    path = write(WHOLE)
    for run in [each.wait() for each in [started(path), started(path)]]:
        assert {row["status"] for row in run.json} <= {"changed", "unchanged"}, run.err
        assert run.code == 0, run.err
    again = openstack("plan", path, "--exit-code", "-f", "json")
    assert (again.code, again.json) == (0, [])
    (only_one,) = (a for a in admin.compute.aggregates() if a.name == "pinned")
    assert sorted(only_one.hosts) == ["cmp00", "cmp01"]


@pytest.fixture
def fleeting(make, admin):
    """An aggregate that was made before, and what both files leave alone."""
    make.aggregate("pinned", kind="shared")
    make.traits("CUSTOM_OTHER", "cmp00", "cmp01", "cmp02", "cmp03")
    (flavor,) = (f for f in admin.compute.flavors() if f.name == "pinned.small")
    admin.compute.create_flavor_extra_specs(flavor, {"hw:cpu_policy": "shared"})


def test_two_that_contradict_each_other_touch_nothing_else(
    scene, fleeting, admin, openstack, write, started
):
    before = whole(admin)
    paths = write(WHOLE), write(CONTRARY, "contrary.yaml")
    for run in [each.wait() for each in list(map(started, paths))]:
        assert run.code in (0, 1), run.err
        # Who ends with something that is not done, or not as desired, says so.
        is_told = "failed" in run.err or "no longer as desired" in run.err
        assert is_told is (run.code == 1), run.err
    nobody_else_is_touched(before, whole(admin))
    for path in paths:
        done = openstack("apply", path, "-f", "json")
        assert done.code == 0, done.err
        again = openstack("plan", path, "--exit-code", "-f", "json")
        assert (again.code, again.json) == (0, [])
        nobody_else_is_touched(before, whole(admin))


@pytest.mark.parametrize("number", [2, 8])
def test_who_is_contradicted_between_two_writes_says_so(
    scene, fleeting, admin, openstack, write, started, proxied, number
):
    before = whole(admin)
    variables, proxies = proxied
    path, contrary = write(WHOLE), write(CONTRARY, "contrary.yaml")
    writes, between = itertools.count(1), []

    def rival(request):
        if request.is_write and next(writes) == number:
            between.append(started(contrary).wait())

    for proxy in proxies:
        proxy.fault = rival
    # With more jobs it would write on while the other does, and contradict it in turn.
    jobs = ("--jobs", "1")
    done = openstack("apply", path, *jobs, "-f", "json", variables=variables)
    assert ([each.code for each in between], done.code) == ([0], 1), done.err
    said = {row["status"] for row in done.json}
    failed = "failed" in said
    assert said <= {"changed", "unchanged", "failed", "not done"}
    assert failed or "no longer as desired: others changed" in done.err
    nobody_else_is_touched(before, whole(admin))
    assert openstack("apply", path).code == 0
    again = openstack("plan", path, "--exit-code", "-f", "json")
    assert (again.code, again.json) == (0, [])


def nobody_else_is_touched(before, after):
    """What neither file names is as it was."""
    for found in (before, after):
        assert found["nova"]["pinned"][1]["kind"] == "shared"
        assert "cmp00" in found["nova"]["before"][0]
        assert found["nova"]["before"][1] == {"kind": "plain"}
        assert found["flavors"]["pinned.small"]["hw:cpu_policy"] == "shared"
        assert found["flavors"]["small"] == {}
    for host, traits in before["traits"].items():
        assert {*traits} ^ {*after["traits"][host]} <= {PINNED, OLD}


def test_nova_refuses_what_a_row_says_it_does(
    scene, admin, make, openstack, write, cloud
):
    make.used("cmp02", make.flavor("used"), make.image("used"))
    make.dropped("pinned")
    text = """
        version: 1
        aggregates:
          pinned: {zone: az1, hosts: [cmp02, cmp03]}
    """
    done = openstack("plan", write(text), "-f", "json")
    assert done.code == 1
    said = (
        "cmp02 has 1 server, and Nova rejects the change from the default zone to zone "
        "'az1'"
    )
    details = {row["key"]: row["detail"] for row in done.json}
    assert details["cmp02"] == f"{said}; move all servers to other hosts first"
    assert details["cmp03"] == ""
    done = openstack("apply", "desired.yaml", "-f", "json")
    assert done.code == 1
    assert {row["key"]: row["status"] for row in done.json}["cmp03"] == "changed"
    (made,) = (a for a in admin.compute.aggregates() if a.name == "pinned")
    path, body = f"/os-aggregates/{made.id}/action", {"add_host": {"host": "cmp02"}}
    # Older ones leave the servers in another zone; the row says no there, too.
    status = 409 if cloud.release.number >= KEEPS_ZONES else 200
    assert admin.compute.post(path, json=body).status_code == status


def test_a_server_on_a_host_that_joins_a_closed_aggregate_is_told(
    make, openstack, write
):
    make.traits(PINNED, "cmp00")
    boot = make.boot(make.flavor("small"), make.image("raw"), host="cmp01")
    make.after(make.delete, boot)
    make.aggregate("pinned", "cmp00", **REQUIRED)
    joining = "aggregates: {pinned: {hosts: [cmp00, cmp01]}}"
    found = openstack("plan", write(f"version: 1\n{joining}\n"), "-f", "json")
    assert [row["key"] for row in found.json] == ["cmp01"]
    assert (
        f"aggregate 'pinned': 1 server in the aggregate not requiring {PINNED}, left "
        f"there: 'asked' ({boot.server}, on cmp01)"
    ) in found.err.splitlines()


def test_what_a_flavor_requires_anew_leaves_it_a_host_in_each_zone(
    make, admin, openstack, write
):
    make.traits(PINNED, "cmp00")
    small, raw = make.flavor("small"), make.image("raw")
    make.aggregate("west", "cmp01", availability_zone="west")

    def boot(zone):
        found = make.boot(small, raw, availability_zone=zone)
        make.delete(found)
        return found

    path = write(f"version: 1\nflavors: {{small: {{requires: [{PINNED}]}}}}")
    assert boot(zone="west").status == "ACTIVE"
    for verb in ("plan", "apply"):
        refused = openstack(verb, path)
        assert refused.code == 5
        assert "no host would be left for flavor 'small' in zone 'west'" in refused.err
    forced = openstack("apply", path, "--force", "--undo", "undo.yaml", "-f", "json")
    assert forced.code == 0, forced.err
    assert boot(zone="west").status == "ERROR"
    # The way back opens what was closed, and says so.
    back = openstack("apply", "undo.yaml", "-f", "json")
    (row,) = back.json
    said = f"{PINNED}: flavor 'small' may land on any host"
    assert (back.code, row["lets_in"]) == (0, said)
    assert boot(zone="west").status == "ACTIVE"
