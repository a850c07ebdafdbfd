"""Servers that Nova fails for one cause after another, and what is said of each."""

from __future__ import annotations

import dataclasses
import json

import prettytable
import pytest

from osc_traitsched.app import server
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud.connection import HttpCloud
from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.core.servers.state import Name, Source
from tests.cloud import logs
from tests.cloud.cloud import Cloud
from tests.cloud.conftest import PREFILTERS
from tests.cloud.factory import factory
from tests.functional import shell
from tests.schemas import closed
from tests.services.release import chosen

GOLD = "CUSTOM_GOLD"
#: No filter of these knows server groups, and one raises for what it does not know.
FILTERS = "ComputeFilter,ImagePropertiesFilter,JsonFilter"
LIVE = {"os-migrateLive": {"host": None, "block_migration": "auto"}}


@pytest.fixture(scope="module")
def failing():
    """A cloud of four computes without the filters of server groups."""
    options = (*PREFILTERS, f"filter_scheduler.enabled_filters={FILTERS}")
    with Cloud(computes=4, nova_options=options) as cloud:
        yield cloud


@pytest.fixture(scope="module")
def admin(failing):
    return failing.admin()


@pytest.fixture(scope="module")
def lasting(admin):
    """Makes what all tests of this module share."""
    with factory(admin) as maker:
        yield maker


@pytest.fixture(scope="module")
def small(lasting):
    return lasting.flavor("small")


@pytest.fixture(scope="module")
def raw(lasting):
    return lasting.image("raw")


@pytest.fixture
def make(admin):
    """Makes what one test needs."""
    with factory(admin) as maker:
        yield maker


@pytest.fixture(scope="module")
def explained(failing):
    """Explains a server, with the file that the scheduler runs with."""

    def run(server, *options, code=None, fmt="json"):
        file = str(failing.nova_conf)
        asked = ("trait-sched", "server", "explain", server, *options)
        asked = (*asked, "--nova-conf", file, "-f", fmt)
        done = shell.run(failing.environment, *asked)
        assert done.err == ""
        if fmt != "json":
            return done.out
        closed("server explain").validate(done.json)
        assert code is None or done.code == code
        return done.json

    return run


@dataclasses.dataclass(frozen=True)
class Row:
    """A cause, what Nova shows of it, and what is said."""

    cause: str
    status: str
    nova: str
    summary: str


@pytest.fixture(scope="module")
def table(request):
    """Gathers a row of each cause, and prints them all."""
    rows: list[Row] = []
    yield rows
    shown = prettytable.PrettyTable(["cause", "status", "Nova's words", "said"])
    shown.align = "l"
    shown.max_width = 60
    for row in rows:
        shown.add_row(dataclasses.astuple(row))
    reporter = request.config.pluginmanager.getplugin("terminalreporter")
    reporter.write_line(f"\n{shown.get_string()}")


@pytest.fixture
def told(explained, table, request):
    """Explains a server that has failed, and keeps the row."""

    def run(server, *options, **expected):
        found = explained(server, *options, **expected)
        failure = found["failure"]
        cause = request.node.name.replace("test_", "").replace("_", " ")
        status = found["server"]["status"]
        table.append(Row(cause, status, failure["text"], found["summary"]))
        return found

    return run


def kept(maker, boot):
    """Delete a server at the end, and return its ID."""
    maker.after(maker.delete, boot)
    return boot.server


def not_shown(hints=(), availability_zone=None):
    """Return the options for what was asked that the compute API does not show."""
    options = []
    if availability_zone and not chosen().shows_zones:
        options += ["--availability-zone", availability_zone]
    if not chosen().shows_hints:
        for key, value in dict(hints).items():
            options += ["--hint", f"{key}={value}"]
    return options


# Builds


