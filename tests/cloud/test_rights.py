"""What users see who are no administrators, or are it elsewhere."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from osc_traitsched.cloud import lookup
from osc_traitsched.cloud.connection import HttpCloud
from tests.cloud import config
from tests.cloud.factory import factory
from tests.functional import shell
from tests.services.environment import REPOSITORY

GOLD = "CUSTOM_GOLD"


@pytest.fixture
def make(admin):
    with factory(admin) as maker:
        yield maker


def printed_policies(role: str) -> dict[str, str]:
    """Return the policy lines of the page on access, for a role."""
    page = (REPOSITORY / "doc/source/administer/access.rst").read_text("utf-8")
    lines = page.partition(".. code-block:: yaml\n")[2].partition("\n\n..")[0]
    return yaml.safe_load(lines.replace("role:oncall", f"role:{role}"))


@pytest.fixture
def policies(cloud):
    """Return a function that writes the policies which differ from the defaults."""
    file = cloud.state / "policy.yaml"

    def write(**rules):
        file.write_text(json.dumps(rules))

    yield write
    write()


#: By Wallaby's own policies it takes admin in a project, or reader in the system, to
#: use Placement, and whoever is in the project, in any role, is shown extra specs.
SERVICE = {
    **dict.fromkeys(printed_policies("reader"), "role:admin or role:service"),
    "os_compute_api:os-flavor-extra-specs:index": "role:admin or role:reader",
}


@pytest.fixture
def placer(make, admin, cloud, policies):
    """Log in a user who may use Placement and is no administrator of Nova."""
    identity = admin.identity
    project = identity.find_project("admin")
    user = identity.create_user(name="placer", password=config.PASSWORD)
    make.after(identity.delete_user, user)
    if cloud.release.number == 23:
        policies(**SERVICE)

    def login(*roles):
        for role in roles:
            found = identity.find_role(role) or created(role)
            identity.assign_project_role_to_user(project, user, found)
        return {**cloud.environment, "OS_USERNAME": "placer"}

    def created(role):
        made = identity.create_role(name=role)
        make.after(identity.delete_role, made)
        return made

    return login


def run(variables, *arguments):
    return shell.run(variables, "trait-sched", *arguments)


def test_extra_specs_that_nova_hides_are_not_taken_for_none(make, placer, cloud):
    make.traits(GOLD)
    make.flavor("gold", {f"trait:{GOLD}": "required"})
    # Of all rights in Nova it has none to read extra specs.
    done = run(placer("service"), "explain", "gold", "-", "--nova-release", "2025.2")
    assert (done.code, done.out) == (8, "")
    assert done.err == (
        "Nova hides the extra specs of the flavor 'gold' from this user: it takes a "
        "role that the policy os_compute_api:os-flavor-extra-specs:index names\n"
    )


def test_a_trait_of_its_last_host_is_kept_where_flavors_are_hidden(make, placer):
    make.traits(GOLD, "cmp00")
    make.flavor("open")
    make.flavor("private", {f"trait:{GOLD}": "required"}, is_public=False)
    variables = placer("service", "reader")
    done = run(variables, "remove", GOLD, "--host", "cmp00")
    assert done.code == 5
    unread, refusal = done.err.splitlines()
    assert unread == "Not read, for lack of rights: effects on flavors"
    assert refusal.startswith("Refused: no host would have CUSTOM_GOLD any")


def test_nova_lists_private_flavors_to_administrators_alone(make, cloud):
    make.flavor("open")
    make.flavor("private", is_public=False)
    assert lookup.lists_private_flavors(HttpCloud(cloud.admin()))
    assert not lookup.lists_private_flavors(HttpCloud(cloud.connection_of("demo")))


def test_a_reader_is_told_which_roles_are_not_enough(cloud):
    done = run(cloud.environment_of("reader"), "list")
    assert done.err.endswith(
        "(HTTP 403); this user's roles are not enough: reader (by default it takes "
        "admin)\n"
    )


def test_a_plain_user_gets_what_explain_says_for_the_project(make, cloud):
    demo, raw = cloud.connection_of("demo"), make.image("raw")
    plain, zero = make.flavor("plain"), make.flavor("zero", disk=0)
    group, to_all = make.group("affinity"), ("--project", "demo")
    done = run(cloud.environment, "explain", "zero", "raw", *to_all)
    assert "zero_disk_flavor" in done.out.splitlines()[1]
    assert make.boot(zero, raw, user=demo).http == 403
    words = ("explain", "plain", "raw", *to_all, "--server-group", group)
    assert run(cloud.environment, *words).code == 3
    assert make.boot(plain, raw, user=demo, hints={"group": group}).http == 400
    image, shared = make.admin.image, make.image("shared", visibility="shared")
    member = {"member": demo.current_project_id}
    assert run(cloud.environment, "explain", "plain", shared, *to_all).code == 3
    answer = image.post(f"/images/{shared}/members", json=member)
    assert answer.json()["status"] == "pending"
    assert run(cloud.environment, "explain", "plain", shared, *to_all).code == 0
    boot = make.boot(plain, shared, user=demo)
    assert boot.status == "ACTIVE"
    make.delete(boot)


def test_who_is_logged_in_to_the_system_is_told_to_log_in_to_a_project(cloud):
    variables = {k: v for k, v in cloud.environment.items() if "PROJECT" not in k}
    done = run({**variables, "OS_SYSTEM_SCOPE": "all"}, "list")
    if cloud.release.number <= 27:
        # There it does not matter where an administrator is logged in.
        assert (done.code, done.err) == (0, "")
        assert "cmp03" in done.out
        return
    assert done.err.endswith(
        "(HTTP 403); log in to a project; this login is to the system\n"
    )


def test_a_reader_of_the_system_is_told_that_it_takes_a_role_in_a_project(
    placer, admin
):
    variables = {k: v for k, v in placer("reader").items() if "PROJECT" not in k}
    identity = admin.identity
    user, role = identity.find_user("placer"), identity.find_role("reader")
    # Wallaby's SDK has no call for it.
    assigned = identity.put(f"/system/users/{user.id}/roles/{role.id}")
    assert assigned.status_code == 204, assigned.text
    done = run({**variables, "OS_SYSTEM_SCOPE": "all"}, "list")
    assert done.err.endswith(
        "(HTTP 403); this user's roles in the system are not enough: reader (by "
        "default it takes admin in a project)\n"
    )


def test_what_is_assumed_of_nova_is_shown_to_everybody(cloud):
    done = run(cloud.environment_of("demo"), "config", "show", "-f", "json")
    assert (done.code, done.err) == (0, "")
    assert done.json[0]["option"] == "release"


PRIVATE = "private flavors of other projects"
SERVERS = "servers of other projects"


@pytest.fixture
def furnished(make, policies):
    """A private flavor that requires a trait, a project's aggregate, and servers."""
    make.traits(GOLD, "cmp00", "cmp01")
    plain, raw = make.flavor("plain"), make.image("raw")
    make.flavor("gold", {f"trait:{GOLD}": "required"}, is_public=False)
    make.aggregate("east", "cmp00", filter_tenant_id="0" * 32)
    policies(**printed_policies("reader"))
    large = make.flavor("large", ram=10**8)
    for flavor, name in ((plain, "web"), (large, "failed")):
        make.after(make.delete, make.boot(flavor, raw, name=name))


