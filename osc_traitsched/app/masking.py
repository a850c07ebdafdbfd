"""Masks a snapshot, and tests the masked one before anybody gets it."""

from __future__ import annotations

import collections
import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from osc_traitsched.app import snapshot
from osc_traitsched.app.check import check
from osc_traitsched.app.judging import FlavorScope, by_flavor
from osc_traitsched.app.server import failed
from osc_traitsched.app.snapshot import Snapshot
from osc_traitsched.cloud.saved import mask
from osc_traitsched.core.errors import BadUsage, TraitSchedError
from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.text import quoted

#: So many flavors and images are explained, to compare the answers.
_FLAVORS, _IMAGES = 20, 2
_NOT_MASKED = (
    "the snapshot can't be masked: {}; nothing was written. Save it without --mask, "
    "keep it to yourself, and report this line"
)
_CUSTOM = re.compile("CUSTOM_[A-Z0-9_]+")


def masked(
    document: Mapping[str, Any], keep_flavors: bool = False, keep_traits: bool = False
) -> tuple[dict[str, Any], dict[str, str]]:
    """A document with random words instead of names, and what each word stands for.

    It is tested as the file will be: nothing in it but what may stay and words, and
    its answers are those of the document.

    :param keep_flavors: keep the names of flavors
    :param keep_traits: keep custom traits and resource classes
    :raises BadUsage: if a test fails; nothing may be written then
    """
    flavors = document.get("compute", {}).get("flavors", ())
    kept = {str(each["name"]) for each in flavors} if keep_flavors else set[str]()
    if keep_traits:
        texts = (text for _, text in mask.leaves(document))
        kept.update(custom for text in texts for custom in _CUSTOM.findall(text))
    made, words = mask.masked(document, kept)
    found = json.loads("".join(snapshot.text(made)))
    if left := mask.leaks(found, words, kept):
        raise BadUsage(_NOT_MASKED.format(f"{quoted(left[0])} would be left in it"))
    originals = {word: name for name, word in words.items()}
    own = _answers(Snapshot("", document), str)
    then = _answers(Snapshot("", found), functools.partial(_unmasked, originals))
    for (title, answer), (_, other) in zip(own, then):
        if answer != other:
            raise BadUsage(_NOT_MASKED.format(f"{title} would answer otherwise"))
    return made, originals


def _unmasked(originals: Mapping[str, str], text: str) -> str:
    return re.sub(r"[^\s,]+", lambda found: originals.get(found[0], found[0]), text)


def _answers(
    opened: Snapshot, original: Callable[[str], str]
) -> Iterator[tuple[str, object]]:
    """Commands with their answers.

    :param original: gives the ID that a word stands for
    """
    images = opened.document.get("image", {}).get("images", ())
    active = [each["id"] for each in images if each.get("status") == "active"]
    for image in ("", *active[:_IMAGES]):
        yield "explain", _or_error(_explained, opened, original, ServerSpec("", image))
    yield "check", _or_error(_checked, opened)
    yield "server explain --failed", _or_error(_failures, opened, original)


def _or_error(answer: Callable[..., object], *arguments: object) -> object:
    try:
        return answer(*arguments)
    except TraitSchedError as problem:
        return type(problem)


def _explained(
    opened: Snapshot, original: Callable[[str], str], spec: ServerSpec
) -> object:
    def first(bodies: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        return sorted(bodies, key=lambda body: original(body["id"]))[:_FLAVORS]

    judged = by_flavor(opened.cloud, spec, opened.sources, FlavorScope(first))
    return {
        original(each.question.flavor["id"]): (
            each.reason,
            type(each.refusal),
            frozenset(original(host.uuid) for host in each.candidates),
        )
        for each in judged
    }


def _checked(opened: Snapshot) -> object:
    found = check(opened.cloud, opened.sources, with_servers=True).findings
    rows = ((e.rule, e.severity, e.kind, len(e.affected)) for e in found)
    return collections.Counter(rows)


def _failures(opened: Snapshot, original: Callable[[str], str]) -> object:
    kinds = failed(opened.cloud, opened.sources).kinds
    return {
        frozenset(original(each.id) for each in kind.servers): (
            kind.answer and kind.answer.failure and kind.answer.failure.stage,
            kind.answer and kind.answer.reason,
            type(kind.problem),
        )
        for kind in kinds
    }
