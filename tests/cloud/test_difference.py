"""Changes of a real cloud are all found, and what is blamed gives the hosts back.

TRAITSCHED_SINCE is the number of requests that are asked of two moments,
TRAITSCHED_NIGHTS that of the snapshots in a folder.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import gzip
import itertools
import json
import os
import random
import re
import time
from collections.abc import Mapping

import pytest

from tests.cloud.changing import CHANGES, Place
from tests.cloud.cloud import ISOLATION, Cloud
from tests.cloud.factory import factory
from tests.functional import shell
from tests.services.release import NEWEST, chosen

#: Requests that are asked of two moments, so many of each pair of moments.
REQUESTS, EACH = int(os.environ.get("TRAITSCHED_SINCE", "12")), 6
#: Changes of names: other rows of the same object have its new one.
RENAMING = ("aggregate_renamed", "image_renamed")
LASTING = [name for name in CHANGES if name not in RENAMING]


@pytest.fixture(scope="module")
def cloud():
    if chosen() != NEWEST:
        pytest.skip("a snapshot is read with the newest release")
    with Cloud(computes=6, nova_options=(ISOLATION,)) as cloud:
        yield cloud


@pytest.fixture(scope="module")
def place(cloud):
    with factory(cloud.admin()) as maker:
        yield Place(maker)


@pytest.fixture(scope="module")
def run(cloud):
    file = str(cloud.nova_conf)

    def run(*words, conf=file):
        words = ("trait-sched", *words, "--nova-conf", conf)
        return shell.run(cloud.environment, *words)

    return run


@pytest.fixture(scope="module")
def old(place, run, tmp_path_factory):
    """The path of a snapshot of the place before any change."""
    path = str(tmp_path_factory.mktemp("old") / "old.json.gz")
    done = run("snapshot", "save", path)
    assert done.code == 0, done.err
    return path


def key(kind, name, text):
    """A row; how much is used is not a matter of one change."""
    return (kind, name, "used" if text.startswith("used ") else text)


def rows(found, is_daily):
    return {
        key(each["kind"], each["name"], each["text"])
        for each in found["changes"]
        if each["daily"] is is_daily
    }


def expected(names, is_daily):
    changes = (CHANGES[name] for name in names)
    return {row for c in changes if c.daily is is_daily for row in c.rows}


def test_every_change_is_in_diff_and_nothing_else(place, old, run, cloud, tmp_path):
    conf = tmp_path / "nova.conf"
    text = cloud.nova_conf.read_text()
    conf.write_text(f"{text}\n[scheduler]\nmax_placement_results = 50\n")
    text = "scheduler.max_placement_results: 1000 -> 50"
    setting = ("setting", "nova.conf", text)
    with made(place, RENAMING):
        assert rows(run("diff", old, "-f", "json").json, False) == expected(
            RENAMING, False
        )
    with made(place, LASTING):
        done = run("diff", old, "-f", "json", conf=str(conf))
        shown, everything = run("diff", old).out, run("diff", old, "--all").out
    assert done.code == 6, done.err
    assert rows(done.json, False) == {setting, *expected(LASTING, False)}
    assert rows(done.json, True) == expected(CHANGES, True)
    for kind, name, _ in expected(CHANGES, True):
        if kind == "server":
            assert f"server {name}" not in shown
            assert f"server {name}" in everything
    done = run("diff", old, "-f", "json")
    assert (done.code, done.json["changes"]) == (0, []), done.out


def drawn(chance):
    """Words of a request that has all of its objects in both moments."""
    flavors = ("small", "medium", "ssd", "gold", "private", "big")
    words = [chance.choice(flavors), chance.choice(("cirros", "cirros", "sev"))]
    words += chance.choice(([], [], ["--availability-zone", "az-west"]))
    words += chance.choice(([], [], ["--server-group", "anti-affinity"]))
    if words[0] == "private":
        words += ["--project", "demo"]
    return words


@pytest.mark.parametrize("moment", range(-(-REQUESTS // EACH)))
def test_what_is_blamed_gives_the_hosts_back(place, old, run, moment):
    chance = random.Random(moment)
    chosen_names = {*chance.sample(LASTING, len(LASTING) // 3)}
    names = [name for name in CHANGES if name in chosen_names]
    owner = {row: name for name in names for row in CHANGES[name].rows}
    requests = [drawn(chance) for _ in range(EACH)]
    with made(place, names):
        answers = [asked(run, old, words) for words in requests]
    # What is put back together, with the hosts that it decides about.
    decided = collections.defaultdict(list)
    for words, since in zip(requests, answers):
        told = json.dumps([words, names, since], indent=1)
        for host in {*since["then"]} ^ {*since["now"]}:
            causes = [each for each in since["causes"] if host in each["hosts"]]
            rows = {key(each["kind"], each["name"], each["text"]) for each in causes}
            assert rows, told
            assert rows <= owner.keys(), told
            blamed = frozenset(owner[row] for row in rows)
            decided[blamed].append((words, host, host in since["then"], told))
    for blamed, hosts in decided.items():
        with made(place, [name for name in names if name not in blamed]):
            for words, host, was_there, told in hosts:
                is_there = host in candidates(run, words)
                assert is_there is was_there, f"{host} {blamed} {told}"
    assert run("diff", old).code == 0
    assert any(was_there for hosts in decided.values() for _, _, was_there, _ in hosts)


@contextlib.contextmanager
def made(place, names):
    """These changes, made in their order and undone from the last to the first."""
    with contextlib.ExitStack() as stack:
        for name in names:
            stack.enter_context(CHANGES[name].make(place))
        yield


def asked(run, old, words):
    done = run("explain", *words, "--since", old, "-f", "json")
    assert done.code in (0, 3), done.err
    return done.json["since"]


def candidates(run, words):
    done = run("candidates", *words, "-f", "json")
    assert done.code in (0, 3), done.err
    return {each["host"] for each in json.loads(done.out or "[]")}


def test_a_server_that_failed_later_had_hosts(place, old, run):
    """It is booted again when what is blamed is put back."""
    names = ("trait_lost", "down", "disabled")
    with factory(place.admin) as make:
        with made(place, names):
            boot = make.boot(place.ssd, place.cirros, name="late")
            make.after(make.delete, boot)
            assert boot.status == "ERROR"
            words = ("server", "explain", "late", "--since", old)
            done, text = run(*words, "-f", "json"), run(*words).out
        since = done.json["now"]["since"]
        assert (done.code, since["now"]) == (3, [])
        assert since["then"] == ["cmp00", "cmp01", "cmp04"]
        causes = {(e["kind"], e["name"], e["text"]) for e in since["causes"]}
        assert causes == {row for name in names for row in CHANGES[name].rows}
        assert "What took them:" in text
        again = make.boot(place.ssd, place.cirros, name="again")
        make.after(make.delete, again)
        assert again.host in since["then"]


def test_a_setting_that_was_changed_is_blamed(place, old, run, cloud, tmp_path):
    """Whether the later moment is the cloud, or a snapshot and an option over it."""
    conf, option = tmp_path / "nova.conf", "enable_isolated_aggregate_filtering"
    conf.write_text(re.sub(f"(?m)^{option}.*$", "", cloud.nova_conf.read_text()))
    words = ("explain", "small", "cirros", "--since", old, "-f", "json")
    live = run(*words, conf=str(conf)).json["since"]
    what_if = ("--snapshot", old, "--set", f"scheduler.{option}=false")
    offline = shell.run({}, "trait-sched", *words, *what_if).json["since"]
    for since in live, offline:
        (cause,) = since["causes"]
        assert (cause["kind"], cause["name"]) == ("setting", "nova.conf")
        assert cause["text"] == f"scheduler.{option}: True -> False"
        assert cause["hosts"] == ["cmp02"]


def test_what_is_gone_is_named(place, run, tmp_path):
    path = str(tmp_path / "old.json")
    with factory(place.admin) as make:
        make.aggregate("spare", "cmp05")
        make.flavor("spare")
        make.image("spare")
        make.group("soft-anti-affinity")
        boot = place.boots("spare", "cmp05", place.small)
        assert run("snapshot", "save", path).code == 0
    place.maker.delete(boot)
    done = run("diff", path, "-f", "json")
    assert rows(done.json, False) == {
        ("aggregate", "spare", "is gone"),
        ("flavor", "spare", "is gone"),
        ("image", "spare", "is gone"),
        ("server group", "soft-anti-affinity", "is gone"),
    }
    assert rows(done.json, True) == {
        ("server", "spare", "is gone"),
        ("host", "cmp05", "used"),
    }


# Nights: a folder of snapshots of one cloud, which changes in between.


NIGHTS = int(os.environ.get("TRAITSCHED_NIGHTS", "4"))
ASKED = (
    ("gold", "cirros"),
    ("ssd", "cirros"),
    ("ssd", "cirros", "--availability-zone", "az-west"),
    ("big", "cirros", "--availability-zone", "az-west"),
    ("medium", "cirros", "--availability-zone", "az-south"),
    ("small", "cirros", "--availability-zone", "az-east"),
)
NIGHTLY = (
    *("trait_lost", "trait_gained", "gold_lost", "forbidden_trait", "trait_new"),
    *("reserved", "unit", "step", "disabled", "down"),
    *("member_new", "member_gone", "unmirrored", "isolated", "zone_renamed"),
    *("metadata_changed", "aggregate_new", "spec_new", "spec_changed", "spec_gone"),
    *("boots", "boots_member"),
)
#: With one of a pair the server of the other finds no host.
APART = ({"boots", "isolated"}, {"boots", "unit"}, {"boots_member", "down"})
APART += ({"boots_member", "step"}, {"boots_member", "spec_changed"})


@dataclasses.dataclass
class Moment:
    """The cloud after one change.

    :ivar change: its name; empty for the first
    :ivar hosts: that Nova could choose for each request
    :ivar works: whether Nova booted its server, in the moments that are nights
    """

    change: str
    path: str
    hosts: Mapping[tuple[str, ...], set[str]]
    works: dict[tuple[str, ...], bool] = dataclasses.field(default_factory=dict)

    @property
    def time(self):
        with gzip.open(self.path, "rt") as file:
            return json.load(file)["time"].replace("Z", "+00:00")


class History:
    """Changes of a place, one after the other, and the moments after each."""

    def __init__(self, place, run, path, seed):
        self.place, self.run, self.path = place, run, path
        self.chance, self.made = random.Random(seed), {}
        self.moments = [self.moment("")]

    def close(self):
        for name in [*self.made]:
            self.toggle(name)

    def toggle(self, name):
        """Make a change, or take it back."""
        if name in self.made:
            self.made.pop(name).__exit__(None, None, None)
        else:
            self.made[name] = CHANGES[name].make(self.place)
            self.made[name].__enter__()

    def go_on(self, number):
        """Make so many changes, none twice."""
        for name in self.chance.sample(NIGHTLY, len(NIGHTLY)):
            apart = any({name, other} in APART for other in self.made)
            # Most changes stay for some nights.
            is_kept = name in self.made and self.chance.random() < 0.5
            if number and not (apart or is_kept):
                number -= 1
                self.toggle(name)
                self.moments.append(self.moment(name))

    def moment(self, name):
        path = str(self.path / f"{time.monotonic()}.json.gz")
        assert self.run("snapshot", "save", path).code == 0
        return Moment(name, path, {e: candidates(self.run, e) for e in ASKED})

    def boots(self):
        """Ask Nova for a server of each request, and write down whether it has one."""
        make = self.place.maker
        for asked in ASKED:
            zone = {"availability_zone": asked[-1]} if len(asked) > 2 else {}
            flavor = getattr(self.place, asked[0])
            boot = make.boot(flavor, self.place.cirros, **zone)
            if boot.server:
                make.delete(boot)
            self.moments[-1].works[asked] = boot.status == "ACTIVE"


def test_a_folder_says_since_when_and_why(place, run, tmp_path, record_property):
    """Nova's answers in each night decide which night is right."""
    folder = tmp_path / "nights"
    folder.mkdir()
    history = History(place, run, tmp_path, NIGHTS)
    nights, table = [], []
    try:
        for number in itertools.islice(itertools.cycle((2, 2, 3)), NIGHTS):
            history.boots()
            night = history.moments[-1]
            nights.append(night)
            stem = re.sub("[-:]", "", night.time.replace("+00:00", "Z"))
            os.link(night.path, folder / f"{stem}.json.gz")
            history.go_on(number)
        history.boots()
        answers = {asked: since_of(run, str(folder), asked) for asked in ASKED}
    finally:
        history.close()
    for asked, since in answers.items():
        table.append(judged(history.moments, nights, asked, since))
    record_property("table", "\n".join(table))


