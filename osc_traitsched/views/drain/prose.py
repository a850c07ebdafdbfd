"""A plan that empties a host, for a person: the answer, who stays, what to paste."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Mapping, Sequence

import prettytable

from osc_traitsched.core.existing.drain.plan import Drain, Stuck, Why
from osc_traitsched.core.existing.moves.unseen import Unseen
from osc_traitsched.core.existing.parts import Name
from osc_traitsched.core.nova.move import Kind
from osc_traitsched.core.releases import release
from osc_traitsched.paste import Option, line
from osc_traitsched.text import count, listed, visible
from osc_traitsched.views.drain import steps, words
from osc_traitsched.views.options import settings_from
from osc_traitsched.views.server import moves, request
from osc_traitsched.views.terminal import Line, Tone

_COLUMNS = ("server", "size", "state", "move", "to")


def lines(found: Drain, options: Sequence[Option] = ()) -> Iterator[Line]:
    """Yield the text, line by line; names are in it as they are.

    :param options: the global ones of printed commands
    """
    yield Line(words.summary(found), _tone(found))
    yield from (Line(text, Tone.DOUBT) for text in words.deciding(found))
    yield from _section("Stuck:", _stuck(found, options))
    if found.steps:
        table = _table(found).get_string().splitlines()
        yield from _section("The plan; each move takes room from the next:", table)
    if found.steps:
        yield from _section("Paste this, in this order:", _commands(found, options))
    yield from _section("To know:", (f"  {text}" for text in remarks(found)))
    assumed = (f"  {text}" for text in _assumed(found))
    yield from _section("Assumed:", assumed)
    unseen = [f"  {text}" for text in not_visible(found)]
    yield from _section("Only found out when it is tried:", unseen)


def _tone(found: Drain) -> Tone:
    if found.stuck:
        return Tone.NO
    return Tone.DOUBT if found.uncertain else Tone.YES


def _section(title: str, found: Iterable[str]) -> Iterator[Line]:
    text = list(found)
    if text:
        yield Line("")
        yield Line(title, Tone.TITLE)
        yield from map(Line, text)


def _stuck(found: Drain, options: Sequence[Option]) -> Iterator[str]:
    """Yield the servers that stay, those of one reason together."""
    alike: dict[tuple[str, ...], list[Stuck]] = {}
    for each in found.stuck:
        alike.setdefault(tuple(words.why(each, found)), []).append(each)
    for reasons, several in alike.items():
        yield f"  {listed(_named(each) for each in several)}:"
        yield from (f"    {text}" for text in reasons)
        if several[0].why is Why.NO_ROOM:
            yield f"    {words.shortage(found)}"
        for each in several:
            command = steps.ending(each)
            if command is not None and words.has_way_out(each, found):
                yield f"    First: {line(command, options)}"


def _named(stuck: Stuck) -> str:
    return f"{stuck.resident.state.name} ({words.size(stuck.resident)})"


def _table(found: Drain) -> prettytable.PrettyTable:
    table = prettytable.PrettyTable(_COLUMNS)
    table.align = "l"
    for step in found.steps:
        state = step.resident.state
        row = (
            state.name,
            words.size(step.resident),
            state.status,
            moves.NOUNS[step.resident.kind],
            step.to.service_host + (" (perhaps)" if step.unknown else ""),
        )
        table.add_row([visible(each) for each in row])
    return table


def _commands(found: Drain, options: Sequence[Option]) -> Iterator[str]:
    for command in steps.disabling(found):
        yield f"  {line(command, options)}"
    for step in found.steps:
        yield from (f"  {text}" for text in steps.of_step(step, options))


def remarks(found: Drain) -> Iterator[str]:
    """Yield what an operator has to know of a plan."""
    if not found.is_up:
        yield (
            f"nova-compute is down on {found.host}: make sure that the host is off, or "
            "a server may run twice. Placement counts what they had there until "
            "nova-compute is up again."
        )
    if found.is_enabled and found.is_up and found.steps:
        yield f"{found.host} is enabled: until it is not, new servers may come."
    if any(step.resident.kind is Kind.MIGRATION for step in found.steps):
        yield (
            "A cold migration is over once it is confirmed. If one fails its server "
            "stays SHUTOFF, and the command goes on waiting: end it with Ctrl-C."
        )
    if any(step.resident.kind is Kind.EVACUATION for step in found.steps):
        yield (
            "Before OpenStackClient 6.1 server evacuate ends with 1 and "
            "\"'TupleWithMeta' object has no attribute 'to_dict'\" though the "
            "evacuation has begun."
        )
    if not all(map(steps.is_waited_for, found.steps)):
        yield (
            "A command without --wait is done when the move begins: openstack server "
            "migration list shows how it goes."
        )
    if found.unconfirmed:
        gone = count(len(found.unconfirmed), "server")
        yield (
            f"{gone} left {found.host} and may still be reverted to it: confirm that "
            f"(server migration confirm): {listed(found.unconfirmed)}."
        )
    if found.unconfirmed is None:
        yield "Migrations that wait to be confirmed: this user may not list them."


def _assumed(found: Drain) -> Iterator[str]:
    settings = found.settings
    yield f"Nova {release(settings.release)}: {settings.release_source}"
    yield f"settings: {settings_from(settings)}"
    if found.steps:
        yield "nobody else takes room meanwhile"
    yield from hidden(found)


def hidden(found: Drain) -> Iterator[str]:
    """Yield what is not known of the requests of servers, each once."""
    every = [step.resident for step in found.steps]
    every += [each.resident for each in found.stuck]
    texts = collections.Counter(
        request.why(part, found.minor)
        for resident in every
        for part in resident.parts
        if not part.is_known and part.name is not Name.HOST
    )
    for text, number in texts.items():
        yield f"{count(number, 'server')}: {text}"


def unseen(found: Drain) -> Mapping[Unseen, int]:
    """Return what is only found out when moves are tried, and of how many."""
    return collections.Counter(
        each for step in found.steps for each in step.resident.unseen
    )


def not_visible(found: Drain) -> Iterator[str]:
    """Yield the same in words."""
    for each, number in unseen(found).items():
        yield f"{count(number, 'server')}: {moves.UNSEEN[each]}"
