"""Which flavors find a host with one image, on one screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from osc_traitsched.core.answer import Answer, Reason
from osc_traitsched.core.errors import PlacementRefuses, Refusal, TraitMissing, nova
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.judge.reasons import breakdown
from osc_traitsched.text import and_more, between, count, led, listed, visible
from osc_traitsched.views.explain import depends, filters, headline, words
from osc_traitsched.views.terminal import Line, Tone

_MOST_LINES = 15
_WIDTH = 80

#: The number of hosts, the same in words, and why there is none.
_Group = tuple[int, str, tuple[str, ...]]


def lines(found: Sequence[Judgement]) -> Iterator[Line]:
    """Lines by number of hosts, with their flavors. Names are not escaped yet."""
    fit = sum(each.answer is Answer.YES for each in found)
    may = sum(each.answer.is_open for each in found)
    image = found[0].question.image or {} if found else {}
    name = image.get("name") or image.get("id")
    number, can, more = led(fit, may)
    flavors = f"{number} of {count(len(found), 'flavor')}"
    verdict = f"{flavors} {can}boot image {name} now{more}."
    tone = Tone.of(Answer.best(each.answer for each in found))
    yield Line(verdict, tone, Reason.first(each.reason for each in found))
    yield from (Line(text, Tone.DOUBT) for text in remarks(found))
    groups: dict[_Group, list[str]] = {}
    for each in found:
        groups.setdefault(_group(each), []).append(each.question.flavor["name"])
    ordered = sorted(groups.items(), key=lambda group: -group[0][0])
    for (_, hosts, why), names in ordered[:_MOST_LINES]:
        yield Line(_line(hosts, why, names))
    hidden = sum(len(names) for _, names in ordered[_MOST_LINES:])
    if hidden:
        yield Line(f"  {and_more(hidden, 'flavor', '-f json')}")
    yield Line("explain FLAVOR IMAGE shows hosts, fixes and what depends on nova.conf.")


def _line(hosts: str, why: Sequence[str], flavors: Sequence[str]) -> str:
    """Names that do not fit are counted; the first name and reason always stand."""
    start = ""
    for number in range(len(flavors), 0, -1):
        start = f"  {hosts} for {listed(flavors, most=number)}"
        text = headline.fitted(f"{start}: ", why) if why else start
        if len(text) <= _WIDTH and (text != start or not why):
            return text
    dots = ", ..." if why[1:] else ""
    return f"{start}: {why[0]}{dots}" if why else start


def remarks(judgements: Sequence[Judgement]) -> Iterator[str]:
    """Lines on what the numbers of hosts depend on."""
    yield from depends.of_several(judgements)
    others = dict.fromkeys(text for each in judgements for text in _of_one(each))
    yield from others


def _of_one(judgement: Judgement) -> Iterator[str]:
    yield from words.refusing(judgement.request, judgement.question)
    hosts = judgement.candidate_uuids
    yield from filters.decided_later(judgement.question, judgement.filtering, hosts)


def rejected(found: Judgement) -> str:
    """Why Nova or Placement rejects a flavor; empty if neither does."""
    refusal = found.refusal
    if isinstance(refusal, TraitMissing):
        of_flavor = visible(f"Flavor {found.question.flavor['name']} ")
        return str(refusal).removeprefix(of_flavor)
    if isinstance(refusal, PlacementRefuses):
        return refusal.reason
    return nova.wrong(refusal) if isinstance(refusal, Refusal) else ""


def _group(found: Judgement) -> _Group:
    number, may = len(found.candidates), len(found.unsure_roots)
    if why_not := rejected(found):
        return -1, "Rejected", (why_not,)
    sure = between(number - may, number)
    why = () if number else tuple(reasons(found))
    return number, f"Hosts: {sure} of {found.total_hosts}", why


def reasons(found: Judgement) -> list[str]:
    """Why hosts are out, each host counted once, the most first."""
    shares = sorted(breakdown(found), key=lambda share: -len(share.hosts))
    depends = ["depends on nova.conf"] if found.depends else []
    texts = (headline.share_text(share, found, is_of_many=True) for share in shares)
    return [*depends, *texts]
