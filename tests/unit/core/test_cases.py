"""Named cases, against Placement's and Nova's answers, and bombs that users write."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osc_traitsched.core.inventory.snapshot import Provider, Snapshot
from osc_traitsched.core.inventory.trait import Collation
from osc_traitsched.core.nova import properties
from osc_traitsched.core.nova.clause import MemberOf
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.prefilter import PREFILTERS
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.weighers import WEIGHERS
from osc_traitsched.core.placement.facts import Amount, Facts, Stock
from osc_traitsched.core.placement.matcher import amounts
from osc_traitsched.core.releases import NEWEST, OLDEST, RELEASES
from tests.cases.reading import Case, cases
from tests.fidelity import large, letters, ours, recorded, rules, with_parts
from tests.fidelity.scheduling import comparing, traps
from tests.fidelity.scheduling import recorded as scheduling_recorded
from tests.fidelity.values import CHECKED, SHAPING
from tests.property.building import identity
from tests.property.clouds import SHARING, Inventory, Node
from tests.services.environment import REPOSITORY

# Each named case has its verdict; Placement itself is asked in tests/property.


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_the_verdict_on_a_named_case(case):
    request = case.question.request()
    assert case.said(request, facts(case, request)) == case.expected


def test_every_case_has_a_sentence_of_its_own():
    names = [case.name for case in cases()]
    assert len(set(names)) == len(names) >= 12


def facts(case: Case, request: Request) -> Facts:
    """Return what Placement would say of a case's cloud, as far as that is simple."""
    asked = [each for each in (request, request.fallback) if each]
    candidates = frozenset(map(identity, case.expected["candidates"]))
    return dataclasses.replace(facts_of(case.cloud, asked), candidates=candidates)


def facts_of(cloud: Mapping[str, Node], requests: Iterable[Request]) -> Facts:
    """Return what Placement would say of trees, by the names of their roots."""
    found = dict(_flat(cloud))
    nodes = {provider.uuid: node for provider, node in found.items()}
    clauses = [clause for each in requests for clause in each.clauses]
    sharing = frozenset(uuid for uuid in nodes if SHARING in nodes[uuid].traits)
    return Facts(
        snapshot=Snapshot(tuple(found), sharing),
        traits={uuid: node.traits for uuid, node in nodes.items()},
        offers={
            amount: frozenset(uuid for uuid in nodes if _gives(nodes[uuid], amount))
            for amount in amounts(clauses)
        },
        members={
            clause.aggregates: _members(nodes, clause.aggregates)
            for clause in clauses
            if isinstance(clause, MemberOf)
        },
        shared={uuid: _members(nodes, nodes[uuid].aggregates) for uuid in sharing},
        stock={uuid: dict(_stock(node)) for uuid, node in nodes.items()},
        candidates=frozenset(),
        limits=_limits(nodes),
    )


def _flat(
    cloud: Mapping[str, Node], root: str = "", parent: str | None = None
) -> Iterator[tuple[Provider, Node]]:
    for name, node in cloud.items():
        uuid = identity(name)
        yield Provider(uuid, name, 1, root or uuid, parent), node
        children = {f"{name}-{n}": child for n, child in enumerate(node.children)}
        yield from _flat(children, root or uuid, uuid)


def _members(nodes: Mapping[str, Node], aggregates: frozenset[str]) -> frozenset[str]:
    return frozenset(uuid for uuid in nodes if nodes[uuid].aggregates & aggregates)


def _gives(node: Node, asked: Amount) -> bool:
    name, amount = asked
    inventory = node.inventories.get(name)
    return (
        inventory is not None
        and amount <= _capacity(inventory) - inventory.used
        and inventory.min_unit <= amount <= inventory.max_unit
        and amount % inventory.step_size == 0
    )


def _limits(nodes: Mapping[str, Node]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for uuid, node in nodes.items():
        for name, each in node.inventories.items():
            most = min(_capacity(each) - each.used, each.max_unit)
            found.setdefault(name, {})[uuid] = most
    return found


def _capacity(inventory: Inventory) -> int:
    return int((inventory.total - inventory.reserved) * inventory.ratio)


def _stock(node: Node) -> Iterator[tuple[str, Stock]]:
    for name, inventory in node.inventories.items():
        yield name, Stock(_capacity(inventory), inventory.used)


# Each rule of what Nova asks has cases, and Nova's own answers to them show it.


RULES = rules.read()
ANSWERS = {case["name"]: dict(recorded.answers(case)) for case in recorded.read()}
#: Of releases that are still asked.
LATER = {case["name"]: dict(recorded.answers(case)) for case in with_parts.read()}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.difference or rule.rule)
def test_nova_s_answers_to_its_cases_show_a_rule(rule):
    shown = [
        name for name in rule.cases if rule.is_shown_by({**ANSWERS, **LATER}[name])
    ]
    assert shown == list(rule.cases)


