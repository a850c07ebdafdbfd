"""The examples in the help of the commands run on a cloud."""

from __future__ import annotations

import shutil

import pytest

from tests import examples, scripts
from tests.cloud.scenario import different_hosts
from tests.services import environment
from tests.services.release import chosen

OWN_FILTERS = environment.REPOSITORY / "examples" / "nova_filters"

#: What one command writes is to be new to the other.
WANTED = "version: 1\ntraits: {{CUSTOM_WANTED: {{hosts: [{}]}}}}\n"

#: Those whose answer is no or unknown; all others end with 0.
CODES = {
    # Without nova.conf a project without an aggregate may be refused.
    **dict.fromkeys(("trait-sched candidates", "trait-sched capacity"), 8),
    "trait-sched explain": 8,
    **dict.fromkeys(("trait-sched host show", "trait-sched flavor show"), 8),
    "trait-sched check": 7,
    "trait-sched config doctor": 8,
    "trait-sched mirror check": 7,
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
