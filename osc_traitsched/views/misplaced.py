"""Servers on hosts that the scheduler would no longer choose, as rows and text."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.answer import Answer
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait import Ownership
from osc_traitsched.core.nova.clause import Clause, MemberOf, Origin, Resource, Trait
from osc_traitsched.core.nova.prefilter import row_of
from osc_traitsched.core.servers.fleet import (
    ByEvidence,
    FilterAnswer,
    NotKnown,
    Objection,
    Unmet,
)
from osc_traitsched.core.servers.misplaced import JudgedServer, Placements
from osc_traitsched.paste import Option, Placeholder, line, openstack
from osc_traitsched.text import agreed, and_more, by_key, count, listed, plural, ranges
from osc_traitsched.views.explain import reasons, words
from osc_traitsched.views.listing import Names, Table

# Why servers are misplaced, or why that is not known, in words.


def text(objection: Objection, aggregates: Mapping[str, str]) -> str:
    """What stands against a server's own host: ``lacks the trait X``."""
    if isinstance(objection, Unmet):
        together = " together with the rest" if objection.is_together else ""
        return f"{_unmet(objection.clause, aggregates)}{together}"
    if isinstance(objection, FilterAnswer):
        answer = reasons.answer(objection.answer, objection.filter)
        if objection.is_doubt:
            return f"its host {answer}"
        return answer if objection.is_claim else f"{answer} ({objection.filter})"
    if isinstance(objection, ByEvidence):
        return f"depends on nova.conf: {text(objection.objection, aggregates)}"
    if isinstance(objection, NotKnown):
        return objection.text
    wrong = errors.wrong(objection.refusal)
    if objection.is_doubt:
        return f"nova-api would reject a new server like it: {wrong}"
    return f"Nova rejects it on every host: {wrong}"


def _unmet(clause: Clause, aggregates: Mapping[str, str]) -> str:
    row = row_of(clause)
    if isinstance(clause, Resource):
        # The server has the amount already.
        what = f"has no {clause.resource_class}"
    elif isinstance(clause, MemberOf) and row is not None and row.objection:
        names = sorted(aggregates.get(uuid, uuid) for uuid in clause.aggregates)
        keys = (one.key for one in clause.origins if one.kind == "aggregate")
        traits = listed(key.partition(":")[2] for key in keys)
        what = row.objection.format(names=listed(names), traits=traits)
    else:
        what = words.lacked(clause, aggregates)
    return f"{what}{_origins(clause.origins)}"


def _origins(origins: Iterable[Origin]) -> str:
    kinds = dict.fromkeys(o.kind for o in origins if o.kind in ("flavor", "image"))
    return f" ({' and '.join(kinds)})" if kinds else ""


# Where servers are, as rows for programs and as one screen for a person.


COLUMNS = ("id", "name", "project", "host", "answer", "reason", "destination")
_GROUPED = ("servers", "reason", "hosts", "destination")
#: So many reasons, and names of servers for each, are a screen.
_MOST_REASONS = 8
_MOST_NAMES = 3


def rows(found: Placements, with_unknown: bool) -> Table:
    """One row a server: the misplaced ones, and on demand the unknown ones.

    The column ``destination`` says whether another host meets the server's request and
    has room; it is empty for unknown servers.
    """
    servers = (*found.misplaced, *(found.unknown if with_unknown else ()))
    return COLUMNS, [
        (
            each.server.id,
            each.server.name,
            each.server.project,
            each.server.host,
            each.verdict.answer.value,
            Names(_said(each, found)),
            each.destination.value if each.destination else "",
        )
        for each in servers
    ]


def grouped(found: Placements) -> Table:
    """One row a reason of misplaced servers, the most frequent first."""
    groups = _groups(found.misplaced, found)
    return _GROUPED, [
        (
            listed((each.server.name for each in servers), most=_MOST_NAMES),
            "\n".join(said),
            ranges(dict.fromkeys(each.server.host for each in servers)),
            _destinations(servers),
        )
        for said, servers in groups[:_MOST_REASONS]
    ]


def headline(found: Placements) -> str:
    """The answer in one line."""
    number, total, unknown = len(found.misplaced), found.looked_at, len(found.unknown)
    known = " known" if found.silent_hosts else ""
    if not total:
        return f"No{known} server is on these hosts."
    unjudged = f"; {unknown} can't be judged" if unknown else ""
    if number or unknown:
        still, many = ("no longer", number) if number else ("still", found.fine)
        on = "is on a host" if many == 1 else "are on hosts"
        of = f"{many} of {total}{known} {plural('server', total)}"
        return f"{of} {on} the scheduler would {still} choose{unjudged}."
    if total == 1:
        return f"The only{known} server is on a host the scheduler would still choose."
    return f"All {total}{known} servers are on hosts the scheduler would still choose."


def below(found: Placements, options: Sequence[Option] = ()) -> Iterator[str]:
    """The lines below the table: unknown servers, and those not looked at."""
    yield from reasons.assumed(found.settings)
    left = _groups(found.misplaced, found)[_MOST_REASONS:]
    if left:
        yield and_more(len(left), "reason", "-f json")
    if any(each.destination is not Answer.NO for each in found.misplaced):
        asked = openstack("trait-sched server destinations", Placeholder("SERVER"))
        yield f"Where one could go: {line(asked, options)}"
    for name, lacking in sorted(_lacked(found.misplaced).items()):
        command = openstack("trait-sched add", name, *sorted(lacking))
        yield f"If the hosts really have it: {line(command, options)}"
    for said, servers in _groups(found.unknown, found)[:_MOST_REASONS]:
        yield f"Can't judge {count(len(servers), 'server')}: {'; '.join(said)}"
    if found.silent_hosts:
        hosts = ranges(found.silent_hosts, "host")
        yield f"Not read: the servers of {hosts}; the cell does not answer."
    if found.homeless:
        be = agreed("is", found.homeless)
        yield f"{count(found.homeless, 'more server')} {be} on no host."


def _lacked(servers: Iterable[JudgedServer]) -> dict[str, set[str]]:
    """Hosts that lack a required trait that an operator sets, by trait."""
    lacked: dict[str, set[str]] = {}
    for placed in servers:
        for each in placed.verdict.reasons:
            clause = each.clause if isinstance(each, Unmet) else None
            is_required = isinstance(clause, Trait) and not clause.forbidden
            name = clause.name if isinstance(clause, Trait) and is_required else ""
            if name and trait.ownership(name) is Ownership.OPERATOR:
                lacked.setdefault(name, set()).add(placed.server.host)
    return lacked


def _groups(
    servers: Iterable[JudgedServer], found: Placements
) -> list[tuple[tuple[str, ...], Sequence[JudgedServer]]]:
    groups = by_key((_said(each, found), each) for each in servers)
    return sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))


def _said(placed: JudgedServer, found: Placements) -> tuple[str, ...]:
    verdict = placed.verdict
    said = (text(each, found.aggregates) for each in verdict.shown)
    return tuple(dict.fromkeys(said))


def _destinations(servers: Iterable[JudgedServer]) -> str:
    numbers = collections.Counter(each.destination for each in servers)
    if len(numbers) == 1:
        (only,) = numbers
        return only.value if only else ""
    return ", ".join(
        f"{each.value}: {numbers[each]}" for each in Answer if numbers[each]
    )
