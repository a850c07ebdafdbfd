"""list, add and remove where a real Nova and Glance answer, too."""

from __future__ import annotations

import functools
import json
import subprocess

import pytest

from tests.cloud.factory import factory
from tests.functional import shell
from tests.functional.proxy import Instead, Proxy
from tests.services import environment

GOLD = "CUSTOM_GOLD"


@pytest.fixture(scope="module")
def openstack(cloud):
    return functools.partial(shell.run, cloud.environment, "trait-sched")


@pytest.fixture(autouse=True)
def gold(openstack, admin):
    """A custom trait that no host has, before and after each test."""
    admin.placement.put(f"/traits/{GOLD}", microversion="1.6")
    yield
    assert openstack("remove", GOLD, "--all", "--force").code == 0


@pytest.fixture
def aggregate(admin):
    """Two of the four hosts, in a zone of their own."""
    made = admin.compute.create_aggregate(name="gold", availability_zone="az-gold")
    for host in ("cmp01", "cmp02"):
        admin.compute.add_host_to_aggregate(made, host)
    yield made
    for host in ("cmp01", "cmp02"):
        admin.compute.remove_host_from_aggregate(made, host)
    admin.compute.delete_aggregate(made)


@pytest.mark.short
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--aggregate", "gold"], ["cmp01", "cmp02"]),
        (["--availability-zone", "az-gold"], ["cmp01", "cmp02"]),
        # The default zone is in no aggregate; only the services tell who is in it.
        (["--availability-zone", "nova"], ["cmp00", "cmp03"]),
        (
            ["--availability-zone", "az-gold", "--host", "cmp03"],
            ["cmp01", "cmp02", "cmp03"],
        ),
    ],
)
def test_hosts_are_selected_as_nova_groups_them(
    aggregate, openstack, options, expected
):
    run = openstack("add", GOLD, *options, "-f", "json")
    assert run.statuses == dict.fromkeys(expected, "changed")
    assert [row["host"] for row in openstack("list", *options, "-f", "json").json] == (
        expected
    )


def test_an_aggregate_can_be_named_by_id_and_by_uuid(aggregate, admin, openstack):
    uuid = admin.compute.get(f"/os-aggregates/{aggregate.id}", microversion="2.41")
    for name in (str(aggregate.id), uuid.json()["aggregate"]["uuid"]):
        run = openstack("list", "--aggregate", name, "-f", "json")
        assert [row["host"] for row in run.json] == ["cmp01", "cmp02"]


@pytest.fixture
def flavor(admin):
    made = admin.compute.create_flavor(name="f-gold", ram=64, vcpus=1, disk=0)
    admin.compute.create_flavor_extra_specs(made, {f"trait:{GOLD}": "required"})
    yield "flavor 'f-gold' (trait:CUSTOM_GOLD)"
    admin.compute.delete_flavor(made)


@pytest.fixture
def hidden_image(admin):
    body = {"name": "i-gold", f"trait:{GOLD}": "required", "os_hidden": True}
    made = admin.image.post("/images", json=body).json()
    yield "image 'i-gold' (trait:CUSTOM_GOLD)"
    admin.image.delete(f"/images/{made['id']}")


@pytest.fixture
def isolated(aggregate, admin):
    admin.compute.set_aggregate_metadata(aggregate, {f"Trait:{GOLD}": "required"})
    return "aggregate 'gold' (Trait:CUSTOM_GOLD)"


@pytest.mark.parametrize("who", ["flavor", "hidden_image", "isolated"])
def test_the_last_host_keeps_a_trait_that_something_still_requires(
    request, openstack, who
):
    requirer = request.getfixturevalue(who)
    openstack("add", GOLD, "--host", "cmp00", "--host", "cmp01")
    # Not the last host: nobody is asked.
    assert openstack("remove", GOLD, "--host", "cmp01").code == 0
    refused = openstack("remove", GOLD, "--all")
    assert refused.code == 5
    assert refused.err == (
        f"Refused: no host would have {GOLD} any more, and it is "
        f"required by {requirer}; --force overrides this\n"
    )
    dry = openstack("remove", GOLD, "--all", "--dry-run")
    assert (dry.code, dry.err) == (5, refused.err)
    rows = openstack("list", "--with-trait", GOLD, "-f", "json").json
    assert [row["host"] for row in rows] == ["cmp00"]


def test_the_last_host_loses_a_trait_that_nobody_requires(openstack):
    openstack("add", GOLD, "--host", "cmp00")
    run = openstack("remove", GOLD, "--all", "-f", "json")
    assert run.statuses["cmp00"] == "changed"


@pytest.fixture
def make(admin):
    with factory(admin) as maker:
        yield maker


@pytest.mark.parametrize("verb", [("remove", GOLD, "--all"), ("trait", "retire", GOLD)])
def test_a_shelved_server_keeps_the_last_host_of_its_trait(
    openstack, make, admin, verb
):
    make.gives(GOLD, "cmp00")
    flavor = make.flavor("gold", {f"trait:{GOLD}": "required"})
    boot = make.boot(flavor, make.image("raw"))
    make.after(make.delete, boot)
    assert make.acts(boot, {"shelve": None})["status"] == "SHELVED_OFFLOADED"
    for dry in ((), ("--dry-run",)):
        refused = openstack(*verb, *dry)
        assert refused.code == 5
        assert f"'asked' ({boot.server}, on no host)" in refused.err
    dry = openstack("remove", GOLD, "--all", "--dry-run", "-f", "json")
    assert {row["kind"]: row["id"] for row in dry.json} == {
        "flavor": flavor.id,
        "server": boot.server,
    }
    forced = openstack(*verb, "--force", "-f", "json")
    assert forced.code == 0, forced.err
    # That is what was refused: it finds no host any more.
    assert make.acts(boot, {"unshelve": None})["status"] == "SHELVED_OFFLOADED"
    make.gives(GOLD, "cmp00")
    assert make.acts(boot, {"unshelve": None})["OS-EXT-SRV-ATTR:host"] == "cmp00"