def test_every_prefilter_has_a_rule():
    assert {rule.filter for rule in RULES} >= {each.name for each in PREFILTERS}


def test_neighbouring_releases_differ_where_a_rule_says_so_and_nowhere_else():
    pairs = [(older, older + 1) for older in sorted(RELEASES)[:-1]]
    differing = {
        f"{older}-{newer}"
        for older, newer in pairs
        if any(answers[older] != answers[newer] for answers in ANSWERS.values())
    }
    named = {rule.difference for rule in RULES if rule.difference}
    assert named == {f"{older}-{newer}" for older, newer in pairs}
    assert {r.difference for r in RULES if r.difference and r.cases} == differing


# What surprises in Nova's filters and weighers does not surprise the core.


TRAPS = traps.read()
#: It lets every host through.
_NONE = {"AllHostsFilter"}


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: f"{trap.of}: {trap.trap}")
def test_the_core_says_what_nova_says_in_every_release(trap):
    wrong = [r for r in RELEASES if trap.is_in(r) and not trap.is_ours(r)]
    assert wrong == []


def test_each_filter_and_each_weigher_has_its_surprises():
    assert {trap.of for trap in TRAPS} == {*FILTERS, *WEIGHERS} - _NONE


# What the core's filters and weighers say of hosts, against what Nova's say.


CASES = scheduling_recorded.read()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_each_answer_is_nova_s_own_in_every_release(case):
    answers = scheduling_recorded.answers(case)
    assert set(answers) == set(RELEASES)
    for release, answer in answers.items():
        assert comparing.tally(release, [case], [answer]).different == [], release


@pytest.mark.parametrize("release", RELEASES)
def test_of_every_filter_and_weigher_of_a_release_answers_are_recorded(release):
    answers = [scheduling_recorded.answers(case)[release] for case in CASES]
    filters = {name for name, each in FILTERS.items() if each.is_in(release)}
    weighers = {name for name, each in WEIGHERS.items() if each.is_in(release)}
    assert {name for answer in answers for name in answer["filters"]} == filters
    assert {name for answer in answers for name in answer["weighers"]} == weighers


def test_most_of_what_is_recorded_is_known_to_the_core():
    tally = comparing.Tally()
    for case in CASES:
        for release, answer in scheduling_recorded.answers(case).items():
            tally += comparing.tally(release, [case], [answer])
    assert sum(tally.answers.values()) > 30000
    assert sum(tally.unknown.values()) < sum(tally.answers.values()) / 10


# What the core makes of metadata in other letters, against Nova on each database.


LETTERS_CASES = letters.read()
LOOSE, STRICT = Collation.CASE_INSENSITIVE, Collation.CASE_SENSITIVE


@pytest.mark.parametrize("case", LETTERS_CASES, ids=lambda case: case["name"])
def test_the_request_or_the_refusal_is_nova_s_own_on_each_database(case):
    answers = case["answers"]

    assert {name: ours.answer(case, NEWEST, name) for name in answers} == answers
    assert set(answers) == set(ours.COLLATIONS)


def test_the_recorded_cases_are_those_that_are_compared():
    recorded = [{k: v for k, v in c.items() if k != "answers"} for c in LETTERS_CASES]
    assert recorded == list(letters.named())


def test_most_of_the_cases_have_other_answers_on_another_database():
    differing = [
        c for c in LETTERS_CASES if c["answers"]["sqlite"] != c["answers"]["mariadb"]
    ]
    assert len(differing) == len(LETTERS_CASES) - 1


def test_a_case_by_chance_has_no_key_twice_in_an_aggregate():
    for number in range(200):
        for aggregate in letters.by_chance(str(number))["aggregates"]:
            folded = [LOOSE.folded(key) for key in aggregate["metadata"]]
            assert len(set(folded)) == len(folded)


