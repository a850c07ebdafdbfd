"""Which hosts a line means: whole names first, then the first label of one."""

from __future__ import annotations

from osc_traitsched.core.desired.model import Place, Text
from osc_traitsched.core.desired.units import Hosts
from osc_traitsched.core.inventory.snapshot import Compute, Nova, Provider, Snapshot

NAMES = ("a.example.org", "b.example.org", "b.example.net", "c", "c.example.org")
ROOTS = tuple(Provider(name, name, 1, name) for name in NAMES)
CARD = Provider("card", "a_pci_1", 1, ROOTS[0].uuid, ROOTS[0].uuid)
NODES = tuple(Compute(name, name, f"service-{name}") for name in NAMES)
PLACE = Place("w.yaml", 3)


def hosts():
    return Hosts(Snapshot((*ROOTS, CARD), nova=Nova(NODES)))


def found(text):
    finder = hosts()
    named = [p.name for p in finder.providers(Text(text, PLACE)).providers]
    return named, [str(each) for each in finder.mistakes]


def test_a_first_label_names_the_one_host_that_has_it():
    assert found("a") == (["a.example.org"], [])
    assert found("c") == (["c"], [])
    assert found("service-a.example.org") == (["a.example.org"], [])
    assert found("b") == (
        [],
        ["w.yaml:3: no host matches 'b'; did you mean b.example.net or b.example.org?"],
    )
    assert found("a.example") == (
        [],
        [
            "w.yaml:3: no host matches 'a.example'; did you mean a.example.org or "
            "b.example.net or b.example.org?"
        ],
    )
    assert found("c.example.net") == (
        [],
        ["w.yaml:3: no host matches 'c.example.net'; did you mean c?"],
    )


def test_an_aggregate_has_service_hosts_and_those_that_nova_no_longer_has():
    finder = hosts()
    assert finder.service_hosts(Text("a", PLACE)) == {"service-a.example.org"}
    assert finder.service_hosts(Text("gone", PLACE), {"gone", "c"}) == {"gone"}
    assert finder.mistakes == []


def test_nested_providers_go_by_name_or_glob():
    finder = hosts()
    for text in ("card", "a_pci_1", "a_pci_?"):
        assert finder.nested(Text(text, PLACE)).providers == (CARD,)
    assert not finder.nested(Text("b_pci_*", PLACE)).providers
    (mistake,) = finder.mistakes
    assert str(mistake) == "w.yaml:3: no provider matches 'b_pci_*'"
