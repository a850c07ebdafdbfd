"""Masks a snapshot, and tests the masked one before anybody gets it."""

from __future__ import annotations

import collections
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from osc_traitsched.app import snapshot
from osc_traitsched.app.check import check
from osc_traitsched.app.judging import by_flavor
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
    own, then = (_answers(Snapshot("", each)) for each in (document, found))
    for (title, answer), (_, other) in zip(own, then):
        if answer != other:
            raise BadUsage(_NOT_MASKED.format(f"{title} would answer otherwise"))
    return made, {word: name for name, word in words.items()}


def _answers(opened: Snapshot) -> Iterator[tuple[str, object]]:
    """Commands with their answers, with places in lists instead of names and IDs."""
    compute = opened.document.get("compute", {})
    providers = opened.document["placement"]["providers"]
    places = {
        str(identity): place
        for listed in (compute.get("flavors", ()), compute.get("servers", ()))
        for place, identity in enumerate(each["id"] for each in listed)
    }
    places.update((each["uuid"], place) for place, each in enumerate(providers))
    images = opened.document.get("image", {}).get("images", ())
    active = [each["id"] for each in images if each.get("status") == "active"]
    for image in ("", *active[:_IMAGES]):
        yield "explain", _or_error(_explained, opened, places, ServerSpec("", image))
    yield "check", _or_error(_checked, opened)
    yield "server explain --failed", _or_error(_failures, opened, places)


def _or_error(answer: Callable[..., object], *arguments: object) -> object:
    try:
        return answer(*arguments)
    except TraitSchedError as problem:
        return type(problem)


def _explained(opened: Snapshot, places: Mapping[str, int], spec: ServerSpec) -> object:
    judged = by_flavor(
        opened.cloud, spec, opened.sources, lambda bodies: bodies[:_FLAVORS]
    )
    return {
        places[each.question.flavor["id"]]: (
            each.reason,
            type(each.refusal),
            frozenset(places.get(host.uuid) for host in each.candidates),
        )
        for each in judged
    }


def _checked(opened: Snapshot) -> object:
    found = check(opened.cloud, opened.sources, with_servers=True).findings
    rows = ((e.rule, e.severity, e.kind, len(e.affected)) for e in found)
    return collections.Counter(rows)


def _failures(opened: Snapshot, places: Mapping[str, int]) -> object:
    kinds = failed(opened.cloud, opened.sources).kinds
    return {
        frozenset(places.get(each.id) for each in kind.servers): (
            kind.answer and kind.answer.failure and kind.answer.failure.stage,
            kind.answer and kind.answer.reason,
            type(kind.problem),
        )
        for kind in kinds
    }