def pairs(several):
    return zip(several, several[1:])


def since_of(run, folder, asked):
    done = run("explain", *asked, "--since", folder, "-f", "json")
    assert done.code in (0, 3), done.err
    return done.json["since"]


def judged(moments, nights, asked, since):
    """Assert that the answer is right, and tell it in a line."""
    now = moments[-1]
    times = [night.time for night in nights]
    works = [moment.works[asked] for moment in (*nights, now)]
    told = json.dumps([asked, works, times, since], indent=1)
    assert since["searched"] == len(nights), told
    index = times.index(since["time"])
    if since["worked"] is works[-1]:
        # No other answer was found: there may be one in between.
        assert (index, works[0]) == (0, works[-1]), told
        assert sum(one != other for one, other in pairs(works)) != 1
        later = now
    else:
        assert works[index : index + 2] == [since["worked"], works[-1]], told
        later = (*nights, now)[index + 1]
        assert later is now or since["later"] == times[index + 1], told
    first, last = moments.index(nights[index]), moments.index(later)
    assert {*since["then"]} == moments[first].hosts[asked], told
    assert {*since["now"]} == moments[last].hosts[asked], told
    for host in {*since["then"]} ^ {*since["now"]}:
        named = {
            key(each["kind"], each["name"], each["text"])
            for each in since["causes"]
            if host in each["hosts"]
        }
        decided = [
            (before, after)
            for before, after in pairs(moments[first : last + 1])
            if (host in before.hosts[asked]) is not (host in after.hosts[asked])
        ]
        if len(decided) == 1:
            ((before, after),) = decided
            assert named & rows_between(before, after), (host, after.change, told)
        assert named, (host, told)
    between = rows_between(moments[first], moments[last])
    for each in since["causes"]:
        assert key(each["kind"], each["name"], each["text"]) in between, told
    changes = [moment.change for moment in moments[first + 1 : last + 1]]
    causes = "; ".join(f"{each['name']} {each['text']}" for each in since["causes"])
    ended = "".join("+" if each else "-" for each in works)
    return f"{' '.join(asked)}: {ended} night {index} ({len(changes)}): {causes}"


def rows_between(before, after):
    """The rows of diff, which another test lays beside what was changed."""
    done = shell.run({}, "trait-sched", "diff", before.path, after.path, "-f", "json")
    return rows(done.json, False) | rows(done.json, True)
