"""What the documentation prints is what a cloud answers."""

from __future__ import annotations

import contextlib
import datetime
import re

import pytest

from osc_traitsched.app import snapshot
from tests import scripts
from tests.cloud.factory import factory
from tests.cloud.printed import before_changes, blocks, changes, scene_of
from tests.services.release import NEWEST

PAGES = (
    "doc/source/troubleshoot/flavor.rst",
    "doc/source/reference/host-filters.rst",
    "doc/source/reference/weighers.rst",
    "doc/source/reference/prefilters.rst",
)
VERBS = ("explain", "candidates")
#: What an answer of an older release does not have.
OF_THE_NEWEST = re.compile(r"2026\.2|OWNER_NOVA")
WHY = "doc/source/troubleshoot/flavor.rst"
MOVES = "doc/source/operate/drain.rst"
CAPACITY = "doc/source/operate/capacity.rst"
CHECKS = "doc/source/reference/checks.rst"
CHANGED = "doc/source/troubleshoot/changed.rst"
#: The first Nova whose answer is as printed, where older ones lack what it is about.
SINCE = {
    # Until Wallaby zones are a filter's by default, and not in the query.
    f"{WHY} Frequent causes explain 2": 24,
    "doc/source/reference/prefilters.rst Availability zones explain 1": 24,
    # The compute API shows a server's hints, and the properties of its image.
    f"{WHY} A server in ERROR server 1": 31,
}
#: What takes a Cinder: network/test_volumes.py compares it.
WITH_CINDER = " --volume "
#: test_stories.py compares --failed, on a cloud of its own.
FAILED = [b for b in blocks(WHY, "server explain") if " --failed" not in b.command]
#: Those of one scene come one after another: it is made once.
PRINTED = [
    *sorted(
        (
            *(
                block
                for page in PAGES
                for verb in VERBS
                for block in blocks(page, verb)
                if WITH_CINDER not in block.command
            ),
            *FAILED,
            *blocks(MOVES, "server misplaced"),
            *blocks(MOVES, "host drain"),
            *blocks(CAPACITY, "capacity"),
            *blocks(CHECKS, "check"),
        ),
        key=lambda block: scene_of(block).__name__,
    ),
]


def name_of(block):
    verb = block.command.split()[2]
    return f"{block.page} {block.scene} {verb} {block.number}"


def marked(block):
    return pytest.param(block, marks=[pytest.mark.short] if block in FAILED else [])


@pytest.fixture(scope="module")
def stage(admin):
    """Has a scene on the cloud, instead of the one before."""
    there = []
    with contextlib.ExitStack() as made:

        def show(scene):
            if there != [scene]:
                made.close()
                there[:] = [scene]
                scene(made.enter_context(factory(admin)))

        yield show


def test_what_changed_since_yesterday_is_as_printed(cloud, admin, tmp_path):
    if cloud.release != NEWEST:
        pytest.skip("the snapshots are those of the newest release")

    def typed(command):
        return scripts.type_in(tmp_path, command, cloud.environment)

    with factory(admin) as make:
        before_changes(make)
        assert typed("openstack trait-sched snapshot save yesterday.json.gz").code == 0
        of_yesterday(str(tmp_path / "yesterday.json.gz"))
        changes(make)
        session = list(blocks(CHANGED))
        for block in session:
            done = typed(block.command)
            assert not block.differs_from(done.out), done.out + done.err
    assert len(session) == 2


def of_yesterday(path):
    """Date a snapshot back to the night before."""
    day = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=1)
    saved = snapshot.read(path).document
    snapshot.write(path, {**saved, "time": f"{day:%Y-%m-%d}T02:00:04Z"})


@pytest.mark.parametrize("block", map(marked, PRINTED), ids=name_of)
def test_an_answer_is_as_printed(cloud, stage, tmp_path, block):
    since = SINCE.get(name_of(block), 0)
    if cloud.release.number < since:
        pytest.skip(f"{cloud.release.name} lacks what Nova has from {since} on")
    stage(scene_of(block))
    done = scripts.type_in(tmp_path, block.command, cloud.environment)
    differing = block.differs_from(done.out)
    if cloud.release.number < NEWEST.number and OF_THE_NEWEST.search(
        "\n".join(block.output)
    ):
        assert OF_THE_NEWEST.search(differing), done.out + done.err
    else:
        assert not differing, done.out + done.err


def test_every_page_has_blocks_with_output():
    assert {block.page for block in PRINTED} == {
        *PAGES,
        MOVES,
        CAPACITY,
        CHECKS,
    }
    assert len(PRINTED) >= 10
    assert {name_of(block) for block in PRINTED} >= SINCE.keys()
