"""Who has a trait and who needs it, as text and as documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from osc_traitsched.core.change.traits import Requirer
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait import Ownership
from osc_traitsched.core.servers.usage import TraitUse
from osc_traitsched.documents import plain
from osc_traitsched.text import count, folded, listed, ranges
from osc_traitsched.views import usage_schema as schema
from osc_traitsched.views.columns import Names
from osc_traitsched.views.listing import Table
from osc_traitsched.views.terminal import Line, Tone

#: Who sets a trait with libvirt; provider.yaml of a host is on no API.
_OWNERS = {
    Ownership.OPERATOR: "you, or provider.yaml of the host; nova-compute never sets it",
    Ownership.NOVA_SETS: "nova-compute sets it again if you remove it",
    Ownership.NOVA_SETS_AND_CLEARS: "nova-compute sets it on hosts that can do it, "
    "and removes it from others",
}
_NEUTRON = "Neutron sets it for its agents"

_KINDS = ("flavor", "image", "aggregate")
_LABEL = 12


def show(use: TraitUse) -> Iterator[Line]:
    """One trait: the first line counts who has it and who needs it."""
    needs = [*_counts(use), *_servers_needing(use)]
    required = f"required by {', '.join(needs)}" if needs else "required by nothing"
    tone = Tone.NO if needs and not use.holders else Tone.YES
    yield Line(f"{use.name}: {_on(use)}; {required}.", tone)
    for name, text in _details(use):
        yield Line(f"  {name:<{_LABEL}}{text}")
    if use.holders and needs:
        yield Line("To see what breaks without it (nothing is written):")
        yield Line(f"  openstack trait-sched remove {use.name} --all --dry-run")


def _on(use: TraitUse) -> str:
    hosts = use.hosts
    return f"on {len(hosts) or 'none'} of {count(len(use.snapshot.hosts), 'host')}"


def _counts(use: TraitUse) -> Iterator[str]:
    for kind in _KINDS:
        names = {each.id for each in use.of_kind(kind)}
        if names:
            yield count(len(names), kind)


def _servers_needing(use: TraitUse) -> Iterator[str]:
    if not isinstance(use.servers, CloudBroke) and use.servers:
        yield count(len(use.servers), "server")


def _details(use: TraitUse) -> Iterator[tuple[str, str]]:
    if use.hosts:
        yield "hosts", ranges(use.hosts)
    if use.others:
        yield "also on", listed(use.others, "provider")
    yield "set by", owner(use.name)
    for kind in ("flavor", "image"):
        if names := _names(use.of_kind(kind)):
            yield f"{kind}s", listed(names)
    if names := _names(use.of_kind("aggregate")):
        yield "isolates", f"{listed(names, 'aggregate')}, if isolation is on"
    if use.forbidding:
        yield "forbidden", listed(_names(use.forbidding), "by flavor")
    if isinstance(use.servers, CloudBroke):
        yield "servers", f"unknown: {use.servers!s}"
    elif use.servers:
        yield "servers", listed(sorted(each.name for each in use.servers))
    if use.misplaced:
        names = [f"{each.name} ({each.host})" for each in use.misplaced]
        yield "misplaced", f"on a host without it: {listed(sorted(names))}"


def owner(name: str) -> str:
    """Who sets a trait on hosts."""
    if trait.is_of_neutron(name):
        return _NEUTRON
    return _OWNERS[trait.ownership(name)]


def _names(requirers: Iterable[Requirer]) -> list[str]:
    return sorted({each.name for each in requirers})


# All traits in use.


def lines(uses: Sequence[TraitUse], everything: bool) -> Iterator[Line]:
    """One line a trait, those with requirers first."""
    shown = list(_chosen(uses, everything))
    hidden = len(uses) - len(shown)
    lacking = [use for use in shown if use.requiring and not use.holders]
    more = f", {len(lacking)} of them on no host" if lacking else ""
    tone = Tone.NO if lacking else Tone.YES
    yield Line(f"{count(len(shown), 'trait')} in use{more}.", tone)
    width = max((len(use.name) for use in shown), default=0)
    for use in shown:
        hosts = f" ({ranges(use.hosts)})" if use.hosts else ""
        needs = "".join(f", {each}" for each in _counts(use))
        yield Line(f"  {use.name:<{width}}  {_on(use)}{hosts}{needs}")
    if hidden:
        yield Line(f"{hidden} standard traits that nothing requires: --all")


def rows(uses: Iterable[TraitUse], everything: bool) -> Table:
    """One row a trait: who has it, and who requires or forbids it."""
    columns = ("trait", "hosts", "flavors", "images", "aggregates", "forbidden_by")
    found: list[tuple[Any, ...]] = []
    for use in _chosen(uses, everything):
        kinds = (Names(_names(use.of_kind(kind))) for kind in _KINDS)
        hosts = Names(use.hosts, folded(use.hosts))
        found.append((use.name, hosts, *kinds, Names(_names(use.forbidding))))
    return columns, found


def _chosen(uses: Iterable[TraitUse], everything: bool) -> Iterator[TraitUse]:
    """Traits that somebody chose; others are nova-compute's and on most hosts."""
    for use in uses:
        if everything or trait.is_custom(use.name) or use.requiring or use.forbidding:
            yield use


# One trait for programs.


def document(use: TraitUse) -> dict[str, Any]:
    """A trait, as plain lists, mappings, numbers and text."""
    by_kind = {kind: _requirers(use.of_kind(kind)) for kind in _KINDS}
    is_unknown = isinstance(use.servers, CloudBroke)
    whole = schema.TraitDocument(
        schema=1,
        trait=use.name,
        ownership=trait.ownership(use.name).value,
        hosts=use.hosts,
        total_hosts=len(use.snapshot.hosts),
        other_providers=use.others,
        flavors=by_kind["flavor"],
        images=by_kind["image"],
        aggregates=by_kind["aggregate"],
        forbidden_by=_requirers(use.forbidding),
        servers=None if is_unknown else _servers(use),
    )
    return dict(plain(whole))


def _requirers(found: Iterable[Requirer]) -> list[schema.Requirer]:
    return [schema.Requirer(each.id, each.name, each.key) for each in found]


def _servers(use: TraitUse) -> list[schema.NeedingServer]:
    misplaced = {each.id for each in use.misplaced}
    return [
        schema.NeedingServer(s.id, s.name, s.project, s.host, s.id in misplaced)
        for s in (() if isinstance(use.servers, CloudBroke) else use.servers)
    ]
