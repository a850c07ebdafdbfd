"""The words for traits that stay as they are: why, and what stands against it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from osc_traitsched.core.change import servers, traits
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait import Ownership
from osc_traitsched.views import problems
from osc_traitsched.views.text import count, is_abridged, listed, quoted, visible
from osc_traitsched.views.traits import Table


@problems.word.register
def _(error: traits.OwnedByNova) -> str:
    reasons = "; ".join(reverted(each, removing=True) for each in error.reverted)
    return f"nothing removed: {reasons}; --force overrides this"


@problems.word.register
def _(error: traits.LastHolder) -> str:
    reasons = "; ".join(
        f"no host would have {name} any more, and it is required by " + requirers(found)
        for name, found in error.requirers.items()
    )
    hides = any(is_abridged(found) for found in error.requirers.values())
    where = "; --dry-run -f json lists them all" if hides else ""
    return f"nothing removed: {reasons}{where}; --force overrides this"


@problems.word.register
def _(error: traits.RequirersUnknown) -> str:
    return (
        f"nothing removed: no host would have {listed(error.traits)} any more, and "
        "whether a flavor, image or aggregate still requires it can't be read "
        f"({problems.word(error.why)}); --force overrides this"
    )


#: What a host is taken for by those that look at these traits.
_ROLES = {
    trait.SHARING: "Placement treats it as a pool that others share, not as a host",
    trait.COMPUTE_NODE: "Nova marks its compute nodes by it",
    trait.DISABLED: "Nova marks hosts that take no servers with it",
}


@problems.word.register
def _(error: traits.RoleChanged) -> str:
    reasons = "; ".join(
        f"{name} says what a provider is, here {listed(hosts)}: {_ROLES[name]}"
        for name, hosts in error.traits.items()
    )
    return f"nothing written: {reasons}; --force overrides this"


@problems.word.register
def _(error: servers.ServersNeedTraits) -> str:
    reasons = []
    if error.servers:
        reasons.append(f"it is still required by {_servers(error.servers)}")
    if error.unknown:
        reasons.append(
            "the compute API does not show whether it is required by "
            + _servers(error.unknown)
        )
    return (
        f"nothing written: no host would have {listed(error.traits)} any more, and "
        f"{'; '.join(reasons)}; a server that requires it could not be migrated, "
        "evacuated or unshelved; --force overrides this"
    )


@problems.word.register
def _(error: servers.ComputesUnlisted) -> str:
    return (
        f"Nova does not list the compute nodes of {listed(map(visible, error.hosts))}, "
        "nor their servers: a host may have no mapping, or its service was deleted"
    )


@problems.word.register
def _(error: servers.ServersUnknown) -> str:
    return (
        f"nothing written: no host would have {listed(error.traits)} any more, and "
        "whether a server still requires it can't be read "
        f"({problems.word(error.why)}); --force overrides this"
    )


def _servers(found: Sequence[servers.Server]) -> str:
    return f"{count(len(found), 'server')}: {listed(map(server, found))}"


def without_image(found: Sequence[servers.Server]) -> str:
    """Return a line on servers of which it can't be seen what their image requires."""
    return (
        "what the image requires can't be seen, since it was deleted or the server "
        f"boots from a volume, of {_servers(found)}"
    )


def server(found: servers.Server) -> str:
    """Return how one server is named: its name can be any project's choice."""
    return f"{quoted(found.name)} ({found.id}, on {visible(found.host)})"


def requirers(found: Iterable[traits.Requirer]) -> str:
    """Return what requires a trait, each by its kind, name and key."""
    return listed(f"{r.kind} {quoted(r.name)} ({_which(r)})" for r in found)


def still_requiring(name: str, found: Iterable[traits.Requirer]) -> str:
    """Return a line on what goes on to require a trait that no host will have."""
    return f"no host will have {name}, still required by {requirers(found)}"


def requirer_rows(found: traits.Requirers) -> Table:
    """One row for each that requires a trait, none left out."""
    rows = [
        (name, each.kind, each.name, each.key, each.id, each.owner)
        for name, requiring in found.items()
        for each in requiring
    ]
    return ("trait", "kind", "name", "key", "id", "owner"), rows


def _which(found: traits.Requirer) -> str:
    return f"{found.id}, owner {found.owner}, {found.key}" if found.owner else found.key


def passed_over(found: Iterable[traits.Requirer]) -> str:
    """Return a line on images of other projects that require what no host will have."""
    return f"no host will be left for images of other projects: {requirers(found)}"


def reverted(found: traits.RevertedByNova, removing: bool) -> str:
    """Return a line on a trait that nova-compute owns."""
    where = f" on {listed(found.hosts)}" if found.hosts else ""
    name = f"{found.name}{where} is nova-compute's own (libvirt): "
    if found.ownership is Ownership.NOVA_SETS and not removing:
        return (
            f"{name}it adds this trait by itself to the hosts it is true of, and "
            "never takes a wrong one away"
        )
    if removing:
        return (
            f"{name}where it is true of the host, it puts the trait back at its next "
            "update, and servers may fail to schedule until then"
        )
    return f"{name}it takes the trait away again at its next update"