#: What a reader runs, the exit code, and the reason that is printed.
READS = (
    ("list --by-trait", 0, ""),
    ("aggregate list", 0, ""),
    ("explain plain raw --nova-conf FILE", 0, ""),
    ("candidates plain raw --nova-conf FILE", 0, ""),
    ("capacity plain --nova-conf FILE", 0, ""),
    ("check mirror", 0, ""),
    ("explain gold raw", 8, PRIVATE),
    ("check project", 8, "1 rule needs the list of projects"),
    ("check traits", 8, "private flavors and images of other projects"),
    ("check servers", 8, "2 rules need the servers of all projects"),
    ("check", 7, "Not checked: "),
    ("host show cmp00", 8, SERVERS),
    ("flavor show plain --nova-conf FILE", 8, SERVERS),
    ("image show raw --nova-conf FILE", 8, SERVERS),
    ("zone list --nova-conf FILE", 0, ""),
    (f"trait show {GOLD}", 8, SERVERS),
    ("trait list", 8, "private flavors and images of other projects"),
    ("export", 8, PRIVATE),
    ("server explain web --nova-conf FILE", 0, ""),
    ("server explain theirs", 8, SERVERS),
    ("server explain --failed", 7, SERVERS),
    ("server destinations web", 8, "os-extended-server-attributes"),
    ("server misplaced", 8, "servers:detail:get_all_tenants"),
    ("host drain cmp00", 8, "servers:detail:get_all_tenants"),
    # Its project has this host alone, should an option limit it to its aggregates.
    (f"isolate east {GOLD} --dry-run", 5, SERVERS),
    (f"remove {GOLD} --host cmp00 --dry-run", 8, PRIVATE),
)


def test_a_reader_is_answered_truly_or_told_what_he_may_not_read(furnished, cloud):
    reader = cloud.environment_of("reader")
    for command, code, reason in READS:
        words = command.replace("FILE", str(cloud.nova_conf)).split()
        done = run(reader, *words)
        assert (command, done.code) == (command, code), done.err
        assert reason in done.err
        assert reason or "ot read" not in done.err


