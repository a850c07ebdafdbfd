"""Jobs and commands on the pages for automation and deployment tools."""

from __future__ import annotations

import argparse
import re
import shlex
import textwrap
from collections.abc import Iterator

import pytest
import yaml

from tests import examples
from tests.services.environment import REPOSITORY

SOURCE = REPOSITORY / "doc" / "source"
PAGES = sorted(
    page for name in ("automate", "deployments") for page in (SOURCE / name).glob("*")
)
_BLOCK = re.compile(
    r"^( *)\.\. (?:code-block|session)::(.*)\n(?:\1   :.*\n)*\n((?:\1   .*\n|\n)+)",
    re.M,
)
_OPTIONS = r"(?:-\S+(?:[= ](?!-|trait-sched)\S+)? )*"
_COMMAND = re.compile(rf"\bopenstack {_OPTIONS}trait-sched (.*)")
#: What ends the words of a command in a shell.
_END = re.compile(r"\s(?:\d?[|<>&]|;)|\)(?:\s|$)")
VERBS = [verb.removeprefix("trait-sched ") for verb in examples.verbs()]


def blocks(page, language=".*"):
    """The blocks of code of a page, without their indentation."""
    for block in _BLOCK.finditer(page.read_text("utf-8")):
        if re.fullmatch(language, block[2].strip()):
            yield textwrap.dedent(block[3])


def commands(page) -> Iterator[list[str]]:
    """The words behind ``trait-sched`` of each command of a page."""
    for block in blocks(page):
        for found in _COMMAND.finditer(re.sub(r"\\\n\s*", "", block)):
            words = shlex.split(_END.split(found[1])[0])
            if "$@" not in words:
                yield words


@pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}"
)
def test_every_block_of_yaml_is_yaml_and_every_command_takes_its_words(page):
    for block in blocks(page, "yaml"):
        assert isinstance(yaml.safe_load(block), (dict, list)), block
    for words in commands(page):
        verb = max(
            (verb for verb in VERBS if words[: len(verb.split())] == verb.split()),
            key=len,
        )
        parser = examples.command(f"trait-sched {verb}")(
            argparse.Namespace(command_manager=argparse.Namespace(namespace="none")),
            argparse.Namespace(),
        ).get_parser("it")
        parser.parse_args(words[len(verb.split()) :])


def test_the_page_on_pipelines_has_a_job_for_each_tool():
    page = SOURCE / "automate" / "ci.rst"
    whole = [yaml.safe_load(block) for block in blocks(page, "yaml")]
    assert len(whole) == 4
    text = "\n".join(blocks(page, "yaml"))
    assert text.count("plan desired --exit-code -f json > plan.json") == 3
    assert sum(words[0] == "explain" for words in commands(page)) == 2
