"""No sure verdict is one that nova-compute contradicts when it claims.

The computes have NUMA cells and PCI devices and claim them, as libvirt's driver has
them do. No API shows these, and a claim happens whatever filters are enabled.
TRAITSCHED_CLAIMS is the number of boots on both clouds together.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import json
import os
import pathlib
import random

import pytest

from tests.cloud.cloud import ISOLATION, Cloud
from tests.cloud.factory import Boot, factory
from tests.functional import shell
from tests.services.release import NEWEST, chosen

BOOTS = int(os.environ.get("TRAITSCHED_CLAIMS", "20"))
SEED = 44
#: A sure yes, a sure no, what is not sure, and a group that does not exist.
YES, NO, MAY, ERROR = 0, 3, 8, 1
#: Exit codes of commands that write.
DONE, REFUSED = 0, 5

DEVICE = {"vendor_id": "10de", "product_id": "20f1"}
ALIAS = {**DEVICE, "device_type": "type-PCI", "name": "a1"}
_PCI = (
    f"pci.alias={json.dumps(ALIAS)}",
    f"pci.device_spec={json.dumps(DEVICE)}",
)
DEFAULT_FILTERS = (
    "ComputeFilter,ComputeCapabilitiesFilter,ImagePropertiesFilter,"
    "ServerGroupAntiAffinityFilter,ServerGroupAffinityFilter"
)
#: Upstream's default list, and the one that guides on NUMA and PCI give.
OPTIONS = {
    "default filters": (ISOLATION, *_PCI),
    "NUMA and PCI filters": (
        ISOLATION,
        *_PCI,
        f"filter_scheduler.enabled_filters={DEFAULT_FILTERS},"
        "NUMATopologyFilter,PciPassthroughFilter",
    ),
}
LIBVIRT = {
    "hypervisor_type": "QEMU",
    "supported_instances": [["x86_64", kind, "hvm"] for kind in ("qemu", "kvm")],
}
#: cmp05 is no libvirt's, and reports no cells at all.
HYPERVISORS = {
    "cmp00": {**LIBVIRT, "cells": [{"shared": 2, "dedicated": 3}] * 2},
    "cmp01": {**LIBVIRT, "cells": [{"shared": 10}]},
    "cmp02": {**LIBVIRT, "cells": [{"any": 5}] * 2},
    "cmp03": {**LIBVIRT, "cells": [{"shared": 10}], "devices": 2},
    "cmp04": {**LIBVIRT, "cells": [{"shared": 5, "pages": 512}] * 2},
}
_PINNED = {"hw:cpu_policy": "dedicated"}
_GONE = "5d6f4d9c-0b3f-4a3e-9a55-000000000000"
FLAVORS: dict[str, tuple[dict[str, str], dict[str, int]]] = {
    "plain": ({}, {}),
    "large": ({}, {"ram": 7680}),
    "too-large": ({}, {"vcpus": 11}),
    "pinned": (_PINNED, {"vcpus": 2}),
    "pinned-4": (_PINNED, {"vcpus": 4}),
    "pinned-8": (_PINNED, {"vcpus": 8}),
    "threads": ({**_PINNED, "hw:cpu_thread_policy": "require"}, {"vcpus": 2}),
    "mixed": (
        {"hw:cpu_policy": "mixed", "hw:cpu_dedicated_mask": "1"},
        {"vcpus": 2},
    ),
    "pcpu": ({"resources:PCPU": "2", "resources:VCPU": "0"}, {"vcpus": 2}),
    "cells-2": ({"hw:numa_nodes": "2"}, {"vcpus": 2}),
    "cells-4": ({"hw:numa_nodes": "4"}, {"vcpus": 4}),
    "pages": ({"hw:mem_page_size": "large"}, {}),
    "pages-1g": ({"hw:mem_page_size": "1GB"}, {"ram": 1024}),
    "device": ({"pci_passthrough:alias": "a1:1"}, {}),
    "devices-2": ({"pci_passthrough:alias": "a1:2"}, {}),
    "devices-3": ({"pci_passthrough:alias": "a1:3"}, {}),
    "device-pinned": ({**_PINNED, "pci_passthrough:alias": "a1:1"}, {}),
    "no-alias": ({"pci_passthrough:alias": "b2:1"}, {}),
    "no-profile": ({"accel:device_profile": "fpga"}, {}),
    "no-trait": ({"trait:CUSTOM_TYPO": "required"}, {}),
    "no-class": ({"resources:CUSTOM_TYPO": "1"}, {}),
    "capability": ({"capabilities:hypervisor_type": "ironic"}, {}),
    "realtime": (
        {**_PINNED, "hw:cpu_realtime": "yes", "hw:cpu_realtime_mask": "^0"},
        {"vcpus": 2},
    ),
}
IMAGES = {
    "raw": {},
    "image-pinned": {"hw_cpu_policy": "dedicated"},
    "image-cells": {"hw_numa_nodes": "2"},
    "image-pages": {"hw_mem_page_size": "2MB"},
    "image-typo": {"trait:CUSTOM_TYPO": "required"},
}
GROUPS = ("affinity", "anti-affinity", "soft-anti-affinity")
ZONES = ("az-east", "az-none")
#: Without NUMATopologyFilter hosts that reject claims may use up all attempts.
MAY_AT_MOST = {"default filters": BOOTS, "NUMA and PCI filters": 0}
SETTINGS = ("complete", "partial", "none", "asked")


@dataclasses.dataclass(frozen=True)
class Asked:
    """A request for one server, by names."""

    flavor: str
    image: str = "raw"
    zone: str = ""
    group: str = ""


#: Each flavor and image, each group and zone, and what draws add.
PLAINLY = (
    *(Asked(flavor) for flavor in FLAVORS),
    *(Asked("plain", image) for image in IMAGES if image != "raw"),
    *(Asked(flavor, group=group) for flavor in ("plain", "pinned") for group in GROUPS),
    *(Asked(flavor, zone=zone) for flavor in ("plain", "cells-2") for zone in ZONES),
    Asked("plain", group=_GONE),
)


def drawn(cloud: str) -> list[Asked]:
    """A cloud's share of different requests, the plain ones first."""
    chance = random.Random(f"{cloud} {SEED}")
    plainly = list(PLAINLY)
    chance.shuffle(plainly)
    odd = (
        Asked(
            chance.choice(list(FLAVORS)),
            chance.choice(["raw", *IMAGES]),
            chance.choice(["", "", *ZONES]),
            chance.choice(["", "", *GROUPS]),
        )
        for _ in itertools.count()
    )
    different = dict.fromkeys(itertools.chain(plainly, itertools.islice(odd, 500)))
    return list(different)[: BOOTS // len(OPTIONS)]


@dataclasses.dataclass
class Claiming:
    """A cloud whose computes claim, and what is made in it by name."""

    name: str
    cloud: Cloud
    maker: object
    flavors: dict
    images: dict
    groups: dict
    settings: dict
    home: pathlib.Path

    def variables(self, settings: str) -> dict[str, str]:
        """What Nova said is in a home of its own."""
        home = {"XDG_CONFIG_HOME": str(self.home)} if settings == "asked" else {}
        return {**self.cloud.environment, **home}

    def explain(self, asked: Asked, settings: str) -> shell.Run:
        zone = ("--availability-zone", asked.zone) if asked.zone else ()
        group = self.groups.get(asked.group, asked.group)
        member = ("--server-group", group) if group else ()
        named = (asked.flavor, asked.image, *zone, *member, "--project", "admin")
        return shell.run(
            self.variables(settings),
            *("trait-sched", "explain", *named, *self.settings[settings]),
            *("-f", "json"),
        )

    def explain_server(self, boot: Boot) -> shell.Run:
        return shell.run(
            self.cloud.environment,
            *("trait-sched", "server", "explain", boot.server),
            *(*self.settings["complete"], "-f", "json"),
        )

    def boot(self, asked: Asked) -> Boot:
        group = self.groups.get(asked.group, asked.group)
        return self.maker.boot(
            self.flavors[asked.flavor],
            self.images[asked.image],
            hints={"group": group} if group else {},
            **({"availability_zone": asked.zone} if asked.zone else {}),
        )


@pytest.fixture(scope="module", params=OPTIONS)
def claiming(request, tmp_path_factory):
    if chosen() != NEWEST:
        pytest.skip("the driver's objects are those of the newest release")
    options = OPTIONS[request.param]
    with (
        Cloud(computes=6, nova_options=options, hypervisors=HYPERVISORS) as cloud,
        factory(cloud.admin()) as maker,
    ):
        maker.aggregate("east", "cmp00", "cmp01", availability_zone="az-east")
        flavors = {
            name: maker.flavor(name, keys, **size)
            for name, (keys, size) in FLAVORS.items()
        }
        found = Claiming(
            request.param,
            cloud,
            maker,
            flavors,
            {name: maker.image(name, **keys) for name, keys in IMAGES.items()},
            {policy: maker.group(policy) for policy in GROUPS},
            {
                "complete": ("--nova-conf", str(cloud.nova_conf)),
                "partial": ("--set", ISOLATION),
                "none": (),
                "asked": (),
            },
            tmp_path_factory.mktemp("home"),
        )
        python = f"env HOME={cloud.state} {cloud.release.python()}"
        run = shell.run(
            found.variables("asked"),
            *("trait-sched", "config", "save", "--nova-python", python),
        )
        assert run.out.endswith("5 with NUMA cells, 1 with PCI devices\n")
        yield found


def test_no_claim_contradicts_a_sure_verdict(claiming, record_property):
    wrong, codes = [], collections.Counter()
    for asked in drawn(claiming.name):
        answers = {name: claiming.explain(asked, name) for name in SETTINGS}
        boot = claiming.boot(asked)
        for name, answer in answers.items():
            codes[name, answer.code] += 1
            if is_contradicted(answer, boot):
                said = answer.json["summary"] if answer.out else answer.err
                wrong.append(f"{asked}, {name} settings: {said} {boot}")
        if boot.status == "ERROR":
            again = claiming.explain_server(boot)
            codes["after a failure", again.code] += 1
            if again.code == YES:
                wrong.append(f"{asked}, after it failed: {again.out[:400]} {boot}")
        if boot.server:
            claiming.maker.delete(boot)
    record_property("table", f"verdicts: {dict(sorted(codes.items()))}")
    assert not wrong, "\n".join(wrong)
    assert {code for _, code in codes} <= {YES, NO, MAY, ERROR}
    assert codes["asked", MAY] <= MAY_AT_MOST[claiming.name]


def is_contradicted(answer: shell.Run, boot: Boot) -> bool:
    """Whether Nova did not do what a sure verdict says."""
    is_up = boot.status == "ACTIVE"
    if answer.code == ERROR:
        return not boot.refused
    if answer.code == YES:
        return not is_up or boot.host not in answer.json["candidates"]
    return answer.code == NO and is_up


def test_a_flavor_that_asks_for_nothing_special_is_a_plain_yes(claiming):
    for settings in SETTINGS:
        assert claiming.explain(Asked("plain"), settings).code == YES
        assert claiming.explain(Asked("too-large"), settings).code == NO


def test_a_snapshot_answers_as_nova_with_another_python_of_that_nova(
    claiming, tmp_path
):
    def trait_sched(*words):
        return shell.run(claiming.variables("asked"), "trait-sched", *words)

    path, masked = str(tmp_path / "cloud.json"), str(tmp_path / "masked.json")
    assert trait_sched("snapshot", "save", path).code == 0
    offline = (
        "--snapshot",
        path,
        "--nova-python",
        str(claiming.cloud.release.python()),
    )
    capacity = ("capacity", *ROOM)
    live, then = trait_sched(*capacity), trait_sched(*capacity, *offline)
    assert then.out.partition("\n")[2] == live.out
    for flavor in ("pages", "pinned-4", "devices-2", "device-pinned"):
        words = ("explain", flavor, "raw", "--project", "admin", "--no-fixes")
        live, then = trait_sched(*words), trait_sched(*words, *offline)
        assert then.code == live.code
        assert then.out.partition("\n")[2] == live.out
    assert (
        trait_sched("snapshot", "save", masked, "--mask", "--snapshot", path).code == 0
    )
    kept = json.loads(pathlib.Path(masked).read_text())
    assert "facts" not in kept
    assert "facts" in json.loads(pathlib.Path(path).read_text())


#: Flavors, and how many servers each has room for; claims of one cell each.
ROOM = {"pages": 4, "devices-2": 1, "pinned": 6, "device": 2}


@pytest.mark.parametrize(
    "words",
    [
        ("explain", "pinned-4", "raw", "--long"),
        ("explain", "device-pinned", "raw"),
        ("capacity",),
        ("capacity", "pages", "--by", "host"),
        *(("host", "show", name) for name in ("cmp00", "cmp03", "cmp05")),
        ("flavor", "show", "pinned"),
        ("check",),
        ("server", "explain", "--failed"),
    ],
    ids=" ".join,
)
def test_nothing_is_left_open(claiming, words, failed):
    if claiming.name == "default filters":
        pytest.skip("Nova gives up after hosts that reject claims")
    said = shell.run(claiming.variables("asked"), "trait-sched", *words)
    assert said.code != MAY
    assert not {"may", "depends", "unknown"} & {*said.out.split()}, said.out
    assert said.err == ""


@pytest.fixture(scope="module")
def failed(claiming):
    """A server that failed for its NUMA cells."""
    boot = claiming.boot(Asked("device-pinned"))
    assert boot.status == "ERROR"
    yield boot
    claiming.maker.delete(boot)


def test_capacity_counts_as_many_as_nova_takes(claiming):
    if claiming.name == "default filters":
        pytest.skip("a host without NUMA cells takes all, and claims none")
    words = ("trait-sched", "capacity", *ROOM, "-f", "json")
    found = shell.run(claiming.variables("asked"), *words).json["flavors"]
    for bound in ("min", "max"):
        rooms = {each["flavor"]["name"]: each["servers"][bound] for each in found}
        assert rooms == ROOM


def test_servers_leave_a_host_for_one_that_can_claim_what_they_need(claiming):
    if claiming.name == "default filters":
        pytest.skip("Nova gives up after hosts that reject claims")
    boots = [claiming.boot(Asked(flavor)) for flavor in ("pinned", "devices-2")]
    for boot, code in zip(boots, (YES, NO)):
        words = ("trait-sched", "host", "drain", boot.host)
        said = shell.run(claiming.variables("asked"), *words)
        assert said.code == code, said.out
        claiming.maker.delete(boot)


@pytest.mark.parametrize("flavor", ROOM)
def test_as_many_servers_fit_as_nova_takes_one_after_the_other(claiming, flavor):
    if claiming.name == "default filters":
        pytest.skip("Nova gives up after hosts that reject claims")
    for count, code, status in ((ROOM[flavor], YES, "ACTIVE"), (None, NO, "ERROR")):
        number = count or ROOM[flavor] + 1
        named = ("explain", flavor, "raw", "--project", "admin", "--no-fixes")
        words = (*named, "--count", str(number))
        said = shell.run(claiming.variables("asked"), "trait-sched", *words)
        assert said.code == code, said.out
        several = {"min_count": number, "max_count": number}
        kind, image = claiming.flavors[flavor], claiming.images["raw"]
        first = claiming.maker.boot(kind, image, **several)
        servers = claiming.maker.asked() if number > 1 else [first.server]
        boots = list(map(claiming.maker.ended, servers))
        assert [boot.status for boot in boots] == [status] * number
        for boot in boots:
            claiming.maker.delete(boot)


def test_what_an_empty_host_can_claim_does_not_change_with_its_servers(claiming):
    if claiming.name == "default filters":
        pytest.skip("a host without NUMA cells takes all, and claims none")
    names = ("pages", "devices-2", "pages-1g")
    words = ("trait-sched", "capacity", *names, "-f", "json")

    def counted():
        found = shell.run(claiming.variables("asked"), *words).json["flavors"]
        return {
            each["flavor"]["name"]: [
                each[key]["max"] for key in ("servers", "if_empty")
            ]
            for each in found
        }

    boots = [claiming.boot(Asked(name)) for name in ("pages", "pinned")]
    rooms = counted()
    assert rooms["pages"] == [ROOM["pages"] - 1, ROOM["pages"]]
    assert rooms["devices-2"] == [1, 1]
    assert rooms["pages-1g"] == [0, 0]
    boots += [claiming.boot(Asked("pages")) for _ in range(ROOM["pages"] - 1)]
    assert [boot.status for boot in boots] == ["ACTIVE"] * len(boots)
    assert counted()["pages"] == [0, ROOM["pages"]]
    said = shell.run(claiming.variables("asked"), *words[:-2])
    for boot in boots:
        claiming.maker.delete(boot)
    assert "never: pages-1g" in said.out
    assert "full: pages" in said.out


def test_no_isolation_takes_the_only_host_with_a_device(claiming):
    claiming.maker.aggregate("devices", "cmp03")
    words = ("trait-sched", "isolate", "devices", "CUSTOM_DEVICES", "--create")

    def isolate(*more, settings="asked"):
        return shell.run(claiming.variables(settings), *words, *more)

    assert isolate("--dry-run", settings="partial").code == DONE
    needing = ("device", "devices-2")
    refused = isolate()
    assert refused.code == REFUSED, refused.err
    assert all(f"'{flavor}'" in refused.err for flavor in needing)
    assert "'devices-3'" not in refused.err
    kept = [f"--flavor={flavor}" for flavor in needing]
    assert isolate(*kept, "--dry-run").code == DONE
    assert isolate("--force").code == DONE
    words = ("trait-sched", "unisolate", "devices", "--remove-traits")
    assert shell.run(claiming.variables("asked"), *words).code == DONE


def test_no_isolation_takes_the_only_host_with_a_device_that_is_in_use(claiming):
    if claiming.name == "default filters":
        pytest.skip("Nova gives up after hosts that reject claims")
    claiming.maker.aggregate("in-use", "cmp03")
    boots = [claiming.boot(Asked(flavor)) for flavor in ("pages", "devices-2")]
    assert [boot.status for boot in boots] == ["ACTIVE"] * len(boots)
    words = ("trait-sched", "isolate", "in-use", "CUSTOM_IN_USE", "--create")
    refused = shell.run(claiming.variables("asked"), *words)
    for boot in boots:
        claiming.maker.delete(boot)
    assert refused.code == REFUSED, refused.err
    # Servers on cmp04 have none of its devices: it has none.
    assert "flavors 'device', 'devices-2'" in refused.err
    assert boots[1].server in refused.err