def test_a_snapshot_of_a_reader_has_the_answers_that_he_has(furnished, cloud, tmp_path):
    """What could not be read is in it with its reason, and unknown."""
    reader, path = cloud.environment_of("reader"), tmp_path / "cloud.json"
    done = run(reader, "snapshot", "save", str(path))
    assert (done.code, done.out.partition("; ")[2]) == (
        0,
        "not read: compute /os-migrations, compute /servers, identity /domains, "
        "identity /projects\n",
    )
    missing = json.loads(path.read_text("utf-8"))["missing"]
    assert "get_all_tenants" in missing["compute /servers"]["reason"]
    for command, _, _ in READS:
        words = command.replace(" --nova-conf FILE", "").split()
        if words[-1] == "--dry-run":
            continue
        saved = run({}, *words, "--snapshot", str(path))
        if command.startswith(("server explain", "server destinations")):
            # Own servers can be read live; of a snapshot all or none are.
            assert (command, saved.code, saved.out) == (command, 8, "")
            assert "servers:detail:get_all_tenants" in saved.err
            continue
        live = run(reader, *words)
        assert (command, saved.code) == (command, live.code), saved.err
        assert lines(saved.out) == lines(live.out)
        assert saved.err == live.err.replace(*FIRST_STEP)


#: What to do without nova.conf: of a snapshot it can't be saved for later.
FIRST_STEP = (
    "nova.conf unknown; run once: openstack trait-sched config save --nova-conf FILE",
    "nova.conf unknown, the snapshot has none; add --nova-conf FILE",
)


def lines(text):
    """What is printed, but for the line with the name of the snapshot, and times."""
    shown = [each for each in text.splitlines() if "cloud.json" not in each]
    return re.sub(r"(\d+ \w+|less than a minute) ago", "TIME", "\n".join(shown))


def test_what_was_not_checked_is_a_row_for_programs(furnished, cloud):
    found = run(cloud.environment_of("reader"), "check", "project", "-f", "json").json
    (row,) = (each for each in found if each["id"] == "not-checked")
    assert (row["severity"], row["object"]) == ("unknown", "the list of projects")


def test_without_policies_nobody_learns_whether_servers_would_fail_again(
    furnished, cloud, policies
):
    policies()
    reader = cloud.environment_of("reader")
    done = run(reader, "server", "explain", "--failed")
    assert done.code == 8
    assert done.out.splitlines()[0] == (
        "1 server failed; whether they would fail again is unknown: you may not read "
        "Placement (documentation: Read-only access)."
    )
    found = run(reader, "server", "explain", "--failed", "-f", "json").json
    assert [each["has_room"] for each in found["causes"]] == [None]


def test_rights_that_nova_filters_by_are_seen(furnished, cloud, policies):
    """Nova gives a reader all servers, and groups of the own project alone."""
    rights = dict.fromkeys(
        (
            "os_compute_api:servers:detail:get_all_tenants",
            "os_compute_api:os-extended-server-attributes",
        ),
        "rule:context_is_admin or role:reader",
    )
    policies(**printed_policies("reader"), **rights)
    done = run(cloud.environment_of("reader"), "server", "misplaced")
    assert (done.code, "server groups of other projects" in done.err) == (8, True)


def test_an_administrator_is_told_of_nothing_unread(furnished, cloud):
    for command in ("check project", "server misplaced", f"trait show {GOLD}"):
        done = run(cloud.environment, *command.split())
        assert "ot read" not in done.err
    assert done.code == 0


@pytest.fixture
def on_call(make, cloud, admin, policies):
    """A user whose own role has the printed policies."""
    identity = admin.identity
    user = identity.create_user(name="on-call", password=config.PASSWORD)
    make.after(identity.delete_user, user)
    role = identity.create_role(name="oncall")
    make.after(identity.delete_role, role)
    for each in (role, identity.find_role("reader")):
        project = identity.find_project("admin")
        identity.assign_project_role_to_user(project, user, each)
    policies(**printed_policies("oncall"))
    return {**cloud.environment, "OS_USERNAME": "on-call"}


def test_servers_are_scheduled_with_the_printed_policies(make, on_call):
    boot = make.boot(make.flavor("plain"), make.image("raw"))
    make.after(make.delete, boot)
    assert boot.status == "ACTIVE"


def test_the_printed_policies_let_nobody_write(make, on_call, tmp_path):
    make.traits(GOLD, "cmp00")
    make.aggregate("east", "cmp00")
    file = tmp_path / "hosts.yaml"
    file.write_text(f"version: 1\ntraits: {{{GOLD}: {{hosts: [cmp01]}}}}\n")
    for command in (
        ("add", GOLD, "--host", "cmp01"),
        ("isolate", "east", GOLD, "--force"),
        ("apply", str(file)),
    ):
        done = run(on_call, *command)
        assert done.code != 0
        assert "HTTP 403" in done.out + done.err
