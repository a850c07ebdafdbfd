"""What the documentation prints is what a cloud answers."""

from __future__ import annotations

import contextlib
import re
import shutil

import pytest

from tests import scripts
from tests.cloud.factory import factory
from tests.cloud.printed import blocks, scene_of
from tests.services.environment import REPOSITORY
from tests.services.release import NEWEST

PAGES = ("doc/source/reference/json.rst",)
VERBS = ("explain", "candidates")
#: What an answer of an older release does not have.
OF_THE_NEWEST = re.compile(r"2026\.2|OWNER_NOVA")
WANTED = "doc/source/automate/files.rst"
#: Those of one scene come one after another: it is made once.
PRINTED = [
    *sorted(
        (
            *(
                block
                for page in PAGES
                for verb in VERBS
                for block in blocks(page, verb)
            ),
            *blocks(WANTED, "plan"),
        ),
        key=lambda block: scene_of(block).__name__,
    ),
]


def name_of(block):
    verb = block.command.split()[2]
    return f"{block.page} {block.scene} {verb} {block.number}"


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


@pytest.mark.parametrize("block", PRINTED, ids=name_of)
def test_an_answer_is_as_printed(cloud, stage, tmp_path, block):
    files = REPOSITORY / "examples/desired"
    shutil.copy(files / "pinned.yaml", tmp_path / "desired.yaml")
    shutil.copy(files / "reserved.yaml", tmp_path)
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
        WANTED,
    }
