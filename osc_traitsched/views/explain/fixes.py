"""The words and the commands for fixes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core.inventory.trait import where_to_look
from osc_traitsched.core.judge.fix import (
    Advice,
    Fix,
    HostAction,
    HostChange,
    HostFix,
    Replacement,
    RequestChange,
    RequestFix,
    RequestPart,
    Scope,
    Topic,
)
from osc_traitsched.core.judge.judgement import Judgement, RequestResult
from osc_traitsched.core.nova.question import Body, MoveKind, Question
from osc_traitsched.paste import (
    Command,
    Option,
    Placeholder,
    is_printable,
    line,
    openstack,
    printable,
)
from osc_traitsched.text import agreed, between, count, listed, plural, ranges
from osc_traitsched.views.explain import words

#: So many hosts are named in a command, so that it stays a line that can be read.
_MOST_NAMED = 8

_GLOB = frozenset("*?[")

_FROM_FILE = Option("--host-file", Placeholder("FILE"))
_FILE = "FILE has a line for each of the hosts; -f json lists them all"

_SIZES = {"vcpus": "VCPU", "ram": "MB", "disk": "GB"}


def hosts(fix: Fix, judgement: Judgement) -> list[str]:
    """The names of the hosts that a fix gains."""
    return _named(fix.hosts, judgement)


def lost(fix: Fix, judgement: Judgement) -> list[str]:
    """The names of the hosts that can take the server only without the fix."""
    return _named(fix.lost, judgement) if isinstance(fix, RequestFix) else []


def _named(uuids: Iterable[str], judgement: RequestResult) -> list[str]:
    wanted = frozenset(uuids)
    return sorted(host.name for host in judgement.hosts if host.uuid in wanted)


def word(fix: Fix, judgement: Judgement) -> str:
    """The change, in words; of a decision: what it is about."""
    if isinstance(fix, HostFix):
        return " and ".join(_host_change(c, fix, judgement) for c in fix.changes)
    return " and ".join(_changes(fix.changes, judgement.question))


def caution(fix: Fix) -> str | None:
    """What to consider before the change; None if nothing is at risk."""
    if isinstance(fix, RequestFix):
        wide = [c.what for c in _single(fix.changes) if c.scope is _WIDE]
        return f"changing the {wide[0]} affects all its users" if wide else None
    kinds = [change.action for change in fix.changes]
    number = len(fix.hosts)
    who, has, lacks = (
        plural("host", number),
        agreed("has", number),
        agreed("lacks", number),
    )
    if HostAction.ADD_TRAIT in kinds:
        return f"if the {who} really {has} it"
    return f"if the {who} {lacks} it" if HostAction.REMOVE_TRAIT in kinds else None


def _host_change(change: HostChange, fix: HostFix, judgement: Judgement) -> str:
    where = ranges(hosts(fix, judgement))
    be = agreed("is", len(fix.hosts))
    if change.scope is Scope.SERVICE:
        return f"enable nova-compute on {where}"
    if change.action is HostAction.ENABLE_SERVICE:
        again = " (nova-compute enables it again once libvirt answers)"
        then = again * change.name.startswith(_BY_LIBVIRT)
        return f"{where} {be} disabled: {change.name}{then}"
    if change.action in (HostAction.JOIN_AGGREGATE, HostAction.SYNC_AGGREGATE):
        (name,) = words.aggregates([change.name], judgement.question)
        if change.action is HostAction.JOIN_AGGREGATE:
            return f"{where} {be} not in aggregate {name}"
        return f"sync aggregate {name} to Placement ({where} {be} missing there)"
    if change.action is HostAction.ADD_TRAIT:
        return f"add {change.name} to {where}"
    return f"remove {change.name} from {where}"


#: Starts the reason of nova-compute itself, while it does not reach libvirt
#: (nova/virt/libvirt/driver.py, ``_set_host_enabled``).
_BY_LIBVIRT = "AUTO: "


def _changes(changes: Sequence[RequestPart], question: Question) -> Iterator[str]:
    """Those of a flavor or an image together."""
    bodies = _bodies(question)
    wide = {each.what for each in _single(changes) if each.scope is _WIDE}
    for what in sorted(wide):
        name = bodies[what].get("name") or bodies[what].get("id")
        yield f"a copy of {what} {name} {_properties(changes, what)}"
    for each in changes:
        if isinstance(each, Replacement):
            image = each.body
            yield f"image {image['name']} ({image['id']}), {image['disk_format']}"
        elif each.what == "zone":
            yield _zone(each.value, question)
    for what in sorted({_owner(each) for each in _single(changes)} - wide - {"zone"}):
        yield f"{_INDEFINITE[what]} {_properties(changes, what)}"


def _bodies(question: Question) -> Mapping[str, Body]:
    return {"flavor": question.flavor, "image": question.image or {}}


def _zone(value: str | int | None, question: Question) -> str:
    if question.move is None:
        return f"ask for availability zone {value}"
    if question.move.kind is not MoveKind.UNSHELVE:
        api = Option("--os-compute-api-version", "2.104")
        unpin = Option("--pinned-availability-zone")
        return line(openstack("server unset", api, unpin, question.move.server))
    version, flag = "2.91", Option("--no-availability-zone")
    if value is not None:
        version, flag = "2.77", Option("--availability-zone", str(value))
    api = Option("--os-compute-api-version", version)
    return line(openstack("server unshelve", api, flag, question.move.server))


_WIDE = Scope.FLAVOR_OR_IMAGE
_INDEFINITE = {"flavor": "a flavor", "image": "an image"}


def _single(changes: Iterable[RequestPart]) -> list[RequestChange]:
    return [each for each in changes if isinstance(each, RequestChange)]


def _owner(each: RequestChange) -> str:
    return "flavor" if each.what == "size" else each.what


def _properties(changes: Iterable[RequestPart], what: str) -> str:
    """``with 2 VCPU, 496 MB``."""
    own = [each for each in _single(changes) if _owner(each) == what]
    sizes = [f"{c.value} {_SIZES[c.key]}" for c in own if c.what == "size"]
    others = (_property(each) for each in own if each.what != "size")
    return ", ".join([*(f"with {', '.join(sizes)}" for _ in sizes[:1]), *others])


def _property(each: RequestChange) -> str:
    if each.key == "disk_format":
        return f"in the format {each.value}"
    if each.value is None:
        return f"without {each.key}"
    return f"with {each.key}={each.value}"


def advice(told: Advice, judgement: RequestResult) -> str:
    """What is wrong and what to do, as a sentence."""
    where = ranges(_named(told.about, judgement))
    if told.topic is Topic.NOT_REPORTED:
        verb = "reports" if told.subject.isupper() else "is of architecture"
        return f"No host {verb} {told.subject}: {where_to_look(told.subject)}."
    if told.topic is Topic.GROUP:
        members = count(told.amount, "member")
        return f"Group {told.subject} has {members}, and no other host qualifies."
    if told.topic is Topic.STALE_TRAIT:
        return (
            f"Placement still marks {where} as disabled, but nova-compute is enabled "
            "there: check its log, and restart it."
        )
    if told.topic is Topic.LEAKED:
        return (
            f"Placement counts {told.subject} in use on {where}, where Nova has no "
            "server: run nova-manage placement audit."
        )
    what = told.corrections[0].what
    body = _bodies(judgement.question)[what]
    return f"If {told.subject} is meant, correct {what} {body.get('name')}:"


def commands(fix: Fix | Advice, judgement: RequestResult) -> list[Command]:
    """The commands that make all changes; empty if one has no command."""
    parts: list[list[Command]] = []
    if isinstance(fix, HostFix) and isinstance(judgement, Judgement):
        if fix.scope is not Scope.DECISION:
            parts = [list(_host_commands(c, fix, judgement)) for c in fix.changes]
    elif isinstance(fix, Advice):
        question = judgement.question
        parts = [[_correction(each, question)] for each in fix.corrections]
    found = [command for part in parts for command in part] if all(parts) else []
    return found if all(map(line, found)) else []


def _host_commands(
    change: HostChange, fix: HostFix, judgement: Judgement
) -> Iterator[Command]:
    if change.action in (HostAction.ADD_TRAIT, HostAction.REMOVE_TRAIT):
        verb = change.action.value
        create = [Option("--create")] if _may_be_unknown(change, judgement) else []
        chosen = _chosen(fix.hosts, judgement)
        comment = _FILE if chosen == [_FROM_FILE] else ""
        yield openstack(
            f"trait-sched {verb}", change.name, *create, *chosen, comment=comment
        )
        return
    if change.action is HostAction.SYNC_AGGREGATE:
        yield openstack("trait-sched mirror repair")
        return
    for uuid in fix.hosts:
        compute = judgement.computes.get(uuid)
        if compute is not None:
            host = compute.service_host
            enable = Option("--enable")
            yield openstack("compute service set", enable, host, "nova-compute")


def _chosen(uuids: Sequence[str], judgement: Judgement) -> list[Option]:
    """By names, an aggregate, a pattern or a file: exactly these hosts."""
    if len(uuids) > _MOST_NAMED:
        return [_all_at_once(frozenset(uuids), judgement)]
    names = judgement.facts.snapshot.by_uuid
    known = sorted((names[uuid].name, uuid) for uuid in uuids if uuid in names)
    # By UUID where a name can't be printed.
    return [Option("--host", printable(name, uuid)) for name, uuid in known]


def _all_at_once(uuids: frozenset[str], judgement: Judgement) -> Option:
    members = judgement.facts.snapshot.nova.members
    for aggregate in judgement.question.aggregates:
        if members.get(aggregate.uuid) == uuids:
            name = aggregate.name
            is_named = is_printable(name) and not name.isdigit()
            return Option("--aggregate", name if is_named else aggregate.id)
    names = {host.uuid: host.name for host in judgement.hosts}
    start = _common_start([names[uuid] for uuid in uuids if uuid in names])
    matched = {uuid for uuid, name in names.items() if name.startswith(start)}
    if start and matched == uuids and is_printable(start) and not _GLOB & set(start):
        return Option("--host", f"{start}*")
    return _FROM_FILE


def _common_start(names: Sequence[str]) -> str:
    # Of sorted names the first and the last differ the earliest.
    pairs = zip(min(names), max(names))
    return "".join(a for a, _ in itertools.takewhile(lambda p: p[0] == p[1], pairs))


def _may_be_unknown(change: HostChange, judgement: Judgement) -> bool:
    # A trait that no host has may not exist either: Placement does not say so of a
    # query that no host meets for its aggregates alone.
    traits = judgement.facts.traits
    is_had = any(change.name in each for each in traits.values())
    return change.action is HostAction.ADD_TRAIT and not is_had


def _correction(each: RequestChange, question: Question) -> Command:
    body = question.flavor if each.what == "flavor" else question.image or {}
    unset = each.value is None
    changed = Option("--property", each.key if unset else f"{each.key}={each.value}")
    verb = f"{each.what} {'unset' if unset else 'set'}"
    # An image's name may not be unique.
    name, identity = (str(body.get(key) or "") for key in ("name", "id"))
    flavor = printable(name, identity) or identity
    return openstack(verb, changed, flavor if each.what == "flavor" else identity)


def title(shown: Sequence[Fix], judgement: RequestResult) -> str:
    """What the fixes do."""
    number = judgement.question.spec.count
    if all(each.room and each.room.least < number for each in shown):
        return f"No single fix makes room for {number}. Nearest:"
    if all(each.scope is Scope.DECISION for each in shown):
        return "Only by undoing somebody's decision:"
    return "Fixes that would work, safest first:"


def sentence(fix: Fix, judgement: Judgement) -> str:
    """The change with its caution and gain."""
    text, but = word(fix, judgement), caution(fix)
    if fix.scope is Scope.DECISION:
        it = "it" if len(fix.hosts) == 1 else "they"
        parts = (text, f"{it} {_would(fix, judgement)}", decided(fix))
        return "; ".join(filter(None, parts))
    return f"{text}{f' ({but})' if but else ''}: {gain(fix, judgement)}"


def gain(fix: Fix, judgement: Judgement) -> str:
    """How many hosts a fix gains, and which; of several servers: the room then."""
    names = hosts(fix, judgement)
    fewer = lost(fix, judgement)
    but = f"; {len(fewer)} fewer: {ranges(fewer)}" if fewer else ""
    more = count(len(names), "more host")
    is_cut = isinstance(fix, RequestFix) and fix.is_cut
    # The words of a change of hosts name them.
    which = "" if isinstance(fix, HostFix) else f": {ranges(names)}"
    found = f"at least {more}" if is_cut else f"{more}{which}"
    text = f"{found if fix.room is None else _would(fix, judgement)}{but}"
    return text if not fix.deciding else f"perhaps {text}; {decided(fix)}"


def _would(fix: Fix, judgement: Judgement) -> str:
    """``would add 5 (8 of 20)``."""
    room, now = fix.room, judgement.room
    if room is None:
        return f"would add {count(len(fix.hosts), 'host')}"
    total = between(room.least, room.most)
    wanted = judgement.question.spec.count
    if room.least >= wanted:
        return f"would make room for {total}"
    more = between(*sorted((room.least - now.least, room.most - now.most)))
    return f"would add {more} ({total} of {wanted})"


def decided(fix: Fix) -> str:
    """Which filters decide whether a fix helps; empty if it surely does."""
    if not fix.deciding:
        return ""
    decide = agreed("decides", len(fix.deciding))
    return f"then {listed(fix.deciding)} {decide}, which can't be seen from here"
