"""A night on call: what an operator types first, and whether the answer fits a screen.

Nova isolates aggregates, and no command is told. Each story is one command; the cause
stands in the first five lines, and the whole answer fits 80x24.
"""

from __future__ import annotations

import dataclasses
import math
import re
import shlex
import shutil

import pytest

from osc_traitsched.commands import base
from tests import examples, scripts
from tests.cloud.cloud import ISOLATION, Cloud
from tests.cloud.factory import factory
from tests.cloud.scenario import different_hosts
from tests.functional import shell
from tests.printed import blocks
from tests.services import environment
from tests.services.release import NEWEST, chosen

#: Pages whose sessions are of this night, and the nova.conf that they save.
PAGES = ("doc/source/start/install.rst",)
NOVA_CONF = "[scheduler]\nenable_isolated_aggregate_filtering = true\n"

FIRST = 5
ROWS, COLUMNS = 24, 80
#: Rows of a refusal, and of a plan with its effects.
REFUSAL, COMPARED = 3, 15
#: Commands that a terminal tells of in so few.
REFUSED = {
    "refused-isolate": "isolate east CUSTOM_SSD --dry-run",
    "refused-remove": "remove CUSTOM_SSD --all --dry-run",
}
#: What differs from run to run.
VARYING = {
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}": "ID",
    r"(\d+ \w+|less than a minute|just now) ago": "TIME ago",
}


@dataclasses.dataclass(frozen=True)
class Story:
    """A command without ``trait-sched``, its exit code, and the cause as a pattern."""

    name: str
    command: str
    code: int
    cause: str


STORIES = (
    Story("trait-on-few-hosts", "explain ssd.medium cirros --count 40", 3, "SSD"),
    Story("flavor-typo", "explain gold.typo cirros", 3, "CUSTOM_GLOD.*CUSTOM_GOLD"),
    Story("member-lacks-trait", "check isolation", 0, "cmp03 lacks CUSTOM_GOLD"),
    Story(
        "full-zone",
        "explain m1.large cirros --availability-zone az-west",
        3,
        "short of RAM.*cmp04",
    ),
    Story("disabled-host", "explain m1.small cirros --host cmp05", 8, "DIMM errors"),
    Story("secure-boot", "explain m1.small uefi", 3, "UEFI_SECURE_BOOT"),
    Story("architecture", "explain m1.small arm", 3, "aarch64"),
    Story("anti-affinity", "server explain db-3", 3, "group anti-affinity"),
    Story("all-failed", "server explain --failed --since 24h", 7, "db-3"),
    Story("drain", "host drain cmp00", 8, "db-2 perhaps can't"),
    Story("tenants", "check project", 0, "acme"),
    Story("needed-trait", "remove CUSTOM_SSD --all --dry-run", 5, "'ssd.medium'"),
    Story("post-deploy", "add CUSTOM_SSD cmp00 cmp01", 0, "Unchanged: cmp00, cmp01"),
    Story("sync", "check mirror", 7, "lacks the host cmp06"),
    Story("misplaced", "server misplaced", 7, "ssd-1"),
    Story("image-alone", "explain --image uefi", 3, "UEFI_SECURE_BOOT"),
    Story("how-many", "explain m1.large cirros --count 40", 8, "room for \\d+ of 40"),
    Story("room", "capacity", 8, "rejected: gold.typo: .*CUSTOM_GLOD"),
    Story("rack", "host drain cmp00 cmp01", 8, "db-1 perhaps can't"),
    Story("trait-used", "trait show CUSTOM_SSD", 0, "ssd-1 \\(cmp07\\)"),
    Story("traits-used", "trait list", 0, "GLOD +on none of 8 hosts, 1 flavor"),
    Story("flavor-large", "flavor show m1.large", 8, "4096 MB.* suitable hosts"),
    Story("flavor-trait", "flavor show ssd.medium", 8, "trait:CUSTOM_SSD=required"),
    Story("flavor-rejected", "flavor show gold.typo", 3, "rejected.*CUSTOM_GOLD"),
    Story("zones", "zone list", 0, "RAM used"),
    Story("host-new", "host show cmp05 --if-enabled", 8, "If enabled, cmp05 may take"),
    Story("host-tenant", "host show cmp06", 8, "acme-hosts \\(project demo"),
    Story("host-disabled", "host show cmp05", 3, "0 of 7.*DIMM errors"),
    Story("host-isolated", "host show cmp02", 8, "gold \\(isolated by CUSTOM_GOLD"),
    Story("settings", "config doctor", 8, "isolation: 1 aggregate"),
)


@pytest.fixture(scope="module")
def night():
    """The cloud of that night: eight computes, three zones, two isolated aggregates."""
    if chosen() != NEWEST:
        pytest.skip("the screens are those of the newest release")
    with (
        Cloud(computes=8, nova_options=(ISOLATION,)) as cloud,
        factory(cloud.admin()) as maker,
    ):
        things_as_they_are(maker)
        yield cloud


