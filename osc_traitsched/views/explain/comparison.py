"""What ``--set`` changes, compared with the cloud's own settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from osc_traitsched.core.explain.comparison import differing, kept_out_by
from osc_traitsched.core.explain.explanation import Explanation, picks
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.text import listed, option, ranges
from osc_traitsched.views.explain import words
from osc_traitsched.views.terminal import Line, Tone, settings_from


def lines(explanation: Explanation) -> Iterator[Line]:
    """The answer without ``--set``; empty if it is not compared."""
    before = explanation.without_set
    if before is None:
        return
    own = before.question.assumptions
    yield Line("")
    yield Line(f"Without --set (settings: {settings_from(own)}):", Tone.TITLE)
    for name in explanation.question.assumptions.set_otherwise:
        yield Line(f"  {_option(name, explanation.question.assumptions, own)}")
    yield Line(f"  {words.verdict(before)}")
    if before.refusal is not None:
        yield Line(f"  {before.refusal!s}")
    elif explanation.refusal is None:
        yield from map(Line, _hosts(explanation, before))
        yield from map(Line, _picks(explanation, before))


def _option(name: str, now: SchedulerSettings, own: SchedulerSettings) -> str:
    """How an option differs; of a list, the added and the removed entries."""
    setting, value = own.setting(name), now.value(name)
    if isinstance(value, tuple) and isinstance(setting.value, tuple):
        more = [each for each in value if each not in setting.value]
        less = [each for each in setting.value if each not in value]
        parts = [
            *(f"with {listed(more)}" for _ in more[:1]),
            *(f"without {listed(less)}" for _ in less[:1]),
        ]
        said = ", ".join(parts) or "in another order"
    else:
        said = f"{words.value(value)} instead of {words.value(setting.value)}"
    return f"{option(name)}: {said} ({setting.source})"


def _hosts(explanation: Explanation, before: Explanation) -> Iterator[str]:
    gained, lost = differing(explanation)
    for names, hosts in kept_out_by(explanation, lost).items():
        yield f"  --set keeps out {_names(hosts)} ({listed(names) or 'Placement'})"
    for names, hosts in kept_out_by(before, gained).items():
        by = listed(names) or "Placement"
        yield f"  --set lets in {_names(hosts)} (else out by {by})"
    if not gained and not lost and explanation.candidates:
        yield "  The candidates are the same."


def _picks(explanation: Explanation, before: Explanation) -> Iterator[str]:
    now, else_ = picks(explanation), picks(before)
    if not now or not else_:
        return
    unsure = explanation.uncertain or before.uncertain
    but = ", if all filters pass them" if unsure else ""
    if set(now) == set(else_):
        yield f"  nova-scheduler picks {_one_of(now)} with and without it{but}."
    else:
        without = _one_of(else_)
        yield f"  nova-scheduler picks {_one_of(now)} instead of {without}{but}."


def _one_of(hosts: Sequence[Provider]) -> str:
    return f"{'one of ' if len(hosts) > 1 else ''}{_names(hosts)}"


def _names(hosts: Sequence[Provider]) -> str:
    return ranges(host.name for host in hosts)
