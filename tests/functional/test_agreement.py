"""Commands agree on answers, reasons, numbers and exit codes, and with the judge.

``TRAITSCHED_CLOUDS`` times ten clouds are drawn, without a server.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import random
import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from osc_traitsched.app import explain, request, snapshot
from osc_traitsched.cloud import allocation_candidates
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.commands.explain import exit_code
from osc_traitsched.core.answer import Answer, Reason
from osc_traitsched.core.errors import NotForProject
from osc_traitsched.core.judge.judgement import Judgement, RefusedRequest
from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.text import ranges
from tests.functional import shell
from tests.functional.nova import Nova
from tests.functional.placement import STANDARD
from tests.services import drawn

pytestmark = pytest.mark.one_client

IN_LINE, CLOUDS = 40, 10 * int(os.environ.get("TRAITSCHED_CLOUDS", "20"))


def _param(seed):
    return pytest.param(seed, marks=[pytest.mark.full] if seed >= IN_LINE else [])


SEEDS = list(map(_param, range(max(IN_LINE, CLOUDS))))
#: Without an image, as ``capacity`` and ``zone list`` are asked.
PLAIN = ServerSpec(image="")
#: More servers than any host has room for.
MANY = 2000
#: What nobody can take now or later.
NEVER = frozenset([Reason.MISCONFIGURED, Reason.REJECTED])
#: Rules of ``check`` that say that a flavor has no host.
NOWHERE = frozenset(
    [
        *("resources-no-host", "resources-not-together", "filters-flavor-no-host"),
        *("traits-no-host", "traits-not-together"),
    ]
)
#: What ``capacity --full`` puts before the names of flavors, by reason.
KINDS = {
    "full": Reason.FULL,
    "not now": Reason.DISABLED,
    "isolated": Reason.ISOLATED,
    "never": Reason.MISCONFIGURED,
    "rejected": Reason.REJECTED,
    "depends on nova.conf": Reason.DEPENDS,
    "unknown": Reason.UNKNOWN,
}


class Pair(NamedTuple):
    """What a command says of something, and what another one or the judge says."""

    what: object
    said: object
    other: object


class Asking:
    """Commands on a drawn cloud, and the judgements that they must agree with.

    :ivar spec: the image, project and zone that all flavors are asked for with
    """

    def __init__(self, seed, folder):
        self.cloud = drawn.draw(seed)
        self.path = folder / "cloud.json"
        self.path.write_text(json.dumps(self.cloud.document), "utf-8")
        dice = random.Random(f"asking {seed}")
        image = dice.choice(["", "", *self.cloud.images])
        project = dice.choice([None, None, drawn.THEIRS])
        zone = dice.choice([None, None, *self.cloud.zones])
        #: Those that are shown; all are counted.
        self.hosts = dice.sample(self.cloud.hosts, 2)
        self.flavors = dice.sample(self.cloud.flavors, 2)
        self.spec = ServerSpec(image=image, project=project, zone=zone)
        self._known = {}

    @property
    def options(self):
        """Those of :attr:`spec`, as words."""
        image = f"--image {self.spec.image}" if self.spec.image else ""
        return f"{image} {self.owner}"

    @property
    def owner(self):
        """Those of its project and zone."""
        project, zone = self.spec.project, self.spec.zone
        words = f"--project {project} " if project else ""
        return f"{words}--availability-zone {zone}" if zone else words

    def run(self, command, *more):
        variables = {"TRAITSCHED_SNAPSHOT": str(self.path)}
        return shell.run(variables, "trait-sched", *shlex.split(command), *more)

    def document(self, command):
        """Its exit code, and what it prints as JSON."""
        done = self.run(command, "-f", "json")
        assert done.out, (command, done)
        return done.code, done.json

    def judged(self, flavor, spec=None):
        """The judgement of ``explain``, with all that can decide about its reasons."""
        spec = dataclasses.replace(spec or self.spec, flavor=flavor)
        if repr(spec) not in self._known:
            self._known[repr(spec)] = judged(self.cloud.document, spec)
        return self._known[repr(spec)]

    def of_host(self, flavor, host, spec=None):
        """Answer and reason for one host, and whether it is a candidate."""
        found = self.judged(flavor, spec)
        if not isinstance(found, Judgement):
            return Answer.NO, Reason.REJECTED, False
        (root,) = (each.uuid for each in found.hosts if each.name == host)
        is_candidate = root in found.candidates.uuids and found.ended_by is None
        return found.answer_of(root), found.reason_of(root), is_candidate


def judged(document, spec):
    saved = snapshot.Snapshot("cloud.json", document)
    cloud = saved.cloud
    question = request.question(cloud, spec, saved.sources)
    found = explain.explain(cloud, question, want_fixes=False).judgement
    return found if isinstance(found, RefusedRequest) else with_stock(cloud, found)


def with_stock(cloud, found):
    """The judgement with all inventories; commands read only those that decide."""
    facts = allocation_candidates.with_pools(cloud.placement, found.facts)
    facts = allocation_candidates.with_inventories(cloud.placement, facts, found.hosts)
    return found.with_stock(facts.stock)


def candidates_of(found):
    return [] if found.refusal else sorted(host.name for host in found.candidates)


def has_room(room):
    """Whether a server surely fits, and whether one may."""
    return room["min"] > 0, room["max"] > 0


NONE = {"min": 0, "max": 0}


# One flavor.


def of_flavors(asking: Asking) -> Iterator[Pair]:
    """Of ``explain``, ``candidates``, ``capacity`` and ``flavor show``."""
    for flavor in asking.cloud.flavors:
        found = asking.judged(flavor)
        code, names = exit_code(found), candidates_of(found)
        asked = f"{flavor} {asking.spec.image} {asking.owner}"
        told, body = asking.document(f"explain {asked} --no-fixes")
        said = told, body["reason"], sorted(body["candidates"])
        yield Pair(("explain", flavor), said, (code, found.reason.value, names))
        if flavor in asking.flavors:
            told, rows = asking.document(f"candidates {asked}")
            said = told, sorted(row["host"] for row in rows)
            yield Pair(("candidates", flavor), said, (code, names))
        told, body = asking.document(f"capacity {flavor} --by host {asking.options}")
        if isinstance(found, RefusedRequest):
            # Flavors of other projects are left out.
            is_there = not isinstance(found.refusal, NotForProject)
            rejected = [each["flavor"]["name"] for each in body["rejected"]]
            expected = code, [flavor] * is_there
            yield Pair(("capacity", flavor), (told, rejected), expected)
            continue
        (fit,) = body["flavors"]
        expected = code, found.reason.value
        yield Pair(("capacity", flavor), (told, fit["reason"]), expected)
        rooms = {name: each["servers"] for name, each in fit["groups"].items()}
        for host in asking.cloud.hosts:
            answer, _, is_candidate = asking.of_host(flavor, host)
            said = has_room(rooms.get(host, NONE))
            expected = answer is Answer.YES, is_candidate
            yield Pair(("capacity --by host", flavor, host), said, expected)
        if flavor not in asking.flavors:
            continue
        told, shown = asking.document(f"flavor show {flavor} {asking.options}")
        if (project := shown["project_id"]) != found.question.project:
            # It is asked for the only project that may use the flavor.
            spec = dataclasses.replace(asking.spec, project=project)
            found = asking.judged(flavor, spec)
            owner = f"{asking.options} --project {project}"
            _, body = asking.document(f"capacity {flavor} {owner}")
            (fit,) = body["flavors"]
        yield Pair(("flavor show", flavor), (told, shown["reason"]), expected_of(found))
        said, suitable = shown["servers_that_fit"], shown["suitable_hosts"]
        yield Pair(("flavor show, room", flavor), said, fit["servers"])
        groups = shown["zones"].values()
        said = sum(e["hosts"] for e in groups), sum(e["suitable_hosts"] for e in groups)
        yield Pair(("flavor show, zones", flavor), said, (fit["hosts"], suitable))


def expected_of(found):
    return exit_code(found), found.reason.value


def of_many(asking: Asking) -> Iterator[Pair]:
    """Of ``explain --count``, ``explain --image``, ``capacity`` and its ``--full``."""
    options = asking.options
    told, body = asking.document(f"capacity --all-flavors {options}")
    fits = {each["flavor"]["name"]: each for each in body["flavors"]}
    rejected = {each["flavor"]["name"] for each in body["rejected"]}
    answers = {name: asking.judged(name).answer for name in {*fits, *rejected}}
    code = ExitCode.of(Answer.best(answers.values()))
    yield Pair("capacity --all-flavors", told, code)
    for flavor in fits:
        asked = f"explain {flavor} {asking.spec.image} {asking.owner} --no-fixes"
        _, counted = asking.document(f"{asked} --count {MANY}")
        said = counted["max_servers"]
        yield Pair(("explain --count", flavor), said, fits[flavor]["servers"]["max"])
    done = asking.run(f"capacity --full --long --all-flavors {options}")
    shown = {}
    pattern = "|".join(KINDS)
    for kind, names in re.findall(rf"^(?:\d+ )?({pattern}): (.*)", done.out, re.M):
        for each in re.findall(r"\bf\d\b", names):
            shown[each] = KINDS[kind].value
    full = {name for name, fit in fits.items() if not fit["servers"]["max"]}
    reasons = {n: asking.judged(n).reason.value for n in full | rejected}
    yield Pair("capacity --full", shown, reasons)
    without = [answers[name] for name in reasons]
    code = ExitCode.of(Answer.worst(without))
    code = ExitCode.FINDINGS if code is ExitCode.NO_HOST else code
    yield Pair("capacity --full, exit code", done.code, code)
    if not asking.spec.image:
        return
    told, body = asking.document(f"explain {options}")
    rows = {row["flavor"]["name"]: row for row in body["flavors"]}
    best = Answer.best(asking.judged(each).answer for each in rows)
    yield Pair("explain --image, exit code", told, ExitCode.of(best))
    for each, row in rows.items():
        found = asking.judged(each)
        expected = found.reason.value, candidates_of(found)
        said = row["reason"], sorted(row["candidates"])
        yield Pair(("explain --image", each), said, expected)


# One host, and all by zone.


def of_hosts(asking: Asking) -> Iterator[Pair]:
    """Of ``host show``."""
    for host in asking.hosts:
        told, body = asking.document(f"host show {host} {asking.options}")
        rooms = {each["flavor"]: each["servers"] for each in body["fits"]}
        answers = []
        for flavor in {*rooms, *body["reasons"]}:
            answer, reason, is_candidate = asking.of_host(flavor, host)
            answers.append(answer)
            said = *has_room(rooms.get(flavor, NONE)), body["reasons"].get(flavor)
            why = None if is_candidate else reason.value
            expected = answer is Answer.YES, is_candidate, why
            yield Pair(("host show", host, flavor), said, expected)
        code = ExitCode.of(Answer.best(answers))
        yield Pair(("host show, exit code", host), told, code)


def of_zones(asking: Asking) -> Iterator[Pair]:
    """Of ``zone list``: hosts that are full, and hosts that take nothing."""
    _, rows = asking.document("zone list")
    notes = {}
    for note in itertools.chain.from_iterable(row["notes"] for row in rows):
        names, word = re.split(r"(?<!,) ", note, maxsplit=1)
        notes.update(dict.fromkeys(unfolded(names, asking.cloud.hosts), word))
    for host in asking.cloud.hosts:
        note = notes.get(host, "")
        found = [asking.of_host(each, host, PLAIN) for each in asking.cloud.flavors]
        takes_any = any(is_candidate for _, _, is_candidate in found)
        is_full = not takes_any and any(why is Reason.FULL for _, why, _ in found)
        if not note or note == "full":
            yield Pair(("zone list", host), note == "full", is_full)
        elif "disabled" in note or "down" in note:
            yield Pair(("zone list", host, note), takes_any, False)
    for row in rows[:1]:
        if most := row["largest free"]:
            _, shown = asking.document(f"host show {most['host']}")
            free = [
                each["capacity"] - each["used"]
                for each in shown["inventories"]
                if each["resource_class"] == "MEMORY_MB"
            ]
            yield Pair(("zone list", row["zone"]), [most["ram"]], free)


def unfolded(text, names):
    """The names that a range stands for."""
    several = (itertools.combinations(names, n + 1) for n in range(len(names)))
    return next(s for s in itertools.chain(*several) if ranges(s) == text)


# Flavors that nobody can take.


def of_check(asking: Asking) -> Iterator[Pair]:
    """Of ``check``: an error or a warning for each, and for no other."""
    _, rows = asking.document("check")
    bad = [row for row in rows if row["severity"] != "note"]
    # An image that pins CPUs takes them from other providers of a host.
    pinning = {"hw_cpu_policy": "dedicated"}
    specs = [ServerSpec(image=image) for image in ("", *asking.cloud.images)]
    specs.append(ServerSpec(image=specs[1].image, image_properties=pinning))
    for flavor in asking.cloud.flavors:
        found = [asking.judged(flavor, spec) for spec in specs]
        if any(isinstance(each.refusal, NotForProject) for each in found):
            continue
        reasons = {each.reason for each in found}
        rules = {
            row["id"]
            for row in bad
            if f"flavor {flavor}" in (row["object"], *row["affects"])
        }
        if reasons <= NEVER:
            yield Pair(("check", flavor), bool(rules), True)
        elif rules & NOWHERE:
            yield Pair(("check", flavor), reasons - {Reason.ISOLATED} <= NEVER, True)


# Servers.


def of_servers(asking: Asking) -> Iterator[Pair]:
    """Of ``server destinations``, ``host drain`` and ``capacity --without``."""
    compute = asking.cloud.document["compute"]
    hosts = {each["id"]: each["OS-EXT-SRV-ATTR:host"] for each in compute["servers"]}
    for host in sorted({*hosts.values()} - {None}):
        told, plan = asking.document(f"host drain {host}")
        for step in plan["steps"]:
            there = destinations(asking, step["server"], step["move"])
            can = there[step["node"]]
            expected = "open" if step["not_visible_filters"] else "yes"
            said = "open" if can in ("depends", "unknown") else can
            what = "host drain", host, step["server"]["name"], step["node"]
            yield Pair(what, said, expected)
        for stuck in plan["stuck"]:
            if stuck["why"] != "no host":
                continue
            there = destinations(asking, stuck["server"], stuck["move"])
            what = "host drain, stuck", host, stuck["server"]["name"]
            yield Pair(what, [*takers(asking, stuck, there)], [])
        nodes = [
            each["hypervisor_hostname"]
            for each in compute["hypervisors"]
            if each["service"]["host"] == host
        ]
        lost = " ".join(f"--without {each}" for each in nodes)
        code, body = asking.document(f"capacity {lost}")
        said = code, body["lost"]["summary"]
        yield Pair(("capacity --without", host), said, (told, plan["summary"]))


#: Where ``server explain`` knows more than ``server misplaced``: checks of nova-api for
#: new servers, and filters that keys of flavors hint at.
KNOWN_BETTER = "A new server like it|in no aggregate with"


def of_own_hosts(asking: Asking) -> Iterator[Pair]:
    """Of ``server explain``, of servers that run, and ``server misplaced``."""
    _, rows = asking.document("server misplaced --unknown")
    answers = {row["id"]: row["answer"] for row in rows}
    codes = {"misplaced": ExitCode.NO_HOST, "unknown": ExitCode.UNKNOWN}
    for server in asking.cloud.document["compute"]["servers"]:
        done = asking.run(f"server explain {server['id']}")
        is_well = " is ACTIVE on " in done.out and "records no failure" in done.out
        if is_well and not re.search(KNOWN_BETTER, done.out):
            expected = codes.get(answers.get(server["id"]), ExitCode.DONE)
            yield Pair(("server explain", server["name"]), done.code, expected)


def destinations(asking, server, move):
    """What ``server destinations`` says of each host."""
    _, body = asking.document(f"server destinations {server['id']} --for {move}")
    return {each["host"]: each["answer"] for each in body["hosts"]}


def takers(asking, stuck, there):
    """Hosts that surely take a server also if they are named, as a drain names them.

    Then Nova asks for the host's own tree, without what hosts share.
    """
    for host in (name for name, answer in there.items() if answer == "yes"):
        asked = f"{stuck['server']['id']} --for {stuck['move']} --on-host {host}"
        if asking.run(f"server destinations {asked}").code == ExitCode.DONE:
            yield host


PARTS = (of_flavors, of_many, of_hosts, of_zones, of_check, of_servers, of_own_hosts)


@pytest.mark.parametrize("seed", SEEDS)
def test_commands_agree(tmp_path, seed):
    asking = Asking(seed, tmp_path)
    pairs = [pair for part in PARTS for pair in part(asking)]
    differing = [pair for pair in pairs if pair.said != pair.other]
    assert differing == [], (seed, asking.options)
    assert len(pairs) > 40


def test_drawn_clouds_have_every_reason():
    left = {*Reason}
    for seed in range(IN_LINE):
        cloud = drawn.draw(seed)
        for flavor in cloud.flavors:
            left -= {judged(cloud.document, ServerSpec(flavor=flavor)).reason}
        if not left:
            break
    assert left == set()


# The reason of a no beside a real Placement, whose hosts are enabled and emptied.


EVERY = {"VCPU": 8, "MEMORY_MB": 4096, "DISK_GB": 100}
FLAVOR = {"id": "1", "name": "asked", "vcpus": 1, "ram": 512, "disk": 1}
DISABLED = "COMPUTE_STATUS_DISABLED"
#: Units of VCPU, how many are used, further traits, and how many are asked for.
REASONS_HOSTS = {
    "fits": ({}, 7, (), 1),
    "disabled": ({}, 0, (DISABLED,), 1),
    "full": ({}, 8, (), 1),
    "full-and-disabled": ({}, 8, (DISABLED,), 1),
    "full-of-eight": ({}, 1, (), 8),
    "too-much-at-once": ({"max_unit": 4}, 8, (), 5),
    "too-much-at-once-of-free-ones": ({"max_unit": 4}, 0, (), 5),
    "odd-step": ({"step_size": 2}, 8, (), 3),
    "too-few-in-all": ({}, 8, (), 9),
}
REASONS = {
    "fits": ("fits", "fits", "fits"),
    "disabled": ("disabled", "fits", "fits"),
    "full": ("full", "full", "fits"),
    "full-and-disabled": ("full", "full", "fits"),
    "full-of-eight": ("full", "full", "fits"),
    **dict.fromkeys([*REASONS_HOSTS][5:], ("misconfigured",) * 3),
}


def made(placement, name):
    """A host as the table has it, and the flavor that is asked for."""
    units, used, traits, vcpus = REASONS_HOSTS[name]
    host = placement.add_host(name, (*STANDARD, *traits), inventories=EVERY)
    path = f"/resource_providers/{host}/inventories"
    found = placement.call("GET", path)
    found["inventories"]["VCPU"].update(units)
    placement.call("PUT", path, found)
    step = units.get("step_size", 1)
    for _ in range(used // step):
        placement.allocate(host, VCPU=step)
    return host, {**FLAVOR, "vcpus": vcpus, "extra_specs": {}}


def emptied(placement, host):
    found = placement.call("GET", f"/resource_providers/{host}/allocations")
    for consumer in found["allocations"]:
        placement.call("DELETE", f"/allocations/{consumer}")


@pytest.mark.parametrize("name", REASONS_HOSTS)
def test_the_reason_now_then_enabled_then_empty(placement, proxy, openstack, name):
    host, flavor = made(placement, name)
    nova = Nova(proxy, [(name, host)], {})
    nova._bodies["/flavors/detail"] = {"flavors": [flavor]}

    def reason(*command):
        how = ("-f", "json", "--nova-release", "2026.1")
        found = json.loads(openstack(*command, *how).out)
        return found["reason"] if "reason" in found else found["flavors"][0]["reason"]

    found = []
    changes = (
        lambda: None,
        lambda: placement.set_traits(host, STANDARD),
        lambda: emptied(placement, host),
    )
    for change in changes:
        change()
        found.append(reason("explain", "asked", "-"))
        assert reason("capacity", "asked") == found[-1]
    assert tuple(found) == REASONS[name]