def things_as_they_are(maker):
    """
    ===== ======== ============= ==========================================
    host  zone     traits        besides
    ===== ======== ============= ==========================================
    cmp00 az-east  SSD           a server that can move
    cmp01 az-east  SSD
    cmp02 az-east  GOLD          isolated for GOLD
    cmp03 az-east                isolated for GOLD, which it lacks
    cmp04 az-west                full
    cmp05 az-west                disabled for its memory
    cmp06 az-north               kept to a project by its name; Placement lost it
                                 from its zone
    cmp07          SSD           a server of SSD, which has lost its trait
    ===== ======== ============= ==========================================
    """
    maker.traits("CUSTOM_GOLD", "cmp02")
    maker.traits("CUSTOM_SSD", "cmp00", "cmp01", "cmp07")
    cirros = maker.image("cirros")
    maker.image("uefi", hw_firmware_type="uefi", os_secure_boot="required")
    maker.image("arm", hw_architecture="aarch64")
    small = maker.flavor("m1.small")
    maker.flavor("m1.medium", ram=2048)
    maker.flavor("m1.large", ram=4096)
    ssd = maker.flavor("ssd.medium", {"trait:CUSTOM_SSD": "required"}, ram=2048)
    maker.flavor("gold.typo", {"trait:CUSTOM_GLOD": "required"})
    maker.flavor("gold.large", {"trait:CUSTOM_GOLD": "required"}, ram=2048)
    maker.aggregate(
        "east", "cmp00", "cmp01", "cmp02", "cmp03", availability_zone="az-east"
    )
    maker.aggregate("west", "cmp04", "cmp05", availability_zone="az-west")
    north = maker.aggregate("north", "cmp06", availability_zone="az-north")
    maker.aggregate("gold", "cmp02", "cmp03", **{"trait:CUSTOM_GOLD": "required"})
    maker.aggregate("acme-hosts", "cmp06", filter_tenant_id="demo")
    maker.used("cmp04", maker.flavor("most", ram=7168), cirros)
    maker.used("cmp00", small, cirros, name="web-1")
    maker.used("cmp07", ssd, cirros, name="ssd-1")
    maker.takes("CUSTOM_SSD", "cmp07")
    maker.unmirrored("cmp06", north)
    maker.disabled("cmp05", "DIMM errors, TICKET-4711")
    group = maker.group("anti-affinity")
    for name, status in ("db-1", "ACTIVE"), ("db-2", "ACTIVE"), ("db-3", "ERROR"):
        boot = maker.boot(
            small,
            cirros,
            hints={"group": group},
            availability_zone="az-east",
            name=name,
        )
        maker.after(maker.delete, boot)
        assert boot.status == status, boot


@pytest.mark.parametrize("story", STORIES, ids=lambda each: each.name)
def test_the_first_screen_has_the_cause(night, story, golden):
    done = shell.run(night.environment, "trait-sched", *shlex.split(story.command))
    lines = (done.out or done.err).splitlines()
    assert re.search(story.cause, "\n".join(lines[:FIRST])), lines
    assert rows(lines) <= ROWS, lines
    assert done.code == story.code
    golden(f"stories/{story.name}", map(steady, lines))


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_takes_three_rows_of_a_terminal(night, monkeypatch, golden, name):
    monkeypatch.setattr(base.Command, "width", COLUMNS)
    words = shlex.split(REFUSED[name])
    done = shell.run(night.environment, "trait-sched", *words)
    assert done.code == 5, done.out + done.err
    lines = (done.out + done.err).splitlines()
    assert rows(lines) <= REFUSAL
    golden(f"stories/{name}", map(steady, lines))


def test_a_file_of_yesterday_shows_what_changed_on_half_a_screen(
    night, tmp_path, monkeypatch, golden
):
    file = tmp_path / "yesterday.yaml"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(base.Command, "width", COLUMNS)

    def run(*arguments):
        return shell.run(night.environment, "trait-sched", *arguments)

    file.write_text(run("export").out, encoding="utf-8")
    admin = night.admin().compute
    (gold,) = (a for a in admin.aggregates() if a.name == "gold")
    flavors = {"gold.large": "trait:CUSTOM_GOLD", "ssd.medium": "trait:CUSTOM_SSD"}
    with factory(night.admin()) as maker:
        maker.after(run, "apply", file.name, "--force")
        maker.takes("CUSTOM_SSD", "cmp01")
        admin.remove_host_from_aggregate(gold, "cmp02")
        for name, key in flavors.items():
            admin.delete_flavor_extra_specs_property(admin.find_flavor(name), key)
        done = run("plan", file.name)
    lines = (done.out + done.err).splitlines()
    assert rows(lines) <= COMPARED, lines
    changes = [line for line in lines if line[:2] in ("+ ", "- ", "~ ")]
    assert len(changes) == 4, lines
    golden("stories/yesterday", map(steady, lines))
    assert run("plan", file.name, "--exit-code").code == 0