# As MariaDB 10.11 compares them with utf8_general_ci.
@pytest.mark.parametrize(
    ("one", "other", "are_equal"),
    [
        ("required", "REQUIRED", True),
        ("required", "required  ", True),
        ("required", " required", False),
        ("required", "required\t", False),
        ("required", "réquired", True),
        # An accent that is a character of its own counts.
        ("é", "e\N{COMBINING ACUTE ACCENT}", False),
        ("ß", "s", True),
        ("ß", "ss", False),
        ("ø", "o", False),
        ("æ", "ae", False),
        ("ǽ", "Æ", True),
        ("İ", "i", True),
        ("\N{LATIN SMALL LETTER DOTLESS I}", "I", True),
        ("Й", "й", True),
        ("Й", "И", False),
        ("\N{KELVIN SIGN}", "k", False),
        ("가", "ㄱ", False),
        ("", "  ", True),
    ],
)
def test_mariadb_takes_these_for_equal_and_sqlite_none(one, other, are_equal):
    assert LOOSE.equal(one, other) is are_equal
    assert not STRICT.equal(one, other)
    assert STRICT.equal(one, one)


# Whatever users write into a flavor or an image: an answer, soon, in little memory.


#: For one case, of CPU time.
MOST_SECONDS = 2
NUMBERS = ("0", "-1", "+3", " 7 ", "1_0", "٣", "²", "1e9", "1000000", large.DIGITS)
PIECES = (*NUMBERS, "0-", "^", ",", "-", ".", "M", "MB", "ib", ">=", "[", "{", "", "é")
KEYS = [
    *(key for key, *_ in (*SHAPING, *CHECKED) if key),
    *("hw:numa_cpus.0", "hw:numa_mem.0", "hw:cpu_dedicated_mask", "hw:pmem"),
    *("hw:cpu_realtime", "hw:cpu_realtime_mask", "resources:VCPU", "resources1:PCPU"),
    *("trait:CUSTOM_A", "trait_x:", "resources:", "resources²:X", "group_policy"),
]
PROPERTIES = [
    *properties.BY_NAME,
    *properties.OLD_NAMES,
    properties.OLD_ADAPTER,
    *("hw_numa_cpus.0", "hw_numa_cpus.1", "hw_numa_mem.0", "trait:CUSTOM_A", "trait:"),
    *("bdm_v2", "block_device_mapping", "mappings", "min_ram", "min_disk", "size"),
]

WRITTEN = [
    value for *_, good, bad in (*SHAPING, *CHECKED) for value in f"{good} {bad}".split()
]
#: What makes Nova look at what an image says of pages and masks.
LOOKING = {
    "hw:mem_page_size": "any",
    "hw:cpu_policy": "mixed",
    "hw:cpu_realtime": "yes",
}

texts = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
values = texts | st.text(max_size=20) | st.sampled_from(WRITTEN)
sizes = st.sampled_from([0, 1, 4, 2**31 - 1])


def test_huge_values_cost_little():
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.core.bounded"],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    answers = json.loads(done.stdout)
    assert len(answers) > 100
    slow = {name: each for name, each in answers.items() if each[1] > MOST_SECONDS}
    assert not slow


def is_answer(found):
    """Tell whether it is a query or a refusal, and nothing else."""
    known = {"query", "fallback_query", "refused", "stage", "http"}
    return bool(found.get("query") or found["refused"]) and found.keys() <= known


@pytest.mark.parametrize("value", PIECES)
def test_each_key_with_such_a_value_makes_a_request_or_a_refusal(value):
    alone = [large.case("flavor", {key: value}, {}) for key in KEYS]
    alone += [large.case("image", LOOKING, {key: value}) for key in PROPERTIES]
    assert all(is_answer(ours.answer(case, 34)) for case in alone)


@settings(max_examples=400, deadline=None)
@given(
    specs=st.dictionaries(st.sampled_from(KEYS), values, max_size=6),
    image=st.dictionaries(st.sampled_from(PROPERTIES), values, max_size=6),
    vcpus=sizes,
    ram=sizes,
    release=st.integers(OLDEST, NEWEST),
)
def test_whatever_is_written_makes_a_request_or_a_refusal(
    specs, image, vcpus, ram, release
):
    case = large.case("drawn", specs, image, vcpus=vcpus, ram=ram)
    assert is_answer(ours.answer(case, release))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("9" * 4300, int("9" * 4300)),
        ("9" * 4301, None),
        ("0" * 4301, None),
        (" " * 9000 + "7", 7),
        ("²", None),
        ("", None),
        (None, None),
    ],
)
def test_a_number_has_4300_digits_at_most(text, number):
    assert properties.integer(text) == number