def test_the_last_enabled_host_keeps_a_trait_that_an_image_requires(openstack, make):
    make.gives(GOLD, "cmp00", "cmp01")
    image = make.image("golden", **{f"trait:{GOLD}": "required"})
    small = make.flavor("small")
    assert openstack("remove", GOLD, "cmp01", "--dry-run").code == 0
    make.disabled("cmp01", "DIMMs")
    refused = openstack("remove", GOLD, "cmp00")
    assert refused.code == 5
    assert "flavor 'small' with image 'golden'" in refused.err
    assert openstack("remove", GOLD, "cmp00", "--force").code == 0
    boot = make.boot(small, image)
    make.after(make.delete, boot)
    assert boot.status == "ERROR"


def test_a_flavor_that_forbids_a_trait_keeps_a_host_without_it(openstack, make):
    flavor = make.flavor("never", {f"trait:{GOLD}": "forbidden"})
    some = openstack("add", GOLD, "cmp00", "cmp01", "--dry-run")
    assert (some.code, "flavor 'never': hosts with room" in some.err) == (0, True)
    refused = openstack("add", GOLD, "--all")
    assert refused.code == 5
    assert "no host would be left for flavor 'never'" in refused.err
    assert openstack("add", GOLD, "--all", "--force").code == 0
    boot = make.boot(flavor, make.image("raw"))
    make.after(make.delete, boot)
    assert boot.status == "ERROR"


@pytest.mark.parametrize(
    ("user", "verb", "code"),
    [("reader", ["list"], 8), ("demo", ["add", GOLD, "--all"], 1)],
)
def test_without_the_rights_there_is_one_clear_line(cloud, user, verb, code):
    run = shell.run(cloud.environment_of(user), "trait-sched", *verb)
    assert (run.code, run.out) == (code, "")
    assert len(run.err.splitlines()) == 1
    assert "placement" in run.err
    assert "HTTP 403" in run.err


def test_a_cloud_without_a_placement_is_told_in_one_line(cloud, admin):
    (service,) = (s for s in admin.identity.services() if s.type == "placement")
    admin.identity.update_service(service, is_enabled=False)
    try:
        run = shell.run(cloud.environment, "trait-sched", "list")
    finally:
        admin.identity.update_service(service, is_enabled=True)
    assert (run.code, run.out) == (1, "")
    assert run.err == (
        "placement is not in this cloud's catalog, for this user, region and "
        "interface\n"
    )


@pytest.fixture
def proxied(cloud, admin):
    """A proxy before the real Placement, and the variables that lead through it."""
    proxy = Proxy(admin.placement.get_endpoint())
    yield proxy, {**cloud.environment, **shell.through("placement", proxy.url)}
    proxy.stop()


def test_a_token_that_ends_half_way_is_renewed_with_the_password(proxied):
    proxy, variables = proxied
    expired = []

    def expire(request):
        if request.is_write and request.number == 2:
            expired.append(request)
            return Instead(401)
        return None

    proxy.fault = expire
    run = shell.run(variables, "trait-sched", "add", GOLD, "--all", "-f", "json")
    assert (run.code, set(run.statuses.values())) == (0, {"changed"})
    assert len(expired) == 1


def test_no_output_has_the_password_or_the_token(cloud, admin):
    run = shell.run(cloud.environment, "--debug", "trait-sched", "add", GOLD, "--all")
    assert run.code == 0
    assert "REQ: curl" in run.err
    everything = run.out + run.err
    assert cloud.environment["OS_PASSWORD"] not in everything
    # Fernet tokens, which is what this Keystone issues, start like this.
    assert admin.auth_token.startswith("gAAAA")
    assert "gAAAA" not in everything


def test_commands_that_need_only_placement_ask_nobody_else(cloud, proxied):
    proxy, variables = proxied
    run = shell.run(variables, "--debug", "trait-sched", "list")
    asked = [line for line in run.err.splitlines() if line.startswith("REQ: curl")]
    keystone = cloud.environment["OS_AUTH_URL"]
    assert asked
    for line in asked:
        assert proxy.url in line or keystone in line


_NOVAS_TRAITS = """
import json, os_traits
from nova.virt import driver
from nova.virt.libvirt import utils
cpu = set()
for traits in utils.CPU_TRAITS_MAPPING.values():
    cpu |= {traits} if isinstance(traits, str) else set(traits)
print(json.dumps({
    "both": sorted(cpu | set(driver.CAPABILITY_TRAITS_MAP.values())),
    "cpu": sorted(t for t in os_traits.get_traits("HW_CPU_X86_") if t not in cpu),
}))
"""


def test_who_owns_a_trait_is_what_novas_own_tables_say():
    done = subprocess.run(
        [environment.python(), "-W", "ignore", "-c", _NOVAS_TRAITS],
        capture_output=True,
        text=True,
        check=True,
    )
    nova = json.loads(done.stdout)
    from osc_traitsched.core.inventory.trait import Ownership, ownership

    assert len(nova["both"]) > 70
    for name in nova["both"]:
        assert ownership(name) is Ownership.NOVA_SETS_AND_CLEARS, name
    # The driver gives these to the providers of memory encryption by other means.
    encryption = {"HW_CPU_X86_AMD_SEV", "HW_CPU_X86_AMD_SEV_ES"}
    for name in set(nova["cpu"]) - encryption:
        assert ownership(name) is Ownership.OPERATOR, name
