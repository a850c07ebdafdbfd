"""The words and the commands for fixes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.explain.fix import (
    Fix,
    HostAction,
    HostChange,
    HostFix,
    Replacement,
    RequestFix,
    RequestPart,
    Scope,
)
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova.question import Question
from osc_traitsched.paste import (
    Command,
    Option,
    Placeholder,
    is_printable,
    line,
    openstack,
    printable,
)
from osc_traitsched.text import count, listed, ranges
from osc_traitsched.views.explain import words

#: So many hosts are named in a command, so that it stays a line that can be read.
_MOST_NAMED = 8

_GLOB = frozenset("*?[")

_FROM_FILE = Option("--host-file", Placeholder("FILE"))
_FILE = "FILE has a line for each of the hosts; -f json lists them all"

_SIZES = {"vcpus": "VCPU", "ram": "MB of memory", "disk": "GB of disk"}


def hosts(fix: Fix, explanation: Explanation) -> list[str]:
    """The names of the hosts that a fix gains."""
    return _named(fix.hosts, explanation)


def lost(fix: Fix, explanation: Explanation) -> list[str]:
    """The names of the hosts that can take the server only without the fix."""
    return [] if isinstance(fix, HostFix) else _named(fix.lost, explanation)


def _named(uuids: Iterable[str], explanation: Explanation) -> list[str]:
    names = explanation.facts.snapshot.by_uuid if explanation.facts else {}
    return sorted(names[uuid].name for uuid in uuids if uuid in names)


def word(fix: Fix, explanation: Explanation) -> str:
    """The change, in words."""
    if isinstance(fix, HostFix):
        return " and ".join(_host_change(c, explanation) for c in fix.changes)
    return " and ".join(_change(each, explanation.question) for each in fix.changes)


def caution(fix: Fix) -> str | None:
    """What to consider before the change; None if nothing is at risk."""
    if fix.scope is Scope.FLAVOR_OR_IMAGE:
        return "changes it for everyone"
    if not isinstance(fix, HostFix):
        return None
    kinds = [change.action for change in fix.changes]
    if HostAction.ADD_TRAIT in kinds:
        return "only if it is true of the host"
    return (
        "only if it is not true of the host"
        if HostAction.REMOVE_TRAIT in kinds
        else None
    )


def _host_change(change: HostChange, explanation: Explanation) -> str:
    if change.action is HostAction.ENABLE_SERVICE:
        return "enable nova-compute on the host"
    if change.action in (HostAction.JOIN_AGGREGATE, HostAction.MIRROR_AGGREGATE):
        (name,) = words.aggregates([change.name], explanation.question)
        if change.action is HostAction.MIRROR_AGGREGATE:
            return f"mirror aggregate {name} into Placement: Nova has the host in it"
        return f"add the host to aggregate {name}"
    return f"{change.action.value} the trait {change.name}"


def _change(each: RequestPart, question: Question) -> str:
    if isinstance(each, Replacement):
        return _replacement(each, question)
    if each.what == "size":
        return f"a flavor with {each.value} {_SIZES[each.key]}"
    if each.what == "zone":
        return f"ask for availability zone {each.value}"
    if each.key == "disk_format":
        return f"an image in the format {each.value}"
    if each.value is None:
        return f"{each.what} without {each.key}"
    return f"{each.what} with {each.key}={each.value}"


def _replacement(each: Replacement, question: Question) -> str:
    body = each.body
    if each.what == "image":
        return f"image {body['name']} ({body['id']}), {body['disk_format']}"
    specs, asked = (f.get("extra_specs") or {} for f in (body, question.flavor))
    other = [f"{k}={v}" for k, v in sorted(specs.items()) if asked.get(k) != v]
    differing = [
        *(f"without {key}" for key in sorted(asked.keys() - specs.keys())),
        *(f"with {listed(other)}" for _ in other[:1]),
    ]
    but = f", {', '.join(differing)}" if differing else ""
    return f"flavor {body['name']} ({words.size(body)}){but}"


def commands(fix: Fix, explanation: Explanation) -> list[Command]:
    """The commands that make all changes of a fix; empty if one has no command."""
    if isinstance(fix, HostFix):
        parts = [list(_host_commands(c, fix, explanation)) for c in fix.changes]
    else:
        question = explanation.question
        parts = [list(_request_command(each, question)) for each in fix.changes]
    found = [command for part in parts for command in part] if all(parts) else []
    return found if all(map(line, found)) else []


def _host_commands(
    change: HostChange, fix: HostFix, explanation: Explanation
) -> Iterator[Command]:
    if change.action in (HostAction.ADD_TRAIT, HostAction.REMOVE_TRAIT):
        verb = change.action.value
        create = [Option("--create")] if _may_be_unknown(change, explanation) else []
        chosen = _chosen(fix.hosts, explanation)
        comment = _FILE if chosen == [_FROM_FILE] else ""
        yield openstack(
            f"trait-sched {verb}", change.name, *create, *chosen, comment=comment
        )
        return
    if change.action is HostAction.MIRROR_AGGREGATE:
        yield Command("placement sync_aggregates", program="nova-manage")
        return
    for uuid in fix.hosts:
        compute = explanation.computes.get(uuid)
        if compute is not None:
            yield _service_command(change, compute, explanation.question)


def _chosen(uuids: Sequence[str], explanation: Explanation) -> list[Option]:
    """The options that choose exactly these hosts.

    A few by name; many by an aggregate, a pattern, or a file of names.
    """
    if len(uuids) > _MOST_NAMED:
        return [_all_at_once(frozenset(uuids), explanation)]
    names = explanation.facts.snapshot.by_uuid if explanation.facts else {}
    known = sorted((names[uuid].name, uuid) for uuid in uuids if uuid in names)
    # By UUID where a name can't be printed.
    return [Option("--host", printable(name, uuid)) for name, uuid in known]


def _all_at_once(uuids: frozenset[str], explanation: Explanation) -> Option:
    facts = explanation.facts
    members = facts.snapshot.nova.members if facts and facts.snapshot.nova else {}
    for aggregate in explanation.question.aggregates:
        if members.get(aggregate["uuid"]) == uuids:
            return Option("--aggregate", str(aggregate["id"]))
    names = {host.uuid: host.name for host in explanation.hosts}
    start = _common_start([names[uuid] for uuid in uuids if uuid in names])
    matched = {uuid for uuid, name in names.items() if name.startswith(start)}
    if start and matched == uuids and is_printable(start) and not _GLOB & set(start):
        return Option("--host", f"{start}*")
    return _FROM_FILE


def _common_start(names: Sequence[str]) -> str:
    # Of sorted names the first and the last differ the earliest.
    pairs = zip(min(names), max(names))
    return "".join(a for a, _ in itertools.takewhile(lambda p: p[0] == p[1], pairs))


def _may_be_unknown(change: HostChange, explanation: Explanation) -> bool:
    # A trait that no host has may not exist either: Placement does not say so of a
    # query that no host meets for its aggregates alone.
    traits = explanation.facts.traits if explanation.facts else {}
    is_had = any(change.name in each for each in traits.values())
    return change.action is HostAction.ADD_TRAIT and not is_had


def _service_command(
    change: HostChange, compute: Compute, question: Question
) -> Command:
    if change.action is HostAction.ENABLE_SERVICE:
        reason = compute.disabled_reason
        return openstack(
            "compute service set",
            Option("--enable"),
            compute.service_host,
            "nova-compute",
            comment=f"disabled: {reason}" if reason else "",
        )
    ids = {each["uuid"]: str(each["id"]) for each in question.aggregates}
    return openstack("aggregate add host", ids[change.name], compute.service_host)


def _request_command(each: RequestPart, question: Question) -> Iterator[Command]:
    if isinstance(each, Replacement) or each.scope is not Scope.FLAVOR_OR_IMAGE:
        return
    if question.spec.is_what_if:
        # The cloud does not have what was tried, and so not what to change.
        return
    body = question.flavor if each.what == "flavor" else question.image or {}
    unset = each.value is None
    changed = Option("--property", each.key if unset else f"{each.key}={each.value}")
    verb = f"{each.what} {'unset' if unset else 'set'}"
    yield openstack(verb, changed, str(body["id"]))


def gain(fix: Fix, explanation: Explanation) -> str:
    """How many hosts a fix gains, and which."""
    names = hosts(fix, explanation)
    fewer = lost(fix, explanation)
    but = f"; {len(fewer)} fewer: {ranges(fewer)}" if fewer else ""
    more = count(len(names), "more host")
    is_cut = isinstance(fix, RequestFix) and fix.is_cut
    found = f"at least {more}" if is_cut else f"{more}: {ranges(names)}"
    return f"{found}{but}" if not fix.deciding else f"perhaps {found}; {decided(fix)}"


def decided(fix: Fix) -> str:
    """Which filters decide whether a fix helps; empty if it surely does."""
    if not fix.deciding:
        return ""
    decide = "decides" if len(fix.deciding) == 1 else "decide"
    return f"then {listed(fix.deciding)} {decide}, which can't be seen from here"