def test_a_trait_that_no_host_has(make, told, raw):
    make.traits(GOLD)
    boot = make.boot(make.flavor("gold", {f"trait:{GOLD}": "required"}), raw)
    found = told(kept(make, boot), code=3)
    assert found["failure"]["stage"] == "no allocation candidates"
    assert found["failure"]["text"] == "No valid host was found."
    assert (found["failure"]["from"], found["failure"]["attempts"]) == ("fault", [])
    assert found["failure"]["action"] == "create"
    assert found["now"]["conflicts"] == [[f"required:{GOLD}"]]
    assert found["summary"].endswith(" It would fail again.")


def test_a_trait_given_since_is_not_known_as_the_cause(make, told, explained, raw):
    make.traits(GOLD)
    boot = make.boot(make.flavor("gold", {f"trait:{GOLD}": "required"}), raw)
    make.gives(GOLD, "cmp03")
    server = kept(make, boot)
    found = told(server, code=8)
    assert found["now"]["candidates"] == ["cmp03"]
    assert found["summary"].endswith(" may take it; why it failed is not known.")
    _, second, *_ = explained(server, fmt="text").splitlines()
    assert second.startswith("Cause unknown: fixed since (traits, ")


def test_filters_take_all(make, told, small, raw):
    query = json.dumps(["=", "$host", "nowhere"])
    hints = {"query": query}
    boot = make.boot(small, raw, hints=hints)
    found = told(kept(make, boot), *not_shown(hints), code=3)
    assert found["failure"]["stage"] == "no host left"
    assert found["now"]["request"]["hints"] == [{"hint": "query", "values": [query]}]
    assert found["now"]["conflicts"] == [["JsonFilter"]]


def test_a_filter_raises(make, told, small, raw):
    hints = {"query": json.dumps(["~", "$host", "x"])}
    boot = make.boot(small, raw, hints=hints)
    found = told(kept(make, boot), *not_shown(hints), code=3)
    assert found["failure"]["stage"] == "service failed"
    assert found["now"]["verdict"] == "rejected"


def test_the_named_host_is_full(make, told, small, raw):
    make.used("cmp01", make.flavor("most", ram=7680), raw)
    boot = make.boot(small, raw, availability_zone="nova:cmp01")
    server = kept(make, boot)
    found = told(server, code=8)
    assert found["failure"]["stage"] == "no allocation candidates"
    assert found["summary"].endswith(" may take it; why it failed is not known.")
    host = part(found, "named host")
    assert (host["known"], host["option"]) == (False, "--availability-zone")
    said = told(server, "--availability-zone", "nova:cmp01", code=3)
    assert said["now"]["total_hosts"] == 1


def test_every_attempt_fails(make, told, small, raw):
    boot = make.boot(small, raw, metadata={"fails": "spawn"})
    found = told(kept(make, boot), code=8)
    assert found["summary"].endswith(" may take it, unless it fails like that again.")
    assert found["failure"]["stage"] == "retries exhausted"
    assert len(set(found["failure"]["attempts"])) == 3
    assert "made to fail" in found["failure"]["text"]
    # Nova calls each of them a success.
    assert found["failure"]["failed_steps"] == []


def test_nova_compute_gives_up(make, told, small, raw):
    boot = make.boot(small, raw, metadata={"fails": "abort"})
    found = told(kept(make, boot), code=8)
    assert found["failure"]["stage"] == "compute failed"
    (host,) = found["failure"]["attempts"]
    assert f"nova-compute failed on {host}" in found["summary"]


def test_the_policy_of_the_group_is_refused(make, told, small, raw):
    group = make.group("anti-affinity")
    boot = make.boot(small, raw, hints={"group": group})
    found = told(kept(make, boot), code=3)
    assert found["failure"]["stage"] == "rejected"
    assert found["now"]["rejection"]["exception"] == "UnsupportedPolicyException"
    assert part(found, "server group")["value"] == group


