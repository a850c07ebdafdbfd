"""Answers about the sample cloud, changed in one thing that decides on them."""

from __future__ import annotations

import copy
import json
import re

import pytest

from tests.functional import shell
from tests.services.environment import REPOSITORY

WHOLE = json.loads((REPOSITORY / "examples/cloud.json").read_text())


@pytest.fixture
def asked(tmp_path):
    """Asks an offline command about a changed copy of the sample cloud."""

    def ask(change, command):
        document = copy.deepcopy(WHOLE)
        change(document)
        path = tmp_path / "changed.json"
        path.write_text(json.dumps(document))
        variables = {"TRAITSCHED_SNAPSHOT": str(path)}
        return shell.run(variables, "trait-sched", *command.split())

    return ask


def server(document, name):
    return next(s for s in document["compute"]["servers"] if s["name"] == name)


# Moves of group members that are not confirmed: web-1 is on cmp00, web-2 on cmp02.


def moving(status, source, **more):
    """web-2 has come to cmp02 from another host."""

    def change(document):
        body = {
            "id": 1,
            "instance_uuid": server(document, "web-2")["id"],
            "status": status,
            "migration_type": "resize",
            "source_compute": source,
            "dest_compute": "cmp02",
            **more,
        }
        document["compute"]["migrations"] = [body]

    return change


CONFIRM = (
    "Confirm or revert the resize of web-2 first: openstack server resize confirm web-2"
)
OFF = "--set workarounds.disable_group_policy_check_upcall=true"
MOVING = "until that move is confirmed"


@pytest.mark.parametrize("status", ["finished", "accepted", "migrating", "reverting"])
@pytest.mark.parametrize(
    "command",
    [
        "explain m1.small ubuntu-24.04 --server-group web --on-host cmp03",
        "explain m1.small ubuntu-24.04 --server-group web --availability-zone "
        "az-west:cmp03",
        "server destinations web-1",
        "server destinations web-1 --for migration",
        "explain m1.small ubuntu-24.04 --server-group web --count 2",
        "host drain cmp00",
    ],
)
def test_no_host_takes_a_member_while_another_may_come_back(asked, command, status):
    found = asked(moving(status, "cmp03"), command)
    assert found.code == 3, found
    assert (CONFIRM in found.out) is (status == "finished")
    ends = "Wait until the move of web-2 has ended: openstack server migration list"
    assert (ends in found.out) is (status != "finished")


@pytest.mark.parametrize("status", ["confirmed", "reverted", "error", "done"])
def test_moves_that_are_over_do_not_count(asked, status):
    found = asked(moving(status, "cmp03"), "server destinations web-1")
    assert (found.code, "cmp03" in found.out) == (0, True)
    assert CONFIRM not in found.out


def test_moves_do_not_count_if_nova_compute_does_not_check_the_group(asked):
    found = asked(moving("finished", "cmp03"), f"server destinations web-1 {OFF}")
    assert found.code == 0
    assert "Best first: cmp03\n" in found.out


def test_a_live_migration_is_told_to_name_a_host_where_others_fail_for_good(asked):
    def change(document):
        moving("finished", "cmp03")(document)
        for host in document["compute"]["services"]:
            if host["host"] == "cmp04":
                host["status"] = "enabled"
        for host in document["compute"]["hypervisors"]:
            if host["hypervisor_hostname"] == "cmp04":
                host["status"] = "enabled"
        for provider in document["placement"]["providers"]:
            if provider["name"] == "cmp04":
                provider["traits"].remove("COMPUTE_STATUS_DISABLED")

    sentence = "Name a host: if Nova picks cmp03, the server goes to ERROR."
    found = asked(change, "server destinations web-1")
    assert (found.code, sentence in found.out) == (0, True)
    cold = asked(change, "server destinations web-1 --for migration")
    assert (cold.code, sentence in cold.out) == (0, False)
    named = asked(change, "server destinations web-1 --on-host cmp04")
    assert (named.code, sentence in named.out) == (0, False)


def test_moves_that_may_not_be_listed_leave_the_answer_open(asked):
    def change(document):
        del document["compute"]["migrations"]

    found = asked(change, "server destinations web-1 -f json")
    assert found.code == 8
    hosts = {each["host"]: each for each in found.json["hosts"]}
    assert "migrations for anti-affinity" in hosts["cmp03"]["reasons"][0]
    assert asked(change, "explain m1.small ubuntu-24.04").code == 0
    soft = re.sub("web-1", "mail-1", "server destinations web-1")
    assert asked(change, soft).code == 0


# Resizes to smaller disks: the flavors m1.small, m1.medium and m1.large.


def resized(*moves, **image):
    """app-1 (m1.large) was moved; its image was changed."""

    def change(document):
        kinds = dict(each.split("/") for each in moves)
        document["compute"]["migrations"] = [
            {
                "id": number,
                "instance_uuid": server(document, "app-1")["id"],
                "migration_type": kind,
                "status": status,
                "source_compute": "cmp00",
                "dest_compute": "cmp02",
            }
            for number, (kind, status) in enumerate(kinds.items(), 1)
        ]
        for each in document["image"]["images"]:
            each.update(image)

    return change


LATER = "2031-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("change", "flavor", "code", "words"),
    [
        (resized(), "m1.small", 3, "was created with 80 GB, and the flavor has 20 GB"),
        (resized("migration/confirmed"), "m1.small", 3, "was created with 80 GB"),
        (resized("resize/reverted"), "m1.small", 3, "was created with 80 GB"),
        (resized("resize/confirmed"), "m1.small", 8, "was resized before"),
        (resized("resize/confirmed"), "r1.huge", 3, "can ever take it"),
        # The image's own minimum is that of the time at which the server was created.
        (resized(min_ram=60000), "m1.small", 3, "was created with 80 GB"),
    ],
)
def test_a_resize_to_a_smaller_disk(asked, change, flavor, code, words):
    command = f"server destinations app-1 --for resize --flavor {flavor}"
    found = asked(change, command)
    assert (found.code, words in found.out) == (code, True), found


def test_a_changed_image_leaves_less_ram_open(asked):
    def change(document):
        resized(updated_at=LATER)(document)
        for flavor in document["compute"]["flavors"]:
            flavor["disk"] = 80

    command = "server destinations app-1 --for resize --flavor m1.small"
    found = asked(change, command)
    assert (found.code, "Its image was changed since" in found.out) == (8, True)
    assert "unless nova-api rejects the flavor" in found.out
    hosts = [
        each["answer"] for each in asked(change, f"{command} -f json").json["hosts"]
    ]
    assert set(hosts) == {"no", "unknown"}
