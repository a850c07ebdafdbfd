"""Changes are blamed for hosts alone, or together without those that none needs."""

from __future__ import annotations

import copy
import types

import pytest

from osc_traitsched.app.diff import since
from osc_traitsched.app.snapshot import Snapshot
from osc_traitsched.config import saved
from osc_traitsched.config.sources import SettingsSources
from tests.unit.core.test_difference import HOST, OLD, delete, of

SETTINGS = saved.to_json(SettingsSources(nova_release=27))
HOSTS = {"cmp01": "p1", "cmp02": "p2"}


def document(day):
    own = {"settings": SETTINGS, "compute_maximum": None}
    return {**copy.deepcopy(OLD), **own, "time": f"2026-11-{day}T10:00:00Z"}


def has(document, host, trait="CUSTOM_SSD"):
    return trait in of(document, "placement", "providers", HOSTS[host], "traits")


def spec(document):
    return of(document, "compute", "flavors", "f1", "extra_specs")


def lose(document, host):
    of(document, "placement", "providers", HOSTS[host], "traits").remove("CUSTOM_SSD")


def boot(document):
    server = {"id": "v2", "name": "db", "status": "ACTIVE", HOST: "cmp02"}
    document["compute"]["servers"].append(server)
    of(document, "compute", "server_groups", "g1")["members"].append("v2")


def is_free(document, host):
    members = of(document, "compute", "server_groups", "g1", "members")
    servers = document["compute"]["servers"]
    return all(e[HOST] != host for e in servers if e["id"] in members)


#: What changes, which hosts could take the request, and the changes that are blamed.
CASES = {
    "alone": (
        lambda new: (lose(new, "cmp01"), spec(new).update(unread="1")),
        has,
        {("- CUSTOM_SSD", "cmp01")},
    ),
    "each of two": (
        lambda new: (lose(new, "cmp01"), lose(new, "cmp02")),
        has,
        {("- CUSTOM_SSD", "cmp01"), ("- CUSTOM_SSD", "cmp02")},
    ),
    "two together": (
        lambda new: (lose(new, "cmp01"), spec(new).update(unread="1", ssd="1")),
        lambda document, host: has(document, host) and "ssd" not in spec(document),
        # The spec alone gives the other host back.
        {("- CUSTOM_SSD", "cmp01"), ("+ ssd=1", "cmp01 cmp02")},
    ),
    "gained": (
        lambda new: (lose(new, "cmp01"), spec(new).update(unread="1")),
        lambda document, host: not has(document, host),
        {("- CUSTOM_SSD", "cmp01")},
    ),
    "a member of a group": (boot, is_free, {("is new", "cmp02")}),
    "a member that left its group": (delete, is_free, {("is gone", "cmp01")}),
}


@pytest.mark.parametrize("case", CASES)
def test_what_decides_is_blamed_and_nothing_else(case):
    change, can_take, blamed = CASES[case]
    old, new = document(25), document(26)
    change(new)

    def ask(snapshot):
        names = [name for name in HOSTS if can_take(snapshot.document, name)]
        hosts = [types.SimpleNamespace(name=name) for name in names]
        return types.SimpleNamespace(candidates=hosts, hosts=HOSTS)

    found = since(Snapshot("", old), Snapshot("", new), ask)
    assert {(c.text, " ".join(sorted(hosts))) for c, hosts in found.causes} == blamed