def test_the_hosts_of_the_zone_are_disabled(make, told, small, raw):
    make.aggregate("east", "cmp02", "cmp03", availability_zone="east")
    make.disabled("cmp02", "disk")
    boot = make.boot(small, raw, availability_zone="east", name="first")
    assert kept(make, boot)
    assert boot.status == "ACTIVE"
    make.disabled("cmp03", "")
    body = make.acts(boot, {"migrate": None})
    assert body["status"] == "ACTIVE"
    zone = not_shown(availability_zone="east")
    found = told(boot.server, *zone, code=3)
    assert found["failure"]["stage"] == "reason not kept"
    assert part(found, "availability zone")["value"] == "east"
    failing = {host["host"]: host["failing"] for host in found["now"]["hosts"]}
    disabled = "root_required:!COMPUTE_STATUS_DISABLED"
    assert failing["cmp02"] == [disabled]
    # The migration that failed is judged, which leaves the server's own host out.
    assert failing["cmp03"] == [disabled, "move:source"]


def part(found, name):
    (each,) = (each for each in found["request"] if each["part"] == name)
    return each


# Moves of servers that stay as they were


def test_a_resize_without_a_host(make, told, small, raw):
    make.traits(GOLD)
    gold = make.flavor("gold", {f"trait:{GOLD}": "required"})
    boot = make.boot(small, raw)
    server = kept(make, boot)
    body = make.acts(boot, {"resize": {"flavorRef": gold.id}})
    assert (body["status"], "fault" in body) == ("ACTIVE", False)
    found = told(server, code=8)
    assert found["summary"].endswith(" Nova does not record the new flavor.")
    assert found["failure"]["stage"] == "reason not kept"
    assert found["failure"]["from"] == "step"
    assert found["failure"]["action"] == "resize"
    assert found["moves"][0]["status"] == "error"


@pytest.fixture(scope="module")
def of_nova(failing, tmp_path_factory):
    """Explains with what Nova's database has of requests."""
    home = {"XDG_CONFIG_HOME": str(tmp_path_factory.mktemp("home"))}
    variables = {**failing.environment, **home}
    python = f"env HOME={failing.state} {failing.release.python()}"
    saved = shell.run(
        variables, "trait-sched", "config", "save", "--nova-python", python
    )
    assert saved.code == 0, saved.err

    def run(*words, code):
        done = shell.run(variables, "trait-sched", *words)
        assert (done.code, done.err) == (code, "")
        return done

    return run


def test_novas_record_has_what_the_compute_api_does_not_show(
    make, of_nova, small, raw, tmp_path
):
    make.traits(GOLD)
    gold = make.flavor("gold", {f"trait:{GOLD}": "required"})
    moved = make.boot(small, raw)
    resized = kept(make, moved)
    make.acts(moved, {"resize": {"flavorRef": gold.id}})
    make.used("cmp01", make.flavor("most", ram=7680), raw)
    lost = kept(make, make.boot(small, raw, availability_zone="nova:cmp01"))
    path = str(tmp_path / "cloud.json")
    of_nova("snapshot", "save", path, code=0)
    for saved in (), ("--snapshot", path):
        options = ("-f", "json", *saved)
        said = of_nova("server", "explain", resized, *options, code=3).json
        assert said["summary"].startswith(f"{said['server']['name']}: resize to gold ")
        assert said["summary"].endswith(" It would fail again.")
        said = of_nova("server", "explain", lost, *options, code=3).json
        assert part(said, "named host")["value"] == "cmp01"
        assert said["now"]["total_hosts"] == 1
        closed("server explain").validate(said)
        failed = of_nova("server", "explain", "--failed", *options, code=7).json
        assert {each["has_room"] for each in failed["causes"]} == {False}


def test_a_live_migration_whose_checks_fail(make, told, small, raw):
    boot = make.boot(small, raw, metadata={"fails": "move"})
    server = kept(make, boot)
    body = make.acts(boot, LIVE)
    assert (body["status"], "fault" in body) == ("ACTIVE", False)
    found = told(server, code=8)
    failure = found["failure"]
    assert (failure["stage"], failure["action"]) == ("checks failed", "live-migration")
    assert len(set(failure["attempts"])) == 3
    (check,) = (each for each in failure["failed_steps"] if "check" in each["step"])
    assert check["host"] == failure["attempts"][-1]
    assert check["text"] == "Migration pre-check error: made to stay"


