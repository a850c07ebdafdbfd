"""Flavors and images that the cloud has, to ask for instead; Placement tries them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from osc_traitsched.core.explain.fix.values import Replacement, RequestFix
from osc_traitsched.core.nova.question import Body, Question

#: So many flavors are tried at most.
MOST_FLAVORS = 12

_SIZES = ("vcpus", "ram", "disk")
_DISABLED = "OS-FLV-DISABLED:disabled"
_IS_PUBLIC = "os-flavor-access:is_public"


def other_flavors(question: Question, flavors: Iterable[Body]) -> list[RequestFix]:
    """Return the flavors of the same size or a larger one, the nearest first.

    Only public ones, since which projects may use the others was not read, and only
    those whose extra specs Nova shows and that differ from the request's own.
    """
    asked = question.flavor
    own = [asked[size] for size in _SIZES]
    found = [
        flavor
        for flavor in flavors
        if flavor["id"] != asked.get("id")
        and "extra_specs" in flavor
        and flavor.get(_IS_PUBLIC, True)
        and not flavor.get(_DISABLED)
        and all(flavor[size] >= least for size, least in zip(_SIZES, own))
        and (_specs(flavor), _size(flavor)) != (_specs(asked), _size(asked))
    ]
    found.sort(key=lambda flavor: _distance(flavor, question))
    return [RequestFix((Replacement("flavor", f),)) for f in found[:MOST_FLAVORS]]


def other_formats(question: Question, images: Iterable[Body]) -> Iterator[RequestFix]:
    """Yield the images of the request's image's name that have another format."""
    asked = question.image or {}
    for image in images:
        is_other = image.get("disk_format") != asked.get("disk_format")
        is_usable = image["status"] == "active" and image["name"] == asked.get("name")
        if is_other and is_usable:
            yield RequestFix((Replacement("image", image),))


def _specs(flavor: Body) -> dict[str, str]:
    return dict(flavor.get("extra_specs") or {})


def _size(flavor: Body) -> tuple[int, ...]:
    return tuple(int(flavor[size]) for size in _SIZES)


def _distance(flavor: Body, question: Question) -> tuple[float, int, str]:
    """Return how far a flavor is from the request's: by size, then by extra specs."""
    asked = question.flavor
    grown = sum(flavor[size] / max(asked[size], 1) for size in _SIZES)
    differing = set(_specs(flavor).items()) ^ set(_specs(asked).items())
    return grown, len(differing), flavor["name"]