@pytest.mark.parametrize("page", PAGES)
def test_the_session_of_a_page_is_as_printed(night, tmp_path, page):
    (tmp_path / "nova.conf").write_text(NOVA_CONF, encoding="utf-8")
    home = tmp_path / ".config"
    variables = {**night.environment, "XDG_CONFIG_HOME": str(home)}
    session = list(blocks(page))
    for block in session:
        done = scripts.type_in(tmp_path, block.command, variables)
        # The login here is in variables, and the page's in clouds.yaml.
        found = done.out.replace(str(home), "~/.config")
        found = found.replace("default.yaml", "mycloud.yaml")
        differing = block.differs_from(found.replace(str(tmp_path), "/home/you"))
        assert not differing, done.out + done.err
    assert session


def rows(lines):
    """How many rows of a terminal some lines take."""
    return sum(max(1, math.ceil(len(line) / COLUMNS)) for line in lines)


def steady(line):
    """A line without what differs from run to run."""
    for pattern, name in VARYING.items():
        line = re.sub(pattern, name, line)
    return line


# The examples in the help of the commands run on a cloud.


OWN_FILTERS = environment.REPOSITORY / "examples" / "nova_filters"

#: Examples name what the sample cloud has, and this is what the scenario has instead.
NAMES = {
    "remove CUSTOM_SSD cmp00": "remove CUSTOM_COMMON cmp02",
    "trait show CUSTOM_WINDOWS": "trait show CUSTOM_GOLD",
    "'ssh ctl1 sudo docker exec -i nova_scheduler python3'": '"$NOVA_PYTHON"',
    "CUSTOM_SSD": "CUSTOM_COMMON",
    "CUSTOM_FLASH": "CUSTOM_ALL",
    "CUSTOM_NVME": "CUSTOM_GOLD",
    "CUSTOM_WINDOWS": "CUSTOM_SILVER",
    "win.medium": "silver",
    "windows": "silver",
    "ssd.medium": "gold",
    "m1.large": "gold",
    "ubuntu-24.04": "raw",
    "db-2": "web-3",
}

#: What one command writes is to be new to the other.
WANTED = "version: 1\ntraits: {{CUSTOM_WANTED: {{hosts: [{}]}}}}\n"

#: Those whose answer is no or unknown; all others end with 0.
CODES = {
    # Without nova.conf a project without an aggregate may be refused.
    **dict.fromkeys(("trait-sched candidates", "trait-sched capacity"), 8),
    "trait-sched explain": 8,
    **dict.fromkeys(("trait-sched host show", "trait-sched flavor show"), 8),
    "trait-sched image show": 8,
    "trait-sched check": 7,
    "trait-sched config doctor": 8,
    "trait-sched check mirror": 7,
    "trait-sched server explain": 3,
    # The server of cmp01 fits no other host: some are isolated, or of other projects.
    "trait-sched host drain": 8,
    # Whether a zone was asked for is not known of servers of older releases.
    "trait-sched server misplaced": 0 if chosen().shows_zones else 8,
}


@pytest.fixture(scope="module")
def scenario(prefiltering):
    with different_hosts(prefiltering) as scenario:
        maker, flavor = scenario.maker, scenario.flavors["nobody"]
        boot = maker.boot(flavor, scenario.images["raw"], name="web-3")
        maker.after(maker.delete, boot)
        maker.traits("CUSTOM_WANTED")
        small = scenario.flavors["small"]
        there = maker.boot(small, scenario.images["raw"], name="web-1")
        maker.after(maker.delete, there)
        yield scenario


@pytest.mark.parametrize("verb", examples.verbs())
def test_an_example_does_what_it_is_for(scenario, tmp_path, verb):
    # The scenario has a flavor that forbids the trait of the example.
    force = " --force" if verb == "trait-sched add" else ""
    text = f"{examples.example(verb)}{force}\n"
    for named, there in NAMES.items():
        text = text.replace(named, there)
    variables = {
        **scenario.cloud.environment,
        "NOVA_PYTHON": str(scenario.cloud.release.python()),
    }
    shutil.copytree(OWN_FILTERS, tmp_path, dirs_exist_ok=True)
    host = "cmp05" if verb.endswith(" apply") else "cmp04"
    (tmp_path / "desired.yaml").write_text(WANTED.format(host), encoding="utf-8")
    if verb.endswith(" diff"):
        save = "openstack trait-sched snapshot save yesterday.json.gz\n"
        assert scripts.type_in(tmp_path, save, variables).code == 0
    done = scripts.type_in(tmp_path, text, variables)
    assert done.code == CODES.get(verb, 0), done.out + done.err
    # What is as it should be is one line.
    well = (
        *("on a host the scheduler would still choose", "nothing to change"),
        *("no changes", "Saved"),
    )
    is_well = any(each in done.out for each in well)
    assert len(done.out.splitlines()) > 1 or is_well, done.out
    assert "usage:" not in done.err