def test_a_live_migration_without_a_host(make, told, raw):
    make.traits(GOLD, "cmp00")
    gold = make.flavor("gold", {f"trait:{GOLD}": "required"})
    boot = make.boot(gold, raw)
    server = kept(make, boot)
    make.acts(boot, LIVE)
    found = told(server, code=3)
    assert found["summary"].endswith(" It would fail again.")
    assert found["now"]["candidates"] == []
    assert found["failure"]["stage"] == "no host left"
    assert found["server"]["host"] == "cmp00"


def test_an_unshelving_without_a_host(make, told, raw):
    make.traits(GOLD, "cmp00")
    gold = make.flavor("gold", {f"trait:{GOLD}": "required"})
    boot = make.boot(gold, raw)
    server = kept(make, boot)
    assert make.acts(boot, {"shelve": None})["status"] == "SHELVED_OFFLOADED"
    make.takes(GOLD, "cmp00")
    body = make.acts(boot, {"unshelve": None})
    assert (body["status"], "fault" in body) == ("SHELVED_OFFLOADED", False)
    found = told(server, code=3)
    assert found["failure"]["stage"] == "no allocation candidates"
    assert found["failure"]["action"] == "unshelve"
    assert found["now"]["conflicts"] == [[f"required:{GOLD}"]]


def test_a_rebuild_with_an_image_that_its_host_is_not_for(make, told, small, raw):
    make.traits(GOLD)
    image = make.image("of-gold", **{f"trait:{GOLD}": "required"})
    boot = make.boot(small, raw)
    server = kept(make, boot)
    body = make.acts(boot, {"rebuild": {"imageRef": image}})
    assert body["status"] == "ERROR"
    found = told(server, code=8)
    assert found["failure"]["stage"] == "rejected"
    assert found["failure"]["action"] == "rebuild"


# The request that is put together again


BOOTS = (
    ("small", "raw", {}, {}),
    ("gold", "raw", {}, {}),
    ("gold", "of-silver", {}, {}),
    ("small", "raw", {}, {"availability_zone": "east"}),
    ("gold", "of-silver", {"query": '["=", "$host", "x"]'}, {}),
    ("gold", "raw", {"same_host": "bad0e7de-0000-4000-8000-000000000000"}, {}),
    ("groups", "raw", {}, {"availability_zone": "east"}),
    ("small", "video", {}, {}),
)


def test_it_asks_placement_what_nova_asked(make, failing, explained, small, raw):
    make.traits(GOLD)
    make.traits("CUSTOM_SILVER")
    make.aggregate("east", "cmp02", "cmp03", availability_zone="east")
    make.aggregate("golden", "cmp03", **{f"trait:{GOLD}": "required"})
    spread = {"resources1:VCPU": "1", f"trait1:{GOLD}": "required"}
    flavors = {
        "small": small,
        "gold": make.flavor("gold", {f"trait:{GOLD}": "required"}),
        "groups": make.flavor("groups", spread),
    }
    images = {
        "raw": raw,
        "of-silver": make.image("of-silver", **{"trait:CUSTOM_SILVER": "required"}),
        "video": make.image("video", hw_video_model="virtio", os_distro="x"),
    }
    for flavor, image, hints, more in BOOTS:
        boot = make.boot(flavors[flavor], images[image], hints=hints, **more)
        server = kept(make, boot)
        now = explained(server, *not_shown(hints, **more), "--no-fixes")["now"]
        assert [now["query"]] == logs.queries(failing, boot.request), (flavor, image)


