"""Who has a trait and who needs it: as text and as a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal, Optional

from osc_traitsched.core.change import traits
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait import Ownership
from osc_traitsched.core.servers.usage import TraitUse
from osc_traitsched.documents import JsonObject, field
from osc_traitsched.paste import Option, line, openstack
from osc_traitsched.text import count, folded, listed, ranges
from osc_traitsched.views.explain.document import if_read
from osc_traitsched.views.listing import Names, Table, table
from osc_traitsched.views.terminal import LABEL, Line, Tone

#: Who sets a trait with libvirt; provider.yaml of a host is on no API.
_OWNERS = {
    Ownership.OPERATOR: "you, or nova-compute if provider.yaml of the host lists it",
    Ownership.NOVA_SETS: "nova-compute sets it again if you remove it",
    Ownership.NOVA_SETS_AND_CLEARS: "nova-compute sets it on hosts that can do it, "
    "and removes it from others",
}
_NEUTRON = "Neutron sets it for its agents"

_KINDS = ("flavor", "image", "aggregate")


def show(use: TraitUse, options: Sequence[Option] = ()) -> Iterator[Line]:
    """One trait: the first line counts who has it and who needs it."""
    needs = [*_counts(use), *_servers_needing(use)]
    required = f"required by {', '.join(needs)}" if needs else "required by nothing"
    tone = Tone.DOUBT if needs and not use.holders else Tone.YES
    yield Line(f"{use.name}: {_on(use)}; {required}.", tone)
    for name, text in _details(use):
        yield Line(f"  {name:<{LABEL}}{text}")
    hosts = sorted({each.host for each in use.misplaced if each.host})
    if hosts and trait.ownership(use.name) is Ownership.OPERATOR:
        yield Line("Give it back, if the hosts really have it:")
        command = openstack("trait-sched add", use.name, *hosts)
        yield Line(f"  {line(command, options)}")
    if use.holders and needs:
        yield Line("Without it they find no host. All effects (nothing is written):")
        flags = (Option("--all"), Option("--dry-run"))
        command = openstack("trait-sched remove", use.name, *flags)
        yield Line(f"  {line(command, options)}")


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
    yield "set by", owner(use.name)


def owner(name: str) -> str:
    """Who sets a trait on hosts."""
    if trait.is_of_neutron(name):
        return _NEUTRON
    return _OWNERS[trait.ownership(name)]


def _names(requirers: Iterable[traits.Requirer]) -> list[str]:
    return sorted({each.name for each in requirers})


# All traits in use.


def lines(uses: Sequence[TraitUse], everything: bool) -> Iterator[Line]:
    """One line a trait, those with requirers first."""
    shown = list(_chosen(uses, everything))
    hidden = len(uses) - len(shown)
    lacking = [use for use in shown if use.requiring and not use.holders]
    more = f", {len(lacking)} of them on no host" if lacking else ""
    tone = Tone.DOUBT if lacking else Tone.YES
    yield Line(f"{count(len(shown), 'trait')} in use{more}.", tone)
    width = max((len(use.name) for use in shown), default=0)
    for use in shown:
        hosts = f" ({ranges(use.hosts)})" if use.hosts else ""
        needs = "".join(f", {each}" for each in _counts(use))
        yield Line(f"  {use.name:<{width}}  {_on(use)}{hosts}{needs}")
    if hidden:
        standard = count(hidden, "standard trait")
        yield Line(f"{standard} that nothing requires: --all")


def rows(uses: Iterable[TraitUse], everything: bool) -> Table:
    """One row a trait: who has it, and who requires or forbids it."""
    columns = {
        "trait": lambda use: use.name,
        "hosts": lambda use: Names(use.hosts, folded(use.hosts)),
        "flavors": lambda use: Names(_names(use.of_kind("flavor"))),
        "images": lambda use: Names(_names(use.of_kind("image"))),
        "aggregates": lambda use: Names(_names(use.of_kind("aggregate"))),
        "forbidden_by": lambda use: Names(_names(use.forbidding)),
    }
    return table(columns, _chosen(uses, everything))


def _chosen(uses: Iterable[TraitUse], everything: bool) -> Iterator[TraitUse]:
    """Other traits are nova-compute's and on most hosts."""
    for use in uses:
        if everything or trait.is_custom(use.name) or use.requiring or use.forbidding:
            yield use


class RequirerJson(JsonObject):
    """A flavor, an image or an aggregate that names a trait."""

    id: str
    """Its ID."""
    name: str
    """Its name."""
    key: str
    """The key of its extra specs, properties or metadata."""


class NeedingServer(JsonObject):
    """A server that requires a trait."""

    id: str
    """Its ID."""
    name: str
    """Its name."""
    project: str
    """The ID of its project."""
    host: str
    """The service host that it is on."""
    misplaced: bool = field(lambda server, whole: server in whole.value.misplaced)
    """Whether that host lacks the trait."""


class TraitDocument(JsonObject):
    """A trait: who has it, and who needs it."""

    schema: Literal[1]
    """The version of the document."""
    trait: str = field("name")
    """Its name."""
    ownership: Annotated[str, tuple(each.value for each in Ownership)] = field(
        lambda use: trait.ownership(use.name)
    )
    """Who sets it on compute nodes, with libvirt."""
    hosts: Iterable[str]
    """The hosts that have it, on their root provider or a nested one."""
    total_hosts: int = field(lambda use: len(use.snapshot.hosts))
    """How many hosts there are."""
    other_providers: Iterable[str] = field("others")
    """Providers that have it and belong to no host."""
    flavors: Iterable[RequirerJson] = field(lambda use: use.of_kind("flavor"))
    """Flavors that require it."""
    images: Iterable[RequirerJson] = field(lambda use: use.of_kind("image"))
    """Images that require it."""
    aggregates: Iterable[RequirerJson] = field(lambda use: use.of_kind("aggregate"))
    """Aggregates that it isolates, if Nova's isolation is on."""
    forbidden_by: Iterable[RequirerJson] = field("forbidding")
    """Flavors that forbid it."""
    servers: Optional[Iterable[NeedingServer]] = field(lambda use: if_read(use.servers))
    """Servers that require it; null if this user may not list them."""
