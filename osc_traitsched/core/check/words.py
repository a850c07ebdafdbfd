"""Phrases and commands for findings of several areas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from osc_traitsched.core.check.finding import SubjectKind
from osc_traitsched.core.check.hosts import Isolated
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.inventory.trait import is_reported, where_to_look
from osc_traitsched.core.names import near_names
from osc_traitsched.core.nova.clause import RootTrait, Trait
from osc_traitsched.core.nova.options import OPTIONS
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.paste import (
    Command,
    Option,
    Placeholder,
    is_printable,
    openstack,
    printable,
)
from osc_traitsched.text import listed


def unset(kind: SubjectKind, keys: Iterable[str], target: str | Aggregate) -> Command:
    """Command that removes keys; ``KEY`` stands for an unprintable one."""
    name = target if isinstance(target, str) else aggregate_name(target)
    shown = (key if is_printable(key) else Placeholder("KEY") for key in keys)
    options = dict.fromkeys(Option("--property", key) for key in shown)
    return openstack(f"{kind.value} unset", *options, name)


def aggregate_name(aggregate: Isolated | Aggregate) -> str:
    """An aggregate's name for a command, or its ID if the name is a number."""
    name, identity = aggregate.name, str(aggregate.id)
    return identity if name.isdigit() else printable(name, identity)


def aggregate_set(aggregate: Aggregate, *pairs: str | Placeholder) -> Command:
    """Command that sets an aggregate's keys, each as ``key=value``."""
    properties = (Option("--property", pair) for pair in pairs)
    return openstack("aggregate set", aggregate_name(aggregate), *properties)


def corrected(
    kind: SubjectKind,
    identity: str,
    pairs: Iterable[tuple[str, str]],
    allowed: Sequence[str],
) -> Command | str:
    """Command that sets the values that are meant; an instruction if unclear."""
    right = {key: meant(value, allowed) for key, value in pairs}
    if not all(right.values()):
        return f"set the value to {' or '.join(allowed)}, or remove the key"
    changed = (
        f"{key}={value}" if is_printable(key) else Placeholder(f"KEY={value}")
        for key, value in right.items()
    )
    properties = dict.fromkeys(Option("--property", each) for each in changed)
    return openstack(f"{kind.value} set", *properties, identity)


#: Values for yes; the first allowed value is meant.
_YES = frozenset(["true", "yes", "1", "on", "y"])


def meant(value: str, allowed: Sequence[str]) -> str:
    """The allowed value that a wrong one is like; empty if none."""
    if value.strip().casefold() in _YES:
        return allowed[0]
    is_denied = value.casefold().startswith(("no", "un"))
    return "" if is_denied else next(iter(near_names(value, allowed)), "")


def enable(name: str, setting: Setting) -> Command:
    """Command that turns an option on, by the tool of the setting."""
    switch = OPTIONS[name].switches[0]
    return openstack(f"trait-sched config {setting.tool}", Option("--enable", switch))


def off_by(setting: Setting) -> str:
    """Says that an option is off, or taken as off, and the source."""
    state = "off" if setting.given else "unknown, taken as off"
    return f"{state} ({setting.source})"


def give(*names: str, create: bool = False) -> str | Command:
    """How to add traits to hosts: a command if operators own them."""
    reported = [name for name in names if is_reported(name)]
    if reported:
        return f"{where_to_look(reported[0])}, or add hosts that have it"
    options = [Option("--create")] if create else []
    return openstack(
        "trait-sched add", *names, *options, Option("--host", Placeholder("HOST"))
    )


def together(traits: tuple[Trait | RootTrait, ...]) -> str:
    """Traits of a request, such as ``A and not B``."""
    names = [f"{'not ' * each.forbidden}{each.name}" for each in traits]
    return " and ".join(names) if len(names) < 3 else listed(names)