def test_flavor_and_image_may_be_gone(make, failing, explained, admin):
    make.traits(GOLD)
    with factory(admin) as meanwhile:
        flavor = meanwhile.flavor("gold", {f"trait:{GOLD}": "required"})
        boot = meanwhile.boot(flavor, meanwhile.image("gone", hw_video_model="virtio"))
    server = kept(make, boot)
    found = explained(server, code=3)
    assert found["flavor_changed"]
    assert part(found, "image")["source"] == "gone"
    given = ["--image-property", "disk_format=raw"]
    if failing.release.shows_hints:
        assert part(found, "image properties")["source"] == "server"
    else:
        assert part(found, "image properties")["source"] == "gone"
        given += ["--image-property", "hw_video_model=virtio"]
    assert not part(found, "image traits and format")["known"]
    said = explained(server, *given, "--no-fixes")
    assert [said["now"]["query"]] == logs.queries(failing, boot.request)


def test_a_change_of_the_flavor_does_not_help_a_server_with_a_copy_of_it(
    make, explained, admin, raw
):
    with factory(admin) as meanwhile:
        flavor = meanwhile.flavor("huge", ram=16384)
        server = kept(make, make.boot(flavor, raw))
        is_there = explained(server, code=3)["now"]["fixes"]
    is_gone = explained(server, code=3)["now"]["fixes"]
    assert {fix["target"] for fix in is_there} == {"request"}
    assert is_gone == []


class Older(HttpCloud):
    """The cloud as if its compute API were Train's."""

    compute_maximum = "2.79"


def test_trains_compute_api_shows_what_the_request_of_a_failed_build_was(
    make, failing, admin, raw
):
    make.traits(GOLD)
    make.aggregate("east", "cmp02", "cmp03", availability_zone="east")
    gold = make.flavor("gold", {f"trait:{GOLD}": "required"})
    boot = make.boot(gold, raw, availability_zone="east")
    cloud, given = Older(admin), ServerSpec()
    found = server.read_server(cloud, kept(make, boot), given)
    sources = {each.name: each.source for each in found.parts}
    assert sources[Name.ZONE] is sources[Name.GROUP] is Source.SERVER
    assert sources[Name.HINTS] is Source.NOT_SHOWN
    assert sources[Name.PROPERTIES] is Source.NOW
    settings = SettingsSources(
        nova_conf=(str(failing.nova_conf),), nova_release=failing.release.number
    )
    question, _ = server.question_of(cloud, found, settings)
    assert question.spec.zone == "east"
    assert [question.request().query()] == logs.queries(failing, boot.request)


# Who asks


def test_who_is_no_administrator_is_told_why_the_own_server_failed(
    make, failing, small, raw
):
    make.traits(GOLD)
    gold = make.flavor("gold", {f"trait:{GOLD}": "required"})
    own = make.boot(gold, raw, failing.connection_of("demo"), name="mine")
    other = make.boot(gold, raw, name="theirs")
    for boot in (own, other):
        kept(make, boot)
    variables = failing.environment_of("demo")
    asked = ("trait-sched", "server", "explain")
    done = shell.run(variables, *asked, "mine", "-f", "json")
    closed("server explain").validate(json.loads(done.out))
    found = json.loads(done.out)
    assert (done.code, found["now"]) == (8, None)
    assert found["failure"]["stage"] == "no allocation candidates"
    assert found["changes"]["unread"] == ["services", "servers", "migrations"]
    assert found["problem"] == done.err.strip()
    for name in ("theirs", other.server):
        done = shell.run(variables, *asked, name)
        assert (done.code, done.out) == (8, "")
        assert done.err == (
            "Not read, for lack of rights: servers of other projects\n"
            f"no server matches '{name}': it does not exist, or was deleted\n"
        )


def test_a_name_of_several_servers_is_told_with_their_ids(make, failing, small, raw):
    boots = [make.boot(small, raw, name="twin") for _ in range(2)]
    for boot in boots:
        kept(make, boot)
    done = shell.run(failing.environment, "trait-sched", "server", "explain", "twin")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("2 servers are named 'twin'; name one by its ID: ")
    assert all(boot.server in done.err for boot in boots)
